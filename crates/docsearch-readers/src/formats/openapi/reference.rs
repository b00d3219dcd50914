//! `$ref`, and what is common to the versions of the format.

use percent_encoding::percent_decode_str;
use serde_json::Value;

/// References that lead to references.
const MAX_HOPS: usize = 20;

/// A whole description.
pub(super) struct Api<'a> {
    pub(super) root: &'a Value,
}

impl<'a> Api<'a> {
    pub(super) fn new(root: &'a Value) -> Self {
        Self { root }
    }

    pub(super) fn is_swagger(&self) -> bool {
        self.root.get("swagger").is_some()
    }

    /// A text or a number about the whole; `None` if it is missing or empty.
    pub(super) fn info(&self, key: &str) -> Option<String> {
        match self.root.get("info")?.get(key)? {
            Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }

    /// What `value` refers to, itself when it is no reference or leads nowhere.
    pub(super) fn resolve(&self, value: &'a Value) -> &'a Value {
        let mut current = value;
        for _ in 0..MAX_HOPS {
            match pointer(current).and_then(|pointer| self.root.pointer(&pointer)) {
                Some(target) => current = target,
                None => break,
            }
        }
        current
    }

    /// Addresses of the servers, with the default values of their variables.
    pub(super) fn servers(&self) -> Vec<String> {
        if self.is_swagger() {
            return self.swagger_server().into_iter().collect();
        }
        let servers = self.root.get("servers").and_then(Value::as_array);
        servers.into_iter().flatten().filter_map(server).collect()
    }

    fn swagger_server(&self) -> Option<String> {
        let host = self.root.get("host")?.as_str()?;
        let path = self.root.get("basePath").and_then(Value::as_str).unwrap_or_default();
        let scheme = self
            .root
            .pointer("/schemes/0")
            .and_then(Value::as_str)
            .unwrap_or("https");
        Some(format!("{scheme}://{host}{}", path.trim_end_matches('/')))
    }

    /// A security scheme by its name, wherever the version keeps it; `None` if there is none.
    pub(super) fn security_scheme(&self, name: &str) -> Option<&'a Value> {
        let schemes = match self.is_swagger() {
            true => self.root.get("securityDefinitions"),
            false => self.root.pointer("/components/securitySchemes"),
        };
        Some(self.resolve(schemes?.get(name)?))
    }
}

fn server(server: &Value) -> Option<String> {
    let mut url = server.get("url")?.as_str()?.trim_end_matches('/').to_owned();
    for (name, variable) in server.get("variables").and_then(Value::as_object).into_iter().flatten() {
        if let Some(value) = variable.get("default").and_then(Value::as_str) {
            url = url.replace(&format!("{{{name}}}"), value);
        }
    }
    (!url.is_empty()).then_some(url)
}

/// The place in the same file that `$ref` names.
fn pointer(value: &Value) -> Option<String> {
    let reference = value.get("$ref")?.as_str()?;
    let fragment = reference.strip_prefix('#')?;
    Some(percent_decode_str(fragment).decode_utf8_lossy().into_owned())
}

/// The last part of a reference, the name of what it means; `None` for what is not a reference.
pub(super) fn name(value: &Value) -> Option<&str> {
    let reference = value.get("$ref")?.as_str()?;
    reference.rsplit(['/', '#']).next()
}

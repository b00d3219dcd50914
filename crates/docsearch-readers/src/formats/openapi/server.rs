//! The addresses where an API is served.

use super::reference::Api;
use super::value::Value;
use super::{described, fact, text};

/// Addresses, with the default values of their variables.
pub(super) fn addresses(api: &Api<'_>) -> Vec<String> {
    match api.is_swagger() {
        true => swagger_server(api.root).into_iter().collect(),
        false => own_addresses(api.root),
    }
}

/// The addresses that a path or an operation has in place of those of the API.
pub(super) fn own_addresses(owner: &Value) -> Vec<String> {
    servers(owner).filter_map(address).collect()
}

/// A list item for each server, with what is said of it and of its variables.
pub(super) fn items(api: &Api<'_>) -> Vec<String> {
    match api.is_swagger() {
        true => addresses(api).iter().map(|address| format!("- `{address}`")).collect(),
        false => own_items(api.root),
    }
}

pub(super) fn own_items(owner: &Value) -> Vec<String> {
    servers(owner)
        .filter_map(|server| {
            let label = format!("`{}`", address(server)?);
            let mut lines = vec![described::item(
                &label,
                text(server, "description").unwrap_or_default(),
                0,
            )];
            for (name, variable) in server.get("variables").and_then(Value::as_object).into_iter().flatten() {
                let said = fact::after(text(variable, "description").unwrap_or_default(), &fact::all(variable));
                lines.push(described::item(&format!("`{name}`"), &said, 1));
            }
            Some(lines.join("\n"))
        })
        .collect()
}

fn servers(owner: &Value) -> impl Iterator<Item = &Value> {
    owner.get("servers").and_then(Value::as_array).into_iter().flatten()
}

fn swagger_server(root: &Value) -> Option<String> {
    let host = root.get("host")?.as_str()?;
    let path = root.get("basePath").and_then(Value::as_str).unwrap_or_default();
    let scheme = root.pointer("/schemes/0").and_then(Value::as_str).unwrap_or("https");
    Some(format!("{scheme}://{host}{}", path.trim_end_matches('/')))
}

fn address(server: &Value) -> Option<String> {
    let mut url = server.get("url")?.as_str()?.trim_end_matches('/').to_owned();
    for (name, variable) in server.get("variables").and_then(Value::as_object).into_iter().flatten() {
        if let Some(value) = variable.get("default").and_then(Value::as_str) {
            url = url.replace(&format!("{{{name}}}"), value);
        }
    }
    (!url.is_empty()).then_some(url)
}

//! Parameters, bodies, headers, links and responses of an operation.

use super::reference::Api;
use super::value::Value;
use super::{described, example, explanation, fact, schema, text, type_name};
use crate::text::markdown_text;

/// Writes the blocks of an operation.
pub(super) struct Message<'a, 'b> {
    pub(super) api: &'b Api<'a>,
    /// Level of its headings.
    pub(super) level: usize,
    pub(super) blocks: Vec<String>,
}

impl<'a> Message<'a, '_> {
    pub(super) fn heading(&mut self, heading: &str) {
        self.blocks.push(markdown_text::heading(self.level, heading, None));
    }

    pub(super) fn description(&mut self, owner: &Value) {
        let below = |text| described::below_heading(text, self.level - 1);
        self.blocks.extend(text(owner, "description").map(below));
    }

    /// A table of the parameters; what does not fit in a cell follows.
    pub(super) fn parameters(&mut self, parameters: &[&'a Value]) {
        let outside_body = |parameter: &&&Value| text(parameter, "in") != Some("body");
        let parameters: Vec<&Value> = parameters.iter().filter(outside_body).copied().collect();
        let rows: Vec<String> = parameters.iter().filter_map(|parameter| self.row(parameter)).collect();
        if rows.is_empty() {
            return;
        }
        self.heading("Parameters");
        let header = "| Name | In | Type | Required | Description |\n| --- | --- | --- | --- | --- |\n";
        self.blocks.push(format!("{header}{}", rows.join("\n")));
        for parameter in parameters {
            self.parameter_details(parameter);
        }
    }

    fn row(&self, parameter: &'a Value) -> Option<String> {
        let required = match is_true(parameter, "required") {
            true => "yes",
            false => "no",
        };
        let schema = schema_of(parameter);
        let mut said = explanation::of(self.api, schema);
        let own = text(parameter, "description").filter(|_| !std::ptr::eq(schema, parameter));
        let mut description = match own {
            Some(own) if described::is_paragraph(own) => described::line(own),
            _ => String::new(),
        };
        if said.description().is_none_or(described::is_paragraph) {
            description = format!("{description} {}", described::line(&said.text()));
        } else {
            description.push_str(&std::mem::take(&mut said.facts));
        }
        if !std::ptr::eq(schema, parameter) {
            description.push_str(&fact::all(parameter));
        }
        for (key, word) in [("deprecated", " Deprecated."), ("allowEmptyValue", " May be empty.")] {
            if is_true(parameter, key) {
                description.push_str(word);
            }
        }
        Some(format!(
            "| `{}` | {} | {} | {required} | {} |",
            text(parameter, "name")?,
            text(parameter, "in").unwrap_or_default(),
            type_name::of(self.api, schema).replace('|', "\\|"),
            description.trim().replace('|', "\\|"),
        ))
    }

    /// Descriptions with several blocks, and the members of objects.
    fn parameter_details(&mut self, parameter: &'a Value) {
        let Some(name) = text(parameter, "name") else { return };
        let schema = schema_of(parameter);
        let said = explanation::of(self.api, schema);
        let own = text(parameter, "description").filter(|_| !std::ptr::eq(schema, parameter));
        let long: Vec<&str> = [own, said.description()]
            .into_iter()
            .flatten()
            .filter(|text| !described::is_paragraph(text))
            .collect();
        let list = schema::list(self.api, schema);
        let has_members = list.lines().any(|line| line.starts_with("- "));
        if has_members {
            let mut own: Vec<String> = long.iter().map(|text| (*text).to_owned()).collect();
            if !own.is_empty() && said.description().is_some_and(|text| !described::is_paragraph(text)) {
                own.pop();
            }
            self.blocks
                .push(described::after(&format!("`{name}`"), &own.join("\n\n")));
            self.blocks.push(list);
        } else if !long.is_empty() {
            self.blocks
                .push(described::after(&format!("`{name}`"), &long.join("\n\n")));
        }
    }

    /// The body of a request in Swagger 2.0 is a parameter.
    pub(super) fn swagger_body(&mut self, parameters: &[&'a Value]) -> bool {
        let in_body = parameters
            .iter()
            .find(|parameter| text(parameter, "in") == Some("body"));
        let Some((body, schema)) = in_body.and_then(|body| Some((body, body.get("schema")?))) else {
            return false;
        };
        self.heading("Request body");
        self.description(body);
        self.blocks.push(schema::list(self.api, schema));
        true
    }

    pub(super) fn request_body(&mut self, request: &'a Value) {
        self.heading("Request body");
        if is_true(request, "required") {
            self.blocks.push("Required.".to_owned());
        }
        self.description(request);
        self.content(request);
    }

    pub(super) fn responses(&mut self, operation: &'a Value) {
        let responses = operation.get("responses").and_then(Value::as_object);
        let Some(responses) = responses.filter(|all| !all.is_empty()) else {
            return;
        };
        self.heading("Responses");
        for (status, response) in responses.iter().filter(|(status, _)| !status.starts_with("x-")) {
            let response = self.api.resolve(response);
            let label = if status == "default" { "Other statuses" } else { status };
            let label = format!("**{label}**");
            let said = [text(response, "summary"), text(response, "description")];
            let said: Vec<&str> = said.into_iter().flatten().collect();
            self.blocks.push(described::after(&label, &said.join("\n\n")));
            self.headers(response);
            if let Some(schema) = response.get("schema") {
                self.blocks.push(schema::list(self.api, schema));
            }
            self.content(response);
            self.blocks.extend(example::swagger(self.api, response));
            self.links(response);
        }
    }

    fn headers(&mut self, owner: &'a Value) {
        let headers = owner.get("headers").and_then(Value::as_object);
        let items: Vec<String> = headers
            .into_iter()
            .flatten()
            .map(|(name, header)| {
                let header = self.api.resolve(header);
                let schema = schema_of(header);
                let flags: Vec<&str> = ["required", "deprecated"]
                    .into_iter()
                    .filter(|key| is_true(header, key))
                    .collect();
                let explanation = explanation::of(self.api, schema);
                let said = match std::ptr::eq(schema, header) {
                    true => explanation.text(),
                    false => {
                        let own = fact::after(text(header, "description").unwrap_or_default(), &fact::all(header));
                        fact::after(&own, &explanation.text())
                    }
                };
                schema::member(self.api, name, schema, &flags, &said)
            })
            .collect();
        if !items.is_empty() {
            self.blocks.push(format!("Headers:\n\n{}", items.join("\n")));
        }
    }

    /// Links from a response to other operations.
    fn links(&mut self, response: &'a Value) {
        let links = response.get("links").and_then(Value::as_object);
        let items: Vec<String> = links
            .into_iter()
            .flatten()
            .map(|(name, link)| {
                let link = self.api.resolve(link);
                let target = text(link, "operationId").or_else(|| text(link, "operationRef"));
                let label = match target {
                    Some(target) => format!("`{name}` (`{target}`)"),
                    None => format!("`{name}`"),
                };
                let parameters = link.get("parameters").and_then(Value::as_object);
                let body = link
                    .get("requestBody")
                    .map(|body| format!(" Body: {}.", fact::code(body)));
                let facts: String = parameters
                    .into_iter()
                    .flatten()
                    .map(|(name, value)| format!(" `{name}`: {}.", fact::code(value)))
                    .chain(body)
                    .collect();
                let said = fact::after(text(link, "description").unwrap_or_default(), &facts);
                described::item(&label, &said, 0)
            })
            .collect();
        if !items.is_empty() {
            self.blocks.push(format!("Links:\n\n{}", items.join("\n")));
        }
    }

    /// The schemas and examples of all media types; types with the same schema share an entry.
    fn content(&mut self, owner: &'a Value) {
        let mut groups: Vec<(Vec<&'a str>, &'a Value)> = Vec::new();
        let all = || owner.get("content").and_then(Value::as_object).into_iter().flatten();
        for (media_type, media) in all() {
            let schema = media
                .get("schema")
                .or_else(|| media.get("itemSchema"))
                .unwrap_or(&Value::Null);
            match groups.iter_mut().find(|(_, other)| *other == schema) {
                Some((names, _)) => names.push(media_type),
                None => groups.push((vec![media_type], schema)),
            }
        }
        for (names, schema) in groups {
            let shown: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            self.blocks.push(match schema {
                Value::Null => shown.join(", "),
                schema => format!("{}\n\n{}", shown.join(", "), schema::list(self.api, schema)),
            });
            for (name, media) in all().filter(|(name, _)| names.contains(&name.as_str())) {
                for (part, encoding) in media.get("encoding").and_then(Value::as_object).into_iter().flatten() {
                    let types = text(encoding, "contentType").map(|types| format!("`{types}`"));
                    let label = format!("Part `{part}`");
                    if let Some(types) = types {
                        self.blocks.push(described::after(&label, &types));
                    }
                    self.headers(encoding);
                }
                self.blocks.extend(example::blocks(self.api, name, media));
            }
        }
    }
}

/// The schema of a parameter or a header. Swagger 2.0 has the type in the parameter itself.
fn schema_of(owner: &Value) -> &Value {
    let media = || owner.get("content")?.as_object()?.values().next()?.get("schema");
    owner.get("schema").or_else(media).unwrap_or(owner)
}

pub(super) fn is_true(owner: &Value, key: &str) -> bool {
    owner.get(key).and_then(Value::as_bool) == Some(true)
}

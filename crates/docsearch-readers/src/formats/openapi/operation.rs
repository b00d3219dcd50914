//! One operation: a method of a path.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::reference::Api;
use super::{line, schema, text};
use crate::draft::Draft;
use crate::draft::front_matter::FrontMatter;
use crate::file::slug;

const METHODS: [&str; 8] = ["get", "post", "put", "patch", "delete", "head", "options", "trace"];

pub(super) struct Operation<'a> {
    pub(super) method: String,
    pub(super) path: &'a str,
    value: &'a Value,
    /// The path item, with the parameters and servers that all its methods share.
    item: &'a Value,
}

/// Every operation in the order of the file.
pub(super) fn all<'a>(api: &Api<'a>) -> Vec<Operation<'a>> {
    let paths = api.root.get("paths").and_then(Value::as_object);
    paths
        .into_iter()
        .flatten()
        .flat_map(|(path, item)| {
            let item = api.resolve(item);
            METHODS.iter().filter_map(move |method| {
                Some(Operation {
                    method: method.to_ascii_uppercase(),
                    path,
                    value: item.get(*method).filter(|value| value.is_object())?,
                    item,
                })
            })
        })
        .collect()
}

impl<'a> Operation<'a> {
    /// `GET /pets/{id}`
    pub(super) fn line(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    fn id(&self) -> Option<&'a str> {
        text(self.value, "operationId")
    }

    /// `None` if it is missing or empty.
    pub(super) fn summary(&self) -> Option<&'a str> {
        text(self.value, "summary")
    }

    pub(super) fn tags(&self) -> Vec<&'a str> {
        let tags = self.value.get("tags").and_then(Value::as_array);
        tags.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// Makes the document; `taken` has the slugs of the documents before it.
    pub(super) fn draft(&self, api: &Api<'a>, taken: &mut HashSet<String>) -> Draft {
        let by_path = slug::from_title(&format!("{} {}", self.method, self.path));
        let mut slug_suffix = self.id().map_or_else(|| by_path.clone(), slug::normalise);
        if slug_suffix.is_empty() || taken.contains(&slug_suffix) {
            slug_suffix = by_path;
        }
        let mut number = 1;
        let base = slug_suffix.clone();
        while !taken.insert(slug_suffix.clone()) {
            number += 1;
            slug_suffix = format!("{base}-{number}");
        }
        let mut keywords = vec![self.line()];
        keywords.extend(self.id().map(str::to_owned));
        let tags = self.tags();
        let mut metadata = Map::from_iter([
            ("method".to_owned(), json!(self.method)),
            ("path".to_owned(), json!(self.path)),
        ]);
        if !tags.is_empty() {
            metadata.insert("tags".to_owned(), json!(tags));
        }
        if let Some(server) = self.servers(api).first() {
            metadata.insert("server".to_owned(), json!(server));
        }
        let title = self.id().map_or_else(|| self.line(), str::to_owned);
        let matter = FrontMatter {
            title: Some(title.clone()),
            category: tags.first().map(|tag| (*tag).to_owned()),
            version: api.info("version"),
            summary: self.summary().map(line),
            keywords,
            metadata,
            ..FrontMatter::default()
        };
        Draft {
            slug_suffix: Some(slug_suffix),
            body: self.body(api, &title),
            ..Draft::new(matter)
        }
    }

    fn servers(&self, api: &Api<'a>) -> Vec<String> {
        for owner in [self.value, self.item] {
            let own = Api::new(owner).servers();
            if !own.is_empty() {
                return own;
            }
        }
        api.servers()
    }

    fn body(&self, api: &Api<'a>, title: &str) -> String {
        let mut blocks = vec![format!("# {title}"), format!("`{}`", self.line())];
        if self.value.get("deprecated").and_then(Value::as_bool) == Some(true) {
            blocks.push("**Deprecated.**".to_owned());
        }
        blocks.extend(self.summary().map(str::to_owned));
        blocks.extend(text(self.value, "description").map(below_heading));
        blocks.extend(parameters(api, &self.parameters(api)));
        self.request_body(api, &mut blocks);
        self.responses(api, &mut blocks);
        blocks.extend(self.security(api));
        let mut body = blocks
            .iter()
            .map(|block| block.trim_end())
            .collect::<Vec<_>>()
            .join("\n\n");
        body.push('\n');
        body
    }

    /// The parameters of the operation, then those of the path that it does not override.
    fn parameters(&self, api: &Api<'a>) -> Vec<&'a Value> {
        let key = |parameter: &Value| {
            (
                text(parameter, "name").map(str::to_owned),
                text(parameter, "in").map(str::to_owned),
            )
        };
        let mut seen = HashSet::new();
        [self.value, self.item]
            .iter()
            .filter_map(|owner| owner.get("parameters")?.as_array())
            .flatten()
            .map(|parameter| api.resolve(parameter))
            .filter(|parameter| seen.insert(key(parameter)))
            .collect()
    }

    fn request_body(&self, api: &Api<'a>, blocks: &mut Vec<String>) {
        let in_body = self
            .parameters(api)
            .into_iter()
            .find(|parameter| text(parameter, "in") == Some("body"));
        if let Some(schema) = in_body.and_then(|parameter| parameter.get("schema")) {
            blocks.push("## Request body".to_owned());
            blocks.extend(
                in_body
                    .and_then(|parameter| text(parameter, "description"))
                    .map(str::to_owned),
            );
            blocks.push(schema::list(api, schema));
            return;
        }
        let Some(request) = self.value.get("requestBody").map(|request| api.resolve(request)) else {
            return;
        };
        let is_required = request.get("required").and_then(Value::as_bool) == Some(true);
        blocks.push("## Request body".to_owned());
        if is_required {
            blocks.push("Required.".to_owned());
        }
        blocks.extend(text(request, "description").map(str::to_owned));
        content(api, request, blocks);
    }

    fn responses(&self, api: &Api<'a>, blocks: &mut Vec<String>) {
        let Some(responses) = self
            .value
            .get("responses")
            .and_then(Value::as_object)
            .filter(|all| !all.is_empty())
        else {
            return;
        };
        blocks.push("## Responses".to_owned());
        for (status, response) in responses.iter().filter(|(status, _)| !status.starts_with("x-")) {
            let response = api.resolve(response);
            let description = text(response, "description").map(line);
            let label = if status == "default" { "Other statuses" } else { status };
            blocks.push(match description {
                Some(description) => format!("**{label}**: {description}"),
                None => format!("**{label}**"),
            });
            if let Some(schema) = response.get("schema") {
                blocks.push(schema::list(api, schema));
            }
            content(api, response, blocks);
        }
    }

    /// Security requirements, of which one has to be met.
    fn security(&self, api: &Api<'a>) -> Option<String> {
        let choices = self
            .value
            .get("security")
            .or_else(|| api.root.get("security"))?
            .as_array()?;
        let lines: Vec<String> = choices
            .iter()
            .filter_map(Value::as_object)
            .map(|choice| {
                let names: Vec<String> = choice
                    .iter()
                    .map(|(name, scopes)| requirement(api, name, scopes))
                    .collect();
                match names.as_slice() {
                    [] => "- none".to_owned(),
                    _ => format!("- {}", names.join(" and ")),
                }
            })
            .collect();
        (!lines.is_empty()).then(|| format!("## Security\n\n{}", lines.join("\n")))
    }
}

fn requirement(api: &Api<'_>, name: &str, scopes: &Value) -> String {
    let mut text = format!("`{name}`");
    if let Some(scheme) = api.security_scheme(name) {
        text.push_str(&format!(" ({})", scheme_text(scheme)));
    }
    let scopes: Vec<String> = scopes
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|scope| Some(format!("`{}`", scope.as_str()?)))
        .collect();
    if !scopes.is_empty() {
        text.push_str(&format!(" with {}", scopes.join(", ")));
    }
    text
}

/// `API key in header X-Token`, `HTTP bearer`, `OAuth 2`.
pub(super) fn scheme_text(scheme: &Value) -> String {
    match text(scheme, "type") {
        Some("apiKey") => format!(
            "API key in {} `{}`",
            text(scheme, "in").unwrap_or("header"),
            text(scheme, "name").unwrap_or_default()
        ),
        Some("http") => format!("HTTP {}", text(scheme, "scheme").unwrap_or_default()),
        Some("oauth2") => "OAuth 2".to_owned(),
        Some("openIdConnect") => "OpenID Connect".to_owned(),
        Some(other) => other.to_owned(),
        None => "unknown".to_owned(),
    }
}

/// The schemas of all media types; types with the same schema share an entry.
fn content(api: &Api<'_>, owner: &Value, blocks: &mut Vec<String>) {
    let mut groups: Vec<(String, &Value)> = Vec::new();
    for (media_type, media) in owner.get("content").and_then(Value::as_object).into_iter().flatten() {
        let schema = media.get("schema").unwrap_or(&Value::Null);
        match groups.iter_mut().find(|(_, other)| *other == schema) {
            Some((names, _)) => names.push_str(&format!(", `{media_type}`")),
            None => groups.push((format!("`{media_type}`"), schema)),
        }
    }
    for (names, schema) in groups {
        blocks.push(match schema {
            Value::Null => names,
            schema => format!("{names}\n\n{}", schema::list(api, schema)),
        });
    }
}

fn parameters(api: &Api<'_>, parameters: &[&Value]) -> Option<String> {
    let rows: Vec<String> = parameters
        .iter()
        .filter(|parameter| text(parameter, "in") != Some("body"))
        .filter_map(|parameter| parameter_row(api, parameter))
        .collect();
    let header = "## Parameters\n\n| Name | In | Type | Required | Description |\n| --- | --- | --- | --- | --- |\n";
    (!rows.is_empty()).then(|| format!("{header}{}", rows.join("\n")))
}

fn parameter_row(api: &Api<'_>, parameter: &Value) -> Option<String> {
    let media = || parameter.get("content")?.as_object()?.values().next()?.get("schema");
    // Swagger 2.0 has the type in the parameter itself.
    let schema = parameter.get("schema").or_else(media).unwrap_or(parameter);
    let required = match parameter.get("required").and_then(Value::as_bool) {
        Some(true) => "yes",
        _ => "no",
    };
    let mut description = text(parameter, "description").map(line).unwrap_or_default();
    description.push_str(&schema::facts(api.resolve(schema)));
    if parameter.get("deprecated").and_then(Value::as_bool) == Some(true) {
        description.push_str(" Deprecated.");
    }
    Some(format!(
        "| `{}` | {} | {} | {required} | {} |",
        text(parameter, "name")?,
        text(parameter, "in").unwrap_or_default(),
        schema::type_text(api, schema).replace('|', "\\|"),
        description.trim().replace('|', "\\|"),
    ))
}

/// Headings of a description move below that of the document.
pub(super) fn below_heading(description: &str) -> String {
    crate::text::fence::lines_with_state(description)
        .map(|(line, outside)| {
            let marks = line.bytes().take_while(|&byte| byte == b'#').count();
            let is_heading = outside && (1..6).contains(&marks) && line[marks..].starts_with(' ');
            if is_heading {
                format!("#{line}")
            } else {
                line.to_owned()
            }
        })
        .collect()
}

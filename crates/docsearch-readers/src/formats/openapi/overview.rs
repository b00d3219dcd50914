//! The description as a whole.

use serde_json::{Map, Value, json};

use super::operation::{self, below_heading, scheme_text};
use super::reference::Api;
use super::{line, text};
use crate::draft::Draft;
use crate::draft::front_matter::FrontMatter;

/// Title, description, servers, tags and a line for every operation.
pub(super) fn draft(api: &Api<'_>) -> Draft {
    let title = api.info("title").unwrap_or_else(|| "API".to_owned());
    let servers = api.servers();
    let mut blocks = vec![format!("# {title}")];
    blocks.extend(api.info("version").map(|version| format!("Version {version}")));
    blocks.extend(api.info("description").map(|description| below_heading(&description)));
    if !servers.is_empty() {
        let lines: Vec<String> = servers.iter().map(|server| format!("- `{server}`")).collect();
        blocks.push(format!("## Servers\n\n{}", lines.join("\n")));
    }
    blocks.extend(authentication(api));
    blocks.extend(tags(api));
    let operations: Vec<String> = operation::all(api)
        .iter()
        .map(|operation| match operation.summary() {
            Some(summary) => format!("- `{}`: {}", operation.line(), line(summary)),
            None => format!("- `{}`", operation.line()),
        })
        .collect();
    if !operations.is_empty() {
        blocks.push(format!("## Operations\n\n{}", operations.join("\n")));
    }
    let mut body = blocks.join("\n\n");
    body.push('\n');
    let mut metadata = Map::new();
    if let Some(server) = servers.first() {
        metadata.insert("server".to_owned(), json!(server));
    }
    let external = api.root.pointer("/externalDocs/url").and_then(Value::as_str);
    let matter = FrontMatter {
        title: Some(title),
        version: api.info("version"),
        summary: api.info("summary"),
        source_urls: external.map(str::to_owned).into_iter().collect(),
        metadata,
        ..FrontMatter::default()
    };
    Draft {
        body,
        ..Draft::new(matter)
    }
}

fn authentication(api: &Api<'_>) -> Option<String> {
    let schemes = match api.is_swagger() {
        true => api.root.get("securityDefinitions"),
        false => api.root.pointer("/components/securitySchemes"),
    };
    let lines: Vec<String> = schemes?
        .as_object()?
        .iter()
        .map(|(name, scheme)| {
            let scheme = api.resolve(scheme);
            let description = text(scheme, "description").map(|text| format!(": {}", line(text)));
            format!(
                "- `{name}` ({}){}",
                scheme_text(scheme),
                description.unwrap_or_default()
            )
        })
        .collect();
    (!lines.is_empty()).then(|| format!("## Authentication\n\n{}", lines.join("\n")))
}

fn tags(api: &Api<'_>) -> Option<String> {
    let tags = api.root.get("tags")?.as_array()?;
    let lines: Vec<String> = tags
        .iter()
        .filter_map(|tag| {
            let description = text(tag, "description").map(|text| format!(": {}", line(text)));
            Some(format!("- {}{}", text(tag, "name")?, description.unwrap_or_default()))
        })
        .collect();
    (!lines.is_empty()).then(|| format!("## Tags\n\n{}", lines.join("\n")))
}

//! The description as a whole.

use serde_json::{Map, json};

use super::operation::{self, Operation, cut_warning};
use super::reference::Api;
use super::value::Value;
use super::{described, fact, schema, security, server, text};
use crate::draft::Draft;
use crate::draft::front_matter::FrontMatter;

/// Title, description, servers, tags and a line for every operation.
pub(super) fn draft(api: &Api<'_>) -> Draft {
    let title = title(api);
    let mut blocks = vec![format!("# {title}")];
    blocks.extend(api.info("version").map(|version| format!("Version {version}")));
    blocks.extend(api.info("summary"));
    blocks.extend(
        api.info("description")
            .map(|description| described::below_heading(&description, 1)),
    );
    blocks.extend(terms(api));
    let servers = server::items(api);
    if !servers.is_empty() {
        blocks.push(format!("## Servers\n\n{}", servers.join("\n")));
    }
    blocks.extend(security::of_api(api));
    blocks.extend(tags(api));
    let operations = operation::all(api);
    for (heading, are_webhooks) in [("Operations", false), ("Webhooks", true)] {
        let lines: Vec<String> = operations
            .iter()
            .filter(|operation| operation.is_webhook == are_webhooks)
            .map(operation_line)
            .collect();
        if !lines.is_empty() {
            blocks.push(format!("## {heading}\n\n{}", lines.join("\n")));
        }
    }
    let mut body = blocks.join("\n\n");
    body.push('\n');
    let mut metadata = Map::new();
    if let Some(server) = server::addresses(api).first() {
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

/// The schemas that no operation lists completely, as a document; `None` if there are none.
pub(super) fn schemas(api: &Api<'_>) -> Option<Draft> {
    let (prefix, schemas) = api.schemas();
    let schemas = schemas?;
    let references: Vec<String> = schemas.keys().map(|name| format!("{prefix}{name}")).collect();
    let title = format!("{} schemas", title(api));
    let mut blocks = vec![format!("# {title}")];
    for ((name, value), reference) in schemas.iter().zip(&references) {
        if !api.is_described(reference) {
            blocks.push(format!("## `{name}`\n\n{}", schema::own_list(api, value).trim_end()));
        }
    }
    if blocks.len() == 1 {
        return None;
    }
    let matter = FrontMatter {
        title: Some(title),
        version: api.info("version"),
        ..FrontMatter::default()
    };
    Some(Draft {
        slug_suffix: Some("schemas".to_owned()),
        body: blocks.join("\n\n") + "\n",
        warning: cut_warning(api),
        ..Draft::new(matter)
    })
}

fn title(api: &Api<'_>) -> String {
    api.info("title").unwrap_or_else(|| "API".to_owned())
}

fn operation_line(operation: &Operation<'_>) -> String {
    match operation.summary() {
        Some(summary) => format!("- `{}`: {}", operation.line(), described::line(summary)),
        None => format!("- `{}`", operation.line()),
    }
}

/// Terms, licence, contact and further documentation.
fn terms(api: &Api<'_>) -> Option<String> {
    let info = api.root.get("info");
    let part = |key: &str, part: &str| info.and_then(|info| text(info.get(key)?, part));
    let mut lines = Vec::new();
    if let Some(terms) = info.and_then(|info| text(info, "termsOfService")) {
        lines.push(format!("- Terms of service: {terms}"));
    }
    for (key, label) in [("contact", "Contact"), ("license", "Licence")] {
        let parts = ["name", "identifier", "email", "url"];
        let parts: Vec<&str> = parts.iter().filter_map(|name| part(key, name)).collect();
        if !parts.is_empty() {
            lines.push(format!("- {label}: {}", parts.join(", ")));
        }
    }
    if let Some(documentation) = api.root.get("externalDocs").and_then(fact::external) {
        lines.push(format!("- See also {documentation}"));
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn tags(api: &Api<'_>) -> Option<String> {
    let tags = api.root.get("tags")?.as_array()?;
    let lines: Vec<String> = tags
        .iter()
        .filter_map(|tag| {
            let documentation = tag.get("externalDocs").and_then(fact::external).unwrap_or_default();
            let own = ["x-displayName", "summary", "description"]
                .iter()
                .filter_map(|key| text(tag, key));
            let said = own.collect::<Vec<_>>().join("\n\n");
            Some(described::item(
                text(tag, "name")?,
                &fact::after(&said, &documentation),
                0,
            ))
        })
        .collect();
    (!lines.is_empty()).then(|| format!("## Tags\n\n{}", lines.join("\n")))
}

//! Helpers for all tools.

use std::sync::Arc;

use docsearch_core::answer::delivery::MCP_MAX_TOKENS;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::arguments::Parameter;
use super::resources::ResourceUri;
use crate::process::error::Error;

/// Maximum number of tokens of an answer, whatever the caller requests: clients cut longer ones.
pub(super) const TOKEN_LIMIT: i32 = MCP_MAX_TOKENS as i32;

pub(super) const PROJECT: Parameter = Parameter {
    name: "project",
    aliases: &[
        "projects",
        "library",
        "library_name",
        "framework",
        "namespace",
        "collection",
        "package",
    ],
};

/// A read-only tool, without access to anything outside.
pub(super) fn tool(
    name: &'static str,
    title: &'static str,
    description: &'static str,
    required: &[&str],
    properties: Value,
) -> Tool {
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties);
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    Tool::new(name, description, Arc::new(schema)).with_annotations(
        ToolAnnotations::with_title(title)
            .read_only(true)
            .destructive(false)
            .idempotent(true)
            .open_world(false),
    )
}

/// The message for an error.
pub(super) fn message(error: Error) -> String {
    error.to_string()
}

/// Parses a reference: plain, in brackets as printed, or as the URI of a resource.
pub(super) fn reference(given: &str) -> String {
    let mut plain = given.trim();
    let count = |text: &str, bracket: char| text.matches(bracket).count();
    if let Some(inside) = plain.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        plain = inside;
    } else if count(plain, '[') != count(plain, ']') {
        plain = plain.trim_start_matches('[').trim_end_matches(']');
    }
    match ResourceUri::parse(plain) {
        Some(uri) => uri.reference(),
        None => plain.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_accepted_in_all_forms() {
        assert_eq!(reference("[swiftui/button#overview]"), "swiftui/button#overview");
        assert_eq!(reference("docsearch://swiftui/view/frame"), "swiftui/view/frame");
        assert_eq!(reference(" [next/app/[id]] "), "next/app/[id]");
        assert_eq!(reference("next/app/[id]"), "next/app/[id]");
    }
}

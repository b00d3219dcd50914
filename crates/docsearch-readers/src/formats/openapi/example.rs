//! Examples of media types as code blocks.

use super::reference::Api;
use super::value::Value;
use super::{described, text};
use crate::text::fence;

/// Indentation may make deeply nested values larger by this factor; others stay on one line.
const MAX_INDENTATION_FACTOR: usize = 4;

/// The examples of a media type, each below its name.
pub(super) fn blocks<'a>(api: &Api<'a>, media_type: &str, owner: &'a Value) -> Vec<String> {
    let mut blocks = Vec::new();
    if let Some(example) = owner.get("example").filter(|example| !example.is_null()) {
        push(api, &mut blocks, "Example", "", media_type, Some(example));
    }
    for (name, example) in owner.get("examples").and_then(Value::as_object).into_iter().flatten() {
        let example = api.resolve(example);
        let said: Vec<&str> = ["summary", "description", "externalValue"]
            .iter()
            .filter_map(|key| text(example, key))
            .collect();
        let value = example.get("value").or_else(|| example.get("dataValue"));
        push(
            api,
            &mut blocks,
            &format!("Example `{name}`"),
            &said.join("\n\n"),
            media_type,
            value,
        );
    }
    blocks
}

/// The example of a response in Swagger 2.0.
pub(super) fn swagger<'a>(api: &Api<'a>, owner: &'a Value) -> Vec<String> {
    let mut blocks = Vec::new();
    for (media_type, example) in owner.get("examples").and_then(Value::as_object).into_iter().flatten() {
        push(
            api,
            &mut blocks,
            &format!("Example `{media_type}`"),
            "",
            media_type,
            Some(example),
        );
    }
    blocks
}

/// Samples of code that call an operation, as Redoc shows them.
pub(super) fn samples(owner: &Value) -> Vec<String> {
    let samples = ["x-codeSamples", "x-code-samples"]
        .iter()
        .find_map(|key| owner.get(key)?.as_array());
    samples
        .into_iter()
        .flatten()
        .filter_map(|sample| {
            let source = text(sample, "source")?;
            let language = text(sample, "lang").unwrap_or_default();
            let label = text(sample, "label").unwrap_or(language);
            let is_name = language.chars().all(|c| c.is_alphanumeric() || "+-#._".contains(c));
            let code = fence::block(if is_name { language } else { "" }, source);
            Some(described_label(label).map_or(code.clone(), |label| format!("{label}\n\n{code}")))
        })
        .collect()
}

fn described_label(label: &str) -> Option<String> {
    (!label.is_empty()).then(|| format!("**{}**", described::line(label)))
}

fn push(api: &Api<'_>, blocks: &mut Vec<String>, label: &str, said: &str, media_type: &str, value: Option<&Value>) {
    let code = value.map(|value| match value {
        Value::String(text) => fence::block(language(media_type), text.trim_matches('\n')),
        other => fence::block("json", &json(other)),
    });
    let size = code.as_ref().map_or(0, String::len) + said.len();
    if !api.take_room(size) {
        api.mark_cut();
        return;
    }
    blocks.push(match said.is_empty() {
        true => format!("{label}:"),
        false => described::after(label, said),
    });
    blocks.extend(code);
}

fn json(value: &Value) -> String {
    let compact = value.to_string();
    match serde_json::to_string_pretty(value) {
        Ok(pretty) if pretty.len() <= MAX_INDENTATION_FACTOR * compact.len() => pretty,
        _ => compact,
    }
}

fn language(media_type: &str) -> &'static str {
    ["json", "xml", "yaml", "html", "csv"]
        .into_iter()
        .find(|language| media_type.contains(language))
        .unwrap_or_default()
}

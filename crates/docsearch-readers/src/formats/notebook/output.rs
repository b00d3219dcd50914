//! The outputs of code cells.

use std::collections::HashSet;

use serde_json::Value;

use super::{joined, markdown_of_html, without_embedded_images};
use crate::text::{fence, line_end};

/// Maximum size of an output; a longer one is data, not explanation.
const MAX_OUTPUT_LINES: usize = 30;
const MAX_OUTPUT_CHARACTERS: usize = 2000;
/// Beginnings of the texts by which plotting libraries describe objects.
const OBJECT_NAMES: [&str; 4] = ["<Figure ", "<matplotlib.", "<AxesSubplot", "<Axes"];

/// What a cell shows below its code.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Output {
    pub(super) block: Option<String>,
    /// Whether only its beginning is kept.
    pub(super) is_cut: bool,
}

/// The warning about outputs of which only the beginning is kept.
pub(super) fn cut_warning(count: usize) -> String {
    let outputs = if count == 1 {
        "1 output".to_owned()
    } else {
        format!("{count} outputs")
    };
    format!("{outputs} cut after {MAX_OUTPUT_LINES} lines or {MAX_OUTPUT_CHARACTERS} characters")
}

/// Reads an output in the form that says most.
pub(super) fn read(output: &Value) -> Output {
    // Format 3 has no `data`.
    let form = |media_type: &str, old: &str| {
        let path = format!("/data/{}", media_type.replace('/', "~1"));
        output.pointer(&path).or_else(|| output.get(old)).map(joined)
    };
    if let Some(markdown) = form("text/markdown", "markdown") {
        return Output {
            block: Some(without_embedded_images(markdown.trim())),
            is_cut: false,
        };
    }
    let text = text(output, form("text/plain", "text"));
    let shown = form("text/html", "html").and_then(|html| markdown_of_html(&html));
    // Pages show the HTML. The text is easier to read, and mostly says the same.
    if let Some(text) = text.filter(|text| shown.as_ref().is_none_or(|shown| has_words(text, shown))) {
        return cut(text, |text| fence::block("", text));
    }
    match shown.or_else(|| form("text/latex", "latex").map(|latex| latex.trim().to_owned())) {
        Some(text) => cut(text, str::to_owned),
        None => Output::default(),
    }
}

/// Whether a text has all words of another.
fn has_words(text: &str, other: &str) -> bool {
    let words = |text: &str| -> HashSet<String> {
        let words = text.split(|character: char| !character.is_alphanumeric());
        let words = words.filter(|word| word.contains(char::is_alphabetic));
        words.map(str::to_lowercase).collect()
    };
    words(text).is_superset(&words(other))
}

/// The plain text of an output; `None` if it only names an object.
fn text(output: &Value, plain: Option<String>) -> Option<String> {
    let text = match output.get("output_type")?.as_str()? {
        "error" | "pyerr" => {
            let part = |key: &str| output.get(key).and_then(Value::as_str).unwrap_or_default();
            format!("{}: {}", part("ename"), part("evalue"))
        }
        _ => plain?,
    };
    let text = line_end::with_line_feeds(overwritten(&without_escapes(&text.replace("\r\n", "\n"))));
    let text = text.trim_matches('\n').trim_end();
    let has_picture = output.get("data").and_then(Value::as_object).is_some_and(|data| {
        let mut forms = data.keys();
        forms.any(|form| form.starts_with("image/"))
    });
    (!text.is_empty() && !is_object_name(text, has_picture)).then(|| text.to_owned())
}

/// Whether a text only names an object that has no text: `<Figure size 640x480>`, `<kit.Map at 0x7f2a>`.
fn is_object_name(text: &str, has_picture: bool) -> bool {
    let is_in_brackets = text.starts_with('<') && text.ends_with('>') && !text.contains('\n');
    let has_address = text.contains(" at 0x") && text.starts_with(['<', '[', '(']) && text.ends_with(['>', ']', ')']);
    has_address
        || is_in_brackets && (has_picture || text.ends_with(" object>"))
        || OBJECT_NAMES.iter().any(|name| text.starts_with(name))
}

fn cut(text: String, block: impl Fn(&str) -> String) -> Output {
    let lines: Vec<&str> = text.lines().take(MAX_OUTPUT_LINES).collect();
    let mut kept = lines.join("\n");
    if let Some((end, _)) = kept.char_indices().nth(MAX_OUTPUT_CHARACTERS) {
        kept.truncate(end);
    }
    let is_cut = kept.len() < text.trim_end().len();
    if is_cut {
        kept.push_str("\n...");
    }
    Output {
        block: (!kept.is_empty()).then(|| block(&kept)),
        is_cut,
    }
}

/// What a terminal shows of lines that overwrite themselves, as bars of progress do.
fn overwritten(text: &str) -> String {
    let lines = text
        .split('\n')
        .map(|line| line.rsplit('\r').find(|part| !part.is_empty()).unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// Removes escape sequences for colours.
fn without_escapes(text: &str) -> String {
    let mut output = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        output.push_str(before);
        let end = after.find(|character: char| character.is_ascii_alphabetic());
        rest = end.map_or("", |end| &after[end + 1..]);
    }
    output.push_str(rest);
    output
}

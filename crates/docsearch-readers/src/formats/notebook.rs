//! Jupyter notebooks of format 3 and 4: text, code and short outputs.
//!
//! Reads leniently: many notebooks violate the schema in ways that no reader notices.

#[cfg(test)]
use docsearch_fuzz::{Format as Grammar, Target};
use serde_json::Value;

use crate::draft::{Draft, Unreadable, front_matter};
use crate::formats::format::{Format, Reader, TextSource, TextTest};
#[cfg(test)]
use crate::formats::growth;
use crate::text::fence;

pub(crate) static FORMAT: Format = Format {
    extensions: &["ipynb"],
    media_types: &["application/x-ipynb+json"],
    text_test: Some(TextTest {
        rank: 2,
        passes: |text| text.trim_start().starts_with('{') && text.contains("\"nbformat\""),
    }),
    marks_parts: false,
    #[cfg(test)]
    fuzz_target: Some(Target::new("readers-notebook", Grammar::NOTEBOOK, |input| {
        growth::check(&FORMAT, "guide/page.ipynb", input);
    })),
    ..Format::new(
        "notebook",
        "Jupyter notebooks",
        "Jupyter notebooks: text, code and short outputs",
        Reader::Text(|source: &TextSource<'_>| Ok(vec![read(source.text)?])),
    )
};

/// Maximum size of an output; a longer one is data, not explanation.
const MAX_OUTPUT_LINES: usize = 30;
const MAX_OUTPUT_CHARACTERS: usize = 2000;
/// Beginnings of the texts by which plotting libraries describe objects.
const OBJECT_NAMES: [&str; 4] = ["<Figure ", "<matplotlib.", "<AxesSubplot", "<Axes"];

/// Reads a notebook.
pub(crate) fn read(text: &str) -> Result<Draft, Unreadable> {
    let malformed = |reason: String| Unreadable::Malformed {
        format: "notebook",
        reason,
    };
    let notebook: Value = serde_json::from_str(text).map_err(|error| malformed(error.to_string()))?;
    let cells = cells(&notebook).ok_or_else(|| malformed("it has no cells".to_owned()))?;
    let language = notebook
        .pointer("/metadata/kernelspec/language")
        .or_else(|| notebook.pointer("/metadata/language_info/name"))
        .and_then(Value::as_str);
    let mut draft = Draft::default();
    let mut blocks: Vec<String> = Vec::new();
    for (number, cell) in cells.iter().enumerate() {
        let source = source(cell);
        match cell.get("cell_type").and_then(Value::as_str) {
            Some("markdown") => blocks.push(without_embedded_images(source.trim())),
            Some("heading") => blocks.push(heading(cell, &source)),
            Some("code") => code(cell, &source, language, &mut blocks),
            // Quarto and nbdev keep the front matter in a raw cell at the beginning.
            Some("raw") if number == 0 => {
                let page = front_matter::split(&source);
                draft.matter = page.front_matter;
                draft.warning = page.problem.map(|reason| format!("front matter ignored: {reason}"));
            }
            _ => {}
        }
    }
    blocks.retain(|block| !block.is_empty());
    draft.body = blocks.join("\n\n").replace('\0', "\u{fffd}");
    draft.body.push('\n');
    Ok(draft)
}

fn cells(notebook: &Value) -> Option<Vec<&Value>> {
    if let Some(cells) = notebook.get("cells").and_then(Value::as_array) {
        return Some(cells.iter().collect());
    }
    let sheets = notebook.get("worksheets")?.as_array()?;
    let cells = sheets.iter().filter_map(|sheet| sheet.get("cells")?.as_array());
    Some(cells.flatten().collect())
}

fn source(cell: &Value) -> String {
    let source = cell.get("source").or_else(|| cell.get("input"));
    source.map(joined).unwrap_or_default()
}

/// Text that is one string or a list of lines.
fn joined(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

fn heading(cell: &Value, source: &str) -> String {
    let level = cell.get("level").and_then(Value::as_u64).unwrap_or(1).clamp(1, 6);
    let marks = "#".repeat(usize::try_from(level).unwrap_or(1));
    format!("{marks} {}", source.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn code(cell: &Value, source: &str, language: Option<&str>, blocks: &mut Vec<String>) {
    let source = source.trim_matches('\n').trim_end();
    if source.is_empty() {
        return;
    }
    let own = cell.get("language").and_then(Value::as_str);
    blocks.push(fence::block(own.or(language).unwrap_or_default(), source));
    for output in cell.get("outputs").and_then(Value::as_array).into_iter().flatten() {
        if let Some(markdown) = output.pointer("/data/text~1markdown") {
            blocks.push(without_embedded_images(joined(markdown).trim()));
        } else if let Some(text) = output_text(output) {
            blocks.push(fence::block("", &text));
        }
    }
}

fn output_text(output: &Value) -> Option<String> {
    let text = match output.get("output_type")?.as_str()? {
        "stream" => joined(output.get("text")?),
        "error" | "pyerr" => {
            let part = |key: &str| output.get(key).and_then(Value::as_str).unwrap_or_default();
            format!("{}: {}", part("ename"), part("evalue"))
        }
        _ => joined(output.pointer("/data/text~1plain").or_else(|| output.get("text"))?),
    };
    let text = without_escapes(&text);
    let text = text.trim_matches('\n').trim_end();
    if text.is_empty() || OBJECT_NAMES.iter().any(|name| text.starts_with(name)) {
        return None;
    }
    Some(bounded(text))
}

fn bounded(text: &str) -> String {
    let lines: Vec<&str> = text.lines().take(MAX_OUTPUT_LINES).collect();
    let mut kept = lines.join("\n");
    if let Some((end, _)) = kept.char_indices().nth(MAX_OUTPUT_CHARACTERS) {
        kept.truncate(end);
    }
    if kept.len() < text.len() {
        kept.push_str("\n...");
    }
    kept
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

/// Replaces embedded images and attachments of the cell by their descriptions.
fn without_embedded_images(markdown: &str) -> String {
    let mut output = String::with_capacity(markdown.len());
    let mut rest = markdown;
    while let Some(start) = rest.find("![") {
        let (before, image) = rest.split_at(start);
        output.push_str(before);
        let embedded = image.split_once("](").and_then(|(label, tail)| {
            let is_embedded = tail.starts_with("data:") || tail.starts_with("attachment:");
            let end = tail.find(')').filter(|_| is_embedded && !label.contains('\n'))?;
            Some((&label[2..], &tail[end + 1..]))
        });
        match embedded {
            Some((label, tail)) => {
                output.push_str(label);
                rest = tail;
            }
            None => {
                output.push_str("![");
                rest = &image[2..];
            }
        }
    }
    output.push_str(rest);
    output
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_with_their_code_and_short_outputs() {
        let notebook = r##"{"nbformat": 4, "nbformat_minor": 5,
          "metadata": {"kernelspec": {"name": "python3", "language": "python", "display_name": "Python 3"}},
          "cells": [
            {"cell_type": "markdown", "metadata": {}, "source": ["# Load data\n", "\n", "![logo](data:image/png;base64,AAAA) Read a file."]},
            {"cell_type": "code", "metadata": {}, "execution_count": 1, "source": "print('hi')\n",
             "outputs": [{"output_type": "stream", "name": "stdout", "text": ["\u001b[31mhi\u001b[0m\n"]},
                         {"output_type": "display_data", "data": {"image/png": "iVBORw0KGgo", "text/plain": ["<Figure size 640x480>"]}, "metadata": {}},
                         {"output_type": "execute_result", "data": {"text/plain": "42", "text/html": "<b>42</b>"}, "metadata": {}, "execution_count": 1},
                         {"output_type": "error", "ename": "KeyError", "evalue": "'x'", "traceback": ["long"]}]},
            {"cell_type": "code", "metadata": {}, "source": [], "outputs": []}]}"##;
        let draft = read(notebook).unwrap();
        assert_eq!(
            draft.body,
            "# Load data\n\nlogo Read a file.\n\n```python\nprint('hi')\n```\n\n```\nhi\n```\n\n```\n42\n```\n\n```\nKeyError: 'x'\n```\n"
        );
    }

    #[test]
    fn notebooks_of_format_three() {
        let notebook = r#"{"nbformat": 3, "metadata": {"name": ""}, "worksheets": [{"cells": [
            {"cell_type": "heading", "level": 2, "source": ["Intro"]},
            {"cell_type": "code", "language": "python", "input": ["1 + 1"], "outputs": [{"output_type": "pyout", "text": ["2"]}]}]}]}"#;
        assert_eq!(
            read(notebook).unwrap().body,
            "## Intro\n\n```python\n1 + 1\n```\n\n```\n2\n```\n"
        );
    }

    #[test]
    fn long_outputs_are_cut_and_other_json_is_refused() {
        let lines = "\\n".repeat(500);
        let notebook = format!(
            r#"{{"cells": [{{"cell_type": "code", "source": "x", "outputs": [{{"output_type": "stream", "text": "a{lines}b"}}]}}]}}"#
        );
        let body = read(&notebook).unwrap().body;
        assert!(body.contains("...") && body.lines().count() < 50);
        assert!(matches!(read("{\"a\": 1}"), Err(Unreadable::Malformed { .. })));
        assert!(matches!(read("nothing"), Err(Unreadable::Malformed { .. })));
    }

    #[test]
    fn a_raw_cell_at_the_beginning_is_front_matter() {
        let notebook = r#"{"cells": [{"cell_type": "raw", "source": "---\ntitle: Plots\n---"}, {"cell_type": "raw", "source": "x"}]}"#;
        let draft = read(notebook).unwrap();
        assert_eq!(draft.matter.title.as_deref(), Some("Plots"));
        assert_eq!(draft.body, "\n");
    }
}

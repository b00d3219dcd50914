//! Jupyter notebooks of format 3 and 4: text, code and short outputs.
//!
//! Reads leniently: many notebooks violate the schema in ways that no reader notices.

mod output;
#[cfg(test)]
mod tests;

use std::path::Path;

#[cfg(test)]
use docsearch_fuzz::{Format as Grammar, Target};
use serde_json::Value;

use crate::draft::{Draft, Unreadable, file_properties, front_matter};
use crate::formats::format::{Format, Reader, TextSource, TextTest};
#[cfg(test)]
use crate::formats::growth;
use crate::formats::{html, rst};
use crate::text::{fence, line_end};

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
    let mut cut = 0;
    for (number, cell) in cells.iter().enumerate() {
        let source = source(cell);
        match cell.get("cell_type").and_then(Value::as_str) {
            Some("markdown") => blocks.push(without_embedded_images(source.trim())),
            Some("heading") => blocks.push(heading(cell, &source)),
            Some("code") => {
                blocks.extend(code(cell, &source, language));
                for output in cell.get("outputs").and_then(Value::as_array).into_iter().flatten() {
                    let output = output::read(output);
                    cut += usize::from(output.is_cut);
                    blocks.extend(output.block);
                }
            }
            // Quarto and nbdev keep the front matter in a raw cell at the beginning.
            Some("raw") if number == 0 => {
                let page = front_matter::split(&source);
                blocks.push(raw(cell, page.body));
                draft.matter = page.front_matter;
                draft.warning = page.problem.map(|reason| format!("front matter ignored: {reason}"));
            }
            _ => blocks.push(raw(cell, &source)),
        }
    }
    if cut > 0 {
        draft.warning.get_or_insert_with(|| output::cut_warning(cut));
    }
    if draft.matter.title.is_none() {
        let title = notebook.pointer("/metadata/title").and_then(Value::as_str);
        draft.matter.title = title
            .filter(|title| !file_properties::is_placeholder(title))
            .map(str::to_owned);
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
    line_end::with_line_feeds(source.map(joined).unwrap_or_default())
}

/// Text that is one string or a list of lines.
fn joined(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(lines) => {
            let lines: Vec<&str> = lines.iter().filter_map(Value::as_str).collect();
            // Some programs leave out the line ends.
            lines.join(if lines.iter().any(|line| line.contains('\n')) {
                ""
            } else {
                "\n"
            })
        }
        _ => String::new(),
    }
}

fn heading(cell: &Value, source: &str) -> String {
    let level = cell.get("level").and_then(Value::as_u64).unwrap_or(1).clamp(1, 6);
    let marks = "#".repeat(usize::try_from(level).unwrap_or(1));
    format!("{marks} {}", source.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn code(cell: &Value, source: &str, language: Option<&str>) -> Option<String> {
    let source = source.trim_matches('\n').trim_end();
    let of_editor = ["/metadata/vscode/languageId", "/metadata/dotnet_interactive/language"];
    let own = cell
        .get("language")
        .or_else(|| of_editor.iter().find_map(|path| cell.pointer(path)));
    let language = own.and_then(Value::as_str).or(language).unwrap_or_default();
    (!source.is_empty()).then(|| fence::block(language, source))
}

/// A cell in another markup, which Jupyter shows as it is.
fn raw(cell: &Value, source: &str) -> String {
    let source = source.trim_matches('\n').trim_end();
    let metadata = |key: &str| cell.pointer(&format!("/metadata/{key}")).and_then(Value::as_str);
    let markup = metadata("raw_mimetype")
        .or_else(|| metadata("format"))
        .unwrap_or_default();
    let is_html = markup == "text/html" || cell.get("cell_type").and_then(Value::as_str) == Some("html");
    match markup {
        _ if source.is_empty() => String::new(),
        "text/markdown" => without_embedded_images(source),
        "text/restructuredtext" | "text/x-rst" => rst::to_markdown(source).trim().to_owned(),
        _ if is_html => markdown_of_html(source).unwrap_or_default(),
        _ => fence::block("", source),
    }
}

fn markdown_of_html(text: &str) -> Option<String> {
    let draft = html::read(Path::new("output.html"), text, None, &html::Frame::of_book()).ok()?;
    Some(draft.body.trim().to_owned())
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

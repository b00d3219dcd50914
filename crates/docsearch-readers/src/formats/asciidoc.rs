//! AsciiDoc: pages, manual pages and books, as Asciidoctor reads them. The crate `asciidoc-parser` makes the tree; what
//! it does not know of older spellings is brought into newer ones before.

mod block;
mod include;
mod inline;
mod list;
mod scope;
mod source;
mod table;
#[cfg(test)]
mod tests;

use std::path::Path;

use asciidoc_parser::blocks::FindBlocks;
use asciidoc_parser::document::{Document, InterpretedValue};
use asciidoc_parser::parser::ModificationContext;
use asciidoc_parser::{Parser, SafeMode};
use serde_json::Value;

use crate::draft::front_matter::FrontMatter;
use crate::draft::{Draft, PART, Unreadable, front_matter, guard};
use crate::file::{Folder, extension, manual_page};
use crate::text::markdown_text;
use include::Includes;
use scope::Scope;

/// Of a page, and of all that it includes.
const MAX_BYTES: usize = 4_000_000;
/// Attributes that git's pages use without defining them.
const ATTRIBUTES: [(&str, &str); 2] = [("litdd", "&#45;&#45;"), ("docname", "")];

/// Whether a name says that a file may be AsciiDoc; others are included as they are.
fn is_named(path: &Path) -> bool {
    extension::of(path)
        .is_some_and(|extension| matches!(extension.as_str(), "adoc" | "asciidoc" | "asc" | "ad" | "txt"))
}

/// Reads the page `text` that lies at `path`; it may include files of `folder`.
pub(crate) fn read(folder: Option<&Folder>, path: &Path, text: &str) -> Result<Vec<Draft>, Unreadable> {
    if is_part(path) {
        return Err(Unreadable::NoDocumentation(PART));
    }
    guard::run("AsciiDoc", || convert(folder, path, text).map(|draft| vec![draft]))
}

fn convert(folder: Option<&Folder>, path: &Path, text: &str) -> Result<Draft, Unreadable> {
    let page = front_matter::split(text);
    let source = source::prepare(page.body, true)?;
    let includes = Includes::new(folder, path, &source);
    let mut parser = Parser::default()
        .with_safe_mode(SafeMode::Safe)
        .with_include_file_handler(includes.clone());
    for (name, value) in ATTRIBUTES {
        parser = parser.with_intrinsic_attribute(name, value, ModificationContext::Anywhere);
    }
    // Attributes may hold others, twice each time.
    parser = parser.with_intrinsic_attribute("max-attribute-value-size", "4096", ModificationContext::ApiOnly);
    if !source.has_section_ids {
        parser = parser.with_intrinsic_attribute_bool("sectids", false, ModificationContext::ApiOnly);
    }
    let document = parser.parse(&source.text);
    let mut matter = page.front_matter;
    let title = complete(&mut matter, &document);
    let mut blocks: Vec<String> = title
        .iter()
        .map(|title| markdown_text::heading(1, &markdown_text::escape(title), document.header().id()))
        .collect();
    blocks.extend(block::all(document.child_blocks(), Scope::page()));
    if matter.summary.is_none() {
        matter.summary = manual_page::purpose(&blocks);
    }
    let problem = page.problem.map(|reason| format!("front matter ignored: {reason}"));
    Ok(Draft {
        body: markdown_text::page(&blocks),
        warning: problem.or_else(|| includes.warning()),
        ..Draft::new(matter)
    })
}

/// Files that only other pages include, as Asciidoctor and Antora keep them apart.
fn is_part(path: &Path) -> bool {
    let is_named_so = path
        .file_name()
        .is_some_and(|name| name.to_string_lossy().starts_with('_'));
    is_named_so || path.parent().is_some_and(|folder| folder.ends_with("partials"))
}

/// Completes the matter by what the header says, and returns the title.
fn complete(matter: &mut FrontMatter, document: &Document<'_>) -> Option<String> {
    let value = |name: &str| match document.attribute_value(name) {
        InterpretedValue::Value(value) if !value.trim().is_empty() => Some(inline::without_tags(&value)),
        _ => None,
    };
    let title = document.doctitle().map(inline::without_tags);
    let title = match title.as_deref().and_then(manual_page::title) {
        Some((name, section)) => {
            matter
                .metadata
                .entry(manual_page::SECTION)
                .or_insert_with(|| Value::from(section));
            matter.kind.get_or_insert_with(|| manual_page::KIND.to_owned());
            Some(name.to_owned())
        }
        None => title,
    };
    if matter.title.is_none() {
        matter.title.clone_from(&title);
    }
    if matter.summary.is_none() {
        matter.summary = value("description");
    }
    if matter.keywords.is_empty() {
        let keywords = value("keywords").unwrap_or_default();
        let keywords = keywords.split(',').map(str::trim).filter(|word| !word.is_empty());
        matter.keywords = keywords.map(str::to_owned).collect();
    }
    for (attribute, key) in [("author", "author"), ("revnumber", "revision")] {
        if let Some(value) = value(attribute) {
            matter.metadata.entry(key).or_insert_with(|| Value::from(value));
        }
    }
    title
}

//! AsciiDoc: pages, manual pages and books, as in Asciidoctor. The crate `asciidoc-parser` parses them; older syntax
//! that it does not know is rewritten first.

mod block;
mod delimiter;
mod include;
mod inline;
mod list;
mod scope;
mod source;
mod table;
#[cfg(test)]
mod tests;
mod unknown_macro;

use std::path::Path;

use asciidoc_parser::blocks::FindBlocks;
use asciidoc_parser::document::{Document, InterpretedValue};
use asciidoc_parser::parser::ModificationContext;
use asciidoc_parser::{Parser, SafeMode};
#[cfg(test)]
use docsearch_fuzz::{Format as Grammar, Target};
use serde_json::Value;

use crate::draft::front_matter::FrontMatter;
use crate::draft::{Draft, PART, Unreadable, front_matter, guard};
use crate::file::{Folder, extension, manual_page};
use crate::formats::format::{Format, Reader, TextSource};
#[cfg(test)]
use crate::formats::growth;
use crate::text::markdown_text;
use include::Includes;
use scope::Scope;
use source::Position;

pub(crate) static FORMAT: Format = Format {
    extensions: &["adoc", "asciidoc"],
    // ASCII-armoured PGP files have this extension, too.
    shared_extensions: &["asc"],
    media_types: &["text/asciidoc", "text/x-asciidoc"],
    is_linked: true,
    includes: true,
    included_is_part: true,
    #[cfg(test)]
    fuzz_target: Some(
        Target::new("readers-asciidoc", Grammar::ASCIIDOC, |input| {
            growth::check(&FORMAT, "guide/page.adoc", input);
        })
        .up_to(2 * 1024),
    ),
    ..Format::new(
        "asciidoc",
        "AsciiDoc",
        "AsciiDoc, also in .txt",
        Reader::Text(|source: &TextSource<'_>| read(source.folder, source.path, source.text)),
    )
};

/// Maximum bytes of a page and of all its includes.
const MAX_BYTES: usize = 4_000_000;
/// Attributes that the pages of git use without defining them.
const ATTRIBUTES: [(&str, &str); 2] = [("litdd", "&#45;&#45;"), ("docname", "")];

/// Whether the name shows that a file may be AsciiDoc; other files are included verbatim.
fn is_named(path: &Path) -> bool {
    FORMAT.has_extension(path)
        || extension::of(path).is_some_and(|extension| matches!(extension.as_str(), "ad" | "txt"))
}

/// Reads the page `text` at `path`; it may include files of `folder`.
pub(crate) fn read(folder: Option<&Folder>, path: &Path, text: &str) -> Result<Vec<Draft>, Unreadable> {
    if is_part(path) {
        return Err(Unreadable::NoDocumentation(PART));
    }
    guard::run("AsciiDoc", || convert(folder, path, text).map(|draft| vec![draft]))
}

fn convert(folder: Option<&Folder>, path: &Path, text: &str) -> Result<Draft, Unreadable> {
    let page = front_matter::split(text);
    let position = Position {
        may_have_title: true,
        ..Position::default()
    };
    let source = source::prepare(page.body, position)?;
    let includes = Includes::new(folder, path, &source);
    let mut parser = Parser::default()
        .with_safe_mode(SafeMode::Safe)
        .with_include_file_handler(includes.clone());
    for (name, value) in ATTRIBUTES {
        parser = parser.with_intrinsic_attribute(name, value, ModificationContext::Anywhere);
    }
    // Attributes may contain others, which doubles their size each time.
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
        unknown: unknown_macro::count(&document),
        ..Draft::new(matter)
    })
}

/// Evidence for AsciiDoc in a line below `previous`.
pub(crate) fn evidence(line: &str, previous: &str) -> usize {
    const DIRECTIVES: [&str; 6] = ["ifdef::", "ifndef::", "ifeval::", "endif::", "include::", "image::"];
    let line = line.trim_end();
    let is_bracketed = |begin: &str| line.starts_with(begin) && line.ends_with(']');
    let directive = line.ends_with(']') && DIRECTIVES.iter().any(|directive| line.starts_with(directive));
    let equals = line.bytes().take_while(|&byte| byte == b'=').count();
    let heading = (1..=6).contains(&equals) && line[equals..].starts_with(' ') && !line.ends_with(" =");
    let anchor = line.starts_with("[[") && line.contains("]]");
    let block = [
        "[source",
        "[listing",
        "[verse",
        "[quote",
        "[NOTE]",
        "[TIP]",
        "[WARNING]",
        "[options=",
        "[cols=",
        "[%",
        "[#",
        "[horizontal",
        "[synopsis",
    ]
    .iter()
    .any(|begin| is_bracketed(begin));
    let label = line
        .strip_suffix("::")
        .filter(|label| !label.is_empty() && !label.starts_with([' ', '\t', '.', '#', '/']));
    let term = label.map_or(0, |label| {
        1 + usize::from(label.starts_with('-') || !label.contains(' '))
    });
    let link = ["link:", "linkgit:", "xref:", "https://", "http://"]
        .iter()
        .any(|begin| {
            line.split_once(begin).is_some_and(|(_, after)| {
                after
                    .split(' ')
                    .next()
                    .is_some_and(|word| word.contains('[') && !word.contains("]("))
            })
        });
    let reference = line
        .split_once("<<")
        .is_some_and(|(_, after)| after.contains(">>") && !after.starts_with(' '));
    let first = line.chars().next().unwrap_or(' ');
    let is_edge = line.len() >= 4 && "-.+".contains(first) && line.chars().all(|character| character == first);
    let block_edge = is_edge && previous.is_empty();
    let says_so = line.eq_ignore_ascii_case("Content-type: text/asciidoc");
    3 * usize::from(directive)
        + 2 * usize::from(heading)
        + 2 * usize::from(anchor)
        + 6 * usize::from(says_so)
        + 2 * usize::from(block)
        + 3 * usize::from(line == "|===")
        + usize::from(line == "+")
        + usize::from(link)
        + usize::from(reference)
        + usize::from(block_edge)
        + term
}

/// Files that are only included, by the conventions of Asciidoctor and Antora.
fn is_part(path: &Path) -> bool {
    let is_named_so = path
        .file_name()
        .is_some_and(|name| name.to_string_lossy().starts_with('_'));
    is_named_so || path.parent().is_some_and(|folder| folder.ends_with("partials"))
}

/// Completes the front matter from the header, and returns the title.
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

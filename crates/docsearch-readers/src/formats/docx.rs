//! Word documents (DOCX): headings by the outline level of their styles, lists, tables, code by style and font, links,
//! bookmarks of headings as anchors, and the texts of boxes, diagrams and notes. Heads and feet of pages, comments and
//! deletions are left out.

mod block;
mod code;
mod diagram;
mod field;
mod inline;
mod marker;
mod math;
mod note;
mod number;
mod numbering;
mod part;
mod style;
mod symbol;
mod table;
#[cfg(test)]
mod tests;
mod web_archive;

use crate::bytes::package::Archive;
#[cfg(test)]
use crate::bytes::package::packed;
use crate::bytes::xml::Element;
use crate::draft::file_properties::{self, FileProperties};
use crate::draft::{Draft, Unreadable, guard};
use crate::formats::format::{Format, Reader, Signature};
#[cfg(test)]
use crate::formats::growth;
use crate::text::heading;
#[cfg(test)]
use docsearch_fuzz::{Format as Grammar, Target};

pub(crate) static FORMAT: Format = Format {
    help: Some("Word"),
    extensions: &["docx", "docm"],
    media_types: &["application/vnd.openxmlformats-officedocument.wordprocessingml.document"],
    signature: Some(Signature::Entry(MAIN, None)),
    #[cfg(test)]
    fuzz_target: Some(
        Target::new("readers-docx", Grammar::OFFICE, |input| {
            let text = &*docsearch_fuzz::text(input);
            let body = format!("<w:document><w:body>{text}</w:body></w:document>");
            growth::check_bytes(&FORMAT, text, &packed(&[(MAIN, &body), ("word/styles.xml", text)]));
        })
        .up_to(8 * 1024),
    ),
    ..Format::new(
        "docx",
        NAME,
        "Word: text with its headings",
        Reader::Bytes(|bytes| Ok(vec![read(bytes)?])),
    )
};

const NAME: &str = "DOCX";
/// The usual path of the part with the text.
const MAIN: &str = "word/document.xml";

/// Reads the file `bytes`.
pub(crate) fn read(bytes: &[u8]) -> Result<Draft, Unreadable> {
    guard::run(NAME, || convert(bytes))
}

fn convert(bytes: &[u8]) -> Result<Draft, Unreadable> {
    let malformed = |reason: &str| Unreadable::Malformed {
        format: NAME,
        reason: reason.to_owned(),
    };
    let mut archive = Archive::open(bytes, NAME)?;
    let path = part::main_path(&mut archive)?.unwrap_or_else(|| MAIN.to_owned());
    let mut parts = part::Parts::read(&mut archive, &path)?;
    note::convert(&mut parts);
    let main = archive
        .read_xml(&path)?
        .ok_or_else(|| malformed("it has no text part"))?;
    let body = main
        .child("body")
        .ok_or_else(|| malformed("its text part has no body"))?;
    let page = block::page(body, &parts);
    if page.body.trim().is_empty() {
        return Err(malformed("it has no text"));
    }
    let core = archive.read_xml("docProps/core.xml")?.unwrap_or_default();
    let application = archive.read_xml("docProps/app.xml")?.unwrap_or_default();
    let has_heading = heading::first_heading(&page.body).is_some();
    let mut matter = properties(&core, &application).by_author(&page.body, has_heading);
    let own = page.title.filter(|title| !file_properties::is_default(title, &[]));
    matter.title = own.or(matter.title);
    Ok(Draft {
        body: page.body,
        warning: (!parts.left_out.is_empty()).then(|| format!("parts left out: {}", parts.left_out.join(", "))),
        ..Draft::new(matter)
    })
}

fn properties(core: &Element, application: &Element) -> FileProperties {
    let text = |name: &str| core.child(name).and_then(Element::text);
    FileProperties {
        title: text("title"),
        summary: text("description").or_else(|| text("subject")),
        author: text("creator"),
        keywords: file_properties::keywords(&text("keywords").unwrap_or_default()),
        date: text("modified").and_then(|date| date.get(..10).map(str::to_owned)),
        programs: application
            .child("Application")
            .and_then(Element::text)
            .into_iter()
            .collect(),
    }
}

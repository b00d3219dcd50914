//! Word documents (DOCX): headings by the outline level of their styles, lists, tables, code by style and font, links,
//! and bookmarks of headings as anchors.

mod block;
mod inline;
mod part;
mod style;
#[cfg(test)]
mod tests;

#[cfg(test)]
use docsearch_fuzz::{Format as Grammar, Target};
use serde_json::Value;

use crate::bytes::package::Archive;
#[cfg(test)]
use crate::bytes::package::packed;
use crate::bytes::xml::Element;
use crate::draft::front_matter::FrontMatter;
use crate::draft::{Draft, Unreadable, guard};
use crate::formats::format::{Format, Reader, Signature};
#[cfg(test)]
use crate::formats::growth;

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
/// The part with the text.
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
    let parts = part::Parts::read(&mut archive)?;
    let main = archive
        .read_xml(MAIN)?
        .ok_or_else(|| malformed("it has no text part"))?;
    let body = main
        .child("body")
        .ok_or_else(|| malformed("its text part has no body"))?;
    let page = block::page(body, &parts);
    if page.body.trim().is_empty() {
        return Err(malformed("it has no text"));
    }
    let mut matter = archive
        .read_xml("docProps/core.xml")?
        .map_or_else(FrontMatter::default, |core| properties(&core));
    matter.title = page.title.or(matter.title);
    Ok(Draft {
        body: page.body,
        ..Draft::new(matter)
    })
}

fn properties(core: &Element) -> FrontMatter {
    let text = |name: &str| core.child(name).and_then(Element::text);
    let keywords = text("keywords").unwrap_or_default();
    let mut matter = FrontMatter {
        title: text("title"),
        summary: text("description").or_else(|| text("subject")),
        keywords: keywords
            .split([',', ';'])
            .map(str::trim)
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect(),
        published_at: text("modified").and_then(|date| date.get(..10).map(str::to_owned)),
        ..FrontMatter::default()
    };
    matter.published_at = matter
        .published_at
        .filter(|date| crate::draft::front_matter::is_iso_date(date));
    if let Some(author) = text("creator") {
        matter.metadata.insert("author".to_owned(), Value::from(author));
    }
    matter
}

//! Word documents (DOCX): headings by the outline of their styles, lists, tables, code by style and font, links,
//! bookmarks of headings as anchors.

mod block;
mod inline;
mod part;
mod style;
#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::bytes::package::{Archive, WORD_TEXT as MAIN};
use crate::bytes::xml::Element;
use crate::draft::front_matter::FrontMatter;
use crate::draft::{Draft, Unreadable, guard};

const FORMAT: &str = "DOCX";

/// Reads the file `bytes`.
pub(crate) fn read(bytes: &[u8]) -> Result<Draft, Unreadable> {
    guard::run(FORMAT, || convert(bytes))
}

fn convert(bytes: &[u8]) -> Result<Draft, Unreadable> {
    let malformed = |reason: &str| Unreadable::Malformed {
        format: FORMAT,
        reason: reason.to_owned(),
    };
    let mut archive = Archive::open(bytes, FORMAT)?;
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

//! The other parts of the file: styles, link targets, lists and notes.

use std::collections::HashMap;
use std::io::{Read, Seek};

use super::style::Styles;
use crate::bytes::package::Archive;
use crate::bytes::xml::Element;
use crate::draft::Unreadable;

/// Styles, targets of links, lists and notes.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub(super) styles: Styles,
    /// URLs by the id of their relationship.
    pub(super) links: HashMap<String, String>,
    /// Whether items are numbered, by list and level.
    numbered: HashMap<(String, usize), bool>,
    /// Notes by id.
    pub(super) notes: HashMap<String, String>,
}

impl Parts {
    pub(super) fn read<R: Read + Seek>(archive: &mut Archive<R>) -> Result<Self, Unreadable> {
        let mut parts = Self::default();
        if let Some(styles) = archive.read_xml("word/styles.xml")? {
            parts.styles = Styles::read(&styles);
        }
        if let Some(relationships) = archive.read_xml("word/_rels/document.xml.rels")? {
            for one in relationships
                .elements()
                .filter(|one| one.attribute("TargetMode") == Some("External"))
            {
                if let (Some(id), Some(target)) = (one.attribute("Id"), one.attribute("Target")) {
                    parts.links.insert(id.to_owned(), target.to_owned());
                }
            }
        }
        if let Some(numbering) = archive.read_xml("word/numbering.xml")? {
            parts.read_numbering(&numbering);
        }
        for (name, prefix) in [("word/footnotes.xml", 'f'), ("word/endnotes.xml", 'e')] {
            let Some(notes) = archive.read_xml(name)? else {
                continue;
            };
            for note in notes.elements().filter(|note| note.attribute("type").is_none()) {
                if let (Some(id), Some(text)) = (note.attribute("id"), note.text()) {
                    parts.notes.insert(format!("{prefix}{id}"), text);
                }
            }
        }
        Ok(parts)
    }

    fn read_numbering(&mut self, numbering: &Element) {
        let mut abstracts: HashMap<&str, Vec<(usize, bool)>> = HashMap::new();
        for one in numbering.elements().filter(|one| one.name == "abstractNum") {
            let levels = one.elements().filter(|level| level.name == "lvl").filter_map(|level| {
                let number = level.attribute("ilvl")?.parse().ok()?;
                let format = level.child("numFmt").and_then(|format| format.attribute("val"));
                Some((number, !matches!(format, Some("bullet" | "none"))))
            });
            abstracts.insert(one.attribute("abstractNumId").unwrap_or_default(), levels.collect());
        }
        for one in numbering.elements().filter(|one| one.name == "num") {
            let of = one.child("abstractNumId").and_then(|of| of.attribute("val"));
            for (level, is_numbered) in of.and_then(|of| abstracts.get(of)).into_iter().flatten() {
                let id = one.attribute("numId").unwrap_or_default().to_owned();
                self.numbered.insert((id, *level), *is_numbered);
            }
        }
    }

    /// Whether the items of a list are numbered at a level.
    pub(super) fn is_numbered(&self, list: &str, level: usize) -> bool {
        self.numbered.get(&(list.to_owned(), level)).copied().unwrap_or(false)
    }
}

//! The other parts of the file: styles, lists, notes, targets of links, and what the text shows from elsewhere.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::io::{Read, Seek};
use std::path::Path;

use super::diagram;
use super::numbering::Numbering;
use super::style::Styles;
use super::web_archive;
use crate::bytes::encoding;
use crate::bytes::package::{self, Archive};
use crate::bytes::xml::Element;
use crate::draft::Unreadable;
use crate::formats::html;
use crate::text::markdown_text;

/// Parts of the file that the text refers to.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub(super) styles: Styles,
    pub(super) numbering: Numbering,
    /// URLs by the id of their relationship.
    pub(super) links: HashMap<String, String>,
    pub(super) notes: Vec<Notes>,
    /// The Markdown of each note by its kind and id.
    pub(super) note_texts: HashMap<String, String>,
    /// Blocks by the id of their relationship.
    embedded: HashMap<String, Vec<String>>,
    /// The notes and embedded parts that the text has shown already: each has one place.
    shown: RefCell<HashSet<String>>,
    /// What could not be read.
    pub(super) left_out: Vec<String>,
}

/// The footnotes or the endnotes.
#[derive(Debug)]
pub(super) struct Notes {
    /// The first letter of their name.
    pub(super) kind: char,
    pub(super) root: Element,
    pub(super) links: HashMap<String, String>,
}

/// A relationship of the part with the text.
struct Relationship {
    id: String,
    /// The last word of its type.
    kind: String,
    target: String,
    is_external: bool,
}

impl Parts {
    /// Those of the text at the path `main`.
    pub(super) fn read<R: Read + Seek>(archive: &mut Archive<R>, main: &str) -> Result<Self, Unreadable> {
        let mut parts = Self::default();
        let relationships = relationships(archive, main)?;
        let path = |kind: &str, default: &str| {
            let found = relationships.iter().find(|one| one.kind == kind && !one.is_external);
            found.map_or_else(|| default.to_owned(), |one| one.target.clone())
        };
        if let Some(styles) = archive.read_xml(&path("styles", "word/styles.xml"))? {
            parts.styles = Styles::read(&styles);
        }
        if let Some(numbering) = archive.read_xml(&path("numbering", "word/numbering.xml"))? {
            parts.numbering = Numbering::read(&numbering, |style| parts.styles.list(style).list);
        }
        for (name, default, kind) in [
            ("footnotes", "word/footnotes.xml", 'f'),
            ("endnotes", "word/endnotes.xml", 'e'),
        ] {
            let path = path(name, default);
            if let Some(root) = archive.read_xml(&path)? {
                let links = links(&self::relationships(archive, &path)?);
                parts.notes.push(Notes { kind, root, links });
            }
        }
        parts.links = links(&relationships);
        for one in relationships.into_iter().filter(|one| !one.is_external) {
            if let Some(blocks) = parts.read_embedded(archive, &one) {
                parts.embedded.insert(one.id, blocks);
            }
        }
        Ok(parts)
    }

    /// The blocks of a part that the text shows; `None` for others.
    fn read_embedded<R: Read + Seek>(&mut self, archive: &mut Archive<R>, one: &Relationship) -> Option<Vec<String>> {
        let read = match one.kind.as_str() {
            "diagramData" => archive
                .read_xml(&one.target)
                .map(|root| root.as_ref().map(diagram::list)),
            "chart" | "chartEx" => archive
                .read_xml(&one.target)
                .map(|root| root.as_ref().map(diagram::chart)),
            "aFChunk" => archive
                .read(&one.target)
                .and_then(|bytes| bytes.map(|bytes| chunk(&one.target, bytes)).transpose()),
            _ => return None,
        };
        match read {
            Ok(blocks) => blocks,
            Err(_) => {
                self.left_out.push(one.target.clone());
                None
            }
        }
    }

    /// A note at its first reference.
    pub(super) fn note(&self, kind: char, id: &str) -> Option<&str> {
        let key = format!("{kind}{id}");
        let note = self.note_texts.get(&key)?;
        self.shown.borrow_mut().insert(key).then_some(note)
    }

    /// The blocks of an embedded part at its first reference.
    pub(super) fn embedded(&self, id: &str) -> Option<&[String]> {
        let blocks = self.embedded.get(id)?;
        self.shown.borrow_mut().insert(id.to_owned()).then_some(blocks)
    }
}

/// The path of the part with the text.
pub(super) fn main_path<R: Read + Seek>(archive: &mut Archive<R>) -> Result<Option<String>, Unreadable> {
    let relationships = relationships(archive, "")?;
    let main = relationships.into_iter().find(|one| one.kind == "officeDocument");
    Ok(main.map(|one| one.target))
}

/// The relationships of a part; those of the whole file for the empty path.
fn relationships<R: Read + Seek>(archive: &mut Archive<R>, part: &str) -> Result<Vec<Relationship>, Unreadable> {
    let (folder, name) = part.rsplit_once('/').unwrap_or(("", part));
    let path = format!("{folder}/_rels/{name}.rels");
    let root = archive.read_xml(&path)?.unwrap_or_default();
    let read = root.elements().filter_map(|one| {
        let is_external = one.attribute("TargetMode") == Some("External");
        let target = one.attribute("Target")?;
        Some(Relationship {
            id: one.attribute("Id")?.to_owned(),
            kind: one
                .attribute("Type")
                .unwrap_or_default()
                .rsplit('/')
                .next()
                .unwrap_or_default()
                .to_owned(),
            target: match is_external {
                true => target.to_owned(),
                false => package::resolve(part, target),
            },
            is_external,
        })
    });
    Ok(read.collect())
}

fn links(relationships: &[Relationship]) -> HashMap<String, String> {
    let external = relationships.iter().filter(|one| one.is_external);
    external.map(|one| (one.id.clone(), one.target.clone())).collect()
}

/// A document of another format that is part of this one.
fn chunk(path: &str, bytes: Vec<u8>) -> Result<Vec<String>, Unreadable> {
    let path = Path::new(path);
    let page = |bytes| {
        let text = encoding::decode_html(bytes, None)?;
        let draft = html::read(path, &text, None, &html::Frame::of_book())?;
        Ok::<_, Unreadable>(vec![draft.body.trim().to_owned()])
    };
    let blocks = match path.extension().and_then(|extension| extension.to_str()) {
        Some("html" | "htm" | "xhtml") => page(bytes)?,
        Some("mht" | "mhtml") => match web_archive::page(&bytes) {
            Some(html) => page(html)?,
            None => return Err(Unreadable::NoDocumentation("a web archive without a page")),
        },
        Some("txt") => {
            let text = encoding::decode_text(bytes, None)?;
            let paragraphs = text
                .split("\n\n")
                .map(|text| markdown_text::paragraph(&markdown_text::escape(text)));
            paragraphs.filter(|text| !text.is_empty()).collect()
        }
        _ => return Err(Unreadable::NoDocumentation("of an unknown format")),
    };
    Ok(blocks)
}

//! Footnotes and endnotes.

use std::mem;

use super::inline::Inline;
use super::part::Parts;
use crate::bytes::xml::Element;

/// Converts the notes to Markdown. Notes have no notes of their own.
pub(super) fn convert(parts: &mut Parts) {
    for notes in mem::take(&mut parts.notes) {
        let links = mem::replace(&mut parts.links, notes.links);
        let shown = notes
            .root
            .elements()
            .filter(|note| note.attribute("type").is_none_or(|kind| kind == "normal"));
        let mut texts = Vec::new();
        for note in shown {
            let text = text(note, parts);
            if let Some(id) = note.attribute("id").filter(|_| !text.is_empty()) {
                texts.push((format!("{}{id}", notes.kind), text));
            }
        }
        parts.links = links;
        parts.note_texts.extend(texts);
    }
}

fn text(note: &Element, parts: &Parts) -> String {
    let paragraphs = note
        .elements()
        .map(|paragraph| Inline::read(paragraph, parts).markdown(false));
    let text = paragraphs.collect::<Vec<_>>().join(" ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

//! The names of chapters in the table of contents of a book.

use std::collections::HashMap;
use std::io::{Read, Seek};

use crate::bytes::package::{self, Archive};
use crate::bytes::xml::Element;

/// The table of contents of EPUB 2.
pub(super) const MEDIA_TYPE: &str = "application/x-dtbncx+xml";

/// The names by the path of the file. An entry for the whole file comes before those for parts of it.
pub(super) fn labels<R: Read + Seek>(archive: &mut Archive<R>, paths: &[String]) -> HashMap<String, String> {
    let (mut whole, mut parts) = (HashMap::new(), HashMap::new());
    for path in paths {
        let Ok(Some(root)) = archive.read_xml(path) else {
            continue;
        };
        let mut entries = Vec::new();
        gather(&root, &mut entries);
        for (address, label) in entries {
            let names = if address.contains('#') { &mut parts } else { &mut whole };
            names.entry(package::resolve(path, address)).or_insert(label);
        }
    }
    for (path, label) in parts {
        whole.entry(path).or_insert(label);
    }
    whole
}

/// The addresses and names in the table: `<a href>` in the list of EPUB 3, `<navPoint>` in EPUB 2.
fn gather<'a>(element: &'a Element, entries: &mut Vec<(&'a str, String)>) {
    for child in element.elements() {
        let entry = match child.name.as_str() {
            "a" => child.attribute("href").zip(child.text()),
            "navPoint" => {
                let address = child.child("content").and_then(|content| content.attribute("src"));
                address.zip(child.child("navLabel").and_then(Element::text))
            }
            // Lists of pages and of kinds of parts.
            "nav" if child.attribute("type").is_some_and(|kind| kind != "toc") => continue,
            _ => None,
        };
        entries.extend(entry);
        gather(child, entries);
    }
}

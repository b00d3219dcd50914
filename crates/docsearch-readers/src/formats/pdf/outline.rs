//! The outline of a file, which viewers show beside its pages.

use std::collections::{HashMap, HashSet};

use hayro_syntax::object::{Array, Dict, ObjRef, Object, ObjectIdentifier, String as Text};
use hayro_syntax::page::Pages;

use super::text_string;

const MAX_ENTRIES: usize = 20_000;
const MAX_LEVEL: usize = 20;
/// Nodes of the tree of named targets that are read.
const MAX_NODES: usize = 100_000;

/// An outline entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OutlineEntry {
    /// From 1.
    pub(super) level: usize,
    pub(super) title: String,
    pub(super) page: usize,
}

/// The entries in order; none if there is no outline.
pub(super) fn entries<'a>(catalog: &Dict<'a>, pages: &Pages<'a>) -> Vec<OutlineEntry> {
    let Some(root) = catalog.get::<Dict<'a>>(b"Outlines".as_slice()) else {
        return Vec::new();
    };
    let mut reader = OutlineReader {
        pages: pages
            .iter()
            .enumerate()
            .filter_map(|(at, page)| Some((page.raw().obj_id()?, at + 1)))
            .collect(),
        named: HashMap::new(),
        seen: HashSet::new(),
        entries: Vec::new(),
        page: 1,
    };
    reader.read_names(catalog);
    reader.read(&root, 1);
    reader.entries
}

struct OutlineReader<'a> {
    /// The number of each page.
    pages: HashMap<ObjectIdentifier, usize>,
    named: HashMap<Vec<u8>, Object<'a>>,
    seen: HashSet<ObjectIdentifier>,
    entries: Vec<OutlineEntry>,
    /// That of the last entry: one whose target is unknown stays with it.
    page: usize,
}

impl<'a> OutlineReader<'a> {
    /// Reads the entries below `parent`.
    fn read(&mut self, parent: &Dict<'a>, level: usize) {
        let mut next = link(parent, b"First");
        while let Some((id, entry)) = next {
            if !self.seen.insert(id.into()) || self.entries.len() >= MAX_ENTRIES {
                return;
            }
            let title = entry
                .get::<Text<'a>>(b"Title".as_slice())
                .map(|title| text_string::decode(title.as_bytes()))
                .unwrap_or_default();
            let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
            self.page = self.page_of(&entry).unwrap_or(self.page);
            if !title.is_empty() {
                self.entries.push(OutlineEntry {
                    level,
                    title,
                    page: self.page,
                });
            }
            if level < MAX_LEVEL {
                self.read(&entry, level + 1);
            }
            next = link(&entry, b"Next");
        }
    }

    fn page_of(&self, entry: &Dict<'a>) -> Option<usize> {
        let target = entry.get::<Object<'a>>(b"Dest".as_slice()).or_else(|| {
            let action = entry.get::<Dict<'a>>(b"A".as_slice())?;
            action.get::<Object<'a>>(b"D".as_slice())
        })?;
        self.page_of_target(&target).or_else(|| match &target {
            Object::Name(name) => self.page_of_target(self.named.get(name.as_ref())?),
            Object::String(name) => self.page_of_target(self.named.get(name.as_bytes())?),
            _ => None,
        })
    }

    fn page_of_target(&self, target: &Object<'a>) -> Option<usize> {
        let array = match target {
            Object::Array(array) => array.clone(),
            Object::Dict(dict) => dict.get::<Array<'a>>(b"D".as_slice())?,
            _ => return None,
        };
        let page = array.raw_iter().next()?.as_obj_ref()?;
        self.pages.get(&page.into()).copied()
    }

    /// Reads targets that have names.
    fn read_names(&mut self, catalog: &Dict<'a>) {
        let old = catalog.get::<Dict<'a>>(b"Dests".as_slice()).unwrap_or_default();
        for name in old.keys() {
            if let Some(target) = old.get::<Object<'a>>(&name) {
                self.named.insert(name.to_vec(), target);
            }
        }
        let root = catalog
            .get::<Dict<'a>>(b"Names".as_slice())
            .and_then(|names| names.get::<Dict<'a>>(b"Dests".as_slice()));
        let mut nodes: Vec<Dict<'a>> = root.into_iter().collect();
        let mut read = 0;
        while let Some(node) = nodes.pop() {
            read += 1;
            if read > MAX_NODES {
                return;
            }
            if let Some(names) = node.get::<Array<'a>>(b"Names".as_slice()) {
                let mut names = names.iter::<Object<'a>>();
                while let (Some(Object::String(name)), Some(target)) = (names.next(), names.next()) {
                    self.named.insert(name.as_bytes().to_vec(), target);
                }
            }
            if let Some(kids) = node.get::<Array<'a>>(b"Kids".as_slice()) {
                nodes.extend(kids.iter::<Dict<'a>>().take(MAX_NODES));
            }
        }
    }
}

fn link<'a>(dict: &Dict<'a>, key: &[u8]) -> Option<(ObjRef, Dict<'a>)> {
    Some((dict.get_ref(key)?, dict.get::<Dict<'a>>(key)?))
}

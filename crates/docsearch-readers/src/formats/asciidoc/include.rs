//! Files that a page includes: only those of its folder, up to a number of bytes.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use asciidoc_parser::Parser;
use asciidoc_parser::attributes::Attrlist;
use asciidoc_parser::parser::{IncludeContent, IncludeFileHandler, IncludeResolution};

use super::source::{OFFSET, Position};
use super::{MAX_BYTES, source};
use crate::bytes::encoding;
use crate::file::{self, Folder};
use crate::folder::include_reader;

/// Maximum files that a page includes; each may include others, and itself.
const MAX_INCLUDES: usize = 5_000;
/// Maximum bytes of all that are read: pages include many parts of one file.
const MAX_BYTES_READ: usize = 16 * MAX_BYTES;

/// Reads included files. Clones share the state.
#[derive(Debug, Clone)]
pub(super) struct Includes {
    folder: Option<Folder>,
    /// The path of the page, relative to the folder.
    path: PathBuf,
    state: Rc<State>,
}

#[derive(Debug, Default)]
struct State {
    count: Cell<usize>,
    bytes_read: Cell<usize>,
    /// Of what is included.
    bytes: Cell<usize>,
    has_title: Cell<bool>,
    verbatim: RefCell<HashSet<String>>,
    missing: RefCell<Vec<String>>,
}

impl Includes {
    pub(super) fn new(folder: Option<&Folder>, path: &Path, page: &source::Source) -> Self {
        let state = State::default();
        state.has_title.set(page.has_title);
        state
            .verbatim
            .borrow_mut()
            .extend(page.verbatim_includes.iter().cloned());
        Self {
            folder: folder.cloned(),
            path: path.to_owned(),
            state: Rc::new(state),
        }
    }

    /// A warning about files that could not be included.
    pub(super) fn warning(&self) -> Option<String> {
        let missing = self.state.missing.borrow();
        let first = missing.first()?;
        Some(match missing.len() {
            1 => format!("not included: {first}"),
            count => format!("not included: {first} and {} more", count - 1),
        })
    }

    fn resolve(&self, source: Option<&str>, target: &str, options: &Attrlist<'_>) -> Result<String, &'static str> {
        let folder = self.folder.as_ref().ok_or("no folder to include from")?;
        if target.contains("://") {
            return Err("an address");
        }
        // For nested includes, the parser gives the path from the page.
        let parent = |path: &Path| path.parent().map(Path::to_owned).unwrap_or_default();
        let base = parent(&self.path).join(source.map(|source| parent(Path::new(source))).unwrap_or_default());
        let relative = include_reader::antora_path(target, &self.path)
            .or_else(|| file::inside(&base, Path::new(target)))
            .ok_or("outside the folder")?;
        let state = &self.state;
        state.count.set(state.count.get() + 1);
        if state.count.get() > MAX_INCLUDES {
            return Err("too many files");
        }
        let left = MAX_BYTES_READ.saturating_sub(state.bytes_read.get()).min(MAX_BYTES);
        let bytes = file::read(&folder.root, &relative, folder.links, left as u64 + 1).map_err(|_| "cannot be read")?;
        if bytes.len() > left {
            return Err("too many bytes");
        }
        state.bytes_read.set(state.bytes_read.get() + bytes.len());
        let text = encoding::decode_text(bytes, options.named_attribute("encoding").map(|named| named.value()))
            .map_err(|_| "not UTF-8")?;
        state.bytes.set(state.bytes.get() + selected_bytes(&text, options));
        if state.bytes.get() > MAX_BYTES {
            return Err("too many bytes");
        }
        if state.verbatim.borrow().contains(target) || !super::is_named(&relative) {
            return Ok(text);
        }
        let offset = options.named_attribute(OFFSET);
        let offset = offset.and_then(|offset| offset.value().parse().ok()).unwrap_or(0);
        let position = Position {
            may_have_title: !state.has_title.get(),
            offset,
        };
        let prepared = source::prepare(&text, position).map_err(|_| "too large")?;
        state.has_title.set(state.has_title.get() || prepared.has_title);
        state.verbatim.borrow_mut().extend(prepared.verbatim_includes);
        // The text before the include need not end with a blank line.
        let first = prepared
            .text
            .lines()
            .find(|line| !line.is_empty() && !line.starts_with("//"));
        Ok(match first.is_some_and(|line| line.starts_with("==")) {
            true => format!("\n{}", prepared.text),
            false => prepared.text,
        })
    }
}

/// Bytes of the lines that the options `tag` and `tags` select.
fn selected_bytes(text: &str, options: &Attrlist<'_>) -> usize {
    let tags = ["tag", "tags"].iter().find_map(|name| options.named_attribute(name));
    let Some(tags) = tags.map(|tags| tags.value()).filter(|tags| !tags.contains(['*', '!'])) else {
        return text.len();
    };
    let tags: Vec<&str> = tags.split([',', ';']).map(str::trim).collect();
    let (mut bytes, mut open) = (0, 0_usize);
    for line in text.lines() {
        let names = |mark: &str| {
            let name = line.split_once(mark).and_then(|(_, rest)| rest.split_once("[]"));
            name.is_some_and(|(name, _)| tags.contains(&name))
        };
        if names("tag::") {
            open += 1;
        } else if names("end::") {
            open = open.saturating_sub(1);
        } else if open > 0 {
            bytes += line.len() + 1;
        }
    }
    bytes
}

impl IncludeFileHandler for Includes {
    fn resolve_target<'src>(
        &self,
        source: Option<&str>,
        target: &str,
        attributes: &Attrlist<'src>,
        _: &Parser,
    ) -> IncludeResolution {
        let text = self.resolve(source, target, attributes).unwrap_or_else(|reason| {
            self.state.missing.borrow_mut().push(format!("{target} ({reason})"));
            String::new()
        });
        IncludeResolution::Found(IncludeContent::new(text))
    }
}

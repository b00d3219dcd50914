//! Files that a page includes: only those of its folder, up to a number of bytes.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use asciidoc_parser::Parser;
use asciidoc_parser::attributes::Attrlist;
use asciidoc_parser::parser::{IncludeContent, IncludeFileHandler, IncludeResolution};

use super::{MAX_BYTES, source};
use crate::file::{self, Folder};

/// Maximum files that a page includes; each may include others, and itself.
const MAX_INCLUDES: usize = 256;

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

    fn resolve(&self, source: Option<&str>, target: &str, has_offset: bool) -> Result<String, &'static str> {
        let folder = self.folder.as_ref().ok_or("no folder to include from")?;
        if target.contains("://") {
            return Err("an address");
        }
        // For nested includes, the parser gives the path from the page.
        let parent = |path: &Path| path.parent().map(Path::to_owned).unwrap_or_default();
        let base = parent(&self.path).join(source.map(|source| parent(Path::new(source))).unwrap_or_default());
        let relative = file::inside(&base, Path::new(target)).ok_or("outside the folder")?;
        let state = &self.state;
        state.count.set(state.count.get() + 1);
        if state.count.get() > MAX_INCLUDES {
            return Err("too many files");
        }
        let left = MAX_BYTES.saturating_sub(state.bytes.get());
        let bytes = file::read(&folder.root, &relative, folder.links, left as u64 + 1).map_err(|_| "cannot be read")?;
        if bytes.len() > left {
            return Err("too many bytes");
        }
        state.bytes.set(state.bytes.get() + bytes.len());
        let text = String::from_utf8(bytes).map_err(|_| "not UTF-8")?;
        if state.verbatim.borrow().contains(target) || !super::is_named(&relative) {
            return Ok(text);
        }
        let prepared = source::prepare(&text, has_offset || !state.has_title.get()).map_err(|_| "too large")?;
        if prepared.has_title && !has_offset {
            state.has_title.set(true);
        }
        state.verbatim.borrow_mut().extend(prepared.verbatim_includes);
        Ok(prepared.text)
    }
}

impl IncludeFileHandler for Includes {
    fn resolve_target<'src>(
        &self,
        source: Option<&str>,
        target: &str,
        attributes: &Attrlist<'src>,
        parser: &Parser,
    ) -> IncludeResolution {
        let has_offset = attributes.named_attribute("leveloffset").is_some() || parser.is_attribute_set("leveloffset");
        let text = self.resolve(source, target, has_offset).unwrap_or_else(|reason| {
            self.state.missing.borrow_mut().push(format!("{target} ({reason})"));
            String::new()
        });
        IncludeResolution::Found(IncludeContent::new(text))
    }
}

//! `$ref`, and what is common to the versions of the format.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;

use super::value::{Members, Value};
use percent_encoding::percent_decode_str;

/// References that lead to references.
const MAX_HOPS: usize = 20;

/// A whole description.
pub(super) struct Api<'a> {
    pub(super) root: &'a Value,
    /// Bytes that schemas may still take in all documents together: every operation repeats those that it names.
    room: Cell<usize>,
    /// References to schemas that a document describes completely.
    described: RefCell<HashSet<&'a str>>,
    /// Schemas without a name that were cut.
    cut: Cell<usize>,
}

impl<'a> Api<'a> {
    pub(super) fn new(root: &'a Value, room: usize) -> Self {
        Self {
            root,
            room: Cell::new(room),
            described: RefCell::default(),
            cut: Cell::new(0),
        }
    }

    pub(super) fn is_swagger(&self) -> bool {
        self.root.get("swagger").is_some()
    }

    /// A text or a number about the whole; `None` if it is missing or empty.
    pub(super) fn info(&self, key: &str) -> Option<String> {
        match self.root.get("info")?.get(key)? {
            Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }

    /// What `value` refers to, itself when it is no reference or leads nowhere.
    pub(super) fn resolve(&self, value: &'a Value) -> &'a Value {
        let mut current = value;
        for _ in 0..MAX_HOPS {
            match pointer(current).and_then(|pointer| self.root.pointer(&pointer)) {
                Some(target) => current = target,
                None => break,
            }
        }
        current
    }

    /// The components of a kind, such as `schemas`, with the reference to each.
    pub(super) fn schemas(&self) -> (&'static str, Option<&'a Members>) {
        match self.is_swagger() {
            true => (
                "#/definitions/",
                self.root.get("definitions").and_then(Value::as_object),
            ),
            false => (
                "#/components/schemas/",
                self.root.pointer("/components/schemas").and_then(Value::as_object),
            ),
        }
    }

    /// The security schemes, wherever the version keeps them.
    pub(super) fn security_schemes(&self) -> Option<&'a Members> {
        match self.is_swagger() {
            true => self.root.get("securityDefinitions"),
            false => self.root.pointer("/components/securitySchemes"),
        }?
        .as_object()
    }

    pub(super) fn security_scheme(&self, name: &str) -> Option<&'a Value> {
        Some(self.resolve(self.security_schemes()?.get(name)?))
    }

    /// Takes the room for some bytes; false if there is none left.
    pub(super) fn take_room(&self, bytes: usize) -> bool {
        match self.room.get().checked_sub(bytes) {
            Some(left) => {
                self.room.set(left);
                true
            }
            None => false,
        }
    }

    pub(super) fn mark_described(&self, reference: &'a str) {
        self.described.borrow_mut().insert(reference);
    }

    pub(super) fn is_described(&self, reference: &str) -> bool {
        self.described.borrow().contains(reference)
    }

    pub(super) fn mark_cut(&self) {
        self.cut.set(self.cut.get() + 1);
    }

    /// Schemas without a name that were cut since this was called before.
    pub(super) fn take_cut(&self) -> usize {
        self.cut.take()
    }
}

/// The place in the same file that `$ref` names.
fn pointer(value: &Value) -> Option<String> {
    let fragment = reference(value)?.strip_prefix('#')?;
    Some(percent_decode_str(fragment).decode_utf8_lossy().into_owned())
}

/// The reference that `value` is.
pub(super) fn reference(value: &Value) -> Option<&str> {
    value.get("$ref")?.as_str()
}

/// The last part of a reference, the name of what it means; `None` for what is not a reference.
pub(super) fn name(value: &Value) -> Option<&str> {
    let reference = reference(value)?;
    let last = reference.rsplit(['/', '#']).next()?;
    // A reference may name a whole file.
    let file = last.rsplit("~1").next()?;
    let name = [".yaml", ".yml", ".json"]
        .iter()
        .find_map(|extension| file.strip_suffix(extension));
    Some(name.unwrap_or(last))
}

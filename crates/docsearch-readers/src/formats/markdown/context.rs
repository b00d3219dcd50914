//! What the parts of a page have in common, and what is found while they are converted.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use serde_json::Value;

use super::attribute::code_span;
use super::mdx;
use crate::draft::Draft;
use crate::draft::front_matter::FrontMatter;
use crate::draft::unknown_names::UnknownNames;
use crate::formats::format::TextSource;
use crate::formats::rst;
use crate::site::Extensions;

/// Maximum bytes of values in a page, and in addition for each byte of the page.
const MAX_SUBSTITUTED: usize = 64 << 10;
const MAX_SUBSTITUTED_FOR_BYTE: usize = 4;
/// Maximum depth of values in others.
const MAX_DEPTH: usize = 3;

/// A page while it is converted.
#[derive(Debug, Default)]
pub(super) struct PageContext {
    pub(super) extensions: Extensions,
    /// Whether it is of a Sphinx project, whose Markdown is MyST.
    pub(super) is_of_sphinx: bool,
    rst: rst::HostPage,
    /// The values of `{{ name }}`.
    substitutions: BTreeMap<String, String>,
    /// Bytes that values may still add.
    budget: Cell<usize>,
    /// Open values.
    depth: Cell<usize>,
    found: RefCell<Found>,
}

/// What is found besides text.
#[derive(Debug, Default)]
struct Found {
    missing: Vec<String>,
    matter: FrontMatter,
    unknown: UnknownNames,
}

impl PageContext {
    pub(super) fn of(source: &TextSource<'_>, extensions: Extensions) -> Self {
        let settings = source.sphinx.map(|settings| settings.myst_substitutions.clone());
        Self {
            extensions,
            is_of_sphinx: source.sphinx.is_some(),
            rst: rst::HostPage::of(source),
            substitutions: settings.unwrap_or_default(),
            budget: Cell::new(MAX_SUBSTITUTED + MAX_SUBSTITUTED_FOR_BYTE * source.text.len()),
            ..Self::default()
        }
    }

    /// Adds the values that the front matter of the page gives.
    pub(super) fn add_substitutions(&mut self, matter: &FrontMatter) {
        let tables = [matter.metadata.get("substitutions"), of_myst(matter, "substitutions")];
        for (name, value) in tables.into_iter().flatten().filter_map(Value::as_object).flatten() {
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Number(number) => number.to_string(),
                _ => continue,
            };
            self.substitutions.insert(name.clone(), text);
        }
    }

    /// What `convert` makes of a line with values in place of `{{ name }}` outside code; `None` if it has none.
    pub(super) fn substituted(&self, line: &str, convert: impl FnOnce(&str)) -> Option<()> {
        if self.substitutions.is_empty() || self.depth.get() >= MAX_DEPTH || !line.contains("{{") {
            return None;
        }
        let mut output = String::with_capacity(line.len());
        let mut has_value = false;
        let mut rest = line;
        while let Some(character) = rest.chars().next() {
            let (length, shown) = match character {
                '`' => {
                    let length = code_span(rest);
                    (length, &rest[..length])
                }
                '{' => self.value(rest).unwrap_or((1, "{")),
                other => (other.len_utf8(), &rest[..other.len_utf8()]),
            };
            has_value |= character == '{' && length > 1;
            output.push_str(shown);
            rest = &rest[length..];
        }
        has_value.then(|| {
            self.depth.set(self.depth.get() + 1);
            convert(&output);
            self.depth.set(self.depth.get() - 1);
        })
    }

    /// The length of `{{ name }}`, and the value.
    fn value(&self, text: &str) -> Option<(usize, &str)> {
        let (name, _) = text.strip_prefix("{{")?.split_once("}}")?;
        let value = self.substitutions.get(name.trim())?;
        self.budget.set(self.budget.get().checked_sub(value.len())?);
        Some((name.len() + 4, value))
    }

    /// Converts a part in reStructuredText.
    pub(super) fn restructured_text(&self, text: &str) -> String {
        let page = self.rst.page(text);
        let mut found = self.found.borrow_mut();
        found.missing.extend(page.missing);
        found.unknown.extend(&page.unknown);
        let matter = &mut found.matter;
        matter.summary = matter.summary.take().or(page.matter.summary);
        if matter.keywords.is_empty() {
            matter.keywords = page.matter.keywords;
        }
        page.markdown
    }

    /// The text of a page without the tags of components, which are counted.
    pub(super) fn without_components(&self, text: &str, dialect: mdx::Dialect) -> String {
        mdx::convert(text, dialect, &mut self.found.borrow_mut().unknown)
    }

    /// The Markdown of a role with its content.
    pub(super) fn role(&self, name: &str, content: &str) -> String {
        self.rst.role(name, content)
    }

    /// The title of what a link leads to, and the address; `None` if neither page nor label is known.
    pub(super) fn link_to(&self, target: &str) -> Option<(String, String)> {
        self.rst.link_to(target)
    }

    /// Records the name of a directive that is not known.
    pub(super) fn unknown(&self, name: &str) {
        self.found.borrow_mut().unknown.add("directive", name);
    }

    /// The files that could not be included.
    pub(super) fn missing(&self) -> Vec<String> {
        self.found.borrow().missing.clone()
    }

    /// Adds what was found to the draft of the page.
    pub(super) fn describe(self, draft: &mut Draft) {
        let found = self.found.into_inner();
        draft.unknown = found.unknown;
        draft.unknown.extend(&self.rst.unknown());
        let given = of_myst(&draft.matter, "html_meta").or_else(|| draft.matter.metadata.get("html_meta"));
        let given = given.and_then(Value::as_object).cloned().unwrap_or_default();
        for (name, content) in &given {
            draft.matter.describe(name, content.as_str().unwrap_or_default());
        }
        draft.matter.summary = draft.matter.summary.take().or(found.matter.summary);
        if draft.matter.keywords.is_empty() {
            draft.matter.keywords = found.matter.keywords;
        }
    }
}

/// A setting below `myst` in front matter.
fn of_myst<'a>(matter: &'a FrontMatter, name: &str) -> Option<&'a Value> {
    matter.metadata.get("myst")?.get(name)
}

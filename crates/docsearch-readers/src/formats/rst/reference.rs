//! Resolves names in a page: link targets, section labels, substitutions.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::context::PageContext;
use super::identifier::identifier;
use super::label::{FolderLabels, Title};
use super::line::{adornment, indentation};
use super::myst_page::MystPage;
use super::substitution;
use crate::draft::unknown_names::UnknownNames;
use crate::site::{ExternalLink, SphinxSettings};

/// Maximum lines between a label and its heading.
const LABEL_REACH: usize = 50;
/// Maximum depth of substitutions in the text of others.
const MAX_DEPTH: usize = 3;
/// Maximum bytes of substitutions in a page, and in addition for each byte of the page.
const MAX_SUBSTITUTED: usize = 64 << 10;
const MAX_SUBSTITUTED_FOR_BYTE: usize = 4;

/// The targets of one page, by normalised name.
#[derive(Debug, Default)]
pub(super) struct References {
    urls: HashMap<String, String>,
    /// Labels, with the headings after them.
    labels: HashMap<String, Option<Title>>,
    /// Titles of sections, which are targets, too.
    headings: HashSet<String>,
    substitutions: HashMap<String, String>,
    /// The roles that the page defines, with the roles that they are based on.
    roles: HashMap<String, String>,
    /// Whether there are targets without a name, for references such as `word__`.
    has_anonymous: bool,
    /// The numbers of footnotes without a number in the source, by name and in their order.
    named_footnotes: HashMap<String, usize>,
    unnamed_footnotes: Vec<usize>,
    /// References to footnotes without a name, and such footnotes, that were converted.
    shown_references: Cell<usize>,
    shown_footnotes: Cell<usize>,
    folder_labels: FolderLabels,
    sphinx: Arc<SphinxSettings>,
    /// Open substitutions.
    depth: Cell<usize>,
    /// Bytes that substitutions may still add.
    budget: Cell<usize>,
    /// Names of roles and directives that nothing defines.
    pub(super) unknown: RefCell<UnknownNames>,
}

impl References {
    /// Collects the targets of a page.
    pub(super) fn collect(lines: &[String]) -> Self {
        let mut references = Self::default();
        let mut footnotes: Vec<&str> = Vec::new();
        for (at, line) in lines.iter().enumerate() {
            let is_title = !line.is_empty() && adornment(line).is_none() && !line.starts_with(' ');
            if is_title && lines.get(at + 1).is_some_and(|next| adornment(next).is_some()) {
                references.headings.insert(normalise(line));
            }
            let explicit = line.trim_start();
            references.has_anonymous |= explicit.starts_with("__ ") || explicit.starts_with(".. __:");
            let Some(markup) = explicit.strip_prefix(".. ") else {
                continue;
            };
            let markup = markup.trim_start();
            if let Some((name, url)) = markup.strip_prefix('_').and_then(target) {
                if url.is_empty() {
                    let heading = heading_after(lines, at + 1).map(Title::ReStructuredText);
                    references.labels.insert(normalise(&name), heading);
                } else {
                    references.urls.insert(normalise(&name), url);
                }
            } else if let Some((label, _)) = markup.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
                footnotes.push(label);
            } else if let Some((name, base)) = role(markup) {
                references.roles.insert(name.to_owned(), base.to_owned());
            } else if markup.starts_with('|') {
                let column = indentation(line);
                let following = lines[at + 1..].iter();
                let following = following.take_while(|next| !next.is_empty() && indentation(next) > column);
                if let Some((name, text)) = substitution::definition(markup, following.map(String::as_str)) {
                    // An exact name is preferred to one in other letters.
                    references
                        .substitutions
                        .entry(normalise(name))
                        .or_insert_with(|| text.clone());
                    references.substitutions.insert(name.to_owned(), text);
                }
            }
        }
        references.number(&footnotes);
        references
    }

    /// Numbers the footnotes that begin with `#`, as docutils does.
    fn number(&mut self, labels: &[&str]) {
        let taken: HashSet<usize> = labels.iter().filter_map(|label| label.parse().ok()).collect();
        let mut free = (1..).filter(|number| !taken.contains(number));
        for name in labels.iter().filter_map(|label| label.strip_prefix('#')) {
            let Some(number) = free.next() else { return };
            match name {
                "" => self.unnamed_footnotes.push(number),
                name => {
                    self.named_footnotes.insert(name.to_owned(), number);
                }
            }
        }
    }

    /// The label of a footnote or, if `is_reference`, of a reference to one, as Sphinx shows it.
    pub(super) fn footnote_label(&self, label: &str, is_reference: bool) -> String {
        let number = match label.strip_prefix('#') {
            None => return label.to_owned(),
            Some("") => {
                let shown = if is_reference {
                    &self.shown_references
                } else {
                    &self.shown_footnotes
                };
                let place = shown.replace(shown.get() + 1);
                self.unnamed_footnotes.get(place)
            }
            Some(name) => self.named_footnotes.get(name),
        };
        number.map_or_else(|| label.trim_start_matches('#').to_owned(), usize::to_string)
    }

    /// The targets of a page, of the text that Sphinx adds to it, and of the other pages of its folder.
    pub(super) fn of_page(lines: &[String], added: &[String], context: &PageContext) -> Self {
        let common = Self::collect(added);
        let own = Self::collect(lines);
        let configured = context.sphinx.substitutions.clone();
        let bytes: usize = lines.iter().map(String::len).sum();
        Self {
            urls: common.urls.into_iter().chain(own.urls).collect(),
            roles: common.roles.into_iter().chain(own.roles).collect(),
            substitutions: configured
                .into_iter()
                .chain(common.substitutions)
                .chain(own.substitutions)
                .collect(),
            folder_labels: context.labels.clone(),
            sphinx: Arc::clone(&context.sphinx),
            budget: Cell::new(MAX_SUBSTITUTED + MAX_SUBSTITUTED_FOR_BYTE * bytes),
            ..own
        }
    }

    /// Adds the labels of a page in MyST that the text is part of.
    pub(super) fn add_labels(&mut self, page: &MystPage) {
        for (name, heading) in &page.labels {
            self.labels
                .insert(normalise(name), heading.clone().map(Title::Markdown));
        }
    }

    /// The labels by their normalised names, with the headings after them.
    pub(super) fn into_labels(self) -> HashMap<String, Option<Title>> {
        self.labels
    }

    /// The URL of a `` `name`_ `` reference; `None` if the page does not have the target, or it refers to itself.
    pub(super) fn url(&self, name: &str) -> Option<&str> {
        let mut name = normalise(name);
        // A target may point to another one: `.. _a: b_`.
        for _ in 0..4 {
            let url = self.urls.get(&name)?;
            match url.strip_suffix('_') {
                Some(next) if !url.contains("://") => name = normalise(next.trim_matches('`')),
                _ => return Some(url),
            }
        }
        None
    }

    /// The heading of the section with a label, if it is one of a section, and the link to it; `None` for an unknown
    /// label.
    pub(super) fn label(&self, label: &str) -> Option<(Option<&Title>, String)> {
        let name = normalise(label);
        match self.labels.get(&name) {
            Some(heading) => Some((heading.as_ref(), fragment(&name))),
            None => self.folder_labels.find(&name),
        }
    }

    /// The title of another page of the folder.
    pub(super) fn title(&self, page: &str) -> Option<&Title> {
        self.folder_labels.title(page)
    }

    /// The title of a section of another page in MyST.
    pub(super) fn section(&self, page: &str, anchor: &str) -> Option<&str> {
        self.folder_labels.section(page, anchor)
    }

    /// The fragment of the section with this title.
    pub(super) fn heading(&self, title: &str) -> Option<String> {
        let name = normalise(title);
        self.headings.contains(&name).then(|| fragment(&name))
    }

    /// Whether a section or a place in the text has this name.
    pub(super) fn is_internal(&self, name: &str) -> bool {
        let name = normalise(name);
        self.headings.contains(&name) || self.labels.contains_key(&name)
    }

    pub(super) fn has_anonymous(&self) -> bool {
        self.has_anonymous
    }

    /// The role that a role of the page is based on; empty for text.
    pub(super) fn role(&self, name: &str) -> Option<&str> {
        self.roles.get(name).map(String::as_str)
    }

    pub(super) fn external_link(&self, role: &str) -> Option<&ExternalLink> {
        self.sphinx.external_links.get(role)
    }

    /// What `convert` makes of the replacement of `|name|`; `None` if nothing defines it.
    pub(super) fn substituted(&self, name: &str, convert: impl FnOnce(&str) -> String) -> Option<String> {
        let exact = self.substitutions.get(name);
        let text = exact.or_else(|| self.substitutions.get(&normalise(name)))?;
        let depth = self.depth.get();
        let budget = self.budget.get().checked_sub(text.len())?;
        if depth >= MAX_DEPTH {
            return None;
        }
        self.budget.set(budget);
        self.depth.set(depth + 1);
        let shown = convert(text);
        self.depth.set(depth);
        Some(shown)
    }
}

/// The names of an internal target such as `_label:`; none for another element.
pub(super) fn target_names(markup: &str) -> Vec<String> {
    match markup.strip_prefix('_').and_then(target) {
        Some((name, url)) if url.is_empty() && name != "_" => {
            let name = normalise(&name);
            let id = identifier(&name);
            if id == name || id.is_empty() {
                vec![name]
            } else {
                vec![name, id]
            }
        }
        _ => Vec::new(),
    }
}

fn fragment(name: &str) -> String {
    format!("#{}", identifier(name))
}

fn normalise(name: &str) -> String {
    name.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Name and URL of `name: url` or `` `quoted name`: url ``.
fn target(text: &str) -> Option<(String, String)> {
    let (name, rest) = match text.strip_prefix('`') {
        Some(quoted) => quoted.split_once("`:")?,
        None => text.split_once(": ").or_else(|| Some((text.strip_suffix(':')?, "")))?,
    };
    Some((name.replace('\\', ""), rest.trim().to_owned()))
}

/// The name of a role that a directive defines, and the role that it is based on.
fn role(markup: &str) -> Option<(&str, &str)> {
    let definition = markup.strip_prefix("role::")?.trim();
    match definition.split_once('(') {
        Some((name, base)) => Some((name.trim(), base.trim_end_matches(')').trim())),
        None => Some((definition, "")),
    }
}

/// The next heading, if only blank lines and explicit markup come before it.
pub(super) fn heading_after(lines: &[String], start: usize) -> Option<String> {
    let mut candidates = lines[start..]
        .iter()
        .take(LABEL_REACH)
        .filter(|line| !line.is_empty() && !line.starts_with(".. "));
    let first = candidates.find(|line| !line.starts_with(' '))?;
    let text = if adornment(first).is_some() {
        candidates.next()?
    } else {
        first
    };
    let underline = candidates.next()?;
    adornment(underline)?;
    Some(text.trim().to_owned())
}

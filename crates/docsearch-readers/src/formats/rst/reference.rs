//! Resolves names in a page: link targets, section labels, substitutions.

use std::collections::{HashMap, HashSet};

use super::identifier::identifier;
use super::label::FolderLabels;
use super::line::adornment;

/// Maximum lines between a label and its heading.
const LABEL_REACH: usize = 50;

/// The targets of one page, by normalised name.
#[derive(Debug, Default)]
pub(super) struct References {
    urls: HashMap<String, String>,
    /// Labels, with the headings after them.
    labels: HashMap<String, Option<String>>,
    /// Titles of sections, which are targets, too.
    headings: HashSet<String>,
    substitutions: HashMap<String, String>,
    folder_labels: FolderLabels,
}

impl References {
    /// Collects the targets of a page.
    pub(super) fn collect(lines: &[String]) -> Self {
        let mut references = Self::default();
        for (at, line) in lines.iter().enumerate() {
            let is_title = !line.is_empty() && adornment(line).is_none() && !line.starts_with(' ');
            if is_title && lines.get(at + 1).is_some_and(|next| adornment(next).is_some()) {
                references.headings.insert(normalise(line));
            }
            let Some(markup) = line.trim_start().strip_prefix(".. ") else {
                continue;
            };
            if let Some((name, url)) = markup.strip_prefix('_').and_then(target) {
                if url.is_empty() {
                    references.labels.insert(normalise(&name), heading_after(lines, at + 1));
                } else {
                    references.urls.insert(normalise(&name), url);
                }
            } else if let Some((name, text)) = substitution(markup) {
                references.substitutions.insert(name.to_owned(), text.to_owned());
            }
        }
        references
    }

    /// Adds the labels of the other pages of a folder.
    pub(super) fn with(self, folder_labels: FolderLabels) -> Self {
        Self { folder_labels, ..self }
    }

    /// The labels by their normalised names, with the headings after them.
    pub(super) fn into_labels(self) -> HashMap<String, Option<String>> {
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
    pub(super) fn label(&self, label: &str) -> Option<(Option<&str>, String)> {
        let name = normalise(label);
        match self.labels.get(&name) {
            Some(heading) => Some((heading.as_deref(), fragment(&name))),
            None => self.folder_labels.find(&name),
        }
    }

    /// The title of another page of the folder.
    pub(super) fn title(&self, page: &str) -> Option<&str> {
        self.folder_labels.title(page)
    }

    /// The fragment of the section with this title.
    pub(super) fn heading(&self, title: &str) -> Option<String> {
        let name = normalise(title);
        self.headings.contains(&name).then(|| fragment(&name))
    }

    /// The replacement of `|name|`; `None` if the page does not define it.
    pub(super) fn substitution(&self, name: &str) -> Option<&str> {
        self.substitutions.get(name).map(String::as_str)
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

fn substitution(markup: &str) -> Option<(&str, &str)> {
    let (name, rest) = markup.strip_prefix('|')?.split_once('|')?;
    Some((name, rest.trim_start().strip_prefix("replace::")?.trim()))
}

/// The next heading, if only blank lines and explicit markup come before it.
pub(super) fn heading_after(lines: &[String], start: usize) -> Option<String> {
    let mut candidates = lines[start..]
        .iter()
        .take(LABEL_REACH)
        .filter(|line| !line.is_empty() && !line.starts_with(".. ") && !line.starts_with(' '));
    let first = candidates.next()?;
    let text = if adornment(first).is_some() {
        candidates.next()?
    } else {
        first
    };
    let underline = candidates.next()?;
    adornment(underline)?;
    Some(text.trim().to_owned())
}

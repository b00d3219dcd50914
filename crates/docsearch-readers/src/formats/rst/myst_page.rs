//! Labels and sections of a page in MyST, to which pages in both syntaxes refer.

use std::collections::HashMap;

use docsearch_core::documents::markdown::sections;

use crate::text::{fence, markdown_text};

/// Maximum length of a title in bytes; a longer heading is a paragraph by mistake.
const MAX_TITLE_BYTES: usize = 500;

/// What references to a page can name. Titles are Markdown.
#[derive(Debug, Default)]
pub(super) struct MystPage {
    pub(super) title: Option<String>,
    /// Labels, with the headings after them.
    pub(super) labels: Vec<(String, Option<String>)>,
    /// The titles of its headings, by anchor.
    pub(super) sections: HashMap<String, String>,
}

impl MystPage {
    pub(super) fn of(text: &str) -> Self {
        let mut page = Self::default();
        let mut waiting: Vec<String> = Vec::new();
        let mut repeated: HashMap<String, usize> = HashMap::new();
        for (line, is_text) in fence::lines_with_state(without_front_matter(text)) {
            let line = line.trim_end();
            if let Some(name) = label(line).filter(|_| is_text) {
                waiting.push(name.to_lowercase());
            } else if line.starts_with('#') && is_text {
                let title = page.heading(line, &mut repeated);
                page.labels.extend(waiting.drain(..).map(|name| (name, title.clone())));
            } else if !(line.is_empty() || line.starts_with('%')) {
                page.labels.extend(waiting.drain(..).map(|name| (name, None)));
            }
        }
        page
    }

    /// Adds the section of a heading; its title, or `None` if the line is no heading. `repeated` counts the anchors that
    /// headings have without a number.
    fn heading(&mut self, line: &str, repeated: &mut HashMap<String, usize>) -> Option<String> {
        if line.len() > MAX_TITLE_BYTES {
            return None;
        }
        let line = without_roles(line);
        let section = sections(&line).into_iter().find(|section| section.level > 0)?;
        let source = line.trim_matches('#').trim();
        let title = match source.contains(['[', '{', '<']) {
            true => markdown_text::escape(section.heading_path.last()?),
            false => source.to_owned(),
        };
        let count = repeated.entry(section.anchor.clone()).or_default();
        let anchor = match *count {
            0 => section.anchor,
            number => format!("{}-{number}", section.anchor),
        };
        *count += 1;
        self.sections.entry(anchor).or_insert_with(|| title.clone());
        if section.level == 1 {
            self.title.get_or_insert_with(|| title.clone());
        }
        Some(title)
    }
}

/// The name of `(label)=`.
fn label(line: &str) -> Option<&str> {
    let name = line.strip_prefix('(')?.strip_suffix(")=")?;
    (!name.is_empty() && !name.contains(['(', ')'])).then_some(name)
}

fn without_front_matter(text: &str) -> &str {
    let body = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"));
    body.map_or(text, |(_, body)| body)
}

/// A heading with the content of its roles, as code.
fn without_roles(line: &str) -> String {
    let mut output = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, role)) = rest.split_once('{') {
        output.push_str(before);
        rest = match role.split_once("}`") {
            Some((name, content)) if !name.contains([' ', '`', '{']) => {
                output.push('`');
                content.trim_start_matches(['~', '!'])
            }
            _ => {
                output.push('{');
                role
            }
        };
    }
    output + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_belong_to_the_heading_after_them() {
        let page = MystPage::of(
            "---\ntitle: x\n---\n(top)=\n(First)=\n% comment\n# The `kit` tool\n\n(text)=\nText.\n\n```\n(code)=\n# no\n```\n\
             ## See [it](x) {#own}\n\n(last)=\n\n## A {class}`~kit.Boat`\n\n## See\n\n## See\n",
        );
        assert_eq!(page.title.as_deref(), Some("The `kit` tool"));
        let title = |text: &str| Some(text.to_owned());
        let labels = [
            ("top", title("The `kit` tool")),
            ("first", title("The `kit` tool")),
            ("text", None),
            ("last", title("A `kit.Boat`")),
        ];
        assert_eq!(page.labels, labels.map(|(name, title)| (name.to_owned(), title)));
        let mut anchors: Vec<&str> = page.sections.keys().map(String::as_str).collect();
        anchors.sort_unstable();
        assert_eq!(anchors, ["a-kitboat", "own", "see", "see-1", "the-kit-tool"]);
        assert_eq!(page.sections["own"], "See it");
    }
}

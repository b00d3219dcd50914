//! The rules by which generators derive the anchor of a heading from its text.

use std::collections::HashSet;
use std::fmt;

use docsearch_core::documents::markdown::sections;
use unicode_normalization::UnicodeNormalization;

use crate::text::{fence, target};

/// The rule for the anchor of a heading without an identifier.
#[derive(Clone, Copy)]
pub struct AnchorRule(&'static Rule);

/// An anchor rule.
pub(super) struct Rule {
    pub(super) name: &'static str,
    /// The generators that use it.
    pub(super) generators: &'static str,
    /// From the text of a heading to its anchor, before duplicates are numbered; `None` for GitHub's rule, which is the
    /// default of the chunker.
    pub(super) anchor: Option<fn(&str) -> String>,
    /// Separates the number from an anchor that is a duplicate.
    pub(super) separator: char,
    /// Whether a heading with an empty or duplicate anchor gets `id1`, `id2` and so on.
    pub(super) numbers_unnamed: bool,
}

impl Rule {
    pub(super) const fn new(name: &'static str, generators: &'static str) -> Self {
        Self {
            name,
            generators,
            anchor: None,
            separator: '-',
            numbers_unnamed: false,
        }
    }
}

static GITHUB: Rule = Rule::new("github", "GitHub, Docusaurus, mdBook, Hugo, Starlight");

impl Default for AnchorRule {
    fn default() -> Self {
        Self(&GITHUB)
    }
}

/// A name is unique among the rules.
impl PartialEq for AnchorRule {
    fn eq(&self, other: &Self) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for AnchorRule {}

impl fmt::Debug for AnchorRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0.name)
    }
}

impl AnchorRule {
    pub(super) const fn of(rule: &'static Rule) -> Self {
        Self(rule)
    }

    /// The value of `--anchors`.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// The generators that use it.
    pub fn generators(self) -> &'static str {
        self.0.generators
    }

    fn is_github(self) -> bool {
        self.0.anchor.is_none()
    }

    /// `markdown` with `{#id}` after each heading that has no identifier and whose anchor differs from GitHub's.
    pub(crate) fn apply(self, markdown: &str) -> String {
        if self.is_github() {
            return markdown.to_owned();
        }
        let mut output = String::with_capacity(markdown.len());
        let mut taken: HashSet<String> = HashSet::new();
        let mut unnamed = 0;
        let mut done = 0;
        for section in sections(markdown).iter().filter(|section| section.level > 0) {
            let text = section.heading_path.last().map(String::as_str).unwrap_or_default();
            let heading = &markdown[section.range.start..section.body_start];
            let own = self.0.anchor.filter(|_| !has_identifier(heading));
            let wanted = own.map(|anchor| anchor(text));
            let Some(wanted) = wanted else {
                taken.insert(section.anchor.clone());
                continue;
            };
            let mut anchor = wanted.clone();
            if self.0.numbers_unnamed && (wanted.is_empty() || taken.contains(&wanted)) {
                unnamed += 1;
                anchor = format!("id{unnamed}");
            }
            let mut number = 0;
            while !self.0.numbers_unnamed && taken.contains(&anchor) {
                number += 1;
                anchor = format!("{wanted}{}{number}", self.0.separator);
            }
            taken.insert(anchor.clone());
            if anchor == section.anchor || anchor.is_empty() {
                continue;
            }
            let end = section.range.start + title_end(heading);
            output.push_str(&markdown[done..end]);
            output.push_str(&format!(" {{#{anchor}}}"));
            done = end;
        }
        output.push_str(&markdown[done..]);
        output
    }

    /// Marks the headings in quotations: they open no sections, but sites give them anchors.
    pub(crate) fn mark_quoted(self, markdown: &str) -> String {
        if !markdown.contains('>') {
            return markdown.to_owned();
        }
        let mut output = String::with_capacity(markdown.len());
        for (line, is_text) in fence::lines_with_state(markdown) {
            let content = line
                .trim_start()
                .strip_prefix('>')
                .map(|quoted| quoted.trim_start_matches(['>', ' ']));
            let heading = content.filter(|content| is_text && content.starts_with('#'));
            let anchor = heading.and_then(|heading| {
                let named = self.apply(heading);
                sections(&named)
                    .into_iter()
                    .find(|section| section.level > 0)
                    .map(|section| section.anchor)
            });
            match anchor {
                Some(anchor) => {
                    let end = line.trim_end().len();
                    output.push_str(&line[..end]);
                    output.push_str(&target::mark(&anchor));
                    output.push_str(&line[end..]);
                }
                None => output.push_str(line),
            }
        }
        output
    }
}

/// Whether the heading ends in braces, as with an identifier.
fn has_identifier(heading: &str) -> bool {
    heading[..title_end(heading)].ends_with('}')
}

/// The end of the text of a heading: the end of the line for an ATX heading, the end of the line above the underline
/// for a setext heading.
fn title_end(heading: &str) -> usize {
    let text = heading.trim_end();
    match text.trim_start().starts_with('#') {
        true => text.len(),
        false => text.rfind('\n').map_or(text.len(), |end| text[..end].trim_end().len()),
    }
}

/// Letters without diacritics; letters of other scripts are removed.
pub(super) fn ascii(text: &str) -> String {
    text.nfkd().filter(char::is_ascii).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(name: &str) -> AnchorRule {
        AnchorRule::all().find(|rule| rule.name() == name).unwrap()
    }

    #[test]
    fn every_generator_has_its_rule() {
        for (heading, name, expected) in [
            ("server.proxy", "vitepress", "server-proxy"),
            ("server.proxy", "mkdocs", "serverproxy"),
            ("server.proxy", "sphinx", "server-proxy"),
            ("server.proxy", "kramdown", "serverproxy"),
            ("1. What's new?", "vitepress", "_1-what-s-new"),
            ("1. What's new?", "mkdocs", "1-whats-new"),
            ("1. What's new?", "sphinx", "what-s-new"),
            ("1. What's new?", "kramdown", "whats-new"),
            ("Füße & Öfen", "mkdocs", "fue-ofen"),
            ("Füße & Öfen", "pymdownx", "füße-öfen"),
            ("Füße & Öfen", "sphinx", "fusze-ofen"),
            ("a - b", "mkdocs", "a-b"),
            ("snake_case", "vitepress", "snake-case"),
            ("snake_case", "mkdocs", "snake_case"),
            ("", "kramdown", "section"),
        ] {
            let anchor = rule(name).0.anchor.unwrap();
            assert_eq!(anchor(heading), expected, "{heading} {name}");
        }
    }

    #[test]
    fn headings_get_the_anchor_that_differs() {
        assert_eq!(
            rule("vitepress").apply("# a.b\n\nText\n\n## Own {#x}\n\n## Part ##\n\na.b\n---\n\n```\n# c.d\n```\n"),
            "# a.b {#a-b}\n\nText\n\n## Own {#x}\n\n## Part ##\n\na.b {#a-b-1}\n---\n\n```\n# c.d\n```\n"
        );
        assert_eq!(rule("mkdocs").apply("# A\n\n# A\n"), "# A\n\n# A {#a_1}\n");
        assert_eq!(
            rule("sphinx").apply("# A\n\n# A\n\n# 1\n"),
            "# A\n\n# A {#id1}\n\n# 1 {#id2}\n"
        );
        let plain = "# a.b\n\n# a.b\n";
        assert_eq!(rule("github").apply(plain), plain);
    }

    #[test]
    fn headings_in_quotations_are_link_targets() {
        let page = "# Memory\n\n> ### The Stack\n>\n> Text.\n\n```\n> # code\n```\n";
        let (text, anchors) = target::take(&AnchorRule::default().mark_quoted(page));
        assert_eq!(text, page);
        assert_eq!(anchors, [("the-stack".to_owned(), "memory".to_owned())].into());
    }
}

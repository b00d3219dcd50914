//! The rules by which generators make the anchor of a heading from its text.

use std::collections::HashSet;

use docsearch_core::documents::markdown::sections;
use strum::{EnumMessage, IntoStaticStr, VariantArray};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::text::{fence, target};

/// How a heading without an identifier of its own gets its anchor.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, EnumMessage, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum AnchorRule {
    /// GitHub, Docusaurus, mdBook, Hugo, Starlight
    #[default]
    Github,
    /// VitePress
    Vitepress,
    /// MkDocs
    Mkdocs,
    /// MkDocs with slugs that keep letters of every script
    Pymdownx,
    /// Sphinx
    Sphinx,
    /// Jekyll
    Kramdown,
}

/// Characters that VitePress makes hyphens of.
const VITEPRESS_SPECIAL: &str = "~`!@#$%^&*()-_+=[]{}|\\;:\"'“”‘’<>,.?/";

impl AnchorRule {
    /// The anchor of a heading, before it is told apart from others of the page; `None` for that of GitHub, which
    /// headings have anyway.
    fn anchor(self, heading: &str) -> Option<String> {
        Some(match self {
            Self::Github => return None,
            Self::Vitepress => vitepress(heading),
            Self::Mkdocs => python_markdown(&ascii(heading)),
            Self::Pymdownx => python_markdown(&heading.nfc().collect::<String>()),
            Self::Sphinx => docutils(heading),
            Self::Kramdown => kramdown(heading),
        })
    }

    /// The anchor for the `number`-th heading (from 1) whose anchor was taken before it.
    fn repeated(self, anchor: &str, number: usize) -> String {
        match self {
            Self::Mkdocs | Self::Pymdownx => format!("{anchor}_{number}"),
            _ => format!("{anchor}-{number}"),
        }
    }

    /// `markdown` with the anchor of every heading whose rule gives another one than GitHub's, and which has no
    /// identifier of its own, after its text: `{#id}`.
    pub(crate) fn apply(self, markdown: &str) -> String {
        if self == Self::Github {
            return markdown.to_owned();
        }
        let mut output = String::with_capacity(markdown.len());
        let mut taken: HashSet<String> = HashSet::new();
        let mut unnamed = 0;
        let mut done = 0;
        for section in sections(markdown).iter().filter(|section| section.level > 0) {
            let text = section.heading_path.last().map(String::as_str).unwrap_or_default();
            let heading = &markdown[section.range.start..section.body_start];
            let wanted = self.anchor(text).filter(|_| !has_identifier(heading));
            let Some(wanted) = wanted else {
                taken.insert(section.anchor.clone());
                continue;
            };
            let mut anchor = wanted.clone();
            if self == Self::Sphinx && (wanted.is_empty() || taken.contains(&wanted)) {
                unnamed += 1;
                anchor = format!("id{unnamed}");
            }
            let mut number = 0;
            while self != Self::Sphinx && taken.contains(&anchor) {
                number += 1;
                anchor = self.repeated(&wanted, number);
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

    /// Marks the headings in quotations, which open no sections, though sites give them anchors.
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

/// Whether braces stand where an identifier would.
fn has_identifier(heading: &str) -> bool {
    heading[..title_end(heading)].ends_with('}')
}

/// Where the text of a heading ends: that of an ATX heading with its closing marks, that of the other kind above its
/// underline.
fn title_end(heading: &str) -> usize {
    let text = heading.trim_end();
    match text.trim_start().starts_with('#') {
        true => text.len(),
        false => text.rfind('\n').map_or(text.len(), |end| text[..end].trim_end().len()),
    }
}

/// `slugify` of @mdit-vue/shared.
fn vitepress(heading: &str) -> String {
    let plain = heading.nfkd().filter(|c| !is_combining_mark(*c) && !c.is_control());
    let spaced: String = plain
        .map(|c| match c.is_whitespace() || VITEPRESS_SPECIAL.contains(c) {
            true => '-',
            false => c,
        })
        .collect();
    let words: Vec<&str> = spaced.split('-').filter(|word| !word.is_empty()).collect();
    let slug = words.join("-").to_lowercase();
    match slug.starts_with(|first: char| first.is_ascii_digit()) {
        true => format!("_{slug}"),
        false => slug,
    }
}

/// `slugify` of the extension `toc` of Python-Markdown.
fn python_markdown(heading: &str) -> String {
    let kept: String = heading
        .chars()
        .filter(|c| c.is_alphanumeric() || *c == '_' || *c == '-' || c.is_whitespace())
        .collect();
    let words = kept.trim().to_lowercase();
    let words: Vec<&str> = words.split(|c: char| c == '-' || c.is_whitespace()).collect();
    // Runs in the text become one hyphen; one at either end stays.
    let mut slug = String::new();
    for (place, word) in words.iter().enumerate() {
        if place > 0 && !slug.ends_with('-') {
            slug.push('-');
        }
        slug.push_str(word);
    }
    slug
}

/// `make_id` of docutils.
fn docutils(heading: &str) -> String {
    let plain: String = heading.to_lowercase().chars().map(without_marks).collect();
    let plain = ascii(&plain);
    let words: Vec<&str> = plain
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let joined = words.join("-");
    joined
        .trim_start_matches(|c: char| c.is_ascii_digit() || c == '-')
        .to_owned()
}

/// Letters that docutils writes otherwise and that have no marks to lose.
fn without_marks(letter: char) -> String {
    match letter {
        'ß' => "sz".to_owned(),
        'æ' => "ae".to_owned(),
        'œ' => "oe".to_owned(),
        'ø' => "o".to_owned(),
        'đ' => "d".to_owned(),
        'ħ' => "h".to_owned(),
        'ı' => "i".to_owned(),
        'ł' => "l".to_owned(),
        'ŧ' => "t".to_owned(),
        other => other.to_string(),
    }
}

/// `basic_generate_id` of kramdown.
fn kramdown(heading: &str) -> String {
    let from = heading.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(heading.len());
    let kept = heading[from..]
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || *c == ' ' || *c == '-');
    let slug: String = kept
        .map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() })
        .collect();
    if slug.is_empty() { "section".to_owned() } else { slug }
}

/// Letters without their marks; those of other scripts go.
fn ascii(text: &str) -> String {
    text.nfkd().filter(char::is_ascii).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_generator_has_its_rule() {
        use AnchorRule::{Kramdown, Mkdocs, Pymdownx, Sphinx, Vitepress};
        for (heading, rule, anchor) in [
            ("server.proxy", Vitepress, "server-proxy"),
            ("server.proxy", Mkdocs, "serverproxy"),
            ("server.proxy", Sphinx, "server-proxy"),
            ("server.proxy", Kramdown, "serverproxy"),
            ("1. What's new?", Vitepress, "_1-what-s-new"),
            ("1. What's new?", Mkdocs, "1-whats-new"),
            ("1. What's new?", Sphinx, "what-s-new"),
            ("1. What's new?", Kramdown, "whats-new"),
            ("Füße & Öfen", Mkdocs, "fue-ofen"),
            ("Füße & Öfen", Pymdownx, "füße-öfen"),
            ("Füße & Öfen", Sphinx, "fusze-ofen"),
            ("a - b", Mkdocs, "a-b"),
            ("snake_case", Vitepress, "snake-case"),
            ("snake_case", Mkdocs, "snake_case"),
            ("", Kramdown, "section"),
        ] {
            assert_eq!(rule.anchor(heading).as_deref(), Some(anchor), "{heading} {rule:?}");
        }
    }

    #[test]
    fn headings_get_the_anchor_that_differs() {
        assert_eq!(
            AnchorRule::Vitepress.apply("# a.b\n\nText\n\n## Own {#x}\n\n## Part ##\n\na.b\n---\n\n```\n# c.d\n```\n"),
            "# a.b {#a-b}\n\nText\n\n## Own {#x}\n\n## Part ##\n\na.b {#a-b-1}\n---\n\n```\n# c.d\n```\n"
        );
        assert_eq!(AnchorRule::Mkdocs.apply("# A\n\n# A\n"), "# A\n\n# A {#a_1}\n");
        assert_eq!(
            AnchorRule::Sphinx.apply("# A\n\n# A\n\n# 1\n"),
            "# A\n\n# A {#id1}\n\n# 1 {#id2}\n"
        );
        let plain = "# a.b\n\n# a.b\n";
        assert_eq!(AnchorRule::Github.apply(plain), plain);
    }

    #[test]
    fn headings_in_quotations_are_places() {
        let page = "# Memory\n\n> ### The Stack\n>\n> Text.\n\n```\n> # code\n```\n";
        let (text, anchors) = target::take(&AnchorRule::default().mark_quoted(page));
        assert_eq!(text, page);
        assert_eq!(anchors, [("the-stack".to_owned(), "memory".to_owned())].into());
    }
}

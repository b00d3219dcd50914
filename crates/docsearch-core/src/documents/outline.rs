//! The sections of a document, as `load_doc` finds and cuts them.

mod cut;
mod left_out;
mod target;

use std::iter;
use std::ops::Range;

use crate::documents::markdown::{Section, sections};
use crate::values::address::decoded;

pub use cut::Cut;

/// The sections of a markdown document.
#[derive(Clone, Debug)]
pub struct Outline<'a> {
    markdown: &'a str,
    sections: Vec<Section>,
}

/// The neighbours of a section, by their anchors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Neighbours<'a> {
    /// The section above it.
    pub parent: Option<&'a str>,
    /// The section before it in reading order; its parent, if it is the first there.
    pub previous: Option<&'a str>,
    /// The section after it and its subsections.
    pub next: Option<&'a str>,
}

impl<'a> Outline<'a> {
    /// Parses the sections of a document.
    pub fn new(markdown: &'a str) -> Self {
        Self {
            markdown,
            sections: sections(markdown),
        }
    }

    /// The sections in order, see [`sections`].
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// Index in [`Outline::sections`] of the section for a fragment, see [`Outline::find_with`], in a document
    /// without aliases.
    pub fn find(&self, wanted: &str) -> Option<usize> {
        self.find_with(wanted, |_| None)
    }

    /// Index in [`Outline::sections`] of the section for a fragment or a name, with or without `#`, as it is or
    /// percent-decoded. `None` if there is none. In this order, it is
    ///
    /// 1. the section with this anchor;
    /// 2. the one whose anchor `aliases` has for it; an empty one is the beginning;
    /// 3. the one where HTML outside of code has this as an `id`, or a link as its `name`. It is the next one if only the
    ///    next heading follows;
    /// 4. the first one with this heading or heading path (`Button > Styling`), in any case;
    /// 5. the only one whose anchor, or else whose heading, has the same letters and digits, in any case.
    pub fn find_with<'b>(&self, wanted: &str, aliases: impl Fn(&str) -> Option<&'b str>) -> Option<usize> {
        let given = wanted.strip_prefix('#').unwrap_or(wanted).trim();
        let decoded = decoded(given);
        let decoded = Some(decoded.as_ref()).filter(|decoded| *decoded != given);
        let mut forms = iter::once(given).chain(decoded).filter(|form| !form.is_empty());
        forms.find_map(|form| {
            self.anchored(form)
                .or_else(|| aliases(form).and_then(|anchor| self.alias(anchor)))
                .or_else(|| self.targeted(form))
                .or_else(|| self.headed(form))
                .or_else(|| self.like(form))
        })
    }

    fn anchored(&self, anchor: &str) -> Option<usize> {
        self.sections
            .iter()
            .position(|section| section.level > 0 && section.anchor == anchor)
    }

    fn alias(&self, anchor: &str) -> Option<usize> {
        match anchor {
            "" => (!self.sections.is_empty()).then_some(0),
            _ => self.anchored(anchor),
        }
    }

    fn targeted(&self, name: &str) -> Option<usize> {
        let target = target::find(self.markdown, name)?;
        let after = self
            .sections
            .partition_point(|section| section.range.start <= target.at);
        let index = after.checked_sub(1)?;
        let section = self.sections.get(index)?;
        let is_last = target.at >= section.body_start && target.silent_to >= section.range.end;
        Some(if is_last && after < self.sections.len() {
            after
        } else {
            index
        })
    }

    fn headed(&self, heading: &str) -> Option<usize> {
        let heading = heading.to_lowercase();
        self.sections.iter().position(|section| {
            let last = section.heading_path.last();
            last.is_some_and(|last| last.to_lowercase() == heading)
                || section.level > 0 && section.heading_path.join(" > ").to_lowercase() == heading
        })
    }

    fn like(&self, name: &str) -> Option<usize> {
        let wanted = letters(name);
        if wanted.is_empty() {
            return None;
        }
        let anchored = self.sections.iter().map(|section| letters(&section.anchor) == wanted);
        if anchored.clone().any(|is_like| is_like) {
            return only(anchored);
        }
        only(self.sections.iter().map(|section| {
            let heading = section.heading_path.last();
            heading.is_some_and(|heading| letters(heading) == wanted)
        }))
    }

    /// Byte range of a section with its heading and subsections; empty if there is no such index.
    pub fn range(&self, section: usize) -> Range<usize> {
        let Some(found) = self.sections.get(section) else {
            return 0..0;
        };
        let end = self.after(section).map_or(self.markdown.len(), |next| next.range.start);
        found.range.start..end
    }

    /// The Markdown in a byte range.
    pub fn source(&self, range: Range<usize>) -> &'a str {
        self.markdown.get(range).unwrap_or_default()
    }

    /// The Markdown of a section with its subsections.
    pub fn text(&self, section: usize) -> &'a str {
        self.source(self.range(section))
    }

    /// Parent, previous and next of a section. Text before the first heading has no anchor and is no neighbour.
    pub fn neighbours(&self, section: usize) -> Neighbours<'_> {
        let Some(found) = self.sections.get(section) else {
            return Neighbours::default();
        };
        let before = self.sections[..section].iter().rev();
        let mut headed = before.filter(|other| other.level > 0);
        let previous = headed.clone().next();
        let parent = headed.find(|other| other.level < found.level);
        Neighbours {
            parent: parent.map(|other| other.anchor.as_str()),
            previous: previous.map(|other| other.anchor.as_str()),
            next: self.after(section).map(|other| other.anchor.as_str()),
        }
    }

    /// The first section after this one and its subsections.
    fn after(&self, section: usize) -> Option<&Section> {
        let level = self.sections.get(section)?.level;
        let rest = self.sections.get(section + 1..)?;
        rest.iter().find(|next| next.level <= level || level == 0)
    }
}

/// Letters and digits alone, in lower case.
fn letters(text: &str) -> String {
    text.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// Index of the only true value.
fn only(are_so: impl Iterator<Item = bool>) -> Option<usize> {
    let mut places = are_so.enumerate().filter_map(|(index, is_so)| is_so.then_some(index));
    places.next().filter(|_| places.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PAGE: &str = "Intro.\n\n# Button\n\nA control.\n\n## Creating\n\nWith a label.\n\n### Roles\n\nCancel.\n\n\
                        ## Styling\n\nBordered.\n\n# See also\n\nMenu.\n";

    #[test]
    fn a_section_is_found_by_anchor_heading_or_path() {
        let outline = Outline::new(PAGE);
        for wanted in ["creating", "#creating", "Creating", "button > creating"] {
            let found = outline.find(wanted).expect(wanted);
            assert!(
                PAGE[outline.range(found)].ends_with("### Roles\n\nCancel.\n\n"),
                "{wanted}"
            );
        }
        assert_eq!(outline.find("nothing"), None);
        assert_eq!(outline.find(""), None);
    }

    #[test]
    fn s3_41_a_fragment_means_an_anchor_before_an_alias_before_a_target_before_a_heading() {
        let page = "# One\n\n<a id=\"three\"></a>\n\nText.\n\n## Two words\n\n# Three\n\nText.\n\n# Four\n\n<b id=\"four\">x</b>\n\n# Five {#5}\n";
        let outline = Outline::new(page);
        let alias = |fragment: &str| match fragment {
            "one" | "old" => Some("four"),
            "five" => Some("one"),
            "top" => Some(""),
            "dead" => Some("nowhere"),
            _ => None,
        };
        let anchor = |wanted: &str| {
            let found = outline.find_with(wanted, alias)?;
            Some(outline.sections()[found].anchor.as_str())
        };
        assert_eq!(anchor("one"), Some("one"));
        assert_eq!(anchor("#old"), Some("four"));
        assert_eq!(anchor("five"), Some("one"));
        assert_eq!(anchor("top"), Some("one"));
        assert_eq!(anchor("dead"), None);
        assert_eq!(anchor("three"), Some("three"));
        assert_eq!(anchor("FIVE"), Some("5"));
        assert_eq!(anchor("one > two words"), Some("two-words"));
        assert_eq!(outline.find("old"), None);
    }

    #[test]
    fn s3_41_an_html_target_means_its_section_or_the_heading_after_it() {
        let page = "<a name=intro></a>Intro.\n\n<a id=\"first\"></a>\n\n# One <span id='in-heading'></span>\n\n<a id=\"before\"></a>\n\nText.\n\n\
                    - item <i ID=\"item\">x</i>\n\n> <div\n>   class=\"a\" id=\"quoted\">\n\n`<a id=\"code\">`\n\n```html\n<a id=\"fenced\"></a>\n```\n\n\
                    <!-- <a id=\"comment\"></a> -->\n\n<p data-x=\"id='no'\" title=\"a > b\" id=yes>Hi</p>\n\n<a id=\"two&amp;a\"></a>\n<!-- end -->\n<a\nname=\"two\"></a>\n\n## Two\n\n\
                    ## Three <a id=\"empty\"></a>\n\n## Four\n\nEnd. <a id=\"last\"></a>\n";
        let outline = Outline::new(page);
        let title = |wanted: &str| {
            let found = outline.find(wanted)?;
            Some(outline.sections()[found].heading_path.last().map_or("", String::as_str))
        };
        for (wanted, heading) in [
            ("intro", ""),
            ("first", "One"),
            ("in-heading", "One"),
            ("before", "One"),
            ("item", "One"),
            ("quoted", "One"),
            ("yes", "One"),
            ("two&a", "Two"),
            ("two", "Two"),
            ("empty", "Three"),
            ("last", "Four"),
        ] {
            assert_eq!(title(wanted), Some(heading), "{wanted}");
        }
        for wanted in ["code", "fenced", "comment", "no", "item\"", ""] {
            assert_eq!(title(wanted), None, "{wanted}");
        }
    }

    #[test]
    fn s3_41_what_only_case_and_punctuation_tell_apart_is_found_if_it_is_the_only_one() {
        let page = "# server.proxy\n\n# Options\n\n# get_item\n\n# getItem\n\n# Größe\n\n# Set up {#id}\n";
        let outline = Outline::new(page);
        let anchor = |wanted: &str| Some(outline.sections()[outline.find(wanted)?].anchor.as_str());
        assert_eq!(anchor("server-proxy"), Some("serverproxy"));
        assert_eq!(anchor("_options"), Some("options"));
        assert_eq!(anchor("get-item"), None);
        assert_eq!(anchor("#gr%C3%B6%C3%9Fe"), Some("größe"));
        assert_eq!(anchor("set-up"), Some("id"));
        assert_eq!(anchor("---"), None);
    }

    #[test]
    fn a_section_knows_its_neighbours() {
        let outline = Outline::new(PAGE);
        let of = |name| {
            let around = outline.neighbours(outline.find(name).expect(name));
            (around.parent, around.previous, around.next)
        };
        assert_eq!(of("button"), (None, None, Some("see-also")));
        assert_eq!(of("creating"), (Some("button"), Some("button"), Some("styling")));
        assert_eq!(of("roles"), (Some("creating"), Some("creating"), Some("styling")));
        assert_eq!(of("styling"), (Some("button"), Some("roles"), Some("see-also")));
        assert_eq!(of("see-also"), (None, Some("styling"), None));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        #[test]
        fn every_fragment_leads_into_the_document_or_nowhere(
            parts in proptest::collection::vec("#{1,3} \\PC{0,9}\n\n|<[ab] (id|name)=[\"']?[a-c]{1,2}[\"']?>?\n*|`[^`]{0,9}|\\PC{0,30}\n\n|<!--|-->", 0..12),
            wanted in "#?[a-c]{1,2}|\\PC{0,12}",
            alias in proptest::option::of("[a-c]{0,2}"),
        ) {
            let page = parts.concat();
            let outline = Outline::new(&page);
            let found = outline.find_with(&wanted, |_| alias.as_deref());
            prop_assert!(found.is_none_or(|index| index < outline.sections().len()));
            for (index, section) in outline.sections().iter().enumerate().filter(|(_, section)| section.level > 0) {
                let anchor = section.anchor.as_str();
                prop_assume!(anchor == anchor.trim() && !anchor.starts_with('#'));
                prop_assert_eq!(outline.find_with(anchor, |_| alias.as_deref()), Some(index));
            }
        }

        #[test]
        fn a_target_is_found_where_it_was_put(
            titles in proptest::collection::vec("[d-h]{2,6}", 1..6),
            at in 0usize..6,
            has_text in proptest::bool::ANY,
            tag in "a|span|custom-tag|Component",
        ) {
            let at = at % titles.len();
            let section = |(index, title): (usize, &String)| {
                let target = if index == at { format!("\n\n<{tag} id=\"target\"></{tag}>") } else { String::new() };
                let text = if has_text { "\n\nMore text." } else { "" };
                format!("# {title}\n\nText.{target}{text}\n\n")
            };
            let page: String = titles.iter().enumerate().map(section).collect();
            let meant = if has_text { at } else { (at + 1).min(titles.len() - 1) };
            prop_assert_eq!(Outline::new(&page).find("target"), Some(meant), "{}", page);
        }

    }
}

//! Link targets in a page that are not headings. Readers mark them in the text; the marks become anchors of the
//! document.

use std::collections::BTreeMap;

use docsearch_core::documents::markdown::{Section, sections};

/// Delimiters of a name. They are private use characters: no text contains them, and no Markdown serializer escapes
/// them.
const OPEN: char = '\u{F8F0}';
const CLOSE: char = '\u{F8F1}';
/// Offset that is added to the characters of a name.
const SHIFT: u32 = 0xF0000;
/// The maximum of a document.
const MAX_TARGETS: usize = 20_000;
/// Longer names are left out.
const MAX_NAME_CHARACTERS: usize = 300;

/// The mark for a target; empty if the name cannot be encoded.
pub(crate) fn mark(name: &str) -> String {
    let characters: Option<String> = name
        .chars()
        .map(|c| char::from_u32(SHIFT + u32::from(c)).filter(|_| u32::from(c) < 0xFFFE && !c.is_control()))
        .collect();
    match characters {
        Some(hidden) if !name.is_empty() && name.chars().count() <= MAX_NAME_CHARACTERS => {
            format!("{OPEN}{hidden}{CLOSE}")
        }
        _ => String::new(),
    }
}

/// `markdown` without marks, and for each name the anchor of its section: the next section, if only marks come between.
/// Names that are anchors of sections are left out, and so are targets before the first heading.
pub(crate) fn take(markdown: &str) -> (String, BTreeMap<String, String>) {
    if !markdown.contains(OPEN) {
        return (markdown.to_owned(), BTreeMap::new());
    }
    let mut text = String::with_capacity(markdown.len());
    let mut targets: Vec<(usize, String)> = Vec::new();
    let mut is_after_bare = false;
    for line in markdown.split_inclusive('\n') {
        if std::mem::take(&mut is_after_bare) && line.trim().is_empty() {
            continue;
        }
        let start = text.len();
        let mut rest = line;
        while let Some((before, marked)) = rest.split_once(OPEN) {
            let Some((hidden, after)) = marked.split_once(CLOSE) else {
                break;
            };
            text.push_str(before);
            if targets.len() < MAX_TARGETS {
                targets.push((text.len(), reveal(hidden)));
            }
            rest = after;
        }
        text.push_str(rest);
        // A line of only marks would separate blocks that belong together.
        let is_bare = rest.len() < line.len() && text[start..].trim().is_empty();
        if is_bare && (start == 0 || text[..start].ends_with("\n\n")) {
            text.truncate(start);
            for (at, _) in targets.iter_mut().rev().take_while(|(at, _)| *at > start) {
                *at = start;
            }
            is_after_bare = true;
        }
    }
    let sections = sections(&text);
    let mut anchors = BTreeMap::new();
    for (at, name) in targets {
        if let Some(section) = section_at(&text, &sections, at)
            && !sections.iter().any(|section| section.anchor == name)
        {
            anchors.entry(name).or_insert_with(|| section.anchor.clone());
        }
    }
    (text, anchors)
}

fn reveal(hidden: &str) -> String {
    let characters = hidden
        .chars()
        .filter_map(|c| char::from_u32(u32::from(c).wrapping_sub(SHIFT)));
    characters.collect()
}

fn section_at<'a>(text: &str, sections: &'a [Section], at: usize) -> Option<&'a Section> {
    let after = sections.partition_point(|section| section.range.start <= at);
    if let Some(next) = sections.get(after)
        && text[at..next.range.start].trim().is_empty()
    {
        return Some(next);
    }
    sections[..after].last().filter(|section| section.level > 0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn marks_become_anchors_of_their_section() {
        let page = format!(
            "Intro {}here.\n\n# One\n\n{}Text and `code`.\n\n{}\n\n## Two\n\nMore{}.\n",
            mark("top"),
            mark("a_b*c"),
            mark("old-two"),
            mark("two")
        );
        let (text, anchors) = take(&page);
        assert_eq!(text, "Intro here.\n\n# One\n\nText and `code`.\n\n## Two\n\nMore.\n");
        let expected = [("a_b*c", "one"), ("old-two", "two")];
        assert_eq!(
            anchors,
            expected
                .map(|(name, anchor)| (name.to_owned(), anchor.to_owned()))
                .into()
        );
    }

    #[test]
    fn marks_on_a_line_of_their_own_stand_before_what_follows() {
        let page = format!("# One\n\n{} {}  {}\n\nüüü\n\n## Two\n", mark("a"), mark("b"), mark("c"));
        let (text, anchors) = take(&page);
        assert_eq!(text, "# One\n\nüüü\n\n## Two\n");
        let expected = ["a", "b", "c"].map(|name| (name.to_owned(), "one".to_owned()));
        assert_eq!(anchors, expected.into());
    }

    proptest! {
        #[test]
        fn marks_anywhere_leave_the_text_between_them(
            parts in proptest::collection::vec(("[ü# \\n]{0,4}", "[a-z]{0,2}"), 0..12),
        ) {
            let page: String = parts.iter().map(|(text, name)| format!("{text}{}", mark(name))).collect();
            let plain: String = parts.iter().map(|(text, _)| text.as_str()).collect();
            let words = |text: &str| text.split_whitespace().collect::<String>();
            prop_assert_eq!(words(&take(&page).0), words(&plain));
        }
    }

    #[test]
    fn names_that_no_mark_can_hold_are_left_out() {
        assert_eq!(mark(""), "");
        assert_eq!(mark("a\nb"), "");
        assert_eq!(mark(&"x".repeat(400)), "");
        assert_eq!(take("a\u{F8F0}b").0, "a\u{F8F0}b");
    }
}

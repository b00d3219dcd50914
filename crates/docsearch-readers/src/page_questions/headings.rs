//! Finds the sections of a page by the texts of their headings, as people and programs write them.

use std::borrow::Cow;

use docsearch_core::documents::markdown::{Section, sections};

/// Maximum length of a heading that is looked up.
const MAX_CHARS: usize = 1_000;

/// The headings of a page.
pub struct Headings<'a> {
    title: &'a str,
    title_key: String,
    sections: Vec<Section>,
    keys: Vec<String>,
}

impl<'a> Headings<'a> {
    /// Reads the headings of a page with this title and Markdown.
    pub fn new(title: &'a str, body: &str) -> Self {
        let sections = sections(body);
        Self {
            title,
            title_key: key(title),
            keys: sections.iter().map(|section| key(text(section))).collect(),
            sections,
        }
    }

    /// All sections, with the text before the first heading.
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// The anchor of the section with a heading, empty for the page as a whole. `#anchor` is accepted as well.
    pub fn find(&self, wanted: &str) -> Option<&str> {
        let wanted = in_one_line(wanted);
        if wanted.is_empty() {
            return Some("");
        }
        let by_anchor = wanted.strip_prefix('#').filter(|anchor| !anchor.is_empty());
        if let Some(section) =
            by_anchor.and_then(|anchor| self.sections.iter().find(|section| section.anchor == anchor))
        {
            return Some(&section.anchor);
        }
        let forms = forms(&wanted);
        if forms.iter().any(|form| *form == in_one_line(self.title)) {
            return Some("");
        }
        let headings = || self.sections.iter().filter(|section| section.level > 0);
        if let Some(section) = headings().find(|section| forms.iter().any(|form| form == text(section))) {
            return Some(&section.anchor);
        }
        let keys = forms.iter().map(|form| key(form)).filter(|key| !key.is_empty());
        keys.into_iter().find_map(|wanted| {
            if wanted == self.title_key {
                return Some("");
            }
            let index = self.keys.iter().position(|key| *key == wanted)?;
            Some(self.sections[index].anchor.as_str())
        })
    }

    /// The heading most similar to one that does not exist.
    pub fn nearest(&self, wanted: &str) -> Option<(f64, &str)> {
        let wanted = key(&in_one_line(wanted));
        let known = self
            .sections
            .iter()
            .zip(&self.keys)
            .filter(|(section, _)| section.level > 0);
        let likeness = known.map(|(section, key)| (strsim::jaro_winkler(&wanted, key), text(section)));
        likeness.max_by(|(one, _), (other, _)| one.total_cmp(other))
    }

    /// Whether a section has this anchor; the page as a whole has the empty one.
    pub fn has_anchor(&self, anchor: &str) -> bool {
        anchor.is_empty() || self.sections.iter().any(|section| section.anchor == anchor)
    }

    /// The anchor most similar to one that does not exist.
    pub fn nearest_anchor(&self, wanted: &str) -> Option<&str> {
        let wanted = key(&in_one_line(wanted));
        let anchors = self.sections.iter().map(|section| section.anchor.as_str());
        let likeness = |anchor: &str| strsim::jaro_winkler(&wanted, &key(anchor));
        let known = anchors.filter(|anchor| !anchor.is_empty());
        known.max_by(|one, other| likeness(one).total_cmp(&likeness(other)))
    }

    /// The text by which [`Headings::find`] finds a section; `#anchor` if the text of its heading finds another one.
    pub fn heading(&self, anchor: &str) -> String {
        let section = self.sections.iter().find(|section| section.anchor == anchor);
        let heading = section.map(text).filter(|heading| self.find(heading) == Some(anchor));
        match heading {
            _ if anchor.is_empty() => String::new(),
            Some(heading) => heading.to_owned(),
            None => format!("#{anchor}"),
        }
    }
}

fn text(section: &Section) -> &str {
    section.heading_path.last().map_or("", String::as_str)
}

fn in_one_line(text: &str) -> String {
    let short: String = text.chars().take(MAX_CHARS).collect();
    short.split_whitespace().collect::<Vec<&str>>().join(" ")
}

/// Only letters and digits, in lower case.
fn key(text: &str) -> String {
    let letters = text.chars().filter(|letter| letter.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// A heading unchanged, and as it reads if it is Markdown or reStructuredText.
fn forms(heading: &str) -> Vec<String> {
    let mut forms = vec![heading.to_owned()];
    for text in [
        heading.into(),
        without_roles(heading, false),
        without_roles(heading, true),
    ] {
        let as_markdown = sections(&format!("# {text}\n"));
        let plain = as_markdown
            .iter()
            .rev()
            .find(|section| section.level == 1)
            .map(self::text);
        for form in [plain.unwrap_or_default(), &text] {
            if !form.is_empty() && !forms.iter().any(|known| known == form) {
                forms.push(form.to_owned());
            }
        }
    }
    forms
}

/// Replaces roles of reStructuredText by what they show: `` :ref:`text <target>` `` by text, and `` :func:`~a.b.c` ``
/// by c, or by a.b.c if `is_whole`.
fn without_roles(heading: &str, is_whole: bool) -> Cow<'_, str> {
    let mut plain = String::new();
    let mut rest = heading;
    while let Some((before, after)) = rest.split_once('`') {
        let Some((shown, following)) = after.split_once('`') else {
            break;
        };
        match role_start(before) {
            Some(start) => {
                plain.push_str(&before[..start]);
                plain.push_str(shown_by_role(shown, is_whole));
            }
            None => {
                plain.push_str(before);
                plain.push_str(shown);
            }
        }
        rest = following;
    }
    match plain.is_empty() {
        true => heading.into(),
        false => (plain + rest).into(),
    }
}

/// Where the `:name:` at the end of a text begins.
fn role_start(before: &str) -> Option<usize> {
    let name = before.strip_suffix(':')?;
    let is_of_name = |letter: char| letter.is_alphanumeric() || "-_.+:".contains(letter);
    let start = name
        .rfind(|letter: char| !is_of_name(letter))
        .map_or(0, |at| at + name[at..].chars().next().map_or(1, char::len_utf8));
    let start = start + name[start..].find(':')?;
    (start + 1 < name.len()).then_some(start)
}

fn shown_by_role(shown: &str, is_whole: bool) -> &str {
    if let Some((text, _)) = shown.strip_suffix('>').and_then(|shown| shown.rsplit_once('<'))
        && !text.trim().is_empty()
    {
        return text.trim();
    }
    match shown.strip_prefix('~') {
        Some(name) if is_whole => name,
        Some(name) => name.rsplit('.').next().unwrap_or(name),
        None => shown.strip_prefix('!').unwrap_or(shown),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BODY: &str = "# Kit\n\nText.\n\n## Set it up {#setup}\n\nA.\n\n### Use `kit.run()` with [the guide](g.md)\n\nB.\n\n\
                        ## c\n\nC.\n\n## Options\n\nD.\n\n## Options\n\nE.\n\n## !=\n\nF.\n";

    #[test]
    fn headings_are_found_however_they_are_written() {
        let headings = Headings::new("Kit", BODY);
        for (wanted, anchor) in [
            ("", ""),
            ("kit", ""),
            ("# Kit", ""),
            ("SET it  up!", "setup"),
            ("Set it up {#setup}", "setup"),
            ("[Set it up](other.md#there)", "setup"),
            (":ref:`Set it up <setup>`", "setup"),
            (":std:ref:`Set it up <setup>`", "setup"),
            (":func:`~a.b.c`", "c"),
            ("Options", "options"),
            ("#options-1", "options-1"),
        ] {
            assert_eq!(headings.find(wanted), Some(anchor), "{wanted}");
        }
        let used = headings.find("Use kit.run() with the guide").unwrap();
        assert_eq!(headings.find("Use `kit.run()` with [the guide](g.md)"), Some(used));
        assert_eq!(headings.find("Set it up with care"), None);
        assert_eq!(headings.nearest("Set it up with care").unwrap().1, "Set it up");
        let whole = Headings::new("Names", "# Names\n\n## a.b.c\n");
        assert_eq!(whole.find(":func:`~a.b.c`"), Some("abc"));
    }

    #[test]
    fn the_heading_written_for_a_section_finds_it() {
        let headings = Headings::new("Kit", BODY);
        assert_eq!(headings.heading("options"), "Options");
        assert_eq!(headings.heading("options-1"), "#options-1");
        assert_eq!(headings.heading("gone"), "#gone");
        assert_eq!(headings.heading(""), "");
    }

    proptest! {
        #[test]
        fn every_heading_is_found_by_its_own_text(
            lines in prop::collection::vec("[ -~éß中`*_<:~.\\[\\]()]{0,40}", 1..8), title in "[a-zA-Z ]{0,8}", other in any::<String>(),
        ) {
            let body: String = lines.iter().map(|line| format!("## {line}\n\nText.\n\n")).collect();
            let headings = Headings::new(&title, &body);
            for section in headings.sections().iter().filter(|section| section.level > 0) {
                let found = headings.find(text(section));
                prop_assert!(found.is_some(), "{:?}", section);
                let same = |found: &Section| key(text(found)) == key(text(section)) || text(section) == format!("#{}", found.anchor);
                prop_assert!(found == Some("") || headings.sections().iter().any(|other| Some(other.anchor.as_str()) == found && same(other)));
                prop_assert_eq!(headings.find(&headings.heading(&section.anchor)), Some(section.anchor.as_str()));
            }
            headings.find(&other);
            headings.nearest(&other);
        }
    }
}

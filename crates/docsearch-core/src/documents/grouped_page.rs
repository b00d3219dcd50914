//! Pages that are grouped into one document, each as a section of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::values::address::section_url;
use crate::values::bounds::{GROUPED_PAGES, GROUPED_PAGES_BYTES};

/// A page that is a section of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a page as an object")]
pub struct GroupedPage {
    /// Anchor of its section. Anchors of its subsections are this, a dot, and their anchors on the page.
    pub anchor: String,
    /// Its slug as a page of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slug: Option<String>,
    /// Path of its source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_path: Option<String>,
    /// URL where it is published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_url: Option<String>,
}

impl GroupedPage {
    /// The anchor on this page of an anchor of the document, empty for its beginning; `None` if it is on another
    /// page.
    fn fragment<'a>(&self, anchor: &'a str) -> Option<&'a str> {
        let rest = anchor.strip_prefix(self.anchor.as_str())?;
        match rest.is_empty() {
            true => Some(rest),
            false => rest.strip_prefix('.').filter(|fragment| !fragment.is_empty()),
        }
    }
}

/// The page of a section with this anchor, and the fragment of the section on it.
pub fn page_at<'p, 'a>(pages: &'p [GroupedPage], anchor: &'a str) -> Option<(&'p GroupedPage, &'a str)> {
    let found = pages
        .iter()
        .filter_map(|page| Some((page, page.fragment(anchor)?)))
        .min_by_key(|(_, fragment)| fragment.len());
    found.filter(|(page, _)| !page.anchor.is_empty())
}

/// The URL of a section: of its page if the document groups pages, or else of the document. `document` is the URL of
/// the whole document. It has no fragment unless the page has the anchor, see [`is_published`].
pub fn url_at(pages: &[GroupedPage], document: Option<&str>, anchor: &str, is_published: bool) -> Option<String> {
    let fragment_of = |anchor| if is_published { anchor } else { "" };
    match page_at(pages, anchor) {
        Some((page, fragment)) => page
            .source_url
            .as_deref()
            .map(|url| section_url(url, fragment_of(fragment))),
        None => document.map(|url| section_url(url, fragment_of(anchor))),
    }
}

/// Whether the page has the anchor of a section, judging by the further anchors of its document. If the anchor is among
/// them, it leads elsewhere on the page: mostly to the beginning, as a browser does if a page lacks it.
pub fn is_published(anchors: &BTreeMap<String, String>, anchor: &str) -> bool {
    anchors.get(anchor).is_none_or(|leads_to| leads_to == anchor)
}

/// Why the pages of a document are refused.
pub fn problem(pages: &[GroupedPage]) -> Option<String> {
    let bytes: usize = pages.iter().map(GroupedPage::bytes).sum();
    if pages.len() > GROUPED_PAGES || bytes > GROUPED_PAGES_BYTES {
        return Some(format!(
            "Give at most {GROUPED_PAGES}, of {GROUPED_PAGES_BYTES} bytes in all."
        ));
    }
    let mut anchors: Vec<&str> = pages.iter().map(|page| page.anchor.as_str()).collect();
    anchors.sort_unstable();
    let is_repeated = anchors.windows(2).any(|pair| pair[0] == pair[1]);
    (is_repeated || anchors.first() == Some(&"")).then(|| "Give each page an anchor of its own.".to_owned())
}

impl GroupedPage {
    fn bytes(&self) -> usize {
        let texts = [&self.slug, &self.source_path, &self.source_url];
        let texts = texts.into_iter().flatten().map(String::len);
        self.anchor.len() + texts.sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn page(anchor: &str, url: Option<&str>) -> GroupedPage {
        GroupedPage {
            anchor: anchor.to_owned(),
            source_url: url.map(str::to_owned),
            ..GroupedPage::default()
        }
    }

    #[test]
    fn s3_50_a_section_has_the_url_of_its_page() {
        let pages = [
            page("button", Some("https://kit.test/button")),
            page("button.round", Some("https://kit.test/round#top")),
            page("slider", None),
        ];
        let whole = Some("https://kit.test/controls");
        for (anchor, expected) in [
            ("button", Some("https://kit.test/button")),
            ("button.styling", Some("https://kit.test/button#styling")),
            ("button.a.b", Some("https://kit.test/button#a.b")),
            ("button.round.x", Some("https://kit.test/round#x")),
            ("buttons", Some("https://kit.test/controls#buttons")),
            ("slider.range", None),
            ("", whole),
        ] {
            assert_eq!(url_at(&pages, whole, anchor, true).as_deref(), expected, "{anchor}");
        }
        assert_eq!(url_at(&[], None, "button", true), None);
    }

    #[test]
    fn an_anchor_that_the_page_does_not_have_is_no_fragment() {
        let leads = |fragment: &str, anchor: &str| BTreeMap::from([(fragment.to_owned(), anchor.to_owned())]);
        assert!(is_published(&BTreeMap::new(), "styling") && is_published(&leads("styling", "styling"), "styling"));
        assert!(!is_published(&leads("styling", ""), "styling") && !is_published(&leads("styling", "b"), "styling"));
        let pages = [page("button", Some("https://kit.test/button"))];
        let whole = Some("https://kit.test/controls");
        let url = |anchor| url_at(&pages, whole, anchor, false);
        assert_eq!(url("button.styling").as_deref(), Some("https://kit.test/button"));
        assert_eq!(url("styling").as_deref(), whole);
    }

    #[test]
    fn pages_have_anchors_of_their_own_and_are_not_too_many() {
        assert_eq!(problem(&[]), None);
        assert_eq!(problem(&[page("a", None), page("b", None)]), None);
        for wrong in [
            vec![page("a", None), page("b", None), page("a", None)],
            vec![page("", None)],
        ] {
            assert!(problem(&wrong).is_some_and(|problem| problem.contains("of its own")));
        }
        let many: Vec<GroupedPage> = (0..=GROUPED_PAGES)
            .map(|number| page(&number.to_string(), None))
            .collect();
        assert!(problem(&many).is_some_and(|problem| problem.contains("at most")));
        assert!(problem(&[page(&"a".repeat(GROUPED_PAGES_BYTES + 1), None)]).is_some());
    }

    proptest! {
        #[test]
        fn a_section_is_found_on_its_page(key in "[a-z]{1,6}", others in proptest::collection::vec("[a-z.]{1,8}", 0..4), fragment in "[a-zß #]{1,8}") {
            let anchor = format!("{key}.{fragment}");
            let others = others.iter().filter(|other| !anchor.starts_with(other.as_str()));
            let pages: Vec<GroupedPage> = others.map(|other| page(other, None)).chain([page(&key, None)]).collect();
            let found = page_at(&pages, &anchor).map(|(page, fragment)| (page.anchor.as_str(), fragment));
            prop_assert_eq!(found, Some((key.as_str(), fragment.as_str())));
        }
    }
}

use proptest::prelude::*;

use super::*;

fn page(version: &str, name: &str, title: &str, body: &str) -> VersionPage {
    VersionPage::new(
        &format!("v{version}/{name}"),
        title,
        body,
        version,
        Some("https://kiln.test/"),
    )
}

fn words(from: u32, count: u32) -> String {
    (from..from + count).map(|number| format!("word{number} ")).collect()
}

fn compared(before: &[VersionPage], after: &[VersionPage]) -> Vec<(&'static str, Option<String>, Option<String>)> {
    let difference = VersionDifference::new(before, after, &HashSet::new());
    let changes = difference.changes.into_iter();
    changes
        .map(|change| (change.kind.into(), change.before, change.after))
        .collect()
}

fn row(kind: &'static str, before: &str, after: &str) -> (&'static str, Option<String>, Option<String>) {
    let given = |reference: &str| (!reference.is_empty()).then(|| reference.to_owned());
    (kind, given(before), given(after))
}

#[test]
fn pages_are_recognised_by_slug_or_text() {
    let before = [
        page("1", "open", "Open", &words(0, 60)),
        page("1", "fire", "Fire", &words(100, 60)),
        page("1", "sell", "Sell", &words(200, 60)),
    ];
    let renamed = words(100, 60).replace("word130 ", "other ");
    let after = [
        page("2", "open", "Open", &words(0, 60)),
        page("2", "guides/firing", "Firing", &renamed),
        page("2", "new", "New", &words(300, 60)),
    ];
    assert_eq!(
        compared(&before, &after),
        [
            row("page_removed", "v1/sell", ""),
            row("page_renamed", "v1/fire", "v2/guides/firing"),
            row("page_added", "", "v2/new"),
            row("section_changed", "v1/fire", "v2/guides/firing"),
        ]
    );
}

#[test]
fn sections_change_get_other_names_and_move() {
    let body = |parts: &[(&str, String)]| -> String {
        parts
            .iter()
            .map(|(heading, text)| format!("{heading}\n\n{text}\n\n"))
            .collect()
    };
    let before = [
        page(
            "1",
            "a",
            "A",
            &body(&[
                ("# A", words(0, 30)),
                ("## One", words(100, 30)),
                ("## Two", words(200, 30)),
                ("## Three", words(300, 30)),
                ("## Four", words(400, 30)),
            ]),
        ),
        page("1", "b", "B", &body(&[("# B", words(500, 30))])),
    ];
    let after = [
        page(
            "2",
            "a",
            "A",
            &body(&[
                ("# A", words(0, 30)),
                ("## One", words(101, 30)),
                ("## Second", words(200, 30)),
                ("## Five", words(600, 30)),
            ]),
        ),
        page(
            "2",
            "b",
            "B",
            &body(&[("# B", words(500, 30)), ("## Three again", words(300, 30))]),
        ),
    ];
    assert_eq!(
        compared(&before, &after),
        [
            row("section_removed", "v1/a#four", ""),
            row("section_renamed", "v1/a#two", "v2/a#second"),
            row("section_moved", "v1/a#three", "v2/b#three-again"),
            row("section_changed", "v1/a#one", "v2/a#one"),
            row("section_added", "", "v2/a#five"),
        ]
    );
}

#[test]
fn links_to_what_is_gone_are_broken() {
    let text = "See [sell](sell.md), [shelves](../v2/open.md#shelves), [top](https://kiln.test/v2/sell), [old](../v1/sell), \
                [there](https://other.test/sell), [never](never.md), [open](open.md), [mail](mailto:a@b.test).";
    let before = [
        page("1", "open", "Open", "# Open\n\nText.\n\n## Shelves\n\nText."),
        page("1", "sell", "Sell", "Short."),
        page("1", "see", "See", text),
    ];
    let after = [
        page("2", "open", "Open", "# Open\n\nText."),
        page("2", "see", "See", text),
    ];
    let others: HashSet<String> = ["v1/sell".to_owned()].into();
    let difference = VersionDifference::new(&before, &after, &others);
    let broken = difference
        .changes
        .iter()
        .filter(|change| change.kind == ChangeKind::LinkBroken);
    let broken: Vec<(&str, &str)> = broken
        .map(|change| (change.detail.as_str(), change.before.as_deref().unwrap_or_default()))
        .collect();
    assert_eq!(
        broken,
        [
            ("../v2/open.md#shelves", "v1/open#shelves"),
            ("https://kiln.test/v2/sell", "v1/sell"),
            ("sell.md", "v1/sell")
        ]
    );
}

/// Pages with sections: a number for the name and the numbers of their texts.
fn documentation() -> impl Strategy<Value = BTreeMap<u8, Vec<(u8, u8)>>> {
    let section = (0u8..6, 0u8..12);
    prop::collection::btree_map(0u8..8, prop::collection::vec(section, 0..4), 0..6)
}

fn written(version: &str, pages: &BTreeMap<u8, Vec<(u8, u8)>>) -> Vec<VersionPage> {
    let pages = pages.iter().map(|(name, sections)| {
        let sections: String = sections
            .iter()
            .map(|(heading, text)| {
                format!(
                    "## Heading {heading}\n\n{}\n\n[link](page{heading}.md)\n\n",
                    words(u32::from(*text) * 7, 12 + u32::from(*text))
                )
            })
            .collect();
        page(
            version,
            &format!("page{name}"),
            &format!("Page {name}"),
            &format!("# Page {name}\n\n{sections}"),
        )
    });
    pages.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_same_documentation_has_no_changes(pages in documentation()) {
        prop_assert_eq!(compared(&written("1", &pages), &written("2", &pages)), []);
    }

    /// What is added in one direction is removed in the other.
    #[test]
    fn changes_are_mirrored(before in documentation(), after in documentation()) {
        let (before, after) = (written("1", &before), written("2", &after));
        let mirrored = |kind| match kind {
            "page_added" => "page_removed",
            "page_removed" => "page_added",
            "section_added" => "section_removed",
            "section_removed" => "section_added",
            same => same,
        };
        let is_of_text = |row: &(&'static str, Option<String>, Option<String>)| row.0 != "link_broken";
        let mut there: Vec<_> = compared(&before, &after).into_iter().filter(is_of_text).collect();
        let back = compared(&after, &before).into_iter().filter(is_of_text);
        let mut back: Vec<_> = back.map(|(kind, old, new)| (mirrored(kind), new, old)).collect();
        there.sort();
        back.sort();
        prop_assert_eq!(there, back);
    }

    /// Every page is kept, removed, or added, once.
    #[test]
    fn every_page_is_accounted_for(before in documentation(), after in documentation()) {
        let (before, after) = (written("1", &before), written("2", &after));
        let difference = VersionDifference::new(&before, &after, &HashSet::new());
        let of = |kind: ChangeKind| difference.changes.iter().filter(|change| change.kind == kind).count();
        let kept = difference.counterparts.len();
        prop_assert_eq!(kept + of(ChangeKind::PageRemoved), before.len());
        prop_assert_eq!(kept + of(ChangeKind::PageAdded), after.len());
        prop_assert!(of(ChangeKind::PageRenamed) <= kept);
    }

    /// A page under another name with a few other words is one renamed page.
    #[test]
    fn a_rename_with_small_edits_is_one_rename(
        others in prop::collection::btree_set(1u32..40, 0..6),
        edits in prop::collection::vec(0usize..150, 0..4),
        name in "[a-z]{3,8}",
    ) {
        let mut text: Vec<String> = words(0, 150).split_whitespace().map(str::to_owned).collect();
        let other = |version: &str, number: &u32| page(version, &format!("other{number}"), "Other", &words(number * 1_000, 40));
        let mut before: Vec<VersionPage> = others.iter().map(|number| other("1", number)).collect();
        before.push(page("1", "was/called", "Name", &text.join(" ")));
        for edit in edits {
            text[edit] = "edited".to_owned();
        }
        let mut after: Vec<VersionPage> = others.iter().map(|number| other("2", number)).collect();
        after.push(page("2", &format!("is/{name}"), "Name", &text.join(" ")));
        let kinds = compared(&before, &after);
        let of_pages: Vec<_> = kinds.iter().filter(|row| row.0.starts_with("page_")).cloned().collect();
        prop_assert_eq!(of_pages, [row("page_renamed", "v1/was/called", &format!("v2/is/{name}"))]);
    }
}

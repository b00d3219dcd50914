use super::*;
use crate::query::container::KnownNames;
use crate::query::rule::Rules;
use proptest::prelude::*;

const TODAY: Day = Day(20_437);

/// A page: its slug, its title, and how many days ago it was published.
type Page = (&'static str, &'static str, Option<i32>);

fn order(query: &str, pages: &[Page]) -> Vec<(&'static str, f32)> {
    let rules = Rules::english();
    let asked = Understanding::read(query, &rules, &KnownNames::default());
    let candidates: Vec<NewnessCandidate<'_>> = pages
        .iter()
        .map(|&(slug, title, age)| NewnessCandidate {
            slug,
            title,
            version: None,
            age_days: age.map(|age| age as f32),
            day: age.map(|age| TODAY.later(-age)),
        })
        .collect();
    let new = Newness::new(&asked, TODAY, 90.0).order(&candidates, rules.tables());
    new.into_iter().map(|(at, share)| (pages[at].0, share)).collect()
}

fn slugs(query: &str, pages: &[Page]) -> Vec<&'static str> {
    order(query, pages).into_iter().map(|(slug, _)| slug).collect()
}

const DATED: [Page; 4] = [
    ("posts/winter", "Winter tides", Some(300)),
    ("posts/spring", "Spring tides", Some(3)),
    ("posts/summer", "Summer tides", Some(4_000)),
    ("posts/autumn", "Autumn tides", Some(4_001)),
];
const VERSIONS: [Page; 5] = [
    ("releases/v4.9.0", "Gull 4.9", None),
    ("releases/v4.10.0", "Gull 4.10", None),
    ("releases/v4.10.0-rc1", "Gull 4.10rc1", None),
    ("guides/tides", "Tides", None),
    ("changelog", "Changelog", None),
];

#[test]
fn s1_8_dates_decide_first_and_the_newest_date_comes_first() {
    let newest_first = ["posts/spring", "posts/winter", "posts/summer", "posts/autumn"];
    assert_eq!(slugs("what's new?", &DATED), newest_first);
    let mixed: Vec<Page> = VERSIONS.into_iter().chain(DATED).collect();
    let new = order("what's new?", &mixed);
    assert_eq!(new.iter().take(4).map(|new| new.0).collect::<Vec<_>>(), newest_first);
    assert!(new.iter().all(|(slug, _)| *slug != "guides/tides"));
}

#[test]
fn s1_8_without_dates_the_versions_of_release_notes_decide() {
    for query in ["what's new?", "latest version", "release notes"] {
        assert_eq!(
            slugs(query, &VERSIONS),
            [
                "releases/v4.10.0",
                "changelog",
                "releases/v4.10.0-rc1",
                "releases/v4.9.0"
            ],
            "{query}"
        );
    }
    assert!(order("what's new?", &VERSIONS)[0].1 > 0.9);
    let whats_new = [
        ("whatsnew/3.9", "What’s New In Kit 3.9", None),
        ("whatsnew/3.12", "What’s New In Kit 3.12", None),
    ];
    assert_eq!(slugs("what's new?", &whats_new), ["whatsnew/3.12", "whatsnew/3.9"]);
    assert_eq!(slugs("what's new?", &[("guides/tides", "Tides", None)]), [""; 0]);
}

#[test]
fn s2_22_release_notes_come_before_other_news_if_the_query_asks_for_them() {
    let pages = [
        ("blog/fast", "Twice as fast", Some(1)),
        ("releases/2.10", "Gull 2.10", Some(40)),
        ("releases/2.9.8", "Gull 2.9.8", Some(2)),
    ];
    assert_eq!(
        slugs("latest release", &pages),
        ["releases/2.10", "releases/2.9.8", "blog/fast"]
    );
    assert_eq!(
        slugs("what's new?", &pages),
        ["blog/fast", "releases/2.9.8", "releases/2.10"]
    );
    // Without release notes, dates decide.
    assert_eq!(slugs("latest release", &DATED)[0], "posts/spring");
}

#[test]
fn s1_36_pages_of_the_period_come_first() {
    // Today is 15 December 2025.
    let pages = [
        ("posts/today", "Today", Some(0)),
        ("posts/november", "November", Some(20)),
        ("posts/earlier", "Earlier in November", Some(40)),
        ("posts/summer", "Summer", Some(150)),
    ];
    assert_eq!(
        slugs("posts from last month", &pages),
        ["posts/november", "posts/earlier", "posts/today", "posts/summer"]
    );
    assert_eq!(slugs("what happened this week?", &pages)[0], "posts/today");
    assert_eq!(slugs("articles from last year", &pages)[0], "posts/today");
    assert_eq!(slugs("news in july", &pages)[0], "posts/summer");
}

/// Release notes that are not known to be of the query's period are no certain answer. Without the period the same
/// page is.
#[test]
fn s1_36_release_notes_outside_of_the_period_keep_less() {
    let best = |query: &str, pages: &[Page]| order(query, pages).first().map(|&(_, share)| share);
    let dated = VERSIONS.map(|(slug, title, _)| (slug, title, Some(4_000)));
    for (with, without) in [
        ("release notes from last month", "release notes"),
        ("what's new in March 2024?", "what's new?"),
        ("March 2024", "what's new?"),
    ] {
        for pages in [VERSIONS, dated] {
            let (with, without) = (
                best(with, &pages).expect("a page"),
                best(without, &pages).expect("a page"),
            );
            assert!(with <= NEWS_OUTSIDE_PERIOD.max(MIN_DATED + 0.01), "{with} {without}");
        }
        assert!(best(with, &VERSIONS) < best(without, &VERSIONS));
    }
    let inside = VERSIONS.map(|(slug, title, _)| (slug, title, Some(40)));
    assert!(best("release notes from last month", &inside) > Some(0.9));
}

fn pages() -> impl Strategy<Value = Vec<(u8, Option<i32>)>> {
    proptest::collection::vec((0u8..6, proptest::option::of(0i32..8_000)), 1..30)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn s1_8_what_has_a_date_comes_before_what_has_none_and_newer_dates_first(pages in pages()) {
        const NAMES: [(&str, &str); 6] = [
            ("guides/a", "A"), ("releases/1.2", "1.2"), ("releases/1.10", "1.10"), ("blog/x", "X"), ("changelog", "C"), ("b", "B"),
        ];
        let pages: Vec<Page> = pages.iter().map(|&(name, age)| (NAMES[usize::from(name)].0, NAMES[usize::from(name)].1, age)).collect();
        let rules = Rules::english();
        let asked = Understanding::read("what's new?", &rules, &KnownNames::default());
        let candidates: Vec<NewnessCandidate<'_>> = pages.iter().map(|&(slug, title, age)| NewnessCandidate {
            slug, title, version: None, age_days: age.map(|age| age as f32), day: age.map(|age| TODAY.later(-age)),
        }).collect();
        let new = Newness::new(&asked, TODAY, 90.0).order(&candidates, rules.tables());
        prop_assert!(new.iter().all(|(_, share)| (0.0..=1.0).contains(share)));
        let ages: Vec<Option<i32>> = new.iter().map(|&(at, _)| pages[at].2).collect();
        let dated = ages.iter().take_while(|age| age.is_some()).count();
        prop_assert!(ages[dated..].iter().all(Option::is_none), "{ages:?}");
        prop_assert!(ages[..dated].is_sorted(), "{ages:?}");
    }
}

//! Laws for any pages.

use std::collections::{BTreeSet, HashMap};

use docsearch_core::documents::markdown::{plain_text, sections};
use docsearch_core::documents::similar_texts::Shingles;
use docsearch_core::evaluation::derived::{
    Corpus, Derivation, DerivationLimits, DerivedKind, DerivedQuery, HiddenPage, SourcePage, derive, held_out,
};
use docsearch_core::index::question::Question;
use docsearch_core::text::identifier::split_identifier;
use docsearch_core::text::name::key;
use docsearch_core::text::title::symbol;
use docsearch_core::text::word::stem;
use proptest::prelude::*;
use strum::IntoEnumIterator;
use unicode_segmentation::UnicodeSegmentation;

use super::{derived, page};

const WORDS: [&str; 24] = [
    "kiln",
    "clay",
    "glaze",
    "pot",
    "fire",
    "cool",
    "wait",
    "slow",
    "open",
    "shelf",
    "cone",
    "quartz",
    "größe",
    "кувшин",
    "глина",
    "陶器",
    "窯",
    "ตัวอย่าง",
    "fire_all",
    "coolDown",
    "2",
    "the",
    "--all",
    "e.g.",
];

fn phrase(words: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&WORDS[..]), words).prop_map(|words| words.join(" "))
}

fn block() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => (1usize..5, phrase(1..5)).prop_map(|(level, text)| format!("{} {text}", "#".repeat(level))),
        1 => phrase(1..4).prop_map(|text| format!("{text}\n===")),
        1 => phrase(2..5).prop_map(|text| format!("## {text}? {{#own}}")),
        3 => (phrase(1..6), 0usize..6, phrase(1..5)).prop_map(|(before, slug, text)| format!("{before} [{text}](p{slug}#own) {before}")),
        1 => (0usize..6, phrase(2..5)).prop_map(|(slug, text)| format!("[{text}](../p{slug}.html)\n===")),
        3 => phrase(2..6).prop_map(|text| format!("{text}:\n\n```\ncode\n```")),
        2 => phrase(2..6).prop_map(|text| format!("- {text}:\n  `code`\n- {text}")),
        2 => phrase(3..12).prop_map(|text| format!("{text}. {text}:\n\n    code")),
        1 => phrase(1..5).prop_map(|text| format!("> # {text}\n> {text}:\n>\n> `code`")),
        1 => phrase(1..4).prop_map(|text| format!("| {text} | [{text}](p1) |\n|--|--|\n| a | b |")),
        1 => "[-#>|`*_:.!\\[\\]() a-c\n]{0,30}",
        1 => Just("```".to_owned()),
    ]
}

fn body() -> impl Strategy<Value = String> {
    prop::collection::vec((block(), prop::sample::select(&["\n\n", "\n"][..])), 0..9)
        .prop_map(|blocks| blocks.into_iter().map(|(block, gap)| block + gap).collect())
}

fn pages() -> impl Strategy<Value = Vec<SourcePage>> {
    let parts = (
        phrase(1..4),
        (
            body(),
            prop::sample::select(&["", "# %\n\n", "%\n", "# 1. %\n"][..]),
            prop::option::of(phrase(1..5)),
        ),
        prop::collection::vec(phrase(1..4), 0..4),
        prop::collection::vec(phrase(2..5), 0..2),
    );
    prop::collection::vec(parts, 0..6).prop_map(|pages| {
        let pages = pages.into_iter().enumerate();
        pages
            .map(
                |(number, (title, (body, repeated, summary), keywords, questions))| SourcePage {
                    keywords,
                    summary,
                    questions: questions
                        .into_iter()
                        .map(|question| Question {
                            anchor: "own".to_owned(),
                            question,
                        })
                        .collect(),
                    ..page(&format!("p{number}"), &title, &(repeated.replace('%', &title) + &body))
                },
            )
            .collect()
    })
}

fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.unicode_words().map(str::to_lowercase)
}

fn stems(text: &str) -> BTreeSet<String> {
    let split = split_identifier(text);
    words(text)
        .chain(words(&split))
        .map(|word| stem(&word).into_owned())
        .collect()
}

fn counts(text: &str) -> HashMap<String, i64> {
    let mut counts = HashMap::new();
    for word in words(text) {
        *counts.entry(word).or_default() += 1;
    }
    counts
}

/// The pages as they are searched.
fn searched(pages: &[SourcePage], derivation: &Derivation) -> Vec<SourcePage> {
    let pages = pages.iter().zip(&derivation.pages);
    pages
        .map(|(page, hidden)| SourcePage {
            slug: hidden.slug.clone(),
            title: hidden.title.clone(),
            summary: hidden.summary.clone(),
            body: hidden.body.clone(),
            keywords: hidden.keywords.clone(),
            questions: hidden.questions.clone(),
            ..page.clone()
        })
        .collect()
}

fn without_name(query: &DerivedQuery, title: &str) -> String {
    let name = symbol(title).unwrap_or(title.trim());
    match query.kind {
        DerivedKind::SymbolTask => query.text.strip_prefix(name).unwrap_or(&query.text).trim().to_owned(),
        _ => query.text.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn hidden_texts_are_gone_and_nothing_else_is(pages in pages()) {
        let found = derived(&pages);
        prop_assert_eq!(found.pages.len(), pages.len());
        let hidden = searched(&pages, &found);
        for (page, after) in pages.iter().zip(&hidden) {
            let (before, mut left) = (counts(&plain_text(&page.body)), counts(&plain_text(&after.body)));
            let queries: Vec<&DerivedQuery> = found.queries.iter().filter(|query| query.kind.is_hidden()).collect();
            for (word, times) in before {
                let left = left.remove(&word).unwrap_or_default();
                prop_assert!(left <= times);
                let in_queries = queries.iter().any(|query| {
                    let own = pages.iter().find(|page| page.slug == query.slug).unwrap();
                    let is_in_title = query.kind == DerivedKind::Title && counts(&own.title).contains_key(&word);
                    is_in_title || counts(&query.text).contains_key(&word)
                });
                // A number before a heading goes with it.
                prop_assert!(left == times || in_queries || word.parse::<f64>().is_ok(), "{} of {:?}", word, page);
            }
            prop_assert!(left.is_empty(), "{:?}", left);
            prop_assert!(page.keywords.is_empty() || !after.keywords.is_empty());
        }
        for query in found.queries.iter().filter(|query| query.kind.is_hidden()) {
            let own = pages.iter().position(|page| page.slug == query.slug).unwrap();
            if query.kind == DerivedKind::Keyword {
                prop_assert!(pages[own].keywords.contains(&query.text));
                prop_assert!(!hidden[own].keywords.contains(&query.text));
                continue;
            }
            let text = without_name(query, &pages[own].title);
            let occurrences = Corpus::of(&hidden).occurrences(&[&text]).remove(0);
            prop_assert!(occurrences.keys().all(|page| *page == own), "{:?} {:?}", query, hidden);
        }
    }

    /// Where a title is a query, nothing that names the page has its words, and no query expects it to be found by its name.
    #[test]
    fn a_hidden_title_is_nowhere(pages in pages()) {
        let found = derived(&pages);
        for (own, page) in pages.iter().enumerate() {
            let hidden = &found.pages[own];
            let of_page = || found.queries.iter().filter(|query| query.slug == page.slug);
            let title = of_page().find(|query| query.kind == DerivedKind::Title);
            prop_assert_eq!(title.is_some(), hidden.is_renamed);
            let Some(query) = title else {
                prop_assert_eq!((&hidden.slug, &hidden.title), (&page.slug, &page.title));
                continue;
            };
            prop_assert_eq!(&query.hidden_slug, &hidden.slug);
            prop_assert!(!hidden.slug.contains(char::is_alphabetic) && !pages.iter().any(|page| page.slug == hidden.slug));
            prop_assert!(!hidden.title.trim().is_empty() && words(&hidden.title).next().is_none());
            prop_assert!(hidden.anchors.is_empty() && hidden.source_urls.is_empty());
            let named = [DerivedKind::Name, DerivedKind::SymbolTask, DerivedKind::Summary];
            prop_assert!(of_page().all(|query| !named.contains(&query.kind)), "{:?}", page);
            let normalized = |text: &str| words(text).collect::<Vec<String>>().join(" ");
            let is_title = |text: &str| normalized(text) == normalized(&page.title);
            let questions = hidden.questions.iter().map(|question| question.question.as_str());
            let mut texts = hidden.keywords.iter().map(String::as_str).chain(questions).chain(hidden.summary.as_deref());
            prop_assert!(!texts.any(is_title));
            let headings = sections(&hidden.body);
            prop_assert!(!headings.iter().filter_map(|section| section.heading_path.last()).any(|heading| is_title(heading)));
        }
    }

    /// A page without a summary has its title and says something else.
    #[test]
    fn a_page_without_its_summary_says_something(pages in pages()) {
        let corpus = Corpus::of(&pages);
        let found = derived(&pages);
        for query in found.queries.iter().filter(|query| query.kind == DerivedKind::Summary) {
            let own = pages.iter().position(|page| page.slug == query.slug).unwrap();
            let hidden = &found.pages[own];
            prop_assert!(!hidden.is_renamed && hidden.summary.is_none());
            prop_assert!(!corpus.content_words(&plain_text(&hidden.body)).is_empty(), "{:?}", query);
        }
    }

    #[test]
    fn sections_keep_their_place(pages in pages()) {
        let found = derived(&pages);
        for query in found.queries.iter().filter(|query| !query.anchor.is_empty()) {
            let own = pages.iter().position(|page| page.slug == query.slug).unwrap();
            let place = |body: &str, anchor: &str| {
                let mut headed = sections(body);
                headed.retain(|section| section.level > 0);
                headed.iter().position(|section| section.anchor == anchor)
            };
            let before = place(&pages[own].body, &query.anchor);
            prop_assert!(before.is_some());
            prop_assert_eq!(before, place(&found.pages[own].body, &query.hidden_anchor));
        }
    }

    #[test]
    fn no_query_is_trivial(pages in pages()) {
        let corpus = Corpus::of(&pages);
        let found = derived(&pages);
        let mut texts = BTreeSet::new();
        for query in &found.queries {
            let own = pages.iter().find(|page| page.slug == query.slug).unwrap();
            prop_assert!(texts.insert((query.kind, query.text.to_lowercase())), "{:?}", query);
            if query.kind == DerivedKind::Name {
                prop_assert_eq!(pages.iter().filter(|page| key(&page.title) == key(&query.text)).count() <= 1, true);
                continue;
            }
            let content = corpus.content_words(&query.text);
            let mut known = stems(&own.title);
            known.extend(stems(&own.slug));
            prop_assert!(content.len() >= 2, "{:?}", query);
            let is_new = content.iter().any(|word| !stems(word).is_subset(&known));
            prop_assert!(is_new || query.kind == DerivedKind::Title, "{:?}", query);
        }
    }

    #[test]
    fn a_page_is_on_one_side_with_those_that_say_the_same(pages in pages(), copy in any::<prop::sample::Index>()) {
        let mut pages = pages;
        if !pages.is_empty() {
            let copied = pages[copy.index(pages.len())].clone();
            pages.push(SourcePage { slug: "copy".to_owned(), ..copied });
        }
        let sides = held_out(&pages);
        let shingles: Vec<Shingles> = pages.iter().map(|page| Shingles::of(&plain_text(&page.body))).collect();
        for (second, first) in (0..pages.len()).flat_map(|second| (0..second).map(move |first| (second, first))) {
            if shingles[first].similarity(&shingles[second]) >= 0.8 {
                prop_assert_eq!(sides[first], sides[second]);
            }
        }
        for query in derived(&pages).queries {
            let own = pages.iter().position(|page| page.slug == query.slug).unwrap();
            prop_assert_eq!(query.held_out, sides[own]);
        }
    }

    #[test]
    fn the_order_of_pages_does_not_matter(pages in pages(), by in any::<prop::sample::Index>()) {
        let mut turned = pages.clone();
        if !pages.is_empty() {
            turned.rotate_left(by.index(pages.len()));
        }
        turned.reverse();
        let (mut first, mut second) = (derived(&pages), derived(&turned));
        prop_assert_eq!(first.queries, second.queries);
        first.pages.sort_by(|a, b| a.body.cmp(&b.body));
        second.pages.sort_by(|a, b| a.body.cmp(&b.body));
        let bodies = |pages: &[HiddenPage]| pages.iter().map(|page| page.body.clone()).collect::<Vec<String>>();
        prop_assert_eq!(bodies(&first.pages), bodies(&second.pages));
    }

    /// Queries are lost only where they are about the new page as well.
    #[test]
    fn another_page_changes_only_what_it_says_too(pages in pages(), title in phrase(1..3), text in phrase(1..9)) {
        let many = DerivationLimits { of_kind: 1_000, of_page: 1_000, of_kind_and_page: 1_000 };
        let before = derive(&pages, None, &many);
        let mut more = pages.clone();
        more.push(page("new", &title, &text));
        let after = derive(&more, None, &many);
        let corpus = Corpus::of(&more);
        for query in &before.queries {
            let own = pages.iter().find(|page| page.slug == query.slug).unwrap();
            let text = without_name(query, &own.title);
            let is_shared = corpus.occurrences(&[&text]).remove(0).contains_key(&pages.len());
            let same = |after: &&DerivedQuery| (after.kind, &after.text, &after.slug) == (query.kind, &query.text, &query.slug);
            let stays = after.queries.iter().any(|after| same(&after));
            prop_assert!(stays || is_shared || key(&title) == key(&query.text), "{:?}", query);
        }
    }

    #[test]
    fn limits_hold(pages in pages(), of_kind in 0usize..4, of_page in 0usize..3, of_kind_and_page in 0usize..3) {
        let limits = DerivationLimits { of_kind, of_page, of_kind_and_page };
        let found = derive(&pages, None, &limits);
        for kind in DerivedKind::iter() {
            for side in [true, false] {
                let count = found.queries.iter().filter(|query| (query.kind, query.held_out) == (kind, side)).count();
                prop_assert!(count <= of_kind / 2);
            }
            for page in &pages {
                let own = |query: &&DerivedQuery| query.slug == page.slug;
                let of_both = found.queries.iter().filter(own).filter(|query| query.kind == kind).count();
                prop_assert!(kind == DerivedKind::Name || of_both <= of_kind_and_page);
                let hidden = found.queries.iter().filter(own).filter(|query| query.kind.is_hidden());
                prop_assert!(hidden.count() <= of_page);
            }
        }
    }

    #[test]
    fn any_text_can_be_read(bodies in prop::collection::vec("(\\PC|[\n#>`|:*\\[\\]()-]){0,200}", 0..4)) {
        let pages: Vec<SourcePage> = bodies.iter().zip(0..).map(|(body, number): (_, usize)| page(&number.to_string(), body, body)).collect();
        let found = derived(&pages);
        prop_assert_eq!(found.pages.len(), pages.len());
    }
}

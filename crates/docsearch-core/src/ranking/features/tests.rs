use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::documents::page_keys::{MAX_STORED_BYTES, PageKeys};
use crate::query::container::KnownNames;

static RULES: LazyLock<Rules> = LazyLock::new(Rules::english);
static WEIGHTS: LazyLock<Weights> = LazyLock::new(Weights::default);

fn understood(query: &str) -> Understanding {
    let known: KnownNames = ["SwiftUI", "UIKit"].into_iter().collect();
    Understanding::read(query, &RULES, &known)
}

fn asked<T>(query: &str, weights: &Weights, call: impl FnOnce(&QueryFeatures<'_>) -> T) -> T {
    call(&QueryFeatures::new(&understood(query), &RULES, weights))
}

fn find(query: &str, page: &Page) -> PageFeatures {
    asked(query, &WEIGHTS, |asked| asked.find(page))
}

fn page(title: &str, slug: &str) -> Page {
    Page {
        title: title.to_owned(),
        slug: slug.to_owned(),
        ..Page::default()
    }
}

fn found(raw: f32, weight: f32) -> TermMatch {
    TermMatch {
        term: 0,
        rule: "",
        raw,
        weight,
    }
}

fn products(matches: impl Iterator<Item = TermMatch>) -> Vec<f32> {
    matches.map(|found| found.raw * found.weight).collect()
}

fn near(a: f32, b: f32) -> bool {
    (a - b).abs() < 1e-5
}

proptest! {
    #[test]
    fn the_three_strongest_matches_count_and_a_further_one_takes_nothing_away(
        given in proptest::collection::vec((0.0f32..2.0, 0.0f32..1.0), 0..8), factor in 0.1f32..1.0,
    ) {
        let mut matches = Matches::default();
        for &(raw, weight) in &given {
            matches.add(found(raw, weight));
        }
        let mut strongest: Vec<f32> = given.iter().map(|(raw, weight)| raw * weight).collect();
        strongest.sort_by(|a, b| b.total_cmp(a));
        strongest.truncate(3);
        prop_assert_eq!(products(matches.0.iter().flatten().copied()), strongest.clone());
        let together = |count: usize| strongest[..count].iter().sum::<f32>() * factor.powi(count as i32 - 1);
        let most = (1..=strongest.len()).map(together).fold(0.0, f32::max);
        prop_assert!(near(products(matches.counted(factor)).iter().sum(), most));
    }

    #[test]
    fn a_term_counts_by_itself_or_by_its_expansion_whichever_is_more(
        itself in 0.0f32..=1.0, other in 0.0f32..=1.0, action in 0.01f32..1.0, object in 0.01f32..1.0, synonym_factor in 0.1f32..3.0,
    ) {
        let weights = Weights { synonym_factor, ..*WEIGHTS };
        asked("save documents", &weights, |asked| {
            for (at, weight, rules) in [
                (0, action, ("intent_action", "intent_synonym")),
                (1, object, ("intent_object", "object_synonym")),
            ] {
                let mut closeness = [[0.0f32; 2]; MAX_TERMS];
                closeness[at] = [itself, other];
                let mut matches = Matches::default();
                asked.matches(&closeness, action, object, &mut matches);
                let best = matches.0[0].expect("a match");
                let is_expansion = weight * other * if at == 0 { synonym_factor } else { 1.0 };
                prop_assert!(near(best.raw * best.weight, is_expansion.max(weight * itself)));
                prop_assert_eq!(best.rule, if weight * itself >= is_expansion { rules.0 } else { rules.1 });
            }
            Ok(())
        })?;
    }
}

#[test]
fn a_further_match_that_adds_nothing_is_not_shown() {
    let mut matches = Matches::default();
    matches.add(found(1.0, 1.0));
    matches.add(found(1.0, 1.0));
    assert_eq!(products(matches.counted(0.5)), [1.0]);
    assert_eq!(products(matches.counted(0.75)), [0.75, 0.75]);
}

#[test]
fn only_what_a_rule_looks_at_is_read() {
    let needs = |query: &str, off: fn(&mut Weights)| {
        let mut weights = *WEIGHTS;
        off(&mut weights);
        let needs = asked(query, &weights, |asked| asked.needs());
        (needs.description, needs.metadata, needs.age)
    };
    let nothing: fn(&mut Weights) = |_| {};
    assert_eq!(needs("save documents", nothing), (true, false, false));
    assert!(needs("save documents", |w| w.boost_action_description = 0.0).0);
    assert!(needs("save documents", |w| w.boost_object_description = 0.0).0);
    let undescribed: fn(&mut Weights) = |w| {
        (w.boost_action_description, w.boost_object_description) = (0.0, 0.0);
        w.penalty_other_word = 0.0;
    };
    assert!(!needs("save documents", undescribed).0);
    assert_eq!(needs("text documents", nothing), (true, false, false));
    assert!(!needs("text documents", |w| w.penalty_other_word = 0.0).0);
    assert_eq!(needs("text documents window margins", nothing), (false, false, false));
    assert!(needs("text \"row level\" documents", undescribed).0);
    assert!(
        !needs("text \"row level\" documents", |w| (
            w.boost_phrase,
            w.penalty_other_word
        ) = (0.0, 0.0))
        .0
    );
    assert_eq!(needs("Button in SwiftUI", nothing), (true, true, false));
    assert!(needs("button in SomeModule", nothing).1);
    assert_eq!(needs("alert window iphone", nothing), (true, true, false));
    assert_eq!(needs("latest documents", nothing), (true, false, true));
    assert!(!needs("latest documents", |w| w.boost_recency = 0.0).2);
}

#[test]
fn matches_are_shown_in_the_words_of_the_query() {
    asked("save documents in SwiftUI", &WEIGHTS, |asked| {
        assert_eq!(asked.container(), "SwiftUI");
        assert_eq!((asked.term(0), asked.term(1), asked.term(9)), ("save", "documents", ""));
        assert!(!asked.recent());
    });
    asked("latest documents", &WEIGHTS, |asked| {
        assert_eq!(asked.container(), "");
        assert!(asked.recent());
    });
}

#[test]
fn a_title_has_a_verb_in_any_position() {
    for (title, expected) in [("write_file", true), ("file_write", true), ("documents", false)] {
        assert_eq!(find("something", &page(title, "x")).names_action, expected, "{title}");
    }
}

#[test]
fn the_words_of_a_name_count_by_the_square_of_their_share() {
    let words = |query: &str, title: &str| find(query, &page(title, "x")).name_words;
    let query = "list session hosts of a pool";
    assert!(near(words(query, "session_host_user_list"), (3.0f32 / 4.0).powi(2)));
    assert!(near(words(query, "session_host_list"), 1.0));
    assert_eq!(
        words(query, "hosts"),
        0.0,
        "one word is what every page of its kind is about"
    );
    assert_eq!(words(query, "unrelated thing"), 0.0);
    // An expansion counts by its closeness: .8 for "button".
    assert!(near(
        words("btn style sheet", "Button style page"),
        ((0.8f32 + 1.0) / 3.0).powi(2)
    ));
    assert_eq!(
        words("table view", "Table view cell"),
        0.0,
        "all words are a boost of their own"
    );
}

#[test]
fn a_page_has_all_words_by_its_title_and_its_slug_together() {
    let has = |query: &str, title: &str, slug: &str| {
        let found = find(query, &page(title, slug));
        (found.all_words, found.filename_exact)
    };
    assert_eq!(has("table view", "Cells", "guides/table-view-cell"), (true, false));
    assert_eq!(has("table view", "Table cells", "guides/view-of-it"), (true, false));
    assert_eq!(has("table view", "Table cells", "guides/cells"), (false, false));
    assert_eq!(
        has("table view", "Table view cells", "guides/table-view"),
        (false, true)
    );
    assert_eq!(
        has("banana", "Banana bread", "x"),
        (false, false),
        "one word is no more than a word"
    );
    let words: Vec<String> = (0..=MAX_TERMS).map(|at| format!("word{}x", "q".repeat(at))).collect();
    let (all, most) = (words.join(" "), words[..MAX_TERMS].join(" "));
    assert_eq!(has(&most, &most, "x"), (true, false));
    assert_eq!(has(&all, &all, "x"), (false, false), "the last word was not looked at");
}

#[test]
fn s2_9_only_verbs_of_a_longer_title_conflict() {
    let conflict = |query: &str, title: &str| find(query, &page(title, "x")).conflict;
    assert_eq!(conflict("save a text file", "read_text_file"), 0.3);
    assert_eq!(conflict("save a text file", "Read"), 0.0, "this may be anything");
    assert_eq!(conflict("text file", "read_text_file"), 0.0);
}

#[test]
fn s0_5_x_in_y_holds_by_title_by_path_or_by_words() {
    let inside = |title: &str, slug: &str| Page {
        project: "SwiftUI".to_owned(),
        ..page(title, slug)
    };
    let holds = |query: &str, page: &Page| find(query, page).in_pattern.map(|(how, _)| how);
    for (title, slug) in [
        ("Button", "a/x"),
        ("A thing to press", "a/button"),
        ("button(label:)", "a/button-label"),
    ] {
        assert_eq!(
            holds("button in SwiftUI", &inside(title, slug)),
            Some("title"),
            "{title} {slug}"
        );
        assert_eq!(
            holds("button in SwiftUI", &page(title, slug)),
            None,
            "{title} elsewhere"
        );
    }
    for (title, slug, expected) in [
        ("failure", "asyncimagephase/failure", Some("path")),
        ("When it goes wrong", "asyncimagephase/failure", Some("path")),
        ("failure(error:)", "asyncimagephase/failure-error", Some("path")),
        ("failure", "other/failure", None),
        ("success", "asyncimagephase/success", None),
    ] {
        let query = "AsyncImagePhase.failure";
        assert_eq!(holds(query, &page(title, slug)), expected, "{title} {slug}");
        let placed = format!("{query} in SwiftUI");
        assert_eq!(holds(&placed, &inside(title, slug)), expected, "{title} {slug} inside");
        assert_eq!(holds(&placed, &page(title, slug)), None, "{title} {slug} elsewhere");
    }
    assert_eq!(
        holds("banana in SwiftUI", &inside("Banana bread", "x")),
        Some("container")
    );
    assert_eq!(holds("banana in SwiftUI", &inside("Bread", "x")), None);
    assert_eq!(holds("banana in SwiftUI", &page("Banana bread", "x")), None);
    assert_eq!(
        holds("the in SwiftUI", &inside("Bread", "x")),
        None,
        "there is no word to be held"
    );
    assert_eq!(holds("banana", &inside("Banana bread", "x")), None);
}

#[test]
fn a_page_is_elsewhere_if_it_says_so_and_the_container_is_known() {
    let of = |framework: &str| Page {
        metadata: Some(json!({ "framework": framework })),
        ..page("Button", "button")
    };
    let elsewhere = |query: &str, page: &Page| find(query, page).elsewhere;
    assert!(elsewhere("Button in SwiftUI", &of("UIKit")));
    assert!(!elsewhere("Button in SwiftUI", &of("SwiftUI")));
    assert!(
        !elsewhere("Button in SwiftUI", &page("Button", "button")),
        "it says nothing"
    );
    assert!(
        !elsewhere("Button in SomeModule", &of("UIKit")),
        "the container is not known"
    );
    assert!(!elsewhere("Button", &of("UIKit")));
    // A page with the name elsewhere does not match.
    let other = find("Button in SwiftUI", &of("UIKit"));
    assert_eq!((other.filename_exact, other.api_name), (false, 0.0));
}

#[test]
fn a_name_matches_exactly_or_but_for_its_spelling() {
    let api = |query: &str, title: &str, slug: &str| find(query, &page(title, slug)).api_name;
    assert_eq!(api("Button", "Button", "x"), 1.0);
    assert_eq!(api("button", "Button", "x"), 0.75);
    assert_eq!(api("makeBody", "makeBody(configuration:)", "x"), 1.0);
    assert_eq!(api("makebody", "makeBody(configuration:)", "x"), 0.75);
    let mention = "how does map_batches treat errors?";
    assert_eq!(api(mention, "map_batches(fn)", "x"), 0.75);
    assert_eq!(api(mention, "Mapping rows", "data/map_batches"), 0.75);
    assert_eq!(api(mention, "Mapping rows", "data/mapping"), 0.0);
    assert_eq!(api("Button", "ButtonStyle", "x"), 0.0);
    assert_eq!(find("", &page("Button", "x")).api_name, 0.0);
}

#[test]
fn a_generic_term_counts_in_a_title_and_the_strongest_does() {
    let generic = |title: &str| find("frame size", &page(title, "x")).generic;
    let boosts = &RULES.tables().generic_terms;
    assert!(boosts["frame"] > boosts["size"]);
    assert_eq!(generic("frame(width:height:)"), boosts["frame"]);
    assert_eq!(generic("size of it"), boosts["size"]);
    assert_eq!(generic("size and frame"), boosts["frame"]);
    assert_eq!(generic("Button"), 0.0);
}

#[test]
fn s2_16_a_platform_counts_if_query_and_page_name_it() {
    let is_for = |query: &str, metadata: serde_json::Value| {
        let page = Page {
            metadata: Some(metadata),
            ..page("Alert", "x")
        };
        find(query, &page).platform
    };
    for metadata in [
        json!({"platform": "iOS"}),
        json!({"platforms": ["macOS", "ios"]}),
        json!({"platform": "macOS", "platforms": "iOS"}),
    ] {
        assert!(is_for("alert iphone", metadata.clone()), "{metadata}");
        assert!(!is_for("alert", metadata.clone()), "{metadata}");
        assert!(!is_for("alert windows", metadata.clone()), "{metadata}");
    }
    assert!(!is_for("alert iphone", json!({"platform": 7, "other": "iOS"})));
    assert!(!find("alert iphone", &page("Alert", "x")).platform);
}

#[test]
fn a_phrase_counts_in_the_title_or_in_the_description() {
    let has = |query: &str, title: &str, description: &str| {
        let page = Page {
            description: description.to_owned(),
            ..page(title, "x")
        };
        find(query, &page).phrase
    };
    let query = "\"Row Level\" security";
    assert!(has(query, "About row level security", ""));
    assert!(has(query, "Policies", "Each ROW LEVEL policy"));
    assert!(!has(query, "Rows on a level", "A level of rows"));
    assert!(!has("row level security", "Row level security", "row level"));
}

#[test]
fn words_of_a_description_are_read_in_any_spelling() {
    let described = |query: &str, description: &str| {
        let page = Page {
            description: description.to_owned(),
            ..page("x", "x")
        };
        let found = find(query, &page);
        let mut terms: Vec<usize> = found.in_description.counted(1.0).map(|found| found.term).collect();
        terms.sort();
        terms
    };
    assert_eq!(described("save documents", "Stores a DOCUMENT, saved forever"), [0, 1]);
    assert_eq!(described("save ärger", "Ärger"), [1]);
    // The sign of the unit is a capital, whose small letter is the plain k.
    assert_eq!(described("save kelvin", "\u{212a}elvin"), [1]);
    assert_eq!(described("save documents", "nothing of this"), [0usize; 0]);
}

#[test]
fn plural_queries_match_list_tools() {
    let lists = |query: &str| find(query, &page("vault_keys_list", "x")).scope;
    for query in [
        "show me the keys",
        "what keys are in the vault?",
        "get all keys of a vault",
    ] {
        assert!(lists(query), "{query}");
    }
    for query in ["show me the key", "delete the keys", "status of a vault"] {
        assert!(!lists(query), "{query}");
    }
    assert!(!find("show me the keys", &page("vault_key_get", "x")).scope);
    assert!(find("delete all keys", &page("delete_all_keys", "x")).scope);
}

proptest! {
    #[test]
    fn words_of_pages_are_looked_up_as_they_match(
        query in "(save|delete|create|list|get|btn|dying|skies) (all )?(files|styles|tables|libraries|ΣΑΣ|Ünïcode)( [a-z]{1,6}){0,3}",
        is_long in any::<bool>(), title in "([A-Z]?(saving|stor|creat|fil|librar|dy|sk|button|table|σας|ünïcode)(e|s|es|ies|ing|y)? ?){1,4}|\\PC{0,12}",
    ) {
        asked(&query, &WEIGHTS, |asked| {
            let known = |forms: &mut dyn Iterator<Item = &TermWord>| {
                let mut known: Vec<*const TermWord> = forms.map(std::ptr::from_ref).collect();
                known.sort();
                known
            };
            let long = title.clone() + &" ".repeat(MAX_STORED_BYTES);
            let keys = PageKeys::of(if is_long { &long } else { &title }, "", None);
            let mut buffer = Vec::new();
            for key in keys.parts().title.words() {
                let word = std::str::from_utf8(key.text).expect("UTF-8");
                let matching = known(&mut asked.term_words.all().filter(|term_word| term_word.word.matches(word)));
                prop_assert_eq!(&known(&mut asked.term_words.matching(word)), &matching, "{}", word);
                prop_assert_eq!(&known(&mut asked.term_words.matching_key(&key, &mut buffer)), &matching, "{}", word);
                let vocabulary = RULES.vocabulary();
                prop_assert_eq!(vocabulary.is_verb(&key, &mut buffer), RULES.verb(word).is_some(), "{}", word);
                prop_assert_eq!(vocabulary.intent(key.text), RULES.intent(word), "{}", word);
            }
            Ok(())
        })?;
    }
}

#[test]
fn the_word_itself_comes_before_others_with_its_stem() {
    let others = |query: &str, title: &str, description: &str| {
        let mut page = page(title, "x");
        page.description = description.to_owned();
        asked(query, &WEIGHTS, |asked| asked.find(&page).other_words)
    };
    assert_eq!(others("integrity", "System integration", ""), 1.0);
    assert_eq!(
        others("integrity", "System integration", "Keeps the integrity of both."),
        0.0
    );
    assert_eq!(others("integrity", "System", "Integration of two systems."), 1.0);
    assert_eq!(others("system integrity", "System integration", ""), 0.5);
    // Forms of the word, other stems, and pages without the word.
    for title in ["Files", "Filed", "Folders"] {
        assert_eq!(others("file", title, ""), 0.0, "{title}");
    }
    // A verb may have any form, and the words of a sentence have that of its grammar.
    assert_eq!(others("create keys", "Creation of keys", ""), 0.0);
    assert_eq!(
        others("integrity before tables change hands", "System integration", ""),
        0.0
    );
}

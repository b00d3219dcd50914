use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;
use crate::query::container::KnownNames;
use crate::query::understanding::NameRole;
use crate::ranking::rank::name_strength;
use crate::text::name::NameKind;
use crate::text::similarity;

mod steps;

static RULES: LazyLock<Rules> = LazyLock::new(Rules::english);

fn understood(query: &str) -> (Understanding, &'static Rules) {
    let known: KnownNames = ["SwiftUI", "UIKit"].into_iter().collect();
    (Understanding::read(query, &RULES, &known), &RULES)
}

/// Scores of words and vectors in tests that are about something else.
const BASE: BaseScores = BaseScores {
    dense: 0.4,
    lexical: 0.4,
};

fn steps_from(base: BaseScores, query: &str, page: &Page) -> Vec<Step> {
    let (understanding, rules) = understood(query);
    let weights = Weights::default();
    Scorer::new(&understanding, rules, &weights).explain(page, base)
}

fn steps(query: &str, page: &Page) -> Vec<Step> {
    steps_from(BASE, query, page)
}

fn score_from(base: f32, query: &str, page: &Page) -> f32 {
    let base = BaseScores {
        dense: base,
        lexical: base,
    };
    steps_from(base, query, page).last().map_or(0.0, |step| step.after)
}

fn score(query: &str, page: &Page) -> f32 {
    score_from(BASE.dense, query, page)
}

fn boost(query: &str, page: &Page, rule: &str) -> Option<f32> {
    let step = steps(query, page).into_iter().find(|step| step.rule == rule)?;
    Some(step.raw * step.weight)
}

fn page(title: &str, slug: &str) -> Page {
    Page {
        title: title.to_owned(),
        slug: slug.to_owned(),
        project: "swiftui".to_owned(),
        ..Page::default()
    }
}

#[test]
fn s2_7_saving_a_text_file_writes_it() {
    let tool = |title: &str, base, description: &str| {
        let tool = Page {
            title: title.to_owned(),
            slug: title.to_owned(),
            description: description.to_owned(),
            ..Page::default()
        };
        score_from(base, "save a text file", &tool)
    };
    let write = tool("write_file", 0.45, "Create or overwrite a file with new content");
    let edit = tool("edit_file", 0.45, "Make line-based edits to a text file");
    let read = tool("read_text_file", 0.53, "Read the contents of a file as text");
    let list = tool("list_directory", 0.3, "List files and directories in a path");
    assert!(
        write > edit && edit > read && read > list,
        "{write} {edit} {read} {list}"
    );
}

#[test]
fn s2_7_an_object_does_not_outweigh_the_opposite_verb() {
    for (query, opposite, least) in [
        ("save a text file", "read_text_file", 0.3),
        ("read a text file", "write_text_file", 0.2),
        ("create a note", "delete_note", 0.3),
        ("remove the note", "create_note", 0.3),
        ("fetch parcels", "delete_parcels", 0.3),
    ] {
        for base in [0.1, 0.3, 0.5, 0.7, 0.9] {
            let described = Page {
                description: format!("{query}, and all that is in the file, note or parcels"),
                ..page(opposite, opposite)
            };
            let score = score_from(base, query, &described);
            // The verb in the description counts, its object does not.
            let verb = 1.0 - (1.0 - base).powf(1.0 + 0.2 * 1.2);
            assert!(
                score <= verb * (1.0 - least) + 1e-6,
                "{query} {opposite} {base} {score}"
            );
        }
    }
}

#[test]
fn s2_7_a_name_that_says_what_is_asked_for_counts_by_its_verb() {
    let task = |query: &str, title: &str| {
        let steps = steps(query, &page(title, "x"));
        steps.into_iter().find(|step| step.rule == "task").map(|step| step.raw)
    };
    for (query, title, closeness) in [
        ("save a text file", "write_file", 0.8),
        ("save a text file", "edit_file", 0.6),
        ("how do I save a text file?", "save_file", 1.0),
        ("get rid of a note", "delete note", 0.85),
        ("lock an account", "lock_account", 1.0),
        ("lock an account", "Lock the account", 1.0),
        ("list all accounts in my subscription", "account_list", 1.0),
    ] {
        assert_eq!(task(query, title), Some(closeness), "{query} {title}");
    }
    for (query, title) in [
        ("save a text file", "read_text_file"),
        ("save a text file", "write_text"),
        ("save a text file", "save_file_list"),
        ("lock an account", "Accounts and locks"),
        ("list all accounts in my subscription", "subscription_list"),
        ("lock an account", "account"),
        ("text file", "write_file"),
        ("save a text file with the names of all users in it", "write_file"),
    ] {
        assert_eq!(task(query, title), None, "{query} {title}");
    }
}

#[test]
fn s0_5_the_pattern_matches_title_or_path() {
    let failure = page("failure", "documentation/swiftui/asyncimagephase/failure");
    let matched = |query| {
        let step = steps(query, &failure)
            .into_iter()
            .find(|step| step.rule == "in_pattern")?;
        Some((step.matched, step.raw * step.weight))
    };
    assert_eq!(matched("failure in SwiftUI"), Some(("title".into(), 0.8)));
    let (path, boost) = matched("asyncimagephase failure in swiftui").expect("a boost");
    assert_eq!(path, "path");
    assert!((0.4..=0.8).contains(&boost));
    assert_eq!(matched("failure in UIKit"), None);
    assert_eq!(matched("failure"), None);
}

#[test]
fn s0_7_to_s0_10_names_earn_boosts_by_how_much_they_say() {
    let button = page("Button", "swiftui/button.md");
    assert_eq!(boost("button", &button, "filename_exact"), Some(0.5));
    assert_eq!(boost("Button", &button, "api_name"), Some(0.4));
    let lower = boost("button", &button, "api_name").expect("a boost");
    assert!((0.3..=0.4).contains(&lower));
    let cell = page("A cell of a table", "guides/table-view-cell.md");
    assert_eq!(boost("table view", &cell, "filename_all_words"), Some(0.4));
    assert_eq!(boost("table view", &cell, "filename_exact"), None);
    let init = page("init(action:label:)", "swiftui/button/init");
    let generic = boost("init", &init, "generic_term").expect("a boost");
    assert!((0.05..=0.10).contains(&generic));
    assert_eq!(boost("init", &init, "api_name"), None);
}

#[test]
fn a_name_that_the_query_covers_earns_more_than_one_with_further_words() {
    let query = "List all session hosts in host pool <hostpool_name>";
    let earned = |slug| boost(query, &page(slug, slug), "name_words");
    let (all, more) = (earned("session_host_list"), earned("session_host_user_list"));
    assert!(all.is_some() && all > more, "{all:?} {more:?}");
    assert_eq!(earned("hosts"), None);
}

#[test]
fn s2_4_an_expansion_of_a_verb_earns_its_factor() {
    let write = page("write_file", "write_file");
    let found = steps("save a text file", &write);
    let synonym = found.iter().find(|step| step.rule == "intent_synonym").expect("a step");
    assert!((synonym.raw - 0.4 * 1.2).abs() < 1e-6);
    // An expansion of the verb never beats the verb itself.
    assert!(score("write a file", &write) > score("write a file", &page("save_file", "save_file")));
}

#[test]
fn s2_10_short_words_and_s2_8_many_matches_earn_little() {
    assert_eq!(boost("save a to of", &page("a to of", "x"), "intent_object"), None);
    let sum = |title| {
        let steps = steps(
            "find apple banana cherry grape lemon mango orange peach plum",
            &page(title, "x"),
        );
        let matched = steps.iter().filter(|step| step.rule == "intent_object");
        matched.map(|step| step.raw * step.weight).sum::<f32>()
    };
    let (one, ten) = (
        sum("apple"),
        sum("apple banana cherry grape lemon mango orange peach plum"),
    );
    assert!(one > 0.0 && ten > one && ten < 2.0 * one);
}

#[test]
fn s2_9_a_page_that_does_the_opposite_loses() {
    let penalised = |query, title| {
        steps(query, &page(title, "x"))
            .iter()
            .any(|step| step.step == "penalty")
    };
    assert!(penalised("save a text file", "read_text_file"));
    assert!(penalised("create a branch", "delete_branch"));
    assert!(!penalised("save a text file", "read_or_write_file"));
    assert!(
        !penalised("create a view", "Materialized View"),
        "here a view is a thing"
    );
    assert!(!penalised("text file", "read_text_file"));
}

#[test]
fn s2_16_recency_platform_and_category_count_when_asked_for() {
    let metadata = serde_json::json!({"platforms": ["iOS"]});
    let alert = Page {
        metadata: Some(metadata),
        age_days: Some(0.0),
        category: Some("Alerts".to_owned()),
        ..page("NSAlert", "appkit/nsalert")
    };
    assert_eq!(boost("latest alert on iphone", &alert, "platform"), Some(0.1));
    assert_eq!(boost("latest alert on iphone", &alert, "recency"), Some(0.3));
    assert_eq!(boost("show an alert", &alert, "category_context"), Some(0.1));
    assert_eq!(boost("alert window", &alert, "recency"), None);
}

#[test]
fn s2_19_boosts_never_override_the_evidence() {
    let everything = score_from(0.1, "Button in SwiftUI", &page("Button", "swiftui/button"));
    let nothing = score_from(0.8, "Button in SwiftUI", &page("Other", "other"));
    assert!(everything < nothing);
}

#[test]
fn s0_11_decay_has_a_slope_and_a_floor() {
    for (distance, factor) in [(0.0, 1.0), (0.25, 0.5), (0.45, 0.1), (0.9, 0.1)] {
        assert!((decay(distance, 2.0, 0.1) - factor).abs() < 1e-6);
    }
}

const QUERIES: [&str; 8] = [
    "Button in SwiftUI",
    "save a text file",
    "delete latest button -legacy",
    "init",
    "AsyncImagePhase.failure in SwiftUI",
    "how do I show \"an alert\" on iOS?",
    "UITableView",
    "",
];

prop_compose! {
    fn evidence()(
        query in 0..QUERIES.len(),
        title in prop::sample::select(vec!["Button", "write_file", "read_text_file", "failure", "init", "UITableView", "ButtonStyle", "delete button"]),
        slug in prop::sample::select(vec!["swiftui/button", "write_file", "swiftui/asyncimagephase/failure", "x/init"]),
        description in "(save|text|file|an alert|button| ){0,8}",
        dense in 0.0f32..=1.0, lexical in 0.0f32..=1.0,
        near_name in prop_oneof![Just(0.0), 0.0f32..=similarity::MAX_STRENGTH],
        phrase in prop::sample::select(vec![0.0, phrase_strength(1), phrase_strength(3)]),
        definition in prop::sample::select(vec![0.0, 0.25, 0.5, 1.0]),
        name in prop_oneof![Just(0.0), 0.93f32..=0.999],
        age in proptest::option::of(0.0f32..4000.0),
    ) -> (&'static str, &'static str, &'static str, String, [f32; 6], Option<f32>) {
        (QUERIES[query], title, slug, description, [dense, lexical, near_name, definition, name, phrase], age)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn scores_are_bounded_explained_and_monotone(
        (query, title, slug, description, [dense, lexical, near_name, definition, name, phrase], age_days) in evidence(),
        more in 0.0f32..0.3, which in 0..6usize,
    ) {
        let (understanding, rules) = understood(query);
        let weights = Weights::default();
        let scorer = Scorer::new(&understanding, rules, &weights);
        let page = Page { name, near_name, definition, phrase, description, age_days, ..page(title, slug) };
        let base = BaseScores { dense, lexical };
        let score = scorer.score(&page, base);
        prop_assert!((0.0..=1.0).contains(&score));
        let steps = scorer.explain(&page, base);
        prop_assert!((steps.last().map_or(0.0, |step| step.after) - score).abs() < 1e-6);
        prop_assert!(steps.windows(2).all(|pair| pair[0].after == pair[1].before));
        let boosts: f32 = steps.iter().filter(|step| step.step == "boost").map(|step| step.after).fold(0.0, f32::max);
        let unboosted = steps.iter().rev().find(|step| step.step == "base").map_or(0.0, |step| step.after);
        prop_assert!(boosts <= 1.0 - (1.0 - unboosted).powf(weights.max_boost) + 1e-6);
        let (mut richer, mut nearer) = (page, base);
        match which {
            0 => nearer.dense = (dense + more).min(1.0),
            1 => nearer.lexical = (lexical + more).min(1.0),
            2 => richer.near_name = (near_name + more).min(similarity::MAX_STRENGTH),
            3 => richer.phrase = phrase.max(phrase_strength(1)),
            4 => richer.definition = (definition + more).min(1.0),
            _ => richer.name = (name + more).min(0.999),
        }
        prop_assert!(scorer.score(&richer, nearer) >= score - 1e-6);
    }

    #[test]
    fn what_the_rules_do_not_need_changes_no_score(
        (query, title, slug, description, [dense, lexical, ..], age_days) in evidence(), off in any::<bool>(),
    ) {
        let (understanding, rules) = understood(query);
        let mut weights = Weights::default();
        if off {
            (weights.boost_action_description, weights.boost_object_description, weights.boost_phrase, weights.boost_recency) = (0.0, 0.0, 0.0, 0.0);
        }
        let scorer = Scorer::new(&understanding, rules, &weights);
        let metadata = Some(serde_json::json!({"framework": "UIKit", "platforms": ["iOS"]}));
        let whole = Page { description, age_days, metadata, ..page(title, slug) };
        let needs = scorer.needs();
        let mut read = whole.clone();
        if !needs.description {
            read.description.clear();
        }
        if !needs.metadata {
            read.metadata = None;
        }
        if !needs.age {
            read.age_days = None;
        }
        let base = BaseScores { dense, lexical };
        prop_assert_eq!(scorer.score(&whole, base), scorer.score(&read, base));
    }

    #[test]
    fn every_boost_is_monotone_in_its_weight(
        (query, title, slug, description, [dense, lexical, ..], age_days) in evidence(), rule in 0..14usize, more in 0.0f32..0.5,
    ) {
        let (understanding, rules) = understood(query);
        let page = Page { description, age_days, ..page(title, slug) };
        let base = BaseScores { dense, lexical };
        let weights = Weights::default();
        let mut stronger = weights;
        let raised = [
            &mut stronger.boost_in_pattern, &mut stronger.boost_framework, &mut stronger.boost_filename_exact, &mut stronger.boost_filename_all_words,
            &mut stronger.boost_api_name, &mut stronger.boost_generic_term, &mut stronger.boost_action_name, &mut stronger.boost_action_description,
            &mut stronger.boost_object_name, &mut stronger.boost_object_description, &mut stronger.boost_category_context, &mut stronger.boost_platform,
            &mut stronger.boost_phrase, &mut stronger.boost_recency,
        ];
        if let Some(weight) = raised.into_iter().nth(rule) {
            *weight += more;
        }
        let before = Scorer::new(&understanding, rules, &weights).score(&page, base);
        let after = Scorer::new(&understanding, rules, &stronger).score(&page, base);
        prop_assert!(after >= before - 1e-6);
    }

    #[test]
    fn the_weight_of_a_page_changes_its_score_within_bounds(
        (query, title, slug, description, [dense, lexical, near_name, definition, name, phrase], age_days) in evidence(),
        weight in 0.0f32..4.0, more in 0.0f32..2.0,
    ) {
        let (understanding, rules) = understood(query);
        let weights = Weights::default();
        let scorer = Scorer::new(&understanding, rules, &weights);
        let page = Page { near_name, definition, phrase, description, age_days, ..page(title, slug) };
        let base = BaseScores { dense, lexical };
        let score = |boost, name, base| scorer.score(&Page { boost, name, ..page.clone() }, base);
        let (unweighted, weighted) = (score(None, 0.0, base), score(Some(weight), 0.0, base));
        // A weight of 1 changes nothing.
        prop_assert_eq!(score(Some(1.0), name, base), score(None, name, base));
        // A greater weight never lowers a page.
        prop_assert!(score(Some(weight + more), name, base) >= score(Some(weight), name, base) - 1e-6);
        // A weight moves a page by a quarter at most.
        prop_assert!((weighted - unweighted).abs() <= 0.25 + 1e-5, "{unweighted} {weighted}");
        // No weight makes a page match, nor ranks it above a page with the exact name.
        let nothing = Page { boost: Some(weight), ..Page::default() };
        prop_assert!(scorer.score(&nothing, BaseScores::default()) < 1e-6);
        prop_assert!(weighted <= EVIDENCE_CAP);
        if name > 0.0 {
            prop_assert!(score(Some(weight), name, BaseScores::default()) > weighted);
        }
        let steps = scorer.explain(&Page { boost: Some(weight), ..page.clone() }, base);
        let step = steps.iter().find(|step| step.rule == "page_boost");
        prop_assert_eq!(step.map(|step| step.raw), Some(weight.clamp(0.5, 2.0)).filter(|weight| *weight != 1.0));
    }

    #[test]
    fn s0_36_the_exact_name_beats_its_siblings_whatever_else_is_known(
        (query, title, slug, description, [dense, lexical, near_name, definition, ..], age_days) in evidence(),
        role in prop::sample::select(vec![NameRole::Whole, NameRole::Symbol, NameRole::Path, NameRole::WithoutKind, NameRole::Expanded]),
        kind in prop::sample::select(vec![NameKind::Title, NameKind::Symbol, NameKind::Slug, NameKind::Path, NameKind::Alias]),
        implicit in any::<bool>(),
    ) {
        let (understanding, rules) = understood(query);
        let weights = Weights::default();
        let scorer = Scorer::new(&understanding, rules, &weights);
        let sibling = Page { near_name, definition, description, age_days, ..page(title, slug) };
        let in_container = !matches!(role, NameRole::Symbol | NameRole::Path);
        let exact = Page { name: name_strength(kind, false, in_container) * role.factor(implicit), ..page("X", "x") };
        let base = BaseScores { dense, lexical };
        prop_assert!(scorer.score(&exact, BaseScores::default()) > scorer.score(&sibling, base));
    }
}

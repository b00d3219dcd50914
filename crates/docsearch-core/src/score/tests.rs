use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;
use crate::name::NameKind;
use crate::place::KnownNames;
use crate::rank::name_strength;
use crate::similarity;
use crate::understanding::{Class, NameRole};
use crate::weight::HybridWeights;

static RULES: LazyLock<Rules> = LazyLock::new(Rules::english);

fn understood(query: &str) -> (Understanding, &'static Rules) {
    let known: KnownNames = ["SwiftUI", "UIKit"].into_iter().collect();
    (Understanding::read(query, &RULES, &known), &RULES)
}

fn steps(query: &str, candidate: &Candidate<'_>) -> Vec<Step> {
    let (understanding, rules) = understood(query);
    let weights = RuleWeights::default();
    Scorer::new(&understanding, rules, &weights).explain(candidate)
}

fn score(query: &str, candidate: &Candidate<'_>) -> f32 {
    steps(query, candidate).last().map_or(0.0, |step| step.after)
}

fn boost(query: &str, candidate: &Candidate<'_>, rule: &str) -> Option<f32> {
    let step = steps(query, candidate).into_iter().find(|step| step.rule == rule)?;
    Some(step.raw * step.weight)
}

fn page<'a>(title: &'a str, slug: &'a str) -> Candidate<'a> {
    Candidate {
        dense: 0.4,
        lexical: 0.4,
        title,
        slug,
        project: "swiftui",
        ..Candidate::default()
    }
}

#[test]
fn s2_7_saving_a_text_file_writes_it() {
    let tool = |title, base, description| Candidate {
        dense: base,
        lexical: base,
        title,
        slug: title,
        description,
        ..Candidate::default()
    };
    let query = "save a text file";
    let write = score(
        query,
        &tool("write_file", 0.45, "Create or overwrite a file with new content"),
    );
    let edit = score(query, &tool("edit_file", 0.45, "Make line-based edits to a text file"));
    let read = score(
        query,
        &tool("read_text_file", 0.53, "Read the contents of a file as text"),
    );
    let list = score(
        query,
        &tool("list_directory", 0.3, "List files and directories in a path"),
    );
    assert!(
        write > edit && edit > read && read > list,
        "{write} {edit} {read} {list}"
    );
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
fn s2_4_a_verb_that_stands_in_earns_its_factor() {
    let write = page("write_file", "write_file");
    let found = steps("save a text file", &write);
    let synonym = found.iter().find(|step| step.rule == "intent_synonym").expect("a step");
    assert!((synonym.raw - 0.4 * 1.2).abs() < 1e-6);
    // The verb itself is never beaten by what stands in for it.
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
    let alert = Candidate {
        metadata: Some(&metadata),
        age_days: Some(0.0),
        category: Some("Alerts"),
        ..page("NSAlert", "appkit/nsalert")
    };
    assert_eq!(boost("latest alert on iphone", &alert, "platform"), Some(0.1));
    assert_eq!(boost("latest alert on iphone", &alert, "recency"), Some(0.3));
    assert_eq!(boost("show an alert", &alert, "category_context"), Some(0.1));
    assert_eq!(boost("alert window", &alert, "recency"), None);
}

#[test]
fn s2_19_boosts_never_override_the_evidence() {
    let everything = Candidate {
        dense: 0.1,
        lexical: 0.1,
        ..page("Button", "swiftui/button")
    };
    let nothing = Candidate {
        dense: 0.8,
        lexical: 0.8,
        ..page("Other", "other")
    };
    assert!(score("Button in SwiftUI", &everything) < score("Button in SwiftUI", &nothing));
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
        let weights = RuleWeights::default();
        let scorer = Scorer::new(&understanding, rules, &weights);
        let candidate = Candidate {
            dense, lexical, name, near_name, definition, phrase, title, slug, project: "swiftui", description: &description, age_days, ..Candidate::default()
        };
        let score = scorer.score(&candidate);
        prop_assert!((0.0..=1.0).contains(&score));
        let steps = scorer.explain(&candidate);
        prop_assert!((steps.last().map_or(0.0, |step| step.after) - score).abs() < 1e-6);
        prop_assert!(steps.windows(2).all(|pair| pair[0].after == pair[1].before));
        let boosts: f32 = steps.iter().filter(|step| step.step == "boost").map(|step| step.after).fold(0.0, f32::max);
        let base = steps.iter().rev().find(|step| step.step == "base").map_or(0.0, |step| step.after);
        prop_assert!(boosts <= 1.0 - (1.0 - base).powf(weights.max_boost) + 1e-6);
        let mut richer = candidate;
        match which {
            0 => richer.dense = (dense + more).min(1.0),
            1 => richer.lexical = (lexical + more).min(1.0),
            2 => richer.near_name = (near_name + more).min(similarity::MAX_STRENGTH),
            3 => richer.phrase = phrase.max(phrase_strength(1)),
            4 => richer.definition = (definition + more).min(1.0),
            _ => richer.name = (name + more).min(0.999),
        }
        prop_assert!(scorer.score(&richer) >= score - 1e-6);
    }

    #[test]
    fn every_boost_is_monotone_in_its_weight(
        (query, title, slug, description, [dense, lexical, ..], age_days) in evidence(), rule in 0..14usize, more in 0.0f32..0.5,
    ) {
        let (understanding, rules) = understood(query);
        let candidate = Candidate {
            dense, lexical, title, slug, project: "swiftui", description: &description, age_days, ..Candidate::default()
        };
        let weights = RuleWeights::default();
        let mut stronger = weights;
        let raised = [
            &mut stronger.in_pattern, &mut stronger.framework, &mut stronger.filename_exact, &mut stronger.filename_all_words,
            &mut stronger.api_name, &mut stronger.generic_term, &mut stronger.action_name, &mut stronger.action_description,
            &mut stronger.object_name, &mut stronger.object_description, &mut stronger.category_context, &mut stronger.platform,
            &mut stronger.phrase, &mut stronger.recency,
        ];
        if let Some(weight) = raised.into_iter().nth(rule) {
            *weight += more;
        }
        let before = Scorer::new(&understanding, rules, &weights).score(&candidate);
        let after = Scorer::new(&understanding, rules, &stronger).score(&candidate);
        prop_assert!(after >= before - 1e-6);
    }

    #[test]
    fn s0_36_the_exact_name_beats_its_siblings_whatever_else_is_known(
        (query, title, slug, description, [dense, lexical, near_name, definition, ..], age_days) in evidence(),
        role in prop::sample::select(vec![NameRole::Whole, NameRole::Symbol, NameRole::Path, NameRole::Kindless, NameRole::Expanded]),
        kind in prop::sample::select(vec![NameKind::Title, NameKind::Symbol, NameKind::Slug, NameKind::Path, NameKind::Alias]),
        implicit in any::<bool>(),
    ) {
        let (understanding, rules) = understood(query);
        let weights = RuleWeights::default();
        let scorer = Scorer::new(&understanding, rules, &weights);
        let sibling = Candidate {
            dense, lexical, near_name, definition, title, slug, project: "swiftui", description: &description, age_days, ..Candidate::default()
        };
        let in_container = !matches!(role, NameRole::Symbol | NameRole::Path);
        let exact = Candidate { name: name_strength(kind, false, in_container) * role.factor(implicit), title: "X", slug: "x", ..Candidate::default() };
        prop_assert!(scorer.score(&exact) > scorer.score(&sibling));
    }
}

#[test]
fn the_mix_differs_by_class() {
    let weights = RuleWeights::default();
    assert!(weights.hybrid.of(Class::Words) < weights.hybrid.of(Class::Question));
    let even = HybridWeights::same(0.7);
    assert!(Class::ALL.iter().all(|&class| even.of(class) == 0.7));
}

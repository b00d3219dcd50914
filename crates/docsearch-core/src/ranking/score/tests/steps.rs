use super::*;
use crate::ranking::score::adjustment::Effect;

fn assert_near(score: f32, expected: f32) {
    assert!((score - expected).abs() < 1e-5, "{score} {expected}");
}

/// The step of a rule with these weights: raw, weight, and its scores before and after.
fn step_of(
    weights: &Weights,
    intent: f32,
    query: &str,
    page: &Page,
    (step, rule): (&str, &str),
) -> Option<(f32, f32, f32, f32)> {
    let (understanding, rules) = understood(query);
    let scorer = Scorer::new(&understanding, rules, weights);
    let mut found = scorer.find(page);
    found.intent = intent;
    let steps = scorer.explain_features(page, BASE, &found);
    assert!(steps.iter().all(|step| step.contribution == step.after - step.before));
    assert!(
        steps
            .iter()
            .all(|step| step.step != "boost" || step.raw * step.weight > 0.0),
        "{steps:?}"
    );
    let found = steps.iter().find(|found| (found.step, found.rule) == (step, rule))?;
    Some((found.raw, found.weight, found.before, found.after))
}

/// Checks what a step does to a score, and that it is not shown if it does nothing.
fn assert_step(
    found: Option<(f32, f32, f32, f32)>,
    none: Option<(f32, f32, f32, f32)>,
    (raw, weight): (f32, f32),
    after: impl Fn(f32) -> f32,
) {
    let found = found.expect("a step");
    assert_near(found.0, raw);
    assert_near(found.1, weight);
    assert_near(found.3, after(found.2));
    assert_eq!(none, None);
}

#[test]
fn a_penalty_takes_its_share_of_the_score() {
    let weights = |set: fn(&mut Weights, f32), value| {
        let mut weights = Weights::default();
        set(&mut weights, value);
        weights
    };
    let conflict = |weight, intent| {
        let weights = weights(|weights, value| weights.penalty_intent_conflict = value, weight);
        let rule = ("penalty", "intent_conflict");
        step_of(&weights, intent, "save a text file", &page("read_text_file", "x"), rule)
    };
    // By the rules, a page that reads loses .3 for a query that writes.
    assert_step(conflict(0.5, 1.0), conflict(0.0, 1.0), (0.3, 0.5), |before| {
        before * (1.0 - 0.15)
    });
    assert_step(conflict(0.5, 0.4), conflict(0.5, 0.0), (0.3, 0.2), |before| {
        before * (1.0 - 0.06)
    });
    let elsewhere = |weight| {
        let weights = weights(|weights, value| weights.penalty_elsewhere = value, weight);
        let page = Page {
            project: "docs".to_owned(),
            metadata: Some(serde_json::json!({"framework": "UIKit"})),
            ..page("Button", "button")
        };
        step_of(&weights, 1.0, "Button in SwiftUI", &page, ("penalty", "elsewhere"))
    };
    assert_step(elsewhere(0.3), elsewhere(0.0), (1.0, 0.3), |before| before * 0.7);
    let older = |weight| {
        let weights = weights(|weights, value| weights.penalty_older_version = value, weight);
        let page = Page {
            newer: Some("2.0".to_owned()),
            ..page("Button", "button")
        };
        step_of(&weights, 1.0, "Button", &page, ("penalty", "older_version"))
    };
    assert_step(older(0.2), older(0.0), (1.0, 0.2), |before| before * 0.8);
}

#[test]
fn phrases_definitions_and_near_names_raise_by_a_share_of_what_is_left() {
    let boosted = |phrase, definition, near_name, name, rule| {
        let weights = Weights {
            weight_definition: 0.6,
            ..Weights::default()
        };
        let page = Page {
            phrase,
            definition,
            near_name,
            name,
            ..page("Other", "x")
        };
        step_of(&weights, 1.0, "something", &page, rule)
    };
    let left = |share: f32| move |before: f32| 1.0 - (1.0 - before) * (1.0 - share);
    let phrase = |value| boosted(value, 0.0, 0.0, 0.0, ("phrase", "exact_phrase"));
    assert_step(phrase(0.4), phrase(0.0), (0.4, 1.0), left(0.4));
    let definition = |value| boosted(0.0, value, 0.0, 0.0, ("name", "definition"));
    assert_step(definition(0.5), definition(0.0), (0.5, 0.6), left(0.3));
    let near_name = |value| boosted(0.0, 0.0, value, 0.0, ("name", "near_name"));
    assert_step(near_name(0.5), near_name(0.0), (0.5, 1.0), left(0.5));
    let name = |value| boosted(0.0, 0.0, 0.0, value, ("name", "exact_name"));
    assert_step(name(0.95), name(0.0), (0.95, 1.0), left(0.95));
}

#[test]
fn evidence_above_the_start_of_the_soft_cap_is_scaled() {
    for (score, kept) in [(0.0, 0.0), (0.5, 0.5), (0.9, 0.9), (0.95, 0.915), (1.0, 0.93)] {
        assert_near(adjustment::soft_cap(EVIDENCE_CAP, score), kept);
    }
    let cap_step = |near_name| {
        let page = Page {
            near_name,
            ..page("Other", "x")
        };
        step_of(&Weights::default(), 1.0, "something", &page, ("name", "ceiling"))
    };
    // Evidence of .4 and a near name of .9 make .94.
    assert_step(cap_step(0.9), cap_step(0.5), (0.93, 1.0), |_| 0.9 + 0.04 * 0.3);
}

#[test]
fn no_exact_name_is_weaker_than_the_least_one_but_for_those_written_out() {
    let kinds = [
        NameKind::Title,
        NameKind::Symbol,
        NameKind::Slug,
        NameKind::Path,
        NameKind::Alias,
    ];
    let inside = [NameRole::Whole, NameRole::WithoutKind].map(|role| (role, true));
    let placed = [NameRole::Symbol, NameRole::Path].map(|role| (role, false));
    let strengths = kinds.into_iter().flat_map(|kind| {
        let roles = inside.into_iter().chain(placed);
        roles.flat_map(move |(role, inside)| {
            [true, false].map(|implicit| name_strength(kind, false, inside) * role.factor(implicit))
        })
    });
    assert_eq!(strengths.fold(f32::INFINITY, f32::min), MIN_EXACT_NAME);
    let written_out = name_strength(NameKind::Alias, false, false) * NameRole::Expanded.factor(false);
    assert!((0.902..0.903).contains(&written_out), "{written_out}");
}

#[test]
fn boosts_together_raise_the_base_to_a_power() {
    let weights = Weights {
        hybrid_weight_words: 0.5,
        max_boost: 1.6,
        ..Weights::default()
    };
    let (understanding, rules) = understood("table view");
    let scorer = Scorer::new(&understanding, rules, &weights);
    let boosted = |title: &str, base: BaseScores| {
        let steps = scorer.explain(&page(title, "x"), base);
        let boosts = steps.iter().filter(|step| step.step == "boost");
        let sum = boosts.map(|step| step.raw * step.weight).sum::<f32>();
        (
            sum,
            steps.last().map_or(0.0, |step| step.after),
            scorer.score(&page(title, "x"), base),
        )
    };
    let one = boosted("Table view cell", BASE);
    assert_near(one.0, weights.boost_filename_all_words);
    assert_near(one.1, 1.0 - 0.6f32.powf(1.0 + 0.4));
    assert_near(one.2, one.1);
    let many = boosted("table view", BASE);
    assert!(many.0 > 0.6, "{many:?}");
    assert_near(many.1, 1.0 - 0.6f32.powf(1.6));
    // Without a boost the score is the base, to its last digit.
    let base = BaseScores {
        dense: 0.1,
        lexical: 0.1,
    };
    assert_eq!(boosted("Other", base), (0.0, 0.1, 0.1));
}

#[test]
fn distance_from_the_query_takes_from_the_dense_score_alone() {
    let base = BaseScores {
        dense: 0.75,
        lexical: 0.4,
    };
    let steps = |decay_slope| {
        let weights = Weights {
            hybrid_weight_words: 0.6,
            decay_slope,
            ..Weights::default()
        };
        let (understanding, rules) = understood("table view");
        let steps = Scorer::new(&understanding, rules, &weights).explain(&page("Other", "x"), base);
        steps.iter().map(|step| (step.rule, step.after)).collect::<Vec<_>>()
    };
    let check = |slope, expected: &[(&str, f32)]| {
        let steps = steps(slope);
        assert_eq!(steps.len(), expected.len(), "{steps:?}");
        for (found, expected) in steps.iter().zip(expected) {
            assert_eq!(found.0, expected.0);
            assert_near(found.1, expected.1);
        }
    };
    // At a distance of .25 a slope of 2 leaves half of .75.
    let halved = 0.6 * 0.375;
    check(2.0, &[("dense", 0.45), ("decay", halved), ("lexical", halved + 0.16)]);
    check(0.0, &[("dense", 0.45), ("lexical", 0.45 + 0.16)]);
}

#[test]
fn retrievers_are_shown_with_their_share() {
    let weights = Weights {
        hybrid_weight_words: 0.75,
        ..Weights::default()
    };
    let retriever = |rule| {
        let step = step_of(&weights, 1.0, "table view", &page("Other", "x"), ("base", rule));
        step.map(|(raw, weight, before, after)| (raw, weight, after - before))
            .expect("a step")
    };
    let (dense, lexical) = (retriever("dense"), retriever("lexical"));
    assert_eq!((dense.0, dense.1), (BASE.dense, 0.75));
    assert_eq!((lexical.0, lexical.1), (BASE.lexical, 0.25));
    assert_near(dense.2, 0.75 * BASE.dense);
    assert_near(lexical.2, 0.25 * BASE.lexical);
}

#[test]
fn a_recent_page_loses_half_of_its_boost_in_each_half_life() {
    let recency = |age| {
        let weights = Weights {
            recency_half_life: 30.0,
            boost_recency: 0.4,
            ..Weights::default()
        };
        let page = Page {
            age_days: Some(age),
            ..page("Other", "x")
        };
        let step = step_of(&weights, 1.0, "latest alerts", &page, ("boost", "recency"));
        step.map(|(raw, weight, ..)| raw * weight)
    };
    for (age, expected) in [(-5.0, 0.4), (0.0, 0.4), (30.0, 0.2), (60.0, 0.1)] {
        assert_near(recency(age).expect("a boost"), expected);
    }
}

#[test]
fn rules_about_verbs_count_by_how_many_pages_are_named_by_them() {
    let boosts = |intent| {
        let (understanding, rules) = understood("save text documents");
        let weights = Weights::default();
        let page = Page {
            category: Some("Documents".to_owned()),
            ..page("save_other_documents", "x")
        };
        let scorer = Scorer::new(&understanding, rules, &weights);
        let mut found = scorer.find(&page);
        found.intent = intent;
        let steps = scorer.explain_features(&page, BASE, &found);
        let rules = ["name_words", "intent_action", "intent_object", "category_context"];
        rules.map(|rule| {
            let step = steps.iter().find(|step| step.rule == rule);
            step.map_or(0.0, |step| step.raw * step.weight)
        })
    };
    let (whole, half) = (boosts(1.0), boosts(0.5));
    for (whole, half) in whole.into_iter().zip(half) {
        assert!(whole > 0.0);
        assert_near(half, whole / 2.0);
    }
    assert_eq!(boosts(0.0), [0.0; 4]);
}

#[test]
fn a_phrase_that_more_documents_hold_is_weaker() {
    assert_eq!([1, 2, 3, 4].map(phrase_strength), [0.8, 0.6, 0.4, 0.0]);
}

#[test]
fn another_search_is_a_step_that_adds_the_difference() {
    let step = Step::other("transformed_query", "kubernetes", 0.75, 0.5, 0.25, 0.5);
    assert_eq!(
        (step.step, step.rule, step.matched.as_str()),
        ("transform", "transformed_query", "kubernetes")
    );
    assert_eq!(
        (step.raw, step.weight, step.before, step.after, step.contribution),
        (0.75, 0.5, 0.25, 0.5, 0.25)
    );
}

/// The formula of the adjustments: a line for each run of rows with the same effect.
fn formula() -> Vec<String> {
    ADJUSTMENTS
        .chunk_by(|a, b| a.effect == b.effect)
        .map(|rows| {
            let product: String = rows.iter().map(|row| format!(" * (1 - {})", row.rule)).collect();
            match rows[0].effect {
                Effect::Scale => format!("score = score{product}\n"),
                Effect::Boost => format!("score = 1 - (1 - score){product}\n"),
                Effect::Power => format!("score = 1 - (1 - score)^{}\n", rows[0].rule),
                Effect::SoftCap => format!("score = soft_cap(score, {EVIDENCE_CAP})\n"),
            }
        })
        .collect()
}

#[test]
fn the_documented_formula_is_that_of_the_code() {
    let indented = |before: &str| {
        formula()
            .iter()
            .map(|line| format!("{before}{line}"))
            .collect::<String>()
    };
    let architecture = include_str!("../../../../../../docs/architecture.md");
    assert!(architecture.contains(&indented("   ")), "{}", indented("   "));
    assert!(include_str!("../../score.rs").contains(&indented("//! ")));
}

use super::*;
use proptest::prelude::*;

const MINIMUM: Minimum = Minimum {
    score: 0.6,
    relevance: 0.65,
    completeness: 0.55,
};

fn term(idf: f32, known: bool) -> GradedTerm {
    GradedTerm {
        idf,
        known,
        name: false,
    }
}

fn terms(idf: &[f32]) -> Vec<GradedTerm> {
    idf.iter().map(|&idf| term(idf, true)).collect()
}

fn context(score: f32, dense: f32, keyword: f32, holds: &[f32]) -> GradedContext {
    GradedContext {
        score,
        dense: Some(dense),
        keyword,
        holds: holds.to_vec(),
    }
}

#[test]
fn coverage_counts_rare_words_more_and_contexts_together() {
    let terms = terms(&[1.0, 3.0]);
    let (common, rare) = (context(0.5, 0.5, 0.5, &[1.0, 0.0]), context(0.5, 0.5, 0.5, &[0.0, 1.0]));
    assert_eq!(coverage(&terms, std::slice::from_ref(&common)), 0.25);
    assert_eq!(coverage(&terms, std::slice::from_ref(&rare)), 0.75);
    assert_eq!(coverage(&terms, &[common, rare]), 1.0);
    assert_eq!(coverage(&terms, &[]), 0.0);
}

fn assert_near(value: f32, expected: f32) {
    assert!((value - expected).abs() < 1e-5, "{value} {expected}");
}

#[test]
fn features_are_those_of_the_contexts_that_are_read() {
    let terms = [term(1.0, true), term(2.0, true), term(5.0, false)];
    let mut contexts = vec![
        context(0.8, 0.6, 0.4, &[1.0, 0.0, 0.0]),
        context(0.5, 0.7, 0.0, &[0.0, 0.5, 0.0]),
        GradedContext {
            dense: None,
            ..context(0.4, 0.0, 0.6, &[0.0, 0.0, 0.0])
        },
        context(0.3, 0.2, 0.1, &[0.0, 0.0, 0.0]),
        context(0.2, 0.1, 0.2, &[0.0, 0.0, 0.0]),
    ];
    let features = Features::of(&terms, &contexts, 100.0);
    let named = features.named();
    for (name, expected) in [
        // The contexts have 1 * 1 and 2 * .5 of 8.
        ("coverage", 2.0 / 8.0),
        ("best_coverage", 1.0 / 8.0),
        ("score", 0.8),
        ("mean_score", (0.8 + 0.5 + 0.4 + 0.3 + 0.2) / 5.0),
        ("lead", 0.8 - 0.5),
        ("spread", 0.8 - 0.2),
        ("dense", 0.7),
        ("mean_dense", (0.6 + 0.7 + 0.2 + 0.1) / 4.0),
        ("keyword", 0.6),
        // Of the four with a vector, one has no keyword.
        ("agreement", 3.0 / 4.0),
        ("unknown", 5.0 / 8.0),
        ("terms", 4f32.ln()),
        ("unknown_name", 0.0),
        // No context has the rarest two; one of them is unknown.
        ("rarest", 0.0),
        // The second has 1 of 8, as the first, and is nearer.
        ("together", 0.7 / 8.0),
        // Fewer sections than the models were fitted on count as the fewest.
        ("sections", 778f32.ln() / 10.0),
    ] {
        assert_near(named[name], expected);
    }
    assert_eq!(named.len(), FEATURES.len());
    // The sixth counts only for the agreement of the retrievers.
    contexts.push(context(0.1, 0.9, 0.9, &[1.0, 1.0, 1.0]));
    let with_sixth = Features::of(&terms, &contexts, 100.0).named();
    let changed: Vec<&str> = FEATURES
        .into_iter()
        .filter(|name| with_sixth[name] != named[name])
        .collect();
    assert_eq!(changed, ["agreement"]);
}

#[test]
fn names_that_no_document_has_and_the_rarest_words_are_seen() {
    let with_name = [
        GradedTerm {
            name: true,
            ..term(5.0, false)
        },
        term(1.0, true),
        term(3.0, true),
    ];
    let of = |terms: &[GradedTerm], holds: &[&[f32]]| {
        let contexts: Vec<GradedContext> = holds.iter().map(|holds| context(0.5, 0.5, 0.5, holds)).collect();
        let features = Features::of(terms, &contexts, 100.0).named();
        (features["unknown_name"], features["rarest"])
    };
    assert_eq!(of(&with_name, &[&[0.0, 1.0, 1.0]]), (1.0, 0.0));
    assert_eq!(of(&with_name[1..], &[&[1.0, 0.5]]), (0.0, 0.5));
    assert_eq!(
        of(&with_name[1..], &[&[1.0, 0.0], &[0.0, 1.0]]),
        (0.0, 0.0),
        "in different contexts"
    );
    assert_eq!(of(&with_name[2..], &[&[1.0]]), (0.0, 1.0));
    assert_eq!(of(&[], &[&[]]), (0.0, 0.0));
}

#[test]
fn a_page_that_is_named_is_what_was_asked_for() {
    let grade = |named| {
        let contexts = [GradedContext {
            dense: None,
            ..context(1.0, 0.0, 0.3, &[1.0])
        }];
        let features = Features {
            named,
            ..Features::of(&terms(&[2.0]), &contexts, 100.0)
        };
        Grader::fitted().grade(&features, 1, &MINIMUM)
    };
    let named = grade(true);
    assert!(
        named.grounded && named.relevance >= grade(false).relevance && !named.should_refine,
        "{named:?}"
    );
}

/// A named page is complete, whether or not its text has the words of the query: no other words find more.
#[test]
fn s1_44_a_page_that_is_named_is_complete_without_the_words() {
    let terms = [term(3.0, false), term(2.0, true)];
    let grade = |named, score| {
        let features = Features {
            named,
            ..Features::of(&terms, &[context(score, 0.6, 0.0, &[0.0, 0.0])], 1000.0)
        };
        Grader::fitted().grade(&features, 1, &MINIMUM)
    };
    let named = grade(true, 0.99);
    assert!(named.completeness >= 0.99 && !named.should_refine, "{named:?}");
    assert!(!named.reasoning.contains("words"), "{}", named.reasoning);
    let other = grade(false, 0.99);
    assert!(other.completeness == 0.0 && other.should_refine, "{other:?}");
    assert!(
        other.reasoning.contains("no document holds 60 %"),
        "{}",
        other.reasoning
    );
    // A page that was found for its date is as complete as it is new.
    assert_near(grade(true, 0.4).completeness, 0.4);
}

#[test]
fn retrievers_agree_by_how_many_of_the_best_by_vectors_are_among_the_best_by_words() {
    let of = |pairs: &[(f32, f32)]| {
        let contexts: Vec<GradedContext> = pairs
            .iter()
            .map(|&(dense, keyword)| context(0.5, dense, keyword, &[]))
            .collect();
        agreement(&contexts)
    };
    assert_eq!(of(&[]), 0.0);
    assert_eq!(of(&[(0.0, 0.5), (0.0, 0.6)]), 0.0, "nothing is near");
    assert_eq!(of(&[(0.5, 0.5), (0.4, 0.1)]), 1.0);
    assert_eq!(of(&[(0.5, 0.0), (0.4, 0.1)]), 0.5);
    // The five best of seven by each retriever: two are not among the other's.
    let seven = [
        (0.9, 0.1),
        (0.8, 0.2),
        (0.7, 0.3),
        (0.6, 0.4),
        (0.5, 0.5),
        (0.4, 0.6),
        (0.3, 0.7),
    ];
    assert_near(of(&seven), 3.0 / 5.0);
}

#[test]
fn queries_of_no_weight_are_covered_by_anything() {
    let terms = terms(&[0.0, 0.0]);
    assert_eq!(coverage(&terms, &[context(0.5, 0.5, 0.5, &[0.0, 0.0])]), 1.0);
    let features = Features::of(&terms, &[], 100.0).named();
    assert_eq!((features["coverage"], features["unknown"]), (0.0, 0.0));
    assert_eq!((features["mean_score"], features["mean_dense"]), (0.0, 0.0));
}

#[test]
fn a_logistic_model_is_even_at_zero() {
    let weights = |weight: f32| BTreeMap::from_iter([("score".to_owned(), weight)]);
    let probability = |bias, weight, score| {
        let mut features = Features::default();
        features.values[2] = score;
        Logistic {
            bias,
            weights: weights(weight),
        }
        .probability(&features)
    };
    assert_near(probability(0.0, 2.0, 0.0), 0.5);
    assert_near(probability(-1.0, 2.0, 0.5), 0.5);
    assert_near(probability(1.0, 2.0, 0.5), 1.0 / (1.0 + (-2f32).exp()));
    assert_near(probability(0.5, -3.0, 0.5), 1.0 / (1.0 + 1f32.exp()));
}

#[test]
fn a_grade_says_why() {
    let why =
        |features: Features, relevance, completeness, grounded| reasoning(&features, relevance, completeness, grounded);
    let features = |unknown| {
        let mut features = Features::default();
        for (name, value) in [("score", 0.9), ("dense", 0.55), ("unknown", unknown)] {
            let place = FEATURES.iter().position(|known| *known == name);
            features.values[place.expect("a feature")] = value;
        }
        features
    };
    assert_eq!(
        why(features(0.0), 0.95, 0.75, true),
        "excellent relevance: best score 0.90, nearest meaning 0.55; \
         good completeness: the contexts hold 75 % of the query's words by weight"
    );
    assert_eq!(
        why(features(0.25), 0.3, 0.6, false),
        "poor relevance: best score 0.90, nearest meaning 0.55; \
         partial completeness: the contexts hold 60 % of the query's words by weight; \
         no document holds 25 % of them; the documents do not seem to be about it"
    );
}

#[test]
fn a_grade_weighs_relevance_and_completeness() {
    let grade = |relevance, completeness| Grade::new(relevance, completeness, true, &MINIMUM, String::new());
    assert_near(grade(0.5, 1.0).score, 0.6 * 0.5 + 0.4);
    assert_near(grade(1.0, 0.5).score, 0.6 + 0.4 * 0.5);
}

#[test]
fn completeness_is_coverage() {
    let terms = terms(&[1.0, 3.0]);
    let contexts = [context(0.5, 0.5, 0.5, &[0.0, 1.0])];
    let grade = Grader::fitted().grade(&Features::of(&terms, &contexts, 100.0), 1, &MINIMUM);
    assert_eq!(grade.completeness, 0.75);
}

#[test]
fn an_answer_is_better_by_its_ground_then_by_more_than_the_margin() {
    let grade = |score, grounded| Grade {
        score,
        ..Grade::new(0.0, 0.0, grounded, &MINIMUM, String::new())
    };
    let better = |a: (f32, bool), b: (f32, bool), margin| grade(a.0, a.1).is_better_than(&grade(b.0, b.1), margin);
    assert!(better((0.5, true), (0.25, true), 0.0));
    assert!(!better((0.5, true), (0.5, true), 0.0), "as good is not better");
    assert!(better((0.25, true), (0.5, false), 0.0));
    assert!(!better((0.5, false), (0.25, true), 0.0));
    assert!(better((0.75, true), (0.25, true), 0.25));
    assert!(
        !better((0.5, true), (0.25, true), 0.25),
        "by the margin is not by more than it"
    );
    assert!(
        !better((0.5, true), (0.75, false), 0.125),
        "the ground does not stand in for the margin"
    );
}

#[test]
fn s1_15_contexts_beyond_the_fifteenth_do_not_count() {
    let terms = terms(&[1.0]);
    let mut contexts = vec![context(0.4, 0.3, 0.2, &[0.5]); MAX_CONTEXTS];
    let before = Features::of(&terms, &contexts, 100.0);
    contexts.push(context(1.0, 1.0, 1.0, &[1.0]));
    assert_eq!(Features::of(&terms, &contexts, 100.0), before);
}

#[test]
fn s1_16_bands() {
    assert_eq!(
        [0.95, 0.9, 0.75, 0.5, 0.49].map(band),
        ["excellent", "excellent", "good", "partial", "poor"]
    );
}

#[test]
fn s1_18_each_shortfall_alone_asks_for_refinement() {
    for (score, relevance, completeness, grounded, expected) in [
        (0.6, 0.65, 0.55, true, false),
        (0.59, 0.65, 0.55, true, true),
        (0.6, 0.64, 0.55, true, true),
        (0.6, 0.65, 0.54, true, true),
        (0.6, 0.65, 0.55, false, true),
    ] {
        assert_eq!(
            should_refine(score, relevance, completeness, grounded, &MINIMUM),
            expected
        );
    }
}

#[test]
fn s1_19_a_grade_has_six_keys() {
    let grade = Grader::fitted().grade(&Features::default(), 1, &MINIMUM);
    let keys: Vec<String> = match serde_json::to_value(grade) {
        Ok(serde_json::Value::Object(object)) => object.into_iter().map(|(key, _)| key).collect(),
        _ => Vec::new(),
    };
    assert_eq!(keys.len(), 6);
    for key in [
        "score",
        "relevance",
        "completeness",
        "grounded",
        "reasoning",
        "should_refine",
    ] {
        assert!(keys.iter().any(|known| known == key), "{key}");
    }
}

#[test]
fn s1_20_a_model_s_grade_is_taken_only_if_it_is_one() {
    let graded = |answer: serde_json::Value| answer.as_object().and_then(|answer| Grade::by_model(answer, &MINIMUM));
    let whole = serde_json::json!({"relevance": 0.9, "completeness": 0.8, "grounded": true, "reasoning": "fits"});
    let grade = graded(whole.clone());
    assert_eq!(
        grade.map(|grade| (grade.should_refine, grade.reasoning)),
        Some((false, "fits".to_owned()))
    );
    for (key, wrong) in [
        ("relevance", serde_json::json!(7)),
        ("grounded", serde_json::json!("yes")),
        ("completeness", serde_json::json!(null)),
    ] {
        let mut answer = whole.clone();
        answer[key] = wrong;
        assert_eq!(graded(answer), None, "{key}");
    }
}

#[test]
fn nothing_found_is_worth_nothing() {
    let grade = Grader::fitted().grade(&Features::of(&terms(&[2.0]), &[], 100.0), 0, &MINIMUM);
    assert_eq!((grade.score, grade.grounded, grade.should_refine), (0.0, false, true));
}

#[test]
fn the_fitted_models_know_only_features_that_there_are() {
    let grader = Grader::fitted();
    for model in [&grader.relevance, &grader.grounded, &grader.grounded_by_words] {
        assert!(model.weights.keys().all(|name| FEATURES.contains(&name.as_str())));
    }
}

#[test]
fn a_page_of_that_name_is_graded_above_a_page_about_something_else() {
    let terms = terms(&[5.0, 6.0]);
    let grade = |contexts: &[GradedContext]| {
        Grader::fitted().grade(&Features::of(&terms, contexts, 100.0), contexts.len(), &MINIMUM)
    };
    let right = grade(&[
        context(0.97, 0.8, 0.9, &[1.0, 1.0]),
        context(0.4, 0.4, 0.3, &[1.0, 0.0]),
    ]);
    let wrong = grade(&[
        context(0.12, 0.1, 0.1, &[0.0, 0.0]),
        context(0.11, 0.1, 0.0, &[0.0, 0.0]),
    ]);
    assert!(right.is_better_than(&wrong, 0.05) && !wrong.is_better_than(&right, 0.0));
    assert!(!right.is_better_than(&wrong, right.score - wrong.score));
    assert!(right.grounded && !right.should_refine);
    assert!(!wrong.grounded && wrong.should_refine);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn grades_are_bounded(
        idf in proptest::collection::vec(0.0f32..12.0, 0..6),
        contexts in proptest::collection::vec((0.0f32..=1.0, proptest::option::of(0.0f32..=1.0), 0.0f32..=1.0,
                                               proptest::collection::vec(0.0f32..=1.0, 0..6)), 0..20),
    ) {
        let terms = terms(&idf);
        let contexts: Vec<GradedContext> = contexts
            .into_iter()
            .map(|(score, dense, keyword, holds)| GradedContext { score, dense, keyword, holds })
            .collect();
        let features = Features::of(&terms, &contexts, 100.0);
        prop_assert!(features.values.iter().all(|value| value.is_finite()));
        let grade = Grader::fitted().grade(&features, contexts.len(), &MINIMUM);
        for value in [grade.score, grade.relevance, grade.completeness] {
            prop_assert!((0.0..=1.0).contains(&value));
        }
    }
}

use super::*;
use proptest::prelude::*;

const MINIMUM: Minimum = Minimum {
    score: 0.6,
    relevance: 0.65,
    completeness: 0.55,
};

fn terms(idf: &[f32]) -> Vec<GradedTerm> {
    idf.iter().map(|&idf| GradedTerm { idf, known: true }).collect()
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

#[test]
fn s1_15_contexts_beyond_the_fifteenth_do_not_count() {
    let terms = terms(&[1.0]);
    let mut contexts = vec![context(0.4, 0.3, 0.2, &[0.5]); MAX_CONTEXTS];
    let before = Features::of(&terms, &contexts);
    contexts.push(context(1.0, 1.0, 1.0, &[1.0]));
    assert_eq!(Features::of(&terms, &contexts), before);
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
    let grade = Grader::fitted().grade(&Features::of(&terms(&[2.0]), &[]), 0, &MINIMUM);
    assert_eq!((grade.score, grade.grounded, grade.should_refine), (0.0, false, true));
}

#[test]
fn the_fitted_models_know_only_features_that_there_are() {
    let grader = Grader::fitted();
    for model in [&grader.relevance, &grader.grounded] {
        assert!(model.weights.keys().all(|name| FEATURES.contains(&name.as_str())));
    }
}

#[test]
fn a_page_of_that_name_is_graded_above_a_page_about_something_else() {
    let terms = terms(&[5.0, 6.0]);
    let grade =
        |contexts: &[GradedContext]| Grader::fitted().grade(&Features::of(&terms, contexts), contexts.len(), &MINIMUM);
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
        let features = Features::of(&terms, &contexts);
        prop_assert!(features.values.iter().all(|value| value.is_finite()));
        let grade = Grader::fitted().grade(&features, contexts.len(), &MINIMUM);
        for value in [grade.score, grade.relevance, grade.completeness] {
            prop_assert!((0.0..=1.0).contains(&value));
        }
    }
}

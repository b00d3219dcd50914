use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

const BASELINE: f32 = 0.05;

fn query(text: &str) -> Query {
    Query::parse(text).expect("not blank")
}

fn texts(question: &str, given: &[Option<&str>]) -> Result<Vec<String>, WordingError> {
    let (_, further) = distinct_wordings(query(question), given.iter().copied())?;
    Ok(further.into_iter().map(|query| query.text).collect())
}

fn id(document: i64) -> DocumentId {
    DocumentId { project: 1, document }
}

/// A wording with these scores of documents 1, 2, ... and this vector.
fn worded(scores: &[f32], vector: Option<&[f32]>) -> WordingRanking {
    WordingRanking {
        vector: vector.map(<[f32]>::to_vec),
        found: RankedDocuments::of_scores((0..).zip(scores).map(|(document, &score)| (id(document), score))),
        by_model: false,
    }
}

/// The same, from a language model.
fn by_model(scores: &[f32], vector: Option<&[f32]>) -> WordingRanking {
    WordingRanking {
        by_model: true,
        ..worded(scores, vector)
    }
}

fn scores_of(together: &MergedRanking) -> BTreeMap<i64, f32> {
    let ranked = together.found.ranked.iter();
    ranked
        .map(|ranked| (ranked.document.document.document, ranked.score))
        .collect()
}

fn order_of(together: &MergedRanking) -> Vec<i64> {
    let ranked = together.found.ranked.iter();
    ranked.map(|ranked| ranked.document.document.document).collect()
}

const SAME: [f32; 2] = [1.0, 0.0];
const OTHER: [f32; 2] = [0.0, 1.0];

#[test]
fn blanks_and_repetitions_are_no_wordings() {
    let given = [Some(" abort "), None, Some(""), Some("\t"), Some("abort")];
    assert_eq!(texts("gone", &given), Ok(vec!["abort".to_owned()]));
    assert_eq!(texts("gone away", &[Some("gone \n away")]), Ok(Vec::new()));
    for same in [
        "state of  a view",
        "State of a view?",
        "STATE OF A VIEW",
        "State of a view . : !",
    ] {
        assert_eq!(texts("State of a view", &[Some(same)]), Ok(Vec::new()));
        assert_eq!(
            texts("gone", &[Some("State of a view"), Some(same)]).map(|texts| texts.len()),
            Ok(1)
        );
    }
    assert_eq!(texts("?", &[Some("!"), Some("::")]).map(|texts| texts.len()), Ok(2));
}

#[test]
fn what_only_excludes_is_appended_to_the_question() {
    let of = |question: &str, given: &[Option<&str>]| {
        let (query, also) = distinct_wordings(query(question), given.iter().copied()).expect("few and short");
        let also = also.into_iter().map(|query| query.text).collect::<Vec<String>>();
        (query.text, also.join(","))
    };
    assert_eq!(
        of("ask", &[Some("-alert"), Some("confirm")]),
        ("ask -alert".into(), "confirm".into())
    );
    assert_eq!(
        of("ask", &[Some("-sheet -\"a b\""), Some("-alert"), Some("-Alert")]),
        ("ask -Alert -sheet -\"a b\"".into(), String::new())
    );
    // Options of a command are looked for.
    assert_eq!(
        of("ask", &[Some("-rf"), Some("button -alert")]),
        ("ask".into(), "-rf,button -alert".into())
    );
}

#[test]
fn a_document_that_no_wording_found_changes_no_share() {
    let given = |more: bool| {
        let scores: [&[f32]; 2] = [&[0.4, 0.1, 0.9], &[0.1, 0.5, 0.9]];
        let given = scores.map(|own| worded(&own[..if more { 3 } else { 2 }], Some(&SAME)));
        merge_wordings(given.into(), BASELINE, Some(id(2)))
    };
    assert_eq!(given(true).shares, given(false).shares);
    assert_eq!(scores_of(&given(true)).len(), 3);
}

#[test]
fn a_name_in_a_wording_of_little_trust_is_graded_by_the_others() {
    let of = |vector: &[f32]| {
        merge_wordings(
            vec![worded(&[0.3, 0.02], Some(&SAME)), worded(&[0.01, 0.97], Some(vector))],
            BASELINE,
            None,
        )
    };
    let guessed = of(&OTHER);
    assert_eq!(order_of(&guessed), [1, 0]);
    assert!(guessed.found.trusted[&id(1)].score < 0.1);
    let meant = worded(&[0.3, 0.6], Some(&SAME));
    let meant = merge_wordings(vec![meant, worded(&[0.2, 0.97], Some(&SAME))], BASELINE, None);
    assert!(meant.found.trusted.is_empty());
}

#[test]
fn more_wordings_or_longer_ones_than_allowed_are_refused() {
    assert_eq!(texts("gone", &[None; MAX_WORDINGS]), Ok(Vec::new()));
    assert_eq!(texts("gone", &[None; MAX_WORDINGS + 1]), Err(WordingError::TooMany(6)));
    let half = "é".repeat(MAX_WORDING_CHARS / 2);
    assert_eq!(
        texts("gone", &[Some(&half), Some(&half)]).map(|texts| texts.len()),
        Ok(1)
    );
    assert_eq!(
        texts("gone", &[Some(&half), Some(&half), Some("x")]),
        Err(WordingError::TooLong)
    );
}

#[test]
fn a_wording_that_means_the_same_counts_and_another_hardly() {
    let question = || worded(&[0.4, 0.5, 0.1, 0.1], Some(&SAME));
    let right = merge_wordings(
        vec![question(), worded(&[0.9, 0.4, 0.1, 0.2], Some(&SAME))],
        BASELINE,
        None,
    );
    assert_eq!(order_of(&right)[0], 0);
    let wrong = merge_wordings(
        vec![question(), worded(&[0.1, 0.1, 0.9, 0.4], Some(&OTHER))],
        BASELINE,
        None,
    );
    assert_eq!(order_of(&wrong)[0], 1);
    assert!(
        right.shares[1] > 0.4 && wrong.shares[1] < 0.1,
        "{:?} {:?}",
        right.shares,
        wrong.shares
    );
}

#[test]
fn wordings_that_agree_with_each_other_alone_are_not_trusted() {
    let question = worded(&[0.9, 0.4, 0.1, 0.1, 0.1], Some(&SAME));
    let wrong = || worded(&[0.1, 0.1, 0.1, 0.9, 0.4], Some(&OTHER));
    let together = merge_wordings(vec![question, wrong(), wrong()], BASELINE, None);
    assert_eq!(order_of(&together)[0], 0);
}

#[test]
fn without_vectors_agreement_decides() {
    let question = || worded(&[0.5, 0.4, 0.1, 0.1], None);
    let alike = merge_wordings(vec![question(), worded(&[0.8, 0.6, 0.1, 0.2], None)], BASELINE, None);
    let unlike = merge_wordings(vec![question(), worded(&[0.1, 0.2, 0.8, 0.6], None)], BASELINE, None);
    assert!(alike.shares[1] > 0.4 && unlike.shares[1] < 0.01);
}

#[test]
fn an_exact_name_in_any_wording_comes_before_all_that_is_none() {
    let question = worded(&[0.9, 0.1], Some(&SAME));
    let together = merge_wordings(vec![question, worded(&[0.1, 0.995], Some(&OTHER))], BASELINE, None);
    assert_eq!(order_of(&together), [1, 0]);
    assert_eq!(together.found.wordings[&id(1)], 1);
}

#[test]
fn the_name_that_the_question_is_comes_before_one_of_another_wording() {
    let question = worded(&[0.99, 0.1], Some(&SAME));
    let together = merge_wordings(vec![question, worded(&[0.1, 0.995], Some(&OTHER))], BASELINE, None);
    assert_eq!(order_of(&together), [0, 1]);
}

fn lists() -> impl Strategy<Value = Vec<Vec<f32>>> {
    let score = prop_oneof![4 => 0.0f32..EVIDENCE_CAP, 1 => 0.94f32..1.0];
    (1usize..12, 1usize..5).prop_flat_map(move |(documents, wordings)| {
        let of_one = proptest::collection::vec(score.clone(), documents);
        proptest::collection::vec(of_one, wordings)
    })
}

fn vectors() -> impl Strategy<Value = Vec<Option<[f32; 3]>>> {
    proptest::collection::vec(proptest::option::of([-1.0f32..1.0, -1.0f32..1.0, 0.1f32..1.0]), 5)
}

fn all(lists: &[Vec<f32>], vectors: &[Option<[f32; 3]>]) -> MergedRanking {
    let worded = lists
        .iter()
        .zip(vectors)
        .map(|(scores, vector)| worded(scores, vector.as_ref().map(|v| v.as_slice())));
    merge_wordings(worded.collect(), BASELINE, None)
}

#[test]
fn s1_45_a_name_that_a_model_guesses_is_no_name() {
    let (near, far) = ([0.8, 0.6], [0.6, -0.8]);
    // A vector that is unrelated, and one that is near.
    let guessed = vec![worded(&[0.3, 0.02], Some(&near)), by_model(&[0.01, 0.97], Some(&far))];
    let guessed = merge_wordings(guessed, BASELINE, None);
    assert_eq!(order_of(&guessed), [0, 1]);
    assert!(scores_of(&guessed)[&1] < 0.3 && guessed.found.wordings[&id(0)] == 0);
    let meant = vec![worded(&[0.3, 0.6], Some(&near)), by_model(&[0.2, 0.97], Some(&near))];
    let meant = merge_wordings(meant, BASELINE, None);
    assert!(scores_of(&meant)[&1] > EVIDENCE_CAP);
    // Callers know the names that they give.
    let given = vec![worded(&[0.3, 0.02], Some(&near)), worded(&[0.01, 0.97], Some(&far))];
    assert!(scores_of(&merge_wordings(given, BASELINE, None))[&1] > EVIDENCE_CAP);
}

proptest! {
    #[test]
    fn the_order_of_wordings_makes_no_difference(
        given in proptest::collection::vec(proptest::option::of("( |[a-c]){0,4}"), 0..=MAX_WORDINGS),
        turn in 0usize..5,
    ) {
        let given: Vec<Option<&str>> = given.iter().map(Option::as_deref).collect();
        let mut turned = given.clone();
        turned.rotate_left(turn.min(given.len()));
        turned.reverse();
        let in_order = texts("a b", &given).expect("few and short");
        prop_assert_eq!(&in_order, &texts("a b", &turned).expect("few and short"));
        prop_assert!(in_order.iter().all(|text| !text.is_empty() && text != "a b"));
    }

    #[test]
    fn what_all_wordings_put_first_stays_first(mut lists in lists(), vectors in vectors(), first in 0usize..12) {
        for scores in &mut lists {
            let best = scores.iter().copied().fold(0.0, f32::max);
            let first = first % scores.len();
            scores[first] = (best + 0.001).min(1.0);
        }
        let together = all(&lists, &vectors);
        let best = together.found.ranked[0].score;
        let wanted = i64::try_from(first % lists[0].len()).expect("few");
        prop_assert!(scores_of(&together)[&wanted] >= best - 1e-6);
    }

    #[test]
    fn evidence_lies_between_that_of_the_wordings_and_names_above_it(lists in lists(), vectors in vectors()) {
        let together = all(&lists, &vectors);
        prop_assert!((together.shares.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        prop_assert!(together.shares.iter().all(|share| (0.0..=1.0).contains(share)));
        for (document, score) in scores_of(&together) {
            let own: Vec<f32> = lists.iter().map(|scores| scores[document as usize]).collect();
            let named = own.iter().any(|score| *score > EVIDENCE_CAP);
            prop_assert_eq!(score > EVIDENCE_CAP, named, "{} {:?}", score, own);
            let least = own.iter().copied().fold(1.0, f32::min).min(EVIDENCE_CAP);
            let most = own.iter().copied().fold(0.0, f32::max);
            prop_assert!(score >= least - 1e-5 && score <= most + 1e-5, "{} {:?}", score, own);
        }
        prop_assert!(together.found.ranked.windows(2).all(|pair| pair[0].score >= pair[1].score));
    }

    #[test]
    fn the_steps_end_at_the_score(lists in lists(), vectors in vectors(), explained in 0usize..14, focus in 0i64..14) {
        let mut together = all(&lists, &vectors);
        let names: Vec<String> = (0..lists.len()).map(|number| format!("wording {number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        together.explain(&names, explained, Some(id(focus)));
        for (place, ranked) in together.found.ranked.iter().enumerate() {
            let document = ranked.document.document;
            let steps = together.found.steps.get(&document);
            prop_assert_eq!(steps.is_some(), place < explained || document == id(focus));
            let Some(last) = steps.and_then(|steps| steps.last()) else { continue };
            prop_assert!((last.after - ranked.score).abs() < 1e-5, "{last:?} {}", ranked.score);
        }
    }

    #[test]
    fn a_question_alone_keeps_its_scores(lists in lists(), vectors in vectors()) {
        let together = all(&lists[..1], &vectors);
        for (document, score) in scores_of(&together) {
            prop_assert!((score - lists[0][document as usize]).abs() < 1e-6);
        }
    }
}

//! Answers with the fields that a caller wants.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

/// An answer with all fields.
fn whole() -> Answer {
    let first = SearchResult {
        duplicates: 1,
        also_at: vec!["swiftui/b".into()],
        other_versions: vec!["2.0".into()],
        source_key: Some("1".into()),
        metadata: json!({"level": 1}),
        highlights: Some(Highlights::default()),
        snippet_html: Some("a snippet".into()),
        ..result(1, 1, 0.93)
    };
    Answer {
        transformation: Some(json!({})),
        probability: Some(0.5),
        vector_recalled: true,
        search_token: Some("token".into()),
        ..answer(vec![first, result(2, 2, 0.5)])
    }
}

fn keys(json: &Value) -> BTreeSet<String> {
    json.as_object().expect("an object").keys().cloned().collect()
}

#[test]
fn every_field_can_be_chosen() {
    let json = whole().to_json();
    let known: BTreeSet<String> = known_fields().map(str::to_owned).collect();
    let fixed = ["results", "notices", "confidence", "search_token"].map(str::to_owned);
    let all: BTreeSet<String> = keys(&json).union(&keys(&json["results"][0])).cloned().collect();
    assert_eq!(all, known.union(&fixed.into()).cloned().collect());
    let chosen = Answer {
        fields: Some(Fields::new(known_fields()).expect("known")),
        ..whole()
    };
    assert_eq!(chosen.to_json(), json);
}

proptest! {
    #[test]
    fn an_answer_has_the_chosen_fields_unchanged(chosen in prop::collection::hash_set(prop::sample::select(known_fields().collect::<Vec<_>>()), 0..12)) {
        let fields = Fields::new(chosen.iter().copied()).expect("known");
        let (json, all) = (Answer { fields: Some(fields), ..whole() }.to_json(), whole().to_json());
        for (key, value) in all.as_object().expect("an object") {
            let is_fixed = ["results", "notices", "confidence", "search_token"].contains(&key.as_str());
            let expected = (is_fixed || chosen.contains(key.as_str())).then_some(value);
            if key != "results" {
                prop_assert_eq!(json.get(key), expected);
            }
        }
        for (result, all) in json["results"].as_array().expect("a list").iter().zip(all["results"].as_array().expect("a list")) {
            for (key, value) in all.as_object().expect("an object") {
                prop_assert_eq!(result.get(key), chosen.contains(key.as_str()).then_some(value));
            }
        }
    }

    #[test]
    fn a_raw_text_with_chosen_fields_fits(chosen in prop::collection::hash_set(prop::sample::select(known_fields().collect::<Vec<_>>()), 0..12), most in 200usize..3_000) {
        let fields = Fields::new(chosen.iter().copied()).expect("known");
        let results = (1..=8).map(|rank| result(rank, i64::from(rank), 0.5)).collect();
        let answer = Answer { fields: Some(fields), ..answer(results) };
        let text = deliver(&answer, Format::Raw, budget(most));
        prop_assert!(text.chars().count() <= most);
        let json: Value = serde_json::from_str(&text).expect("JSON");
        prop_assert!(json["results"].is_array());
        if answer.to_json().to_string().chars().count() <= most {
            prop_assert_eq!(json, answer.to_json());
        }
    }
}

use proptest::prelude::*;

use super::*;

fn row(rule: Rule, enabled: bool) -> Row {
    Row { rule, enabled }
}

#[test]
fn s2_5_the_shipped_rules_are_read() {
    let rules = Rules::english();
    let tables = rules.tables();
    assert!(tables.actions.len() >= 60);
    assert!(tables.synonyms.len() >= 150);
    for term in ["init", "frame", "body"] {
        assert!((0.05..=0.10).contains(&tables.generic_terms[term]), "{term}");
    }
    assert_eq!(tables.tips.len(), 4);
    assert_eq!(rules.framework(&name::key("swift ui")), Some("SwiftUI"));
    assert_eq!(rules.verb("saving"), Some("save"));
    assert_eq!(Rules::default().overlay(rules.rows()).expect("valid").tables(), tables);
}

#[test]
fn every_form_of_a_verb_is_recognised() {
    let rules = Rules::english();
    for verb in rules.tables().actions.keys() {
        for ending in ["", "s", "ed", "ing", "e", "ning", "ing it"] {
            let form = format!("{}{ending}", verb.trim_end_matches('e'));
            let stemmed = rules.verbs.get(stem(&form).as_ref()).map(String::as_str);
            let known = rules
                .tables()
                .actions
                .get_key_value(&form)
                .map(|(verb, _)| verb.as_str());
            assert_eq!(rules.verb(&form), known.or(stemmed), "{form}");
        }
    }
    assert_eq!(rules.verb("zzz"), None);
}

#[test]
fn s2_3_verbs_are_synonyms_of_each_other() {
    let rules = Rules::english();
    let synonyms = &rules.tables().action_synonyms;
    for (verb, expected) in [
        ("save", "write create store edit modify update"),
        ("load", "read get open"),
        ("show", "view display read"),
        ("modify", "edit update change"),
        ("remove", "delete clear drop"),
    ] {
        for synonym in expected.split(' ') {
            assert!(synonyms[verb].contains_key(synonym), "{verb} {synonym}");
        }
    }
}

#[test]
fn s2_9_intents_conflict() {
    let rules = Rules::english();
    assert_eq!(rules.conflict(Intent::Write, [Intent::Read]), 0.3);
    assert_eq!(rules.conflict(Intent::Read, [Intent::Write]), 0.2);
    assert_eq!(rules.conflict(Intent::Create, [Intent::Delete]), 0.3);
    assert_eq!(rules.conflict(Intent::Write, [Intent::Read, Intent::Write]), 0.0);
    assert_eq!(rules.conflict(Intent::Write, []), 0.0);
}

#[test]
fn rows_add_change_and_switch_off() {
    let generic = |boost| Rule::GenericTerm {
        term: " Thing ".into(),
        boost,
    };
    let rules = Rules::english()
        .overlay([
            row(generic(0.05), true),
            row(generic(0.07), true),
            row(
                Rule::Action {
                    verb: "save".into(),
                    intent: None,
                },
                false,
            ),
            row(
                Rule::FrameworkAlias {
                    alias: "Acme Kit".into(),
                    framework: "AcmeKit".into(),
                },
                true,
            ),
        ])
        .expect("valid rows");
    assert_eq!(rules.tables().generic_terms["thing"], 0.07);
    assert_eq!(rules.verb("save"), None);
    assert_eq!(rules.framework("acmekit"), Some("AcmeKit"));
    let refused = |rule| Rules::default().overlay([row(rule, true)]).expect_err("refused");
    assert_eq!(
        refused(Rule::KindWord { word: " ".into() }),
        RuleError::Blank("kind word")
    );
    assert!(matches!(
        refused(generic(f32::NAN)),
        RuleError::OutOfRange { name: "boost", .. }
    ));
}

#[test]
fn rows_are_plain_data() {
    let json = r#"{"kind": "intent_conflict", "asked": "write", "found": "read", "penalty": 0.5, "enabled": true}"#;
    let row: Row = serde_json::from_str(json).expect("a row");
    assert_eq!(serde_json::to_value(&row).expect("json")["found"], "read");
}

proptest! {
    #[test]
    fn words_of_rules_are_in_lower_case_with_single_spaces(text in "[ -~]{0,12}|[ a-zÄäßİΣ\t\n\u{a0}]{0,12}") {
        let folded = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        let rules = Rules::new(Tables::default()).overlay([row(Rule::StopWord { word: text }, true)]);
        match rules {
            Ok(rules) => prop_assert_eq!(rules.tables().stop_words.iter().collect::<Vec<_>>(), [&folded]),
            Err(problem) => {
                prop_assert_eq!(problem, RuleError::Blank("stop word"));
                prop_assert!(folded.is_empty());
            }
        }
    }
}

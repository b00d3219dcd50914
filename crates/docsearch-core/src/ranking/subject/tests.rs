use proptest::prelude::*;

use super::*;
use crate::index::bm25::Frequencies;
use crate::index::corpus::TermWeight;
use crate::query::container::KnownNames;
use crate::query::lookup::{TermWeights, query_tokens, terms};
use crate::values::id::ChunkId;

const PROJECT: i64 = 1;

fn document(number: i64) -> DocumentId {
    DocumentId {
        project: PROJECT,
        document: number,
    }
}

/// The subjects of a query over pages called `names`, where `sections` are the words of other pages.
fn about(query: &str, names: &[&str], sections: &[&str]) -> Vec<(String, NameRole)> {
    let rules = Rules::english();
    let understanding = Understanding::read(query, &rules, &KnownNames::default());
    let weights = TermWeights {
        part: 0.3,
        stop_word: 0.1,
        framed: false,
    };
    let tokens = query_tokens(&understanding.topic, Some(&understanding), &rules);
    let lexemes: Vec<Vec<String>> = tokens.iter().map(|token| vec![token.text.to_lowercase()]).collect();
    let terms = terms(&tokens, &lexemes, weights);
    let mut candidate_names = understanding.candidate_names();
    candidate_names.extend(understanding.candidate_names_within(&candidate_names, &rules));
    let found = names.iter().zip(1..).filter_map(|(name, number)| {
        let key = crate::text::name::key(name);
        let candidate = candidate_names.iter().position(|candidate| candidate.key == key)?;
        Some((document(number), NameKind::Title, candidate))
    });
    let found: Vec<(DocumentId, NameKind, usize)> = found.collect();
    let has = |text: &str, word: &str| {
        text.to_lowercase()
            .split_whitespace()
            .any(|known| known == word.to_lowercase())
    };
    let is_held = |term: &LookupTerm| sections.iter().chain(names).any(|text| has(text, &term.text));
    let corpus = Corpus {
        terms: terms
            .iter()
            .map(|term| TermWeight {
                idf: 2.0,
                is_held: is_held(term),
            })
            .collect(),
        average_chunk: 10.0,
        average_document: 10.0,
    };
    let mut evidence = Evidence::default();
    for (section, number) in sections.iter().zip(100..) {
        let frequencies = terms.iter().map(|term| Frequencies {
            body: f32::from(u8::from(has(section, &term.text))),
            closeness: f32::from(u8::from(has(section, &term.text))),
            ..Frequencies::default()
        });
        let chunk = ChunkId {
            document: document(number),
            chunk: 0,
        };
        evidence.terms.insert(
            chunk,
            ChunkTerms {
                frequencies: frequencies.collect(),
                ..ChunkTerms::default()
            },
        );
    }
    let question = SubjectQuery {
        understanding: &understanding,
        candidate_names: &candidate_names,
        terms: &terms,
        rules: &rules,
    };
    let subjects = question.subjects(found.into_iter(), &evidence, &Map::from_iter([(PROJECT, corpus)]));
    let subjects = subjects.into_iter();
    subjects
        .map(|(candidate, role)| (candidate_names[candidate].text.clone(), role))
        .collect()
}

fn subject(query: &str, names: &[&str], sections: &[&str]) -> Option<String> {
    let about = about(query, names, sections);
    about
        .into_iter()
        .find(|(_, role)| *role == NameRole::Subject)
        .map(|(name, _)| name)
}

const SECTIONS: [&str; 3] = [
    "align the columns of a grid with others",
    "what a table costs",
    "layout that wraps around a head",
];

#[test]
fn words_that_no_section_has_with_a_name_frame_it() {
    for query in [
        "what are the downsides of Grid",
        "trying to wrap my head around Grid",
        "what Grid costs in the long run",
        "a che cosa serve Grid?",
        "Gridの使い方を教えてください",
        "Grid parameters",
    ] {
        assert_eq!(subject(query, &["Grid"], &SECTIONS).as_deref(), Some("Grid"), "{query}");
    }
}

#[test]
fn a_section_with_the_name_and_the_other_words_is_what_is_asked_for() {
    assert_eq!(
        subject("align columns with others in a grid", &["Grid"], &SECTIONS),
        None
    );
    assert_eq!(
        subject("how do I align the columns of a Grid", &["Grid"], &SECTIONS),
        None
    );
}

#[test]
fn a_longer_name_is_one_name() {
    let names = ["Table", "Table View", "View"];
    assert_eq!(
        about("what are the downsides of a table view", &names, &SECTIONS),
        [("table view".to_owned(), NameRole::Subject)]
    );
}

#[test]
fn the_end_of_a_known_path_is_no_subject() {
    let whole = "threading.Thread.join";
    assert_eq!(subject(whole, &[whole, "join"], &[]), None);
    assert_eq!(subject(whole, &["join"], &[]), Some("join".to_owned()));
    assert_eq!(
        subject("what is io::Write", &["io::Write", "Write"], &[]),
        Some("io::Write".to_owned())
    );
}

#[test]
fn the_first_of_two_names_is_compared_with_the_second() {
    let names = ["Grid", "Table"];
    for query in [
        "difference between Grid and Table",
        "Grid instead of Table",
        "differenza tra Grid e Table",
    ] {
        let expected = [
            ("Grid".to_owned(), NameRole::Subject),
            ("Table".to_owned(), NameRole::Compared),
        ];
        assert_eq!(about(query, &names, &["a grid and a table"]), expected, "{query}");
    }
    let both = about("Grid and Table", &names, &["a grid and a table"]);
    assert!(
        both.iter().all(|(_, role)| *role == NameRole::Compared) && both.len() == 2,
        "{both:?}"
    );
}

#[test]
fn a_general_word_is_no_subject_where_others_say_more() {
    assert_eq!(subject("module object", &["Object"], &["an object of a module"]), None);
    assert_eq!(
        subject("what is a module", &["Module"], &SECTIONS).as_deref(),
        Some("module")
    );
}

#[test]
fn code_beside_a_name_is_what_is_asked_for() {
    assert_eq!(subject("[] of Grid", &["Grid"], &SECTIONS), None);
    assert_eq!(subject("lc_messages of Grid", &["Grid"], &["lc_messages"]), None);
}

#[test]
fn a_number_that_a_section_has_with_a_name_is_what_is_asked_for() {
    let sections = ["since 2.7 a grid has gaps", "alone 3.1"];
    assert_eq!(subject("Grid 2.7", &["Grid"], &sections), None);
    for elsewhere in ["Grid 3.1", "Grid 9"] {
        assert_eq!(
            subject(elsewhere, &["Grid"], &sections).as_deref(),
            Some("Grid"),
            "{elsewhere}"
        );
    }
}

#[test]
fn what_many_documents_are_called_is_no_subject() {
    let query = "what are the downsides of Grid";
    assert_eq!(subject(query, &["Grid", "grid"], &SECTIONS).as_deref(), Some("Grid"));
    assert_eq!(subject(query, &["Grid", "grid", "GRID"], &SECTIONS), None);
}

proptest! {
    #[test]
    fn there_is_one_subject_at_most(query in "((grid|table|view|and|or|the|of|costs|\\PC{1,4}) ){0,12}") {
        let about = about(&query, &["Grid", "Table", "Table View"], &SECTIONS);
        prop_assert!(about.iter().filter(|(_, role)| *role == NameRole::Subject).count() <= 1);
    }
}

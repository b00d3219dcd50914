use super::*;
use crate::documents::question_chunk::heading_number;
use crate::index::corpus::TermWeight;
use proptest::prelude::*;

const MIX: Mix = Mix {
    hybrid: 0.5,
    document_share: 0.5,
    baseline: 0.05,
    bm25: Bm25 {
        k1: 1.2,
        b: 0.75,
        title: 2.0,
        heading: 1.5,
        keyword: 1.0,
        proximity: 0.0,
    },
    questions: QuestionMix {
        dense: 0.5,
        lexical: 1.0,
        frequency: 2.0,
        allowance: 0.05,
    },
};

fn corpora() -> Corpora {
    let corpus = Corpus {
        terms: vec![TermWeight {
            idf: 3.0,
            is_held: true,
        }],
        average_chunk: 100.0,
        average_document: 300.0,
    };
    Corpora::from_iter([(1, corpus)])
}

fn chunk(document: i64, chunk: i32) -> ChunkId {
    let document = DocumentId { project: 1, document };
    ChunkId { document, chunk }
}

fn terms(body: f32, length: f32) -> ChunkTerms {
    ChunkTerms {
        near: 0.0,
        length,
        document_length: length,
        frequencies: vec![Frequencies {
            body,
            closeness: 1.0,
            ..Default::default()
        }],
    }
}

fn question(document: i64, section: i32, place: usize) -> ChunkId {
    let number = crate::documents::question_chunk::chunk_number(usize::try_from(section).unwrap(), place);
    chunk(document, number.unwrap())
}

/// A question with the word.
fn question_terms() -> ChunkTerms {
    let mut found = terms(0.0, 5.0);
    found.frequencies[0].title = 1.0;
    found
}

fn assert_near(score: f32, expected: f32) {
    assert!((score - expected).abs() < 1e-6, "{score} {expected}");
}

#[test]
fn retrievers_are_mixed_and_names_raise_by_what_is_left() {
    assert_near(base_score(0.8, 0.4, 0.25), 0.25 * 0.8 + 0.75 * 0.4);
    assert_near(noisy_or(0.5, 0.4), 0.7);
    assert_near(noisy_or(0.0, 0.4), 0.4);
    assert_eq!((noisy_or(0.5, 0.0), noisy_or(0.5, 1.0)), (0.5, 1.0));
}

#[test]
fn names_are_stronger_by_kind_then_as_written_and_weaker_elsewhere() {
    let kinds = [
        NameKind::Title,
        NameKind::Path,
        NameKind::Symbol,
        NameKind::Slug,
        NameKind::Alias,
    ];
    let strengths = kinds.map(|kind| name_strength(kind, false, true));
    assert!(strengths.windows(2).all(|pair| pair[0] > pair[1]), "{strengths:?}");
    for kind in kinds {
        let in_place = name_strength(kind, false, true);
        assert_near(name_strength(kind, true, true), in_place + 0.004);
        assert_near(name_strength(kind, false, false), in_place - 0.05);
    }
    // The least and the greatest strength that the documentation promises.
    assert_near(name_strength(NameKind::Alias, false, false), 0.94);
    assert_near(name_strength(NameKind::Title, true, true), 0.999);
}

fn two_terms(frequencies: [(f32, f32); 2]) -> ChunkTerms {
    let frequencies = frequencies.map(|(body, closeness)| Frequencies {
        body,
        closeness,
        ..Default::default()
    });
    ChunkTerms {
        near: 0.0,
        length: 100.0,
        document_length: 300.0,
        frequencies: frequencies.to_vec(),
    }
}

#[test]
fn a_keyword_score_is_the_share_of_what_the_words_can_reach() {
    let corpus = |idf: [f32; 2]| Corpus {
        terms: idf.map(|idf| TermWeight { idf, is_held: true }).to_vec(),
        ..corpora()[&1].clone()
    };
    let score = |found, idf| chunk_lexical(&two_terms(found), &corpus(idf), &MIX.bm25);
    // In a chunk of mean length, a term with k1 occurrences reaches half of its maximum.
    assert_near(score([(1.2, 1.0), (1.2, 1.0)], [3.0, 1.0]), 0.5);
    assert_near(score([(1.2, 1.0), (0.0, 0.0)], [3.0, 1.0]), 0.5 * 3.0 / 4.0);
    assert_near(score([(0.0, 0.0), (1.2, 1.0)], [3.0, 1.0]), 0.5 * 1.0 / 4.0);
    // An expansion of a term counts by its closeness.
    assert_near(score([(1.2, 0.8), (0.0, 0.0)], [3.0, 1.0]), 0.8 * 0.5 * 3.0 / 4.0);
    assert_eq!(
        score([(1.2, 1.0), (0.0, 0.0)], [0.0, 0.0]),
        0.0,
        "words that tell nothing"
    );
}

#[test]
fn words_near_each_other_count_more_up_to_all_that_they_can() {
    let score = |near, proximity| {
        let found = ChunkTerms {
            near,
            ..two_terms([(1.0, 1.0), (1.0, 1.0)])
        };
        let bm25 = Bm25 { proximity, ..MIX.bm25 };
        let corpus = Corpus {
            terms: vec![
                TermWeight {
                    idf: 1.0,
                    is_held: true
                };
                2
            ],
            ..corpora()[&1].clone()
        };
        chunk_lexical(&found, &corpus, &bm25)
    };
    let apart = score(0.0, 0.4);
    assert_eq!(score(1.0, 0.0), apart);
    assert!((score(0.5, 0.4) - apart * 1.2).abs() < 1e-6);
    assert!((score(1.0, 0.4) - apart * 1.4).abs() < 1e-6);
    assert_eq!(score(1.0, 2.0 / apart), 1.0);
}

#[test]
fn a_document_has_the_score_of_the_whole_and_of_its_best_section() {
    let mut evidence = Evidence::default();
    for place in 0..2 {
        let section = ChunkTerms {
            document_length: 300.0,
            ..terms(0.6, 100.0)
        };
        evidence.terms.insert(chunk(1, place), section);
    }
    evidence.similarity.insert(chunk(1, 0), 0.24);
    evidence.similarity.insert(chunk(1, 1), 0.43);
    let mix = Mix {
        document_share: 0.25,
        hybrid: 0.4,
        ..MIX
    };
    let ranked = rank(&evidence, [], &corpora(), &mix);
    // The whole has the word 1.2 times, which is k1: half. A section has .6 / (.6 + 1.2), a third.
    let lexical = 0.25 / 2.0 + 0.75 / 3.0;
    assert_eq!(ranked.len(), 1);
    assert_near(ranked[0].lexical, lexical);
    assert_eq!(ranked[0].similarity, Some(0.43));
    assert_near(ranked[0].dense, 0.4);
    assert_near(ranked[0].base, 0.4 * 0.4 + 0.6 * lexical);
    let places: Vec<i32> = ranked[0].chunks.iter().map(|chunk| chunk.id.chunk).collect();
    assert_eq!(places, [1, 0], "each section once, the best first");
    assert_near(ranked[0].chunks[1].base, 0.4 * 0.2 + 0.6 / 3.0);
}

#[test]
fn a_question_counts_for_the_section_that_answers_it_and_is_none_itself() {
    let mut evidence = Evidence::default();
    evidence
        .similarity
        .extend([(chunk(1, 0), 0.43), (chunk(1, 1), 0.05), (question(1, 1, 0), 0.81)]);
    evidence.terms.insert(question(1, 1, 0), question_terms());
    let ranked = rank(&evidence, [], &corpora(), &MIX);
    let sections: Vec<i32> = ranked[0].chunks.iter().map(|chunk| chunk.id.chunk).collect();
    assert_eq!(sections, [1, 0], "the section with the question comes first");
    let found = ranked[0].chunks[0].question.expect("its question");
    assert_eq!(
        (found.id, found.similarity, found.lexical),
        (question(1, 1, 0), Some(0.81), 1.0)
    );
    // .4 of the text, and half of the .4 that the question has more, less what pages without questions are allowed.
    assert_near(ranked[0].dense, 0.4 + 0.5 * 0.4 - 0.05);
    assert_near(ranked[0].similarity.unwrap(), 0.43 + 0.5 * 0.38);
    // The document has the word twice, by weight_question, of k1 1.2 at the mean length; the question has all of it.
    assert!(ranked[0].lexical > 0.5);
}

#[test]
fn a_document_does_not_come_first_for_the_number_of_its_questions() {
    let base = |questions: usize| {
        let mut evidence = Evidence::default();
        evidence.terms.insert(chunk(1, 0), terms(1.0, 100.0));
        for place in 0..questions {
            evidence.terms.insert(question(1, 0, place), question_terms());
            evidence.similarity.insert(question(1, 0, place), 0.6);
        }
        rank(&evidence, [], &corpora(), &MIX)[0].base
    };
    assert!(base(1) > base(0));
    assert_eq!(base(1_000), base(1));
}

#[test]
fn questions_that_are_not_near_take_no_more_than_the_allowance_from_a_document() {
    let base = |question_similarity: Option<f32>| {
        let mut evidence = Evidence::default();
        evidence.similarity.insert(chunk(1, 0), 0.5);
        evidence.terms.insert(chunk(1, 0), terms(1.0, 100.0));
        evidence
            .similarity
            .extend(question_similarity.map(|similarity| (question(1, 0, 0), similarity)));
        rank(&evidence, [], &corpora(), &MIX)[0].base
    };
    assert_near(base(Some(0.2)), base(None) - 0.05);
    assert!(base(Some(0.8)) > base(None));
}

#[test]
fn a_heading_that_is_a_question_takes_nothing_from_its_document() {
    let base = |heading: Option<f32>| {
        let mut evidence = Evidence::default();
        evidence.similarity.insert(chunk(1, 0), 0.5);
        evidence.terms.insert(chunk(1, 0), terms(1.0, 100.0));
        let number = heading_number(0, 0).unwrap();
        evidence
            .similarity
            .extend(heading.map(|similarity| (chunk(1, number), similarity)));
        rank(&evidence, [], &corpora(), &MIX)[0].base
    };
    assert_near(base(Some(0.2)), base(None));
    assert!(base(Some(0.8)) > base(None));
}

#[test]
fn what_is_measured_later_is_no_nearer_than_what_was_found() {
    let mut evidence = Evidence::default();
    evidence.similarity.insert(chunk(1, 0), 0.5);
    evidence.similarity.insert(chunk(2, 0), 0.7);
    evidence.measure([(chunk(1, 1), 0.6), (chunk(3, 0), 0.8), (chunk(3, 1), 0.1)], Some(0.7));
    let of = |number, place| evidence.similarity[&chunk(number, place)];
    assert_eq!((of(1, 1), of(3, 0), of(3, 1)), (0.5, 0.7, 0.1));
}

#[test]
fn evidence_of_other_documents_is_dropped() {
    let mut evidence = Evidence::default();
    for number in [1, 2] {
        evidence.similarity.insert(chunk(number, 0), 0.5);
        evidence.terms.insert(chunk(number, 1), terms(1.0, 50.0));
    }
    evidence.retain(&Set::from_iter([chunk(2, 0).document]));
    assert_eq!(evidence.similarity.keys().collect::<Vec<_>>(), [&chunk(2, 0)]);
    assert_eq!(evidence.terms.keys().collect::<Vec<_>>(), [&chunk(2, 1)]);
}

#[test]
fn s4_30_the_hybrid_weight_goes_from_keywords_to_vectors() {
    let mut evidence = Evidence::default();
    evidence.similarity.insert(chunk(1, 0), 0.9);
    evidence.similarity.insert(chunk(2, 0), 0.1);
    evidence.terms.insert(chunk(2, 0), terms(3.0, 50.0));
    let first = |hybrid| {
        rank(&evidence, [], &corpora(), &Mix { hybrid, ..MIX })[0]
            .document
            .document
    };
    assert_eq!(first(0.0), 2);
    assert_eq!(first(1.0), 1);
}

#[test]
fn a_named_document_is_a_candidate() {
    let named = chunk(7, 0).document;
    let ranked = rank(&Evidence::default(), [named], &corpora(), &MIX);
    assert_eq!((ranked[0].document, ranked[0].base), (named, 0.0));
}

proptest! {
    #[test]
    fn documents_have_the_same_scores_without_their_sections(
        near in proptest::collection::btree_map((0i64..6, 0i32..5), -1.0f32..1.0, 0..20),
        words in proptest::collection::btree_map((0i64..6, 0i32..5), (0u8..9, 1.0f32..400.0, 1.0f32..900.0), 0..20),
    ) {
        let mut evidence = Evidence::default();
        // Every other section is a question of the one before.
        let chunk = |document, place: i32| match place % 2 {
            0 => chunk(document, place),
            _ => question(document, place - 1, 0),
        };
        evidence.similarity.extend(near.iter().map(|(&(document, place), &near)| (chunk(document, place), near)));
        let sections = words.iter().map(|(&(document, place), &(times, length, document_length))| {
            let found = ChunkTerms { document_length, ..terms(f32::from(times), length) };
            (chunk(document, place), found)
        });
        evidence.terms.extend(sections);
        let mix = Mix { document_share: 0.3, ..MIX };
        let mut scores = document_scores(&evidence, &corpora(), &mix);
        scores.sort_by_key(|found| found.document);
        let mut ranked = rank(&evidence, [], &corpora(), &mix);
        ranked.sort_by_key(|found| found.document);
        let scores = scores.iter().map(|found| (found.document, found.similarity.is_some(), found.dense(None, &mix), found.lexical));
        let of_rank = ranked.iter().map(|found| (found.document, found.similarity.is_some(), found.dense, found.lexical));
        prop_assert_eq!(scores.collect::<Vec<_>>(), of_rank.collect::<Vec<_>>());
    }

    #[test]
    fn scores_stay_in_bounds_and_rise_with_similarity(
        similarity in -1.0f32..0.9, more in 0.0f32..0.1, body in 0.0f32..50.0, length in 1.0f32..1e5
    ) {
        let base = |similarity| {
            let mut evidence = Evidence::default();
            evidence.similarity.insert(chunk(1, 0), similarity);
            evidence.terms.insert(chunk(1, 0), terms(body, length));
            rank(&evidence, [], &corpora(), &MIX)[0].base
        };
        prop_assert!((0.0..=1.0).contains(&base(similarity)));
        prop_assert!(base(similarity + more) >= base(similarity));
    }
}

use proptest::prelude::*;

use super::*;
use crate::index::bm25::Frequencies;
use crate::index::corpus::{ChunkTerms, Corpus, TermWeight};
use crate::query::container::KnownNames;
use crate::query::rule::Rules;
use crate::ranking::rank::{QuestionMix, rank};

const BM25: Bm25 = Bm25 {
    k1: 1.0,
    b: 0.4,
    title: 2.0,
    heading: 1.5,
    keyword: 0.0,
    proximity: 0.0,
};

fn document(number: i64) -> DocumentId {
    DocumentId {
        project: 1,
        document: number,
    }
}

fn chunk(number: i64, chunk: i32) -> ChunkId {
    ChunkId {
        document: document(number),
        chunk,
    }
}

fn terms(times: f32) -> ChunkTerms {
    ChunkTerms {
        near: 0.0,
        length: 100.0,
        document_length: 100.0,
        frequencies: vec![Frequencies {
            body: times,
            closeness: if times > 0.0 { 1.0 } else { 0.0 },
            ..Frequencies::default()
        }],
    }
}

fn corpora() -> Corpora {
    let corpus = Corpus {
        terms: vec![TermWeight {
            idf: 2.0,
            is_held: true,
        }],
        average_chunk: 100.0,
        average_document: 100.0,
    };
    Corpora::from_iter([(1, corpus)])
}

fn evidence(sections: &[(i64, i32, f32)]) -> Evidence {
    let terms = sections
        .iter()
        .map(|&(number, place, times)| (chunk(number, place), terms(times)));
    Evidence {
        terms: terms.collect(),
        ..Evidence::default()
    }
}

#[test]
fn the_best_documents_are_kept_with_all_their_sections() {
    let mut found = evidence(&[(1, 0, 1.0), (1, 4, 5.0), (2, 0, 3.0), (3, 2, 2.0)]);
    assert_eq!(
        retain_best(&mut found, &corpora(), &BM25, 2),
        [chunk(1, 4), chunk(2, 0)]
    );
    let mut kept: Vec<ChunkId> = found.terms.into_keys().collect();
    kept.sort();
    assert_eq!(kept, [chunk(1, 0), chunk(1, 4), chunk(2, 0)]);
}

#[test]
fn of_equally_good_sections_the_first_is_the_best() {
    let mut found = evidence(&[
        (1, 3, 2.0),
        (1, 1, 2.0),
        (1, 2, 2.0),
        (2, 5, 2.0),
        (2, 4, 2.0),
        (2, 0, 1.0),
    ]);
    assert_eq!(
        retain_best(&mut found, &corpora(), &BM25, 9),
        [chunk(1, 1), chunk(2, 4)]
    );
}

proptest! {
    #[test]
    fn the_likeliest_documents_are_kept_and_all_that_were_found_otherwise(
        words in proptest::collection::btree_map(0i64..40, 0.0f32..9.0, 0..40),
        near in proptest::collection::btree_map(0i64..40, 0.0f32..1.0, 0..20),
        named in proptest::collection::btree_set(0i64..60, 0..4),
        most in 0usize..30,
        focus in proptest::option::of(0i64..40),
    ) {
        let mut results = RetrieverResults {
            evidence: evidence(&words.iter().map(|(&number, &times)| (number, 0, times)).collect::<Vec<_>>()),
            near: named.iter().copied().map(document).collect(),
            ..RetrieverResults::default()
        };
        results.evidence.similarity.extend(near.iter().map(|(&number, &near)| (chunk(number, 0), near)));
        let mix = Mix { hybrid: 0.5, document_share: 0.3, baseline: 0.1, bm25: BM25, questions: QuestionMix::default() };
        let before = results.documents();
        let ranked = rank(&results.evidence, std::iter::empty(), &corpora(), &mix);
        let left_out = results.retain_likely(most, focus.map(document), &corpora(), &mix);
        let kept = results.documents();
        prop_assert_eq!(before.len(), kept.len() + left_out);
        prop_assert!(named.iter().all(|&number| kept.contains(&document(number))));
        let focus = focus.map(document).filter(|focus| before.contains(focus));
        prop_assert!(focus.is_none_or(|focus| kept.contains(&focus)));
        let others = kept.iter().filter(|id| !named.contains(&id.document) && Some(**id) != focus).count();
        prop_assert!(others <= most);
        prop_assert!(ranked.len() > most || left_out == 0);
        // Of the documents with compared vectors, no dropped one is better than a kept one.
        let is_compared = |found: &&crate::ranking::rank::ScoredDocument| found.similarity.is_some();
        let compared = || ranked.iter().filter(is_compared);
        let least = compared()
            .filter(|found| kept.contains(&found.document) && !named.contains(&found.document.document))
            .filter(|found| Some(found.document) != focus)
            .map(|found| found.base)
            .fold(1.0, f32::min);
        let out = compared().filter(|found| !kept.contains(&found.document));
        prop_assert!(out.map(|found| found.base).fold(0.0, f32::max) <= least);
    }
}

#[test]
fn what_many_documents_hold_or_define_is_dropped() {
    let few: Vec<i64> = (0..MAX_PHRASE_DOCUMENTS as i64).collect();
    let results = |holding: &[i64], defining: usize| {
        let mut results = RetrieverResults {
            phrase: holding.iter().copied().map(document).collect(),
            defining: (0..defining as i64).map(|number| (document(number), 0)).collect(),
            ..RetrieverResults::default()
        };
        results.drop_ambiguous();
        (results.phrase.len(), results.defining.len())
    };
    assert_eq!(
        results(&few, MAX_DEFINING_DOCUMENTS),
        (MAX_PHRASE_DOCUMENTS, MAX_DEFINING_DOCUMENTS)
    );
    assert_eq!(results(&[0, 1, 2, 3], MAX_DEFINING_DOCUMENTS + 1), (0, 0));
}

#[test]
fn only_documents_that_are_kept_stay() {
    let mut results = RetrieverResults {
        evidence: evidence(&[(1, 0, 1.0), (2, 0, 1.0)]),
        best: vec![chunk(1, 0), chunk(2, 0)],
        near: Set::from_iter([document(2), document(3)]),
        phrase: Set::from_iter([document(3)]),
        others: Set::from_iter([document(4)]),
        ..RetrieverResults::default()
    };
    assert_eq!(results.documents().len(), 4);
    results.keep(&Set::from_iter([document(1), document(2)]));
    assert_eq!(results.documents(), Set::from_iter([document(1), document(2)]));
    assert_eq!((results.phrase.len(), results.others.len()), (0, 0));
}

#[test]
fn sections_whose_similarity_counts_are_asked_for_once() {
    let mut results = RetrieverResults {
        best: vec![chunk(1, 3), chunk(2, 1)],
        near: Set::from_iter([document(5)]),
        ..RetrieverResults::default()
    };
    results.evidence.similarity.insert(chunk(2, 1), 0.5);
    let wanted = Set::from_iter([document(1), document(2), document(5)]);
    let mut unmeasured_sections = results.unmeasured_sections(&wanted);
    unmeasured_sections.sort();
    assert_eq!(unmeasured_sections, [chunk(1, 3), chunk(5, 0)]);
    assert_eq!(results.unmeasured_sections(&Set::from_iter([document(2)])), []);
}

fn boosted(query: &str, results: &RetrieverResults, members: &[usize]) -> Map<DocumentId, Page> {
    let rules = Rules::english();
    let understanding = Understanding::read(query, &rules, &KnownNames::default());
    let page = |title: &str| Page {
        title: title.to_owned(),
        slug: title.to_lowercase(),
        ..Page::default()
    };
    let mut pages = Map::from_iter([(document(1), page("Button")), (document(2), page("ButtonStyle"))]);
    let asked = NameQuery {
        candidate_names: &understanding.candidate_names(),
        containers: &[],
        members,
        typed: "butto",
        understanding: &understanding,
    };
    results.boost_pages(&asked, &mut pages);
    pages
}

#[test]
fn names_phrases_and_near_names_boost() {
    let results = RetrieverResults {
        names: Map::from_iter([(
            document(1),
            NameMatch {
                kind: NameKind::Title,
                candidate: 0,
            },
        )]),
        near: Set::from_iter([document(2), document(9)]),
        phrase: Set::from_iter([document(2)]),
        ..RetrieverResults::default()
    };
    let pages = boosted("Button", &results, &[]);
    assert!(pages[&document(1)].name > 0.9 && pages[&document(1)].phrase == 0.0);
    assert!(pages[&document(2)].near_name > 0.0 && pages[&document(2)].name == 0.0);
    assert_eq!(pages[&document(2)].phrase, phrase_strength(1));
    assert_eq!(pages.len(), 2, "a document that the caller does not see gets no page");
}

#[test]
fn a_retriever_boosts_only_what_it_found() {
    let defining = RetrieverResults {
        defining: vec![(document(2), 0)],
        ..RetrieverResults::default()
    };
    let pages = boosted("PyList_New", &defining, &[]);
    assert_eq!(
        (pages[&document(2)].definition, pages[&document(1)].definition),
        (1.0, 0.0)
    );
    assert_eq!(
        pages[&document(2)].near_name,
        0.0,
        "its name is near to what is typed, but was not asked for"
    );
    let phrase = RetrieverResults {
        phrase: Set::from_iter([document(1), document(2)]),
        ..RetrieverResults::default()
    };
    let pages = boosted("something", &phrase, &[]);
    for number in [1, 2] {
        let page = &pages[&document(number)];
        assert_eq!((page.phrase, page.near_name), (phrase_strength(2), 0.0));
    }
}

#[test]
fn a_page_of_a_qualifier_counts_if_it_describes_the_member() {
    let rules = Rules::english();
    let query = "QuerySet.filter";
    let understanding = Understanding::read(query, &rules, &KnownNames::default());
    let qualifier = understanding
        .candidate_names()
        .iter()
        .position(|candidate| candidate.role == NameRole::Qualifier);
    let candidate = qualifier.expect("a qualifier");
    let results = |times| RetrieverResults {
        evidence: evidence(&[(1, 0, times)]),
        names: Map::from_iter([(
            document(1),
            NameMatch {
                kind: NameKind::Title,
                candidate,
            },
        )]),
        ..RetrieverResults::default()
    };
    assert!(boosted(query, &results(2.0), &[0])[&document(1)].near_name > 0.0);
    assert_eq!(boosted(query, &results(0.0), &[0])[&document(1)].near_name, 0.0);
    assert_eq!(boosted(query, &results(2.0), &[])[&document(1)].near_name, 0.0);
}

proptest! {
    #[test]
    fn a_greater_window_keeps_what_a_smaller_one_does(
        sections in proptest::collection::vec((0i64..6, 0i32..3, 0.0f32..9.0), 1..20), window in 0usize..6, more in 0usize..4,
    ) {
        let (mut few, mut many) = (evidence(&sections), evidence(&sections));
        let few_best = retain_best(&mut few, &corpora(), &BM25, window);
        let many_best = retain_best(&mut many, &corpora(), &BM25, window + more);
        prop_assert!(few_best.len() <= window && many_best.starts_with(&few_best));
        prop_assert!(few.terms.keys().all(|id| many.terms.contains_key(id)));
    }
}

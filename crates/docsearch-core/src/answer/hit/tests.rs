use proptest::prelude::*;

use super::*;
use crate::answer::delivery::Dedup;
use crate::documents::chunk_section::SectionEntry;
use crate::ranking::pin::{PinSteps, PinnedPage, Pins};
use crate::ranking::rank::TextScore;

fn ranked(number: i64, score: f32, bases: &[f32]) -> RankedDocument {
    let document = DocumentId {
        project: 1,
        document: number,
    };
    // The best section is not the first of the document.
    let places = (0..bases.len() as i32).rev();
    let chunks = places.zip(bases).map(|(chunk, &base)| ScoredChunk {
        id: ChunkId { document, chunk },
        similarity: Some(base),
        lexical: base / 2.0,
        heading: 0.0,
        base,
        question: None,
    });
    RankedDocument {
        document: ScoredDocument {
            document,
            similarity: Some(0.9),
            dense: 0.8,
            lexical: 0.7,
            base: 0.6,
            text: TextScore::default(),
            chunks: chunks.collect(),
        },
        score,
    }
}

fn shown(hits: &[Hit]) -> Vec<(i64, i32)> {
    hits.iter()
        .map(|hit| (hit.chunk.document.document, hit.chunk.chunk))
        .collect()
}

fn all(ranked: Vec<RankedDocument>, wanted: usize, beside: usize) -> Vec<Hit> {
    let found = RankedDocuments {
        ranked,
        ..RankedDocuments::default()
    };
    hits(found, wanted, beside)
}

#[test]
fn the_best_section_represents_its_document() {
    let found = all(vec![ranked(1, 0.8, &[0.6, 0.3]), ranked(2, 0.7, &[0.5])], 5, 5);
    assert_eq!(shown(&found), [(1, 1), (2, 0), (1, 0)]);
    assert_eq!((found[0].score, found[2].score), (0.8, 0.4));
    assert_eq!((found[0].similarity, found[0].keyword_score), (Some(0.9), 0.7));
    assert_eq!((found[2].similarity, found[2].keyword_score), (Some(0.3), 0.15));
    assert_eq!(found[0].sections.len(), 2);
    assert!(found[2].sections.is_empty());
}

#[test]
fn who_asks_by_name_is_shown_the_beginning() {
    let found = all(vec![ranked(1, 0.99, &[0.6, 0.4, 0.3])], 5, 5);
    assert_eq!(shown(&found)[0], (1, 0));
    let other = all(vec![ranked(1, 0.93, &[0.6, 0.4, 0.3])], 5, 5);
    assert_eq!(shown(&other)[0], (1, 2));
}

#[test]
fn a_pinned_page_is_shown_by_its_best_section() {
    let (pinned, named) = (ranked(1, 0.5, &[0.6, 0.4, 0.3]), ranked(2, 0.99, &[0.5]));
    let first = Pins {
        first: vec![PinnedPage {
            document: pinned.document.document,
            query: "install".to_owned(),
            text_digest: None,
        }],
        never: Vec::new(),
    };
    let mut found = RankedDocuments {
        ranked: vec![named, pinned],
        ..RankedDocuments::default()
    };
    let unpinned = hits(found.clone(), 5, 5);
    found.pin(&first, PinSteps::default());
    let found = hits(found, 5, 5);
    assert_eq!(shown(&found)[..2], [(1, 2), (2, 0)]);
    // Its further sections keep their places.
    assert_eq!((found[0].score, found[2].score), (1.0, unpinned[2].score));
}

#[test]
fn a_named_section_represents_its_document() {
    let entry = SectionEntry {
        path: vec!["Options".to_owned(), "--tags".to_owned()],
        anchor: "--tags".to_owned(),
    };
    let asked = TargetSection {
        chunk: 1,
        place: SectionPlace::Entry(entry.clone()),
    };
    let ranked = vec![ranked(1, 0.99, &[0.6, 0.4, 0.3])];
    let document = ranked[0].document.document;
    let found = RankedDocuments {
        ranked,
        sections: [(document, asked)].into_iter().collect(),
        ..RankedDocuments::default()
    };
    let found = hits(found, 5, 5);
    assert_eq!(shown(&found)[0], (1, 1));
    assert_eq!(found[0].place, SectionPlace::Entry(entry));
    assert!(found[1..].iter().all(|hit| hit.place == SectionPlace::ByWords));
}

#[test]
fn sections_beside_have_half_of_the_best_ones_score_at_least() {
    let found = all(vec![ranked(1, 0.8, &[0.6, 0.3, 0.29, 0.28])], 0, 5);
    assert_eq!(
        found[0].sections.iter().map(|(id, _)| id.chunk).collect::<Vec<_>>(),
        [3, 2]
    );
    assert_eq!(all(vec![ranked(1, 0.8, &[0.6, 0.3])], 0, 1)[0].sections.len(), 1);
    assert_eq!(all(vec![ranked(1, 0.8, &[0.6, 0.3])], 0, 0).len(), 1);
}

#[test]
fn sections_of_a_document_that_its_name_alone_brings_are_worth_nothing() {
    let found = all(vec![ranked(1, 0.5, &[0.0, 0.0])], 5, 5);
    assert_eq!(found.iter().map(|hit| hit.score).collect::<Vec<_>>(), [0.5, 0.0]);
}

#[test]
fn a_bounded_number_of_sections_is_compared_for_each_result() {
    let found = all(vec![ranked(1, 0.8, &[0.5; 40])], 40, 0);
    assert_eq!(compared(&found, 2).count(), 2 * MAX_COMPARED_SECTIONS);
    let first: Vec<ChunkId> = found.iter().take(3).map(|hit| hit.chunk).collect();
    assert_eq!(compared(&found, 2).take(3).collect::<Vec<_>>(), first);
}

#[test]
fn a_document_without_sections_is_shown_by_its_first() {
    assert_eq!(shown(&all(vec![ranked(4, 0.5, &[])], 3, 3)), [(4, 0)]);
}

#[test]
fn the_lead_is_that_of_the_best_document_over_the_next() {
    let (first, by) = lead(&[ranked(1, 0.5, &[]), ranked(2, 0.9, &[]), ranked(3, 0.6, &[])]);
    assert_eq!(first.map(|first| first.document), Some(2));
    assert!((by - 0.3).abs() < 1e-6);
    let (first, by) = lead(&[ranked(1, 0.9, &[]), ranked(2, 0.5, &[]), ranked(3, 0.6, &[])]);
    assert_eq!(first.map(|first| first.document), Some(1));
    assert!((by - 0.3).abs() < 1e-6);
    assert_eq!(lead(&[ranked(1, 0.9, &[])]).1, 0.0);
    assert_eq!(lead(&[]).0, None);
    let found = all(vec![ranked(1, 0.8, &[0.6, 0.3]), ranked(2, 0.7, &[0.5])], 5, 0);
    let leads: Vec<f32> = found.iter().map(|hit| hit.lead).collect();
    assert!((leads[0] - 0.1).abs() < 1e-6 && leads[1..] == [0.0, 0.0]);
}

fn dedup(mode: Dedup, limit: usize) -> Deduplication {
    Deduplication {
        mode,
        max_similarity: 0.8,
        limit,
    }
}

#[test]
fn s4_6_each_document_is_shown_once_before_any_is_shown_again() {
    let found = || all(vec![ranked(1, 0.9, &[0.6, 0.5]), ranked(2, 0.4, &[0.5])], 5, 0);
    let choose = |mode, limit, min_score, offset| {
        let page = ResultWindow { offset, shown: limit };
        let chosen = choose(found(), &dedup(mode, limit), &Map::default(), min_score, page);
        (chosen.hits, chosen.notice)
    };
    assert_eq!(shown(&choose(Dedup::Document, 2, 0.0, 0).0), [(1, 1), (2, 0)]);
    assert_eq!(shown(&choose(Dedup::None, 2, 0.0, 0).0), [(1, 1), (1, 0)]);
    assert_eq!(shown(&choose(Dedup::None, 3, 0.0, 1).0), [(1, 0), (2, 0)]);
    assert_eq!(shown(&choose(Dedup::None, 3, 0.0, 9).0), []);
    let (kept, notice) = choose(Dedup::Document, 2, 0.5, 0);
    assert_eq!(
        shown(&kept),
        [(1, 1), (1, 0)],
        "a further section comes before what is left out"
    );
    assert!(notice.is_some());
}

#[test]
fn s4_12_a_further_section_is_shown_if_it_says_something_else() {
    let found = || all(vec![ranked(1, 0.9, &[0.6, 0.5])], 5, 0);
    assert_eq!(compared(&found(), 1).count(), 2);
    let with = |second: [f32; 2]| {
        let ids: Vec<ChunkId> = compared(&found(), 1).collect();
        let vectors = Map::from_iter([(ids[0], vec![1.0, 0.0]), (ids[1], second.to_vec())]);
        let page = ResultWindow { offset: 0, shown: 2 };
        choose(found(), &dedup(Dedup::Similar, 2), &vectors, 0.0, page).hits
    };
    let other = with([0.0, 1.0]);
    assert_eq!(
        other.iter().map(|hit| hit.additional).collect::<Vec<_>>(),
        [false, true]
    );
    assert_eq!(with([0.0, 1.0]).len(), 2);
}

proptest! {
    #[test]
    fn no_section_comes_before_its_documents_best(
        documents in proptest::collection::vec((0.0f32..1.0, proptest::collection::vec(0.0f32..1.0, 1..5)), 1..6),
    ) {
        let ranked: Vec<RankedDocument> = (0..)
            .zip(documents)
            .map(|(number, (score, mut bases))| {
                bases.sort_by(|a, b| b.total_cmp(a));
                ranked(number, score, &bases)
            })
            .collect();
        let found = all(ranked.clone(), 10, 10);
        prop_assert!(found.windows(2).all(|pair| pair[0].score >= pair[1].score));
        for document in &ranked {
            let own: Vec<&Hit> =
                found.iter().filter(|hit| hit.chunk.document == document.document.document).collect();
            prop_assert_eq!(own.len(), document.document.chunks.len());
            prop_assert_eq!(own[0].score, document.score);
            prop_assert!(own[0].index == 0);
        }
    }

    #[test]
    fn s4_19_each_number_in_the_notice_is_true_of_the_rows_beside_it(
        documents in proptest::collection::vec((0.0f32..1.0, proptest::collection::vec(0.0f32..1.0, 1..6)), 0..8),
        mode in prop_oneof![Just(Dedup::Document), Just(Dedup::None), Just(Dedup::Similar)],
        min_score in prop_oneof![Just(0.0f32), 0.0f32..1.0],
        (offset, shown, more) in (0usize..8, 1usize..8, 0usize..4),
    ) {
        let documents = documents.into_iter().zip(0..).map(|((score, mut bases), number)| {
            bases.sort_by(|a, b| b.total_cmp(a));
            ranked(number, score, &bases)
        });
        let wanted = offset + shown + more;
        let found = all(documents.collect(), wanted, 0);
        let run = |min_score| {
            let page = ResultWindow { offset, shown };
            choose(found.clone(), &dedup(mode, wanted), &Map::default(), min_score, page)
        };
        let (all, chosen) = (run(0.0), run(min_score));
        let rows: Vec<&Hit> = chosen.hits.iter().take(shown).collect();
        let without: Vec<&Hit> = all.hits.iter().take(shown).collect();
        let reaching = |hits: &[&Hit]| hits.iter().filter(|hit| hit.score >= min_score).count();
        prop_assert_eq!(all.notice, None);
        prop_assert!(chosen.before <= offset && (rows.is_empty() || chosen.before == offset));
        match chosen.notice {
            None => prop_assert_eq!(reaching(&without), without.len()),
            Some(notice) => {
                let left_out = without.len() - reaching(&without);
                let (above, of) = (reaching(&rows), reaching(&rows) + left_out);
                prop_assert_eq!(notice.message, format!("{above} of {of} results above the threshold"));
                // Nothing below is shown, or nothing else.
                prop_assert!(above == rows.len() || above == 0 && rows.len() == of);
            }
        }
    }
}

#[test]
fn s4_19_a_threshold_says_what_it_excludes() {
    let scores = [0.9, 0.85, 0.8, 0.5, 0.1];
    let documents = || {
        scores
            .iter()
            .zip(0..)
            .map(|(score, number)| ranked(number, *score, &[0.5]))
            .collect()
    };
    let run = |min_score| {
        let page = ResultWindow { offset: 0, shown: 5 };
        choose(
            all(documents(), 5, 0),
            &dedup(Dedup::Document, 5),
            &Map::default(),
            min_score,
            page,
        )
    };
    let chosen = run(0.8);
    assert_eq!(
        chosen.hits.iter().map(|hit| hit.score).collect::<Vec<_>>(),
        [0.9, 0.85, 0.8]
    );
    let notice = chosen.notice.expect("two are excluded");
    assert_eq!(notice.message, "3 of 5 results above the threshold");
    assert_eq!(run(0.0).notice, None);
}

#[test]
fn s4_8_a_threshold_never_empties_the_answer() {
    let page = ResultWindow { offset: 0, shown: 2 };
    let documents = vec![ranked(1, 0.4, &[0.5]), ranked(2, 0.2, &[0.5])];
    let chosen = choose(
        all(documents, 2, 0),
        &dedup(Dedup::Document, 2),
        &Map::default(),
        0.99,
        page,
    );
    assert_eq!(chosen.hits.len(), 2);
    assert!(chosen.notice.is_some_and(|notice| notice.message.starts_with("0 of 2")));
}

#[test]
fn s4_19_sections_in_the_places_of_what_is_left_out_are_counted() {
    let documents = vec![
        ranked(1, 0.9, &[0.6, 0.55, 0.5]),
        ranked(2, 0.5, &[0.5]),
        ranked(3, 0.4, &[0.5]),
    ];
    let page = ResultWindow { offset: 0, shown: 3 };
    let chosen = choose(
        all(documents, 3, 0),
        &dedup(Dedup::Document, 3),
        &Map::default(),
        0.7,
        page,
    );
    assert_eq!(shown(&chosen.hits), [(1, 2), (1, 1), (1, 0)]);
    let message = chosen.notice.expect("two pages are left out").message;
    assert_eq!(message, "3 of 5 results above the threshold");
}

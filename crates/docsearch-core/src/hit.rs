//! From ranked documents to the sections that are shown: which section stands for a document, what else of it matches,
//! and which are left when repetitions, a least score and an offset have been taken off.

use crate::delivery::{Deduplication, Notice, above_threshold};
use crate::fusion::{Asked, Entry, Found};
use crate::rank::{ChunkId, DocumentId, Map, ScoredChunk, cosine};
use crate::rerank::Ranked;
use crate::score::{EVIDENCE_CEILING, Step};

// Chosen, not measured, all three.
/// Sections of a result's document that are shown beside it, at most.
pub const SECTION_MATCHES: usize = 5;
/// Sections that are compared with each other for one result, with dedup `similar`.
const COMPARED: usize = 8;
/// A section matches, too, if its base score is at least this share of the best section's.
const SECTION_SHARE: f32 = 0.5;
/// How much more a section counts among those of its document whose headings hold every word of the query.
const HEADING: f32 = 0.5;

/// A result before its texts are read.
#[derive(Clone, Debug)]
pub struct Hit {
    /// The section.
    pub chunk: ChunkId,
    /// What is asked for in it, if that is not where it begins.
    pub entry: Option<Entry>,
    /// Final score, 0 to 1.
    pub score: f32,
    /// How far the score lies above that of the next document, if this is the first.
    pub lead: f32,
    /// Cosine similarity, if its vector was compared.
    pub similarity: Option<f32>,
    /// Keyword score, 0 to 1.
    pub keyword_score: f32,
    /// Whether an earlier hit is of the same document.
    pub additional: bool,
    /// Sections of the document that match, with their scores, best first; none if they are not shown.
    pub sections: Vec<(ChunkId, f32)>,
    /// How the document came to its score, if that is shown.
    pub steps: Option<Vec<Step>>,
    /// Place among the sections of its document, which decides between equal scores.
    place: usize,
}

/// The sections of ranked documents that may be shown, best first: up to `wanted` more than the best of each document.
/// `beside` sections are shown beside the best one.
pub fn hits(mut found: Found, wanted: usize, beside: usize) -> Vec<Hit> {
    let (first, lead) = lead(&found.ranked);
    let mut hits: Vec<Hit> = Vec::new();
    for ranked in found.ranked {
        let document = ranked.document.document;
        let (asked, steps) = (found.sections.remove(&document), found.steps.remove(&document));
        let mut own = of_document(ranked, asked, wanted, beside, steps);
        if Some(document) == first {
            own[0].lead = lead;
        }
        hits.append(&mut own);
    }
    // Of equal scores the documents stay as they were ranked.
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.place.cmp(&b.place)));
    hits
}

/// The sections whose vectors [`choose`] compares with dedup `similar`.
pub fn compared(hits: &[Hit], wanted: usize) -> impl Iterator<Item = ChunkId> {
    hits.iter().take(COMPARED * wanted).map(|hit| hit.chunk)
}

/// The hits that are shown, in order, without the first `offset` of them. `vectors` are those of [`compared`].
pub fn choose(
    hits: Vec<Hit>,
    dedup: &Deduplication,
    vectors: &Map<ChunkId, Vec<f32>>,
    min_score: f32,
    offset: usize,
) -> (Vec<Hit>, Option<Notice>) {
    let choose = |hits: Vec<Hit>| {
        let chosen = dedup.choose(
            hits,
            |hit| hit.chunk.document,
            |a, b| Some(cosine(vectors.get(&a.chunk)?, vectors.get(&b.chunk)?)),
        );
        let chosen = chosen.into_iter().map(|kept| Hit {
            additional: kept.additional,
            ..kept.chunk
        });
        chosen.collect::<Vec<Hit>>()
    };
    let reaching = hits.iter().filter(|hit| min_score > 0.0 && hit.score >= min_score);
    let reaching: Vec<Hit> = reaching.cloned().collect();
    let (mut chosen, notice) = above_threshold(choose(hits), min_score, |hit: &Hit| hit.score);
    if notice.is_some() && !reaching.is_empty() {
        // The places of what was left out go to further sections that reach the score, as in a longer answer.
        chosen = choose(reaching);
    }
    chosen.drain(..offset.min(chosen.len()));
    (chosen, notice)
}

/// What a section is chosen by: a heading that the query names beats a nearer vector.
fn by_heading(chunk: &ScoredChunk) -> f32 {
    chunk.base * (1.0 + HEADING * chunk.heading)
}

/// A section that no leg has read.
fn unread(document: DocumentId, chunk: i32) -> ScoredChunk {
    ScoredChunk {
        id: ChunkId { document, chunk },
        similarity: None,
        lexical: 0.0,
        heading: 0.0,
        base: 0.0,
    }
}

/// The document with the greatest score, and how far that lies above the next one; `None` without documents.
fn lead(ranked: &[Ranked]) -> (Option<DocumentId>, f32) {
    let mut best: Option<&Ranked> = None;
    let mut next: Option<f32> = None;
    for ranked in ranked {
        match best {
            Some(known) if known.score >= ranked.score => {
                next = Some(next.map_or(ranked.score, |next| next.max(ranked.score)));
            }
            _ => {
                next = best.map(|known| known.score);
                best = Some(ranked);
            }
        }
    }
    let lead = best.zip(next).map_or(0.0, |(best, next)| best.score - next);
    (best.map(|best| best.document.document), lead)
}

/// The sections of a document that may become results, best first; there is at least one.
fn of_document(
    ranked: Ranked,
    asked: Option<Asked>,
    wanted: usize,
    beside: usize,
    steps: Option<Vec<Step>>,
) -> Vec<Hit> {
    let Ranked { mut document, score } = ranked;
    let best_base = document.chunks.first().map_or(0.0, |best| best.base);
    document.chunks.sort_by(|a, b| by_heading(b).total_cmp(&by_heading(a)));
    // Who asks for a page by its name is shown its beginning, not where the name stands most often.
    let beginning = (score > EVIDENCE_CEILING).then_some(0);
    let (asked, entry) = asked.map_or((beginning, None), |asked| (Some(asked.chunk), asked.entry));
    if let Some(asked) = asked {
        match document.chunks.iter().position(|chunk| chunk.id.chunk == asked) {
            Some(place) => document.chunks[..=place].rotate_right(1),
            None if asked > 0 => document.chunks.insert(0, unread(document.document, asked)),
            None => {}
        }
    }
    let best = document.chunks.first();
    let section_score = |chunk: &ScoredChunk| {
        // A section never stands before its document's best one.
        let share = if best_base > 0.0 { chunk.base / best_base } else { 0.0 };
        (score * share).min(score)
    };
    let enough = best_base * SECTION_SHARE;
    let matching = document.chunks.iter().enumerate();
    let matching = matching.filter(|(place, chunk)| *place == 0 || chunk.base >= enough);
    let first = Hit {
        chunk: ChunkId {
            document: document.document,
            chunk: best.map_or(0, |best| best.id.chunk),
        },
        entry,
        score,
        similarity: document.similarity,
        keyword_score: document.lexical,
        lead: 0.0,
        additional: false,
        sections: matching
            .take(beside)
            .map(|(_, chunk)| (chunk.id, section_score(chunk)))
            .collect(),
        steps,
        place: 0,
    };
    let mut further: Vec<&ScoredChunk> = document.chunks.iter().skip(1).collect();
    further.sort_by(|a, b| b.base.total_cmp(&a.base).then(a.id.cmp(&b.id)));
    let rest = (1..).zip(further).take(wanted);
    let rest = rest.map(|(place, chunk)| Hit {
        chunk: chunk.id,
        entry: None,
        score: section_score(chunk),
        similarity: chunk.similarity,
        keyword_score: chunk.lexical,
        lead: 0.0,
        additional: false,
        sections: Vec::new(),
        steps: None,
        place,
    });
    std::iter::once(first).chain(rest).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::delivery::Dedup;
    use crate::rank::ScoredDocument;

    fn ranked(number: i64, score: f32, bases: &[f32]) -> Ranked {
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
        });
        Ranked {
            document: ScoredDocument {
                document,
                similarity: Some(0.9),
                dense: 0.8,
                lexical: 0.7,
                base: 0.6,
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

    fn all(ranked: Vec<Ranked>, wanted: usize, beside: usize) -> Vec<Hit> {
        let found = Found {
            ranked,
            ..Found::default()
        };
        hits(found, wanted, beside)
    }

    #[test]
    fn the_best_section_stands_for_its_document() {
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
    fn what_is_asked_for_stands_for_its_document() {
        let entry = Entry {
            path: vec!["Options".to_owned(), "--tags".to_owned()],
            anchor: "--tags".to_owned(),
        };
        let asked = Asked {
            chunk: 1,
            entry: Some(entry.clone()),
        };
        let ranked = vec![ranked(1, 0.99, &[0.6, 0.4, 0.3])];
        let document = ranked[0].document.document;
        let found = Found {
            ranked,
            sections: [(document, asked)].into_iter().collect(),
            ..Found::default()
        };
        let found = hits(found, 5, 5);
        assert_eq!(shown(&found)[0], (1, 1));
        assert_eq!(found[0].entry, Some(entry));
        assert!(found[1..].iter().all(|hit| hit.entry.is_none()));
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
    fn so_many_sections_are_compared_for_each_result() {
        let found = all(vec![ranked(1, 0.8, &[0.5; 40])], 40, 0);
        assert_eq!(compared(&found, 2).count(), 2 * COMPARED);
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
        let choose =
            |mode, limit, min_score, offset| choose(found(), &dedup(mode, limit), &Map::default(), min_score, offset);
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
            choose(found(), &dedup(Dedup::Similar, 2), &vectors, 0.0, 0).0
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
        fn no_section_stands_before_its_documents_best(
            documents in proptest::collection::vec((0.0f32..1.0, proptest::collection::vec(0.0f32..1.0, 1..5)), 1..6),
        ) {
            let ranked: Vec<Ranked> = (0..)
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
                prop_assert!(own[0].place == 0);
            }
        }
    }
}

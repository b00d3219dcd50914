//! From ranked documents to the shown sections: the section of each document, its other matching sections, and the
//! results without repetitions, from a least score and an offset on.

use crate::answer::delivery::{Deduplication, Notice};
use crate::answer::grade::OfText;
use crate::ranking::fusion::{RankedDocuments, SectionPlace, TargetSection};
use crate::ranking::rank::{ScoredChunk, ScoredDocument};
use crate::ranking::rerank::RankedDocument;
use crate::ranking::score::{EVIDENCE_CAP, Step};
use crate::values::cosine::cosine;
use crate::values::id::{ChunkId, DocumentId, Map};

// All three are chosen, not measured.
/// Most matching sections of a document that are shown beside its result.
pub const SECTION_MATCHES: usize = 5;
/// Chunks that are read for them: several may be of one section.
pub const SECTION_CHUNKS: usize = 2 * SECTION_MATCHES;
/// Sections that are compared with each other for each result, with dedup `similar`.
const MAX_COMPARED_SECTIONS: usize = 8;
/// A section matches from this share of the best section's base score on.
const SECTION_SHARE: f32 = 0.5;
/// How much more a section counts whose headings have every word of the query.
const HEADING_BONUS: f32 = 0.5;

/// A result before its texts are read.
#[derive(Clone, Debug)]
pub struct Hit {
    /// The section.
    pub chunk: ChunkId,
    /// Which section of the chunk.
    pub place: SectionPlace,
    /// Final score, 0 to 1.
    pub score: f32,
    /// Lead of its score over the next document, if this is the first.
    pub lead: f32,
    /// Cosine similarity, if its vector was compared.
    pub similarity: Option<f32>,
    /// Keyword score, 0 to 1.
    pub keyword_score: f32,
    /// Whether an earlier hit is of the same document.
    pub additional: bool,
    /// Matching sections of the document with their scores, best first; empty if they are not shown.
    pub sections: Vec<(ChunkId, f32)>,
    /// Steps that lead to the score, if they are shown.
    pub steps: Option<Vec<Step>>,
    /// The question of the section that raised its score, if one did.
    pub question: Option<ChunkId>,
    /// Scores of the text without the questions that it answers.
    pub of_text: OfText,
    /// Index of the wording that found the document, see [`RankedDocuments::wordings`].
    pub wording: usize,
    /// Index among the sections of its document, which decides between equal scores.
    index: usize,
}

impl Hit {
    /// Scores to grade by, if an untrusted wording found the document.
    fn of_trusted(&self, trusted: &RankedDocument) -> OfText {
        let whole = of_text(&trusted.document, trusted.score);
        let guessed = self.score > EVIDENCE_CAP && trusted.score <= EVIDENCE_CAP;
        if self.index == 0 {
            return OfText { guessed, ..whole };
        }
        let chunk = trusted.document.chunks.iter().find(|chunk| chunk.id == self.chunk);
        OfText {
            score: whole.score.min(self.score),
            similarity: chunk.and_then(|chunk| chunk.similarity),
            keyword_score: chunk.map_or(0.0, |chunk| chunk.lexical),
            guessed,
        }
    }
}

/// Scores to grade a document by.
fn of_text(document: &ScoredDocument, score: f32) -> OfText {
    let text = document.text;
    let share = if document.base > 0.0 {
        text.base / document.base
    } else {
        1.0
    };
    OfText {
        score: score * (1.0 + share) / 2.0,
        similarity: text.similarity,
        keyword_score: text.lexical,
        guessed: false,
    }
}

/// The sections of ranked documents that may be shown, best first: the best of each document, and up to `wanted`
/// more. `beside` sections are shown beside the best one.
pub fn hits(mut found: RankedDocuments, wanted: usize, beside: usize) -> Vec<Hit> {
    let (first, lead) = lead(&found.ranked);
    let mut hits: Vec<Hit> = Vec::new();
    for ranked in found.ranked {
        let document = ranked.document.document;
        let (target, steps) = (found.sections.remove(&document), found.steps.remove(&document));
        let by_evidence = found.pinned.get(&document).copied().unwrap_or(ranked.score);
        let mut own = of_document(ranked, by_evidence, target, wanted, beside, steps);
        let wording = found.wordings.get(&document).copied().unwrap_or_default();
        own.iter_mut().for_each(|hit| hit.wording = wording);
        if let Some(trusted) = found.trusted.remove(&document) {
            own.iter_mut().for_each(|hit| hit.of_text = hit.of_trusted(&trusted));
        }
        if Some(document) == first {
            own[0].lead = lead;
        }
        hits.append(&mut own);
    }
    // Documents with equal scores keep their order.
    let place = |hit: &Hit| found.places.get(&hit.chunk.document);
    hits.sort_by(|a, b| {
        let by_score = || b.score.total_cmp(&a.score).then(a.index.cmp(&b.index));
        place(a).cmp(&place(b)).then_with(by_score)
    });
    hits
}

/// The sections whose vectors [`choose`] compares with dedup `similar`.
pub fn compared(hits: &[Hit], wanted: usize) -> impl Iterator<Item = ChunkId> {
    hits.iter().take(MAX_COMPARED_SECTIONS * wanted).map(|hit| hit.chunk)
}

/// Which of the selected results are shown.
#[derive(Clone, Copy, Debug)]
pub struct ResultWindow {
    /// Number of results to skip.
    pub offset: usize,
    /// Most results after them.
    pub shown: usize,
}

/// The results of an answer.
#[derive(Clone, Debug, Default)]
pub struct PageOfHits {
    /// In order, those that are shown first.
    pub hits: Vec<Hit>,
    /// Number of skipped results.
    pub before: usize,
    /// Notice about results below the least score.
    pub notice: Option<Notice>,
}

/// The shown hits, in order. `vectors` are those of [`compared`]. Hits below `min_score` are left out, unless all
/// are: scores never make an answer empty, and [`Confidence::of`](crate::answer::delivery::Confidence::of) marks such
/// hits low.
pub fn choose(
    hits: Vec<Hit>,
    dedup: &Deduplication,
    vectors: &Map<ChunkId, Vec<f32>>,
    min_score: f32,
    page: ResultWindow,
) -> PageOfHits {
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
    let is_below = |hit: &&Hit| hit.score < min_score;
    let of_page = |chosen: &[Hit]| -> Vec<Hit> { chosen.iter().skip(page.offset).take(page.shown).cloned().collect() };
    let reaching: Vec<Hit> = match min_score > 0.0 {
        true => hits.iter().filter(|hit| !is_below(hit)).cloned().collect(),
        false => Vec::new(),
    };
    let mut chosen = choose(hits);
    let below = of_page(&chosen).iter().filter(is_below).count();
    if !reaching.is_empty() && chosen.iter().any(|hit| is_below(&hit)) {
        // Their places go to further sections that reach the score, as in a longer answer.
        chosen = choose(reaching);
    }
    let above = of_page(&chosen).iter().filter(|hit| !is_below(hit)).count();
    let before = page.offset.min(chosen.len());
    chosen.drain(..before);
    PageOfHits {
        hits: chosen,
        before,
        notice: (below > 0).then(|| Notice::below_threshold(above, above + below)),
    }
}

/// Rank of a section in its document: a heading with the query's words beats a nearer vector.
fn by_heading(chunk: &ScoredChunk) -> f32 {
    chunk.base * (1.0 + HEADING_BONUS * chunk.heading)
}

/// The document with the greatest score, and its lead over the next; `None` without documents.
fn lead(ranked: &[RankedDocument]) -> (Option<DocumentId>, f32) {
    let mut best: Option<&RankedDocument> = None;
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

/// The sections of a document that may become results, best first. There is at least one. A pinned document has a
/// greater score than `by_evidence`.
fn of_document(
    ranked: RankedDocument,
    by_evidence: f32,
    target: Option<TargetSection>,
    wanted: usize,
    beside: usize,
    steps: Option<Vec<Step>>,
) -> Vec<Hit> {
    let RankedDocument { mut document, score } = ranked;
    let best_base = document.chunks.first().map_or(0.0, |best| best.base);
    document.chunks.sort_by(|a, b| by_heading(b).total_cmp(&by_heading(a)));
    // A query for a page by its name gets the beginning of the page, not the section that has the name most often.
    let beginning = (by_evidence > EVIDENCE_CAP).then_some(0);
    let by_words = (beginning, SectionPlace::ByWords);
    let (target, place) = target.map_or(by_words, |target| (Some(target.chunk), target.place));
    if let Some(target) = target {
        match document.chunks.iter().position(|chunk| chunk.id.chunk == target) {
            Some(index) => document.chunks[..=index].rotate_right(1),
            None if target > 0 => document
                .chunks
                .insert(0, ScoredChunk::unread(document.document, target)),
            None => {}
        }
    }
    let best = document.chunks.first();
    let section_score = |chunk: &ScoredChunk| {
        // A section never comes before the best one of its document.
        let share = if best_base > 0.0 { chunk.base / best_base } else { 0.0 };
        (by_evidence * share).min(by_evidence)
    };
    let enough = best_base * SECTION_SHARE;
    let matching = document.chunks.iter().enumerate();
    let matching = matching.filter(|(index, chunk)| *index == 0 || chunk.base >= enough);
    let first = Hit {
        chunk: ChunkId {
            document: document.document,
            chunk: best.map_or(0, |best| best.id.chunk),
        },
        place,
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
        of_text: of_text(&document, score),
        question: best.and_then(|best| best.question).map(|question| question.id),
        wording: 0,
        index: 0,
    };
    let mut further: Vec<&ScoredChunk> = document.chunks.iter().skip(1).collect();
    further.sort_by(|a, b| b.base.total_cmp(&a.base).then(a.id.cmp(&b.id)));
    let rest = (1..).zip(further).take(wanted);
    let rest = rest.map(|(index, chunk)| Hit {
        chunk: chunk.id,
        place: SectionPlace::ByWords,
        score: section_score(chunk),
        similarity: chunk.similarity,
        keyword_score: chunk.lexical,
        lead: 0.0,
        additional: false,
        sections: Vec::new(),
        steps: None,
        of_text: OfText {
            score: section_score(chunk),
            similarity: chunk.similarity,
            keyword_score: chunk.lexical,
            guessed: false,
        },
        question: chunk.question.map(|question| question.id),
        wording: 0,
        index,
    });
    std::iter::once(first).chain(rest).collect()
}

#[cfg(test)]
mod tests;

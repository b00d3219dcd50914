//! Several wordings of one question: how much each is trusted, and their merged results.
//!
//! ```text
//! link(a, b) = 1 / (1 + exp(-(10 * likeness + 10 * agreement - 12.5)))
//! trust(b)   = 1 - product over the others a of (1 - trust(a) * link(a, b)); 1 for the question
//! share      = trust / sum of trust, where the question counts half
//! score      = sum of share * min(score, EVIDENCE_CAP)
//! ```
//!
//! `likeness` is the calibrated cosine of the vectors of two wordings. `agreement` is the greatest sum of both scores
//! of one document over the sum of both greatest scores: 1 if both put the same document first. (The correlation of
//! their scores means less the more documents there are: wordings of one meaning find different documents.) The
//! numbers were chosen on 45 questions with two wordings each over six manuals, one by one and together with nine
//! others, beside wordings of other questions (docs/decisions/0035-wordings.md).

use crate::query::input::{MAX_QUERY_CHARS, Query};
use crate::query::mention::excludes_only;
use crate::ranking::fusion::{RankedDocuments, TargetSection};
use crate::ranking::rerank::RankedDocument;
use crate::ranking::score::{EVIDENCE_CAP, Step};
use crate::values::cosine::{cosine, dense_score};
use crate::values::id::{DocumentId, Map};

/// Most further wordings of a question.
pub const MAX_WORDINGS: usize = 5;
/// Greatest length of further wordings together, in characters.
pub const MAX_WORDING_CHARS: usize = MAX_QUERY_CHARS;

/// Weights of likeness and agreement in a link, and the offset.
const LIKENESS: f32 = 10.0;
const AGREEMENT: f32 = 10.0;
const DOUBT: f32 = 12.5;
/// The same without vectors. Chosen between the agreement of wordings of one question and that of different
/// questions.
const AGREEMENT_ALONE: f32 = 30.0;
const DOUBT_ALONE: f32 = 27.0;
/// Factor of the trust in the question: a wording in the words of the documentation finds more.
const QUESTION: f32 = 0.5;
/// Number of rounds in which trust spreads between wordings. More change little.
const ROUNDS: usize = 4;

/// Why wordings are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordingError {
    /// How many were given.
    TooMany(usize),
    /// They have more than [`MAX_WORDING_CHARS`] characters together.
    TooLong,
}

/// A wording as it is compared: without case, repeated blanks and punctuation at its end.
fn compared(text: &str) -> String {
    let spaced = text.split_whitespace().collect::<Vec<&str>>().join(" ");
    let stripped = spaced.trim_end_matches(['.', '?', '!', ':', ' ']);
    if stripped.is_empty() {
        spaced
    } else {
        stripped.to_lowercase()
    }
}

/// A question and its further wordings: without blank ones, each once, in an order independent of the given one. A
/// wording of excluded words alone is appended to the question.
///
/// # Errors
///
/// [`WordingError`]: more than [`MAX_WORDINGS`] are given, blank ones counted, or they are too long.
pub fn distinct_wordings<'a>(
    query: Query,
    given: impl IntoIterator<Item = Option<&'a str>>,
) -> Result<(Query, Vec<Query>), WordingError> {
    let given: Vec<Option<&str>> = given.into_iter().collect();
    if given.len() > MAX_WORDINGS {
        return Err(WordingError::TooMany(given.len()));
    }
    let texts = given.into_iter().flatten().map(str::trim);
    let texts: Vec<&str> = texts.filter(|text| !text.is_empty()).collect();
    if texts.iter().map(|text| text.chars().count()).sum::<usize>() > MAX_WORDING_CHARS {
        return Err(WordingError::TooLong);
    }
    let mut known: Vec<(String, &str)> = texts.into_iter().map(|text| (compared(text), text)).collect();
    known.sort();
    known.dedup_by(|a, b| a.0 == b.0);
    let written = compared(&query.text);
    let others = known.into_iter().filter(|(text, _)| *text != written);
    let (excluding, others): (Vec<_>, Vec<_>) = others.partition(|(_, text)| excludes_only(text));
    let others = others.into_iter().filter_map(|(_, text)| Query::parse(text)).collect();
    if excluding.is_empty() {
        return Ok((query, others));
    }
    let truncated = query.truncated;
    let excluding = excluding.into_iter().map(|(_, text)| text);
    let texts: Vec<&str> = std::iter::once(query.text.as_str()).chain(excluding).collect();
    let mut query = Query::parse(&texts.join(" ")).unwrap_or(query);
    query.truncated |= truncated;
    Ok((query, others))
}

/// Results of a wording. The first of several is the question as written.
#[derive(Debug)]
pub struct WordingRanking {
    /// Its vector, if it has one.
    pub vector: Option<Vec<f32>>,
    /// Results, for all documents that any wording found.
    pub found: RankedDocuments,
    /// Whether it comes from a language model and not from the caller.
    pub by_model: bool,
}

/// Merged results of several wordings.
#[derive(Debug, Default)]
pub struct MergedRanking {
    /// The documents, each as found by the wording that supports it most.
    pub found: RankedDocuments,
    /// Share of each wording; the sum is 1.
    pub shares: Vec<f32>,
    /// Scores of each document by all wordings.
    pub scores: Map<DocumentId, Vec<f32>>,
}

/// Scores of the documents by all wordings, 0 where a wording did not find one.
fn scores(worded: &[WordingRanking]) -> Map<DocumentId, Vec<f32>> {
    let mut scores: Map<DocumentId, Vec<f32>> = Map::default();
    for (wording, found) in worded.iter().enumerate() {
        for ranked in &found.found.ranked {
            let own = scores
                .entry(ranked.document.document)
                .or_insert_with(|| vec![0.0; worded.len()]);
            own[wording] = ranked.score;
        }
    }
    scores
}

/// Whether two wordings put the same document first: the greatest sum of both scores over the sum of the greatest
/// scores, 0 to 1.
fn agreement(scores: &[&[f32]], a: usize, b: usize) -> f32 {
    let evidence = |own: &[f32], wording: usize| own[wording].min(EVIDENCE_CAP);
    let greatest = |score: &dyn Fn(&[f32]) -> f32| scores.iter().map(|own| score(own)).fold(0.0, f32::max);
    let together = greatest(&|own| evidence(own, a) + evidence(own, b));
    let apart = greatest(&|own| evidence(own, a)) + greatest(&|own| evidence(own, b));
    if apart > 0.0 { together / apart } else { 0.0 }
}

/// How surely two wordings mean the same, 0 to 1.
fn link(likeness: Option<f32>, agreement: f32) -> f32 {
    let evidence = match likeness {
        Some(likeness) => LIKENESS * likeness + AGREEMENT * agreement - DOUBT,
        None => AGREEMENT_ALONE * agreement - DOUBT_ALONE,
    };
    1.0 / (1.0 + (-evidence).exp())
}

/// Trust in each wording, 0 to 1, by its links to trusted wordings. The question is trusted first.
fn trust(links: &[Vec<f32>]) -> Vec<f32> {
    let mut trust: Vec<f32> = (0..links.len()).map(|wording| f32::from(wording == 0)).collect();
    for _ in 0..ROUNDS {
        let doubt = |to: usize| {
            let others = trust.iter().enumerate().filter(|(from, _)| *from != to);
            others
                .map(|(from, trust)| 1.0 - trust * links[from][to])
                .product::<f32>()
        };
        trust = (0..links.len())
            .map(|to| if to == 0 { 1.0 } else { 1.0 - doubt(to) })
            .collect();
    }
    trust
}

/// Share of each wording; the sum is 1.
fn shares(trust: &[f32]) -> Vec<f32> {
    let weight = |(wording, trust): (usize, &f32)| trust * if wording == 0 { QUESTION } else { 1.0 };
    let weights: Vec<f32> = trust.iter().enumerate().map(weight).collect();
    let all: f32 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / all).collect()
}

/// Score of a document by all wordings. An exact name in any wording is one; the less its wording is trusted, the
/// less it exceeds other evidence.
fn together(scores: &[f32], trust: &[f32], shares: &[f32]) -> f32 {
    let evidence = scores.iter().zip(shares);
    let evidence = evidence.map(|(score, share)| share * score.min(EVIDENCE_CAP)).sum();
    let named = scores.iter().zip(trust).filter(|(score, _)| **score > EVIDENCE_CAP);
    let named = named.map(|(score, trust)| EVIDENCE_CAP + (score - EVIDENCE_CAP) * trust.max(MIN_NAME_SHARE));
    named.fold(evidence, f32::max)
}

/// Trust from which on a wording counts for grades and certainty: half of that in the question. An exact name in a
/// less trusted wording of a language model does not count: a model may guess any name.
const MIN_TRUST: f32 = 0.5;

/// Least share of its excess over other evidence that an exact name keeps in an untrusted wording. Chosen.
const MIN_NAME_SHARE: f32 = 0.1;

/// Merges the results of several wordings. `baseline` is [`crate::ranking::rank::Mix::baseline`]. `added` is a
/// document that is ranked although no wording found it; it does not affect trust.
pub fn merge_wordings(worded: Vec<WordingRanking>, baseline: f32, added: Option<DocumentId>) -> MergedRanking {
    let mut scores = scores(&worded);
    let found_by_one = scores.iter().filter(|(document, _)| Some(**document) != added);
    let of_documents: Vec<&[f32]> = found_by_one.map(|(_, own)| own.as_slice()).collect();
    let links: Vec<Vec<f32>> = (0..worded.len())
        .map(|a| {
            let to = |b: usize| {
                let vectors = worded[a].vector.as_ref().zip(worded[b].vector.as_ref());
                let likeness = vectors.map(|(a, b)| dense_score(cosine(a, b), baseline));
                link(likeness, agreement(&of_documents, a, b))
            };
            (0..worded.len()).map(to).collect()
        })
        .collect();
    let trust = trust(&links);
    let shares = shares(&trust);
    for (wording, _) in worded.iter().enumerate().filter(|(_, worded)| worded.by_model) {
        if trust[wording] < MIN_TRUST {
            for own in scores.values_mut() {
                own[wording] = own[wording].min(EVIDENCE_CAP);
            }
        }
    }
    // For each document, the best wording and its result, and the same among trusted wordings.
    let mut best: Map<DocumentId, (usize, RankedDocument)> = Map::default();
    let mut best_trusted: Map<DocumentId, (f32, RankedDocument)> = Map::default();
    let mut sections: Vec<Map<DocumentId, TargetSection>> = Vec::new();
    let mut found = RankedDocuments::default();
    for (wording, WordingRanking { found: own, .. }) in worded.into_iter().enumerate() {
        if wording == 0 {
            found.steps = own.steps;
        }
        for ranked in own.ranked {
            let own = &scores[&ranked.document.document];
            let support = |wording: usize| (own[wording] > EVIDENCE_CAP, trust[wording] * own[wording]);
            if trust[wording] >= MIN_TRUST {
                let support = support(wording).1;
                let known = best_trusted.get(&ranked.document.document);
                if known.is_none_or(|(known, _)| support > *known) {
                    best_trusted.insert(ranked.document.document, (support, ranked.clone()));
                }
            }
            let known = best.get(&ranked.document.document);
            if known.is_none_or(|(of, _)| support(wording) > support(*of)) {
                best.insert(ranked.document.document, (wording, ranked));
            }
        }
        found.copies.extend(own.copies);
        sections.push(own.sections);
    }
    for (document, (wording, ranked)) in best {
        let section = sections[wording].remove(&document);
        found.sections.extend(section.map(|section| (document, section)));
        found.wordings.insert(document, wording);
        let doubted = trust[wording] < MIN_TRUST;
        if let Some((_, trusted)) = best_trusted.remove(&document).filter(|_| doubted) {
            let of_trusted = scores[&document].iter().zip(&trust);
            let of_trusted = of_trusted.map(|(score, trust)| match *trust >= MIN_TRUST {
                true => *score,
                false => score.min(EVIDENCE_CAP),
            });
            let of_trusted: Vec<f32> = of_trusted.collect();
            let score = together(&of_trusted, &trust, &shares);
            found.trusted.insert(document, RankedDocument { score, ..trusted });
        }
        found.ranked.push(RankedDocument {
            score: together(&scores[&document], &trust, &shares),
            ..ranked
        });
    }
    found.ranked.sort_by(RankedDocument::by_score);
    MergedRanking { found, shares, scores }
}

impl MergedRanking {
    /// Adds the steps by other wordings to those of the first `explained` documents and of `focus`. Drops the steps
    /// of all others.
    pub fn explain(&mut self, wordings: &[&str], explained: usize, focus: Option<DocumentId>) {
        let mut steps = std::mem::take(&mut self.found.steps);
        for (index, ranked) in self.found.ranked.iter().enumerate() {
            let document = ranked.document.document;
            if (index < explained || focus == Some(document))
                && let Some(mut own) = steps.remove(&document)
            {
                own.extend(self.steps(document, ranked.score, wordings));
                self.found.steps.insert(document, own);
            }
        }
    }

    /// The steps from the score of a document by the question to that by all wordings.
    fn steps(&self, document: DocumentId, score: f32, wordings: &[&str]) -> Vec<Step> {
        let scores = &self.scores[&document];
        let mut before = scores[0];
        let (mut sum, mut all) = (self.shares[0] * before.min(EVIDENCE_CAP), self.shares[0]);
        let others = scores.iter().zip(&self.shares).zip(wordings).skip(1);
        let steps = others.map(|((own, share), wording)| {
            sum += share * own.min(EVIDENCE_CAP);
            all += share;
            let step = Step::wording("also", wording, *own, *share, before, sum / all);
            before = step.after;
            step
        });
        let mut steps: Vec<Step> = steps.collect();
        if score > EVIDENCE_CAP {
            let wording = (0..scores.len()).max_by(|a, b| scores[*a].total_cmp(&scores[*b]));
            let wording = wording.unwrap_or_default();
            let (own, share) = (scores[wording], self.shares[wording]);
            steps.push(Step::wording("named", wordings[wording], own, share, before, score));
        }
        steps
    }
}

#[cfg(test)]
mod tests;

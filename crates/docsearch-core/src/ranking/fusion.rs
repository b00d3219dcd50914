//! Fuses the results of two searches for one question.

use crate::documents::chunk_section::SectionEntry;
use crate::query::transformation::fused;
use crate::ranking::copies::Copies;
use crate::ranking::rerank::RankedDocument;
use crate::ranking::score::{EVIDENCE_CAP, Step};
use crate::values::id::{DocumentId, Map, Set};

/// Results of a search: documents with their scores and explanations.
#[derive(Clone, Debug, Default)]
pub struct RankedDocuments {
    /// Documents, best first.
    pub ranked: Vec<RankedDocument>,
    /// Steps of the documents that are explained.
    pub steps: Map<DocumentId, Vec<Step>>,
    /// Sections that the query names, by document.
    pub sections: Map<DocumentId, TargetSection>,
    /// Index of the wording that found a document best. Documents without an entry were found by the question as
    /// written.
    pub wordings: Map<DocumentId, usize>,
    /// How trusted wordings found a document, if the one that found it best is not trusted.
    pub trusted: Map<DocumentId, RankedDocument>,
    /// Which documents are copies of each other.
    pub copies: Copies,
    /// The place of each document, if the caller orders them; else the score decides.
    pub places: Map<DocumentId, usize>,
    /// Documents that an editor put first, with their scores before.
    pub pinned: Map<DocumentId, f32>,
}

/// A section that a query names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetSection {
    /// Its number, or that of the chunk that holds it with its neighbours.
    pub chunk: i32,
    /// Which section of the chunk it is.
    pub place: SectionPlace,
}

/// A section in a chunk that may hold several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SectionPlace {
    /// The one with the words of the query.
    #[default]
    ByWords,
    /// The one in which the chunk starts.
    Beginning,
    /// This one.
    Entry(SectionEntry),
}

/// A second search that is fused with the first.
#[derive(Clone, Copy, Debug)]
pub struct SecondSearch<'a> {
    /// The rule that explains it, such as `transformed_query`.
    pub rule: &'static str,
    /// Its query.
    pub query: &'a str,
    /// Share of its advantage that is added to a score, 0 to 1.
    pub share: f32,
}

impl RankedDocuments {
    /// Adds the results of another search: its documents, and a share of what it scores higher, see [`fused`]. Exact
    /// names stay above all else.
    pub fn fuse(&mut self, found: RankedDocuments, other: SecondSearch<'_>) {
        let mut theirs: Map<DocumentId, RankedDocument> = found
            .ranked
            .into_iter()
            .map(|ranked| (ranked.document.document, ranked))
            .collect();
        let fuse = |steps: Option<&mut Vec<Step>>, own: f32, raw: f32| {
            let score = fused(own, raw, other.share, EVIDENCE_CAP);
            if let Some(steps) = steps {
                steps.push(Step::other(other.rule, other.query, raw, other.share, own, score));
            }
            score
        };
        for ranked in &mut self.ranked {
            let document = ranked.document.document;
            if let Some(their) = theirs.remove(&document) {
                ranked.score = fuse(self.steps.get_mut(&document), ranked.score, their.score);
            }
        }
        for (document, mut ranked) in theirs {
            let explained = found
                .steps
                .contains_key(&document)
                .then(|| self.steps.entry(document).or_default());
            ranked.score = fuse(explained, 0.0, ranked.score);
            self.ranked.push(ranked);
        }
        self.ranked.sort_by(RankedDocument::by_score);
        for (document, section) in found.sections {
            self.sections.entry(document).or_insert(section);
        }
        self.copies.extend(found.copies);
    }

    /// Number of documents that are no copies of each other.
    pub fn distinct(&self) -> usize {
        self.copies
            .distinct(self.ranked.iter().map(|ranked| ranked.document.document))
    }

    /// Removes a document.
    pub fn remove(&mut self, document: DocumentId) {
        self.ranked.retain(|ranked| ranked.document.document != document);
        self.steps.remove(&document);
        self.sections.remove(&document);
        self.wordings.remove(&document);
        self.trusted.remove(&document);
        self.pinned.remove(&document);
        self.copies.remove(document);
    }

    /// Appends the new documents of a further search, none above those that were found before.
    pub fn append(&mut self, further: Self) {
        let known: Set<DocumentId> = self.ranked.iter().map(|ranked| ranked.document.document).collect();
        let last = self.ranked.last().map_or(1.0, |ranked| ranked.score);
        let new = further.ranked.into_iter().map(|ranked| RankedDocument {
            score: ranked.score.min(last),
            ..ranked
        });
        let new = new.filter(|ranked| !known.contains(&ranked.document.document));
        self.ranked.extend(new);
        let steps = further
            .steps
            .into_iter()
            .filter(|(document, _)| !known.contains(document));
        self.steps.extend(steps);
        for (document, section) in further.sections {
            self.sections.entry(document).or_insert(section);
        }
        self.copies.extend(further.copies);
    }
}

#[cfg(test)]
impl RankedDocuments {
    /// Documents with these scores and nothing else, each with steps.
    pub(crate) fn of_scores(scores: impl Iterator<Item = (DocumentId, f32)> + Clone) -> Self {
        let ranked = scores.clone().map(|(document, score)| RankedDocument {
            document: crate::ranking::rank::ScoredDocument {
                document,
                similarity: None,
                dense: 0.0,
                lexical: 0.0,
                base: 0.0,
                text: crate::ranking::rank::TextScore::default(),
                chunks: Vec::new(),
            },
            score,
        });
        Self {
            ranked: ranked.collect(),
            steps: scores.map(|(document, _)| (document, Vec::new())).collect(),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const OTHER: SecondSearch<'_> = SecondSearch {
        rule: "transformed_query",
        query: "kubernetes",
        share: 0.5,
    };

    fn id(document: i64) -> DocumentId {
        DocumentId { project: 1, document }
    }

    fn found(scores: &[(i64, f32)], explained: bool) -> RankedDocuments {
        let found = RankedDocuments::of_scores(scores.iter().map(|&(document, score)| (id(document), score)));
        match explained {
            true => found,
            false => RankedDocuments {
                steps: Map::default(),
                ..found
            },
        }
    }

    fn scores(found: &RankedDocuments) -> Vec<(i64, f32)> {
        found
            .ranked
            .iter()
            .map(|ranked| (ranked.document.document.document, ranked.score))
            .collect()
    }

    #[test]
    fn what_the_other_finds_better_counts_in_part() {
        let mut own = found(&[(1, 0.6), (2, 0.4)], false);
        own.fuse(found(&[(2, 0.8), (3, 0.9)], false), OTHER);
        assert_eq!(
            scores(&own),
            [
                (1, 0.6),
                (2, fused(0.4, 0.8, 0.5, EVIDENCE_CAP)),
                (3, fused(0.0, 0.9, 0.5, EVIDENCE_CAP))
            ]
        );
    }

    #[test]
    fn steps_are_written_for_documents_that_are_explained() {
        let mut own = found(&[(1, 0.6)], true);
        own.fuse(found(&[(1, 0.9), (2, 0.9)], true), OTHER);
        for (document, score) in scores(&own) {
            let step = own.steps[&id(document)].last().expect("a step");
            assert_eq!(
                (step.rule, step.matched.as_str(), step.after),
                ("transformed_query", "kubernetes", score)
            );
        }
        let mut silent = found(&[(1, 0.6)], false);
        silent.fuse(found(&[(1, 0.9), (2, 0.9)], false), OTHER);
        assert!(silent.steps.is_empty());
    }

    proptest! {
        #[test]
        fn nothing_sinks_and_names_stay_first(
            own in proptest::collection::btree_map(0i64..8, 0.0f32..1.0, 0..8),
            theirs in proptest::collection::btree_map(0i64..8, 0.0f32..1.0, 0..8),
            share in 0.0f32..=1.0,
        ) {
            let of = |scores: &std::collections::BTreeMap<i64, f32>| {
                found(&scores.iter().map(|(&document, &score)| (document, score)).collect::<Vec<_>>(), false)
            };
            let mut both = of(&own);
            both.fuse(of(&theirs), SecondSearch { share, ..OTHER });
            prop_assert!(both.ranked.windows(2).all(|pair| pair[0].score >= pair[1].score));
            for (document, score) in scores(&both) {
                let before = own.get(&document).copied().unwrap_or(0.0);
                prop_assert!(score >= before - 1e-6);
                prop_assert!(before > EVIDENCE_CAP || score <= EVIDENCE_CAP.max(before) + 1e-6);
            }
            let all: std::collections::BTreeSet<i64> = own.keys().chain(theirs.keys()).copied().collect();
            prop_assert_eq!(both.ranked.len(), all.len());
        }
    }
}

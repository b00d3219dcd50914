//! Pages that an editor puts first for a query, and pages that never answer it.

use crate::ranking::fusion::RankedDocuments;
use crate::ranking::rank::{ScoredDocument, TextScore};
use crate::ranking::rerank::RankedDocument;
use crate::ranking::score::{EVIDENCE_CAP, Step};
use crate::values::id::{DocumentId, Set};

/// Most pages that one search puts first.
pub const MAX_FIRST: usize = 50;
/// Distance between the scores of pinned pages, the first of which has the score 1.
const DISTANCE: f32 = 1e-6;
/// The greatest strength of a name, see [`crate::ranking::rank::name_strength`].
const GREATEST_NAME: f32 = 0.999;

// Every pinned page comes before every page with the exact name.
const _: () = assert!(MAX_FIRST as f32 * DISTANCE < (1.0 - EVIDENCE_CAP) * (1.0 - GREATEST_NAME));

/// A pinned page that the caller may see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinnedPage {
    /// The page.
    pub document: DocumentId,
    /// The query that it is pinned for, as the editor wrote it.
    pub query: String,
    /// Digest of its text, see [`crate::documents::text_digest`].
    pub text_digest: Option<i64>,
}

/// The pinned pages of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pins {
    /// The first pages, in order.
    pub first: Vec<PinnedPage>,
    /// Pages that are no results. They win over `first`.
    pub never: Vec<PinnedPage>,
}

/// What a caller wants to know of pinned pages.
#[derive(Clone, Copy, Debug, Default)]
pub struct PinSteps {
    /// Whether the steps to the scores are shown.
    pub are_shown: bool,
    /// A document that is explained, and kept though it is no result.
    pub focus: Option<DocumentId>,
}

impl RankedDocuments {
    /// Puts pages first, whether they were found or not, and removes those that are no results.
    pub fn pin(&mut self, pins: &Pins, explained: PinSteps) {
        let never: Set<DocumentId> = pins.never.iter().map(|page| page.document).collect();
        for page in &pins.never {
            if explained.focus == Some(page.document) {
                self.explain_pin("never", page, 0.0, 0.0);
            } else {
                self.remove(page.document);
            }
        }
        let first = pins.first.iter().filter(|page| !never.contains(&page.document));
        for (place, page) in first.take(MAX_FIRST).enumerate() {
            let id = page.document;
            if self.pinned.contains_key(&id) {
                continue;
            }
            let score = 1.0 - place as f32 * DISTANCE;
            if explained.are_shown || explained.focus == Some(id) {
                self.explain_pin("first", page, 1.0, score);
            }
            let by_evidence = match self.ranked.iter_mut().find(|ranked| ranked.document.document == id) {
                Some(ranked) => std::mem::replace(&mut ranked.score, score),
                None => {
                    let document = unread(id);
                    self.ranked.push(RankedDocument { document, score });
                    self.copies.texts.extend(page.text_digest.map(|digest| (id, digest)));
                    0.0
                }
            };
            self.pinned.insert(id, by_evidence);
            // The editor is trusted, whatever wording found the page.
            self.trusted.remove(&id);
        }
        self.ranked.sort_by(RankedDocument::by_score);
    }

    fn explain_pin(&mut self, rule: &'static str, page: &PinnedPage, raw: f32, after: f32) {
        let ranked = self
            .ranked
            .iter()
            .find(|ranked| ranked.document.document == page.document);
        let before = ranked.map_or(0.0, |ranked| ranked.score);
        let step = Step::pinned(rule, &page.query, raw, before, after);
        self.steps.entry(page.document).or_default().push(step);
    }
}

/// A document that no retriever found.
fn unread(document: DocumentId) -> ScoredDocument {
    ScoredDocument {
        document,
        similarity: None,
        dense: 0.0,
        lexical: 0.0,
        base: 0.0,
        text: TextScore::default(),
        chunks: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn id(document: i64) -> DocumentId {
        DocumentId { project: 1, document }
    }

    fn pages(documents: &[i64]) -> Vec<PinnedPage> {
        let page = |document: &i64| PinnedPage {
            document: id(*document),
            query: "install".to_owned(),
            text_digest: None,
        };
        documents.iter().map(page).collect()
    }

    fn found(scores: &BTreeMap<i64, f32>) -> RankedDocuments {
        let mut found = RankedDocuments::of_scores(scores.iter().map(|(document, score)| (id(*document), *score)));
        found.ranked.sort_by(RankedDocument::by_score);
        found
    }

    fn order(found: &RankedDocuments) -> Vec<i64> {
        found
            .ranked
            .iter()
            .map(|ranked| ranked.document.document.document)
            .collect()
    }

    #[test]
    fn the_explained_page_says_what_it_is_pinned_for() {
        let scores = BTreeMap::from([(1, 0.9), (2, 0.4)]);
        let pins = Pins {
            first: pages(&[2, 3]),
            never: pages(&[1]),
        };
        let explain = |focus| {
            let mut found = found(&scores);
            let focus = Some(id(focus));
            found.pin(
                &pins,
                PinSteps {
                    are_shown: false,
                    focus,
                },
            );
            let steps = found.steps.remove(&id(focus.map_or(0, |focus| focus.document)));
            let step = steps.and_then(|steps| steps.last().cloned()).expect("a step");
            (step.step, step.rule, step.matched, step.before, step.after)
        };
        let query = || "install".to_owned();
        assert_eq!(explain(2), ("pin", "first", query(), 0.4, 1.0));
        assert_eq!(explain(3), ("pin", "first", query(), 0.0, 1.0 - DISTANCE));
        assert_eq!(explain(1), ("pin", "never", query(), 0.9, 0.0));
    }

    proptest! {
        #[test]
        fn pinned_pages_come_first_in_order_and_nothing_else_moves(
            scores in proptest::collection::btree_map(0i64..12, 0.0f32..0.99993, 0..12),
            first in proptest::collection::vec(0i64..16, 0..8),
            never in proptest::collection::vec(0i64..16, 0..4),
        ) {
            let before = order(&found(&scores));
            let mut after = found(&scores);
            after.pin(&Pins { first: pages(&first), never: pages(&never) }, PinSteps::default());
            let mut expected: Vec<i64> = Vec::new();
            for document in first.iter().chain(&before) {
                if !never.contains(document) && !expected.contains(document) {
                    expected.push(*document);
                }
            }
            prop_assert_eq!(order(&after), expected);
            for ranked in &after.ranked {
                let document = ranked.document.document.document;
                prop_assert!((0.0..=1.0).contains(&ranked.score));
                if !first.contains(&document) {
                    prop_assert_eq!(ranked.score, scores[&document]);
                }
            }
        }

        #[test]
        fn without_pins_nothing_changes(scores in proptest::collection::btree_map(0i64..12, 0.0f32..1.0, 0..12)) {
            let mut after = found(&scores);
            after.pin(&Pins::default(), PinSteps { are_shown: true, focus: Some(id(1)) });
            prop_assert_eq!(after.ranked, found(&scores).ranked);
        }
    }
}

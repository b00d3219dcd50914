//! From base scores and rules to the score of a document, step by step.
//!
//! ```text
//! base = w * dense + (1 - w) * lexical
//! score = 1 - (1 - base)^(1 + B)            B: boosts, at most max_boost - 1 together
//! score = score * (1 - intent_conflict) * (1 - further_verb)
//! score = 1 - (1 - score) * (1 - task)
//! score = score * (1 - elsewhere) * (1 - other_platform) * (1 - other_word) * (1 - older_version) * (1 - age)
//! score = 1 - (1 - score) * (1 - recency)
//! score = score * (1 - period)
//! score = 1 - (1 - score) * (1 - exact_phrase) * (1 - definition) * (1 - near_name) * (1 - version)
//! score = score * (1 - news) * (1 - list)
//! score = 1 - (1 - score)^page_boost
//! score = soft_cap(score, 0.93)
//! score = 1 - (1 - score) * (1 - exact_name)
//! ```
//!
//! A rule that does not apply is 0, and page_boost is 1. Every step keeps the score in [0, 1] and rises with its evidence.
//! `soft_cap` maps scores from 0.9 to 1 to those from 0.9 to 0.93.

mod adjustment;
mod ledger;

use crate::query::rule::Rules;
use crate::query::understanding::{NameRole, Understanding};
pub use crate::ranking::features::Needs;
use crate::ranking::features::{PageFeatures, QueryFeatures};
use crate::ranking::page::Page;
use crate::ranking::rank::{base_score, name_strength};
use crate::ranking::weight::Weights;
use crate::text::name::NameKind;
use adjustment::{ADJUSTMENTS, Case};
use ledger::Ledger;
pub use ledger::Step;

/// Most that words, vectors, boosts and near names can reach together. Exact names exceed it, so that a page with the
/// exact name comes first (see [`crate::ranking::rank::name_strength`] and
/// [`crate::query::understanding::NameRole::factor`]). The exception is a name with an abbreviation written out,
/// outside of a container that no document knows: 0.902. Chosen: just below the weakest exact name.
pub const EVIDENCE_CAP: f32 = 0.93;

const _: () = assert!(MIN_EXACT_NAME > EVIDENCE_CAP);
/// The weakest exact name: an alias in another spelling, outside of a container that is named without "in".
const MIN_EXACT_NAME: f32 = name_strength(NameKind::Alias, false, false) * NameRole::Path.factor(true);

/// Scores of a document by words and vectors, before the rules.
#[derive(Clone, Copy, Debug, Default)]
pub struct BaseScores {
    /// Calibrated dense score, 0 to 1, see [`crate::values::cosine::dense_score`].
    pub dense: f32,
    /// Keyword score, 0 to 1.
    pub lexical: f32,
}

/// Scores documents for one query. Create one for each query. Scoring allocates next to nothing.
#[derive(Debug)]
pub struct Scorer<'a> {
    query: QueryFeatures<'a>,
    weights: &'a Weights,
    hybrid: f32,
}

impl<'a> Scorer<'a> {
    /// Prepares the rules for a query. Its class decides the share of vectors.
    pub fn new(understanding: &'a Understanding, rules: &'a Rules, weights: &'a Weights) -> Self {
        Self {
            query: QueryFeatures::new(understanding, rules, weights),
            weights,
            hybrid: weights.hybrid(understanding.class),
        }
    }

    /// Sets the share of vectors: 0 if there are none.
    #[must_use]
    pub fn with_hybrid(mut self, hybrid: f32) -> Self {
        self.hybrid = hybrid;
        self
    }

    /// Whether the query is a question.
    pub(crate) fn is_question(&self) -> bool {
        self.query.is_question()
    }

    /// Parts of a page that have to be read.
    pub fn needs(&self) -> Needs {
        self.query.needs()
    }

    /// The score, 0 to 1.
    pub fn score(&self, page: &Page, base: BaseScores) -> f32 {
        self.score_features(page, base, &self.find(page))
    }

    /// Features of a page for the query, whatever its base scores.
    pub(crate) fn find(&self, page: &Page) -> PageFeatures {
        self.query.find(page)
    }

    /// [`Scorer::score`] of a page with these features.
    pub(crate) fn score_features(&self, page: &Page, base: BaseScores, features: &PageFeatures) -> f32 {
        self.run(page, base, features, None)
    }

    /// The steps that lead to the score. The last `after` is the score.
    pub fn explain(&self, page: &Page, base: BaseScores) -> Vec<Step> {
        self.explain_features(page, base, &self.find(page))
    }

    /// [`Scorer::explain`] of a page with these features.
    pub(crate) fn explain_features(&self, page: &Page, base: BaseScores, features: &PageFeatures) -> Vec<Step> {
        let mut steps = Vec::new();
        self.run(page, base, features, Some(&mut steps));
        steps
    }

    fn run(&self, page: &Page, base: BaseScores, features: &PageFeatures, steps: Option<&mut Vec<Step>>) -> f32 {
        let mut ledger = Ledger::new((self.weights.max_boost - 1.0).max(0.0), steps);
        self.base(base, &mut ledger);
        self.boosts(page, features, &mut ledger);
        let case = Case {
            query: &self.query,
            weights: self.weights,
            page,
            features,
        };
        for adjustment in &ADJUSTMENTS {
            adjustment.apply(&case, &mut ledger);
        }
        ledger.score()
    }

    /// Age of a page in days, and its share of the boost for recency.
    fn newness(&self, page: &Page) -> Option<(f32, f32)> {
        let asks = self.query.recent() && self.weights.boost_recency > 0.0 && page.newness.is_none();
        let age = page.age_days.filter(|_| asks)?;
        let share = match page.in_period {
            Some(true) => 1.0,
            Some(false) => 0.0,
            None => 0.5f32.powf(age.max(0.0) / self.weights.recency_half_life.max(1.0)),
        };
        Some((age, share))
    }

    fn base(&self, base: BaseScores, ledger: &mut Ledger<'_>) {
        let factor = decay(1.0 - base.dense, self.weights.decay_slope, self.weights.decay_floor);
        let score = |dense, lexical| base_score(dense, lexical, self.hybrid).clamp(0.0, 1.0);
        let dense = (base.dense, self.hybrid);
        ledger.step("base", "dense", String::new, dense, score(base.dense, 0.0));
        let decayed = base.dense * factor;
        if factor < 1.0 {
            let after = score(decayed, 0.0);
            ledger.step("base", "decay", String::new, (factor, 1.0), after);
        }
        let lexical = (base.lexical, 1.0 - self.hybrid);
        let after = score(decayed, base.lexical);
        ledger.step("base", "lexical", String::new, lexical, after);
    }

    fn boosts(&self, page: &Page, features: &PageFeatures, ledger: &mut Ledger<'_>) {
        ledger.begin_boosts();
        let weights = self.weights;
        let title = || page.title.clone();
        let category = || page.category.clone().unwrap_or_default();
        if let Some((matched, share)) = features.in_pattern {
            ledger.boost("in_pattern", || matched.to_owned(), weights.boost_in_pattern, share);
        }
        if features.inside {
            let container = || self.query.container().to_owned();
            ledger.boost("framework", container, weights.boost_framework, 1.0);
        }
        ledger.boost(
            "filename_exact",
            || page.slug.clone(),
            weights.boost_filename_exact,
            flag(features.filename_exact),
        );
        ledger.boost(
            "filename_all_words",
            title,
            weights.boost_filename_all_words,
            flag(features.all_words),
        );
        // The object does not count for a page whose verb does the opposite.
        let opposite = flag(features.conflict * weights.penalty_intent_conflict > 0.0) * features.intent;
        ledger.boost(
            "name_words",
            title,
            weights.boost_name_words,
            features.name_words * features.intent * (1.0 - opposite),
        );
        ledger.boost("api_name", title, weights.boost_api_name, features.api_name);
        ledger.boost("generic_term", title, features.generic, weights.boost_generic_term);
        for matches in [&features.in_name, &features.in_description] {
            for matched in matches.counted(weights.diminishing_factor) {
                ledger.boost(
                    matched.rule,
                    || self.query.term(matched.term).to_owned(),
                    matched.raw,
                    matched.weight * features.intent * (1.0 - opposite),
                );
            }
        }
        ledger.boost(
            "intent_scope",
            title,
            weights.boost_object_name * weights.scope_factor,
            flag(features.scope) * features.intent,
        );
        ledger.boost(
            "category_context",
            category,
            weights.boost_category_context,
            flag(features.category) * features.intent,
        );
        ledger.boost("platform", String::new, weights.boost_platform, flag(features.platform));
        ledger.boost("phrase", title, weights.boost_phrase, flag(features.phrase));
        if let Some((age, share)) = self.newness(page) {
            ledger.boost("recency", || format!("{age:.0} days"), weights.boost_recency, share);
        }
        ledger.end_boosts();
    }
}

/// Fewest words of a query that is looked up as a phrase. Chosen, not measured: fewer are next to each other by
/// chance.
pub const MIN_PHRASE_WORDS: usize = 5;

/// Strength of a query of at least [`MIN_PHRASE_WORDS`] that this number of documents have word for word. More than
/// three documents are not distinguished by it. Chosen, not measured.
pub fn phrase_strength(documents: usize) -> f32 {
    match documents {
        1 => 0.8,
        2 => 0.6,
        3 => 0.4,
        _ => 0.0,
    }
}

fn flag(set: bool) -> f32 {
    if set { 1.0 } else { 0.0 }
}

/// `max(floor, 1 - slope * distance)`, at most 1.
pub fn decay(distance: f32, slope: f32, floor: f32) -> f32 {
    (1.0 - slope * distance).max(floor).min(1.0)
}

#[cfg(test)]
mod tests;

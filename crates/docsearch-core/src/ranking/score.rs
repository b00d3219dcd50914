//! From base scores and rules to the score of a document, step by step.
//!
//! ```text
//! base = w * dense + (1 - w) * lexical
//! score = 1 - (1 - base)^(1 + B)            B: boosts, at most max_boost - 1 together
//! score = score * (1 - intent_conflict) * (1 - further_verb)
//! score = 1 - (1 - score) * (1 - task)
//! score = score * (1 - elsewhere) * (1 - other_platform) * (1 - older_version) * (1 - age)
//! score = 1 - (1 - score) * (1 - recency)
//! score = score * (1 - period)
//! score = 1 - (1 - score) * (1 - exact_phrase) * (1 - definition) * (1 - near_name) * (1 - version)
//! score = score * (1 - news) * (1 - list)
//! score = score, pressed below 0.93
//! score = 1 - (1 - score) * (1 - exact_name)
//! ```
//!
//! A rule that does not apply is 0. Every step keeps the score in [0, 1] and rises with what it adds.

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

/// What words, vectors, boosts and near names can reach together. Exact names reach more, so nothing stands above them
/// (see [`crate::ranking::rank::name_strength`] and [`crate::query::understanding::NameRole::factor`]); but for the written out form of
/// an acronym, on a page outside of a place that nobody knows, which reaches 0.902. Chosen: just below the weakest of them.
pub const EVIDENCE_CAP: f32 = 0.93;

const _: () = assert!(MIN_EXACT_NAME > EVIDENCE_CAP);
/// The weakest of exact names: an alias, not as written, outside of a place that is named without "in".
const MIN_EXACT_NAME: f32 = name_strength(NameKind::Alias, false, false) * NameRole::Path.factor(true);

/// What words and vectors say of a document, before any rule.
#[derive(Clone, Copy, Debug, Default)]
pub struct BaseScores {
    /// Calibrated dense score, 0 to 1, see [`crate::values::cosine::dense_score`].
    pub dense: f32,
    /// Keyword score, 0 to 1.
    pub lexical: f32,
}

/// Scores documents for one query. Made once a query; scoring allocates next to nothing.
#[derive(Debug)]
pub struct Scorer<'a> {
    asked: QueryFeatures<'a>,
    weights: &'a Weights,
    hybrid: f32,
}

impl<'a> Scorer<'a> {
    /// Prepares the rules for a query. The legs are mixed as the weights say for its class.
    pub fn new(understanding: &'a Understanding, rules: &'a Rules, weights: &'a Weights) -> Self {
        Self {
            asked: QueryFeatures::new(understanding, rules, weights),
            weights,
            hybrid: weights.hybrid(understanding.class),
        }
    }

    /// Mixes the legs differently: 0 where there are no vectors.
    #[must_use]
    pub fn with_hybrid(mut self, hybrid: f32) -> Self {
        self.hybrid = hybrid;
        self
    }

    /// Whether the query is a question.
    pub(crate) fn is_question(&self) -> bool {
        self.asked.is_question()
    }

    /// Which parts of a page have to be read.
    pub fn needs(&self) -> Needs {
        self.asked.needs()
    }

    /// The score, 0 to 1.
    pub fn score(&self, page: &Page, base: BaseScores) -> f32 {
        self.score_features(page, base, &self.find(page))
    }

    /// What the rules see in a document, whatever its evidence.
    pub(crate) fn find(&self, page: &Page) -> PageFeatures {
        self.asked.find(page)
    }

    /// [`Scorer::score`] of a document in which the rules see this.
    pub(crate) fn score_features(&self, page: &Page, base: BaseScores, found: &PageFeatures) -> f32 {
        self.run(page, base, found, None)
    }

    /// The steps that lead to the score; the last `after` is the score.
    pub fn explain(&self, page: &Page, base: BaseScores) -> Vec<Step> {
        self.explain_features(page, base, &self.find(page))
    }

    /// [`Scorer::explain`] of a document in which the rules see this.
    pub(crate) fn explain_features(&self, page: &Page, base: BaseScores, found: &PageFeatures) -> Vec<Step> {
        let mut steps = Vec::new();
        self.run(page, base, found, Some(&mut steps));
        steps
    }

    fn run(&self, page: &Page, base: BaseScores, found: &PageFeatures, steps: Option<&mut Vec<Step>>) -> f32 {
        let mut ledger = Ledger::new((self.weights.max_boost - 1.0).max(0.0), steps);
        self.base(base, &mut ledger);
        self.boosts(page, found, &mut ledger);
        let case = Case {
            asked: &self.asked,
            weights: self.weights,
            page,
            found,
        };
        for adjustment in &ADJUSTMENTS {
            adjustment.apply(&case, &mut ledger);
        }
        ledger.score()
    }

    /// Age of a page in days, and the share of the boost of new pages that it has.
    fn newness(&self, page: &Page) -> Option<(f32, f32)> {
        let asks = self.asked.recent() && self.weights.boost_recency > 0.0 && page.newness.is_none();
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

    fn boosts(&self, page: &Page, found: &PageFeatures, ledger: &mut Ledger<'_>) {
        ledger.begin_boosts();
        let weights = self.weights;
        let title = || page.title.clone();
        let category = || page.category.clone().unwrap_or_default();
        if let Some((matched, share)) = found.in_pattern {
            ledger.boost("in_pattern", || matched.to_owned(), weights.boost_in_pattern, share);
        }
        if found.inside {
            let container = || self.asked.container().to_owned();
            ledger.boost("framework", container, weights.boost_framework, 1.0);
        }
        ledger.boost(
            "filename_exact",
            || page.slug.clone(),
            weights.boost_filename_exact,
            flag(found.filename_exact),
        );
        ledger.boost(
            "filename_all_words",
            title,
            weights.boost_filename_all_words,
            flag(found.all_words),
        );
        // That a page has the object says nothing for it where its verb does the opposite.
        let opposite = flag(found.conflict * weights.penalty_intent_conflict > 0.0) * found.intent;
        ledger.boost(
            "name_words",
            title,
            weights.boost_name_words,
            found.name_words * found.intent * (1.0 - opposite),
        );
        ledger.boost("api_name", title, weights.boost_api_name, found.api_name);
        ledger.boost("generic_term", title, found.generic, weights.boost_generic_term);
        for matches in [&found.in_name, &found.in_description] {
            for matched in matches.counted(weights.diminishing_factor) {
                ledger.boost(
                    matched.rule,
                    || self.asked.term(matched.term).to_owned(),
                    matched.raw,
                    matched.weight * found.intent * (1.0 - opposite),
                );
            }
        }
        ledger.boost(
            "intent_scope",
            title,
            weights.boost_object_name * weights.scope_factor,
            flag(found.scope) * found.intent,
        );
        ledger.boost(
            "category_context",
            category,
            weights.boost_category_context,
            flag(found.category) * found.intent,
        );
        ledger.boost("platform", String::new, weights.boost_platform, flag(found.platform));
        ledger.boost("phrase", title, weights.boost_phrase, flag(found.phrase));
        if let Some((age, share)) = self.newness(page) {
            ledger.boost("recency", || format!("{age:.0} days"), weights.boost_recency, share);
        }
        ledger.end_boosts();
    }
}

/// Least words of a query that is looked up as a phrase. Chosen, not measured: fewer stand together by chance.
pub const MIN_PHRASE_WORDS: usize = 5;

/// Strength of a query of [`MIN_PHRASE_WORDS`] or more that stands word for word in so many documents:
/// what more than three have says nothing of one. Chosen, not measured.
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

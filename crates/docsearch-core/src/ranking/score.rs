//! From base scores and rules to the score of a document, step by step.
//!
//! ```text
//! base     = w * dense + (1 - w) * lexical
//! boosted  = 1 - (1 - base)^(1 + B)           B: boosts, at most max_boost - 1 together
//! judged   = boosted * product of (1 - penalty)
//! task     = 1 - (1 - judged) * (1 - task)    a name that says what the query says to do
//! near     = 1 - (1 - task) * (1 - phrase) * (1 - definition) * (1 - near name)
//! kept     = near * (1 - penalty of news) * (1 - penalty of lists of names), kept below EVIDENCE_CEILING
//! score    = 1 - (1 - kept) * (1 - name)
//! ```
//!
//! Every step keeps the score in [0, 1] and rises with what it adds.

use serde::Serialize;

use crate::query::rule::Rules;
use crate::query::understanding::{NameRole, Understanding};
pub use crate::ranking::asked::Needs;
use crate::ranking::asked::{Findings, PreparedQuery};
use crate::ranking::page::Page;
use crate::ranking::rank::{base_score, lift, name_strength};
use crate::ranking::weight::Weights;
use crate::text::name::NameKind;
use crate::values::decimal::decimal;

/// What words, vectors, boosts and near names can reach together. Exact names reach more, so nothing stands above them
/// (see [`crate::ranking::rank::name_strength`] and [`crate::query::understanding::NameRole::factor`]); but for the written out form of
/// an acronym, on a page outside of a place that nobody knows, which reaches 0.902. Chosen: just below the weakest of them.
pub const EVIDENCE_CEILING: f32 = 0.93;

const _: () = assert!(LEAST_EXACT_NAME > EVIDENCE_CEILING);
/// The weakest of exact names: an alias, not as written, outside of a place that is named without "in".
const LEAST_EXACT_NAME: f32 = name_strength(NameKind::Alias, false, false) * NameRole::Path.factor(true);

/// Evidence up to here counts as it is; what is above is pressed below [`EVIDENCE_CEILING`]. Chosen, not measured.
const CEILING_KNEE: f32 = 0.9;

/// Strength of the release notes of the version that is asked for. Chosen: as a near name.
const NEWS_OF_VERSION: f32 = 0.7;
/// Strength of a page of today where nothing but new pages is asked for. Chosen: the answer is sure, as far as it goes.
const ONLY_RECENT: f32 = 0.85;
/// What a page keeps of its score then if it is not known to be new. Chosen: too little for more than low confidence.
const NOT_NEW: f32 = 0.1;
/// What a page of another project than the one that the query names keeps of its newness. Chosen.
const ELSEWHERE_NEW: f32 = 0.4;
/// Share that a page loses which was not published in the period that is asked for, where another one was. Chosen.
const OUTSIDE_PERIOD: f32 = 0.4;

/// How much less a verb counts that is further from the one asked for. Chosen: `save` means `write` before `edit`, whatever
/// their descriptions say.
const TASK_POWER: f32 = 1.5;

/// What words and vectors say of a document, before any rule.
#[derive(Clone, Copy, Debug, Default)]
pub struct BaseScores {
    /// Calibrated dense score, 0 to 1, see [`crate::values::cosine::dense_score`].
    pub dense: f32,
    /// Keyword score, 0 to 1.
    pub lexical: f32,
}

/// One step on the way to a score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// Part of the formula: `base`, `boost`, `penalty`, `phrase`, `name`, `transform` or `wording`.
    pub step: &'static str,
    /// The rule.
    pub rule: &'static str,
    /// What it matched.
    pub matched: String,
    /// Value of the rule: a score, or the setting.
    #[serde(serialize_with = "decimal")]
    pub raw: f32,
    /// Its factor here.
    #[serde(serialize_with = "decimal")]
    pub weight: f32,
    /// Score before.
    #[serde(serialize_with = "decimal")]
    pub before: f32,
    /// Score after.
    #[serde(serialize_with = "decimal")]
    pub after: f32,
    /// `after - before`.
    #[serde(serialize_with = "decimal")]
    pub contribution: f32,
}

impl Step {
    /// What another search, which gives the document the score `raw`, adds to the query's own.
    pub fn other(rule: &'static str, query: &str, raw: f32, share: f32, before: f32, after: f32) -> Self {
        Self {
            step: "transform",
            rule,
            matched: query.to_owned(),
            raw,
            weight: share,
            before,
            after,
            contribution: after - before,
        }
    }

    /// What another wording of the question, which gives the document the score `raw`, makes of the score before it.
    pub fn wording(rule: &'static str, wording: &str, raw: f32, share: f32, before: f32, after: f32) -> Self {
        Self {
            step: "wording",
            ..Self::other(rule, wording, raw, share, before, after)
        }
    }
}

/// Scores documents for one query. Made once a query; scoring allocates next to nothing.
#[derive(Debug)]
pub struct Scorer<'a> {
    asked: PreparedQuery<'a>,
    weights: &'a Weights,
    hybrid: f32,
}

/// Writes down the steps, if there is somebody to read them.
struct Ledger<'t> {
    score: f32,
    base: f32,
    boosts: f32,
    greatest_boost: f32,
    steps: Option<&'t mut Vec<Step>>,
}

impl Ledger<'_> {
    fn step(
        &mut self,
        step: &'static str,
        rule: &'static str,
        matched: impl FnOnce() -> String,
        (raw, weight): (f32, f32),
        after: f32,
    ) {
        if let Some(steps) = &mut self.steps {
            steps.push(Step {
                step,
                rule,
                matched: matched(),
                raw,
                weight,
                before: self.score,
                after,
                contribution: after - self.score,
            });
        }
        self.score = after;
    }

    fn boost(&mut self, rule: &'static str, matched: impl FnOnce() -> String, raw: f32, weight: f32) {
        if raw * weight <= 0.0 {
            return;
        }
        self.boosts = (self.boosts + raw * weight).min(self.greatest_boost);
        // Nobody looks at the score between two boosts unless it is explained.
        if self.steps.is_some() {
            self.step("boost", rule, matched, (raw, weight), self.boosted());
        }
    }

    fn boosted(&self) -> f32 {
        1.0 - (1.0 - self.base).powf(1.0 + self.boosts)
    }
}

impl<'a> Scorer<'a> {
    /// Prepares the rules for a query. The legs are mixed as the weights say for its class.
    pub fn new(understanding: &'a Understanding, rules: &'a Rules, weights: &'a Weights) -> Self {
        Self {
            asked: PreparedQuery::new(understanding, rules, weights),
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
        self.score_found(page, base, &self.find(page))
    }

    /// What the rules see in a document, whatever its evidence.
    pub(crate) fn find(&self, page: &Page) -> Findings {
        self.asked.find(page)
    }

    /// [`Scorer::score`] of a document in which the rules see this.
    pub(crate) fn score_found(&self, page: &Page, base: BaseScores, found: &Findings) -> f32 {
        self.run(page, base, found, None)
    }

    /// The steps that lead to the score; the last `after` is the score.
    pub fn explain(&self, page: &Page, base: BaseScores) -> Vec<Step> {
        self.explain_found(page, base, &self.find(page))
    }

    /// [`Scorer::explain`] of a document in which the rules see this.
    pub(crate) fn explain_found(&self, page: &Page, base: BaseScores, found: &Findings) -> Vec<Step> {
        let mut steps = Vec::new();
        self.run(page, base, found, Some(&mut steps));
        steps
    }

    fn run(&self, page: &Page, base: BaseScores, found: &Findings, steps: Option<&mut Vec<Step>>) -> f32 {
        let mut ledger = Ledger {
            score: 0.0,
            base: 0.0,
            boosts: 0.0,
            greatest_boost: (self.weights.max_boost - 1.0).max(0.0),
            steps,
        };
        self.base(base, &mut ledger);
        self.boosts(page, found, &mut ledger);
        if ledger.boosts > 0.0 {
            ledger.score = ledger.boosted();
        }
        let conflict = (found.conflict * self.weights.penalty_intent_conflict * found.intent).clamp(0.0, 1.0);
        if conflict > 0.0 {
            let after = ledger.score * (1.0 - conflict);
            let matched = || page.title.clone();
            let factors = (found.conflict, self.weights.penalty_intent_conflict * found.intent);
            ledger.step("penalty", "intent_conflict", matched, factors, after);
        }
        if found.task > 0.0 && self.weights.weight_task > 0.0 {
            let share = 1.0 - (1.0 - found.task / found.closest_task.max(found.task)) * found.intent;
            if share < 1.0 {
                let after = ledger.score * share;
                let factors = (1.0 - share, 1.0);
                ledger.step("penalty", "further_verb", || page.title.clone(), factors, after);
            }
            let task = (self.weights.weight_task * found.task.powf(TASK_POWER) * found.intent).clamp(0.0, 1.0);
            let after = lift(ledger.score, task);
            let factors = (found.task, task / found.task);
            ledger.step("name", "task", || page.title.clone(), factors, after);
        }
        let elsewhere = (flag(found.elsewhere) * self.weights.penalty_elsewhere).clamp(0.0, 1.0);
        if elsewhere > 0.0 {
            let after = ledger.score * (1.0 - elsewhere);
            let container = || self.asked.container().to_owned();
            ledger.step(
                "penalty",
                "elsewhere",
                container,
                (1.0, self.weights.penalty_elsewhere),
                after,
            );
        }
        let other = (flag(found.other_platform) * self.weights.penalty_elsewhere).clamp(0.0, 1.0);
        if other > 0.0 {
            let after = ledger.score * (1.0 - other);
            let factors = (1.0, self.weights.penalty_elsewhere);
            ledger.step("penalty", "other_platform", String::new, factors, after);
        }
        let older = self.weights.penalty_older_version.clamp(0.0, 1.0);
        if let Some(newer) = page.newer.as_ref().filter(|_| older > 0.0) {
            let after = ledger.score * (1.0 - older);
            let matched = || newer.clone();
            ledger.step(
                "penalty",
                "older_version",
                matched,
                (1.0, self.weights.penalty_older_version),
                after,
            );
        }
        self.only_new(page, found, &mut ledger);
        if page.phrase > 0.0 {
            let after = lift(ledger.score, page.phrase);
            ledger.step("phrase", "exact_phrase", String::new, (page.phrase, 1.0), after);
        }
        let definition = (page.definition * self.weights.weight_definition).clamp(0.0, 1.0);
        if definition > 0.0 {
            let after = lift(ledger.score, definition);
            let factors = (page.definition, self.weights.weight_definition);
            ledger.step("name", "definition", String::new, factors, after);
        }
        // "latest release" is not the beginning of a name.
        if page.near_name > 0.0 && page.newness.is_none() {
            let after = lift(ledger.score, page.near_name);
            let matched = || page.title.clone();
            ledger.step("name", "near_name", matched, (page.near_name, 1.0), after);
        }
        if found.news_of_version {
            let after = lift(ledger.score, NEWS_OF_VERSION);
            ledger.step("name", "version", || page.slug.clone(), (NEWS_OF_VERSION, 1.0), after);
        }
        let news = (flag(found.news) * self.weights.penalty_news).clamp(0.0, 1.0);
        if news > 0.0 {
            let after = ledger.score * (1.0 - news);
            let matched = || page.slug.clone();
            ledger.step("penalty", "news", matched, (1.0, self.weights.penalty_news), after);
        }
        let list = (flag(page.is_list()) * self.weights.penalty_list).clamp(0.0, 1.0);
        if list > 0.0 {
            let after = ledger.score * (1.0 - list);
            let factors = (page.entry_share, self.weights.penalty_list);
            ledger.step("penalty", "list", || page.slug.clone(), factors, after);
        }
        let kept = below_ceiling(ledger.score);
        if kept < ledger.score {
            ledger.step("name", "ceiling", String::new, (EVIDENCE_CEILING, 1.0), kept);
        }
        if page.name > 0.0 {
            let after = lift(ledger.score, page.name);
            let matched = || page.title.clone();
            ledger.step("name", "exact_name", matched, (page.name, 1.0), after);
        }
        ledger.score
    }

    /// Where nothing but what is new is asked for, words say nothing of it: a page is as good as it is new, and one that
    /// is not known to be new is a weak match.
    fn only_new(&self, page: &Page, found: &Findings, ledger: &mut Ledger<'_>) {
        if let Some(newness) = page.newness.filter(|_| self.weights.boost_recency > 0.0) {
            let place = if self.asked.is_placed() && !found.inside {
                ELSEWHERE_NEW
            } else {
                1.0
            };
            let share = newness * place;
            let matched = || {
                page.age_days
                    .map_or_else(|| page.slug.clone(), |age| format!("{age:.0} days"))
            };
            let kept = if share > 0.0 { 0.0 } else { NOT_NEW };
            let after = ledger.score * kept;
            ledger.step("penalty", "age", matched, (1.0 - kept, 1.0), after);
            if share > 0.0 {
                let after = lift(ledger.score, ONLY_RECENT * share);
                ledger.step("boost", "recency", matched, (share, ONLY_RECENT), after);
            }
        } else if page.in_period == Some(false) {
            let after = ledger.score * (1.0 - OUTSIDE_PERIOD);
            ledger.step("penalty", "period", || page.slug.clone(), (OUTSIDE_PERIOD, 1.0), after);
        }
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
        ledger.base = ledger.score;
    }

    fn boosts(&self, page: &Page, found: &Findings, ledger: &mut Ledger<'_>) {
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

/// Presses what is above the knee between it and the ceiling, keeping the order.
fn below_ceiling(score: f32) -> f32 {
    if score <= CEILING_KNEE {
        score
    } else {
        CEILING_KNEE + (score - CEILING_KNEE) * (EVIDENCE_CEILING - CEILING_KNEE) / (1.0 - CEILING_KNEE)
    }
}

#[cfg(test)]
mod tests;

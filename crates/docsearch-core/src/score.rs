//! From base scores and rules to the score of a document, step by step.
//!
//! ```text
//! base     = w * dense + (1 - w) * lexical
//! boosted  = 1 - (1 - base)^(1 + B)           B: boosts, at most max_boost - 1 together
//! judged   = boosted * product of (1 - penalty)
//! near     = 1 - (1 - judged) * (1 - phrase) * (1 - definition) * (1 - near name), kept below EVIDENCE_CEILING
//! score    = 1 - (1 - near) * (1 - name)
//! ```
//!
//! Every step keeps the score in [0, 1] and rises with what it adds.

use serde::Serialize;

use crate::asked::{Asked, Found};
use crate::delivery::decimal;
use crate::name;
use crate::rank::{base_score, lift};
use crate::rule::Rules;
use crate::understanding::Understanding;
use crate::weight::RuleWeights;

/// What words, vectors, boosts and near names can reach together. Exact names reach 0.938 at least
/// (see [`crate::rank::name_strength`] and [`crate::understanding::NameRole::factor`]), so nothing
/// stands above them.
pub const EVIDENCE_CEILING: f32 = 0.93;

/// Bytes of a description that the rules read.
pub const DESCRIPTION_BYTES: usize = 300;

/// Evidence up to here counts as it is; what is above is pressed below [`EVIDENCE_CEILING`].
const CEILING_KNEE: f32 = 0.9;

/// A document to be scored, with what the rules look at.
#[derive(Clone, Copy, Debug, Default)]
pub struct Candidate<'a> {
    /// Calibrated dense score, 0 to 1, see [`crate::rank::dense_score`].
    pub dense: f32,
    /// Keyword score, 0 to 1.
    pub lexical: f32,
    /// Strength of the query standing in the text as it is, or 0: [`phrase_strength`].
    pub phrase: f32,
    /// Strength of an exact name, or 0: [`crate::rank::name_strength`] times the role's factor.
    pub name: f32,
    /// Strength of a name begun or mistyped, or 0, see [`crate::similarity`].
    pub near_name: f32,
    /// Share of [`RuleWeights::definition`] for a section that defines a name which the query asks for, or 0.
    pub definition: f32,
    /// Title.
    pub title: &'a str,
    /// Slug.
    pub slug: &'a str,
    /// Name of its project.
    pub project: &'a str,
    /// Category.
    pub category: Option<&'a str>,
    /// What the document says of itself: its summary. The first [`DESCRIPTION_BYTES`] bytes count.
    pub description: &'a str,
    /// Its metadata, for frameworks and platforms.
    pub metadata: Option<&'a serde_json::Value>,
    /// Days since it was published, at least 0.
    pub age_days: Option<f32>,
    /// A newer version of the page that was found too.
    pub newer: Option<&'a str>,
}

impl Candidate<'_> {
    /// Whether it lies in one of the containers, see [`name::is_inside`].
    pub fn is_inside(&self, containers: &[String]) -> bool {
        containers.iter().any(|container| {
            let names = [self.project, self.category.unwrap_or_default()];
            name::is_inside(container, names, self.slug, self.metadata)
        })
    }
}

/// One step on the way to a score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// Part of the formula: `base`, `boost`, `penalty`, `phrase`, `name` or `transform`.
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
}

/// Scores documents for one query. Made once a query; scoring allocates next to nothing.
#[derive(Debug)]
pub struct Scorer<'a> {
    asked: Asked<'a>,
    weights: &'a RuleWeights,
    hybrid: f32,
    intent: f32,
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
    pub fn new(understanding: &'a Understanding, rules: &'a Rules, weights: &'a RuleWeights) -> Self {
        Self {
            asked: Asked::new(understanding, rules, weights),
            weights,
            hybrid: weights.hybrid.of(understanding.class),
            intent: 1.0,
        }
    }

    /// Scales the rules about verbs and their objects: 0 switches them off, 1 is what the weights say.
    #[must_use]
    pub fn with_intent(mut self, share: f32) -> Self {
        self.intent = share.clamp(0.0, 1.0);
        self
    }

    /// Mixes the legs differently: 0 where there are no vectors.
    #[must_use]
    pub fn with_hybrid(mut self, hybrid: f32) -> Self {
        self.hybrid = hybrid;
        self
    }

    /// The score, 0 to 1.
    pub fn score(&self, candidate: &Candidate<'_>) -> f32 {
        self.score_found(candidate, &self.find(candidate))
    }

    /// What the rules see in a document, whatever its evidence.
    pub(crate) fn find(&self, candidate: &Candidate<'_>) -> Found {
        self.asked.find(candidate)
    }

    /// [`Scorer::score`] of a document in which the rules see this.
    pub(crate) fn score_found(&self, candidate: &Candidate<'_>, found: &Found) -> f32 {
        self.run(candidate, found, None)
    }

    /// The steps that lead to the score; the last `after` is the score.
    pub fn explain(&self, candidate: &Candidate<'_>) -> Vec<Step> {
        let mut steps = Vec::new();
        self.run(candidate, &self.find(candidate), Some(&mut steps));
        steps
    }

    fn run(&self, candidate: &Candidate<'_>, found: &Found, steps: Option<&mut Vec<Step>>) -> f32 {
        let mut ledger = Ledger {
            score: 0.0,
            base: 0.0,
            boosts: 0.0,
            greatest_boost: (self.weights.max_boost - 1.0).max(0.0),
            steps,
        };
        self.base(candidate, &mut ledger);
        self.boosts(candidate, found, &mut ledger);
        if ledger.boosts > 0.0 {
            ledger.score = ledger.boosted();
        }
        let conflict = (found.conflict * self.weights.intent_conflict * self.intent).clamp(0.0, 1.0);
        if conflict > 0.0 {
            let after = ledger.score * (1.0 - conflict);
            let matched = || candidate.title.to_owned();
            let factors = (found.conflict, self.weights.intent_conflict * self.intent);
            ledger.step("penalty", "intent_conflict", matched, factors, after);
        }
        let elsewhere = (flag(found.elsewhere) * self.weights.elsewhere).clamp(0.0, 1.0);
        if elsewhere > 0.0 {
            let after = ledger.score * (1.0 - elsewhere);
            let container = || self.asked.container().to_owned();
            ledger.step("penalty", "elsewhere", container, (1.0, self.weights.elsewhere), after);
        }
        let older = self.weights.older_version.clamp(0.0, 1.0);
        if let Some(newer) = candidate.newer.filter(|_| older > 0.0) {
            let after = ledger.score * (1.0 - older);
            let matched = || newer.to_owned();
            ledger.step(
                "penalty",
                "older_version",
                matched,
                (1.0, self.weights.older_version),
                after,
            );
        }
        if candidate.phrase > 0.0 {
            let after = lift(ledger.score, candidate.phrase);
            ledger.step("phrase", "exact_phrase", String::new, (candidate.phrase, 1.0), after);
        }
        let definition = (candidate.definition * self.weights.definition).clamp(0.0, 1.0);
        if definition > 0.0 {
            let after = lift(ledger.score, definition);
            let factors = (candidate.definition, self.weights.definition);
            ledger.step("name", "definition", String::new, factors, after);
        }
        if candidate.near_name > 0.0 {
            let after = lift(ledger.score, candidate.near_name);
            let matched = || candidate.title.to_owned();
            ledger.step("name", "near_name", matched, (candidate.near_name, 1.0), after);
        }
        let kept = below_ceiling(ledger.score);
        if kept < ledger.score {
            ledger.step("name", "ceiling", String::new, (EVIDENCE_CEILING, 1.0), kept);
        }
        if candidate.name > 0.0 {
            let after = lift(ledger.score, candidate.name);
            let matched = || candidate.title.to_owned();
            ledger.step("name", "exact_name", matched, (candidate.name, 1.0), after);
        }
        ledger.score
    }

    fn base(&self, candidate: &Candidate<'_>, ledger: &mut Ledger<'_>) {
        let factor = decay(
            1.0 - candidate.dense,
            self.weights.decay_slope,
            self.weights.decay_floor,
        );
        let score = |dense, lexical| base_score(dense, lexical, self.hybrid).clamp(0.0, 1.0);
        let dense = (candidate.dense, self.hybrid);
        ledger.step("base", "dense", String::new, dense, score(candidate.dense, 0.0));
        let decayed = candidate.dense * factor;
        if factor < 1.0 {
            let after = score(decayed, 0.0);
            ledger.step("base", "decay", String::new, (factor, 1.0), after);
        }
        let lexical = (candidate.lexical, 1.0 - self.hybrid);
        let after = score(decayed, candidate.lexical);
        ledger.step("base", "lexical", String::new, lexical, after);
        ledger.base = ledger.score;
    }

    fn boosts(&self, candidate: &Candidate<'_>, found: &Found, ledger: &mut Ledger<'_>) {
        let weights = self.weights;
        let title = || candidate.title.to_owned();
        let category = || candidate.category.unwrap_or_default().to_owned();
        if let Some((matched, share)) = found.in_pattern {
            ledger.boost("in_pattern", || matched.to_owned(), weights.in_pattern, share);
        }
        if found.inside {
            let container = || self.asked.container().to_owned();
            ledger.boost("framework", container, weights.framework, 1.0);
        }
        ledger.boost(
            "filename_exact",
            || candidate.slug.to_owned(),
            weights.filename_exact,
            flag(found.filename_exact),
        );
        ledger.boost(
            "filename_all_words",
            title,
            weights.filename_all_words,
            flag(found.all_words),
        );
        ledger.boost("name_words", title, weights.name_words, found.name_words * self.intent);
        ledger.boost("api_name", title, weights.api_name, found.api_name);
        ledger.boost("generic_term", title, found.generic, weights.generic_term);
        for matches in [&found.in_name, &found.in_description] {
            for found in matches.counted(weights.diminishing) {
                ledger.boost(
                    found.rule,
                    || self.asked.term(found.term).to_owned(),
                    found.raw,
                    found.weight * self.intent,
                );
            }
        }
        ledger.boost(
            "category_context",
            category,
            weights.category_context,
            flag(found.category) * self.intent,
        );
        ledger.boost("platform", String::new, weights.platform, flag(found.platform));
        ledger.boost("phrase", title, weights.phrase, flag(found.phrase));
        if let Some(age) = candidate.age_days.filter(|_| self.asked.recent()) {
            let share = 0.5f32.powf(age.max(0.0) / weights.recency_half_life.max(1.0));
            ledger.boost("recency", || format!("{age:.0} days"), weights.recency, share);
        }
    }
}

/// Least words of a query that is looked up as a phrase.
pub const MIN_PHRASE_WORDS: usize = 5;

/// Strength of a query of [`MIN_PHRASE_WORDS`] or more that stands word for word in so many documents:
/// what more than three have says nothing of one.
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

//! The steps that lead to a score, recorded if a caller wants them.

use serde::Serialize;

use crate::values::decimal::decimal;

/// One step on the way to a score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// Part of the formula: `base`, `boost`, `penalty`, `phrase`, `name`, `transform`, `wording` or `pin`.
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
    /// The step of another search that scores the document `raw`.
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

    /// The step of another wording of the question that scores the document `raw`.
    pub fn wording(rule: &'static str, wording: &str, raw: f32, share: f32, before: f32, after: f32) -> Self {
        Self {
            step: "wording",
            ..Self::other(rule, wording, raw, share, before, after)
        }
    }

    /// The step of an editor who pinned the page for a query.
    pub fn pinned(rule: &'static str, query: &str, raw: f32, before: f32, after: f32) -> Self {
        Self {
            step: "pin",
            ..Self::other(rule, query, raw, 1.0, before, after)
        }
    }
}

/// Computes a score, and records the steps if a caller wants them.
pub(super) struct Ledger<'t> {
    score: f32,
    /// Score before the boosts.
    base: f32,
    boosts: f32,
    greatest_boost: f32,
    steps: Option<&'t mut Vec<Step>>,
}

impl<'t> Ledger<'t> {
    pub(super) fn new(greatest_boost: f32, steps: Option<&'t mut Vec<Step>>) -> Self {
        Self {
            score: 0.0,
            base: 0.0,
            boosts: 0.0,
            greatest_boost,
            steps,
        }
    }

    pub(super) fn score(&self) -> f32 {
        self.score
    }

    pub(super) fn step(
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

    /// Begins the boosts: they all apply to this score.
    pub(super) fn begin_boosts(&mut self) {
        self.base = self.score;
    }

    /// Ends the boosts: applies them.
    pub(super) fn end_boosts(&mut self) {
        if self.boosts > 0.0 {
            self.score = self.boosted();
        }
    }

    pub(super) fn boost(&mut self, rule: &'static str, matched: impl FnOnce() -> String, raw: f32, weight: f32) {
        if raw * weight <= 0.0 {
            return;
        }
        self.boosts = (self.boosts + raw * weight).min(self.greatest_boost);
        // The score between two boosts is needed for the explanation only.
        if self.steps.is_some() {
            self.step("boost", rule, matched, (raw, weight), self.boosted());
        }
    }

    fn boosted(&self) -> f32 {
        1.0 - (1.0 - self.base).powf(1.0 + self.boosts)
    }
}

//! What changes a score after its boosts: a table, in the order in which its rows apply.

use super::ledger::Ledger;
use super::{EVIDENCE_CAP, flag};
use crate::ranking::features::{PageFeatures, QueryFeatures};
use crate::ranking::page::Page;
use crate::ranking::rank::noisy_or;
use crate::ranking::weight::Weights;

/// Evidence up to here counts as it is; what is above is pressed below [`EVIDENCE_CAP`]. Chosen, not measured.
const SOFT_CAP: f32 = 0.9;

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

/// A page, and what the rules see of a query in it.
pub(super) struct Case<'c> {
    pub(super) asked: &'c QueryFeatures<'c>,
    pub(super) weights: &'c Weights,
    pub(super) page: &'c Page,
    pub(super) found: &'c PageFeatures,
}

/// How a score changes by an amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// It keeps this share.
    Scale,
    /// It gains this share of what it lacks to 1, see [`noisy_or`].
    Boost,
    /// It is pressed below this, from the knee on.
    SoftCap,
}

/// How much a row changes a score.
struct Amount {
    /// [`super::Step::raw`].
    raw: f32,
    /// [`super::Step::weight`].
    weight: f32,
    /// What the effect goes by.
    by: f32,
}

/// A row of the table.
pub(super) struct Adjustment {
    /// [`super::Step::step`].
    step: &'static str,
    pub(super) rule: &'static str,
    pub(super) effect: Effect,
    /// `None` where it does not apply.
    amount: fn(&Case<'_>) -> Option<Amount>,
    matched: fn(&Case<'_>) -> String,
}

/// The table.
pub(super) const ADJUSTMENTS: [Adjustment; 17] = [
    penalty("intent_conflict", conflict, title),
    penalty("further_verb", further_verb, title),
    name("task", task, title),
    penalty("elsewhere", elsewhere, container),
    penalty("other_platform", other_platform, nothing),
    penalty("older_version", older_version, newer_version),
    penalty("age", age, age_or_slug),
    boosting("boost", "recency", recency, age_or_slug),
    penalty("period", period, slug),
    boosting("phrase", "exact_phrase", |case| whole(case.page.phrase), nothing),
    name("definition", definition, nothing),
    name("near_name", near_name, title),
    name("version", news_of_version, slug),
    penalty("news", news, slug),
    // After definitions: a line that lists a name can look like one.
    penalty("list", list, slug),
    CAP,
    name("exact_name", |case| whole(case.page.name), title),
];

const CAP: Adjustment = Adjustment {
    step: "name",
    rule: "ceiling",
    effect: Effect::SoftCap,
    amount: |_| whole(EVIDENCE_CAP),
    matched: nothing,
};

const fn penalty(
    rule: &'static str,
    amount: fn(&Case<'_>) -> Option<Amount>,
    matched: fn(&Case<'_>) -> String,
) -> Adjustment {
    Adjustment {
        step: "penalty",
        rule,
        effect: Effect::Scale,
        amount,
        matched,
    }
}

const fn name(
    rule: &'static str,
    amount: fn(&Case<'_>) -> Option<Amount>,
    matched: fn(&Case<'_>) -> String,
) -> Adjustment {
    boosting("name", rule, amount, matched)
}

const fn boosting(
    step: &'static str,
    rule: &'static str,
    amount: fn(&Case<'_>) -> Option<Amount>,
    matched: fn(&Case<'_>) -> String,
) -> Adjustment {
    Adjustment {
        step,
        rule,
        effect: Effect::Boost,
        amount,
        matched,
    }
}

impl Adjustment {
    pub(super) fn apply(&self, case: &Case<'_>, ledger: &mut Ledger<'_>) {
        let Some(Amount { raw, weight, by }) = (self.amount)(case) else {
            return;
        };
        if let Some(after) = self.effect.after(ledger.score(), by) {
            ledger.step(self.step, self.rule, || (self.matched)(case), (raw, weight), after);
        }
    }
}

impl Effect {
    /// `None` if there is nothing to change.
    fn after(self, score: f32, by: f32) -> Option<f32> {
        match self {
            Self::Scale => Some(score * by),
            Self::Boost => Some(noisy_or(score, by)),
            Self::SoftCap => Some(below(by, score)).filter(|kept| *kept < score),
        }
    }
}

/// Presses what is above the knee between it and the ceiling, keeping the order.
pub(super) fn below(ceiling: f32, score: f32) -> f32 {
    if score <= SOFT_CAP {
        score
    } else {
        SOFT_CAP + (score - SOFT_CAP) * (ceiling - SOFT_CAP) / (1.0 - SOFT_CAP)
    }
}

/// A strength that counts as it is, if there is one.
fn whole(strength: f32) -> Option<Amount> {
    (strength > 0.0).then_some(Amount {
        raw: strength,
        weight: 1.0,
        by: strength,
    })
}

/// What is left where a page loses this share, if it loses something.
fn without(share: f32, raw: f32, weight: f32) -> Option<Amount> {
    let share = share.clamp(0.0, 1.0);
    (share > 0.0).then_some(Amount {
        raw,
        weight,
        by: 1.0 - share,
    })
}

/// What a page loses for something that it has or has not, by a weight.
fn lost(has: bool, weight: f32) -> Option<Amount> {
    without(flag(has) * weight, 1.0, weight)
}

fn conflict(case: &Case<'_>) -> Option<Amount> {
    let (found, penalty) = (case.found, case.weights.penalty_intent_conflict);
    let share = found.conflict * penalty * found.intent;
    without(share, found.conflict, penalty * found.intent)
}

/// What the rules see in a page whose name says what the query says to do.
fn with_task<'c>(case: &Case<'c>) -> Option<&'c PageFeatures> {
    Some(case.found).filter(|found| found.task > 0.0 && case.weights.weight_task > 0.0)
}

fn further_verb(case: &Case<'_>) -> Option<Amount> {
    let found = with_task(case)?;
    let kept = 1.0 - (1.0 - found.task / found.closest_task.max(found.task)) * found.intent;
    (kept < 1.0).then_some(Amount {
        raw: 1.0 - kept,
        weight: 1.0,
        by: kept,
    })
}

fn task(case: &Case<'_>) -> Option<Amount> {
    let found = with_task(case)?;
    let by = (case.weights.weight_task * found.task.powf(TASK_POWER) * found.intent).clamp(0.0, 1.0);
    Some(Amount {
        raw: found.task,
        weight: by / found.task,
        by,
    })
}

fn elsewhere(case: &Case<'_>) -> Option<Amount> {
    lost(case.found.elsewhere, case.weights.penalty_elsewhere)
}

fn other_platform(case: &Case<'_>) -> Option<Amount> {
    lost(case.found.other_platform, case.weights.penalty_elsewhere)
}

fn older_version(case: &Case<'_>) -> Option<Amount> {
    lost(case.page.newer.is_some(), case.weights.penalty_older_version)
}

/// Where nothing but what is new is asked for, words say nothing of it: how new the page is, in the place that is asked for.
fn newness(case: &Case<'_>) -> Option<f32> {
    let newness = case.page.newness.filter(|_| case.weights.boost_recency > 0.0)?;
    let is_elsewhere = case.asked.is_placed() && !case.found.inside;
    Some(newness * if is_elsewhere { ELSEWHERE_NEW } else { 1.0 })
}

/// A page that is not known to be new is a weak match then.
fn age(case: &Case<'_>) -> Option<Amount> {
    newness(case).map(|share| {
        let kept = if share > 0.0 { 0.0 } else { NOT_NEW };
        Amount {
            raw: 1.0 - kept,
            weight: 1.0,
            by: kept,
        }
    })
}

fn recency(case: &Case<'_>) -> Option<Amount> {
    newness(case).filter(|share| *share > 0.0).map(|share| Amount {
        raw: share,
        weight: ONLY_RECENT,
        by: ONLY_RECENT * share,
    })
}

fn period(case: &Case<'_>) -> Option<Amount> {
    let is_outside = case.page.in_period == Some(false) && newness(case).is_none();
    without(flag(is_outside) * OUTSIDE_PERIOD, OUTSIDE_PERIOD, 1.0)
}

fn definition(case: &Case<'_>) -> Option<Amount> {
    let (raw, weight) = (case.page.definition, case.weights.weight_definition);
    let by = (raw * weight).clamp(0.0, 1.0);
    (by > 0.0).then_some(Amount { raw, weight, by })
}

/// "latest release" is not the beginning of a name.
fn near_name(case: &Case<'_>) -> Option<Amount> {
    whole(case.page.near_name).filter(|_| case.page.newness.is_none())
}

fn news_of_version(case: &Case<'_>) -> Option<Amount> {
    whole(NEWS_OF_VERSION).filter(|_| case.found.news_of_version)
}

fn news(case: &Case<'_>) -> Option<Amount> {
    lost(case.found.news, case.weights.penalty_news)
}

fn list(case: &Case<'_>) -> Option<Amount> {
    let (page, penalty) = (case.page, case.weights.penalty_list);
    without(flag(page.is_list()) * penalty, page.entry_share, penalty)
}

fn nothing(_: &Case<'_>) -> String {
    String::new()
}

fn title(case: &Case<'_>) -> String {
    case.page.title.clone()
}

fn slug(case: &Case<'_>) -> String {
    case.page.slug.clone()
}

fn container(case: &Case<'_>) -> String {
    case.asked.container().to_owned()
}

fn newer_version(case: &Case<'_>) -> String {
    case.page.newer.clone().unwrap_or_default()
}

fn age_or_slug(case: &Case<'_>) -> String {
    let age = case.page.age_days.map(|age| format!("{age:.0} days"));
    age.unwrap_or_else(|| slug(case))
}

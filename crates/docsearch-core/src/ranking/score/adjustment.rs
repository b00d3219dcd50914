//! Changes to a score after its boosts: a table, in the order of application.

use super::ledger::Ledger;
use super::{EVIDENCE_CAP, flag};
use crate::ranking::features::{PageFeatures, QueryFeatures};
use crate::ranking::page::Page;
use crate::ranking::rank::noisy_or;
use crate::ranking::weight::Weights;

/// Where the soft cap begins: greater scores are scaled to end at [`EVIDENCE_CAP`]. Chosen, not measured.
const SOFT_CAP_START: f32 = 0.9;

/// Strength of the release notes of the version that the query asks for. Chosen: as of a near name.
const NEWS_OF_VERSION: f32 = 0.7;
/// Strength of a page of today, if the query asks for nothing but what is new. Chosen: nothing makes the answer more
/// certain.
const ONLY_RECENT: f32 = 0.85;
/// Share that a page keeps for such a query if it is not known to be new. Chosen: too little for more than low
/// confidence.
const NOT_NEW: f32 = 0.1;
/// Share of its newness that a page outside of the query's project keeps. Chosen.
const ELSEWHERE_NEW: f32 = 0.4;
/// Share that a page outside of the query's period loses if another page is in it. Chosen.
const OUTSIDE_PERIOD: f32 = 0.4;

/// Power of the closeness of a verb. Chosen: for `save`, `write` comes before `edit`, whatever their descriptions
/// are.
const TASK_POWER: f32 = 1.5;

/// A page with its features for a query.
pub(super) struct Case<'c> {
    pub(super) query: &'c QueryFeatures<'c>,
    pub(super) weights: &'c Weights,
    pub(super) page: &'c Page,
    pub(super) features: &'c PageFeatures,
}

/// How an amount changes a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Multiplies it.
    Scale,
    /// Raises it by this share of its distance to 1, see [`noisy_or`].
    Boost,
    /// Raises what is missing to 1 to this power: above 1 the score rises, below 1 it falls, and 0 and 1 stay.
    Power,
    /// Scales what is above [`SOFT_CAP_START`].
    SoftCap,
}

/// How much a row changes a score.
struct Amount {
    /// [`super::Step::raw`].
    raw: f32,
    /// [`super::Step::weight`].
    weight: f32,
    /// Operand of the effect.
    by: f32,
}

/// A row of the table.
pub(super) struct Adjustment {
    /// [`super::Step::step`].
    step: &'static str,
    pub(super) rule: &'static str,
    pub(super) effect: Effect,
    /// `None` if the row does not apply.
    amount: fn(&Case<'_>) -> Option<Amount>,
    matched: fn(&Case<'_>) -> String,
}

/// The table.
pub(super) const ADJUSTMENTS: [Adjustment; 19] = [
    penalty("intent_conflict", conflict, title),
    penalty("further_verb", further_verb, title),
    name("task", task, title),
    penalty("elsewhere", elsewhere, container),
    penalty("other_platform", other_platform, nothing),
    penalty("other_word", other_word, title),
    penalty("older_version", older_version, newer_version),
    penalty("age", age, age_or_slug),
    boosting("boost", "recency", recency, age_or_slug),
    penalty("period", period, slug),
    boosting("phrase", "exact_phrase", |case| whole(case.page.phrase), nothing),
    name("definition", definition, nothing),
    name("near_name", near_name, title),
    name("version", news_of_version, slug),
    penalty("news", news, slug),
    // After definitions: an entry of a list can look like a definition.
    penalty("list", list, slug),
    Adjustment {
        effect: Effect::Power,
        ..boosting("boost", "page_boost", page_boost, slug)
    },
    SOFT_CAP,
    name("exact_name", |case| whole(case.page.name), title),
];

const SOFT_CAP: Adjustment = Adjustment {
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
    /// `None` if nothing changes.
    fn after(self, score: f32, by: f32) -> Option<f32> {
        match self {
            Self::Scale => Some(score * by),
            Self::Boost => Some(noisy_or(score, by)),
            Self::Power => Some(1.0 - (1.0 - score).max(0.0).powf(by)),
            Self::SoftCap => Some(soft_cap(by, score)).filter(|capped| *capped < score),
        }
    }
}

/// Maps scores from [`SOFT_CAP_START`] to 1 to those up to `cap`, in the same order.
pub(super) fn soft_cap(cap: f32, score: f32) -> f32 {
    if score <= SOFT_CAP_START {
        score
    } else {
        SOFT_CAP_START + (score - SOFT_CAP_START) * (cap - SOFT_CAP_START) / (1.0 - SOFT_CAP_START)
    }
}

/// The amount of a strength. `None` for 0.
fn whole(strength: f32) -> Option<Amount> {
    (strength > 0.0).then_some(Amount {
        raw: strength,
        weight: 1.0,
        by: strength,
    })
}

/// The amount of a loss of this share. `None` for 0.
fn without(share: f32, raw: f32, weight: f32) -> Option<Amount> {
    let share = share.clamp(0.0, 1.0);
    (share > 0.0).then_some(Amount {
        raw,
        weight,
        by: 1.0 - share,
    })
}

/// A loss of this weight, if the page has the feature.
fn lost(has: bool, weight: f32) -> Option<Amount> {
    without(flag(has) * weight, 1.0, weight)
}

fn conflict(case: &Case<'_>) -> Option<Amount> {
    let (features, penalty) = (case.features, case.weights.penalty_intent_conflict);
    let share = features.conflict * penalty * features.intent;
    without(share, features.conflict, penalty * features.intent)
}

/// Features of a page whose name is the task of the query.
fn with_task<'c>(case: &Case<'c>) -> Option<&'c PageFeatures> {
    Some(case.features).filter(|features| features.task > 0.0 && case.weights.weight_task > 0.0)
}

fn further_verb(case: &Case<'_>) -> Option<Amount> {
    let features = with_task(case)?;
    let factor = 1.0 - (1.0 - features.task / features.closest_task.max(features.task)) * features.intent;
    (factor < 1.0).then_some(Amount {
        raw: 1.0 - factor,
        weight: 1.0,
        by: factor,
    })
}

fn task(case: &Case<'_>) -> Option<Amount> {
    let features = with_task(case)?;
    let by = (case.weights.weight_task * features.task.powf(TASK_POWER) * features.intent).clamp(0.0, 1.0);
    Some(Amount {
        raw: features.task,
        weight: by / features.task,
        by,
    })
}

fn elsewhere(case: &Case<'_>) -> Option<Amount> {
    lost(case.features.elsewhere, case.weights.penalty_elsewhere)
}

fn other_platform(case: &Case<'_>) -> Option<Amount> {
    lost(case.features.other_platform, case.weights.penalty_elsewhere)
}

fn other_word(case: &Case<'_>) -> Option<Amount> {
    let (share, penalty) = (case.features.other_words, case.weights.penalty_other_word);
    without(share * penalty, share, penalty)
}

fn older_version(case: &Case<'_>) -> Option<Amount> {
    lost(case.page.newer.is_some(), case.weights.penalty_older_version)
}

/// Newness of a page in the query's container, if the query asks for nothing but what is new. Words do not count
/// then.
fn newness(case: &Case<'_>) -> Option<f32> {
    let newness = case.page.newness.filter(|_| case.weights.boost_recency > 0.0)?;
    let is_elsewhere = case.query.is_placed() && !case.features.inside;
    Some(newness * if is_elsewhere { ELSEWHERE_NEW } else { 1.0 })
}

/// A page that is not known to be new is a weak match for such a query.
fn age(case: &Case<'_>) -> Option<Amount> {
    newness(case).map(|share| {
        let factor = if share > 0.0 { 0.0 } else { NOT_NEW };
        Amount {
            raw: 1.0 - factor,
            weight: 1.0,
            by: factor,
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
    whole(NEWS_OF_VERSION).filter(|_| case.features.news_of_version)
}

fn news(case: &Case<'_>) -> Option<Amount> {
    lost(case.features.news, case.weights.penalty_news)
}

fn list(case: &Case<'_>) -> Option<Amount> {
    let (page, penalty) = (case.page, case.weights.penalty_list);
    without(flag(page.is_list()) * penalty, page.entry_share, penalty)
}

/// What the author of the page says of it, for any query.
fn page_boost(case: &Case<'_>) -> Option<Amount> {
    case.page.boost().filter(|boost| *boost != 1.0).map(|boost| Amount {
        raw: boost,
        weight: 1.0,
        by: boost,
    })
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
    case.query.container().to_owned()
}

fn newer_version(case: &Case<'_>) -> String {
    case.page.newer.clone().unwrap_or_default()
}

fn age_or_slug(case: &Case<'_>) -> String {
    let age = case.page.age_days.map(|age| format!("{age:.0} days"));
    age.unwrap_or_else(|| slug(case))
}

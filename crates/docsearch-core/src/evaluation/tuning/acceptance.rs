//! Whether tuned settings are accepted: one test, on pages that the search has not seen.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::evaluation::bootstrap::mean_interval;
use crate::evaluation::comparison::OVERALL;
use crate::evaluation::tuning::query::{Role, TuningQuery, balance};

/// Fewer judged queries on pages that the search has not seen cannot show that settings are better.
pub const FEWEST_QUERIES: usize = 30;

/// How the values of some queries differ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// `overall`, a group or a class.
    pub name: String,
    /// Number of queries.
    pub queries: usize,
    /// Mean before; `overall` is the mean over groups.
    pub before: f64,
    /// Mean after.
    pub after: f64,
    /// `after - before`.
    pub difference: f64,
    /// 95 % paired bootstrap interval of the difference.
    pub interval: [f64; 2],
}

/// Queries that may not be answered worse at all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Guard {
    /// `names` or `invented`.
    pub name: String,
    /// Number of queries.
    pub queries: usize,
    /// Number of right answers before: names whose page comes first, invented queries whose answer has no high confidence.
    pub before: usize,
    /// Number of right answers after.
    pub after: usize,
}

/// The test of tuned settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// Whether they are accepted.
    pub is_accepted: bool,
    /// Why they are not, in words.
    pub reasons: Vec<String>,
    /// All judged queries.
    pub overall: Difference,
    /// By group.
    pub groups: Vec<Difference>,
    /// By class.
    pub classes: Vec<Difference>,
    /// Names and invented queries.
    pub guards: Vec<Guard>,
}

/// Decides by the values of queries before and after weights have changed.
pub fn decide(queries: &[TuningQuery], before: &[f64], after: &[f64]) -> Verdict {
    let weights = balance(queries);
    let judged: Vec<usize> = (0..queries.len())
        .filter(|&place| queries[place].role == Role::Judged)
        .collect();
    let overall = difference(OVERALL, &judged, |place| weights[place], before, after);
    let by = |name: fn(&TuningQuery) -> &str| -> Vec<Difference> {
        let mut parts: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for &place in &judged {
            parts.entry(name(&queries[place])).or_default().push(place);
        }
        let parts = parts.into_iter();
        parts
            .map(|(name, places)| difference(name, &places, |_| 1.0, before, after))
            .collect()
    };
    let (groups, classes) = (by(|query| &query.group), by(|query| &query.class));
    let guards: Vec<Guard> = [(Role::Name, "names"), (Role::Invented, "invented")]
        .map(|(role, name)| guard(name, role, queries, before, after))
        .into();
    let mut reasons = Vec::new();
    if judged.len() < FEWEST_QUERIES {
        reasons.push(format!("{} queries are too few to decide by", judged.len()));
    } else if overall.interval[0] <= 0.0 {
        reasons.push("the interval of the difference is not above 0".to_owned());
    }
    for part in groups.iter().chain(&classes).filter(|part| part.interval[1] < 0.0) {
        reasons.push(format!("{} queries are answered worse", part.name));
    }
    for guard in guards.iter().filter(|guard| guard.after < guard.before) {
        let (name, before, after) = (&guard.name, guard.before, guard.after);
        reasons.push(format!("{name}: {after} instead of {before} right answers"));
    }
    Verdict {
        is_accepted: reasons.is_empty(),
        reasons,
        overall,
        groups,
        classes,
        guards,
    }
}

fn difference(
    name: &str,
    places: &[usize],
    weight: impl Fn(usize) -> f64,
    before: &[f64],
    after: &[f64],
) -> Difference {
    let weighted = |values: &[f64]| -> Vec<f64> { places.iter().map(|&place| weight(place) * values[place]).collect() };
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let (before, after) = (weighted(before), weighted(after));
    let differences: Vec<f64> = after
        .iter()
        .zip(&before)
        .map(|(after, before)| after - before)
        .collect();
    Difference {
        name: name.to_owned(),
        queries: places.len(),
        before: mean(&before),
        after: mean(&after),
        difference: mean(&differences),
        interval: mean_interval(&differences),
    }
}

fn guard(name: &str, role: Role, queries: &[TuningQuery], before: &[f64], after: &[f64]) -> Guard {
    let places = || (0..queries.len()).filter(|&place| queries[place].role == role);
    let right = |values: &[f64]| places().filter(|&place| values[place] > 0.5).count();
    Guard {
        name: name.to_owned(),
        queries: places().count(),
        before: right(before),
        after: right(after),
    }
}

//! The queries that a tuning measures.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Groups with fewer queries are measured together: their means would be noise. If all of them have fewer, they are measured with
/// the smallest other group.
const SMALLEST_GROUP: usize = 30;
/// The group of all queries of small groups.
const SMALL_GROUPS: &str = "other";

/// What a query is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Its value is the nDCG of its answer, which is to rise.
    Judged,
    /// It is a name. Its value is 1 if its page comes first: no fewer names may.
    Name,
    /// No page answers it. Its value is 1 unless the answer has high confidence: no fewer answers may be doubtful.
    Invented,
}

/// A query as a tuning sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TuningQuery {
    /// What it is for.
    pub role: Role,
    /// Its kind, such as `heading`.
    pub group: String,
    /// Its class, such as `question`.
    pub class: String,
}

/// The factor of the value of each judged query, so that a mean over the products is the mean over the means of groups; 0 for
/// other queries.
pub(super) fn balance(queries: &[TuningQuery]) -> Vec<f64> {
    let judged = || queries.iter().filter(|query| query.role == Role::Judged);
    let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
    for query in judged() {
        *sizes.entry(&query.group).or_default() += 1;
    }
    let (large, small): (Vec<_>, Vec<_>) = sizes.iter().partition(|(_, size)| **size >= SMALLEST_GROUP);
    let is_noise = small.iter().map(|(_, size)| **size).sum::<usize>() < SMALLEST_GROUP;
    let smallest = large
        .iter()
        .min_by_key(|(name, size)| (**size, **name))
        .filter(|_| is_noise);
    let group = |query: &TuningQuery| match sizes.get(query.group.as_str()) {
        Some(&size) if size >= SMALLEST_GROUP => query.group.clone(),
        _ => smallest.map_or(SMALL_GROUPS, |(name, _)| **name).to_owned(),
    };
    let mut pooled: BTreeMap<String, usize> = BTreeMap::new();
    for query in judged() {
        *pooled.entry(group(query)).or_default() += 1;
    }
    let count = judged().count() as f64;
    let weight = |query: &TuningQuery| match query.role == Role::Judged {
        true => count / (pooled.len() as f64 * pooled.get(&group(query)).map_or(1.0, |&size| size as f64)),
        false => 0.0,
    };
    queries.iter().map(weight).collect()
}

//! The queries that a tuning measures.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::ranking::field::Field;

/// Groups with fewer queries are measured together: their means would be noise.
const SMALLEST_GROUP: usize = 10;
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
    /// Fields of its right page in which a text is hidden.
    pub hidden: BTreeSet<Field>,
}

impl TuningQuery {
    /// Whether it can judge weights of these fields. Where a field of its right page is incomplete, that page loses by a
    /// weight for the field, and others win: each such weight would seem to mislead.
    pub(super) fn judges(&self, fields: &BTreeSet<Field>) -> bool {
        self.role == Role::Judged && self.hidden.is_disjoint(fields)
    }
}

/// The factor of the value of each query that judges some fields, so that a mean over the products is the mean over the means
/// of groups; 0 for other queries.
pub(super) fn balance(queries: &[TuningQuery], fields: &BTreeSet<Field>) -> Vec<f64> {
    let judged = || queries.iter().filter(|query| query.judges(fields));
    let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
    for query in judged() {
        *sizes.entry(&query.group).or_default() += 1;
    }
    let group = |query: &TuningQuery| match sizes.get(query.group.as_str()) {
        Some(&size) if size >= SMALLEST_GROUP => query.group.clone(),
        _ => SMALL_GROUPS.to_owned(),
    };
    let mut pooled: BTreeMap<String, usize> = BTreeMap::new();
    for query in judged() {
        *pooled.entry(group(query)).or_default() += 1;
    }
    let count = judged().count() as f64;
    let weight = |query: &TuningQuery| match query.judges(fields) {
        true => count / (pooled.len() as f64 * pooled.get(&group(query)).map_or(1.0, |&size| size as f64)),
        false => 0.0,
    };
    queries.iter().map(weight).collect()
}

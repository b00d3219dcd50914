//! Searches in the hidden copy, and what they are worth.

use std::collections::HashMap;

use docsearch_core::answer::calibration::Calibration;
use docsearch_core::answer::delivery::Confidence;
use docsearch_core::evaluation::derived::{DerivedKind, DerivedQuery};
use docsearch_core::evaluation::measures::{CUTOFF, Measures, first_relevant};
use docsearch_core::evaluation::nonsense::random_queries;
use docsearch_core::evaluation::tuning::query::{Role, TuningQuery};
use docsearch_core::values::digest::digest;
use pgrx::datum::DatumWithOid;
use serde_json::Value;

use crate::postgres::jsonb::JsonB;
use crate::postgres::report::{Result, internal};
use crate::postgres::role::Caller;
use crate::postgres::{interrupt, statement, worker_process};
use crate::search::arguments::Arguments;
use crate::search::retrieval::Detail;
use crate::tables::project::Project;

/// Queries that no page answers, half of them on each side.
const INVENTED: usize = 80;
/// The group of these queries.
const INVENTED_GROUP: &str = "invented";

/// A query that is measured.
pub(super) struct MeasuredQuery {
    pub(super) tuning: TuningQuery,
    pub(super) text: String,
    /// Its right document.
    document: Option<i64>,
}

/// What a search found.
pub(super) struct Found {
    pub(super) value: f64,
    pub(super) class: &'static str,
    /// The score of the first result, and whether it is right; only of queries that a page answers.
    pub(super) first: Option<(f64, bool)>,
}

/// The queries of both sides, each with those that are judged first.
pub(super) fn queries(caller: &Caller, project: &Project, derived: &[DerivedQuery]) -> Result<[Vec<MeasuredQuery>; 2]> {
    let documents: HashMap<String, i64> = statement::rows(
        caller,
        "SELECT d.slug, d.id FROM docsearch.document d WHERE d.project_id = $1",
        &[DatumWithOid::from(project.id)],
        |row| Ok((row.required::<String>(1)?, row.required::<i64>(2)?)),
    )?
    .into_iter()
    .collect();
    let mut sides = [Vec::new(), Vec::new()];
    for query in derived {
        let Some(&document) = documents.get(&query.hidden_slug) else {
            continue;
        };
        sides[usize::from(query.held_out)].push(MeasuredQuery {
            tuning: TuningQuery {
                role: match query.kind {
                    DerivedKind::Name => Role::Name,
                    _ => Role::Judged,
                },
                group: query.kind.as_str().to_owned(),
                class: String::new(),
            },
            text: query.text.clone(),
            document: Some(document),
        });
    }
    // Both kinds of invented queries alternate.
    for (number, query) in random_queries(INVENTED).into_iter().enumerate() {
        sides[number / 2 % 2].push(MeasuredQuery {
            tuning: TuningQuery {
                role: Role::Invented,
                group: INVENTED_GROUP.to_owned(),
                class: String::new(),
            },
            text: query.text,
            document: None,
        });
    }
    for side in &mut sides {
        side.sort_by_cached_key(|query| (query.tuning.role != Role::Judged, digest(&[&query.text])));
    }
    Ok(sides)
}

/// Searches one query with a `config`.
pub(super) fn search(caller: &mut Caller, project: &str, query: &MeasuredQuery, config: &Value) -> Result<Found> {
    interrupt::check();
    worker_process::end_if_database_is_locked();
    let arguments = Arguments {
        query: Some(&query.text),
        project: Some(project),
        max_results: Some(i32::try_from(CUTOFF).map_err(internal)?),
        config: Some(JsonB(config.clone())),
        ..Arguments::default()
    };
    let request = arguments.resolve(caller)?;
    if query.tuning.role == Role::Invented {
        let answer = request.answer(caller, Detail::Rows)?;
        let is_high = answer
            .results
            .first()
            .is_some_and(|first| first.confidence == Confidence::High);
        return Ok(Found {
            value: if is_high { 0.0 } else { 1.0 },
            class: "",
            first: None,
        });
    }
    let retrieval = request.run(caller, 0, None)?;
    let class = retrieval.groups.first().map(|group| group.understanding.class);
    let ranked = retrieval.found.ranked.iter().take(CUTOFF);
    let gains: Vec<i32> = ranked
        .map(|ranked| i32::from(Some(ranked.document.document.document) == query.document))
        .collect();
    let is_right = first_relevant(&gains) == Some(1);
    let measures = Measures::of(&gains, &[1], CUTOFF);
    Ok(Found {
        value: match query.tuning.role {
            Role::Judged => measures.ndcg,
            Role::Name | Role::Invented => measures.p1,
        },
        class: class.map_or("", Into::into),
        first: retrieval
            .found
            .ranked
            .first()
            .map(|first| (f64::from(first.score), is_right)),
    })
}

/// First results with their calibrated probabilities in place of scores.
pub(super) fn calibrated(calibration: &Calibration, first_results: &[(f64, bool)]) -> Vec<(f64, bool)> {
    let calibrated = first_results.iter();
    calibrated
        .map(|&(score, is_right)| (calibration.probability(score), is_right))
        .collect()
}

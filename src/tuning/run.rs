//! A tuning from the queries to its outcome.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use docsearch_core::answer::calibration::Calibration;
use docsearch_core::evaluation::reliability::Reliability;
use docsearch_core::evaluation::tuning::acceptance::{FEWEST_QUERIES, Verdict, decide};
use docsearch_core::evaluation::tuning::journal::{Journal, Line, Size};
use docsearch_core::evaluation::tuning::query::{Role, TuningQuery};
use docsearch_core::evaluation::tuning::search;
use docsearch_core::evaluation::tuning::space::{Dimension, Settings};
use docsearch_core::ranking::weight::WEIGHTS;
use docsearch_core::values::digest::digest;
use pgrx::datum::DatumWithOid;
use serde::Serialize;
use serde_json::{Value, json};

use crate::administration::conditions;
use crate::postgres::database_file::DatabaseFile;
use crate::postgres::report::Result;
use crate::postgres::role::{Caller, Role as _};
use crate::postgres::{memory, statement};
use crate::settings;
use crate::tables::project::{self, Project};
use crate::tables::tuning::{self, Outcome, Status};
use crate::tuning::documents::SampleLimits;
use crate::tuning::hidden_copy::{HiddenCopy, with_hidden_copy};
use crate::tuning::measure::{self, Found, MeasuredQuery};

/// What an interrupted tuning of the background has measured.
pub(super) const JOURNAL: DatabaseFile = DatabaseFile {
    name: "tuning",
    max_bytes: 64 << 20,
};
/// Equal documents give equal searches.
const SEED: u64 = 20_261_127;
/// Time for the final measurements, as a factor of what they took on average until then.
const RESERVE: f64 = 1.5;

/// A search measures each query with about this number of settings.
const SEARCHES_OF_A_QUERY: f64 = 60.0;
/// The part of the time in which a search should end by itself.
const SEARCH_SHARE: f64 = 0.8;
/// Fewest judged queries that are measured if there are as many, however slow they are.
const LEAST_JUDGED: usize = 120;

/// A tuning to run.
pub(super) struct Job {
    pub(super) project: i64,
    pub(super) limit: Duration,
    /// Whether what is measured is kept for the case that the process ends.
    pub(super) has_journal: bool,
}

/// Runs a tuning, and changes nothing.
pub(super) fn run(caller: &mut Caller, job: &Job) -> Result<Outcome> {
    let begun = Instant::now();
    let project = project::by_id(caller, job.project)?;
    let dimensions = dimensions(caller, &project)?;
    let start: Settings = dimensions
        .iter()
        .filter_map(|dimension| Some((dimension.name().to_owned(), *project.weights.get(dimension.name())?)))
        .collect();
    let state = conditions::current(caller, std::slice::from_ref(&project))?;
    let (found, calibration, mut evidence) =
        with_hidden_copy(caller, &project, &SampleLimits::default(), |caller, copy| {
            Tuning {
                begun,
                copied: begun.elapsed(),
                limit: job.limit,
                dimensions: &dimensions,
                start: &start,
                searches: 0,
                searched: Duration::ZERO,
            }
            .run(caller, copy, job.has_journal)
        })?;
    evidence["documents"] = documents(caller, &project)?;
    evidence["state"] = state;
    evidence["seconds"] = json!(begun.elapsed().as_secs_f64());
    let is_accepted = found.is_some();
    let before = changeable(&start, project.calibration.as_ref());
    let calibration = calibration.or_else(|| project.calibration.clone().filter(|_| !is_accepted));
    let after = changeable(&found.unwrap_or(start), calibration.as_ref());
    Ok(Outcome {
        status: if is_accepted { Status::Accepted } else { Status::Refused },
        before,
        after,
        evidence,
    })
}

/// A digest of the documents of a project that the caller sees.
fn documents(caller: &Caller, project: &Project) -> Result<Value> {
    let digest = statement::one(
        caller,
        "SELECT pg_catalog.md5(pg_catalog.string_agg(d.slug || ' ' || d.content_hash, E'\\n' ORDER BY d.slug))
         FROM docsearch.document d WHERE d.project_id = $1",
        &[DatumWithOid::from(project.id)],
        |row| row.optional::<String>(1),
    )?;
    Ok(json!({ "digest": digest.flatten() }))
}

/// The settings of a project that a tuning may change.
pub(super) fn changeable(weights: &Settings, calibration: Option<&Calibration>) -> Value {
    let mut settings = json!(weights);
    if let Some(calibration) = calibration {
        settings[project::CALIBRATION] = json!(calibration);
    }
    settings
}

/// The value of a weight as JSON: whole numbers without decimals.
pub(super) fn weight(value: f64) -> Value {
    match value.fract() == 0.0 {
        true => json!(value as i64),
        false => json!(value),
    }
}

/// The weights that are varied: neither those that the owner of the project has set, nor those that the server, the
/// database or the role sets.
fn dimensions(caller: &mut Caller, project: &Project) -> Result<Vec<Dimension>> {
    let tuned = {
        let owner = &caller.as_owner()?;
        tuning::last_in_use(owner, project.id)?
    };
    let by_tuning = |name: &str, value: f64| {
        let after = tuned.as_ref().and_then(|tuned| tuned.after.0.get(name));
        after.and_then(Value::as_f64) == Some(value)
    };
    let is_of_server = |name: &str| {
        let row = WEIGHTS.iter().enumerate().find(|(_, row)| row.name == name);
        row.is_some_and(|(place, row)| (settings::weight(place, row) - row.default).abs() > f64::from(f32::EPSILON))
    };
    Ok(Dimension::all(|name| match project.weights.get(name) {
        Some(&value) => !by_tuning(name, value),
        None => is_of_server(name),
    }))
}

struct Tuning<'a> {
    begun: Instant,
    /// Time until the copy was there.
    copied: Duration,
    limit: Duration,
    dimensions: &'a [Dimension],
    start: &'a Settings,
    /// Number of searches, and the time that they took.
    searches: u32,
    searched: Duration,
}

impl Tuning<'_> {
    /// The settings if they are accepted, the calibration if it is better than the score, and the evidence.
    fn run(
        &mut self,
        caller: &mut Caller,
        copy: &HiddenCopy,
        has_journal: bool,
    ) -> Result<(Option<Settings>, Option<Calibration>, Value)> {
        let project = copy.project.name.as_str();
        let [mut training, held_out] = measure::queries(caller, &copy.project, &copy.queries)?;
        let judged = |side: &[MeasuredQuery]| side.iter().filter(|query| query.tuning.role == Role::Judged).count();
        if judged(&training).min(judged(&held_out)) < FEWEST_QUERIES {
            let counts = json!({ "training": counts(&training), "held_out": counts(&held_out) });
            let reason = format!("fewer than {FEWEST_QUERIES} queries can be derived for each half of the pages");
            return Ok((None, None, json!({ "queries": counts, "reasons": [reason] })));
        }
        let digest = self.digest(&training);
        let journal = match has_journal {
            true => Journal::read(&JOURNAL.lines().unwrap_or_default(), &digest),
            false => Journal::default(),
        };
        let all = judged(&training);
        let final_searches = training.len() + 2 * held_out.len();
        let affordable = match journal.judged() {
            Some(known) => known,
            None => self.affordable(caller, project, &training[..all], final_searches)?,
        };
        if has_journal && journal.judged().is_none() {
            write(&Size {
                digest: digest.clone(),
                judged: affordable,
            });
        }
        let left_out: Vec<MeasuredQuery> = training.drain(affordable.min(all)..all).collect();
        let counts = json!({ "training": counts(&training), "held_out": counts(&held_out) });
        let final_searches = u32::try_from(final_searches).unwrap_or(u32::MAX);
        let queries: Vec<TuningQuery> = training.iter().map(|query| query.tuning.clone()).collect();
        let found = search::search(self.dimensions, self.start, &queries, SEED, |settings, range| {
            if let Some(known) = journal.get(settings, &range) {
                return Ok(Some(known));
            }
            let measured = self.values(caller, project, &training[range.clone()], settings, final_searches)?;
            if let (Some(values), true) = (&measured, has_journal) {
                write(&Line {
                    digest: digest.clone(),
                    settings: settings.clone(),
                    first: range.start,
                    values: values.clone(),
                });
            }
            Ok(measured)
        })?;
        let mut held_out = held_out;
        let before = self.found(caller, project, &held_out, self.start)?;
        for (query, found) in held_out.iter_mut().zip(&before) {
            found.class.clone_into(&mut query.tuning.class);
        }
        let is_changed = found.settings != *self.start;
        let after = match is_changed {
            true => Some(self.found(caller, project, &held_out, &found.settings)?),
            false => None,
        };
        let queries: Vec<TuningQuery> = held_out.iter().map(|query| query.tuning.clone()).collect();
        let values = |found: &[Found]| found.iter().map(|found| found.value).collect::<Vec<_>>();
        let verdict = decide(&queries, &values(&before), &values(after.as_deref().unwrap_or(&before)));
        let is_accepted = is_changed && verdict.is_accepted;
        let (settings, answers) = match after {
            Some(after) if is_accepted => (&found.settings, after),
            _ => (self.start, before),
        };
        // The probability is to be right for queries of all kinds, in the same shares as those that check it.
        training.extend(left_out);
        let (calibration, checked) = self.calibrate(caller, project, &training, &answers, settings)?;
        let evidence = json!({
            "queries": counts,
            "settings": found.settings,
            "tried": found.tried,
            "is_complete": found.is_complete,
            "searches": self.searches,
            "copy_seconds": self.copied.as_secs_f64(),
            "reasons": reasons(&verdict, is_changed, found.is_complete),
            "overall": verdict.overall,
            "groups": verdict.groups,
            "classes": verdict.classes,
            "guards": verdict.guards,
            "calibration": checked,
        });
        Ok((is_accepted.then_some(found.settings), calibration, evidence))
    }

    /// How many of the judged queries the time is enough for, by what some of them cost.
    fn affordable(
        &mut self,
        caller: &mut Caller,
        project: &str,
        judged: &[MeasuredQuery],
        final_searches: usize,
    ) -> Result<usize> {
        let sample = &judged[..judged.len().min(FEWEST_QUERIES)];
        // The first searches also read what later ones find in memory.
        self.found(caller, project, sample, self.start)?;
        let begun = Instant::now();
        self.found(caller, project, sample, self.start)?;
        let cost = begun.elapsed().as_secs_f64() / sample.len() as f64;
        let left = self
            .limit
            .mul_f64(SEARCH_SHARE)
            .saturating_sub(self.begun.elapsed())
            .as_secs_f64();
        let affordable = (left / cost - final_searches as f64) / SEARCHES_OF_A_QUERY;
        Ok((affordable as usize).max(LEAST_JUDGED))
    }

    /// The values of queries; `None` if there is only time left for the final measurements.
    fn values(
        &mut self,
        caller: &mut Caller,
        project: &str,
        queries: &[MeasuredQuery],
        settings: &Settings,
        final_searches: u32,
    ) -> Result<Option<Vec<f64>>> {
        let config = self.config(settings);
        let mut values = Vec::with_capacity(queries.len());
        for query in queries {
            let mean = self.searched.checked_div(self.searches).unwrap_or_default();
            if self.begun.elapsed() + mean.mul_f64(RESERVE * f64::from(final_searches)) > self.limit {
                return Ok(None);
            }
            values.push(self.search(caller, project, query, &config)?.value);
        }
        Ok(Some(values))
    }

    fn found(
        &mut self,
        caller: &mut Caller,
        project: &str,
        queries: &[MeasuredQuery],
        settings: &Settings,
    ) -> Result<Vec<Found>> {
        let config = self.config(settings);
        queries
            .iter()
            .map(|query| self.search(caller, project, query, &config))
            .collect()
    }

    fn search(&mut self, caller: &mut Caller, project: &str, query: &MeasuredQuery, config: &Value) -> Result<Found> {
        let begun = Instant::now();
        let found = memory::freed(|| measure::search(caller, project, query, config))?;
        self.searches += 1;
        self.searched += begun.elapsed();
        Ok(found)
    }

    /// The `config` of these settings. What is no longer set has its default, whatever the project says.
    fn config(&self, settings: &Settings) -> Value {
        let wanted = self
            .dimensions
            .iter()
            .filter(|dimension| settings.contains_key(dimension.name()) || self.start.contains_key(dimension.name()));
        wanted
            .map(|dimension| (dimension.name().to_owned(), weight(dimension.value(settings))))
            .collect::<serde_json::Map<_, _>>()
            .into()
    }

    /// A map from scores to probabilities by the training pages, if it is better than the score on the others.
    fn calibrate(
        &mut self,
        caller: &mut Caller,
        project: &str,
        training: &[MeasuredQuery],
        answers: &[Found],
        settings: &Settings,
    ) -> Result<(Option<Calibration>, Value)> {
        let first = |found: &[Found]| found.iter().filter_map(|found| found.first).collect::<Vec<_>>();
        let fitted_to = first(&self.found(caller, project, training, settings)?);
        let checked_by = first(answers);
        let error = |first: &[(f64, bool)]| Reliability::of(first).expected_calibration_error;
        let by_score = error(&checked_by);
        let calibration = Calibration::fit(&fitted_to);
        let by_probability = calibration
            .as_ref()
            .map(|calibration| error(&measure::calibrated(calibration, &checked_by)));
        let is_better = by_probability.is_some_and(|error| error < by_score);
        let evidence = json!({
            "training": fitted_to.len(),
            "held_out": checked_by.len(),
            "error_of_score": by_score,
            "error_of_probability": by_probability,
            "is_kept": is_better,
        });
        Ok((calibration.filter(|_| is_better), evidence))
    }

    /// Names the queries and the weights that are varied.
    fn digest(&self, training: &[MeasuredQuery]) -> String {
        let start = format!("{:?}", self.start);
        let names = self.dimensions.iter().map(|dimension| -> &str { dimension.name() });
        let texts = training.iter().map(|query| query.text.as_str());
        let parts: Vec<&str> = [env!("CARGO_PKG_VERSION"), start.as_str()]
            .into_iter()
            .chain(names)
            .chain(texts)
            .collect();
        digest(&parts)
    }
}

fn write(line: &impl Serialize) {
    // A line that is lost is measured again.
    if let Ok(text) = serde_json::to_string(line) {
        JOURNAL.append(&(text + "\n")).ok();
    }
}

fn counts(queries: &[MeasuredQuery]) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for query in queries {
        *counts.entry(query.tuning.group.as_str()).or_default() += 1;
    }
    counts
}

fn reasons(verdict: &Verdict, is_changed: bool, is_complete: bool) -> Vec<String> {
    let none_better = "no other weights were better than noise on the training pages";
    match (is_changed, is_complete) {
        (true, _) => verdict.reasons.clone(),
        (false, true) => vec![none_better.to_owned()],
        (false, false) => vec![format!("{none_better} before the time was over")],
    }
}

//! Runs of the queries of a set.

use std::collections::HashSet;
use std::time::Instant;

use docsearch_core::answer::delivery::{Answer, Confidence};
use docsearch_core::evaluation::exchange::reference;
use docsearch_core::evaluation::failure::Outcome;
use docsearch_core::evaluation::judgment::{JudgedResult, Judgment, gains};
use docsearch_core::evaluation::measures::{Measures, first_relevant};
use docsearch_core::evaluation::summary::QueryRun;
use pgrx::datum::DatumWithOid;
use serde_json::{Value, json};

use crate::evaluation::judgments::{self, JudgedQuery};
use crate::evaluation::state;
use crate::postgres::interrupt;
use crate::postgres::jsonb::JsonB;
use crate::postgres::report::{Result, internal, invalid};
use crate::postgres::role::Caller;
use crate::postgres::statement;
use crate::search::request::Arguments;
use crate::search::retrieval::Detail;
use crate::tables::project::{self, Project, Projects};

/// Results of a search that is measured as a user runs it.
const USUAL_RESULTS: i32 = 5;
/// Searches before the first whose time counts: caches and plans are those of a server in use.
const WARM_UP: usize = 20;

/// What a run does.
#[derive(Clone)]
pub(crate) struct Options<'a> {
    /// `None` searches all projects that the caller sees.
    pub(crate) project: Option<&'a str>,
    pub(crate) config: Value,
    /// Results that nDCG and MRR look at.
    pub(crate) cutoff: usize,
    /// Results of each search.
    pub(crate) max_results: i32,
    /// Whether times are those of searches with the usual number of results, run after the others.
    pub(crate) timed: bool,
    pub(crate) label: Option<&'a str>,
}

/// A query of the run with what it found.
struct Measured {
    judged: JudgedQuery,
    found: Vec<String>,
    scores: Vec<f32>,
    run: QueryRun,
}

/// A run that is not kept yet.
pub(crate) struct Finished {
    /// What the answers depend on.
    pub(crate) state: Value,
    seconds: f64,
    measured: Vec<Measured>,
}

/// Runs the queries of a set and keeps what they found. Returns the number of the run with its queries.
pub(crate) fn evaluate(caller: &mut Caller, set: &str, options: &Options<'_>) -> Result<(i64, Vec<QueryRun>)> {
    let finished = measure(caller, set, options)?;
    keep(caller, set, options, finished)
}

/// Runs the queries of a set.
pub(crate) fn measure(caller: &mut Caller, set: &str, options: &Options<'_>) -> Result<Finished> {
    let started = Instant::now();
    let (projects, _) = project::searched(caller, options.project)?;
    let mut queries = judgments::read(caller, set)?;
    resolve(caller, &projects, &mut queries)?;
    queries.retain(|judged| judged.judgments.iter().any(|judgment| judgment.grade > 0));
    if queries.is_empty() {
        return Err(invalid(
            format!("no query of set \"{set}\" has a relevant document"),
            "Judge some with docsearch.judge(), or import judgments with docsearch.import_judgments().",
        ));
    }
    let state = state::current(caller, &projects)?;
    let mut measured = Vec::with_capacity(queries.len());
    for judged in queries {
        interrupt::check();
        let begun = Instant::now();
        let answer = search(caller, &judged, options, options.max_results)?;
        let milliseconds = begun.elapsed().as_secs_f64() * 1000.0;
        measured.push(measured_query(judged, answer, options, milliseconds));
    }
    if options.timed {
        for query in measured.iter().take(WARM_UP) {
            search(caller, &query.judged, options, USUAL_RESULTS)?;
        }
        for query in &mut measured {
            interrupt::check();
            let begun = Instant::now();
            let answer = search(caller, &query.judged, options, USUAL_RESULTS)?;
            query.run.milliseconds = begun.elapsed().as_secs_f64() * 1000.0;
            query.run.first = first(&answer);
        }
    }
    Ok(Finished {
        state,
        seconds: started.elapsed().as_secs_f64(),
        measured,
    })
}

/// A slug may contain `#`: what was read as a section is a document if there is one of this slug.
fn resolve(caller: &Caller, projects: &[Project], judged: &mut [JudgedQuery]) -> Result<()> {
    let sections = || {
        judged
            .iter()
            .flat_map(|judged| &judged.judgments)
            .filter(|judgment| !judgment.anchor.is_empty())
    };
    let references: Vec<String> = sections()
        .map(|judgment| reference(&judgment.slug, &judgment.anchor))
        .collect();
    if references.is_empty() {
        return Ok(());
    }
    let slugs: HashSet<String> = statement::rows(
        caller,
        "SELECT d.slug FROM docsearch.document d WHERE d.project_id = ANY ($1) AND d.slug = ANY ($2)",
        &[
            DatumWithOid::from(Projects::new(projects).ids()),
            DatumWithOid::from(references),
        ],
        |row| row.required::<String>(1),
    )?
    .into_iter()
    .collect();
    for judgment in judged.iter_mut().flat_map(|judged| &mut judged.judgments) {
        let whole = reference(&judgment.slug, &judgment.anchor);
        if slugs.contains(&whole) {
            judgment.slug = whole;
            judgment.anchor.clear();
        }
    }
    Ok(())
}

fn search(caller: &mut Caller, judged: &JudgedQuery, options: &Options<'_>, max_results: i32) -> Result<Answer> {
    let also = &judged.query.also;
    let arguments = Arguments {
        query: Some(&judged.query.text),
        also: (!also.is_empty()).then(|| also.iter().cloned().map(Some).collect()),
        project: options.project,
        max_results: Some(max_results),
        config: Some(JsonB(options.config.clone())),
        ..Arguments::default()
    };
    arguments.resolve(caller)?.answer(caller, Detail::Rows)
}

fn measured_query(judged: JudgedQuery, answer: Answer, options: &Options<'_>, milliseconds: f64) -> Measured {
    let slugs: Vec<String> = answer
        .results
        .iter()
        .map(|result| match options.project {
            Some(_) => result.slug.clone(),
            None => format!("{}/{}", result.project, result.slug),
        })
        .collect();
    let shown: Vec<JudgedResult<'_>> = slugs
        .iter()
        .zip(&answer.results)
        .map(|(slug, result)| JudgedResult {
            slug,
            anchor: &result.anchor,
        })
        .collect();
    let gains = gains(&shown, &judged.judgments);
    let grades: Vec<i32> = judged.judgments.iter().map(|judgment| judgment.grade).collect();
    let relevant = judged.judgments.iter().filter(|judgment| judgment.grade > 0);
    let outcome = Outcome::of(
        &gains,
        options.cutoff,
        slugs.first().map(String::as_str),
        relevant.map(|judgment| judgment.slug.as_str()),
    );
    let run = QueryRun {
        group: judged.query.group.clone(),
        measures: Measures::of(&gains, &grades, options.cutoff),
        rank: first_relevant(&gains),
        outcome,
        first: first(&answer),
        milliseconds,
    };
    let kept = shown.iter().zip(&answer.results).take(options.cutoff);
    let (found, scores) = kept
        .map(|(shown, result)| (reference(shown.slug, shown.anchor), result.score))
        .unzip();
    Measured {
        judged,
        found,
        scores,
        run,
    }
}

fn first(answer: &Answer) -> Option<(f64, Confidence)> {
    let first = answer.results.first()?;
    Some((f64::from(first.score), first.confidence))
}

/// Stores a run. Returns its number with its queries.
pub(crate) fn keep(caller: &Caller, set: &str, options: &Options<'_>, run: Finished) -> Result<(i64, Vec<QueryRun>)> {
    let stored = statement::change(
        caller,
        "INSERT INTO docsearch.evaluation_run (set_name, project, label, config, cutoff, state, started_at)
         VALUES ($1, $2, $3, $4::jsonb, $5, $6::jsonb,
                 pg_catalog.clock_timestamp() - pg_catalog.make_interval(secs => $7)) RETURNING id",
        &[
            DatumWithOid::from(set),
            DatumWithOid::from(options.project),
            DatumWithOid::from(options.label),
            DatumWithOid::from(options.config.to_string()),
            DatumWithOid::from(i32::try_from(options.cutoff).map_err(internal)?),
            DatumWithOid::from(run.state.to_string()),
            DatumWithOid::from(run.seconds),
        ],
        |row| row.required::<i64>(1),
    )?;
    let number = stored
        .into_iter()
        .next()
        .ok_or_else(|| internal("a run has no number"))?;
    let rows: Vec<Value> = run.measured.iter().enumerate().map(row).collect();
    statement::execute(
        caller,
        "INSERT INTO docsearch.evaluation_result
             (run_id, query_id, query_no, query, query_group, found, scores, relevant, rank, ndcg, mrr, p1, p3, recall,
              outcome, confidence, milliseconds)
         SELECT $1, r.query_id, r.query_no, r.query, r.query_group, r.found, r.scores, r.relevant, r.rank, r.ndcg, r.mrr,
                r.p1, r.p3, r.recall, r.outcome, r.confidence, r.milliseconds
         FROM pg_catalog.jsonb_to_recordset($2::jsonb) AS r (
              query_id text, query_no int, query text, query_group text, found text[], scores real[], relevant text[],
              rank int, ndcg float8, mrr float8, p1 float8, p3 float8, recall float8, outcome text, confidence text,
              milliseconds float8)",
        &[DatumWithOid::from(number), DatumWithOid::from(Value::from(rows).to_string())],
    )?;
    Ok((number, run.measured.into_iter().map(|query| query.run).collect()))
}

fn row((number, measured): (usize, &Measured)) -> Value {
    let JudgedQuery { query, judgments } = &measured.judged;
    let relevant = judgments.iter().filter(|judgment| judgment.grade > 0);
    let relevant: Vec<String> = relevant
        .map(|Judgment { slug, anchor, .. }| reference(slug, anchor))
        .collect();
    let Measures {
        ndcg,
        mrr,
        p1,
        p3,
        recall,
    } = measured.run.measures;
    json!({
        "query_id": query.id,
        "query_no": number,
        "query": query.text,
        "query_group": query.group,
        "found": measured.found,
        "scores": measured.scores,
        "relevant": relevant,
        "rank": measured.run.rank,
        "ndcg": ndcg,
        "mrr": mrr,
        "p1": p1,
        "p3": p3,
        "recall": recall,
        "outcome": measured.run.outcome.to_string(),
        "confidence": measured.run.first.map(|(_, confidence)| confidence.as_str()),
        "milliseconds": measured.run.milliseconds,
    })
}

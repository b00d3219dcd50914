//! Runs of the queries of a set.

use std::time::Instant;

use docsearch_core::answer::delivery::{Answer, Confidence, SearchResult};
use docsearch_core::evaluation::exchange::reference;
use docsearch_core::evaluation::failure::Outcome;
use docsearch_core::evaluation::judgment::{JudgedResult, Target, gains};
use docsearch_core::evaluation::measures::{Measures, first_relevant};
use docsearch_core::evaluation::summary::QueryRun;
use pgrx::datum::DatumWithOid;
use serde_json::{Value, json};

use crate::administration::conditions;
use crate::evaluation::judgments::{self, JudgedQuery};
use crate::evaluation::resolution;
use crate::evaluation::stored_run::Conditions;
use crate::postgres::interrupt;
use crate::postgres::jsonb::JsonB;
use crate::postgres::report::{Result, invalid};
use crate::postgres::role::Caller;
use crate::postgres::statement;
use crate::search::arguments::Arguments;
use crate::search::retrieval::Detail;
use crate::tables::project;

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
    targets: Vec<Target>,
    found: Vec<String>,
    scores: Vec<f32>,
    probability: Option<f32>,
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
    queries.retain(JudgedQuery::has_answer);
    if queries.is_empty() {
        return Err(invalid(
            format!("no query of set \"{set}\" has a relevant document"),
            "Judge some with docsearch.judge(), or import judgments with docsearch.import_judgments().",
        ));
    }
    let targets = resolution::targets(caller, options.project, &queries)?;
    let state = conditions::current(caller, &projects)?;
    let mut measured = Vec::with_capacity(queries.len());
    for (judged, targets) in queries.into_iter().zip(targets) {
        interrupt::check();
        let begun = Instant::now();
        let answer = search(caller, &judged, options, options.max_results)?;
        let milliseconds = begun.elapsed().as_secs_f64() * 1000.0;
        measured.push(measured_query(judged, targets, answer, options, milliseconds));
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

fn search(caller: &mut Caller, judged: &JudgedQuery, options: &Options<'_>, max_results: i32) -> Result<Answer> {
    let also = &judged.query.also;
    let arguments = Arguments {
        query: Some(&judged.query.text),
        also: Some(also.iter().cloned().map(Some).collect()),
        project: options.project,
        max_results: Some(max_results),
        config: Some(JsonB(options.config.clone())),
        ..Arguments::default()
    };
    arguments.resolve(caller)?.answer(caller, Detail::Rows)
}

fn measured_query(
    judged: JudgedQuery,
    targets: Vec<Target>,
    answer: Answer,
    options: &Options<'_>,
    milliseconds: f64,
) -> Measured {
    let documents: Vec<String> = answer
        .results
        .iter()
        .map(|result| judged_document(result, &targets, options))
        .collect();
    let shown: Vec<JudgedResult<'_>> = documents
        .iter()
        .zip(&answer.results)
        .map(|(document, result)| JudgedResult {
            document,
            anchor: &result.anchor,
        })
        .collect();
    let gains = gains(&shown, &targets);
    let grades: Vec<i32> = targets.iter().map(|target| target.grade).collect();
    let relevant = targets.iter().filter(|target| target.grade > 0);
    let outcome = Outcome::of(
        &gains,
        options.cutoff,
        documents.first().map(String::as_str),
        relevant.map(|target| target.document.as_str()),
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
        .map(|(shown, result)| (reference(shown.document, shown.anchor), result.score))
        .unzip();
    Measured {
        judged,
        targets,
        found,
        scores,
        probability: answer.probability,
        run,
    }
}

/// The document by which a result is judged: its own, or one with the same text that is judged instead.
fn judged_document(result: &SearchResult, targets: &[Target], options: &Options<'_>) -> String {
    let own = resolution::document(options.project, &result.project, &result.slug);
    let is_judged = |document: &&str| targets.iter().any(|target| target.document == *document);
    let others = result.also_at.iter().map(|reference| match options.project {
        Some(project) => reference
            .strip_prefix(project)
            .and_then(|slug| slug.strip_prefix('/'))
            .unwrap_or(reference),
        None => reference,
    });
    let judged = std::iter::once(own.as_str())
        .chain(others)
        .find(is_judged)
        .map(str::to_owned);
    judged.unwrap_or(own)
}

fn first(answer: &Answer) -> Option<(f64, Confidence)> {
    let first = answer.results.first()?;
    Some((f64::from(answer.probability.unwrap_or(first.score)), first.confidence))
}

/// Stores a run. Returns its number with its queries.
pub(crate) fn keep(caller: &Caller, set: &str, options: &Options<'_>, run: Finished) -> Result<(i64, Vec<QueryRun>)> {
    let conditions = Conditions {
        set,
        project: options.project,
        label: options.label,
        config: &options.config,
        cutoff: options.cutoff,
        max_calls: None,
        state: &run.state,
        seconds: run.seconds,
    };
    let number = conditions.store(caller)?;
    let rows: Vec<Value> = run.measured.iter().enumerate().map(row).collect();
    statement::execute(
        caller,
        "INSERT INTO docsearch.evaluation_result
             (run_id, query_id, query_no, query, query_group, found, scores, relevant, rank, ndcg, mrr, p1, p3, recall,
              outcome, confidence, probability, milliseconds)
         SELECT $1, r.query_id, r.query_no, r.query, r.query_group, r.found, r.scores, r.relevant, r.rank, r.ndcg, r.mrr,
                r.p1, r.p3, r.recall, r.outcome, r.confidence, r.probability, r.milliseconds
         FROM pg_catalog.jsonb_to_recordset($2::jsonb) AS r (
              query_id text, query_no int, query text, query_group text, found text[], scores real[], relevant text[],
              rank int, ndcg float8, mrr float8, p1 float8, p3 float8, recall float8, outcome text, confidence text,
              probability real, milliseconds float8)",
        &[DatumWithOid::from(number), DatumWithOid::from(Value::from(rows).to_string())],
    )?;
    Ok((number, run.measured.into_iter().map(|query| query.run).collect()))
}

fn row((number, measured): (usize, &Measured)) -> Value {
    let query = &measured.judged.query;
    let relevant = measured.targets.iter().filter(|target| target.grade > 0);
    let relevant: Vec<String> = relevant
        .map(|target| reference(&target.document, target.anchors().first().map_or("", String::as_str)))
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
        "probability": measured.probability,
        "confidence": measured.run.first.map(|(_, confidence)| confidence.as_str()),
        "milliseconds": measured.run.milliseconds,
    })
}

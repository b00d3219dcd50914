//! `docsearch eval`: retrieval quality and latency on a data set in BEIR layout.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, ValueEnum};
use docsearch_core::evaluation::measures::RECALL_CUTOFF;
use docsearch_core::evaluation::nonsense::{self, UnanswerableQuery};
use postgres::Client;
use serde_json::{Value, json};
use strum::Display;

use crate::connection::ConnectionArgs;
use crate::evaluation::comparison::Comparison;
use crate::evaluation::dataset::{self, Corpus, JudgedQuery};
use crate::evaluation::query_result::QueryResult;
use crate::evaluation::searcher::Searcher;
use crate::evaluation::summary::{Conditions, Evaluation, read_measured};
use crate::loading::project::{self, DEFAULT_BATCH_DOCUMENTS, Loader};
use crate::process::error::Error;
use crate::process::outcome::Outcome;
use crate::terminal::Tally;
use crate::terminal::report::progress_bar;
use crate::terminal::sanitize_line;

/// Where a data set has its judgments.
const JUDGMENTS: [&str; 3] = ["qrels.tsv", "qrels/test.tsv", "qrels.jsonl"];

const AFTER_HELP: &str = "\
Examples:
  docsearch eval data/scifact --report scifact.json
  docsearch eval data/scifact --vectors document --config '{\"hybrid_weight\": 1}'
  docsearch eval data/scifact --queries queries.train.jsonl --qrels qrels.train.tsv
  docsearch eval data/scifact --no-index --config '{\"hybrid_weight\": 0.4}' --baseline scifact.json
  docsearch eval --compare before.json after.json

DIR contains corpus.jsonl (_id, title, text, metadata), queries.jsonl (_id, text, metadata.group)
and qrels.tsv or qrels/test.tsv (a header, then query-id, corpus-id, score), each also with .gz.
Instead of corpus.jsonl, corpus.toml may name a `folder` of pages; they are read as by
`docsearch index`, and corpus-id is the slug. The corpus is indexed as one project, which is kept:
the next run indexes only changes. Queries without a relevant document are left out. The gain in
nDCG is the grade itself, as in trec_eval. Latency and confidence are those of a whole call with 5 results on a warm connection.

Exit codes:
  0  success
  1  some documents could not be indexed
  2  usage error, no connection, or a database error";

/// Measure retrieval quality and latency.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct EvalArgs {
    /// Folder of the data set
    #[arg(value_name = "DIR", required_unless_present = "compare")]
    directory: Option<PathBuf>,
    /// Search settings for all queries, a JSON object
    #[arg(long, value_name = "JSON", value_parser = settings)]
    config: Option<Value>,
    /// Queries; a relative path is looked up in DIR first [default: queries.jsonl]
    #[arg(long, value_name = "FILE")]
    queries: Option<PathBuf>,
    /// Judgments; a relative path is looked up in DIR first [default: qrels.tsv or qrels/test.tsv]
    #[arg(long, value_name = "FILE")]
    qrels: Option<PathBuf>,
    /// One vector per section, or one per document (title and text cut at the model's length)
    #[arg(long, value_enum, default_value_t = Vectors::Sections)]
    vectors: Vectors,
    /// JSON report [default: <project>.json in the current folder]
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Project to index into [default: eval_<folder>, eval_<folder>_document]
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
    /// Keep indexed documents that are not in the corpus
    #[arg(long)]
    keep: bool,
    /// Search the project as it is, without reading the corpus
    #[arg(long)]
    no_index: bool,
    /// Earlier report to compare with: differences per group with paired bootstrap intervals
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Also search for N queries of random words, and report how many answers have confidence high
    #[arg(long, value_name = "N", default_value_t = 0)]
    nonsense: usize,
    /// Also search for queries of another domain, in a file like queries.jsonl
    #[arg(long, value_name = "FILE")]
    foreign: Option<PathBuf>,
    /// Number of results that the quality measures use
    #[arg(long, value_name = "N", default_value_t = RECALL_CUTOFF as i32, value_parser = clap::value_parser!(i32).range(1..=1000))]
    max_results: i32,
    /// Compare two reports instead: differences per group with paired bootstrap intervals
    #[arg(long, num_args = 2, value_names = ["FIRST", "SECOND"], conflicts_with_all = ["directory", "config", "queries", "qrels", "report", "project", "keep", "no_index", "baseline", "nonsense", "foreign"])]
    compare: Option<Vec<PathBuf>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Display)]
#[strum(serialize_all = "snake_case")]
enum Vectors {
    Sections,
    Document,
}

impl Vectors {
    fn project_settings(self) -> Option<Value> {
        match self {
            Self::Sections => None,
            Self::Document => Some(json!({"vectors": "document"})),
        }
    }

    fn default_project(self, dataset: &str) -> String {
        // The name of a project contains no white space and no #.
        let dataset = dataset.replace(|character: char| character.is_whitespace() || character == '#', "_");
        match self {
            Self::Sections => format!("eval_{dataset}"),
            Self::Document => format!("eval_{dataset}_document"),
        }
    }
}

fn settings(text: &str) -> Result<Value, String> {
    match serde_json::from_str(text) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) => Err("expected a JSON object such as {\"name\": 1}".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

pub(crate) fn run(args: &EvalArgs, connection: &ConnectionArgs) -> Result<Outcome, Error> {
    if let Some([first, second]) = args.compare.as_deref() {
        let comparison = Comparison::new(&read_measured(first)?, &read_measured(second)?);
        println!("{}", comparison.table());
        return Ok(Outcome::Complete);
    }
    let Some(directory) = &args.directory else {
        return Err(Error::Usage("DIR is missing".to_owned()));
    };
    let queries = judged_queries(args, directory)?;
    let unanswerable = unanswerable_queries(args)?;
    let baseline = args.baseline.as_deref().map(read_measured).transpose()?;
    let mut client = connection.connect()?;
    let (conditions, outcome) = prepare(args, directory, &mut client, &queries)?;
    let mut searcher = Searcher::new(&mut client, &conditions)?;
    let results = searcher.measure(&queries)?;
    let nonsense = match unanswerable {
        none if none.is_empty() => None,
        queries => Some(searcher.measure_nonsense(queries)?),
    };
    let mut evaluation = Evaluation::new(conditions, results);
    evaluation.nonsense = nonsense;
    evaluation.comparison = baseline.map(|baseline| {
        let measured: Vec<_> = evaluation.per_query.iter().map(QueryResult::measured).collect();
        Comparison::new(&baseline, &measured)
    });
    println!("{}", evaluation.table());
    if let Some(nonsense) = &evaluation.nonsense {
        println!("\n{}", nonsense.line());
    }
    if let Some(comparison) = &evaluation.comparison {
        println!("\n{}", comparison.table());
    }
    let path = args
        .report
        .clone()
        .unwrap_or_else(|| format!("{}.json", evaluation.conditions.project).into());
    evaluation.write(&path)?;
    eprintln!("report: {}", path.display());
    Ok(outcome)
}

/// Updates the project, unless `--no-index` is set.
fn prepare(
    args: &EvalArgs,
    directory: &Path,
    client: &mut Client,
    queries: &[JudgedQuery],
) -> Result<(Conditions, Outcome), Error> {
    let dataset = dataset_name(directory)?;
    let project = args
        .project
        .clone()
        .unwrap_or_else(|| args.vectors.default_project(&dataset));
    let mut conditions = Conditions {
        dataset,
        project,
        vectors: args.vectors.to_string(),
        config: args.config.clone(),
        max_results: args.max_results,
        documents: 0,
        indexed: 0,
        indexing_seconds: 0.0,
    };
    if args.no_index {
        conditions.documents = project::size(client, &conditions.project)?.ok_or_else(|| {
            Error::Usage(format!(
                "project \"{}\" does not exist\nHINT:  Run it once without --no-index.",
                conditions.project
            ))
        })?;
        return Ok((conditions, Outcome::Complete));
    }
    let corpus = Corpus::read(directory)?;
    let missing = corpus.missing(queries.iter().flat_map(|judged| &judged.judgments));
    if let Some(first) = missing.first() {
        eprintln!(
            "warning: {} judged documents are not in the corpus, such as {first}",
            missing.len()
        );
    }
    conditions.documents = corpus.documents.len();
    let skipped = corpus.skipped;
    let started = Instant::now();
    let tally = index_corpus(client, &conditions.project, corpus, args)?;
    conditions.indexing_seconds = started.elapsed().as_secs_f64();
    conditions.indexed = tally.added + tally.changed;
    eprintln!(
        "{}: {} documents, {} indexed, {} deleted, {} failed, in {:.1} s; {} queries",
        conditions.project,
        conditions.documents,
        conditions.indexed,
        tally.deleted,
        tally.failed,
        conditions.indexing_seconds,
        queries.len()
    );
    let clean = tally.failed == 0 && skipped == 0;
    Ok((conditions, if clean { Outcome::Complete } else { Outcome::Partial }))
}

fn dataset_name(directory: &Path) -> Result<String, Error> {
    let full = std::fs::canonicalize(directory).map_err(Error::file(directory))?;
    Ok(full.file_name().unwrap_or_default().to_string_lossy().into_owned())
}

/// Queries with a relevant document, and their judgments.
fn judged_queries(args: &EvalArgs, directory: &Path) -> Result<Vec<JudgedQuery>, Error> {
    let queries = locate(args.queries.as_deref(), directory, &["queries.jsonl"]);
    let judgments = locate(args.qrels.as_deref(), directory, &JUDGMENTS);
    let judged = dataset::read_judged(&queries, &judgments)?;
    if judged.is_empty() {
        return Err(Error::Usage(
            "no query has a relevant document\nHINT:  Check that queries and judgments are of the same data set."
                .to_owned(),
        ));
    }
    Ok(judged)
}

fn locate(given: Option<&Path>, directory: &Path, defaults: &[&str]) -> PathBuf {
    match given {
        None => dataset::first_file(directory, defaults),
        Some(path) => Some(directory.join(path))
            .filter(|path| path.exists())
            .unwrap_or_else(|| path.to_owned()),
    }
}

fn index_corpus(client: &mut Client, name: &str, corpus: Corpus, args: &EvalArgs) -> Result<Tally, Error> {
    project::ensure(client, name, None, args.vectors.project_settings().as_ref())?;
    let progress = progress_bar(corpus.documents.len() as u64);
    let keep: Vec<String> = corpus.documents.iter().map(|document| document.slug.clone()).collect();
    let mut loader = Loader::new(client, name, DEFAULT_BATCH_DOCUMENTS)?;
    for document in corpus.documents {
        progress.inc(loader.push(document)?);
    }
    let (mut tally, refusals) = loader.finish()?;
    progress.finish_and_clear();
    for refusal in refusals {
        eprintln!(
            "{}",
            sanitize_line(&format!("failed: {}: {}", refusal.slug, refusal.reason))
        );
    }
    // A page that cannot be read now may have been indexed before.
    if !args.keep && corpus.skipped == 0 {
        tally.deleted = project::delete_missing(client, name, corpus.source_root, keep, &[])?;
    }
    project::finish_load(client, name, &tally)?;
    Ok(tally)
}

/// The queries without an answer of `--nonsense` and `--foreign`.
fn unanswerable_queries(args: &EvalArgs) -> Result<Vec<UnanswerableQuery>, Error> {
    let mut queries = nonsense::random_queries(args.nonsense);
    if let Some(path) = &args.foreign {
        let foreign = dataset::read_queries(path)?;
        queries.extend(foreign.into_iter().map(|query| UnanswerableQuery {
            kind: nonsense::QueryKind::Foreign,
            text: query.text,
        }));
    }
    Ok(queries)
}

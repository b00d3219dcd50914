//! `docsearch eval`: retrieval quality and latency on a data set in BEIR layout.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, ValueEnum};
use postgres::Client;
use serde_json::{Value, json};
use strum::Display;

use crate::connection::ConnectionArgs;
use crate::evaluation::comparison::Comparison;
use crate::evaluation::dataset::{self, Corpus, Query};
use crate::evaluation::metrics::{self, Judgments};
use crate::evaluation::nonsense::{self, UnanswerableQuery};
use crate::evaluation::searcher::Searcher;
use crate::evaluation::summary::{Conditions, Evaluation};
use crate::loading::project::{self, DEFAULT_BATCH_DOCUMENTS, Loader};
use crate::process::error::Error;
use crate::process::outcome::Outcome;
use crate::terminal::Tally;
use crate::terminal::report::progress_bar;
use crate::terminal::shown;

const AFTER_HELP: &str = "\
Examples:
  docsearch eval data/scifact --report scifact.json
  docsearch eval data/scifact --vectors document --config '{\"hybrid_weight\": 1}'
  docsearch eval data/scifact --queries queries.train.jsonl --qrels qrels.train.tsv
  docsearch eval data/scifact --no-index --config '{\"hybrid_weight\": 0.4}' --baseline scifact.json
  docsearch eval --compare before.json after.json

DIR holds corpus.jsonl (_id, title, text, metadata), queries.jsonl (_id, text, metadata.group) and
qrels.tsv (a header, then query-id, corpus-id, score). Instead of corpus.jsonl there may be
corpus.toml, whose `folder` names a folder of pages; it is read as `docsearch index` reads it, and
corpus-id is the slug. The corpus is indexed as one project, which stays: the next run indexes
only what has changed. Queries without a relevant document are left out. nDCG gains the grade
itself, as trec_eval does. Latency and confidence are those of the whole call with 5 results on
one warm connection.

Exit codes:
  0  done
  1  done, but some documents could not be indexed
  2  wrong usage, no connection, or a database error";

/// Measure retrieval quality and latency.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct EvalArgs {
    /// Folder of the data set
    #[arg(value_name = "DIR", required_unless_present = "compare")]
    directory: Option<PathBuf>,
    /// Search settings for every query, a JSON object
    #[arg(long, value_name = "JSON", value_parser = settings)]
    config: Option<Value>,
    /// Queries; a relative path is looked up in DIR first [default: queries.jsonl]
    #[arg(long, value_name = "FILE")]
    queries: Option<PathBuf>,
    /// Judgments; a relative path is looked up in DIR first [default: qrels.tsv]
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
    /// Keep indexed documents that are no longer in the corpus
    #[arg(long)]
    keep: bool,
    /// Search the project as it is; the corpus is not read
    #[arg(long)]
    no_index: bool,
    /// Earlier report to compare with: difference per group with paired bootstrap intervals
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Also ask N queries of random words, and report how many answers have confidence high
    #[arg(long, value_name = "N", default_value_t = 0)]
    nonsense: usize,
    /// Queries of another domain (lines of queries.jsonl) to ask in the same way
    #[arg(long, value_name = "FILE")]
    foreign: Option<PathBuf>,
    /// Results that the quality measures look at
    #[arg(long, value_name = "N", default_value_t = metrics::RECALL_CUTOFF as i32, value_parser = clap::value_parser!(i32).range(1..=1000))]
    max_results: i32,
    /// Compare two reports instead: difference per group with paired bootstrap intervals
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
        // A project's name holds no white space and no #.
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
        let comparison = Comparison::new(
            &Evaluation::read(first)?.per_query,
            &Evaluation::read(second)?.per_query,
        );
        println!("{}", comparison.table());
        return Ok(Outcome::Complete);
    }
    let Some(directory) = &args.directory else {
        return Err(Error::Usage("a folder is needed".to_owned()));
    };
    let queries = judged_queries(args, directory)?;
    let unanswerable = unanswerable(args)?;
    let baseline = args.baseline.as_deref().map(Evaluation::read).transpose()?;
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
    evaluation.comparison = baseline.map(|baseline| Comparison::new(&baseline.per_query, &evaluation.per_query));
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

/// Brings the project up to date, unless it is to be taken as it is.
fn prepare(
    args: &EvalArgs,
    directory: &Path,
    client: &mut Client,
    queries: &[(Query, Judgments)],
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
                "there is no project \"{}\"\nHINT:  Leave out --no-index once.",
                conditions.project
            ))
        })?;
        return Ok((conditions, Outcome::Complete));
    }
    let corpus = Corpus::read(directory)?;
    let missing = corpus.missing(queries.iter().flat_map(|(_, judgments)| judgments.keys()));
    if let Some(first) = missing.first() {
        eprintln!(
            "warning: {} judgments are of documents that the corpus does not hold, such as {first}",
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
        "{}: {} documents, {} indexed anew, {} deleted, {} failed, in {:.1} s; {} queries",
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

/// Queries that have a relevant document, with their judgments.
fn judged_queries(args: &EvalArgs, directory: &Path) -> Result<Vec<(Query, Judgments)>, Error> {
    let queries: Vec<Query> = dataset::read_lines(&located(args.queries.as_deref(), directory, "queries.jsonl"))?;
    let mut judgments: HashMap<String, Judgments> =
        dataset::read_judgments(&located(args.qrels.as_deref(), directory, "qrels.tsv"))?;
    let judged: Vec<(Query, Judgments)> = queries
        .into_iter()
        .filter_map(|query| {
            let judgments = judgments.remove(&query.id).filter(metrics::is_judged)?;
            Some((query, judgments))
        })
        .collect();
    if judged.is_empty() {
        return Err(Error::Usage(
            "no query has a relevant document: do queries and judgments belong together?".to_owned(),
        ));
    }
    Ok(judged)
}

fn located(given: Option<&Path>, directory: &Path, default: &str) -> PathBuf {
    match given {
        None => directory.join(default),
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
        eprintln!("{}", shown(&format!("failed: {}: {}", refusal.slug, refusal.reason)));
    }
    // A page that cannot be read now may be one that was indexed before.
    if !args.keep && corpus.skipped == 0 {
        tally.deleted = project::delete_missing(client, name, corpus.source_root, keep, &[])?;
    }
    project::finish_load(client, name, &tally)?;
    Ok(tally)
}

/// Queries without an answer, as `--nonsense` and `--foreign` ask for them.
fn unanswerable(args: &EvalArgs) -> Result<Vec<UnanswerableQuery>, Error> {
    let mut queries = nonsense::random_queries(args.nonsense);
    if let Some(path) = &args.foreign {
        let foreign: Vec<Query> = dataset::read_lines(path)?;
        queries.extend(foreign.into_iter().map(|query| UnanswerableQuery {
            kind: nonsense::Kind::Foreign,
            text: query.text,
        }));
    }
    Ok(queries)
}

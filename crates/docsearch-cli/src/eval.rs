//! `docsearch eval`: retrieval quality and latency on a data set in BEIR layout.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, ValueEnum};
use postgres::types::Json;
use postgres::{Client, Statement};
use serde_json::{Value, json};

use crate::connection::ConnectionArgs;
use crate::dataset::{self, CorpusDocument, Query};
use crate::error::{Error, Report};
use crate::evaluation::{Conditions, Evaluation, QueryResult};
use crate::index::progress_bar;
use crate::metrics::{self, CUTOFF, Judgments, Metrics};
use crate::project::{self, DEFAULT_BATCH_DOCUMENTS, Loader, Tally};
use crate::{Outcome, comparison};

/// Searches before the first that counts: caches and plans are those of a server in use.
const WARM_UP_QUERIES: usize = 20;
/// Results that `search_docs` gives unless told otherwise; latency is measured with these.
const DEFAULT_RESULTS: i32 = 5;
/// Marks the documents of a corpus wherever its folder lies.
const SOURCE_ROOT: &str = "corpus.jsonl";

const AFTER_HELP: &str = "\
Examples:
  docsearch eval data/scifact --report scifact.json
  docsearch eval data/scifact --vectors document --config '{\"hybrid_weight\": 1}'
  docsearch eval data/scifact --queries queries.train.jsonl --qrels qrels.train.tsv
  docsearch eval --compare before.json after.json

DIR holds corpus.jsonl (_id, title, text, metadata), queries.jsonl (_id, text, metadata.group) and
qrels.tsv (a header, then query-id, corpus-id, score). The corpus is indexed as one project, which
stays: the next run indexes only what has changed. Queries without a relevant document are left
out. nDCG gains the grade itself, as trec_eval does. Latency is that of the whole call with 5
results on one warm connection.

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
    /// Results that the quality measures look at
    #[arg(long, value_name = "N", default_value_t = metrics::RECALL_CUTOFF as i32, value_parser = clap::value_parser!(i32).range(1..=1000))]
    max_results: i32,
    /// Compare two reports instead: difference per group with paired bootstrap intervals
    #[arg(long, num_args = 2, value_names = ["FIRST", "SECOND"], conflicts_with_all = ["directory", "config", "queries", "qrels", "report", "project", "keep"])]
    compare: Option<Vec<PathBuf>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Vectors {
    Sections,
    Document,
}

impl Vectors {
    fn name(self) -> &'static str {
        match self {
            Self::Sections => "sections",
            Self::Document => "document",
        }
    }

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

/// Runs the command.
pub(crate) fn run(args: &EvalArgs, connection: &ConnectionArgs) -> Result<Outcome, Error> {
    if let Some([first, second]) = args.compare.as_deref() {
        println!(
            "{}",
            comparison::table(&Evaluation::read(first)?, &Evaluation::read(second)?)
        );
        return Ok(Outcome::Complete);
    }
    let Some(directory) = &args.directory else {
        return Err(Error::Usage("a folder is needed".to_owned()));
    };
    let dataset = dataset_name(directory)?;
    let corpus: Vec<CorpusDocument> = dataset::read_lines(&directory.join("corpus.jsonl"))?;
    let queries = judged_queries(args, directory)?;
    let name = args
        .project
        .clone()
        .unwrap_or_else(|| args.vectors.default_project(&dataset));
    let mut conditions = Conditions {
        dataset,
        project: name,
        vectors: args.vectors.name().to_owned(),
        config: args.config.clone(),
        max_results: args.max_results,
        documents: corpus.len(),
        indexed: 0,
        indexing_seconds: 0.0,
    };
    let mut client = connection.connect()?;
    let started = Instant::now();
    let tally = index_corpus(&mut client, &conditions.project, corpus, args)?;
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
    let results = Searcher::new(&mut client, &conditions)?.measure(&queries)?;
    let evaluation = Evaluation::new(conditions, results);
    println!("{}", evaluation.table());
    let path = args
        .report
        .clone()
        .unwrap_or_else(|| format!("{}.json", evaluation.conditions.project).into());
    evaluation.write(&path)?;
    eprintln!("report: {}", path.display());
    Ok(if tally.failed == 0 {
        Outcome::Complete
    } else {
        Outcome::Partial
    })
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

fn index_corpus(client: &mut Client, name: &str, corpus: Vec<CorpusDocument>, args: &EvalArgs) -> Result<Tally, Error> {
    project::ensure(client, name, None, args.vectors.project_settings().as_ref())?;
    let progress = progress_bar(corpus.len() as u64);
    let mut slugs = HashSet::with_capacity(corpus.len());
    let mut loader = Loader::new(client, name, DEFAULT_BATCH_DOCUMENTS)?;
    for line in corpus {
        let document = line.into_document(SOURCE_ROOT);
        if !slugs.insert(document.slug.clone()) {
            return Err(Error::Usage(format!(
                "corpus.jsonl has two documents with the _id \"{}\"",
                document.slug
            )));
        }
        progress.inc(loader.push(document)?);
    }
    let (mut tally, refusals) = loader.finish()?;
    progress.finish_and_clear();
    for refusal in refusals {
        eprintln!("failed: {}: {}", refusal.slug, refusal.reason);
    }
    if !args.keep {
        let keep: Vec<String> = slugs.into_iter().collect();
        tally.deleted = project::delete_missing(client, name, SOURCE_ROOT, &keep)?;
    }
    project::finish_load(client, name)?;
    Ok(tally)
}

/// Searches of one project on one connection with one prepared statement.
struct Searcher<'a> {
    client: &'a mut Client,
    statement: Statement,
    conditions: &'a Conditions,
}

impl<'a> Searcher<'a> {
    fn new(client: &'a mut Client, conditions: &'a Conditions) -> Result<Self, Error> {
        let statement = client
            .prepare("SELECT slug FROM search_docs($1, project => $2, max_results => $3::int, config => $4::jsonb)")?;
        Ok(Self {
            client,
            statement,
            conditions,
        })
    }

    /// Quality in one pass, latency in a second.
    fn measure(&mut self, queries: &[(Query, Judgments)]) -> Result<Vec<QueryResult>, Error> {
        let progress = progress_bar(2 * queries.len() as u64);
        for (query, _) in queries.iter().take(WARM_UP_QUERIES) {
            self.search(query, self.conditions.max_results)?;
        }
        let mut results = Vec::with_capacity(queries.len());
        for (query, judgments) in queries {
            let mut ranked = metrics::without_duplicates(self.search(query, self.conditions.max_results)?);
            let metrics = Metrics::of(&ranked, judgments);
            ranked.truncate(CUTOFF);
            let group = query.group().to_owned();
            results.push(QueryResult {
                id: query.id.clone(),
                group,
                ranked,
                metrics,
                milliseconds: 0.0,
            });
            progress.inc(1);
        }
        for (query, _) in queries.iter().take(WARM_UP_QUERIES) {
            self.search(query, DEFAULT_RESULTS)?;
        }
        for ((query, _), result) in queries.iter().zip(&mut results) {
            let started = Instant::now();
            self.search(query, DEFAULT_RESULTS)?;
            result.milliseconds = started.elapsed().as_secs_f64() * 1e3;
            progress.inc(1);
        }
        progress.finish_and_clear();
        Ok(results)
    }

    fn search(&mut self, query: &Query, max_results: i32) -> Result<Vec<String>, Error> {
        let config = self.conditions.config.as_ref().map(Json);
        let rows = self
            .client
            .query(
                &self.statement,
                &[&query.text, &self.conditions.project, &max_results, &config],
            )
            .map_err(|error| Error::Query {
                id: query.id.clone(),
                failure: Report(error),
            })?;
        Ok(rows.iter().map(|row| row.get("slug")).collect())
    }
}

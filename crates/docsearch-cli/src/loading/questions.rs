//! `docsearch questions`: questions that sections answer, in the words of their readers.

mod import;
mod writing;

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::{self, ErrorKind, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use docsearch_readers::page_questions::headings::Headings;
use docsearch_readers::page_questions::missing::missing;
use docsearch_readers::page_questions::question_file::Line;
use postgres::Client;
use serde::Serialize;

use crate::connection::ConnectionArgs;
use crate::library::question_rules::INSTRUCTION;
use crate::process::error::Error;
use crate::process::outcome::Outcome;
use crate::terminal::sanitize_json;
use writing::WriteArgs;

/// Characters of the text of a section without a question.
const TEXT_CHARS: usize = 4_000;

const AFTER_HELP: &str = "\
Examples:
  docsearch questions list handbook --missing
  docsearch questions import handbook docs/docsearch.questions.jsonl
  docsearch questions export handbook > docs/docsearch.questions.jsonl
  docsearch questions write handbook --max-tokens 100000 --requests-per-minute 60

A line of a question file is {\"file\": PATH, \"heading\": TEXT, \"question\": TEXT}. Without a heading,
or with the title as heading, the whole page answers the question. docsearch index reads
docsearch.questions.jsonl at the root of a folder by itself.

Exit codes:
  0    success
  1    import: some questions were left out, the others are stored; write: sections remain
  2    usage error, no connection, or a database error
  130  write: interrupted; questions written so far are stored";

/// Import, export, list and write questions that sections answer
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct QuestionsArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Replace the author's questions of the pages that a file names
    Import {
        /// Project of the pages
        #[arg(value_name = "PROJECT")]
        project: String,
        /// Question file (JSON lines); - is standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Print the questions as a question file
    Export {
        /// Project of the pages
        #[arg(value_name = "PROJECT")]
        project: String,
    },
    /// Let the server's language model write questions for sections that have none or stale ones
    ///
    /// Sections are written in small transactions. Run it again to continue.
    Write(WriteArgs),
    /// Print questions, or sections without any, as JSON lines
    List {
        /// Project of the pages
        #[arg(value_name = "PROJECT")]
        project: String,
        /// Only sections without a question
        #[arg(long, conflicts_with = "stale")]
        missing: bool,
        /// Only questions whose section has changed since they were written
        #[arg(long)]
        stale: bool,
    },
}

/// A stored question.
#[derive(Serialize)]
struct StoredQuestion {
    slug: String,
    anchor: String,
    question: String,
    source: String,
    stale: bool,
}

/// A section without a question.
#[derive(Serialize)]
struct UnansweredSection<'a> {
    file: &'a str,
    slug: &'a str,
    heading: String,
    anchor: String,
    text: String,
    instruction: &'a str,
}

struct StoredDocument {
    slug: String,
    title: String,
    body: String,
    /// Its name in question files.
    file: String,
}

pub(crate) fn run(args: &QuestionsArgs, connection: &ConnectionArgs) -> Result<Outcome, Error> {
    match &args.command {
        Command::Import { project, file } => {
            let bytes = read(file)?;
            import::import(&mut connection.connect()?, project, &bytes, file)
        }
        Command::Export { project } => export(&mut connection.connect()?, project),
        Command::Write(args) => writing::run(args, connection),
        Command::List {
            project, missing: true, ..
        } => list_missing(&mut connection.connect()?, project),
        Command::List { project, stale, .. } => {
            let mut stored = stored(&mut connection.connect()?, project)?;
            stored.retain(|question| !stale || question.stale);
            print(stored.iter())
        }
    }
}

fn read(file: &Path) -> Result<Vec<u8>, Error> {
    if file.as_os_str() != "-" {
        return fs::read(file).map_err(Error::file(file));
    }
    let mut bytes = Vec::new();
    io::stdin()
        .read_to_end(&mut bytes)
        .map_err(Error::file("standard input"))?;
    Ok(bytes)
}

fn export(client: &mut Client, project: &str) -> Result<Outcome, Error> {
    let mut of_pages: BTreeMap<String, Vec<StoredQuestion>> = BTreeMap::new();
    for stored in stored(client, project)? {
        of_pages.entry(stored.slug.clone()).or_default().push(stored);
    }
    let (mut lines, mut known) = (Vec::new(), HashSet::new());
    for (slug, questions) in of_pages {
        let Some(document) = document(client, project, &slug)? else {
            continue;
        };
        let headings = Headings::new(&document.title, &document.body);
        for StoredQuestion { anchor, question, .. } in questions {
            if known.insert((slug.clone(), anchor.clone(), question.clone())) {
                lines.push(Line {
                    file: document.file.clone(),
                    heading: Some(headings.heading(&anchor)),
                    question,
                });
            }
        }
    }
    print(lines.iter())
}

fn list_missing(client: &mut Client, project: &str) -> Result<Outcome, Error> {
    let mut answered: BTreeMap<String, HashSet<String>> = BTreeMap::new();
    for stored in stored(client, project)? {
        answered.entry(stored.slug).or_default().insert(stored.anchor);
    }
    let slugs = client.query(
        "SELECT d.slug FROM docsearch.document d JOIN docsearch.project p ON p.id = d.project_id WHERE p.name = $1 \
         ORDER BY d.slug",
        &[&project],
    )?;
    for row in slugs {
        let slug: String = row.get(0);
        let Some(document) = document(client, project, &slug)? else {
            continue;
        };
        let of_page = answered.remove(&slug).unwrap_or_default();
        let sections = missing(&document.title, &document.body, &of_page);
        print(sections.into_iter().map(|section| UnansweredSection {
            file: &document.file,
            slug: &document.slug,
            heading: section.heading,
            anchor: section.anchor,
            text: section.text.chars().take(TEXT_CHARS).collect(),
            instruction: &INSTRUCTION,
        }))?;
    }
    Ok(Outcome::Complete)
}

fn stored(client: &mut Client, project: &str) -> Result<Vec<StoredQuestion>, Error> {
    let rows = client.query(
        "SELECT slug, anchor, question, source, stale FROM docsearch.questions($1)",
        &[&project],
    )?;
    let stored = rows.iter().map(|row| StoredQuestion {
        slug: row.get(0),
        anchor: row.get(1),
        question: row.get(2),
        source: row.get(3),
        stale: row.get(4),
    });
    Ok(stored.collect())
}

const DOCUMENTS: &str = "SELECT d.slug, d.title, d.body, coalesce(d.source_path, d.slug) FROM docsearch.document d \
                         JOIN docsearch.project p ON p.id = d.project_id WHERE p.name = $1";

fn document(client: &mut Client, project: &str, slug: &str) -> Result<Option<StoredDocument>, Error> {
    let row = client.query_opt(&format!("{DOCUMENTS} AND d.slug = $2"), &[&project, &slug])?;
    Ok(row.as_ref().map(read_document))
}

fn read_document(row: &postgres::Row) -> StoredDocument {
    StoredDocument {
        slug: row.get(0),
        title: row.get(1),
        body: row.get(2),
        file: row.get(3),
    }
}

/// Prints JSON lines. A reader that has closed the pipe is not a failure.
fn print<T: Serialize>(values: impl Iterator<Item = T>) -> Result<Outcome, Error> {
    let mut output = io::stdout().lock();
    let is_terminal = output.is_terminal();
    for value in values {
        let line = serde_json::to_string(&value).map_err(|error| Error::Usage(error.to_string()))?;
        let line = if is_terminal { sanitize_json(&line) } else { line };
        match writeln!(output, "{line}") {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => break,
            written => written.map_err(Error::file("standard output"))?,
        }
    }
    Ok(Outcome::Complete)
}

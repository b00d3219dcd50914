//! `docsearch ranking`: how a project ranks, as a file that is reviewed, compared, measured and applied.

mod file;
mod junit;
mod trial;

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use postgres::types::Json;
use postgres::{Client, GenericClient, IsolationLevel};
use serde_json::Value;

use crate::connection::ConnectionArgs;
use crate::process::error::Error;
use crate::process::outcome::Outcome;
use crate::terminal;
use file::RankingFile;
use trial::Trial;

const AFTER_HELP: &str = "\
Examples:
  docsearch ranking pull ranking.toml --project handbook
  docsearch ranking diff ranking.toml
  docsearch ranking push ranking.toml --dry-run --evaluate readers --junit ranking.xml
  docsearch ranking push ranking.toml --message 'release notes count less'

The file is TOML: the weights that the project sets, and a line for each rule of its own. `base` is
a digest of the server's state when it was written: push refuses a file if the server has changed
since. With --evaluate, the state is measured on a set of judgments before it is applied, and not
applied if a measure of a group is worse: if its paired 95 % interval is wholly below 0, or if its
mean falls by more than --max-loss.

Exit codes:
  0  success; diff: the file is what the server has
  1  diff: they differ; push: the state is worse, and was not applied
  2  usage error, no connection, or a database error";

/// Compare, measure and apply how a project ranks
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct RankingArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Write the weights and rules of a project to a file
    Pull {
        /// File to write; - is standard output
        #[arg(value_name = "FILE", default_value = "-")]
        file: PathBuf,
        /// Project; not needed if there is only one
        #[arg(long, short, value_name = "NAME")]
        project: Option<String>,
    },
    /// Print what a file would change; the exit code is 1 if anything
    Diff {
        #[command(flatten)]
        source: SourceArgs,
    },
    /// Apply a file
    Push(PushArgs),
}

#[derive(Debug, Args)]
struct SourceArgs {
    /// Ranking file; - is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Project [default: that of the file]
    #[arg(long, short, value_name = "NAME")]
    project: Option<String>,
}

#[derive(Debug, Args)]
struct PushArgs {
    #[command(flatten)]
    source: SourceArgs,
    /// Reason for the history of the project
    #[arg(long, short, value_name = "TEXT")]
    message: Option<String>,
    /// Apply the file although the server has changed since it was written
    #[arg(long)]
    force: bool,
    /// Do everything but apply the file
    #[arg(long)]
    dry_run: bool,
    /// Measure the state on this set of judgments first, and do not apply it if it is worse
    #[arg(long, value_name = "SET")]
    evaluate: Option<String>,
    /// Also count as worse what lowers a mean by more than this
    #[arg(long, value_name = "LOSS", requires = "evaluate", value_parser = loss)]
    max_loss: Option<f64>,
    /// Write the comparison as JUnit XML
    #[arg(long, value_name = "FILE", requires = "evaluate")]
    junit: Option<PathBuf>,
}

fn loss(text: &str) -> Result<f64, String> {
    let loss: f64 = text.parse().map_err(|_| "expected a number".to_owned())?;
    match (0.0..=1.0).contains(&loss) {
        true => Ok(loss),
        false => Err("expected 0 to 1".to_owned()),
    }
}

pub(crate) fn run(args: &RankingArgs, connection: &ConnectionArgs) -> Result<Outcome, Error> {
    match &args.command {
        Command::Pull { file, project } => {
            let mut client = connection.connect()?;
            let project = named_project(&mut client, project.as_deref())?;
            let text = file::write(&project, &state(&mut client, &project)?);
            match is_standard(file) {
                true => terminal::print(&text)?,
                false => fs::write(file, text).map_err(Error::file(file))?,
            }
            Ok(Outcome::Complete)
        }
        Command::Diff { source } => {
            let (_, file) = read(&source.file)?;
            let mut client = connection.connect()?;
            let project = project_of(&mut client, source, &file)?;
            let changes = changes(&mut client, &project, &file.state())?;
            terminal::print(&shown(&changes))?;
            Ok(match changes.is_empty() {
                true => Outcome::Complete,
                false => Outcome::Different,
            })
        }
        Command::Push(args) => push(args, connection),
    }
}

fn push(args: &PushArgs, connection: &ConnectionArgs) -> Result<Outcome, Error> {
    let (text, file) = read(&args.source.file)?;
    let mut client = connection.connect()?;
    let project = project_of(&mut client, &args.source, &file)?;
    let wanted = file.state();
    let changes = changes(&mut client, &project, &wanted)?;
    let base = file::digest(&state(&mut client, &project)?);
    if let Some(given) = &file.base
        && *given != base
        && !changes.is_empty()
        && !args.force
    {
        return Err(changed_meanwhile(&project));
    }
    terminal::print(&shown(&changes))?;
    if let Some(set) = &args.evaluate {
        let trial = Trial::run(&mut client, set, &project, &wanted)?;
        terminal::print(&format!("\n{}\n", trial.table()))?;
        if let Some(path) = &args.junit {
            let report = junit::write(&trial, args.max_loss).map_err(Error::file(path))?;
            fs::write(path, report).map_err(Error::file(path))?;
        }
        if trial.is_worse(args.max_loss) {
            eprintln!("docsearch: the ranking is worse on set {set}, and was not applied");
            return Ok(Outcome::Different);
        }
    }
    if args.dry_run || changes.is_empty() {
        return Ok(Outcome::Complete);
    }
    let mut transaction = client
        .build_transaction()
        .isolation_level(IsolationLevel::RepeatableRead)
        .start()?;
    if file::digest(&state(&mut transaction, &project)?) != base {
        return Err(changed_meanwhile(&project));
    }
    transaction.execute(
        "SELECT docsearch.apply_ranking($1, $2::jsonb, $3)",
        &[&project, &Json(&wanted), &args.message],
    )?;
    let applied = file::digest(&state(&mut transaction, &project)?);
    transaction.commit()?;
    eprintln!("{} changes of project {project} applied", changes.len());
    match &file.base {
        Some(base) if !is_standard(&args.source.file) => {
            // The next push of the same file is based on what this one has applied.
            fs::write(&args.source.file, text.replacen(base.as_str(), &applied, 1))
                .map_err(Error::file(&args.source.file))?;
        }
        _ => {}
    }
    Ok(Outcome::Complete)
}

/// A value that a state would change.
struct Change {
    name: String,
    before: Option<Value>,
    after: Option<Value>,
}

fn changes(client: &mut Client, project: &str, wanted: &Value) -> Result<Vec<Change>, Error> {
    let rows = client.query(
        "SELECT name, before, after FROM docsearch.diff_ranking($1, $2::jsonb)",
        &[&project, &Json(wanted)],
    )?;
    let changes = rows.iter().map(|row| Change {
        name: row.get(0),
        before: row.get(1),
        after: row.get(2),
    });
    Ok(changes.collect())
}

/// Changes as lines that begin with - or +.
fn shown(changes: &[Change]) -> String {
    let value = |value: &Value| match value {
        Value::Object(_) => file::rule(value),
        value => file::toml_value(value)
            .map(|value| value.to_string())
            .unwrap_or_default(),
    };
    let mut text = String::new();
    for change in changes {
        for (sign, side) in [('-', &change.before), ('+', &change.after)] {
            if let Some(side) = side {
                text.push_str(&format!("{sign} {} = {}\n", change.name, value(side)));
            }
        }
    }
    text
}

fn state(client: &mut impl GenericClient, project: &str) -> Result<Value, Error> {
    Ok(client
        .query_one("SELECT docsearch.ranking_state($1)", &[&project])?
        .get(0))
}

fn project_of(client: &mut Client, source: &SourceArgs, file: &RankingFile) -> Result<String, Error> {
    named_project(client, source.project.as_deref().or(file.project.as_deref()))
}

/// The project with this name, or the only one.
fn named_project(client: &mut Client, name: Option<&str>) -> Result<String, Error> {
    if let Some(name) = name {
        return Ok(name.to_owned());
    }
    let rows = client.query("SELECT name FROM docsearch.project ORDER BY name LIMIT 2", &[])?;
    match rows.as_slice() {
        [row] => Ok(row.get(0)),
        _ => Err(Error::Usage(
            "which project?\nHINT:  Name it: --project NAME.".to_owned(),
        )),
    }
}

fn changed_meanwhile(project: &str) -> Error {
    Error::Usage(format!(
        "the ranking of project {project} is not the one that the file was written from\n\
         HINT:  Run docsearch ranking pull, and make your changes again. --force overwrites the server's."
    ))
}

fn read(path: &Path) -> Result<(String, RankingFile), Error> {
    let text = match is_standard(path) {
        true => {
            let mut text = String::new();
            io::stdin()
                .read_to_string(&mut text)
                .map_err(Error::file("standard input"))?;
            text
        }
        false => fs::read_to_string(path).map_err(Error::file(path))?,
    };
    let file = RankingFile::parse(&text).map_err(|problem| Error::Usage(format!("{}, {problem}", path.display())))?;
    Ok((text, file))
}

fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

//! Executes jobs: from their sources to a destination.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::PathBuf;

use postgres::Client;

use super::job::{Job, JobSource};
use super::last_run::FileSnapshot;
use super::plan::{Plan, PlanContext, SourceRoot};
use super::run::{IndexRun, RunOptions};
use crate::connection::ConnectionArgs;
use crate::loading::project;
use crate::process::error::Error;
use crate::process::interrupt::Interrupt;
use crate::process::outcome::Outcome;
use crate::sources::document_source::{DocumentSource, Files};
use crate::sources::json_lines::JsonLines;
use crate::sources::with_questions::QuestionFiles;
use crate::terminal::report::Report;

/// The destination of documents.
pub(super) enum Destination<'a> {
    StandardOutput,
    /// Only checks their links.
    LinkCheck,
    Database {
        connection: &'a ConnectionArgs,
        /// `None` before the first job.
        client: Option<Box<Client>>,
    },
}

impl<'a> Destination<'a> {
    pub(super) fn database(connection: &'a ConnectionArgs) -> Self {
        Self::Database {
            connection,
            client: None,
        }
    }
}

/// Executes all jobs.
pub(super) fn execute_all(
    jobs: &[Job],
    run_options: &mut RunOptions,
    destination: &mut Destination<'_>,
    interrupt: &mut Option<Interrupt>,
) -> Result<Outcome, Error> {
    let mut outcome = Outcome::Complete;
    for job in jobs {
        if jobs.len() > 1 {
            run_options.before = format!("{}: ", job.project);
        }
        match execute(job, run_options, destination, interrupt)? {
            Outcome::Interrupted => return Ok(Outcome::Interrupted),
            Outcome::Complete => {}
            other => outcome = other,
        }
    }
    Ok(outcome)
}

/// Executes a job. Starts watching for signals after connecting, unless `interrupt` does already.
fn execute(
    job: &Job,
    run_options: &RunOptions,
    destination: &mut Destination<'_>,
    interrupt: &mut Option<Interrupt>,
) -> Result<Outcome, Error> {
    match &job.source {
        JobSource::Lines { path, max_line } => {
            let source_root = job.source_root.as_deref();
            let mut lines = JsonLines::open(path, source_root, *max_line)?;
            let run = IndexRun {
                job,
                options: run_options,
                folders: source_root.map(SourceRoot::named).into_iter().collect(),
                problems: Vec::new(),
                snapshot: None,
                questions: RefCell::default(),
            };
            deliver(&run, &mut lines, destination, interrupt)
        }
        JobSource::Paths(source) => {
            let options = &source.options;
            let is_printed = matches!(destination, Destination::StandardOutput);
            let watched = interrupt.clone().unwrap_or_default();
            let context = PlanContext {
                source_root: job.source_root.as_deref(),
                options,
                filter: &source.filter,
                interrupt: &watched,
                report: &Report::new(run_options.json && !is_printed, None),
            };
            let plan = Plan::new(&source.paths, &context)?;
            let roots: BTreeSet<PathBuf> = plan.inputs.iter().map(|input| input.root.clone()).collect();
            let is_sent = matches!(destination, Destination::Database { .. });
            let snapshot = is_sent
                .then(|| FileSnapshot::of(&plan, options, &source.groups))
                .flatten();
            let mut questions = QuestionFiles::default();
            plan.nested_questions.iter().for_each(|path| questions.leave_out(path));
            for (root, source_root) in plan
                .inputs
                .iter()
                .map(|input| (&input.root, &input.source_root))
                .collect::<BTreeSet<_>>()
            {
                let is_whole = plan.folders.iter().any(|folder| folder.name == *source_root);
                questions.add(root, source_root, is_whole, options.links, options.max_file_size);
            }
            let mut files = Files::new(plan.inputs, options.clone(), plan.left_out);
            let run = IndexRun {
                job,
                options: run_options,
                folders: plan.folders,
                problems: plan.problems,
                snapshot,
                questions: RefCell::new(questions),
            };
            let delivered = match destination {
                Destination::LinkCheck => run.check_links(&mut files, &watched, |path| {
                    roots.iter().any(|root| root.join(path).exists())
                }),
                _ => deliver(&run, &mut files, destination, interrupt),
            };
            // The readers close the files before these are removed.
            drop(files);
            drop(plan.unpacked);
            delivered
        }
    }
}

fn deliver(
    run: &IndexRun<'_>,
    source: &mut dyn DocumentSource,
    destination: &mut Destination<'_>,
    interrupt: &mut Option<Interrupt>,
) -> Result<Outcome, Error> {
    match destination {
        Destination::StandardOutput => run.print(source, &interrupt.clone().unwrap_or_default()),
        // JSON lines have no folder with other link targets.
        Destination::LinkCheck => run.check_links(source, &interrupt.clone().unwrap_or_default(), |_| false),
        Destination::Database { connection, client } => {
            let client = match client {
                Some(client) => client,
                None => client.insert(Box::new(connection.connect()?)),
            };
            project::ensure(client, &run.job.project, run.job.title.as_deref(), None)?;
            let interrupt = match interrupt {
                Some(interrupt) => interrupt,
                None => interrupt.insert(Interrupt::watch()?),
            };
            run.load(source, client, interrupt)
        }
    }
}

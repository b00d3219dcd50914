//! A job, from its source to where its documents go.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use postgres::Client;

use super::job::{Job, Reading, Source};
use super::last_run::FileSnapshot;
use super::plan::{Plan, PlanContext, Root};
use super::run::{Run, RunOptions};
use crate::connection::ConnectionArgs;
use crate::loading::project;
use crate::process::error::Error;
use crate::process::interrupt::Interrupt;
use crate::process::outcome::Outcome;
use crate::sources::document_source::{DocumentSource, FileOptions, Files};
use crate::sources::json_lines::JsonLines;
use crate::sources::with_questions::QuestionFiles;
use crate::terminal::report::Report;

/// Where documents go.
pub(super) enum Destination<'a> {
    StandardOutput,
    /// Nowhere: their links are checked.
    LinkCheck,
    Database {
        connection: &'a ConnectionArgs,
        /// Once there is one.
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

/// Does all jobs.
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

/// Does a job. Signals are watched for once there is a connection, if they are not yet.
fn execute(
    job: &Job,
    run_options: &RunOptions,
    destination: &mut Destination<'_>,
    interrupt: &mut Option<Interrupt>,
) -> Result<Outcome, Error> {
    match &job.source {
        Source::Lines(path) => {
            let source_root = job.source_root.as_deref();
            let mut lines = JsonLines::open(path, source_root, job.max_file_size)?;
            let run = Run {
                job,
                options: run_options,
                folders: source_root.map(Root::named).into_iter().collect(),
                problems: Vec::new(),
                snapshot: None,
                questions: RefCell::default(),
            };
            deliver(&run, &mut lines, destination, interrupt)
        }
        Source::Paths(paths, reading) => {
            let is_printed = matches!(destination, Destination::StandardOutput);
            let watched = interrupt.clone().unwrap_or_default();
            let context = PlanContext {
                source_root: job.source_root.as_deref(),
                reading,
                filter: &reading.options.filter()?,
                interrupt: &watched,
                report: &Report::new(run_options.json && !is_printed, None),
            };
            let mut plan = Plan::new(paths, &context)?;
            let roots: BTreeSet<PathBuf> = plan.inputs.iter().map(|input| input.root.clone()).collect();
            let options = file_options(job, reading, std::mem::take(&mut plan.left_out));
            let is_sent = matches!(destination, Destination::Database { .. });
            let snapshot = is_sent
                .then(|| FileSnapshot::of(&plan, &options, &reading.groups))
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
            let mut files = Files::new(plan.inputs, options);
            let run = Run {
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
            // Those who read the files let go of them before they are removed.
            drop(files);
            drop(plan.unpacked);
            delivered
        }
    }
}

fn file_options(job: &Job, reading: &Reading, left_out: BTreeMap<&'static str, usize>) -> FileOptions {
    let options = &reading.options;
    FileOptions {
        prefix: options.prefix.clone(),
        version: options.version.clone(),
        max_file_size: job.max_file_size,
        markup: reading.markup,
        links: reading.links,
        left_out,
        site: options.site(),
        content: options.content.clone(),
    }
}

fn deliver(
    run: &Run<'_>,
    source: &mut dyn DocumentSource,
    destination: &mut Destination<'_>,
    interrupt: &mut Option<Interrupt>,
) -> Result<Outcome, Error> {
    match destination {
        Destination::StandardOutput => run.print(source, &interrupt.clone().unwrap_or_default()),
        // Lines of JSON have no folder whose links could be followed.
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

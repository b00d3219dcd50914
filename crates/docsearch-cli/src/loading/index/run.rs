//! One run: indexes the documents of a source and deletes those that it no longer has.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use postgres::Client;
use serde_json::json;

use super::job::{Job, JobSource};
use super::last_run::{FileSnapshot, LastRun};
use super::pins;
use super::plan::SourceRoot;
use crate::loading::backlog::{self, Backlog, WaitArgs};
use crate::loading::printer::{OutputReader, Printer};
use crate::loading::project::{self, Loader};
use crate::process::error::Error;
use crate::process::interrupt::Interrupt;
use crate::process::outcome::Outcome;
use crate::sources::distinct_titles::DistinctTitles;
use crate::sources::document_source::DocumentSource;
use crate::sources::grouped_pages::GroupedPages;
use crate::sources::statistics::SourceStatistics;
use crate::sources::with_questions::{QuestionFiles, WithQuestions};
use crate::terminal::Tally;
use crate::terminal::report::{Report, RunSummary};
use crate::terminal::sanitize_line;

/// Options for sending documents and reporting.
#[derive(Debug, Clone)]
pub(super) struct RunOptions {
    /// Documents per transaction.
    pub(super) batch: usize,
    pub(super) wait: WaitArgs,
    /// Report events as JSON lines.
    pub(super) json: bool,
    /// Read all files, even if none has changed since the last run.
    pub(super) refresh: bool,
    /// Printed before the counts.
    pub(super) before: String,
}

/// The result of a run.
struct RunResult {
    tally: Tally,
    last_run: LastRun,
    is_interrupted: bool,
}

pub(super) struct IndexRun<'a> {
    pub(super) job: &'a Job,
    pub(super) options: &'a RunOptions,
    /// Source roots that are read completely: documents that they no longer have are deleted.
    pub(super) folders: Vec<SourceRoot>,
    pub(super) problems: Vec<String>,
    /// The state of the files, if a later run can detect changes by it.
    pub(super) snapshot: Option<FileSnapshot>,
    /// The question files of the folders; emptied with the last document.
    pub(super) questions: RefCell<QuestionFiles>,
}

impl IndexRun<'_> {
    /// Prints the documents.
    pub(super) fn print(&self, source: &mut dyn DocumentSource, interrupt: &Interrupt) -> Result<Outcome, Error> {
        let report = Report::plain();
        self.report_problems(&report);
        let mut statistics = SourceStatistics::default();
        let mut pages = WithQuestions::of_pages(source, &self.questions);
        let mut grouped = self.with_groups(&mut pages)?;
        let mut with_questions = WithQuestions::of_groups(&mut grouped, &self.questions);
        let mut source = self.with_distinct_titles(&mut with_questions, interrupt);
        let mut printer = Printer::new();
        'source: while let Some(documents) = source.next(&mut statistics, &report)? {
            for document in &documents {
                if interrupt.is_raised() || printer.print(document)? == OutputReader::HasLeft {
                    break 'source;
                }
            }
        }
        printer.finish()?;
        let notes = [statistics.unknown_names().text(), statistics.left_out().text()];
        for text in notes.into_iter().flatten() {
            eprintln!("{}", sanitize_line(&text));
        }
        if interrupt.is_raised() {
            return Ok(Outcome::Interrupted);
        }
        let clean = statistics.skipped() == 0 && self.problems.is_empty();
        Ok(if clean { Outcome::Complete } else { Outcome::Partial })
    }

    /// Sends the documents to the database.
    pub(super) fn load(
        &self,
        source: &mut dyn DocumentSource,
        client: &mut Client,
        interrupt: &Interrupt,
    ) -> Result<Outcome, Error> {
        let project = &self.job.project;
        let mut pages = WithQuestions::of_pages(source, &self.questions);
        let mut grouped = self.with_groups(&mut pages)?;
        let total = grouped.len();
        let report = Report::new(self.options.json, total);
        self.report_problems(&report);
        if let Some(snapshot) = self.snapshot.as_ref().filter(|_| !self.options.refresh)
            && let Some(last) = snapshot.last_run(client, project)?
        {
            return self.repeat(last, client, interrupt, &report);
        }
        let mut statistics = SourceStatistics::default();
        let owners = match self.folders.is_empty() {
            true => HashMap::new(),
            false => project::source_roots(client, project)?,
        };
        let mut with_questions = WithQuestions::of_groups(&mut grouped, &self.questions);
        let mut source = self.with_distinct_titles(&mut with_questions, interrupt);
        let mut loader = Loader::new(client, project, self.options.batch)?;
        let (mut sources, mut sent) = (0, 0);
        'source: while let Some(documents) = source.next(&mut statistics, &report)? {
            for document in documents {
                if interrupt.is_raised() {
                    break 'source;
                }
                sent += loader.push(document)?;
            }
            if interrupt.is_raised() {
                break;
            }
            sources += 1;
            report.progress(
                sources,
                total,
                || json!({"sources": sources, "total": total, "documents": sent}),
            );
        }
        let is_interrupted = interrupt.is_raised();
        let (mut tally, refusals) = if is_interrupted {
            loader.abandon()
        } else {
            loader.finish()?
        };
        for refusal in &refusals {
            report.failed(&statistics.source_of(&refusal.slug), &refusal.reason);
        }
        let last_run = LastRun {
            documents: tally.documents(),
            skipped: (statistics.skipped() + self.problems.len()) as u64,
            left_out: statistics.left_out().clone(),
            unknown_names: statistics.unknown_names().clone(),
            messages: report.messages(),
        };
        last_run.notes().iter().for_each(|text| report.note(text));
        if !is_interrupted {
            tally.deleted = self.delete_missing(client, &statistics, &tally, &report)?;
            self.report_moved(client, &owners, &tally, &report)?;
        }
        project::finish_load(client, project, &tally)?;
        // Messages about deletions depend on what was stored before.
        let is_settled = !is_interrupted && tally.failed == 0 && report.messages().len() == last_run.messages.len();
        if let Some(snapshot) = self.snapshot.as_ref().filter(|_| is_settled) {
            snapshot.record(client, project, &last_run)?;
        }
        let result = RunResult {
            tally,
            last_run,
            is_interrupted,
        };
        self.finish(&result, client, interrupt, &report)
    }

    /// Groups pages of folders that were listed completely. JSON lines are passed on as they are.
    fn with_groups<'s>(&'s self, source: &'s mut dyn DocumentSource) -> Result<GroupedPages<'s>, Error> {
        let (rules, prefix) = match &self.job.source {
            JobSource::Paths(source) => (source.groups.as_slice(), source.options.prefix.as_deref()),
            JobSource::Lines { .. } => (&[][..], None),
        };
        let complete = match self.problems.is_empty() {
            true => self.folders.iter().map(|root| root.name.as_str()).collect(),
            false => HashSet::new(),
        };
        GroupedPages::new(source, rules, prefix, complete)
    }

    /// Makes titles distinct. JSON lines are passed on as they are: they may come from a program that never ends.
    fn with_distinct_titles<'s>(
        &self,
        source: &'s mut dyn DocumentSource,
        interrupt: &'s Interrupt,
    ) -> Box<dyn DocumentSource + 's> {
        match &self.job.source {
            JobSource::Paths(_) => Box::new(DistinctTitles::new(source, interrupt)),
            JobSource::Lines { .. } => Box::new(source),
        }
    }

    /// Repeats the messages of the last run, since nothing has changed.
    fn repeat(
        &self,
        last: LastRun,
        client: &mut Client,
        interrupt: &Interrupt,
        report: &Report,
    ) -> Result<Outcome, Error> {
        report.repeat(&last.messages);
        last.notes().iter().for_each(|text| report.note(text));
        report.note("no file has changed since the last run; use --refresh to read them anyway");
        let tally = Tally {
            unchanged: last.documents,
            ..Tally::default()
        };
        let result = RunResult {
            tally,
            last_run: last,
            is_interrupted: false,
        };
        self.finish(&result, client, interrupt, report)
    }

    /// Waits for vectors if requested, and reports the result.
    fn finish(
        &self,
        result: &RunResult,
        client: &mut Client,
        interrupt: &Interrupt,
        report: &Report,
    ) -> Result<Outcome, Error> {
        let project = &self.job.project;
        if let Some(rules) = self.job.pins.as_ref().filter(|_| !result.is_interrupted) {
            pins::apply(client, project, self.pin_source(), rules, report)?;
        }
        let backlog = match result.is_interrupted {
            true => Backlog::default(),
            false => Backlog::settle(client, project, self.options.wait, interrupt, report)?,
        };
        if result.tally.changed > 0 && !result.is_interrupted {
            report_stale(client, project, report)?;
        }
        let ending = RunSummary {
            tally: &result.tally,
            skipped: result.last_run.skipped,
            interrupted: match (result.is_interrupted, backlog.is_interrupted) {
                (true, _) => Some("complete batches are stored; run it again to continue"),
                (_, true) => Some(backlog::FOLLOWING),
                _ => None,
            },
        };
        let mut fields = backlog.fields();
        fields["left_out"] = result.last_run.left_out.total().into();
        fields["left_out_by"] = json!(result.last_run.left_out);
        fields["unknown_names"] = json!(result.last_run.unknown_names);
        fields["project"] = project.as_str().into();
        report.done(&self.options.before, &ending, fields);
        Ok(match ending.interrupted {
            Some(_) => Outcome::Interrupted,
            None if backlog.has_failed() || result.last_run.skipped > 0 || result.tally.failed > 0 => Outcome::Partial,
            None => Outcome::Complete,
        })
    }

    /// Name of the source whose pins these are.
    fn pin_source(&self) -> &str {
        let root = self.folders.first().map(|root| root.name.as_str());
        self.job.source_root.as_deref().or(root).unwrap_or(&self.job.project)
    }

    pub(super) fn report_problems(&self, report: &Report) {
        for problem in &self.problems {
            report.skipped("", problem);
        }
    }

    fn delete_missing(
        &self,
        client: &mut Client,
        statistics: &SourceStatistics,
        tally: &Tally,
        report: &Report,
    ) -> Result<u64, Error> {
        if self.folders.is_empty() {
            return Ok(0);
        }
        if !self.problems.is_empty() {
            report.warning("", "nothing was deleted: parts of the folder could not be listed");
            return Ok(0);
        }
        if statistics.is_incomplete() {
            report.warning("", "nothing was deleted: some lines could not be read");
            return Ok(0);
        }
        let project = &self.job.project;
        let mut deleted = 0;
        for root in &self.folders {
            if !statistics.has_seen(&root.name) {
                report.warning(&root.name, "no documents found; nothing was deleted");
                continue;
            }
            if root.is_guess && tally.changed + tally.unchanged == 0 && self.has_others(client, root, tally)? {
                report.warning(
                    &root.name,
                    "nothing was deleted: another archive of this name has other pages\nHINT:  Give this one its own \
                     --source-root NAME. If it replaces the other one, use the name above.",
                );
                continue;
            }
            let names = [Some(&root.name), root.former_name.as_ref()];
            let kept = statistics.retained(&root.name);
            for stored in names.into_iter().flatten() {
                deleted += project::delete_missing(client, project, stored, kept.slugs.clone(), &kept.paths)?;
            }
        }
        Ok(deleted)
    }

    /// Whether the source root has more pages than this run added.
    fn has_others(&self, client: &mut Client, root: &SourceRoot, tally: &Tally) -> Result<bool, Error> {
        let owners = project::source_roots(client, &self.job.project)?;
        Ok(owners.get(&root.name).is_some_and(|pages| *pages > tally.added))
    }

    /// Warns if most pages of this run belonged to another source root: no run deletes the remaining pages of that one.
    fn report_moved(
        &self,
        client: &mut Client,
        before: &HashMap<String, u64>,
        tally: &Tally,
        report: &Report,
    ) -> Result<(), Error> {
        if before.is_empty() {
            return Ok(());
        }
        let after = project::source_roots(client, &self.job.project)?;
        for (name, pages) in before {
            let is_own = |root: &SourceRoot| root.name == *name || root.former_name.as_ref() == Some(name);
            let left = after.get(name).copied().unwrap_or(0);
            let moved = pages.saturating_sub(left);
            if moved * 2 <= tally.documents() || self.folders.iter().any(is_own) {
                continue;
            }
            let hint = match left {
                0 => String::new(),
                _ => format!(
                    "; its other {left} pages remain\nHINT:  If it is the same source, run: SELECT docsearch.delete_missing({}, {}, \
                     '{{}}');",
                    literal(&self.job.project),
                    literal(name)
                ),
            };
            let now: Vec<&str> = self.folders.iter().map(|root| root.name.as_str()).collect();
            report.warning(
                "",
                format!(
                    "{moved} pages moved from the source root \"{name}\" to \"{}\"{hint}",
                    now.join("\", \"")
                ),
            );
        }
        Ok(())
    }
}

/// A SQL string literal.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Reports how many questions of the project are stale, because their sections have changed.
fn report_stale(client: &mut Client, project: &str, report: &Report) -> Result<(), Error> {
    let stale = client.query_opt(
        "SELECT p.questions_stale FROM docsearch.index_progress($1) p WHERE p.questions_stale > 0",
        &[&project],
    )?;
    if let Some(row) = stale {
        let stale = match row.get::<_, i64>(0) {
            1 => "1 question is stale".to_owned(),
            more => format!("{more} questions are stale"),
        };
        report.note(&format!("{stale}: docsearch questions list --stale {project}"));
    }
    Ok(())
}

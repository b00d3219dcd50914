//! One run: documents of a source into a project, and what is no longer there out of it.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use postgres::Client;
use serde_json::json;

use super::job::{Job, Source};
use super::last_run::{FileSnapshot, LastRun};
use super::plan::Root;
use crate::loading::backlog::{self, Backlog, WaitArgs};
use crate::loading::printer::{Printer, Reader};
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
use crate::terminal::report::{Ending, Report};
use crate::terminal::shown;

/// How documents are sent, and what is told of it.
#[derive(Debug, Clone)]
pub(super) struct RunOptions {
    /// Documents of a transaction.
    pub(super) batch: usize,
    pub(super) wait: WaitArgs,
    /// Events for programs.
    pub(super) json: bool,
    /// Whether files are read that have not changed since the last run.
    pub(super) refresh: bool,
    /// In front of the counts, for people.
    pub(super) before: String,
}

/// How a run went.
struct RunResult {
    tally: Tally,
    last_run: LastRun,
    is_interrupted: bool,
}

pub(super) struct Run<'a> {
    pub(super) job: &'a Job,
    pub(super) options: &'a RunOptions,
    /// Source roots that are complete: what they no longer hold is deleted.
    pub(super) folders: Vec<Root>,
    pub(super) problems: Vec<String>,
    /// The files, if changed ones can be told from them.
    pub(super) found: Option<FileSnapshot>,
    /// The questions of the folders; when the last document has come, they are gone.
    pub(super) asked: RefCell<QuestionFiles>,
}

impl Run<'_> {
    /// Prints the documents.
    pub(super) fn print(&self, source: &mut dyn DocumentSource, interrupt: &Interrupt) -> Result<Outcome, Error> {
        let report = Report::plain();
        self.report_problems(&report);
        let mut statistics = SourceStatistics::default();
        let mut pages = WithQuestions::of_pages(source, &self.asked);
        let mut grouped = self.grouped(&mut pages)?;
        let mut asked = WithQuestions::of_groups(&mut grouped, &self.asked);
        let mut source = self.titled(&mut asked, interrupt);
        let mut printer = Printer::new();
        'source: while let Some(documents) = source.next(&mut statistics, &report)? {
            for document in &documents {
                if interrupt.is_raised() || printer.print(document)? == Reader::HasGone {
                    break 'source;
                }
            }
        }
        printer.finish()?;
        if let Some(text) = statistics.left_out().text() {
            eprintln!("{}", shown(&text));
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
        let mut pages = WithQuestions::of_pages(source, &self.asked);
        let mut grouped = self.grouped(&mut pages)?;
        let total = grouped.len();
        let report = Report::new(self.options.json, total);
        self.report_problems(&report);
        if let Some(found) = self.found.as_ref().filter(|_| !self.options.refresh)
            && let Some(last) = found.last_run(client, project)?
        {
            return self.repeat(last, client, interrupt, &report);
        }
        let mut statistics = SourceStatistics::default();
        let owners = match self.folders.is_empty() {
            true => HashMap::new(),
            false => project::source_roots(client, project)?,
        };
        let mut asked = WithQuestions::of_groups(&mut grouped, &self.asked);
        let mut source = self.titled(&mut asked, interrupt);
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
            report.failed(&statistics.place_of(&refusal.slug), &refusal.reason);
        }
        if let Some(text) = statistics.left_out().text() {
            report.note(&text);
        }
        let last_run = LastRun {
            documents: tally.documents(),
            skipped: (statistics.skipped() + self.problems.len()) as u64,
            left_out: statistics.left_out().clone(),
            messages: report.messages(),
        };
        if !is_interrupted {
            tally.deleted = self.delete_missing(client, &statistics, &tally, &report)?;
            self.report_moved(client, &owners, &tally, &report)?;
        }
        project::finish_load(client, project, &tally)?;
        // What was told of deleting depends on what was there before.
        let is_settled = !is_interrupted && tally.failed == 0 && report.messages().len() == last_run.messages.len();
        if let Some(found) = self.found.as_ref().filter(|_| is_settled) {
            found.keep(client, project, &last_run)?;
        }
        let result = RunResult {
            tally,
            last_run,
            is_interrupted,
        };
        self.end(&result, client, interrupt, &report)
    }

    /// Pages of folders that were listed whole may be grouped; lines of JSON are as they are.
    fn grouped<'s>(&'s self, source: &'s mut dyn DocumentSource) -> Result<GroupedPages<'s>, Error> {
        let (rules, prefix) = match &self.job.source {
            Source::Paths(_, reading) => (reading.groups.as_slice(), reading.options.prefix.as_deref()),
            Source::Lines(_) => (&[][..], None),
        };
        let complete = match self.problems.is_empty() {
            true => self.folders.iter().map(|root| root.name.as_str()).collect(),
            false => HashSet::new(),
        };
        GroupedPages::new(source, rules, prefix, complete)
    }

    /// Files of a folder may have the same title; lines of JSON are as they are, and may come from a program that never
    /// ends.
    fn titled<'s>(&self, source: &'s mut dyn DocumentSource, interrupt: &'s Interrupt) -> Box<dyn DocumentSource + 's> {
        match &self.job.source {
            Source::Paths(..) => Box::new(DistinctTitles::new(source, interrupt)),
            Source::Lines(_) => Box::new(source),
        }
    }

    /// Nothing has changed: tells what the last run told.
    fn repeat(
        &self,
        last: LastRun,
        client: &mut Client,
        interrupt: &Interrupt,
        report: &Report,
    ) -> Result<Outcome, Error> {
        report.repeat(&last.messages);
        if let Some(text) = last.left_out.text() {
            report.note(&text);
        }
        report.note("no file has changed since the last run; --refresh reads them all the same");
        let tally = Tally {
            unchanged: last.documents,
            ..Tally::default()
        };
        let result = RunResult {
            tally,
            last_run: last,
            is_interrupted: false,
        };
        self.end(&result, client, interrupt, report)
    }

    /// Waits for vectors if that is wanted, and tells how it went.
    fn end(
        &self,
        result: &RunResult,
        client: &mut Client,
        interrupt: &Interrupt,
        report: &Report,
    ) -> Result<Outcome, Error> {
        let project = &self.job.project;
        let backlog = match result.is_interrupted {
            true => Backlog::default(),
            false => Backlog::settle(client, project, self.options.wait, interrupt, report)?,
        };
        if result.tally.changed > 0 && !result.is_interrupted {
            report_stale(client, project, report)?;
        }
        let ending = Ending {
            tally: &result.tally,
            skipped: result.last_run.skipped,
            interrupted: match (result.is_interrupted, backlog.is_interrupted) {
                (true, _) => Some("whole batches are in, nothing is half done; run it again to go on"),
                (_, true) => Some(backlog::FOLLOWING),
                _ => None,
            },
        };
        let mut fields = backlog.fields();
        fields["left_out"] = result.last_run.left_out.total().into();
        fields["left_out_by"] = json!(result.last_run.left_out);
        fields["project"] = project.as_str().into();
        report.done(&self.options.before, &ending, fields);
        Ok(match ending.interrupted {
            Some(_) => Outcome::Interrupted,
            None if backlog.has_failed() || result.last_run.skipped > 0 || result.tally.failed > 0 => Outcome::Partial,
            None => Outcome::Complete,
        })
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
            if !statistics.knows(&root.name) {
                report.warning(&root.name, "no documents found; nothing was deleted");
                continue;
            }
            if root.is_guess && tally.changed + tally.unchanged == 0 && self.has_others(client, root, tally)? {
                report.warning(
                    &root.name,
                    "nothing was deleted: another archive of this name has other pages\nHINT:  --source-root tells them \
                     apart; if this one takes its place, give that option the name above.",
                );
                continue;
            }
            let names = [Some(&root.name), root.formerly.as_ref()];
            let kept = statistics.kept(&root.name);
            for stored in names.into_iter().flatten() {
                deleted += project::delete_missing(client, project, stored, kept.slugs.clone(), &kept.paths)?;
            }
        }
        Ok(deleted)
    }

    /// Whether there are more pages of a source root than those that were added.
    fn has_others(&self, client: &mut Client, root: &Root, tally: &Tally) -> Result<bool, Error> {
        let owners = project::source_roots(client, &self.job.project)?;
        Ok(owners.get(&root.name).is_some_and(|pages| *pages > tally.added))
    }

    /// Tells that most pages of this run belonged to another source root, whose other pages nobody deletes any more.
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
            let is_own = |root: &Root| root.name == *name || root.formerly.as_ref() == Some(name);
            let left = after.get(name).copied().unwrap_or(0);
            let moved = pages.saturating_sub(left);
            if moved * 2 <= tally.documents() || self.folders.iter().any(is_own) {
                continue;
            }
            let hint = match left {
                0 => String::new(),
                _ => format!(
                    "; {left} other pages of it stay\nHINT:  If it is the same source: SELECT docsearch.delete_missing({}, {}, \
                     '{{}}');",
                    literal(&self.job.project),
                    literal(name)
                ),
            };
            let now: Vec<&str> = self.folders.iter().map(|root| root.name.as_str()).collect();
            report.warning(
                "",
                format!(
                    "{moved} pages belonged to the source root \"{name}\" until now, and belong to \"{}\"{hint}",
                    now.join("\", \"")
                ),
            );
        }
        Ok(())
    }
}

/// A text as SQL has it.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Notes how many questions of the project were written for sections as they were before.
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

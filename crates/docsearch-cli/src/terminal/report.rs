//! Reports the events of a run: lines and a progress bar for people, JSON for programs.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::fmt::Display;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressState, ProgressStyle};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::terminal::{Tally, sanitize_json, sanitize_line};

/// Maximum number of characters of a source and of a reason.
const MAX_CHARS: usize = 4_000;
/// Maximum number of messages that can be repeated.
pub(crate) const MAX_MESSAGES: usize = 1_000;
/// Minimum time between two progress events.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(500);
/// Without a progress bar, a line of progress is due after this time or number of sources.
const LINE_INTERVAL: Duration = Duration::from_secs(10);
const LINE_SOURCES: u64 = 1_000;

/// The result of a run.
#[derive(Debug)]
pub(crate) struct RunSummary<'a> {
    pub(crate) tally: &'a Tally,
    pub(crate) skipped: u64,
    /// Advice for the user who interrupted the run.
    pub(crate) interrupted: Option<&'static str>,
}

/// A message about a source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Message {
    event: String,
    source: String,
    reason: String,
}

/// The destination of the events of a run.
#[derive(Debug)]
pub(crate) struct Report {
    /// One JSON object per line on standard output.
    is_machine: bool,
    bar: ProgressBar,
    started: Instant,
    last_progress: Cell<Option<Instant>>,
    /// Whether progress is printed as lines: for a log, where there is no bar.
    has_lines: bool,
    last_line: Cell<(Instant, u64)>,
    messages: RefCell<Vec<Message>>,
}

impl Report {
    /// `total`: the number of sources, if known.
    pub(crate) fn new(is_machine: bool, total: Option<u64>) -> Self {
        let report = Self::with_bar(
            is_machine,
            match total {
                _ if is_machine => ProgressBar::hidden(),
                Some(total) => progress_bar(total),
                None => endless_bar(),
            },
        );
        Self {
            has_lines: !is_machine && report.bar.is_hidden(),
            ..report
        }
    }

    /// Only lines on standard error, without progress.
    pub(crate) fn plain() -> Self {
        Self::with_bar(false, ProgressBar::hidden())
    }

    fn with_bar(is_machine: bool, bar: ProgressBar) -> Self {
        Self {
            is_machine,
            bar,
            started: Instant::now(),
            last_progress: Cell::new(None),
            has_lines: false,
            last_line: Cell::new((Instant::now(), 0)),
            messages: RefCell::default(),
        }
    }

    pub(crate) fn skipped(&self, source: &str, reason: impl Display) {
        self.message("skipped", source, None, &reason);
    }

    pub(crate) fn failed(&self, source: &str, reason: impl Display) {
        self.message("failed", source, None, &reason);
    }

    pub(crate) fn warning(&self, source: &str, reason: impl Display) {
        self.message("warning", source, None, &reason);
    }

    /// The messages so far, at most one more than [`MAX_MESSAGES`].
    pub(crate) fn messages(&self) -> Vec<Message> {
        self.messages.borrow().clone()
    }

    /// Repeats messages of an earlier run.
    pub(crate) fn repeat(&self, messages: &[Message]) {
        for Message { event, source, reason } in messages {
            self.message(event, source, None, reason);
        }
    }

    /// Reports a message about a source. `source` is empty for messages about all of them; `from` is the page that
    /// links to it.
    pub(crate) fn message(&self, event: &str, source: &str, from: Option<&str>, reason: &dyn Display) {
        let (source, reason) = (clip(source), reason.to_string());
        let reason = clip(&reason);
        let mut messages = self.messages.borrow_mut();
        // One more shows that some are missing.
        if messages.len() <= MAX_MESSAGES {
            messages.push(Message {
                event: event.to_owned(),
                source: source.as_ref().to_owned(),
                reason: reason.as_ref().to_owned(),
            });
        }
        if self.is_machine {
            let mut fields = json!({"event": event, "source": source, "reason": reason});
            if let Some(from) = from {
                fields["from"] = from.into();
            }
            emit(&fields);
            return;
        }
        let prefix = if source.is_empty() {
            String::new()
        } else {
            format!("{source}: ")
        };
        let origin = from.map_or_else(String::new, |from| format!(" (linked from {from})"));
        let line = sanitize_line(&format!("{event}: {prefix}{reason}{origin}"));
        self.bar.suspend(|| eprintln!("{line}"));
    }

    /// Reports something that is not a problem.
    pub(crate) fn note(&self, text: &str) {
        if self.is_machine {
            emit(&json!({"event": "note", "text": text}));
        } else {
            self.bar.suspend(|| eprintln!("{}", sanitize_line(text)));
        }
    }

    /// Reports progress in reading sources before any is sent. Programs get `fields`.
    pub(crate) fn reading(&self, read: u64, total: Option<u64>, fields: impl FnOnce() -> Value) {
        self.bar.set_message("reading");
        self.advance("reading", read, total, fields);
    }

    /// Reports the number of sources that are done. Programs get `fields`.
    pub(crate) fn progress(&self, done: u64, total: Option<u64>, fields: impl FnOnce() -> Value) {
        self.bar.set_message("");
        self.advance("progress", done, total, fields);
    }

    fn advance(&self, event: &str, done: u64, total: Option<u64>, fields: impl FnOnce() -> Value) {
        self.bar.set_position(done);
        if let Some(total) = total {
            self.bar.set_length(total);
        }
        let label = if event == "reading" { "read" } else { "done" };
        self.line(label, done, total);
        let is_due = self
            .last_progress
            .get()
            .is_none_or(|last| last.elapsed() >= PROGRESS_INTERVAL);
        if self.is_machine && is_due {
            self.last_progress.set(Some(Instant::now()));
            self.emit(event, fields());
        }
    }

    /// Prints a line of progress, if one is due.
    fn line(&self, label: &str, done: u64, total: Option<u64>) {
        let (at, before) = self.last_line.get();
        if self.has_lines && is_line_due(at.elapsed(), before, done) {
            self.last_line.set((Instant::now(), done));
            let of = total.map_or_else(String::new, |total| format!(" of {total}"));
            eprintln!("{label}: {done}{of}, {}", HumanDuration(self.started.elapsed()));
        } else if done < before {
            // Reading and sending are counted separately.
            self.last_line.set((at, 0));
        }
    }

    /// Reports progress of the background worker: embedded documents, documents per second and the time left, if the
    /// database knows them.
    pub(crate) fn waiting(
        &self,
        done: u64,
        total: u64,
        rate: Option<f64>,
        seconds_left: Option<f64>,
        fields: impl FnOnce() -> Value,
    ) {
        self.bar.set_style(waiting_style());
        self.bar.set_message(pace(rate, seconds_left));
        self.bar.set_length(total);
        self.bar.set_position(done);
        self.line("embedded", done, Some(total));
        if self.is_machine {
            self.emit("waiting", fields());
        }
    }

    /// Reports the end of a run: a line for people, counts and `fields` for programs.
    pub(crate) fn done(&self, before: &str, summary: &RunSummary<'_>, fields: Value) {
        self.bar.finish_and_clear();
        if !self.is_machine {
            println!("{before}{}", self.summary(summary));
            if let Some(advice) = summary.interrupted {
                eprintln!("interrupted: {advice}");
            }
            return;
        }
        let mut event = json!(summary.tally);
        event["skipped"] = summary.skipped.into();
        if summary.interrupted.is_some() {
            event["interrupted"] = Value::Bool(true);
        }
        if let (Some(event), Value::Object(fields)) = (event.as_object_mut(), fields) {
            event.extend(fields);
        }
        self.emit("done", event);
    }

    /// Prints an event for programs.
    pub(crate) fn event(&self, event: &Value) {
        emit(event);
    }

    /// Reports the end of a run that changed nothing: a line for people, `event` for programs.
    pub(crate) fn checked(&self, summary: &str, event: &Value) {
        self.bar.finish_and_clear();
        match self.is_machine {
            true => emit(event),
            false => println!("{summary}"),
        }
    }

    fn emit(&self, event: &str, mut fields: Value) {
        fields["event"] = event.into();
        fields["seconds"] = self.seconds().into();
        emit(&fields);
    }

    fn summary(&self, summary: &RunSummary<'_>) -> String {
        let seconds = self.started.elapsed().as_secs_f64();
        let Tally {
            added,
            changed,
            unchanged,
            deleted,
            failed,
        } = summary.tally;
        format!(
            "added {added}, changed {changed}, unchanged {unchanged}, deleted {deleted}, failed {failed}, \
             skipped {} in {seconds:.1} s ({:.1} documents/s)",
            summary.skipped,
            summary.tally.documents() as f64 / seconds.max(1e-9),
        )
    }

    fn seconds(&self) -> f64 {
        (self.started.elapsed().as_secs_f64() * 1000.0).round() / 1000.0
    }
}

/// Cuts texts of pages and servers, which may have any length.
fn clip(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

/// Prints an event. A closed pipe does not stop the run.
fn emit(event: &Value) {
    let mut output = std::io::stdout().lock();
    let line = match output.is_terminal() {
        true => sanitize_json(&event.to_string()),
        false => event.to_string(),
    };
    writeln!(output, "{line}").and_then(|()| output.flush()).ok();
}

/// Whether a line of progress is due: `since` the last one, with `before` sources then and `done` now.
fn is_line_due(since: Duration, before: u64, done: u64) -> bool {
    since >= LINE_INTERVAL || done >= before + LINE_SOURCES
}

/// A progress bar on standard error, hidden if that is not a terminal.
pub(crate) fn progress_bar(length: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:32} {human_pos}/{human_len} {pace} {eta} left {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(length).with_style(style.with_key("pace", write_pace))
}

/// Shows that work of unknown length goes on.
pub(crate) fn spinner(message: &str) -> ProgressBar {
    let spinner = ProgressBar::new_spinner().with_message(message.to_owned());
    spinner.enable_steady_tick(Duration::from_millis(100));
    spinner
}

/// Writes `12.3/s`; the library would write four decimals.
fn write_pace(state: &ProgressState, output: &mut dyn std::fmt::Write) {
    // A failure only hides the pace.
    let _ = write!(output, "{:.1}/s", state.per_sec());
}

fn waiting_style() -> ProgressStyle {
    ProgressStyle::with_template("{bar:32} {pos}/{len} embedded {msg}").unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// `12.3/s 40s left`, without unknown parts.
fn pace(rate: Option<f64>, seconds_left: Option<f64>) -> String {
    let rate = rate.map(|rate| format!("{rate:.1}/s"));
    let left = seconds_left
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .map(|left| format!("{:#} left", HumanDuration(left)));
    rate.into_iter().chain(left).collect::<Vec<_>>().join(" ")
}

fn endless_bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {human_pos} {pace} {elapsed}")
        .unwrap_or_else(|_| ProgressStyle::default_spinner());
    ProgressBar::no_length().with_style(style.with_key("pace", write_pace))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_has_lines_of_progress() {
        let seconds = Duration::from_secs;
        assert!(!is_line_due(seconds(9), 0, 999));
        assert!(is_line_due(seconds(10), 0, 0));
        assert!(is_line_due(seconds(0), 0, 1_000));
        assert!(!is_line_due(seconds(0), 1_000, 1_999));
        // Sending counts from zero.
        assert!(!is_line_due(seconds(0), 3_000, 5));
    }

    #[test]
    fn a_long_reason_is_cut() {
        assert_eq!(clip("é"), "é");
        assert_eq!(clip(&"é".repeat(5_000)), "é".repeat(MAX_CHARS) + "…");
    }

    #[test]
    fn the_pace_has_only_known_parts() {
        assert_eq!(pace(Some(12.34), Some(40.2)), "12.3/s 40s left");
        assert_eq!(pace(Some(2.0), None), "2.0/s");
        assert_eq!(pace(None, None), "");
    }
}

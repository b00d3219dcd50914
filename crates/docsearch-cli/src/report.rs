//! What a run tells: lines and a bar for people, JSON for programs.

use std::cell::Cell;
use std::io::Write;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};

use crate::project::Tally;

/// Between two progress events.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(500);

/// Where the events of a run go.
pub(crate) struct Report {
    /// One JSON object per line on standard output.
    is_machine: bool,
    total: Option<u64>,
    bar: ProgressBar,
    started: Instant,
    last_progress: Cell<Option<Instant>>,
}

impl Report {
    /// `total`: how many sources there are, where that is known.
    pub(crate) fn new(is_machine: bool, total: Option<u64>) -> Self {
        let bar = match total {
            _ if is_machine => ProgressBar::hidden(),
            Some(total) => progress_bar(total),
            None => endless_bar(),
        };
        Self {
            is_machine,
            total,
            bar,
            started: Instant::now(),
            last_progress: Cell::new(None),
        }
    }

    /// Nothing but lines on standard error.
    pub(crate) fn plain() -> Self {
        Self {
            is_machine: false,
            total: None,
            bar: ProgressBar::hidden(),
            started: Instant::now(),
            last_progress: Cell::new(None),
        }
    }

    pub(crate) fn skipped(&self, place: &str, reason: &str) {
        self.tell("skipped", place, reason);
    }

    pub(crate) fn failed(&self, place: &str, reason: &str) {
        self.tell("failed", place, reason);
    }

    pub(crate) fn warning(&self, place: &str, reason: &str) {
        self.tell("warning", place, reason);
    }

    fn tell(&self, event: &str, place: &str, reason: &str) {
        if self.is_machine {
            emit(&json!({"event": event, "source": place, "reason": reason}));
        } else if place.is_empty() {
            self.bar.suspend(|| eprintln!("{event}: {reason}"));
        } else {
            self.bar.suspend(|| eprintln!("{event}: {place}: {reason}"));
        }
    }

    /// Something to know that is no problem.
    pub(crate) fn note(&self, text: &str) {
        if self.is_machine {
            emit(&json!({"event": "note", "text": text}));
        } else {
            self.bar.suspend(|| eprintln!("{text}"));
        }
    }

    /// After every source: how many are done, and how many documents are in.
    pub(crate) fn progress(&self, sources: u64, documents: u64) {
        self.bar.set_position(sources);
        let now = Instant::now();
        let is_due = self
            .last_progress
            .get()
            .is_none_or(|last| now.duration_since(last) >= PROGRESS_INTERVAL);
        if self.is_machine && is_due {
            self.last_progress.set(Some(now));
            let seconds = self.seconds();
            emit(
                &json!({"event": "progress", "sources": sources, "total": self.total, "documents": documents, "seconds": seconds}),
            );
        }
    }

    /// The end of the run.
    pub(crate) fn done(&self, tally: &Tally, skipped: usize, left_out: usize, is_interrupted: bool) {
        self.bar.finish_and_clear();
        if self.is_machine {
            let mut event = json!({
                "event": "done", "added": tally.added, "changed": tally.changed, "unchanged": tally.unchanged,
                "deleted": tally.deleted, "failed": tally.failed, "skipped": skipped, "left_out": left_out,
                "seconds": self.seconds(),
            });
            if is_interrupted {
                event["interrupted"] = Value::Bool(true);
            }
            emit(&event);
            return;
        }
        println!("{}", summary(tally, skipped, self.started.elapsed()));
        if is_interrupted {
            eprintln!("interrupted: whole batches are in, nothing is half done; run it again to go on");
        }
    }

    fn seconds(&self) -> f64 {
        (self.started.elapsed().as_secs_f64() * 1000.0).round() / 1000.0
    }
}

/// A reader who has gone is no reason to stop indexing.
pub(crate) fn emit(event: &Value) {
    let mut output = std::io::stdout().lock();
    writeln!(output, "{event}").and_then(|()| output.flush()).ok();
}

/// A bar on standard error; nothing where that is not a terminal.
pub(crate) fn progress_bar(length: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:32} {pos}/{len} {per_sec} {eta} left {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(length).with_style(style)
}

fn endless_bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {pos} {per_sec} {elapsed}")
        .unwrap_or_else(|_| ProgressStyle::default_spinner());
    ProgressBar::no_length().with_style(style)
}

pub(crate) fn summary(tally: &Tally, skipped: usize, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64();
    format!(
        "added {}, changed {}, unchanged {}, deleted {}, failed {}, skipped {skipped} in {seconds:.1} s ({:.1} documents/s)",
        tally.added,
        tally.changed,
        tally.unchanged,
        tally.deleted,
        tally.failed,
        tally.documents() as f64 / seconds.max(1e-9),
    )
}

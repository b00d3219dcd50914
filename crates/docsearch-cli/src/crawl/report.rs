//! What a crawl tells while it runs: lines and a bar for people, JSON for programs.

use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use serde_json::{Value, json};

use super::crawler::{Counts, Problem};
use super::frontier::Visit;
use crate::report::{emit, progress_bar};

const INTERVAL: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub(crate) enum Report {
    Human(ProgressBar),
    Json { last_progress: Option<Instant> },
}

impl Report {
    pub(crate) fn new(json: bool) -> Self {
        if json {
            Self::Json { last_progress: None }
        } else {
            Self::Human(progress_bar(0))
        }
    }

    pub(crate) fn progress(&mut self, counts: &Counts) {
        match self {
            Self::Human(bar) => {
                bar.set_length(counts.visited + counts.waiting);
                bar.set_position(counts.visited);
            }
            Self::Json { last_progress } => {
                if last_progress.is_none_or(|last| last.elapsed() >= INTERVAL) {
                    *last_progress = Some(Instant::now());
                    event("progress", json!(counts));
                }
            }
        }
    }

    pub(crate) fn problem(&self, visit: &Visit, problem: &Problem) {
        match problem {
            Problem::Skipped(omission) => self.tell("skipped", visit.url.as_str(), visit.from.as_ref(), omission),
            Problem::Failed(failure) => self.tell("failed", visit.url.as_str(), visit.from.as_ref(), failure),
        }
    }

    /// Tells what happened to an address, and whose link led there.
    pub(crate) fn tell(&self, event: &str, address: &str, from: Option<&url::Url>, reason: &dyn std::fmt::Display) {
        match self {
            Self::Human(_) => {
                let origin = from.map_or_else(String::new, |page| format!(" (linked from {page})"));
                self.say(&format!("{event}: {address}: {reason}{origin}"));
            }
            Self::Json { .. } => self::event(
                event,
                json!({ "url": address, "reason": reason.to_string(), "from": from.map(url::Url::as_str) }),
            ),
        }
    }

    /// Says something to people, beside the bar.
    pub(crate) fn say(&self, line: &str) {
        match self {
            Self::Human(bar) => bar.suspend(|| eprintln!("{line}")),
            Self::Json { .. } => eprintln!("{line}"),
        }
    }

    /// The last word.
    pub(crate) fn done(&self, line: &str, fields: Value) {
        match self {
            Self::Human(bar) => {
                bar.finish_and_clear();
                println!("{line}");
            }
            Self::Json { .. } => event("done", fields),
        }
    }
}

fn event(name: &str, mut fields: Value) {
    fields["event"] = name.into();
    emit(&fields);
}

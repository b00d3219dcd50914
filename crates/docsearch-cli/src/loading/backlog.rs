//! What a run leaves to the background worker of the database, and waiting for it.

use std::time::Duration;

use postgres::Client;
use serde_json::{Value, json};

use crate::process::error::Error;
use crate::process::interrupt::Interrupt;
use crate::terminal::report::Report;

/// Poll interval.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Shown to a user who interrupts the waiting.
pub(crate) const FOLLOWING: &str = "every document is stored; vectors follow in the background";

/// Whether a run waits for the background worker.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct WaitArgs {
    /// Wait until all documents have their vectors
    #[arg(long, conflicts_with = "dry_run")]
    wait: bool,
}

/// Documents of a project without all their vectors.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    waiting: i64,
    waiting_chunks: i64,
    /// Documents that the worker could not embed.
    failed: i64,
    rate: Option<f64>,
    seconds_left: Option<f64>,
    last_error: Option<String>,
    pub(crate) is_interrupted: bool,
}

impl Backlog {
    /// The remaining documents, or with `--wait` those that could not be embedded. Does not query a database without
    /// background indexing.
    pub(crate) fn settle(
        client: &mut Client,
        project: &str,
        args: WaitArgs,
        interrupt: &Interrupt,
        report: &Report,
    ) -> Result<Self, Error> {
        if args.wait {
            return Self::wait(client, project, interrupt, report);
        }
        if !is_deferred(client)? {
            return Ok(Self::default());
        }
        let backlog = Self::read(client, project)?;
        if backlog.waiting > 0 {
            report.note(&format!(
                "{} documents with {} chunks wait for their vectors; keyword search finds them already (--wait waits)",
                backlog.waiting, backlog.waiting_chunks
            ));
        }
        Ok(backlog)
    }

    fn wait(client: &mut Client, project: &str, interrupt: &Interrupt, report: &Report) -> Result<Self, Error> {
        let mut backlog = Self::read(client, project)?;
        let all = backlog.waiting;
        let mut reported = None;
        while backlog.waiting > 0 {
            if backlog.last_error.is_some() && backlog.last_error != reported {
                reported.clone_from(&backlog.last_error);
                report.warning("", reported.as_deref().unwrap_or_default());
            }
            let done = u64::try_from(all - backlog.waiting).unwrap_or(0);
            let total = done + backlog.waiting.unsigned_abs();
            report.waiting(done, total, backlog.rate, backlog.seconds_left, || backlog.fields());
            if !interrupt.sleep(POLL_INTERVAL) {
                backlog.is_interrupted = true;
                return Ok(backlog);
            }
            backlog = Self::read(client, project)?;
        }
        if backlog.failed > 0 {
            let reason = backlog.last_error.as_deref().unwrap_or("unknown reason");
            report.failed(
                "",
                format!("{} documents could not be embedded: {reason}", backlog.failed),
            );
        }
        Ok(backlog)
    }

    fn read(client: &mut Client, project: &str) -> Result<Self, Error> {
        let row = client.query_one(
            "SELECT waiting, waiting_chunks, failed, rate, extract(epoch FROM time_left)::float8 AS seconds_left, last_error
             FROM docsearch.index_progress($1)",
            &[&project],
        )?;
        Ok(Self {
            waiting: row.get("waiting"),
            waiting_chunks: row.get("waiting_chunks"),
            failed: row.get("failed"),
            rate: row.get("rate"),
            seconds_left: row.get("seconds_left"),
            last_error: row.get("last_error"),
            is_interrupted: false,
        })
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.failed > 0
    }

    /// The counts, for JSON output.
    pub(crate) fn fields(&self) -> Value {
        json!({
            "waiting": self.waiting, "waiting_chunks": self.waiting_chunks, "not_embedded": self.failed,
            "rate": self.rate, "seconds_left": self.seconds_left,
        })
    }
}

/// Whether documents get their vectors in the background.
fn is_deferred(client: &mut Client) -> Result<bool, Error> {
    let row = client.query_one(
        "SELECT current_setting('docsearch.index_mode', true) IS NOT DISTINCT FROM 'deferred'",
        &[],
    )?;
    Ok(row.get(0))
}

//! `docsearch status`: shows the status of inference and indexing.

use clap::Args;
use serde_json::Value;

use crate::commands::output::{ContentKind, OutputArgs};
use crate::commands::request::with_library;
use crate::connection::ConnectionArgs;
use crate::library::OutputFormat;
use crate::process::error::Error;
use crate::process::outcome::Outcome;
use crate::terminal::table::table;

const AFTER_HELP: &str = "\
Examples:
  docsearch status
  docsearch status --format json | jq .inference.state

Exit codes:
  0  the database is reachable and has the extension
  2  usage error, no connection, or a database error";

/// Show the status of inference and indexing
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    output: OutputArgs,
}

pub(crate) fn run(args: &StatusArgs, connection: &ConnectionArgs) -> Result<Outcome, Error> {
    let status = with_library(connection, async |library| library.status().await)?;
    match args.output.format {
        OutputFormat::Json => args.output.print(&status.to_string(), ContentKind::Json)?,
        OutputFormat::Compact => args.output.print(
            &text(&status, &["project", "done", "waiting", "failed"]),
            ContentKind::Answer,
        )?,
        OutputFormat::Detailed => {
            let columns = [
                "project",
                "done",
                "waiting",
                "failed",
                "unread",
                "rate",
                "time_left",
                "switching_to",
                "questions",
                "questions_stale",
                "last_error",
            ];
            args.output.print(&text(&status, &columns), ContentKind::Answer)?;
        }
    }
    Ok(Outcome::Complete)
}

fn text(status: &Value, columns: &[&str]) -> String {
    let word = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut text = format!(
        "server: PostgreSQL {}, database {}, role {}\nextension: pg_docsearch {}\n",
        word(&status["server"]),
        word(&status["database"]),
        word(&status["role"]),
        word(&status["extension"])
    );
    let inference = &status["inference"];
    text.push_str(&format!("inference: {}", word(&inference["state"])));
    if let Some(bytes) = inference["resident_bytes"].as_u64() {
        text.push_str(&format!(", {} MB", bytes / 1_000_000));
    }
    for (name, unit) in [
        ("requests", ""),
        ("queue_depth", ""),
        ("p50_ms", " ms"),
        ("p95_ms", " ms"),
    ] {
        if let Some(value) = inference[name].as_f64() {
            let value = (value * 10.0).round() / 10.0;
            text.push_str(&format!(
                ", {} {value}{unit}",
                name.trim_end_matches("_ms").replace('_', " ")
            ));
        }
    }
    if let Some(error) = inference["last_error"].as_str() {
        text.push_str(&format!("\nlast error: {error}"));
    }
    text.push('\n');
    let projects = status["projects"].as_array().map(Vec::as_slice).unwrap_or_default();
    match projects {
        [] => text.push_str("projects: none yet\n"),
        projects => text.push_str(&format!("\n{}", table(projects, columns))),
    }
    text
}

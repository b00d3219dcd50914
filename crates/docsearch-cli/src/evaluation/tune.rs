//! `docsearch tune`: better weights by the documents of a project, with the evidence.

use std::time::{Duration, Instant};

use clap::Args;
use postgres::{Client, Row};
use serde_json::Value;

use crate::connection::ConnectionArgs;
use crate::process::error::Error;
use crate::process::interrupt::Interrupt;
use crate::process::outcome::Outcome;
use crate::terminal;
use crate::terminal::report::spinner;
use crate::terminal::table::aligned;

const AFTER_HELP: &str = "\
Examples:
  docsearch tune --project handbook
  docsearch tune --project handbook --time-limit 1h --no-wait
  docsearch tune --project handbook --show
  docsearch tune --project handbook --rollback

The server searches better weights by the documents themselves, in the background. It changes the
project only if they win on pages that the search has not seen, and lose nowhere.

Exit codes:
  0    the weights are accepted; --no-wait, --rollback: success
  1    the weights of the project stay; the tuning failed; --show: there is none
  2    usage error, no connection, or a database error
  130  interrupted; the tuning goes on in the background";

/// How often the server is asked whether a tuning has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Tune the weights of a project on its own documents
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct TuneArgs {
    /// Project
    #[arg(long, short, value_name = "NAME")]
    project: String,
    /// How long the tuning may take, such as 30min or 1h [default: 10 minutes]
    #[arg(long, value_name = "SPAN")]
    time_limit: Option<String>,
    /// Do not wait for the end
    #[arg(long)]
    no_wait: bool,
    /// Print the last tuning
    #[arg(long, conflicts_with_all = ["time_limit", "no_wait", "rollback"])]
    show: bool,
    /// Take back what the last tuning changed
    #[arg(long, conflicts_with_all = ["time_limit", "no_wait"])]
    rollback: bool,
}

/// A row of `docsearch.tuning`.
struct Tuning {
    number: i64,
    status: String,
    has_ended: bool,
    evidence: Value,
    problem: Option<String>,
}

impl Tuning {
    fn of(row: &Row) -> Self {
        Self {
            number: row.get(0),
            status: row.get(1),
            has_ended: row.get(2),
            evidence: row.get(3),
            problem: row.get(4),
        }
    }

    fn outcome(&self) -> Outcome {
        match self.status.as_str() {
            "refused" | "failed" => Outcome::Different,
            _ => Outcome::Complete,
        }
    }

    /// The result and its evidence, for a terminal.
    fn text(&self) -> String {
        let mut text = format!("tuning {}: {}\n", self.number, self.status);
        if let Some(problem) = &self.problem {
            text.push_str(&format!("problem: {problem}\n"));
        }
        for reason in array(&self.evidence["reasons"]) {
            text.push_str(&format!("reason: {}\n", reason.as_str().unwrap_or_default()));
        }
        let settings = self.evidence["settings"].as_object().into_iter().flatten();
        for (name, value) in settings {
            text.push_str(&format!("found: {name} = {value}\n"));
        }
        let tables = [differences(&self.evidence), guards(&self.evidence)];
        for table in tables.into_iter().filter(|table| table.len() > 1) {
            text.push_str(&format!("\n{}\n", aligned(&table)));
        }
        let calibration = &self.evidence["calibration"];
        if let (Some(before), Some(after)) = (
            calibration["error_of_score"].as_f64(),
            calibration["error_of_probability"].as_f64(),
        ) {
            text.push_str(&format!(
                "\ncalibration error: {before:.3} by the score, {after:.3} by the probability\n"
            ));
        }
        if let (Some(seconds), Some(tried)) = (self.evidence["seconds"].as_f64(), self.evidence["tried"].as_u64()) {
            text.push_str(&format!("\n{tried} settings tried in {seconds:.0} s\n"));
        }
        text
    }
}

/// Means on the pages that the search has not seen: overall, by kind of query, and by class.
fn differences(evidence: &Value) -> Vec<Vec<String>> {
    let header = [
        "held-out queries",
        "",
        "before",
        "after",
        "difference",
        "95 % interval",
        "",
    ];
    let mut table = vec![header.map(str::to_owned).to_vec()];
    let kinds = array(&evidence["groups"]).map(|one| ("kind ", one));
    let classes = array(&evidence["classes"]).map(|one| ("class ", one));
    let overall = evidence["overall"].is_object().then_some(("", &evidence["overall"]));
    for (prefix, one) in overall.into_iter().chain(kinds).chain(classes) {
        let number = |key: &str| one[key].as_f64().unwrap_or_default();
        let bound = |place: usize| one["interval"][place].as_f64().unwrap_or_default();
        let (low, high) = (bound(0), bound(1));
        table.push(vec![
            format!("{prefix}{}", one["name"].as_str().unwrap_or_default()),
            one["queries"].to_string(),
            format!("{:.4}", number("before")),
            format!("{:.4}", number("after")),
            format!("{:+.4}", number("difference")),
            format!("{low:+.4} to {high:+.4}"),
            if low > 0.0 || high < 0.0 { "*" } else { "" }.to_owned(),
        ]);
    }
    table
}

/// Right answers to queries that may not be answered worse.
fn guards(evidence: &Value) -> Vec<Vec<String>> {
    let header = ["right answers", "queries", "before", "after"];
    let mut table = vec![header.map(str::to_owned).to_vec()];
    table.extend(array(&evidence["guards"]).map(|one| {
        vec![
            one["name"].as_str().unwrap_or_default().to_owned(),
            one["queries"].to_string(),
            one["before"].to_string(),
            one["after"].to_string(),
        ]
    }));
    table
}

fn array(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

pub(crate) fn run(args: &TuneArgs, connection: &ConnectionArgs) -> Result<Outcome, Error> {
    let mut client = connection.connect()?;
    if args.rollback {
        let row = client.query_one("SELECT docsearch.rollback_tuning($1)", &[&args.project])?;
        println!(
            "tuning {} of project {} is taken back",
            row.get::<_, i64>(0),
            args.project
        );
        return Ok(Outcome::Complete);
    }
    if args.show {
        let found = client.query_opt(
            "SELECT t.id, t.status, t.finished_at IS NOT NULL, t.evidence, t.problem
             FROM docsearch.tuning t JOIN docsearch.project p ON p.id = t.project_id
             WHERE p.name = $1 ORDER BY t.id DESC LIMIT 1",
            &[&args.project],
        )?;
        return Ok(match found.as_ref().map(Tuning::of) {
            Some(tuning) => {
                terminal::print(&tuning.text())?;
                Outcome::Complete
            }
            None => {
                eprintln!("docsearch: project {} was not tuned", args.project);
                Outcome::Nothing
            }
        });
    }
    let number: i64 = match &args.time_limit {
        Some(limit) => client.query_one(
            "SELECT docsearch.tune($1, $2::text::interval)",
            &[&args.project, &limit],
        )?,
        None => client.query_one("SELECT docsearch.tune($1)", &[&args.project])?,
    }
    .get(0);
    if args.no_wait {
        println!(
            "tuning {number} runs in the background: docsearch tune --project {} --show",
            args.project
        );
        return Ok(Outcome::Complete);
    }
    let Some(tuning) = wait(&mut client, number)? else {
        eprintln!("docsearch: tuning {number} goes on in the background; --show prints it");
        return Ok(Outcome::Interrupted);
    };
    terminal::print(&tuning.text())?;
    Ok(tuning.outcome())
}

/// The tuning when it has ended; `None` if the user interrupts the waiting.
fn wait(client: &mut Client, number: i64) -> Result<Option<Tuning>, Error> {
    let interrupt = Interrupt::watch()?;
    let spinner = spinner(&format!("tuning {number}"));
    let started = Instant::now();
    loop {
        let row = client.query_opt(
            "SELECT t.id, t.status, t.finished_at IS NOT NULL, t.evidence, t.problem FROM docsearch.tuning t WHERE t.id = $1",
            &[&number],
        )?;
        let tuning = row
            .as_ref()
            .map(Tuning::of)
            .ok_or_else(|| Error::Usage(format!("tuning {number} was deleted")))?;
        if tuning.has_ended {
            spinner.finish_and_clear();
            return Ok(Some(tuning));
        }
        spinner.set_message(format!(
            "tuning {number}: {} for {} s",
            tuning.status,
            started.elapsed().as_secs()
        ));
        if !interrupt.sleep(POLL_INTERVAL) {
            spinner.finish_and_clear();
            return Ok(None);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tuning(status: &str, evidence: Value) -> Tuning {
        Tuning {
            number: 3,
            status: status.to_owned(),
            has_ended: true,
            evidence,
            problem: None,
        }
    }

    #[test]
    fn the_evidence_is_a_table() {
        let of = |name: &str, low: f64| json!({"name": name, "queries": 40, "before": 0.5, "after": 0.6, "difference": 0.1, "interval": [low, 0.2]});
        let evidence = json!({
            "settings": {"title_boost": 2.5}, "tried": 31, "seconds": 61.4, "reasons": [],
            "overall": of("overall", 0.05), "groups": [of("heading", -0.01)], "classes": [of("question", 0.01)],
            "guards": [{"name": "names", "queries": 20, "before": 18, "after": 19}],
            "calibration": {"error_of_score": 0.2, "error_of_probability": 0.04},
        });
        let text = tuning("accepted", evidence).text();
        let cells: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(cells[0], ["tuning", "3:", "accepted"]);
        assert_eq!(cells[1], ["found:", "title_boost", "=", "2.5"]);
        assert_eq!(
            cells[4],
            [
                "overall", "40", "0.5000", "0.6000", "+0.1000", "+0.0500", "to", "+0.2000", "*"
            ]
        );
        assert_eq!(
            cells[5],
            [
                "kind", "heading", "40", "0.5000", "0.6000", "+0.1000", "-0.0100", "to", "+0.2000"
            ]
        );
        assert!(
            text.contains("calibration error: 0.200 by the score, 0.040 by the probability"),
            "{text}"
        );
        assert!(text.ends_with("31 settings tried in 61 s\n"), "{text}");
    }

    #[test]
    fn refusals_and_failures_have_a_code() {
        let refused = tuning("refused", json!({"reasons": ["names fell"]}));
        assert_eq!(refused.text(), "tuning 3: refused\nreason: names fell\n");
        assert_eq!(refused.outcome(), Outcome::Different);
        assert_eq!(tuning("accepted", json!({})).outcome(), Outcome::Complete);
    }
}

//! `docsearch explain`: explains the score of a document.

use clap::Args;
use serde_json::{Value, json};

use crate::commands::output::{ContentKind, OutputArgs};
use crate::commands::request::{ScopeArgs, WordingArgs, with_library};
use crate::connection::ConnectionArgs;
use crate::library::{OutputFormat, SearchRequest};
use crate::process::error::Error;
use crate::process::outcome::Outcome;
use crate::terminal::table::table;

const AFTER_HELP: &str = "\
Examples:
  docsearch explain 'button in swiftui' swiftui/button
  docsearch explain 'sent again' guides/retry --project handbook --format detailed
  docsearch explain 'notice that the browser went away before the answer was ready' requests/abort \\
    --also 'detecting when clients abort'

The last value of `after` is the score of the document in a search. Steps named `retriever` show
what each retriever found; they do not change the score. With --also, a second table shows for each
wording its share of the score, the score of the document for that wording alone, and what it adds.

Exit codes:
  0  the document was found
  1  there is no such document or project
  2  usage error, no connection, or a database error";

/// Characters of a wording in the table of steps.
const MATCHED_CHARS: usize = 60;

/// Explain the score of a document for a query
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ExplainArgs {
    /// The query, as one argument
    #[arg(value_name = "QUERY")]
    query: String,
    /// The slug of the document
    #[arg(value_name = "SLUG")]
    slug: String,
    #[command(flatten)]
    scope: ScopeArgs,
    #[command(flatten)]
    wording: WordingArgs,
    #[command(flatten)]
    output: OutputArgs,
}

pub(crate) fn run(args: &ExplainArgs, connection: &ConnectionArgs) -> Result<Outcome, Error> {
    let request = SearchRequest {
        query: args.query.clone(),
        also: args.wording.also.clone(),
        projects: args.scope.project.clone(),
        category: args.scope.category.clone(),
        filter: args.scope.filter.clone(),
        config: args.scope.config.clone(),
        ..SearchRequest::default()
    };
    let steps = with_library(connection, async |library| library.explain(&request, &args.slug).await)?;
    let columns: &[&str] = match args.output.format {
        OutputFormat::Json => {
            args.output.print(&Value::Array(steps).to_string(), ContentKind::Json)?;
            return Ok(Outcome::Complete);
        }
        OutputFormat::Detailed => &[
            "step",
            "rule",
            "matched",
            "raw",
            "weight",
            "before",
            "after",
            "contribution",
        ],
        OutputFormat::Compact => &["step", "rule", "matched", "before", "after"],
    };
    args.output
        .print(&text(&request.query, &steps, columns), ContentKind::Table)?;
    Ok(Outcome::Complete)
}

/// The table of steps, followed by one of the wordings, if there are several.
fn text(query: &str, steps: &[Value], columns: &[&str]) -> String {
    let is_wording = |step: &Value| step["step"] == "wording";
    let short = steps.iter().cloned().map(|mut step| {
        if let (true, Some(wording)) = (is_wording(&step), step["matched"].as_str()) {
            step["matched"] = beginning(wording).into();
        }
        step
    });
    let steps_table = table(&short.collect::<Vec<Value>>(), columns);
    let also = steps.iter().filter(|step| is_wording(step));
    let wordings = wordings(query, &also.collect::<Vec<&Value>>());
    if wordings.is_empty() {
        return steps_table;
    }
    format!(
        "{steps_table}\n{}",
        table(&wordings, &["share", "score", "adds", "wording"])
    )
}

/// The question and each further wording: its share of the score, the score of the document for it alone, what it adds.
fn wordings(query: &str, steps: &[&Value]) -> Vec<Value> {
    let number = |step: &Value, key: &str| step[key].as_f64().unwrap_or_default();
    let sum = |key: &str, of: &dyn Fn(&Value) -> bool| -> f64 {
        let own = steps.iter().filter(|step| of(step));
        // The sum of nothing is -0.0.
        0.0 + own.map(|step| number(step, key)).sum::<f64>()
    };
    let is_also = |step: &Value| step["rule"] == "also";
    let also: Vec<&&Value> = steps.iter().filter(|step| is_also(step)).collect();
    let question = also.first().map(|first| {
        json!({
            "share": 1.0 - sum("weight", &is_also),
            "score": number(first, "before"),
            // The part of an exact name in the question itself.
            "adds": sum("contribution", &|step| also.iter().all(|also| also["matched"] != step["matched"])),
            "wording": query,
        })
    });
    let further = also.iter().map(|step| {
        json!({
            "share": number(step, "weight"),
            "score": number(step, "raw"),
            "adds": sum("contribution", &|other| other["matched"] == step["matched"]),
            "wording": step["matched"],
        })
    });
    question.into_iter().chain(further).collect()
}

/// The beginning of a wording.
fn beginning(wording: &str) -> String {
    match wording.char_indices().nth(MATCHED_CHARS) {
        Some((end, _)) => format!("{}…", &wording[..end]),
        None => wording.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(rule: &str, matched: &str, numbers: [f64; 4]) -> Value {
        let [raw, weight, before, after] = numbers;
        let step = if rule == "dense" { "base" } else { "wording" };
        json!({"step": step, "rule": rule, "matched": matched, "raw": raw, "weight": weight, "before": before,
               "after": after, "contribution": after - before})
    }

    #[test]
    fn each_wording_has_its_share_its_score_and_what_it_adds() {
        let columns = ["step", "rule", "before", "after"];
        let own = step("dense", "", [0.2, 1.0, 0.0, 0.2]);
        assert!(!text("how", std::slice::from_ref(&own), &columns).contains("share"));
        let long = "x".repeat(500);
        let steps = [
            own,
            step("also", "abort", [0.6, 0.25, 0.2, 0.3]),
            step("also", &long, [0.9, 0.25, 0.3, 0.5]),
            step("named", "abort", [0.95, 0.25, 0.5, 0.75]),
        ];
        let shown = text("how", &steps, &["step", "matched", "after"]);
        let wordings: Vec<Vec<&str>> = shown
            .lines()
            .skip(6)
            .map(|line| line.split_whitespace().collect())
            .collect();
        assert_eq!(
            wordings,
            [
                ["share", "score", "adds", "wording"],
                ["0.5000", "0.2000", "0.0000", "how"],
                ["0.2500", "0.6000", "0.3500", "abort"],
                ["0.2500", "0.9000", "0.2000", &long],
            ]
        );
        assert!(shown.lines().take(5).all(|line| line.chars().count() < 100), "{shown}");
    }

    #[test]
    fn an_exact_name_in_the_question_adds_to_the_question() {
        let steps = [
            step("also", "abort", [0.2, 0.5, 0.6, 0.4]),
            step("named", "how", [0.95, 0.5, 0.4, 0.9]),
        ];
        let found = wordings("how", &steps.iter().collect::<Vec<_>>());
        let adds: Vec<f64> = found.iter().filter_map(|wording| wording["adds"].as_f64()).collect();
        assert!((adds[0] - 0.5).abs() < 1e-9 && (adds[1] + 0.2).abs() < 1e-9, "{adds:?}");
    }
}

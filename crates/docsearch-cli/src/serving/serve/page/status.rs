//! How the server works, for roles that may see it: indexing, models, sizes, and what readers look for.

use maud::{Markup, html};
use serde_json::Value;
use url::form_urlencoded;

use super::plot::{self, Bar};
use crate::library::{DailySearches, Library, LogStatus, OperationRights, ReportFunction, ReportScope};
use crate::process::error::Error;

/// Reports of the overview, which take milliseconds. Others are pages of their own.
const OVERVIEW: [&str; 2] = ["unanswered_queries", "top_queries"];
const LATENCY: &str = "search_latency";
const OVERVIEW_ROWS: i64 = 10;
const REPORT_ROWS: i64 = 50;
const BYTES_PER_MB: f64 = 1_000_000.0;

/// What of it is shown.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum View {
    #[default]
    Overview,
    Report(String),
    /// The result of `docsearch.check()`, which reads every section.
    Check,
}

impl View {
    pub(super) fn of(query: Option<&str>) -> Self {
        let mut view = Self::default();
        for (name, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            match (&*name, &*value) {
                ("report", name) if !name.is_empty() => view = Self::Report(name.to_owned()),
                ("check", "true") => view = Self::Check,
                _ => {}
            }
        }
        view
    }
}

pub(super) async fn content(library: &Library, rights: OperationRights, view: &View) -> Result<Markup, Error> {
    let content = match view {
        View::Check if rights.checks => problems(&library.problems().await?),
        View::Report(name) if rights.log => match library.reports().await?.iter().find(|report| report.name == *name) {
            Some(function) => report(function, &rows(library, function, REPORT_ROWS).await?),
            None => overview(library, rights).await?,
        },
        _ => overview(library, rights).await?,
    };
    Ok(html! {
        div.operation {
            h1 { "Status" }
            @if *view != View::Overview { p.links { a href="/status" { "All of the status" } } }
            (content)
        }
    })
}

async fn overview(library: &Library, rights: OperationRights) -> Result<Markup, Error> {
    let status = library.status().await?;
    let sizes = match rights.checks {
        true => library.table_sizes().await?,
        false => Vec::new(),
    };
    let log = match rights.log {
        true => Some(log(library).await?),
        false => None,
    };
    Ok(html! {
        (server(&status))
        (indexing(status["projects"].as_array().map_or(&[], Vec::as_slice)))
        @if !sizes.is_empty() { (table_sizes(&sizes)) }
        @if rights.checks {
            section aria-label="Checks" {
                h2 { "Checks" }
                p { a href="/status?check=true" { "Check the tables, the indexes and the models" } ". This reads every section." }
            }
        }
        @if let Some(log) = log { (log) }
    })
}

/// What readers look for.
async fn log(library: &Library) -> Result<Markup, Error> {
    let status = library.log_status(None).await?;
    if !status.has_calls {
        return Ok(empty_log(&status));
    }
    let functions = library.reports().await?;
    let daily = library.daily_searches().await?;
    let named = |name: &str| functions.iter().find(|function| function.name == name);
    let latency = match named(LATENCY) {
        Some(function) => rows(library, function, OVERVIEW_ROWS).await?,
        None => Vec::new(),
    };
    let mut reports = Vec::new();
    for function in OVERVIEW.into_iter().filter_map(named) {
        reports.push(report(function, &rows(library, function, OVERVIEW_ROWS).await?));
    }
    Ok(html! {
        section aria-label="Searches" {
            h2 { "Searches of the last 30 days" }
            (searches(&daily))
            @if !latency.is_empty() { (latencies(&latency)) }
        }
        @for report in &reports { (report) }
        nav aria-label="Reports" {
            h2 { "Reports" }
            ul.reports {
                @for function in &functions {
                    li { a href={ "/status?report=" (function.name) } { (spaced(&function.name)) } " " span.hint { (first_sentence(&function.description)) } }
                }
            }
        }
    })
}

fn empty_log(status: &LogStatus) -> Markup {
    html! {
        section aria-label="Searches" {
            h2 { "Searches" }
            @if status.setting == "off" {
                p { "Searches are not logged. A superuser turns this on:" }
                pre tabindex="0" { code { "ALTER DATABASE " (status.database) " SET docsearch.log_queries = 'text';" } }
            } @else {
                p { "No searches are logged yet. A search is stored a second or two later." }
            }
        }
    }
}

async fn rows(library: &Library, function: &ReportFunction, max_rows: i64) -> Result<Vec<Value>, Error> {
    let scope = ReportScope {
        max_rows: Some(max_rows),
        ..ReportScope::default()
    };
    library.report(function, &scope).await
}

fn server(status: &Value) -> Markup {
    let inference = &status["inference"];
    let models = inference["models"].as_array().map_or(&[][..], Vec::as_slice);
    let models: Vec<String> = models.iter().map(|model| cell(&model["model"])).collect();
    let memory = inference["resident_bytes"].as_f64();
    let facts = [
        ("PostgreSQL", cell(&status["server"])),
        ("pg_docsearch", cell(&status["extension"])),
        ("Database", cell(&status["database"])),
        ("Role", cell(&status["role"])),
        ("Inference", cell(&inference["state"])),
        ("Models", models.join(", ")),
        ("Memory of the models", memory.map_or_else(String::new, megabytes)),
        ("Queries embedded, median", milliseconds(&inference["p50_ms"])),
        ("Queries embedded, 95th percentile", milliseconds(&inference["p95_ms"])),
        ("Texts that wait", cell(&inference["queue_depth"])),
        ("Last error", cell(&inference["last_error"])),
    ];
    html! {
        section aria-label="Server" {
            h2 { "Server" }
            dl.server { @for (name, value) in facts.iter().filter(|(_, value)| !value.is_empty()) {
                div { dt { (name) } dd dir="auto" { (value) } }
            } }
        }
    }
}

fn indexing(projects: &[Value]) -> Markup {
    let count = |project: &Value, name: &str| project[name].as_f64().unwrap_or_default();
    let bar = |project: &Value| Bar {
        name: cell(&project["project"]),
        parts: vec![
            ("good", count(project, "done")),
            ("fair", count(project, "waiting")),
            ("poor", count(project, "failed")),
        ],
        number: cell(&project["done"]),
    };
    let bars: Vec<Bar> = projects.iter().map(bar).collect();
    let columns = [
        "project",
        "done",
        "waiting",
        "failed",
        "unread",
        "time_left",
        "questions",
        "questions_stale",
        "last_error",
    ];
    html! {
        section aria-label="Indexing" {
            h2 { "Indexing" }
            @if projects.is_empty() { p { "There are no projects yet." } } @else {
                (figure(&plot::bars("indexing", "Documents of each project", "Documents that are indexed, that wait, and that failed.", &bars),
                        &table("Documents of each project", &columns, projects)))
            }
        }
    }
}

fn table_sizes(sizes: &[(String, i64)]) -> Markup {
    let amount = |bytes: i64| u64::try_from(bytes).map_or(0.0, |bytes| bytes as f64);
    let bars: Vec<Bar> = sizes
        .iter()
        .map(|(name, bytes)| Bar {
            name: name.clone(),
            parts: vec![("all", amount(*bytes))],
            number: megabytes(amount(*bytes)),
        })
        .collect();
    let rows: Vec<Value> = sizes
        .iter()
        .map(|(name, bytes)| serde_json::json!({"table": name, "bytes": bytes}))
        .collect();
    html! {
        section aria-label="Sizes" {
            h2 { "Sizes" }
            (figure(&plot::bars("sizes", "Largest tables", "Bytes of the largest tables with their indexes.", &bars),
                    &table("Largest tables with their indexes", &["table", "bytes"], &rows)))
        }
    }
}

fn searches(daily: &[DailySearches]) -> Markup {
    let number = |count: i64| u32::try_from(count).map_or(f64::from(u32::MAX), f64::from);
    let steps: Vec<(String, f64, f64)> = daily
        .iter()
        .map(|day| (day.day.clone(), number(day.searches), number(day.unanswered)))
        .collect();
    let rows: Vec<Value> = daily
        .iter()
        .rev()
        .filter(|day| day.searches > 0)
        .map(|day| serde_json::json!({"day": day.day, "searches": day.searches, "unanswered": day.unanswered}))
        .collect();
    figure(
        &plot::columns(
            "searches",
            "Searches of each day",
            "Searches of each of the last 30 days. The dark part had no result, or low confidence.",
            &steps,
        ),
        &table("Searches of each day", &["day", "searches", "unanswered"], &rows),
    )
}

fn latencies(rows: &[Value]) -> Markup {
    let bar = |row: &Value| {
        let (median, slow) = (
            row["p50_ms"].as_f64().unwrap_or_default(),
            row["p95_ms"].as_f64().unwrap_or_default(),
        );
        Bar {
            name: format!("{} ({})", cell(&row["class"]), cell(&row["source"])),
            parts: vec![("good", median), ("fair", (slow - median).max(0.0))],
            number: format!("{median:.0} / {slow:.0} ms"),
        }
    };
    let bars: Vec<Bar> = rows.iter().map(bar).collect();
    figure(
        &plot::bars(
            "latency",
            "Time of searches",
            "Median and 95th percentile of the time of searches, by the class of the query and the front end.",
            &bars,
        ),
        &table(
            "Time of searches",
            &["class", "source", "searches", "p50_ms", "p95_ms"],
            rows,
        ),
    )
}

fn report(function: &ReportFunction, rows: &[Value]) -> Markup {
    let name = spaced(&function.name);
    let columns: Vec<&str> = function.columns.iter().map(String::as_str).collect();
    html! {
        section aria-label=(name) {
            h2 { (name) }
            p { (first_sentence(&function.description)) "." }
            @if rows.is_empty() { p { "There is nothing to report." } } @else { (table(&name, &columns, rows)) }
        }
    }
}

fn problems(rows: &[Value]) -> Markup {
    html! {
        section aria-label="Checks" {
            h2 { "Checks" }
            @if rows.is_empty() { p { "Nothing is wrong." } } @else {
                (table("Problems", &["problem", "object", "detail", "repair"], rows))
            }
        }
    }
}

/// A plot with its numbers beside it.
fn figure(plot: &Markup, table: &Markup) -> Markup {
    html! { div.figure { (plot) details { summary { "The numbers" } (table) } } }
}

fn table(caption: &str, columns: &[&str], rows: &[Value]) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(caption) {
            table.steps {
                caption.hidden { (caption) }
                thead { tr { @for column in columns { th scope="col" { (spaced(column)) } } } }
                tbody { @for row in rows { tr {
                    @for column in columns { td.number[row[*column].is_number()] dir="auto" { (cell(&row[*column])) } }
                } } }
            }
        }
    }
}

/// A value of a row as text.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => {
            number.as_f64().map(|number| format!("{number:.3}")).unwrap_or_default()
        }
        Value::Array(values) => values.iter().map(cell).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

fn megabytes(bytes: f64) -> String {
    format!("{:.1} MB", bytes / BYTES_PER_MB)
}

fn milliseconds(value: &Value) -> String {
    value.as_f64().map(|time| format!("{time:.1} ms")).unwrap_or_default()
}

/// `search_latency` as `Search latency`.
fn spaced(name: &str) -> String {
    let text = name.replace('_', " ");
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

fn first_sentence(text: &str) -> &str {
    text.split(['.', ';']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_chooses_a_view() {
        assert_eq!(View::of(Some("report=drift&x=y")), View::Report("drift".to_owned()));
        assert_eq!(View::of(Some("check=true")), View::Check);
        assert_eq!(View::of(Some("check=false&report=")), View::Overview);
        assert_eq!(View::of(None), View::Overview);
    }
}

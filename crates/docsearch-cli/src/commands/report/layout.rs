//! Reports as text: tables for a terminal, Markdown, CSV. Queries of readers are untrusted text.

use comfy_table::{Cell, CellAlignment, ColumnConstraint, ContentArrangement, Table, Width, presets};
use serde_json::Value;
use terminal_size::terminal_size_of;
use unicode_width::UnicodeWidthStr;

use crate::process::error::Error;
use crate::terminal::sanitize_document;

/// Columns of a table that is not shown on a terminal.
const DEFAULT_WIDTH: u16 = 80;
/// Most characters of a value in a table for a terminal.
const VALUE_CHARS: usize = 160;
/// Characters of a digest that are shown in place of a query.
const DIGEST_CHARS: usize = 12;
/// In place of a query without a digest.
const NOT_KEPT: &str = "(not kept)";
/// First characters of texts that spreadsheets take for formulas.
const FORMULA: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];

/// A report with what it found.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) name: String,
    /// The comment of its function.
    pub(super) description: String,
    /// What to do about it.
    pub(super) advice: Option<&'static str>,
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<Value>,
    /// Whether it has one row, also without calls.
    pub(super) is_summary: bool,
}

impl Report {
    /// The columns for people: a digest is shown only in place of a query that is not kept.
    fn shown_columns(&self) -> Vec<&str> {
        let columns = self.columns.iter().map(String::as_str);
        columns.filter(|column| *column != "query_hash").collect()
    }

    /// The values of a column, each as lines without control characters.
    fn lines(&self, row: &Value, column: &str) -> Vec<String> {
        let text = |value: &Value| match value {
            Value::String(text) => one_line(text),
            Value::Number(number) => match number.as_f64() {
                Some(float) if number.is_f64() => rounded(float),
                _ => number.to_string(),
            },
            Value::Bool(true) => "yes".to_owned(),
            Value::Bool(false) => "no".to_owned(),
            other => one_line(&other.to_string()),
        };
        match &row[column] {
            Value::Null
                if self.columns.first().is_some_and(|first| first == column) && row["query_hash"].is_string() =>
            {
                let digest = row["query_hash"].as_str().unwrap_or_default();
                vec![format!("#{}", digest.chars().take(DIGEST_CHARS).collect::<String>())]
            }
            Value::Null if column.ends_with("query") => vec![NOT_KEPT.to_owned()],
            Value::Null => Vec::new(),
            Value::Array(values) => values.iter().map(text).collect(),
            value => vec![text(value)],
        }
    }

    /// Whether the column has numbers, as far as it has values.
    fn is_numeric(&self, column: &str) -> bool {
        let mut values = self
            .rows
            .iter()
            .map(|row| &row[column])
            .filter(|value| !value.is_null());
        values.all(Value::is_number)
    }
}

/// The columns of the terminal, or of a page.
pub(super) fn terminal_width() -> u16 {
    terminal_size_of(std::io::stdout()).map_or(DEFAULT_WIDTH, |(columns, _)| columns.0)
}

/// A comment without its verb: "returns the pages" is "the pages".
pub(super) fn title(description: &str) -> &str {
    description.strip_prefix("returns ").unwrap_or(description)
}

/// Tables for a terminal with this number of columns.
pub(super) fn text(reports: &[Report], width: u16) -> String {
    let section = |report: &Report| {
        let body = match report.rows.is_empty() {
            true => "none".to_owned(),
            false => table(report, width),
        };
        let advice = report.advice.filter(|_| !report.rows.is_empty());
        let advice = advice.map(|advice| format!("\n{}", wrapped(advice, width)));
        let heading = format!("{}: {}", report.name, title(&report.description));
        format!("{}\n{body}{}\n", wrapped(&heading, width), advice.unwrap_or_default())
    };
    reports.iter().map(section).collect::<Vec<_>>().join("\n")
}

/// A paragraph in lines.
fn wrapped(text: &str, width: u16) -> String {
    let mut table = empty_table(width);
    table.add_row([text]);
    lines(&mut table)
}

/// A table without lines, whose columns share the width.
fn empty_table(width: u16) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(width);
    table
}

fn lines(table: &mut Table) -> String {
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    let lines = table.lines().map(|line| line.trim_end().to_owned());
    lines.collect::<Vec<_>>().join("\n")
}

fn table(report: &Report, width: u16) -> String {
    let columns = report.shown_columns();
    let mut table = empty_table(width);
    table.set_header(columns.iter().map(|column| column.replace('_', " ")));
    for row in &report.rows {
        let cells = columns.iter().map(|column| {
            let lines = report.lines(row, column).into_iter().map(|line| cut(&line));
            Cell::new(lines.collect::<Vec<_>>().join("\n"))
        });
        table.add_row(cells);
    }
    for (column, name) in table.column_iter_mut().zip(&columns) {
        if report.is_numeric(name) {
            column.set_cell_alignment(CellAlignment::Right);
            // Names of numbers are not cut within a word.
            let widest = name.split('_').map(UnicodeWidthStr::width).max().unwrap_or_default();
            let width = Width::Fixed(u16::try_from(widest + 2).unwrap_or(DEFAULT_WIDTH));
            column.set_constraint(ColumnConstraint::LowerBoundary(width));
        }
    }
    lines(&mut table)
}

/// Sections with a table each.
pub(super) fn markdown(reports: &[Report]) -> String {
    let section = |report: &Report| {
        let columns = report.shown_columns();
        let body = match report.rows.is_empty() {
            true => "None.\n".to_owned(),
            false => {
                let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
                let rule = columns.iter().map(|column| match report.is_numeric(column) {
                    true => "---:".to_owned(),
                    false => "---".to_owned(),
                });
                let rows = report.rows.iter().map(|row| {
                    let cells = columns.iter().map(|column| {
                        let lines = report.lines(row, column).into_iter().map(|line| escaped(&line));
                        lines.collect::<Vec<_>>().join("<br>")
                    });
                    line(cells.collect())
                });
                let head = line(
                    columns
                        .iter()
                        .map(|column| escaped(&column.replace('_', " ")))
                        .collect(),
                );
                format!("{head}{}{}", line(rule.collect()), rows.collect::<String>())
            }
        };
        let advice = report.advice.filter(|_| !report.rows.is_empty());
        let advice = advice
            .map(|advice| format!("\n{}\n", escaped(advice)))
            .unwrap_or_default();
        let described = escaped(&sentence(title(&report.description)));
        format!("## {}\n\n{described}\n\n{body}{advice}", escaped(&report.name))
    };
    reports.iter().map(section).collect::<Vec<_>>().join("\n")
}

/// One table with a header, for a spreadsheet.
pub(super) fn csv(report: &Report) -> Result<String, Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let broken = |problem: csv::Error| Error::Usage(format!("cannot write CSV: {problem}"));
    writer.write_record(&report.columns).map_err(broken)?;
    for row in &report.rows {
        let cells = report.columns.iter().map(|column| match &row[column] {
            Value::Null => String::new(),
            Value::String(text) => not_a_formula(text),
            Value::Array(values) => {
                let texts = values
                    .iter()
                    .map(|value| value.as_str().map_or(value.to_string(), str::to_owned));
                not_a_formula(&texts.collect::<Vec<_>>().join("\n"))
            }
            other => other.to_string(),
        });
        writer.write_record(cells).map_err(broken)?;
    }
    let bytes = writer
        .into_inner()
        .map_err(|problem| Error::Usage(format!("cannot write CSV: {problem}")))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Spreadsheets calculate what looks like a formula. An apostrophe makes it a text.
fn not_a_formula(text: &str) -> String {
    match text.trim_start().starts_with(FORMULA) || text.starts_with(['\t', '\r']) {
        true => format!("'{text}"),
        false => text.to_owned(),
    }
}

/// Three digits behind the point of shares, one of times.
fn rounded(number: f64) -> String {
    match number.abs() < 10.0 {
        true => format!("{number:.3}"),
        false => format!("{number:.1}"),
    }
}

fn one_line(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    sanitize_document(&words)
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(VALUE_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    let first: String = characters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}.", characters.as_str())
}

/// Text that Markdown shows as it is, also in the cell of a table.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(
            character,
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '~' | '&' | '$' | ':' | '#' | '!' | '^'
        ) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
    use serde_json::json;

    use super::*;

    fn report(rows: Vec<Value>) -> Report {
        Report {
            name: "top_queries".to_owned(),
            description: "returns the queries with the most searches".to_owned(),
            advice: None,
            columns: ["query", "query_hash", "searches", "pages"].map(str::to_owned).to_vec(),
            rows,
            is_summary: false,
        }
    }

    fn asked(query: &str) -> Report {
        report(vec![
            json!({"query": query, "query_hash": "ab", "searches": 3, "pages": [query, "kit/a"]}),
        ])
    }

    #[test]
    fn queries_that_are_not_kept_are_shown_as_digests() {
        let row = json!({"query": null, "query_hash": "0123456789abcdef", "searches": 2, "pages": null});
        let shown = text(&[report(vec![row])], 80);
        assert!(
            shown.contains("#0123456789ab  ") && !shown.contains("query hash"),
            "{shown}"
        );
        assert!(text(&[report(Vec::new())], 80).ends_with("the queries with the most searches\nnone\n"));
    }

    #[test]
    fn cells_that_look_like_formulas_are_texts() {
        let cell = |query: &str| {
            let text = csv(&asked(query)).unwrap();
            let mut reader = csv::Reader::from_reader(text.as_bytes());
            let record = reader.records().next().unwrap().unwrap();
            (record[0].to_owned(), record[2].to_owned(), record[3].to_owned())
        };
        let expected = |query: &str, pages: &str| (query.to_owned(), "3".to_owned(), pages.to_owned());
        assert_eq!(cell("=1+1"), expected("'=1+1", "'=1+1\nkit/a"));
        assert_eq!(cell(" @x"), expected("' @x", "' @x\nkit/a"));
        assert_eq!(
            cell("a = \"b\", c\n"),
            expected("a = \"b\", c\n", "a = \"b\", c\n\nkit/a")
        );
    }

    /// The cells of the only table, as a reader sees them; no other markup than line breaks.
    fn cells(markdown: &str) -> Vec<Vec<String>> {
        let mut rows: Vec<Vec<String>> = Vec::new();
        let mut inside = false;
        for event in Parser::new_ext(markdown, Options::all() - Options::ENABLE_SMART_PUNCTUATION) {
            match event {
                Event::Start(Tag::TableHead | Tag::TableRow) => rows.push(Vec::new()),
                Event::Start(Tag::TableCell) => {
                    rows.last_mut().unwrap().push(String::new());
                    inside = true;
                }
                Event::End(TagEnd::TableCell) => inside = false,
                Event::Text(text) if inside => rows.last_mut().unwrap().last_mut().unwrap().push_str(&text),
                Event::InlineHtml(tag) if inside && &*tag == "<br>" => {
                    rows.last_mut().unwrap().last_mut().unwrap().push('\n');
                }
                other => assert!(!inside, "{other:?} in {markdown}"),
            }
        }
        rows
    }

    proptest! {
        /// Markdown shows every query as it was written, apart from white space and characters that cannot be seen.
        #[test]
        fn markdown_shows_queries_as_they_are(query in r"[a-z =+*_`~$|<>\[\]()!#&;:^\\./@{}'-]{0,40}|\PC{0,20}") {
            let seen = cells(&markdown(&[asked(&query)]));
            let written = one_line(&query);
            prop_assert_eq!(&seen[1], &vec![written.clone(), "3".to_owned(), format!("{written}\nkit/a")]);
            prop_assert_eq!(seen.len(), 2);
        }

        /// A table has no control characters, and is as wide as the terminal if its columns have room.
        #[test]
        fn tables_fit_and_are_safe(query in r"(\PC|[\x00-\x1f\x7f-\x9f]| [a-z]{1,12}){0,200}", width in 60u16..200) {
            let shown = text(&[asked(&query)], width);
            prop_assert!(shown.chars().all(|character| character == '\n' || !character.is_control()));
            for line in shown.lines() {
                prop_assert!(line.width() <= usize::from(width), "{}", shown);
            }
        }
    }
}

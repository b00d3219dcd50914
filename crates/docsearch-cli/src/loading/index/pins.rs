//! Makes the pins of a source those of `docsearch.toml`.

use std::collections::BTreeMap;

use docsearch_core::query::pinned_query::normal_form;
use postgres::Client;

use crate::process::error::Error;
use crate::sources::pin_rule::PinRule;
use crate::terminal::report::Report;

/// A pin: the query, and the slugs of its pages.
#[derive(Debug, PartialEq, Eq)]
struct Pin {
    query: String,
    first: Vec<String>,
    never: Vec<String>,
}

/// Writes the pins that differ, and removes those of the source that the file no longer has. Other pins of the project stay.
pub(super) fn apply(
    client: &mut Client,
    project: &str,
    source: &str,
    rules: &[PinRule],
    report: &Report,
) -> Result<(), Error> {
    let mut wanted: BTreeMap<String, Pin> = BTreeMap::new();
    for rule in rules {
        for query in rule.queries() {
            let pin = Pin {
                query: query.split_whitespace().collect::<Vec<&str>>().join(" "),
                first: rule.first.clone(),
                never: rule.never.clone(),
            };
            wanted.extend(normal_form(query).map(|key| (key, pin)));
        }
    }
    let has_table: bool = client
        .query_one("SELECT to_regclass('docsearch.pin') IS NOT NULL", &[])?
        .get(0);
    // Tables of an earlier version have no pins to remove.
    if wanted.is_empty() && !has_table {
        return Ok(());
    }
    let stored = stored(client, project, source)?;
    let (mut written, mut removed) = (0, 0);
    for (_, pin) in wanted.iter().filter(|(key, pin)| stored.get(*key) != Some(*pin)) {
        client.execute(
            "SELECT docsearch.pin($1, $2, $3::text[], $4::text[], $5)",
            &[&project, &pin.query, &pin.first, &pin.never, &source],
        )?;
        written += 1;
    }
    for (_, pin) in stored.iter().filter(|(key, _)| !wanted.contains_key(*key)) {
        client.execute("SELECT docsearch.unpin($1, $2)", &[&project, &pin.query])?;
        removed += 1;
    }
    if written + removed > 0 {
        report.note(&format!("pins: {written} written, {removed} removed"));
    }
    let missing = client.query(
        "SELECT query, array_to_string(missing, ', ') FROM docsearch.pins($1) WHERE source = $2 AND missing <> '{}'",
        &[&project, &source],
    )?;
    for row in missing {
        let (query, slugs): (String, String) = (row.get(0), row.get(1));
        report.warning(
            "",
            format!("the pin of \"{query}\" names pages that project \"{project}\" does not have: {slugs}"),
        );
    }
    Ok(())
}

/// The pins of the source, by the normal forms of their queries.
fn stored(client: &mut Client, project: &str, source: &str) -> Result<BTreeMap<String, Pin>, Error> {
    let rows = client.query(
        "SELECT query, first, never FROM docsearch.pins($1) WHERE source = $2",
        &[&project, &source],
    )?;
    let pins = rows.iter().filter_map(|row| {
        let pin = Pin {
            query: row.get(0),
            first: row.get(1),
            never: row.get(2),
        };
        Some((normal_form(&pin.query)?, pin))
    });
    Ok(pins.collect())
}

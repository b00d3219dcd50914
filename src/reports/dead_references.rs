//! References that were asked for and lead nowhere.

use docsearch_core::documents::document::Shape;
use pgrx::datum::TimestampWithTimeZone;

use crate::postgres::report::Result;
use crate::postgres::role::Caller;
use crate::postgres::row_type::row_type;
use crate::postgres::{interrupt, statement};
use crate::reports::scope::{Scope, in_scope, planned_for_many};
use crate::tables::{document, nearest};

row_type! {
    /// A reference that was asked for.
    struct AskedRow {
        reference: Option<String> = "any_value(q.query)",
        query_hash: String = "q.query_hash",
        times: i64 = "count(*)",
        sessions: i64 = "count(DISTINCT q.session_key)",
        last_at: TimestampWithTimeZone = "max(q.logged_at)",
    }
}

/// A reference that leads nowhere.
pub(crate) struct DeadReference {
    /// `None` if only its digest is kept.
    pub(crate) reference: Option<String>,
    pub(crate) query_hash: String,
    pub(crate) times: i64,
    pub(crate) sessions: i64,
    pub(crate) last_at: TimestampWithTimeZone,
    /// References of pages that it may mean.
    pub(crate) nearest: Vec<String>,
}

/// The references with the most calls that lead nowhere for the caller. One that leads to a page by now is left out, and one
/// whose text is not kept is shown by its digest.
pub(crate) fn dead_references(caller: &mut Caller, scope: &Scope) -> Result<Vec<DeadReference>> {
    let _settings = planned_for_many()?;
    let calls = in_scope!();
    let asked = statement::report(
        caller,
        &format!(
            "SELECT {} FROM docsearch.query_log q
             WHERE {calls} AND NOT q.is_search AND q.results = 0 AND q.query_hash IS NOT NULL
             GROUP BY q.query_hash ORDER BY count(*) DESC, q.query_hash LIMIT $3 + {MORE_ROWS}",
            AskedRow::select_list()
        ),
        &scope.arguments(),
        AskedRow::read,
    )?;
    let mut dead = Vec::new();
    for row in asked {
        if dead.len() == scope.limit() {
            break;
        }
        interrupt::check();
        let nearest = match row.reference.as_deref() {
            None => Vec::new(),
            Some(reference) if leads_somewhere(caller, reference) => continue,
            Some(reference) => meant(caller, reference)?,
        };
        dead.push(DeadReference {
            reference: row.reference,
            query_hash: row.query_hash,
            times: row.times,
            sessions: row.sessions,
            last_at: row.last_at,
            nearest,
        });
    }
    Ok(dead)
}

/// References that are read besides those that are shown: some lead to a page by now.
const MORE_ROWS: u32 = 200;

fn leads_somewhere(caller: &mut Caller, reference: &str) -> bool {
    let shape = Shape {
        sections: false,
        metadata: false,
        skip: 0,
        max_chars: None,
    };
    match document::load(caller, Some(reference), None, None, shape) {
        Ok(_) => true,
        Err(problem) => !problem.leads_nowhere,
    }
}

/// What a reference may mean: its page, if only the section does not exist.
fn meant(caller: &mut Caller, reference: &str) -> Result<Vec<String>> {
    match reference.split_once('#') {
        Some((page, _)) if leads_somewhere(caller, page) => Ok(vec![page.to_owned()]),
        _ => nearest::references(caller, reference),
    }
}

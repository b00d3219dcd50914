//! Counts rows that users write themselves: triggers count what the functions of the extension do not.

use std::cell::Cell;

use pgrx::pg_sys;

use super::{merge_if_due, recount};
use crate::postgres::owner::LocalSettings;
use crate::postgres::report::Result;
use crate::postgres::role::{Caller, Owner, Role};
use crate::postgres::{catalog, statement};
use crate::tables::{merging, postings, vector_codes};
use docsearch_core::index::question::FIRST;

thread_local! {
    /// The trigger depth of statements that are counted elsewhere.
    static COUNTED_AT: Cell<Option<i32>> = const { Cell::new(None) };
}

/// While this lives, the function that runs statements counts what they write to documents and chunks: once for a whole
/// load, where triggers would count each statement.
pub(crate) struct CountedElsewhere {
    before: Option<i32>,
}

impl CountedElsewhere {
    pub(crate) fn begin() -> Self {
        Self {
            before: COUNTED_AT.replace(Some(trigger_depth())),
        }
    }
}

impl Drop for CountedElsewhere {
    fn drop(&mut self) {
        COUNTED_AT.set(self.before);
    }
}

fn trigger_depth() -> i32 {
    // SAFETY: takes no argument, and gives a number.
    unsafe { pgrx::direct_function_call::<i32>(pg_sys::pg_trigger_depth, &[]) }.unwrap_or(0)
}

/// Whether the running trigger belongs to a statement that is counted elsewhere. Triggers of users run their statements
/// deeper, and those are counted here. Cascades to chunks are not deeper: foreign keys leave them to the statement.
fn is_counted_elsewhere() -> bool {
    COUNTED_AT.get().is_some_and(|depth| trigger_depth() <= depth + 1)
}

/// A table whose rows are counted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Table {
    Document,
    Chunk,
}

impl Table {
    fn of(relation: pg_sys::Oid) -> Option<Self> {
        if Some(relation) == catalog::table(c"document") {
            Some(Self::Document)
        } else {
            (Some(relation) == catalog::table(c"chunk")).then_some(Self::Chunk)
        }
    }

    /// Sums up the deleted and inserted rows of projects that still exist, and returns the projects.
    ///
    /// Documents whose chunks changed become pending for their postings. The document frequency of a word depends on
    /// the other chunks of each document as they are now: the earlier chunks are these without the inserted and with
    /// the deleted ones.
    fn statement(self, changed: &str) -> String {
        match self {
            Self::Document => format!(
                "INSERT INTO docsearch.project_stat
                     (project_id, documents, document_words, chunks, chunk_words, term_rows, merged)
                 SELECT c.project_id, sum(c.sign), sum(c.sign * c.term_count), 0, 0, 0, false
                 FROM ({changed}) c JOIN docsearch.project p ON p.id = c.project_id
                 GROUP BY c.project_id HAVING sum(c.sign) <> 0 OR sum(c.sign * c.term_count) <> 0
                 RETURNING project_id"
            ),
            Self::Chunk => format!(
                "WITH changed AS MATERIALIZED ({changed}),
                 {}
                 moved AS (
                     SELECT c.project_id, c.document_id, t.lexeme COLLATE \"C\" AS lexeme, sum(c.sign) AS chunks
                     FROM changed c, unnest(tsvector_to_array(c.terms)) AS t(lexeme)
                     GROUP BY 1, 2, 3 HAVING sum(c.sign) <> 0
                 ),
                 present AS (
                     SELECT d.project_id, d.document_id, t.lexeme COLLATE \"C\" AS lexeme, count(*) AS chunks
                     FROM (SELECT DISTINCT c.project_id, c.document_id FROM changed c) d,
                          LATERAL (SELECT c.terms FROM docsearch.chunk c
                                   WHERE c.project_id = d.project_id AND c.document_id = d.document_id) c,
                          unnest(tsvector_to_array(c.terms)) AS t(lexeme)
                     GROUP BY 1, 2, 3
                 ),
                 written AS (
                     INSERT INTO docsearch.term_stat (project_id, lexeme, chunks, documents)
                     SELECT m.project_id, m.lexeme, sum(m.chunks),
                            sum((coalesce(n.chunks, 0) > 0)::int - (coalesce(n.chunks, 0) - m.chunks > 0)::int)
                     FROM moved m JOIN docsearch.project p ON p.id = m.project_id
                     LEFT JOIN present n ON (n.project_id, n.document_id, n.lexeme) = (m.project_id, m.document_id, m.lexeme)
                     GROUP BY m.project_id, m.lexeme
                     RETURNING project_id
                 )
                 INSERT INTO docsearch.project_stat
                     (project_id, documents, document_words, chunks, chunk_words, term_rows, merged)
                 SELECT c.project_id, 0, 0, coalesce(sum(c.sign) FILTER (WHERE c.chunk_no < {FIRST}), 0),
                        coalesce(sum(c.sign * c.term_count) FILTER (WHERE c.chunk_no < {FIRST}), 0),
                        (SELECT count(*) FROM written w WHERE w.project_id = c.project_id), false
                 FROM changed c JOIN docsearch.project p ON p.id = c.project_id GROUP BY c.project_id
                 RETURNING project_id",
                if postings::exist() {
                    format!("posted AS ({}),", postings::ADD_CHANGED)
                } else {
                    String::new()
                }
            ),
        }
    }

    /// Rows of a transition table, to be added or subtracted.
    fn rows(self, transition: &str, sign: i32) -> String {
        let columns = match self {
            Self::Document => "t.term_count::bigint AS term_count",
            Self::Chunk => "t.term_count::bigint AS term_count, t.document_id, t.chunk_no, t.terms",
        };
        format!("SELECT t.project_id, {columns}, {sign} AS sign FROM {transition} t")
    }
}

/// Counts what a statement has changed. Other tables and triggers are ignored.
pub(crate) fn count(caller: &mut Caller, data: &mut pg_sys::TriggerData) -> Result<()> {
    // SAFETY: the relation of a trigger that has fired.
    let Some(table) = Table::of(unsafe { (*data.tg_relation).rd_id }) else {
        return Ok(());
    };
    let is_for_rows = data.tg_event & pg_sys::TRIGGER_EVENT_ROW != 0;
    let is_after = data.tg_event & pg_sys::TRIGGER_EVENT_TIMINGMASK == pg_sys::TRIGGER_EVENT_AFTER;
    if is_for_rows || !is_after || is_counted_elsewhere() {
        return Ok(());
    }
    let owner = &caller.as_owner()?;
    if data.tg_event & pg_sys::TRIGGER_EVENT_OPMASK == pg_sys::TRIGGER_EVENT_TRUNCATE {
        if table == Table::Chunk {
            postings::clear(owner)?;
            vector_codes::clear(owner)?;
        }
        return recount_all(owner);
    }
    // SAFETY: a trigger with transition tables names them.
    let (old, new) = unsafe { (name((*data.tg_trigger).tgoldtable), name((*data.tg_trigger).tgnewtable)) };
    let parts = old
        .map(|old| table.rows(&old, -1))
        .into_iter()
        .chain(new.map(|new| table.rows(&new, 1)));
    let changed = parts.collect::<Vec<_>>().join(" UNION ALL ");
    if changed.is_empty() {
        return Ok(());
    }
    let projects = {
        let _settings = LocalSettings::by_index()?;
        statement::of_trigger(owner, data, &table.statement(&changed))?
    };
    for project in projects {
        merge_if_due(owner, project)?;
        postings::merge_if_due(owner, project)?;
    }
    Ok(())
}

/// The name of a transition table, quoted.
///
/// # Safety
///
/// It is null or terminated.
unsafe fn name(name: *const std::ffi::c_char) -> Option<String> {
    // SAFETY: as above.
    let name = (!name.is_null()).then(|| unsafe { std::ffi::CStr::from_ptr(name) })?;
    Some(pgrx::spi::quote_identifier(name.to_str().ok()?))
}

fn recount_all(owner: &Owner<'_>) -> Result<()> {
    let projects = statement::rows(
        owner,
        "SELECT p.id FROM docsearch.project p ORDER BY p.id",
        &[],
        |row| row.required::<i64>(1),
    )?;
    merging::hold_all_merges();
    for project in projects {
        recount(owner, project)?;
    }
    Ok(())
}

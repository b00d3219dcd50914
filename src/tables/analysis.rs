//! What the planner knows of the tables.

use std::cell::Cell;

use pgrx::datum::DatumWithOid;

use crate::postgres::report::Result;
use crate::postgres::role::Owner;
use crate::postgres::statement;

/// Analyses those of some tables of which more than a tenth has changed. The tables belong to all projects, and to
/// analyse them takes seconds when they are large: too long for each of a hundred loads.
pub(crate) fn analyze_changed(owner: &Owner<'_>, tables: &[&str]) -> Result<()> {
    // Postgres reports changes of other sessions up to a second later, but a table that has grown is seen at once. What
    // this transaction has changed is not reported yet.
    let changed = statement::rows(
        owner,
        "SELECT t.name FROM unnest($1::text[]) AS t(name) JOIN pg_class c ON c.oid = t.name::regclass
         WHERE c.reltuples <= 0
            OR pg_stat_get_mod_since_analyze(c.oid) + pg_stat_get_xact_tuples_inserted(c.oid)
               + pg_stat_get_xact_tuples_updated(c.oid) + pg_stat_get_xact_tuples_deleted(c.oid) > c.reltuples / 10
            OR pg_relation_size(c.oid) / current_setting('block_size')::int > c.relpages * 1.1",
        &[DatumWithOid::from(tables.to_vec())],
        |row| row.required::<String>(1),
    )?;
    match changed.is_empty() {
        true => Ok(()),
        false => statement::utility(owner, &format!("ANALYZE {}", changed.join(", "))),
    }
}

/// Plans are first made again at twice this many pages of documents. Measured: from 26 pages on, the planner prefers the
/// primary key to an index by project and something else.
const FEW_PAGES: i64 = 14;

thread_local! {
    /// Pages of `docsearch.document` when this session last made plans to write.
    static PLANNED_PAGES: Cell<Option<i64>> = const { Cell::new(None) };
}

/// Makes the plans of this session again whenever documents take twice as many pages. The checks of foreign keys are among
/// them: made for an empty table, they read all documents of the project for each new section, until the tables are
/// analysed.
pub(crate) fn forget_outgrown_plans(owner: &Owner<'_>) -> Result<()> {
    let pages = statement::one(
        owner,
        "SELECT pg_relation_size('docsearch.document') / current_setting('block_size')::int",
        &[],
        |row| row.required::<i64>(1),
    )?;
    let pages = pages.unwrap_or_default().max(FEW_PAGES);
    match PLANNED_PAGES.get() {
        Some(planned) if pages < 2 * planned => return Ok(()),
        Some(_) => statement::forget_plans(),
        // The first plans are made now.
        None => {}
    }
    PLANNED_PAGES.set(Some(pages));
    Ok(())
}

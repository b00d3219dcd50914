//! What the planner knows of the tables.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use pgrx::datum::DatumWithOid;

use crate::postgres::of_transaction::OfTransaction;
use crate::postgres::report::Result;
use crate::postgres::role::Owner;
use crate::postgres::statement;

/// Analyses those of some tables of which more than a tenth has changed. The tables belong to all projects, and to
/// analyse them takes seconds when they are large: too long for each of a hundred loads.
pub(crate) fn analyze_changed(owner: &Owner<'_>, tables: &[&str]) -> Result<()> {
    // Postgres reports changes of other sessions up to a second later, but a table that has grown is seen at once. What
    // this transaction has changed is not reported yet.
    let mut changed = statement::rows(
        owner,
        "SELECT t.name, m.changes, c.reltuples <= 0 OR m.changes > c.reltuples / 10
                OR pg_relation_size(c.oid) / current_setting('block_size')::int > c.relpages * 1.1,
                c.reltuples::float8
         FROM unnest($1::text[]) AS t(name) JOIN pg_class c ON c.oid = t.name::regclass,
              LATERAL (SELECT pg_stat_get_mod_since_analyze(c.oid) + pg_stat_get_xact_tuples_inserted(c.oid)
                              + pg_stat_get_xact_tuples_updated(c.oid) + pg_stat_get_xact_tuples_deleted(c.oid)) m(changes)",
        &[DatumWithOid::from(tables.to_vec())],
        |row| Ok((row.required::<String>(1)?, row.required::<i64>(2)?, row.required::<bool>(3)?, row.required::<f64>(4)?)),
    )?;
    // Until this transaction ends, Postgres goes on counting the changes before its ANALYZE.
    ANALYZED.with_borrow_mut(|analyzed| {
        let analyzed = analyzed.current();
        changed.retain(|(table, changes, is_changed, rows)| match analyzed.get(table) {
            Some(before) => (changes - before) as f64 > rows / 10.0,
            None => *is_changed,
        });
    });
    if changed.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = changed.iter().map(|(table, ..)| table.as_str()).collect();
    statement::utility(owner, &format!("ANALYZE {}", names.join(", ")))?;
    let changes = changed.into_iter().map(|(table, changes, ..)| (table, changes));
    ANALYZED.with_borrow_mut(|analyzed| analyzed.current().extend(changes));
    Ok(())
}

/// Plans are first made again at twice this many pages of documents. Measured: from 26 pages on, the planner prefers the
/// primary key to an index by project and something else.
const FEW_PAGES: i64 = 14;

thread_local! {
    /// Tables that this transaction has analysed, with their counted changes at that time.
    static ANALYZED: RefCell<OfTransaction<HashMap<String, i64>>> = RefCell::default();
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

//! Statistics of the planner.

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
        &[DatumWithOid::from(
            tables.iter().map(|&table| table.to_owned()).collect::<Vec<String>>(),
        )],
        |row| row.required::<String>(1),
    )?;
    match changed.is_empty() {
        true => Ok(()),
        false => statement::utility(owner, &format!("ANALYZE {}", changed.join(", "))),
    }
}

//! Watched tables: an attached view is read again when one of the tables that it reads from changes.

use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;

use super::Table;
use crate::postgres::report::{self, Result, error_with_hint};
use crate::postgres::role::{Caller, Owner, Role};
use crate::postgres::statement;
use crate::tables::schema::Part;

/// The tables that an argument names, without duplicates. They have triggers, which their owners can drop again.
pub(super) fn tables(caller: &Caller, named: &[pg_sys::Oid]) -> Result<Vec<Table>> {
    let mut tables: Vec<Table> = Vec::with_capacity(named.len());
    for &oid in named {
        let table = Table::of(caller, Some(oid))?;
        if tables.iter().any(|known| known.oid == oid) {
            continue;
        }
        table.require_owned()?;
        if !table.is_permanent || !["r", "p"].contains(&table.kind.as_str()) {
            return Err(error_with_hint(
                pgrx::PgSqlErrorCode::ERRCODE_WRONG_OBJECT_TYPE,
                format!("changes of {} cannot be recorded", table.qualified),
                "Name ordinary or partitioned tables; views are read again as often as every says.",
            ));
        }
        tables.push(table);
    }
    Ok(tables)
}

/// Creates triggers on tables that record their changes for the view with this id.
pub(super) fn watch(caller: &mut Caller, id: i32, tables: &[Table]) -> Result<()> {
    for table in tables {
        table.create_watch_triggers(caller, id)?;
        let owner = &caller.as_owner()?;
        statement::execute(
            owner,
            "INSERT INTO docsearch.watched_table (attached_id, source) VALUES ($1, $2::oid::regclass)",
            &[DatumWithOid::from(id), DatumWithOid::from(table.oid)],
        )?;
    }
    Ok(())
}

/// Undoes [`watch`], for tables that exist and that the caller owns.
pub(super) fn unwatch(caller: &mut Caller, id: i32) -> Result<()> {
    let watched = {
        let owner = &caller.as_owner()?;
        statement::rows(
            owner,
            "SELECT w.source::oid FROM docsearch.watched_table w JOIN pg_class c ON c.oid = w.source
             WHERE w.attached_id = $1",
            &[DatumWithOid::from(id)],
            |row| row.required::<pg_sys::Oid>(1),
        )?
    };
    for table in watched {
        let table = Table::of(caller, Some(table))?;
        if table.owned {
            table.drop_triggers(caller, id)?;
        } else {
            report_remaining(&table, id);
        }
    }
    Ok(())
}

/// Raises a notice that triggers remain, as the caller does not own the table.
pub(super) fn report_remaining(table: &Table, id: i32) {
    report::notice(
        format!("triggers of {} remain, but have no effect", table.qualified),
        &format!("Its owner may drop them: {}.", table.trigger_names(id).join(", ")),
    );
}

/// Whether changes of a table are recorded for this id.
pub(super) fn is_watched(owner: &Owner<'_>, id: i32, table: pg_sys::Oid) -> Result<bool> {
    if !Part::WatchedTables.exists() {
        return Ok(false);
    }
    // The snapshot of the transaction may be older than the triggers, but its changes still count.
    let found = statement::committed(
        owner,
        "SELECT true FROM docsearch.watched_table w WHERE w.attached_id = $1 AND w.source = $2::oid::regclass",
        &[DatumWithOid::from(id), DatumWithOid::from(table)],
        |row| row.required::<bool>(1),
    )?;
    Ok(!found.is_empty())
}

/// A table whose changes are not recorded any more, as its triggers are missing, disabled or changed.
pub(super) fn first_unrecorded(owner: &Owner<'_>, id: i32) -> Result<Option<String>> {
    let (names, kinds) = Table::watch_triggers(id);
    let silent = statement::latest(
        owner,
        "SELECT format('%I.%I', n.nspname, c.relname)
         FROM docsearch.watched_table w JOIN pg_class c ON c.oid = w.source JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE w.attached_id = $1
           AND (SELECT count(*) FROM pg_trigger t
                JOIN unnest($2::text[], $3::smallint[]) AS k(name, kind) ON t.tgname::text = k.name AND t.tgtype = k.kind
                WHERE t.tgrelid = w.source AND t.tgfoid = 'docsearch.attached_changed'::regproc
                  AND t.tgenabled IN ('O', 'A') AND t.tgqual IS NULL AND t.tgattr::text = ''
                  AND t.tgargs = convert_to($1::text, 'UTF8') || decode('00', 'hex')) < cardinality($2)
         ORDER BY 1 LIMIT 1",
        &[
            DatumWithOid::from(id),
            DatumWithOid::from(names),
            DatumWithOid::from(kinds),
        ],
        |row| row.required::<String>(1),
    )?;
    Ok(silent.into_iter().next())
}

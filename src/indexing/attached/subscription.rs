//! Tables that logical replication writes. It fires no statement triggers, so its changes are not recorded.

use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;

use crate::postgres::report::{Result, warn};
use crate::postgres::role::{Caller, Owner};
use crate::postgres::statement;

/// The condition that a subscription writes a table `c`, or a partition of it.
const IS_SUBSCRIBED: &str = "c.relkind IN ('r', 'p')
     AND EXISTS (SELECT FROM pg_subscription_rel s
                 WHERE s.srrelid = c.oid OR s.srrelid IN (SELECT p.relid FROM pg_partition_tree(c.oid) p))";

/// What to do about it.
pub(crate) const REMEDY: &str =
    "attach a view of it, which is read at intervals, or call docsearch.read_table() after changes";

/// Warns the caller if a subscription writes tables that are attached, or watched for a view: its changes are not
/// recorded.
pub(super) fn warn_of(caller: &Caller, tables: Vec<pg_sys::Oid>) -> Result<()> {
    let subscribed = statement::rows(
        caller,
        &format!(
            "SELECT format('%I.%I', n.nspname, c.relname)
             FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
             WHERE c.oid = ANY ($1) AND {IS_SUBSCRIBED} ORDER BY 1"
        ),
        &[DatumWithOid::from(tables)],
        |row| row.required::<String>(1),
    )?;
    for table in subscribed {
        warn(
            pgrx::PgSqlErrorCode::ERRCODE_WARNING,
            format!("a subscription writes table {table}, and fires no triggers: its changes are not indexed"),
            "Attach a view of it, which is read at intervals, or call docsearch.read_table() after changes.",
        );
    }
    Ok(())
}

/// Attached tables, and tables watched for views, that a subscription writes; of one project or of all.
pub(crate) fn subscribed(owner: &Owner<'_>, project: Option<i64>) -> Result<Vec<String>> {
    statement::rows(
        owner,
        &format!(
            "SELECT DISTINCT format('%I.%I', n.nspname, c.relname)
             FROM (SELECT a.id, a.source FROM docsearch.attached_table a UNION ALL
                   SELECT w.attached_id, w.source FROM docsearch.watched_table w) AS t(id, source)
             JOIN docsearch.attached_table a ON a.id = t.id
             JOIN pg_class c ON c.oid = t.source JOIN pg_namespace n ON n.oid = c.relnamespace
             WHERE ($1::bigint IS NULL OR a.project_id = $1) AND {IS_SUBSCRIBED} ORDER BY 1"
        ),
        &[DatumWithOid::from(project)],
        |row| row.required(1),
    )
}

//! `drop_all`: drops what the extension created outside of itself, so that DROP EXTENSION needs no CASCADE.

use pgrx::prelude::*;

use crate::postgres::lock::Lock;
use crate::postgres::objects::{self, Object};
use crate::postgres::report::{self, Result, error_with_hint, internal, invalid};
use crate::postgres::role::Caller;
use crate::postgres::statement;
use crate::tables::schema;

/// Dependent objects that the error lists, at most.
const MAX_LISTED: usize = 20;

/// The extension and its members.
const MEMBERS: &str = "
    SELECT e.tableoid AS classid, e.oid AS objid FROM pg_extension e WHERE e.extname = 'pg_docsearch'
    UNION ALL
    SELECT d.classid, d.objid FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid
    WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND e.extname = 'pg_docsearch'";

/// Objects in schema `docsearch` that are not members, and the triggers of attached tables in any schema.
const CREATED: &str = "
    SELECT d.classid, d.objid FROM pg_depend d
    WHERE d.refclassid = 'pg_namespace'::regclass AND d.refobjid = 'docsearch'::regnamespace AND d.deptype = 'n'
      AND (d.classid, d.objid) NOT IN (SELECT m.classid, m.objid FROM member m)
    UNION
    SELECT t.tableoid, t.oid FROM pg_trigger t
    WHERE t.tgfoid = 'docsearch.attached_changed'::regproc AND NOT t.tgisinternal";

/// Drops all of it, or nothing. The caller must own the schema and confirm the name of the database, and no object of
/// another role may depend on the extension.
pub(crate) fn remove(caller: &Caller, confirm: Option<&str>) -> Result<()> {
    schema::require_owner(caller, "SELECT docsearch.drop_all(...)")?;
    report::refuse_read_only(c"docsearch.drop_all()");
    require_confirmed(caller, confirm)?;
    require_ownership_of_attached_tables(caller)?;
    // Keeps others from creating the tables meanwhile.
    Lock::Schema.acquire();
    if schema::exists() {
        // Every writer locks documents first, in a weaker mode: this waits for the writers that have begun.
        statement::utility(caller, "LOCK TABLE docsearch.document IN EXCLUSIVE MODE")?;
    }
    require_unused(caller)?;
    let created = statement::rows(
        caller,
        &format!("WITH member AS ({MEMBERS}) {CREATED} ORDER BY 1, 2"),
        &[],
        |row| {
            Ok(Object {
                class: row.required(1)?,
                id: row.required(2)?,
            })
        },
    )?;
    objects::drop_together(&created);
    report::notice(
        "dropped the tables and triggers of pg_docsearch",
        "After COMMIT, run: DROP EXTENSION pg_docsearch.",
    );
    Ok(())
}

fn require_confirmed(caller: &Caller, confirm: Option<&str>) -> Result<()> {
    let database = statement::one(
        caller,
        "SELECT current_database()::text, quote_literal(current_database())",
        &[],
        |row| Ok((row.required::<String>(1)?, row.required::<String>(2)?)),
    )?;
    match database {
        Some((name, _)) if confirm == Some(name.as_str()) => Ok(()),
        Some((name, literal)) => Err(invalid(
            format!("drop_all deletes all projects and documents of database \"{name}\""),
            format!("To confirm, name the database: SELECT docsearch.drop_all(confirm => {literal})."),
        )),
        None => Err(internal("the database has no name")),
    }
}

/// Only the owner of an attached table may drop its trigger, as with `detach_table`.
fn require_ownership_of_attached_tables(caller: &Caller) -> Result<()> {
    let foreign = statement::one(
        caller,
        "SELECT t.tgrelid::regclass::text FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
         WHERE t.tgfoid = 'docsearch.attached_changed'::regproc AND NOT t.tgisinternal
           AND NOT pg_has_role(c.relowner, 'USAGE')
         ORDER BY 1 LIMIT 1",
        &[],
        |row| row.required::<String>(1),
    )?;
    foreign.map_or(Ok(()), |table| {
        Err(error_with_hint(
            PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE,
            format!("must be owner of attached table {table}"),
            "Have its owner run docsearch.detach_table(...), or run drop_all as a superuser.",
        ))
    })
}

/// Raises an error if an object of another role depends on the extension or its tables.
fn require_unused(caller: &Caller) -> Result<()> {
    let users = statement::rows(
        caller,
        &format!(
            "WITH RECURSIVE member AS ({MEMBERS}), created AS ({CREATED}),
             dropped AS (
                 SELECT m.classid, m.objid FROM member m UNION SELECT c.classid, c.objid FROM created c
                 UNION
                 SELECT d.classid, d.objid FROM dropped g JOIN pg_depend d ON d.refclassid = g.classid AND d.refobjid = g.objid
                 WHERE d.deptype IN ('a', 'i', 'P', 'S')
             )
             SELECT DISTINCT pg_describe_object(coalesce(o.refclassid, d.classid), coalesce(o.refobjid, d.objid),
                                                CASE WHEN o.refobjid IS NULL THEN d.objsubid ELSE 0 END) COLLATE \"C\"
             FROM dropped g JOIN pg_depend d ON d.refclassid = g.classid AND d.refobjid = g.objid AND d.deptype = 'n'
             LEFT JOIN pg_depend o ON o.classid = d.classid AND o.objid = d.objid AND o.objsubid = d.objsubid
                                  AND o.deptype = 'i'
             WHERE (d.classid, d.objid) NOT IN (SELECT g.classid, g.objid FROM dropped g)
             ORDER BY 1"
        ),
        &[],
        |row| row.required::<String>(1),
    )?;
    if users.is_empty() {
        return Ok(());
    }
    let mut detail = users.iter().take(MAX_LISTED).cloned().collect::<Vec<_>>().join("\n");
    if users.len() > MAX_LISTED {
        detail.push_str(&format!("\nand {} more", users.len() - MAX_LISTED));
    }
    Err(error_with_hint(
        PgSqlErrorCode::ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST,
        "other objects use pg_docsearch",
        "Drop or change them, then run drop_all again. Nothing was dropped.",
    )
    .set_detail(detail))
}

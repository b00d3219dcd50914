//! Confirmations of rows that only certain roles may decide on, such as roles, addresses and files of the server. The
//! role confirms a row in the comment on a type of schema `docsearch`. No right to write data is enough for that, and
//! only the owner of the type can change the comment.

use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;
use serde_json::Value;

use crate::postgres::report::Result;
use crate::postgres::role::Role;
use crate::postgres::{statement, subtransaction};

/// Longest comment, in bytes.
pub(crate) const MAX_BYTES: usize = 1 << 20;

/// The text of a comment: for people, and for [`parse`].
pub(crate) fn text(preface: &str, terms: &Value) -> String {
    format!("{preface}\n{terms}")
}

/// The terms in a comment; `None` if the extension has not written it.
pub(crate) fn parse(comment: &str) -> Option<Value> {
    let (_, terms) = comment.split_once('\n')?;
    serde_json::from_str(terms).ok()
}

/// Identifies this database of this server: role OIDs mean the same only there.
pub(crate) fn place() -> String {
    // SAFETY: both are set once, when the process connects to its database.
    unsafe { format!("{}/{}", pg_sys::GetSystemIdentifier(), pg_sys::MyDatabaseId.to_u32()) }
}

/// Creates the type, owned by the role, with the comment. No other role may use the type, so that nothing comes to
/// depend on it.
pub(crate) fn write(role: &dyn Role, name: &str, text: &str) -> Result<()> {
    let text = pgrx::spi::quote_literal(text);
    let statements = format!(
        "CREATE DOMAIN docsearch.{name} AS pg_catalog.bool;
         REVOKE ALL ON DOMAIN docsearch.{name} FROM PUBLIC;
         COMMENT ON DOMAIN docsearch.{name} IS {text}"
    );
    statement::utility(role, &statements)
}

/// The confirmed terms, and the owner of the type.
pub(crate) fn read(role: &dyn Role, name: &str) -> Result<Option<(pg_sys::Oid, Value)>> {
    let found = statement::rows(
        role,
        "SELECT t.typowner, d.description FROM pg_type t
         JOIN pg_description d ON d.classoid = 'pg_type'::regclass AND d.objoid = t.oid AND d.objsubid = 0
         WHERE t.typnamespace = 'docsearch'::regnamespace AND t.typname = $1::text AND t.typtype = 'd'
           AND octet_length(d.description) <= $2",
        &[DatumWithOid::from(name), DatumWithOid::from(MAX_BYTES as i32)],
        |row| Ok((row.required::<pg_sys::Oid>(1)?, row.required::<String>(2)?)),
    )?;
    let found = found.into_iter().next();
    Ok(found.and_then(|(keeper, comment)| Some((keeper, parse(&comment)?))))
}

/// Drops the type, if it exists.
pub(crate) fn delete(role: &mut dyn Role, name: &str) -> Result<()> {
    let exists = statement::one(
        role,
        "SELECT FROM pg_type t WHERE t.typnamespace = 'docsearch'::regnamespace AND t.typname = $1::text AND t.typtype = 'd'",
        &[DatumWithOid::from(name)],
        |_| Ok(()),
    )?;
    if exists.is_none() {
        return Ok(());
    }
    let owner = &role.as_schema_owner()?;
    let run = |statement: String| subtransaction::run(|| statement::utility(owner, &statement));
    if run(format!("DROP DOMAIN docsearch.{name}")).is_err() {
        // Another object depends on the type, or another session locks it. Without its comment it confirms nothing.
        run(format!("COMMENT ON DOMAIN docsearch.{name} IS NULL")).ok();
    }
    Ok(())
}

/// Whether only the owner of the table, apart from superusers, may write it.
pub(crate) fn only_its_owner_writes(role: &dyn Role, table: &str) -> Result<bool> {
    let others = statement::one(
        role,
        "SELECT EXISTS (
             SELECT FROM pg_class c, aclexplode(c.relacl) g
             WHERE c.oid = $1::regclass AND g.grantee <> c.relowner
               AND g.privilege_type IN ('INSERT', 'UPDATE', 'DELETE', 'TRIGGER'))
         OR EXISTS (
             SELECT FROM pg_attribute t, aclexplode(t.attacl) g
             WHERE t.attrelid = $1::regclass AND g.privilege_type IN ('INSERT', 'UPDATE'))
         OR EXISTS (
             SELECT FROM pg_auth_members m JOIN pg_roles r ON r.oid = m.member
             WHERE m.roleid = 'pg_write_all_data'::regrole AND NOT r.rolsuper)",
        &[DatumWithOid::from(table)],
        |row| row.required::<bool>(1),
    )?;
    Ok(others == Some(false))
}

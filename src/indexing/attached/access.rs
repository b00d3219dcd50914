//! Checks who may read the rows of a table, and who would find their documents: searches apply the policies on
//! documents, but neither those of the table nor its privileges.

use docsearch_core::postgres::row_policy::about_documents;
use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;
use pgrx::prelude::*;

use super::{Columns, Table};
use crate::postgres::report::{Result, error_with_hint, invalid};
use crate::postgres::role::{Caller, Owner, Role};
use crate::postgres::statement;

/// Why the documents of a table may be found by every role that may search.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// All of these roles may read its rows.
    Readers,
    /// A policy on documents repeats the privileges and policies of the table.
    Policy,
    /// Its rows are public.
    Public,
}

impl Access {
    /// From the arguments `policy` and `public`.
    pub(crate) fn given(policy: Option<&str>, public: bool) -> Result<Self> {
        match (policy, public) {
            (None, false) => Ok(Self::Readers),
            (None, true) => Ok(Self::Public),
            (Some("copied"), false) => Ok(Self::Policy),
            (Some("copied"), true) => Err(invalid(
                "rows cannot be public and have a policy",
                "Give policy => 'copied' or public => true.",
            )),
            (Some(other), _) => Err(invalid(
                format!("unknown policy \"{other}\""),
                "policy => 'copied' states that docsearch.document has a policy for the documents of the table.",
            )),
        }
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Readers => "readers",
            Self::Policy => "policy",
            Self::Public => "public",
        }
    }
}

/// What keeps a role that may search from reading some of the rows.
enum Guard {
    /// Row-level security of this table: the attached one, or one that a view reads from.
    Policies(pg_sys::Oid, String),
    /// The view itself, which shows different rows to each role.
    View,
    /// A role without the privilege to read the table or a column.
    Rights(String),
}

/// Raises an error if a role that may search would find documents of rows that it may not read.
pub(super) fn require(caller: &Caller, table: &Table, columns: &Columns<'_>, access: Access) -> Result<()> {
    match access {
        Access::Public => Ok(()),
        Access::Policy => require_row_security(caller),
        Access::Readers => match guard(caller, table, columns)? {
            None => Ok(()),
            Some(guard) => Err(error_with_hint(
                PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                guard.problem(table),
                guard.hint(caller, table)?,
            )),
        },
    }
}

/// The problem with the documents of a table that was attached for readers.
pub(super) fn problem(owner: &Owner<'_>, table: &Table, columns: &Columns<'_>) -> Result<Option<String>> {
    Ok(guard(owner, table, columns)?.map(|guard| guard.problem(table)))
}

fn require_row_security(caller: &Caller) -> Result<()> {
    let enabled = statement::one(
        caller,
        "SELECT c.relrowsecurity FROM pg_class c WHERE c.oid = 'docsearch.document'::regclass",
        &[],
        |row| row.required::<bool>(1),
    )?;
    if enabled == Some(true) {
        return Ok(());
    }
    Err(error_with_hint(
        PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        "docsearch.document has no row-level security, so no policy applies there",
        "ALTER TABLE docsearch.document ENABLE ROW LEVEL SECURITY, or attach the table with public => true.",
    ))
}

/// The attached table or view, with all that a view reads from.
const READ: &str = "WITH RECURSIVE read(oid) AS (
    SELECT $1::oid
    UNION
    SELECT d.refobjid FROM read JOIN pg_rewrite w ON w.ev_class = read.oid AND w.ev_type = '1'
    JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid
                    AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> read.oid)";

fn guard(role: &dyn Role, table: &Table, columns: &Columns<'_>) -> Result<Option<Guard>> {
    let source = || DatumWithOid::from(table.oid);
    let policies = statement::one(
        role,
        &format!(
            "{READ} SELECT c.oid, format('%I.%I', n.nspname, c.relname)
             FROM read JOIN pg_class c USING (oid) JOIN pg_namespace n ON n.oid = c.relnamespace
             WHERE c.relrowsecurity ORDER BY c.oid <> $1, c.oid LIMIT 1"
        ),
        &[source()],
        |row| Ok(Guard::Policies(row.required(1)?, row.required(2)?)),
    )?;
    if policies.is_some() {
        return Ok(policies);
    }
    // The rows of a view may depend on the current user.
    let hides = statement::one(
        role,
        &format!(
            "{READ} SELECT FROM read JOIN pg_class c USING (oid)
             WHERE c.relkind = 'v'
               AND (EXISTS (SELECT FROM unnest(c.reloptions) o(option) WHERE o.option ~* '^security_(barrier|invoker)=(t|on|y|1)')
                    OR pg_get_viewdef(c.oid) ~ '\\m(CURRENT_USER|CURRENT_ROLE|SESSION_USER|current_setting|pg_has_role|has_\\w+_privilege|row_security_active)\\M')
             LIMIT 1"
        ),
        &[source()],
        |_| Ok(Guard::View),
    )?;
    if hides.is_some() {
        return Ok(hides);
    }
    let names: Vec<String> = columns.names().map(str::to_owned).collect();
    statement::one(
        role,
        "SELECT r.rolname::text
         FROM pg_roles r, pg_class d, pg_class c
         WHERE d.oid = 'docsearch.document'::regclass AND c.oid = $1 AND NOT r.rolsuper
           AND NOT pg_has_role(r.oid, d.relowner, 'USAGE')
           AND has_schema_privilege(r.oid, d.relnamespace, 'USAGE') AND has_table_privilege(r.oid, d.oid, 'SELECT')
           AND NOT (has_schema_privilege(r.oid, c.relnamespace, 'USAGE')
                    AND (has_table_privilege(r.oid, c.oid, 'SELECT')
                         OR NOT EXISTS (SELECT FROM unnest($2::text[]) AS n(name)
                                        WHERE NOT has_column_privilege(r.oid, c.oid, n.name, 'SELECT'))))
         ORDER BY r.rolname LIMIT 1",
        &[source(), DatumWithOid::from(names)],
        |row| Ok(Guard::Rights(row.required(1)?)),
    )
}

impl Guard {
    fn problem(&self, table: &Table) -> String {
        let name = &table.qualified;
        match self {
            Self::Policies(of, _) if *of == table.oid => {
                format!("table {name} has row-level security, which searches do not apply")
            }
            Self::Policies(_, of) => {
                format!("view {name} reads table {of}, which has row-level security that searches do not apply")
            }
            Self::View => format!("view {name} may show each role different rows, but searches show all of them"),
            Self::Rights(role) => {
                format!("role \"{role}\" may search, but may not read all indexed columns of {name}")
            }
        }
    }

    /// The policy to create, as far as it follows from the catalogs.
    fn hint(&self, caller: &Caller, table: &Table) -> Result<String> {
        let root = pgrx::spi::quote_literal(table.source_root());
        let permitted = match self {
            Self::Policies(of, _) if *of == table.oid => policies_of(caller, *of)?,
            Self::Policies(..) | Self::View => None,
            Self::Rights(_) => Some((rights_on(caller, table)?, Vec::new())),
        };
        let mut alternatives = vec![format!("source_root IS DISTINCT FROM {root}")];
        let (metadata, open) = match &permitted {
            Some((condition, columns)) => {
                alternatives.extend((!condition.is_empty()).then(|| condition.clone()));
                match columns.as_slice() {
                    [] => (String::new(), ""),
                    columns => (format!(", and with {} in metadata", columns.join(", ")), ""),
                }
            }
            None => {
                alternatives.push("...".to_owned());
                let open = " Replace the dots by a condition on metadata of documents that says which role may read which rows.";
                (String::new(), open)
            }
        };
        alternatives.extend(writer(caller)?);
        let (missing, name) = (missing(caller)?, pgrx::spi::quote_identifier(&table.name));
        Ok(format!(
            "Attach it with policy => 'copied'{metadata}, once docsearch.document has the policy: {missing}\
             CREATE POLICY {name} ON docsearch.document AS RESTRICTIVE FOR SELECT USING ({}).{open} \
             If every role that may search may read its rows, attach it with public => true.",
            alternatives.join(" OR ")
        ))
    }
}

/// The condition that a role may read a table. It looks up the name only for roles that may use its schema: for others
/// that is an error.
fn rights_on(caller: &Caller, table: &Table) -> Result<String> {
    let rights = statement::one(
        caller,
        "SELECT format('has_schema_privilege(%L, ''USAGE'') AND has_table_privilege(%L, ''SELECT'')', n.nspname, $2)
         FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = $1",
        &[
            DatumWithOid::from(table.oid),
            DatumWithOid::from(table.qualified.as_str()),
        ],
        |row| row.required::<String>(1),
    )?;
    Ok(rights.unwrap_or_else(|| "false".to_owned()))
}

/// A condition on documents that is equivalent to the policies of a table for SELECT, and the columns in it; `None` if
/// there is no exact one.
fn policies_of(caller: &Caller, table: pg_sys::Oid) -> Result<Option<(String, Vec<String>)>> {
    let columns = statement::rows(
        caller,
        "SELECT a.attname::text, format_type(a.atttypid, a.atttypmod) FROM pg_attribute a
         WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped",
        &[DatumWithOid::from(table)],
        |row| Ok((row.required::<String>(1)?, row.required::<String>(2)?)),
    )?;
    let policies = statement::rows(
        caller,
        "SELECT p.polpermissive, pg_get_expr(p.polqual, p.polrelid), p.polroles = '{0}'::oid[] FROM pg_policy p
         WHERE p.polrelid = $1 AND p.polcmd IN ('*', 'r') AND p.polqual IS NOT NULL ORDER BY p.polname",
        &[DatumWithOid::from(table)],
        |row| {
            Ok((
                row.required::<bool>(1)?,
                row.required::<String>(2)?,
                row.required::<bool>(3)?,
            ))
        },
    )?;
    let (mut permissive, mut restrictive, mut named) = (Vec::new(), Vec::new(), Vec::new());
    for (is_permissive, condition, is_for_all) in policies {
        let Some((condition, columns)) = about_documents(&condition, &columns).filter(|_| is_for_all) else {
            return Ok(None);
        };
        named.extend(columns);
        let conditions = if is_permissive {
            &mut permissive
        } else {
            &mut restrictive
        };
        conditions.push(condition);
    }
    named.sort();
    named.dedup();
    if permissive.is_empty() {
        return Ok(Some((String::new(), Vec::new())));
    }
    let permitted = permissive.join(" OR ");
    if restrictive.is_empty() {
        return Ok(Some((permitted, named)));
    }
    Ok(Some((
        format!("({permitted}) AND {}", restrictive.join(" AND ")),
        named,
    )))
}

/// The condition that the caller sees the documents that it writes, if policies apply to it.
fn writer(caller: &Caller) -> Result<Option<String>> {
    statement::one(
        caller,
        "SELECT format('current_user = %L', current_user) FROM pg_class d, pg_roles r
         WHERE d.oid = 'docsearch.document'::regclass AND r.rolname = current_user
           AND NOT r.rolsuper AND NOT r.rolbypassrls AND NOT pg_has_role(d.relowner, 'USAGE')",
        &[],
        |row| row.required(1),
    )
}

/// What the policy needs besides: a restrictive policy only limits permissive ones.
fn missing(caller: &Caller) -> Result<String> {
    let (enabled, permits) = statement::one(
        caller,
        "SELECT c.relrowsecurity, EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polpermissive)
         FROM pg_class c WHERE c.oid = 'docsearch.document'::regclass",
        &[],
        |row| Ok((row.required::<bool>(1)?, row.required::<bool>(2)?)),
    )?
    .unwrap_or_default();
    let mut missing = String::new();
    if !enabled {
        missing.push_str("ALTER TABLE docsearch.document ENABLE ROW LEVEL SECURITY; ");
    }
    if !permits {
        missing.push_str("CREATE POLICY documents ON docsearch.document USING (true); ");
    }
    Ok(missing)
}

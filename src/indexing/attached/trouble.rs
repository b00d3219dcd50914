//! Problems of attached tables that show in the catalogs, or that keep their rows from being read.

use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;

use super::{Access, Attached, Table, access, read, watched};
use crate::postgres::report::{Result, in_one_line, internal};
use crate::postgres::role::Owner;
use crate::postgres::{catalog, statement};

/// The kind of problem.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Changed rows are not read.
    Unread,
    /// Roles find rows that they may not read.
    Exposed,
    /// Changes of tables that a view reads from are not recorded.
    Silent,
    /// Some rows were left out.
    Incomplete,
}

/// A problem of an attached table.
pub(crate) struct Trouble {
    pub(crate) project: i64,
    /// The table, or the name that its documents have if it was dropped.
    pub(crate) name: String,
    pub(crate) reason: String,
    pub(crate) kind: Kind,
    /// The owner of the table, who may see every detail.
    pub(crate) owner: Option<pg_sys::Oid>,
}

impl Trouble {
    /// Whether it keeps rows from being read.
    pub(crate) fn is_unread(&self) -> bool {
        self.kind == Kind::Unread
    }

    /// Whether a role may see the problem: the owner of the table, or of schema `docsearch`.
    pub(crate) fn is_for(&self, role: pg_sys::Oid) -> bool {
        let owners = self.owner.into_iter().chain(catalog::schema_owner());
        // SAFETY: reads the cache of memberships.
        owners
            .into_iter()
            .any(|owner| unsafe { pg_sys::has_privs_of_role(role, owner) })
    }
}

/// The problems of attached tables, of one project or of all.
pub(crate) fn troubles(owner: &Owner<'_>, project: Option<i64>) -> Result<Vec<Trouble>> {
    let attached = read(
        owner,
        "$1::bigint IS NULL OR a.project_id = $1",
        &[DatumWithOid::from(project)],
    )?;
    let mut troubles = Vec::new();
    for attached in attached {
        troubles.extend(attached.trouble(owner)?);
        troubles.extend(attached.incomplete(owner)?);
    }
    Ok(troubles)
}

impl Attached {
    fn trouble(&self, owner: &Owner<'_>) -> Result<Option<Trouble>> {
        let owner_of_table = catalog::owner_of(self.source);
        let trouble = |name: String, reason: String, kind| {
            Ok(Some(Trouble {
                project: self.project,
                name,
                reason,
                kind,
                owner: owner_of_table,
            }))
        };
        if owner_of_table.is_none() {
            let reason = match self.error(owner, "a.attempts > 0 AND NOT a.reading AND a.error IS NOT NULL")? {
                Some(error) => format!("it was dropped, and its documents stay: {error}"),
                None => "it was dropped; the background worker will delete its documents".to_owned(),
            };
            return trouble(self.former_name(), reason, Kind::Unread);
        }
        let table = Table::of(owner, Some(self.source))?;
        let name = table.qualified.clone();
        let columns = self.columns();
        if let Err(problem) = self.check(owner).and_then(|()| columns.check(&table)) {
            return trouble(name, in_one_line(&problem), Kind::Unread);
        }
        let waits = "a.attempts > 0 AND NOT a.reading
             AND (a.loading OR EXISTS (SELECT FROM docsearch.table_change c WHERE c.attached_id = a.id))";
        if let Some(error) = self.error(owner, waits)? {
            return trouble(name, error, Kind::Unread);
        }
        if let Some(silent) = watched::first_unrecorded(owner, self.id)? {
            let reason = format!("triggers that record changes of {silent} are missing, disabled or changed");
            return trouble(name, reason, Kind::Silent);
        }
        match (self.access == Access::Readers.as_str()).then(|| access::problem(owner, &table, &columns)) {
            Some(problem) => problem?.map_or(Ok(None), |problem| trouble(name, problem, Kind::Exposed)),
            None => Ok(None),
        }
    }

    pub(super) fn former_name(&self) -> String {
        let name = self.source_root.strip_prefix("table:");
        name.unwrap_or(&self.source_root).to_owned()
    }

    /// Rows of a table that is otherwise read were left out.
    fn incomplete(&self, owner: &Owner<'_>) -> Result<Option<Trouble>> {
        let owner_of_table = catalog::owner_of(self.source);
        // At its first attempt, a table has errors of rows only.
        let error = match owner_of_table {
            Some(_) => self.error(
                owner,
                "a.error IS NOT NULL AND (a.attempts = 0 OR a.reading AND a.attempts = 1)",
            )?,
            None => None,
        };
        let Some(reason) = error else {
            return Ok(None);
        };
        Ok(Some(Trouble {
            project: self.project,
            name: Table::of(owner, Some(self.source))?.qualified,
            reason,
            kind: Kind::Incomplete,
            owner: owner_of_table,
        }))
    }

    /// The last error of a row, if the condition is true.
    fn error(&self, owner: &Owner<'_>, condition: &str) -> Result<Option<String>> {
        let found = statement::latest(
            owner,
            &format!(
                "SELECT coalesce(a.error, 'it could not be read') FROM docsearch.attached_table a
                 WHERE a.id = $1 AND {condition}"
            ),
            &[DatumWithOid::from(self.id)],
            |row| row.required::<String>(1),
        );
        found.map(|rows| rows.into_iter().next()).map_err(internal)
    }
}

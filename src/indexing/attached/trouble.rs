//! What is wrong with attached tables, as far as catalogs tell, and what keeps their rows from being read.

use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;

use super::{Access, Attached, Table, access, read, watched};
use crate::postgres::report::{Result, in_one_line, internal};
use crate::postgres::{catalog, statement};

/// What is wrong with an attached table.
pub(crate) struct Trouble {
    pub(crate) project: i64,
    /// The table, or what its documents say of it where it is gone.
    pub(crate) name: String,
    pub(crate) reason: String,
    /// Whether rows are not read because of it.
    pub(crate) is_unread: bool,
    /// The owner of the table, who may know all about it.
    pub(crate) owner: Option<pg_sys::Oid>,
}

impl Trouble {
    /// Whether a role may know what is wrong: the owner of the table, or of schema `docsearch`.
    pub(crate) fn is_for(&self, role: pg_sys::Oid) -> bool {
        let owners = self.owner.into_iter().chain(catalog::schema_owner());
        // SAFETY: asks the cache of memberships.
        owners
            .into_iter()
            .any(|owner| unsafe { pg_sys::has_privs_of_role(role, owner) })
    }
}

/// What is wrong with attached tables, of one project or of all. Runs as the owner.
pub(crate) fn troubles(project: Option<i64>) -> Result<Vec<Trouble>> {
    let attached = read(
        "$1::bigint IS NULL OR a.project_id = $1",
        &[DatumWithOid::from(project)],
    )?;
    let mut troubles = Vec::new();
    for attached in attached {
        troubles.extend(attached.trouble()?);
    }
    Ok(troubles)
}

impl Attached {
    fn trouble(&self) -> Result<Option<Trouble>> {
        let owner = catalog::owner_of(self.source);
        let trouble = |name: String, reason: String, is_unread| {
            Ok(Some(Trouble {
                project: self.project,
                name,
                reason,
                is_unread,
                owner,
            }))
        };
        if owner.is_none() {
            let reason = "it was dropped, and its documents go when the background worker runs next".to_owned();
            return trouble(self.former_name(), reason, true);
        }
        let table = Table::of(Some(self.source))?;
        let name = table.qualified.clone();
        let columns = self.columns();
        if let Err(problem) = self.check().and_then(|()| columns.check(&table)) {
            return trouble(name, in_one_line(&problem), true);
        }
        if let Some(error) = self.failure()? {
            return trouble(name, error, true);
        }
        if let Some(silent) = watched::silent(self.id)? {
            let reason = format!("there are no triggers any more, or disabled ones, that tell of changes in {silent}");
            return trouble(name, reason, false);
        }
        match (self.access == Access::Readers.as_str()).then(|| access::problem(&table, &columns)) {
            Some(problem) => problem?.map_or(Ok(None), |problem| trouble(name, problem, false)),
            None => Ok(None),
        }
    }

    pub(super) fn former_name(&self) -> String {
        let name = self.source_root.strip_prefix("table:");
        name.unwrap_or(&self.source_root).to_owned()
    }

    /// What the last attempt to read it failed with, if rows wait for another one.
    fn failure(&self) -> Result<Option<String>> {
        let failure = statement::latest(
            "SELECT coalesce(a.error, 'it could not be read') FROM docsearch.attached_table a
             WHERE a.id = $1 AND a.attempts > 0 AND NOT a.reading
               AND (a.loading OR EXISTS (SELECT FROM docsearch.table_change c WHERE c.attached_id = a.id))",
            &[DatumWithOid::from(self.id)],
            |row| row.required::<String>(1),
        );
        failure.map(|rows| rows.into_iter().next()).map_err(internal)
    }
}

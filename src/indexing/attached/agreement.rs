//! The terms that the owner of a table has agreed to by attaching it. `docsearch.attached_table` has the columns and
//! roles to read as and write as. But roles that may write that table, such as members of `pg_write_all_data`, need not
//! be able to act as those roles. So the worker uses a row only while it matches two comments, which no right to write
//! data can make:
//!
//! - the comment on the first trigger of the table. Only the owner of the table can make it; the right TRIGGER is not
//!   enough.
//! - the comment on the type `docsearch.attached_N`. Only the owner of schema `docsearch` can make it, who has to be
//!   able to act as both roles. It holds the agreement of the role that writes, where that is not the owner of the
//!   table. It is dropped when the table is detached, whatever happens to the trigger.

use std::collections::BTreeSet;

use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;
use pgrx::prelude::*;
use serde_json::{Map, Value, json};

use super::{Attached, Table};
use crate::postgres::owner;
use crate::postgres::report::{Result, error_with_hint, internal, undefined};
use crate::postgres::role::{Caller, Owner, Role};
use crate::postgres::{catalog, statement, subtransaction};
use crate::tables::confirmation::{self, MAX_BYTES, place};

const PREFACE: &str =
    "What was agreed on when docsearch.attach_table() was called; rows are read only while it stays as it is.";
const REATTACH: &str =
    "Detach it, with keep_documents => true if its documents are to stay, and have its owner attach it again.";

impl Attached {
    /// The terms, by columns of `docsearch.attached_table`.
    fn terms(&self) -> Value {
        let mut terms = json!({
            "id": self.id,
            "project_id": self.project,
            "source_root": self.source_root,
            "slug_prefix": self.slug_prefix,
            "key_column": self.key,
            "title_column": self.title,
            "body_column": self.body,
            "category_column": self.category,
            "metadata_columns": self.metadata,
            "published_at_column": self.published_at,
            "changed_at_column": self.changed_at,
            "rows_where": self.rows_where,
            "access": self.access,
            "poll_every": self.poll_every,
        });
        // Agreements from before this column do not have it.
        if let Some(questions) = &self.questions {
            terms["questions_column"] = json!(questions);
        }
        terms
    }

    /// The text of both comments. Roles have their names, for a dump that is restored elsewhere, and their OIDs, for
    /// this server, where other roles may get their names.
    fn agreement(&self) -> Result<String> {
        let agreement = json!({
            "terms": self.terms(),
            "reads_as": catalog::role_name(self.reads_as),
            "writes_as": catalog::role_name(self.writes_as),
            "numbers": {
                "place": place(),
                "reads_as": self.reads_as.to_u32(),
                "writes_as": self.writes_as.to_u32(),
            },
        });
        let text = confirmation::text(PREFACE, &agreement);
        if text.len() > MAX_BYTES {
            return Err(internal("the terms of the attached table are too long"));
        }
        Ok(text)
    }

    /// Writes both comments. The caller owns the table, which has its triggers already.
    pub(super) fn agree(&self, caller: &mut Caller, table: &Table) -> Result<()> {
        let text = self.agreement()?;
        table.comment(caller, self.id, &text)?;
        record(caller, self.id, &text)
    }

    /// Raises an error if the row does not match the agreement, or if it has ended: see [`agree`](Self::agree).
    pub(super) fn require_agreed(&self, owner: &Owner<'_>, table: &Table) -> Result<()> {
        let Some(agreed) = table
            .read_comment(owner, self.id, MAX_BYTES)?
            .as_deref()
            .and_then(confirmation::parse)
        else {
            return Err(not_agreed(
                format!(
                    "the owner of table {} has not confirmed how it is attached",
                    table.qualified
                ),
                REATTACH,
            ));
        };
        self.require_same(&agreed, &format!("the owner of table {}", table.qualified))?;
        owner::require_may_act_as(self.reads_as)?;
        owner::require_may_act_as(self.writes_as)?;
        self.require_recorded(owner)?;
        let name = |role| catalog::role_name(role).unwrap_or_default();
        let (reader, writer) = (name(self.reads_as), name(self.writes_as));
        self.require_rights(owner, table, &writer)?;
        // SAFETY: both are roles.
        if unsafe { pg_sys::has_privs_of_role(self.writes_as, self.reads_as) } {
            return Ok(());
        }
        Err(not_agreed(
            format!(
                "role \"{writer}\", which attached table {}, is not a member of its owner \"{reader}\" any more",
                table.qualified
            ),
            &format!(
                "GRANT {} TO {}, or detach the table and have its owner attach it again.",
                pgrx::spi::quote_identifier(&reader),
                pgrx::spi::quote_identifier(&writer),
            ),
        ))
    }

    /// Raises an error for a role that may not write documents any more: no document of the table could be written.
    fn require_rights(&self, owner: &Owner<'_>, table: &Table, writer: &str) -> Result<()> {
        let may = statement::one(
            owner,
            "SELECT has_schema_privilege($1, 'docsearch', 'USAGE') AND has_table_privilege($1, 'docsearch.document', 'DELETE')
                AND bool_and(has_any_column_privilege($1, 'docsearch.document', r.name))
             FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE']) AS r(name)",
            &[DatumWithOid::from(self.writes_as)],
            |row| row.required::<bool>(1),
        )?;
        if may == Some(true) {
            return Ok(());
        }
        Err(error_with_hint(
            PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE,
            format!(
                "permission denied to write documents as role \"{writer}\", which attached table {}",
                table.qualified
            ),
            format!(
                "SELECT docsearch.grant_usage({}, write => true).",
                pgrx::spi::quote_literal(writer)
            ),
        ))
    }

    /// Raises an error for terms that the owner of the schema has not recorded.
    fn require_recorded(&self, owner: &Owner<'_>) -> Result<()> {
        let Some((keeper, agreed)) = recorded(owner, self.id)? else {
            return Err(self.not_recorded(REATTACH));
        };
        self.require_same(&agreed, "the owner of schema docsearch")?;
        // SAFETY: all are roles.
        let may = |role| unsafe { pg_sys::member_can_set_role(keeper, role) };
        if may(self.reads_as) && may(self.writes_as) {
            return Ok(());
        }
        Err(not_agreed(
            format!(
                "the owner of type docsearch.{} may not act as the roles that it names",
                type_name(self.id)
            ),
            REATTACH,
        ))
    }

    /// Raises an error if nothing shows that the documents of a dropped table are its own. The roles do not matter for
    /// this.
    pub(super) fn require_recorded_documents(&self, owner: &Owner<'_>) -> Result<()> {
        let hint = "Delete its row in docsearch.attached_table, and its documents if they are not wanted.";
        let Some((keeper, agreed)) = recorded(owner, self.id)? else {
            return Err(self.not_recorded(hint));
        };
        // SAFETY: both are roles.
        let is_owners = unsafe { pg_sys::member_can_set_role(keeper, owner.id()) };
        if is_owners && agreed["terms"] == self.terms() {
            return Ok(());
        }
        Err(self.not_recorded(hint))
    }

    fn not_recorded(&self, hint: &str) -> pg_sys::panic::ErrorReport {
        not_agreed(
            format!(
                "schema docsearch has no record of how {} was attached",
                self.former_name()
            ),
            hint,
        )
    }

    fn require_same(&self, agreed: &Value, who: &str) -> Result<()> {
        let terms = self.terms();
        let columns = [&terms, &agreed["terms"]].map(Value::as_object);
        let columns: BTreeSet<&str> = columns
            .into_iter()
            .flatten()
            .flat_map(Map::keys)
            .map(String::as_str)
            .collect();
        let mut other: Vec<&str> = columns
            .into_iter()
            .filter(|column| agreed["terms"].get(column) != terms.get(column))
            .collect();
        let is_here = agreed["numbers"]["place"].as_str() == Some(place().as_str());
        for (column, role) in [("reads_as", self.reads_as), ("writes_as", self.writes_as)] {
            let is_same = if is_here {
                agreed["numbers"][column] == json!(role.to_u32())
            } else {
                catalog::role_name(role).is_some_and(|name| agreed[column] == json!(name))
            };
            if !is_same {
                other.push(column);
            }
        }
        if other.is_empty() {
            return self.require_roles(agreed);
        }
        Err(not_agreed(
            format!(
                "docsearch.attached_table differs from what {who} confirmed: {}",
                other.join(", ")
            ),
            REATTACH,
        ))
    }

    fn require_roles(&self, agreed: &Value) -> Result<()> {
        for (column, role, what) in [
            ("reads_as", self.reads_as, "owned"),
            ("writes_as", self.writes_as, "attached"),
        ] {
            if catalog::role_name(role).is_none() {
                let name = agreed[column].as_str().unwrap_or_default();
                return Err(undefined(
                    format!("role \"{name}\", which {what} it, does not exist any more"),
                    REATTACH,
                ));
            }
        }
        Ok(())
    }
}

fn not_agreed(problem: String, hint: &str) -> pg_sys::panic::ErrorReport {
    error_with_hint(PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, problem, hint)
}

fn type_name(id: i32) -> String {
    format!("attached_{id}")
}

/// Has the owner of the schema record the agreement.
fn record(caller: &mut Caller, id: i32, text: &str) -> Result<()> {
    let owner = &caller.as_schema_owner()?;
    confirmation::write(owner, &type_name(id), text)
}

/// The recorded agreement, and the owner of the type that has it.
fn recorded(owner: &Owner<'_>, id: i32) -> Result<Option<(pg_sys::Oid, Value)>> {
    confirmation::read(owner, &type_name(id))
}

/// Deletes the recorded agreement.
pub(super) fn delete(role: &mut dyn Role, id: i32) -> Result<()> {
    confirmation::delete(role, &type_name(id))
}

/// Deletes recorded agreements of tables that are not attached any more because their projects were dropped.
pub(super) fn delete_unused(owner: &mut Owner<'_>) -> Result<()> {
    let unused = statement::rows(
        owner,
        "SELECT substr(t.typname::text, 10)::int FROM pg_type t
         WHERE t.typnamespace = 'docsearch'::regnamespace AND t.typtype = 'd' AND t.typname::text ~ '^attached_[0-9]{1,9}$'
           AND NOT EXISTS (SELECT FROM docsearch.attached_table a WHERE t.typname::text = 'attached_' || a.id)
           AND obj_description(t.oid, 'pg_type') IS NOT NULL",
        &[],
        |row| row.required::<i32>(1),
    )?;
    unused.into_iter().try_for_each(|id| delete(owner, id))
}

/// Confirms, once, tables that were attached before there were agreements, if only the owner of
/// `docsearch.attached_table`, who may act as the named roles, can have written the rows. Other tables wait until they
/// are attached again.
pub(crate) fn agree_to_earlier(caller: &mut Caller) -> Result<()> {
    if !confirmation::only_its_owner_writes(caller, "docsearch.attached_table")? {
        return Ok(());
    }
    for attached in super::read(caller, "true", &[])? {
        let agreed = subtransaction::run(|| {
            let table = Table::of(caller, Some(attached.source))?;
            attached.require_unchanged(caller, &table)?;
            owner::require_may_act_as(attached.writes_as)?;
            table.comment(
                &*caller.acting_as(attached.reads_as)?,
                attached.id,
                &attached.agreement()?,
            )?;
            record(caller, attached.id, &attached.agreement()?)
        });
        // `check()` reports the problem.
        drop(agreed);
    }
    Ok(())
}

//! A table of a user that is to be attached, or is.

use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;
use pgrx::prelude::*;

use crate::postgres::catalog::{self, Column};
use crate::postgres::report::{Result, error_with_hint, internal, invalid, undefined};
use crate::postgres::statement;

/// What fires a trigger, and what the trigger sees.
pub(super) struct Event {
    name: &'static str,
    referencing: &'static str,
}

pub(super) const EVENTS: [Event; 4] = [
    Event {
        name: "INSERT",
        referencing: "REFERENCING NEW TABLE AS docsearch_new",
    },
    Event {
        name: "UPDATE",
        referencing: "REFERENCING OLD TABLE AS docsearch_old NEW TABLE AS docsearch_new",
    },
    Event {
        name: "DELETE",
        referencing: "REFERENCING OLD TABLE AS docsearch_old",
    },
    Event {
        name: "TRUNCATE",
        referencing: "",
    },
];

/// A table of a user.
pub(crate) struct Table {
    pub(crate) oid: pg_sys::Oid,
    pub(crate) name: String,
    /// Schema and name, quoted.
    pub(crate) qualified: String,
    pub(crate) kind: String,
    pub(crate) lasting: bool,
    pub(crate) owned: bool,
    /// The role that owns it.
    pub(crate) owner: String,
}

impl Table {
    /// The table that an argument names.
    pub(crate) fn of(source: Option<pg_sys::Oid>) -> Result<Self> {
        let hint = "Name a table, such as 'public.articles'.";
        let source = source.ok_or_else(|| invalid("source must not be null", hint))?;
        let table = statement::one(
            "SELECT c.relname::text, format('%I.%I', n.nspname, c.relname), c.relkind::text,
                    c.relpersistence <> 't', pg_has_role(c.relowner, 'USAGE'), pg_get_userbyid(c.relowner)::text
             FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = $1",
            &[DatumWithOid::from(source)],
            |row| {
                Ok(Self {
                    oid: source,
                    name: row.required(1)?,
                    qualified: row.required(2)?,
                    kind: row.required(3)?,
                    lasting: row.required(4)?,
                    owned: row.required(5)?,
                    owner: row.required(6)?,
                })
            },
        )?;
        table.ok_or_else(|| undefined("there is no such table", hint))
    }

    /// Refuses everybody but its owner.
    pub(crate) fn require_owned(&self) -> Result<()> {
        if self.owned {
            return Ok(());
        }
        Err(error_with_hint(
            PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE,
            format!("must be owner of table {}", self.qualified),
            "Its owner decides whether its rows can be searched.",
        ))
    }

    /// Only a table that all sessions see and that has triggers for statements can be attached.
    pub(crate) fn require_lasting(&self) -> Result<()> {
        if self.lasting && ["r", "p"].contains(&self.kind.as_str()) {
            return Ok(());
        }
        Err(error_with_hint(
            PgSqlErrorCode::ERRCODE_WRONG_OBJECT_TYPE,
            format!("{} cannot be attached", self.qualified),
            "Attach an ordinary or a partitioned table, or use docsearch.index_docs().",
        ))
    }

    /// Its column of this name.
    pub(crate) fn column(&self, name: &str) -> Result<Column> {
        catalog::column(self.oid, name)?.ok_or_else(|| {
            error_with_hint(
                PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN,
                format!("column \"{name}\" of table {} does not exist", self.qualified),
                "Name the columns: key => 'id', title => 'title', body => 'body'.",
            )
        })
    }

    /// The column of the key. The triggers write keys as text in the name of whoever changes the table, and
    /// the worker reads them: only what comes with Postgres may run then.
    pub(crate) fn key_column(&self, name: &str) -> Result<Column> {
        let key = self.column(name)?;
        if catalog::is_plain_type(key.type_oid) && catalog::is_ordered(key.type_oid) && !key.is_virtual {
            return Ok(key);
        }
        Err(error_with_hint(
            PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH,
            format!("column \"{name}\" of type {} cannot be the key", key.type_name),
            "Use a stored column of a type that comes with Postgres and has an order, such as bigint, uuid or text.",
        ))
    }

    pub(super) fn create_trigger(&self, id: i32, event: Event) -> Result<()> {
        let (table, Event { name, referencing }) = (&self.qualified, event);
        Spi::run(&format!(
            "CREATE TRIGGER {} AFTER {name} ON {table} {referencing}
             FOR EACH STATEMENT EXECUTE FUNCTION docsearch.attached_changed('{id}')",
            trigger(id, name),
        ))
        .map_err(internal)
    }

    pub(super) fn drop_trigger(&self, id: i32, event: Event) -> Result<()> {
        let table = &self.qualified;
        Spi::run(&format!(
            "DROP TRIGGER IF EXISTS {} ON {table}",
            trigger(id, event.name)
        ))
        .map_err(internal)
    }
}

fn trigger(id: i32, event: &str) -> String {
    format!("docsearch_{id}_{}", event.to_lowercase())
}

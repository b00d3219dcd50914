//! A table of a user that is attached, or is about to be.

use pgrx::datum::{DatumWithOid, Interval};
use pgrx::pg_sys;
use pgrx::prelude::*;

use super::{Columns, Terms};
use crate::postgres::catalog::{self, Column};
use crate::postgres::report::{Result, error_with_hint, invalid, undefined};
use crate::postgres::role::{Caller, Role};
use crate::postgres::row_type::row_type;
use crate::postgres::statement;

/// An event that fires a trigger, and the transition tables of the trigger.
struct Event {
    name: &'static str,
    referencing: &'static str,
    /// `pg_trigger.tgtype` of an AFTER trigger for statements.
    kind: i16,
}

const EVENTS: [Event; 4] = [
    Event {
        name: "INSERT",
        referencing: "REFERENCING NEW TABLE AS docsearch_new",
        kind: pg_sys::TRIGGER_TYPE_INSERT as i16,
    },
    Event {
        name: "UPDATE",
        referencing: "REFERENCING OLD TABLE AS docsearch_old NEW TABLE AS docsearch_new",
        kind: pg_sys::TRIGGER_TYPE_UPDATE as i16,
    },
    Event {
        name: "DELETE",
        referencing: "REFERENCING OLD TABLE AS docsearch_old",
        kind: pg_sys::TRIGGER_TYPE_DELETE as i16,
    },
    Event {
        name: "TRUNCATE",
        referencing: "",
        kind: pg_sys::TRIGGER_TYPE_TRUNCATE as i16,
    },
];

row_type! {
    /// A trigger of a table in the catalog.
    struct TriggerRow {
        arguments: Vec<u8> = "t.tgargs",
        is_enabled: bool = "t.tgenabled IN ('O', 'A')",
        kind: i16 = "t.tgtype",
        /// Whether it fires only under a condition, or for certain columns.
        is_partial: bool = "t.tgqual IS NOT NULL OR t.tgattr::text <> ''",
        has_old_table: bool = "t.tgoldtable IS NOT NULL",
        has_new_table: bool = "t.tgnewtable IS NOT NULL",
    }
}

impl TriggerRow {
    /// Whether it records every change by an event, for the attached table with this id.
    fn records(&self, id: i32, event: &Event, referencing: &str) -> bool {
        let number = self.arguments.split(|byte| *byte == 0).next();
        let wanted = (referencing.contains("OLD TABLE"), referencing.contains("NEW TABLE"));
        number == Some(id.to_string().as_bytes())
            && self.kind == event.kind
            && !self.is_partial
            && (self.has_old_table, self.has_new_table) == wanted
    }
}

/// Shortest interval between reads of a view, in microseconds.
const MIN_INTERVAL: i128 = 1_000_000;

row_type! {
    /// A table of a user.
    pub(crate) struct Table {
        pub(crate) oid: pg_sys::Oid = "c.oid",
        pub(crate) name: String = "c.relname::text",
        /// Schema and name, quoted.
        pub(crate) qualified: String = "format('%I.%I', n.nspname, c.relname)",
        pub(crate) kind: String = "c.relkind::text",
        /// Whether it is no temporary table.
        pub(crate) is_permanent: bool = "c.relpersistence <> 't'",
        /// Whether the current user owns it.
        pub(crate) owned: bool = "pg_has_role(c.relowner, 'USAGE')",
        /// The role that owns it.
        pub(crate) owner: pg_sys::Oid = "c.relowner",
    }
}

impl Table {
    /// The table that an argument names.
    pub(crate) fn of(role: &dyn Role, source: Option<pg_sys::Oid>) -> Result<Self> {
        let hint = "Name a table, such as 'public.articles'.";
        let source = source.ok_or_else(|| invalid("source must not be null", hint))?;
        let table = statement::one(
            role,
            &format!(
                "SELECT {} FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = $1",
                Self::select_list()
            ),
            &[DatumWithOid::from(source)],
            Self::read,
        )?;
        table.ok_or_else(|| undefined("table does not exist", hint))
    }

    /// Raises an error if the current user does not own it.
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

    /// Raises an error unless it is a view, or a permanent table that can have statement triggers.
    pub(crate) fn require_attachable(&self) -> Result<()> {
        if self.is_permanent && ["r", "p", "v"].contains(&self.kind.as_str()) {
            return Ok(());
        }
        let hint = match self.kind.as_str() {
            "m" => "Attach a view of it: CREATE VIEW ... AS SELECT * FROM the materialised view.",
            _ => "Attach an ordinary or a partitioned table or a view, or use docsearch.index_docs().",
        };
        Err(error_with_hint(
            PgSqlErrorCode::ERRCODE_WRONG_OBJECT_TYPE,
            format!("{} cannot be attached", self.qualified),
            hint,
        ))
    }

    /// The column with this name.
    pub(crate) fn column(&self, name: &str) -> Result<Column> {
        catalog::column(self.oid, name)?.ok_or_else(|| {
            error_with_hint(
                PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN,
                format!("column \"{name}\" of table {} does not exist", self.qualified),
                "Name the columns that it has: key => 'id', title => 'title', body => 'body', and likewise for the others.",
            )
        })
    }

    /// The column of the key. Triggers convert keys to text as the user who changes the table, and the worker reads
    /// them: only code that comes with Postgres may run then.
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

    /// Raises an error for a column that cannot hold questions.
    pub(super) fn require_questions(&self, name: &str) -> Result<()> {
        let column = self.column(name)?;
        // SAFETY: the type exists; a type that is no domain is its own base type.
        let base = unsafe { pg_sys::getBaseType(column.type_oid) };
        let taken = [
            pg_sys::TEXTARRAYOID,
            pg_sys::VARCHARARRAYOID,
            pg_sys::JSONOID,
            pg_sys::JSONBOID,
        ];
        if taken.contains(&base) {
            return Ok(());
        }
        Err(error_with_hint(
            PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH,
            format!("column \"{name}\" of type {} cannot hold questions", column.type_name),
            "Use a column of type text[], or of type jsonb or json with an array as docsearch.set_questions() takes it.",
        ))
    }

    /// Raises an error for a key column in which several rows may have the same value.
    pub(super) fn require_unique(&self, caller: &mut Caller, key: &Column, name: &str) -> Result<()> {
        let has_index = |caller: &Caller| {
            statement::one(
                caller,
                "SELECT FROM pg_index i WHERE i.indrelid = $1 AND i.indisunique AND i.indisvalid AND i.indpred IS NULL
                   AND i.indnkeyatts = 1 AND i.indkey[0] = $2 LIMIT 1",
                &[DatumWithOid::from(self.oid), DatumWithOid::from(key.number)],
                |_| Ok(()),
            )
        };
        let problem = if self.is_view() {
            let column = pgrx::spi::quote_identifier(name);
            let confined = &caller.confined_to(self.owner)?;
            let twice = statement::one(
                confined,
                &format!(
                    "SELECT left(t.{column}::text, 80) FROM {} t WHERE t.{column} IS NOT NULL
                     GROUP BY t.{column} HAVING count(*) > 1 LIMIT 1",
                    self.qualified
                ),
                &[],
                |row| row.required::<String>(1),
            )?;
            twice.map(|twice| format!("several rows of view {} have the key {twice}", self.qualified))
        } else {
            let problem = format!("column \"{name}\" of table {} is not unique", self.qualified);
            has_index(caller)?.is_none().then_some(problem)
        };
        problem.map_or(Ok(()), |problem| {
            Err(error_with_hint(
                PgSqlErrorCode::ERRCODE_INVALID_FOREIGN_KEY,
                problem,
                format!(
                    "A document is one row: name a column with a primary key or a unique index of its own (CREATE UNIQUE \
                     INDEX ON {} ({name})), or attach a view that has one.",
                    self.qualified
                ),
            ))
        })
    }

    /// Creates the triggers that mark the table as attached with this id: they record its changes, and hold the
    /// condition of rows. A view has one, which records nothing.
    pub(super) fn create_triggers(&self, caller: &Caller, id: i32, condition: Option<&str>) -> Result<()> {
        for (place, event) in self.events().iter().enumerate() {
            let referencing = self.referencing(event);
            let condition = condition.filter(|_| place == 0).map(pgrx::spi::quote_literal);
            let condition = condition.map(|condition| format!(", {condition}")).unwrap_or_default();
            self.create_trigger(caller, id, event.name, referencing, &condition)?;
        }
        Ok(())
    }

    /// Creates the triggers that record changes of the table for the view with this id.
    pub(super) fn create_watch_triggers(&self, caller: &Caller, id: i32) -> Result<()> {
        EVENTS
            .iter()
            .try_for_each(|event| self.create_trigger(caller, id, event.name, "", ""))
    }

    fn create_trigger(&self, caller: &Caller, id: i32, event: &str, referencing: &str, condition: &str) -> Result<()> {
        let create = format!(
            "CREATE TRIGGER {} AFTER {event} ON {} {referencing}
             FOR EACH STATEMENT EXECUTE FUNCTION docsearch.attached_changed('{id}'{condition})",
            trigger(id, event),
            self.qualified,
        );
        statement::utility(caller, &create)?;
        if self.is_view() {
            return Ok(());
        }
        // Also in a session that sets session_replication_role.
        let (table, trigger) = (&self.qualified, trigger(id, event));
        statement::utility(caller, &format!("ALTER TABLE {table} ENABLE ALWAYS TRIGGER {trigger}"))
    }

    fn referencing(&self, event: &Event) -> &'static str {
        if self.is_view() { "" } else { event.referencing }
    }

    /// Comments on the first of these triggers, which only the owner of the table can do.
    pub(super) fn comment(&self, caller: &Caller, id: i32, text: &str) -> Result<()> {
        let comment = format!(
            "COMMENT ON TRIGGER {} ON {} IS {}",
            trigger(id, EVENTS[0].name),
            self.qualified,
            pgrx::spi::quote_literal(text)
        );
        statement::utility(caller, &comment)
    }

    /// The text that [`comment`](Self::comment) wrote, if it has at most `longest` bytes.
    pub(super) fn read_comment(&self, role: &dyn Role, id: i32, longest: usize) -> Result<Option<String>> {
        let comment = statement::rows(
            role,
            "SELECT d.description FROM pg_trigger t
             JOIN pg_description d ON d.classoid = 'pg_trigger'::regclass AND d.objoid = t.oid AND d.objsubid = 0
             WHERE t.tgrelid = $1 AND t.tgname = $2::text AND octet_length(d.description) <= $3",
            &[
                DatumWithOid::from(self.oid),
                DatumWithOid::from(trigger(id, EVENTS[0].name)),
                DatumWithOid::from(longest as i32),
            ],
            |row| row.required::<String>(1),
        )?;
        Ok(comment.into_iter().next())
    }

    /// The condition of rows that [`create_triggers`](Self::create_triggers) stored. An error if the triggers are
    /// missing or changed.
    pub(super) fn triggers_condition(&self, role: &dyn Role, id: i32, stored: Option<&str>) -> Result<Option<String>> {
        let names = self.trigger_names(id);
        let triggers = statement::rows(
            role,
            &format!(
                "SELECT {} FROM pg_trigger t
                 WHERE t.tgrelid = $1 AND t.tgfoid = 'docsearch.attached_changed'::regproc AND t.tgname::text = ANY ($2)
                 ORDER BY array_position($2, t.tgname::text)",
                TriggerRow::select_list()
            ),
            &[DatumWithOid::from(self.oid), DatumWithOid::from(names.clone())],
            TriggerRow::read,
        )?;
        let broken = |what: &str| {
            let hint = "Detach it, and have its owner attach it again.";
            let problem = format!("triggers that record changes of {} {what}", self.qualified);
            error_with_hint(PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, problem, hint)
        };
        if triggers.len() < names.len() {
            return Err(broken("are missing"));
        }
        if triggers.iter().any(|trigger| !trigger.is_enabled) {
            return Err(broken("are disabled"));
        }
        let mut arguments = triggers[0].arguments.split(|byte| *byte == 0).skip(1);
        let condition = arguments.next().map(String::from_utf8_lossy);
        let condition = condition.filter(|condition| !condition.is_empty());
        let record_all = (triggers.iter().zip(self.events()))
            .all(|(trigger, event)| trigger.records(id, event, self.referencing(event)));
        if !record_all || condition.as_deref() != stored {
            return Err(broken("were replaced"));
        }
        Ok(condition.map(std::borrow::Cow::into_owned))
    }

    /// The interval between reads, for a view.
    pub(super) fn poll_interval(&self, columns: &Columns<'_>, terms: &Terms<'_>) -> Result<Option<Interval>> {
        if !self.is_view() {
            let given = [
                ("changed_at", columns.changed_at.is_some()),
                ("changes_in", !terms.changes_in.is_empty()),
            ];
            return match given.iter().find(|(_, is_given)| *is_given) {
                Some((name, _)) => Err(invalid(
                    format!("{name} is for views"),
                    format!("Triggers record which rows of a table change. Omit {name}."),
                )),
                None => Ok(None),
            };
        }
        match terms.every {
            None if !terms.changes_in.is_empty() => Ok(None),
            Some(every) if every.as_micros() >= MIN_INTERVAL => Ok(Some(every)),
            _ => Err(invalid(
                "every must be one second or longer",
                "Give the interval between reads of the view, such as '1 minute'. NULL requires changes_in.",
            )),
        }
    }

    pub(super) fn is_view(&self) -> bool {
        self.kind == "v"
    }

    fn events(&self) -> &'static [Event] {
        if self.is_view() { &EVENTS[..1] } else { &EVENTS }
    }

    /// The `source_root` of its documents.
    pub(super) fn source_root(&self) -> String {
        format!("table:{}", self.qualified)
    }

    /// The triggers of a table that is watched for this id, and their kinds.
    pub(super) fn watch_triggers(id: i32) -> (Vec<String>, Vec<i16>) {
        (
            trigger_names(id, &EVENTS),
            EVENTS.iter().map(|event| event.kind).collect(),
        )
    }

    /// Its triggers for this id.
    pub(super) fn trigger_names(&self, id: i32) -> Vec<String> {
        trigger_names(id, self.events())
    }

    pub(super) fn drop_triggers(&self, caller: &Caller, id: i32) -> Result<()> {
        for event in self.events() {
            let (table, trigger) = (&self.qualified, trigger(id, event.name));
            statement::utility(caller, &format!("DROP TRIGGER IF EXISTS {trigger} ON {table}"))?;
        }
        Ok(())
    }
}

fn trigger_names(id: i32, events: &[Event]) -> Vec<String> {
    events.iter().map(|event| trigger(id, event.name)).collect()
}

fn trigger(id: i32, event: &str) -> String {
    format!("docsearch_{id}_{}", event.to_lowercase())
}

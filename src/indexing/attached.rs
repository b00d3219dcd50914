//! Attached tables: tables of users, indexed where they are. Triggers record which rows change (`trigger`). The worker
//! reads those rows (`rows`) and writes their documents (`step`). Views cannot have such triggers: they are read at
//! intervals and compared with the rows known so far (`view`), and when tables that they read from change (`watched`).
//! Attaching checks who may find the documents (`access`).

use pgrx::datum::{DatumWithOid, Interval};
use pgrx::pg_sys;
use pgrx::prelude::*;

mod access;
mod agreement;
mod comparison;
mod rows;
mod step;
mod subscription;
mod table;
mod trigger;
mod trouble;
mod view;
mod watched;
pub(crate) use access::Access;
pub(crate) use agreement::agree_to_earlier;
pub(crate) use comparison::differences;
pub(super) use rows::FORMATS;
pub(crate) use step::{drop_unused, due_in, step};
pub(crate) use subscription::{REMEDY, subscribed};
pub(crate) use table::Table;
pub(crate) use trouble::{Kind as TroubleKind, troubles};

use crate::indexing::deletion;
use crate::postgres::condition::Condition;
use crate::postgres::owner::require_may_act_as;
use crate::postgres::report::{self, Result, error_with_hint, invalid, undefined};
use crate::postgres::role::{Caller, Role};
use crate::postgres::row_type::row_type;
use crate::postgres::{catalog, statement};
use crate::tables::project::{self, Project};
use crate::tables::{schema, wake};

/// The columns of a table that become parts of documents.
pub(crate) struct Columns<'a> {
    pub(crate) key: &'a str,
    pub(crate) title: Option<&'a str>,
    pub(crate) body: &'a str,
    pub(crate) category: Option<&'a str>,
    pub(crate) metadata: Vec<&'a str>,
    pub(crate) published_at: Option<&'a str>,
    /// For a view: a column that changes with the row.
    pub(crate) changed_at: Option<&'a str>,
    pub(crate) questions: Option<&'a str>,
}

impl<'a> Columns<'a> {
    /// The names of all columns.
    fn names(&self) -> impl Iterator<Item = &'a str> {
        let further = [
            self.title,
            self.category,
            self.published_at,
            self.changed_at,
            self.questions,
        ];
        let further = further.into_iter().flatten().chain(self.metadata.iter().copied());
        [self.key, self.body].into_iter().chain(further)
    }

    /// Raises an error for columns that are missing or have an unsuitable type.
    fn check(&self, table: &Table) -> Result<()> {
        for name in self.names() {
            table.column(name)?;
        }
        if let Some(questions) = self.questions {
            table.require_questions(questions)?;
        }
        table.key_column(self.key).map(|_| ())
    }
}

/// How to attach a table.
pub(crate) struct Terms<'a> {
    pub(crate) slug_prefix: Option<&'a str>,
    pub(crate) rows_where: Option<&'a str>,
    pub(crate) every: Option<Interval>,
    /// Tables that a view reads from, and whose changes are recorded for it.
    pub(crate) changes_in: Vec<pg_sys::Oid>,
    pub(crate) access: Access,
}

/// Attaches a table to a project. Its rows are read in the background with the rights of its owner, and their documents
/// are written with the rights of the caller.
pub(crate) fn attach(
    caller: &mut Caller,
    table: &Table,
    project: &Project,
    columns: &Columns<'_>,
    terms: Terms<'_>,
) -> Result<()> {
    columns.check(table)?;
    let writer = caller.id();
    require_may_act_as(table.owner)?;
    require_may_act_as(writer)?;
    table.require_unique(caller, &table.key_column(columns.key)?, columns.key)?;
    access::require(caller, table, columns, terms.access)?;
    let every = table.poll_interval(columns, &terms)?;
    let watched = watched::tables(caller, &terms.changes_in)?;
    let default_prefix = format!("{}/", table.name);
    let mut attached = Attached {
        id: 0,
        project: project.id,
        source: table.oid,
        source_root: table.source_root(),
        slug_prefix: terms.slug_prefix.unwrap_or(&default_prefix).to_owned(),
        key: columns.key.to_owned(),
        title: columns.title.map(str::to_owned),
        body: columns.body.to_owned(),
        category: columns.category.map(str::to_owned),
        metadata: columns.metadata.iter().map(|&name| name.to_owned()).collect(),
        published_at: columns.published_at.map(str::to_owned),
        changed_at: columns.changed_at.map(str::to_owned),
        questions: columns.questions.map(str::to_owned),
        rows_where: condition(caller, table, terms.rows_where)?,
        access: terms.access.as_str().to_owned(),
        poll_every: bytes_of(caller, every)?,
        loaded_to: None,
        reads_as: table.owner,
        writes_as: writer,
        step_rows: step::MAX_STEP_ROWS,
    };
    let Some(id) = attached.insert(caller, every)? else {
        return Err(error_with_hint(
            PgSqlErrorCode::ERRCODE_DUPLICATE_OBJECT,
            format!(
                "table {} is already attached to project \"{}\"",
                table.qualified, project.name
            ),
            "SELECT docsearch.detach_table(...) first.",
        ));
    };
    attached.id = id;
    project::set_source_kept(caller, project.id, &attached.source_root, false)?;
    table.create_triggers(caller, id, attached.rows_where.as_deref())?;
    // These are the caller's terms, not those stored in the table: its triggers are code of the table's owner.
    attached.agree(caller, table)?;
    watched::watch(caller, id, &watched)?;
    subscription::warn_of(caller, watched.iter().chain([table]).map(|table| table.oid).collect())?;
    wake::after_commit()
}

/// The bytes of an interval, which do not depend on the session's style of intervals.
fn bytes_of(caller: &Caller, interval: Option<Interval>) -> Result<Option<String>> {
    let bytes = statement::one(
        caller,
        "SELECT encode(interval_send($1), 'hex')",
        &[DatumWithOid::from(interval)],
        |row| row.optional(1),
    )?;
    Ok(bytes.flatten())
}

/// The condition of rows, read as the owner of the table, as whom it runs.
fn condition(caller: &mut Caller, table: &Table, rows_where: Option<&str>) -> Result<Option<String>> {
    let Some(text) = rows_where else {
        return Ok(None);
    };
    if table.is_view() {
        return Err(invalid(
            "rows_where cannot be used with a view",
            "Put the condition into the query of the view.",
        ));
    }
    let condition = Condition::read(&caller.confined_to(table.owner)?, table.oid, text)?;
    if condition.is_mutable {
        report::notice(
            "rows_where may change while a row stays the same; a row is read again only when it changes",
            "Attach a view with this condition, which is compared at intervals, or call docsearch.read_table() to read all rows.",
        );
    }
    Ok(Some(condition.sql))
}

/// Records that all rows of a table have to be read again, and compared with the documents.
pub(crate) fn read_again(caller: &mut Caller, table: &Table, project: Option<i64>) -> Result<()> {
    let recorded = {
        let owner = &caller.as_owner()?;
        statement::change(
            owner,
            // A table that waits after a failure continues to wait.
            "WITH due AS (
                 UPDATE docsearch.attached_table a
                 SET next_attempt = CASE WHEN a.attempts = 0 THEN now() ELSE a.next_attempt END
                 WHERE a.source = $1::oid::regclass AND ($2::bigint IS NULL OR a.project_id = $2) RETURNING a.id)
             INSERT INTO docsearch.table_change (attached_id) SELECT due.id FROM due RETURNING attached_id",
            &[DatumWithOid::from(table.oid), DatumWithOid::from(project)],
            |row| row.required::<i32>(1),
        )?
    };
    if recorded.is_empty() {
        return Err(not_attached(table));
    }
    wake::after_commit()
}

fn not_attached(table: &Table) -> pg_sys::panic::ErrorReport {
    undefined(
        format!("table {} is not attached", table.qualified),
        "SELECT source FROM docsearch.attached_table lists those that are.",
    )
}

/// Undoes [`attach`] for one project or for all; returns the number of deleted documents.
pub(crate) fn detach(caller: &mut Caller, table: &Table, project: Option<i64>, keep_documents: bool) -> Result<usize> {
    let attached = {
        let owner = &caller.as_owner()?;
        read(
            owner,
            "a.source = $1::oid::regclass AND ($2::bigint IS NULL OR a.project_id = $2)",
            &[DatumWithOid::from(table.oid), DatumWithOid::from(project)],
        )?
    };
    // The role that attached it may detach it, and so may the owner of the schema, even if neither owns the table any
    // more.
    let attached: Vec<Attached> = attached
        .into_iter()
        .filter(|attached| table.owned || attached.may_be_detached(caller))
        .collect();
    if attached.is_empty() {
        table.require_owned()?;
        return Err(not_attached(table));
    }
    caller.require_writer()?;
    {
        // Removing the extension takes this lock first, too.
        let owner = &caller.as_owner()?;
        statement::execute(owner, "LOCK TABLE docsearch.document IN ROW EXCLUSIVE MODE", &[])?;
    }
    let mut removed = 0;
    for attached in attached {
        if table.owned {
            table.drop_triggers(caller, attached.id)?;
        } else {
            watched::report_remaining(table, attached.id);
        }
        watched::unwatch(caller, attached.id)?;
        {
            // The worker holds it while it writes documents: this sees what it has written, and it writes no more
            // afterwards.
            let owner = &caller.as_owner()?;
            if !attached.lock(owner)? {
                continue;
            }
            for of_table in [
                // Waits for a worker that is recording that the whole table has to be read.
                "DELETE FROM docsearch.attached_table a WHERE a.id = $1",
                "DELETE FROM docsearch.table_change c WHERE c.attached_id = $1",
            ] {
                statement::execute(owner, of_table, &[DatumWithOid::from(attached.id)])?;
            }
        }
        agreement::delete(caller, attached.id)?;
        if keep_documents {
            project::set_source_kept(caller, attached.project, &attached.source_root, true)?;
        } else {
            let project = project::by_id(caller, attached.project)?;
            let slugs = attached.slugs_after(caller, None, None)?;
            removed += deletion::delete(caller, &project, slugs, Some(&attached.source_root))?.len();
        }
    }
    Ok(removed)
}

/// Detaches the tables of a project before it is dropped: their rows are deleted with the project, and then no call
/// would find the triggers. Triggers on tables of other owners remain, without effect.
pub(crate) fn detach_all(caller: &mut Caller, project: i64) -> Result<()> {
    if !schema::exists() || !schema::is_current(caller)? {
        return Ok(());
    }
    let sources = {
        let owner = &caller.as_owner()?;
        statement::rows(
            owner,
            "SELECT DISTINCT a.source::oid FROM docsearch.attached_table a JOIN pg_class c ON c.oid = a.source
             WHERE a.project_id = $1 ORDER BY 1",
            &[DatumWithOid::from(project)],
            |row| row.required::<pg_sys::Oid>(1),
        )?
    };
    for source in sources {
        let table = Table::of(caller, Some(source))?;
        if table.owned {
            detach(caller, &table, Some(project), true)?;
        }
    }
    Ok(())
}

row_type! {
    /// A row of `docsearch.attached_table`.
    struct Attached {
        id: i32 = "a.id",
        project: i64 = "a.project_id",
        source: pg_sys::Oid = "a.source::oid",
        source_root: String = "a.source_root",
        slug_prefix: String = "a.slug_prefix",
        key: String = "a.key_column::text",
        title: Option<String> = "a.title_column::text",
        body: String = "a.body_column::text",
        category: Option<String> = "a.category_column::text",
        metadata: Vec<String> = "a.metadata_columns::text[]",
        published_at: Option<String> = "a.published_at_column::text",
        changed_at: Option<String> = "a.changed_at_column::text",
        questions: Option<String> = "a.questions_column::text",
        rows_where: Option<String> = "a.rows_where",
        access: String = "a.access",
        /// The interval between reads of a view, as bytes in hexadecimal.
        poll_every: Option<String> = "encode(interval_send(a.poll_every), 'hex')",
        loaded_to: Option<String> = "a.loaded_to",
        /// The role that owned the table when it was attached.
        reads_as: pg_sys::Oid = "a.reads_as::oid",
        /// The role that attached it.
        writes_as: pg_sys::Oid = "a.writes_as::oid",
        step_rows: i32 = "a.step_rows",
    }
}

impl Attached {
    /// Stores it with a new id; `None` if the table is attached already.
    fn insert(&self, caller: &mut Caller, every: Option<Interval>) -> Result<Option<i32>> {
        let owner = &caller.as_owner()?;
        let id = statement::change(
            owner,
            "INSERT INTO docsearch.attached_table (project_id, source, source_root, slug_prefix, key_column,
                 title_column, body_column, category_column, metadata_columns, published_at_column,
                 reads_as, writes_as, access, changed_at_column, poll_every, rows_where, questions_column)
             VALUES ($1, $2::oid::regclass, $3, $4, $5, $6, $7, $8, $9::text[]::name[], $10, $11, $12, $13, $14, $15, $16,
                 $17)
             ON CONFLICT DO NOTHING RETURNING id",
            &[
                DatumWithOid::from(self.project),
                DatumWithOid::from(self.source),
                DatumWithOid::from(self.source_root.as_str()),
                DatumWithOid::from(self.slug_prefix.as_str()),
                DatumWithOid::from(self.key.as_str()),
                DatumWithOid::from(self.title.as_deref()),
                DatumWithOid::from(self.body.as_str()),
                DatumWithOid::from(self.category.as_deref()),
                DatumWithOid::from(self.metadata.clone()),
                DatumWithOid::from(self.published_at.as_deref()),
                DatumWithOid::from(self.reads_as),
                DatumWithOid::from(self.writes_as),
                DatumWithOid::from(self.access.as_str()),
                DatumWithOid::from(self.changed_at.as_deref()),
                DatumWithOid::from(every),
                DatumWithOid::from(self.rows_where.as_deref()),
                DatumWithOid::from(self.questions.as_deref()),
            ],
            |row| row.required::<i32>(1),
        )?;
        Ok(id.first().copied())
    }

    /// Whether the caller attached it, or owns the schema.
    fn may_be_detached(&self, caller: &Caller) -> bool {
        let attacher = catalog::role_name(self.writes_as).map(|_| self.writes_as);
        // SAFETY: all are roles.
        let is_caller = |role| unsafe { pg_sys::has_privs_of_role(caller.id(), role) };
        attacher.into_iter().chain(catalog::schema_owner()).any(is_caller)
    }

    fn columns(&self) -> Columns<'_> {
        Columns {
            key: &self.key,
            title: self.title.as_deref(),
            body: &self.body,
            category: self.category.as_deref(),
            metadata: self.metadata.iter().map(String::as_str).collect(),
            published_at: self.published_at.as_deref(),
            changed_at: self.changed_at.as_deref(),
            questions: self.questions.as_deref(),
        }
    }

    fn slug(&self, key: &str) -> String {
        format!("{}{key}", self.slug_prefix)
    }

    /// Up to `most` slugs of documents of this table that follow `last`.
    fn slugs_after(&self, caller: &Caller, last: Option<&str>, most: Option<i64>) -> Result<Vec<String>> {
        statement::rows(
            caller,
            "SELECT d.slug FROM docsearch.document d
             WHERE d.project_id = $1 AND d.source_root = $2 AND ($3::text IS NULL OR d.slug > $3)
             ORDER BY d.slug LIMIT $4",
            &[
                DatumWithOid::from(self.project),
                DatumWithOid::from(self.source_root.as_str()),
                DatumWithOid::from(last),
                DatumWithOid::from(most),
            ],
            |row| row.required(1),
        )
    }
}

/// Rows as they are now, even if the lock had to be waited for.
fn read(role: &dyn Role, condition: &str, args: &[DatumWithOid<'_>]) -> Result<Vec<Attached>> {
    statement::latest(
        role,
        &format!(
            "SELECT {} FROM docsearch.attached_table a WHERE {condition} ORDER BY a.next_attempt, a.id",
            Attached::select_list()
        ),
        args,
        |row| {
            let attached = Attached::read(row)?;
            Ok(Attached {
                step_rows: attached.step_rows.clamp(1, step::MAX_STEP_ROWS),
                ..attached
            })
        },
    )
}

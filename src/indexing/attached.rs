//! Tables that users already have, indexed as they are: triggers note which rows change (`trigger`), and
//! the worker reads those rows (`rows`) and writes their documents (`step`). Views have no such triggers: they are read from
//! time to time, and compared with what is known of them (`view`), and when tables that they are made of change (`watched`).
//! Who may find the documents is settled before (`access`).

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

/// The columns of a table that become documents.
pub(crate) struct Columns<'a> {
    pub(crate) key: &'a str,
    pub(crate) title: Option<&'a str>,
    pub(crate) body: &'a str,
    pub(crate) category: Option<&'a str>,
    pub(crate) metadata: Vec<&'a str>,
    pub(crate) published_at: Option<&'a str>,
    /// Of a view: what changes with the row.
    pub(crate) changed_at: Option<&'a str>,
    pub(crate) questions: Option<&'a str>,
}

impl<'a> Columns<'a> {
    /// All of them.
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

    /// Refuses columns that are missing or have an unsuitable type.
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

/// How a table is to be attached.
pub(crate) struct Terms<'a> {
    pub(crate) slug_prefix: Option<&'a str>,
    pub(crate) rows_where: Option<&'a str>,
    pub(crate) every: Option<Interval>,
    /// Tables that a view is made of, and whose changes are its.
    pub(crate) changes_in: Vec<pg_sys::Oid>,
    pub(crate) access: Access,
}

/// Attaches a table to a project: its rows are read in the background, as its owner may, and their documents are written as
/// the caller may.
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
    let every = table.polled(columns, &terms)?;
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
        step_rows: step::STEP_ROWS,
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
    project::keep_source(caller, project.id, &attached.source_root, false)?;
    table.mark(caller, id, attached.rows_where.as_deref())?;
    // What the caller has asked for, and not what the table has stored of it: triggers there are its owner's.
    attached.agree(caller, table)?;
    watched::watch(caller, id, &watched)?;
    subscription::warn_of(caller, watched.iter().chain([table]).map(|table| table.oid).collect())?;
    wake::after_commit()
}

/// An interval as it is, whatever the session makes of it as text.
fn bytes_of(caller: &Caller, interval: Option<Interval>) -> Result<Option<String>> {
    let bytes = statement::one(
        caller,
        "SELECT encode(interval_send($1), 'hex')",
        &[DatumWithOid::from(interval)],
        |row| row.optional(1),
    )?;
    Ok(bytes.flatten())
}

/// The condition of rows, read as the owner of the table, who alone runs it.
fn condition(caller: &mut Caller, table: &Table, rows_where: Option<&str>) -> Result<Option<String>> {
    let Some(text) = rows_where else {
        return Ok(None);
    };
    if table.is_view() {
        return Err(invalid(
            "a view has no rows_where",
            "Write the condition into the view.",
        ));
    }
    let condition = Condition::read(&caller.confined_to(table.owner)?, table.oid, text)?;
    if condition.is_mutable {
        report::notice(
            "rows_where may change without a change of the row, which is read again only when it changes",
            "A view with this condition is compared from time to time; docsearch.read_table() reads all rows of a table.",
        );
    }
    Ok(Some(condition.sql))
}

/// Notes that all rows of a table are to be read again, and compared with the documents.
pub(crate) fn read_again(caller: &mut Caller, table: &Table, project: Option<i64>) -> Result<()> {
    let noted = {
        let owner = &caller.as_owner()?;
        statement::change(
            owner,
            // One that waits because it failed goes on waiting.
            "WITH due AS (
                 UPDATE docsearch.attached_table a
                 SET next_attempt = CASE WHEN a.attempts = 0 THEN now() ELSE a.next_attempt END
                 WHERE a.source = $1::oid::regclass AND ($2::bigint IS NULL OR a.project_id = $2) RETURNING a.id)
             INSERT INTO docsearch.table_change (attached_id) SELECT due.id FROM due RETURNING attached_id",
            &[DatumWithOid::from(table.oid), DatumWithOid::from(project)],
            |row| row.required::<i32>(1),
        )?
    };
    if noted.is_empty() {
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

/// Ends what [`attach`] began, for one project or for all, and returns how many documents were removed.
pub(crate) fn detach(caller: &mut Caller, table: &Table, project: Option<i64>, keep_documents: bool) -> Result<usize> {
    let attached = {
        let owner = &caller.as_owner()?;
        read(
            owner,
            "a.source = $1::oid::regclass AND ($2::bigint IS NULL OR a.project_id = $2)",
            &[DatumWithOid::from(table.oid), DatumWithOid::from(project)],
        )?
    };
    // Whoever attached it may end that, and so may the owner of the schema, even if the table is not theirs any more.
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
        // What removes everything takes it first, too.
        let owner = &caller.as_owner()?;
        statement::execute(owner, "LOCK TABLE docsearch.document IN ROW EXCLUSIVE MODE", &[])?;
    }
    let mut removed = 0;
    for attached in attached {
        if table.owned {
            table.unmark(caller, attached.id)?;
        } else {
            watched::leave(table, attached.id);
        }
        watched::unwatch(caller, attached.id)?;
        {
            // The worker holds it while it writes documents: what it has written is seen here, and then it writes no more.
            let owner = &caller.as_owner()?;
            if !attached.hold(owner)? {
                continue;
            }
            for of_table in [
                // Waits for the worker, which may just be noting that the whole table is to be read.
                "DELETE FROM docsearch.attached_table a WHERE a.id = $1",
                "DELETE FROM docsearch.table_change c WHERE c.attached_id = $1",
            ] {
                statement::execute(owner, of_table, &[DatumWithOid::from(attached.id)])?;
            }
        }
        agreement::forget(caller, attached.id)?;
        if keep_documents {
            project::keep_source(caller, attached.project, &attached.source_root, true)?;
        } else {
            let project = project::by_id(caller, attached.project)?;
            let slugs = attached.slugs_after(caller, None, None)?;
            removed += deletion::delete(caller, &project, slugs, Some(&attached.source_root))?.len();
        }
    }
    Ok(removed)
}

/// Detaches what is attached to a project that is to be removed: its row goes with the project, and then no call would find
/// its triggers. Those of tables that are not the caller's stay, and do nothing.
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
        /// How often a view is read, as bytes in hexadecimal.
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
    /// Stores it with a new number; `None` if it is there already.
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

    /// Documents of this table, at most so many, whose slugs come after this one.
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

/// As they are now, also for one that waits until they have been read.
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
                step_rows: attached.step_rows.clamp(1, step::STEP_ROWS),
                ..attached
            })
        },
    )
}

//! Tables that users already have, indexed as they are: triggers note which rows change (`trigger`), and
//! the worker reads those rows (`rows`) and writes their documents (`step`).

use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;
use pgrx::prelude::*;

mod rows;
mod step;
mod table;
mod trigger;
pub(crate) use step::{drop_unused, due_in, step};
use table::EVENTS;
pub(crate) use table::Table;

use crate::indexing::deletion;
use crate::postgres::owner::AsOwner;
use crate::postgres::report::{Result, error_with_hint, undefined};
use crate::postgres::{catalog, statement};
use crate::tables::project::{self, Project};
use crate::tables::wake;

/// The columns of a table that become documents.
pub(crate) struct Columns<'a> {
    pub(crate) key: &'a str,
    pub(crate) title: Option<&'a str>,
    pub(crate) body: &'a str,
    pub(crate) category: Option<&'a str>,
    pub(crate) metadata: Vec<&'a str>,
    pub(crate) published_at: Option<&'a str>,
}

impl Columns<'_> {
    /// Refuses columns that the table has not, and a key that cannot be one.
    fn check(&self, table: &Table) -> Result<()> {
        table.key_column(self.key)?;
        table.column(self.body)?;
        let further = [self.title, self.category, self.published_at].into_iter().flatten();
        for name in further.chain(self.metadata.iter().copied()) {
            table.column(name)?;
        }
        Ok(())
    }
}

/// Attaches a table to a project: its rows are read in the background, as its owner may, and their documents are
/// written as the caller may. Runs as the caller.
pub(crate) fn attach(table: &Table, project: &Project, columns: &Columns<'_>, slug_prefix: Option<&str>) -> Result<()> {
    columns.check(table)?;
    let default_prefix = format!("{}/", table.name);
    // SAFETY: asks who the statement runs as.
    let writer = catalog::role_name(unsafe { pg_sys::GetUserId() });
    let id = {
        let _owner = AsOwner::enter()?;
        statement::change(
            "INSERT INTO docsearch.attached_table (project_id, source, source_root, slug_prefix, key_column,
                 title_column, body_column, category_column, metadata_columns, published_at_column,
                 reads_as, writes_as)
             VALUES ($1, $2::oid::regclass, $3, $4, $5, $6, $7, $8, $9::text[]::name[], $10, $11, $12)
             ON CONFLICT DO NOTHING RETURNING id",
            &[
                DatumWithOid::from(project.id),
                DatumWithOid::from(table.oid),
                DatumWithOid::from(format!("table:{}", table.qualified)),
                DatumWithOid::from(slug_prefix.unwrap_or(&default_prefix)),
                DatumWithOid::from(columns.key),
                DatumWithOid::from(columns.title),
                DatumWithOid::from(columns.body),
                DatumWithOid::from(columns.category),
                DatumWithOid::from(columns.metadata.iter().map(|&name| name.to_owned()).collect::<Vec<_>>()),
                DatumWithOid::from(columns.published_at),
                DatumWithOid::from(table.owner.as_str()),
                DatumWithOid::from(writer),
            ],
            |row| row.required::<i32>(1),
        )?
    };
    let Some(&id) = id.first() else {
        return Err(error_with_hint(
            PgSqlErrorCode::ERRCODE_DUPLICATE_OBJECT,
            format!(
                "table {} is already attached to project \"{}\"",
                table.qualified, project.name
            ),
            "SELECT docsearch.detach_table(...) first.",
        ));
    };
    for event in EVENTS {
        table.create_trigger(id, event)?;
    }
    wake::wake()
}

/// Ends what [`attach`] began, for one project or for all, and returns how many documents were removed. Begins as the
/// caller.
pub(crate) fn detach(table: &Table, project: Option<i64>, keep_documents: bool) -> Result<usize> {
    let attached: Vec<Attached> = {
        let _owner = AsOwner::enter()?;
        read(
            "a.source = $1::oid::regclass AND ($2::bigint IS NULL OR a.project_id = $2)",
            &[DatumWithOid::from(table.oid), DatumWithOid::from(project)],
        )?
    };
    if attached.is_empty() {
        return Err(undefined(
            format!("table {} is not attached", table.qualified),
            "SELECT source FROM docsearch.attached_table lists those that are.",
        ));
    }
    let mut removed = 0;
    for attached in attached {
        for event in EVENTS {
            table.drop_trigger(attached.id, event)?;
        }
        {
            let _owner = AsOwner::enter()?;
            for of_table in [
                "DELETE FROM docsearch.table_change c WHERE c.attached_id = $1",
                "DELETE FROM docsearch.attached_table a WHERE a.id = $1",
            ] {
                statement::execute(of_table, &[DatumWithOid::from(attached.id)])?;
            }
        }
        if !keep_documents {
            let project = project::by_id(attached.project)?;
            let slugs = attached.slugs(None)?;
            removed += deletion::delete(&project, slugs, Some(&attached.source_root))?.len();
        }
    }
    Ok(removed)
}

/// A row of `docsearch.attached_table`.
struct Attached {
    id: i32,
    project: i64,
    source: pg_sys::Oid,
    source_root: String,
    slug_prefix: String,
    key: String,
    title: Option<String>,
    body: String,
    category: Option<String>,
    metadata: Vec<String>,
    published_at: Option<String>,
    loaded_to: Option<String>,
    reads_as: String,
    writes_as: String,
    step_rows: i32,
}

impl Attached {
    fn slug(&self, key: &str) -> String {
        format!("{}{key}", self.slug_prefix)
    }

    /// Documents of this table, at most so many.
    fn slugs(&self, limit: Option<i64>) -> Result<Vec<String>> {
        statement::rows(
            "SELECT d.slug FROM docsearch.document d WHERE d.project_id = $1 AND d.source_root = $2
             ORDER BY d.slug LIMIT $3",
            &[
                DatumWithOid::from(self.project),
                DatumWithOid::from(self.source_root.as_str()),
                DatumWithOid::from(limit),
            ],
            |row| row.required(1),
        )
    }
}

/// Runs as the owner.
fn read(condition: &str, args: &[DatumWithOid<'_>]) -> Result<Vec<Attached>> {
    statement::rows(
        &format!(
            "SELECT a.id, a.project_id, a.source::oid, a.source_root, a.slug_prefix, a.key_column::text,
                    a.title_column::text, a.body_column::text, a.category_column::text, a.metadata_columns::text[],
                    a.published_at_column::text, a.loaded_to, a.reads_as::text, a.writes_as::text,
                    a.step_rows
             FROM docsearch.attached_table a WHERE {condition} ORDER BY a.next_attempt, a.id"
        ),
        args,
        |row| {
            Ok(Attached {
                id: row.required(1)?,
                project: row.required(2)?,
                source: row.required(3)?,
                source_root: row.required(4)?,
                slug_prefix: row.required(5)?,
                key: row.required(6)?,
                title: row.optional(7)?,
                body: row.required(8)?,
                category: row.optional(9)?,
                metadata: row.required(10)?,
                published_at: row.optional(11)?,
                loaded_to: row.optional(12)?,
                reads_as: row.required(13)?,
                writes_as: row.required(14)?,
                step_rows: row.required(15)?,
            })
        },
    )
}

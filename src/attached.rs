//! Tables that users already have, indexed as they are: triggers note which rows change (`trigger`), and
//! the worker reads those rows (`rows`) and writes their documents (`step`).

use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;
use pgrx::prelude::*;

use crate::catalog::{self, Column};
use crate::owner::{AsOwner, require_writer};
use crate::project::{self, Project};
use crate::report::{Result, error_with_hint, internal, invalid, undefined};
use crate::{index as documents, schema, statement, worker};

mod rows;
mod step;
mod trigger;
pub(crate) use step::{drop_unused, due_in, step};

#[pg_schema]
mod docsearch {
    use super::*;

    /// Indexes the rows of a table, now and whenever they change, in the background. Returns the name
    /// of the project.
    #[pg_extern(sql = r#"
CREATE FUNCTION docsearch.attach_table(
    source regclass,
    key text DEFAULT 'id',
    title text DEFAULT 'title',
    body text DEFAULT 'body',
    category text DEFAULT NULL,
    metadata text DEFAULT NULL,
    published_at text DEFAULT NULL,
    project text DEFAULT NULL,
    slug_prefix text DEFAULT NULL
) RETURNS text
LANGUAGE c VOLATILE PARALLEL UNSAFE
SET search_path TO pg_catalog, pg_temp
AS 'MODULE_PATHNAME', '@FUNCTION_NAME@';
"#)]
    #[allow(clippy::too_many_arguments)]
    fn attach_table(
        source: Option<pg_sys::Oid>,
        key: default!(Option<&str>, "'id'"),
        title: default!(Option<&str>, "'title'"),
        body: default!(Option<&str>, "'body'"),
        category: default!(Option<&str>, "NULL"),
        metadata: default!(Option<&str>, "NULL"),
        published_at: default!(Option<&str>, "NULL"),
        project: default!(Option<&str>, "NULL"),
        slug_prefix: default!(Option<&str>, "NULL"),
    ) -> Result<String> {
        let table = Table::of(source)?;
        table.require_owned()?;
        table.require_lasting()?;
        let project = table.project(project)?;
        schema::require_current()?;
        require_writer()?;
        table.key_column(given("key", key)?)?;
        table.column(given("body", body)?)?;
        let metadata: Vec<&str> = metadata.map_or_else(Vec::new, |columns| columns.split(',').map(str::trim).collect());
        for name in [title, category, published_at]
            .into_iter()
            .flatten()
            .chain(metadata.iter().copied())
        {
            table.column(name)?;
        }
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
                    DatumWithOid::from(key),
                    DatumWithOid::from(title),
                    DatumWithOid::from(body),
                    DatumWithOid::from(category),
                    DatumWithOid::from(metadata.iter().map(|&name| name.to_owned()).collect::<Vec<_>>()),
                    DatumWithOid::from(published_at),
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
        worker::wake()?;
        Ok(project.name)
    }

    /// Ends what attach_table began and returns how many documents were removed.
    #[pg_extern(sql = r#"
CREATE FUNCTION docsearch.detach_table(
    source regclass,
    project text DEFAULT NULL,
    keep_documents boolean DEFAULT false
) RETURNS bigint
LANGUAGE c VOLATILE PARALLEL UNSAFE
SET search_path TO pg_catalog, pg_temp
AS 'MODULE_PATHNAME', '@FUNCTION_NAME@';
"#)]
    fn detach_table(
        source: Option<pg_sys::Oid>,
        project: default!(Option<&str>, "NULL"),
        keep_documents: default!(Option<bool>, false),
    ) -> Result<i64> {
        let table = Table::of(source)?;
        table.require_owned()?;
        schema::require_current()?;
        require_writer()?;
        let project = project.map(project::by_name).transpose()?;
        let attached: Vec<Attached> = {
            let _owner = AsOwner::enter()?;
            read(
                "a.source = $1::oid::regclass AND ($2::bigint IS NULL OR a.project_id = $2)",
                &[
                    DatumWithOid::from(table.oid),
                    DatumWithOid::from(project.map(|project| project.id)),
                ],
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
            if keep_documents != Some(true) {
                let project = project::by_id(attached.project)?;
                let slugs = attached.slugs(None)?;
                removed += documents::delete(&project, slugs, Some(&attached.source_root))?.len();
            }
        }
        i64::try_from(removed).map_err(internal)
    }
}

fn given<'a>(argument: &str, name: Option<&'a str>) -> Result<&'a str> {
    name.ok_or_else(|| {
        invalid(
            format!("{argument} must not be null"),
            format!("Name the column of the {argument}."),
        )
    })
}

/// What fires a trigger, and what the trigger sees.
struct Event {
    name: &'static str,
    referencing: &'static str,
}

const EVENTS: [Event; 4] = [
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
struct Table {
    oid: pg_sys::Oid,
    name: String,
    /// Schema and name, quoted.
    qualified: String,
    kind: String,
    lasting: bool,
    owned: bool,
    /// The role that owns it.
    owner: String,
}

impl Table {
    fn of(source: Option<pg_sys::Oid>) -> Result<Self> {
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

    fn require_owned(&self) -> Result<()> {
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
    fn require_lasting(&self) -> Result<()> {
        if self.lasting && ["r", "p"].contains(&self.kind.as_str()) {
            return Ok(());
        }
        Err(error_with_hint(
            PgSqlErrorCode::ERRCODE_WRONG_OBJECT_TYPE,
            format!("{} cannot be attached", self.qualified),
            "Attach an ordinary or a partitioned table, or use docsearch.index_docs().",
        ))
    }

    fn column(&self, name: &str) -> Result<Column> {
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
    fn key_column(&self, name: &str) -> Result<Column> {
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

    /// The project that is named, or one with the name of the table, which is created when missing.
    fn project(&self, name: Option<&str>) -> Result<Project> {
        if let Some(name) = name {
            return project::by_name(name);
        }
        if !schema::exists() || !project::exists(&self.name)? {
            statement::change(
                "SELECT docsearch.create_project($1)",
                &[DatumWithOid::from(self.name.as_str())],
                |_| Ok(()),
            )?;
        }
        project::by_name(&self.name)
    }

    fn create_trigger(&self, id: i32, event: Event) -> Result<()> {
        let (table, Event { name, referencing }) = (&self.qualified, event);
        Spi::run(&format!(
            "CREATE TRIGGER {} AFTER {name} ON {table} {referencing}
             FOR EACH STATEMENT EXECUTE FUNCTION docsearch.attached_changed('{id}')",
            trigger(id, name),
        ))
        .map_err(internal)
    }

    fn drop_trigger(&self, id: i32, event: Event) -> Result<()> {
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

//! Tables that users already have, indexed as they are: triggers note which rows change, and the
//! worker reads those rows.

use std::collections::{HashMap, HashSet};

use docsearch_core::rank::Set;
use pgrx::JsonB;
use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;
use pgrx::prelude::*;
use serde_json::{Value, json};

use crate::document_input::DocumentInput;
use crate::indexer::{OnFailure, index};
use crate::owner::{AsOwner, AsUser, require_writer};
use crate::project::{self, Project};
use crate::report::{Result, error_with_hint, in_one_line, internal, invalid, undefined};
use crate::settings::IndexMode;
use crate::{index as documents, schema, statement, subtransaction, worker};

/// Rows of one step of the worker.
const STEP_ROWS: i64 = 256;

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
        let column = |argument: &str, name: Option<&str>| {
            let name = name.ok_or_else(|| {
                invalid(
                    format!("{argument} must not be null"),
                    format!("Name the column of the {argument}."),
                )
            })?;
            table.column(name)
        };
        table.require_plain_key(&column("key", key)?)?;
        column("body", body)?;
        let metadata: Vec<&str> = metadata.map_or_else(Vec::new, |columns| columns.split(',').map(str::trim).collect());
        for name in [title, category, published_at]
            .into_iter()
            .flatten()
            .chain(metadata.iter().copied())
        {
            table.column(name)?;
        }
        let default_prefix = format!("{}/", table.name);
        let id = {
            let _owner = AsOwner::enter()?;
            statement::change(
                "INSERT INTO docsearch.attached_table (project_id, source, source_root, slug_prefix, key_column,
                     title_column, body_column, category_column, metadata_columns, published_at_column)
                 VALUES ($1, $2::oid::regclass, $3, $4, $5, $6, $7, $8, $9::text[]::name[], $10)
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
                statement::execute(
                    "DELETE FROM docsearch.attached_table a WHERE a.id = $1",
                    &[DatumWithOid::from(attached.id)],
                )?;
            }
            if keep_documents != Some(true) {
                let project = project::by_id(attached.project)?;
                let slugs = attached.slugs(None)?;
                removed += documents::delete(&project, slugs)?.len();
            }
        }
        i64::try_from(removed).map_err(internal)
    }

    /// The key column of an attached table, for its triggers; NULL if it is not attached any more.
    #[pg_extern(stable, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn attached_key(attached: i32, source: pg_sys::Oid) -> Result<Option<String>> {
        if !schema::exists() {
            return Ok(None);
        }
        let _owner = AsOwner::enter()?;
        statement::one(
            "SELECT a.key_column::text FROM docsearch.attached_table a
             WHERE a.id = $1 AND a.source = $2::oid::regclass",
            &[DatumWithOid::from(attached), DatumWithOid::from(source)],
            |row| row.required(1),
        )
    }

    /// Notes rows of an attached table that changed, for its triggers.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn note_changes(attached: i32, keys: Vec<Option<String>>) -> Result<()> {
        if keys.is_empty() {
            return Ok(());
        }
        {
            let _owner = AsOwner::enter()?;
            statement::execute(
                "INSERT INTO docsearch.table_change (attached_id, key) SELECT $1, k.key FROM unnest($2::text[]) AS k(key)",
                &[DatumWithOid::from(attached), DatumWithOid::from(keys)],
            )?;
        }
        worker::wake()
    }
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
}

/// A column with its type.
struct Column {
    name: String,
    type_name: String,
    built_in: bool,
}

impl Table {
    fn of(source: Option<pg_sys::Oid>) -> Result<Self> {
        let hint = "Name a table, such as 'public.articles'.";
        let source = source.ok_or_else(|| invalid("source must not be null", hint))?;
        let table = statement::one(
            "SELECT c.relname::text, format('%I.%I', n.nspname, c.relname), c.relkind::text,
                    c.relpersistence <> 't', pg_has_role(c.relowner, 'USAGE')
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
        let column = statement::one(
            "SELECT format_type(a.atttypid, NULL), n.nspname = 'pg_catalog' AND t.typtype = 'b'
             FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid JOIN pg_namespace n ON n.oid = t.typnamespace
             WHERE a.attrelid = $1 AND a.attname = $2::text::name AND a.attnum > 0 AND NOT a.attisdropped",
            &[DatumWithOid::from(self.oid), DatumWithOid::from(name)],
            |row| {
                Ok(Column {
                    name: name.to_owned(),
                    type_name: row.required(1)?,
                    built_in: row.required(2)?,
                })
            },
        )?;
        column.ok_or_else(|| {
            error_with_hint(
                PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN,
                format!("column \"{name}\" of table {} does not exist", self.qualified),
                "Name the columns: key => 'id', title => 'title', body => 'body'.",
            )
        })
    }

    /// The triggers write keys as text with more rights than those who change the table have: only what
    /// comes with Postgres may run then.
    fn require_plain_key(&self, key: &Column) -> Result<()> {
        if key.built_in {
            return Ok(());
        }
        Err(error_with_hint(
            PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH,
            format!("column \"{}\" of type {} cannot be the key", key.name, key.type_name),
            "Use a column of a type that comes with Postgres, such as bigint, uuid or text.",
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
    loading: bool,
    loaded_to: Option<String>,
}

/// Runs as the owner.
fn read(condition: &str, args: &[DatumWithOid<'_>]) -> Result<Vec<Attached>> {
    statement::rows(
        &format!(
            "SELECT a.id, a.project_id, a.source::oid, a.source_root, a.slug_prefix, a.key_column::text,
                    a.title_column::text, a.body_column::text, a.category_column::text, a.metadata_columns::text[],
                    a.published_at_column::text, a.loading, a.loaded_to
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
                loading: row.required(12)?,
                loaded_to: row.optional(13)?,
            })
        },
    )
}

/// Tables of which something is to be read. Runs as the owner.
fn due() -> Result<Vec<Attached>> {
    read(
        "a.next_attempt <= now()
         AND (a.loading OR EXISTS (SELECT FROM docsearch.table_change c WHERE c.attached_id = a.id))",
        &[],
    )
}

/// Whether something is to be read. Runs as the owner.
pub(crate) fn is_due() -> Result<bool> {
    Ok(!due()?.is_empty())
}

/// Reads some of what changed in one table, or some of what was there before; whether there was any.
pub(crate) fn step() -> Result<bool> {
    let _owner = AsOwner::restricted()?;
    let due = due()?;
    let Some(attached) = due.first() else {
        return Ok(false);
    };
    let outcome = subtransaction::run(|| attached.step());
    let (wait, error) = match &outcome {
        Ok(problem) => (0, problem.clone()),
        Err(problem) => (30, Some(in_one_line(problem))),
    };
    statement::execute(
        "UPDATE docsearch.attached_table a
         SET error = coalesce($2, a.error),
             next_attempt = clock_timestamp() + $3 * interval '1 second'
         WHERE a.id = $1",
        &[
            DatumWithOid::from(attached.id),
            DatumWithOid::from(error),
            DatumWithOid::from(wait),
        ],
    )?;
    Ok(true)
}

impl Attached {
    /// The problem of a row that cannot be indexed does not keep the others waiting.
    fn step(&self) -> Result<Option<String>> {
        let changes = statement::change(
            "SELECT c.id, c.key FROM docsearch.table_change c WHERE c.attached_id = $1
             ORDER BY c.id LIMIT $2 FOR UPDATE SKIP LOCKED",
            &[DatumWithOid::from(self.id), DatumWithOid::from(STEP_ROWS)],
            |row| Ok((row.required::<i64>(1)?, row.optional::<String>(2)?)),
        )?;
        if changes.is_empty() {
            return if self.loading { self.load() } else { Ok(None) };
        }
        if let Some(truncated) = changes.iter().rposition(|(_, key)| key.is_none()) {
            return self.truncate(changes[truncated].0);
        }
        let (ids, keys): (Vec<i64>, Set<String>) = changes.into_iter().filter_map(|(id, key)| Some((id, key?))).unzip();
        let problem = self.refresh(keys.into_iter().collect())?;
        statement::execute(
            "DELETE FROM docsearch.table_change c WHERE c.id = ANY ($1)",
            &[DatumWithOid::from(ids)],
        )?;
        Ok(problem)
    }

    /// Removes documents a part at a time; then the changes up to the truncation mean nothing.
    fn truncate(&self, change: i64) -> Result<Option<String>> {
        let project = project::by_id(self.project)?;
        let slugs = self.slugs(Some(STEP_ROWS))?;
        if !slugs.is_empty() {
            documents::delete(&project, slugs)?;
            return Ok(None);
        }
        statement::execute(
            "DELETE FROM docsearch.table_change c WHERE c.attached_id = $1 AND c.id <= $2",
            &[DatumWithOid::from(self.id), DatumWithOid::from(change)],
        )?;
        Ok(None)
    }

    /// Reads rows by their keys; documents of rows that are gone go.
    fn refresh(&self, keys: Vec<String>) -> Result<Option<String>> {
        let found = self.rows(&Wanted::Keys(&keys))?;
        let there: HashSet<&str> = found.iter().map(|(key, _)| key.as_str()).collect();
        let gone = keys.iter().filter(|key| !there.contains(key.as_str()));
        let gone: Vec<String> = gone.map(|key| self.slug(key)).collect();
        let project = project::by_id(self.project)?;
        documents::delete(&project, gone)?;
        self.index(&project, found)
    }

    fn load(&self) -> Result<Option<String>> {
        let found = self.rows(&Wanted::After(self.loaded_to.as_deref()))?;
        let last = found.last().map(|(key, _)| key.clone());
        let more = i64::try_from(found.len()).map_err(internal)? == STEP_ROWS;
        let project = project::by_id(self.project)?;
        let problem = self.index(&project, found)?;
        statement::execute(
            "UPDATE docsearch.attached_table a SET loading = $2, loaded_to = CASE WHEN $2 THEN $3 END WHERE a.id = $1",
            &[
                DatumWithOid::from(self.id),
                DatumWithOid::from(more),
                DatumWithOid::from(last),
            ],
        )?;
        Ok(problem)
    }

    fn index(&self, project: &Project, rows: Vec<(String, Value)>) -> Result<Option<String>> {
        let mut problem = None;
        let mut inputs: HashMap<String, DocumentInput> = HashMap::with_capacity(rows.len());
        for (_, document) in rows {
            match DocumentInput::parse(document) {
                Ok(input) => {
                    inputs.insert(input.slug.clone(), input);
                }
                Err((slug, reason)) => problem = Some(format!("{}: {reason}", slug.unwrap_or_default())),
            }
        }
        let outcomes = index(
            project,
            inputs.into_values().collect(),
            IndexMode::Deferred,
            OnFailure::Return,
        )?;
        for outcome in outcomes {
            if let (Some(slug), Some(detail)) = (outcome.slug, outcome.detail) {
                problem = Some(format!("{slug}: {detail}"));
            }
        }
        Ok(problem)
    }

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

    /// Keys and documents of rows, read as the owner of the table.
    fn rows(&self, wanted: &Wanted<'_>) -> Result<Vec<(String, Value)>> {
        let table = Table::of(Some(self.source))?;
        let column = |name: &str| -> Result<String> { Ok(pgrx::spi::quote_identifier(&table.column(name)?.name)) };
        let text = |name: &Option<String>| -> Result<String> {
            match name {
                Some(name) => Ok(format!("t.{}::text", column(name)?)),
                None => Ok("NULL::text".to_owned()),
            }
        };
        let Column {
            name: key,
            type_name: key_type,
            ..
        } = table.column(&self.key)?;
        let key = pgrx::spi::quote_identifier(&key);
        let metadata = match self.metadata.as_slice() {
            [only] if table.column(only)?.type_name == "jsonb" => format!("t.{}", column(only)?),
            [] => "NULL::jsonb".to_owned(),
            several => {
                let pairs: Vec<String> = several
                    .iter()
                    .map(|name| Ok(format!("{}, t.{}", pgrx::spi::quote_literal(name), column(name)?)))
                    .collect::<Result<_>>()?;
                format!("jsonb_build_object({})", pairs.join(", "))
            }
        };
        let published_at = match &self.published_at {
            Some(name) => format!("t.{}::timestamptz::text", column(name)?),
            None => "NULL::text".to_owned(),
        };
        let (condition, argument) = match wanted {
            Wanted::Keys(keys) => (
                format!("t.{key} = ANY ($1::text[]::{key_type}[])"),
                DatumWithOid::from(keys.to_vec()),
            ),
            Wanted::After(None) => (
                format!("t.{key} IS NOT NULL AND $1::text IS NULL"),
                DatumWithOid::from(None::<String>),
            ),
            Wanted::After(Some(last)) => (
                format!("t.{key} > $1::text::{key_type}"),
                DatumWithOid::from((*last).to_owned()),
            ),
        };
        let sql = format!(
            "SELECT t.{key}::text, {}, {}, {}, {metadata}, {published_at} FROM {} t
             WHERE {condition} ORDER BY t.{key} LIMIT $2",
            text(&self.title)?,
            text(&Some(self.body.clone()))?,
            text(&self.category)?,
            table.qualified,
        );
        let _reader = AsUser::owner_of(self.source)?;
        statement::rows(&sql, &[argument, DatumWithOid::from(STEP_ROWS)], |row| {
            let key: String = row.required(1)?;
            let title = row.optional::<String>(2)?.filter(|title| !title.trim().is_empty());
            let document = json!({
                "slug": self.slug(&key),
                "title": title.unwrap_or_else(|| key.clone()),
                "body": row.optional::<String>(3)?.unwrap_or_default(),
                "category": row.optional::<String>(4)?,
                "metadata": row.optional::<JsonB>(5)?.map(|JsonB(metadata)| metadata),
                "published_at": row.optional::<String>(6)?,
                "source_root": self.source_root,
                "source_path": key,
            });
            Ok((key, document))
        })
    }
}

/// Which rows are read.
enum Wanted<'a> {
    Keys(&'a [String]),
    /// Those behind a key.
    After(Option<&'a str>),
}

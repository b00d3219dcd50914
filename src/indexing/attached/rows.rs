//! Reads rows of an attached table as its owner, confined, whatever its columns and their code are. A step (`step`)
//! limits the time.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use docsearch_core::values::bounds::JSON_BYTES;
use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;
use serde_json::{Value, json};

use super::{Attached, Table};
use crate::postgres::owner::LocalSettings;
use crate::postgres::report::{Result, error_with_hint, in_one_line, internal};
use crate::postgres::role::{Confined, Owner, Role};
use crate::postgres::row_type::row_type;
use crate::postgres::{statement, subtransaction};

/// Most bytes of rows that are read at once, and of one row: more than a document may have.
const MAX_ROWS_BYTES: i64 = 64 << 20;
/// Longest key in bytes. No slug holds a longer one, with or without the padding of `char(n)`, so no document can have
/// it.
pub(super) const MAX_KEY_BYTES: usize = 64 << 10;
/// The same for a view, whose keys are stored.
pub(super) const MAX_VIEW_KEY_BYTES: usize = 1024;

/// Formats of keys and other values, independent of the settings of a session, a role or a database. The trigger
/// records keys in them, and the worker and `check` compare these with the keys of rows.
pub(in crate::indexing) const FORMATS: [(&str, &str); 4] = [
    ("datestyle", "ISO, YMD"),
    ("intervalstyle", "postgres"),
    ("extra_float_digits", "1"),
    ("bytea_output", "hex"),
];

/// The keys of rows that cannot be read or indexed, with the reasons.
#[derive(Default)]
pub(super) struct Problems(pub(super) Vec<(String, String)>);

impl Problems {
    pub(super) fn add(&mut self, key: &str, reason: impl std::fmt::Display) {
        self.0.push((key.to_owned(), reason.to_string()));
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.0.iter().any(|(failed, _)| failed == key)
    }
}

/// The rows of some keys.
#[derive(Default)]
pub(super) struct Rows {
    /// The documents of existing rows, by key.
    pub(super) documents: Vec<(String, Value)>,
    /// Keys of deleted rows, as they are in slugs.
    pub(super) deleted: Vec<String>,
    /// Rows that cannot be read.
    pub(super) problems: Problems,
    /// Size of the documents in bytes.
    size: i64,
}

impl Rows {
    fn join(&mut self, other: Self) {
        self.documents.extend(other.documents);
        self.deleted.extend(other.deleted);
        self.problems.0.extend(other.problems.0);
    }
}

row_type! {
    /// A row as text. A row that is too large to be indexed is not read.
    struct SourceRow {
        key: String = "r.key",
        size: i64 = "r.size",
        title: Option<String> = "CASE WHEN r.fits THEN r.title END",
        body: Option<String> = "CASE WHEN r.fits THEN r.body END",
        category: Option<String> = "CASE WHEN r.fits THEN r.category END",
        metadata: Option<String> = "CASE WHEN r.fits THEN r.metadata END",
        published_at: Option<String> = "CASE WHEN r.fits THEN r.published_at END",
        questions: Option<String> = "CASE WHEN r.fits THEN r.questions END",
    }
}

/// The statements that read a table as it is now.
struct Reader<'a> {
    attached: &'a Attached,
    table: Table,
    /// The key column, quoted, and its type.
    key: String,
    key_type: String,
    /// The condition of rows, to follow others in a statement.
    condition: String,
    /// Whether some rows were too large together.
    exceeds: Cell<bool>,
}

impl Attached {
    /// Up to a number of keys of rows after this one, with the value that shows whether the row of a view has changed.
    pub(super) fn keys_after(
        &self,
        owner: &mut Owner<'_>,
        last: Option<&str>,
        most: i32,
    ) -> Result<Vec<(String, Option<String>)>> {
        self.confined(owner, |reader, confined| reader.keys_after(confined, last, most))
    }

    /// The keys that no row has.
    pub(super) fn without_row(&self, owner: &mut Owner<'_>, keys: Vec<String>) -> Result<Vec<String>> {
        self.confined(owner, |reader, confined| reader.without_row(confined, keys))
    }

    /// Rows by their keys. A row that cannot be read does not affect the others; an error is one of the whole table.
    /// `None` if they are too large to be read at once.
    pub(super) fn rows(&self, owner: &mut Owner<'_>, keys: &[String]) -> Result<Option<Rows>> {
        self.confined(owner, |reader, confined| {
            let all = subtransaction::run(|| reader.rows(confined, keys));
            if all.is_ok() || reader.exceeds.get() {
                return Ok(all.ok());
            }
            // A missing privilege or a column that cannot be converted fails for every row.
            reader.rows(confined, &[])?;
            let (mut rows, mut size) = (Rows::default(), 0);
            for key in keys {
                let one = subtransaction::run(|| reader.rows(confined, std::slice::from_ref(key)));
                size += one.as_ref().map_or(0, |one| one.size);
                if size > MAX_ROWS_BYTES && keys.len() > 1 {
                    return Ok(None);
                }
                match one {
                    Ok(one) => rows.join(one),
                    Err(problem) => rows.problems.add(key, in_one_line(&problem)),
                }
            }
            Ok(Some(rows))
        })
    }

    /// Checks that the owner, key and triggers of the table are those from when it was attached.
    pub(super) fn require_unchanged(&self, role: &dyn Role, table: &Table) -> Result<()> {
        if table.owner != self.reads_as {
            return Err(error_with_hint(
                pgrx::PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!("table {} had another owner when it was attached", table.qualified),
                "Detach it, and have its owner attach it again.",
            ));
        }
        table.key_column(&self.key)?;
        table
            .triggers_condition(role, self.id, self.rows_where.as_deref())
            .map(|_| ())
    }

    /// Checks that the table can be read as it was attached.
    pub(super) fn check(&self, owner: &Owner<'_>) -> Result<()> {
        Reader::open(owner, self).map(|_| ())
    }

    fn confined<T>(
        &self,
        owner: &mut Owner<'_>,
        read: impl FnOnce(&Reader<'_>, &Confined<'_>) -> Result<T>,
    ) -> Result<T> {
        // No session can change the owner, columns or code of the table between the check and the reading.
        // SAFETY: takes the lock that reading takes, until the end of the transaction.
        unsafe { pg_sys::LockRelationOid(self.source, pg_sys::AccessShareLock as i32) };
        let reader = Reader::open(owner, self)?;
        let confined = owner.confined_to(self.reads_as)?;
        let _formats = LocalSettings::apply(&FORMATS)?;
        read(&reader, &confined)
    }
}

impl<'a> Reader<'a> {
    fn open(owner: &Owner<'_>, attached: &'a Attached) -> Result<Self> {
        let table = Table::of(owner, Some(attached.source))?;
        attached.require_unchanged(owner, &table)?;
        attached.require_agreed(owner, &table)?;
        // A problem with the table is not one of its rows: these are read once it is solved.
        attached.columns().check(&table)?;
        let column = table.key_column(&attached.key)?;
        let condition = attached.rows_where.as_ref();
        Ok(Self {
            condition: condition.map_or_else(String::new, |condition| format!("AND ({condition})")),
            key: pgrx::spi::quote_identifier(&attached.key),
            key_type: column.type_name,
            exceeds: Cell::new(false),
            attached,
            table,
        })
    }

    fn keys_after(
        &self,
        confined: &Confined<'_>,
        last: Option<&str>,
        most: i32,
    ) -> Result<Vec<(String, Option<String>)>> {
        let Self {
            key,
            key_type,
            condition: row_condition,
            ..
        } = self;
        let longest = if self.table.is_view() {
            MAX_VIEW_KEY_BYTES
        } else {
            MAX_KEY_BYTES
        };
        let condition = match last {
            None => format!("t.{key} IS NOT NULL AND $1::text IS NULL"),
            Some(_) => format!("t.{key} > $1::text::{key_type}"),
        };
        let sql = format!(
            "SELECT t.{key}::text, {} FROM {} t
             WHERE {condition} AND octet_length(t.{key}::text) <= {longest} {row_condition}
             ORDER BY t.{key} LIMIT $2",
            self.text(self.attached.changed_at.as_ref())?,
            self.table.qualified
        );
        statement::rows(
            confined,
            &sql,
            &[DatumWithOid::from(last), DatumWithOid::from(most)],
            |row| Ok((row.required(1)?, row.optional(2)?)),
        )
    }

    /// The key may have had another type before. Equal values may have several texts.
    fn without_row(&self, confined: &Confined<'_>, keys: Vec<String>) -> Result<Vec<String>> {
        let Self {
            key,
            key_type,
            condition,
            ..
        } = self;
        let type_name = pgrx::spi::quote_literal(key_type);
        let sql = format!(
            "SELECT k.key
             FROM (SELECT u.key, CASE WHEN pg_input_is_valid(u.key, {type_name}) THEN u.key::{key_type} END
                   FROM unnest($1::text[]) AS u(key)) AS k(key, value)
             WHERE NOT EXISTS (SELECT FROM {} t WHERE t.{key} = k.value AND t.{key}::text = k.key {condition})",
            self.table.qualified
        );
        statement::rows(confined, &sql, &[DatumWithOid::from(keys)], |row| row.required(1))
    }

    fn rows(&self, confined: &Confined<'_>, keys: &[String]) -> Result<Rows> {
        let Self {
            attached,
            key,
            key_type,
            condition,
            ..
        } = self;
        let wanted = DatumWithOid::from(keys.to_vec());
        let canonical = statement::rows(
            confined,
            &format!("SELECT k.key::{key_type}::text FROM unnest($1::text[]) AS k(key)"),
            &[wanted],
            |row| row.required::<String>(1),
        )?;
        let sql = format!(
            "SELECT {}
             FROM (SELECT s.*, s.size <= {MAX_ROWS_BYTES} AS fits
                   FROM (SELECT v.*, coalesce(octet_length(v.title), 0)::bigint + coalesce(octet_length(v.body), 0)
                                     + coalesce(octet_length(v.category), 0) + coalesce(octet_length(v.metadata), 0)
                                     + coalesce(octet_length(v.published_at), 0) + coalesce(octet_length(v.questions), 0) AS size
                         FROM (SELECT t.{key}::text AS key, {} AS title, {} AS body, {} AS category, {} AS metadata,
                                      {} AS published_at, {} AS questions
                               FROM {} t WHERE t.{key} = ANY ($1::text[]::{key_type}[]) {condition} OFFSET 0) v OFFSET 0) s OFFSET 0) r",
            SourceRow::select_list(),
            self.text(attached.title.as_ref())?,
            self.text(Some(&attached.body))?,
            self.text(attached.category.as_ref())?,
            self.metadata()?,
            match &attached.published_at {
                Some(name) => format!("{}::timestamptz::text", self.column(name)?),
                None => "NULL::text".to_owned(),
            },
            match &attached.questions {
                Some(name) => format!("to_jsonb({})::text", self.column(name)?),
                None => "NULL::text".to_owned(),
            },
            self.table.qualified,
        );
        let mut rows = Rows::default();
        let (mut there, mut documents) = (HashSet::new(), HashMap::new());
        let mut taken = 0;
        let read = statement::rows(confined, &sql, &[DatumWithOid::from(keys.to_vec())], |row| {
            let row = SourceRow::read(row)?;
            if row.size > MAX_ROWS_BYTES {
                return Ok((row.key, None));
            }
            taken += row.size;
            if taken > MAX_ROWS_BYTES {
                self.exceeds.set(true);
                return Err(internal("the rows are too large to be read at once"));
            }
            Ok((row.key.clone(), Some(row)))
        })?;
        for (key, row) in read {
            let document = match row {
                Some(row)
                    if row
                        .questions
                        .as_ref()
                        .is_some_and(|questions| questions.len() > JSON_BYTES) =>
                {
                    Err(format!("the questions have more than {} MB", JSON_BYTES >> 20))
                }
                Some(row) => self.document(row).map_err(|problem| problem.to_string()),
                None => Err(format!("the row has more than {} MB", MAX_ROWS_BYTES >> 20)),
            };
            match document {
                Ok(document) => {
                    if documents.insert(key.clone(), document).is_some() {
                        rows.problems.add(&key, "several rows have this key");
                    }
                }
                Err(problem) => rows.problems.add(&key, problem),
            }
            there.insert(key);
        }
        rows.deleted = canonical.into_iter().filter(|key| !there.contains(key)).collect();
        rows.documents = documents.into_iter().collect();
        rows.size = taken;
        Ok(rows)
    }

    fn document(&self, row: SourceRow) -> serde_json::Result<Value> {
        let json = |text: Option<String>| text.as_deref().map(serde_json::from_str::<Value>).transpose();
        let questions = json(row.questions)?.filter(|questions| !questions.is_null());
        // A row without questions removes those of its document. Without a column for them, stored questions stay.
        let questions = questions.or_else(|| self.attached.questions.as_ref().map(|_| json!([])));
        let title = row.title.filter(|title| !title.trim().is_empty());
        Ok(json!({
            "slug": self.attached.slug(&row.key),
            "title": title.unwrap_or_else(|| row.key.clone()),
            "body": row.body.unwrap_or_default(),
            "category": row.category,
            "metadata": json(row.metadata)?,
            "published_at": row.published_at,
            "questions": questions,
            "source_root": self.attached.source_root,
            "source_path": row.key,
        }))
    }

    /// A column of the row, quoted, which must exist.
    fn column(&self, name: &str) -> Result<String> {
        self.table.column(name)?;
        Ok(format!("t.{}", pgrx::spi::quote_identifier(name)))
    }

    fn text(&self, name: Option<&String>) -> Result<String> {
        match name {
            Some(name) => Ok(format!("{}::text", self.column(name)?)),
            None => Ok("NULL::text".to_owned()),
        }
    }

    /// Metadata as text: Postgres may store more than can be read here.
    fn metadata(&self) -> Result<String> {
        match self.attached.metadata.as_slice() {
            [] => Ok("NULL::text".to_owned()),
            [only] if self.table.column(only)?.type_name == "jsonb" => Ok(format!("{}::text", self.column(only)?)),
            several => {
                let pairs = several
                    .iter()
                    .map(|name| Ok(format!("{}, {}", pgrx::spi::quote_literal(name), self.column(name)?)));
                let pairs: Vec<String> = pairs.collect::<Result<_>>()?;
                Ok(format!("jsonb_build_object({})::text", pairs.join(", ")))
            }
        }
    }
}

//! The SQL functions that fill a project, one function each.

use std::collections::HashMap;

use docsearch_readers::document::Document;
use postgres::error::SqlState;
use postgres::types::Json;
use postgres::{Client, Statement};
use serde_json::Value;

use crate::process::error::Error;
use crate::terminal::Tally;

/// Default number of documents per transaction.
pub(crate) const DEFAULT_BATCH_DOCUMENTS: usize = 32;
/// Approximate size of a transaction in bytes: one document may exceed it.
const BATCH_BYTES: usize = 1 << 20;

/// A document that the database rejected.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) slug: String,
    pub(crate) reason: String,
}

/// Creates the project if it does not exist. `title` and `settings` apply only to a new project.
pub(crate) fn ensure(
    client: &mut Client,
    name: &str,
    title: Option<&str>,
    settings: Option<&Value>,
) -> Result<(), Error> {
    if exists(client, name)? {
        return Ok(());
    }
    let title = title.unwrap_or(name);
    let created = match settings {
        Some(settings) => client.execute(
            "SELECT docsearch.create_project(name => $1, title => $2, settings => $3::jsonb)",
            &[&name, &title, &Json(settings)],
        ),
        None => client.execute(
            "SELECT docsearch.create_project(name => $1, title => $2)",
            &[&name, &title],
        ),
    };
    match created {
        Ok(_) => Ok(()),
        // Another load has created it meanwhile.
        Err(failure)
            if failure.code() == Some(&SqlState::DUPLICATE_OBJECT) && has_settings(client, name, settings)? =>
        {
            Ok(())
        }
        Err(failure) => Err(failure.into()),
    }
}

/// Whether the project exists, with these settings if any are given.
fn has_settings(client: &mut Client, name: &str, settings: Option<&Value>) -> Result<bool, Error> {
    let found = client.query_opt("SELECT settings FROM docsearch.project WHERE name = $1", &[&name])?;
    Ok(found.is_some_and(|row| settings.is_none_or(|settings| row.get::<_, Value>(0) == *settings)))
}

/// The tables are created with the first project, so they may be missing.
fn exists(client: &mut Client, name: &str) -> Result<bool, Error> {
    let has_tables: bool = client
        .query_one("SELECT to_regclass('docsearch.project') IS NOT NULL", &[])?
        .get(0);
    if !has_tables {
        return Ok(false);
    }
    let row = client.query_one(
        "SELECT EXISTS (SELECT FROM docsearch.project WHERE name = $1)",
        &[&name],
    )?;
    Ok(row.get(0))
}

/// Identifies the project. It differs between projects of one name in other databases or created again, and for other
/// settings or another version of the extension.
pub(crate) fn identity(client: &mut Client, name: &str) -> Result<String, Error> {
    let row = client.query_one(
        "SELECT concat_ws(' ', p.id, p.created_at, p.settings, p.text_config, coalesce(p.next_model_id, p.model_id),
                          e.extversion)
         FROM docsearch.project p, pg_catalog.pg_extension e WHERE p.name = $1 AND e.extname = 'pg_docsearch'",
        &[&name],
    )?;
    Ok(row.get(0))
}

/// A digest of the documents that belong to source roots of the project.
pub(crate) fn digest_of(client: &mut Client, name: &str, source_roots: &[String]) -> Result<String, Error> {
    let row = client.query_one(
        "SELECT encode(sha256(convert_to(coalesce(string_agg(concat_ws(' ', d.content_hash, d.source_root, d.slug), E'\\n'
                                                             ORDER BY d.slug COLLATE \"C\"), ''), 'UTF8')), 'hex')
         FROM docsearch.document d JOIN docsearch.project p ON p.id = d.project_id
         WHERE p.name = $1 AND d.source_root = ANY ($2::text[])",
        &[&name, &source_roots],
    )?;
    Ok(row.get(0))
}

/// Number of documents in the project; `None` if there is no such project.
pub(crate) fn size(client: &mut Client, name: &str) -> Result<Option<usize>, Error> {
    if !exists(client, name)? {
        return Ok(None);
    }
    let documents: i64 = client
        .query_one(
            "SELECT count(*) FROM docsearch.document d JOIN docsearch.project p ON p.id = d.project_id \
             WHERE p.name = $1",
            &[&name],
        )?
        .get(0);
    Ok(Some(usize::try_from(documents).unwrap_or(0)))
}

/// Number of documents by source root.
pub(crate) fn source_roots(client: &mut Client, name: &str) -> Result<HashMap<String, u64>, Error> {
    let rows = client.query(
        "SELECT d.source_root, count(*) FROM docsearch.document d JOIN docsearch.project p ON p.id = d.project_id \
         WHERE p.name = $1 AND d.source_root IS NOT NULL GROUP BY d.source_root",
        &[&name],
    )?;
    let counts = rows.iter().map(|row| (row.get(0), row.get::<_, i64>(1).unsigned_abs()));
    Ok(counts.collect())
}

/// Deletes the documents of `source_root` whose slugs are not in `keep` and whose paths are not in `kept_sources`.
/// Returns how many.
pub(crate) fn delete_missing(
    client: &mut Client,
    project: &str,
    source_root: &str,
    mut keep: Vec<String>,
    kept_sources: &[String],
) -> Result<u64, Error> {
    if !kept_sources.is_empty() {
        let rows = client.query(
            "SELECT d.slug FROM docsearch.document d JOIN docsearch.project p ON p.id = d.project_id \
             WHERE p.name = $1 AND d.source_root = $2 AND d.source_path = ANY ($3::text[])",
            &[&project, &source_root, &kept_sources],
        )?;
        keep.extend(rows.iter().map(|row| row.get::<_, String>(0)));
    }
    let rows = client.query(
        "SELECT docsearch.delete_missing($1, source_root => $2, keep => $3::text[])",
        &[&project, &source_root, &keep],
    )?;
    Ok(rows.len() as u64)
}

/// Merges statistics and analyzes tables after a load that changed at least one document in ten: both take a second.
/// Autovacuum and the indexing functions handle smaller changes.
pub(crate) fn finish_load(client: &mut Client, project: &str, tally: &Tally) -> Result<(), Error> {
    let changes = tally.added + tally.changed + tally.deleted;
    match changes > 0 && changes * 10 >= tally.documents() {
        true => merge(client, project),
        false => Ok(()),
    }
}

/// Merges changes that searches would otherwise read one by one.
pub(crate) fn merge(client: &mut Client, project: &str) -> Result<(), Error> {
    client.execute("SELECT docsearch.finish_load($1)", &[&project])?;
    Ok(())
}

/// Sends documents in batches; each batch is one statement and one transaction.
pub(crate) struct Loader<'a> {
    client: &'a mut Client,
    statement: Statement,
    project: &'a str,
    batch_documents: usize,
    batch: Vec<Document>,
    batch_bytes: usize,
    tally: Tally,
    refusals: Vec<Refusal>,
}

impl<'a> Loader<'a> {
    /// A loader into `project` that sends `batch_documents` (at least 1) at a time.
    pub(crate) fn new(client: &'a mut Client, project: &'a str, batch_documents: usize) -> Result<Self, Error> {
        let statement =
            client.prepare("SELECT slug, action, chunks::bigint, detail FROM docsearch.index_docs($1, $2::jsonb)")?;
        Ok(Self {
            client,
            statement,
            project,
            batch_documents: batch_documents.max(1),
            batch: Vec::new(),
            batch_bytes: 0,
            tally: Tally::default(),
            refusals: Vec::new(),
        })
    }

    /// Adds a document, and sends the batch if it is full. Returns the number of documents sent.
    pub(crate) fn push(&mut self, document: Document) -> Result<u64, Error> {
        let size = document.size();
        let mut sent = 0;
        if self.batch_bytes + size > BATCH_BYTES {
            sent += self.flush()?;
        }
        self.batch_bytes += size;
        self.batch.push(document);
        if self.batch.len() >= self.batch_documents {
            sent += self.flush()?;
        }
        Ok(sent)
    }

    /// Sends the rest.
    pub(crate) fn finish(mut self) -> Result<(Tally, Vec<Refusal>), Error> {
        self.flush()?;
        Ok((self.tally, self.refusals))
    }

    /// Discards documents that were not sent.
    pub(crate) fn abandon(self) -> (Tally, Vec<Refusal>) {
        (self.tally, self.refusals)
    }

    fn flush(&mut self) -> Result<u64, Error> {
        if self.batch.is_empty() {
            return Ok(0);
        }
        let batch = std::mem::take(&mut self.batch);
        self.batch_bytes = 0;
        let rows = self.client.query(&self.statement, &[&self.project, &Json(&batch)])?;
        for row in &rows {
            match row.get("action") {
                "added" => self.tally.added += 1,
                "changed" => self.tally.changed += 1,
                "failed" => {
                    self.tally.failed += 1;
                    self.refusals.push(Refusal {
                        slug: row.get::<_, Option<String>>("slug").unwrap_or_default(),
                        reason: row.get::<_, Option<String>>("detail").unwrap_or_default(),
                    });
                }
                _ => self.tally.unchanged += 1,
            }
        }
        Ok(batch.len() as u64)
    }
}

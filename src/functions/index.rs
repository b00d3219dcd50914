//! Indexing: `index_doc`, `index_docs`, `delete_doc` and `delete_missing`.

use std::collections::HashSet;

use docsearch_core::rank::{ChunkId, DocumentId};
use pgrx::datum::{DatumWithOid, TimestampWithTimeZone};
use pgrx::prelude::*;
use serde_json::Value;

use crate::indexing::indexer::{self, OnFailure, Outcome};
use crate::indexing::{deletion, embedding};
use crate::postgres::jsonb::{self, JsonB, JsonBText};
use crate::postgres::report::{Result, in_one_line, internal, invalid, refuse_read_only};
use crate::postgres::statement;
use crate::settings;
use crate::tables::document_input::DocumentInput;
use crate::tables::project;

#[pg_schema]
mod docsearch {
    use super::*;

    /// Indexes a document, new or changed, and says which: added, changed or unchanged.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::too_many_arguments)]
    fn index_doc(
        project: Option<&str>,
        slug: Option<String>,
        title: Option<String>,
        body: Option<String>,
        category: default!(Option<String>, "NULL"),
        metadata: default!(Option<JsonB>, "'{}'"),
        kind: default!(Option<String>, "NULL"),
        version: default!(Option<String>, "NULL"),
        summary: default!(Option<String>, "NULL"),
        keywords: default!(Option<Vec<Option<String>>>, "NULL"),
        source_urls: default!(Option<Vec<Option<String>>>, "NULL"),
        source_path: default!(Option<String>, "NULL"),
        source_root: default!(Option<String>, "NULL"),
        published_at: default!(Option<TimestampWithTimeZone>, "NULL"),
        anchors: default!(Option<JsonB>, "'{}'"),
    ) -> Result<String> {
        refuse_read_only(c"index_doc()");
        let project = project::given(project)?;
        let input = DocumentInput {
            slug: slug.unwrap_or_default(),
            title: title.unwrap_or_default(),
            body,
            category,
            metadata: metadata.map(|JsonB(metadata)| metadata),
            kind,
            version,
            summary,
            keywords: without_null("keywords", keywords.unwrap_or_default())?,
            source_urls: without_null("source_urls", source_urls.unwrap_or_default())?,
            source_path,
            source_root,
            published_at: published_at.map(|time| time.to_iso_string()),
            anchors: DocumentInput::anchors(anchors.map(|JsonB(anchors)| anchors))?,
        };
        let mut outcomes = indexer::index(
            &project,
            vec![input.checked()?],
            None,
            settings::INDEX_MODE.get(),
            OnFailure::Raise,
        )?;
        let outcome = outcomes.pop().ok_or_else(|| internal("no outcome"))?;
        Ok(outcome.action.to_owned())
    }

    /// Indexes an array of documents: objects whose keys are the arguments of index_doc. One row
    /// for each; a document that fails does not lose the others.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn index_docs(
        project: Option<&str>,
        docs: Option<JsonBText>,
    ) -> Result<
        TableIterator<
            'static,
            (
                name!(slug, Option<String>),
                name!(action, String),
                name!(chunks, Option<i32>),
                name!(detail, Option<String>),
            ),
        >,
    > {
        refuse_read_only(c"index_docs()");
        let project = project::given(project)?;
        let docs = documents(docs)?;
        let mut outcomes = Vec::with_capacity(docs.len());
        let mut seen = HashSet::new();
        let mut inputs = Vec::new();
        for doc in docs {
            match doc.and_then(DocumentInput::parse) {
                Ok(input) if seen.insert(input.slug.clone()) => inputs.push(input),
                Ok(input) => outcomes.push(Outcome::failed(Some(input.slug), "slug was given twice")),
                Err((slug, problem)) => outcomes.push(Outcome::failed(slug, problem)),
            }
        }
        outcomes.extend(indexer::index(
            &project,
            inputs,
            None,
            settings::INDEX_MODE.get(),
            OnFailure::Return,
        )?);
        let rows = outcomes
            .into_iter()
            .map(|outcome| (outcome.slug, outcome.action.to_owned(), outcome.chunks, outcome.detail));
        Ok(TableIterator::new(rows.collect::<Vec<_>>()))
    }

    /// Removes a document; false if there is none with this slug.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn delete_doc(project: &str, slug: &str) -> Result<bool> {
        let project = project::by_name(project)?;
        Ok(!deletion::delete(&project, vec![slug.to_owned()], None)?.is_empty())
    }

    /// Removes the documents of a source root whose slug is not in keep, and returns their slugs.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn delete_missing(
        project: &str,
        source_root: &str,
        keep: Vec<Option<String>>,
    ) -> Result<SetOfIterator<'static, String>> {
        let project = project::by_name(project)?;
        let keep = without_null("keep", keep)?;
        let gone = statement::rows(
            "SELECT d.slug FROM docsearch.document d
             WHERE d.project_id = $1 AND d.source_root = $2 AND d.slug <> ALL ($3) ORDER BY d.slug",
            &[
                DatumWithOid::from(project.id),
                DatumWithOid::from(source_root),
                DatumWithOid::from(keep),
            ],
            |row| row.required::<String>(1),
        )?;
        Ok(SetOfIterator::new(deletion::delete(&project, gone, Some(source_root))?))
    }

    /// The text that was embedded for a chunk.
    #[pg_extern(stable, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn embed_input(project_id: i64, document_id: i64, chunk_no: i32) -> Result<Option<String>> {
        embedding::input_of(ChunkId {
            document: DocumentId {
                project: project_id,
                document: document_id,
            },
            chunk: chunk_no,
        })
    }
}

/// The elements of an array argument, none of which may be NULL.
fn without_null(name: &str, texts: Vec<Option<String>>) -> Result<Vec<String>> {
    let texts: Option<Vec<String>> = texts.into_iter().collect();
    texts.ok_or_else(|| invalid(format!("{name} must not hold null"), "Omit the element."))
}

/// The elements of the argument of `index_docs`; what cannot be read of one is its own problem.
#[allow(clippy::type_complexity)]
fn documents(docs: Option<JsonBText>) -> Result<Vec<std::result::Result<Value, (Option<String>, String)>>> {
    let no_array = || invalid("docs must be a JSON array of objects", DocumentInput::KEYS_HINT);
    let JsonBText(docs) = docs.ok_or_else(no_array)?;
    match jsonb::parse(&docs) {
        Ok(Value::Array(docs)) => return Ok(docs.into_iter().map(Ok).collect()),
        Ok(_) => return Err(no_array()),
        Err(_) if !docs.starts_with('[') => return Err(no_array()),
        Err(_) => {}
    }
    statement::rows(
        "SELECT d.doc ->> 'slug', d.doc::text FROM jsonb_array_elements($1::jsonb) AS d(doc)",
        &[DatumWithOid::from(docs)],
        |row| {
            let (slug, doc): (Option<String>, String) = (row.optional(1)?, row.required(2)?);
            Ok(jsonb::parse(&doc).map_err(|problem| (slug, in_one_line(&problem))))
        },
    )
}

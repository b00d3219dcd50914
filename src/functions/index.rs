//! Indexing: `index_doc`, `index_docs`, `delete_doc` and `delete_missing`.

use std::collections::HashSet;

use docsearch_core::values::bounds::STORED_ELEMENTS;
use docsearch_core::values::id::{ChunkId, DocumentId};
use pgrx::datum::{DatumWithOid, TimestampWithTimeZone};
use pgrx::prelude::*;

use crate::indexing::indexer::{self, OnFailure, Outcome};
use crate::indexing::{deletion, embedding};
use crate::postgres::argument::{Json, JsonDocuments, LongText, Text, Texts, Whole, arguments};
use crate::postgres::jsonb::JsonB;
use crate::postgres::report::{Result, internal, invalid, refuse_read_only};
use crate::postgres::role::Caller;
use crate::postgres::statement;
use crate::settings;
use crate::tables::document_input::DocumentInput;
use crate::tables::project;

#[pg_schema]
mod docsearch {
    use super::*;

    /// Inserts or updates a document, and returns added, changed or unchanged.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::too_many_arguments)]
    fn index_doc(
        project: Option<Text<'_>>,
        slug: Option<Text<'_>>,
        title: Option<Text<'_>>,
        body: Option<LongText<'_>>,
        category: default!(Option<Text<'_>>, "NULL"),
        metadata: default!(Option<Json<'_>>, "'{}'"),
        kind: default!(Option<Text<'_>>, "NULL"),
        version: default!(Option<Text<'_>>, "NULL"),
        summary: default!(Option<Text<'_>>, "NULL"),
        keywords: default!(Option<Texts<'_>>, "NULL"),
        source_urls: default!(Option<Texts<'_>>, "NULL"),
        source_path: default!(Option<Text<'_>>, "NULL"),
        source_root: default!(Option<Text<'_>>, "NULL"),
        published_at: default!(Option<TimestampWithTimeZone>, "NULL"),
        anchors: default!(Option<Json<'_>>, "'{}'"),
        pages: default!(Option<Json<'_>>, "'[]'"),
        questions: default!(Option<Texts<'_>>, "NULL"),
    ) -> Result<String> {
        arguments!(
            project,
            slug,
            title,
            body,
            category,
            metadata,
            kind,
            version,
            summary,
            keywords,
            source_urls,
            source_path,
            source_root,
            anchors,
            pages,
            questions
        );
        let caller = &mut Caller::of_call()?;
        refuse_read_only(c"index_doc()");
        let project = project::given(caller, project)?;
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let input = DocumentInput {
            slug: owned(slug).unwrap_or_default(),
            title: owned(title).unwrap_or_default(),
            body: owned(body),
            category: owned(category),
            metadata: metadata.map(|JsonB(metadata)| metadata),
            kind: owned(kind),
            version: owned(version),
            summary: owned(summary),
            keywords: without_null("keywords", keywords.unwrap_or_default())?,
            source_urls: without_null("source_urls", source_urls.unwrap_or_default())?,
            source_path: owned(source_path),
            source_root: owned(source_root),
            published_at: published_at.map(|time| time.to_iso_string()),
            anchors: DocumentInput::anchors(anchors.map(|JsonB(anchors)| anchors))?,
            pages: DocumentInput::pages(pages.map(|JsonB(pages)| pages))?,
            questions: questions
                .map(|questions| DocumentInput::questions(without_null("questions", questions)?))
                .transpose()?,
        };
        let mut outcomes = indexer::index(
            caller,
            &project,
            vec![input.checked()?],
            None,
            settings::INDEX_MODE.get(),
            OnFailure::Raise,
        )?;
        let outcome = outcomes.pop().ok_or_else(|| internal("no outcome"))?;
        Ok(outcome.action.to_owned())
    }

    /// Inserts or updates the documents of a JSON array, and returns a row for each.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn index_docs(
        project: Option<Text<'_>>,
        docs: Option<JsonDocuments<'_>>,
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
        arguments!(project, docs);
        let caller = &mut Caller::of_call()?;
        refuse_read_only(c"index_docs()");
        let docs = docs.flatten();
        let docs = docs.ok_or_else(|| invalid("docs must be a JSON array of objects", DocumentInput::KEYS_HINT))?;
        let project = project::given(caller, project)?;
        let mut outcomes = Vec::with_capacity(docs.len());
        let mut slugs = HashSet::new();
        let mut inputs = Vec::new();
        for doc in docs {
            match doc.and_then(DocumentInput::parse) {
                Ok(input) if slugs.insert(input.slug.clone()) => inputs.push(input),
                Ok(input) => outcomes.push(Outcome::failed(Some(input.slug), "slug is given twice")),
                Err((slug, problem)) => outcomes.push(Outcome::failed(slug, problem)),
            }
        }
        outcomes.extend(indexer::index(
            caller,
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

    /// Deletes a document, and returns whether there was one.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn delete_doc(project: Text<'_>, slug: Text<'_>) -> Result<bool> {
        arguments!(project, slug);
        let caller = &mut Caller::of_call()?;
        let project = project::by_name(caller, project)?;
        Ok(!deletion::delete(caller, &project, vec![slug.to_owned()], None)?.is_empty())
    }

    /// Deletes the documents of a source root whose slug is not in keep, and returns their slugs.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn delete_missing(
        project: Text<'_>,
        source_root: Text<'_>,
        keep: Texts<'_>,
    ) -> Result<SetOfIterator<'static, String>> {
        arguments!(project, source_root);
        let caller = &mut Caller::of_call()?;
        let keep = keep.up_to("keep", STORED_ELEMENTS)?;
        let project = project::by_name(caller, project)?;
        let keep = without_null("keep", keep)?;
        let missing = statement::rows(
            caller,
            "SELECT d.slug FROM docsearch.document d
             WHERE d.project_id = $1 AND d.source_root = $2 AND d.slug <> ALL ($3) ORDER BY d.slug",
            &[
                DatumWithOid::from(project.id),
                DatumWithOid::from(source_root),
                DatumWithOid::from(keep),
            ],
            |row| row.required::<String>(1),
        )?;
        Ok(SetOfIterator::new(deletion::delete(
            caller,
            &project,
            missing,
            Some(source_root),
        )?))
    }

    /// Returns the text that was embedded for a chunk.
    #[pg_extern(stable, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn embed_input(project_id: i64, document_id: i64, chunk_no: Whole) -> Result<Option<String>> {
        arguments!(chunk_no);
        let caller = &mut Caller::of_call()?;
        embedding::input_of(
            caller,
            ChunkId {
                document: DocumentId {
                    project: project_id,
                    document: document_id,
                },
                chunk: chunk_no,
            },
        )
    }
}

/// The elements of an array argument, which must not be NULL.
fn without_null(name: &str, texts: Vec<Option<String>>) -> Result<Vec<String>> {
    let texts: Option<Vec<String>> = texts.into_iter().collect();
    texts.ok_or_else(|| invalid(format!("{name} must not contain null"), "Omit the element."))
}

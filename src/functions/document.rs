//! `load_doc`, `load_doc_json`, `load_docs`, `list_docs` and `list_docs_json`: whole documents, and lists of documents.

use docsearch_core::documents::document::Shape;
use docsearch_core::documents::listing::{ListedDocument, Listing, fitting};
use docsearch_core::text::token_estimate::CHARS_PER_TOKEN;
use pgrx::datum::TimestampWithTimeZone;
use pgrx::prelude::*;
use serde_json::Value;

use crate::postgres::argument::{Text, Texts, Whole, arguments};
use crate::postgres::jsonb::JsonB;
use crate::postgres::report::{Result, in_one_line, internal, invalid};
use crate::postgres::role::Caller;
use crate::search::logging::{self, Requested};
use crate::tables::document;
use crate::tables::document_list::{self, DocumentSummary};
use crate::tables::lock_limit::LockLimit;
use crate::tables::project;
use crate::tables::project_selection::Selection;

/// Returns a document, or one section of it, as Markdown.
#[pg_extern(stable, parallel_unsafe)]
#[search_path(pg_catalog, pg_temp)]
fn load_doc(
    slug: Option<Text<'_>>,
    include_sections: default!(Option<bool>, true),
    include_metadata: default!(Option<bool>, true),
    project: default!(Option<Text<'_>>, "NULL"),
    section: default!(Option<Text<'_>>, "NULL"),
    max_tokens: default!(Option<Whole>, "NULL"),
    skip: default!(Option<Whole>, 0),
) -> Result<String> {
    arguments!(slug, project, section, max_tokens, skip);
    let caller = &mut Caller::of_call()?;
    let shape = Shape {
        skip: checked_skip(skip, CHARACTERS)?,
        ..shape(include_sections, include_metadata, max_tokens)?
    };
    let _limit = LockLimit::begin()?;
    let requested = Requested {
        reference: slug,
        project,
        section,
    };
    let loaded = document::load(caller, slug, project, section, shape)
        .map_err(|problem| logging::not_loaded(caller, requested, problem))?;
    logging::loaded(caller, &loaded);
    Ok(loaded.content)
}

/// Returns the document of load_doc as a JSON object.
#[pg_extern(stable, parallel_unsafe)]
#[search_path(pg_catalog, pg_temp)]
fn load_doc_json(
    slug: Option<Text<'_>>,
    include_sections: default!(Option<bool>, true),
    include_metadata: default!(Option<bool>, true),
    project: default!(Option<Text<'_>>, "NULL"),
    section: default!(Option<Text<'_>>, "NULL"),
    max_tokens: default!(Option<Whole>, "NULL"),
    skip: default!(Option<Whole>, 0),
) -> Result<JsonB> {
    arguments!(slug, project, section, max_tokens, skip);
    let caller = &mut Caller::of_call()?;
    let shape = Shape {
        skip: checked_skip(skip, CHARACTERS)?,
        ..shape(include_sections, include_metadata, max_tokens)?
    };
    let _limit = LockLimit::begin()?;
    let requested = Requested {
        reference: slug,
        project,
        section,
    };
    let mut loaded = document::load_json(caller, slug, project, section, shape)
        .map_err(|problem| logging::not_loaded(caller, requested, problem))?;
    let token = logging::loaded(caller, &loaded);
    if let (Value::Object(fields), Some(token)) = (&mut loaded.content, token) {
        fields.insert("load_token".to_owned(), token.into());
    }
    Ok(JsonB(loaded.content))
}

/// Returns several documents as Markdown, one row for each slug.
#[pg_extern(stable, parallel_unsafe)]
#[search_path(pg_catalog, pg_temp)]
#[allow(clippy::type_complexity)]
fn load_docs(
    slugs: Option<Texts<'_>>,
    include_sections: default!(Option<bool>, true),
    include_metadata: default!(Option<bool>, true),
    project: default!(Option<Text<'_>>, "NULL"),
    max_tokens: default!(Option<Whole>, "NULL"),
) -> Result<
    TableIterator<
        'static,
        (
            name!(slug, Option<String>),
            name!(content, Option<String>),
            name!(error, Option<String>),
        ),
    >,
> {
    arguments!(slugs, project, max_tokens);
    let caller = &mut Caller::of_call()?;
    let shape = shape(include_sections, include_metadata, max_tokens)?;
    let _limit = LockLimit::begin()?;
    if let Some(name) = project {
        project::by_name(caller, name)?;
    }
    let slugs = slugs.ok_or_else(|| invalid("slugs must not be null", "list_docs() lists the slugs."))?;
    let texts = document::load_all(caller, &slugs, project, shape);
    let rows = slugs.into_iter().zip(texts).map(|(slug, loaded)| match loaded {
        Ok(loaded) => {
            logging::loaded(caller, &loaded);
            (slug, Some(loaded.content), None)
        }
        Err(problem) => {
            let requested = Requested {
                reference: slug.as_deref(),
                project,
                section: None,
            };
            let report = logging::not_loaded(caller, requested, problem);
            (slug, None, Some(in_one_line(&report)))
        }
    });
    Ok(TableIterator::new(rows.collect::<Vec<_>>()))
}

/// Returns the documents that the caller can see, without their text.
#[pg_extern(stable, parallel_unsafe)]
#[search_path(pg_catalog, pg_temp)]
#[allow(clippy::type_complexity)]
fn list_docs(
    project: default!(Option<Text<'_>>, "NULL"),
    category: default!(Option<Text<'_>>, "NULL"),
    kind: default!(Option<Text<'_>>, "NULL"),
    sort_by: default!(Option<Text<'_>>, "'title'"),
    max_tokens: default!(Option<Whole>, "NULL"),
    skip: default!(Option<Whole>, 0),
    projects: default!(Option<Texts<'_>>, "NULL"),
) -> Result<
    TableIterator<
        'static,
        (
            name!(project, String),
            name!(category, Option<String>),
            name!(slug, String),
            name!(title, String),
            name!(kind, Option<String>),
            name!(description, Option<String>),
            name!(version, Option<String>),
            name!(chunk_count, i32),
            name!(updated_at, TimestampWithTimeZone),
        ),
    >,
> {
    arguments!(project, category, kind, sort_by, max_tokens, skip, projects);
    let caller = &mut Caller::of_call()?;
    let (skip, max_chars) = (checked_skip(skip, DOCUMENTS)?, max_chars(max_tokens)?);
    let selection = Selection::new(project, projects.as_deref())?;
    let _limit = LockLimit::begin()?;
    let mut rows = document_list::listed(caller, &selection, category, kind, sort_by)?;
    let total = rows.len();
    rows.drain(..skip.min(total));
    if let Some(most) = max_chars {
        rows.truncate(fitting(rows.iter().map(DocumentSummary::chars), most));
    }
    let end = skip.saturating_add(rows.len());
    if end < total {
        notice!(
            "{} of {total} documents follow: skip => {end} returns the next ones",
            total - end
        );
    }
    Ok(TableIterator::new(rows.into_iter().map(|row| {
        (
            row.project,
            row.category,
            row.slug,
            row.title,
            row.kind,
            row.description,
            row.version,
            row.chunk_count,
            row.updated_at,
        )
    })))
}

/// Returns the documents of list_docs as a tree of categories.
#[pg_extern(stable, parallel_unsafe)]
#[search_path(pg_catalog, pg_temp)]
fn list_docs_json(
    project: default!(Option<Text<'_>>, "NULL"),
    category: default!(Option<Text<'_>>, "NULL"),
    kind: default!(Option<Text<'_>>, "NULL"),
    sort_by: default!(Option<Text<'_>>, "'title'"),
    max_tokens: default!(Option<Whole>, "NULL"),
    skip: default!(Option<Whole>, 0),
    projects: default!(Option<Texts<'_>>, "NULL"),
) -> Result<JsonB> {
    arguments!(project, category, kind, sort_by, max_tokens, skip, projects);
    let caller = &mut Caller::of_call()?;
    let (skip, max_chars) = (checked_skip(skip, DOCUMENTS)?, max_chars(max_tokens)?);
    let selection = Selection::new(project, projects.as_deref())?;
    let _limit = LockLimit::begin()?;
    let documents: Vec<_> = document_list::listed(caller, &selection, category, kind, sort_by)?
        .into_iter()
        .map(|row| {
            let document = ListedDocument {
                project: row.project,
                slug: row.slug,
                title: row.title,
                description: row.description,
                last_updated: row.last_updated,
            };
            (row.category, document)
        })
        .collect();
    serde_json::to_value(Listing::part(&documents, skip, max_chars))
        .map(JsonB)
        .map_err(internal)
}

/// What `skip` counts.
const CHARACTERS: &str = "skip is the number of characters to skip, as the note of a shortened text says.";
const DOCUMENTS: &str = "skip is the number of documents to skip, such as skip => 20.";

fn checked_skip(skip: Option<i32>, hint: &'static str) -> Result<usize> {
    let skip = skip.unwrap_or_default();
    usize::try_from(skip).map_err(|_| invalid(format!("skip is {skip}, and must be at least 0"), hint))
}

/// Which parts of a document to load.
fn shape(sections: Option<bool>, metadata: Option<bool>, max_tokens: Option<i32>) -> Result<Shape> {
    Ok(Shape {
        sections: sections.unwrap_or(true),
        metadata: metadata.unwrap_or(true),
        skip: 0,
        max_chars: max_chars(max_tokens)?,
    })
}

/// The limit in characters; `None` is no limit.
fn max_chars(max_tokens: Option<i32>) -> Result<Option<usize>> {
    let Some(tokens) = max_tokens else {
        return Ok(None);
    };
    match usize::try_from(tokens) {
        Ok(tokens @ 1..) => Ok(Some(tokens.saturating_mul(CHARS_PER_TOKEN))),
        _ => Err(invalid(
            format!("max_tokens is {tokens}, and must be at least 1"),
            "Omit it for no limit.",
        )),
    }
}

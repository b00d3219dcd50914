//! Documents whole: `load_doc`, `load_docs` and `list_docs`. Everything runs as the caller.

use docsearch_core::delivery::CHARS_PER_TOKEN;
use docsearch_core::listing::{ListedDocument, Listing};
use docsearch_core::markdown;
use docsearch_core::outline::{Neighbours, Outline};
use docsearch_core::rank::DocumentId;
use pgrx::datum::{DatumWithOid, TimestampWithTimeZone};
use pgrx::prelude::*;

use crate::jsonb::JsonB;
use crate::report::{Result, error_with_hint, in_one_line, internal, invalid, undefined};
use crate::{names, project, schema, statement};

/// So much of a slug is compared with others, in characters: none is much longer.
const MAX_COMPARED_CHARS: usize = 1_200;

/// The markdown of a document: title, category, sources, date, summary and sections.
#[pg_extern(stable, parallel_unsafe)]
#[search_path(pg_catalog, pg_temp)]
fn load_doc(
    slug: Option<&str>,
    include_sections: default!(Option<bool>, true),
    include_metadata: default!(Option<bool>, true),
    project: default!(Option<&str>, "NULL"),
    section: default!(Option<&str>, "NULL"),
    max_tokens: default!(Option<i32>, "NULL"),
) -> Result<String> {
    let shape = Shape::new(include_sections, include_metadata, section, max_tokens)?;
    load(slug, project, &shape)
}

/// Several documents: a slug that cannot be loaded has its error in its row.
#[pg_extern(stable, parallel_unsafe)]
#[search_path(pg_catalog, pg_temp)]
#[allow(clippy::type_complexity)]
fn load_docs(
    slugs: Option<Vec<Option<String>>>,
    include_sections: default!(Option<bool>, true),
    include_metadata: default!(Option<bool>, true),
    project: default!(Option<&str>, "NULL"),
    max_tokens: default!(Option<i32>, "NULL"),
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
    let shape = Shape::new(include_sections, include_metadata, None, max_tokens)?;
    if let Some(name) = project {
        project::by_name(name)?;
    }
    let slugs = slugs.ok_or_else(|| invalid("slugs must not be null", "list_docs() lists the slugs."))?;
    let rows = slugs
        .into_iter()
        .map(|slug| match load(slug.as_deref(), project, &shape) {
            Ok(content) => (slug, Some(content), None),
            Err(problem) => (slug, None, Some(in_one_line(&problem))),
        });
    Ok(TableIterator::new(rows.collect::<Vec<_>>()))
}

/// The documents that the caller sees, without their text.
#[pg_extern(stable, parallel_unsafe)]
#[search_path(pg_catalog, pg_temp)]
#[allow(clippy::type_complexity)]
fn list_docs(
    project: default!(Option<&str>, "NULL"),
    category: default!(Option<&str>, "NULL"),
    kind: default!(Option<&str>, "NULL"),
    sort_by: default!(Option<&str>, "'title'"),
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
    let rows = listed(project, category, kind, sort_by)?;
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

/// The documents that the caller sees as a tree of categories, with counts.
#[pg_extern(stable, parallel_unsafe)]
#[search_path(pg_catalog, pg_temp)]
fn list_docs_json(
    project: default!(Option<&str>, "NULL"),
    category: default!(Option<&str>, "NULL"),
    kind: default!(Option<&str>, "NULL"),
    sort_by: default!(Option<&str>, "'title'"),
) -> Result<JsonB> {
    let documents = listed(project, category, kind, sort_by)?.into_iter().map(|row| {
        let document = ListedDocument {
            project: row.project,
            slug: row.slug,
            title: row.title,
            description: row.description,
            last_updated: row.last_updated,
        };
        (row.category, document)
    });
    serde_json::to_value(Listing::of(documents))
        .map(JsonB)
        .map_err(internal)
}

struct Listed {
    project: String,
    category: Option<String>,
    slug: String,
    title: String,
    kind: Option<String>,
    description: Option<String>,
    version: Option<String>,
    chunk_count: i32,
    updated_at: TimestampWithTimeZone,
    last_updated: String,
}

fn listed(
    project: Option<&str>,
    category: Option<&str>,
    kind: Option<&str>,
    sort_by: Option<&str>,
) -> Result<Vec<Listed>> {
    let order = sort_by.unwrap_or("title");
    if !["title", "category", "date"].contains(&order) {
        return Err(invalid(
            format!("unknown sort key \"{order}\""),
            "Sort by title, category or date.",
        ));
    }
    if let Some(name) = project {
        project::by_name(name)?;
    }
    if !schema::exists() {
        return Ok(Vec::new());
    }
    statement::rows(
        "SELECT p.name, d.category, d.slug, d.title, d.kind, left(d.summary, 200), d.version, d.chunk_count,
                d.updated_at, coalesce(to_char(d.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'),
                                      d.updated_at::text)
         FROM docsearch.document d JOIN docsearch.project p ON p.id = d.project_id
         WHERE ($1::text IS NULL OR p.name = $1)
           AND ($2::text IS NULL OR d.category = $2 OR starts_with(d.category, $2 || '/'))
           AND ($3::text IS NULL OR d.kind = $3)
         ORDER BY CASE WHEN $4 = 'date' THEN d.updated_at END DESC,
                  CASE WHEN $4 = 'category' THEN d.category END,
                  lower(d.title), p.name, d.slug",
        &[
            DatumWithOid::from(project),
            DatumWithOid::from(category),
            DatumWithOid::from(kind),
            DatumWithOid::from(order),
        ],
        |row| {
            Ok(Listed {
                project: row.required(1)?,
                category: row.optional(2)?,
                slug: row.required(3)?,
                title: row.required(4)?,
                kind: row.optional(5)?,
                description: row.optional(6)?,
                version: row.optional(7)?,
                chunk_count: row.required(8)?,
                updated_at: row.required(9)?,
                last_updated: row.required(10)?,
            })
        },
    )
}

/// Which parts of a document are wanted.
struct Shape<'a> {
    sections: bool,
    metadata: bool,
    section: Option<&'a str>,
    max_chars: Option<usize>,
}

impl<'a> Shape<'a> {
    fn new(
        sections: Option<bool>,
        metadata: Option<bool>,
        section: Option<&'a str>,
        max_tokens: Option<i32>,
    ) -> Result<Self> {
        let max_tokens = max_tokens.map(usize::try_from).transpose();
        let max_tokens = max_tokens.ok().filter(|limit| *limit != Some(0));
        let Some(max_tokens) = max_tokens else {
            return Err(invalid(
                "max_tokens must be at least 1",
                "Leave it away for the whole document.",
            ));
        };
        Ok(Self {
            sections: sections.unwrap_or(true),
            metadata: metadata.unwrap_or(true),
            section,
            max_chars: max_tokens.map(|tokens| tokens.saturating_mul(CHARS_PER_TOKEN)),
        })
    }
}

struct Loaded {
    id: DocumentId,
    project: String,
    slug: String,
    title: String,
    category: Option<String>,
    source_urls: Vec<String>,
    updated: String,
    summary: Option<String>,
    body: String,
}

fn load(slug: Option<&str>, project: Option<&str>, shape: &Shape<'_>) -> Result<String> {
    let (document, anchor) = resolve(checked_slug(slug)?, project)?;
    render(&document, shape.section.or(anchor), shape)
}

pub(crate) fn checked_slug(slug: Option<&str>) -> Result<&str> {
    let slug = slug.filter(|slug| !slug.trim().is_empty());
    slug.ok_or_else(|| invalid("slug must not be null or blank", "list_docs() lists the slugs."))
}

/// The document that a slug or a reference names.
pub(crate) fn identify(given: &str, project: Option<&str>) -> Result<DocumentId> {
    Ok(resolve(given, project)?.0.id)
}

/// The document that a slug or a reference names, and the section that the reference names.
fn resolve<'a>(given: &'a str, project: Option<&str>) -> Result<(Loaded, Option<&'a str>)> {
    if let Some(name) = project {
        project::by_name(name)?;
    } else if !schema::exists() {
        return Err(crate::owner::no_tables());
    }
    let mut found = lookup(given, project)?;
    let mut anchor = None;
    if found.is_empty()
        && let Some((reference, section)) = given.split_once('#')
    {
        found = lookup(reference, project)?;
        anchor = Some(section);
    }
    if found.len() > 1 {
        return Err(ambiguous(given, &found));
    }
    match found.pop() {
        Some(only) => Ok((only, anchor)),
        None => Err(unknown(given, project)?),
    }
}

/// Documents whose slug this is, or else whose reference `project/slug` it is.
fn lookup(slug: &str, project: Option<&str>) -> Result<Vec<Loaded>> {
    let exact = read("d.slug = $1 AND ($2::text IS NULL OR p.name = $2)", slug, project)?;
    if !exact.is_empty() {
        return Ok(exact);
    }
    read(
        "starts_with($1, p.name || '/') AND d.slug = substr($1, length(p.name) + 2)
         AND ($2::text IS NULL OR p.name = $2)",
        slug,
        project,
    )
}

fn read(condition: &str, slug: &str, project: Option<&str>) -> Result<Vec<Loaded>> {
    statement::rows(
        &format!(
            "SELECT d.project_id, d.id, p.name, d.slug, d.title, d.category,
                    ARRAY(SELECT u.url FROM unnest(d.source_urls) AS u(url) WHERE u.url IS NOT NULL),
                    coalesce(to_char(d.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD'), d.updated_at::text),
                    d.summary, d.body
             FROM docsearch.project p JOIN docsearch.document d ON d.project_id = p.id
             WHERE {condition} ORDER BY p.name"
        ),
        &[DatumWithOid::from(slug), DatumWithOid::from(project)],
        |row| {
            Ok(Loaded {
                id: statement::document_id(row)?,
                project: row.required(3)?,
                slug: row.required(4)?,
                title: row.required(5)?,
                category: row.optional(6)?,
                source_urls: row.required(7)?,
                updated: row.required(8)?,
                summary: row.optional(9)?,
                body: row.required(10)?,
            })
        },
    )
}

fn unknown(slug: &str, project: Option<&str>) -> Result<pg_sys::panic::ErrorReport> {
    let trigram = names::trigram_schema()?;
    let compared: String = slug.chars().take(MAX_COMPARED_CHARS).collect();
    let nearest: Vec<String> = statement::rows(
        &format!(
            "SELECT p.name || '/' || d.slug FROM docsearch.document d JOIN docsearch.project p ON p.id = d.project_id
             WHERE $2::text IS NULL OR p.name = $2
             ORDER BY greatest({trigram}.similarity(d.slug, $1), {trigram}.similarity(d.title, $1)) DESC, d.slug, p.name
             LIMIT 3"
        ),
        &[DatumWithOid::from(compared), DatumWithOid::from(project)],
        |row| row.required(1),
    )?;
    let hint = if nearest.is_empty() {
        "There is no document yet: SELECT docsearch.index_doc(...).".to_owned()
    } else {
        format!("Did you mean {}?", nearest.join(", "))
    };
    Ok(undefined(format!("document \"{slug}\" does not exist"), hint))
}

fn ambiguous(slug: &str, found: &[Loaded]) -> pg_sys::panic::ErrorReport {
    let references: Vec<String> = found
        .iter()
        .map(|doc| format!("{}/{}", doc.project, doc.slug))
        .collect();
    error_with_hint(
        PgSqlErrorCode::ERRCODE_AMBIGUOUS_PARAMETER,
        format!("document \"{slug}\" is in {} projects", found.len()),
        format!("Name one of {}.", references.join(", ")),
    )
}

fn render(document: &Loaded, section: Option<&str>, shape: &Shape<'_>) -> Result<String> {
    let mut text = format!("# {}\n", document.title);
    if shape.metadata {
        if let Some(category) = &document.category {
            text.push_str(&format!("\n**Category:** {category}"));
        }
        if !document.source_urls.is_empty() {
            text.push_str(&format!("\n**Sources:** {}", document.source_urls.join(", ")));
        }
        text.push_str(&format!("\n**Last Updated:** {}\n", document.updated));
    }
    let outline = Outline::new(&document.body);
    let room = |text: &str| {
        let taken = text.chars().count();
        shape.max_chars.map_or(usize::MAX, |most| most.saturating_sub(taken))
    };
    match section {
        Some(wanted) => {
            let found = outline.find(wanted);
            let found = found.ok_or_else(|| unknown_section(document, &outline, wanted))?;
            let around = around(document, outline.neighbours(found));
            let cut = outline.cut(
                outline.range(found),
                room(&text).saturating_sub(around.chars().count() + 2),
            );
            text.push_str(&format!("\n{}\n{around}", cut.trim()));
        }
        None => {
            if let Some(summary) = document.summary.as_deref().filter(|summary| !summary.is_empty()) {
                text.push_str(&format!("\n## Summary\n\n{summary}\n"));
            }
            if shape.sections {
                text.push_str("\n## Sections\n\n");
                let rest = markdown::without_title(&document.body, &document.title);
                let start = rest.as_ptr() as usize - document.body.as_ptr() as usize;
                let cut = outline.cut(start..start + rest.len(), room(&text).saturating_sub(1));
                text.push_str(&cut);
                text.push('\n');
            }
        }
    }
    Ok(match shape.max_chars {
        Some(most) if text.chars().count() > most => shortened(&text, most),
        _ => text,
    })
}

/// The sections around one, as references that can be loaded.
fn around(document: &Loaded, neighbours: Neighbours<'_>) -> String {
    let parts: Vec<String> = [
        ("parent", neighbours.parent),
        ("previous", neighbours.previous),
        ("next", neighbours.next),
    ]
    .into_iter()
    .filter_map(|(label, anchor)| Some(format!("{label}: {}/{}#{}", document.project, document.slug, anchor?)))
    .collect();
    if parts.is_empty() {
        String::new()
    } else {
        format!("\n[{}]\n", parts.join("; "))
    }
}

fn unknown_section(document: &Loaded, outline: &Outline<'_>, wanted: &str) -> pg_sys::panic::ErrorReport {
    let anchors: Vec<&str> = outline
        .sections()
        .iter()
        .map(|section| section.anchor.as_str())
        .filter(|anchor| !anchor.is_empty())
        .take(20)
        .collect();
    undefined(
        format!("document \"{}\" has no section \"{wanted}\"", document.slug),
        if anchors.is_empty() {
            "The document has no sections.".to_owned()
        } else {
            format!("Its sections: {}.", anchors.join(", "))
        },
    )
}

/// The beginning of a text whose head alone is longer than what may be shown.
fn shortened(text: &str, most: usize) -> String {
    const MARK: &str = "[…]";
    let kept = most.saturating_sub(MARK.chars().count());
    let start: String = text.chars().take(kept).collect();
    start.chars().chain(MARK.chars()).take(most).collect()
}

//! Reading whole documents.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Display;

use docsearch_core::answer::delivery::{Reading, readings, shares};
use docsearch_core::documents::document::{AnsweredQuestion, Document, NoSuchSection, Shape, render, to_json};
use docsearch_core::documents::grouped_page::GroupedPage;
use docsearch_core::values::bounds;
use docsearch_core::values::id::DocumentId;
use pgrx::datum::DatumWithOid;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use serde_json::Value;

use crate::postgres::jsonb::StoredJson;
use crate::postgres::owner;
use crate::postgres::report::{Result, error_with_hint, invalid, undefined};
use crate::postgres::role::{Caller, Role};
use crate::postgres::row_type::row_type;
use crate::postgres::statement;
use crate::tables::document_list::as_iso;
use crate::tables::keys::WANTED_DOCUMENTS;
use crate::tables::schema::{self, Part};
use crate::tables::{keys, nearest, project, questions};

/// Why a document was not loaded.
pub(crate) struct LoadProblem {
    pub(crate) report: ErrorReport,
    /// Whether there is no such page or section for the caller.
    pub(crate) leads_nowhere: bool,
}

impl LoadProblem {
    fn nowhere(report: ErrorReport) -> Self {
        Self {
            report,
            leads_nowhere: true,
        }
    }
}

impl From<ErrorReport> for LoadProblem {
    fn from(report: ErrorReport) -> Self {
        Self {
            report,
            leads_nowhere: false,
        }
    }
}

type Load<T> = std::result::Result<T, LoadProblem>;

/// A document and its keys.
struct StoredDocument {
    id: DocumentId,
    document: Document,
    /// What the log keeps of calls of its project; `None` is what the setting says.
    log_queries: Option<String>,
}

/// The Markdown of a document, or of the section that its reference names.
pub(crate) fn load(
    caller: &mut Caller,
    slug: Option<&str>,
    project: Option<&str>,
    section: Option<&str>,
    shape: Shape,
) -> Load<Loaded<String>> {
    let (stored, anchor) = resolve(caller, checked_slug(slug)?, project)?;
    let StoredDocument {
        id,
        mut document,
        log_queries,
    } = stored;
    let section = section.or(anchor.as_deref());
    if section.is_some() {
        document.anchors = anchors(caller, id)?;
    }
    let rendering = render(&document, section, shape);
    let rendering = rendering.map_err(|problem| LoadProblem::nowhere(unknown_section(&document, section, &problem)))?;
    Ok(Loaded {
        content: rendering.markdown,
        id,
        anchor: section.unwrap_or_default().to_owned(),
        log_queries,
    })
}

/// A document, or a section of it, that was loaded.
pub(crate) struct Loaded<T> {
    pub(crate) content: T,
    pub(crate) id: DocumentId,
    /// Of the section; empty for the document as a whole.
    pub(crate) anchor: String,
    /// As of [`StoredDocument`].
    pub(crate) log_queries: Option<String>,
}

/// The Markdown of several documents, which share the length: short ones are whole, if they can be.
pub(crate) fn load_all(
    caller: &mut Caller,
    slugs: &[Option<String>],
    project: Option<&str>,
    shape: Shape,
) -> Vec<Load<Loaded<String>>> {
    let mut load_within = |slug: &Option<String>, max_chars| {
        let shape = Shape { max_chars, ..shape };
        load(caller, slug.as_deref(), project, None, shape)
    };
    let Some(most) = shape.max_chars else {
        return slugs.iter().map(|slug| load_within(slug, None)).collect();
    };
    // Each text is read twice instead of kept: what is shortened may be large. Unknown slugs are looked up once.
    let length = |slug| load_within(slug, None).map(|loaded| loaded.content.chars().count());
    let measured: Vec<Load<usize>> = slugs.iter().map(length).collect();
    let lengths: Vec<usize> = measured
        .iter()
        .map(|length| length.as_ref().map_or(0, |length| *length))
        .collect();
    let shares = shares(&lengths, most);
    let parts = slugs.iter().zip(measured).zip(shares);
    parts
        .map(|((slug, length), share)| load_within(slug, (share < length?).then_some(share)))
        .collect()
}

/// A document, or the section that its reference names, as an object.
pub(crate) fn load_json(
    caller: &mut Caller,
    slug: Option<&str>,
    project: Option<&str>,
    section: Option<&str>,
    shape: Shape,
) -> Load<Loaded<Value>> {
    let (stored, anchor) = resolve(caller, checked_slug(slug)?, project)?;
    let StoredDocument {
        id,
        mut document,
        log_queries,
    } = stored;
    if shape.metadata {
        document.metadata = metadata(caller, id)?;
        document.questions = answered_questions(caller, id)?;
    }
    let section = section.or(anchor.as_deref());
    if section.is_some() {
        document.anchors = anchors(caller, id)?;
    }
    let content = to_json(&document, section, shape);
    let content = content.map_err(|problem| LoadProblem::nowhere(unknown_section(&document, section, &problem)))?;
    Ok(Loaded {
        content,
        id,
        anchor: section.unwrap_or_default().to_owned(),
        log_queries,
    })
}

/// The slug that an argument gives, which must not be NULL or blank.
pub(crate) fn checked_slug(slug: Option<&str>) -> Result<&str> {
    let slug = slug.filter(|slug| !slug.trim().is_empty());
    slug.ok_or_else(|| invalid("slug must not be null or blank", "list_docs() lists the slugs."))
}

/// The document of one of these projects, or of any, that a slug or a reference names.
pub(crate) fn identify(caller: &mut Caller, given: &str, projects: Option<&[String]>) -> Result<DocumentId> {
    match find(caller, given, projects) {
        Ok((document, _)) => Ok(document.id),
        Err(problem) => Err(problem.report),
    }
}

/// What a reference names.
pub(crate) struct Named {
    pub(crate) id: DocumentId,
    pub(crate) project: String,
    pub(crate) slug: String,
    /// Of the section; empty for the document as a whole.
    pub(crate) anchor: String,
}

/// The document and the section that a reference names.
pub(crate) fn named(caller: &mut Caller, given: &str, project: Option<&str>) -> Result<Named> {
    match resolve(caller, given, project) {
        Ok((StoredDocument { id, document, .. }, anchor)) => Ok(Named {
            id,
            project: document.project,
            slug: document.slug,
            anchor: anchor.unwrap_or_default().into_owned(),
        }),
        Err(problem) => Err(problem.report),
    }
}

/// The document that a slug or a reference names, and the section of the reference.
fn resolve<'a>(
    caller: &mut Caller,
    given: &'a str,
    project: Option<&str>,
) -> Load<(StoredDocument, Option<Cow<'a, str>>)> {
    if let Some(name) = project {
        project::by_name(caller, name).map_err(LoadProblem::nowhere)?;
    }
    let projects = project.map(|name| [name.to_owned()]);
    find(caller, given, projects.as_ref().map(<[String; 1]>::as_slice))
}

fn find<'a>(
    caller: &mut Caller,
    given: &'a str,
    projects: Option<&[String]>,
) -> Load<(StoredDocument, Option<Cow<'a, str>>)> {
    if !schema::exists() {
        return Err(owner::no_tables().into());
    }
    for Reading { document, section } in readings(given) {
        let mut found = lookup(caller, &document, projects)?;
        if found.len() > 1 {
            let meant = found
                .iter()
                .map(|StoredDocument { document, .. }| (&document.project, &document.slug));
            return Err(ambiguous(given, meant).into());
        }
        if let Some(only) = found.pop() {
            return Ok((only, section));
        }
    }
    let only = projects.and_then(|all| (all.len() == 1).then(|| all[0].as_str()));
    Err(LoadProblem::nowhere(unknown(caller, given, only)?))
}

/// The documents with this slug, or else with this reference `project/slug`.
fn lookup(caller: &Caller, slug: &str, projects: Option<&[String]>) -> Result<Vec<StoredDocument>> {
    let exact = read(
        caller,
        "d.slug = $1 AND ($2::text[] IS NULL OR p.name = ANY ($2))",
        slug,
        projects,
    )?;
    if !exact.is_empty() {
        return Ok(exact);
    }
    read(
        caller,
        "starts_with($1, p.name || '/') AND d.slug = substr($1, length(p.name) + 2)
         AND ($2::text[] IS NULL OR p.name = ANY ($2))",
        slug,
        projects,
    )
}

fn read(caller: &Caller, condition: &str, slug: &str, projects: Option<&[String]>) -> Result<Vec<StoredDocument>> {
    statement::rows(
        caller,
        &format!(
            "SELECT {} FROM docsearch.project p JOIN docsearch.document d ON d.project_id = p.id
             WHERE {condition} ORDER BY p.name",
            StoredRow::select_list()
        ),
        &[
            DatumWithOid::from(slug),
            DatumWithOid::from(projects.map(<[String]>::to_vec)),
        ],
        stored,
    )
}

/// Documents with all that is needed to resolve their sections as loading them does.
pub(crate) fn by_ids(caller: &Caller, ids: &[DocumentId]) -> Result<Vec<(DocumentId, Document)>> {
    let found = statement::lookup(
        caller,
        &format!(
            "SELECT {} FROM {WANTED_DOCUMENTS} JOIN docsearch.document d USING (project_id, id)
                  JOIN docsearch.project p ON p.id = d.project_id",
            StoredRow::select_list()
        ),
        &keys::document_arguments(ids),
        stored,
    )?;
    Ok(found.into_iter().map(|found| (found.id, found.document)).collect())
}

/// The texts of an array, without NULL.
pub(crate) fn texts_without_null(array: &str) -> String {
    format!("ARRAY(SELECT e.element FROM unnest({array}) AS e(element) WHERE e.element IS NOT NULL)")
}

row_type! {
    struct StoredRow {
        project_id: i64 = "d.project_id",
        id: i64 = "d.id",
        project: String = "p.name",
        root_url: Option<String> = "p.root_url",
        log_queries: Option<String> = "p.settings ->> 'log_queries'",
        slug: String = "d.slug",
        title: String = "d.title",
        category: Option<String> = "d.category",
        kind: Option<String> = "d.kind",
        version: Option<String> = "d.version",
        url: Option<String> = "coalesce(d.source_urls[1], d.metadata ->> 'url')",
        source_urls: Vec<String> = texts_without_null("d.source_urls"),
        keywords: Vec<String> = texts_without_null("d.keywords"),
        published_at: Option<String> = as_iso("d.published_at"),
        created_at: String = as_iso("d.created_at"),
        updated_at: String = as_iso("d.updated_at"),
        summary: Option<String> = "d.summary",
        body: String = "d.body",
        pages: StoredJson = pages_column(),
    }
}

fn stored(row: &statement::Row) -> Result<StoredDocument> {
    let row = StoredRow::read(row)?;
    let root_url = row.root_url.as_deref();
    Ok(StoredDocument {
        id: DocumentId {
            project: row.project_id,
            document: row.id,
        },
        document: Document {
            project: row.project,
            title: row.title,
            category: row.category,
            kind: row.kind,
            version: row.version,
            url: row.url.or_else(|| project::address(root_url, &row.slug)),
            source_urls: row.source_urls,
            keywords: row.keywords,
            metadata: Value::Null,
            anchors: BTreeMap::new(),
            published_at: row.published_at,
            created_at: row.created_at,
            updated_at: row.updated_at,
            summary: row.summary,
            body: row.body,
            pages: addressed_pages(row.pages, root_url),
            questions: Vec::new(),
            slug: row.slug,
        },
        log_queries: row.log_queries,
    })
}

/// The questions of a visible document.
fn answered_questions(caller: &mut Caller, id: DocumentId) -> Result<Vec<AnsweredQuestion>> {
    let owner = &caller.as_owner()?;
    let questions = questions::read(owner, id)?.into_iter().map(|stored| AnsweredQuestion {
        anchor: stored.question.anchor,
        question: stored.question.question,
        source: stored.source,
        stale: stored.stale,
    });
    Ok(questions.collect())
}

/// The columns that [`read`] omits, since only objects show them.
fn metadata(caller: &Caller, id: DocumentId) -> Result<Value> {
    let found = statement::one(
        caller,
        "SELECT d.metadata FROM docsearch.document d WHERE d.project_id = $1 AND d.id = $2",
        &[DatumWithOid::from(id.project), DatumWithOid::from(id.document)],
        |row| row.required(1),
    )?;
    Ok(found.map_or(Value::Null, |StoredJson(metadata)| metadata))
}

/// Anchors of sections, by further fragments that lead to them.
type Anchors = BTreeMap<String, String>;

/// The text of a document with its further fragments, if it has at most `most` bytes.
pub(crate) fn body_and_anchors(caller: &Caller, id: DocumentId, most: i32) -> Result<Option<(String, Anchors)>> {
    body(caller, id, most)?
        .map(|body| Ok((body, anchors(caller, id)?)))
        .transpose()
}

/// The texts of documents with their further fragments.
pub(crate) fn bodies_and_anchors(caller: &Caller, ids: &[DocumentId]) -> Result<Vec<(DocumentId, String, Anchors)>> {
    statement::lookup(
        caller,
        &format!(
            "SELECT project_id, id, d.body, {} FROM {WANTED_DOCUMENTS} JOIN docsearch.document d USING (project_id, id)",
            Part::EntryShare.or_else("d.anchors", "'{}'::jsonb")
        ),
        &keys::document_arguments(ids),
        |row| Ok((keys::document_id(row)?, row.required(3)?, anchors_of(row.required(4)?))),
    )
}

/// The text of a document, if it has at most `most` bytes.
pub(crate) fn body(caller: &Caller, id: DocumentId, most: i32) -> Result<Option<String>> {
    let [projects, ids] = keys::document_arguments([&id]);
    let bodies = statement::lookup(
        caller,
        &format!(
            "SELECT d.body FROM {WANTED_DOCUMENTS} JOIN docsearch.document d USING (project_id, id)
             WHERE octet_length(d.body) <= $3"
        ),
        &[projects, ids, DatumWithOid::from(most)],
        |row| row.required(1),
    )?;
    Ok(bodies.into_iter().next())
}

/// The further fragments of a document, which only a search for a section needs.
fn anchors(caller: &Caller, id: DocumentId) -> Result<Anchors> {
    if !Part::EntryShare.exists() {
        return Ok(Anchors::new());
    }
    let found = statement::lookup(
        caller,
        &format!("SELECT d.anchors FROM {WANTED_DOCUMENTS} JOIN docsearch.document d USING (project_id, id)"),
        &keys::document_arguments([&id]),
        |row| row.required(1),
    )?;
    Ok(found.into_iter().next().map(anchors_of).unwrap_or_default())
}

fn anchors_of(StoredJson(anchors): StoredJson) -> Anchors {
    serde_json::from_value(anchors).unwrap_or_default()
}

/// The column of documents with the pages that a document groups.
pub(crate) fn pages_column() -> &'static str {
    Part::Pages.or_else("d.pages", "'[]'::jsonb")
}

/// The pages of each document that groups several.
pub(crate) fn grouped_pages(caller: &Caller, documents: &[DocumentId]) -> Result<Vec<(DocumentId, Vec<GroupedPage>)>> {
    if !Part::Pages.exists() {
        return Ok(Vec::new());
    }
    statement::lookup(
        caller,
        &format!(
            "SELECT project_id, id, d.pages FROM {WANTED_DOCUMENTS} JOIN docsearch.document d USING (project_id, id)
             WHERE d.pages <> '[]'"
        ),
        &keys::document_arguments(documents),
        |row| Ok((keys::document_id(row)?, pages_of(row.required(3)?))),
    )
}

/// The stored pages of a document. Rows that were written by hand may hold anything.
pub(crate) fn pages_of(StoredJson(pages): StoredJson) -> Vec<GroupedPage> {
    match pages {
        Value::Array(pages) => pages
            .into_iter()
            .filter_map(|page| serde_json::from_value(page).ok())
            .collect(),
        _ => Vec::new(),
    }
}

/// The same; a page without an address gets the one of its slug below the root URL of the project.
pub(crate) fn addressed_pages(stored: StoredJson, root_url: Option<&str>) -> Vec<GroupedPage> {
    let mut pages = pages_of(stored);
    for page in &mut pages {
        let of_slug = || project::address(root_url, page.slug.as_deref()?);
        page.source_url = page.source_url.take().or_else(of_slug);
    }
    pages
}

/// The column of documents with the keys of the page that ranking rules compare.
pub(crate) fn page_keys_column() -> &'static str {
    Part::PageKeys.or_else("d.page_keys", "NULL::bytea")
}

pub(crate) fn unknown(caller: &mut Caller, slug: &str, project: Option<&str>) -> Result<ErrorReport> {
    let hint = nearest::hint(caller, slug, project)?;
    Ok(undefined(format!("document \"{slug}\" does not exist"), hint))
}

/// The error for a reference that means documents of several projects.
pub(crate) fn ambiguous(slug: &str, found: impl IntoIterator<Item = (impl Display, impl Display)>) -> ErrorReport {
    let references: Vec<String> = found
        .into_iter()
        .map(|(project, slug)| format!("{project}/{slug}"))
        .collect();
    error_with_hint(
        PgSqlErrorCode::ERRCODE_AMBIGUOUS_PARAMETER,
        format!("document \"{slug}\" is in {} projects", references.len()),
        format!("Name one of {}.", references.join(", ")),
    )
}

fn unknown_section(document: &Document, wanted: Option<&str>, problem: &NoSuchSection) -> ErrorReport {
    let wanted = wanted.unwrap_or_default();
    undefined(
        format!("document \"{}\" has no section \"{wanted}\"", document.slug),
        if problem.anchors.is_empty() {
            "The document has no sections.".to_owned()
        } else {
            format!("Its sections: {}.", bounds::listed(&problem.anchors, problem.all))
        },
    )
}

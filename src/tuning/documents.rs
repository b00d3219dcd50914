//! The documents that queries are derived from.

use docsearch_core::documents::markdown;
use docsearch_core::evaluation::derived::{Derivation, DerivationLimits, DerivedQuery, HiddenPage, SourcePage, derive};
use pgrx::datum::DatumWithOid;
use serde_json::Value;

use crate::postgres::interrupt;
use crate::postgres::jsonb::StoredJson;
use crate::postgres::report::{Result, invalid};
use crate::postgres::role::{Caller, Role};
use crate::postgres::row_type::row_type;
use crate::postgres::statement;
use crate::tables::document;
use crate::tables::document_input::DocumentInput;
use crate::tables::project::{self, Project};
use crate::tables::{questions, schema};

/// How much of a project is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SampleLimits {
    /// Most documents.
    pub(crate) documents: i64,
    /// Most bytes of their texts together.
    pub(crate) bytes: i64,
    pub(crate) derivation: DerivationLimits,
}

impl Default for SampleLimits {
    fn default() -> Self {
        Self {
            documents: 1_000,
            bytes: 8 << 20,
            derivation: DerivationLimits::default(),
        }
    }
}

/// Keys of metadata that name a page.
const NAMES: [&str; 2] = ["aliases", "url"];
/// Most rows of a list of queries.
const MAX_ROWS: i32 = 10_000;

/// The queries that are derived from the documents of a project that the caller sees.
pub(crate) fn queries(caller: &mut Caller, name: Option<&str>, max_rows: Option<i32>) -> Result<Vec<DerivedQuery>> {
    schema::require_current(caller)?;
    let project = project::given(caller, name)?;
    let max_rows = max_rows.unwrap_or(MAX_ROWS);
    if !(1..=MAX_ROWS).contains(&max_rows) {
        return Err(invalid(
            format!("max_rows is {max_rows}"),
            format!("Use 1 to {MAX_ROWS}."),
        ));
    }
    let sample = Sample::read(caller, &project, &SampleLimits::default())?;
    let mut queries = sample.derivation.queries;
    queries.truncate(usize::try_from(max_rows).unwrap_or_default());
    Ok(queries)
}

/// Documents of a project that the caller sees, with the queries that are derived from them.
pub(crate) struct Sample {
    inputs: Vec<DocumentInput>,
    pub(crate) derivation: Derivation,
}

row_type! {
    struct DocumentRow {
        id: i64 = "d.id",
        slug: String = "d.slug",
        title: String = "d.title",
        kind: Option<String> = "d.kind",
        category: Option<String> = "d.category",
        version: Option<String> = "d.version",
        summary: Option<String> = "d.summary",
        given_keywords: Vec<String> = format!(
            "CASE WHEN d.keywords_chosen IS FALSE THEN {} ELSE '{{}}' END", document::texts_without_null("d.keywords")),
        source_urls: Vec<String> = document::texts_without_null("d.source_urls"),
        metadata: StoredJson = "d.metadata",
        body: String = "d.body",
        published_at: Option<String> = "d.published_at::text",
        anchors: StoredJson = "d.anchors",
        pages: StoredJson = document::pages_column(),
    }
}

impl Sample {
    /// Reads the documents whose slugs have the least hashes, within the limits.
    pub(crate) fn read(caller: &mut Caller, project: &Project, limits: &SampleLimits) -> Result<Self> {
        let ids = sampled(caller, project, limits)?;
        let rows = statement::rows(
            caller,
            &format!(
                "SELECT {} FROM docsearch.document d WHERE d.project_id = $1 AND d.id = ANY ($2) ORDER BY d.slug",
                DocumentRow::select_list()
            ),
            &[DatumWithOid::from(project.id), DatumWithOid::from(ids.clone())],
            DocumentRow::read,
        )?;
        let mut questions = {
            let owner = &caller.as_owner()?;
            questions::answered(owner, project.id, ids)?
        };
        let mut inputs = Vec::with_capacity(rows.len());
        let mut pages = Vec::with_capacity(rows.len());
        for row in rows {
            interrupt::check();
            let id = row.id;
            let input = input(row);
            pages.push(SourcePage {
                slug: input.slug.clone(),
                title: input.title.clone(),
                body: input.body.clone().unwrap_or_default(),
                summary: input.summary.clone(),
                keywords: input.keywords.clone(),
                source_urls: input.source_urls.clone(),
                questions: questions.remove(&id).unwrap_or_default(),
                anchors: input.anchors.clone(),
                is_grouped: !input.pages.is_empty(),
            });
            inputs.push(input);
        }
        let derivation = derive(&pages, project.root_url.as_deref(), &limits.derivation);
        Ok(Self { inputs, derivation })
    }

    /// The documents without the texts of the queries.
    pub(super) fn hidden(&self) -> Vec<DocumentInput> {
        let documents = self.inputs.iter().zip(&self.derivation.pages);
        documents.map(|(input, hidden)| hidden_input(input, hidden)).collect()
    }
}

fn hidden_input(input: &DocumentInput, hidden: &HiddenPage) -> DocumentInput {
    let mut metadata = input.metadata.clone();
    if let (true, Some(fields)) = (hidden.is_renamed, metadata.as_mut().and_then(Value::as_object_mut)) {
        fields.retain(|name, _| !NAMES.contains(&name.as_str()));
    }
    DocumentInput {
        slug: hidden.slug.clone(),
        title: hidden.title.clone(),
        summary: hidden.summary.clone(),
        source_urls: hidden.source_urls.clone(),
        metadata,
        body: Some(hidden.body.clone()),
        keywords: hidden.keywords.clone(),
        questions: Some(hidden.questions.clone()),
        anchors: hidden.anchors.clone(),
        ..input.clone()
    }
}

/// The numbers of the sampled documents.
fn sampled(caller: &Caller, project: &Project, limits: &SampleLimits) -> Result<Vec<i64>> {
    statement::rows(
        caller,
        "SELECT s.id FROM (
             SELECT f.id, pg_catalog.sum(f.bytes) OVER (ORDER BY f.hash, f.id ROWS UNBOUNDED PRECEDING) AS bytes
             FROM (SELECT d.id, pg_catalog.octet_length(d.body)::bigint AS bytes, pg_catalog.md5(d.slug) AS hash
                   FROM docsearch.document d
                   WHERE d.project_id = $1 AND pg_catalog.octet_length(d.body) <= $3 / 8
                   ORDER BY hash, d.id LIMIT $2) f) s
         WHERE s.bytes <= $3",
        &[
            DatumWithOid::from(project.id),
            DatumWithOid::from(limits.documents),
            DatumWithOid::from(limits.bytes),
        ],
        |row| row.required::<i64>(1),
    )
}

/// The input that would store a document as it is.
fn input(row: DocumentRow) -> DocumentInput {
    let lead = markdown::lead_paragraph(&row.body);
    DocumentInput {
        slug: row.slug,
        title: row.title,
        kind: row.kind,
        category: row.category,
        version: row.version,
        summary: row.summary.filter(|summary| lead.as_ref() != Some(summary)),
        keywords: row.given_keywords,
        source_urls: row.source_urls,
        metadata: Some(row.metadata.0),
        body: Some(row.body),
        published_at: row.published_at,
        anchors: serde_json::from_value(row.anchors.0).unwrap_or_default(),
        pages: document::pages_of(row.pages),
        ..DocumentInput::default()
    }
}

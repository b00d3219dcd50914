//! Stored documents in the form of input.

use docsearch_core::documents::{keyword, markdown};
use pgrx::datum::DatumWithOid;

use crate::postgres::jsonb::StoredJson;
use crate::postgres::report::Result;
use crate::postgres::role::Owner;
use crate::postgres::row_type::row_type;
use crate::postgres::statement;
use crate::tables::document;
use crate::tables::document_input::DocumentInput;
use crate::tables::project::Project;
use crate::tables::schema::Part;

row_type! {
    struct InputRow {
        id: i64 = "d.id",
        slug: String = "d.slug",
        title: String = "d.title",
        category: Option<String> = "d.category",
        summary: Option<String> = "d.summary",
        keywords: Vec<String> = document::texts_without_null("d.keywords"),
        keywords_chosen: Option<bool> = Part::KeywordsChosen.or_else("d.keywords_chosen", "NULL::boolean"),
        metadata: StoredJson = "d.metadata",
        body: String = "d.body",
        source_urls: Vec<String> = document::texts_without_null("d.source_urls"),
        pages: StoredJson = document::pages_column(),
    }
}

/// The input that would store documents as they are: a summary that equals the lead paragraph is omitted, and so are
/// keywords that indexing chose.
pub(super) fn read_inputs(
    owner: &Owner<'_>,
    project: &Project,
    documents: &[i64],
) -> Result<Vec<(i64, DocumentInput)>> {
    statement::rows(
        owner,
        &format!(
            "SELECT {} FROM docsearch.document d WHERE d.project_id = $1 AND d.id = ANY ($2) ORDER BY d.slug",
            InputRow::select_list()
        ),
        &[DatumWithOid::from(project.id), DatumWithOid::from(documents.to_vec())],
        |row| {
            let row = InputRow::read(row)?;
            let lead = markdown::lead_paragraph(&row.body);
            let keywords_chosen = row
                .keywords_chosen
                .unwrap_or_else(|| keyword::may_be_chosen(&row.keywords, &row.body));
            let input = DocumentInput {
                slug: row.slug,
                title: row.title,
                category: row.category,
                summary: row.summary.filter(|summary| lead.as_ref() != Some(summary)),
                keywords: if keywords_chosen { Vec::new() } else { row.keywords },
                metadata: Some(row.metadata.0),
                body: Some(row.body),
                source_urls: row.source_urls,
                pages: document::pages_of(row.pages),
                ..DocumentInput::default()
            };
            Ok((row.id, input))
        },
    )
}

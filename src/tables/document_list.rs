//! Lists of documents.

use pgrx::datum::{DatumWithOid, TimestampWithTimeZone};

use crate::postgres::report::{Result, invalid};
use crate::postgres::role::Caller;
use crate::postgres::row_type::row_type;
use crate::postgres::statement;
use crate::tables::project::Projects;
use crate::tables::project_selection::Selection;
use crate::tables::{project, schema};

/// Columns of a list of documents.
const COLUMNS: usize = 9;

row_type! {
    /// A document in a list.
    pub(crate) struct DocumentSummary {
        pub(crate) project: String = "p.name",
        pub(crate) category: Option<String> = "d.category",
        pub(crate) slug: String = "d.slug",
        pub(crate) title: String = "d.title",
        pub(crate) kind: Option<String> = "d.kind",
        pub(crate) description: Option<String> = "left(d.summary, 200)",
        pub(crate) version: Option<String> = "d.version",
        pub(crate) chunk_count: i32 = "d.chunk_count",
        pub(crate) updated_at: TimestampWithTimeZone = "d.updated_at",
        pub(crate) last_updated: String = as_iso("d.updated_at"),
    }
}

impl DocumentSummary {
    /// Characters of its columns as text, with one separator each.
    pub(crate) fn chars(&self) -> usize {
        let texts = [&self.project, &self.slug, &self.title, &self.last_updated];
        let options = [&self.category, &self.kind, &self.description, &self.version];
        let texts = texts.into_iter().chain(options.into_iter().flatten());
        let numbers = self.chunk_count.to_string().len();
        texts.map(|text| text.chars().count()).sum::<usize>() + numbers + COLUMNS
    }
}

/// A column of times as text: ISO 8601 in UTC, or what Postgres writes for infinite times.
pub(crate) fn as_iso(column: &str) -> String {
    format!("coalesce(to_char({column} AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'), {column}::text)")
}

/// The documents that the caller sees, sorted by `sort_by`.
pub(crate) fn listed(
    caller: &Caller,
    selection: &Selection<'_>,
    category: Option<&str>,
    kind: Option<&str>,
    sort_by: Option<&str>,
) -> Result<Vec<DocumentSummary>> {
    let order = sort_by.unwrap_or("title");
    if !["title", "category", "date"].contains(&order) {
        return Err(invalid(
            format!("unknown sort key \"{order}\""),
            "Sort by title, category or date.",
        ));
    }
    let projects = selection.names(caller)?;
    if !schema::exists() {
        return Ok(Vec::new());
    }
    let rows = statement::rows(
        caller,
        &format!(
            "SELECT {} FROM docsearch.document d JOIN docsearch.project p ON p.id = d.project_id
             WHERE ($1::text[] IS NULL OR p.name = ANY ($1))
               AND ($2::text IS NULL OR d.category = $2 OR starts_with(d.category, $2 || '/'))
               AND ($3::text IS NULL OR d.kind = $3)
             ORDER BY CASE WHEN $4 = 'date' THEN d.updated_at END DESC,
                      CASE WHEN $4 = 'category' THEN d.category END,
                      lower(d.title), p.name, d.slug",
            DocumentSummary::select_list()
        ),
        &[
            DatumWithOid::from(projects),
            DatumWithOid::from(category),
            DatumWithOid::from(kind),
            DatumWithOid::from(order),
        ],
        DocumentSummary::read,
    )?;
    if let Some(category) = category.filter(|_| rows.is_empty() && kind.is_none()) {
        let (projects, _) = selection.searched(caller)?;
        project::require_category(caller, &Projects::new(&projects), category)?;
    }
    Ok(rows)
}

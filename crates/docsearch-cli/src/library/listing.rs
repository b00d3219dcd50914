//! Paginated lists of documents.

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::{Library, OutputFormat, given};
use crate::process::error::Error;

/// Longest title that a line shows, in characters.
const MAX_TITLE: usize = 200;

/// A filter and a range of documents.
#[derive(Debug, Clone, Default)]
pub(crate) struct ListRequest {
    /// Names and patterns; none is all projects.
    pub(crate) projects: Vec<String>,
    pub(crate) category: Option<String>,
    pub(crate) kind: Option<String>,
    pub(crate) sort_by: Option<String>,
    /// Number of documents to skip.
    pub(crate) offset: i64,
    /// Maximum number of documents.
    pub(crate) limit: Option<i64>,
    /// Maximum total length of the entries.
    pub(crate) max_chars: Option<i64>,
    pub(crate) format: OutputFormat,
}

/// A page of a list.
#[derive(Debug, Clone)]
pub(crate) struct DocumentList {
    /// Lines or JSON objects.
    pub(crate) entries: Vec<String>,
    /// Total number of documents.
    pub(crate) total: i64,
    /// Offset of the next page, if there is one.
    pub(crate) next_offset: Option<i64>,
}

/// `list_docs`, with entries formatted and measured in the database. The first entry is returned whatever its length.
/// An entry is one line: control characters and line breaks in texts of authors become spaces. Only its reference reads
/// as a reference, as in answers of searches (`docsearch_core::answer::delivery::without_references`).
static STATEMENT: LazyLock<String> = LazyLock::new(|| {
    const REFERENCE: &str = r"\[[[:space:][(]*[^][:space:]/#[]+/";
    let line = |text: &str| format!(r"regexp_replace({text}, '[[:cntrl:][:space:]\u2028\u2029]+', ' ', 'g')");
    let plain = |text: &str| {
        let line = line(text);
        // Few texts have a bracket, and a list may be long.
        format!(
            "CASE WHEN strpos({text}, '[') > 0 AND {line} ~ '{REFERENCE}' THEN translate({line}, '[]', '()') ELSE {line} END"
        )
    };
    let titled =
        format!("CASE WHEN length(l.title) > {MAX_TITLE} THEN left(l.title, {MAX_TITLE} - 1) || '…' ELSE l.title END");
    let (title, description) = (plain(&format!("({titled})")), plain("l.description"));
    let (kind, category, version) = (plain("l.kind"), plain("l.category"), plain("l.version"));
    format!(
        r"
WITH listed AS MATERIALIZED (
    SELECT * FROM list_docs(projects => $1, category => $2, kind => $3, sort_by => $4) WITH ORDINALITY
        AS l(project, category, slug, title, kind, description, version, chunk_count, updated_at, place)
), entries AS (
    SELECT place, CASE $8
        WHEN 'json' THEN (to_jsonb(l) - 'place')::text
        WHEN 'detailed' THEN format(E'%s\n   title: %s\n', one.reference, one.title)
            || coalesce('   kind: ' || one.kind || E'\n', '') || coalesce('   category: ' || one.category || E'\n', '')
            || coalesce('   version: ' || one.version || E'\n', '')
            || '   updated: ' || to_char(updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')
            || coalesce(E'\n   ' || one.description, '')
        ELSE format('[%s] %s', one.reference, one.title)
            || coalesce(' (' || one.kind || ')', '') || coalesce(': ' || one.description, '')
        END AS entry
    FROM listed AS l, LATERAL (
        SELECT {title} AS title, nullif({description}, '') AS description, {kind} AS kind, {category} AS category,
               {version} AS version,
               CASE WHEN translate(l.project || l.slug, '[]', '') = l.project || l.slug
                        OR l.project !~ '[][]' AND l.slug ~ '^([^][]|\[[^][]*\])*$' AND l.slug !~ '{REFERENCE}'
                   THEN l.project || '/' || l.slug
                   ELSE replace(replace(l.project || '/' || l.slug, '[', '%5B'), ']', '%5D') END AS reference) AS one
    WHERE place > $5 AND ($6::bigint IS NULL OR place <= $5 + $6)
), sized AS (
    SELECT place, entry, sum(length(entry) + 1) OVER (ORDER BY place) AS chars FROM entries
)
SELECT (SELECT count(*) FROM listed),
       (SELECT array_agg(entry ORDER BY place) FROM sized
        WHERE $7::bigint IS NULL OR chars <= $7 OR place = $5 + 1)"
    )
});

impl Library {
    /// Lists documents.
    pub(crate) async fn list(&self, request: &ListRequest) -> Result<DocumentList, Error> {
        let format = match request.format {
            OutputFormat::Compact => "compact",
            OutputFormat::Detailed => "detailed",
            OutputFormat::Json => "json",
        };
        let rows = self
            .rows(
                &STATEMENT,
                &[
                    &given(&request.projects),
                    &request.category,
                    &request.kind,
                    &request.sort_by,
                    &request.offset,
                    &request.limit,
                    &request.max_chars,
                    &format,
                ],
            )
            .await?;
        let mut total = 0;
        let mut entries = Vec::new();
        if let Some(row) = rows.first() {
            total = row.try_get(0)?;
            entries = row.try_get::<_, Option<Vec<String>>>(1)?.unwrap_or_default();
        }
        let end = request.offset + i64::try_from(entries.len()).unwrap_or(i64::MAX);
        Ok(DocumentList {
            next_offset: (end < total && !entries.is_empty()).then_some(end),
            entries,
            total,
        })
    }
}

/// Slugs that start with the text, then others that contain it.
const COMPLETIONS: &str = "
SELECT slug FROM list_docs($1) WHERE strpos(lower(slug), lower($2)) > 0
ORDER BY strpos(lower(slug), lower($2)) <> 1, length(slug), slug LIMIT $3";

impl Library {
    /// Slugs of a project that complete a text.
    pub(crate) async fn complete_slug(
        &self,
        project: Option<&str>,
        typed: &str,
        limit: i64,
    ) -> Result<Vec<String>, Error> {
        let rows = self.rows(COMPLETIONS, &[&project, &typed, &limit]).await?;
        rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
    }
}

impl DocumentList {
    /// The entries of a list in JSON.
    pub(crate) fn documents(&self) -> Vec<Value> {
        let parsed = self.entries.iter().map(|entry| serde_json::from_str(entry));
        parsed.map(Result::unwrap_or_default).collect()
    }

    /// A list in JSON, with its counts.
    pub(crate) fn to_json(&self) -> Value {
        json!({"total": self.total, "next_offset": self.next_offset, "documents": self.documents()})
    }
}

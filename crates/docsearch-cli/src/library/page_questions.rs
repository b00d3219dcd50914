//! Pages and their sections with questions.

use super::Library;
use crate::process::error::Error;

/// A page, and its sections with questions.
#[derive(Debug, Clone, Default)]
pub(crate) struct PageQuestions {
    pub(crate) slug: String,
    pub(crate) title: String,
    /// Its text, cut at `MAX_BODY`.
    pub(crate) body: String,
    /// Its name in question files.
    pub(crate) file: String,
    /// The anchors of sections with questions.
    pub(crate) anchors: Vec<String>,
}

/// Maximum number of characters of a page.
const MAX_BODY: i32 = 100_000;

/// Pages with the fewest questions first.
const STATEMENT: &str = "
WITH asked AS MATERIALIZED (SELECT slug, array_agg(DISTINCT anchor) AS anchors FROM docsearch.questions($1) GROUP BY slug)
SELECT d.slug, d.title, left(d.body, $3), coalesce(d.source_path, d.slug), coalesce(a.anchors, '{}')
FROM docsearch.document d JOIN docsearch.project p ON p.id = d.project_id LEFT JOIN asked a ON a.slug = d.slug
WHERE p.name = $1 ORDER BY coalesce(cardinality(a.anchors), 0), d.slug LIMIT $2";

impl Library {
    /// The pages of a project with the fewest questions.
    pub(crate) async fn page_questions(&self, project: &str, limit: i64) -> Result<Vec<PageQuestions>, Error> {
        let rows = self.rows(STATEMENT, &[&project, &limit, &MAX_BODY]).await?;
        let page = |row: &tokio_postgres::Row| {
            Ok(PageQuestions {
                slug: row.try_get(0)?,
                title: row.try_get(1)?,
                body: row.try_get(2)?,
                file: row.try_get(3)?,
                anchors: row.try_get(4)?,
            })
        };
        rows.iter().map(page).collect()
    }
}

//! What a page for readers needs besides searches and `load_doc_json`.

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;

use super::{Library, NO_PROJECT_YET, given};
use crate::process::error::Error;

/// The text of a document as it is stored, and what a reader needs to know where they are. Reading it is not logged.
#[derive(Debug, Clone)]
pub(crate) struct StoredText {
    pub(crate) title: String,
    pub(crate) category: Option<String>,
    /// Where it is published.
    pub(crate) url: Option<String>,
    /// Markdown.
    pub(crate) body: String,
    /// Further fragments that lead to it, with the anchors of their sections.
    pub(crate) anchors: BTreeMap<String, String>,
}

/// A project and its title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProjectTitle {
    pub(crate) name: String,
    pub(crate) title: String,
}

impl Library {
    /// The text of a document; `None` if there is none that the role may see.
    pub(crate) async fn stored_text(&self, project: &str, slug: &str) -> Result<Option<StoredText>, Error> {
        let rows = self
            .rows(
                "SELECT d.title, d.category,
                        coalesce(d.source_urls[1], d.metadata ->> 'url', rtrim(p.root_url, '/') || '/' || d.slug),
                        d.body, d.anchors
                 FROM docsearch.document d JOIN docsearch.project p ON p.id = d.project_id
                 WHERE p.name = $1 AND d.slug = $2",
                &[&project, &slug],
            )
            .await?;
        let Some(row) = rows.first() else { return Ok(None) };
        Ok(Some(StoredText {
            title: row.try_get(0)?,
            category: row.try_get(1)?,
            url: row.try_get(2)?,
            body: row.try_get(3)?,
            anchors: serde_json::from_value(row.try_get::<_, Value>(4)?).unwrap_or_default(),
        }))
    }

    /// Of some slugs of a project those of documents that the role may see.
    pub(crate) async fn existing(&self, project: &str, slugs: Vec<String>) -> Result<HashSet<String>, Error> {
        if slugs.is_empty() {
            return Ok(HashSet::new());
        }
        let rows = self
            .rows(
                "SELECT d.slug
                 FROM docsearch.document d JOIN docsearch.project p ON p.id = d.project_id
                 WHERE p.name = $1 AND d.slug = ANY ($2)",
                &[&project, &slugs],
            )
            .await?;
        rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
    }

    /// Documents of a project that have a version, and a text in their slugs: each with its slug and its version.
    pub(crate) async fn versioned(&self, project: &str, part: &str) -> Result<Vec<(String, String)>, Error> {
        let rows = self
            .rows(
                "SELECT d.slug, d.version
                 FROM docsearch.document d JOIN docsearch.project p ON p.id = d.project_id
                 WHERE p.name = $1 AND d.version IS NOT NULL AND position($2 IN d.slug) > 0
                 ORDER BY d.slug LIMIT 2000",
                &[&project, &part],
            )
            .await?;
        rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
    }

    /// Keys of the metadata whose values several documents share, those of the most documents first.
    pub(crate) async fn shared_keys(&self, projects: &[String]) -> Result<Vec<String>, Error> {
        let rows = self
            .rows(
                "SELECT m.key
                 FROM (SELECT d.metadata FROM docsearch.document d JOIN docsearch.project p ON p.id = d.project_id
                       WHERE $1 IS NULL OR p.name = ANY ($1) LIMIT 500) AS sample,
                      jsonb_each(sample.metadata) AS m
                 WHERE jsonb_typeof(m.value) IN ('string', 'number', 'boolean', 'array') AND length(m.value::text) <= 200
                 GROUP BY m.key HAVING count(*) > 1 AND count(DISTINCT m.value) * 2 <= count(*)
                 ORDER BY count(*) DESC, m.key LIMIT 6",
                &[&given(projects)],
            )
            .await?;
        rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
    }

    /// The projects that the role may see, in order of their titles.
    pub(crate) async fn project_titles(&self) -> Result<Vec<ProjectTitle>, Error> {
        let statement = "SELECT name, title FROM docsearch.project ORDER BY lower(title), name";
        let rows = match self.rows(statement, &[]).await {
            // The first project creates the tables.
            Err(error) if matches!(error.sqlstate(), Some(NO_PROJECT_YET | "42P01")) => Vec::new(),
            rows => rows?,
        };
        let title = |row: &tokio_postgres::Row| {
            Ok(ProjectTitle {
                name: row.try_get(0)?,
                title: row.try_get(1)?,
            })
        };
        rows.iter().map(title).collect()
    }
}

//! How many documents match by their words.

use serde_json::Value;

use super::{Library, given};
use crate::process::error::Error;

/// The documents to count, as the arguments of `docsearch.count_docs` and `docsearch.facets`.
#[derive(Debug, Clone, Default)]
pub(crate) struct CountRequest {
    pub(crate) query: Option<String>,
    /// Names and patterns; none is all projects.
    pub(crate) projects: Vec<String>,
    pub(crate) category: Option<String>,
    pub(crate) filter: Option<Value>,
    /// Whether documents need all words of the query, or any.
    pub(crate) words: Option<String>,
}

impl Library {
    /// The number of documents.
    pub(crate) async fn count(&self, request: &CountRequest) -> Result<i64, Error> {
        let rows = self
            .rows(
                "SELECT docsearch.count_docs($1, category => $2, filter => $3, words => $4, projects => $5)",
                &[
                    &request.query,
                    &request.category,
                    &request.filter,
                    &request.words,
                    &given(&request.projects),
                ],
            )
            .await?;
        let row = rows.first();
        Ok(row.map(|row| row.try_get(0)).transpose()?.unwrap_or_default())
    }

    /// The values of keys that most of these documents have. Without keys the function chooses them.
    pub(crate) async fn facets(
        &self,
        request: &CountRequest,
        keys: &[String],
        max_values: Option<i64>,
    ) -> Result<Vec<Value>, Error> {
        self.objects(
            "SELECT to_jsonb(f) FROM docsearch.facets($1, keys => $2, category => $3, filter => $4, max_values => $5,
                 words => $6, projects => $7) AS f",
            &[
                &request.query,
                &given(keys),
                &request.category,
                &request.filter,
                &max_values,
                &request.words,
                &given(&request.projects),
            ],
        )
        .await
    }
}

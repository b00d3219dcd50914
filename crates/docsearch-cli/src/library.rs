//! Access to the documents of a database as one role: SQL functions as requests and answers.
//!
//! Ranking, limits and texts are up to the database.

mod arguments;
mod connections;
mod counts;
mod error_log;
mod listing;
mod log_origin;
mod operation;
mod page_questions;
pub(crate) mod question_rules;
mod reader_reports;
mod reading;
mod reports;
mod search_observer;

use std::time::Instant;

use clap::ValueEnum;
use docsearch_core::answer::highlight::Mark;
use serde_json::{Value, json};
use strum::{AsRefStr, EnumString};
use tokio_postgres::Row;

use crate::process::error::Error;
use arguments::Argument;
pub(crate) use connections::{Audience, ConnectionLimits, Library};
pub(crate) use counts::CountRequest;
pub(crate) use listing::{DocumentList, ListRequest};
pub(crate) use log_origin::{LogOrigin, LogSource, new_session};
pub(crate) use operation::{DailySearches, OperationRights};
pub(crate) use page_questions::PageQuestions;
pub(crate) use reader_reports::{FeedbackRequest, GapRequest};
pub(crate) use reading::{ProjectTitle, StoredText};
pub(crate) use reports::{LogStatus, ReportFunction, ReportScope};
pub(crate) use search_observer::SearchObserver;

/// Characters of a token, as the SQL functions count them.
pub(crate) const CHARS_PER_TOKEN: i64 = 4;

/// The format of an answer. Parsed from all names that callers use; the first is that of `search_docs_text`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, AsRefStr, EnumString)]
pub(crate) enum OutputFormat {
    /// A few lines for each result
    #[default]
    #[strum(to_string = "compact", serialize = "text", serialize = "markdown")]
    Compact,
    /// All fields, with labels
    #[strum(to_string = "detailed", serialize = "full")]
    Detailed,
    /// JSON, for programs
    #[strum(to_string = "raw", serialize = "json")]
    Json,
}

/// The notation of calls in notices, a value of the key `syntax` of `config`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, AsRefStr)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Syntax {
    #[default]
    CommandLine,
    Mcp,
    Http,
}

/// The arguments of `docsearch.search_answer`. `None` is the default of the function.
#[derive(Debug, Clone, Default)]
pub(crate) struct SearchRequest {
    pub(crate) query: String,
    /// Further wordings of the query.
    pub(crate) also: Vec<String>,
    /// Names and patterns; none is all projects.
    pub(crate) projects: Vec<String>,
    pub(crate) category: Option<String>,
    pub(crate) filter: Option<Value>,
    pub(crate) max_results: Option<i32>,
    pub(crate) min_score: Option<f32>,
    pub(crate) dedup: Option<String>,
    pub(crate) config: Option<Value>,
    pub(crate) format: OutputFormat,
    pub(crate) max_chars: Option<i32>,
    pub(crate) max_tokens: Option<i32>,
    /// The notation of calls in notices.
    pub(crate) syntax: Syntax,
}

/// The arguments of `load_doc` and `load_doc_json`.
#[derive(Debug, Clone)]
pub(crate) struct LoadRequest {
    pub(crate) slug: String,
    pub(crate) project: Option<String>,
    pub(crate) section: Option<String>,
    pub(crate) sections: bool,
    pub(crate) metadata: bool,
    pub(crate) max_tokens: Option<i32>,
    /// Characters of the text to skip.
    pub(crate) skip: i32,
}

impl LoadRequest {
    /// A whole document.
    pub(crate) fn new(slug: impl Into<String>) -> Self {
        Self {
            slug: slug.into(),
            project: None,
            section: None,
            sections: true,
            metadata: true,
            max_tokens: None,
            skip: 0,
        }
    }

    fn statement(&self, function: &str) -> String {
        format!(
            "SELECT {function}($1, include_sections => $2, include_metadata => $3, project => $4, section => $5,
                 max_tokens => $6, skip => $7)"
        )
    }

    fn arguments(&self) -> [&dyn Argument; 7] {
        [
            &self.slug,
            &self.sections,
            &self.metadata,
            &self.project,
            &self.section,
            &self.max_tokens,
            &self.skip,
        ]
    }
}

/// The answer to a search.
#[derive(Debug, Clone)]
pub(crate) struct SearchAnswer {
    /// In the format of the request.
    pub(crate) content: String,
    /// Number of results.
    pub(crate) results: i32,
    /// That of the best result.
    pub(crate) confidence: Option<String>,
    /// Codes of notices.
    pub(crate) notices: Vec<String>,
    /// Words of the query in the excerpts of the content.
    pub(crate) highlights: Vec<Mark>,
}

impl SearchAnswer {
    pub(crate) fn is_found(&self) -> bool {
        self.results > 0
    }
}

/// A project and its contents.
#[derive(Debug, Clone)]
pub(crate) struct ProjectEntry {
    pub(crate) name: String,
    pub(crate) documents: i64,
    /// The largest top-level categories.
    pub(crate) categories: Vec<String>,
}

impl Library {
    /// Searches documents.
    pub(crate) async fn search(&self, request: &SearchRequest) -> Result<SearchAnswer, Error> {
        let started = Instant::now();
        let found = self.answer(request).await;
        if let Some(observer) = &self.observer {
            observer.searched(self.origin().source, &found, started.elapsed());
        }
        found
    }

    async fn answer(&self, request: &SearchRequest) -> Result<SearchAnswer, Error> {
        let max_chars = request.max_chars.unwrap_or(match request.format {
            OutputFormat::Compact | OutputFormat::Detailed if request.max_tokens.is_none() => DEFAULT_MAX_CHARS,
            // Notices suggest raising the limit that the caller set.
            OutputFormat::Json | OutputFormat::Compact | OutputFormat::Detailed => i32::MAX,
        });
        let mut config = request.config.clone().unwrap_or_else(|| json!({}));
        if let Some(keys) = config.as_object_mut() {
            let syntax: &str = request.syntax.as_ref();
            keys.entry("syntax").or_insert_with(|| syntax.into());
        }
        let format: &str = request.format.as_ref();
        let rows = self
            .rows(
                "SELECT content, results, highlights, confidence, notices
                 FROM docsearch.search_answer($1, projects => $2, category => $3, filter => $4,
                 max_results => $5, min_score => $6, dedup => $7, config => $8, format => $9, max_chars => $10,
                 max_tokens => $11, also => $12)",
                &[
                    &request.query,
                    &given(&request.projects),
                    &request.category,
                    &request.filter,
                    &request.max_results,
                    &request.min_score,
                    &request.dedup,
                    &config,
                    &format,
                    &max_chars,
                    &request.max_tokens,
                    &request.also,
                ],
            )
            .await?;
        let row = rows
            .first()
            .ok_or_else(|| Error::Usage("the search returned no answer".to_owned()))?;
        Ok(SearchAnswer {
            content: row.try_get(0)?,
            results: row.try_get(1)?,
            highlights: serde_json::from_value(row.try_get(2)?).unwrap_or_default(),
            confidence: row.try_get(3)?,
            notices: row.try_get::<_, Option<Vec<String>>>(4)?.unwrap_or_default(),
        })
    }

    /// A document or section as Markdown.
    pub(crate) async fn load(&self, request: &LoadRequest) -> Result<String, Error> {
        self.text(&request.statement("load_doc"), &request.arguments()).await
    }

    /// A document or section with all fields, as JSON.
    pub(crate) async fn load_json(&self, request: &LoadRequest) -> Result<Value, Error> {
        let statement = request.statement("load_doc_json");
        let found = self.objects(&statement, &request.arguments()).await?;
        Ok(found.into_iter().next().unwrap_or_default())
    }

    /// The projects with documents that the role may see.
    pub(crate) async fn projects(&self) -> Result<Vec<ProjectEntry>, Error> {
        let rows = self
            .rows(
                "SELECT project, sum(documents)::bigint,
                        (array_agg(category ORDER BY documents DESC, category) FILTER (WHERE category <> ''))[1:12]
                 FROM (SELECT project, split_part(coalesce(category, ''), '/', 1) AS category, count(*) AS documents
                       FROM list_docs() GROUP BY 1, 2) AS counted
                 GROUP BY project ORDER BY project",
                &[],
            )
            .await?;
        let entry = |row: &Row| {
            Ok(ProjectEntry {
                name: row.try_get(0)?,
                documents: row.try_get(1)?,
                categories: row.try_get::<_, Option<Vec<String>>>(2)?.unwrap_or_default(),
            })
        };
        rows.iter().map(entry).collect()
    }

    /// The results of `docsearch.suggest`.
    pub(crate) async fn suggest(
        &self,
        text: &str,
        projects: &[String],
        max_results: Option<i32>,
    ) -> Result<Vec<Value>, Error> {
        self.objects(
            "SELECT to_jsonb(s) FROM docsearch.suggest($1, projects => $2, max_results => $3) AS s",
            &[&text, &given(projects), &max_results],
        )
        .await
    }

    /// The steps of `docsearch.explain_search`.
    pub(crate) async fn explain(&self, request: &SearchRequest, slug: &str) -> Result<Vec<Value>, Error> {
        self.objects(
            "SELECT to_jsonb(e) FROM docsearch.explain_search($1, $2, projects => $3, category => $4, filter => $5,
                 config => $6, also => $7) AS e",
            &[
                &request.query,
                &slug,
                &given(&request.projects),
                &request.category,
                &request.filter,
                &request.config,
                &request.also,
            ],
        )
        .await
    }

    /// The status of inference and indexing, with versions.
    pub(crate) async fn status(&self) -> Result<Value, Error> {
        let found = self
            .objects(
                "SELECT jsonb_build_object(
                     'server', current_setting('server_version'),
                     'database', current_database(),
                     'role', current_user,
                     'extension', (SELECT extversion FROM pg_catalog.pg_extension WHERE extname = 'pg_docsearch'),
                     'inference', (SELECT to_jsonb(s) FROM docsearch.status() AS s))",
                &[],
            )
            .await?;
        let mut status = found.into_iter().next().unwrap_or_default();
        // Without projects there is no progress to report, which is not a failure.
        let progress = self
            .objects("SELECT to_jsonb(p) FROM docsearch.index_progress() AS p", &[])
            .await;
        status["projects"] = match progress {
            Ok(projects) => Value::Array(projects),
            Err(error) if error.sqlstate() == Some(NO_PROJECT_YET) => Value::Array(Vec::new()),
            Err(error) => return Err(error),
        };
        Ok(status)
    }

    /// How long the oldest document has waited for its vectors; 0 if none waits. The role needs to read
    /// `docsearch.embedding_queue`.
    pub(crate) async fn oldest_waiting_seconds(&self) -> Result<f64, Error> {
        let statement =
            "SELECT coalesce(extract(epoch FROM now() - min(queued_at)), 0)::float8 FROM docsearch.embedding_queue";
        let rows = self.rows(statement, &[]).await?;
        let row = rows.first();
        Ok(row.map(|row| row.try_get(0)).transpose()?.unwrap_or_default())
    }

    async fn text(&self, statement: &str, arguments: &[&dyn Argument]) -> Result<String, Error> {
        let rows = self.rows(statement, arguments).await?;
        let row = rows.first();
        let text: Option<Option<String>> = row.map(|row| row.try_get(0)).transpose()?;
        Ok(text.flatten().unwrap_or_default())
    }

    async fn objects(&self, statement: &str, arguments: &[&dyn Argument]) -> Result<Vec<Value>, Error> {
        let rows = self.rows(statement, arguments).await?;
        let objects = rows.iter().map(|row| row.try_get(0).map_err(Error::from));
        objects.collect()
    }
}

/// A list as an argument; an empty one is not given.
fn given(list: &[String]) -> Option<Vec<String>> {
    (!list.is_empty()).then(|| list.to_vec())
}

/// Default maximum length of a text, as in `docsearch.search_answer`.
const DEFAULT_MAX_CHARS: i32 = 20_000;
/// SQLSTATE in a database where no project was ever created.
pub(crate) const NO_PROJECT_YET: &str = "55000";

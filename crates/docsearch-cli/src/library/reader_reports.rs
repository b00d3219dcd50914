//! What readers say of answers, and assistants of the documentation. Only these requests write.

use serde::Deserialize;
use tokio::time::{Duration, timeout};

use super::Library;
use super::connections::Access;
use crate::process::error::Error;

/// Time for the database to say whether it accepts reports.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// The arguments of `docsearch.feedback`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FeedbackRequest {
    pub(crate) token: String,
    pub(crate) kind: String,
    pub(crate) reference: Option<String>,
    pub(crate) reason: Option<String>,
    pub(crate) comment: Option<String>,
}

/// The arguments of `docsearch.report_gap`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GapRequest {
    pub(crate) reference: Option<String>,
    pub(crate) project: Option<String>,
    pub(crate) category: String,
    pub(crate) report: String,
    pub(crate) goal: Option<String>,
}

impl Library {
    /// Stores feedback to an answer. The same feedback again changes nothing but the number of the row.
    pub(crate) async fn feedback(&self, request: &FeedbackRequest) -> Result<(), Error> {
        self.run(
            Access::Write,
            "SELECT docsearch.feedback($1, $2, $3, $4, $5)",
            &[
                &request.token,
                &request.kind,
                &request.reference,
                &request.reason,
                &request.comment,
            ],
        )
        .await
        .map(|_| ())
    }

    /// Stores a report of a gap. Returns whether it is the first of the day for its page and category.
    pub(crate) async fn report_gap(&self, request: &GapRequest) -> Result<bool, Error> {
        let rows = self
            .run(
                Access::Write,
                "SELECT docsearch.report_gap($1, $2, $3, $4, $5)",
                &[
                    &request.reference,
                    &request.category,
                    &request.report,
                    &request.goal,
                    &request.project,
                ],
            )
            .await?;
        let row = rows.first();
        let is_first = row.map(|row| row.try_get(0)).transpose()?;
        Ok(is_first.unwrap_or_default())
    }

    /// Whether the role may store reports of gaps in this database. False if that cannot be found out in time.
    pub(crate) async fn accepts_gap_reports(&self) -> bool {
        let asked = self.run(
            Access::Write,
            "SELECT pg_catalog.current_setting('transaction_read_only')::bool IS FALSE AND EXISTS (
                 SELECT FROM pg_catalog.pg_namespace n
                 JOIN pg_catalog.pg_proc p ON p.pronamespace OPERATOR(pg_catalog.=) n.oid
                 JOIN pg_catalog.pg_class c ON c.relnamespace OPERATOR(pg_catalog.=) n.oid
                 WHERE n.nspname OPERATOR(pg_catalog.=) 'docsearch' AND p.proname OPERATOR(pg_catalog.=) 'report_gap'
                   AND c.relname OPERATOR(pg_catalog.=) 'gap_report'
                   AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
                   AND pg_catalog.has_function_privilege(p.oid, 'EXECUTE'))",
            &[],
        );
        let rows = match timeout(PROBE_TIMEOUT, asked).await {
            Ok(Ok(rows)) => rows,
            Ok(Err(_)) | Err(_) => return false,
        };
        rows.first().is_some_and(|row| row.try_get(0).unwrap_or_default())
    }
}

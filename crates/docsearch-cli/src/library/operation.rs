//! How the server works, for roles that may see it.

use serde_json::Value;

use super::Library;
use crate::process::error::Error;

/// What a role may see.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct OperationRights {
    /// `docsearch.check()`, and the sizes of tables.
    pub(crate) checks: bool,
    /// The log of queries and its reports.
    pub(crate) log: bool,
}

impl OperationRights {
    pub(crate) fn any(self) -> bool {
        self.checks || self.log
    }
}

/// The searches of a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DailySearches {
    /// `2026-11-28`
    pub(crate) day: String,
    pub(crate) searches: i64,
    /// Those without a result, or with low confidence.
    pub(crate) unanswered: i64,
}

impl Library {
    pub(crate) async fn operation_rights(&self) -> Result<OperationRights, Error> {
        let statement = "
            SELECT coalesce(has_function_privilege(to_regprocedure('docsearch.check(text)'), 'EXECUTE'), false),
                   coalesce(has_table_privilege(to_regclass('docsearch.query_log'), 'SELECT'), false)";
        let rows = self.rows(statement, &[]).await?;
        let rights = rows.first().map(|row| OperationRights {
            checks: row.get(0),
            log: row.get(1),
        });
        Ok(rights.unwrap_or_default())
    }

    /// The rows of `docsearch.check()`.
    pub(crate) async fn problems(&self) -> Result<Vec<Value>, Error> {
        self.objects("SELECT to_jsonb(c) FROM docsearch.check() AS c", &[])
            .await
    }

    /// The largest tables with their bytes, indexes included.
    pub(crate) async fn table_sizes(&self) -> Result<Vec<(String, i64)>, Error> {
        let statement = "
            SELECT c.relname::text, pg_total_relation_size(c.oid) AS bytes FROM pg_catalog.pg_class c
            WHERE c.relnamespace = 'docsearch'::regnamespace AND c.relkind = 'r' ORDER BY bytes DESC, c.relname LIMIT 8";
        let rows = self.rows(statement, &[]).await?;
        rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
    }

    /// The searches of each of the last 30 days, the oldest first.
    pub(crate) async fn daily_searches(&self) -> Result<Vec<DailySearches>, Error> {
        let statement = "
            SELECT d.day::date::text, coalesce(s.searches, 0), coalesce(s.unanswered, 0)
            FROM generate_series(current_date - 29, current_date, interval '1 day') AS d (day)
            LEFT JOIN (SELECT q.logged_at::date AS day, count(*) AS searches,
                              count(*) FILTER (WHERE q.results = 0 OR q.is_low) AS unanswered
                       FROM docsearch.query_log q
                       WHERE q.is_search AND q.logged_at >= current_date - 29 GROUP BY 1) AS s ON s.day = d.day::date
            ORDER BY d.day";
        let rows = self.rows(statement, &[]).await?;
        let daily = rows.iter().map(|row| {
            Ok(DailySearches {
                day: row.try_get(0)?,
                searches: row.try_get(1)?,
                unanswered: row.try_get(2)?,
            })
        });
        daily.collect()
    }
}

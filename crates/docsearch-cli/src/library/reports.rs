//! Reports about the log of queries. Their list is that of the functions of the extension.

use serde_json::Value;

use super::Library;
use super::arguments::Argument;
use crate::process::error::Error;

/// A function of the extension that reports what readers look for.
#[derive(Debug, Clone)]
pub(crate) struct ReportFunction {
    pub(crate) name: String,
    /// What it returns, without a full stop.
    pub(crate) description: String,
    /// Names and types.
    pub(crate) arguments: Vec<(String, String)>,
    pub(crate) columns: Vec<String>,
}

/// The calls that reports look at.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReportScope {
    /// A time as the server writes it.
    pub(crate) since: Option<String>,
    pub(crate) project: Option<String>,
    pub(crate) max_rows: Option<i64>,
    pub(crate) readers: Option<String>,
    /// Further arguments by name, as text.
    pub(crate) others: Vec<(String, String)>,
}

/// Whether calls are logged, and were.
#[derive(Debug, Clone, Default)]
pub(crate) struct LogStatus {
    /// `docsearch.log_queries` of this session.
    pub(crate) setting: String,
    /// The name of the database, as SQL writes it.
    pub(crate) database: String,
    /// Whether there is a call since the time.
    pub(crate) has_calls: bool,
}

/// Reports have `since` and `project` as their first arguments.
const FUNCTIONS: &str = "
    SELECT p.proname::text AS name, coalesce(obj_description(p.oid, 'pg_proc'), '') AS description,
           array_agg(a.name ORDER BY a.number) FILTER (WHERE a.mode = 'i') AS arguments,
           array_agg(format_type(a.type, NULL) ORDER BY a.number) FILTER (WHERE a.mode = 'i') AS types,
           array_agg(a.name ORDER BY a.number) FILTER (WHERE a.mode = 't') AS columns
    FROM pg_catalog.pg_proc p
    JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
    JOIN pg_catalog.pg_extension e ON e.oid = d.refobjid AND e.extname = 'pg_docsearch'
    CROSS JOIN LATERAL unnest(p.proargnames, p.proargmodes, p.proallargtypes)
                       WITH ORDINALITY a(name, mode, type, number)
    WHERE p.pronamespace = 'docsearch'::regnamespace AND p.proretset
      AND p.proargnames[1:2] = ARRAY['since', 'project']
    GROUP BY p.oid, p.proname ORDER BY p.proname";

impl Library {
    /// All reports, by name.
    pub(crate) async fn reports(&self) -> Result<Vec<ReportFunction>, Error> {
        let rows = self.rows(FUNCTIONS, &[]).await?;
        let functions = rows.iter().map(|row| {
            let (names, types): (Vec<String>, Vec<String>) = (row.get("arguments"), row.get("types"));
            ReportFunction {
                name: row.get("name"),
                description: row.get("description"),
                arguments: names.into_iter().zip(types).collect(),
                columns: row.get("columns"),
            }
        });
        Ok(functions.collect())
    }

    /// The rows of a report, as objects. Arguments that the report does not have are left out.
    pub(crate) async fn report(&self, function: &ReportFunction, scope: &ReportScope) -> Result<Vec<Value>, Error> {
        let max_rows = scope.max_rows.map(|rows| rows.to_string());
        let common = [
            ("since", &scope.since),
            ("project", &scope.project),
            ("max_rows", &max_rows),
            ("readers", &scope.readers),
        ];
        let common = common
            .into_iter()
            .filter_map(|(name, value)| Some((name, value.as_ref()?)));
        let others = scope.others.iter().map(|(name, value)| (name.as_str(), value));
        let mut values: Vec<&dyn Argument> = Vec::new();
        let mut arguments = Vec::new();
        for (name, value) in common.chain(others) {
            if let Some((_, kind)) = function.arguments.iter().find(|(known, _)| known == name) {
                values.push(value);
                arguments.push(format!("\"{name}\" => ${}::{kind}", values.len()));
            }
        }
        let statement = format!(
            "SELECT to_jsonb(r) FROM docsearch.\"{}\"({}) r",
            function.name,
            arguments.join(", ")
        );
        let rows = self.rows(&statement, &values).await?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    /// A time that a caller wrote: a date, a time, or a span before now such as `7d`.
    pub(crate) async fn time(&self, text: &str) -> Result<String, Error> {
        let statement = r"SELECT (CASE WHEN $1 ~ '^\s*[0-9]+\s*[[:alpha:]]' THEN now() - $1::interval
                                       ELSE $1::timestamptz END)::text";
        let rows = self.rows(statement, &[&text]).await;
        let rows = rows.map_err(|error| match error.sqlstate() {
            Some("22007" | "22008" | "22009" | "22023") => Error::Usage(format!(
                "\"{text}\" is no time\nHINT:  Use a date such as 2026-10-31, a time, or a span such as 12h, 7d or 4w."
            )),
            _ => error,
        })?;
        Ok(rows.first().map(|row| row.get(0)).unwrap_or_default())
    }

    /// Whether calls are logged, and whether there are any since a time, by default in the last 30 days.
    pub(crate) async fn log_status(&self, since: Option<&str>) -> Result<LogStatus, Error> {
        let since = since.map(str::to_owned);
        let statement = "
            SELECT coalesce(current_setting('docsearch.log_queries', true), 'off'), quote_ident(current_database()),
                   EXISTS (SELECT FROM docsearch.query_log q
                           WHERE q.logged_at >= coalesce($1::timestamptz, now() - interval '30 days'))";
        let rows = self.rows(statement, &[&since]).await?;
        let status = rows.first().map(|row| LogStatus {
            setting: row.get(0),
            database: row.get(1),
            has_calls: row.get(2),
        });
        Ok(status.unwrap_or_default())
    }
}

//! The searches of a run, to be made again.

use pgrx::datum::DatumWithOid;

use crate::evaluation::stored_run::StoredRun;
use crate::postgres::report::Result;
use crate::postgres::role::Caller;
use crate::postgres::row_type::row_type;
use crate::postgres::statement;
use crate::search::drift::FormerSearch;

row_type! {
    /// A query of a run with its first result.
    struct FirstRow {
        query: String = "r.query",
        also: Vec<String> = "coalesce((SELECT q.also FROM docsearch.judgment_set s JOIN docsearch.judgment_query q ON q.set_id = s.id
                              WHERE s.name = $2 AND q.query_id = r.query_id), '{}')",
        first: Option<String> = "r.found[1]",
    }
}

/// The searches of a run, in the order of their set.
pub(crate) fn searches(caller: &Caller, run: i64) -> Result<Vec<FormerSearch>> {
    let made = StoredRun::of_queries(caller, run)?;
    let rows = statement::rows(
        caller,
        &format!(
            "SELECT {} FROM docsearch.evaluation_result r WHERE r.run_id = $1 ORDER BY r.query_no, r.query_id",
            FirstRow::select_list()
        ),
        &[DatumWithOid::from(run), DatumWithOid::from(made.set.as_str())],
        FirstRow::read,
    )?;
    let config = serde_json::from_str(&made.config).ok();
    let search = |row: FirstRow| FormerSearch {
        query: row.query,
        also: row.also,
        config: config.clone(),
        searches: None,
        // References of a run over one project are slugs.
        first: row.first.map(|first| match &made.project {
            Some(project) => format!("{project}/{first}"),
            None => first,
        }),
        project: made.project.clone(),
    };
    Ok(rows.into_iter().map(search).collect())
}

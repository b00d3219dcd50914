//! `judge`, `import_judgments`, `export_judgments` and `drop_judgments`.

use docsearch_core::evaluation::exchange::{Form, read_reference};
use docsearch_core::evaluation::judgment::Judgment;
use docsearch_core::values::bounds::shown;
use pgrx::datum::TimestampWithTimeZone;
use pgrx::prelude::*;

use crate::evaluation::{count, judgments};
use crate::postgres::argument::{LongText, Text, Whole, arguments};
use crate::postgres::report::{Result, invalid, refuse_read_only};
use crate::postgres::role::Caller;
use crate::reports::clicks;
use crate::reports::scope::{Scope, least_sessions};

#[pg_schema]
mod docsearch {
    use super::*;

    /// Stores how well a document or section answers a query, and returns the id of the query in its set.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn judge(
        set: Option<Text<'_>>,
        query: Option<Text<'_>>,
        reference: Option<Text<'_>>,
        grade: default!(Option<Whole>, 1),
        query_group: default!(Option<Text<'_>>, "''"),
    ) -> Result<String> {
        arguments!(set, query, reference, grade, query_group);
        let caller = &Caller::of_call()?;
        refuse_read_only(c"judge()");
        judgments::require_privilege(caller)?;
        let (Some(set), Some(query)) = (set, query) else {
            return Err(invalid(
                "set and query must not be null",
                "Give the name of a set and a query.",
            ));
        };
        let group = query_group.unwrap_or_default();
        let Some(reference) = reference else {
            return judgments::judge_unanswerable(caller, set, query, group);
        };
        let (slug, anchor) = read_reference(reference);
        let grade = grade.unwrap_or(1);
        judgments::judge(caller, set, query, &Judgment { slug, anchor, grade }, group)
    }

    /// Replaces a set of judgments by queries and judgments in the form of BEIR or TREC.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn import_judgments(
        set: Text<'_>,
        queries: LongText<'_>,
        judgments: LongText<'_>,
    ) -> Result<TableIterator<'static, (name!(queries, i64), name!(judgments, i64), name!(without_query, i64))>> {
        arguments!(set, queries, judgments);
        let caller = &Caller::of_call()?;
        refuse_read_only(c"import_judgments()");
        let imported = judgments::import(caller, set, queries, judgments)?;
        Ok(TableIterator::once((
            imported.queries,
            imported.judgments,
            imported.without_query,
        )))
    }

    /// Returns a set of judgments as the files of BEIR or TREC.
    #[pg_extern(stable, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn export_judgments(
        set: Text<'_>,
        form: default!(Text<'_>, "'beir'"),
    ) -> Result<TableIterator<'static, (name!(file, String), name!(content, String))>> {
        arguments!(set, form);
        let caller = &Caller::of_call()?;
        judgments::require_privilege(caller)?;
        let form: Form = form
            .parse()
            .map_err(|_| invalid(format!("form \"{}\" is not known", shown(form)), "Use beir or trec."))?;
        let files = judgments::export(caller, set, form)?;
        Ok(TableIterator::new(files.map(|(name, text)| (name.to_owned(), text))))
    }

    /// Replaces a set of judgments by what readers opened, corrected for the place at which it was shown.
    #[pg_extern(volatile, parallel_unsafe, cost = 100000)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn judge_from_clicks(
        set: Option<Text<'_>>,
        project: Option<Text<'_>>,
        since: default!(Option<TimestampWithTimeZone>, "NULL"),
        min_sessions: default!(Option<Whole>, 3),
        readers: default!(Option<Text<'_>>, "NULL"),
    ) -> Result<
        TableIterator<
            'static,
            (
                name!(queries, i64),
                name!(judgments, i64),
                name!(searches, i64),
                name!(sessions, i64),
                name!(examination, Vec<f64>),
            ),
        >,
    > {
        arguments!(set, project, min_sessions, readers);
        let caller = &mut Caller::of_call()?;
        refuse_read_only(c"judge_from_clicks()");
        judgments::require_privilege(caller)?;
        let scope = Scope::of_project(caller, since, project, None, readers)?;
        let min_sessions = least_sessions(min_sessions)?;
        let found = clicks::judgments(caller, &scope, min_sessions)?;
        let stored = judgments::replace(caller, set.unwrap_or_default(), &found.queries, &found.judgments)?;
        Ok(TableIterator::once((
            stored.queries,
            stored.judgments,
            count(found.searches),
            count(found.sessions),
            found.examination,
        )))
    }

    /// Deletes a set of judgments.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn drop_judgments(set: Text<'_>) -> Result<()> {
        arguments!(set);
        let caller = &Caller::of_call()?;
        refuse_read_only(c"drop_judgments()");
        judgments::delete(caller, set)
    }
}

//! `check` and `repair`.

use pgrx::prelude::*;

use crate::administration::check::{CATALOG_CHECKS, CHECKS, Check, CheckScope, Finding};
use crate::administration::repair;
use crate::postgres::argument::{Text, arguments};
use crate::postgres::report::{Result, refuse_read_only};
use crate::postgres::role::{Caller, Owner, Role};
use crate::tables::schema;

#[pg_schema]
mod docsearch {
    use super::*;

    /// Checks tables, indexes, models and derived data, and returns a row for each problem.
    #[pg_extern(volatile, parallel_unsafe, cost = 1000000)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn check(
        project: default!(Option<Text<'_>>, "NULL"),
    ) -> Result<
        TableIterator<
            'static,
            (
                name!(problem, String),
                name!(object, String),
                name!(detail, String),
                name!(repair, String),
            ),
        >,
    > {
        arguments!(project);
        let caller = &mut Caller::of_call()?;
        problems(caller, project, false).map(TableIterator::new)
    }

    /// Does the same as check(project), and compares attached tables with their documents if deep is true.
    #[pg_extern(name = "check", volatile, parallel_unsafe, cost = 1000000)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn check_deep(
        deep: Option<bool>,
        project: default!(Option<Text<'_>>, "NULL"),
    ) -> Result<
        TableIterator<
            'static,
            (
                name!(problem, String),
                name!(object, String),
                name!(detail, String),
                name!(repair, String),
            ),
        >,
    > {
        arguments!(project);
        let caller = &mut Caller::of_call()?;
        problems(caller, project, deep == Some(true)).map(TableIterator::new)
    }

    type Row = (String, String, String, String);

    fn problems(caller: &mut Caller, project: Option<&str>, deep: bool) -> Result<Vec<Row>> {
        schema::require_owner(caller, "SELECT * FROM docsearch.check()")?;
        if project.is_none() && !schema::exists() {
            let owner = &mut caller.as_owner_without_tables()?;
            return rows(owner, &CATALOG_CHECKS, &CheckScope::without_tables());
        }
        let checked = CheckScope::new(caller, project)?.deep(deep);
        let owner = &mut caller.as_owner()?;
        if let Some((applied, newest)) = schema::behind(owner)? {
            // The checks read tables that may not exist yet.
            let row = (
                "tables behind".to_owned(),
                "docsearch.schema_version".to_owned(),
                format!("version {applied} of {newest}"),
                "SELECT docsearch.migrate()".to_owned(),
            );
            return Ok(vec![row]);
        }
        rows(owner, &CHECKS, &checked)
    }

    fn rows(owner: &mut Owner<'_>, checks: &[Check], checked: &CheckScope) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        for find in checks {
            rows.extend(find(owner, checked)?.into_iter().map(|finding| {
                let Finding {
                    problem,
                    object,
                    detail,
                    repair,
                } = finding;
                (problem.to_owned(), object, detail, repair.advice(checked))
            }));
        }
        Ok(rows)
    }

    /// Repairs what check finds, and returns a row for each repair.
    #[pg_extern(volatile, parallel_unsafe, cost = 1000000)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn repair(
        project: default!(Option<Text<'_>>, "NULL"),
    ) -> Result<TableIterator<'static, (name!(problem, String), name!(object, String), name!(detail, String))>> {
        arguments!(project);
        let caller = &mut Caller::of_call()?;
        refuse_read_only(c"docsearch.repair()");
        schema::require_owner(caller, "SELECT * FROM docsearch.repair()")?;
        Ok(TableIterator::new(repair::repair(caller, project)?))
    }
}

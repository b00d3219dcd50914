//! `verify_invariants`.

use pgrx::prelude::*;

use crate::postgres::argument::{Text, Whole, arguments};
use crate::postgres::report::{Result, invalid};
use crate::postgres::role::Caller;
use crate::search::invariants;
use crate::tables::project;

#[pg_schema]
mod docsearch {
    use super::*;

    /// Searches a project for each unique name of its documents (a title, symbol or slug leaf that no
    /// other document bears) and each slug of several parts in each of their forms, and lists those that do
    /// not bring their page first. Then, for each form, a row with how many there are and how many of them
    /// hold. With `sample`, of so many names and slugs.
    #[pg_extern(volatile, parallel_unsafe, cost = 1000000)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn verify_invariants(
        project: Option<Text<'_>>,
        sample: default!(Option<Whole>, "NULL"),
    ) -> Result<
        TableIterator<
            'static,
            (
                name!(form, String),
                name!(query, Option<String>),
                name!(expected, Option<String>),
                name!(found, Option<String>),
                name!(names, Option<i64>),
                name!(holding, Option<i64>),
            ),
        >,
    > {
        arguments!(project, sample);
        let caller = &mut Caller::of_call()?;
        let project = project::given(caller, project)?;
        if sample.is_some_and(|sample| sample < 1) {
            return Err(invalid("sample must be at least 1", "Omit it for all names."));
        }
        Ok(TableIterator::new(invariants::verify(caller, &project, sample)?))
    }
}

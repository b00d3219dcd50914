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

    /// Checks that a search for each unique name or slug of a project returns its page first.
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

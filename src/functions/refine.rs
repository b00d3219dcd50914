//! `search_refined`.

use docsearch_core::answer::refinement::MAX_REFINEMENTS;
use pgrx::prelude::*;

use crate::postgres::argument::{Json, Number, Text, Texts, Whole, arguments};
use crate::postgres::jsonb::JsonB;
use crate::postgres::report::{Result, invalid};
use crate::postgres::role::Caller;
use crate::search::arguments::Arguments;
use crate::search::refine;

#[pg_schema]
mod docsearch {
    use super::*;

    /// Searches, grades the answer, and tries better queries while the grade is too low.
    #[pg_extern(volatile, parallel_unsafe, cost = 30000)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::too_many_arguments)]
    fn search_refined(
        query: Option<Text<'_>>,
        project: default!(Option<Text<'_>>, "NULL"),
        category: default!(Option<Text<'_>>, "NULL"),
        filter: default!(Option<Json<'_>>, "NULL"),
        max_results: default!(Option<Whole>, "NULL"),
        min_score: default!(Option<Number>, "NULL"),
        dedup: default!(Option<Text<'_>>, "NULL"),
        config: default!(Option<Json<'_>>, "NULL"),
        max_refinements: default!(Option<Whole>, 2),
        also: default!(Option<Texts<'_>>, "NULL"),
        projects: default!(Option<Texts<'_>>, "NULL"),
    ) -> Result<JsonB> {
        arguments!(max_refinements);
        let caller = &mut Caller::of_call()?;
        let max_refinements = max_refinements.unwrap_or(2);
        let checked = usize::try_from(max_refinements)
            .ok()
            .filter(|most| *most <= MAX_REFINEMENTS);
        let max_refinements = checked.ok_or_else(|| {
            invalid(
                format!("max_refinements is {max_refinements}"),
                format!("Use 0 to {MAX_REFINEMENTS}."),
            )
        })?;
        let arguments = arguments!(Arguments {
            query,
            project,
            category,
            filter,
            dedup,
            config,
            max_results,
            min_score,
            also,
            projects
        });
        let mut request = arguments.resolve(caller)?;
        request.config = request.config.graded();
        refine::search_refined(caller, &request, max_refinements).map(JsonB)
    }
}

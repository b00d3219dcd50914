//! `explain_search`.

use pgrx::prelude::*;

use crate::postgres::argument::{Json, Text, Texts, arguments};
use crate::postgres::report::{Result, invalid};
use crate::postgres::role::Caller;
use crate::search::arguments::Arguments;
use crate::search::explain;
use crate::tables::document;
use crate::tables::project_selection::Selection;

#[pg_schema]
mod docsearch {
    use super::*;

    /// Returns the steps in which search_docs computes the score of a document.
    #[pg_extern(volatile, parallel_unsafe, cost = 10000)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::too_many_arguments, clippy::type_complexity)]
    fn explain_search(
        query: Option<Text<'_>>,
        slug: Option<Text<'_>>,
        project: default!(Option<Text<'_>>, "NULL"),
        category: default!(Option<Text<'_>>, "NULL"),
        filter: default!(Option<Json<'_>>, "NULL"),
        config: default!(Option<Json<'_>>, "NULL"),
        also: default!(Option<Texts<'_>>, "NULL"),
        projects: default!(Option<Texts<'_>>, "NULL"),
    ) -> Result<
        TableIterator<
            'static,
            (
                name!(step, String),
                name!(rule, String),
                name!(matched, Option<String>),
                name!(raw, Option<f32>),
                name!(weight, Option<f32>),
                name!(before, f32),
                name!(after, f32),
                name!(contribution, f32),
            ),
        >,
    > {
        arguments!(query, slug, project, category, filter, config, also, projects);
        let caller = &mut Caller::of_call()?;
        let slug = document::checked_slug(slug)?;
        let arguments = Arguments {
            query,
            also,
            project,
            projects: projects.clone(),
            category,
            filter,
            config,
            ..Arguments::default()
        };
        let request = arguments.resolve(caller)?;
        let selected = Selection::new(project, projects.as_deref())?.names(caller)?;
        let focus = document::identify(caller, slug, selected.as_deref())?;
        let steps = explain::steps(caller, &request, focus)?.map_err(|excluding| match excluding.as_slice() {
            [] => invalid(
                format!("document \"{slug}\" does not match the category or the filter"),
                "Omit category and filter to see its score.",
            ),
            words => invalid(
                format!("document \"{slug}\" is excluded by {}", words.join(", ")),
                "Omit the words that begin with a dash to see its score.",
            ),
        })?;
        let rows = steps.into_iter().map(|step| {
            (
                step.step.to_owned(),
                step.rule.to_owned(),
                (!step.matched.is_empty()).then_some(step.matched),
                Some(step.raw),
                Some(step.weight),
                step.before,
                step.after,
                step.contribution,
            )
        });
        Ok(TableIterator::new(rows.collect::<Vec<_>>()))
    }
}

//! `pin`, `unpin` and `pins`.

use docsearch_core::values::bounds::{self, LABEL_BYTES};
use pgrx::datum::TimestampWithTimeZone;
use pgrx::prelude::*;

use crate::postgres::argument::{Text, Texts, arguments};
use crate::postgres::report::{self, Result, invalid, refuse_read_only};
use crate::postgres::role::Caller;
use crate::tables::pins::{self, NewPin, checked_query, checked_slugs};
use crate::tables::project;

#[pg_schema]
mod docsearch {
    use super::*;

    /// Says which pages of a project come first for a query, and which are no results.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn pin(
        project: Option<Text<'_>>,
        query: Option<Text<'_>>,
        first: default!(Option<Texts<'_>>, "NULL"),
        never: default!(Option<Texts<'_>>, "NULL"),
        source: default!(Option<Text<'_>>, "NULL"),
    ) -> Result<()> {
        arguments!(project, query, first, never, source);
        let caller = &mut Caller::of_call()?;
        refuse_read_only(c"pin()");
        let project = project::given(caller, project)?;
        let (query, key) = checked_query(query)?;
        let (first, never) = (checked_slugs("first", first)?, checked_slugs("never", never)?);
        if first.is_empty() && never.is_empty() {
            return Err(invalid(
                "first and never have no slug",
                "Name pages: first => ARRAY['guides/install']. docsearch.unpin() removes a pin.",
            ));
        }
        if let Some(both) = first.iter().find(|slug| never.contains(slug)) {
            return Err(invalid(
                format!("page \"{}\" is in first and in never", bounds::shown(both)),
                "Name a page in one of them.",
            ));
        }
        let source = source.unwrap_or_default();
        if source.len() > LABEL_BYTES {
            return Err(invalid(
                "source is too long",
                format!("Give at most {LABEL_BYTES} bytes."),
            ));
        }
        let pin = NewPin {
            query: &query,
            key: &key,
            first,
            never,
            source,
        };
        for slug in pins::set(caller, &project, pin)? {
            report::notice(
                format!("project \"{}\" has no page \"{}\"", project.name, bounds::shown(&slug)),
                "The pin has no effect on it until the page is indexed.",
            );
        }
        Ok(())
    }

    /// Removes the pin for a query, and returns whether there was one.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn unpin(project: Option<Text<'_>>, query: Option<Text<'_>>) -> Result<bool> {
        arguments!(project, query);
        let caller = &mut Caller::of_call()?;
        refuse_read_only(c"unpin()");
        let project = project::given(caller, project)?;
        let (_, key) = checked_query(query)?;
        pins::remove(caller, &project, &key)
    }

    /// Returns the queries of a project for which pages are pinned.
    #[pg_extern(stable, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn pins(
        project: Option<Text<'_>>,
    ) -> Result<
        TableIterator<
            'static,
            (
                name!(query, String),
                name!(first, Vec<String>),
                name!(never, Vec<String>),
                name!(missing, Vec<String>),
                name!(source, String),
                name!(changed_at, TimestampWithTimeZone),
            ),
        >,
    > {
        arguments!(project);
        let caller = &mut Caller::of_call()?;
        let project = project::given(caller, project)?;
        let rows = super::pins::listed(caller, &project)?
            .into_iter()
            .map(|pin| (pin.query, pin.first, pin.never, pin.missing, pin.source, pin.changed_at));
        Ok(TableIterator::new(rows.collect::<Vec<_>>()))
    }
}

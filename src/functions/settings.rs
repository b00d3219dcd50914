//! `settings`: every setting, with its value and what it is for.

use docsearch_core::ranking::weight::WEIGHTS;
use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;

use crate::postgres::report::Result;
use crate::postgres::role::Caller;
use crate::postgres::statement;

#[pg_schema]
mod docsearch {
    use super::*;

    /// Every setting with its value, where the value comes from, its unit and a sentence of help.
    #[pg_extern(stable, parallel_safe)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn settings() -> Result<
        TableIterator<
            'static,
            (
                name!(name, String),
                name!(value, Option<String>),
                name!(source, String),
                name!(unit, Option<String>),
                name!(minimum, Option<String>),
                name!(maximum, Option<String>),
                name!(help, String),
            ),
        >,
    > {
        let caller = &mut Caller::of_call()?;
        let rows = statement::rows(
            caller,
            "SELECT s.name, s.setting, s.source, coalesce(s.unit, w.unit), s.min_val, s.max_val,
                    concat_ws(' ', s.short_desc, NULLIF(s.extra_desc, ''))
             FROM pg_settings s LEFT JOIN unnest($1::text[], $2::text[]) AS w(name, unit) ON s.name = 'docsearch.' || w.name
             WHERE s.name LIKE 'docsearch.%' ORDER BY s.name",
            &[
                DatumWithOid::from(WEIGHTS.iter().map(|row| row.name).collect::<Vec<_>>()),
                DatumWithOid::from(WEIGHTS.iter().map(|row| row.unit).collect::<Vec<_>>()),
            ],
            |row| {
                Ok((
                    row.required(1)?,
                    row.optional(2)?,
                    row.required(3)?,
                    row.optional(4)?,
                    row.optional(5)?,
                    row.optional(6)?,
                    row.required(7)?,
                ))
            },
        )?;
        Ok(TableIterator::new(rows))
    }
}

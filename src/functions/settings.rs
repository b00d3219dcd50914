//! `settings`: the settings, and the weights that are no settings.

use docsearch_core::ranking::weight::{WEIGHTS, Weight};
use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;

use crate::postgres::report::Result;
use crate::postgres::role::Caller;
use crate::postgres::statement;

#[pg_schema]
mod docsearch {
    use super::*;

    /// Returns the settings and weights that the caller may read.
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
        let column = |of: fn(&Weight) -> String| DatumWithOid::from(WEIGHTS.iter().map(of).collect::<Vec<_>>());
        let rows = statement::rows(
            caller,
            "WITH weight AS (SELECT * FROM unnest($1::text[], $2::bool[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
                             AS w(name, is_setting, value, unit, minimum, maximum, help))
             SELECT s.name, s.setting, s.source, coalesce(s.unit, w.unit), s.min_val, s.max_val,
                    concat_ws(' ', s.short_desc, NULLIF(s.extra_desc, ''))
             FROM pg_settings s LEFT JOIN weight w ON s.name = 'docsearch.' || w.name
             WHERE s.name LIKE 'docsearch.%'
             UNION ALL
             SELECT w.name, w.value, 'default', w.unit, w.minimum, w.maximum, w.help FROM weight w WHERE NOT w.is_setting
             ORDER BY 1",
            &[
                column(|row| row.name.to_owned()),
                DatumWithOid::from(WEIGHTS.iter().map(|row| row.is_setting).collect::<Vec<_>>()),
                column(|row| row.default.to_string()),
                column(|row| row.unit.to_owned()),
                column(|row| row.min.to_string()),
                column(|row| row.max.to_string()),
                column(|row| row.help.to_owned()),
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

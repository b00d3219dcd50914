//! `known_faults`: known faults of the installed versions of PostgreSQL and pgvector.

use pgrx::prelude::*;

use crate::postgres::report::Result;
use crate::postgres::role::Caller;
use crate::postgres::versions;

#[pg_schema]
mod docsearch {
    use super::*;

    /// Returns the known faults of this server and of its pgvector.
    #[pg_extern(volatile, parallel_restricted)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn known_faults() -> Result<
        TableIterator<
            'static,
            (
                name!(fault, String),
                name!(object, String),
                name!(detail, String),
                name!(repair, String),
                name!(refused, bool),
            ),
        >,
    > {
        let caller = &mut Caller::of_call()?;
        let rows = versions::versions(caller)?.faults().into_iter().map(|found| {
            let object = found.object();
            let fault = found.fault;
            (
                fault.fault.to_owned(),
                object,
                found.detail,
                found.remedy,
                fault.refused,
            )
        });
        Ok(TableIterator::new(rows.collect::<Vec<_>>()))
    }
}

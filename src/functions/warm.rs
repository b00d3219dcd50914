//! `warm`.

use pgrx::prelude::*;

use crate::postgres::argument::{Text, arguments};
use crate::postgres::report::Result;
use crate::postgres::role::Caller;
use crate::search::warm;
use crate::tables::lock_limit::LockLimit;
use crate::tables::project_selection::Selection;

#[pg_schema]
mod docsearch {
    use super::*;

    /// Reads what searches of a project read into memory, and loads its model.
    #[pg_extern(stable, parallel_unsafe, cost = 1000000)]
    #[search_path(pg_catalog, pg_temp)]
    fn warm(project: default!(Option<Text<'_>>, "NULL")) -> Result<()> {
        arguments!(project);
        let caller = &mut Caller::of_call()?;
        let _limit = LockLimit::begin()?;
        let (projects, _) = Selection::new(project, None)?.searched(caller)?;
        projects.iter().try_for_each(|project| warm::warm(caller, project))
    }
}

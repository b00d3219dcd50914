//! `merge_statistics` and `finish_load`.

use pgrx::prelude::*;

use crate::postgres::argument::{Text, arguments};
use crate::postgres::report::Result;
use crate::postgres::role::{Caller, Role};
use crate::postgres::trigger::{self, TriggerRow};
use crate::tables::statistics::by_hand;
use crate::tables::vector_codes::{self, CodeSet};
use crate::tables::{analysis, postings, project, schema, statistics};

#[pg_schema]
mod docsearch {
    use super::*;

    /// Merges the pending changes of the term statistics of a project.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn merge_statistics(project: Text<'_>) -> Result<()> {
        arguments!(project);
        let caller = &mut Caller::of_call()?;
        let project = project::by_name(caller, project)?;
        caller.require_writer()?;
        let owner = &caller.as_owner()?;
        statistics::merge(owner, project.id)
    }

    /// Updates statistics and pending documents; a trigger function of document and chunk.
    #[pg_extern(sql = r#"
CREATE FUNCTION docsearch.count_changes() RETURNS trigger
LANGUAGE c AS 'MODULE_PATHNAME', '@FUNCTION_NAME@';
"#)]
    fn count_changes(call: pg_sys::FunctionCallInfo) -> Result<TriggerRow> {
        let caller = &mut Caller::of_call()?;
        // SAFETY: the call is this one.
        let data = unsafe { trigger::data(call, "docsearch.count_changes()")? };
        by_hand::count(caller, data)?;
        Ok(TriggerRow(None))
    }

    /// Merges the statistics, postings and vector codes of a project, and analyses the tables that have changed.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn finish_load(project: Text<'_>) -> Result<()> {
        arguments!(project);
        let caller = &mut Caller::of_call()?;
        let project = project::by_name(caller, project)?;
        caller.require_writer()?;
        schema::require_current(caller)?;
        let owner = &caller.as_owner()?;
        statistics::merge(owner, project.id)?;
        postings::merge(owner, project.id, i64::MAX)?;
        vector_codes::merge(owner, CodeSet::current(&project))?;
        let vectors = project.model.vector_table();
        let tables = [
            "docsearch.document",
            "docsearch.chunk",
            "docsearch.document_name",
            "docsearch.definition",
            "docsearch.question",
            "docsearch.term_stat",
            vectors.as_str(),
        ];
        analysis::analyze_changed(owner, &tables)
    }
}

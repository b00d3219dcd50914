//! `set_model`.

use pgrx::prelude::*;

use crate::indexing::model_switch;
use crate::models::trial::Unfit;
use crate::models::{files, registration};
use crate::postgres::argument::{Text, arguments};
use crate::postgres::report::{Result, invalid};
use crate::postgres::role::{Caller, Role};
use crate::tables::{model_grant, project, schema, visibility};

#[pg_schema]
mod docsearch {
    use super::*;

    /// Replaces the model of a project in the background.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn set_model(project: Option<Text<'_>>, model: Option<Text<'_>>) -> Result<()> {
        arguments!(project, model);
        let caller = &mut Caller::of_call()?;
        let project = project::given(caller, project)?;
        let model = model.ok_or_else(|| {
            invalid(
                "model must not be null",
                "SELECT name FROM docsearch.model lists the models.",
            )
        })?;
        let model = files::model_name(Some(model))?;
        schema::require_current(caller)?;
        caller.require_writer()?;
        visibility::require_full_visibility(caller, &project)?;
        let model = {
            let owner = &caller.as_owner()?;
            registration::register(owner, &model, None, Unfit::Refused)?
        };
        model_grant::require(caller, model)?;
        model_switch::begin(caller, &project, model)
    }
}

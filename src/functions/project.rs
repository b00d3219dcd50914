//! `create_project` and `drop_project`.

use pgrx::prelude::*;

use crate::administration::creation::{self, NewProject};
use crate::postgres::argument::{Json, Text, arguments};
use crate::postgres::jsonb::JsonB;
use crate::postgres::report::Result;
use crate::postgres::role::Caller;

#[pg_schema]
mod docsearch {
    use super::*;

    /// Creates a project and returns its id.
    #[pg_extern(sql = r#"
CREATE FUNCTION docsearch.create_project(
    name text,
    title text DEFAULT NULL,
    model text DEFAULT NULL,
    text_config docsearch.regconfig_argument DEFAULT NULL,
    root_url text DEFAULT NULL,
    settings docsearch.json_argument DEFAULT NULL
) RETURNS bigint
LANGUAGE c VOLATILE PARALLEL UNSAFE
SET search_path TO pg_catalog, pg_temp
AS 'MODULE_PATHNAME', '@FUNCTION_NAME@';
"#)]
    fn create_project(
        name: Option<Text<'_>>,
        title: default!(Option<Text<'_>>, "NULL"),
        model: default!(Option<Text<'_>>, "NULL"),
        text_config: default!(Option<pg_sys::Oid>, "NULL"),
        root_url: default!(Option<Text<'_>>, "NULL"),
        settings: default!(Option<Json<'_>>, "NULL"),
    ) -> Result<i64> {
        arguments!(name, title, model, root_url, settings);
        let caller = &mut Caller::of_call()?;
        creation::create(
            caller,
            NewProject {
                name,
                title,
                model,
                text_config,
                root_url,
                settings,
            },
        )
    }

    /// Changes settings of a project and returns all its settings.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn configure_project(name: Option<Text<'_>>, settings: Option<Json<'_>>) -> Result<JsonB> {
        arguments!(name, settings);
        let caller = &mut Caller::of_call()?;
        creation::configure(caller, name, settings).map(JsonB)
    }

    /// Deletes a project with all its documents, and returns the number of these.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn drop_project(name: Text<'_>) -> Result<i64> {
        arguments!(name);
        let caller = &mut Caller::of_call()?;
        creation::remove(caller, name)
    }
}

//! `attach_table`, `read_table` and `detach_table`.

use pgrx::datum::Interval;
use pgrx::pg_sys;
use pgrx::prelude::*;

use crate::administration::creation::{self, NewProject};
use crate::indexing::attached::{self, Access, Columns, Table, Terms};
use crate::postgres::argument::{Relations, Text, arguments};
use crate::postgres::report::{Result, internal, invalid};
use crate::postgres::role::Caller;
use crate::tables::project::{self, Project};
use crate::tables::{model_grant, schema};

#[pg_schema]
mod docsearch {
    use super::*;

    /// Indexes the rows of a table or view in the background, now and whenever they change.
    #[pg_extern(sql = r#"
CREATE FUNCTION docsearch.attach_table(
    source regclass,
    key text DEFAULT 'id',
    title text DEFAULT 'title',
    body text DEFAULT 'body',
    category text DEFAULT NULL,
    metadata text DEFAULT NULL,
    published_at text DEFAULT NULL,
    project text DEFAULT NULL,
    slug_prefix text DEFAULT NULL,
    rows_where text DEFAULT NULL,
    changed_at text DEFAULT NULL,
    every interval DEFAULT '1 minute',
    policy text DEFAULT NULL,
    public boolean DEFAULT false,
    changes_in regclass[] DEFAULT NULL,
    questions text DEFAULT NULL
) RETURNS text
LANGUAGE c VOLATILE PARALLEL UNSAFE
SET search_path TO pg_catalog, pg_temp
AS 'MODULE_PATHNAME', '@FUNCTION_NAME@';
"#)]
    #[allow(clippy::too_many_arguments)]
    fn attach_table(
        source: Option<pg_sys::Oid>,
        key: default!(Option<Text<'_>>, "'id'"),
        title: default!(Option<Text<'_>>, "'title'"),
        body: default!(Option<Text<'_>>, "'body'"),
        category: default!(Option<Text<'_>>, "NULL"),
        metadata: default!(Option<Text<'_>>, "NULL"),
        published_at: default!(Option<Text<'_>>, "NULL"),
        project: default!(Option<Text<'_>>, "NULL"),
        slug_prefix: default!(Option<Text<'_>>, "NULL"),
        rows_where: default!(Option<Text<'_>>, "NULL"),
        changed_at: default!(Option<Text<'_>>, "NULL"),
        every: default!(Option<Interval>, "'1 minute'"),
        policy: default!(Option<Text<'_>>, "NULL"),
        public: default!(Option<bool>, false),
        changes_in: default!(Option<Relations<'_>>, "NULL"),
        questions: default!(Option<Text<'_>>, "NULL"),
    ) -> Result<String> {
        arguments!(
            key,
            title,
            body,
            category,
            metadata,
            published_at,
            project,
            slug_prefix,
            rows_where,
            changed_at,
            policy,
            changes_in,
            questions
        );
        let caller = &mut Caller::of_call()?;
        let access = Access::given(policy, public == Some(true))?;
        let table = Table::of(caller, source)?;
        table.require_owned()?;
        table.require_attachable()?;
        let project = project_of(caller, &table, project)?;
        schema::require_current(caller)?;
        caller.require_writer()?;
        model_grant::require_of_project(caller, project.id)?;
        let columns = Columns {
            key: required_column("key", key)?,
            title,
            body: required_column("body", body)?,
            category,
            metadata: metadata.map_or_else(Vec::new, |columns| columns.split(',').map(str::trim).collect()),
            published_at,
            changed_at,
            questions,
        };
        let terms = Terms {
            slug_prefix,
            rows_where,
            every,
            changes_in: changes_in.into_iter().flatten().flatten().collect(),
            access,
        };
        attached::attach(caller, &table, &project, &columns, terms)?;
        Ok(project.name)
    }

    /// Has the background worker read all rows of an attached table or view again.
    #[pg_extern(sql = r#"
CREATE FUNCTION docsearch.read_table(
    source regclass,
    project text DEFAULT NULL
) RETURNS void
LANGUAGE c VOLATILE PARALLEL UNSAFE
SET search_path TO pg_catalog, pg_temp
AS 'MODULE_PATHNAME', '@FUNCTION_NAME@';
"#)]
    fn read_table(source: Option<pg_sys::Oid>, project: default!(Option<Text<'_>>, "NULL")) -> Result<()> {
        arguments!(project);
        let caller = &mut Caller::of_call()?;
        let table = Table::of(caller, source)?;
        table.require_owned()?;
        schema::require_current(caller)?;
        caller.require_writer()?;
        let project = project.map(|name| project::by_name(caller, name)).transpose()?;
        attached::read_again(caller, &table, project.map(|project| project.id))
    }

    /// Ends the indexing of an attached table or view, and returns the number of documents deleted.
    #[pg_extern(sql = r#"
CREATE FUNCTION docsearch.detach_table(
    source regclass,
    project text DEFAULT NULL,
    keep_documents boolean DEFAULT false
) RETURNS bigint
LANGUAGE c VOLATILE PARALLEL UNSAFE
SET search_path TO pg_catalog, pg_temp
AS 'MODULE_PATHNAME', '@FUNCTION_NAME@';
"#)]
    fn detach_table(
        source: Option<pg_sys::Oid>,
        project: default!(Option<Text<'_>>, "NULL"),
        keep_documents: default!(Option<bool>, false),
    ) -> Result<i64> {
        arguments!(project);
        let caller = &mut Caller::of_call()?;
        let table = Table::of(caller, source)?;
        schema::require_current(caller)?;
        let project = project.map(|name| project::by_name(caller, name)).transpose()?;
        let removed = attached::detach(
            caller,
            &table,
            project.map(|project| project.id),
            keep_documents == Some(true),
        )?;
        i64::try_from(removed).map_err(internal)
    }
}

/// The named project, or the one with the name of the table, which is created if it is missing.
fn project_of(caller: &mut Caller, table: &Table, name: Option<&str>) -> Result<Project> {
    if let Some(name) = name {
        return project::by_name(caller, name);
    }
    if !schema::exists() || !project::exists(caller, &table.name)? {
        creation::create_unless_there(
            caller,
            NewProject {
                name: Some(&table.name),
                ..NewProject::default()
            },
        )?;
    }
    project::by_name(caller, &table.name)
}

fn required_column<'a>(argument: &str, name: Option<&'a str>) -> Result<&'a str> {
    name.ok_or_else(|| {
        invalid(
            format!("{argument} must not be null"),
            format!("Name a column: {argument} => '{argument}'."),
        )
    })
}

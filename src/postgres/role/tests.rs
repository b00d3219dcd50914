//! One role acts at a time, whatever ends it.

#[pgrx::pg_schema]
mod tests {
    use pgrx::prelude::*;

    use crate::postgres::report::Result;
    use crate::postgres::role::{Caller, Role};
    use crate::postgres::testing::{code, sql};
    use crate::postgres::{statement, subtransaction};

    /// The tables belong to `table_keeper`, and `ordinary_caller` calls.
    fn prepare() {
        sql("SET LOCAL client_min_messages = error; CREATE ROLE table_keeper; CREATE ROLE ordinary_caller;
             SELECT docsearch.create_project('tested');
             ALTER SCHEMA docsearch OWNER TO table_keeper; ALTER TABLE docsearch.chunk OWNER TO table_keeper;
             GRANT USAGE ON SCHEMA docsearch TO PUBLIC; GRANT SELECT ON docsearch.project, docsearch.model TO table_keeper;
             SET LOCAL ROLE ordinary_caller");
    }

    fn name(role: &dyn Role) -> Result<Option<String>> {
        let names = statement::one(role, "SELECT current_user::text", &[], |row| row.required(1))?;
        let by_id = statement::one(role, "SELECT pg_get_userbyid($1)::text", &[role.id().into()], |row| {
            row.required(1)
        })?;
        assert_eq!(names, by_id);
        Ok(names)
    }

    #[pg_test]
    fn each_role_acts_until_it_is_dropped() -> Result<()> {
        prepare();
        let mut caller = Caller::of_call()?;
        {
            let mut owner = caller.as_owner()?;
            assert_eq!(name(&owner)?.as_deref(), Some("table_keeper"));
            assert_eq!(name(&owner.as_schema_owner()?)?.as_deref(), Some("table_keeper"));
            assert_eq!(name(owner.as_caller())?.as_deref(), Some("table_keeper"));
        }
        assert_eq!(name(&caller)?.as_deref(), Some("ordinary_caller"));
        Ok(())
    }

    #[pg_test]
    fn no_call_begins_while_another_role_acts() -> Result<()> {
        prepare();
        let mut caller = Caller::of_call()?;
        {
            let _owner = caller.as_owner()?;
            let refused = Caller::of_call().expect_err("another role acts");
            assert_eq!(code(refused), PgSqlErrorCode::ERRCODE_INTERNAL_ERROR);
        }
        assert!(Caller::of_call().is_ok());
        for failed in ["SELECT 1 / 0", "SELECT docsearch.create_project(NULL)"] {
            let outcome = subtransaction::run(|| statement::execute(&caller.as_owner()?, failed, &[]));
            assert!(outcome.is_err(), "{failed}");
            assert!(Caller::of_call().is_ok(), "{failed}");
        }
        Ok(())
    }

    #[pg_test]
    fn statement_of_the_owner_may_call_functions_of_the_extension() -> Result<()> {
        prepare();
        let mut caller = Caller::of_call()?;
        let owner = caller.as_owner()?;
        let known = "SELECT count(*) FROM docsearch.known_faults()";
        assert!(statement::one(&owner, known, &[], |row| row.required::<i64>(1))?.is_some());
        assert!(Caller::of_call().is_err());
        Ok(())
    }

    #[pg_test]
    fn role_that_may_not_write_documents_is_refused() -> Result<()> {
        prepare();
        let caller = Caller::of_call()?;
        let refused = caller.require_writer().expect_err("no right");
        assert_eq!(code(refused), PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE);
        sql("RESET ROLE; GRANT INSERT ON docsearch.document TO ordinary_caller; SET LOCAL ROLE ordinary_caller");
        caller.require_writer()
    }
}

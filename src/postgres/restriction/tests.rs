//! A superuser acts as the owner of the schema where that is another role, and is restored afterwards.

#[pgrx::pg_schema]
mod tests {
    use pgrx::prelude::*;

    use crate::postgres::report::Result;
    use crate::postgres::restriction::LoweredSuperuser;
    use crate::postgres::testing::{Anyone, sql};
    use crate::postgres::{statement, subtransaction};

    const RESTRICTED: u32 = pg_sys::SECURITY_LOCAL_USERID_CHANGE | pg_sys::SECURITY_RESTRICTED_OPERATION;

    /// Role, security context and a setting.
    fn state() -> Result<(String, u32, String)> {
        let (mut user, mut context) = (pg_sys::InvalidOid, 0);
        // SAFETY: both pointers are to locals.
        unsafe { pg_sys::GetUserIdAndSecContext(&mut user, &mut context) };
        let named = statement::one(
            &Anyone,
            "SELECT current_user::text, current_setting('work_mem')",
            &[],
            |row| Ok((row.required(1)?, row.required(2)?)),
        )?;
        let (name, work_mem) = named.expect("a row");
        Ok((name, context as u32, work_mem))
    }

    fn prepare() {
        sql("CREATE ROLE schema_keeper; ALTER SCHEMA docsearch OWNER TO schema_keeper; SET LOCAL work_mem = '7MB'");
    }

    #[pg_test]
    fn a_superuser_acts_as_the_owner_of_the_schema() -> Result<()> {
        prepare();
        let before = state()?;
        {
            let _lowered = LoweredSuperuser::enter().expect("a superuser");
            let (name, context, _) = state()?;
            assert_eq!(
                (name.as_str(), context),
                ("schema_keeper", RESTRICTED | pg_sys::SECURITY_NOFORCE_RLS)
            );
            sql("SET work_mem = '9MB'");
        }
        assert_eq!(state()?, before);
        let failed = subtransaction::run(|| {
            let _lowered = LoweredSuperuser::enter();
            sql("SET work_mem = '9MB'");
            statement::execute(&Anyone, "SELECT 1 / 0", &[])
        });
        assert!(failed.is_err());
        assert_eq!(state()?, before);
        Ok(())
    }

    #[pg_test]
    fn a_superuser_who_has_set_the_role_is_restricted() -> Result<()> {
        prepare();
        sql("SET LOCAL ROLE schema_keeper");
        let before = state()?;
        {
            let _lowered = LoweredSuperuser::enter().expect("the session of a superuser");
            let (name, context, _) = state()?;
            assert_eq!((name.as_str(), context), ("schema_keeper", RESTRICTED));
        }
        assert_eq!(state()?, before);
        Ok(())
    }

    #[pg_test]
    fn statements_that_name_no_relation_of_the_schema_run_as_they_are() {
        prepare();
        assert!(LoweredSuperuser::for_statement("SELECT d.slug FROM docsearch.document d").is_some());
        assert!(LoweredSuperuser::for_statement("SELECT 'docsearch.document'::regclass").is_none());
    }

    #[pg_test]
    fn the_schema_of_a_superuser_lowers_no_role() {
        assert!(LoweredSuperuser::enter().is_none());
    }
}

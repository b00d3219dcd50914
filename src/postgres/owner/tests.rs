//! A guard restores the current user, however it ends.

#[pgrx::pg_schema]
mod tests {
    use pgrx::prelude::*;

    use crate::postgres::owner::{AsOwner, AsUser, Confinement, LocalSettings, owner};
    use crate::postgres::report::{Result, internal};
    use crate::postgres::testing::{Anyone, caught, code, sql};
    use crate::postgres::{statement, subtransaction};

    /// Role, security context and the settings that guards change.
    #[derive(Debug, PartialEq)]
    struct State {
        user: String,
        context: u32,
        search_path: String,
        work_mem: String,
    }

    fn context() -> u32 {
        let (mut user, mut context) = (pg_sys::InvalidOid, 0);
        // SAFETY: both pointers are to locals.
        unsafe { pg_sys::GetUserIdAndSecContext(&mut user, &mut context) };
        context as u32
    }

    fn setting(name: &str) -> Result<String> {
        let value = statement::one(&Anyone, "SELECT current_setting($1)", &[name.into()], |row| {
            row.required(1)
        })?;
        value.ok_or_else(|| internal("no setting"))
    }

    fn role(name: &str) -> pg_sys::Oid {
        let role = statement::one(&Anyone, "SELECT $1::regrole::oid", &[name.into()], |row| {
            row.required(1)
        });
        role.ok().flatten().expect("a role")
    }

    fn user() -> Result<String> {
        let user = statement::one(&Anyone, "SELECT current_user::text", &[], |row| row.required(1))?;
        user.ok_or_else(|| internal("no user"))
    }

    fn state() -> Result<State> {
        Ok(State {
            user: user()?,
            context: context(),
            search_path: setting("search_path")?,
            work_mem: setting("work_mem")?,
        })
    }

    /// The tables belong to `keeper`, and `caller` runs what follows.
    fn prepare() {
        sql("SET LOCAL client_min_messages = error;
             CREATE ROLE keeper; CREATE ROLE caller; CREATE ROLE other;
             SELECT docsearch.create_project('tested');
             ALTER SCHEMA docsearch OWNER TO keeper; ALTER TABLE docsearch.chunk OWNER TO keeper;
             GRANT USAGE ON SCHEMA docsearch TO PUBLIC;
             SET LOCAL search_path = public; SET LOCAL work_mem = '7MB'; SET LOCAL ROLE caller");
    }

    const LOCAL: u32 = pg_sys::SECURITY_LOCAL_USERID_CHANGE;
    const RESTRICTED: u32 = pg_sys::SECURITY_RESTRICTED_OPERATION;
    const NO_FORCE: u32 = pg_sys::SECURITY_NOFORCE_RLS;

    #[pg_test]
    fn owner_is_the_user_until_the_guard_is_dropped() -> Result<()> {
        prepare();
        let before = state()?;
        assert_eq!((before.user.as_str(), before.context), ("caller", 0));
        {
            let _owner = AsOwner::enter()?;
            assert_eq!(
                (user()?, context()),
                ("keeper".to_owned(), LOCAL | NO_FORCE | RESTRICTED)
            );
            // What its code sets for the session.
            sql("SET search_path = pg_temp; SET work_mem = '9MB'");
        }
        assert_eq!(state()?, before);
        sql("SET LOCAL ROLE keeper");
        {
            // The owner itself is not restricted.
            let _owner = AsOwner::enter()?;
            assert_eq!((user()?, context()), ("keeper".to_owned(), LOCAL | NO_FORCE));
        }
        sql("SET LOCAL ROLE caller");
        assert_eq!(state()?, before);
        {
            let _owner = AsOwner::restricted()?;
            assert_eq!(
                (user()?, context()),
                ("keeper".to_owned(), LOCAL | NO_FORCE | RESTRICTED)
            );
        }
        assert_eq!(state()?, before);
        Ok(())
    }

    #[pg_test]
    fn guards_are_undone_when_the_work_returns_an_error() -> Result<()> {
        prepare();
        let before = state()?;
        let as_owner = || {
            let _owner = AsOwner::enter()?;
            Err::<(), _>(internal("as the owner"))
        };
        let confined = || {
            let _confined = Confinement::enter(role("other"))?;
            let _settings = LocalSettings::apply(&[("work_mem", "9MB")])?;
            assert_eq!((user()?, setting("work_mem")?), ("other".to_owned(), "9MB".to_owned()));
            Err::<(), _>(internal("confined"))
        };
        assert_eq!(as_owner().expect_err("an error").message(), "as the owner");
        assert_eq!(state()?, before);
        assert_eq!(confined().expect_err("an error").message(), "confined");
        assert_eq!(state()?, before);
        Ok(())
    }

    #[pg_test]
    fn guards_are_undone_by_an_error_of_postgres() -> Result<()> {
        prepare();
        let before = state()?;
        let as_owner = subtransaction::run(|| {
            let _owner = AsOwner::enter()?;
            statement::execute(&Anyone, "SELECT 1 / 0", &[])
        });
        assert_eq!(
            code(as_owner.expect_err("an error")),
            PgSqlErrorCode::ERRCODE_DIVISION_BY_ZERO
        );
        assert_eq!(state()?, before);
        let confined = subtransaction::run(|| {
            let _confined = Confinement::enter(role("other"))?;
            let _settings = LocalSettings::apply(&[("work_mem", "9MB")])?;
            sql("SET search_path = pg_temp");
            statement::execute(&Anyone, "SELECT 1 / 0", &[])
        });
        assert_eq!(
            code(confined.expect_err("an error")),
            PgSqlErrorCode::ERRCODE_DIVISION_BY_ZERO
        );
        assert_eq!(state()?, before);
        Ok(())
    }

    #[pg_test]
    fn users_are_undone_by_an_error_that_no_subtransaction_catches() -> Result<()> {
        prepare();
        let before = state()?;
        for work in [
            || AsOwner::enter().map(|_owner| -> () { internal("raised").report(PgLogLevel::ERROR) }),
            || AsUser::acting_as(role("other")).map(|_other| -> () { panic!("out of order") }),
        ] {
            assert!(caught(work).is_some());
            assert_eq!(state()?, before);
        }
        Ok(())
    }

    #[pg_test]
    fn guards_inside_guards_are_undone_one_by_one() -> Result<()> {
        prepare();
        let owner = AsOwner::enter()?;
        let first = state()?;
        let other = AsUser::acting_as(role("other"))?;
        let second = state()?;
        assert_eq!((second.user.as_str(), second.context), ("other", LOCAL | RESTRICTED));
        let failed = subtransaction::run(|| {
            let _owner = AsOwner::enter()?;
            assert_eq!(user()?, "keeper");
            statement::execute(&Anyone, "SELECT 1 / 0", &[])
        });
        assert!(failed.is_err());
        assert_eq!(state()?, second);
        drop(other);
        assert_eq!(state()?, first);
        drop(owner);
        assert_eq!((user()?, context()), ("caller".to_owned(), 0));
        Ok(())
    }

    #[pg_test]
    fn restriction_lasts_in_every_guard_within() -> Result<()> {
        prepare();
        let _restricted = AsUser::acting_as(role("other"))?;
        let _owner = AsOwner::enter()?;
        assert_eq!(
            (user()?, context()),
            ("keeper".to_owned(), LOCAL | NO_FORCE | RESTRICTED)
        );
        for refused in [
            "SET ROLE other",
            "RESET ROLE",
            "CREATE TEMP TABLE t ()",
            "SET SESSION AUTHORIZATION other",
        ] {
            let problem = subtransaction::run(|| statement::execute(&Anyone, refused, &[])).expect_err(refused);
            assert_eq!(
                code(problem),
                PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE,
                "{refused}"
            );
        }
        Ok(())
    }

    #[pg_test]
    fn owner_reads_tables_whose_policies_are_forced_and_others_do_not() -> Result<()> {
        prepare();
        sql("RESET ROLE; CREATE TABLE docsearch.hidden AS SELECT 1 AS n; ALTER TABLE docsearch.hidden OWNER TO keeper;
             ALTER TABLE docsearch.hidden ENABLE ROW LEVEL SECURITY; ALTER TABLE docsearch.hidden FORCE ROW LEVEL SECURITY;
             SET LOCAL ROLE caller");
        let seen = || {
            statement::rows(&Anyone, "SELECT n FROM docsearch.hidden", &[], |row| {
                row.required::<i32>(1)
            })
        };
        {
            let _owner = AsOwner::enter()?;
            assert_eq!(seen()?, [1]);
            let _same_role = AsUser::acting_as(role("keeper"))?;
            assert_eq!(seen()?.len(), 0);
        }
        let refused = subtransaction::run(seen).expect_err("no right");
        assert_eq!(code(refused), PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE);
        Ok(())
    }

    #[pg_test]
    fn role_that_is_dropped_is_an_error_and_changes_nothing() -> Result<()> {
        prepare();
        let before = state()?;
        for gone in [u32::MAX, 0].map(pg_sys::Oid::from) {
            let problem = AsUser::acting_as(gone).err().expect("no role");
            assert_eq!(problem.message(), format!("role {gone} does not exist any more"));
            assert_eq!(code(problem), PgSqlErrorCode::ERRCODE_UNDEFINED_OBJECT);
            assert!(Confinement::enter(gone).is_err());
        }
        assert_eq!(state()?, before);
        Ok(())
    }

    #[pg_test]
    fn session_state_does_not_outlast_confinement() -> Result<()> {
        prepare();
        let before = state()?;
        let locks = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()";
        let locks = || statement::one(&Anyone, locks, &[], |row| row.required::<i64>(1));
        {
            let _confined = Confinement::enter(role("other"))?;
            assert_eq!(setting("search_path")?, "pg_catalog, pg_temp");
            assert_eq!((user()?, context()), ("other".to_owned(), LOCAL | RESTRICTED));
            sql(
                "SET work_mem = '9MB'; SELECT set_config('search_path', 'elsewhere', false);
                 SELECT pg_advisory_lock(1), pg_advisory_lock(1), pg_advisory_lock_shared(2, 3)",
            );
            assert_eq!(setting("search_path")?, "elsewhere");
            assert_eq!(locks()?, Some(2));
        }
        assert_eq!(state()?, before);
        assert_eq!(locks()?, Some(0));
        Ok(())
    }

    /// The advisory locks of the session, with how often it holds each: it has none afterwards.
    fn counted_locks(locks: &[&str]) -> Result<Vec<i32>> {
        let released = |release: &str| {
            statement::one(&Anyone, &format!("SELECT {release}"), &[], |row| {
                row.required::<bool>(1)
            })
        };
        sql("SET LOCAL client_min_messages = error");
        locks
            .iter()
            .map(|lock| {
                let mut count = 0;
                while released(&lock.replacen("lock", "unlock", 1))? == Some(true) {
                    count += 1;
                }
                Ok(count)
            })
            .collect()
    }

    const LOCKS: [&str; 4] = [
        "pg_advisory_lock(42)",
        "pg_advisory_lock_shared(42)",
        "pg_advisory_lock(1, 2)",
        "pg_advisory_lock_shared(3, 4)",
    ];

    fn take(lock: &str, times: i32) {
        for _ in 0..times {
            sql(&format!("SELECT {lock}"));
        }
    }

    #[pg_test]
    fn locks_of_the_session_are_held_as_often_as_before() -> Result<()> {
        prepare();
        for (code, is_error) in [
            ("SELECT 1", false),
            (
                "SELECT pg_advisory_lock(42), pg_advisory_lock(42), pg_advisory_lock_shared(1, 2)",
                false,
            ),
            ("SELECT pg_advisory_unlock(42), pg_advisory_unlock_shared(3, 4)", false),
            ("SELECT pg_advisory_unlock_all()", false),
            (
                "SELECT pg_advisory_unlock_all(), pg_advisory_xact_lock(42), pg_advisory_xact_lock(9, 9)",
                false,
            ),
            ("SELECT pg_advisory_unlock_all(), pg_advisory_lock(77), 1 / 0", true),
            ("SELECT pg_advisory_lock(42), pg_advisory_xact_lock(78), 1 / 0", true),
        ] {
            for (lock, times) in LOCKS.into_iter().zip([3, 1, 2, 1]) {
                take(lock, times);
            }
            let outcome = subtransaction::run(|| {
                let _confined = Confinement::enter(role("other"))?;
                statement::execute(&Anyone, code, &[])
            });
            assert_eq!(outcome.is_err(), is_error, "{code}");
            let others = "SELECT count(*) FROM pg_locks
                 WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND objid NOT IN (42, 2, 4)";
            let others = statement::one(&Anyone, others, &[], |row| row.required::<i64>(1))?;
            assert_eq!((counted_locks(&LOCKS)?, others), (vec![3, 1, 2, 1], Some(0)), "{code}");
        }
        Ok(())
    }

    #[pg_test]
    fn nested_guards_restore_what_each_has_found() -> Result<()> {
        prepare();
        take(LOCKS[0], 1);
        {
            let _outer = Confinement::enter(role("other"))?;
            take(LOCKS[0], 1);
            let failed = subtransaction::run(|| {
                let _inner = Confinement::enter(role("other"))?;
                take(LOCKS[1], 2);
                statement::execute(&Anyone, "SELECT pg_advisory_unlock(42), 1 / 0", &[])
            });
            assert!(failed.is_err());
            {
                let _inner = Confinement::enter(role("other"))?;
                take(LOCKS[2], 2);
            }
            let held = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()";
            assert_eq!(
                statement::one(&Anyone, held, &[], |row| row.required::<i64>(1))?,
                Some(1)
            );
        }
        assert_eq!(counted_locks(&LOCKS)?, [1, 0, 0, 0]);
        Ok(())
    }

    #[pg_test]
    fn local_settings_end_with_the_guard_and_keep_what_was_set_before() -> Result<()> {
        sql("SET LOCAL work_mem = '7MB'");
        {
            let _outer = LocalSettings::apply(&[("work_mem", "8MB"), ("search_path", "public")])?;
            {
                let _inner = LocalSettings::apply(&[("work_mem", "9MB")])?;
                assert_eq!(
                    (setting("work_mem")?.as_str(), setting("search_path")?.as_str()),
                    ("9MB", "public")
                );
            }
            assert_eq!(setting("work_mem")?, "8MB");
        }
        assert_eq!(setting("work_mem")?, "7MB");
        Ok(())
    }

    #[pg_test]
    fn invalid_setting_undoes_those_before_it() -> Result<()> {
        sql("SET LOCAL work_mem = '7MB'");
        for (name, value) in [
            ("enable_seqscan", "perhaps"),
            ("no_such_setting", "1"),
            ("fsync", "off"),
        ] {
            let apply = || LocalSettings::apply(&[("work_mem", "9MB"), (name, value)]).map(|_| ());
            assert!(subtransaction::run(apply).is_err(), "{name}");
            assert_eq!(setting("work_mem")?, "7MB");
        }
        assert!(LocalSettings::apply(&[("work_mem", "9MB"), ("search_path", "a\0b")]).is_err());
        assert_eq!(setting("work_mem")?, "7MB");
        Ok(())
    }

    #[pg_test]
    fn no_role_becomes_owner_without_tables() -> Result<()> {
        let before = state()?;
        let problem = AsOwner::enter().err().expect("no tables");
        assert_eq!(problem.message(), "there is no project yet");
        assert_eq!(code(problem), PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE);
        assert_eq!(state()?, before);
        Ok(())
    }

    #[pg_test]
    fn no_role_becomes_owner_of_tables_in_a_schema_of_others() -> Result<()> {
        prepare();
        sql("RESET ROLE; ALTER SCHEMA docsearch OWNER TO other");
        let problem = AsOwner::restricted().err().expect("two owners");
        assert_eq!(
            problem.message(),
            "schema docsearch and its tables belong to different roles"
        );
        sql("GRANT keeper TO other");
        assert!(owner().is_ok());
        sql("REVOKE keeper FROM other; ALTER SCHEMA docsearch OWNER TO SESSION_USER");
        assert!(owner().is_ok());
        sql("DROP TABLE docsearch.chunk CASCADE");
        assert_eq!(owner().expect_err("no table").message(), "there is no project yet");
        Ok(())
    }

    /// The owner of a table that names roles, or whose code runs as them, has to be able to act as them.
    #[pg_test]
    fn no_role_is_acted_as_that_owners_of_tables_may_not_act_as() -> Result<()> {
        prepare();
        for table in ["attached_table", "document", "project", "model", "schema_version"] {
            sql(&format!(
                "RESET ROLE; ALTER TABLE docsearch.{table} OWNER TO keeper; GRANT other TO caller"
            ));
            for (membership, may) in [
                ("REVOKE other FROM keeper", false),
                ("GRANT other TO keeper WITH SET FALSE, INHERIT TRUE", false),
                ("GRANT other TO keeper WITH SET TRUE, INHERIT FALSE", true),
                ("REVOKE other FROM keeper", false),
            ] {
                sql(membership);
                let outcome = AsUser::acting_as(role("other")).map(|_| ());
                assert_eq!(outcome.is_ok(), may, "{table}: {membership}");
                if let Err(problem) = outcome {
                    let message = format!("the owner of docsearch.{table} may not act as role \"other\"");
                    assert_eq!(problem.message(), message);
                    assert!(
                        problem
                            .hint()
                            .is_some_and(|hint| hint.contains("GRANT other TO keeper"))
                    );
                    assert_eq!(code(problem), PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE);
                }
                assert!(AsUser::acting_as(role("keeper")).is_ok());
                // SAFETY: reads the user of the session, a superuser.
                let superuser = unsafe { pg_sys::GetSessionUserId() };
                assert!(AsUser::acting_as(superuser).is_err());
            }
            sql(&format!("ALTER TABLE docsearch.{table} OWNER TO SESSION_USER"));
            assert!(AsUser::acting_as(role("other")).is_ok());
        }
        Ok(())
    }
}

//! Failed work is undone, its error is returned unchanged, and the context is as before.

#[pgrx::pg_schema]
mod tests {
    use pgrx::prelude::*;

    use crate::postgres::report::{Result, error, internal, undefined};
    use crate::postgres::statement;
    use crate::postgres::subtransaction::{class, copy, is_general, is_lock_conflict, run, undone};
    use crate::postgres::testing::{Anyone, caught, code, sql};

    fn note(n: i32) -> Result<()> {
        statement::execute(&Anyone, "INSERT INTO noted VALUES ($1)", &[n.into()])
    }

    fn noted() -> Result<Vec<i32>> {
        statement::rows(&Anyone, "SELECT n FROM noted ORDER BY n", &[], |row| row.required(1))
    }

    fn prepare_notes() {
        sql("CREATE TEMP TABLE noted (n int PRIMARY KEY)");
    }

    /// Raises an error with this SQLSTATE.
    fn raise(state: &str) -> Result<()> {
        let block = format!(
            "DO $$ BEGIN RAISE EXCEPTION 'raised' USING ERRCODE = '{state}', DETAIL = 'a detail', HINT = 'a hint'; END $$"
        );
        statement::execute(&Anyone, &block, &[])
    }

    /// Memory context, resource owner, nesting level and user.
    fn context() -> (pg_sys::MemoryContext, pg_sys::ResourceOwner, i32, pg_sys::Oid) {
        // SAFETY: reads the state of this process.
        unsafe {
            (
                pg_sys::CurrentMemoryContext,
                pg_sys::CurrentResourceOwner,
                pg_sys::GetCurrentTransactionNestLevel(),
                pg_sys::GetUserId(),
            )
        }
    }

    #[pg_test]
    fn work_that_succeeds_is_kept() -> Result<()> {
        prepare_notes();
        let value = run(|| {
            note(1)?;
            Ok("value".to_owned())
        })?;
        assert_eq!((value.as_str(), noted()?), ("value", vec![1]));
        Ok(())
    }

    #[pg_test]
    fn trial_is_undone_and_its_value_is_returned() -> Result<()> {
        prepare_notes();
        let before = context();
        let seen = undone(|| {
            note(1)?;
            noted()
        })?;
        assert_eq!((seen, noted()?), (vec![1], vec![]));
        assert_eq!(context(), before);
        Ok(())
    }

    #[pg_test]
    fn error_of_the_work_undoes_it_and_is_returned() -> Result<()> {
        prepare_notes();
        note(1)?;
        let problem = run(|| {
            note(2)?;
            Err::<(), _>(undefined("nothing there", "Make it.").set_detail("It is not."))
        });
        let problem = problem.expect_err("an error");
        let texts = (problem.message(), problem.detail(), problem.hint());
        assert_eq!(texts, ("nothing there", Some("It is not."), Some("Make it.")));
        assert_eq!(code(problem), PgSqlErrorCode::ERRCODE_UNDEFINED_OBJECT);
        assert_eq!(noted()?, [1]);
        Ok(())
    }

    #[pg_test]
    fn error_of_postgres_undoes_the_work_and_keeps_its_texts() -> Result<()> {
        prepare_notes();
        let problem = run(|| {
            note(2)?;
            raise("22012")
        });
        let problem = problem.expect_err("an error");
        let texts = (problem.message(), problem.detail(), problem.hint());
        assert_eq!(texts, ("raised", Some("a detail"), Some("a hint")));
        assert_eq!(code(problem), PgSqlErrorCode::ERRCODE_DIVISION_BY_ZERO);
        let problem = run(|| {
            note(3)?;
            note(3)
        });
        let problem = problem.expect_err("a key that is there twice");
        assert_eq!(problem.detail(), Some("Key (n)=(3) already exists."));
        assert_eq!(code(problem), PgSqlErrorCode::ERRCODE_UNIQUE_VIOLATION);
        assert_eq!(noted()?.len(), 0);
        Ok(())
    }

    #[pg_test]
    fn inner_failure_leaves_the_outer_work() -> Result<()> {
        prepare_notes();
        run(|| {
            note(1)?;
            let inner = run(|| {
                note(2)?;
                let innermost = run(|| {
                    note(3)?;
                    raise("22012")
                });
                assert!(innermost.is_err());
                note(4)?;
                raise("22023")
            });
            let problem = inner.expect_err("an error");
            assert_eq!(code(problem), PgSqlErrorCode::ERRCODE_INVALID_PARAMETER_VALUE);
            run(|| note(5))?;
            note(6)
        })?;
        assert_eq!(noted()?, [1, 5, 6]);
        Ok(())
    }

    #[pg_test]
    fn outer_failure_undoes_what_succeeded_within() -> Result<()> {
        prepare_notes();
        let outer = run(|| {
            run(|| note(1))?;
            assert_eq!(noted()?, [1]);
            Err::<(), _>(internal("undone"))
        });
        assert!(outer.is_err());
        assert_eq!(noted()?.len(), 0);
        Ok(())
    }

    #[pg_test]
    fn context_owner_and_level_are_restored() -> Result<()> {
        let before = context();
        let during = run(|| Ok(context()))?;
        assert_eq!((during.0, during.2, during.3), (before.0, before.2 + 1, before.3));
        assert_ne!(during.1, before.1);
        assert_eq!(context(), before);
        assert!(run(|| Err::<(), _>(internal("undone"))).is_err());
        assert_eq!(context(), before);
        assert!(run(|| raise("22012")).is_err());
        assert_eq!(context(), before);
        assert!(caught(|| run(|| raise("53100"))).is_some());
        assert_eq!(context(), before);
        Ok(())
    }

    #[pg_test]
    fn memory_of_the_caller_outlives_a_failure() -> Result<()> {
        let mut kept = Vec::new();
        for n in 0..100 {
            let outcome = run(|| if n % 2 == 0 { raise("22012") } else { Ok(()) });
            // SAFETY: copies a terminated string to the context of the caller.
            let text = unsafe { std::ffi::CStr::from_ptr(pg_sys::pstrdup(c"kept".as_ptr())) };
            kept.push((outcome.is_ok(), text));
        }
        assert!(
            kept.iter()
                .enumerate()
                .all(|(n, (is_ok, text))| *is_ok == (n % 2 == 1) && *text == c"kept")
        );
        Ok(())
    }

    #[pg_test]
    fn failure_restores_role_and_settings() -> Result<()> {
        let state = || {
            statement::one(
                &Anyone,
                "SELECT current_user::text, current_setting('search_path')",
                &[],
                |row| Ok((row.required::<String>(1)?, row.required::<String>(2)?)),
            )
        };
        sql("CREATE ROLE other");
        let before = state()?;
        let failed = run(|| {
            sql("SET ROLE other; SET search_path = elsewhere");
            assert_eq!(state()?, Some(("other".to_owned(), "elsewhere".to_owned())));
            raise("22012")
        });
        assert!(failed.is_err());
        assert_eq!(state()?, before);
        Ok(())
    }

    #[pg_test]
    fn general_error_is_raised_again_and_undoes_the_work() -> Result<()> {
        prepare_notes();
        for state in ["53100", "53200", "53300", "57014", "58030", "58P01", "40P01", "55P03"] {
            let raised = caught(|| {
                run(|| {
                    note(1)?;
                    raise(state)
                })
            });
            let raised = raised.expect("an error that goes on");
            assert!(is_general(&raised), "{state}");
            let report = copy(&raised);
            assert_eq!(
                (report.message(), report.detail(), report.hint()),
                ("raised", Some("a detail"), Some("a hint"))
            );
            assert_eq!(noted()?.len(), 0, "{state}");
        }
        Ok(())
    }

    #[pg_test]
    fn error_of_the_work_is_returned() {
        for state in [
            "22012", "23505", "25006", "40001", "42501", "42P01", "54000", "55000", "P0001", "XX000", "XX001",
        ] {
            let raised = caught(|| assert!(run(|| raise(state)).is_err(), "{state}"));
            assert!(raised.is_none(), "{state}");
        }
    }

    #[pg_test]
    fn locks_of_other_sessions_are_distinguished() {
        for (code, held) in [
            (PgSqlErrorCode::ERRCODE_T_R_DEADLOCK_DETECTED, true),
            (PgSqlErrorCode::ERRCODE_LOCK_NOT_AVAILABLE, true),
            (PgSqlErrorCode::ERRCODE_T_R_SERIALIZATION_FAILURE, false),
            (PgSqlErrorCode::ERRCODE_QUERY_CANCELED, false),
            (PgSqlErrorCode::ERRCODE_OBJECT_IN_USE, false),
        ] {
            let raised = caught(|| error(code, "raised").report(PgLogLevel::ERROR)).expect("an error");
            assert_eq!(is_lock_conflict(&raised), held, "{code:?}");
        }
    }

    #[pg_test]
    fn panic_is_raised_again_and_undoes_the_work() -> Result<()> {
        prepare_notes();
        let before = context();
        let raised = caught(|| {
            run(|| {
                note(1)?;
                if noted()? == [1] {
                    panic!("out of order");
                }
                Ok(())
            })
        });
        let raised = raised.expect("a panic");
        assert_eq!(copy(&raised).message(), "out of order");
        assert_eq!((noted()?, context()), (vec![], before));
        Ok(())
    }

    #[pg_test]
    fn class_is_what_the_sqlstate_begins_with() {
        for (code, expected) in [
            (PgSqlErrorCode::ERRCODE_DISK_FULL, "53"),
            (PgSqlErrorCode::ERRCODE_QUERY_CANCELED, "57"),
            (PgSqlErrorCode::ERRCODE_UNDEFINED_FILE, "58"),
            (PgSqlErrorCode::ERRCODE_RAISE_EXCEPTION, "P0"),
            (PgSqlErrorCode::ERRCODE_INTERNAL_ERROR, "XX"),
        ] {
            assert_eq!(class(code), expected.as_bytes(), "{expected}");
        }
    }

    #[pg_test(error = "raised")]
    fn general_error_ends_the_statement() -> Result<()> {
        run(|| raise("57014"))
    }
}

//! Plans are kept by text, types and way of planning, and follow changes by DDL.

#[pgrx::pg_schema]
mod tests {
    use std::cell::Cell;

    use pgrx::prelude::*;

    use crate::postgres::owner::AsOwner;
    use crate::postgres::report::{Result, internal, undefined};
    use crate::postgres::statement::{self, PLANS, Planning, Row};
    use crate::postgres::subtransaction;
    use crate::postgres::testing::{Anyone, code, sql};

    /// How many plans are kept of a text.
    fn kept(text: &str) -> usize {
        PLANS.with_borrow(|plans| plans.get(text).map_or(0, Vec::len))
    }

    fn number(row: &Row) -> Result<i32> {
        row.required(1)
    }

    fn text(row: &Row) -> Result<String> {
        row.required(1)
    }

    #[pg_test]
    fn same_text_and_types_are_prepared_once() -> Result<()> {
        const TEXT: &str = "SELECT $1 + 1";
        for n in 0..5 {
            assert_eq!(statement::rows(&Anyone, TEXT, &[n.into()], number)?, [n + 1]);
        }
        assert_eq!(kept(TEXT), 1);
        let plan = || Spi::connect(|_| statement::prepare(TEXT, &[0.into()], Planning::Custom));
        assert_eq!(plan()?, plan()?);
        Ok(())
    }

    #[pg_test]
    fn same_text_is_prepared_for_each_list_of_types() -> Result<()> {
        const TEXT: &str = "SELECT pg_typeof($1)::text || pg_typeof($2)::text";
        for _ in 0..2 {
            assert_eq!(
                statement::rows(&Anyone, TEXT, &[1.into(), "a".into()], text)?,
                ["integertext"]
            );
            assert_eq!(
                statement::rows(&Anyone, TEXT, &["a".into(), 1.into()], text)?,
                ["textinteger"]
            );
            assert_eq!(
                statement::rows(&Anyone, TEXT, &[1_i64.into(), true.into()], text)?,
                ["bigintboolean"]
            );
        }
        assert_eq!(kept(TEXT), 3);
        Ok(())
    }

    #[pg_test]
    fn lookup_keeps_a_plan_for_any_parameter_beside_the_other() -> Result<()> {
        const TEXT: &str = "SELECT n FROM generate_series(1, 9) n WHERE n = ANY($1)";
        for keys in [vec![3, 7], vec![], vec![9]] {
            assert_eq!(statement::rows(&Anyone, TEXT, &[keys.clone().into()], number)?, keys);
            assert_eq!(statement::lookup(&Anyone, TEXT, &[keys.clone().into()], number)?, keys);
        }
        assert_eq!(kept(TEXT), 2);
        let options = [Planning::Custom, Planning::Generic].map(Planning::options);
        assert_eq!(options, [0, pg_sys::CURSOR_OPT_GENERIC_PLAN as i32]);
        Ok(())
    }

    #[pg_test]
    fn null_is_a_parameter_of_its_type() -> Result<()> {
        const TEXT: &str = "SELECT $1 IS NULL, pg_typeof($1)::text";
        let row = |row: &Row| Ok((row.required::<bool>(1)?, row.required::<String>(2)?));
        let none: Option<i32> = None;
        assert_eq!(
            statement::one(&Anyone, TEXT, &[none.into()], row)?,
            Some((true, "integer".to_owned()))
        );
        assert_eq!(
            statement::one(&Anyone, TEXT, &[Some(5).into()], row)?,
            Some((false, "integer".to_owned()))
        );
        assert_eq!(kept(TEXT), 1);
        Ok(())
    }

    #[pg_test]
    fn plan_reads_the_table_that_has_the_name_now() -> Result<()> {
        const TEXT: &str = "SELECT c::text FROM pg_temp.kept ORDER BY c";
        sql("CREATE TEMP TABLE kept AS SELECT 1 AS c");
        assert_eq!(statement::rows(&Anyone, TEXT, &[], text)?, ["1"]);
        sql("DROP TABLE kept; CREATE TEMP TABLE kept AS SELECT 'two' AS c, 3 AS d");
        assert_eq!(statement::rows(&Anyone, TEXT, &[], text)?, ["two"]);
        sql("ALTER TABLE kept RENAME TO other; CREATE TEMP VIEW kept AS SELECT 0.5 AS c");
        assert_eq!(statement::rows(&Anyone, TEXT, &[], text)?, ["0.5"]);
        assert_eq!(kept(TEXT), 1);
        Ok(())
    }

    #[pg_test]
    fn plan_gives_columns_the_types_that_they_have_now() -> Result<()> {
        const TEXT: &str = "SELECT * FROM pg_temp.kept";
        sql("CREATE TEMP TABLE kept AS SELECT 7 AS c");
        assert_eq!(statement::rows(&Anyone, TEXT, &[], number)?, [7]);
        sql("ALTER TABLE kept ALTER c TYPE text; ALTER TABLE kept ADD d int DEFAULT 8");
        let refused = statement::rows(&Anyone, TEXT, &[], number).expect_err("a text is no number");
        assert_eq!(refused.message(), "column 1 has type 25");
        let both = |row: &Row| Ok((text(row)?, row.required::<i32>(2)?));
        assert_eq!(statement::rows(&Anyone, TEXT, &[], both)?, [("7".to_owned(), 8)]);
        Ok(())
    }

    #[pg_test]
    fn plan_outlives_the_absence_of_its_table() -> Result<()> {
        const TEXT: &str = "SELECT c FROM pg_temp.kept";
        sql("CREATE TEMP TABLE kept AS SELECT 1 AS c");
        assert_eq!(statement::rows(&Anyone, TEXT, &[], number)?, [1]);
        sql("DROP TABLE kept");
        let gone = subtransaction::run(|| statement::rows(&Anyone, TEXT, &[], number)).expect_err("no table");
        assert_eq!(code(gone), PgSqlErrorCode::ERRCODE_UNDEFINED_TABLE);
        sql("CREATE TEMP TABLE kept AS SELECT 2 AS c");
        assert_eq!(statement::rows(&Anyone, TEXT, &[], number)?, [2]);
        assert_eq!(kept(TEXT), 1);
        Ok(())
    }

    #[pg_test]
    fn plan_follows_the_search_path() -> Result<()> {
        const TEXT: &str = "SELECT c FROM kept";
        sql("CREATE SCHEMA one; CREATE TABLE one.kept AS SELECT 1 AS c;
             CREATE SCHEMA two; CREATE TABLE two.kept AS SELECT 2 AS c");
        for (path, expected) in [("one", 1), ("two", 2), ("two, one", 2), ("one, two", 1)] {
            sql(&format!("SET LOCAL search_path = {path}"));
            assert_eq!(statement::rows(&Anyone, TEXT, &[], number)?, [expected], "{path}");
        }
        sql("SET LOCAL search_path = one; DROP TABLE one.kept; SET LOCAL search_path = one, two");
        assert_eq!(statement::rows(&Anyone, TEXT, &[], number)?, [2]);
        assert_eq!(kept(TEXT), 1);
        Ok(())
    }

    #[pg_test]
    fn plan_obeys_the_policies_of_the_role_that_runs_it() -> Result<()> {
        const TEXT: &str = "SELECT c FROM public.kept ORDER BY c";
        sql("CREATE TABLE public.kept AS SELECT 1 AS c UNION ALL SELECT 2;
             CREATE ROLE reader; GRANT SELECT ON public.kept TO reader;
             ALTER TABLE public.kept ENABLE ROW LEVEL SECURITY;
             CREATE POLICY half ON public.kept USING (c = 2)");
        for (role, expected) in [("NONE", vec![1, 2]), ("reader", vec![2]), ("NONE", vec![1, 2])] {
            sql(&format!("SET LOCAL ROLE {role}"));
            assert_eq!(statement::rows(&Anyone, TEXT, &[], number)?, expected, "{role}");
        }
        assert_eq!(kept(TEXT), 1);
        Ok(())
    }

    #[pg_test]
    fn plan_obeys_forced_policies_only_where_they_count() -> Result<()> {
        const TEXT: &str = "SELECT c FROM docsearch.forced";
        sql("SET LOCAL client_min_messages = error; CREATE ROLE keeper; SELECT docsearch.create_project('tested');
             CREATE TABLE docsearch.forced AS SELECT 1 AS c; ALTER TABLE docsearch.forced OWNER TO keeper;
             ALTER TABLE docsearch.forced ENABLE ROW LEVEL SECURITY; ALTER TABLE docsearch.forced FORCE ROW LEVEL SECURITY;
             ALTER SCHEMA docsearch OWNER TO keeper; ALTER TABLE docsearch.chunk OWNER TO keeper; SET LOCAL ROLE keeper");
        for _ in 0..2 {
            assert_eq!(statement::rows(&Anyone, TEXT, &[], number)?.len(), 0);
            let _owner = AsOwner::enter()?;
            assert_eq!(statement::rows(&Anyone, TEXT, &[], number)?, [1]);
        }
        assert_eq!(kept(TEXT), 2);
        Ok(())
    }

    #[pg_test]
    fn statement_that_cannot_be_prepared_is_not_kept() {
        const TEXT: &str = "SELECT no_such_column";
        for _ in 0..2 {
            let problem = subtransaction::run(|| statement::rows(&Anyone, TEXT, &[], number)).expect_err("no column");
            assert_eq!(code(problem), PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN);
            assert_eq!(kept(TEXT), 0);
        }
    }

    #[pg_test]
    fn plan_made_in_a_subtransaction_that_fails_is_kept() -> Result<()> {
        const TEXT: &str = "SELECT $1 * 2";
        let failed = subtransaction::run(|| {
            assert_eq!(statement::rows(&Anyone, TEXT, &[1.into()], number)?, [2]);
            Err::<(), _>(internal("undone"))
        });
        assert!(failed.is_err());
        assert_eq!(kept(TEXT), 1);
        assert_eq!(statement::rows(&Anyone, TEXT, &[21.into()], number)?, [42]);
        assert_eq!(kept(TEXT), 1);
        Ok(())
    }

    #[pg_test]
    fn error_of_a_conversion_ends_the_statement() -> Result<()> {
        let seen = Cell::new(0);
        let third = |row: &Row| {
            seen.set(seen.get() + 1);
            let n = number(row)?;
            if n < 3 {
                Ok(n)
            } else {
                Err(undefined("the third", "Read two."))
            }
        };
        let problem =
            statement::rows(&Anyone, "SELECT n FROM generate_series(1, 10) n", &[], third).expect_err("an error");
        assert_eq!((problem.message(), problem.hint()), ("the third", Some("Read two.")));
        assert_eq!(seen.get(), 3);
        assert_eq!(
            statement::rows(&Anyone, "SELECT n FROM generate_series(1, 2) n", &[], third)?,
            [1, 2]
        );
        Ok(())
    }

    #[pg_test]
    fn conversions_run_statements_and_may_fail_in_them() -> Result<()> {
        let divided = |by: i32| statement::one(&Anyone, "SELECT 12 / $1", &[by.into()], number);
        let quotients =
            |text| statement::rows(&Anyone, text, &[], |row| Ok(divided(number(row)?)?.unwrap_or_default()));
        assert_eq!(quotients("SELECT n FROM generate_series(1, 3) n")?, [12, 6, 4]);
        let failing = "SELECT n FROM generate_series(-1, 3) n";
        let problem = subtransaction::run(|| quotients(failing)).expect_err("a division by zero");
        assert_eq!(code(problem), PgSqlErrorCode::ERRCODE_DIVISION_BY_ZERO);
        assert_eq!(quotients("SELECT n FROM generate_series(1, 3) n")?, [12, 6, 4]);
        Ok(())
    }

    #[pg_test]
    fn columns_are_read_as_what_they_are() -> Result<()> {
        let one = "SELECT 1, NULL::text";
        assert_eq!(
            statement::one(&Anyone, one, &[], |row| row.optional::<String>(2))?,
            Some(None)
        );
        let refused = |problem: Result<Option<String>>| problem.expect_err("an error").message().to_owned();
        assert_eq!(
            refused(statement::one(&Anyone, one, &[], |row| row.required(2))),
            "column 2 is null"
        );
        assert_eq!(
            refused(statement::one(&Anyone, one, &[], |row| row.required(1))),
            "column 1 has type 23"
        );
        for absent in [0, 3, usize::MAX] {
            let problem =
                statement::one(&Anyone, one, &[], |row| row.optional::<i32>(absent)).expect_err("no such column");
            assert_eq!(code(problem), PgSqlErrorCode::ERRCODE_INTERNAL_ERROR);
        }
        Ok(())
    }

    #[pg_test]
    fn query_before_any_change_writes_nothing() {
        let refused = subtransaction::run(|| statement::rows(&Anyone, "CREATE TEMP TABLE refused ()", &[], |_| Ok(())));
        let problem = refused.expect_err("a statement that writes");
        assert_eq!(code(problem), PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED);
    }

    #[pg_test]
    fn query_sees_what_changed_before() -> Result<()> {
        sql("CREATE TEMP TABLE counted (n int)");
        let all = || statement::rows(&Anyone, "SELECT n FROM counted ORDER BY n", &[], number);
        for n in 1..4 {
            let given = statement::change(
                &Anyone,
                "INSERT INTO counted VALUES ($1) RETURNING n * 10",
                &[n.into()],
                number,
            )?;
            assert_eq!(given, [n * 10]);
            assert_eq!(all()?, (1..=n).collect::<Vec<_>>());
        }
        statement::execute(&Anyone, "DELETE FROM counted WHERE n < $1", &[3.into()])?;
        assert_eq!(all()?, [3]);
        assert_eq!(statement::latest(&Anyone, "SELECT n FROM counted", &[], number)?, [3]);
        assert_eq!(
            statement::one(&Anyone, "SELECT n FROM counted WHERE n = 9", &[], number)?,
            None
        );
        Ok(())
    }

    #[pg_test]
    fn snapshot_of_committed_rows_is_popped() -> Result<()> {
        // SAFETY: reads the active snapshot; a statement is running.
        let active = || unsafe { pg_sys::GetActiveSnapshot() };
        let before = active();
        let during = |_: &Row| Ok(active() == before);
        assert_eq!(statement::committed(&Anyone, "SELECT 1", &[], during)?, [false]);
        assert_eq!(active(), before);
        let failed = statement::committed(&Anyone, "SELECT 1", &[], |_| Err::<(), _>(internal("no row")));
        assert_eq!((failed.is_err(), active()), (true, before));
        let raised = subtransaction::run(|| statement::committed(&Anyone, "SELECT 1 / 0", &[], number));
        assert_eq!((raised.is_err(), active()), (true, before));
        Ok(())
    }

    #[pg_test(error = "division by zero")]
    fn error_of_postgres_goes_on_if_it_is_not_caught() -> Result<()> {
        statement::execute(&Anyone, "SELECT 1 / 0", &[])
    }
}

//! A scan shows what a statement would.

#[pgrx::pg_schema]
mod tests {
    use pgrx::prelude::*;

    use crate::postgres::report::{Result, internal};
    use crate::postgres::role::{Caller, Owner, Role};
    use crate::postgres::statement::Row;
    use crate::postgres::{statement, subtransaction, table_scan};

    fn tips() -> Result<Vec<(Option<i64>, String)>> {
        let mut caller = Caller::of_call()?;
        let owner = caller.as_owner()?;
        let mut tips = Vec::new();
        table_scan::each(&owner, c"search_tip", &[c"tip", c"project_id"], |row| {
            tips.push((row.optional(2)?, row.required(1)?));
            Ok(())
        })?;
        tips.sort_unstable();
        Ok(tips)
    }

    #[pg_test]
    fn a_scan_sees_the_changes_of_its_transaction() -> Result<()> {
        Spi::run("SELECT docsearch.create_project('tips')").map_err(internal)?;
        assert!(!tips()?.is_empty());
        Spi::run("DELETE FROM docsearch.search_tip").map_err(internal)?;
        Spi::run("ALTER TABLE docsearch.search_tip ADD padding text").map_err(internal)?;
        Spi::run("ALTER TABLE docsearch.search_tip DROP padding").map_err(internal)?;
        assert_eq!(tips()?, []);
        let long = "x".repeat(100_000);
        Spi::run_with_args(
            "INSERT INTO docsearch.search_tip (number, tip) VALUES (1, $1), (2, 'short')",
            &[long.as_str().into()],
        )
        .map_err(internal)?;
        assert_eq!(tips()?, [(None, "short".to_owned()), (None, long)]);
        Ok(())
    }

    #[pg_test]
    fn a_scan_ends_with_the_error_of_its_visitor() -> Result<()> {
        Spi::run("SELECT docsearch.create_project('tips')").map_err(internal)?;
        let mut caller = Caller::of_call()?;
        let owner = caller.as_owner()?;
        let mut visited = 0;
        let result = table_scan::each(&owner, c"search_tip", &[c"tip"], |row| {
            visited += 1;
            row.required::<i64>(1).map(|_| ())
        });
        assert!(result.is_err());
        assert_eq!(visited, 1);
        let missing = table_scan::each(&owner, c"search_tip", &[c"missing"], |_| {
            Err(internal("no row is visited"))
        });
        assert!(missing.is_err());
        Ok(())
    }

    /// What the owner of a database may put in the place of a table: definitions from table `docsearch.former`.
    const OTHERS: [(&str, &str); 11] = [
        ("VIEW", "CREATE VIEW docsearch.search_tip AS SELECT * FROM docsearch.former WHERE number > 1"),
        (
            "MATERIALIZED VIEW",
            "CREATE MATERIALIZED VIEW docsearch.search_tip AS SELECT * FROM docsearch.former",
        ),
        (
            "MATERIALIZED VIEW",
            "CREATE MATERIALIZED VIEW docsearch.search_tip AS SELECT * FROM docsearch.former WITH NO DATA",
        ),
        (
            "TABLE",
            "CREATE TABLE docsearch.search_tip (LIKE docsearch.former) PARTITION BY LIST (number);
             CREATE TABLE docsearch.part PARTITION OF docsearch.search_tip DEFAULT;
             INSERT INTO docsearch.search_tip SELECT * FROM docsearch.former",
        ),
        (
            "TABLE",
            "CREATE TABLE docsearch.search_tip (LIKE docsearch.former);
             CREATE TABLE docsearch.child () INHERITS (docsearch.search_tip);
             INSERT INTO docsearch.child SELECT * FROM docsearch.former",
        ),
        (
            "TABLE",
            "CREATE UNLOGGED TABLE docsearch.search_tip AS SELECT * FROM docsearch.former",
        ),
        (
            "TABLE",
            "CREATE TABLE docsearch.search_tip (number int, tip text GENERATED ALWAYS AS ('tip of ' || (number + 1)) COMPUTED);
             INSERT INTO docsearch.search_tip SELECT number FROM docsearch.former",
        ),
        (
            "TABLE",
            "CREATE TABLE docsearch.search_tip AS SELECT number FROM docsearch.former;
             ALTER TABLE docsearch.search_tip ADD tip text DEFAULT 'added later'",
        ),
        (
            "TABLE",
            "CREATE TABLE docsearch.search_tip AS SELECT * FROM docsearch.former;
             ALTER TABLE docsearch.search_tip ENABLE ROW LEVEL SECURITY;
             CREATE POLICY few ON docsearch.search_tip TO keeper USING (number > 1)",
        ),
        (
            "FOREIGN TABLE",
            "CREATE FOREIGN DATA WRAPPER nothing;
             CREATE SERVER nowhere FOREIGN DATA WRAPPER nothing;
             CREATE FOREIGN TABLE docsearch.search_tip (number int, tip text) SERVER nowhere",
        ),
        ("SEQUENCE", "CREATE SEQUENCE docsearch.search_tip"),
    ];

    fn read(by: impl FnOnce(&Owner<'_>, &mut dyn FnMut(&Row) -> Result<()>) -> Result<()>) -> Result<Vec<String>> {
        let mut tips = Vec::new();
        let mut caller = Caller::of_call()?;
        let owner = caller.as_owner()?;
        by(&owner, &mut |row| {
            tips.push(row.required(1)?);
            Ok(())
        })?;
        tips.sort_unstable();
        Ok(tips)
    }

    fn assert_as_a_statement(about: &str) {
        let scanned =
            subtransaction::run(|| read(|owner, visit| table_scan::each(owner, c"search_tip", &[c"tip"], visit)));
        let select = "SELECT tip FROM docsearch.search_tip";
        let selected = subtransaction::run(|| read(|owner, visit| statement::each(owner, select, &[], visit)));
        assert_eq!(scanned.ok(), selected.ok(), "{about}");
    }

    #[pg_test]
    fn a_scan_shows_of_any_relation_what_a_statement_shows() -> Result<()> {
        let run = |sql: &str| Spi::run(sql).map_err(internal);
        run("CREATE ROLE keeper; ALTER SCHEMA docsearch OWNER TO keeper")?;
        run("SELECT docsearch.create_project('tips')")?;
        assert_as_a_statement("the table");
        run("ALTER TABLE docsearch.search_tip RENAME TO former")?;
        assert_as_a_statement("no table");
        let computed = if cfg!(feature = "pg18") { "VIRTUAL" } else { "STORED" };
        for (kind, definition) in OTHERS {
            run(&definition.replace("COMPUTED", computed))?;
            assert_as_a_statement(&format!("without rights: {definition}"));
            run("GRANT ALL ON docsearch.search_tip TO keeper")?;
            assert_as_a_statement(definition);
            run(&format!("ALTER {kind} docsearch.search_tip OWNER TO keeper"))?;
            assert_as_a_statement(&format!("its own: {definition}"));
            run(&format!("DROP {kind} docsearch.search_tip CASCADE"))?;
        }
        Ok(())
    }
}

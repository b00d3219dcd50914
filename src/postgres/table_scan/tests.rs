//! A scan shows what a statement would.

#[pgrx::pg_schema]
mod tests {
    use pgrx::prelude::*;

    use crate::postgres::report::{Result, internal};
    use crate::postgres::role::{Caller, Role};
    use crate::postgres::{catalog, table_scan};

    fn tips() -> Result<Vec<(Option<i64>, String)>> {
        let mut caller = Caller::of_call()?;
        let owner = caller.as_owner()?;
        let table = catalog::table(c"search_tip").expect("the table exists");
        let mut tips = Vec::new();
        table_scan::each(&owner, table, &[c"tip", c"project_id"], |row| {
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
        let table = catalog::table(c"search_tip").expect("the table exists");
        let mut visited = 0;
        let result = table_scan::each(&owner, table, &[c"tip"], |row| {
            visited += 1;
            row.required::<i64>(1).map(|_| ())
        });
        assert!(result.is_err());
        assert_eq!(visited, 1);
        let missing = table_scan::each(&owner, table, &[c"missing"], |_| Err(internal("no row is visited")));
        assert!(missing.is_err());
        Ok(())
    }
}

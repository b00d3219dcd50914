//! Row types select what they read, in that order.

#[pgrx::pg_schema]
mod tests {
    use pgrx::prelude::*;

    use crate::postgres::report::Result;
    use crate::postgres::statement;
    use crate::postgres::testing::Anyone;

    crate::postgres::row_type::row_type! {
        #[derive(Debug, PartialEq)]
        struct Animal {
            name: String = "a.name",
            wings: i32 = format!("a.wings + {}", 1),
            colour: Option<String> = "a.colour",
        }
    }

    const ANIMALS: &str = "(VALUES ('heron', 1, NULL::text), (NULL, 5, 'red')) AS a(name, wings, colour)";

    fn read(condition: &str) -> Result<Vec<Animal>> {
        let list = Animal::select_list();
        let statement = format!("SELECT {list}, a.wings FROM {ANIMALS} WHERE {condition}");
        statement::rows(&Anyone, &statement, &[], Animal::read)
    }

    #[pg_test]
    fn row_types_read_what_they_select() -> Result<()> {
        assert_eq!(Animal::select_list(), "a.name, a.wings + 1, a.colour");
        let heron = Animal {
            name: "heron".to_owned(),
            wings: 2,
            colour: None,
        };
        assert_eq!(read("a.wings = 1")?, [heron]);
        Ok(())
    }

    #[pg_test]
    fn a_column_that_must_not_be_null_is_an_error_where_it_is() {
        let problem = read("a.wings = 5").expect_err("a row without a name");
        assert!(problem.message().contains("column 1 is null"), "{}", problem.message());
    }
}

//! The system caches know objects that exist, that do not, and that changed in this transaction.

#[pgrx::pg_schema]
mod tests {
    use pgrx::prelude::*;

    use crate::postgres::catalog::{self, TextConfigProblem, text_config_problem};
    use crate::postgres::report::Result;
    use crate::postgres::role::Role;
    use crate::postgres::statement;
    use crate::postgres::testing::{Anyone, sql};

    fn oid(expression: &str) -> pg_sys::Oid {
        let found = statement::one(&Anyone, &format!("SELECT ({expression})::oid"), &[], |row| {
            row.required(1)
        });
        found.ok().flatten().expect("an oid")
    }

    #[pg_test]
    fn tables_are_those_of_our_schema() {
        assert_eq!(catalog::table(c"pg_class"), None);
        sql("CREATE TABLE public.drawer (); CREATE TABLE docsearch.\"A \"\"Drawer\" ()");
        assert_eq!(catalog::table(c"drawer"), None);
        assert_eq!(catalog::table(c"a \"drawer"), None);
        assert_eq!(
            catalog::table(c"A \"Drawer"),
            Some(oid(r#"'docsearch."A ""Drawer"'::regclass"#))
        );
        assert_eq!(catalog::table(c""), None);
    }

    #[pg_test]
    fn dropped_table_is_missing_and_can_be_created_again() {
        sql("CREATE TABLE docsearch.drawer ()");
        let first = catalog::table(c"drawer").expect("a table");
        assert!(catalog::owner_of(first).is_some());
        sql("DROP TABLE docsearch.drawer");
        assert_eq!((catalog::table(c"drawer"), catalog::owner_of(first)), (None, None));
        sql("CREATE TABLE docsearch.drawer ()");
        let second = catalog::table(c"drawer").expect("a table");
        assert_ne!(first, second);
        sql("ALTER TABLE docsearch.drawer RENAME TO cupboard");
        assert_eq!(
            (catalog::table(c"drawer"), catalog::table(c"cupboard")),
            (None, Some(second))
        );
    }

    #[pg_test]
    fn owners_are_current() {
        sql("CREATE ROLE joiner; CREATE TABLE docsearch.drawer ()");
        let (joiner, superuser) = (oid("'joiner'::regrole"), oid("current_user::regrole"));
        let table = catalog::table(c"drawer").expect("a table");
        assert_eq!(
            (catalog::owner_of(table), catalog::schema_owner()),
            (Some(superuser), Some(superuser))
        );
        sql("ALTER TABLE docsearch.drawer OWNER TO joiner; ALTER SCHEMA docsearch OWNER TO joiner");
        assert_eq!(
            (catalog::owner_of(table), catalog::schema_owner()),
            (Some(joiner), Some(joiner))
        );
        assert_eq!(catalog::owner_of(pg_sys::InvalidOid), None);
        sql("ALTER SCHEMA docsearch RENAME TO elsewhere");
        assert_eq!((catalog::table(c"drawer"), catalog::schema_owner()), (None, None));
    }

    #[pg_test]
    fn policies_apply_unless_a_role_bypasses_them() {
        sql(
            "CREATE ROLE reader; CREATE ROLE keeper; CREATE TABLE docsearch.drawer ();
             ALTER TABLE docsearch.drawer OWNER TO keeper",
        );
        let table = catalog::table(c"drawer").expect("a table");
        let active_for = |role: &str| {
            sql(&format!("SET LOCAL ROLE {role}"));
            catalog::row_security_active(Anyone.id(), table)
        };
        let all = || ["reader", "keeper", "NONE"].map(active_for);
        assert_eq!(all(), [false, false, false]);
        sql("ALTER TABLE docsearch.drawer ENABLE ROW LEVEL SECURITY");
        assert_eq!(all(), [true, false, false]);
        sql("ALTER TABLE docsearch.drawer FORCE ROW LEVEL SECURITY");
        assert_eq!(all(), [true, true, false]);
        sql("ALTER ROLE reader BYPASSRLS");
        assert_eq!(all(), [false, true, false]);
        sql("DROP TABLE docsearch.drawer");
        assert_eq!(all(), [false, false, false]);
    }

    #[pg_test]
    fn policies_apply_with_row_security_off() {
        sql("CREATE ROLE reader; CREATE TABLE docsearch.drawer ();
             ALTER TABLE docsearch.drawer ENABLE ROW LEVEL SECURITY;
             SET LOCAL row_security = off; SET LOCAL ROLE reader");
        assert!(catalog::row_security_active(
            Anyone.id(),
            catalog::table(c"drawer").expect("a table")
        ));
    }

    #[pg_test]
    fn text_configurations_are_found_by_names_as_sql_writes_them() {
        sql(
            r#"CREATE SCHEMA "My schema"; CREATE TEXT SEARCH CONFIGURATION "My schema"."a""b" (COPY = pg_catalog.simple);
               CREATE TEXT SEARCH CONFIGURATION public.shown (COPY = pg_catalog.simple);
               CREATE TEXT SEARCH CONFIGURATION docsearch.own (COPY = pg_catalog.simple); SET LOCAL search_path = public"#,
        );
        for name in [
            "english",
            "English",
            " pg_catalog . english ",
            "docsearch.simple",
            r#""My schema"."a""b""#,
            "public.shown",
        ] {
            assert_eq!(text_config_problem(Anyone.id(), name), None, "{name}");
        }
        for name in [
            "",
            "klingon",
            "shown",
            "own",
            "\"English\"",
            "docsearch.klingon",
            "nowhere.english",
            "a.b.c",
            "'english'",
            r#""My schema"."a"b""#,
            "my schema.a",
            "english; SELECT 1",
            "pg_catalog.\"eng\0lish\"",
        ] {
            assert_eq!(
                text_config_problem(Anyone.id(), name),
                Some(TextConfigProblem::Missing),
                "{name}"
            );
        }
    }

    #[pg_test]
    fn text_configuration_with_a_name_that_is_too_long_is_missing() {
        let (longest, longer) = ("n".repeat(63), "n".repeat(64));
        sql(&format!("CREATE TEXT SEARCH CONFIGURATION docsearch.{longest} (COPY = pg_catalog.simple);
                      CREATE SCHEMA {longest}; CREATE TEXT SEARCH CONFIGURATION {longest}.it (COPY = pg_catalog.simple)"));
        for (name, problem) in [
            (format!("docsearch.{longest}"), None),
            (format!("{longest}.it"), None),
            (format!("docsearch.{longer}"), Some(TextConfigProblem::Missing)),
            (format!("{longer}.it"), Some(TextConfigProblem::Missing)),
            ("é".repeat(32), Some(TextConfigProblem::Missing)),
            ("x".repeat(100_000), Some(TextConfigProblem::Missing)),
        ] {
            assert_eq!(text_config_problem(Anyone.id(), &name), problem, "{name:.80}");
        }
    }

    #[pg_test]
    fn text_configuration_in_a_closed_schema_is_forbidden() {
        sql("CREATE ROLE reader; CREATE SCHEMA closed; CREATE TEXT SEARCH CONFIGURATION closed.it (COPY = pg_catalog.simple);
             SET LOCAL ROLE reader");
        assert_eq!(
            text_config_problem(Anyone.id(), "closed.it"),
            Some(TextConfigProblem::Forbidden)
        );
        assert_eq!(
            text_config_problem(Anyone.id(), "closed.that"),
            Some(TextConfigProblem::Missing)
        );
        sql("SET LOCAL ROLE NONE; GRANT USAGE ON SCHEMA closed TO reader; SET LOCAL ROLE reader");
        assert_eq!(text_config_problem(Anyone.id(), "closed.it"), None);
        sql("SET LOCAL ROLE NONE; DROP TEXT SEARCH CONFIGURATION closed.it");
        assert_eq!(
            text_config_problem(Anyone.id(), "closed.it"),
            Some(TextConfigProblem::Missing)
        );
        sql("DROP SCHEMA closed");
        assert_eq!(
            text_config_problem(Anyone.id(), "closed.it"),
            Some(TextConfigProblem::Missing)
        );
    }

    #[pg_test]
    fn schema_of_an_extension_is_quoted_where_it_has_to_be() -> Result<()> {
        assert_eq!(catalog::extension_schema(c"plpgsql")?, "pg_catalog");
        assert_eq!(catalog::trigram_schema()?, "public");
        sql(r#"CREATE SCHEMA "My ""own"" schema"; CREATE EXTENSION citext SCHEMA "My ""own"" schema""#);
        assert_eq!(catalog::extension_schema(c"citext")?, r#""My ""own"" schema""#);
        sql("CREATE SCHEMA \"select\"; ALTER EXTENSION citext SET SCHEMA \"select\"");
        assert_eq!(catalog::extension_schema(c"citext")?, "\"select\"");
        sql("DROP EXTENSION citext");
        let problem = catalog::extension_schema(c"citext").expect_err("no extension");
        assert_eq!(problem.message(), "extension citext is not installed");
        Ok(())
    }

    #[pg_test]
    fn columns_have_the_types_that_statements_name() -> Result<()> {
        // Before 18, a column that is generated is stored.
        let (kind, is_virtual) = if cfg!(feature = "pg18") {
            ("VIRTUAL", true)
        } else {
            ("STORED", false)
        };
        sql(&format!(
            "CREATE TABLE drawer (a int, \"A b\" numeric(10, 2)[], c varchar(7), d timestamptz(3),
                                  e int GENERATED ALWAYS AS (a + 1) {kind}, f int GENERATED ALWAYS AS (a + 1) STORED)"
        ));
        let drawer = oid("'drawer'::regclass");
        for (name, number, type_name, is_virtual) in [
            ("a", 1, "integer", false),
            ("A b", 2, "numeric(10,2)[]", false),
            ("c", 3, "character varying(7)", false),
            ("d", 4, "timestamp(3) with time zone", false),
            ("e", 5, "integer", is_virtual),
            ("f", 6, "integer", false),
        ] {
            let column = catalog::column(drawer, name)?.expect("a column");
            let found = (column.number, column.type_name.as_str(), column.is_virtual);
            assert_eq!(found, (number, type_name, is_virtual));
            let sql_type = format!(
                "SELECT atttypid FROM pg_attribute WHERE attrelid = {} AND attnum = {number}",
                drawer.to_u32()
            );
            assert_eq!(column.type_oid, oid(&sql_type));
        }
        Ok(())
    }

    #[pg_test]
    fn missing_columns_are_none() -> Result<()> {
        sql("CREATE TABLE drawer (a int, b int)");
        let drawer = oid("'drawer'::regclass");
        for name in ["", "A", "a b", "ctid", "tableoid", "xmin", &"a".repeat(64)] {
            assert!(catalog::column(drawer, name)?.is_none(), "{name}");
        }
        assert!(catalog::column(drawer, "a\0").is_err());
        sql("ALTER TABLE drawer DROP a; ALTER TABLE drawer RENAME b TO a; ALTER TABLE drawer ALTER a TYPE text");
        let column = catalog::column(drawer, "a")?.expect("a column");
        assert_eq!((column.number, column.type_name.as_str()), (2, "text"));
        assert!(catalog::column(drawer, "b")?.is_none());
        assert!(catalog::column(drawer, "........pg.dropped.1........")?.is_none());
        sql("DROP TABLE drawer");
        assert!(catalog::column(drawer, "a")?.is_none());
        Ok(())
    }

    #[pg_test]
    fn plain_types_are_base_types_of_postgres() {
        sql(
            "CREATE DOMAIN small AS int CHECK (VALUE < 9); CREATE TYPE mood AS ENUM ('calm'); CREATE TYPE pair AS (a int, b int)",
        );
        for name in ["int4", "text", "uuid", "timestamptz", "jsonb", "bytea", "name", "money"] {
            assert!(catalog::is_plain_type(oid(&format!("'{name}'::regtype"))), "{name}");
        }
        for name in [
            "int4[]",
            "int4range",
            "int4multirange",
            "record",
            "pg_class",
            "small",
            "mood",
            "pair",
            "vector",
            "small[]",
        ] {
            assert!(!catalog::is_plain_type(oid(&format!("'{name}'::regtype"))), "{name}");
        }
        assert!(!catalog::is_plain_type(pg_sys::InvalidOid));
        let mood = oid("'mood'::regtype");
        sql("DROP TYPE mood");
        assert!(!catalog::is_plain_type(mood));
    }

    #[pg_test]
    fn ordered_types_are_those_that_can_be_sorted() {
        sql("CREATE DOMAIN small AS int CHECK (VALUE < 9); CREATE TYPE mood AS ENUM ('calm')");
        for (name, ordered) in [
            ("int4", true),
            ("text", true),
            ("uuid", true),
            ("jsonb", true),
            ("int4[]", true),
            ("int4range", true),
            ("mood", true),
            ("small", true),
            ("json", false),
            ("point", false),
            ("xml", false),
            ("xid", false),
            ("json[]", false),
        ] {
            assert_eq!(
                catalog::is_ordered(oid(&format!("'{name}'::regtype"))),
                ordered,
                "{name}"
            );
        }
    }

    #[pg_test]
    fn role_names_are_current() {
        assert_eq!(catalog::role_name(pg_sys::InvalidOid), None);
        sql("CREATE ROLE \"A \"\"role\"");
        let role = oid(r#"'"A ""role"'::regrole"#);
        assert_eq!(catalog::role_name(role).as_deref(), Some("A \"role"));
        sql("ALTER ROLE \"A \"\"role\" RENAME TO another");
        assert_eq!(catalog::role_name(role).as_deref(), Some("another"));
        sql("DROP ROLE another");
        assert_eq!(catalog::role_name(role), None);
    }
}

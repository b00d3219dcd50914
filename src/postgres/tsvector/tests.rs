//! The bytes of a `tsvector` are read as `unnest` returns them.

#[pgrx::pg_schema]
mod tests {
    use docsearch_core::postgres::tsvector::{TsVector, Weight};
    use pgrx::prelude::*;

    use crate::postgres::report::Result;
    use crate::postgres::statement;
    use crate::postgres::testing::{Anyone, sql};
    use crate::postgres::tsvector::TsVectorBytes;

    type Lexemes = Vec<(String, Vec<(u16, char)>)>;

    fn letter(weight: Weight) -> char {
        match weight {
            Weight::A => 'A',
            Weight::B => 'B',
            Weight::C => 'C',
            Weight::D => 'D',
        }
    }

    fn lexemes(stored: &TsVectorBytes) -> Lexemes {
        let vector = TsVector::new(stored.as_bytes()).expect("a whole vector");
        let positions = |lexeme| vector.positions(lexeme).map(|(place, weight)| (place, letter(weight)));
        let lexemes = vector
            .lexemes()
            .map(|lexeme| (lexeme.to_owned(), positions(lexeme).collect()));
        lexemes.collect()
    }

    /// The vector of every row of a query, as it is read here.
    fn read(query: &str) -> Result<Vec<Lexemes>> {
        statement::rows(&Anyone, query, &[], |row| Ok(lexemes(&row.required(1)?)))
    }

    /// The vector that an expression gives, as Postgres takes it apart.
    fn unnested(expression: &str) -> Result<Lexemes> {
        let query = format!(
            "SELECT lexeme, coalesce(positions, '{{}}'), array_to_string(coalesce(weights, '{{}}'), '')
             FROM unnest({expression})"
        );
        statement::rows(&Anyone, &query, &[], |row| {
            let positions = row.required::<Vec<i16>>(2)?.into_iter().map(|place| place as u16);
            let weights = row.required::<String>(3)?;
            Ok((row.required(1)?, positions.zip(weights.chars()).collect()))
        })
    }

    /// Reads the value of an expression as Postgres does; gives it.
    fn agreed(expression: &str) -> Result<Lexemes> {
        let read = read(&format!("SELECT {expression}"))?;
        assert_eq!(read, [unnested(expression)?], "{expression}");
        Ok(read.into_iter().flatten().collect())
    }

    #[pg_test]
    fn positions_and_weights_are_those_of_postgres() -> Result<()> {
        let read = agreed("'fat:2A,14C cat:3B rat:5 a:1D,2,3B,4A'::tsvector")?;
        let fat = vec![(2, 'A'), (14, 'C')];
        assert_eq!(read[2], ("fat".to_owned(), fat));
        Ok(())
    }

    #[pg_test]
    fn empty_vector_has_no_lexemes() -> Result<()> {
        assert_eq!(agreed("''::tsvector")?, []);
        assert_eq!(agreed("to_tsvector('docsearch.simple', ' , . ')")?, []);
        Ok(())
    }

    #[pg_test]
    fn lexemes_without_positions_are_read_between_those_that_have_some() -> Result<()> {
        let read = agreed("'without between:7 beside:1A,2 with'::tsvector || 'another'::tsvector")?;
        assert_eq!(read.iter().filter(|(_, positions)| positions.is_empty()).count(), 3);
        let stripped = agreed("strip('between:7 beside:1A,2 with:3B'::tsvector)")?;
        assert!(stripped.len() == 3 && stripped.iter().all(|(_, positions)| positions.is_empty()));
        Ok(())
    }

    #[pg_test]
    fn lexemes_of_several_bytes_a_letter_are_read() -> Result<()> {
        let read = agreed("'Ünïcode:1 日本語:2B,9 😀:3A ß é:4 e\u{301}:5 Ω:16383C'::tsvector")?;
        assert_eq!(read.len(), 7);
        assert!(read.contains(&("日本語".to_owned(), vec![(2, 'B'), (9, 'D')])));
        Ok(())
    }

    #[pg_test]
    fn positions_are_aligned_behind_lexemes_of_every_length() -> Result<()> {
        let words = |step| {
            format!(
                "(SELECT string_agg(repeat(chr(97 + n), n) || CASE WHEN n % {step} = 0 THEN '' ELSE ':' || n || 'B' END,
                                    ' ' ORDER BY n)::tsvector FROM generate_series(1, 24) n)"
            )
        };
        for step in [25, 2, 3, 5] {
            assert_eq!(agreed(&words(step))?.len(), 24);
        }
        Ok(())
    }

    #[pg_test]
    fn longest_lexeme_is_read_whole() -> Result<()> {
        let read = agreed("setweight((repeat('x', 2046) || ':8 y:9 ' || repeat('x', 2045))::tsvector, 'C')")?;
        assert_eq!(
            read.iter().map(|(lexeme, _)| lexeme.len()).collect::<Vec<_>>(),
            [2045, 2046, 1]
        );
        Ok(())
    }

    #[pg_test]
    fn as_many_positions_as_postgres_keeps_are_read() -> Result<()> {
        let read = agreed("to_tsvector('pg_catalog.simple', repeat('again and ', 20000))")?;
        let places = &read[1].1;
        assert_eq!((places.len(), places.last()), (255, Some(&(510, 'D'))));
        let late = agreed("to_tsvector('pg_catalog.simple', repeat('and ', 20000) || 'late')")?;
        assert_eq!(late[1], ("late".to_owned(), vec![(16383, 'D')]));
        Ok(())
    }

    #[pg_test]
    fn each_of_many_lexemes_is_found_and_no_other() -> Result<()> {
        let many = "(SELECT setweight(to_tsvector('pg_catalog.simple', string_agg('w' || n, ' ')), 'A')
                     FROM generate_series(1, 30000, 3) n)";
        assert_eq!(agreed(many)?.len(), 10_000);
        let found = statement::one(&Anyone, &format!("SELECT {many}"), &[], |row| {
            let stored: TsVectorBytes = row.required(1)?;
            let vector = TsVector::new(stored.as_bytes()).expect("a whole vector");
            let is_found = |n: &u32| vector.positions(&format!("w{n}")).count() == 1;
            Ok((1..=30_000).filter(is_found).collect::<Vec<u32>>())
        })?;
        assert_eq!(found, Some((1..=30_000).step_by(3).collect()));
        Ok(())
    }

    #[pg_test]
    fn terms_of_our_configurations_are_read() -> Result<()> {
        let text = "UITableView std::vector<T> @> 42P01 中文字 naïve v2.0.1 don''t";
        for config in ["simple", "english", "german"] {
            assert!(agreed(&format!("to_tsvector('docsearch.{config}', '{text}')"))?.len() > 10);
        }
        Ok(())
    }

    #[pg_test]
    fn stored_vector_is_read_however_it_is_stored() -> Result<()> {
        sql("CREATE TEMP TABLE plain (v tsvector STORAGE PLAIN);
             CREATE TEMP TABLE packed (v tsvector STORAGE MAIN);
             CREATE TEMP TABLE apart (v tsvector STORAGE EXTERNAL);
             CREATE TEMP TABLE either (v tsvector STORAGE EXTENDED)");
        let short = "'in:1A a:2 row:3B'::tsvector";
        // Postgres gives up on what it cannot compress in the first kilobyte, where the entries are.
        let words = |count, length| {
            format!(
                "(SELECT to_tsvector('pg_catalog.simple', string_agg(repeat('x', {length}) || n, ' '))
                  FROM generate_series(1, {count}) n)"
            )
        };
        for (table, vectors) in [
            ("plain", [short.to_owned(), words(200, 4)]),
            ("packed", [short.to_owned(), words(50, 500)]),
            ("apart", [short.to_owned(), words(2000, 4)]),
            ("either", [short.to_owned(), words(200, 2000)]),
        ] {
            for vector in &vectors {
                statement::execute(&Anyone, &format!("INSERT INTO {table} SELECT {vector}"), &[])?;
            }
            let expected = [unnested(&vectors[0])?, unnested(&vectors[1])?];
            assert_eq!(
                read(&format!("SELECT v FROM {table} ORDER BY length(v)"))?,
                expected,
                "{table}"
            );
        }
        for (table, packed, apart) in [("packed", 1, 0), ("apart", 0, 1), ("either", 1, 1)] {
            let toast = format!("SELECT reltoastrelid::regclass::text FROM pg_class WHERE oid = '{table}'::regclass");
            let toast = statement::one(&Anyone, &toast, &[], |row| row.required::<String>(1))?
                .expect("a table for what is long");
            let forms = format!(
                "SELECT (SELECT count(pg_column_compression(v)) FROM {table}),
                        (SELECT count(DISTINCT chunk_id) FROM {toast})"
            );
            let forms = statement::one(&Anyone, &forms, &[], |row| {
                Ok((row.required::<i64>(1)?, row.required::<i64>(2)?))
            })?;
            assert_eq!(forms, Some((packed, apart)), "{table}");
        }
        Ok(())
    }

    #[pg_test]
    fn only_what_is_packed_is_copied() -> Result<()> {
        sql("CREATE TEMP TABLE stored (v tsvector); INSERT INTO stored VALUES ('in:1A a:2 row:3B')");
        let copied =
            |query: &str| statement::one(&Anyone, query, &[], |row| Ok(row.required::<TsVectorBytes>(1)?.copied));
        assert_eq!(copied("SELECT 'in:1A a:2 row:3B'::tsvector")?, Some(false));
        assert_eq!(copied("SELECT v FROM stored")?, Some(true));
        Ok(())
    }

    #[pg_test]
    fn copies_are_freed_as_they_are_dropped() -> Result<()> {
        sql("CREATE TEMP TABLE stored AS
             SELECT (SELECT to_tsvector('pg_catalog.simple', string_agg('word' || n, ' ')) FROM generate_series(1, 5000) n) AS v
             FROM generate_series(1, 50)");
        // SAFETY: the current context is that of the executor, which lives while a row is read.
        let allocated = || unsafe { pg_sys::MemoryContextMemAllocated(pg_sys::CurrentMemoryContext, false) };
        let sizes = statement::rows(&Anyone, "SELECT v FROM stored", &[], |row| {
            assert!(row.required::<TsVectorBytes>(1)?.copied);
            Ok(allocated())
        })?;
        assert_eq!((sizes.len(), sizes.first()), (50, sizes.last()));
        Ok(())
    }

    #[pg_test]
    fn null_is_no_vector() -> Result<()> {
        let optional = statement::one(&Anyone, "SELECT NULL::tsvector", &[], |row| {
            Ok(row.optional::<TsVectorBytes>(1)?.is_none())
        })?;
        assert_eq!(optional, Some(true));
        let required = read("SELECT NULL::tsvector").expect_err("a vector is required");
        assert_eq!(required.message(), "column 1 is null");
        Ok(())
    }

    #[pg_test]
    fn other_types_are_not_taken_for_vectors() {
        for value in ["'a:1'::text", "'a'::tsquery", "'\\x00000000'::bytea", "1"] {
            let refused = read(&format!("SELECT {value}")).expect_err("no vector");
            assert!(refused.message().starts_with("column 1 has type "), "{value}");
        }
    }
}

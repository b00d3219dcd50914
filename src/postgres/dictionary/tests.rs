//! Words have the lexemes that the catalogs give them, also after the configuration has changed.

#[pgrx::pg_schema]
mod tests {
    use pgrx::prelude::*;

    use crate::postgres::dictionary::Dictionaries;
    use crate::postgres::report::Result;
    use crate::postgres::role::Caller;
    use crate::postgres::statement;
    use crate::postgres::subtransaction;
    use crate::postgres::testing::{Anyone, sql};

    const WORDS: [&str; 7] = ["Tables", "the", "running", "größer", "15.4.1", "", "x"];

    /// The lexemes according to the catalogs and `ts_lexize`.
    fn by_catalogs(config: &str, kind: i32, word: &str) -> Result<Vec<String>> {
        let found = statement::one(
            &Anyone,
            "SELECT (SELECT x.lexemes FROM (SELECT m.mapseqno, ts_lexize(m.mapdict, $3) AS lexemes FROM pg_ts_config_map m
                                            WHERE m.mapcfg = $1::regconfig AND m.maptokentype = $2) x
                     WHERE x.lexemes IS NOT NULL ORDER BY x.mapseqno LIMIT 1)",
            &[config.into(), kind.into(), word.into()],
            |row| row.optional::<Vec<String>>(1),
        )?;
        Ok(found.flatten().unwrap_or_default())
    }

    fn assert_same(config: &str) -> Result<()> {
        for kind in -1..30 {
            let kinds = [kind; WORDS.len()];
            let found = Dictionaries::of(&Caller::of_call()?, config)?.lexemes(&kinds, &WORDS);
            for (word, lexemes) in WORDS.iter().zip(found) {
                assert_eq!(lexemes, by_catalogs(config, kind, word)?, "{config} {kind} {word}");
            }
        }
        Ok(())
    }

    #[pg_test]
    fn words_have_the_lexemes_of_the_first_dictionary_that_knows_them() -> Result<()> {
        for config in ["english", "pg_catalog.german", "pg_catalog.\"simple\""] {
            assert_same(config)?;
        }
        Ok(())
    }

    #[pg_test]
    fn a_configuration_is_used_as_it_is_after_a_change() -> Result<()> {
        sql("CREATE TEXT SEARCH DICTIONARY public.phrases (TEMPLATE = simple, ACCEPT = false, STOPWORDS = english)");
        sql("CREATE TEXT SEARCH CONFIGURATION public.changing (COPY = pg_catalog.english)");
        assert_same("public.changing")?;
        sql(
            "ALTER TEXT SEARCH CONFIGURATION public.changing ALTER MAPPING FOR asciiword, word WITH public.phrases, german_stem",
        );
        assert_same("public.changing")?;
        sql("ALTER TEXT SEARCH DICTIONARY public.phrases (ACCEPT = true)");
        assert_same("public.changing")?;
        sql("ALTER TEXT SEARCH CONFIGURATION public.changing DROP MAPPING FOR word");
        assert_same("public.changing")
    }

    #[pg_test]
    fn a_configuration_that_is_missing_is_an_error() {
        for missing in ["no_such", "pg_catalog.no_such", "no_such.english"] {
            let missed = subtransaction::run(|| Dictionaries::of(&Caller::of_call()?, missing).map(|_| ()));
            assert!(missed.is_err(), "{missing}");
        }
    }
}

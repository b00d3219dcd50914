//! PostgreSQL gets the tokens of the core from every function of the parser.

#[pgrx::pg_schema]
mod tests {
    use docsearch_core::text::form::Form;
    use docsearch_core::text::token::{TokenKind, tokens};
    use pgrx::PgMemoryContexts;
    use pgrx::prelude::*;

    use crate::postgres::report::Result;
    use crate::postgres::testing::{Anyone, code};
    use crate::postgres::{statement, subtransaction};

    const TEXTS: [&str; 17] = [
        "",
        " ",
        ".",
        "A control that starts an action",
        "UITableView.reloadData() calls -[UITableView cellForRowAtIndexPath:]",
        "std::vector<T>::push_back(&&x) @> 42P01 v1.0.0-rc.15 --long-flag C++ @State sha256",
        "os.path.join('a', \"b\")\n\tif __name__ == '__main__':\r\n",
        "naïve Straße ÉCOLE e\u{301}te\u{301} Ωμέγα Привет",
        "日本語のテキスト and 中文字 and 한국어",
        "😀 👩‍👩‍👧 a😀b \u{feff}\u{200b}",
        "مرحبا بالعالم",
        "1 2.5 3e10 0x1F 1.2.3.4 ٣",
        "[[a]] {b} <c/> $d #e %f ^g &h |i ~j `k`",
        "snake_case SCREAMING_CASE kebab-case camelCase XMLHttpRequest2",
        "a\u{1}b\u{7f}c",
        "ﬁle ＡＰＩ H₂O re\u{ad}start cafe\u{301} सर्वर ติดตั้ง מִלָּה co‑operative … ½",
        "docs/ref/models.txt http://example.org/a?b=c#d user@example.org",
    ];

    type Tokens = Vec<(i32, String)>;

    fn of_core(text: &str) -> Tokens {
        let form = Form::of(text);
        tokens(form.text())
            .map(|token| (token.kind as i32, token.word(form.text()).into_owned()))
            .collect()
    }

    fn of_postgres(text: &str) -> Result<Tokens> {
        statement::rows(
            &Anyone,
            "SELECT tokid, token FROM ts_parse('docsearch.code_parser', $1)",
            &[text.into()],
            |row| Ok((row.required(1)?, row.required(2)?)),
        )
    }

    /// The functions of the parser, called like the backend does.
    struct Parser {
        start: pg_sys::Oid,
        token: pg_sys::Oid,
        end: pg_sys::Oid,
    }

    impl Parser {
        fn find() -> Result<Self> {
            let parser = statement::one(
                &Anyone,
                "SELECT prsstart::oid, prstoken::oid, prsend::oid FROM pg_ts_parser
                 WHERE prsname = 'code_parser' AND prsnamespace = 'docsearch'::regnamespace",
                &[],
                |row| {
                    Ok(Self {
                        start: row.required(1)?,
                        token: row.required(2)?,
                        end: row.required(3)?,
                    })
                },
            )?;
            Ok(parser.expect("the parser"))
        }

        fn start(&self, text: &[u8]) -> pg_sys::Datum {
            // SAFETY: the function takes a text and its length. The parse that starts here does not outlive the text.
            unsafe {
                pg_sys::OidFunctionCall2Coll(self.start, pg_sys::InvalidOid, text.as_ptr().into(), text.len().into())
            }
        }

        fn next(&self, state: pg_sys::Datum) -> Option<(i32, String)> {
            let (mut start, mut length) = (std::ptr::null::<u8>(), 0_i32);
            let places = ((&raw mut start).into(), (&raw mut length).into());
            // SAFETY: the function takes what `start` returned, and pointers to a pointer and a length.
            let kind = unsafe {
                pg_sys::OidFunctionCall3Coll(self.token, pg_sys::InvalidOid, state, places.0, places.1).value()
            };
            if kind == 0 {
                return None;
            }
            // SAFETY: the function set both to a word that lives as long as the state.
            let word = unsafe { std::slice::from_raw_parts(start, length as usize) };
            Some((kind as i32, String::from_utf8_lossy(word).into_owned()))
        }

        fn end(&self, state: pg_sys::Datum) {
            // SAFETY: the function takes what `start` returned.
            unsafe { pg_sys::OidFunctionCall1Coll(self.end, pg_sys::InvalidOid, state) };
        }
    }

    #[pg_test]
    fn tokens_of_ts_parse_are_those_of_the_core() -> Result<()> {
        for text in TEXTS {
            assert_eq!(of_postgres(text)?, of_core(text), "{text}");
        }
        assert!(TEXTS.iter().map(|text| of_core(text).len()).sum::<usize>() > 200);
        Ok(())
    }

    #[pg_test]
    fn tokens_of_a_long_text_are_those_of_the_core() -> Result<()> {
        let text = TEXTS.join("\n").repeat(200) + &"x".repeat(5000) + &"é".repeat(700) + &"日".repeat(3000);
        assert_eq!(of_postgres(&text)?, of_core(&text));
        Ok(())
    }

    #[pg_test]
    fn kinds_are_those_of_the_core() -> Result<()> {
        let kinds = statement::rows(
            &Anyone,
            "SELECT tokid, alias, description FROM ts_token_type('docsearch.code_parser')",
            &[],
            |row| Ok((row.required(1)?, row.required(2)?, row.required(3)?)),
        )?;
        let of_core = TokenKind::ALL.map(|kind| (kind as i32, kind.alias().to_owned(), kind.description().to_owned()));
        assert_eq!(kinds, of_core);
        Ok(())
    }

    #[pg_test]
    fn every_kind_but_gaps_is_indexed_by_every_configuration() -> Result<()> {
        let mapped = statement::rows(
            &Anyone,
            "SELECT (SELECT array_agg(DISTINCT m.maptokentype ORDER BY m.maptokentype) FROM pg_ts_config_map m
                     WHERE m.mapcfg = c.oid)
             FROM pg_ts_config c WHERE c.cfgnamespace = 'docsearch'::regnamespace",
            &[],
            |row| row.required::<Vec<i32>>(1),
        )?;
        let kinds = TokenKind::ALL.into_iter().filter(|kind| *kind != TokenKind::Gap);
        let kinds: Vec<i32> = kinds.map(|kind| kind as i32).collect();
        assert!(mapped.len() > 20 && mapped.iter().all(|mapped| *mapped == kinds));
        Ok(())
    }

    #[pg_test]
    fn words_are_indexed_in_the_order_of_the_tokens() -> Result<()> {
        for text in TEXTS {
            let indexed = statement::rows(
                &Anyone,
                "SELECT u.lexeme, p FROM unnest(to_tsvector('docsearch.simple', $1)) u, unnest(u.positions) p
                 ORDER BY p, u.lexeme COLLATE \"C\"",
                &[text.into()],
                |row| Ok((i32::from(row.required::<i16>(2)?), row.required::<String>(1)?)),
            )?;
            let mut words: Vec<(i32, String)> = of_core(text)
                .into_iter()
                .filter(|(kind, _)| *kind != TokenKind::Gap as i32)
                .zip(1..)
                .map(|((_, word), place)| (place, word.to_lowercase()))
                .collect();
            words.sort();
            assert_eq!(indexed, words, "{text}");
        }
        Ok(())
    }

    #[pg_test]
    fn headline_of_everything_is_the_text_in_its_form() -> Result<()> {
        for text in TEXTS {
            let headline = statement::one(
                &Anyone,
                "SELECT ts_headline('docsearch.simple', $1, 'nothing_of_it', 'HighlightAll=true, StartSel=\"\", StopSel=\"\"')",
                &[text.into()],
                |row| row.required::<String>(1),
            )?;
            assert_eq!(headline.as_deref(), Some(Form::of(text).text()));
        }
        Ok(())
    }

    #[pg_test]
    fn concurrent_parses_do_not_mix() -> Result<()> {
        let parser = Parser::find()?;
        let (one, other) = (TEXTS[4], TEXTS[8]);
        let states = [parser.start(one.as_bytes()), parser.start(other.as_bytes())];
        let (mut of_one, mut of_other) = (vec![], vec![]);
        loop {
            let next = (parser.next(states[0]), parser.next(states[1]));
            if next == (None, None) {
                break;
            }
            of_one.extend(next.0);
            of_other.extend(next.1);
        }
        states.into_iter().for_each(|state| parser.end(state));
        assert_eq!((of_one, of_other), (of_core(one), of_core(other)));
        Ok(())
    }

    #[pg_test]
    fn parse_has_no_token_after_the_last_or_after_its_end() -> Result<()> {
        let parser = Parser::find()?;
        let text = "one two";
        let state = parser.start(text.as_bytes());
        assert_eq!(std::iter::from_fn(|| parser.next(state)).count(), of_core(text).len());
        assert_eq!([parser.next(state), parser.next(state)], [None, None]);
        parser.end(state);
        let state = parser.start(text.as_bytes());
        assert!(parser.next(state).is_some());
        parser.end(state);
        assert_eq!(parser.next(state), None);
        parser.end(state);
        Ok(())
    }

    #[pg_test]
    fn parse_without_an_end_is_freed_with_its_memory() -> Result<()> {
        let parser = Parser::find()?;
        for text in TEXTS {
            // SAFETY: the context is deleted together with the parse that started in it.
            unsafe {
                let mut context = PgMemoryContexts::new("parse");
                context.switch_to(|_| {
                    let state = parser.start(text.as_bytes());
                    parser.next(state);
                });
            }
        }
        Ok(())
    }

    #[pg_test]
    fn bytes_that_are_no_text_are_refused() -> Result<()> {
        let parser = Parser::find()?;
        for bytes in [b"\xff".as_slice(), b"a\xc3", b"\xed\xa0\x80", b"ok \xf0\x28\x8c\x28"] {
            let refused = subtransaction::run(|| Ok(parser.start(bytes)));
            let problem = refused.expect_err("no text");
            assert_eq!(code(problem), PgSqlErrorCode::ERRCODE_CHARACTER_NOT_IN_REPERTOIRE);
        }
        Ok(())
    }
}

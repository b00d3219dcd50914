//! Detects the language of a text.

use docsearch_core::text::language::{LANGUAGES, Language};
use pgrx::datum::DatumWithOid;
use std::collections::{BTreeMap, BTreeSet};

use crate::postgres::report::Result;
use crate::postgres::role::Caller;
use crate::postgres::statement;

/// Characters of a text that are read to detect its language.
const SAMPLE_CHARS: usize = 2_000;

/// The language of a text. Stop words are those that the dictionary of a language leaves out.
pub(crate) fn detected(caller: &Caller, text: &str) -> Result<Option<Language>> {
    let end = text.char_indices().nth(SAMPLE_CHARS).map_or(text.len(), |(end, _)| end);
    let text = &text[..end];
    let words: Vec<String> = text
        .split(|c: char| !c.is_alphabetic())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let (codes, dictionaries): (Vec<String>, Vec<String>) = LANGUAGES
        .iter()
        .filter(|language| language.text_config != "simple")
        .map(|language| (language.code.to_owned(), format!("{}_stem", language.text_config)))
        .unzip();
    let stop_words: BTreeMap<String, i64> = statement::rows(
        caller,
        "SELECT l.code, count(*) FROM unnest($1::text[], $2::text[]) AS l(code, dictionary)
         JOIN pg_ts_dict d ON d.dictname = l.dictionary AND d.dictnamespace = 'pg_catalog'::regnamespace,
              unnest($3::text[]) AS w(word)
         WHERE cardinality(ts_lexize(d.oid, w.word)) = 0 GROUP BY l.code",
        &[
            DatumWithOid::from(codes),
            DatumWithOid::from(dictionaries),
            DatumWithOid::from(words),
        ],
        |row| Ok((row.required(1)?, row.required(2)?)),
    )?
    .into_iter()
    .collect();
    Ok(Language::detect(text, &stop_words))
}

/// The stop words among `words`, which are in lower case, by the language of most of them.
pub(crate) fn stop_words(caller: &Caller, words: &[String]) -> Result<BTreeSet<String>> {
    let Some(language) = detected(caller, &words.join(" "))?.filter(|language| language.text_config != "simple") else {
        return Ok(BTreeSet::new());
    };
    let found = statement::rows(
        caller,
        "SELECT w.word FROM unnest($2::text[]) AS w(word), pg_ts_dict d
         WHERE d.dictname = $1 AND d.dictnamespace = 'pg_catalog'::regnamespace AND cardinality(ts_lexize(d.oid, w.word)) = 0",
        &[
            DatumWithOid::from(format!("{}_stem", language.text_config)),
            DatumWithOid::from(words.to_vec()),
        ],
        |row| row.required(1),
    )?;
    Ok(found.into_iter().collect())
}

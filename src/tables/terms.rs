//! Words and the index of them: what dictionaries make of a word, and keeping the index of terms in order.

use pgrx::datum::DatumWithOid;

use crate::postgres::report::Result;
use crate::postgres::statement;

/// What the dictionaries of a configuration make of each word, given by the kind of its token.
pub(crate) fn lexemes(text_config: &str, kinds: &[i32], words: &[&str]) -> Result<Vec<Vec<String>>> {
    let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    let found = statement::lookup(
        "SELECT (SELECT x.lexemes FROM (
                     SELECT m.mapseqno, ts_lexize(m.mapdict, w.word) AS lexemes
                     FROM pg_ts_config_map m
                     WHERE m.mapcfg = $1::regconfig AND m.maptokentype = w.kind
                 ) x WHERE x.lexemes IS NOT NULL ORDER BY x.mapseqno LIMIT 1)
         FROM unnest($2::int[], $3::text[]) WITH ORDINALITY AS w(kind, word, place) ORDER BY w.place",
        &[
            DatumWithOid::from(text_config),
            DatumWithOid::from(kinds.to_vec()),
            DatumWithOid::from(words),
        ],
        |row| Ok(row.optional::<Vec<String>>(1)?.unwrap_or_default()),
    )?;
    Ok(found)
}

/// Sorts what a call has written into the index of terms. One after the other, chunks would be sorted in
/// with five times the work, and a list that nobody sorts makes searches slow. Runs as the owner.
pub(crate) fn tidy_index() -> Result<()> {
    statement::execute(
        "SELECT gin_clean_pending_list(to_regclass('docsearch.chunk_terms'))",
        &[],
    )
}

//! Words and the index of them: what dictionaries make of a word, and keeping the index of terms in order.

use crate::postgres::dictionary::Dictionaries;
use crate::postgres::report::Result;
use crate::postgres::statement;

/// What the dictionaries of a configuration make of each word, given by the kind of its token. Runs as the caller.
pub(crate) fn lexemes(text_config: &str, kinds: &[i32], words: &[&str]) -> Result<Vec<Vec<String>>> {
    Ok(Dictionaries::of(text_config)?.lexemes(kinds, words))
}

/// Sorts what a call has written into the index of terms. One after the other, chunks would be sorted in
/// with five times the work, and a list that nobody sorts makes searches slow. Runs as the owner.
pub(crate) fn tidy_index() -> Result<()> {
    statement::execute(
        "SELECT gin_clean_pending_list(to_regclass('docsearch.chunk_terms'))",
        &[],
    )
}

//! Words and the index of them: what dictionaries make of a word, and keeping the index of terms in order.

use crate::postgres::dictionary::Dictionaries;
use crate::postgres::report::Result;
use crate::postgres::role::{Caller, Owner};
use crate::postgres::statement;

/// What the dictionaries of a configuration make of each word, given by the kind of its token.
pub(crate) fn lexemes(caller: &Caller, text_config: &str, kinds: &[i32], words: &[&str]) -> Result<Vec<Vec<String>>> {
    Ok(Dictionaries::of(caller, text_config)?.lexemes(kinds, words))
}

/// Sorts what a call has written into the index of terms. One after the other, chunks would be sorted in with five times
/// the work, and a list that nobody sorts makes searches slow.
pub(crate) fn tidy_index(owner: &Owner<'_>) -> Result<()> {
    statement::execute(
        owner,
        "SELECT gin_clean_pending_list(to_regclass('docsearch.chunk_terms'))",
        &[],
    )
}

//! Lexemes of words, and maintenance of the index of terms.

use crate::postgres::dictionary::Dictionaries;
use crate::postgres::report::Result;
use crate::postgres::role::{Caller, Owner};
use crate::postgres::statement;

/// The lexemes that a configuration's dictionaries give for each word, by the kind of its token.
pub(crate) fn lexemes(caller: &Caller, text_config: &str, kinds: &[i32], words: &[&str]) -> Result<Vec<Vec<String>>> {
    Ok(Dictionaries::of(caller, text_config)?.lexemes(kinds, words))
}

/// Whether positions of the configuration's vectors are those of tokens of `docsearch.code_parser`.
pub(crate) fn has_code_parser(caller: &Caller, text_config: &str) -> Result<bool> {
    Ok(Dictionaries::of(caller, text_config)?.has_code_parser())
}

/// Flushes the pending list of the index of terms. Inserting chunks one by one would take five times the work, and a
/// long pending list makes searches slow.
pub(crate) fn flush_pending_list(owner: &Owner<'_>) -> Result<()> {
    statement::execute(
        owner,
        "SELECT gin_clean_pending_list(to_regclass('docsearch.chunk_terms'))",
        &[],
    )
}

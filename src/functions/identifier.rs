//! Identifiers in words.

use pgrx::prelude::*;

#[pg_schema]
mod docsearch {
    use super::*;

    /// The identifier with a space between its words.
    #[pg_extern(immutable, strict, parallel_safe)]
    fn split_identifier(identifier: &str) -> String {
        docsearch_core::identifier::split_identifier(identifier)
    }
}

//! `split_identifier`.

use crate::postgres::argument::{Text, arguments};
use crate::postgres::report::Result;
use pgrx::prelude::*;

#[pg_schema]
mod docsearch {
    use super::*;

    /// Returns an identifier with a space between its words.
    #[pg_extern(immutable, strict, parallel_safe)]
    fn split_identifier(identifier: Text<'_>) -> Result<String> {
        arguments!(identifier);
        Ok(docsearch_core::text::identifier::split_identifier(identifier))
    }
}

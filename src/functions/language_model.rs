//! `test_language_model`.

use pgrx::prelude::*;

use crate::models::language_model;
use crate::postgres::report::Result;

#[pg_schema]
mod docsearch {
    use super::*;

    /// Asks the language model for one word, and returns the answer with the time that it took.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn test_language_model() -> Result<String> {
        language_model::test()
    }
}

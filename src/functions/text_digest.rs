//! `text_digest`: generates the column of `docsearch.document` by which searches find pages with the same text.

use docsearch_core::documents::text_digest;
use pgrx::prelude::*;

use crate::postgres::argument::{Text, arguments};
use crate::postgres::report::Result;

#[pg_schema]
mod docsearch {
    use super::*;

    /// Returns a digest that is equal for pages with the same title and text.
    #[pg_extern(immutable, parallel_safe)]
    #[search_path(pg_catalog, pg_temp)]
    fn text_digest(title: Option<Text<'_>>, body: Option<Text<'_>>) -> Result<Option<i64>> {
        arguments!(title, body);
        Ok(title
            .zip(body)
            .and_then(|(title, body)| text_digest::text_digest(title, body)))
    }
}

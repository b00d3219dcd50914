//! `page_keys`: generates the column of `docsearch.document` that ranking compares.

use crate::postgres::argument::{Text, arguments};
use crate::postgres::report::Result;
use docsearch_core::documents::page_keys::{MAX_STORED_BYTES, PageKeys};
use pgrx::prelude::*;

#[pg_schema]
mod docsearch {
    use super::*;

    /// Returns the words and names of title, slug and category in the form that ranking compares.
    #[pg_extern(immutable, parallel_safe)]
    #[search_path(pg_catalog, pg_temp)]
    fn page_keys(
        title: Option<Text<'_>>,
        slug: Option<Text<'_>>,
        category: Option<Text<'_>>,
    ) -> Result<Option<Vec<u8>>> {
        arguments!(title, slug, category);
        let (Some(title), Some(slug)) = (title, slug) else {
            return Ok(None);
        };
        let bytes = title.len() + slug.len() + category.map_or(0, str::len);
        let keys = (bytes <= MAX_STORED_BYTES).then(|| PageKeys::of(title, slug, category));
        Ok(keys.and_then(|keys| keys.stored().map(<[u8]>::to_vec)))
    }
}

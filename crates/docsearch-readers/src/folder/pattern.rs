//! Patterns of paths.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::error::Error;

/// Compiles glob patterns. `*` does not match `/`, `**` does. A pattern that ends in `/` matches everything in the
/// folder.
pub fn globs(patterns: &[String]) -> Result<GlobSet, Error> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let whole = match pattern.strip_suffix('/') {
            Some(folder) => format!("{folder}/**"),
            None => pattern.clone(),
        };
        let glob = GlobBuilder::new(whole.trim_start_matches('/'))
            .literal_separator(true)
            .build();
        set.add(glob?);
    }
    Ok(set.build()?)
}

//! Patterns of paths.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::error::Error;

/// The paths that any of the patterns means. `*` stays within a segment, `**` does not. A folder stands for everything in
/// it.
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

//! Where what can be fetched again is kept.

use std::path::PathBuf;

/// The folder `name` among those of this program, below the cache of the user; `None` if the user has no home.
pub(crate) fn default_root(name: &str) -> Option<PathBuf> {
    let absolute = |name: &str| {
        let path = PathBuf::from(std::env::var_os(name)?);
        path.is_absolute().then_some(path)
    };
    absolute("XDG_CACHE_HOME")
        .or_else(|| Some(absolute("HOME")?.join(".cache")))
        .map(|cache| cache.join("pg_docsearch").join(name))
}

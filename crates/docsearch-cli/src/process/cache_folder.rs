//! Folders for cached data.

use std::path::PathBuf;

use sha2::{Digest, Sha256};

/// The folder `name` in the cache of this program and user; `None` if the user has no home.
pub(crate) fn default_root(name: &str) -> Option<PathBuf> {
    let absolute = |name: &str| {
        let path = PathBuf::from(std::env::var_os(name)?);
        path.is_absolute().then_some(path)
    };
    absolute("XDG_CACHE_HOME")
        .or_else(|| Some(absolute("HOME")?.join(".cache")))
        .map(|cache| cache.join("pg_docsearch").join(name))
}

/// SHA-256 in hexadecimal, as a file name for the cached data of `text`.
pub(crate) fn digest(text: &str) -> String {
    base16ct::lower::encode_string(&Sha256::digest(text))
}

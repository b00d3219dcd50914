//! Vectors of the session's recent queries, for when their model is unavailable.

use std::cell::RefCell;

use docsearch_core::values::digest::digest;
use docsearch_core::values::recent::Recent;
use pgrx::pg_sys;

use crate::settings;
use crate::tables::model::ModelRow;

/// Bytes of all of them, about 40 vectors of the shipped model. Each connection has its own.
const MAX_BYTES: usize = 64 << 10;

thread_local! {
    static VECTORS: RefCell<Recent<Key, Vec<f32>>> = const { RefCell::new(Recent::new(MAX_BYTES)) };
}

/// A query of a role: another role that uses the session later does not see its vector.
#[derive(PartialEq)]
pub(crate) struct Key {
    role: pg_sys::Oid,
    model: i32,
    /// Digest of the model's files.
    digest: String,
}

impl Key {
    /// A query of the current user.
    pub(crate) fn of(model: &ModelRow, query: &str) -> Self {
        Self {
            // SAFETY: reads the current user.
            role: unsafe { pg_sys::GetUserId() },
            model: model.id,
            digest: digest(&[&model.digest, query]),
        }
    }
}

/// The vector of a query, if it is cached.
pub(crate) fn recall(key: &Key) -> Option<Vec<f32>> {
    VECTORS.with_borrow_mut(|vectors| vectors.get(key))
}

/// Caches the vector of a query, unless the cache is turned off.
pub(crate) fn keep(key: Key, vector: &[f32]) {
    if settings::query_cache_bytes() > 0 {
        let bytes = size_of::<Key>() + key.digest.len() + size_of_val(vector);
        VECTORS.with_borrow_mut(|vectors| vectors.put(key, vector.to_vec(), bytes));
    }
}

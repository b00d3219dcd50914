//! Vectors of the queries that this session has searched with, for when their model cannot be asked.

use std::cell::RefCell;

use docsearch_core::values::digest::digest;
use docsearch_core::values::recent::Recent;
use pgrx::pg_sys;

use crate::settings;
use crate::tables::model::ModelRow;

/// Bytes of them together, some 40 of the shipped model: each connection has its own.
const MAX_BYTES: usize = 64 << 10;

thread_local! {
    static VECTORS: RefCell<Recent<Key, Vec<f32>>> = const { RefCell::new(Recent::new(MAX_BYTES)) };
}

/// A query as a role has asked it: what a role asked is not shown to another one that uses the session after it.
#[derive(PartialEq)]
pub(crate) struct Key {
    role: pg_sys::Oid,
    model: i32,
    /// Of what decides the vector.
    digest: String,
}

impl Key {
    /// Of a query of the current user.
    pub(crate) fn of(model: &ModelRow, query: &str) -> Self {
        Self {
            // SAFETY: asks about the current user.
            role: unsafe { pg_sys::GetUserId() },
            model: model.id,
            digest: digest(&[&model.digest, query]),
        }
    }
}

/// The vector of a query, if it was kept.
pub(crate) fn recall(key: &Key) -> Option<Vec<f32>> {
    VECTORS.with_borrow_mut(|vectors| vectors.get(key))
}

/// Keeps the vector of a query, unless vectors of queries are not to be kept at all.
pub(crate) fn keep(key: Key, vector: &[f32]) {
    if settings::query_cache_bytes() > 0 {
        let bytes = size_of::<Key>() + key.digest.len() + size_of_val(vector);
        VECTORS.with_borrow_mut(|vectors| vectors.put(key, vector.to_vec(), bytes));
    }
}

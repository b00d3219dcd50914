//! `tsvector` values of query results.

use pgrx::pg_sys;
use pgrx::prelude::*;

/// The bytes of a `tsvector` after its length word, for `docsearch_core::postgres::tsvector`.
pub(crate) struct TsVectorBytes {
    plain: *mut pg_sys::varlena,
    /// Whether detoasting made a copy, which is freed with this value.
    copied: bool,
}

impl TsVectorBytes {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        // SAFETY: the value is a plain varlena, whose length word is its size. It lives in the result of the row, or is
        // a copy of this process.
        unsafe {
            let length = pgrx::varsize_any_exhdr(self.plain);
            std::slice::from_raw_parts(pgrx::vardata_any(self.plain).cast::<u8>(), length)
        }
    }
}

impl Drop for TsVectorBytes {
    fn drop(&mut self) {
        if self.copied {
            // SAFETY: the copy was made by detoasting and is referenced here only.
            unsafe { pg_sys::pfree(self.plain.cast()) };
        }
    }
}

impl FromDatum for TsVectorBytes {
    unsafe fn from_polymorphic_datum(datum: pg_sys::Datum, is_null: bool, _: pg_sys::Oid) -> Option<Self> {
        if is_null {
            return None;
        }
        let stored = datum.cast_mut_ptr::<pg_sys::varlena>();
        // SAFETY: a tsvector is a varlena; detoasting gives its plain, aligned form.
        let plain = unsafe { pg_sys::pg_detoast_datum(stored) };
        Some(Self {
            plain,
            copied: plain != stored,
        })
    }
}

impl IntoDatum for TsVectorBytes {
    fn into_datum(self) -> Option<pg_sys::Datum> {
        None
    }

    fn type_oid() -> pg_sys::Oid {
        pg_sys::TSVECTOROID
    }
}

#[cfg(feature = "pg_test")]
mod tests;

//! `tsvector` values of query results.

use pgrx::pg_sys;
use pgrx::prelude::*;

/// The bytes of a `tsvector` behind its length word, for `docsearch_core::tsvector`.
pub(crate) struct TsVectorBytes(Vec<u8>);

impl TsVectorBytes {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

impl FromDatum for TsVectorBytes {
    unsafe fn from_polymorphic_datum(datum: pg_sys::Datum, is_null: bool, _: pg_sys::Oid) -> Option<Self> {
        if is_null {
            return None;
        }
        // SAFETY: a tsvector is a varlena; detoasting gives its plain form, whose length word says
        // how many bytes follow.
        unsafe {
            let stored = datum.cast_mut_ptr::<pg_sys::varlena>();
            let plain = pg_sys::pg_detoast_datum(stored);
            let length = pgrx::varsize_any_exhdr(plain);
            let bytes = std::slice::from_raw_parts(pgrx::vardata_any(plain).cast::<u8>(), length).to_vec();
            if plain != stored {
                pg_sys::pfree(plain.cast());
            }
            Some(Self(bytes))
        }
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

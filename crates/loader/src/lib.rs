//! `pg_docsearch.so`, the name in `shared_preload_libraries` and in the functions of version 0.1. It loads the library of
//! the installed version, whose file name contains the version. It also replaces the libraries of earlier versions: each
//! of their functions raises an error instead of reading arguments that it did not get.

use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;

pgrx::pg_module_magic!(name, version);

/// The library of this version.
const LIBRARY: &std::ffi::CStr = match std::ffi::CStr::from_bytes_with_nul(
    concat!(
        "$libdir/pg_docsearch-",
        env!("CARGO_PKG_VERSION_MAJOR"),
        ".",
        env!("CARGO_PKG_VERSION_MINOR"),
        "\0"
    )
    .as_bytes(),
) {
    Ok(name) => name,
    Err(_) => panic!("a version has no NUL"),
};

/// Runs when the library is loaded, possibly in the postmaster.
#[pg_guard]
pub extern "C-unwind" fn _PG_init() {
    // SAFETY: the name is a C string; `pg_guard` handles errors of the server.
    unsafe { pg_sys::load_file(LIBRARY.as_ptr(), false) };
}

/// Calling convention of each function.
static CONVENTION: pg_sys::Pg_finfo_record = pg_sys::Pg_finfo_record { api_version: 1 };

fn refuse() {
    ErrorReport::new(
        PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        "the functions of pg_docsearch in this database are older than its library",
        "",
    )
    .set_hint("Run as a superuser: ALTER EXTENSION pg_docsearch UPDATE; then SELECT docsearch.migrate().")
    .report(PgLogLevel::ERROR);
}

/// Entry point of background workers of earlier versions. They end for good.
fn retire() {
    log!(
        "pg_docsearch: a session from before the upgrade requested a background worker, whose library was removed; \
         such sessions have to reconnect"
    );
}

macro_rules! superseded {
    ($($function:ident $information:ident)*) => {$(
        /// Calling convention of the function.
        #[unsafe(no_mangle)]
        pub extern "C" fn $information() -> &'static pg_sys::Pg_finfo_record {
            &CONVENTION
        }

        /// A function of an earlier version.
        #[pg_guard]
        #[unsafe(no_mangle)]
        pub extern "C-unwind" fn $function(_call: pg_sys::FunctionCallInfo) -> pg_sys::Datum {
            refuse();
            pg_sys::Datum::null()
        }
    )*};
}

macro_rules! retired {
    ($($worker:ident)*) => {$(
        /// A background worker of an earlier version.
        #[pg_guard]
        #[unsafe(no_mangle)]
        pub extern "C-unwind" fn $worker(_argument: pg_sys::Datum) {
            retire();
        }
    )*};
}

include!(concat!(env!("OUT_DIR"), "/superseded.rs"));
retired! { docsearch_indexer docsearch_supervisor }

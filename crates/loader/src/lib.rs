//! `pg_docsearch.so`, the name that `shared_preload_libraries` and the functions of version 0.1 know. It loads the
//! library of the installed version, whose file is named after that, and stands in for those of earlier versions: what
//! their functions expect is not there any more, and each says so instead of reading arguments that it was not given.

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

/// Called when the library is loaded, which may be in the postmaster.
#[pg_guard]
pub extern "C-unwind" fn _PG_init() {
    // SAFETY: the name is a string of C; errors of the server pass through `pg_guard`.
    unsafe { pg_sys::load_file(LIBRARY.as_ptr(), false) };
}

/// How each function is called.
static CALLED: pg_sys::Pg_finfo_record = pg_sys::Pg_finfo_record { api_version: 1 };

fn refuse() {
    ErrorReport::new(
        PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        "the functions of pg_docsearch in this database are of an earlier version than its library",
        "",
    )
    .set_hint("Run as a superuser: ALTER EXTENSION pg_docsearch UPDATE; then SELECT docsearch.migrate().")
    .report(PgLogLevel::ERROR);
}

/// What background workers of earlier versions begin with. They end for good.
fn retire() {
    log!(
        "pg_docsearch: a session of an earlier version asked for a background worker, whose library is gone; \
         connections that began before the upgrade have to be made anew"
    );
}

macro_rules! superseded {
    ($($function:ident $information:ident)*) => {$(
        /// How the function is called.
        #[unsafe(no_mangle)]
        pub extern "C" fn $information() -> &'static pg_sys::Pg_finfo_record {
            &CALLED
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

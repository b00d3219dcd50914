//! Memory of the server.

use pgrx::PgMemoryContexts;

/// Runs work that is repeated many times in one call, and frees what it has allocated in the server's memory. Its value must
/// not be there.
pub(crate) fn freed<T>(work: impl FnOnce() -> T) -> T {
    let mut context = PgMemoryContexts::new("docsearch repeated work");
    // SAFETY: nothing that is allocated there is used later, as the caller promises.
    unsafe { context.switch_to(|_| work()) }
}

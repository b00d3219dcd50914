//! Runs readers on untrusted files: a panic fails the file, not the program, and recursion has room.

use std::panic::{self, AssertUnwindSafe};
use std::thread;

use crate::draft::Unreadable;

/// Stack of the reader thread in bytes; pages that are not used cost nothing.
const STACK_BYTES: usize = 64 << 20;

/// Runs `read`; a panic is a file that cannot be read, which must not end a run over thousands of files.
pub(crate) fn caught<T>(read: impl FnOnce() -> Result<T, Unreadable>) -> Result<T, Unreadable> {
    panic::catch_unwind(AssertUnwindSafe(read)).unwrap_or(Err(Unreadable::Crashed))
}

/// Runs a third-party reader in a thread of its own.
pub(crate) fn run<T: Send>(
    format: &'static str,
    read: impl FnOnce() -> Result<T, Unreadable> + Send,
) -> Result<T, Unreadable> {
    let malformed = |reason: String| Unreadable::Malformed { format, reason };
    thread::scope(|scope| {
        let reader = thread::Builder::new()
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, read)
            .map_err(|error| malformed(format!("cannot start a thread to read it: {error}")))?;
        reader
            .join()
            .unwrap_or_else(|_| Err(malformed("the reader crashed".to_owned())))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_file_that_cannot_be_read() {
        let failed: Result<(), _> = run("test", || panic!("a bug"));
        assert!(matches!(failed, Err(Unreadable::Malformed { format: "test", .. })));
        assert_eq!(run("test", || Ok(1)).unwrap(), 1);

        let failed: Result<(), _> = caught(|| panic!("a bug"));
        assert!(matches!(failed, Err(Unreadable::Crashed)));
        assert_eq!(caught(|| Ok(1)).unwrap(), 1);
    }
}

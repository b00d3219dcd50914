//! Locking, whatever has become of those who held the lock before.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks `mutex`, also one that a thread has panicked with: a text that fails must not fail all others.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

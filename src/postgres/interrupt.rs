//! Interrupts: cancels, timeouts and shutdown also end long work of the core.

/// Has the core check for interrupts of this process on its main thread.
pub(crate) fn enable() {
    docsearch_core::values::interrupt::set(check);
}

/// Raises the error of a pending interrupt.
pub(crate) fn check() {
    pgrx::check_for_interrupts!();
}

//! Interrupts: cancelling, timeouts and the end of the server act in long work of the core, too.

/// Has the core look at the interrupts of this process, on its main thread.
pub(crate) fn enable() {
    docsearch_core::values::interrupt::set(check);
}

/// Raises the error of an interrupt that is pending.
pub(crate) fn check() {
    pgrx::check_for_interrupts!();
}

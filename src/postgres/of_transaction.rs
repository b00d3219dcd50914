//! State that lasts as long as a transaction that writes.

use pgrx::pg_sys;

/// A value that begins with its default in each transaction.
#[derive(Default)]
pub(crate) struct OfTransaction<T> {
    transaction: Option<pg_sys::TransactionId>,
    value: T,
}

impl<T: Default> OfTransaction<T> {
    /// The value in this transaction, which gets an id if it has none.
    pub(crate) fn current(&mut self) -> &mut T {
        // SAFETY: runs within a transaction.
        let transaction = Some(unsafe { pg_sys::GetTopTransactionId() });
        if self.transaction != transaction {
            *self = Self {
                transaction,
                value: T::default(),
            };
        }
        &mut self.value
    }
}

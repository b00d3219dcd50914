//! Counts of a load.

use serde::Serialize;

/// Numbers of documents by outcome.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Tally {
    pub(crate) added: u64,
    pub(crate) changed: u64,
    pub(crate) unchanged: u64,
    pub(crate) deleted: u64,
    pub(crate) failed: u64,
}

impl Tally {
    /// Number of documents that were sent to the indexing function.
    pub(crate) fn documents(&self) -> u64 {
        self.added + self.changed + self.unchanged + self.failed
    }
}

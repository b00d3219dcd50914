//! The counts of a load.

use serde::Serialize;

/// How many documents ended up how.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Tally {
    pub(crate) added: u64,
    pub(crate) changed: u64,
    pub(crate) unchanged: u64,
    pub(crate) deleted: u64,
    pub(crate) failed: u64,
}

impl Tally {
    /// Documents that went through the indexing function.
    pub(crate) fn documents(&self) -> u64 {
        self.added + self.changed + self.unchanged + self.failed
    }
}

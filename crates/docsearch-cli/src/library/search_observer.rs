//! What happens to searches, for counters.

use std::time::Duration;

use super::{LogSource, SearchAnswer};
use crate::process::error::Error;

/// Counts searches, whichever front end they come from.
pub(crate) trait SearchObserver: Send + Sync {
    fn searched(&self, source: LogSource, found: &Result<SearchAnswer, Error>, took: Duration);
}

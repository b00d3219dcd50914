//! What a client needs of the process it lives in.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use crate::error::Result;

/// What a socket is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// Something to read, or its end.
    Read,
    /// Room to write.
    Write,
}

/// What a client needs of the process it lives in.
pub trait Host {
    /// Waits until the socket is ready or the time has passed. May return earlier for no reason,
    /// and may unwind to cancel what is under way.
    fn wait(&mut self, socket: Option<(BorrowedFd<'_>, Readiness)>, timeout: Duration);

    /// Called, again and again, while nobody answers at the socket: sees to it that the service
    /// is started.
    ///
    /// # Errors
    /// [`Error::Unavailable`](crate::Error::Unavailable) if there is no point in waiting any longer.
    fn revive(&mut self) -> Result<()>;

    /// How long an answer, or the start of the service, may take.
    fn patience(&self) -> Duration;
}

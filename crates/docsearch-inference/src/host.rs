//! What a client needs from its process.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use crate::error::Result;

/// The event to wait for on a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// Readable or closed.
    Read,
    /// Writable.
    Write,
}

/// What a client needs from its process.
pub trait Host {
    /// Waits until the socket is ready or the time has passed. May return early without a reason, and may unwind to
    /// cancel the request.
    fn wait(&mut self, socket: Option<(BorrowedFd<'_>, Readiness)>, timeout: Duration);

    /// Starts the service if it is not starting. Called repeatedly while no process listens at the socket.
    ///
    /// # Errors
    /// [`Error::Unavailable`](crate::Error::Unavailable) if waiting any longer is useless.
    fn start_service(&mut self) -> Result<()>;

    /// Maximum time until the service has started or answered.
    fn timeout(&self) -> Duration;
}

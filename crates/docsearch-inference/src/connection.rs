//! The client's end of the socket.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::socket::{self, AddressFamily, SockFlag, SockType, UnixAddr, getsockopt, sockopt};

use crate::error::{Error, Result};
use crate::host::{Host, Readiness};
use crate::protocol::{self, LENGTH_BYTES, Request, Response};

/// Bytes per read from the socket: several vectors.
const READ_BYTES: usize = 16 * 1024;

/// A connection to the service that never blocks. The [`Host`] waits.
pub(crate) struct Connection {
    stream: UnixStream,
    received: Vec<u8>,
    last_id: u64,
}

impl Connection {
    /// Connects, or returns `None` if the listener's backlog is full.
    pub(crate) fn open(path: &Path) -> io::Result<Option<Self>> {
        let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
        let socket: OwnedFd = socket::socket(AddressFamily::Unix, SockType::Stream, flags, None)?;
        let address = UnixAddr::new(path)?;
        match socket::connect(std::os::fd::AsRawFd::as_raw_fd(&socket), &address) {
            Ok(()) => Ok(Some(Self {
                stream: UnixStream::from(socket),
                received: Vec::new(),
                last_id: 0,
            })),
            Err(Errno::EAGAIN) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// The process id of the service at the time of connecting.
    pub(crate) fn program(&self) -> i32 {
        getsockopt(&self.stream, sockopt::PeerCredentials).map_or(0, |peer| peer.pid())
    }

    /// Whether the connection is open and has nothing to read.
    pub(crate) fn is_idle(&mut self) -> bool {
        let mut byte = [0];
        let read = self.stream.read(&mut byte);
        matches!(read, Err(error) if error.kind() == io::ErrorKind::WouldBlock)
    }

    pub(crate) fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// Sends a request. Waits until the socket has room for it.
    ///
    /// # Errors
    /// [`Error::Lost`]; [`Error::TimedOut`] at the deadline.
    pub(crate) fn send(&mut self, host: &mut impl Host, request: &Request, deadline: Deadline) -> Result<()> {
        let frame = protocol::encode(request)?;
        let mut rest = frame.as_slice();
        while !rest.is_empty() {
            match self.stream.write(rest) {
                Ok(written) => rest = &rest[written..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    host.wait(Some((self.stream.as_fd(), Readiness::Write)), deadline.left()?);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(lost(&error)),
            }
        }
        Ok(())
    }

    /// The next response; `None` if `wait` passes without one.
    ///
    /// # Errors
    /// [`Error::Lost`] or [`Error::Protocol`]: the connection cannot be used any more.
    pub(crate) fn receive(&mut self, host: &mut impl Host, wait: Duration) -> Result<Option<Response>> {
        let end = Instant::now() + wait;
        loop {
            if let Some(response) = self.take_response()? {
                return Ok(Some(response));
            }
            if self.read_more()? {
                continue;
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            host.wait(Some((self.stream.as_fd(), Readiness::Read)), left);
        }
    }

    /// Reads what has arrived; false if there is nothing yet.
    fn read_more(&mut self) -> Result<bool> {
        let start = self.received.len();
        self.received.resize(start + READ_BYTES, 0);
        let read = self.stream.read(&mut self.received[start..]);
        self.received.truncate(start + read.as_ref().copied().unwrap_or(0));
        match read {
            Ok(0) => Err(lost(&io::ErrorKind::UnexpectedEof.into())),
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(true),
            Err(error) => Err(lost(&error)),
        }
    }

    fn take_response(&mut self) -> Result<Option<Response>> {
        let Some(length) = self.received.first_chunk::<LENGTH_BYTES>() else {
            return Ok(None);
        };
        let end = LENGTH_BYTES + protocol::frame_length(*length)?;
        let Some(frame) = self.received.get(LENGTH_BYTES..end) else {
            return Ok(None);
        };
        let response = protocol::decode(frame)?;
        self.received.drain(..end);
        Ok(Some(response))
    }
}

fn lost(error: &io::Error) -> Error {
    Error::Lost {
        reason: error.to_string(),
    }
}

/// The end of a timeout.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    begun: Instant,
    timeout: Duration,
}

impl Deadline {
    pub(crate) fn after(timeout: Duration) -> Self {
        Self {
            begun: Instant::now(),
            timeout,
        }
    }

    /// The time left, more than zero.
    ///
    /// # Errors
    /// [`Error::TimedOut`].
    pub(crate) fn left(self) -> Result<Duration> {
        let left = self.timeout.saturating_sub(self.begun.elapsed());
        if left.is_zero() {
            return Err(Error::TimedOut { after: self.timeout });
        }
        Ok(left)
    }
}

/// Reads arbitrary bytes as answers of a service.
#[cfg(all(test, feature = "service"))]
pub(crate) fn fuzz(input: &[u8]) {
    use std::os::fd::BorrowedFd;

    struct Patient;
    impl Host for Patient {
        fn wait(&mut self, _: Option<(BorrowedFd<'_>, Readiness)>, _: Duration) {}
        fn start_service(&mut self) -> Result<()> {
            Ok(())
        }
        fn timeout(&self) -> Duration {
            Duration::ZERO
        }
    }
    let (mut service, stream) = UnixStream::pair().expect("a pair of sockets");
    stream.set_nonblocking(true).expect("a socket that does not block");
    let mut connection = Connection {
        stream,
        received: Vec::new(),
        last_id: 0,
    };
    for part in input.chunks(READ_BYTES) {
        service.write_all(part).expect("room in the socket");
        let mut read = 0;
        while let Ok(Some(_)) = connection.receive(&mut Patient, Duration::ZERO) {
            read += 1;
        }
        assert!(read <= input.len());
    }
    drop(service);
    while let Ok(Some(_)) = connection.receive(&mut Patient, Duration::ZERO) {}
}

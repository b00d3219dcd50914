//! The answers to the requests of a connection. The thread that computes an answer writes it.

use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use nix::sys::socket::{MsgFlags, recv};

use crate::error::{Error, Failure, Result};
use crate::lock::lock;
use crate::protocol::{self, Answer, Response};

/// Maximum number of unanswered requests of one connection. The service reads no further until one is answered.
const UNANSWERED: usize = 128;
/// How long a client may leave answers unread before its connection is closed. A worker thread writes them.
const WRITE_TIMEOUT: Duration = Duration::from_secs(5);

/// The connection to the client, shared by the threads that compute answers.
pub(super) struct Answers {
    stream: Mutex<UnixStream>,
    unanswered: Mutex<usize>,
    answered: Condvar,
    closed: AtomicBool,
}

impl Answers {
    pub(super) fn of(stream: &UnixStream) -> io::Result<Self> {
        let stream = stream.try_clone()?;
        stream.set_write_timeout(Some(WRITE_TIMEOUT))?;
        Ok(Self {
            stream: Mutex::new(stream),
            unanswered: Mutex::new(0),
            answered: Condvar::new(),
            closed: AtomicBool::new(false),
        })
    }

    pub(super) fn wait_for_room(&self) {
        let mut unanswered = lock(&self.unanswered);
        while *unanswered >= UNANSWERED {
            unanswered = self.answered.wait(unanswered).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The reply that has to be sent for a request.
    pub(super) fn reply_to(answers: &Arc<Self>, id: u64) -> Reply {
        *lock(&answers.unanswered) += 1;
        Reply {
            id,
            answers: Arc::clone(answers),
            sent: false,
        }
    }

    fn send(&self, response: &Response) {
        if !self.are_closed() {
            let written = protocol::encode(response).is_ok_and(|frame| {
                let mut stream = lock(&self.stream);
                stream.write_all(&frame).is_ok()
            });
            if !written {
                self.close();
            }
        }
        *lock(&self.unanswered) -= 1;
        self.answered.notify_one();
    }

    pub(super) fn are_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// Whether the client has closed its end. No other thread reads it while a query is answered.
    pub(super) fn client_is_disconnected(&self) -> bool {
        let stream = lock(&self.stream);
        let flags = MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT;
        recv(stream.as_raw_fd(), &mut [0], flags) == Ok(0)
    }

    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        let stream = lock(&self.stream);
        // Ends the reader, too.
        let _ = stream.shutdown(std::net::Shutdown::Both);
    }
}

/// The reply to a request. Stopped work, or dropping this unused, closes the connection as if the program had been
/// killed, so that the client sends the request to the next program.
pub(super) struct Reply {
    id: u64,
    pub(super) answers: Arc<Answers>,
    sent: bool,
}

impl Reply {
    pub(super) fn send(mut self, answer: Result<Answer>) {
        self.answer(answer);
    }

    fn answer(&mut self, answer: Result<Answer>) {
        self.sent = true;
        if matches!(answer, Err(Error::Stopped)) {
            return self.answers.close();
        }
        let answer = answer.map_err(|error| Failure::from(&error));
        self.answers.send(&Response { id: self.id, answer });
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        if !self.sent {
            self.answer(Err(Error::Stopped));
        }
    }
}

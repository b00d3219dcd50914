//! The program, started by a test, and clients of it.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::cell::RefCell;
use std::fs;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use docsearch_inference::{Client, Error, Host, Readiness, ServedModel};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;

use crate::support::{PATIENCE, model_directory, runtime};

/// A host that waits with poll(2) and starts nothing.
#[derive(Clone)]
pub(crate) struct Poll {
    pub(crate) timeout: Duration,
}

impl Host for Poll {
    fn wait(&mut self, socket: Option<(BorrowedFd<'_>, Readiness)>, timeout: Duration) {
        let Some((socket, readiness)) = socket else {
            return thread::sleep(timeout);
        };
        let flags = match readiness {
            Readiness::Read => PollFlags::POLLIN,
            Readiness::Write => PollFlags::POLLOUT,
        };
        let timeout = PollTimeout::try_from(timeout).expect("a short time");
        poll(&mut [PollFd::new(socket.as_fd(), flags)], timeout).expect("an open socket");
    }

    fn start_service(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn timeout(&self) -> Duration {
        self.timeout
    }
}

/// A time limit that no text exceeds.
pub(crate) const PATIENT: [&str; 2] = ["--text-limit-ms", "300000"];
/// One thread for passages, and no cache.
pub(crate) const ONE_THREAD: [&str; 6] = ["--threads", "1", "--cache-bytes", "0", PATIENT[0], PATIENT[1]];

/// The program, in a directory of its own.
pub(crate) struct Program {
    pub(crate) directory: TempDir,
    pub(crate) child: Child,
}

impl Program {
    pub(crate) fn start() -> Self {
        Self::start_with(&["--threads", "2", "--cache-bytes", "1000000", PATIENT[0], PATIENT[1]])
    }

    pub(crate) fn start_with(arguments: &[&str]) -> Self {
        let directory = TempDir::new().expect("a temporary directory");
        let child = Self::spawn(directory.path(), arguments);
        Self { directory, child }
    }

    pub(crate) fn spawn(directory: &Path, arguments: &[&str]) -> Child {
        let child = Command::new(env!("CARGO_BIN_EXE_docsearch-inference"))
            .arg("serve")
            .arg("--socket")
            .arg(directory.join("socket"))
            .arg("--runtime")
            .arg(runtime())
            .args(arguments)
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        child.expect("the program")
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.directory.path().join("socket")
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id() as i32)
    }

    pub(crate) fn client(&self) -> Rc<RefCell<Client<Poll>>> {
        self.client_with_timeout(PATIENCE)
    }

    pub(crate) fn client_with_timeout(&self, timeout: Duration) -> Rc<RefCell<Client<Poll>>> {
        Rc::new(RefCell::new(Client::new(self.socket(), Poll { timeout })))
    }

    pub(crate) fn model(&self) -> ServedModel<Poll> {
        served(self.client(), None)
    }

    /// A connection, once the program listens.
    pub(crate) fn connect(&self) -> UnixStream {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match UnixStream::connect(self.socket()) {
                Ok(stream) => return stream,
                Err(error) => assert!(Instant::now() < deadline, "{error}"),
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until models were run on `runs` texts.
    pub(crate) fn wait_for_runs(&self, runs: u64) {
        let deadline = Instant::now() + PATIENCE;
        let client = self.client();
        loop {
            let status = client.borrow_mut().status();
            if matches!(status, Ok(Some(status)) if status.runs >= runs) {
                return;
            }
            assert!(Instant::now() < deadline, "less than {runs} texts");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Stops all threads of the program.
    pub(crate) fn freeze(&self) {
        kill(self.pid(), Signal::SIGSTOP).expect("a process");
        let tasks = format!("/proc/{}/task", self.pid());
        let is_stopped = |task: std::io::Result<fs::DirEntry>| {
            let status = fs::read_to_string(task.expect("a thread").path().join("stat")).expect("Linux");
            // Behind the name, which is in parentheses.
            status
                .rsplit_once(") ")
                .is_some_and(|(_, fields)| fields.starts_with('T'))
        };
        while !fs::read_dir(&tasks).expect("Linux").all(is_stopped) {
            thread::sleep(Duration::from_millis(5));
        }
    }

    pub(crate) fn end(&mut self) -> std::process::ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                return status;
            }
            assert!(Instant::now() < deadline, "the program does not end");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn served(client: Rc<RefCell<Client<Poll>>>, digest: Option<String>) -> ServedModel<Poll> {
    let directory = model_directory().to_str().expect("a path in UTF-8").to_owned();
    ServedModel::new(client, directory, digest)
}

pub(crate) fn passages(count: usize) -> Vec<String> {
    (0..count)
        .map(|number| format!("passage {number} of many, {}", "word ".repeat(number % 50)))
        .collect()
}

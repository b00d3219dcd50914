//! The files through which backends and the supervisor of the inference program find each other.
//!
//! They are below `pg_stat_tmp`, which `pg_basebackup` and `pg_rewind` leave out. Each version has a directory of its
//! own, since backends and programs of different versions do not understand each other.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::{FcntlArg, fcntl};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

macro_rules! below {
    ($name:literal) => {
        concat!(
            "pg_stat_tmp/pg_docsearch-",
            env!("CARGO_PKG_VERSION_MAJOR"),
            ".",
            env!("CARGO_PKG_VERSION_MINOR"),
            $name
        )
    };
}

/// Relative to the data directory, the working directory of every process of the server.
pub(super) const DIRECTORY: &str = below!("");
/// The socket on which the program listens.
pub(super) const SOCKET: &str = below!("/inference.sock");
/// The state that the supervisor publishes.
pub(super) const STATE: &str = below!("/state.json");
/// Exists while a restart of the program is requested.
pub(super) const RESTART: &str = below!("/restart");
/// The process that has it locked is the supervisor.
const LOCK: &str = "supervisor.lock";

/// The parent of the directories of all versions, and their prefix.
const PARENT: &str = "pg_stat_tmp";
const PREFIX: &str = "pg_docsearch-";
/// The directory of version 0.1, on which `pg_rewind` failed.
const OLDEST: &str = "pgsql_tmp_docsearch";

/// The process of the supervisor, if there is one. It holds the lock, which is released when it ends.
pub(crate) fn supervisor() -> Option<Pid> {
    supervisor_in(Path::new(DIRECTORY))
}

fn supervisor_in(directory: &Path) -> Option<Pid> {
    let file = File::open(directory.join(LOCK)).ok()?;
    let mut lock = write_lock();
    fcntl(&file, FcntlArg::F_GETLK(&mut lock)).ok()?;
    (i32::from(lock.l_type) != nix::libc::F_UNLCK).then(|| Pid::from_raw(lock.l_pid))
}

/// Ends the supervisors of other versions, with their programs. Connections from before an upgrade have no inference
/// program afterwards.
pub(super) fn stop_others() {
    let ours = Path::new(DIRECTORY);
    for directory in all().into_iter().filter(|directory| directory != ours) {
        if let Some(supervisor) = supervisor_in(&directory) {
            let _ = kill(supervisor, Signal::SIGTERM);
        }
    }
}

fn all() -> Vec<PathBuf> {
    let entries = fs::read_dir(PARENT).into_iter().flatten().flatten();
    let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX));
    named.map(|entry| entry.path()).chain([PathBuf::from(OLDEST)]).collect()
}

/// The lock that makes a supervisor the only one. It ends with its process, and the program does not inherit it.
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    /// The lock; `None` if another process has it.
    pub(super) fn take() -> io::Result<Option<Self>> {
        let made = fs::DirBuilder::new().mode(0o700).create(DIRECTORY);
        if let Err(problem) = made
            && problem.kind() != io::ErrorKind::AlreadyExists
        {
            return Err(problem);
        }
        let file = private_file(Path::new(DIRECTORY).join(LOCK), false)?;
        match fcntl(&file, FcntlArg::F_SETLK(&write_lock())) {
            Ok(_) => {
                remove_oldest();
                Ok(Some(Self { _file: file }))
            }
            Err(nix::errno::Errno::EACCES | nix::errno::Errno::EAGAIN) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }
}

/// Removes the directory of version 0.1, once no process uses it.
fn remove_oldest() {
    let oldest = Path::new(OLDEST);
    if supervisor_in(oldest).is_none() {
        let _ = fs::remove_dir_all(oldest);
    }
}

/// Opens a file for this user alone for writing; `empty` truncates it.
pub(super) fn private_file(path: impl AsRef<Path>, empty: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).write(true).truncate(empty).mode(0o600).open(path)
}

/// A lock of a whole file for one process.
fn write_lock() -> nix::libc::flock {
    nix::libc::flock {
        l_type: nix::libc::F_WRLCK as _,
        l_whence: nix::libc::SEEK_SET as _,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    }
}

//! A file of lines in the directory of the database: every process appends to it, also on a standby, in a transaction that
//! only reads or that fails.
//!
//! Its name begins like those of temporary files, so base backups, `pg_rewind` and `pg_checksums` leave it out. DROP DATABASE
//! deletes it with the directory. It survives a restart; a crash of the machine loses what the system had not written yet.

use std::ffi::CStr;
use std::fs::{self, Metadata, OpenOptions};
use std::io::{ErrorKind, Result, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::time::Duration;

use nix::libc;
use pgrx::pg_sys;

/// Age of the last line after which no reader seems to run.
const LEFT: Duration = Duration::from_secs(10);
/// Bytes after which a reader is looked for again, if none takes the lines.
const BLOCK: u64 = 256 << 10;

/// A file that lines are appended to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DatabaseFile {
    pub(crate) name: &'static str,
    /// Size from which nothing is appended any more.
    pub(crate) max_bytes: u64,
}

impl DatabaseFile {
    /// Appends a line, and returns whether a reader has to be started: the file was empty, no process has read it for a while, or it has
    /// become larger by a block. One write of the system is one line: others write at once. What is
    /// not a file, such as a link or a pipe, is not written, and nothing waits for it.
    pub(crate) fn append(self, line: &str) -> Result<bool> {
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
            .open(self.path())?;
        let metadata = file.metadata()?;
        let before = metadata.len();
        if before < self.max_bytes {
            file.write_all(line.as_bytes())?;
        }
        let is_left = metadata.modified()?.elapsed().is_ok_and(|age| age > LEFT);
        Ok(before == 0 || is_left || before / BLOCK != (before + line.len() as u64) / BLOCK)
    }

    /// The lines; empty if there is no file.
    pub(crate) fn lines(self) -> Result<String> {
        match fs::read(self.path()) {
            Err(problem) if problem.kind() == ErrorKind::NotFound => Ok(String::new()),
            read => Ok(String::from_utf8_lossy(&read?).into_owned()),
        }
    }

    /// Deletes the file.
    pub(crate) fn delete(self) -> Result<()> {
        match fs::remove_file(self.path()) {
            Err(problem) if problem.kind() == ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    /// Size in bytes; 0 if there is no file.
    pub(crate) fn size(self) -> u64 {
        let metadata = fs::symlink_metadata(self.path()).ok().filter(Metadata::is_file);
        metadata.map_or(0, |file| file.len())
    }

    /// Sets the lines aside in a second file, unless there are some already: what is appended from now on is in a new file. A
    /// process that had opened the file before may still append to it, so it is to be read a moment later.
    pub(crate) fn set_aside(self) -> Result<()> {
        if self.set_aside_path().exists() {
            return Ok(());
        }
        match fs::rename(self.path(), self.set_aside_path()) {
            Err(problem) if problem.kind() == ErrorKind::NotFound => Ok(()),
            renamed => renamed,
        }
    }

    /// The lines that were set aside; `None` if there are none. They stay until [`DatabaseFile::discard`], so that a failure
    /// loses none.
    pub(crate) fn lines_set_aside(self) -> Result<Option<String>> {
        match fs::read(self.set_aside_path()) {
            Err(problem) if problem.kind() == ErrorKind::NotFound => Ok(None),
            read => Ok(Some(String::from_utf8_lossy(&read?).into_owned())),
        }
    }

    /// Deletes the lines that were set aside.
    pub(crate) fn discard(self) -> Result<()> {
        match fs::remove_file(self.set_aside_path()) {
            Err(problem) if problem.kind() == ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    /// Whether there are lines that were set aside.
    pub(crate) fn is_set_aside(self) -> bool {
        self.set_aside_path().exists()
    }

    fn path(self) -> PathBuf {
        // SAFETY: set when a process connects to its database, and never changed; a terminated string.
        let directory = unsafe { CStr::from_ptr(pg_sys::DatabasePath) };
        // SAFETY: as above. A database that was copied with its directory does not take the lines for its own.
        let database = unsafe { pg_sys::MyDatabaseId };
        PathBuf::from(directory.to_string_lossy().into_owned()).join(format!(
            "pgsql_tmp_docsearch_{}.{}",
            self.name,
            database.to_u32()
        ))
    }

    fn set_aside_path(self) -> PathBuf {
        self.path().with_added_extension("aside")
    }
}

//! When the files of a repository were changed last.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use super::process::Failure;
use super::repository::Repository;
use crate::process::error::Error;

/// How long a history is read: files whose last change lies behind that have no date.
const MAX_TIME: Duration = Duration::from_secs(60);
/// Bytes of a name or of the line of a commit.
const MAX_NAME: u64 = 64 << 10;
/// What the line of a commit begins with.
const COMMIT: u8 = 1;

/// The times of the last commits.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// By path from the top of the repository; in UTC, as ISO 8601 has it.
    times: HashMap<PathBuf, String>,
    /// Whether files have no time because the history was not fetched.
    pub(crate) is_cut: bool,
}

impl Changes {
    pub(crate) fn of(&self, path: &Path) -> Option<&str> {
        self.times.get(path).map(String::as_str)
    }
}

/// When those of `files` (paths from the top) that lie in the folder `below` were changed last, as of `commit`.
pub(crate) fn changes(
    repository: &Repository,
    commit: &str,
    below: &Path,
    files: &HashSet<PathBuf>,
) -> Result<Changes, Error> {
    let is_shallow = match repository.git.ask(&["rev-parse", "--is-shallow-repository"]) {
        Ok(answer) => answer == "true",
        Err(Failure::Message(_)) => false,
        Err(Failure::Fatal(error)) => return Err(error),
    };
    let mut arguments: Vec<OsString> = [
        "log",
        "-z",
        "--no-renames",
        "--no-ext-diff",
        "--name-only",
        "--date=format-local:%Y-%m-%dT%H:%M:%SZ",
        "--format=%x01%ct %cd %P",
        commit,
        "--",
    ]
    .map(OsString::from)
    .to_vec();
    if !below.as_os_str().is_empty() {
        arguments.push(below.into());
    }
    let mut reading = Reading {
        wanted: files,
        is_shallow,
        now: SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .map_or(u64::MAX, |since| since.as_secs()),
        changes: Changes::default(),
    };
    let ends = Instant::now() + MAX_TIME;
    let read = repository.git.read(&arguments, Vec::new(), |output| {
        reading.take(&mut BufReader::new(output), ends)
    });
    match read {
        // A history whose end is missing tells what it can.
        Ok(()) | Err(Failure::Message(_)) => Ok(reading.changes),
        Err(Failure::Fatal(error)) => Err(error),
    }
}

struct Reading<'a> {
    wanted: &'a HashSet<PathBuf>,
    is_shallow: bool,
    now: u64,
    changes: Changes,
}

impl Reading<'_> {
    /// Reads commits, the newest first, until every file has its time.
    fn take(&mut self, output: &mut impl BufRead, ends: Instant) -> io::Result<()> {
        let mut time = None;
        let mut line = Vec::new();
        while self.changes.times.len() < self.wanted.len() && Instant::now() < ends {
            line.clear();
            if io::Read::take(&mut *output, MAX_NAME).read_until(0, &mut line)? == 0 {
                break;
            }
            let line = line.strip_suffix(&[0]).unwrap_or(&line);
            let line = line.strip_prefix(b"\n").unwrap_or(line);
            if let Some((&COMMIT, commit)) = line.split_first() {
                time = self.time(commit);
                continue;
            }
            let path = PathBuf::from(OsString::from_vec(line.to_vec()));
            if let Some(time) = &time
                && self.wanted.contains(&path)
            {
                self.changes.times.entry(path).or_insert_with(|| time.clone());
            }
        }
        Ok(())
    }

    /// The time of a commit: `1700000000 2023-11-14T22:13:20Z` and its parents. The first commit of a history that is
    /// not all there brings every file, whenever it was changed; one of the future says nothing of the past.
    fn time(&mut self, commit: &[u8]) -> Option<String> {
        let mut words = std::str::from_utf8(commit).ok()?.split(' ');
        let (seconds, time) = (words.next()?.parse::<u64>().ok()?, words.next()?);
        let has_parents = words.any(|parent| !parent.is_empty());
        if self.is_shallow && !has_parents {
            self.changes.is_cut = true;
            return None;
        }
        (seconds <= self.now && time.len() == 20).then(|| time.to_owned())
    }
}

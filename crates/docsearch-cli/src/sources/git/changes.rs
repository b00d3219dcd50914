//! Times of the last commits that changed files.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use super::process::GitFailure;
use super::repository::Repository;
use crate::process::error::Error;

/// Maximum time to read the history. Files that changed earlier than that have no date.
const MAX_TIME: Duration = Duration::from_secs(60);
/// Maximum length of a path or commit line in bytes.
const MAX_LINE: u64 = 64 << 10;
/// First byte of a commit line.
const COMMIT: u8 = 1;

/// Times of the last changes.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// By path from the top of the repository; UTC in ISO 8601.
    times: HashMap<PathBuf, String>,
    /// Whether files have no time because the clone is shallow.
    pub(crate) is_cut: bool,
}

impl Changes {
    pub(crate) fn of(&self, path: &Path) -> Option<&str> {
        self.times.get(path).map(String::as_str)
    }
}

/// Times of the last changes to `files` (paths from the top) in the folder `below`, as of `commit`.
pub(crate) fn changes(
    repository: &Repository,
    commit: &str,
    below: &Path,
    files: &HashSet<PathBuf>,
) -> Result<Changes, Error> {
    let is_shallow = match repository.git.output(&["rev-parse", "--is-shallow-repository"]) {
        Ok(answer) => answer == "true",
        Err(GitFailure::Message(_)) => false,
        Err(GitFailure::Fatal(error)) => return Err(error),
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
    let mut reading = ChangeReader {
        wanted: files,
        is_shallow,
        now: SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .map_or(u64::MAX, |since| since.as_secs()),
        changes: Changes::default(),
    };
    let deadline = Instant::now() + MAX_TIME;
    let read = repository.git.read(&arguments, Vec::new(), |output| {
        reading.take(&mut BufReader::new(output), deadline)
    });
    match read {
        // An incomplete history has some of the times.
        Ok(()) | Err(GitFailure::Message(_)) => Ok(reading.changes),
        Err(GitFailure::Fatal(error)) => Err(error),
    }
}

struct ChangeReader<'a> {
    wanted: &'a HashSet<PathBuf>,
    is_shallow: bool,
    now: u64,
    changes: Changes,
}

impl ChangeReader<'_> {
    /// Reads commits, newest first, until each file has a time.
    fn take(&mut self, output: &mut impl BufRead, deadline: Instant) -> io::Result<()> {
        let mut time = None;
        let mut line = Vec::new();
        while self.changes.times.len() < self.wanted.len() && Instant::now() < deadline {
            line.clear();
            if io::Read::take(&mut *output, MAX_LINE).read_until(0, &mut line)? == 0 {
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

    /// Parses `1700000000 2023-11-14T22:13:20Z` and its parents. The oldest commit of a shallow clone contains all
    /// files, whenever they changed, so it has no time. Neither does a commit in the future.
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

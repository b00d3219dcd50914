//! The responses of earlier requests, on disk: what a later crawl need not fetch again, and what lets
//! an interrupted one go on.

use std::cell::Cell;
use std::collections::HashSet;
use std::fs::{self, File, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use url::Url;

use crate::error::Error;

/// An interrupted crawl that is older starts anew: its pages may have changed.
const MAX_RUN_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// A response worth keeping: a page, a redirect, or word that there is no such page.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) url: String,
    pub(crate) status: u16,
    pub(crate) location: Option<String>,
    pub(crate) content_type: Option<String>,
    pub(crate) etag: Option<String>,
    pub(crate) last_modified: Option<String>,
    /// The `X-Robots-Tag` headers.
    pub(crate) robots: Vec<String>,
    /// When the page was changed, in the words of the sitemap that listed it.
    pub(crate) changed: Option<String>,
    pub(super) run: u64,
    #[serde(skip)]
    pub(crate) body: Vec<u8>,
}

/// A crawl from its first request to its last, over all interruptions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Run {
    id: u64,
    started: u64,
}

#[derive(Debug)]
pub(crate) struct Cache {
    folder: PathBuf,
    run: Run,
    is_resumed: bool,
    ignores_others: bool,
    /// Whether the run is on disk; one that has fetched nothing need not go on.
    has_begun: Cell<bool>,
    /// Held as long as the cache is in use.
    _lock: File,
}

impl Cache {
    /// Opens the cache of the crawl that `name` tells from others, below `root`. With `refresh`, what
    /// earlier crawls have left does not count.
    pub(crate) fn open(root: &Path, name: &str, refresh: bool) -> Result<Self, Error> {
        let folder = root.join(&digest(name)[..32]);
        let pages = folder.join("pages");
        fs::create_dir_all(&pages).map_err(Error::file(&pages))?;
        let lock = lock(&folder.join("lock"))?;
        let unfinished = read_run(&folder.join("run.json")).filter(|_| !refresh);
        let run = unfinished.unwrap_or_else(|| Run {
            id: fastrand::u64(..),
            started: now(),
        });
        Ok(Self {
            folder,
            run,
            is_resumed: unfinished.is_some(),
            ignores_others: refresh,
            has_begun: Cell::new(unfinished.is_some()),
            _lock: lock,
        })
    }

    /// Whether this crawl goes on where an earlier one was interrupted.
    pub(crate) fn is_resumed(&self) -> bool {
        self.is_resumed
    }

    /// What is known about `url`. An entry that cannot be read is as good as none.
    pub(crate) fn get(&self, url: &Url) -> Option<Entry> {
        let entry = read_entry(&self.folder.join(file_name(url.as_str())))?;
        let counts = self.is_fresh(&entry) || !self.ignores_others;
        (counts && entry.url == url.as_str()).then_some(entry)
    }

    /// Whether an entry is from this crawl.
    pub(crate) fn is_fresh(&self, entry: &Entry) -> bool {
        entry.run == self.run.id
    }

    /// Keeps an entry as one of this crawl.
    pub(crate) fn put(&self, entry: &mut Entry) -> Result<(), Error> {
        if !self.has_begun.replace(true) {
            self.write("run.json", &serde_json::to_vec(&self.run).unwrap_or_default(), &[])?;
        }
        entry.run = self.run.id;
        let mut head = serde_json::to_vec(entry).unwrap_or_default();
        head.push(b'\n');
        self.write(&file_name(&entry.url), &head, &entry.body)
    }

    /// Ends the crawl: the next one begins anew.
    pub(crate) fn finish(&self) -> Result<(), Error> {
        if self.has_begun.replace(false) {
            let path = self.folder.join("run.json");
            fs::remove_file(&path).map_err(Error::file(&path))?;
        }
        Ok(())
    }

    /// Drops the entries of earlier crawls, except those of the addresses in `keep`.
    pub(crate) fn prune(&self, keep: &HashSet<String>) -> Result<(), Error> {
        let pages = self.folder.join("pages");
        for file in fs::read_dir(&pages).map_err(Error::file(&pages))? {
            let path = file.map_err(Error::file(&pages))?.path();
            let is_needed =
                read_head(&path).is_some_and(|(entry, _)| self.is_fresh(&entry) || keep.contains(&entry.url));
            if !is_needed {
                fs::remove_file(&path).map_err(Error::file(&path))?;
            }
        }
        Ok(())
    }

    /// Writes beside the file and renames, so that there is never half a file. There is one writer.
    fn write(&self, name: &str, head: &[u8], body: &[u8]) -> Result<(), Error> {
        let path = self.folder.join(name);
        let beside = self.folder.join("new");
        let write = || -> io::Result<()> {
            let mut file = File::create(&beside)?;
            file.write_all(head)?;
            file.write_all(body)?;
            drop(file);
            fs::rename(&beside, &path)
        };
        write().map_err(Error::file(&path))
    }
}

/// Where caches are unless told otherwise.
pub(crate) fn default_root() -> Result<PathBuf, Error> {
    let absolute = |name: &str| {
        let path = PathBuf::from(std::env::var_os(name)?);
        path.is_absolute().then_some(path)
    };
    absolute("XDG_CACHE_HOME")
        .or_else(|| Some(absolute("HOME")?.join(".cache")))
        .map(|cache| cache.join("pg_docsearch").join("crawl"))
        .ok_or_else(|| Error::Usage("no home directory to keep responses in\nHINT:  Set --cache-dir.".to_owned()))
}

fn lock(path: &Path) -> Result<File, Error> {
    let file = File::create(path).map_err(Error::file(path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::Usage(
            "another crawl of the same start is running\nHINT:  Wait for it, or set another --cache-dir.".to_owned(),
        )),
        Err(TryLockError::Error(error)) => Err(Error::file(path)(error)),
    }
}

fn read_run(path: &Path) -> Option<Run> {
    let run: Run = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    (now().saturating_sub(run.started) <= MAX_RUN_AGE.as_secs()).then_some(run)
}

fn read_entry(path: &Path) -> Option<Entry> {
    let (mut entry, mut rest) = read_head(path)?;
    rest.read_to_end(&mut entry.body).ok()?;
    Some(entry)
}

fn read_head(path: &Path) -> Option<(Entry, BufReader<File>)> {
    let mut file = BufReader::new(File::open(path).ok()?);
    let mut head = Vec::new();
    file.read_until(b'\n', &mut head).ok()?;
    Some((serde_json::from_slice(&head).ok()?, file))
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or_default().as_secs()
}

fn file_name(url: &str) -> String {
    format!("pages/{}", digest(url))
}

fn digest(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(url: &str) -> Entry {
        Entry {
            url: url.to_owned(),
            status: 200,
            etag: Some("\"1\"".to_owned()),
            body: b"{\n\0body".to_vec(),
            ..Entry::default()
        }
    }

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn an_unfinished_run_goes_on_and_a_finished_one_does_not() {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::open(root.path(), "site", false).unwrap();
        assert!(!cache.is_resumed());
        cache.put(&mut entry("https://x.org/a")).unwrap();
        drop(cache);

        let cache = Cache::open(root.path(), "site", false).unwrap();
        assert!(cache.is_resumed());
        let known = cache.get(&url("https://x.org/a")).unwrap();
        assert!(cache.is_fresh(&known));
        assert_eq!(known.body, b"{\n\0body");
        cache.finish().unwrap();
        drop(cache);

        let cache = Cache::open(root.path(), "site", false).unwrap();
        assert!(!cache.is_resumed());
        let known = cache.get(&url("https://x.org/a")).unwrap();
        assert!(!cache.is_fresh(&known));
        assert_eq!(known.etag.as_deref(), Some("\"1\""));
        cache.prune(&HashSet::from(["https://x.org/a".to_owned()])).unwrap();
        assert!(cache.get(&url("https://x.org/a")).is_some());
        cache.prune(&HashSet::new()).unwrap();
        assert!(cache.get(&url("https://x.org/a")).is_none());
    }

    #[test]
    fn a_crawl_that_fetched_nothing_need_not_go_on() {
        let root = tempfile::tempdir().unwrap();
        drop(Cache::open(root.path(), "site", false).unwrap());
        let cache = Cache::open(root.path(), "site", false).unwrap();
        assert!(!cache.is_resumed());
        cache.finish().unwrap();
    }

    #[test]
    fn a_refreshing_crawl_sees_only_what_it_fetched() {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::open(root.path(), "site", false).unwrap();
        cache.put(&mut entry("https://x.org/a")).unwrap();
        drop(cache);
        let cache = Cache::open(root.path(), "site", true).unwrap();
        assert!(!cache.is_resumed());
        assert!(cache.get(&url("https://x.org/a")).is_none());
        cache.put(&mut entry("https://x.org/a")).unwrap();
        assert!(cache.get(&url("https://x.org/a")).is_some());
    }

    #[test]
    fn one_crawl_at_a_time() {
        let root = tempfile::tempdir().unwrap();
        let first = Cache::open(root.path(), "site", false).unwrap();
        assert!(Cache::open(root.path(), "other", false).is_ok());
        let error = Cache::open(root.path(), "site", false).unwrap_err();
        assert!(error.to_string().contains("another crawl"), "{error}");
        drop(first);
        assert!(Cache::open(root.path(), "site", false).is_ok());
    }

    #[test]
    fn a_broken_entry_is_none() {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::open(root.path(), "site", false).unwrap();
        let address = url("https://x.org/a");
        fs::write(cache.folder.join(file_name(address.as_str())), b"{\"url\":").unwrap();
        assert!(cache.get(&address).is_none());
    }
}

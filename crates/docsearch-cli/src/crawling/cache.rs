//! Cached responses on disk: a later crawl need not fetch them again, and an interrupted one can continue.

use std::cell::Cell;
use std::collections::HashSet;
use std::fs::{self, File, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use url::Url;

use crate::process::cache_folder;
use crate::process::error::Error;

/// An interrupted crawl that is older starts again: its pages may have changed.
const MAX_RUN_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// A cached response: a page, a redirect, or a page that does not exist.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CacheEntry {
    pub(crate) url: String,
    pub(crate) status: u16,
    pub(crate) location: Option<String>,
    pub(crate) content_type: Option<String>,
    pub(crate) etag: Option<String>,
    pub(crate) last_modified: Option<String>,
    /// The `X-Robots-Tag` headers.
    pub(crate) robots: Vec<String>,
    /// `lastmod` of the sitemap that listed the page.
    pub(crate) changed: Option<String>,
    pub(super) run: u64,
    #[serde(skip)]
    pub(crate) body: Vec<u8>,
}

/// A crawl from its first request to its last, across interruptions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct CrawlRun {
    id: u64,
    started: u64,
}

#[derive(Debug)]
pub(crate) struct Cache {
    folder: PathBuf,
    run: CrawlRun,
    is_resumed: bool,
    ignores_earlier: bool,
    /// Whether the run is on disk: one that has fetched nothing cannot be resumed.
    has_begun: Cell<bool>,
    max_bytes: u64,
    /// Total size of the entries.
    bytes: Cell<u64>,
    is_full: Cell<bool>,
    /// Held while the cache is in use.
    _lock: File,
}

impl Cache {
    /// Opens the cache of the crawl named `name`, below `root`. With `refresh`, entries of earlier crawls are ignored.
    /// It grows to at most `max_bytes`.
    pub(crate) fn open(root: &Path, name: &str, refresh: bool, max_bytes: u64) -> Result<Self, Error> {
        let folder = root.join(&cache_folder::digest(name)[..32]);
        let pages = folder.join("pages");
        fs::create_dir_all(&pages).map_err(Error::file(&pages))?;
        let lock = lock(&folder.join("lock"))?;
        let unfinished = read_run(&folder.join("run.json")).filter(|_| !refresh);
        let run = unfinished.unwrap_or_else(|| CrawlRun {
            id: fastrand::u64(..),
            started: now(),
        });
        Ok(Self {
            bytes: Cell::new(size_of_files(&pages)?),
            max_bytes,
            is_full: Cell::new(false),
            folder,
            run,
            is_resumed: unfinished.is_some(),
            ignores_earlier: refresh,
            has_begun: Cell::new(unfinished.is_some()),
            _lock: lock,
        })
    }

    /// Whether this crawl continues an interrupted one.
    pub(crate) fn is_resumed(&self) -> bool {
        self.is_resumed
    }

    /// The entry for `url`; `None` if there is none, or if it is unreadable or ignored.
    pub(crate) fn get(&self, url: &Url) -> Option<CacheEntry> {
        let entry = read_entry(&self.folder.join(file_name(url.as_str())))?;
        let counts = self.is_fresh(&entry) || !self.ignores_earlier;
        (counts && entry.url == url.as_str()).then_some(entry)
    }

    /// Whether an entry is from this crawl.
    pub(crate) fn is_fresh(&self, entry: &CacheEntry) -> bool {
        entry.run == self.run.id
    }

    /// Whether an entry was dropped for lack of room.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full.get()
    }

    /// Stores an entry of this crawl, if there is room.
    pub(crate) fn put(&self, entry: &mut CacheEntry) -> Result<(), Error> {
        if !self.has_begun.replace(true) {
            self.write("run.json", &serde_json::to_vec(&self.run).unwrap_or_default(), &[])?;
        }
        entry.run = self.run.id;
        let mut head = serde_json::to_vec(entry).unwrap_or_default();
        head.push(b'\n');
        let name = file_name(&entry.url);
        let length = (head.len() + entry.body.len()) as u64;
        if !self.makes_room(&name, length)? {
            self.is_full.set(true);
            return Ok(());
        }
        self.write(&name, &head, &entry.body)?;
        self.bytes.set(self.bytes.get() + length);
        Ok(())
    }

    /// Removes the old version of a file and, if needed, entries of earlier crawls. Returns whether there is room.
    fn makes_room(&self, name: &str, length: u64) -> Result<bool, Error> {
        let path = self.folder.join(name);
        let has_room = |earlier| self.bytes.get() - earlier + length <= self.max_bytes;
        let mut earlier = size_of(&path);
        if !has_room(earlier) && !self.is_full() {
            self.prune(&HashSet::new())?;
            earlier = size_of(&path);
        }
        if earlier > 0 {
            fs::remove_file(&path).map_err(Error::file(&path))?;
            self.bytes.set(self.bytes.get() - earlier);
        }
        Ok(has_room(0))
    }

    /// Ends the crawl: the next one starts from the beginning.
    pub(crate) fn finish(&self) -> Result<(), Error> {
        if self.has_begun.replace(false) {
            let path = self.folder.join("run.json");
            fs::remove_file(&path).map_err(Error::file(&path))?;
        }
        Ok(())
    }

    /// Removes the entries of earlier crawls, except those of the addresses in `keep`.
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
        self.bytes.set(size_of_files(&pages)?);
        Ok(())
    }

    /// Writes a temporary file and renames it, so that there is never half a file. There is only one writer.
    fn write(&self, name: &str, head: &[u8], body: &[u8]) -> Result<(), Error> {
        let path = self.folder.join(name);
        let temporary = self.folder.join("new");
        let write = || -> io::Result<()> {
            let mut file = File::create(&temporary)?;
            file.write_all(head)?;
            file.write_all(body)?;
            drop(file);
            fs::rename(&temporary, &path)
        };
        write().map_err(Error::file(&path))
    }
}

/// The default folder for caches.
pub(crate) fn default_root() -> Result<PathBuf, Error> {
    cache_folder::default_root("crawl")
        .ok_or_else(|| Error::Usage("no home directory for the cache\nHINT:  Set --cache-dir.".to_owned()))
}

fn lock(path: &Path) -> Result<File, Error> {
    let file = File::create(path).map_err(Error::file(path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::Usage(
            "another crawl from the same start is running\nHINT:  Wait for it, or set another --cache-dir.".to_owned(),
        )),
        Err(TryLockError::Error(error)) => Err(Error::file(path)(error)),
    }
}

fn size_of(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |file| file.len())
}

fn size_of_files(folder: &Path) -> Result<u64, Error> {
    let files = fs::read_dir(folder).map_err(Error::file(folder))?;
    let sizes = files.map(|file| Ok(size_of(&file?.path())));
    sizes.sum::<io::Result<u64>>().map_err(Error::file(folder))
}

fn read_run(path: &Path) -> Option<CrawlRun> {
    let run: CrawlRun = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    (now().saturating_sub(run.started) <= MAX_RUN_AGE.as_secs()).then_some(run)
}

fn read_entry(path: &Path) -> Option<CacheEntry> {
    let (mut entry, mut rest) = read_head(path)?;
    rest.read_to_end(&mut entry.body).ok()?;
    Some(entry)
}

fn read_head(path: &Path) -> Option<(CacheEntry, BufReader<File>)> {
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
    format!("pages/{}", cache_folder::digest(url))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOMY: u64 = 1 << 20;

    fn entry(url: &str) -> CacheEntry {
        CacheEntry {
            url: url.to_owned(),
            status: 200,
            etag: Some("\"1\"".to_owned()),
            body: b"{\n\0body".to_vec(),
            ..CacheEntry::default()
        }
    }

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn only_an_unfinished_run_is_resumed() {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::open(root.path(), "site", false, ROOMY).unwrap();
        assert!(!cache.is_resumed());
        cache.put(&mut entry("https://x.org/a")).unwrap();
        drop(cache);

        let cache = Cache::open(root.path(), "site", false, ROOMY).unwrap();
        assert!(cache.is_resumed());
        let known = cache.get(&url("https://x.org/a")).unwrap();
        assert!(cache.is_fresh(&known));
        assert_eq!(known.body, b"{\n\0body");
        cache.finish().unwrap();
        drop(cache);

        let cache = Cache::open(root.path(), "site", false, ROOMY).unwrap();
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
    fn a_crawl_that_fetched_nothing_is_not_resumed() {
        let root = tempfile::tempdir().unwrap();
        drop(Cache::open(root.path(), "site", false, ROOMY).unwrap());
        let cache = Cache::open(root.path(), "site", false, ROOMY).unwrap();
        assert!(!cache.is_resumed());
        cache.finish().unwrap();
    }

    #[test]
    fn a_refreshing_crawl_sees_only_what_it_fetched() {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::open(root.path(), "site", false, ROOMY).unwrap();
        cache.put(&mut entry("https://x.org/a")).unwrap();
        drop(cache);
        let cache = Cache::open(root.path(), "site", true, ROOMY).unwrap();
        assert!(!cache.is_resumed());
        assert!(cache.get(&url("https://x.org/a")).is_none());
        cache.put(&mut entry("https://x.org/a")).unwrap();
        assert!(cache.get(&url("https://x.org/a")).is_some());
    }

    #[test]
    fn one_crawl_at_a_time() {
        let root = tempfile::tempdir().unwrap();
        let first = Cache::open(root.path(), "site", false, ROOMY).unwrap();
        assert!(Cache::open(root.path(), "other", false, ROOMY).is_ok());
        let error = Cache::open(root.path(), "site", false, ROOMY).unwrap_err();
        assert!(error.to_string().contains("another crawl"), "{error}");
        drop(first);
        assert!(Cache::open(root.path(), "site", false, ROOMY).is_ok());
    }

    #[test]
    fn a_broken_entry_is_ignored() {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::open(root.path(), "site", false, ROOMY).unwrap();
        let address = url("https://x.org/a");
        fs::write(cache.folder.join(file_name(address.as_str())), b"{\"url\":").unwrap();
        assert!(cache.get(&address).is_none());
    }

    #[test]
    fn a_full_cache_removes_old_entries_first() {
        let root = tempfile::tempdir().unwrap();
        let large = |path: &str, size: usize| CacheEntry {
            body: vec![b'x'; size],
            ..entry(&format!("https://x.org/{path}"))
        };
        let opened = || Cache::open(root.path(), "site", true, 10_000).unwrap();
        let is_cached = |cache: &Cache, path: &str| cache.get(&url(&format!("https://x.org/{path}"))).is_some();

        let cache = opened();
        for path in ["a", "b"] {
            cache.put(&mut large(path, 4_000)).unwrap();
        }
        drop(cache);

        let cache = opened();
        for path in ["a", "c"] {
            cache.put(&mut large(path, 4_000)).unwrap();
        }
        assert!(!cache.is_full());
        assert_eq!(fs::read_dir(cache.folder.join("pages")).unwrap().count(), 2);
        cache.put(&mut large("d", 4_000)).unwrap();
        assert!(cache.is_full());
        assert!(is_cached(&cache, "a") && is_cached(&cache, "c") && !is_cached(&cache, "d"));
        // A new version replaces the old one, if there is room.
        cache.put(&mut large("a", 5_000)).unwrap();
        assert!(is_cached(&cache, "a"));
        cache.put(&mut large("a", 50_000)).unwrap();
        assert!(!is_cached(&cache, "a"));
        cache.put(&mut large("d", 4_000)).unwrap();
        assert!(is_cached(&cache, "c") && is_cached(&cache, "d"));
        assert_eq!(cache.bytes.get(), size_of_files(&cache.folder.join("pages")).unwrap());
    }
}

//! Watching the files of jobs for changes.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use ignore::gitignore::Gitignore;
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use super::job::{Job, JobSource};
use crate::process::error::Error;
use crate::process::interrupt::Interrupt;
use crate::sources::git::RepositoryAddress;
use crate::sources::source_options::PathFilter;
use crate::sources::{folder, project_file};

/// Files are read once nothing has changed for this long: editors and generators write several files.
const QUIET_PERIOD: Duration = Duration::from_millis(300);
/// Files are read after this time, even if changes continue.
const MAX_DELAY: Duration = Duration::from_secs(5);
/// Poll interval.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Hidden files that affect pages.
const HIDDEN: [&str; 3] = [".gitignore", ".ignore", ".vitepress"];

/// Notices changes from its creation on.
#[derive(Debug)]
pub(super) struct Watch {
    changes: Receiver<()>,
    /// Paths that do not exist yet.
    missing: Vec<PathBuf>,
    _watcher: RecommendedWatcher,
}

/// A watched folder or file.
#[derive(Debug)]
struct WatchedPath {
    path: PathBuf,
    is_folder: bool,
    filter: PathFilter,
}

impl WatchedPath {
    fn new(path: PathBuf, filter: PathFilter) -> Self {
        Self {
            is_folder: path.is_dir(),
            path,
            filter,
        }
    }

    /// Whether a change at `path` may change pages.
    fn concerns(&self, path: &Path) -> bool {
        let Ok(relative) = path.strip_prefix(&self.path) else {
            return false;
        };
        let is_hidden = |part: &std::ffi::OsStr| {
            part.as_encoded_bytes().starts_with(b".") && !HIDDEN.iter().any(|name| part == *name)
        };
        !relative.iter().any(is_hidden) && !self.filter.excludes(relative) && !self.ignores(path)
    }

    /// Whether the ignore rules apply to `path`: those of the nearest folder that has one for it. They are read again
    /// each time, since they may change. Rules that cannot be read are reported when the folder is listed.
    fn ignores(&self, path: &Path) -> bool {
        let is_folder = path.is_dir();
        let folders = path
            .ancestors()
            .skip(1)
            .take_while(|folder| folder.starts_with(&self.path));
        let rules = folders.flat_map(folder::rules).map(|rules| Gitignore::new(rules).0);
        let mut matches = rules.map(|rules| rules.matched_path_or_any_parents(path, is_folder).map(drop));
        matches
            .find(|found| !found.is_none())
            .is_some_and(|found| found.is_ignore())
    }
}

impl Watch {
    /// Watches the folders and files of the jobs, and the configuration file.
    pub(super) fn new(jobs: &[Job], file: Option<&Path>) -> Result<Self, Error> {
        let mut all: Vec<(&Path, PathFilter)> = Vec::new();
        for job in jobs {
            let JobSource::Paths(source) = &job.source else {
                continue;
            };
            // A commit does not change.
            for path in source
                .paths
                .iter()
                .filter(|path| !matches!(RepositoryAddress::parse(path), Ok(Some(_))))
            {
                all.push((path, source.filter.clone()));
            }
        }
        all.extend(file.map(|file| (file, PathFilter::default())));
        if all.is_empty() {
            return Err(Error::Usage(format!(
                "nothing to watch: commits and remote repositories do not change\nHINT:  Leave out --watch, or index a folder; {} is \
                 watched, too.",
                project_file::NAME
            )));
        }
        let mut missing = Vec::new();
        let mut paths = Vec::new();
        for (path, filter) in all {
            match fs::canonicalize(path) {
                Ok(full) => paths.push(WatchedPath::new(full, filter)),
                Err(_) => missing.push(path.to_owned()),
            }
        }
        // Editors replace files rather than write to them, so the parent folder of a file is watched.
        let watched: Vec<(PathBuf, RecursiveMode)> = paths
            .iter()
            .map(
                |watched_path| match (watched_path.is_folder, watched_path.path.parent()) {
                    (false, Some(parent)) => (parent.to_owned(), RecursiveMode::NonRecursive),
                    _ => (watched_path.path.clone(), RecursiveMode::Recursive),
                },
            )
            .collect();
        // One pending message is enough.
        let (sender, changes) = sync_channel(1);
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            let counts = event.is_ok_and(|event| {
                let is_concerned = |path: &PathBuf| paths.iter().any(|watched_path| watched_path.concerns(path));
                event.need_rescan()
                    || !matches!(event.kind, EventKind::Access(_)) && event.paths.iter().any(is_concerned)
            });
            if counts {
                // A full channel means that a change is already pending.
                let _ = sender.try_send(());
            }
        })
        .map_err(|error| problem(&error))?;
        for (path, mode) in &watched {
            watcher.watch(path, *mode).map_err(|error| problem(&error))?;
        }
        Ok(Self {
            changes,
            missing,
            _watcher: watcher,
        })
    }

    /// Waits until files have changed and settled, or until `at_most` has passed. Returns `false` if interrupted.
    pub(super) fn wait(&self, interrupt: &Interrupt, at_most: Option<Duration>) -> bool {
        let start = Instant::now();
        while self.changes.try_recv().is_err() {
            if self.missing.iter().any(|path| path.exists()) || at_most.is_some_and(|time| start.elapsed() >= time) {
                break;
            }
            if !interrupt.sleep(POLL_INTERVAL) {
                return false;
            }
        }
        let (first, mut latest) = (Instant::now(), Instant::now());
        while latest.elapsed() < QUIET_PERIOD && first.elapsed() < MAX_DELAY {
            if !interrupt.sleep(POLL_INTERVAL) {
                return false;
            }
            if self.changes.try_recv().is_ok() {
                latest = Instant::now();
            }
        }
        true
    }
}

fn problem(error: &notify::Error) -> Error {
    let hint = match error.kind {
        notify::ErrorKind::MaxFilesWatch => {
            "\nHINT:  Ask an administrator to raise fs.inotify.max_user_watches, or index a smaller folder."
        }
        _ => "",
    };
    Error::Usage(format!("cannot watch for changes: {error}{hint}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loading::index::job::PathSource;
    use crate::sources::source_options::SourceOptions;

    fn job(paths: &[&Path]) -> Job {
        Job {
            project: "kit".to_owned(),
            title: None,
            source: JobSource::Paths(Box::new(PathSource {
                paths: paths.iter().map(|path| (*path).to_owned()).collect(),
                ..PathSource::default()
            })),
            source_root: None,
            pins: None,
        }
    }

    /// Whether the watch notices `change` within two seconds.
    fn notices(jobs: &[Job], change: impl FnOnce()) -> bool {
        let watch = Watch::new(jobs, None).unwrap();
        change();
        let start = Instant::now();
        assert!(watch.wait(&Interrupt::default(), Some(Duration::from_secs(2))));
        start.elapsed() < Duration::from_secs(2)
    }

    #[test]
    fn changed_pages_are_noticed_and_ignored_files_are_not() {
        let place = tempfile::tempdir().unwrap();
        let folder = fs::canonicalize(place.path()).unwrap();
        for inner in ["guide", "build", ".git", "guide/out"] {
            fs::create_dir(folder.join(inner)).unwrap();
        }
        fs::write(folder.join(".gitignore"), "build/\n").unwrap();
        fs::write(folder.join("guide/a.md"), "# A").unwrap();
        fs::write(folder.join("guide/.gitignore"), "out/*\n!out/kept.md\n").unwrap();
        let jobs = [job(&[&folder])];
        assert!(notices(&jobs, || fs::write(folder.join("guide/a.md"), "# B").unwrap()));
        assert!(notices(&jobs, || {
            fs::create_dir(folder.join("new")).unwrap();
            fs::write(folder.join("new/b.md"), "# B").unwrap();
        }));
        assert!(notices(&jobs, || fs::remove_dir_all(folder.join("new")).unwrap()));
        assert!(notices(&jobs, || fs::write(folder.join("guide/out/kept.md"), "# K").unwrap()));
        assert!(!notices(&jobs, || {
            fs::write(folder.join("build/a.html"), "<p>A").unwrap();
            fs::write(folder.join("guide/out/a.md"), "# A").unwrap();
            fs::write(folder.join(".git/index"), "x").unwrap();
            fs::read(folder.join("guide/a.md")).unwrap();
        }));
    }

    #[test]
    fn excluded_files_are_not_noticed() {
        let place = tempfile::tempdir().unwrap();
        let folder = fs::canonicalize(place.path()).unwrap();
        fs::create_dir(folder.join("old")).unwrap();
        let mut jobs = [job(&[&folder])];
        if let JobSource::Paths(source) = &mut jobs[0].source {
            let options = SourceOptions {
                exclude: vec!["old/".to_owned()],
                ..SourceOptions::default()
            };
            source.filter = options.filter().unwrap();
        }
        assert!(!notices(&jobs, || fs::write(folder.join("old/a.md"), "# A").unwrap()));
        assert!(notices(&jobs, || fs::write(folder.join("a.md"), "# A").unwrap()));
    }

    #[test]
    fn a_replaced_file_and_a_new_folder_are_noticed() {
        let place = tempfile::tempdir().unwrap();
        let folder = fs::canonicalize(place.path()).unwrap();
        let (page, other) = (folder.join("a.md"), folder.join("a.md.new"));
        fs::write(&page, "# A").unwrap();
        let jobs = [job(&[&page])];
        assert!(!notices(&jobs, || fs::write(&other, "# B").unwrap()));
        assert!(notices(&jobs, || fs::rename(&other, &page).unwrap()));
        let later = folder.join("later");
        assert!(notices(&[job(&[&later])], || fs::create_dir(&later).unwrap()));
    }

    #[test]
    fn a_commit_cannot_be_watched() {
        let jobs = [job(&[Path::new("https://host.test/kit.git#v1")])];
        assert!(Watch::new(&jobs, None).unwrap_err().to_string().contains("HINT:"));
    }
}

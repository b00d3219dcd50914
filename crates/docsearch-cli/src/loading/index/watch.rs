//! Waiting for changes of the files of jobs.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use ignore::gitignore::Gitignore;
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use super::job::{Job, Source};
use crate::process::error::Error;
use crate::process::interrupt::Interrupt;
use crate::sources::git::Address;
use crate::sources::source_options::PathFilter;
use crate::sources::{folder, project_file};

/// Without changes before they are read: editors and generators write several files.
const QUIET: Duration = Duration::from_millis(300);
/// After which they are read even while more change.
const PATIENCE: Duration = Duration::from_secs(5);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(50);
/// Hidden files that matter nevertheless.
const HIDDEN: [&str; 3] = [".gitignore", ".ignore", ".vitepress"];

/// What tells of changes from its making on.
#[derive(Debug)]
pub(super) struct Watch {
    changes: Receiver<()>,
    /// Places that are not there yet.
    missing: Vec<PathBuf>,
    _watcher: RecommendedWatcher,
}

/// A folder or file in which changes count.
#[derive(Debug)]
struct Place {
    path: PathBuf,
    is_folder: bool,
    filter: PathFilter,
}

impl Place {
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

    /// Whether the rules of the nearest folder that says something of `path` have it ignored. They are read anew, for they
    /// may change, too; those that cannot be read are told when the folder is listed.
    fn ignores(&self, path: &Path) -> bool {
        let is_folder = path.is_dir();
        let folders = path
            .ancestors()
            .skip(1)
            .take_while(|folder| folder.starts_with(&self.path));
        let rules = folders.flat_map(folder::rules).map(|rules| Gitignore::new(rules).0);
        let mut said = rules.map(|rules| rules.matched_path_or_any_parents(path, is_folder).map(drop));
        said.find(|said| !said.is_none()).is_some_and(|said| said.is_ignore())
    }
}

impl Watch {
    /// Watches what the jobs read, as far as it can change, and the file that they are from.
    pub(super) fn new(jobs: &[Job], file: Option<&Path>) -> Result<Self, Error> {
        let mut all: Vec<(&Path, PathFilter)> = Vec::new();
        for job in jobs {
            let Source::Paths(paths, reading) = &job.source else {
                continue;
            };
            // A commit stays what it is.
            for path in paths.iter().filter(|path| !matches!(Address::parse(path), Ok(Some(_)))) {
                all.push((path, reading.options.filter()?));
            }
        }
        all.extend(file.map(|file| (file, PathFilter::default())));
        if all.is_empty() {
            return Err(Error::Usage(format!(
                "nothing can be watched: commits and repositories elsewhere do not change\nHINT:  Leave --watch out, or index a \
                 folder; {} is watched, too.",
                project_file::NAME
            )));
        }
        let mut missing = Vec::new();
        let mut places = Vec::new();
        for (path, filter) in all {
            match fs::canonicalize(path) {
                Ok(full) => places.push(Place::new(full, filter)),
                Err(_) => missing.push(path.to_owned()),
            }
        }
        // A file is replaced more often than written, so its folder is watched.
        let watched: Vec<(PathBuf, RecursiveMode)> = places
            .iter()
            .map(|place| match (place.is_folder, place.path.parent()) {
                (false, Some(parent)) => (parent.to_owned(), RecursiveMode::NonRecursive),
                _ => (place.path.clone(), RecursiveMode::Recursive),
            })
            .collect();
        // One is enough, however many there are.
        let (sender, changes) = sync_channel(1);
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            let counts = event.is_ok_and(|event| {
                let is_concerned = |path: &PathBuf| places.iter().any(|place| place.concerns(path));
                event.need_rescan()
                    || !matches!(event.kind, EventKind::Access(_)) && event.paths.iter().any(is_concerned)
            });
            if counts {
                // Full means that a change is already told.
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

    /// Waits until something has changed and no more does, or for as long as `at_most`. `false` if it was interrupted.
    pub(super) fn wait(&self, interrupt: &Interrupt, at_most: Option<Duration>) -> bool {
        let start = Instant::now();
        while self.changes.try_recv().is_err() {
            if self.missing.iter().any(|path| path.exists()) || at_most.is_some_and(|time| start.elapsed() >= time) {
                break;
            }
            if !interrupt.sleep(LOOK) {
                return false;
            }
        }
        let (first, mut latest) = (Instant::now(), Instant::now());
        while latest.elapsed() < QUIET && first.elapsed() < PATIENCE {
            if !interrupt.sleep(LOOK) {
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
            "\nHINT:  Let an administrator raise fs.inotify.max_user_watches, or index a smaller folder."
        }
        _ => "",
    };
    Error::Usage(format!("cannot watch for changes: {error}{hint}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(paths: &[&Path]) -> Job {
        Job {
            project: "kit".to_owned(),
            title: None,
            source: Source::Paths(paths.iter().map(|path| (*path).to_owned()).collect(), Box::default()),
            source_root: None,
            max_file_size: 1,
        }
    }

    /// Whether `change` is told within a moment.
    fn tells(jobs: &[Job], change: impl FnOnce()) -> bool {
        let watch = Watch::new(jobs, None).unwrap();
        change();
        let start = Instant::now();
        assert!(watch.wait(&Interrupt::default(), Some(Duration::from_secs(2))));
        start.elapsed() < Duration::from_secs(2)
    }

    #[test]
    fn pages_that_change_are_told_and_what_is_ignored_is_not() {
        let place = tempfile::tempdir().unwrap();
        let folder = fs::canonicalize(place.path()).unwrap();
        for inner in ["guide", "build", ".git", "guide/out"] {
            fs::create_dir(folder.join(inner)).unwrap();
        }
        fs::write(folder.join(".gitignore"), "build/\n").unwrap();
        fs::write(folder.join("guide/a.md"), "# A").unwrap();
        fs::write(folder.join("guide/.gitignore"), "out/*\n!out/kept.md\n").unwrap();
        let jobs = [job(&[&folder])];
        assert!(tells(&jobs, || fs::write(folder.join("guide/a.md"), "# B").unwrap()));
        assert!(tells(&jobs, || {
            fs::create_dir(folder.join("new")).unwrap();
            fs::write(folder.join("new/b.md"), "# B").unwrap();
        }));
        assert!(tells(&jobs, || fs::remove_dir_all(folder.join("new")).unwrap()));
        assert!(tells(&jobs, || fs::write(folder.join("guide/out/kept.md"), "# K").unwrap()));
        assert!(!tells(&jobs, || {
            fs::write(folder.join("build/a.html"), "<p>A").unwrap();
            fs::write(folder.join("guide/out/a.md"), "# A").unwrap();
            fs::write(folder.join(".git/index"), "x").unwrap();
            fs::read(folder.join("guide/a.md")).unwrap();
        }));
    }

    #[test]
    fn what_is_excluded_is_not_told() {
        let place = tempfile::tempdir().unwrap();
        let folder = fs::canonicalize(place.path()).unwrap();
        fs::create_dir(folder.join("old")).unwrap();
        let mut jobs = [job(&[&folder])];
        if let Source::Paths(_, reading) = &mut jobs[0].source {
            reading.options.exclude = vec!["old/".to_owned()];
        }
        assert!(!tells(&jobs, || fs::write(folder.join("old/a.md"), "# A").unwrap()));
        assert!(tells(&jobs, || fs::write(folder.join("a.md"), "# A").unwrap()));
    }

    #[test]
    fn a_file_that_is_replaced_and_a_folder_that_comes_are_told() {
        let place = tempfile::tempdir().unwrap();
        let folder = fs::canonicalize(place.path()).unwrap();
        let (page, other) = (folder.join("a.md"), folder.join("a.md.new"));
        fs::write(&page, "# A").unwrap();
        let jobs = [job(&[&page])];
        assert!(!tells(&jobs, || fs::write(&other, "# B").unwrap()));
        assert!(tells(&jobs, || fs::rename(&other, &page).unwrap()));
        let later = folder.join("later");
        assert!(tells(&[job(&[&later])], || fs::create_dir(&later).unwrap()));
    }

    #[test]
    fn a_commit_cannot_be_watched() {
        let jobs = [job(&[Path::new("https://host.test/kit.git#v1")])];
        assert!(Watch::new(&jobs, None).unwrap_err().to_string().contains("HINT:"));
    }
}

//! The last run over the same files: if neither they nor their documents have changed, nothing is read again.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::fs::{self, Metadata};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use docsearch_readers::document::page_group::GroupRule;
use docsearch_readers::document::{ReadOptions, UnknownNames};
use docsearch_readers::file::Links;
use docsearch_readers::site::Sites;
use ignore::WalkBuilder;
use postgres::Client;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::plan::{Plan, SourceRoot};
use crate::loading::project;
use crate::process::cache_folder;
use crate::process::error::Error;
use crate::sources::statistics::LeftOutFiles;
use crate::terminal::report::{self, Message};

/// A file that changed more recently than this may change again without a new timestamp.
const MIN_FILE_AGE: Duration = Duration::from_secs(2);
/// Folders with more files are always read: comparing them would take as long.
const MAX_FILES: usize = 200_000;
/// Records that were not used for this long are removed.
const MAX_RECORD_AGE: Duration = Duration::from_secs(90 * 24 * 60 * 60);
/// Folders that do not affect pages.
const SKIPPED_FOLDERS: [&str; 2] = [".git", "node_modules"];

/// The state of the files of a run.
#[derive(Debug)]
pub(super) struct FileSnapshot {
    digest: String,
    source_roots: Vec<String>,
}

/// The result of a run, as far as the next one repeats it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct LastRun {
    pub(super) documents: u64,
    pub(super) skipped: u64,
    pub(super) left_out: LeftOutFiles,
    pub(super) unknown_names: UnknownNames,
    pub(super) messages: Vec<Message>,
}

impl LastRun {
    /// What was kept or left out, a line each.
    pub(super) fn notes(&self) -> Vec<String> {
        [self.unknown_names.text(), self.left_out.text()]
            .into_iter()
            .flatten()
            .collect()
    }
}

/// A run with digests of the files that it read and of the documents that it stored.
#[derive(Serialize, Deserialize)]
struct Record<R> {
    files: String,
    documents: String,
    run: R,
}

impl FileSnapshot {
    /// The files of `plan`, read with `options`; `None` if changes could not be detected.
    pub(super) fn of(plan: &Plan, options: &ReadOptions, groups: &[GroupRule]) -> Option<Self> {
        let is_always_read = !plan.unpacked.is_empty() || !plan.problems.is_empty() || options.links == Links::Anywhere;
        if is_always_read || plan.inputs.is_empty() {
            return None;
        }
        let before = SystemTime::now().checked_sub(MIN_FILE_AGE)?;
        let mut digest = Sha256::new();
        add(
            &mut digest,
            &(env!("CARGO_PKG_VERSION"), program()?, options, &plan.left_out, groups),
        );
        let roots: BTreeSet<&Path> = plan.inputs.iter().map(|input| &*input.root).collect();
        for root in roots {
            add_files(&mut digest, root, before)?;
            let folders = plan.inputs.iter().filter(|input| input.root == *root);
            let folders: BTreeSet<PathBuf> = folders
                .map(|input| root.join(input.relative.parent().unwrap_or(Path::new(""))))
                .collect();
            let sites = Sites::new(root, options.site.clone());
            for folder in &folders {
                add(&mut digest, &sites.of(folder));
            }
        }
        for input in &plan.inputs {
            add(&mut digest, input);
        }
        let former = plan
            .folders
            .iter()
            .filter_map(|root: &SourceRoot| root.former_name.as_ref());
        let source_roots: BTreeSet<&String> = plan
            .inputs
            .iter()
            .map(|input| &input.source_root)
            .chain(former)
            .collect();
        Some(Self {
            digest: base16ct::lower::encode_string(&digest.finalize()),
            source_roots: source_roots.into_iter().cloned().collect(),
        })
    }

    /// The last run over these files, if the documents that it stored are unchanged.
    pub(super) fn last_run(&self, client: &mut Client, project: &str) -> Result<Option<LastRun>, Error> {
        let Some(path) = self.path(client, project)? else {
            return Ok(None);
        };
        let known = fs::read(&path).ok().and_then(|text| serde_json::from_slice(&text).ok());
        if let Ok(file) = fs::File::options().write(true).open(&path) {
            file.set_modified(SystemTime::now()).ok();
        }
        match known.filter(|known: &Record<LastRun>| known.files == self.digest) {
            Some(known) => Ok((self.documents(client, project)? == known.documents).then_some(known.run)),
            None => Ok(None),
        }
    }

    /// Records this run. A failure only costs time in the next run.
    pub(super) fn record(&self, client: &mut Client, project: &str, run: &LastRun) -> Result<(), Error> {
        if let Some(path) = self
            .path(client, project)?
            .filter(|_| run.messages.len() <= report::MAX_MESSAGES)
        {
            let record = Record {
                files: self.digest.clone(),
                documents: self.documents(client, project)?,
                run,
            };
            write(&path, &record).ok();
            prune(
                path.parent().unwrap_or(Path::new(".")),
                SystemTime::now() - MAX_RECORD_AGE,
            );
        }
        Ok(())
    }

    /// The file that records the last run into a project; `None` without a cache folder.
    fn path(&self, client: &mut Client, project: &str) -> Result<Option<PathBuf>, Error> {
        let Some(folder) = cache_folder::default_root("index") else {
            return Ok(None);
        };
        let key = format!("{:?}", (project::identity(client, project)?, &self.source_roots));
        Ok(Some(folder.join(format!("{}.json", &cache_folder::digest(&key)[..32]))))
    }

    fn documents(&self, client: &mut Client, project: &str) -> Result<String, Error> {
        project::digest_of(client, project, &self.source_roots)
    }
}

/// Distinguishes this program from another build of the same version.
fn program() -> Option<(u64, i64, i64)> {
    let file = std::env::current_exe().and_then(fs::metadata).ok()?;
    Some((file.len(), file.ctime(), file.ctime_nsec()))
}

/// Adds name, size and times of everything in a folder to the digest: pages may include any of its files. `None` if a
/// file changed after `before`, or if there are too many files.
fn add_files(digest: &mut Sha256, root: &Path, before: SystemTime) -> Option<()> {
    let is_included = |name: &std::ffi::OsStr| !SKIPPED_FOLDERS.iter().any(|other| name == *other);
    let walk = WalkBuilder::new(root)
        .standard_filters(false)
        .sort_by_file_path(Path::cmp)
        .filter_entry(move |entry| entry.depth() == 0 || is_included(entry.file_name()))
        .build();
    for (number, entry) in walk.enumerate() {
        if number > MAX_FILES {
            return None;
        }
        let entry = entry.ok()?;
        let relative = entry.path().strip_prefix(root).ok()?;
        // Follows links: where a link leads, or that it is broken, belongs to the state.
        match fs::metadata(entry.path()) {
            // The walk visits the contents of a folder.
            Ok(found) if found.is_dir() => add(digest, &relative),
            Ok(found) => {
                if change_time(&found)? >= before {
                    return None;
                }
                let times = (found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec());
                add(digest, &(relative, found.len(), found.mode(), times));
            }
            Err(_) => add(digest, &(relative, "nothing")),
        }
    }
    Some(())
}

/// When a file last changed (ctime): users cannot set this time.
fn change_time(file: &Metadata) -> Option<SystemTime> {
    let since = Duration::new(
        u64::try_from(file.ctime()).ok()?,
        u32::try_from(file.ctime_nsec()).ok()?,
    );
    SystemTime::UNIX_EPOCH.checked_add(since)
}

fn add(digest: &mut Sha256, what: &dyn Debug) {
    let text = format!("{what:?}");
    digest.update((text.len() as u64).to_le_bytes());
    digest.update(text);
}

/// Writes a temporary file and renames it, so that there is never half a file.
fn write(path: &Path, record: &Record<&LastRun>) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(&serde_json::to_vec(record)?)?;
    file.persist(path)?;
    Ok(())
}

/// Removes records that were not used since `before`.
fn prune(folder: &Path, before: SystemTime) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_old = entry
            .metadata()
            .and_then(|file| file.modified())
            .is_ok_and(|time| time < before);
        if is_old && entry.path().extension().is_some_and(|extension| extension == "json") {
            fs::remove_file(entry.path()).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(root: &Path, before: SystemTime) -> Option<Vec<u8>> {
        let mut digest = Sha256::new();
        add_files(&mut digest, root, before).map(|()| digest.finalize().to_vec())
    }

    #[test]
    fn any_change_of_a_folder_is_detected() {
        let folder = tempfile::tempdir().unwrap();
        let (root, page) = (folder.path(), folder.path().join("guide.md"));
        fs::write(&page, "# Guide").unwrap();
        fs::create_dir(root.join(".vitepress")).unwrap();
        let later = SystemTime::now() + Duration::from_secs(60);
        let mut seen = BTreeSet::from([digest(root, later).unwrap()]);
        assert_eq!(digest(root, later), seen.first().cloned());
        let change = |what: &dyn Fn(), seen: &mut BTreeSet<Vec<u8>>| {
            what();
            assert!(seen.insert(digest(root, later).unwrap()));
        };
        change(&|| fs::write(root.join(".vitepress/config.ts"), "").unwrap(), &mut seen);
        change(&|| fs::write(root.join("part.txt"), "").unwrap(), &mut seen);
        change(
            &|| std::os::unix::fs::symlink("nowhere", root.join("b.md")).unwrap(),
            &mut seen,
        );
        change(&|| fs::rename(&page, root.join("a.md")).unwrap(), &mut seen);
        change(&|| fs::remove_file(root.join("part.txt")).unwrap(), &mut seen);
    }

    #[test]
    fn a_change_of_the_same_size_and_time_is_detected() {
        let folder = tempfile::tempdir().unwrap();
        let page = folder.path().join("guide.md");
        fs::write(&page, "# One").unwrap();
        let later = SystemTime::now() + Duration::from_secs(60);
        let (before, time) = (
            digest(folder.path(), later),
            fs::metadata(&page).unwrap().modified().unwrap(),
        );
        // Timestamps of files have the resolution of the clock tick.
        std::thread::sleep(Duration::from_millis(50));
        fs::write(&page, "# Two").unwrap();
        fs::File::options()
            .write(true)
            .open(&page)
            .unwrap()
            .set_modified(time)
            .unwrap();
        assert_ne!(digest(folder.path(), later), before);
    }

    #[test]
    fn files_that_were_just_changed_are_read_again() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("guide.md"), "# Guide").unwrap();
        assert_eq!(digest(folder.path(), SystemTime::now() - MIN_FILE_AGE), None);
    }

    #[test]
    fn unused_records_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        for (name, days) in [("old.json", 100), ("new.json", 80), ("other", 100)] {
            fs::write(folder.path().join(name), "").unwrap();
            let file = fs::File::options().write(true).open(folder.path().join(name)).unwrap();
            let day = Duration::from_secs(24 * 60 * 60);
            file.set_modified(SystemTime::now() - day * days).unwrap();
        }
        prune(folder.path(), SystemTime::now() - MAX_RECORD_AGE);
        let left = |name: &str| folder.path().join(name).exists();
        assert_eq!((left("old.json"), left("new.json"), left("other")), (false, true, true));
    }

    #[test]
    fn changes_outside_the_documentation_are_ignored() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("guide.md"), "# Guide").unwrap();
        for other in SKIPPED_FOLDERS {
            fs::create_dir(folder.path().join(other)).unwrap();
        }
        let later = SystemTime::now() + Duration::from_secs(60);
        let before = digest(folder.path(), later);
        fs::write(folder.path().join(".git/index"), "x").unwrap();
        fs::write(folder.path().join("node_modules/a.md"), "x").unwrap();
        assert_eq!(digest(folder.path(), later), before);
    }
}

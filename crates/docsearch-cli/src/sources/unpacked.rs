//! A temporary folder for untrusted files: limited in size, and nothing is written outside.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Component, Path, PathBuf};

use tempfile::TempDir;

use crate::process::error::Error;
use crate::process::interrupt::Interrupt;

/// Limits on what is unpacked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UnpackLimits {
    entries: usize,
    bytes: u64,
    /// Maximum depth of folders.
    depth: usize,
    /// Maximum length of a path in bytes.
    path: usize,
}

impl Default for UnpackLimits {
    fn default() -> Self {
        Self {
            entries: 500_000,
            bytes: 2_000_000_000,
            depth: 100,
            path: 4_000,
        }
    }
}

/// Unpacked files, removed when this is dropped.
#[derive(Debug)]
pub(crate) struct UnpackedFiles {
    _folder: TempDir,
    top: PathBuf,
    limits: UnpackLimits,
    entries: usize,
    bytes: u64,
    links: Vec<(PathBuf, PathBuf)>,
    /// Number of entries that were left out, by reason.
    left_out: BTreeMap<&'static str, usize>,
    interrupt: Interrupt,
}

impl UnpackedFiles {
    pub(crate) fn new(interrupt: &Interrupt) -> Result<Self, Error> {
        Self::within(UnpackLimits::default(), interrupt)
    }

    pub(crate) fn within(limits: UnpackLimits, interrupt: &Interrupt) -> Result<Self, Error> {
        let parent = std::env::temp_dir();
        let folder = tempfile::Builder::new()
            .prefix("docsearch-")
            .tempdir()
            .map_err(Error::file(parent))?;
        let top = fs::canonicalize(folder.path())
            .map_err(Error::file(folder.path()))?
            .join("tree");
        // Stops the search for ignore rules and configuration in parent folders.
        fs::create_dir_all(top.join(".git")).map_err(Error::file(&top))?;
        Ok(Self {
            _folder: folder,
            top,
            limits,
            entries: 0,
            bytes: 0,
            links: Vec::new(),
            left_out: BTreeMap::new(),
            interrupt: interrupt.clone(),
        })
    }

    /// The folder of the files, a canonical path.
    pub(crate) fn top(&self) -> &Path {
        &self.top
    }

    /// Total size of the files so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Writes a file. Leaves it out if its name leads out of the folder or is taken.
    pub(crate) fn add(&mut self, name: &Path, contents: &mut dyn Read) -> Result<(), Error> {
        let Some(path) = self.entry(name)? else {
            return Ok(());
        };
        let Some(mut file) = self.create(&path)? else {
            return Ok(());
        };
        let room = self.limits.bytes - self.bytes;
        let written = io::copy(&mut contents.take(room + 1), &mut file).map_err(Error::file(name))?;
        if written > room {
            return Err(Error::Usage(format!(
                "more than {} MB to unpack\nHINT:  Unpack it yourself and index the folder.",
                self.limits.bytes / 1_000_000
            )));
        }
        self.bytes += written;
        Ok(())
    }

    /// Adds a symbolic link. [`Self::finish`] creates it, if it leads to something in the folder.
    pub(crate) fn link(&mut self, name: &Path, target: &Path) -> Result<(), Error> {
        if let Some(path) = self.entry(name)? {
            self.links.push((path, target.to_owned()));
        }
        Ok(())
    }

    pub(crate) fn leave_out(&mut self, reason: &'static str) {
        *self.left_out.entry(reason).or_default() += 1;
    }

    /// Creates the links, once no more files are written that could go through them.
    pub(crate) fn finish(&mut self) {
        for (path, target) in std::mem::take(&mut self.links) {
            let made = match leads_inside(&path, &target) {
                true => self.make_link(&path, &target).is_ok(),
                false => false,
            };
            if !made {
                self.leave_out("link that leads outside");
            }
        }
    }

    fn make_link(&self, path: &Path, target: &Path) -> io::Result<()> {
        let link = self.top.join(path);
        if let Some(folder) = link.parent() {
            fs::create_dir_all(folder)?;
            // An earlier link may have replaced a folder.
            if !fs::canonicalize(folder)?.starts_with(&self.top) {
                return Err(ErrorKind::PermissionDenied.into());
            }
        }
        std::os::unix::fs::symlink(target, link)
    }

    /// `left out 3 entries of kit.zip (encrypted: 2, special file: 1)`; `None` if nothing was left out.
    pub(crate) fn left_out_text(&self, of: &str) -> Option<String> {
        let count: usize = self.left_out.values().sum();
        let reasons: Vec<String> = self
            .left_out
            .iter()
            .map(|(reason, count)| format!("{reason}: {count}"))
            .collect();
        (count > 0).then(|| format!("left out {count} entries of {of} ({})", reasons.join(", ")))
    }

    /// Counts an entry. Returns its path below the top, or `None` if it is left out.
    fn entry(&mut self, name: &Path) -> Result<Option<PathBuf>, Error> {
        if self.interrupt.is_raised() {
            return Err(Error::Interrupted);
        }
        self.entries += 1;
        if self.entries > self.limits.entries {
            return Err(Error::Usage(format!(
                "more than {} files to unpack\nHINT:  Unpack it yourself and index the folder.",
                self.limits.entries
            )));
        }
        let Some(path) = relative_path(name) else {
            self.leave_out("name that leads outside");
            return Ok(None);
        };
        let is_long = path.as_os_str().len() > self.limits.path || path.components().count() > self.limits.depth;
        if is_long || is_of_repository(&path) {
            self.leave_out(if is_long { "name too long" } else { "file in .git" });
            return Ok(None);
        }
        Ok(Some(path))
    }

    /// Creates a file. Returns `None` if the name is taken, or if its folder is a file.
    fn create(&mut self, path: &Path) -> Result<Option<File>, Error> {
        let full = self.top.join(path);
        let made = full
            .parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| File::create_new(&full));
        match made {
            Ok(file) => Ok(Some(file)),
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::AlreadyExists | ErrorKind::NotADirectory | ErrorKind::IsADirectory
                ) =>
            {
                self.leave_out("duplicate name");
                Ok(None)
            }
            Err(error) if matches!(error.kind(), ErrorKind::InvalidFilename | ErrorKind::InvalidInput) => {
                self.leave_out("invalid name");
                Ok(None)
            }
            Err(error) => Err(Error::file(path)(error)),
        }
    }
}

/// A relative path without `.` and `..`; `None` if it is absolute, leads out or is empty.
fn relative_path(name: &Path) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    for part in name.components() {
        match part {
            Component::Normal(part) => path.push(part),
            Component::CurDir => {}
            _ => return None,
        }
    }
    (!path.as_os_str().is_empty()).then_some(path)
}

/// Whether a file belongs to a packed repository: its hooks and settings are untrusted.
fn is_of_repository(path: &Path) -> bool {
    path.components()
        .any(|part| part.as_os_str().eq_ignore_ascii_case(".git"))
}

/// Whether the link at `path` leads into the folder, by its name only. Its real target is checked when it is
/// read.
fn leads_inside(path: &Path, target: &Path) -> bool {
    let mut depth = path.components().count() as i64 - 1;
    for part in target.components() {
        match part {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir => depth -= 1,
            _ => return false,
        }
        if depth < 0 {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn unpacked() -> UnpackedFiles {
        UnpackedFiles::new(&Interrupt::default()).unwrap()
    }

    #[test]
    fn the_folder_is_removed_with_its_owner() {
        let mut folder = unpacked();
        folder.add(Path::new("guide/a.md"), &mut "text".as_bytes()).unwrap();
        let top = folder.top().to_owned();
        assert_eq!(fs::read(top.join("guide/a.md")).unwrap(), b"text");
        assert_eq!(folder.bytes(), 4);
        drop(folder);
        assert!(!top.exists());
    }

    #[test]
    fn names_that_lead_outside_are_left_out() {
        let mut folder = unpacked();
        for name in [
            "/etc/passwd",
            "../a",
            "a/../../b",
            "",
            ".",
            ".git/config",
            "kit/.GIT/hooks/x",
            "./b.md",
            "b.md",
        ] {
            folder.add(Path::new(name), &mut "x".as_bytes()).unwrap();
        }
        assert_eq!(
            folder.left_out_text("kit.zip").unwrap(),
            "left out 8 entries of kit.zip (duplicate name: 1, file in .git: 2, name that leads outside: 5)"
        );
        assert!(folder.top().join("b.md").exists());
    }

    #[test]
    fn limits_stop_the_unpacking() {
        let limits = UnpackLimits {
            entries: 3,
            bytes: 10,
            ..UnpackLimits::default()
        };
        let new = || UnpackedFiles::within(limits, &Interrupt::default()).unwrap();
        let mut folder = new();
        folder.add(Path::new("a"), &mut [0; 10].as_slice()).unwrap();
        assert!(folder.add(Path::new("b"), &mut [0; 1].as_slice()).is_err());
        let mut folder = new();
        for name in ["a", "b", "c"] {
            folder.add(Path::new(name), &mut io::empty()).unwrap();
        }
        assert!(folder.add(Path::new("d"), &mut io::empty()).is_err());
    }

    #[test]
    fn an_interrupt_stops_the_unpacking() {
        let interrupt = Interrupt::default();
        let mut folder = UnpackedFiles::new(&interrupt).unwrap();
        interrupt.raise();
        let ended = folder.add(Path::new("a"), &mut io::empty());
        assert!(matches!(ended, Err(Error::Interrupted)));
    }

    #[test]
    fn links_are_created_last_and_stay_inside() {
        let mut folder = unpacked();
        for (name, target) in [
            ("docs/changes.md", "../CHANGES.md"),
            ("docs/out.md", "../../secret.md"),
            ("docs/root.md", "/etc/passwd"),
            ("up", "."),
            ("up/above", ".."),
        ] {
            folder.link(Path::new(name), Path::new(target)).unwrap();
        }
        folder
            .add(Path::new("CHANGES.md"), &mut "# Changes".as_bytes())
            .unwrap();
        folder.finish();
        assert_eq!(fs::read(folder.top().join("docs/changes.md")).unwrap(), b"# Changes");
        for name in ["docs/out.md", "docs/root.md"] {
            assert!(fs::symlink_metadata(folder.top().join(name)).is_err(), "{name}");
        }
        assert_eq!(
            folder.left_out_text("kit.tar").unwrap(),
            "left out 2 entries of kit.tar (link that leads outside: 2)"
        );
    }

    proptest! {
        /// Nothing is written outside of the folder, and links resolve within it or not at all.
        #[test]
        fn nothing_is_written_outside(
            entries in prop::collection::vec(
                ("(\\.\\./|/|a/|b/|\\./){0,3}[abc.]{1,2}", prop::option::of("(\\.\\./|/|a/|b/){0,3}[abc.]{0,2}")), 1..12)
        ) {
            let mut folder = unpacked();
            for (name, target) in &entries {
                match target {
                    Some(target) => folder.link(Path::new(name), Path::new(target)).unwrap(),
                    None => folder.add(Path::new(name), &mut "x".as_bytes()).unwrap(),
                }
            }
            folder.finish();
            let beside = fs::read_dir(folder.top().parent().unwrap()).unwrap().count();
            prop_assert_eq!(beside, 1);
        }
    }
}

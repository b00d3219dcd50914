//! Opens files of a folder that an attacker may have filled.

pub mod extension;
pub mod manual_page;
pub mod slug;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

use nix::fcntl::OFlag;

/// Where symbolic links may lead.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Links {
    /// To files of the folder.
    #[default]
    Inside,
    /// To files outside the folder, too.
    Anywhere,
}

/// A folder whose files may be read.
#[derive(Debug, Clone)]
pub(crate) struct Folder {
    /// Canonical.
    pub(crate) root: PathBuf,
    pub(crate) links: Links,
}

/// Why a file is not read.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// An error of the operating system.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
    /// Only [`Links::Anywhere`] follows it.
    #[error("a link to a file outside the folder, {}\nHINT:  Read it with --follow-links.", .0.display())]
    Outside(PathBuf),
    /// A pipe or a device, which may block or never end.
    #[error("neither a file nor a folder")]
    Special,
}

/// Reads the file at `relative` below `root`, which is a canonical path. The file may be replaced by a pipe, a device
/// or a link at any time, and may grow. So the open file is checked, and at most `max_bytes` are read.
pub fn read(root: &Path, relative: &Path, links: Links, max_bytes: u64) -> Result<Vec<u8>, Refusal> {
    let path = fs::canonicalize(root.join(relative))?;
    if links == Links::Inside && !path.starts_with(root) {
        return Err(Refusal::Outside(path));
    }
    let file = open(&path)?;
    let mut bytes = Vec::new();
    file.take(max_bytes).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens a regular file without blocking, as a pipe would, and without following a link.
fn open(path: &Path) -> Result<File, Refusal> {
    let flags = OFlag::O_NONBLOCK | OFlag::O_NOFOLLOW;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits()).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(Refusal::Special),
    }
}

/// The path of `target` from `base`; `None` where it leads out of the folder.
pub fn inside(base: &Path, target: &Path) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    for component in base.components().chain(target.components()) {
        match component {
            Component::Normal(name) => path.push(name),
            Component::CurDir => {}
            Component::ParentDir => path.pop().then_some(())?,
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(path)
}

/// A temporary folder with these files, which exists as long as the first value.
#[cfg(test)]
pub(crate) fn test_folder(files: &[(&str, &str)]) -> (tempfile::TempDir, Folder) {
    let place = tempfile::tempdir().unwrap();
    let root = std::fs::canonicalize(place.path()).unwrap();
    for (path, text) in files {
        std::fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
        std::fs::write(root.join(path), text).unwrap();
    }
    let links = Links::Inside;
    (place, Folder { root, links })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use nix::sys::stat::Mode;
    use nix::unistd::mkfifo;

    use super::*;

    #[test]
    fn only_regular_files_are_read_up_to_the_limit() {
        let place = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(place.path()).unwrap();
        mkfifo(&root.join("pipe.md"), Mode::S_IRWXU).unwrap();
        fs::write(root.join("page.md"), "12345").unwrap();
        let read = |name: &str, bytes| read(&root, Path::new(name), Links::Anywhere, bytes);
        assert!(matches!(read("pipe.md", 5), Err(Refusal::Special)));
        assert_eq!(read("page.md", 5).unwrap(), b"12345");
        assert_eq!(read("page.md", 4).unwrap(), b"1234");
        symlink("/dev/zero", root.join("zero.md")).unwrap();
        assert!(matches!(read("zero.md", 5), Err(Refusal::Special)));
        assert!(matches!(read("gone.md", 5), Err(Refusal::Io(_))));
    }

    #[test]
    fn links_stay_in_the_folder_unless_they_may_leave_it() {
        let place = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(place.path()).unwrap();
        fs::create_dir(root.join("docs")).unwrap();
        fs::write(root.join("secret.md"), "out").unwrap();
        fs::write(root.join("docs/page.md"), "in").unwrap();
        symlink("../secret.md", root.join("docs/out.md")).unwrap();
        symlink("page.md", root.join("docs/in.md")).unwrap();
        symlink("..", root.join("docs/up")).unwrap();
        let docs = root.join("docs");
        let read = |name: &str, links| read(&docs, Path::new(name), links, 100);
        assert_eq!(read("in.md", Links::Inside).unwrap(), b"in");
        for name in ["out.md", "up/secret.md", "../secret.md"] {
            assert!(matches!(read(name, Links::Inside), Err(Refusal::Outside(_))), "{name}");
            assert_eq!(read(name, Links::Anywhere).unwrap(), b"out");
        }
    }

    #[test]
    fn paths_stay_in_the_folder() {
        let path = |base: &str, target: &str| inside(Path::new(base), Path::new(target));
        assert_eq!(path("a/b", "../c.adoc"), Some(PathBuf::from("a/c.adoc")));
        assert_eq!(path("a", "../../c.adoc"), None);
        assert_eq!(path("a", "/etc/passwd"), None);
    }
}

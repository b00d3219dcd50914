//! A folder in the work tree of a repository.

use std::fs;
use std::path::{Path, PathBuf};

use super::address::name;
use super::process::GitFailure;
use super::repository::Repository;
use crate::process::error::Error;
use crate::process::interrupt::Interrupt;

/// A folder in a work tree.
#[derive(Debug)]
pub(crate) struct Checkout {
    pub(crate) repository: Repository,
    /// Path of the folder from the top of the work tree.
    pub(crate) below: PathBuf,
}

impl Checkout {
    /// The work tree around `folder`, a canonical path; `None` if there is none. Runs git only if a parent folder has
    /// `.git`.
    pub(crate) fn around(folder: &Path, interrupt: &Interrupt) -> Result<Option<Self>, Error> {
        let looks_like_one = |above: &Path| fs::symlink_metadata(above.join(".git")).is_ok();
        if !folder.ancestors().any(looks_like_one) {
            return Ok(None);
        }
        let around = Repository::open(folder, interrupt)?;
        let top = match around.git.output(&["rev-parse", "--show-toplevel"]) {
            Ok(top) if !top.is_empty() => PathBuf::from(top),
            Ok(_) | Err(GitFailure::Message(_)) => return Ok(None),
            Err(GitFailure::Fatal(error)) => return Err(error),
        };
        let Ok(below) = folder.strip_prefix(&top) else {
            return Ok(None);
        };
        Ok(Some(Self {
            below: below.to_owned(),
            repository: Repository::open(&top, interrupt)?,
        }))
    }

    /// The checked-out commit; `None` before the first commit.
    pub(crate) fn head(&self) -> Option<String> {
        self.repository.commit("HEAD").ok()
    }
}

impl Repository {
    /// The name of the repository, from its remote and without a password; `None` without a remote, or if its URL is
    /// a local or relative path.
    pub(crate) fn name(&self) -> Result<Option<String>, Error> {
        let Some(address) = self.origin()? else {
            return Ok(None);
        };
        Ok(Some(name(&address)).filter(|name| !name.starts_with('.') && name.contains('/')))
    }
}

/// The name of a folder in a repository.
pub(crate) fn name_below(repository: &str, below: &Path) -> String {
    match below.as_os_str().is_empty() {
        true => repository.to_owned(),
        false => format!("{repository}/{}", below.display()),
    }
}

//! A local repository: its commits and trees.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use super::process::{Access, Git, GitFailure, read_limited};
use crate::process::error::Error;
use crate::process::interrupt::Interrupt;

/// Maximum number of suggested names.
const MAX_SUGGESTIONS: usize = 5;
/// Minimum similarity of a suggested name, from 0 to 1.
const MIN_SIMILARITY: f64 = 0.75;

/// A readable repository.
#[derive(Debug, Clone)]
pub(crate) struct Repository {
    pub(super) git: Git,
    /// Fetches missing files of a partial clone.
    pub(super) network: Option<Git>,
}

/// An entry of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TreeEntry {
    pub(super) kind: EntryKind,
    pub(super) object: String,
    /// Path from the top of the repository.
    pub(super) path: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryKind {
    File,
    Link,
    /// A nested repository, which is not read.
    Submodule,
    Folder,
}

impl Repository {
    /// Opens the repository around or at `folder`.
    pub(crate) fn open(folder: &Path, interrupt: &Interrupt) -> Result<Self, Error> {
        let git = Git::new(folder, Access::Local, interrupt);
        git.check()?;
        match git.output(&["rev-parse", "--git-dir"]) {
            Ok(_) => Ok(Self { git, network: None }),
            Err(GitFailure::Message(reason)) => Err(Error::Usage(open_error(folder, &reason))),
            Err(GitFailure::Fatal(error)) => Err(error),
        }
    }

    /// The full hash of the commit that `reference` names.
    pub(crate) fn commit(&self, reference: &str) -> Result<String, Error> {
        let wanted = format!("{reference}^{{commit}}");
        let arguments = ["rev-parse", "--quiet", "--verify", "--end-of-options", &wanted];
        match self.git.output(&arguments) {
            Ok(commit) => Ok(commit),
            Err(GitFailure::Message(_)) => Err(unknown_reference(reference, &self.names()?)),
            Err(GitFailure::Fatal(error)) => Err(error),
        }
    }

    /// Names of tags and branches.
    fn names(&self) -> Result<Vec<String>, Error> {
        let names = self.git.output(&[
            "for-each-ref",
            "--count=10000",
            "--sort=-creatordate",
            "--format=%(refname:lstrip=2)",
            "refs/tags",
            "refs/heads",
        ])?;
        Ok(names.lines().map(str::to_owned).collect())
    }

    /// The address of the remote `origin`, if there is one.
    pub(crate) fn origin(&self) -> Result<Option<String>, Error> {
        match self.git.output(&["config", "--get", "remote.origin.url"]) {
            Ok(address) => Ok((!address.is_empty()).then_some(address)),
            Err(GitFailure::Message(_)) => Ok(None),
            Err(GitFailure::Fatal(error)) => Err(error),
        }
    }

    /// The entries directly in the folder `path` of a commit, or with `deep` all entries below it. `None` if there is
    /// no such folder.
    pub(super) fn tree(&self, commit: &str, path: &Path, deep: bool) -> Result<Option<Vec<TreeEntry>>, Error> {
        let mut arguments: Vec<OsString> = ["ls-tree", "-z", "--full-tree"].map(OsString::from).to_vec();
        if deep {
            arguments.push("-r".into());
        }
        let mut tree = OsString::from(commit);
        if !path.as_os_str().is_empty() {
            tree.push(":");
            tree.push(path);
        }
        arguments.extend(["--end-of-options".into(), tree]);
        let mut listing = Vec::new();
        let listed = self
            .git
            .read(&arguments, Vec::new(), |output| read_limited(output, &mut listing));
        match listed {
            Ok(()) => {}
            Err(GitFailure::Message(_)) => return Ok(None),
            Err(GitFailure::Fatal(error)) => return Err(error),
        }
        Ok(Some(
            listing
                .split(|byte| *byte == 0)
                .filter_map(|line| entry(line, path))
                .collect(),
        ))
    }
}

/// Parses `100644 blob 1f7a...<tab>guide/start.md`, a path relative to `folder`.
fn entry(line: &[u8], folder: &Path) -> Option<TreeEntry> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    let mut words = std::str::from_utf8(&line[..tab]).ok()?.split(' ');
    let (mode, _, object) = (words.next()?, words.next()?, words.next()?);
    let kind = match mode {
        "120000" => EntryKind::Link,
        "160000" => EntryKind::Submodule,
        "040000" => EntryKind::Folder,
        _ => EntryKind::File,
    };
    Some(TreeEntry {
        kind,
        object: object.to_owned(),
        path: folder.join(OsString::from_vec(line[tab + 1..].to_vec())),
    })
}

/// The error of an unreadable repository, with a hint.
pub(super) fn open_error(folder: &Path, reason: &str) -> String {
    let hint = if reason.contains("dubious ownership") {
        format!(
            "\nHINT:  If you trust it, run: git config --global --add safe.directory '{}'",
            folder.display()
        )
    } else {
        String::new()
    };
    let reason = reason.split(" To add an exception").next().unwrap_or(reason);
    format!("cannot read {} as a git repository: {reason}{hint}", folder.display())
}

/// The error of an unknown reference, with similar names, or else some names.
pub(super) fn unknown_reference(reference: &str, names: &[String]) -> Error {
    let mut near: Vec<(f64, &String)> = names
        .iter()
        .map(|name| (strsim::jaro_winkler(reference, name), name))
        .filter(|(similarity, _)| *similarity >= MIN_SIMILARITY)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let near: Vec<&str> = near
        .iter()
        .take(MAX_SUGGESTIONS)
        .map(|(_, name)| name.as_str())
        .collect();
    let first: Vec<&str> = names.iter().take(MAX_SUGGESTIONS).map(String::as_str).collect();
    let hint = match (near.as_slice(), first.as_slice()) {
        ([], []) => "the repository has no tags or branches; give the full hash of a commit.".to_owned(),
        ([], first) => format!("there are, for example, {}.", first.join(", ")),
        (near, _) => format!("did you mean {}?", near.join(", ")),
    };
    let mut letters = hint.chars();
    let capital = letters.next().map(|first| first.to_ascii_uppercase());
    Error::Usage(format!(
        "no tag, branch or commit \"{reference}\"\nHINT:  {}{}",
        capital.map_or_else(String::new, String::from),
        letters.as_str()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_names_are_suggested() {
        let names: Vec<String> = ["v1.2.0", "v1.10.0", "main"].map(str::to_owned).to_vec();
        let error = unknown_reference("v1.2", &names).to_string();
        assert!(
            error.starts_with("no tag, branch or commit \"v1.2\"\nHINT:  Did you mean v1.2.0"),
            "{error}"
        );
        let error = unknown_reference("zzz", &names).to_string();
        assert!(
            error.ends_with("There are, for example, v1.2.0, v1.10.0, main."),
            "{error}"
        );
        assert!(unknown_reference("zzz", &[]).to_string().contains("no tags"));
    }

    #[test]
    fn a_repository_of_another_owner_is_refused_with_a_hint() {
        let reason =
            "detected dubious ownership in repository at '/srv/kit' To add an exception for this directory, call:";
        let text = open_error(Path::new("/srv/kit"), reason);
        assert!(text.contains("HINT:") && text.contains("safe.directory"), "{text}");
        assert!(!text.contains("To add an exception"), "{text}");
    }
}

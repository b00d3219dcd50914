//! A cache of remote repositories: all commits and trees of fetched references, and the files of commits that were
//! read.

use std::collections::HashSet;
use std::fs::{self, File, TryLockError};
use std::path::Path;
use std::time::Duration;

use super::address::{name, without_credentials};
use super::process::{Access, Git, GitFailure};
use super::repository::{Repository, unknown_reference};
use crate::process::cache_folder;
use crate::process::error::Error;
use crate::process::interrupt::Interrupt;

/// Poll interval for the lock of a repository.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// Number of polls before waiting for the lock fails.
const MAX_POLLS: usize = 3_000;

/// A fetched repository with the requested commit, locked until this is dropped.
#[derive(Debug)]
pub(crate) struct FetchedRepository {
    pub(crate) repository: Repository,
    pub(crate) commit: String,
    _lock: File,
}

/// A reference of the remote repository.
struct RemoteReference {
    object: String,
    reference: String,
}

/// Fetches `reference` from `address`, unless it is cached.
pub(crate) fn fetch(
    address: &str,
    reference: Option<&str>,
    interrupt: &Interrupt,
    note: impl Fn(&str),
) -> Result<FetchedRepository, Error> {
    let root = cache_folder::default_root("git").ok_or_else(|| {
        Error::Usage("no home directory for the cache of repositories\nHINT:  Set XDG_CACHE_HOME.".to_owned())
    })?;
    fetch_into(&root, address, reference, interrupt, note)
}

/// Like [`fetch`], with the folder of the cache.
pub(super) fn fetch_into(
    root: &Path,
    address: &str,
    reference: Option<&str>,
    interrupt: &Interrupt,
    note: impl Fn(&str),
) -> Result<FetchedRepository, Error> {
    let folder = root.join(&cache_folder::digest(&name(address))[..32]);
    fs::create_dir_all(&folder).map_err(Error::file(&folder))?;
    let lock = lock(&folder.join("lock"), interrupt)?;
    let network = |folder: &Path| Git::new(folder, Access::Network, interrupt).with("remote.origin.url", address);
    let failed = |failure| fetch_error(address, failure);

    let outside = network(&folder);
    outside.check()?;
    let remote_reference = resolve(&outside, reference).map_err(|failure| match failure {
        ResolveError::Git(failure) => failed(failure),
        ResolveError::NoSuch(error) => error,
    })?;
    let repository = folder.join("repository.git");
    let local = Repository {
        git: Git::new(&repository, Access::Local, interrupt),
        network: Some(network(&repository)),
    };
    if local.git.output(&["rev-parse", "--git-dir"]).is_err() {
        create(&outside, &repository, remote_reference.object.len())?;
    }
    let local_name = format!("refs/pages/{}", remote_reference.reference.trim_start_matches("refs/"));
    let known = local.git.output(&["rev-parse", "--quiet", "--verify", &local_name]);
    if known.ok().as_deref() != Some(&remote_reference.object) {
        note(&format!("fetching {}", without_credentials(address)));
        let wanted = format!("+{}:{local_name}", remote_reference.reference);
        let fetching = network(&repository);
        fetching
            .output(&[
                "fetch",
                "--progress",
                "--no-tags",
                "--filter=blob:none",
                "origin",
                &wanted,
            ])
            .map_err(failed)?;
    }
    let commit = local.commit(&local_name)?;
    Ok(FetchedRepository {
        repository: local,
        commit,
        _lock: lock,
    })
}

enum ResolveError {
    Git(GitFailure),
    NoSuch(Error),
}

/// Resolves `reference` on the remote: a tag, else a branch, else a full commit hash.
fn resolve(git: &Git, reference: Option<&str>) -> Result<RemoteReference, ResolveError> {
    let listing = git
        .output(&["ls-remote", "origin", "HEAD", "refs/heads/*", "refs/tags/*"])
        .map_err(ResolveError::Git)?;
    let references: Vec<(&str, &str)> = listing.lines().filter_map(|line| line.split_once('\t')).collect();
    let wanted: Vec<String> = match reference {
        None | Some("HEAD") => vec!["HEAD".to_owned()],
        Some(name) if name.starts_with("refs/") => vec![name.to_owned()],
        Some(name) => vec![format!("refs/tags/{name}"), format!("refs/heads/{name}")],
    };
    let found = wanted
        .iter()
        .find_map(|wanted| references.iter().find(|(_, name)| name == wanted));
    if let Some((object, name)) = found {
        return Ok(RemoteReference {
            object: (*object).to_owned(),
            reference: (*name).to_owned(),
        });
    }
    let reference = reference.unwrap_or("HEAD");
    if matches!(reference.len(), 40 | 64) && reference.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        let object = reference.to_ascii_lowercase();
        return Ok(RemoteReference {
            reference: object.clone(),
            object,
        });
    }
    let names: Vec<String> = references
        .iter()
        .rev()
        .filter(|(_, name)| !name.ends_with("^{}"))
        .filter_map(|(_, name)| {
            Some(
                name.strip_prefix("refs/tags/")
                    .or(name.strip_prefix("refs/heads/"))?
                    .to_owned(),
            )
        })
        .collect();
    Err(ResolveError::NoSuch(unknown_reference(reference, &names)))
}

/// Creates an empty partial clone with object names of `digits` hexadecimal digits.
fn create(git: &Git, folder: &Path, digits: usize) -> Result<(), Error> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(Error::file(folder))?;
    }
    fs::create_dir_all(folder).map_err(Error::file(folder))?;
    let format = format!("--object-format={}", if digits == 64 { "sha256" } else { "sha1" });
    let inside = Git::new(folder, Access::Local, git.interrupt());
    inside.output(&["init", "--quiet", "--bare", "--template=", &format, "."])?;
    for (key, value) in [
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.partialCloneFilter", "blob:none"),
    ] {
        inside.output(&["config", key, value])?;
    }
    Ok(())
}

impl Repository {
    /// Fetches all missing `objects` at once.
    pub(super) fn complete(&self, commit: &str, objects: &HashSet<&str>) -> Result<(), Error> {
        let Some(network) = &self.network else {
            return Ok(());
        };
        let tree = format!("{commit}^{{tree}}");
        let listing = self
            .git
            .output(&["rev-list", "--objects", "--no-walk", "--missing=print", &tree])?;
        let missing: Vec<&str> = listing
            .lines()
            .filter_map(|line| line.strip_prefix('?'))
            .filter(|object| objects.contains(object))
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let fetching = network.clone().with("fetch.negotiationAlgorithm", "noop");
        let arguments = [
            "fetch",
            "--progress",
            "--no-tags",
            "--no-write-fetch-head",
            "--recurse-submodules=no",
            "--filter=blob:none",
            "--stdin",
            "origin",
        ];
        let input = (missing.join("\n") + "\n").into_bytes();
        fetching
            .read(&arguments, input, |output| {
                std::io::copy(output, &mut std::io::sink()).map(drop)
            })
            .map_err(Error::from)
    }
}

/// Waits for other runs that use the same repository.
fn lock(path: &Path, interrupt: &Interrupt) -> Result<File, Error> {
    let file = File::create(path).map_err(Error::file(path))?;
    for _ in 0..MAX_POLLS {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if interrupt.sleep(POLL_INTERVAL) => {}
            Err(TryLockError::WouldBlock) => return Err(Error::Interrupted),
            Err(TryLockError::Error(error)) => return Err(Error::file(path)(error)),
        }
    }
    Err(Error::Usage(format!(
        "another run uses the same repository\nHINT:  Wait for it to finish; it holds {}.",
        path.display()
    )))
}

/// The error of a failed fetch, with a hint.
fn fetch_error(address: &str, failure: GitFailure) -> Error {
    let reason = match failure {
        GitFailure::Message(reason) => reason,
        GitFailure::Fatal(error) => return error,
    };
    let shown = without_credentials(address);
    let reason = reason.replace(address, &shown);
    let says = |words: &[&str]| words.iter().any(|word| reason.contains(word));
    let hint = if says(&[
        "Could not resolve",
        "Connection refused",
        "timed out",
        "unreachable",
        "Failed to connect",
    ]) {
        "Check that the host can be reached from here, and through which proxy."
    } else if says(&[
        "could not read Username",
        "Authentication failed",
        "Permission denied",
        "403",
    ]) {
        "Give git a key or a token: docsearch uses the credential helpers of git and ssh, and does not prompt."
    } else if says(&["not found", "does not exist", "does not appear to be"]) {
        "Check the URL; hosts also say this of a repository that you may not see."
    } else {
        "Run git ls-remote with this URL for details."
    };
    Error::Usage(format!("cannot fetch {shown}: {reason}\nHINT:  {hint}"))
}

/// The folder of a repository in the cache at `root`.
#[cfg(test)]
pub(super) fn folder_of(root: &Path, address: &str) -> std::path::PathBuf {
    root.join(&cache_folder::digest(&name(address))[..32])
        .join("repository.git")
}

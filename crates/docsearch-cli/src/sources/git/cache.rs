//! Repositories of other hosts, kept here: the commits and folders of all of their history, and the files of the
//! commits that were read.

use std::collections::HashSet;
use std::fs::{self, File, TryLockError};
use std::path::Path;
use std::time::Duration;

use super::address::{name, without_credentials};
use super::process::{Failure, Git, Reach};
use super::repository::{Repository, no_such};
use crate::process::cache_folder;
use crate::process::error::Error;
use crate::process::interrupt::Interrupt;

/// Between two looks at whether another run has let go of the repository.
const LOOK: Duration = Duration::from_millis(200);
/// Looks until that is an error.
const LOOKS: usize = 3_000;

/// A repository of another host with the commit that is meant, which others leave alone until this is dropped.
#[derive(Debug)]
pub(crate) struct Fetched {
    pub(crate) repository: Repository,
    pub(crate) commit: String,
    _lock: File,
}

/// What the other host says that it has.
struct Offer {
    object: String,
    reference: String,
}

/// Fetches what `reference` means at `address`, unless it is here already.
pub(crate) fn fetch(
    address: &str,
    reference: Option<&str>,
    interrupt: &Interrupt,
    note: impl Fn(&str),
) -> Result<Fetched, Error> {
    let root = cache_folder::default_root("git").ok_or_else(|| {
        Error::Usage("no home directory to keep repositories in\nHINT:  Set XDG_CACHE_HOME.".to_owned())
    })?;
    fetch_into(&root, address, reference, interrupt, note)
}

/// As [`fetch`], with the folder of the repositories.
pub(super) fn fetch_into(
    root: &Path,
    address: &str,
    reference: Option<&str>,
    interrupt: &Interrupt,
    note: impl Fn(&str),
) -> Result<Fetched, Error> {
    let folder = root.join(&cache_folder::digest(&name(address))[..32]);
    fs::create_dir_all(&folder).map_err(Error::file(&folder))?;
    let lock = lock(&folder.join("lock"), interrupt)?;
    let network = |folder: &Path| Git::new(folder, Reach::Network, interrupt).with("remote.origin.url", address);
    let failed = |failure| not_fetched(address, failure);

    let outside = network(&folder);
    outside.check()?;
    let offer = offered(&outside, reference).map_err(|failure| match failure {
        Refused::Git(failure) => failed(failure),
        Refused::NoSuch(error) => error,
    })?;
    let repository = folder.join("repository.git");
    let local = Repository {
        git: Git::new(&repository, Reach::Local, interrupt),
        network: Some(network(&repository)),
    };
    if local.git.ask(&["rev-parse", "--git-dir"]).is_err() {
        make(&outside, &repository, offer.object.len())?;
    }
    let kept = format!("refs/pages/{}", offer.reference.trim_start_matches("refs/"));
    let known = local.git.ask(&["rev-parse", "--quiet", "--verify", &kept]);
    if known.ok().as_deref() != Some(&offer.object) {
        note(&format!("fetching {}", without_credentials(address)));
        let wanted = format!("+{}:{kept}", offer.reference);
        let fetching = network(&repository);
        fetching
            .ask(&[
                "fetch",
                "--progress",
                "--no-tags",
                "--filter=blob:none",
                "origin",
                &wanted,
            ])
            .map_err(failed)?;
    }
    let commit = local.commit(&kept)?;
    Ok(Fetched {
        repository: local,
        commit,
        _lock: lock,
    })
}

enum Refused {
    Git(Failure),
    NoSuch(Error),
}

/// What the host has under the name `reference`: a tag, else a branch, else the commit itself.
fn offered(git: &Git, reference: Option<&str>) -> Result<Offer, Refused> {
    let listing = git
        .ask(&["ls-remote", "origin", "HEAD", "refs/heads/*", "refs/tags/*"])
        .map_err(Refused::Git)?;
    let offers: Vec<(&str, &str)> = listing.lines().filter_map(|line| line.split_once('\t')).collect();
    let wanted: Vec<String> = match reference {
        None | Some("HEAD") => vec!["HEAD".to_owned()],
        Some(name) if name.starts_with("refs/") => vec![name.to_owned()],
        Some(name) => vec![format!("refs/tags/{name}"), format!("refs/heads/{name}")],
    };
    let found = wanted
        .iter()
        .find_map(|wanted| offers.iter().find(|(_, name)| name == wanted));
    if let Some((object, name)) = found {
        return Ok(Offer {
            object: (*object).to_owned(),
            reference: (*name).to_owned(),
        });
    }
    let reference = reference.unwrap_or("HEAD");
    if matches!(reference.len(), 40 | 64) && reference.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        let object = reference.to_ascii_lowercase();
        return Ok(Offer {
            reference: object.clone(),
            object,
        });
    }
    let names: Vec<String> = offers
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
    Err(Refused::NoSuch(no_such(reference, &names)))
}

/// Makes an empty repository that may lack files, with names of objects of so many digits.
fn make(git: &Git, folder: &Path, digits: usize) -> Result<(), Error> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(Error::file(folder))?;
    }
    fs::create_dir_all(folder).map_err(Error::file(folder))?;
    let format = format!("--object-format={}", if digits == 64 { "sha256" } else { "sha1" });
    let inside = Git::new(folder, Reach::Local, git.interrupt());
    inside.ask(&["init", "--quiet", "--bare", "--template=", &format, "."])?;
    for (key, value) in [
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.partialCloneFilter", "blob:none"),
    ] {
        inside.ask(&["config", key, value])?;
    }
    Ok(())
}

impl Repository {
    /// Fetches those of `objects` that are not here, all at once.
    pub(super) fn complete(&self, commit: &str, objects: &HashSet<&str>) -> Result<(), Error> {
        let Some(network) = &self.network else {
            return Ok(());
        };
        let tree = format!("{commit}^{{tree}}");
        let listing = self
            .git
            .ask(&["rev-list", "--objects", "--no-walk", "--missing=print", &tree])?;
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

/// Waits for other runs that read the same repository.
fn lock(path: &Path, interrupt: &Interrupt) -> Result<File, Error> {
    let file = File::create(path).map_err(Error::file(path))?;
    for _ in 0..LOOKS {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if interrupt.sleep(LOOK) => {}
            Err(TryLockError::WouldBlock) => return Err(Error::Interrupted),
            Err(TryLockError::Error(error)) => return Err(Error::file(path)(error)),
        }
    }
    Err(Error::Usage(format!(
        "another run reads the same repository\nHINT:  Wait for it; it holds {}.",
        path.display()
    )))
}

/// Why nothing came from a host, and what helps.
fn not_fetched(address: &str, failure: Failure) -> Error {
    let reason = match failure {
        Failure::Message(reason) => reason,
        Failure::Fatal(error) => return error,
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
        "Look whether the host can be reached from here, and through which proxy."
    } else if says(&[
        "could not read Username",
        "Authentication failed",
        "Permission denied",
        "403",
    ]) {
        "Give git a key or a token: its credential helpers and those of ssh are used, and nothing is asked for."
    } else if says(&["not found", "does not exist", "does not appear to be"]) {
        "Look at the address; a host says this of a repository that it does not show, too."
    } else {
        "git ls-remote with this address says more."
    };
    Error::Usage(format!("cannot fetch {shown}: {reason}\nHINT:  {hint}"))
}

/// Where a repository is kept below `root`.
#[cfg(test)]
pub(super) fn folder_of(root: &Path, address: &str) -> std::path::PathBuf {
    root.join(&cache_folder::digest(&name(address))[..32])
        .join("repository.git")
}

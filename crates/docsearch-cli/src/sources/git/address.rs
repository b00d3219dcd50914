//! Parses an argument into a repository, a reference and a folder.

use std::fs;
use std::path::{Component, Path, PathBuf};

use url::Url;

use crate::process::error::Error;

/// Maximum length of a reference in bytes.
const MAX_REFERENCE: usize = 250;

/// A repository as the user writes it: `https://host/kit.git#v1.2:docs`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RepositoryAddress {
    pub(crate) location: RepositoryLocation,
    /// A tag, branch or commit; `None` for the default branch or the checked-out commit.
    pub(crate) reference: Option<String>,
    /// The folder to read, relative to the top; empty for the whole repository.
    pub(crate) below: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RepositoryLocation {
    /// A URL for git, which may contain a password.
    Remote(String),
    /// A folder in a work tree, or a bare repository.
    Local(PathBuf),
}

impl RepositoryAddress {
    /// Whether a text is the address of a remote repository.
    pub(crate) fn is_remote(text: &str) -> bool {
        is_address(text.split_once('#').map_or(text, |(location, _)| location))
    }

    /// `None` if the argument is an ordinary path. An existing path is one, unless it is a bare repository.
    pub(crate) fn parse(argument: &Path) -> Result<Option<Self>, Error> {
        if argument.exists() {
            return Ok(is_bare(argument).then(|| Self {
                location: RepositoryLocation::Local(argument.to_owned()),
                reference: None,
                below: PathBuf::new(),
            }));
        }
        let Some(text) = argument.to_str() else {
            return Ok(None);
        };
        let (location, fragment) = match text.split_once('#') {
            Some((location, fragment)) => (location, Some(fragment)),
            None => (text, None),
        };
        let location = if is_address(location) {
            RepositoryLocation::Remote(location.to_owned())
        } else if fragment.is_some() && Path::new(location).is_dir() {
            RepositoryLocation::Local(PathBuf::from(location))
        } else if text.starts_with("http://") || text.starts_with("https://") {
            return Err(Error::Usage(format!(
                "{} is neither a path nor a git repository\nHINT:  Use docsearch crawl for a site; the URL of a repository ends in \
                 .git.",
                without_credentials(text)
            )));
        } else {
            return Ok(None);
        };
        let fragment = fragment.unwrap_or_default();
        let (reference, below) = fragment.split_once(':').unwrap_or((fragment, ""));
        if !reference.is_empty() && !is_reference(reference) {
            return Err(Error::Usage(format!(
                "\"{reference}\" is not a valid tag, branch or commit\nHINT:  Write https://host/kit.git#v1.2, or with a folder \
                 https://host/kit.git#v1.2:docs."
            )));
        }
        Ok(Some(Self {
            location,
            reference: (!reference.is_empty()).then(|| reference.to_owned()),
            below: folder_below(below).ok_or_else(|| {
                Error::Usage(format!(
                    "\"{below}\" is not a folder path in a repository\nHINT:  Use a path from the top, such as docs/guide."
                ))
            })?,
        }))
    }
}

/// Whether git takes a text for a URL, and with a protocol that is allowed.
fn is_address(text: &str) -> bool {
    if text.starts_with('-') || text.chars().any(|letter| letter.is_control() || letter == ' ') {
        return false;
    }
    if let Some((scheme, rest)) = text.split_once("://") {
        let path = rest.trim_end_matches('/');
        return match scheme {
            "http" | "https" => has_extension(path),
            "ssh" | "git" => !rest.starts_with('-') && rest.contains('/'),
            "file" => rest.starts_with('/'),
            _ => false,
        };
    }
    // git@host:path, as for ssh.
    let Some((host, path)) = text.split_once(':') else {
        return false;
    };
    let is_plain = |text: &str| {
        !text.is_empty()
            && !text.starts_with('-')
            && text
                .chars()
                .all(|letter| letter.is_ascii_alphanumeric() || "-._".contains(letter))
    };
    let is_host = match host.split_once('@') {
        Some((user, host)) => is_plain(user) && is_plain(host),
        None => is_plain(host) && has_extension(path),
    };
    is_host && !path.is_empty() && !path.starts_with(':')
}

fn has_extension(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "git")
}

/// Whether a text can be a reference: git would take a leading hyphen for an option.
fn is_reference(text: &str) -> bool {
    text.len() <= MAX_REFERENCE
        && !text.starts_with(['-', '/', '.', '^', '@'])
        && !text.contains("..")
        && !text.contains("@{")
        && text
            .chars()
            .all(|letter| !letter.is_control() && !letter.is_whitespace() && !"?*[\\\"".contains(letter))
}

/// A relative path without `..`.
fn folder_below(text: &str) -> Option<PathBuf> {
    let mut folder = PathBuf::new();
    for part in Path::new(text).components() {
        match part {
            Component::Normal(part) => folder.push(part),
            Component::CurDir => {}
            _ => return None,
        }
    }
    (!text.contains('\0')).then_some(folder)
}

/// Whether a folder is a bare repository.
fn is_bare(folder: &Path) -> bool {
    let is_there = |name: &str| fs::symlink_metadata(folder.join(name)).is_ok();
    is_there("HEAD") && folder.join("objects").is_dir() && folder.join("refs").is_dir() && is_there("config")
}

/// A URL without user name and password, for messages.
pub(super) fn without_credentials(address: &str) -> String {
    match Url::parse(address) {
        Ok(mut url) if url.has_host() => {
            let is_clean = url.set_password(None).is_ok() && url.set_username("").is_ok();
            if is_clean { url.into() } else { url.scheme().to_owned() }
        }
        _ => address.to_owned(),
    }
}

/// The name of a repository, whichever URL it is reached by: `github.com/x/kit` for both
/// `https://token@github.com/x/kit.git` and `git@github.com:x/kit`.
pub(crate) fn name(address: &str) -> String {
    let (host, path) = match Url::parse(address) {
        Ok(url) if url.has_host() || url.scheme() == "file" => {
            let host = url.host_str().unwrap_or_default().to_owned();
            let port = url.port().map_or_else(String::new, |port| format!(":{port}"));
            (host + &port, url.path().to_owned())
        }
        _ => match address.split_once(':') {
            Some((host, path)) if !host.contains('/') => {
                let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
                (host.to_lowercase(), path.to_owned())
            }
            _ => (String::new(), address.to_owned()),
        },
    };
    let path = path.trim_end_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path).trim_end_matches('/');
    match host.is_empty() {
        true => path.to_owned(),
        false => format!("{host}/{}", path.trim_start_matches('/')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(argument: &str) -> Option<(RepositoryLocation, Option<String>, PathBuf)> {
        let address = RepositoryAddress::parse(Path::new(argument)).unwrap()?;
        Some((address.location, address.reference, address.below))
    }

    #[test]
    fn repositories_are_distinguished_from_paths() {
        let remote = |location: &str, reference: Option<&str>, below: &str| {
            Some((
                RepositoryLocation::Remote(location.to_owned()),
                reference.map(str::to_owned),
                PathBuf::from(below),
            ))
        };
        let https = "https://host.test/x/kit.git";
        assert_eq!(parsed(https), remote(https, None, ""));
        assert_eq!(parsed(&format!("{https}#v1.2")), remote(https, Some("v1.2"), ""));
        assert_eq!(
            parsed(&format!("{https}#release/2:docs/guide/")),
            remote(https, Some("release/2"), "docs/guide")
        );
        assert_eq!(parsed(&format!("{https}#:docs")), remote(https, None, "docs"));
        assert_eq!(
            parsed("git@host.test:x/kit#v1"),
            remote("git@host.test:x/kit", Some("v1"), "")
        );
        assert_eq!(
            parsed("ssh://git@host.test:2222/x/kit"),
            remote("ssh://git@host.test:2222/x/kit", None, "")
        );
        assert_eq!(parsed("file:///srv/kit.git"), remote("file:///srv/kit.git", None, ""));
        for path in [
            "docs",
            "docs/C:x",
            "a.md",
            "no/such#v1",
            "ext::sh -c touch",
            "c:kit",
            "git@host",
        ] {
            assert_eq!(parsed(path), None, "{path}");
        }
    }

    #[test]
    fn a_folder_with_a_reference_is_a_repository_unless_such_a_path_exists() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("kit");
        fs::create_dir(&folder).unwrap();
        let argument = format!("{}#v1:docs", folder.display());
        let expected = (
            RepositoryLocation::Local(folder),
            Some("v1".to_owned()),
            PathBuf::from("docs"),
        );
        assert_eq!(parsed(&argument), Some(expected));
        fs::create_dir_all(place.path().join("kit#v1:docs")).unwrap();
        assert_eq!(parsed(&argument), None);
    }

    #[test]
    fn arguments_that_git_would_misread_are_rejected() {
        for argument in [
            "https://host.test/kit.git#--upload-pack=x",
            "https://host.test/kit.git#-x",
            "https://host.test/kit.git#a..b",
            "https://host.test/kit.git#a b",
            "https://host.test/kit.git#v1:../etc",
            "https://host.test/kit.git#v1:/etc",
            "https://host.test/guide/",
        ] {
            let error = RepositoryAddress::parse(Path::new(argument)).unwrap_err();
            assert!(error.to_string().contains("HINT:"), "{argument}: {error}");
        }
        for argument in [
            "--upload-pack=x:kit.git",
            "-x@host:kit.git",
            "ext::x.git",
            "a b@host:kit.git",
        ] {
            assert_eq!(parsed(argument), None, "{argument}");
        }
        let error = RepositoryAddress::parse(Path::new("https://ada:secret@host.test/guide")).unwrap_err();
        assert!(!error.to_string().contains("secret"), "{error}");
    }

    #[test]
    fn all_urls_of_a_repository_give_one_name_without_passwords() {
        for address in [
            "https://github.com/x/Kit.git",
            "https://token:x-oauth@GitHub.com/x/Kit",
            "ssh://git@github.com/x/Kit.git/",
            "git@github.com:x/Kit.git",
        ] {
            assert_eq!(name(address), "github.com/x/Kit", "{address}");
        }
        assert_eq!(name("https://host.test:8443/x"), "host.test:8443/x");
        assert_eq!(name("file:///srv/git/kit.git"), "/srv/git/kit");
        assert_eq!(name("/srv/git/kit.git"), "/srv/git/kit");
        assert_eq!(name("../kit"), "../kit");
    }
}

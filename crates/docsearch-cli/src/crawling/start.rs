//! Where a crawl begins: addresses, a sitemap, a list.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use ureq::http::StatusCode;
use url::Url;

use super::fetch::Fetcher;
use super::http::{Failure, Kind, Validators};
use super::scope::{self, BadAddress};
use super::sitemap::{self, Allowance, Sitemap, SitemapEntry};
use crate::process::error::Error;

const MAX_SITEMAPS: usize = 1_000;

/// A sitemap on the web or on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    Web(Url),
    File(PathBuf),
}

impl Place {
    /// What begins like a URL is one.
    pub(crate) fn parse(text: &str) -> Result<Self, BadAddress> {
        if text.contains("://") {
            scope::parse(text).map(Self::Web)
        } else {
            Ok(Self::File(PathBuf::from(text)))
        }
    }
}

/// Where a user says to start.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Given<'a> {
    pub(crate) urls: &'a [String],
    pub(crate) sitemap: Option<&'a str>,
    pub(crate) url_list: Option<&'a Path>,
    /// What tells this crawl from others, if it is not where it starts.
    pub(crate) source_root: Option<&'a str>,
}

/// Where a crawl starts.
#[derive(Debug)]
pub(crate) struct Starts {
    pub(crate) urls: Vec<Url>,
    pub(crate) sitemap: Option<Place>,
    pub(crate) list: Vec<String>,
    /// What tells this crawl from others.
    pub(crate) name: String,
}

impl Starts {
    pub(crate) fn read(given: &Given<'_>) -> Result<Self, Error> {
        let urls = given
            .urls
            .iter()
            .map(|text| parsed(text))
            .collect::<Result<Vec<_>, _>>()?;
        let sitemap = given
            .sitemap
            .map(|text| Place::parse(text).map_err(|reason| bad_address(text, &reason)))
            .transpose()?;
        let list = given.url_list.map(read_list).transpose()?;
        let name = match (&urls[..], &sitemap, given.url_list, given.source_root) {
            (_, _, _, Some(name)) => name.to_owned(),
            ([_, ..], ..) => urls.iter().map(Url::as_str).collect::<Vec<_>>().join(" "),
            (_, Some(Place::Web(url)), ..) => url.to_string(),
            (_, Some(Place::File(path)), ..) => full_path(path)?,
            (_, _, Some(path), _) if path != Path::new("-") => full_path(path)?,
            _ => {
                return Err(Error::Usage(
                    "a list from standard input has no name\nHINT:  Set --source-root.".to_owned(),
                ));
            }
        };
        Ok(Self {
            urls,
            sitemap,
            list: list.unwrap_or_default(),
            name,
        })
    }

    /// What the scope is measured from: the first kind of start that is given.
    pub(crate) fn roots(&self, listed: impl FnOnce() -> Vec<Url>) -> Vec<Url> {
        match &self.sitemap {
            _ if !self.urls.is_empty() => self.urls.clone(),
            Some(Place::Web(url)) => vec![url.clone()],
            _ => listed(),
        }
    }
}

fn full_path(path: &Path) -> Result<String, Error> {
    let full = fs::canonicalize(path).map_err(Error::file(path))?;
    Ok(full.to_string_lossy().into_owned())
}

fn parsed(text: &str) -> Result<Url, Error> {
    scope::parse(text).map_err(|reason| bad_address(text, &reason))
}

pub(crate) fn bad_address(text: &str, reason: &BadAddress) -> Error {
    let hint = match reason {
        BadAddress::Syntax(_) | BadAddress::Scheme => "HINT:  Give the whole URL, such as https://docs.example.com/.",
        BadAddress::Credentials => "HINT:  Pages behind a login cannot be crawled.",
        BadAddress::TooLong => "HINT:  Give a shorter one.",
    };
    // A password does not belong on a screen.
    match reason {
        BadAddress::Credentials => Error::Usage(format!("{reason}\n{hint}")),
        _ => Error::Usage(format!("{text}: {reason}\n{hint}")),
    }
}

/// The addresses of a sitemap and of the sitemaps that it lists.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    pub(crate) pages: Vec<SitemapEntry>,
    /// Sitemaps that could not be read, and why.
    pub(crate) problems: Vec<(String, String)>,
}

/// Reads the sitemap at `place`, as far as the allowance goes. An error is what hinders the first one from being read.
pub(crate) fn read_sitemap(
    place: &Place,
    fetcher: &mut Fetcher,
    mut allowance: Allowance,
) -> Result<Result<Listing, Failure>, Error> {
    let mut listing = Listing::default();
    let (first, base) = match place {
        Place::File(path) => (fs::read(path).map_err(Error::file(path))?, None),
        Place::Web(url) => match fetch(url, fetcher) {
            Ok(bytes) => (bytes, Some(url)),
            Err(failure) => return Ok(Err(failure)),
        },
    };
    let name = match place {
        Place::File(path) => path.display().to_string(),
        Place::Web(url) => url.to_string(),
    };
    let sitemap = sitemap::read(&first, &mut allowance).map_err(|reason| Error::Crawl(format!("{name}: {reason}")))?;
    drop(first);
    let children = match sitemap {
        Sitemap::Pages(pages) => {
            listing.pages = pages;
            if allowance.is_exceeded {
                listing.problems.push((name, Problem::Cut.to_string()));
            }
            return Ok(Ok(listing));
        }
        Sitemap::Index(children) => children,
    };
    if children.len() > MAX_SITEMAPS {
        let reason = format!("only the first {MAX_SITEMAPS} sitemaps are read");
        listing.problems.push((name, reason));
    }
    for (read, child) in children.iter().take(MAX_SITEMAPS).enumerate() {
        if allowance.is_spent() {
            let reason = format!("{}; {} sitemaps are not read", Problem::Cut, children.len() - read);
            listing.problems.push((child.url.clone(), reason));
            break;
        }
        match read_child(&child.url, base, fetcher, &mut allowance) {
            Ok(pages) => {
                listing.pages.extend(pages);
                if allowance.is_exceeded {
                    listing.problems.push((child.url.clone(), Problem::Cut.to_string()));
                }
            }
            Err(Problem::Failure(Failure::Interrupted)) => return Ok(Err(Failure::Interrupted)),
            Err(problem) => listing.problems.push((child.url.clone(), problem.to_string())),
        }
    }
    Ok(Ok(listing))
}

#[derive(Debug, thiserror::Error)]
enum Problem {
    #[error(transparent)]
    Address(#[from] BadAddress),
    #[error("on another site than the sitemap that lists it")]
    OtherSite,
    #[error(transparent)]
    Failure(#[from] Failure),
    #[error(transparent)]
    BadSitemap(#[from] sitemap::BadSitemap),
    #[error("a list of sitemaps within another")]
    Nested,
    #[error("the sitemaps list more than a crawl takes")]
    Cut,
}

/// The protocol has indexes on their own site only, and none within another.
fn read_child(
    address: &str,
    parent: Option<&Url>,
    fetcher: &mut Fetcher,
    allowance: &mut Allowance,
) -> Result<Vec<SitemapEntry>, Problem> {
    let url = scope::parse(address)?;
    if parent.is_some_and(|parent| parent.origin() != url.origin()) {
        return Err(Problem::OtherSite);
    }
    match sitemap::read(&fetch(&url, fetcher)?, allowance)? {
        Sitemap::Pages(pages) => Ok(pages),
        Sitemap::Index(_) => Err(Problem::Nested),
    }
}

fn fetch(url: &Url, fetcher: &mut Fetcher) -> Result<Vec<u8>, Failure> {
    // Its `robots.txt` may set the pace. A sitemap itself is there for programs.
    fetcher.is_allowed(url)?;
    let response = fetcher.get(url, Kind::Sitemap, &Validators::default())?;
    match response.status {
        StatusCode::OK => Ok(response.body),
        status => Err(Failure::Status(status)),
    }
}

/// The addresses in a file, or on standard input where that is `-`.
pub(crate) fn read_list(path: &Path) -> Result<Vec<String>, Error> {
    let mut text = String::new();
    let read = if path == Path::new("-") {
        std::io::stdin().lock().read_to_string(&mut text)
    } else {
        fs::File::open(path).and_then(|mut file| file.read_to_string(&mut text))
    };
    read.map_err(Error::file(path))?;
    Ok(sitemap::lines(&text).map(str::to_owned).collect())
}

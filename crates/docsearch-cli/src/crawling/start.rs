//! Where a crawl starts: URLs, a sitemap, a list.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use ureq::http::StatusCode;
use url::Url;

use super::fetch::Fetcher;
use super::http::{FetchFailure, RequestKind, Validators};
use super::scope::{self, BadAddress};
use super::sitemap::{self, Sitemap, SitemapEntry, SitemapLimits};
use crate::process::error::Error;

const MAX_SITEMAPS: usize = 1_000;

/// A sitemap on the web or on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SitemapLocation {
    Web(Url),
    File(PathBuf),
}

impl SitemapLocation {
    /// A text with `://` is a URL.
    pub(crate) fn parse(text: &str) -> Result<Self, BadAddress> {
        if text.contains("://") {
            scope::parse(text).map(Self::Web)
        } else {
            Ok(Self::File(PathBuf::from(text)))
        }
    }
}

/// Where the user wants to start.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StartArgs<'a> {
    pub(crate) urls: &'a [String],
    pub(crate) sitemap: Option<&'a str>,
    pub(crate) url_list: Option<&'a Path>,
    /// The name that identifies this crawl, unless it is derived from the start.
    pub(crate) source_root: Option<&'a str>,
}

/// Where a crawl starts.
#[derive(Debug)]
pub(crate) struct Starts {
    pub(crate) urls: Vec<Url>,
    pub(crate) sitemap: Option<SitemapLocation>,
    pub(crate) list: Vec<String>,
    /// Identifies the crawl: its cache and the documents that it owns.
    pub(crate) name: String,
}

impl Starts {
    pub(crate) fn read(args: &StartArgs<'_>) -> Result<Self, Error> {
        let urls = args
            .urls
            .iter()
            .map(|text| parse_url(text))
            .collect::<Result<Vec<_>, _>>()?;
        let sitemap = args
            .sitemap
            .map(|text| SitemapLocation::parse(text).map_err(|reason| bad_address(text, &reason)))
            .transpose()?;
        let list = args.url_list.map(read_list).transpose()?;
        let name = match (&urls[..], &sitemap, args.url_list, args.source_root) {
            (_, _, _, Some(name)) => name.to_owned(),
            ([_, ..], ..) => urls.iter().map(Url::as_str).collect::<Vec<_>>().join(" "),
            (_, Some(SitemapLocation::Web(url)), ..) => url.to_string(),
            (_, Some(SitemapLocation::File(path)), ..) => full_path(path)?,
            (_, _, Some(path), _) if path != Path::new("-") => full_path(path)?,
            _ => {
                return Err(Error::Usage(
                    "no name for a list on standard input\nHINT:  Set --source-root.".to_owned(),
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

    /// The URLs that define the scope: those of the first kind of start that was given.
    pub(crate) fn roots(&self, listed: impl FnOnce() -> Vec<Url>) -> Vec<Url> {
        match &self.sitemap {
            _ if !self.urls.is_empty() => self.urls.clone(),
            Some(SitemapLocation::Web(url)) => vec![url.clone()],
            _ => listed(),
        }
    }
}

fn full_path(path: &Path) -> Result<String, Error> {
    let full = fs::canonicalize(path).map_err(Error::file(path))?;
    Ok(full.to_string_lossy().into_owned())
}

fn parse_url(text: &str) -> Result<Url, Error> {
    scope::parse(text).map_err(|reason| bad_address(text, &reason))
}

pub(crate) fn bad_address(text: &str, reason: &BadAddress) -> Error {
    let hint = match reason {
        BadAddress::Syntax(_) | BadAddress::Scheme => "HINT:  Give the whole URL, such as https://docs.example.com/.",
        BadAddress::Credentials => "HINT:  Pages behind a login cannot be crawled.",
        BadAddress::TooLong => "HINT:  Use a shorter URL.",
    };
    // A password must not appear on the screen.
    match reason {
        BadAddress::Credentials => Error::Usage(format!("{reason}\n{hint}")),
        _ => Error::Usage(format!("{text}: {reason}\n{hint}")),
    }
}

/// The pages of a sitemap and of the sitemaps that it lists.
#[derive(Debug, Default)]
pub(crate) struct SitemapListing {
    pub(crate) pages: Vec<SitemapEntry>,
    /// Sitemaps that could not be read, and why.
    pub(crate) problems: Vec<(String, String)>,
}

/// Reads the sitemap at `location` within `limits`. Returns an error only if the first sitemap cannot be read.
pub(crate) fn read_sitemap(
    location: &SitemapLocation,
    fetcher: &mut Fetcher,
    mut limits: SitemapLimits,
) -> Result<Result<SitemapListing, FetchFailure>, Error> {
    let mut listing = SitemapListing::default();
    let (first, base) = match location {
        SitemapLocation::File(path) => (fs::read(path).map_err(Error::file(path))?, None),
        SitemapLocation::Web(url) => match fetch(url, fetcher) {
            Ok(bytes) => (bytes, Some(url)),
            Err(failure) => return Ok(Err(failure)),
        },
    };
    let name = match location {
        SitemapLocation::File(path) => path.display().to_string(),
        SitemapLocation::Web(url) => url.to_string(),
    };
    let sitemap = sitemap::read(&first, &mut limits).map_err(|reason| Error::Crawl(format!("{name}: {reason}")))?;
    drop(first);
    let children = match sitemap {
        Sitemap::Pages(pages) => {
            listing.pages = pages;
            if limits.is_exceeded {
                listing.problems.push((name, SitemapProblem::Cut.to_string()));
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
        if limits.is_spent() {
            let reason = format!(
                "{}; {} sitemaps are not read",
                SitemapProblem::Cut,
                children.len() - read
            );
            listing.problems.push((child.url.clone(), reason));
            break;
        }
        match read_child(&child.url, base, fetcher, &mut limits) {
            Ok(pages) => {
                listing.pages.extend(pages);
                if limits.is_exceeded {
                    listing
                        .problems
                        .push((child.url.clone(), SitemapProblem::Cut.to_string()));
                }
            }
            Err(SitemapProblem::Failure(FetchFailure::Interrupted)) => return Ok(Err(FetchFailure::Interrupted)),
            Err(problem) => listing.problems.push((child.url.clone(), problem.to_string())),
        }
    }
    Ok(Ok(listing))
}

#[derive(Debug, thiserror::Error)]
enum SitemapProblem {
    #[error(transparent)]
    Address(#[from] BadAddress),
    #[error("on another site than the sitemap that lists it")]
    OtherSite,
    #[error(transparent)]
    Failure(#[from] FetchFailure),
    #[error(transparent)]
    BadSitemap(#[from] sitemap::BadSitemap),
    #[error("a sitemap index within a sitemap index")]
    Nested,
    #[error("the sitemaps exceed the limits of a crawl")]
    Cut,
}

/// Reads a sitemap of an index. By the protocol, it is on the same site and not an index itself.
fn read_child(
    address: &str,
    parent: Option<&Url>,
    fetcher: &mut Fetcher,
    limits: &mut SitemapLimits,
) -> Result<Vec<SitemapEntry>, SitemapProblem> {
    let url = scope::parse(address)?;
    if parent.is_some_and(|parent| parent.origin() != url.origin()) {
        return Err(SitemapProblem::OtherSite);
    }
    match sitemap::read(&fetch(&url, fetcher)?, limits)? {
        Sitemap::Pages(pages) => Ok(pages),
        Sitemap::Index(_) => Err(SitemapProblem::Nested),
    }
}

fn fetch(url: &Url, fetcher: &mut Fetcher) -> Result<Vec<u8>, FetchFailure> {
    // For its delay only: sitemaps are meant for programs, so robots.txt does not forbid them.
    fetcher.is_allowed(url)?;
    let response = fetcher.get(url, RequestKind::Sitemap, &Validators::default())?;
    match response.status {
        StatusCode::OK => Ok(response.body),
        status => Err(FetchFailure::Status(status)),
    }
}

/// The addresses in a file, or on standard input if the path is `-`.
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

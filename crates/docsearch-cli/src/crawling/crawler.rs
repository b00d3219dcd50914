//! The crawl itself: from address to address, each page to whoever wants it.

use std::collections::HashSet;
use std::rc::Rc;

use serde::Serialize;
use ureq::http::StatusCode;
use url::Url;

use super::cache::{Cache, Entry};
use super::fetch::Fetcher;
use super::frontier::{Frontier, Visit};
use super::http::{Failure, Kind, Response, Validators};
use super::page::{self, Hints};
use super::scope::{BadAddress, Scope};
use crate::process::error::Error;
use crate::process::interrupt::Interrupt;

const MAX_REDIRECTS: usize = 5;

/// What to crawl.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) scope: Scope,
    pub(crate) follow: bool,
    pub(crate) max_pages: u64,
}

/// A page that has been fetched.
#[derive(Debug)]
pub(crate) struct Page {
    /// Where it was found, after all redirects.
    pub(crate) url: Url,
    pub(crate) content_type: Option<String>,
    pub(crate) body: Vec<u8>,
}

/// Why an address gave no page although everything went well.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Omission {
    #[error("robots.txt forbids it")]
    Robots,
    #[error("it asks not to be indexed")]
    NoIndex,
    #[error("left out by --include or --exclude")]
    Excluded,
    #[error("{0}")]
    Missing(StatusCode),
    #[error("{0} is no page")]
    ContentType(String),
    #[error("the page is {0}")]
    Canonical(Url),
    #[error("sends its readers to {0}")]
    Refresh(String),
    #[error("redirects to {0}, which is outside of the crawl")]
    OutOfScope(Url),
    #[error("redirects to {target}: {reason}")]
    BadRedirect { target: String, reason: BadAddress },
    #[error("more than {MAX_REDIRECTS} redirects")]
    Redirects,
}

/// Why an address gave no page.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Problem {
    #[error(transparent)]
    Skipped(#[from] Omission),
    #[error(transparent)]
    Failed(#[from] Failure),
}

/// Takes what a crawl finds.
pub(crate) trait Output {
    fn page(&mut self, page: Page) -> Result<(), Error>;
    fn problem(&mut self, visit: &Visit, problem: &Problem);
    fn progress(&mut self, counts: &Counts);
}

/// How far a crawl has come.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Counts {
    pub(crate) visited: u64,
    /// Addresses known and not yet visited.
    pub(crate) waiting: u64,
    pub(crate) pages: u64,
    /// Responses that were sent anew.
    pub(crate) fetched: u64,
    /// Responses from the cache: not modified since, or of this crawl before it was interrupted.
    pub(crate) cached: u64,
    pub(crate) skipped: u64,
    pub(crate) failed: u64,
}

/// Why a crawl has not seen everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Incomplete {
    #[error("the crawl was interrupted")]
    Interrupted,
    #[error("there are more addresses than --max-pages")]
    Pages,
    #[error("there are addresses further away than --max-depth")]
    Depth,
    #[error("there are more addresses than a crawl keeps in mind")]
    Memory,
    #[error("the links of pages that failed are not known")]
    Links,
}

/// How a crawl ended.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    pub(crate) counts: Counts,
    /// Why there may be more pages than were found.
    pub(crate) incomplete: Option<Incomplete>,
    /// Addresses that failed and so may still be there.
    pub(crate) failed: HashSet<String>,
    /// The first address that gave no page.
    pub(crate) first_problem: Option<(Url, Problem)>,
}

/// Where an address led to.
enum Arrival {
    Page(Url, Entry),
    Problem(Problem),
    /// The address that failed may be another one than the one that was asked for.
    Failure(Url, Failure),
}

pub(crate) struct Crawler<'a, O> {
    plan: &'a Plan,
    fetcher: &'a mut Fetcher,
    cache: &'a Cache,
    stop: &'a Interrupt,
    output: &'a mut O,
    frontier: Frontier,
    /// Addresses that other pages call their own.
    canonical: HashSet<Url>,
    found: HashSet<Url>,
    links_lost: bool,
    summary: Summary,
}

impl<'a, O: Output> Crawler<'a, O> {
    pub(crate) fn new(
        plan: &'a Plan,
        frontier: Frontier,
        fetcher: &'a mut Fetcher,
        cache: &'a Cache,
        stop: &'a Interrupt,
        output: &'a mut O,
    ) -> Self {
        Self {
            plan,
            fetcher,
            cache,
            stop,
            output,
            frontier,
            canonical: HashSet::new(),
            found: HashSet::new(),
            links_lost: false,
            summary: Summary::default(),
        }
    }

    /// Visits all there is.
    pub(crate) fn run(mut self) -> Result<Summary, Error> {
        while let Some(visit) = self.frontier.next() {
            if self.summary.counts.visited >= self.plan.max_pages {
                self.summary.incomplete = Some(Incomplete::Pages);
                break;
            }
            if self.stop.is_raised() || !self.visit(&visit)? {
                self.summary.incomplete = Some(Incomplete::Interrupted);
                break;
            }
            self.summary.counts.waiting = self.frontier.waiting() as u64;
            self.output.progress(&self.summary.counts);
        }
        let missed = [
            (self.frontier.is_full(), Incomplete::Memory),
            (self.frontier.is_cut(), Incomplete::Depth),
            (self.links_lost, Incomplete::Links),
        ];
        let missed = missed.into_iter().find_map(|(is_so, reason)| is_so.then_some(reason));
        self.summary.incomplete = self.summary.incomplete.or(missed);
        Ok(self.summary)
    }

    /// Visits one address; `false` when interrupted before it gave an answer.
    fn visit(&mut self, visit: &Visit) -> Result<bool, Error> {
        let problem = match self.arrive(visit)? {
            Arrival::Failure(_, Failure::Interrupted) => return Ok(false),
            Arrival::Failure(_, Failure::ContentType(kind)) => Some(Omission::ContentType(kind).into()),
            Arrival::Failure(url, failure) => {
                self.keep(visit, &url, &failure);
                Some(failure.into())
            }
            Arrival::Problem(problem) => Some(problem),
            Arrival::Page(url, entry) => self.take(visit, url, entry)?.map(Problem::from),
        };
        if problem != Some(Omission::Robots.into()) {
            self.summary.counts.visited += 1;
        }
        if let Some(problem) = problem {
            match problem {
                Problem::Skipped(_) => self.summary.counts.skipped += 1,
                Problem::Failed(_) => self.summary.counts.failed += 1,
            }
            self.output.problem(visit, &problem);
            self.summary
                .first_problem
                .get_or_insert_with(|| (visit.url.clone(), problem));
        }
        Ok(true)
    }

    /// Goes where the address leads; every hop has to be allowed.
    fn arrive(&mut self, visit: &Visit) -> Result<Arrival, Error> {
        let mut url = visit.url.clone();
        let mut changed = visit.changed.clone();
        for _ in 0..=MAX_REDIRECTS {
            match self.fetcher.is_allowed(&url) {
                Ok(true) => {}
                Ok(false) => return Ok(Arrival::Problem(Omission::Robots.into())),
                Err(failure) => return Ok(Arrival::Failure(url, failure)),
            }
            let entry = match self.obtain(&url, changed.take())? {
                Ok(entry) => entry,
                Err(failure) => return Ok(Arrival::Failure(url, failure)),
            };
            let Some(target) = &entry.location else {
                return Ok(match StatusCode::from_u16(entry.status) {
                    Ok(StatusCode::OK) | Err(_) => Arrival::Page(url, entry),
                    Ok(status) => Arrival::Problem(Omission::Missing(status).into()),
                });
            };
            match self.plan.scope.resolve(&url, target) {
                Ok(next) if self.plan.scope.contains(&next) => url = next,
                // A start is asked for its links, whatever the patterns say.
                Ok(next) if visit.depth == 0 && self.plan.scope.covers(&next) => url = next,
                Ok(next) => return Ok(Arrival::Problem(Omission::OutOfScope(next).into())),
                Err(reason) => {
                    let target = target.clone();
                    return Ok(Arrival::Problem(Omission::BadRedirect { target, reason }.into()));
                }
            }
        }
        Ok(Arrival::Problem(Omission::Redirects.into()))
    }

    /// The response for an address, from the cache where that is as good as a new one.
    fn obtain(&mut self, url: &Url, changed: Option<String>) -> Result<Result<Entry, Failure>, Error> {
        let known = self.cache.get(url);
        if let Some(mut entry) = known.clone() {
            let is_unchanged = changed.is_some() && entry.changed == changed && entry.status == StatusCode::OK;
            let is_fresh = self.cache.is_fresh(&entry);
            if is_fresh || is_unchanged {
                if !is_fresh {
                    self.cache.put(&mut entry)?;
                }
                self.summary.counts.cached += 1;
                return Ok(Ok(entry));
            }
        }
        let known = known.filter(|entry| entry.status == StatusCode::OK);
        let validators = known.as_ref().map(validators).unwrap_or_default();
        let response = match self.fetcher.get(url, Kind::Page, &validators) {
            Ok(response) => response,
            Err(failure) => return Ok(Err(failure)),
        };
        let mut entry = match (response.status, known) {
            (StatusCode::NOT_MODIFIED, Some(known)) => {
                self.summary.counts.cached += 1;
                Entry { changed, ..known }
            }
            (StatusCode::NOT_MODIFIED, None) => return Ok(Err(Failure::Status(response.status))),
            _ => {
                self.summary.counts.fetched += 1;
                entry(url, response, changed)
            }
        };
        self.cache.put(&mut entry)?;
        Ok(Ok(entry))
    }

    /// Follows what a page points to and hands it on, unless it asks not to.
    fn take(&mut self, visit: &Visit, url: Url, entry: Entry) -> Result<Option<Omission>, Error> {
        let hints = hints(&url, &entry);
        let base = self.base(&url, &hints);
        self.follow(visit, &url, &base, &hints);
        if let Some(target) = &hints.refresh {
            self.add(visit, None, &base, target, visit.depth);
            return Ok(Some(Omission::Refresh(target.clone())));
        }
        if let Some(own) = self.canonical_address(visit, &url, &base, &hints) {
            self.canonical.insert(own.clone());
            self.add(visit, None, &base, own.as_str(), visit.depth);
            return Ok(Some(Omission::Canonical(own)));
        }
        if hints.noindex {
            return Ok(Some(Omission::NoIndex));
        }
        if !self.plan.scope.contains(&url) {
            return Ok(Some(Omission::Excluded));
        }
        if self.found.insert(url.clone()) {
            self.summary.counts.pages += 1;
            self.output.page(Page {
                url,
                content_type: entry.content_type,
                body: entry.body,
            })?;
        }
        Ok(None)
    }

    /// The address that a page calls its own, if that is another one. A page that another one calls
    /// its own is taken as it is, or two that name each other would both be lost.
    fn canonical_address(&self, visit: &Visit, url: &Url, base: &Url, hints: &Hints) -> Option<Url> {
        let own = self.plan.scope.resolve(base, hints.canonical.as_ref()?).ok()?;
        let is_last = self.canonical.contains(url) || self.canonical.contains(&visit.url);
        (own != *url && !is_last && self.plan.scope.contains(&own)).then_some(own)
    }

    fn base(&self, url: &Url, hints: &Hints) -> Url {
        let base = hints.base.as_ref().and_then(|base| url.join(base).ok());
        base.unwrap_or_else(|| url.clone())
    }

    fn follow(&mut self, visit: &Visit, url: &Url, base: &Url, hints: &Hints) {
        if self.plan.follow && !hints.nofollow {
            let page = Rc::new(url.clone());
            for link in &hints.links {
                self.add(visit, Some(&page), base, link, visit.depth + 1);
            }
        }
    }

    /// Adds an address that `page` links to, or that stands for the one that is visited.
    fn add(&mut self, visit: &Visit, page: Option<&Rc<Url>>, base: &Url, reference: &str, depth: u32) {
        if let Ok(target) = self.plan.scope.resolve(base, reference)
            && self.plan.scope.contains(&target)
            && !page::is_file(target.path())
        {
            self.frontier.add(Visit {
                url: target,
                depth,
                from: page.or(visit.from.as_ref()).cloned(),
                changed: None,
            });
        }
    }

    /// What is behind an address that failed is not gone: its page stays, and its links are taken
    /// from the last copy, if there is one and they need not fail likewise.
    fn keep(&mut self, visit: &Visit, url: &Url, failure: &Failure) {
        self.summary.failed.extend([visit.url.to_string(), url.to_string()]);
        match self.cache.get(url).filter(|_| !failure.concerns_site()) {
            Some(entry) if entry.status == StatusCode::OK => {
                let hints = hints(url, &entry);
                let base = self.base(url, &hints);
                self.follow(visit, url, &base, &hints);
            }
            Some(Entry {
                location: Some(target), ..
            }) => self.add(visit, None, url, &target, visit.depth),
            _ => self.links_lost |= self.plan.follow,
        }
    }
}

fn hints(url: &Url, entry: &Entry) -> Hints {
    let mut hints = Hints::read(&entry.body, entry.content_type.as_deref(), url.path());
    entry.robots.iter().for_each(|header| hints.add_header(header));
    hints
}

fn validators(entry: &Entry) -> Validators {
    Validators {
        etag: entry.etag.clone(),
        last_modified: entry.last_modified.clone(),
    }
}

fn entry(url: &Url, response: Response, changed: Option<String>) -> Entry {
    Entry {
        url: url.to_string(),
        status: response.status.as_u16(),
        location: response.location.filter(|_| response.status.is_redirection()),
        content_type: response.content_type,
        etag: response.validators.etag,
        last_modified: response.validators.last_modified,
        robots: response.robots,
        changed,
        body: response.body,
        ..Entry::default()
    }
}

/// A crawl without a single page, whose problems have been told.
pub(crate) fn nothing(address: &str, problem: &Problem) -> Error {
    let hint = match problem {
        Problem::Skipped(Omission::OutOfScope(target)) => format!("\nHINT:  Start at {target}, or set --scope origin."),
        Problem::Skipped(_) => String::new(),
        Problem::Failed(failure) => match failure.cause() {
            Failure::Private(_) => "\nHINT:  --allow-private lets the crawl connect there.".to_owned(),
            Failure::Network(_) | Failure::Protocol(_) if address.starts_with("https:") => {
                "\nHINT:  Can this machine reach the site, and does it trust it? SSL_CERT_FILE names more certificates."
                    .to_owned()
            }
            Failure::Timeout | Failure::Network(_) => {
                "\nHINT:  Is the address right, and can this machine reach it?".to_owned()
            }
            Failure::TooLarge(_) => "\nHINT:  --max-page-size sets the limit.".to_owned(),
            _ => String::new(),
        },
    };
    Error::Crawl(format!("nothing could be indexed{hint}"))
}

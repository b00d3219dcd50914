//! The crawl loop: visits addresses and passes their pages on.

use std::collections::HashSet;
use std::rc::Rc;

use serde::Serialize;
use ureq::http::StatusCode;
use url::Url;

use super::cache::{Cache, CacheEntry};
use super::canonical::{self, CanonicalLinks, IgnoredLink, Verdict, Waiting};
use super::fetch::Fetcher;
use super::frontier::{Frontier, Visit};
use super::http::{FetchFailure, RequestKind, Response, Validators};
use super::page::{self, Hints};
use super::scope::{BadAddress, Scope};
use crate::process::error::Error;
use crate::process::interrupt::Interrupt;

const MAX_REDIRECTS: usize = 5;

/// The rules of a crawl.
#[derive(Debug)]
pub(crate) struct CrawlPlan {
    pub(crate) scope: Scope,
    pub(crate) follow: bool,
    pub(crate) max_pages: u64,
}

/// A fetched page.
#[derive(Debug)]
pub(crate) struct CrawledPage {
    /// Its address after all redirects.
    pub(crate) url: Url,
    pub(crate) content_type: Option<String>,
    pub(crate) body: Vec<u8>,
    /// Whether its canonical link is wrong.
    pub(crate) ignores_canonical: bool,
}

/// Why an address gave no page without any failure.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Omission {
    #[error("disallowed by robots.txt")]
    Robots,
    #[error("marked noindex")]
    NoIndex,
    #[error("excluded by --include or --exclude")]
    Excluded,
    #[error("{0}")]
    Missing(StatusCode),
    #[error("{0} is not a page format")]
    ContentType(String),
    #[error("its canonical URL is {0}")]
    Canonical(Url),
    #[error("redirects to {0} (meta refresh)")]
    Refresh(String),
    #[error("redirects to {0}, outside the scope of the crawl")]
    OutOfScope(Url),
    #[error("redirects to {target}: {reason}")]
    BadRedirect { target: String, reason: BadAddress },
    #[error("more than {MAX_REDIRECTS} redirects")]
    Redirects,
}

/// Why an address gave no page.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum VisitProblem {
    #[error(transparent)]
    Skipped(#[from] Omission),
    #[error(transparent)]
    Failed(#[from] FetchFailure),
}

/// Receives the results of a crawl.
pub(crate) trait CrawlOutput {
    fn page(&mut self, page: CrawledPage) -> Result<(), Error>;
    fn problem(&mut self, visit: &Visit, problem: &VisitProblem);
    fn ignored_link(&mut self, url: &Url, reason: &IgnoredLink);
    fn progress(&mut self, counts: &Counts);
}

/// Progress of a crawl.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Counts {
    pub(crate) visited: u64,
    /// Known addresses that are not visited yet.
    pub(crate) waiting: u64,
    pub(crate) pages: u64,
    /// Responses that the site sent.
    pub(crate) fetched: u64,
    /// Responses from the cache: unmodified, or fetched by this crawl before it was interrupted.
    pub(crate) cached: u64,
    pub(crate) skipped: u64,
    pub(crate) failed: u64,
}

/// Why a crawl is incomplete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Incomplete {
    #[error("the crawl was interrupted")]
    Interrupted,
    #[error("there are more addresses than --max-pages")]
    Pages,
    #[error("some addresses are further away than --max-depth")]
    Depth,
    #[error("there are more addresses than a crawl can remember")]
    Memory,
    #[error("the links of failed pages are unknown")]
    Links,
}

/// The result of a crawl.
#[derive(Debug, Default)]
pub(crate) struct CrawlSummary {
    pub(crate) counts: Counts,
    /// Why there may be more pages than were found.
    pub(crate) incomplete: Option<Incomplete>,
    /// Addresses that failed, so their pages may still exist.
    pub(crate) failed: HashSet<String>,
    /// The first address that gave no page.
    pub(crate) first_problem: Option<(Url, VisitProblem)>,
}

/// The result of following an address.
enum VisitResult {
    Page(Url, CacheEntry),
    Problem(VisitProblem),
    /// The address that failed may be the target of a redirect.
    Failure(Url, FetchFailure),
}

pub(crate) struct Crawler<'a, O> {
    plan: &'a CrawlPlan,
    fetcher: &'a mut Fetcher,
    cache: &'a Cache,
    stop: &'a Interrupt,
    output: &'a mut O,
    frontier: Frontier,
    canonical: CanonicalLinks,
    found: HashSet<Url>,
    links_lost: bool,
    summary: CrawlSummary,
}

impl<'a, O: CrawlOutput> Crawler<'a, O> {
    pub(crate) fn new(
        plan: &'a CrawlPlan,
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
            canonical: CanonicalLinks::default(),
            found: HashSet::new(),
            links_lost: false,
            summary: CrawlSummary::default(),
        }
    }

    /// Visits all addresses.
    pub(crate) fn run(mut self) -> Result<CrawlSummary, Error> {
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
        if self.summary.incomplete != Some(Incomplete::Interrupted) {
            self.decide_about_copies()?;
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

    /// Visits one address; returns `false` if interrupted before a response.
    fn visit(&mut self, visit: &Visit) -> Result<bool, Error> {
        let problem = match self.follow_redirects(visit)? {
            VisitResult::Failure(_, FetchFailure::Interrupted) => return Ok(false),
            VisitResult::Failure(_, FetchFailure::ContentType(kind)) => Some(Omission::ContentType(kind).into()),
            VisitResult::Failure(url, failure) => {
                self.handle_failure(visit, &url, &failure);
                Some(failure.into())
            }
            VisitResult::Problem(problem) => Some(problem),
            VisitResult::Page(url, entry) => self.process_page(visit, url, entry)?.map(VisitProblem::from),
        };
        if problem != Some(Omission::Robots.into()) {
            self.summary.counts.visited += 1;
        }
        if let Some(problem) = problem {
            self.canonical.problem(&visit.url, problem.to_string());
            self.report(visit, problem);
        }
        Ok(true)
    }

    fn report(&mut self, visit: &Visit, problem: VisitProblem) {
        match problem {
            VisitProblem::Skipped(_) => self.summary.counts.skipped += 1,
            VisitProblem::Failed(_) => self.summary.counts.failed += 1,
        }
        self.output.problem(visit, &problem);
        self.summary
            .first_problem
            .get_or_insert_with(|| (visit.url.clone(), problem));
    }

    /// Follows redirects; each hop must be allowed.
    fn follow_redirects(&mut self, visit: &Visit) -> Result<VisitResult, Error> {
        let mut url = visit.url.clone();
        let mut changed = visit.changed.clone();
        for _ in 0..=MAX_REDIRECTS {
            match self.fetcher.is_allowed(&url) {
                Ok(true) => {}
                Ok(false) => return Ok(VisitResult::Problem(Omission::Robots.into())),
                Err(failure) => return Ok(VisitResult::Failure(url, failure)),
            }
            let entry = match self.fetch_or_reuse(&url, changed.take())? {
                Ok(entry) => entry,
                Err(failure) => return Ok(VisitResult::Failure(url, failure)),
            };
            let Some(target) = &entry.location else {
                return Ok(match StatusCode::from_u16(entry.status) {
                    Ok(StatusCode::OK) | Err(_) => VisitResult::Page(url, entry),
                    Ok(status) => VisitResult::Problem(Omission::Missing(status).into()),
                });
            };
            match self.plan.scope.resolve(&url, target) {
                Ok(next) if self.plan.scope.contains(&next) => url = next,
                // A start is fetched for its links, even if the patterns exclude it.
                Ok(next) if visit.depth == 0 && self.plan.scope.covers(&next) => url = next,
                Ok(next) => return Ok(VisitResult::Problem(Omission::OutOfScope(next).into())),
                Err(reason) => {
                    let target = target.clone();
                    return Ok(VisitResult::Problem(Omission::BadRedirect { target, reason }.into()));
                }
            }
        }
        Ok(VisitResult::Problem(Omission::Redirects.into()))
    }

    /// The response for an address, from the cache if the page is unchanged.
    fn fetch_or_reuse(
        &mut self,
        url: &Url,
        changed: Option<String>,
    ) -> Result<Result<CacheEntry, FetchFailure>, Error> {
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
        let response = match self.fetcher.get(url, RequestKind::Page, &validators) {
            Ok(response) => response,
            Err(failure) => return Ok(Err(failure)),
        };
        let mut entry = match (response.status, known) {
            (StatusCode::NOT_MODIFIED, Some(known)) => {
                self.summary.counts.cached += 1;
                CacheEntry { changed, ..known }
            }
            (StatusCode::NOT_MODIFIED, None) => return Ok(Err(FetchFailure::Status(response.status))),
            _ => {
                self.summary.counts.fetched += 1;
                entry(url, response, changed)
            }
        };
        self.cache.put(&mut entry)?;
        Ok(Ok(entry))
    }

    /// Adds the links of a page and passes it on, unless it is redirected or not to be indexed. One with a canonical
    /// link waits until all pages are known.
    fn process_page(&mut self, visit: &Visit, url: Url, entry: CacheEntry) -> Result<Option<Omission>, Error> {
        self.canonical.redirect(&visit.url, &url);
        let hints = hints(&url, &entry);
        let base = self.base(&url, &hints);
        self.add_links(visit, &url, &base, &hints);
        if let Some(target) = &hints.refresh {
            self.add(visit, None, &base, target, visit.depth);
            return Ok(Some(Omission::Refresh(target.clone())));
        }
        let canonical = self.canonical_address(&url, &base, &hints);
        if let Some(canonical) = &canonical {
            self.add(visit, None, &base, canonical.as_str(), visit.depth);
        }
        if hints.noindex {
            return Ok(Some(Omission::NoIndex));
        }
        if !self.plan.scope.contains(&url) {
            return Ok(Some(Omission::Excluded));
        }
        match canonical {
            Some(canonical) => self.canonical.wait(Waiting {
                visit: visit.clone(),
                url,
                canonical,
            }),
            None => self.pass_on(url, entry, false)?,
        }
        Ok(None)
    }

    fn pass_on(&mut self, url: Url, entry: CacheEntry, ignores_canonical: bool) -> Result<(), Error> {
        if self.found.insert(url.clone()) {
            self.summary.counts.pages += 1;
            self.output.page(CrawledPage {
                url,
                content_type: entry.content_type,
                body: entry.body,
                ignores_canonical,
            })?;
        }
        Ok(())
    }

    /// The canonical address of a page, if it differs and does not lead back to the page.
    fn canonical_address(&self, url: &Url, base: &Url, hints: &Hints) -> Option<Url> {
        let own = self.plan.scope.resolve(base, hints.canonical.as_ref()?).ok()?;
        (self.canonical.target(&own) != url && self.plan.scope.contains(&own)).then_some(own)
    }

    /// Passes on those of the waiting pages that are no copies of others.
    fn decide_about_copies(&mut self) -> Result<(), Error> {
        let links = std::mem::take(&mut self.canonical);
        let found = self.found.clone();
        let verdicts = links.decide(&found, |copy, page| {
            match (self.cache.get(copy), self.cache.get(page)) {
                (Some(copy), Some(page)) => canonical::is_same_page(copy, page),
                _ => false,
            }
        });
        for (waiting, verdict) in verdicts {
            match verdict {
                Verdict::CopyOf(page) => self.report(&waiting.visit, Omission::Canonical(page).into()),
                Verdict::Page(ignored) => {
                    let entry = match self.fetch_or_reuse(&waiting.url, None)? {
                        Ok(entry) => entry,
                        Err(failure) => {
                            self.handle_failure(&waiting.visit, &waiting.url, &failure);
                            self.report(&waiting.visit, failure.into());
                            continue;
                        }
                    };
                    if let Some(reason) = &ignored {
                        self.output.ignored_link(&waiting.url, reason);
                    }
                    self.pass_on(waiting.url, entry, ignored.is_some())?;
                }
            }
        }
        Ok(())
    }

    fn base(&self, url: &Url, hints: &Hints) -> Url {
        let base = hints.base.as_ref().and_then(|base| url.join(base).ok());
        base.unwrap_or_else(|| url.clone())
    }

    fn add_links(&mut self, visit: &Visit, url: &Url, base: &Url, hints: &Hints) {
        if self.plan.follow && !hints.nofollow {
            let page = Rc::new(url.clone());
            for link in &hints.links {
                self.add(visit, Some(&page), base, link, visit.depth + 1);
            }
        }
    }

    /// Adds an address that `page` links to, or that replaces the visited one.
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

    /// Handles an address that failed. Its page is not deleted, and its links are taken from the cached copy, unless
    /// the whole site failed.
    fn handle_failure(&mut self, visit: &Visit, url: &Url, failure: &FetchFailure) {
        self.summary.failed.extend([visit.url.to_string(), url.to_string()]);
        match self.cache.get(url).filter(|_| !failure.concerns_site()) {
            Some(entry) if entry.status == StatusCode::OK => {
                let hints = hints(url, &entry);
                let base = self.base(url, &hints);
                self.add_links(visit, url, &base, &hints);
            }
            Some(CacheEntry {
                location: Some(target), ..
            }) => self.add(visit, None, url, &target, visit.depth),
            _ => self.links_lost |= self.plan.follow,
        }
    }
}

fn hints(url: &Url, entry: &CacheEntry) -> Hints {
    let mut hints = Hints::read(&entry.body, entry.content_type.as_deref(), url.path());
    entry.robots.iter().for_each(|header| hints.add_header(header));
    hints
}

fn validators(entry: &CacheEntry) -> Validators {
    Validators {
        etag: entry.etag.clone(),
        last_modified: entry.last_modified.clone(),
    }
}

fn entry(url: &Url, response: Response, changed: Option<String>) -> CacheEntry {
    CacheEntry {
        url: url.to_string(),
        status: response.status.as_u16(),
        location: response.location.filter(|_| response.status.is_redirection()),
        content_type: response.content_type,
        etag: response.validators.etag,
        last_modified: response.validators.last_modified,
        robots: response.robots,
        changed,
        body: response.body,
        ..CacheEntry::default()
    }
}

/// The error for a crawl without pages, whose problems were reported before.
pub(crate) fn no_pages_error(address: &str, problem: &VisitProblem) -> Error {
    let hint = match problem {
        VisitProblem::Skipped(Omission::OutOfScope(target)) => format!("\nHINT:  Start at {target}, or set --scope origin."),
        VisitProblem::Skipped(_) => String::new(),
        VisitProblem::Failed(failure) => match failure.cause() {
            FetchFailure::Private(_) => "\nHINT:  Use --allow-private to connect to private addresses.".to_owned(),
            FetchFailure::Network(_) | FetchFailure::Protocol(_) if address.starts_with("https:") => {
                "\nHINT:  Check that this machine reaches the site and trusts its certificate; SSL_CERT_FILE can name more."
                    .to_owned()
            }
            FetchFailure::Timeout | FetchFailure::Network(_) => {
                "\nHINT:  Check the address, and whether this machine can reach it.".to_owned()
            }
            FetchFailure::TooLarge(_) => "\nHINT:  Raise --max-page-size.".to_owned(),
            _ => String::new(),
        },
    };
    Error::Crawl(format!("nothing could be indexed{hint}"))
}

//! Polite requests to sites: delays, retries and `robots.txt`.

use std::collections::HashMap;
use std::rc::Rc;
use std::time::{Duration, Instant, SystemTime};

use ureq::http::StatusCode;
use url::Url;

use super::http::{Client, ClientOptions, FetchFailure, RequestKind, Response, Validators};
use super::robots::Robots;
use super::scope;
use crate::process::interrupt::Interrupt;

/// Maximum delay between two requests that a site can ask for.
const MAX_DELAY: Duration = Duration::from_secs(30);
/// Maximum wait for a busy server; if it asks for more, the request fails.
const MAX_WAIT: Duration = Duration::from_secs(300);
/// Pause before the first retry; it doubles each time.
const FIRST_BACKOFF: Duration = Duration::from_secs(1);
/// A site that leaves this many requests in a row unanswered gets no more requests.
const MAX_UNANSWERED: u32 = 5;
const MAX_ROBOTS_REDIRECTS: usize = 5;

/// How often to send requests, and how often to retry them.
#[derive(Debug, Clone)]
pub(crate) struct Politeness {
    pub(crate) delay: Duration,
    /// Retries after a temporary failure.
    pub(crate) retries: u32,
}

/// Sends one request at a time.
#[derive(Debug)]
pub(crate) struct Fetcher {
    client: Client,
    politeness: Politeness,
    stop: Interrupt,
    sites: HashMap<String, SiteState>,
}

#[derive(Debug, Default)]
struct SiteState {
    robots: Option<Result<Rc<Robots>, FetchFailure>>,
    /// The delay that the site asked for, or that its responses require.
    delay: Duration,
    last_request: Option<Instant>,
    unanswered: u32,
}

impl Fetcher {
    pub(crate) fn new(options: &ClientOptions, politeness: Politeness, stop: Interrupt) -> Self {
        Self {
            client: Client::new(options),
            politeness,
            stop,
            sites: HashMap::new(),
        }
    }

    /// Whether the site's `robots.txt` allows fetching `url`.
    pub(crate) fn is_allowed(&mut self, url: &Url) -> Result<bool, FetchFailure> {
        let known = self.sites.get(&origin(url)).and_then(|site| site.robots.clone());
        let robots = match known {
            Some(robots) => robots,
            None => {
                let robots = self.fetch_robots(url).map(Rc::new);
                if robots == Err(FetchFailure::Interrupted) {
                    return Err(FetchFailure::Interrupted);
                }
                let site = self.sites.entry(origin(url)).or_default();
                let delay = robots.as_ref().ok().and_then(|robots| robots.delay);
                site.delay = delay.unwrap_or_default().min(MAX_DELAY).max(site.delay);
                site.robots.insert(robots).clone()
            }
        };
        let path = url
            .query()
            .map_or_else(|| url.path().to_owned(), |query| format!("{}?{query}", url.path()));
        Ok(robots?.allows(&path))
    }

    /// As RFC 9309 requires: everything is allowed without the file, and nothing while it cannot be reached.
    fn fetch_robots(&mut self, page: &Url) -> Result<Robots, FetchFailure> {
        let unreachable = |failure| match failure {
            FetchFailure::Private(_) | FetchFailure::Interrupted => failure,
            other => FetchFailure::Robots(Box::new(other)),
        };
        let mut url = page.clone();
        url.set_path("/robots.txt");
        url.set_query(None);
        for _ in 0..=MAX_ROBOTS_REDIRECTS {
            let response = match self.get(&url, RequestKind::Robots, &Validators::default()) {
                Ok(response) => response,
                Err(FetchFailure::Status(status)) if is_missing(status) => return Ok(Robots::default()),
                Err(failure) => return Err(unreachable(failure)),
            };
            if response.status == StatusCode::OK {
                return Ok(Robots::parse(&response.body));
            }
            let target = response.location.filter(|_| response.status.is_redirection());
            match target.and_then(|target| scope::parse(url.join(&target).ok()?.as_str()).ok()) {
                Some(target) => url = target,
                None => return Ok(Robots::default()),
            }
        }
        Ok(Robots::default())
    }

    /// A usable response: status 200, 304, 404, 410 or a redirect.
    pub(crate) fn get(
        &mut self,
        url: &Url,
        kind: RequestKind,
        validators: &Validators,
    ) -> Result<Response, FetchFailure> {
        let origin = origin(url);
        let mut attempt = 0;
        loop {
            self.await_turn(&origin)?;
            let answer = self.client.get(url, kind, validators);
            let site = self.sites.entry(origin.clone()).or_default();
            site.last_request = Some(Instant::now());
            let (failure, wait) = match answer {
                Ok(response) if is_busy(response.status) => {
                    if response.status == StatusCode::TOO_MANY_REQUESTS {
                        site.delay = (2 * site.delay.max(self.politeness.delay)).min(MAX_DELAY);
                    }
                    let wait = response
                        .retry_after
                        .and_then(|value| retry_after(&value, SystemTime::now()));
                    (FetchFailure::Status(response.status), wait)
                }
                Ok(response) if response.status.is_server_error() => {
                    site.unanswered = 0;
                    (FetchFailure::Status(response.status), None)
                }
                Ok(response) => {
                    site.unanswered = 0;
                    return usable(response);
                }
                Err(failure @ (FetchFailure::Timeout | FetchFailure::Network(_))) => (failure, None),
                Err(failure) => return Err(failure),
            };
            let wait = wait.unwrap_or_else(|| backoff(attempt));
            if wait > MAX_WAIT {
                return Err(FetchFailure::Busy(wait));
            }
            if attempt == self.politeness.retries {
                site.unanswered += u32::from(!is_page_error(&failure));
                return Err(failure);
            }
            attempt += 1;
            self.wait(wait)?;
        }
    }

    fn wait(&self, duration: Duration) -> Result<(), FetchFailure> {
        self.stop.sleep(duration).then_some(()).ok_or(FetchFailure::Interrupted)
    }

    fn await_turn(&self, origin: &str) -> Result<(), FetchFailure> {
        let Some(site) = self.sites.get(origin) else {
            return self.wait(Duration::ZERO);
        };
        if site.unanswered >= MAX_UNANSWERED {
            return Err(FetchFailure::GivenUp(origin.to_owned()));
        }
        let delay = site.delay.max(self.politeness.delay);
        let passed = site.last_request.map_or(delay, |last| last.elapsed());
        self.wait(delay.saturating_sub(passed))
    }
}

fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

fn usable(response: Response) -> Result<Response, FetchFailure> {
    let status = response.status;
    let is_redirect = status.is_redirection() && response.location.is_some();
    match status {
        StatusCode::OK | StatusCode::NOT_MODIFIED | StatusCode::NOT_FOUND | StatusCode::GONE => Ok(response),
        _ if is_redirect => Ok(response),
        _ => Err(FetchFailure::Status(status)),
    }
}

fn is_busy(status: StatusCode) -> bool {
    matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE)
}

fn is_missing(status: StatusCode) -> bool {
    status.is_client_error() && status != StatusCode::TOO_MANY_REQUESTS
}

/// Whether a failure says nothing about other pages of the site.
fn is_page_error(failure: &FetchFailure) -> bool {
    matches!(failure, FetchFailure::Status(status) if !is_busy(*status))
}

/// Adds jitter, so that crawls that failed together do not retry together.
fn backoff(attempt: u32) -> Duration {
    let pause = FIRST_BACKOFF * 2_u32.saturating_pow(attempt.min(8));
    pause.mul_f64(1.0 + fastrand::f64() / 4.0)
}

/// The wait in `Retry-After`, in seconds or as a date (RFC 9110); `None` if it is neither.
pub(super) fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    match value.parse() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => {
            let date = httpdate::parse_http_date(value).ok()?;
            Some(date.duration_since(now).unwrap_or_default())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = httpdate::parse_http_date("Fri, 31 Dec 1999 23:59:00 GMT").unwrap();
        assert_eq!(retry_after(" 120 ", now), Some(Duration::from_secs(120)));
        assert_eq!(
            retry_after("Fri, 31 Dec 1999 23:59:59 GMT", now),
            Some(Duration::from_secs(59))
        );
        assert_eq!(retry_after("Fri, 31 Dec 1999 23:00:00 GMT", now), Some(Duration::ZERO));
        assert_eq!(retry_after("soon", now), None);
        assert_eq!(retry_after("-5", now), None);
    }

    #[test]
    fn pauses_double() {
        for (attempt, least) in [(0, 1.0), (1, 2.0), (2, 4.0)] {
            let pause = backoff(attempt).as_secs_f64();
            assert!((least..=least * 1.25).contains(&pause), "{attempt}: {pause}");
        }
        assert!(backoff(1000) < 2 * MAX_WAIT);
    }
}

//! Who is let in: the checks that every request passes before anything else looks at it.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN, AUTHORIZATION,
    CONTENT_LENGTH, EXPECT, HOST, HeaderName, ORIGIN, RETRY_AFTER, VARY, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use governor::clock::DefaultClock;
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::body;
use super::failure::Failure;
use super::host::Host;
use super::tokens::{self, Token};
use crate::library::Library;

type Limiter = RateLimiter<IpAddr, HashMapStateStore<IpAddr>, DefaultClock>;

/// Requests that may come at once, as a multiple of those of a second.
const BURST: u32 = 4;
/// Where a request comes from, in the words of the browser that sends it.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// What is let in, and as whom.
pub(super) struct Gate {
    /// What `Host` may be.
    hosts: Vec<Host>,
    /// Origins of pages that may ask.
    origins: Vec<String>,
    /// Whether pages of this machine may ask, too.
    with_local_origins: bool,
    /// Those who are known by a token.
    known: Vec<(Token, Library)>,
    /// What the others see, if they are let in at all.
    anonymous: Option<Library>,
    limiter: Option<Limiter>,
    max_body: u64,
    timeout: Duration,
    stop: CancellationToken,
}

/// What a gate is made of.
pub(super) struct Policy {
    pub(super) hosts: Vec<Host>,
    pub(super) origins: Vec<String>,
    pub(super) known: Vec<(Token, Library)>,
    pub(super) anonymous: Option<Library>,
    /// Requests from one address, if there is a limit.
    pub(super) rate: Option<Quota>,
    pub(super) max_body: u64,
    pub(super) timeout: Duration,
}

impl Gate {
    /// A gate of a server that listens at `address`; what is under way is given up with `stop`.
    pub(super) fn new(policy: Policy, address: SocketAddr, stop: CancellationToken) -> Self {
        let mut hosts = policy.hosts;
        hosts.extend(Host::local());
        if !address.ip().is_unspecified() {
            hosts.push(Host::of(address.ip()));
        }
        Self {
            hosts,
            origins: policy
                .origins
                .iter()
                .map(|origin| origin.trim_end_matches('/').to_lowercase())
                .collect(),
            with_local_origins: address.ip().is_loopback(),
            known: policy.known,
            anonymous: policy.anonymous,
            limiter: policy.rate.map(RateLimiter::hashmap),
            max_body: policy.max_body,
            timeout: policy.timeout,
            stop,
        }
    }

    /// Forgets addresses that have been silent for a while.
    pub(super) fn forget(&self) {
        if let Some(limiter) = &self.limiter {
            limiter.retain_recent();
        }
    }

    fn check(&self, address: IpAddr, uri: &Uri, headers: &HeaderMap) -> Result<(), Failure> {
        if !self.allows_host(uri, headers) {
            return Err(Failure::new(StatusCode::FORBIDDEN, "this Host is not served here").hint("--allow-host"));
        }
        if !self.allows_sender(headers) {
            return Err(Failure::new(StatusCode::FORBIDDEN, "pages of this Origin may not ask").hint("--allow-origin"));
        }
        if let Some(limiter) = &self.limiter
            && limiter.check_key(&counted(address)).is_err()
        {
            return Err(Failure::new(
                StatusCode::TOO_MANY_REQUESTS,
                "too many requests from this address",
            ));
        }
        // Not by tower-http's limit, whose answer is not JSON.
        let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok());
        let length: Option<u64> = length.and_then(|length| length.parse().ok());
        if length.is_some_and(|length| length > self.max_body) {
            return Err(body::too_large(self.max_body));
        }
        let mut expected = headers.get_all(EXPECT).iter();
        if expected.any(|expected| !expected.as_bytes().eq_ignore_ascii_case(b"100-continue")) {
            return Err(Failure::new(
                StatusCode::EXPECTATION_FAILED,
                "only 100-continue can be expected",
            ));
        }
        Ok(())
    }

    /// Every place where a request can say whom it is for has to say one of ours: which of them counts is not the
    /// same for everybody who passes it on.
    fn allows_host(&self, uri: &Uri, headers: &HeaderMap) -> bool {
        let named = headers.get_all(HOST).iter().map(HeaderValue::to_str);
        let named: Result<Vec<&str>, _> = named.collect();
        let Ok(named) = named else { return false };
        let target = uri.authority().map(|authority| authority.as_str());
        let allows = |asked: &str| {
            asked
                .parse()
                .is_ok_and(|asked| self.hosts.iter().any(|host| host.covers(&asked)))
        };
        named.len() <= 1 && named.len() + target.iter().len() > 0 && named.into_iter().chain(target).all(allows)
    }

    /// A browser names the page that asks. Where it leaves that out, as for an image, it still says that the page is
    /// one of another site.
    fn allows_sender(&self, headers: &HeaderMap) -> bool {
        let mut origins = headers.get_all(ORIGIN).iter();
        match (origins.next(), origins.next()) {
            (Some(origin), None) => self.allows_origin(origin),
            (Some(_), Some(_)) => false,
            (None, _) => headers
                .get_all(SEC_FETCH_SITE)
                .iter()
                .all(|site| site == "same-origin" || site == "none"),
        }
    }

    fn allows_origin(&self, origin: &HeaderValue) -> bool {
        let Ok(origin) = origin.to_str() else {
            return false;
        };
        let origin = origin.to_lowercase();
        self.origins.contains(&origin) || (self.with_local_origins && is_local(&origin))
    }

    fn library(&self, headers: &HeaderMap) -> Result<&Library, Failure> {
        let refused = |message| Failure::new(StatusCode::UNAUTHORIZED, message);
        let mut sent = headers.get_all(AUTHORIZATION).iter();
        let token = match (sent.next(), sent.next()) {
            (Some(_), Some(_)) => return Err(refused("more than one Authorization")),
            (value, _) => value.and_then(bearer_token),
        };
        match token {
            // Whoever sends one means to be somebody. What stands for nobody any more is not let in as anybody.
            Some(token) => tokens::position(self.known.iter().map(|(token, _)| token), &token)
                .map(|at| &self.known[at].1)
                .ok_or_else(|| refused("this token is not known")),
            None => self
                .anonymous
                .as_ref()
                .ok_or_else(|| refused("a bearer token is needed")),
        }
    }

    async fn answer(&self, address: IpAddr, request: Request, next: Next) -> Response {
        if let Err(failure) = self.check(address, request.uri(), request.headers()) {
            return failure.into_response();
        }
        let origin = request.headers().get(ORIGIN).cloned();
        let mut response = if request.method() == Method::OPTIONS && origin.is_some() {
            StatusCode::NO_CONTENT.into_response()
        } else {
            tokio::select! {
                // Not by tower-http's timeout, whose answer is empty.
                answered = timeout(self.timeout, next.run(request)) => answered.unwrap_or_else(|_| {
                    Failure::new(StatusCode::REQUEST_TIMEOUT, "the request took too long").into_response()
                }),
                () = self.stop.cancelled() => {
                    Failure::new(StatusCode::SERVICE_UNAVAILABLE, "the server is stopping").into_response()
                }
            }
        };
        if let Some(origin) = origin {
            share(response.headers_mut(), origin);
        }
        response
    }
}

/// What limits the requests of an address to so many a second; `None`, no limit, for 0.
pub(super) fn quota(rate: u32) -> Option<Quota> {
    let rate = NonZeroU32::new(rate)?;
    let burst = rate.saturating_mul(NonZeroU32::new(BURST).unwrap_or(NonZeroU32::MIN));
    Some(Quota::per_second(rate).allow_burst(burst))
}

/// What the requests of an address are counted under. Whoever has one address of version 6 has its whole network.
fn counted(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}

/// Whether an origin is one of the machine itself.
fn is_local(origin: &str) -> bool {
    let host = origin
        .strip_prefix("http://")
        .or_else(|| origin.strip_prefix("https://"));
    host.and_then(|host| host.parse().ok())
        .is_some_and(|host| Host::local().iter().any(|local| local.covers(&host)))
}

/// The token of an `Authorization` of this kind, which may be empty.
fn bearer_token(value: &HeaderValue) -> Option<String> {
    let value = String::from_utf8_lossy(value.as_bytes());
    let (scheme, token) = value.split_once(char::is_whitespace).unwrap_or((&value, ""));
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim().to_owned())
}

/// Lets a request through that passes the checks, or answers it.
pub(super) async fn admit(
    State(gate): State<Arc<Gate>>,
    ConnectInfo(address): ConnectInfo<SocketAddr>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = gate.answer(address.ip(), request, next).await;
    let status = response.status();
    let headers = response.headers_mut();
    // Answers hold what authors of documents wrote: a browser shall take none of them for a page or a script.
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    match status {
        StatusCode::UNAUTHORIZED => {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        StatusCode::SERVICE_UNAVAILABLE => {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        _ => {}
    }
    response
}

/// Gives a request the library of its sender.
pub(super) async fn identify(State(gate): State<Arc<Gate>>, mut request: Request, next: Next) -> Response {
    match gate.library(request.headers()).cloned() {
        Ok(library) => {
            request.extensions_mut().insert(library);
            next.run(request).await
        }
        Err(failure) => failure.into_response(),
    }
}

/// Lets a page whose origin was checked read the answer.
// Not by tower-http's CORS: it answers preflights with 200, and names methods and headers in these alone.
fn share(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(VARY, HeaderValue::from_static("Origin"));
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST"));
    headers.insert(
        ACCESS_CONTROL_ALLOW_HEADERS,
        HeaderValue::from_static("authorization, content-type, mcp-method, mcp-name, mcp-protocol-version"),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy() -> Policy {
        Policy {
            hosts: Vec::new(),
            origins: Vec::new(),
            known: Vec::new(),
            anonymous: None,
            rate: None,
            max_body: 1_000,
            timeout: Duration::from_secs(1),
        }
    }

    fn opened(policy: Policy, address: &str) -> Gate {
        Gate::new(policy, address.parse().unwrap(), CancellationToken::new())
    }

    fn gate(address: &str, hosts: &[&str], origins: &[&str]) -> Gate {
        let policy = Policy {
            hosts: hosts.iter().map(|host| host.parse().unwrap()).collect(),
            origins: origins.iter().map(|origin| (*origin).to_owned()).collect(),
            ..policy()
        };
        opened(policy, address)
    }

    fn headers(given: &[(&'static str, &'static str)]) -> HeaderMap {
        let given = given.iter();
        given
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .collect()
    }

    fn status_at(gate: &Gate, target: &'static str, given: &[(&'static str, &'static str)]) -> Option<StatusCode> {
        let address = IpAddr::from([192, 0, 2, 1]);
        gate.check(address, &Uri::from_static(target), &headers(given))
            .err()
            .map(|failure| failure.status())
    }

    fn status(gate: &Gate, given: &[(&'static str, &'static str)]) -> Option<StatusCode> {
        status_at(gate, "/mcp", given)
    }

    #[test]
    fn names_that_lead_here_by_rebinding_are_refused() {
        let local = gate("127.0.0.1:8765", &["docs.example.test:443"], &[]);
        for host in ["localhost:8765", "127.0.0.1", "[::1]:8765", "docs.example.test:443"] {
            assert_eq!(status(&local, &[("host", host)]), None, "{host}");
        }
        for host in [
            "evil.example.test",
            "docs.example.test",
            "localhost.evil.test:8765",
            "evil@localhost",
            "evil:pw@localhost:8765",
            "localhost@evil.test",
            "localhost.",
            "localhost:8765.evil.test",
            "localhost, evil.test",
            "[localhost]",
            "[::ffff:127.0.0.1]:8765",
            "[::1].evil.test",
            "::1",
            "",
        ] {
            assert_eq!(status(&local, &[("host", host)]), Some(StatusCode::FORBIDDEN), "{host}");
        }
        assert_eq!(status(&local, &[]), Some(StatusCode::FORBIDDEN));
    }

    #[test]
    fn a_request_is_for_one_host_and_says_it_once() {
        let local = gate("[::1]:8765", &[], &[]);
        let (us, them) = (("host", "localhost:8765"), ("host", "evil.test"));
        assert_eq!(status(&local, &[("host", "[0:0::1]:8765")]), None);
        for hosts in [[us, them], [them, us], [us, us]] {
            assert_eq!(status(&local, &hosts), Some(StatusCode::FORBIDDEN), "{hosts:?}");
        }
        // The form for proxies, where the target names a host as well.
        assert_eq!(status_at(&local, "http://localhost:8765/mcp", &[us]), None);
        assert_eq!(status_at(&local, "http://localhost:8765/mcp", &[]), None);
        for (target, hosts) in [
            ("http://evil.test/mcp", vec![us]),
            ("http://localhost/mcp", vec![them]),
            ("http://evil@localhost/mcp", vec![us]),
            ("http://evil.test/mcp", vec![]),
            ("evil.test:443", vec![us]),
        ] {
            assert_eq!(
                status_at(&local, target, &hosts),
                Some(StatusCode::FORBIDDEN),
                "{target} {hosts:?}"
            );
        }
    }

    #[test]
    fn pages_ask_only_from_origins_that_may() {
        let local = gate("127.0.0.1:8765", &[], &["https://app.example.test"]);
        let public = gate("0.0.0.0:8765", &[], &["https://app.example.test"]);
        let asked = |gate: &Gate, origin| status(gate, &[("host", "localhost"), ("origin", origin)]);
        for origin in ["http://localhost:6274", "http://[::1]:3000", "https://app.example.test"] {
            assert_eq!(asked(&local, origin), None, "{origin}");
        }
        for origin in [
            "https://evil.test",
            "null",
            "https://app.example.test.evil.test",
            "http://localhost.evil.test",
            "http://evil@localhost",
            "ftp://localhost",
            "http://localhost:8765/",
            "http://localhost:8765 https://evil.test",
        ] {
            assert_eq!(asked(&local, origin), Some(StatusCode::FORBIDDEN), "{origin}");
        }
        assert_eq!(asked(&public, "http://localhost:6274"), Some(StatusCode::FORBIDDEN));
        assert_eq!(asked(&public, "https://app.example.test"), None);
        let twice = [
            ("host", "localhost"),
            ("origin", "http://localhost"),
            ("origin", "https://evil.test"),
        ];
        assert_eq!(status(&local, &twice), Some(StatusCode::FORBIDDEN));
    }

    #[test]
    fn pages_of_other_sites_do_not_ask_without_saying_who_they_are() {
        let local = gate("127.0.0.1:8765", &[], &["https://app.example.test"]);
        let (host, own) = (("host", "localhost"), ("sec-fetch-site", "same-origin"));
        let asked = |more: &[_]| status(&local, &[&[host], more].concat());
        for allowed in [
            vec![],
            vec![own],
            vec![("sec-fetch-site", "none")],
            vec![("sec-fetch-site", "cross-site"), ("origin", "https://app.example.test")],
            vec![("sec-fetch-site", "same-site"), ("origin", "http://localhost:3000")],
        ] {
            assert_eq!(asked(&allowed), None, "{allowed:?}");
        }
        for refused in [
            vec![("sec-fetch-site", "cross-site")],
            vec![("sec-fetch-site", "same-site")],
            vec![("sec-fetch-site", "what-comes-next")],
            vec![own, ("sec-fetch-site", "cross-site")],
            vec![own, ("origin", "https://evil.test")],
        ] {
            assert_eq!(asked(&refused), Some(StatusCode::FORBIDDEN), "{refused:?}");
        }
    }

    #[test]
    fn bodies_have_a_limit() {
        let local = gate("127.0.0.1:8765", &[], &[]);
        let of_length = |length| status(&local, &[("host", "localhost"), ("content-length", length)]);
        assert_eq!(of_length("1000"), None);
        assert_eq!(of_length("1001"), Some(StatusCode::PAYLOAD_TOO_LARGE));
    }

    #[test]
    fn nothing_but_going_on_can_be_expected() {
        let local = gate("127.0.0.1:8765", &[], &[]);
        let expecting = |value| status(&local, &[("host", "localhost"), ("expect", value)]);
        assert_eq!(expecting("100-Continue"), None);
        assert_eq!(expecting("200-ok"), Some(StatusCode::EXPECTATION_FAILED));
    }

    #[test]
    fn an_address_may_ask_so_often() {
        let quota = quota(20).unwrap();
        assert_eq!(quota.replenish_interval(), Duration::from_millis(50));
        assert_eq!(quota.burst_size().get(), 20 * BURST);
        assert!(super::quota(0).is_none());

        // Nothing comes back while the test runs.
        let daily = Quota::with_period(Duration::from_secs(24 * 60 * 60)).unwrap();
        let policy = Policy {
            rate: Some(daily.allow_burst(NonZeroU32::new(BURST).unwrap())),
            ..policy()
        };
        let local = opened(policy, "127.0.0.1:8765");
        let answers: Vec<_> = (0..=BURST).map(|_| status(&local, &[("host", "localhost")])).collect();
        let (first, last) = answers.split_at(BURST as usize);
        assert!(first.iter().all(Option::is_none), "{answers:?}");
        assert_eq!(last, [Some(StatusCode::TOO_MANY_REQUESTS)]);
    }

    #[test]
    fn a_network_of_version_6_is_one_address() {
        let same = |one: &str, other: &str| counted(one.parse().unwrap()) == counted(other.parse().unwrap());
        assert!(same("2001:db8:1:2::1", "2001:db8:1:2:ffff::2"));
        assert!(!same("2001:db8:1:2::1", "2001:db8:1:3::1"));
        assert!(!same("192.0.2.1", "192.0.2.2"));
        assert!(same("::ffff:192.0.2.1", "192.0.2.1"));
    }

    #[test]
    fn a_token_is_found_however_it_is_sent() {
        let token = |value: &'static str| bearer_token(&HeaderValue::from_static(value));
        for value in ["Bearer secret", "bearer  secret ", "BEARER\tsecret"] {
            assert_eq!(token(value).as_deref(), Some("secret"), "{value}");
        }
        assert_eq!(token("Bearer").as_deref(), Some(""));
        assert_eq!(token("Basic secret"), None);
        assert_eq!(token("Bearersecret"), None);
    }
}

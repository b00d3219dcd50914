//! Checks of every request before other layers: host, origin, rate and size.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_LENGTH, EXPECT, HOST, ORIGIN, RETRY_AFTER, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use governor::clock::DefaultClock;
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::host::Host;
use super::http_error::HttpError;
use super::sender::SEC_FETCH_SITE;
use super::{body, cors, sender};

type Limiter = RateLimiter<IpAddr, HashMapStateStore<IpAddr>, DefaultClock>;

/// Size of a burst, as a multiple of the requests per second.
const BURST: u32 = 4;

/// Decides which requests are allowed.
pub(super) struct Gate {
    /// Allowed values of `Host`.
    hosts: Vec<Host>,
    /// Origins of pages that may send requests.
    origins: Vec<String>,
    /// Whether pages of the local machine may send requests, too.
    with_local_origins: bool,
    /// Whether there is a page, to which other sites may link, and the search box.
    has_page: bool,
    limiter: Option<Limiter>,
    max_body: u64,
    timeout: Duration,
    stop: CancellationToken,
}

/// The settings of a gate.
pub(super) struct Policy {
    pub(super) hosts: Vec<Host>,
    pub(super) origins: Vec<String>,
    /// Whether there is a page, to which other sites may link, and the search box.
    pub(super) has_page: bool,
    /// Limit on requests from one address, if any.
    pub(super) rate: Option<Quota>,
    pub(super) max_body: u64,
    pub(super) timeout: Duration,
}

impl Gate {
    /// A gate of a server that listens at `address`. `stop` aborts running requests.
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
            has_page: policy.has_page,
            limiter: policy.rate.map(RateLimiter::hashmap),
            max_body: policy.max_body,
            timeout: policy.timeout,
            stop,
        }
    }

    /// Removes addresses that were idle for a while.
    pub(super) fn remove_idle(&self) {
        if let Some(limiter) = &self.limiter {
            limiter.retain_recent();
        }
    }

    fn check(&self, address: IpAddr, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), HttpError> {
        if !self.allows_host(uri, headers) {
            return Err(HttpError::new(StatusCode::FORBIDDEN, "this Host is not allowed").hint("Set --allow-host."));
        }
        let is_open = self.has_page && sender::is_open_to_sites(method, uri.path(), headers);
        if !self.allows_sender(headers) && !is_open {
            return Err(HttpError::new(StatusCode::FORBIDDEN, "this Origin is not allowed").hint("Set --allow-origin."));
        }
        if let Some(limiter) = &self.limiter
            && limiter.check_key(&rate_key(address)).is_err()
        {
            return Err(HttpError::new(
                StatusCode::TOO_MANY_REQUESTS,
                "too many requests from this address",
            ));
        }
        // tower-http has such a limit, but its response is not JSON.
        let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok());
        let length: Option<u64> = length.and_then(|length| length.parse().ok());
        if length.is_some_and(|length| length > self.max_body) {
            return Err(body::too_large(self.max_body));
        }
        let mut expected = headers.get_all(EXPECT).iter();
        if expected.any(|expected| !expected.as_bytes().eq_ignore_ascii_case(b"100-continue")) {
            return Err(HttpError::new(
                StatusCode::EXPECTATION_FAILED,
                "only 100-continue can be expected",
            ));
        }
        Ok(())
    }

    /// Checks every host that a request names, in its target and in `Host`: proxies and servers disagree on which one
    /// counts.
    fn allows_host(&self, uri: &Uri, headers: &HeaderMap) -> bool {
        let named = headers.get_all(HOST).iter().map(HeaderValue::to_str);
        let named: Result<Vec<&str>, _> = named.collect();
        let Ok(named) = named else { return false };
        let target = uri.authority().map(|authority| authority.as_str());
        let allows = |requested: &str| {
            requested
                .parse()
                .is_ok_and(|requested| self.hosts.iter().any(|host| host.covers(&requested)))
        };
        named.len() <= 1 && named.len() + target.iter().len() > 0 && named.into_iter().chain(target).all(allows)
    }

    /// Browsers name the origin of the page that sends a request. For some requests, such as for images, they leave it
    /// out, but say whether the page is of another site.
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

    async fn answer(&self, address: IpAddr, request: Request, next: Next) -> Response {
        if let Err(failure) = self.check(address, request.method(), request.uri(), request.headers()) {
            return failure.into_response();
        }
        let origin = request.headers().get(ORIGIN).cloned();
        let mut response = if request.method() == Method::OPTIONS && origin.is_some() {
            StatusCode::NO_CONTENT.into_response()
        } else {
            tokio::select! {
                // tower-http has a timeout, but its response is empty.
                answered = timeout(self.timeout, next.run(request)) => answered.unwrap_or_else(|_| {
                    HttpError::new(StatusCode::REQUEST_TIMEOUT, "the request timed out").into_response()
                }),
                () = self.stop.cancelled() => {
                    HttpError::new(StatusCode::SERVICE_UNAVAILABLE, "the server is stopping").into_response()
                }
            }
        };
        if let Some(origin) = origin {
            cors::allow(response.headers_mut(), origin);
        }
        response
    }
}

/// The quota for `rate` requests per second; `None` for 0, no limit.
pub(super) fn quota(rate: u32) -> Option<Quota> {
    let rate = NonZeroU32::new(rate)?;
    let burst = rate.saturating_mul(NonZeroU32::new(BURST).unwrap_or(NonZeroU32::MIN));
    Some(Quota::per_second(rate).allow_burst(burst))
}

/// The address that requests are counted under: for IPv6 the /64 network, since a client may have all of it.
fn rate_key(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}

/// Whether an origin is the local machine.
fn is_local(origin: &str) -> bool {
    let host = origin
        .strip_prefix("http://")
        .or_else(|| origin.strip_prefix("https://"));
    host.and_then(|host| host.parse().ok())
        .is_some_and(|host| Host::local().iter().any(|local| local.covers(&host)))
}

/// Passes on a request that is allowed, or responds with an error.
pub(super) async fn check(
    State(gate): State<Arc<Gate>>,
    ConnectInfo(address): ConnectInfo<SocketAddr>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = gate.answer(address.ip(), request, next).await;
    let status = response.status();
    let headers = response.headers_mut();
    // Responses contain text of document authors: browsers must not take them for pages or scripts.
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if status.is_client_error() || status.is_server_error() {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
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

#[cfg(test)]
mod tests {
    use axum::http::HeaderName;

    use super::*;

    fn policy() -> Policy {
        Policy {
            hosts: Vec::new(),
            origins: Vec::new(),
            has_page: true,
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
        gate.check(address, &Method::GET, &Uri::from_static(target), &headers(given))
            .err()
            .map(|failure| failure.status())
    }

    fn status(gate: &Gate, given: &[(&'static str, &'static str)]) -> Option<StatusCode> {
        status_at(gate, "/mcp", given)
    }

    #[test]
    fn hosts_of_dns_rebinding_are_refused() {
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
    fn a_request_names_one_host() {
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
    fn only_allowed_origins_may_send_requests() {
        let local = gate("127.0.0.1:8765", &[], &["https://app.example.test"]);
        let public = gate("0.0.0.0:8765", &[], &["https://app.example.test"]);
        let status_for = |gate: &Gate, origin| status(gate, &[("host", "localhost"), ("origin", origin)]);
        for origin in ["http://localhost:6274", "http://[::1]:3000", "https://app.example.test"] {
            assert_eq!(status_for(&local, origin), None, "{origin}");
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
            assert_eq!(status_for(&local, origin), Some(StatusCode::FORBIDDEN), "{origin}");
        }
        assert_eq!(
            status_for(&public, "http://localhost:6274"),
            Some(StatusCode::FORBIDDEN)
        );
        assert_eq!(status_for(&public, "https://app.example.test"), None);
        let twice = [
            ("host", "localhost"),
            ("origin", "http://localhost"),
            ("origin", "https://evil.test"),
        ];
        assert_eq!(status(&local, &twice), Some(StatusCode::FORBIDDEN));
    }

    #[test]
    fn pages_of_other_sites_are_refused_without_an_origin() {
        let local = gate("127.0.0.1:8765", &[], &["https://app.example.test"]);
        let (host, own) = (("host", "localhost"), ("sec-fetch-site", "same-origin"));
        let status_for = |more: &[_]| status(&local, &[&[host], more].concat());
        for allowed in [
            vec![],
            vec![own],
            vec![("sec-fetch-site", "none")],
            vec![("sec-fetch-site", "cross-site"), ("origin", "https://app.example.test")],
            vec![("sec-fetch-site", "same-site"), ("origin", "http://localhost:3000")],
        ] {
            assert_eq!(status_for(&allowed), None, "{allowed:?}");
        }
        for refused in [
            vec![("sec-fetch-site", "cross-site")],
            vec![("sec-fetch-site", "same-site")],
            vec![("sec-fetch-site", "what-comes-next")],
            vec![own, ("sec-fetch-site", "cross-site")],
            vec![own, ("origin", "https://evil.test")],
        ] {
            assert_eq!(status_for(&refused), Some(StatusCode::FORBIDDEN), "{refused:?}");
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
    fn only_100_continue_can_be_expected() {
        let local = gate("127.0.0.1:8765", &[], &[]);
        let expecting = |value| status(&local, &[("host", "localhost"), ("expect", value)]);
        assert_eq!(expecting("100-Continue"), None);
        assert_eq!(expecting("200-ok"), Some(StatusCode::EXPECTATION_FAILED));
    }

    #[test]
    fn the_rate_of_an_address_is_limited() {
        let quota = quota(20).unwrap();
        assert_eq!(quota.replenish_interval(), Duration::from_millis(50));
        assert_eq!(quota.burst_size().get(), 20 * BURST);
        assert!(super::quota(0).is_none());

        // The quota does not recover while the test runs.
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
    fn an_ipv6_network_is_one_address() {
        let same = |one: &str, other: &str| rate_key(one.parse().unwrap()) == rate_key(other.parse().unwrap());
        assert!(same("2001:db8:1:2::1", "2001:db8:1:2:ffff::2"));
        assert!(!same("2001:db8:1:2::1", "2001:db8:1:3::1"));
        assert!(!same("192.0.2.1", "192.0.2.2"));
        assert!(same("::ffff:192.0.2.1", "192.0.2.1"));
    }
}

//! Who is let in: the checks that every request passes before anything else looks at it.

use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN, AUTHORIZATION,
    CONTENT_LENGTH, HOST, ORIGIN, RETRY_AFTER, VARY, WWW_AUTHENTICATE,
};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use governor::clock::DefaultClock;
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::failure::Failure;
use super::tokens::{self, Token};
use crate::library::Library;

type Limiter = RateLimiter<IpAddr, HashMapStateStore<IpAddr>, DefaultClock>;

/// Requests that may come at once, as a multiple of those of a second.
const BURST: u32 = 4;
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// What is let in, and as whom.
pub(super) struct Gate {
    /// Names that `Host` may have, with a port if only this port.
    hosts: Vec<String>,
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
    pub(super) hosts: Vec<String>,
    pub(super) origins: Vec<String>,
    pub(super) known: Vec<(Token, Library)>,
    pub(super) anonymous: Option<Library>,
    /// Requests a second from one address; 0 is no limit.
    pub(super) rate: u32,
    pub(super) max_body: u64,
    pub(super) timeout: Duration,
}

impl Gate {
    /// A gate of a server that listens at `address`; what is under way is given up with `stop`.
    pub(super) fn new(policy: Policy, address: SocketAddr, stop: CancellationToken) -> Self {
        let mut hosts: Vec<String> = policy.hosts.iter().map(|host| host.to_lowercase()).collect();
        hosts.extend(LOOPBACK.map(str::to_owned));
        if !address.ip().is_unspecified() {
            hosts.push(address.ip().to_string());
        }
        let limiter = NonZeroU32::new(policy.rate).map(|rate| {
            let burst = rate.saturating_mul(NonZeroU32::new(BURST).unwrap_or(NonZeroU32::MIN));
            RateLimiter::hashmap(Quota::per_second(rate).allow_burst(burst))
        });
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
            limiter,
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
        if let Some(origin) = headers.get(ORIGIN)
            && !self.allows_origin(origin)
        {
            return Err(Failure::new(StatusCode::FORBIDDEN, "pages of this Origin may not ask").hint("--allow-origin"));
        }
        if let Some(limiter) = &self.limiter
            && limiter.check_key(&address).is_err()
        {
            return Err(Failure::new(
                StatusCode::TOO_MANY_REQUESTS,
                "too many requests from this address",
            ));
        }
        let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok());
        let length: Option<u64> = length.and_then(|length| length.parse().ok());
        if length.is_some_and(|length| length > self.max_body) {
            let most = format!("the body is larger than {} bytes", self.max_body);
            return Err(Failure::new(StatusCode::PAYLOAD_TOO_LARGE, most));
        }
        Ok(())
    }

    fn allows_host(&self, uri: &Uri, headers: &HeaderMap) -> bool {
        let header = headers.get(HOST).and_then(|host| host.to_str().ok());
        let authority = match header {
            Some(host) => host.parse::<Authority>().ok(),
            None => uri.authority().cloned(),
        };
        let Some(authority) = authority else {
            return false;
        };
        let name = authority.host().trim_matches(['[', ']']).to_lowercase();
        let with_port = authority.as_str().to_lowercase();
        self.hosts
            .iter()
            .any(|allowed| *allowed == name || *allowed == with_port)
    }

    fn allows_origin(&self, origin: &HeaderValue) -> bool {
        let Ok(origin) = origin.to_str() else {
            return false;
        };
        let origin = origin.to_lowercase();
        self.origins.contains(&origin)
            || (self.with_local_origins
                && origin
                    .parse::<Uri>()
                    .ok()
                    .and_then(|uri| uri.host().map(|host| host.trim_matches(['[', ']']).to_owned()))
                    .is_some_and(|host| LOOPBACK.contains(&host.as_str())))
    }

    fn library(&self, headers: &HeaderMap) -> Result<&Library, Failure> {
        let sent = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let sent = sent.and_then(|value| value.split_once(' '));
        let sent = sent.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        if let Some((_, token)) = sent
            && let Some(at) = tokens::position(self.known.iter().map(|(token, _)| token), token.trim())
        {
            return Ok(&self.known[at].1);
        }
        self.anonymous
            .as_ref()
            .ok_or_else(|| Failure::new(StatusCode::UNAUTHORIZED, "a bearer token is needed"))
    }
}

/// Lets a request through with the library of its sender, or answers it.
pub(super) async fn admit(
    State(gate): State<Arc<Gate>>,
    ConnectInfo(address): ConnectInfo<SocketAddr>,
    mut request: Request,
    next: Next,
) -> Response {
    if let Err(failure) = gate.check(address.ip(), request.uri(), request.headers()) {
        return failure.into_response();
    }
    let origin = request.headers().get(ORIGIN).cloned();
    let mut response = if request.method() == Method::OPTIONS && origin.is_some() {
        StatusCode::NO_CONTENT.into_response()
    } else {
        match gate.library(request.headers()) {
            Ok(library) => {
                let library = library.clone();
                request.extensions_mut().insert(library);
                tokio::select! {
                    answered = timeout(gate.timeout, next.run(request)) => answered.unwrap_or_else(|_| {
                        Failure::new(StatusCode::REQUEST_TIMEOUT, "the request took too long").into_response()
                    }),
                    () = gate.stop.cancelled() => {
                        Failure::new(StatusCode::SERVICE_UNAVAILABLE, "the server is stopping").into_response()
                    }
                }
            }
            Err(failure) => failure.into_response(),
        }
    };
    if let Some(origin) = origin {
        share(response.headers_mut(), origin);
    }
    match response.status() {
        StatusCode::UNAUTHORIZED => {
            response
                .headers_mut()
                .insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        StatusCode::SERVICE_UNAVAILABLE => {
            response
                .headers_mut()
                .insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        _ => {}
    }
    response
}

/// Lets a page whose origin was checked read the answer.
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

    fn gate(address: &str, hosts: &[&str], origins: &[&str], rate: u32) -> Gate {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let policy = Policy {
            hosts: texts(hosts),
            origins: texts(origins),
            known: Vec::new(),
            anonymous: None,
            rate,
            max_body: 1_000,
            timeout: Duration::from_secs(1),
        };
        Gate::new(policy, address.parse().unwrap(), CancellationToken::new())
    }

    fn status(gate: &Gate, given: &[(&'static str, &'static str)]) -> Option<StatusCode> {
        let mut headers = HeaderMap::new();
        for (name, value) in given {
            headers.insert(*name, HeaderValue::from_static(value));
        }
        let address = IpAddr::from([192, 0, 2, 1]);
        gate.check(address, &Uri::from_static("/mcp"), &headers)
            .err()
            .map(|failure| failure.status())
    }

    #[test]
    fn names_that_lead_here_by_rebinding_are_refused() {
        let local = gate("127.0.0.1:8765", &["docs.example.test:443"], &[], 0);
        for host in ["localhost:8765", "127.0.0.1", "[::1]:8765", "docs.example.test:443"] {
            assert_eq!(status(&local, &[("host", host)]), None, "{host}");
        }
        for host in ["evil.example.test", "docs.example.test", "localhost.evil.test:8765"] {
            assert_eq!(status(&local, &[("host", host)]), Some(StatusCode::FORBIDDEN), "{host}");
        }
        assert_eq!(status(&local, &[]), Some(StatusCode::FORBIDDEN));
    }

    #[test]
    fn pages_ask_only_from_origins_that_may() {
        let local = gate("127.0.0.1:8765", &[], &["https://app.example.test"], 0);
        let public = gate("0.0.0.0:8765", &[], &["https://app.example.test"], 0);
        let asked = |gate: &Gate, origin| status(gate, &[("host", "localhost"), ("origin", origin)]);
        for origin in ["http://localhost:6274", "http://[::1]:3000", "https://app.example.test"] {
            assert_eq!(asked(&local, origin), None, "{origin}");
        }
        for origin in [
            "https://evil.test",
            "null",
            "https://app.example.test.evil.test",
            "http://localhost.evil.test",
        ] {
            assert_eq!(asked(&local, origin), Some(StatusCode::FORBIDDEN), "{origin}");
        }
        assert_eq!(asked(&public, "http://localhost:6274"), Some(StatusCode::FORBIDDEN));
        assert_eq!(asked(&public, "https://app.example.test"), None);
    }

    #[test]
    fn bodies_and_rates_have_limits() {
        let local = gate("127.0.0.1:8765", &[], &[], 1);
        let large = [("host", "localhost"), ("content-length", "1001")];
        assert_eq!(status(&local, &large), Some(StatusCode::PAYLOAD_TOO_LARGE));
        let answers: Vec<_> = (0..BURST).map(|_| status(&local, &[("host", "localhost")])).collect();
        assert_eq!(
            answers.last(),
            Some(&Some(StatusCode::TOO_MANY_REQUESTS)),
            "{answers:?}"
        );
    }
}

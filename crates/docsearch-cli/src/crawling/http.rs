//! One request and its response.

use std::io::{ErrorKind, Read};
use std::net::IpAddr;
use std::time::Duration;

use ureq::http::header::{self, HeaderMap, HeaderName};
use ureq::http::{StatusCode, Uri};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use ureq::{Agent, Proxy, config::Config};
use url::Url;

use super::{page, robots, sitemap};

/// Options of all requests.
#[derive(Debug, Clone)]
pub(crate) struct ClientOptions {
    pub(crate) timeout: Duration,
    pub(crate) max_page_bytes: u64,
    /// Returns why an IP address is refused, if it is.
    pub(crate) refuses: fn(IpAddr) -> Option<&'static str>,
    /// Use the proxies in the environment. They resolve names themselves.
    pub(crate) use_proxy: bool,
}

/// The kind of a resource, which decides on allowed types and size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestKind {
    Page,
    Sitemap,
    Robots,
}

/// The version of a page that is cached, for conditional requests.
#[derive(Debug, Default, Clone)]
pub(crate) struct Validators {
    pub(crate) etag: Option<String>,
    pub(crate) last_modified: Option<String>,
}

#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: StatusCode,
    pub(crate) content_type: Option<String>,
    pub(crate) validators: Validators,
    pub(crate) location: Option<String>,
    pub(crate) robots: Vec<String>,
    pub(crate) retry_after: Option<String>,
    /// Empty unless the status is 200.
    pub(crate) body: Vec<u8>,
}

/// Why there is no usable response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FetchFailure {
    #[error(transparent)]
    Private(#[from] PrivateAddress),
    #[error("larger than {0} bytes")]
    TooLarge(u64),
    #[error("timed out")]
    Timeout,
    #[error("{0}")]
    Network(String),
    /// Certificates, encodings and other problems that a retry does not solve.
    #[error("{0}")]
    Protocol(String),
    #[error("{0}")]
    Status(StatusCode),
    #[error("the server asks to retry after {} s", .0.as_secs())]
    Busy(Duration),
    #[error("not requested: {0} did not respond several times in a row")]
    GivenUp(String),
    #[error("robots.txt cannot be read: {0}")]
    Robots(Box<FetchFailure>),
    #[error("{0} is not a page format")]
    ContentType(String),
    #[error("interrupted")]
    Interrupted,
}

/// A host that resolves to a non-public address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{host} is {class} ({address})")]
pub(crate) struct PrivateAddress {
    host: String,
    class: &'static str,
    address: IpAddr,
}

#[derive(Debug)]
pub(crate) struct Client {
    agent: Agent,
    max_page_bytes: u64,
}

impl Client {
    pub(crate) fn new(options: &ClientOptions) -> Self {
        let config = Config::builder()
            .http_status_as_error(false)
            // Every hop of a redirect is checked against the scope.
            .max_redirects(0)
            .proxy(options.use_proxy.then(Proxy::try_from_env).flatten())
            .user_agent(concat!("pg_docsearch/", env!("CARGO_PKG_VERSION")))
            .accept("text/html, application/xhtml+xml, text/markdown, text/plain;q=0.9, */*;q=0.1")
            .timeout_global(Some(options.timeout))
            .tls_config(TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build())
            .build();
        let resolver = CheckingResolver {
            resolver: DefaultResolver::default(),
            refuses: options.refuses,
        };
        let agent = Agent::with_parts(config, DefaultConnector::default(), resolver);
        Self {
            agent,
            max_page_bytes: options.max_page_bytes,
        }
    }

    pub(crate) fn get(&self, url: &Url, kind: RequestKind, validators: &Validators) -> Result<Response, FetchFailure> {
        let mut request = self.agent.get(url.as_str());
        if let Some(etag) = &validators.etag {
            request = request.header(header::IF_NONE_MATCH, etag);
        }
        if let Some(date) = &validators.last_modified {
            request = request.header(header::IF_MODIFIED_SINCE, date);
        }
        let mut answer = request.call()?;
        let headers = answer.headers();
        let mut response = Response {
            status: answer.status(),
            content_type: text(headers, &header::CONTENT_TYPE),
            validators: Validators {
                etag: text(headers, &header::ETAG),
                last_modified: text(headers, &header::LAST_MODIFIED),
            },
            location: text(headers, &header::LOCATION),
            robots: texts(headers, &HeaderName::from_static("x-robots-tag")).collect(),
            retry_after: text(headers, &header::RETRY_AFTER),
            body: Vec::new(),
        };
        if response.status != StatusCode::OK {
            return Ok(response);
        }
        if kind == RequestKind::Page && !page::is_page(response.content_type.as_deref(), url.path()) {
            return Err(FetchFailure::ContentType(response.content_type.unwrap_or_default()));
        }
        let limit = match kind {
            RequestKind::Page => self.max_page_bytes,
            RequestKind::Sitemap => sitemap::MAX_BYTES,
            RequestKind::Robots => robots::MAX_BYTES as u64,
        };
        answer
            .body_mut()
            .as_reader()
            .take(limit + 1)
            .read_to_end(&mut response.body)
            .map_err(|error| FetchFailure::from(ureq::Error::from(error)))?;
        // A long `robots.txt` counts up to the limit.
        if response.body.len() as u64 > limit && kind != RequestKind::Robots {
            return Err(FetchFailure::TooLarge(limit));
        }
        Ok(response)
    }
}

fn texts(headers: &HeaderMap, name: &HeaderName) -> impl Iterator<Item = String> {
    let values = headers.get_all(name).iter();
    values.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
}

fn text(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    texts(headers, name).next()
}

impl FetchFailure {
    /// Whether all pages of the site fail in this way.
    pub(crate) fn concerns_site(&self) -> bool {
        matches!(self, Self::Private(_) | Self::GivenUp(_) | Self::Robots(_))
    }

    /// The failure itself, or the one that prevented reading `robots.txt`.
    pub(crate) fn cause(&self) -> &Self {
        match self {
            Self::Robots(cause) => cause,
            own => own,
        }
    }
}

impl From<ureq::Error> for FetchFailure {
    fn from(error: ureq::Error) -> Self {
        match error {
            ureq::Error::Timeout(_) => Self::Timeout,
            ureq::Error::Other(source) => match source.downcast::<PrivateAddress>() {
                Ok(private) => Self::Private(*private),
                Err(other) => Self::Protocol(other.to_string()),
            },
            ureq::Error::Io(error) if error.kind() == ErrorKind::InvalidData => Self::Protocol(error.to_string()),
            ureq::Error::Io(error) => Self::Network(error.to_string()),
            ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => Self::Network(error.to_string()),
            other => Self::Protocol(other.to_string()),
        }
    }
}

/// Resolves a name to the addresses that are not refused; connections go only to these.
#[derive(Debug)]
struct CheckingResolver {
    resolver: DefaultResolver,
    refuses: fn(IpAddr) -> Option<&'static str>,
}

impl Resolver for CheckingResolver {
    fn resolve(&self, uri: &Uri, config: &Config, timeout: NextTimeout) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let found = self.resolver.resolve(uri, config, timeout)?;
        let mut open = self.empty();
        let mut refusal = None;
        for &socket in &found {
            match (self.refuses)(socket.ip()) {
                Some(class) => refusal = Some((class, socket.ip())),
                None => open.push(socket),
            }
        }
        match refusal {
            Some((class, address)) if open.is_empty() => Err(ureq::Error::Other(Box::new(PrivateAddress {
                host: uri.host().unwrap_or_default().to_owned(),
                class,
                address,
            }))),
            _ => Ok(open),
        }
    }
}

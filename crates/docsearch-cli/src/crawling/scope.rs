//! Which addresses belong to a crawl, and the normal form of an address.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use percent_encoding::percent_decode_str;
use url::Url;

use crate::process::error::Error;

/// Maximum length of an address in bytes, from the sitemap protocol.
pub(crate) const MAX_ADDRESS: usize = 2_048;

/// How far a crawl follows links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Reach {
    /// The whole site: same scheme, host and port
    Origin,
    /// The folder of the start page and everything below
    Path,
}

/// The rules that decide whether an address belongs to a crawl.
#[derive(Debug)]
pub(crate) struct Scope {
    roots: Vec<ScopeRoot>,
    include: Option<GlobSet>,
    exclude: GlobSet,
    keep_query: bool,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ScopeRoot {
    origin: String,
    folder: String,
}

/// Why an address cannot be crawled at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadAddress {
    #[error("not a URL: {0}")]
    Syntax(url::ParseError),
    #[error("only http and https can be crawled")]
    Scheme,
    #[error("the URL contains a user name or password")]
    Credentials,
    #[error("the URL is longer than {MAX_ADDRESS} bytes")]
    TooLong,
}

impl Scope {
    /// The scope of a crawl from `starts`.
    pub(crate) fn new(
        starts: &[Url],
        reach: Reach,
        include: &[String],
        exclude: &[String],
        keep_query: bool,
    ) -> Result<Self, Error> {
        let mut roots: Vec<ScopeRoot> = starts
            .iter()
            .map(|start| ScopeRoot {
                origin: start.origin().ascii_serialization(),
                folder: match reach {
                    Reach::Origin => "/".to_owned(),
                    Reach::Path => folder(start.path()).to_owned(),
                },
            })
            .collect();
        roots.sort();
        roots.dedup_by(|later, first| later.origin == first.origin && later.folder.starts_with(&first.folder));
        Ok(Self {
            roots,
            include: match include {
                [] => None,
                patterns => Some(globs(patterns)?),
            },
            exclude: globs(exclude)?,
            keep_query,
        })
    }

    /// Resolves `reference` on the page at `base` to a normalized address.
    pub(crate) fn resolve(&self, base: &Url, reference: &str) -> Result<Url, BadAddress> {
        check_url(base.join(reference.trim()).map_err(BadAddress::Syntax)?).and_then(|url| self.normalize(url))
    }

    /// Parses and normalizes an address.
    pub(crate) fn parse(&self, address: &str) -> Result<Url, BadAddress> {
        parse(address).and_then(|url| self.normalize(url))
    }

    /// Whether `url` is in the site or folder of a start.
    pub(crate) fn covers(&self, url: &Url) -> bool {
        let origin = url.origin().ascii_serialization();
        let is_below = |root: &ScopeRoot| root.origin == origin && url.path().starts_with(&root.folder);
        self.roots.iter().any(is_below)
    }

    /// Whether `url`, a normalized address, belongs to the crawl.
    pub(crate) fn contains(&self, url: &Url) -> bool {
        let path = percent_decode_str(url.path()).decode_utf8_lossy();
        self.covers(url)
            && self.include.as_ref().is_none_or(|set| set.is_match(&*path))
            && !self.exclude.is_match(&*path)
    }

    /// Normalizes an address, so that a page has one. The `url` crate handles case, default ports and dot segments.
    fn normalize(&self, mut url: Url) -> Result<Url, BadAddress> {
        url.set_fragment(None);
        if !self.keep_query || url.query() == Some("") {
            url.set_query(None);
        }
        let path = decode_unreserved(url.path());
        url.set_path(&path);
        match url.as_str().len() {
            ..=MAX_ADDRESS => Ok(url),
            _ => Err(BadAddress::TooLong),
        }
    }
}

/// Parses an address that can be crawled.
pub(crate) fn parse(address: &str) -> Result<Url, BadAddress> {
    check_url(Url::parse(address.trim()).map_err(BadAddress::Syntax)?)
}

fn check_url(url: Url) -> Result<Url, BadAddress> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(BadAddress::Scheme);
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(BadAddress::Credentials);
    }
    Ok(url)
}

fn folder(path: &str) -> &str {
    path.rfind('/').map_or("/", |slash| &path[..=slash])
}

fn globs(patterns: &[String]) -> Result<GlobSet, Error> {
    let usage = |error: globset::Error| {
        Error::Usage(format!(
            "{error}\nHINT:  Patterns match whole paths, such as /guide/** or **/old-*."
        ))
    };
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        set.add(
            GlobBuilder::new(pattern)
                .literal_separator(true)
                .build()
                .map_err(usage)?,
        );
    }
    set.build().map_err(usage)
}

/// Decodes unreserved characters (`%7e` to `~`) and writes other codes in capitals: RFC 3986, 6.2.2.1 and 6.2.2.2.
fn decode_unreserved(path: &str) -> String {
    let mut text = String::with_capacity(path.len());
    let mut rest = path;
    while let Some(at) = rest.find('%') {
        text.push_str(&rest[..at]);
        let code = rest
            .get(at + 1..at + 3)
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match code {
            Some(byte) => {
                if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                    text.push(char::from(byte));
                } else {
                    text.push_str(&format!("%{byte:02X}"));
                }
                rest = &rest[at + 3..];
            }
            None => {
                text.push('%');
                rest = &rest[at + 1..];
            }
        }
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(start: &str, reach: Reach) -> Scope {
        Scope::new(&[parse(start).unwrap()], reach, &[], &[], false).unwrap()
    }

    #[test]
    fn addresses_are_normalized() {
        let scope = scope("https://x.org/", Reach::Origin);
        let base = parse("https://x.org/docs/guide/page.html").unwrap();
        for (reference, expected) in [
            ("other.html#part", "https://x.org/docs/guide/other.html"),
            (" ../a/./b/../c ", "https://x.org/docs/a/c"),
            ("?page=2", "https://x.org/docs/guide/page.html"),
            ("HTTPS://X.org:443/%7ejoe/%c3%a9", "https://x.org/~joe/%C3%A9"),
            ("//x.org/a b", "https://x.org/a%20b"),
            ("/a%2fb%", "https://x.org/a%2Fb%"),
            ("\\a", "https://x.org/a"),
            ("/%2e%2e/b", "https://x.org/b"),
        ] {
            assert_eq!(
                scope.resolve(&base, reference).unwrap().as_str(),
                expected,
                "{reference}"
            );
        }
    }

    #[test]
    fn query_strings_are_kept_on_request() {
        let start = parse("https://x.org/").unwrap();
        let scope = Scope::new(&[start], Reach::Path, &[], &[], true).unwrap();
        assert_eq!(
            scope.parse("https://x.org/a?b=1#c").unwrap().as_str(),
            "https://x.org/a?b=1"
        );
        assert_eq!(scope.parse("https://x.org/a?").unwrap().as_str(), "https://x.org/a");
    }

    #[test]
    fn odd_notations_of_an_ip_address_are_normalized() {
        for address in [
            "http://2130706433/",
            "http://0x7f.1/",
            "http://0177.0.0.1/",
            "http://127.1",
        ] {
            assert_eq!(parse(address).unwrap().host_str(), Some("127.0.0.1"), "{address}");
        }
    }

    #[test]
    fn invalid_addresses_are_rejected() {
        assert_eq!(parse("ftp://x.org/"), Err(BadAddress::Scheme));
        assert_eq!(parse("file:///etc/passwd"), Err(BadAddress::Scheme));
        assert_eq!(parse("mailto:a@x.org"), Err(BadAddress::Scheme));
        assert_eq!(parse("https://me:secret@x.org/"), Err(BadAddress::Credentials));
        assert!(matches!(parse("docs/guide"), Err(BadAddress::Syntax(_))));
    }

    #[test]
    fn the_crawl_stays_in_the_folder_of_the_start() {
        let scope = scope("https://x.org/docs/guide/index.html", Reach::Path);
        for (address, inside) in [
            ("https://x.org/docs/guide/", true),
            ("https://x.org/docs/guide/a/b", true),
            ("https://x.org/docs/guide", false),
            ("https://x.org/docs/guides/", false),
            ("http://x.org/docs/guide/", false),
            ("https://x.org:8443/docs/guide/", false),
            ("https://x.org.evil.net/docs/guide/", false),
        ] {
            assert_eq!(scope.contains(&scope.parse(address).unwrap()), inside, "{address}");
        }
        assert!(self::scope("https://x.org/a/b", Reach::Origin).contains(&parse("https://x.org/").unwrap()));
    }

    #[test]
    fn patterns_narrow_the_scope() {
        let start = parse("https://x.org/docs/").unwrap();
        let list = |patterns: &[&str]| patterns.iter().map(|&p| p.to_owned()).collect::<Vec<_>>();
        let scope = Scope::new(
            &[start],
            Reach::Path,
            &list(&["/docs/en/**", "/docs/*.html"]),
            &list(&["**/old/**", "/docs/en/my draft"]),
            false,
        )
        .unwrap();
        for (path, inside) in [
            ("/docs/en/a/b", true),
            ("/docs/a.html", true),
            ("/docs/fr/a.html", false),
            ("/docs/en/old/a", false),
            ("/docs/en/my%20draft", false),
        ] {
            let url = scope.parse(&format!("https://x.org{path}")).unwrap();
            assert_eq!(scope.contains(&url), inside, "{path}");
        }
        let wrong = Scope::new(&[], Reach::Path, &list(&["a["]), &[], false).unwrap_err();
        assert!(wrong.to_string().contains("HINT:"), "{wrong}");
    }
}

//! Addresses of pages: the whole slug, the reference `project/slug` that every output prints, and URLs, each also with
//! the `#anchor` of a section.

use unicode_normalization::UnicodeNormalization;

use crate::digest::digest;

/// What stands before every address in [`address_key`], and in no other key of a page.
const ROOT: char = '/';

/// Longest key, in bytes: an index entry has to fit a page.
const MAX_KEY_BYTES: usize = 200;

/// An address in a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address<'a> {
    /// The address without the anchor, as written.
    pub text: &'a str,
    /// What names the section.
    pub anchor: Option<&'a str>,
}

impl<'a> Address<'a> {
    /// Reads a query that is nothing but an address. `None` for texts of several words, and for single ones that have
    /// neither a `/` in them nor an anchor.
    pub fn read(query: &'a str) -> Option<Self> {
        let text = query.trim().trim_matches(['<', '>', '"', '\'', '`', '“', '”', ',']);
        if text.is_empty() || text.contains(char::is_whitespace) {
            return None;
        }
        let (text, anchor) = match text.split_once('#') {
            Some((text, anchor)) => (text, Some(anchor).filter(|anchor| !anchor.is_empty())),
            None => (text, None),
        };
        let inside = text.trim_matches('/');
        let is_address = !inside.is_empty() && (anchor.is_some() || text.contains('/'));
        is_address.then_some(Self { text, anchor })
    }

    /// Whether it begins with the name of a protocol: `https://…`.
    pub fn is_url(self) -> bool {
        self.text.contains("://")
    }

    /// What is left of it below a place: the slug of `project/slug`, or of a URL below the root of a site. `None` if it
    /// lies elsewhere.
    pub fn below(self, place: &str) -> Option<&'a str> {
        let place = without_protocol(place).trim_end_matches('/');
        let text = without_protocol(self.text);
        let below = text
            .get(..place.len())
            .filter(|start| start.eq_ignore_ascii_case(place))
            .and(text.get(place.len()..))?
            .strip_prefix('/')?;
        (!place.is_empty() && !below.is_empty()).then_some(below)
    }
}

/// The form in which addresses are compared: compatibility-normalised (NFKC) and in lower case, without protocol, `www.`,
/// question, anchor, the extension of a file and `index` at the end. It begins with a slash, as no name does. What is too
/// long for an index is replaced by its digest. Empty for blank texts.
pub fn address_key(address: &str) -> String {
    let end = address.find(['?', '#']).unwrap_or(address.len());
    let path = without_protocol(&address[..end]).trim_matches('/');
    let path = without_extension(path);
    let path = path.strip_suffix("/index").unwrap_or(path);
    let path: String = path.nfkc().flat_map(char::to_lowercase).nfkc().collect();
    match path.len() {
        0 => String::new(),
        short if short < MAX_KEY_BYTES => format!("{ROOT}{path}"),
        _ => format!("{ROOT}{}", digest(&[&path])),
    }
}

/// `example.org/a` of `https://www.example.org/a`.
fn without_protocol(address: &str) -> &str {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let (start, site) = rest.split_at_checked(4).unwrap_or_default();
    if start.eq_ignore_ascii_case("www.") { site } else { rest }
}

/// A path without the extension of a file of documentation.
pub(crate) fn without_extension(path: &str) -> &str {
    ["html", "htm", "md", "mdx", "rst", "txt"]
        .iter()
        .find_map(|extension| {
            let (stem, end) = path.split_at_checked(path.len().checked_sub(extension.len())?)?;
            stem.strip_suffix('.').filter(|_| end.eq_ignore_ascii_case(extension))
        })
        .filter(|stem| !stem.is_empty() && !stem.ends_with('/'))
        .unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(query: &str) -> Option<(&str, Option<&str>)> {
        Address::read(query).map(|address| (address.text, address.anchor))
    }

    #[test]
    fn an_address_is_one_word_with_a_slash_or_an_anchor() {
        assert_eq!(read("guides/table-cells"), Some(("guides/table-cells", None)));
        assert_eq!(
            read(" <dockui/guides/table-cells#reuse> "),
            Some(("dockui/guides/table-cells", Some("reuse")))
        );
        assert_eq!(read("button#overview"), Some(("button", Some("overview"))));
        assert_eq!(
            read("https://docs.example.org/en/5.2/a.html#b"),
            Some(("https://docs.example.org/en/5.2/a.html", Some("b")))
        );
        for other in ["button", "C#", "#overview", "a/b or c", "/", "//#x", "", "  "] {
            assert_eq!(read(other), None, "{other}");
        }
    }

    #[test]
    fn every_spelling_of_an_address_has_one_key() {
        for same in [
            "topics/Http/sessions",
            "/topics/http/sessions/",
            "topics/http/sessions.html",
            "topics/http/sessions.HTML",
            "topics/http/sessions/index.html",
            "topics/http/sessions?highlight=x#y",
        ] {
            assert_eq!(address_key(same), "/topics/http/sessions", "{same}");
        }
        for same in [
            "https://www.example.org/a/",
            "HTTP://WWW.Example.org/a",
            "www.example.org/a",
            "example.org/a",
        ] {
            assert_eq!(address_key(same), "/example.org/a", "{same}");
        }
        assert_ne!(address_key("a/b-c"), address_key("a/b/c"));
        assert_eq!(address_key("index.html"), "/index");
        assert_eq!(address_key("?"), "");
    }

    #[test]
    fn what_lies_below_a_place_is_a_slug() {
        let below =
            |address: &'static str, place: &str| Address::read(address).and_then(|address| address.below(place));
        assert_eq!(below("Django/topics/http", "django"), Some("topics/http"));
        assert_eq!(
            below(
                "http://docs.example.org/5.2/topics/http/",
                "https://docs.example.org/5.2/"
            ),
            Some("topics/http/")
        );
        assert_eq!(below("django-rest/topics", "django"), None);
        assert_eq!(below("django/", "django"), None);
        assert_eq!(below("a/b", ""), None);
        assert_eq!(below("ä/b", "a"), None);
    }

    proptest! {
        #[test]
        fn keys_fit_an_index(path in "(\\PC|[a-z/.]){0,300}") {
            let key = address_key(&path);
            prop_assert!(key.len() <= MAX_KEY_BYTES);
            prop_assert!(key.is_empty() || key.starts_with(ROOT));
            if let Some(address) = Address::read(&path) {
                prop_assert!(!address.text.is_empty());
            }
        }
    }
}

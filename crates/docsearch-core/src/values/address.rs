//! Addresses of pages: slugs, references `project/slug` as outputs print them, and URLs, each with or without the
//! `#anchor` of a section.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use unicode_normalization::UnicodeNormalization;

use crate::values::digest::digest;

/// First character of every [`address_key`], and of no other key of a page.
const ROOT: char = '/';

/// Most words of a query that has a URL and is its address: `see https://…`.
const MAX_WORDS_WITH_URL: usize = 4;

/// Longest key, in bytes: an index entry has to fit a page.
const MAX_ADDRESS_KEY_BYTES: usize = 200;

/// Escapes all characters of a fragment but those of RFC 3986, 3.5. `'` and `*`, which would end a quoted text or begin
/// an emphasis in Markdown, are escaped, too.
const ESCAPED_IN_FRAGMENT: &AsciiSet = &PARENTHESES_ESCAPED.remove(b'(').remove(b')');

/// Of a fragment with single parentheses, which would end a Markdown link.
const PARENTHESES_ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=')
    .remove(b':')
    .remove(b'@')
    .remove(b'/')
    .remove(b'?');

/// An address in a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address<'a> {
    /// The address without the anchor, as written.
    pub text: &'a str,
    /// Anchor of the section.
    pub anchor: Option<&'a str>,
}

impl<'a> Address<'a> {
    /// Parses a query that is an address, or a few words around a URL. `None` for other texts of several words, and
    /// for words without `/`, anchor and file extension. Only the pages decide whether it is an address or a name
    /// such as `Node.js`.
    pub fn read(query: &'a str) -> Option<Self> {
        // `[title](address)` is a link in Markdown.
        let link = query.trim().strip_prefix('[').and_then(|link| link.strip_suffix(')'));
        let query = link
            .and_then(|link| link.split_once("]("))
            .map_or(query, |(_, address)| address);
        let mut words = query.split_whitespace();
        let text = match (words.next(), words.next()) {
            (Some(word), None) => word,
            _ if query.split_whitespace().count() <= MAX_WORDS_WITH_URL => {
                let mut urls = query.split_whitespace().filter(|word| word.contains("://"));
                urls.next().filter(|_| urls.next().is_none())?
            }
            _ => return None,
        };
        let text = text
            .trim_end_matches(['.', ',', ';', ':', '!'])
            .trim_matches(['<', '>', '"', '\'', '`', '“', '”', ',', ';'])
            .trim_end_matches(['.', ':', '!']);
        let text = match text.strip_prefix('(') {
            Some(inside) => inside.strip_suffix(')').unwrap_or(inside),
            None if text.ends_with(')') && !text.contains('(') => text.trim_end_matches(')'),
            None => text,
        };
        // A reference in brackets, as answers print it. Brackets within a slug belong to it: `[lang]/[page]`.
        let text = match text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            Some(inside) if !inside.contains(['[', ']']) => inside,
            _ => text,
        };
        let relative = text.starts_with("./");
        let text = text.trim_start_matches("./").trim_start_matches("../");
        let (text, anchor) = match text.split_once('#') {
            Some((text, anchor)) => (text, Some(anchor).filter(|anchor| !anchor.is_empty())),
            None => (text, None),
        };
        let inside = text.trim_matches('/');
        let is_address = !inside.is_empty() && (anchor.is_some() || relative || text.contains('/') || is_file(text));
        is_address.then_some(Self { text, anchor })
    }

    /// Whether it begins with a protocol: `https://…`.
    pub fn is_url(self) -> bool {
        self.text.contains("://")
    }

    /// The rest of it below a root: the slug of `project/slug`, or of a URL of a site. `None` if it is elsewhere.
    pub fn below(self, root: &str) -> Option<&'a str> {
        let root = without_protocol(root).trim_end_matches('/');
        let text = without_protocol(self.text).trim_start_matches('/');
        let below = text
            .get(..root.len())
            .filter(|start| start.eq_ignore_ascii_case(root))
            .and(text.get(root.len()..))?
            .strip_prefix('/')?;
        (!root.is_empty() && !below.is_empty()).then_some(below)
    }
}

/// The URL of a section: that of its page, with the anchor as its fragment, instead of one that it has. A fragment
/// that identifies a page (`#/guide`, `#!guide`) stays, and so does the URL without an anchor.
pub fn section_url(url: &str, anchor: &str) -> String {
    let (page, fragment) = url.split_once('#').unwrap_or((url, ""));
    if url.is_empty() || anchor.is_empty() || fragment.starts_with(['/', '!']) {
        return url.to_owned();
    }
    let escaped = if are_parentheses_paired(anchor) {
        ESCAPED_IN_FRAGMENT
    } else {
        PARENTHESES_ESCAPED
    };
    format!("{page}#{}", utf8_percent_encode(anchor, escaped))
}

fn are_parentheses_paired(text: &str) -> bool {
    let depth = text.bytes().try_fold(0_usize, |depth, byte| match byte {
        b'(' => Some(depth + 1),
        b')' => depth.checked_sub(1),
        _ => Some(depth),
    });
    depth == Some(0)
}

/// The key of an address: compatibility-normalised (NFKC), in lower case, percent-decoded, without protocol, `www.`,
/// anchor, file extension and a final `index`. It begins with a slash, as no name does. The key of a long address is
/// its digest. Empty for blank texts.
pub fn address_key(address: &str) -> String {
    let end = address.find('#').unwrap_or(address.len());
    let (path, question) = split_question(&address[..end]);
    let path = without_protocol(path).trim_matches('/');
    let path = without_extension(path);
    let path = path.strip_suffix("/index").unwrap_or(path);
    let path = [path, question].concat();
    let path: String = decoded(&path).nfkc().flat_map(char::to_lowercase).nfkc().collect();
    match path.len() {
        0 => String::new(),
        short if short < MAX_ADDRESS_KEY_BYTES => format!("{ROOT}{path}"),
        _ => format!("{ROOT}{}", digest(&[&path])),
    }
}

/// An address without percent-encoding, or unchanged if it has none or does not decode to text.
pub fn decoded(address: &str) -> Cow<'_, str> {
    percent_decode_str(address)
        .decode_utf8()
        .unwrap_or(Cow::Borrowed(address))
}

/// A path below a folder without `.` and `..`; `None` if it leads above the top.
pub fn joined(folder: &str, path: &str) -> Option<String> {
    let mut segments: Vec<&str> = Vec::new();
    for segment in folder.split('/').chain(path.split('/')) {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop()?;
            }
            segment => segments.push(segment),
        }
    }
    Some(segments.join("/"))
}

/// An address, and its query string from the `?` on.
pub(crate) fn split_question(address: &str) -> (&str, &str) {
    let (path, question) = address.split_at(address.find('?').unwrap_or(address.len()));
    (path, if question.len() > 1 { question } else { "" })
}

/// `example.org/a` of `https://www.example.org/a`.
fn without_protocol(address: &str) -> &str {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let (start, site) = rest.split_at_checked(4).unwrap_or_default();
    if start.eq_ignore_ascii_case("www.") { site } else { rest }
}

/// Whether a text may be a file name: it has letters on both sides of a dot, before the query string.
fn is_file(text: &str) -> bool {
    let name = split_question(text).0.rsplit_once('.');
    name.is_some_and(|(stem, extension)| {
        stem.contains(char::is_alphanumeric) && extension.starts_with(char::is_alphabetic)
    })
}

/// A path without the extension of a documentation file.
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
    fn s0_37_files_of_documentation_are_addresses() {
        for (link, anchor) in [
            ("options.html", None),
            ("options.HTML", None),
            ("./options.html", None),
            ("../options.rst", None),
            ("options.md#boolean", Some("boolean")),
            ("[boolean options](options.md#boolean)", Some("boolean")),
            ("./options", None),
            ("`options.mdx`", None),
            ("<options.htm>.", None),
            ("options.txt", None),
        ] {
            let address = Address::read(link).unwrap_or_else(|| panic!("{link}"));
            assert_eq!(
                (address_key(address.text).as_str(), address.anchor),
                ("/options", anchor),
                "{link}"
            );
        }
        assert_eq!(
            read("options.html?highlight=flag"),
            Some(("options.html?highlight=flag", None))
        );
        // These are addresses of pages with exactly this slug.
        for name in ["index.js", "package.json", "main.rs", "Node.js", "asyncio.run"] {
            let address = Address::read(name).unwrap_or_else(|| panic!("{name}"));
            assert_eq!(address_key(address.text), format!("/{}", name.to_lowercase()));
        }
        for other in ["3.14", "v1.2", "options.", ".html", "e.g.", "..."] {
            assert_eq!(
                read(other).map(|(text, _)| text),
                (other == "e.g.").then_some("e.g"),
                "{other}"
            );
        }
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
        for same in [
            "[the page](https://docs.example.org/a)",
            "(https://docs.example.org/a)",
            "https://docs.example.org/a.",
            "see https://docs.example.org/a",
            "what is https://docs.example.org/a ?",
        ] {
            assert_eq!(read(same), Some(("https://docs.example.org/a", None)), "{same}");
        }
        assert_eq!(read("./guides/install"), Some(("guides/install", None)));
        assert_eq!(
            read("[the whole kit](guides/install#a)"),
            Some(("guides/install", Some("a")))
        );
        assert_eq!(read("(wiki/kit_(tools))"), Some(("wiki/kit_(tools)", None)));
        assert_eq!(read("wiki/kit_(tools)"), Some(("wiki/kit_(tools)", None)));
        for other in ["button", "C#", "#overview", "a/b or c", "/", "//#x", "", "  "] {
            assert_eq!(read(other), None, "{other}");
        }
    }

    /// An address is the same with and without the brackets that an answer puts around it.
    #[test]
    fn brackets_around_an_address_are_left_out() {
        for address in [
            "kit/guides/install",
            "kit/guides/install#linux",
            "options.md",
            "https://docs.example.org/a",
        ] {
            for [before, behind] in [
                ["[", "]"],
                ["(", ")"],
                ["<", ">"],
                ["`", "`"],
                [" [", "]. "],
                ["([", "])"],
            ] {
                let written = format!("{before}{address}{behind}");
                assert_eq!(Address::read(&written), Address::read(address), "{written}");
            }
        }
        for slug in ["[lang]/[page]", "docs/[page]", "[lang]/page"] {
            assert_eq!(read(slug), Some((slug, None)));
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
            "topics/http/sessions#y",
            "topics/http/sessions?",
            "topics/h%74tp/sessions.html",
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
        assert_ne!(address_key("a/page.php?id=1"), address_key("a/page.php?id=2"));
        assert_eq!(address_key("a/%C3%BCber%20uns"), address_key("a/über uns"));
        assert_eq!(address_key("a/100%zz"), "/a/100%zz");
        assert_eq!(address_key("index.html"), "/index");
        assert_eq!(address_key("?"), "");
    }

    #[test]
    fn the_rest_below_a_root_is_a_slug() {
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
        assert_eq!(below("//docs.example.org/a", "https://docs.example.org"), Some("a"));
        assert_eq!(below("django-rest/topics", "django"), None);
        assert_eq!(below("django/", "django"), None);
        assert_eq!(below("a/b", ""), None);
        assert_eq!(below("ä/b", "a"), None);
    }

    #[test]
    fn s3_40_a_section_has_the_url_of_its_page_with_its_anchor() {
        for (url, anchor, whole) in [
            ("https://kit.test/guide", "install", "https://kit.test/guide#install"),
            (
                "https://kit.test/api?v=2#top",
                "flask.url_for",
                "https://kit.test/api?v=2#flask.url_for",
            ),
            ("https://kit.test/guide#top", "", "https://kit.test/guide#top"),
            ("https://kit.test/#/guide", "install", "https://kit.test/#/guide"),
            (
                "https://kit.test/a",
                "größe #1 (neu) 100%",
                "https://kit.test/a#gr%C3%B6%C3%9Fe%20%231%20(neu)%20100%25",
            ),
            (
                "https://kit.test/Box.html",
                "add(int,java.lang.Object[])",
                "https://kit.test/Box.html#add(int,java.lang.Object%5B%5D)",
            ),
            ("https://kit.test/a", "a) b", "https://kit.test/a#a%29%20b"),
            ("https://kit.test/a", ")(", "https://kit.test/a#%29%28"),
            ("", "install", ""),
        ] {
            assert_eq!(section_url(url, anchor), whole);
        }
    }

    proptest! {
        #[test]
        fn the_anchor_of_a_section_can_be_read_from_its_url(page in "https://[a-z]{1,5}/[a-z?=]{0,9}", anchor in "\\PC{1,20}") {
            let url = section_url(&page, &anchor);
            let (before, fragment) = url.split_once('#').expect("a fragment");
            prop_assert_eq!(before, page);
            prop_assert_eq!(decoded(fragment), anchor.as_str());
            prop_assert!(fragment.bytes().all(|byte| byte.is_ascii_graphic()));
            // The URL of a section becomes that of another one.
            prop_assert_eq!(section_url(&section_url(before, "other"), &anchor), url.clone());
        }

        #[test]
        fn keys_fit_an_index(path in "(\\PC|[a-z/.]){0,300}") {
            let key = address_key(&path);
            prop_assert!(key.len() <= MAX_ADDRESS_KEY_BYTES);
            prop_assert!(key.is_empty() || key.starts_with(ROOT));
            if let Some(address) = Address::read(&path) {
                prop_assert!(!address.text.is_empty());
            }
        }
    }
}

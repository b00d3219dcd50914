//! From the path of a source to the path of its page.

use std::path::Path;

use percent_encoding::{AsciiSet, CONTROLS};
use serde_json::{Map, Value};

use super::generator::Generator;
use crate::file::slug;

/// What is written otherwise in the path of an URL.
pub(super) const PATH: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'`')
    .add(b'{')
    .add(b'}')
    .add(b'%');

/// The path of a page, and whether it stands for a folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Route {
    pub(super) path: String,
    pub(super) is_folder: bool,
}

/// The route of the page at `relative`, with what its front matter says.
pub(super) fn of(
    generator: Option<Generator>,
    relative: &Path,
    own: Option<&str>,
    matter: &Map<String, Value>,
) -> Route {
    let text = |key: &str| matter.get(key).and_then(Value::as_str).map(str::trim);
    let absolute = match generator {
        Some(Generator::Jekyll) => text("permalink").filter(|path| !path.contains(':')),
        Some(Generator::Hugo) => text("url"),
        Some(Generator::Starlight) => own,
        Some(Generator::Docusaurus) => own.filter(|slug| slug.starts_with('/')),
        _ => None,
    };
    if let Some(path) = absolute {
        let path = path.strip_suffix(".html").unwrap_or(path);
        return Route {
            path: slug::normalise(path),
            is_folder: false,
        };
    }
    let stem = relative.with_extension("");
    let mut segments: Vec<String> = stem
        .components()
        .map(|part| part.as_os_str().to_string_lossy().into_owned())
        .collect();
    let mut last = segments.pop().unwrap_or_default();
    let is_post = generator == Some(Generator::Jekyll) && segments.first().is_some_and(|first| first == "_posts");
    if is_post {
        segments.remove(0);
    }
    // Collections lie in folders with a mark that their addresses have not.
    if generator == Some(Generator::Jekyll)
        && let Some(first) = segments.first_mut()
        && let Some(name) = first.strip_prefix('_')
    {
        *first = name.to_owned();
    }
    if generator == Some(Generator::Docusaurus) {
        segments = segments
            .iter()
            .map(|segment| without_number(segment).to_owned())
            .collect();
        last = without_number(&last).to_owned();
    }
    if is_post && let Some((date, name)) = dated(&last) {
        segments.extend(date);
        last = name.to_owned();
    }
    segments.retain(|segment| !is_group(segment));
    let lower = last.to_lowercase();
    let parent = segments.last().map(|folder| folder.to_lowercase());
    let mut is_folder = slug::is_folder_page(&lower)
        && !(generator == Some(Generator::MkDocs) && lower == "_index")
        && !(generator == Some(Generator::Sphinx) && lower != "index")
        && !(generator == Some(Generator::VitePress) && lower == "readme")
        || generator == Some(Generator::Docusaurus) && parent.is_some_and(|folder| folder == lower);
    let named = match generator {
        Some(Generator::Docusaurus) => own.or_else(|| text("id")),
        Some(Generator::Hugo) => own,
        _ => None,
    };
    if let Some(named) = named {
        last = named.to_owned();
        is_folder = false;
    }
    if !is_folder {
        segments.push(last);
    }
    let mut path = segments.join("/");
    if matches!(generator, Some(Generator::Hugo | Generator::Starlight)) {
        path = path.to_lowercase().replace(' ', "-");
    }
    Route { path, is_folder }
}

/// The route of a post in the blog of Docusaurus.
pub(super) fn of_post(relative: &Path, own: Option<&str>) -> Route {
    let stem = relative.with_extension("");
    let mut segments: Vec<&str> = stem.iter().filter_map(|part| part.to_str()).collect();
    if segments.last() == Some(&"index") {
        segments.pop();
    }
    let path = match (own, segments.last().and_then(|last| dated(last))) {
        (Some(own), _) => slug::normalise(own),
        (None, Some((date, name))) => format!("{}/{name}", date.join("/")),
        (None, None) => segments.join("/"),
    };
    Route { path, is_folder: false }
}

/// `02-name` without its number; names that begin with a date or a version are left alone.
fn without_number(segment: &str) -> &str {
    let rest = segment.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() == segment.len() {
        return segment;
    }
    let name = rest.trim_start_matches(['-', '_', '.', ' ']);
    let is_number = name.len() < rest.len() && !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit());
    if is_number { name } else { segment }
}

/// Year, month and day of a post, and its name.
fn dated(name: &str) -> Option<([String; 3], &str)> {
    let mut parts = name.splitn(4, '-');
    let date = [parts.next()?, parts.next()?, parts.next()?];
    let rest = parts.next()?;
    let is_number = date
        .iter()
        .all(|part| part.bytes().all(|byte| byte.is_ascii_digit()) && !part.is_empty());
    is_number.then(|| (date.map(str::to_owned), rest))
}

/// A folder that groups pages without being part of their addresses.
fn is_group(segment: &str) -> bool {
    segment.len() > 2 && segment.starts_with('(') && segment.ends_with(')')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(generator: Generator, path: &str, own: Option<&str>, matter: Value) -> String {
        let Value::Object(matter) = matter else { panic!() };
        of(Some(generator), Path::new(path), own, &matter).path
    }

    #[test]
    fn posts_lie_at_their_date_or_where_they_say() {
        let path = |path: &str, own: Option<&str>| of_post(Path::new(path), own).path;
        assert_eq!(path("2021-08-26-welcome/index.md", None), "2021/08/26/welcome");
        assert_eq!(path("2021-08-26-welcome/index.md", Some("welcome")), "welcome");
        assert_eq!(path("first.mdx", None), "first");
    }

    #[test]
    fn pages_are_published_where_their_generator_puts_them() {
        use Generator::{Docusaurus, Hugo, Jekyll, MdBook, MkDocs, Sphinx, Starlight, VitePress};
        let none = || Value::Object(Map::new());
        for (generator, path, own, matter, expected) in [
            (Docusaurus, "01-basics/02-first.md", None, none(), "basics/first"),
            (Docusaurus, "basics/basics.md", None, none(), "basics"),
            (Docusaurus, "a/2024-notes.md", None, none(), "a/notes"),
            (Docusaurus, "a/7.0-notes.md", None, none(), "a/7.0-notes"),
            (Docusaurus, "a/b.md", Some("/begin"), none(), "begin"),
            (Docusaurus, "a/b.md", Some("begin"), none(), "a/begin"),
            (Docusaurus, "a/b.md", None, serde_json::json!({"id": "c"}), "a/c"),
            (VitePress, "guide/index.md", None, none(), "guide"),
            (VitePress, "01-x.md", None, none(), "01-x"),
            (MdBook, "ch01/README.md", None, none(), "ch01"),
            (MkDocs, "guide/README.md", None, none(), "guide"),
            (Sphinx, "guide/readme.rst", None, none(), "guide/readme"),
            (Hugo, "Docs/_index.md", None, none(), "docs"),
            (Hugo, "docs/a.md", Some("b"), none(), "docs/b"),
            (Hugo, "docs/a.md", None, serde_json::json!({"url": "/x/y/"}), "x/y"),
            (
                Jekyll,
                "docs/a.md",
                None,
                serde_json::json!({"permalink": "/x/y.html"}),
                "x/y",
            ),
            (Jekyll, "_posts/2024-03-01-news.md", None, none(), "2024/03/01/news"),
            (Jekyll, "_docs/a.md", None, none(), "docs/a"),
            (Starlight, "Guides/My Page.mdx", None, none(), "guides/my-page"),
            (Starlight, "guides/(intro)/a.mdx", None, none(), "guides/a"),
        ] {
            assert_eq!(route(generator, path, own, matter), expected, "{generator} {path}");
        }
    }
}

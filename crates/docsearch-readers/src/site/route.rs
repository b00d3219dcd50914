//! From the path of a source file to the path of its page.

use std::path::Path;

use percent_encoding::{AsciiSet, CONTROLS};
use serde_json::{Map, Value};

use super::generator::{Generator, Routes};
use super::published::Route;
use crate::file::slug;

/// Characters that are percent-encoded in the path of a URL.
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

/// The route of the page at `relative`, whose front matter has the slug `slug` and the keys `matter`.
pub(super) fn of(
    generator: Option<&Generator>,
    relative: &Path,
    slug: Option<&str>,
    matter: &Map<String, Value>,
) -> Route {
    let routes = generator.map_or(&Routes::DEFAULT, |generator| &generator.routes);
    if let Some(path) = (routes.path)(slug, matter) {
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
    (routes.rewrite)(&mut segments);
    let mut last = segments.pop().unwrap_or_default();
    segments.retain(|segment| !is_group(segment));
    let folder = segments.last().map(|folder| folder.to_lowercase());
    let mut is_folder = (routes.is_folder_page)(&last.to_lowercase(), folder.as_deref());
    if let Some(name) = (routes.name)(slug, matter) {
        last = name.to_owned();
        is_folder = false;
    }
    if !is_folder {
        segments.push(last);
    }
    let mut path = segments.join("/");
    if routes.is_lower_case {
        path = path.to_lowercase().replace(' ', "-");
    }
    Route { path, is_folder }
}

/// A folder that groups pages and is not part of their URLs.
fn is_group(segment: &str) -> bool {
    segment.len() > 2 && segment.starts_with('(') && segment.ends_with(')')
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::site::GENERATORS;

    fn route(generator: &str, path: &str, own: Option<&str>, matter: Value) -> String {
        let Value::Object(matter) = matter else { panic!() };
        let generator = GENERATORS.into_iter().find(|known| known.name == generator);
        of(generator, Path::new(path), own, &matter).path
    }

    #[test]
    fn each_generator_has_its_routes() {
        let none = || Value::Object(Map::new());
        for (generator, path, own, matter, expected) in [
            ("Docusaurus", "01-basics/02-first.md", None, none(), "basics/first"),
            ("Docusaurus", "basics/basics.md", None, none(), "basics"),
            ("Docusaurus", "a/2024-notes.md", None, none(), "a/notes"),
            ("Docusaurus", "a/7.0-notes.md", None, none(), "a/7.0-notes"),
            ("Docusaurus", "a/b.md", Some("/begin"), none(), "begin"),
            ("Docusaurus", "a/b.md", Some("begin"), none(), "a/begin"),
            ("Docusaurus", "a/b.md", None, serde_json::json!({"id": "c"}), "a/c"),
            ("VitePress", "guide/index.md", None, none(), "guide"),
            ("VitePress", "01-x.md", None, none(), "01-x"),
            ("mdBook", "ch01/README.md", None, none(), "ch01"),
            ("MkDocs", "guide/README.md", None, none(), "guide"),
            ("Sphinx", "guide/readme.rst", None, none(), "guide/readme"),
            ("Hugo", "Docs/_index.md", None, none(), "docs"),
            ("Hugo", "docs/a.md", Some("b"), none(), "docs/b"),
            ("Hugo", "docs/a.md", None, serde_json::json!({"url": "/x/y/"}), "x/y"),
            (
                "Jekyll",
                "docs/a.md",
                None,
                serde_json::json!({"permalink": "/x/y.html"}),
                "x/y",
            ),
            ("Jekyll", "_posts/2024-03-01-news.md", None, none(), "2024/03/01/news"),
            ("Jekyll", "_docs/a.md", None, none(), "docs/a"),
            ("Starlight", "Guides/My Page.mdx", None, none(), "guides/my-page"),
            ("Starlight", "guides/(intro)/a.mdx", None, none(), "guides/a"),
        ] {
            assert_eq!(route(generator, path, own, matter), expected, "{generator} {path}");
        }
    }
}

//! Docusaurus.

use std::path::{Component, Path};

use serde_json::Value;

use super::{Generator, Routes};
use crate::file::slug;
use crate::site::configuration::{first_of, is_url, join, scalar};
use crate::site::published::{Route, dated};
use crate::site::{Extensions, Site};

pub(crate) static GENERATOR: Generator = Generator {
    configuration: Some(configuration),
    extensions: Extensions {
        mdx: true,
        liquid: false,
    },
    routes: Routes {
        path: |slug, _| slug.filter(|slug| slug.starts_with('/')),
        rewrite: |segments| {
            for segment in segments {
                *segment = without_number(segment).to_owned();
            }
        },
        is_folder_page: |name, parent| slug::is_folder_page(name) || parent == Some(name),
        name: |slug, matter| slug.or_else(|| matter.get("id").and_then(Value::as_str).map(str::trim)),
        post: Some(post),
        ..Routes::DEFAULT
    },
    part_folders: &["_partials", "_snippets"],
    is_part_folder: |name| name.starts_with('_'),
    containers: &[".theme-doc-markdown"],
    noise: &[
        ".hash-link",
        ".theme-doc-breadcrumbs",
        ".pagination-nav",
        ".theme-edit-this-page",
        ".theme-doc-footer",
        ".theme-last-updated",
        ".theme-doc-toc-mobile",
        ".table-of-contents",
    ],
    admonition_titles: &[".admonition-heading", ".admonitionHeading"],
    ..Generator::new("Docusaurus")
};

fn configuration(folder: &Path, pages: &Path) -> Option<Site> {
    let text = first_of(
        folder,
        &[
            "docusaurus.config.js",
            "docusaurus.config.ts",
            "docusaurus.config.mjs",
            "docusaurus.config.cjs",
        ],
    )?;
    let route = scalar(&text, "routeBasePath").unwrap_or_else(|| "docs".to_owned());
    let below = pages.strip_prefix(folder).ok()?;
    let mut parts = below.components().filter_map(|part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    });
    let docs = scalar(&text, "path").unwrap_or_else(|| "docs".to_owned());
    let (content, route) = match parts.next()? {
        first if docs.trim_matches('/').split('/').next() == Some(first) => {
            (folder.join(docs.trim_matches('/')), route)
        }
        "versioned_docs" => {
            let version = parts.next()?;
            let number = version.strip_prefix("version-").unwrap_or(version);
            (folder.join("versioned_docs").join(version), format!("{route}/{number}"))
        }
        "blog" => (folder.join("blog"), "blog".to_owned()),
        "src" if parts.next() == Some("pages") => (folder.join("src/pages"), String::new()),
        _ => return None,
    };
    let is_blog = route.trim_matches('/') == "blog";
    let base = scalar(&text, "url").filter(|url| is_url(url)).map(|url| {
        let below = scalar(&text, "baseUrl").unwrap_or_default();
        join(&url, &below)
    });
    let slashed = scalar(&text, "trailingSlash").as_deref() == Some("true");
    Some(Site {
        generator: Some(&GENERATOR),
        content,
        route: route.trim_matches('/').to_owned(),
        base,
        is_blog,
        suffix: Some(if slashed { "/" } else { "" }.to_owned()),
        ..Site::default()
    })
}

/// The route of a post in the blog of Docusaurus.
fn post(relative: &Path, own: Option<&str>) -> Route {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn posts_are_published_by_date_or_slug() {
        let path = |path: &str, slug: Option<&str>| post(Path::new(path), slug).path;
        assert_eq!(path("2021-08-26-welcome/index.md", None), "2021/08/26/welcome");
        assert_eq!(path("2021-08-26-welcome/index.md", Some("welcome")), "welcome");
        assert_eq!(path("first.mdx", None), "first");
    }
}

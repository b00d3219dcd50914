//! mdBook.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{BuiltPage, Generator, InclusionSyntax};
use crate::site::Site;
use crate::site::configuration::{first_of, inside, is_url, join, scalar, text_of};

pub(crate) static GENERATOR: Generator = Generator {
    configuration: Some(configuration),
    inclusion: Some(InclusionSyntax {
        marks: &["{{#"],
        text_command: Some("{{#include "),
        code_commands: &["{{#rustdoc_include ", "{{#playground ", "{{#playpen "],
        part: Some(("ANCHOR:", "ANCHOR_END:", "ANCHOR")),
        ..InclusionSyntax::DEFAULT
    }),
    noise: &[
        "sup.footnote-reference",
        "a[href^='#fr-']",
        ".boring",
        ".clip-button",
        "#menu-bar",
        "#mdbook-menu-bar",
        ".nav-wrapper",
        ".nav-wide-wrapper",
        ".mobile-nav-chapters",
    ],
    exclusion,
    ..Generator::new("mdBook")
};

fn configuration(folder: &Path, _pages: &Path) -> Option<Site> {
    let text = first_of(folder, &["book.toml"])?;
    let source = scalar(&text, "src").unwrap_or_else(|| "src".to_owned());
    let content = inside(folder, &source);
    let summary = text_of(&content.join("SUMMARY.md"));
    Some(Site {
        generator: Some(&GENERATOR),
        base: scalar(&text, "site-url")
            .filter(|url| is_url(url))
            .map(|url| join(&url, "")),
        suffix: Some(".html".to_owned()),
        listed: summary.map(|summary| Arc::new(listed(&summary))),
        content,
        ..Site::default()
    })
}

/// The pages that a table of contents links to.
fn listed(summary: &str) -> Vec<PathBuf> {
    let targets = summary.match_indices("](").filter_map(|(at, mark)| {
        let target = summary[at + mark.len()..].split(')').next()?.trim();
        let target = target.trim_matches(['<', '>']).split(['#', '?']).next()?;
        let path = target.strip_prefix("./").unwrap_or(target);
        let decoded = percent_encoding::percent_decode_str(path).decode_utf8_lossy();
        (!path.is_empty()).then(|| PathBuf::from(decoded.as_ref()))
    });
    targets.collect()
}

fn exclusion(page: &BuiltPage<'_>) -> Option<&'static str> {
    let is_book = || page.has("script[src$='book.js'], script[src*='/book-'], script[src^='book-']");
    (matches!(page.stem, "print" | "toc") && is_book()).then_some("all pages in one")
}

//! Fuzz targets for what sites send to a crawler.

use std::time::SystemTime;

use docsearch_fuzz::{Format, Target, text};
use url::Url;

use super::page::{self, Hints};
use super::robots::Robots;
use super::scope::{Reach, Scope};
use super::{fetch, sitemap};

pub(crate) const TARGETS: &[Target] = &[
    Target::new("cli-robots", Format::ROBOTS, robots),
    Target::new("cli-sitemap", Format::SITEMAP, sitemaps),
    Target::new("cli-links", Format::HTML, links),
    Target::new("cli-markdown-links", Format::MARKDOWN, markdown_links),
    Target::new("cli-headers", Format::LINES, headers),
    Target::new("cli-addresses", Format::LINES, addresses),
];

fn robots(input: &[u8]) {
    let robots = Robots::parse(input);
    assert_eq!(robots, Robots::parse(input));
    let text = text(input);
    for path in ["/", "/private/a.html", "/%2f%2F", &"/a".repeat(500)]
        .into_iter()
        .chain(text.lines().take(5))
    {
        robots.allows(path);
    }
}

fn sitemaps(input: &[u8]) {
    let mut limits = sitemap::SitemapLimits::default();
    if let Ok(sitemap::Sitemap::Pages(listed) | sitemap::Sitemap::Index(listed)) = sitemap::read(input, &mut limits)
        && !input.starts_with(&[0x1f, 0x8b])
    {
        let size: usize = listed.iter().map(|listed| listed.url.len()).sum();
        assert!(size <= 3 * input.len());
    }
    sitemap::lines(&text(input)).count();
}

fn links(input: &[u8]) {
    let hints = Hints::read(input, Some("text/html"), "/a/b");
    assert!(hints.links.iter().map(String::len).sum::<usize>() <= 4 * input.len() + 64);
}

fn markdown_links(input: &[u8]) {
    Hints::read(input, Some("text/markdown"), "/a/b.md");
}

fn headers(input: &[u8]) {
    let mut hints = Hints::default();
    for line in text(input).lines().take(50) {
        hints.add_header(line);
        fetch::retry_after(line, SystemTime::UNIX_EPOCH);
        page::is_page(Some(line), line);
        page::is_file(line);
    }
}

fn addresses(input: &[u8]) {
    let base = Url::parse("https://docs.example.test/guide/start").expect("an address");
    let starts = std::slice::from_ref(&base);
    let scope = Scope::new(starts, Reach::Path, &[], &["**/private/**".to_owned()], true).expect("a scope");
    for line in text(input).lines().take(50) {
        for address in [scope.parse(line), scope.resolve(&base, line)].into_iter().flatten() {
            assert!(matches!(address.scheme(), "http" | "https"));
            scope.contains(&address);
            let again = scope.parse(address.as_str()).expect("a normalized address");
            assert_eq!(again, address, "normalized twice");
        }
    }
}

//! Checks whether links within a documentation lead to existing pages and sections.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::LazyLock;

use docsearch_core::documents::markdown::lead_paragraph;
use docsearch_core::documents::outline::Outline;
use docsearch_readers::document::Document;
use docsearch_readers::file::slug;
use docsearch_readers::{detection, file};
use percent_encoding::percent_decode_str;
use pulldown_cmark::{Event, Options, Parser, Tag};
use serde_json::{Value, json};
use url::Url;

/// Suffixes of links to pages, added by the site or the author.
static PAGE_SUFFIXES: LazyLock<Vec<String>> = LazyLock::new(detection::page_suffixes);
/// Prefixes of links relative to the top of the sources.
const TOPS: [&str; 3] = ["@site/", "@/", "~/"];

/// The pages of a run and their links.
#[derive(Debug, Default)]
pub(crate) struct LinkCheck {
    pages: Vec<CheckedPage>,
    by_path: HashMap<String, usize>,
}

#[derive(Debug)]
struct CheckedPage {
    document: Document,
    links: Vec<String>,
    code_blocks: usize,
}

/// A broken link.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BrokenLink {
    pub(crate) source_path: String,
    pub(crate) link: String,
    pub(crate) reason: &'static str,
}

/// The target of a link.
enum LinkTarget {
    Page(usize),
    /// Another file, or a page that is left out.
    File,
    /// Outside of the documentation.
    External,
    Missing,
}

impl LinkCheck {
    pub(crate) fn add(&mut self, document: Document) {
        let number = self.pages.len();
        let path = document.source_path.clone().unwrap_or_default();
        let url = document.source_urls.first().and_then(|url| Url::parse(url).ok());
        let mut paths = vec![without_suffix(&path).to_owned(), document.slug.clone()];
        if let Some(url) = &url {
            paths.push(path_of_url(url));
        }
        for path in paths {
            let path = path.trim_matches('/').to_owned();
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
            if slug::is_folder_page(name) {
                self.by_path.entry(folder.to_owned()).or_insert(number);
            }
            self.by_path.entry(path).or_insert(number);
        }
        let (links, code_blocks) = links(&document.body);
        self.pages.push(CheckedPage {
            document,
            links,
            code_blocks,
        });
    }

    pub(crate) fn len(&self) -> usize {
        self.pages.len()
    }

    /// The pages as JSON events.
    pub(crate) fn pages(&self) -> impl Iterator<Item = Value> {
        self.pages.iter().map(|page| {
            let document = &page.document;
            let outline = Outline::new(&document.body);
            let sections = outline.sections().iter().filter(|section| section.level > 0);
            let anchors: Vec<&str> = sections.map(|section| &*section.anchor).collect();
            json!({
                "event": "page",
                "slug": document.slug,
                "title": document.title,
                "url": document.source_urls.first(),
                "source_path": document.source_path,
                "anchors": anchors,
                "targets": document.anchors,
                "code_blocks": page.code_blocks,
                "summary": document.summary.clone().or_else(|| lead_paragraph(&document.body)),
            })
        })
    }

    /// The number of links within the documentation, and the broken ones. `exists` returns whether there is a file at a
    /// path below the folder.
    pub(crate) fn run(&self, exists: impl Fn(&str) -> bool) -> (usize, Vec<BrokenLink>) {
        let mut outlines: HashMap<usize, Outline<'_>> = HashMap::new();
        let (mut count, mut broken) = (0, Vec::new());
        for (number, page) in self.pages.iter().enumerate() {
            for link in &page.links {
                let (target, fragment) = link.split_once('#').unwrap_or((link, ""));
                let target = match target {
                    "" => LinkTarget::Page(number),
                    _ => self.find(page, target, &exists),
                };
                let reason = match target {
                    LinkTarget::External => continue,
                    LinkTarget::Missing => Some("no such page"),
                    LinkTarget::File => None,
                    LinkTarget::Page(found) => {
                        let document = &self.pages[found].document;
                        let outline = outlines.entry(found).or_insert_with(|| Outline::new(&document.body));
                        (!has_section(outline, &document.anchors, fragment)).then_some("no such section")
                    }
                };
                count += 1;
                broken.extend(reason.map(|reason| BrokenLink {
                    source_path: page.document.source_path.clone().unwrap_or_default(),
                    link: link.clone(),
                    reason,
                }));
            }
        }
        (count, broken)
    }

    fn find(&self, page: &CheckedPage, target: &str, exists: &impl Fn(&str) -> bool) -> LinkTarget {
        let document = &page.document;
        let own_url = document.source_urls.first().and_then(|url| Url::parse(url).ok());
        if is_address(target) {
            let inside = Url::parse(target)
                .ok()
                .zip(own_url)
                .filter(|(url, own)| url.host() == own.host());
            let found = inside.and_then(|(url, _)| self.page_at(&path_of_url(&url)));
            return found.map_or(LinkTarget::External, LinkTarget::Page);
        }
        let target = target.split('?').next().unwrap_or_default();
        let target = percent_decode_str(target).decode_utf8_lossy();
        let path = document.source_path.as_deref().unwrap_or_default();
        let mut candidates: Vec<Option<String>> = Vec::new();
        if let Some(rest) = TOPS.iter().find_map(|top| target.strip_prefix(top)) {
            // The top is above the folder that is indexed.
            let mut tail = Some(rest);
            while let Some(rest) = tail {
                candidates.push(Some(rest.to_owned()));
                tail = rest.split_once('/').map(|(_, tail)| tail);
            }
        } else if let Some(absolute) = target.strip_prefix('/') {
            candidates.push(Some(absolute.to_owned()));
            // Without the URL of the page, leading segments may belong to the path of the site.
            let mut tail = absolute;
            while let (None, Some((_, rest))) = (&own_url, tail.split_once('/')) {
                candidates.push(Some(rest.to_owned()));
                tail = rest;
            }
        } else {
            let url_path = own_url.as_ref().map(path_of_url);
            candidates.push(join(folder_of(path), &target));
            // Browsers resolve it against the URL of the page or of its folder.
            for own in [Some(document.slug.as_str()), url_path.as_deref()]
                .into_iter()
                .flatten()
            {
                candidates.push(join(folder_of(own), &target));
                candidates.push(join(own, &target));
            }
        }
        let leaves = candidates.iter().any(Option::is_none);
        let candidates: Vec<String> = candidates.into_iter().flatten().collect();
        if let Some(found) = candidates.iter().find_map(|candidate| self.page_at(candidate)) {
            return LinkTarget::Page(found);
        }
        let is_file = |candidate: &String| {
            let endings = PAGE_SUFFIXES.iter().map(|suffix| format!("{candidate}{suffix}"));
            let sources = PAGE_SUFFIXES
                .iter()
                .map(|suffix| format!("{}{suffix}", without_suffix(candidate)));
            !candidate.is_empty() && (exists(candidate) || endings.chain(sources).any(|path| exists(&path)))
        };
        match candidates.iter().any(is_file) {
            true => LinkTarget::File,
            false if leaves || target.starts_with('/') && own_url.is_none() && !looks_like_page(&target) => {
                LinkTarget::External
            }
            false => LinkTarget::Missing,
        }
    }

    fn page_at(&self, path: &str) -> Option<usize> {
        let path = path.trim_matches('/');
        let known = |path: &str| self.by_path.get(path).copied();
        known(path).or_else(|| known(without_suffix(path)))
    }
}

fn looks_like_page(target: &str) -> bool {
    detection::is_documentation(Path::new(target)) || !target.rsplit('/').next().unwrap_or_default().contains('.')
}

fn has_section(outline: &Outline<'_>, anchors: &BTreeMap<String, String>, fragment: &str) -> bool {
    // The top of the page, or a text fragment (`:~:text=`).
    let fragment = fragment.split(":~:").next().unwrap_or_default();
    fragment.is_empty()
        || fragment == "top"
        || outline
            .find_with(fragment, |name| anchors.get(name).map(String::as_str))
            .is_some()
}

/// The path of a URL without suffix and `/index`.
fn path_of_url(url: &Url) -> String {
    let path = percent_decode_str(url.path()).decode_utf8_lossy();
    let path = without_suffix(&path);
    path.trim_matches('/').trim_end_matches("/index").to_owned()
}

fn without_suffix(path: &str) -> &str {
    PAGE_SUFFIXES
        .iter()
        .find_map(|suffix| path.strip_suffix(suffix.as_str()))
        .unwrap_or(path)
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// `relative` below `folder`; `None` if it leads out of the sources.
fn join(folder: &str, relative: &str) -> Option<String> {
    let path = file::inside(Path::new(folder), Path::new(relative))?;
    Some(path.to_string_lossy().into_owned())
}

fn is_address(target: &str) -> bool {
    let scheme = target.split_once(':').map(|(scheme, _)| scheme);
    target.starts_with("//")
        || scheme.is_some_and(|scheme| {
            scheme.starts_with(|first: char| first.is_ascii_alphabetic())
                && scheme
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
        })
}

/// The link targets of a text, and its number of code blocks. Links with template syntax are left out.
fn links(markdown: &str) -> (Vec<String>, usize) {
    let (mut links, mut code_blocks) = (Vec::new(), 0);
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Link { dest_url, .. }) => links.push(dest_url.into_string()),
            Event::Start(Tag::CodeBlock(_)) => code_blocks += 1,
            _ => {}
        }
    }
    links.retain(|link| !link.is_empty() && !["{{", "{%", "${", "<"].iter().any(|mark| link.contains(mark)));
    (links, code_blocks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(path: &str, slug: &str, url: Option<&str>, body: &str) -> Document {
        Document {
            slug: slug.to_owned(),
            body: body.to_owned(),
            source_path: Some(path.to_owned()),
            source_urls: url.into_iter().map(str::to_owned).collect(),
            ..Document::default()
        }
    }

    fn broken(links: &[&str]) -> Vec<String> {
        let mut check = LinkCheck::default();
        let text: String = links.iter().map(|link| format!("[a](<{link}>)\n")).collect();
        let body = format!("# Here\n\n{text}");
        check.add(page(
            "guide/here.md",
            "guide/here",
            Some("https://a.test/kit/guide/here.html"),
            &body,
        ));
        let mut other = page(
            "guide/02-other.md",
            "guide/other",
            Some("https://a.test/kit/guide/other.html"),
            "## One two {#x.y}\n",
        );
        other.anchors.insert("old".to_owned(), "x.y".to_owned());
        check.add(other);
        check.add(page("api/index.md", "api", None, "# API\n"));
        let (count, broken) = check.run(|path| path == "guide/logo.png" || path == "guide/_part.md");
        assert!(count <= links.len());
        broken
            .into_iter()
            .map(|broken| format!("{} {}", broken.link, broken.reason))
            .collect()
    }

    #[test]
    fn links_lead_to_pages_by_path_slug_and_address() {
        let good = [
            "02-other.md",
            "./02-other.md#x.y",
            "other#One-Two",
            "other.html#old",
            "../guide/other/",
            "/kit/guide/other#x.y",
            "https://a.test/kit/guide/other.html#xy",
            "../api/",
            "/api/index.html",
            "@site/docs/guide/02-other.md",
            "#here",
            "#",
            "logo.png",
            "_part.md",
            "https://b.test/nothing",
            "mailto:a@b.test",
            "../../outside.md",
            "{{ base }}/x",
        ];
        assert_eq!(broken(&good), [""; 0]);
    }

    #[test]
    fn broken_links_are_reported_with_the_reason() {
        assert_eq!(
            broken(&["missing.md", "#nowhere", "02-other.md#z", "/kit/none"]),
            [
                "missing.md no such page",
                "#nowhere no such section",
                "02-other.md#z no such section",
                "/kit/none no such page"
            ]
        );
    }

    #[test]
    fn pages_have_anchors_code_blocks_and_a_summary() {
        let mut check = LinkCheck::default();
        check.add(page("a.md", "a", None, "# A {#b}\n\nWhat it does.\n\n```\nx\n```\n"));
        let page = check.pages().next().unwrap();
        assert_eq!(page["anchors"], json!(["b"]));
        assert_eq!(
            (&page["code_blocks"], &page["summary"]),
            (&json!(1), &json!("What it does."))
        );
    }
}

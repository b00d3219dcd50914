//! What the pages of a site share: navigation, headers, footers, the ends of titles. Shared text is not content of a
//! page.

use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::sync::Arc;

use dom_query::{Document, NodeRef};

use super::measure::Measure;
use super::section_form::SectionForms;
use super::{collapse, head, heading, tree};
use crate::bytes::encoding;
use crate::file::{self, Links};
use crate::folder::per_folder::PerFolder;
use crate::formats::format::Files;

/// Maximum pages that are compared.
const MAX_SAMPLES: usize = 16;
/// Minimum pages; fewer are not representative.
const MIN_SAMPLES: usize = 3;
const MAX_SAMPLE_BYTES: u64 = 512 << 10;
/// Maximum length of a block of the frame.
const MAX_BLOCK_CHARACTERS: usize = 20_000;
/// Minimum percentage of the sample that has a block of the frame: some pages differ, such as the first one.
const MIN_SHARE_PERCENT: usize = 60;
/// Minimum percentage of a block that is links. Before the first heading, such a block is navigation.
const MIN_LINK_PERCENT: usize = 60;
/// Elements that contain others and are not blocks of text.
const CONTAINERS: [&str; 17] = [
    "body", "div", "section", "center", "form", "header", "aside", "table", "tbody", "thead", "tr", "td", "font",
    "span", "article", "main", "hr",
];

/// The frame of no pages removes nothing.
#[derive(Debug, Default)]
pub(crate) struct Frame {
    blocks: HashSet<u64>,
    title_ending: String,
    titles: HashSet<String>,
    keywords: HashSet<String>,
    /// Whether most pages have `noindex`: then it was meant for a build, not for a page.
    pub(super) is_hidden: bool,
}

impl Frame {
    /// That of a book: it has no navigation, and what it asks of search engines does not count.
    pub(crate) fn of_book() -> Self {
        Self {
            is_hidden: true,
            ..Self::default()
        }
    }

    fn of(pages: &[String]) -> Self {
        let mut seen: HashMap<u64, usize> = HashMap::new();
        let (mut titles, mut keywords) = (Vec::new(), HashMap::<String, usize>::new());
        let (mut read, mut hidden) = (0, 0);
        for text in pages {
            let Ok(page) = tree::parse(text) else { continue };
            read += 1;
            hidden += usize::from(head::is_hidden(&page));
            titles.push(collapse(&page.select_single("head title").text()));
            for keyword in head::read(&page).keywords.into_iter().collect::<HashSet<_>>() {
                *keywords.entry(keyword).or_default() += 1;
            }
            for block in blocks(&page) {
                *seen.entry(block).or_default() += 1;
            }
        }
        if read < MIN_SAMPLES {
            return Self::default();
        }
        let is_shared = |count: usize| count * 100 >= read * MIN_SHARE_PERCENT;
        let mut frequent: HashMap<&String, usize> = HashMap::new();
        for title in &titles {
            *frequent.entry(title).or_default() += 1;
        }
        Self {
            blocks: seen
                .into_iter()
                .filter(|(_, count)| is_shared(*count))
                .map(|(block, _)| block)
                .collect(),
            title_ending: shared_ending(&titles),
            titles: frequent
                .into_iter()
                .filter(|(_, count)| *count > 1)
                .map(|(title, _)| title.clone())
                .collect(),
            keywords: keywords
                .into_iter()
                .filter(|(_, count)| is_shared(*count))
                .map(|(keyword, _)| keyword)
                .collect(),
            is_hidden: is_shared(hidden),
        }
    }

    /// The title of a page without the name of the site; `None` if other pages have it, too.
    pub(super) fn own_title(&self, full: &str) -> Option<String> {
        if self.titles.contains(full) {
            return None;
        }
        let own = full.strip_suffix(self.title_ending.as_str()).unwrap_or(full).trim();
        (!own.is_empty()).then(|| own.to_owned())
    }

    pub(super) fn is_own_keyword(&self, keyword: &str) -> bool {
        !self.keywords.contains(keyword)
    }

    /// Removes the frame from `body`: before its first own heading, shared blocks and navigation; at its end, shared
    /// blocks, other than those of sections like its own.
    pub(super) fn remove(&self, body: &NodeRef<'_>) {
        let mut blocks = Vec::new();
        self.collect(body, &mut blocks);
        let is_own = |block: &Block<'_>| !block.is_shared && !block.leads_elsewhere;
        let first = blocks
            .iter()
            .position(|block| !block.is_shared && heading::level(&block.node).is_some())
            .or_else(|| blocks.iter().position(is_own))
            // A page of links is a list of pages.
            .or_else(|| blocks.iter().position(|block| !block.is_shared))
            .unwrap_or(blocks.len());
        let last = blocks.iter().rposition(|block| !block.is_shared).unwrap_or(0);
        let sections = SectionForms::of(
            blocks
                .get(first..=last)
                .unwrap_or_default()
                .iter()
                .map(|block| &block.node),
        );
        let mut section = None;
        for (at, block) in blocks.iter().enumerate() {
            let is_text = match at {
                _ if at < first => is_own(block),
                _ if at > last => {
                    section = sections.section(&block.node).or(section);
                    section.as_ref().is_some_and(|section| section.has(&block.node))
                }
                _ => true,
            };
            if !is_text {
                block.node.remove_from_parent();
            }
        }
    }

    /// Removes the frame before the text of a container, which may have the navigation in it. A heading that many pages
    /// have is that of their own text.
    pub(super) fn remove_start(&self, container: &NodeRef<'_>) {
        let mut shared = Vec::new();
        if self.collect_start(container, &mut shared) {
            return;
        }
        let last = shared.iter().rposition(|block| heading::level(block).is_none());
        let frame = shared.iter().take(last.map_or(0, |last| last + 1));
        frame.for_each(NodeRef::remove_from_parent);
    }

    /// Collects the blocks of the frame up to the first other text. Whether there is none.
    fn collect_start<'a>(&self, node: &NodeRef<'a>, shared: &mut Vec<NodeRef<'a>>) -> bool {
        if !self.may_be_inside(node) {
            return false;
        }
        node.children_it(false).filter(NodeRef::is_element).all(|child| {
            if self.has(&child) {
                shared.push(child);
                return true;
            }
            child.text().trim().is_empty() || self.collect_start(&child, shared)
        })
    }

    /// Whether `node` is a block that most pages of the site have.
    pub(super) fn has(&self, node: &NodeRef<'_>) -> bool {
        if self.blocks.is_empty() || !node.is_element() {
            return false;
        }
        let text = node.text();
        text.len() <= MAX_BLOCK_CHARACTERS && self.blocks.contains(&hash(node, &collapse(&text)))
    }

    /// Whether blocks of the frame may be among the children of `node`.
    pub(super) fn may_be_inside(&self, node: &NodeRef<'_>) -> bool {
        !self.blocks.is_empty() && is_container(node) && !has_text_of_its_own(node)
    }

    fn collect<'a>(&self, node: &NodeRef<'a>, blocks: &mut Vec<Block<'a>>) {
        for child in node.children_it(false).filter(NodeRef::is_element) {
            let text = collapse(&child.text());
            if text.is_empty() {
                continue;
            }
            let is_shared = self.blocks.contains(&hash(&child, &text));
            let leads_elsewhere = leads_elsewhere(&child, &text);
            if is_shared || leads_elsewhere || !is_container(&child) || has_text_of_its_own(&child) {
                blocks.push(Block {
                    node: child,
                    is_shared,
                    leads_elsewhere,
                });
            } else {
                self.collect(&child, blocks);
            }
        }
    }
}

struct Block<'a> {
    node: NodeRef<'a>,
    is_shared: bool,
    leads_elsewhere: bool,
}

fn is_container(node: &NodeRef<'_>) -> bool {
    CONTAINERS.iter().any(|name| node.has_name(name))
}

fn has_text_of_its_own(node: &NodeRef<'_>) -> bool {
    node.children_it(false).any(|child| child.is_nonempty_text())
}

fn leads_elsewhere(node: &NodeRef<'_>, text: &str) -> bool {
    let is_title = |node: &NodeRef<'_>| heading::level(node) == Some(1) && Measure::of(node).stays();
    if heading::level(node).is_some() || node.descendants_it().any(|inner| is_title(&inner)) {
        return false;
    }
    let linked: usize = node
        .descendants_it()
        .filter(|inner| inner.has_name("a") && inner.attr("href").is_some_and(|href| !href.starts_with('#')))
        .map(|link| collapse(&link.text()).chars().count())
        .sum();
    linked * 100 >= text.chars().count() * MIN_LINK_PERCENT
}

/// The blocks of a page, without duplicates.
fn blocks(page: &Document) -> HashSet<u64> {
    let Some(body) = page.body() else {
        return HashSet::new();
    };
    body.descendants_it()
        .filter(NodeRef::is_element)
        .filter_map(|node| {
            let text = node.text();
            if text.len() > MAX_BLOCK_CHARACTERS {
                return None;
            }
            let text = collapse(&text);
            (!text.is_empty()).then(|| hash(&node, &text))
        })
        .collect()
}

fn hash(node: &NodeRef<'_>, text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    node.node_name().as_deref().hash(&mut hasher);
    text.hash(&mut hasher);
    hasher.finish()
}

/// The common end of all titles, from the start of a word; empty if they are equal.
fn shared_ending(titles: &[String]) -> String {
    let Some(first) = titles.first() else {
        return String::new();
    };
    let length = titles.iter().fold(first.len(), |length, title| {
        let shared = first
            .bytes()
            .rev()
            .zip(title.bytes().rev())
            .take_while(|(a, b)| a == b)
            .count();
        length.min(shared)
    });
    if titles.iter().all(|title| title == first) {
        return String::new();
    }
    let start = (first.len() - length..=first.len())
        .filter(|&at| first.is_char_boundary(at))
        .find(|&at| {
            at == 0 || first[..at].ends_with(char::is_whitespace) || first[at..].starts_with(char::is_whitespace)
        });
    start.map(|at| first[at..].to_owned()).unwrap_or_default()
}

/// The frames of the folders of a run.
#[derive(Debug, Default)]
pub(super) struct Frames {
    pages: PerFolder<Frame>,
}

impl Frames {
    /// For the files that are read; each comes with its folder.
    pub(super) fn of_files(files: &Files<'_>) -> Self {
        Self {
            pages: PerFolder::new(files.iter().copied().filter(|(_, file)| super::is_named(file))),
        }
    }

    pub(super) fn of(&self, root: &Path) -> Arc<Frame> {
        self.pages.of(root, |pages| {
            let step = pages.len().div_ceil(MAX_SAMPLES).max(1);
            let samples = pages.iter().step_by(step);
            let samples: Vec<String> = samples.filter_map(|relative| page(root, relative)).collect();
            Frame::of(&samples)
        })
    }
}

/// The text of a sample; errors are reported when the file is read for indexing.
fn page(root: &Path, relative: &Path) -> Option<String> {
    let bytes = file::read(root, relative, Links::Inside, MAX_SAMPLE_BYTES + 1).ok()?;
    let is_small = bytes.len() as u64 <= MAX_SAMPLE_BYTES;
    is_small.then(|| encoding::decode_html(bytes, None).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(names: &[&str]) -> Vec<String> {
        let page = |name: &&str| {
            format!(
                "<head><title>{name} (The Kit manual)</title><meta name=keywords content='kit, {name}'></head><body>\
                 <div class=widget><h1>The Kit manual</h1><p><a href=x.html>Contents</a></p></div>\
                 <p>Next: <a href=z.html>The page after {name}</a></p><div id=immediate><h2>About {name}</h2>\
                 <p>What {name} does.</p></div><h3>See also</h3><p>Note</p><p>More of {name}.</p><p>Made by Kit.</p></body>"
            )
        };
        names.iter().map(page).collect()
    }

    fn text(frame: &Frame, html: &str) -> String {
        let page = tree::parse(html).unwrap();
        let body = page.body().unwrap();
        frame.remove(&body);
        collapse(&body.formatted_text())
    }

    #[test]
    fn shared_text_at_both_ends_is_removed_and_the_rest_stays() {
        let pages = site(&["alpha", "beta", "gamma", "delta"]);
        let frame = Frame::of(&pages);
        let expected = "About alpha What alpha does. See also Note More of alpha.";
        assert_eq!(text(&frame, &pages[0]), expected);
    }

    #[test]
    fn titles_lose_their_common_end() {
        let frame = Frame::of(&site(&["alpha", "beta", "gamma"]));
        assert_eq!(
            frame.own_title("16 Options (The Kit manual)").as_deref(),
            Some("16 Options")
        );
        assert!(!frame.is_own_keyword("kit") && frame.is_own_keyword("alpha"));
        let frame = Frame::of(&["<title>Same</title>"; 3].map(str::to_owned));
        assert_eq!(frame.own_title("Same"), None);
    }

    #[test]
    fn two_pages_say_nothing_about_a_site() {
        let pages = site(&["alpha", "beta"]);
        let frame = Frame::of(&pages);
        assert!(text(&frame, &pages[0]).contains("Made by Kit."));
        assert_eq!(
            frame.own_title("a (The Kit manual)").as_deref(),
            Some("a (The Kit manual)")
        );
    }

    #[test]
    fn navigation_in_the_container_of_the_text_is_removed() {
        let page = |name: &&str| {
            format!(
                "<body><header><h1>Kit 2.0</h1><ul><li>Pages</li></ul></header><div id=content><div>Kit: files, paths</div>\
                 <h2>Name</h2><p>{name}: what it is. It is read from the first page to the last.</p><h2>Use</h2></div></body>"
            )
        };
        let pages: Vec<String> = ["files", "paths", "rows"].iter().map(page).collect();
        let frame = Frame::of(&pages);
        let body = |frame| {
            let draft = super::super::read(Path::new("a.html"), &pages[0], None, frame).unwrap();
            crate::text::target::take(&draft.body).0
        };
        let text = "## Name\n\nfiles: what it is. It is read from the first page to the last.\n\n## Use\n";
        assert_eq!(body(&frame), text);
        assert_eq!(
            body(&Frame::default()),
            format!("# Kit 2.0\n\n- Pages\n\nKit: files, paths\n\n{text}")
        );
    }

    /// Pages with these blocks around a section of their own.
    fn pages(before: &str, after: &str) -> Vec<String> {
        let page = |name: &&str| {
            let own = before.replace("NAME", name);
            format!("<head><title>{name}</title></head><body>{own}{after}</body>")
        };
        ["alpha", "beta", "gamma", "delta"].iter().map(page).collect()
    }

    #[test]
    fn a_section_that_all_pages_have_is_text_and_their_footer_is_not() {
        let footer = "<div id=footer class=foot><h2>Links</h2><p>Made by Kit.</p></div>";
        for (before, after) in [
            (
                "<h1>NAME</h1><div id=content><div class=sect1><h2>Name</h2><div><p>What NAME does.</p></div></div>",
                "<div class=sect1><h2>Suite</h2><div><p>Part of Kit</p></div></div></div>",
            ),
            (
                "<div id=content><h1>NAME</h1><h2>Name</h2><p>What NAME does.</p>",
                "<h2>Suite</h2><p>Part of Kit</p></div>",
            ),
            (
                "<section><h1>NAME</h1><section><h2>Use</h2><p>What NAME does.</p></section>",
                "<section><h2>Suite</h2><p>Part of Kit</p></section></section>",
            ),
        ] {
            let pages = pages(before, &format!("{after}{footer}"));
            let shown = text(&Frame::of(&pages), &pages[0]);
            assert!(shown.ends_with("What alpha does. Suite Part of Kit"), "{shown}");
        }
        let pages = pages("<div><h2>NAME</h2><p>What NAME does.</p></div>", footer);
        assert_eq!(text(&Frame::of(&pages), &pages[0]), "alpha What alpha does.");
    }

    #[test]
    fn a_page_of_links_is_a_list_of_pages() {
        let page =
            "<body><div><h2>Acronyms</h2> <p>CSV: <a href=http://a.test/csv>comma-separated values</a></p></div>";
        assert_eq!(text(&Frame::default(), page), "Acronyms CSV: comma-separated values");
    }
}

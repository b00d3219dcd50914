//! Finds the main content of a page.

use std::collections::HashSet;

use dom_query::{Document, NodeId, NodeRef, Selection};

use super::frame::Frame;
use super::measure::Measure;
use super::vocabulary::Vocabulary;
use super::{heading, noise, repeats};
use crate::site::GENERATORS;

/// Containers of any generator. Those that contain little besides the text come first.
const CONTAINERS: [&str; 11] = [
    "main article",
    "[role='main'] article",
    "main",
    "[role='main']",
    "#main",
    "article",
    ".document .body",
    "#content",
    "#main_content",
    ".main-content",
    ".content",
];

/// Common names of menus, for pages without a container of only the text.
const MENUS: [&str; 10] = [
    ".menu",
    ".mainmenu",
    ".submenu",
    ".navbar",
    ".navigation",
    ".topbar",
    "#menu",
    "#navigation",
    ".sidebar",
    ".nosearch",
];
/// Common names of headers and footers.
const MARGINS: [&str; 6] = [
    ".masthead",
    ".site-header",
    ".site-nav",
    ".site-footer",
    "#footer",
    ".footer",
];

/// Maximum percentage of text beside a container, compared with the text in it: of the page, if the container is its
/// `main`; of the page, for other containers; of the `main` around it, all of which should be text.
const BESIDE_MAIN: usize = 100;
const BESIDE_CONTAINER: usize = 20;
const IN_MAIN: usize = 10;

/// The element with the documentation: the one that `content` selects, a known container that holds most of the page,
/// or the body without its menus and frame.
pub(super) fn find<'a>(
    page: &'a Document,
    vocabulary: &Vocabulary,
    content: Option<&str>,
    title: Option<&str>,
    frame: &Frame,
) -> NodeRef<'a> {
    let known = |node: &NodeRef<'_>| page.tree.get(&node.id).unwrap_or_else(|| page.root());
    if let Some(selector) = content
        && let Some(chosen) = page.select(selector).nodes().first()
        && has_text(chosen)
    {
        let chosen = known(chosen);
        noise::remove(&chosen, vocabulary, frame);
        return chosen;
    }
    let body = page.body().unwrap_or_else(|| page.root());
    noise::remove(&body, vocabulary, frame);
    let of_generators = GENERATORS.iter().flat_map(|generator| generator.containers).copied();
    let containers = of_generators.chain(CONTAINERS);
    for selector in containers.filter(|selector| vocabulary.may_match(selector)) {
        let found = page.select(selector);
        // Several matches are a list of articles; none is the page.
        if let [only] = found.nodes()
            && has_text(only)
            && holds_page(only, &body, title, frame)
        {
            frame.remove_start(only);
            return known(only);
        }
    }
    let all = Selection::from(body);
    if let Some(margins) = vocabulary.selector(MARGINS) {
        let margins = all.select(&margins);
        let is_section = |node: &NodeRef<'_>| node.has_name("section") || heading::level(node).is_some();
        let margins = margins.nodes().iter().filter(|margin| !is_section(margin));
        margins.for_each(NodeRef::remove_from_parent);
    }
    noise::remove_menus(&all, vocabulary, MENUS);
    frame.remove(&body);
    body
}

fn has_text(node: &NodeRef<'_>) -> bool {
    node.descendants_it().any(|inner| inner.is_nonempty_text())
}

/// Whether a container holds the title and most of the text of the page, so that what is beside it is its frame.
fn holds_page(container: &NodeRef<'_>, body: &NodeRef<'_>, title: Option<&str>, frame: &Frame) -> bool {
    let main = container.ancestors_it(None).find(is_main);
    let limit = match &main {
        Some(_) => IN_MAIN,
        None if is_main(container) => BESIDE_MAIN,
        None => BESIDE_CONTAINER,
    };
    let beside = Beside::of(container, &main.unwrap_or(*body), frame);
    if beside.has_title && !has_title(container, title) || beside.has_main {
        return false;
    }
    beside.own * 100 <= Measure::of(container).all() * limit
}

fn is_main(node: &NodeRef<'_>) -> bool {
    node.has_name("main") || node.attr("role").is_some_and(|role| &*role == "main")
}

/// Whether an element has a heading of level one, or one that repeats the title in the head.
fn has_title(container: &NodeRef<'_>, title: Option<&str>) -> bool {
    container.descendants_it().any(|inner| match heading::level(&inner) {
        Some(1) => has_text(&inner),
        Some(_) => has_text(&inner) && repeats(&inner.text(), title),
        None => false,
    })
}

/// The text beside a container that is not the frame of a site.
#[derive(Debug, Default)]
struct Beside {
    /// Characters outside links.
    own: usize,
    /// Whether it has a heading of level one that is no link to another page.
    has_title: bool,
    /// Whether it has text that the page calls its main text.
    has_main: bool,
}

impl Beside {
    fn of(container: &NodeRef<'_>, outer: &NodeRef<'_>, frame: &Frame) -> Self {
        let around: HashSet<NodeId> = container.ancestors_it(None).map(|node| node.id).collect();
        let mut beside = Self::default();
        let mut open: Vec<NodeRef<'_>> = outer.children_it(false).collect();
        while let Some(node) = open.pop() {
            if node.id == container.id || frame.has(&node) {
                continue;
            }
            if around.contains(&node.id) || frame.may_be_inside(&node) {
                open.extend(node.children_it(false));
                continue;
            }
            let is_title = |node: &NodeRef<'_>| heading::level(node) == Some(1) && Measure::of(node).stays();
            beside.own += Measure::of(&node).own;
            let is_main_text = |node: &NodeRef<'_>| is_main(node) && has_text(node);
            beside.has_main |= is_main_text(&node) || node.descendants_it().any(|inner| is_main_text(&inner));
            beside.has_title |= is_title(&node) || node.descendants_it().any(|inner| is_title(&inner));
        }
        beside
    }
}

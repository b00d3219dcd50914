//! Finds the main content of a page.

use dom_query::{Document, NodeRef};

use super::frame::Frame;
use super::vocabulary::Vocabulary;
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

/// Common names of menus and the like, for pages without a container of only the text.
const MENUS: [&str; 16] = [
    ".menu",
    ".mainmenu",
    ".submenu",
    ".navbar",
    ".navigation",
    ".nosearch",
    ".topbar",
    ".masthead",
    ".site-header",
    ".site-nav",
    ".site-footer",
    "#menu",
    "#navigation",
    "#footer",
    ".footer",
    ".sidebar",
];

/// The element with the documentation: the one that `content` selects, a known container, or the body without its menus
/// and frame.
pub(super) fn find<'a>(
    page: &'a Document,
    vocabulary: &Vocabulary,
    content: Option<&str>,
    frame: &Frame,
) -> NodeRef<'a> {
    if let Some(selector) = content
        && let Some(chosen) = page.select(selector).nodes().first()
        && has_text(chosen)
    {
        return page.tree.get(&chosen.id).unwrap_or_else(|| page.root());
    }
    let of_generators = GENERATORS.iter().flat_map(|generator| generator.containers).copied();
    let containers = of_generators.chain(CONTAINERS);
    for selector in containers.filter(|selector| vocabulary.may_match(selector)) {
        let found = page.select(selector);
        // Several matches are a list of articles; none is the page.
        if let [only] = found.nodes()
            && has_text(only)
        {
            return page.tree.get(&only.id).unwrap_or_else(|| page.root());
        }
    }
    let body = page.body().unwrap_or_else(|| page.root());
    page.select("script, style, noscript").remove();
    if let Some(menus) = vocabulary.selector(MENUS) {
        page.select(&menus).remove();
    }
    frame.remove(&body);
    body
}

fn has_text(node: &NodeRef<'_>) -> bool {
    node.descendants_it().any(|inner| inner.is_nonempty_text())
}

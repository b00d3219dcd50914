//! Where in a page the documentation is.

use dom_query::{Document, NodeRef};
use dom_smoothie::{Config, Readability};

use super::vocabulary::Vocabulary;

/// Containers, those that a generator names before those that say less. Each holds the text of the
/// page and little else.
const CONTAINERS: [&str; 26] = [
    // Docusaurus
    ".theme-doc-markdown",
    // VitePress
    ".vp-doc",
    // Starlight
    ".sl-markdown-content",
    // Material for MkDocs
    "article.md-content__inner",
    // pydata and book themes of Sphinx
    "article.bd-article",
    // Sphinx, Read the Docs
    "[itemprop='articleBody']",
    // Furo
    "article[role='main']",
    // Antora
    "article.doc",
    // Docsy
    ".td-content",
    // GitHub, ReadMe
    ".markdown-body",
    // rustdoc
    "#main-content",
    // postgresql.org
    "#docContent",
    // Doxygen
    "#doc-content",
    ".contents > .textblock",
    // Javadoc of old
    ".contentContainer",
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
/// Names that people give to what surrounds the text, where no container holds the text alone.
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
/// Share of the text of the body, in percent, that a readability guess has to keep: it throws away
/// tables and lists where a page is made of them.
const MIN_READABLE_PERCENT: usize = 60;

/// The element that holds the documentation. Where no container tells, the page is cut to what
/// looks like its text.
pub(super) fn find<'a>(page: &'a Document, vocabulary: &Vocabulary) -> NodeRef<'a> {
    for selector in CONTAINERS.into_iter().filter(|selector| vocabulary.may_match(selector)) {
        let found = page.select(selector);
        // Several of a kind are a list of articles, none of which is the page.
        if let [only] = found.nodes()
            && has_text(only)
        {
            return page.tree.get(&only.id).unwrap_or_else(|| page.root());
        }
    }
    let body = page.body().unwrap_or_else(|| page.root());
    page.select("script, style, noscript").remove();
    if let Some(menus) = vocabulary.selector(&MENUS) {
        page.select(&menus).remove();
    }
    if is_unmarked(page) {
        keep_readable(page, &body);
    }
    body
}

fn has_text(node: &NodeRef<'_>) -> bool {
    node.descendants_it().any(|inner| inner.is_nonempty_text())
}

/// Whether nothing in the page marks its navigation, which would be enough to leave it out.
fn is_unmarked(page: &Document) -> bool {
    page.select_single("nav, header, footer, [role='navigation'], .navheader")
        .is_empty()
}

fn keep_readable(page: &Document, body: &NodeRef<'_>) {
    let config = Config {
        // They tell the language of code.
        keep_classes: true,
        ..Config::default()
    };
    let Ok(mut reader) = Readability::with_document(page.clone(), None, Some(config)) else {
        return;
    };
    let Ok(article) = reader.parse() else {
        return;
    };
    let kept = article.text_content.split_whitespace().map(str::len).sum::<usize>();
    let all = body.text().split_whitespace().map(str::len).sum::<usize>();
    if kept * 100 >= all * MIN_READABLE_PERCENT {
        body.set_html(article.content);
        // Not an anchor of the page.
        page.select("[id^='readability-page']").remove_attr("id");
    }
}

//! Link targets that are not headings.

use std::collections::HashSet;
use std::path::Path;

use dom_query::{Document, NodeRef};

use super::{escape, heading};
use crate::text::target;

/// Elements that contain only other elements, no text.
const WITHOUT_TEXT: [&str; 12] = [
    "ul", "ol", "dl", "table", "thead", "tbody", "pre", "img", "hr", "figure", "menu", "br",
];

/// Makes links to the page at `path` by its name links within it.
pub(super) fn shorten_links(page: &Document, path: &Path) {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
        return;
    };
    for link in page.select("a[href*='#']").nodes() {
        let href = link.attr("href").unwrap_or_default();
        if let Some(fragment) = href.strip_prefix(name).filter(|rest| rest.starts_with('#')) {
            link.set_attr("href", fragment);
        }
    }
}

/// Leaves each id to the first element that has it, to which browsers go.
pub(super) fn remove_repeated(page: &Document) {
    let mut seen = HashSet::new();
    for node in page.select("[id]").nodes() {
        if node.id_attr().is_some_and(|id| !seen.insert(id.to_string())) {
            node.remove_attr("id");
        }
    }
}

/// Marks every element with an identifier, except headings and terms. In code, the mark is before the block.
pub(super) fn mark_all(main: &NodeRef<'_>) {
    let nodes: Vec<NodeRef<'_>> = main.descendants_it().filter(NodeRef::is_element).collect();
    for node in nodes {
        let Some(id) = node
            .id_attr()
            .or_else(|| node.attr("name").filter(|_| node.has_name("a")))
        else {
            continue;
        };
        let mark = escape(&target::mark(&id));
        let is_in_code = |node: &NodeRef<'_>| node.has_name("code") || node.has_name("pre");
        let names_section = |node: &NodeRef<'_>| heading::level(node).is_some() || node.has_name("dt");
        if mark.is_empty() || names_section(&node) {
            continue;
        }
        let around = node
            .ancestors_it(None)
            .take_while(|outer| outer.id != main.id)
            .filter(|outer| is_in_code(outer) || names_section(outer))
            .last();
        if let Some(outer) = around {
            outer.before_html(mark);
        } else if is_in_code(&node) || WITHOUT_TEXT.iter().any(|name| node.has_name(name)) {
            node.before_html(mark);
        } else if node.has_name("tr") {
            if let Some(cell) = node.first_element_child() {
                cell.prepend_html(mark);
            }
        } else {
            node.prepend_html(mark);
        }
    }
}

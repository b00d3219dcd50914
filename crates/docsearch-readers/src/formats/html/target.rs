//! Link targets that are not headings.

use dom_query::NodeRef;

use super::{escape, heading};
use crate::text::target;

/// Elements that contain only other elements, no text.
const WITHOUT_TEXT: [&str; 12] = [
    "ul", "ol", "dl", "table", "thead", "tbody", "pre", "img", "hr", "figure", "menu", "br",
];

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

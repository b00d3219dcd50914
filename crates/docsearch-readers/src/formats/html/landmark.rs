//! Headers and footers. Those of the page are no text of it, those of its sections are.

use std::collections::HashMap;

use dom_query::{NodeId, NodeRef, Selection};

use super::frame::Frame;
use super::heading;
use super::measure::Measure;

/// Elements whose headers and footers are their own, not those of the page.
const SECTIONS: [&str; 11] = [
    "article",
    "aside",
    "main",
    "section",
    "blockquote",
    "figure",
    "details",
    "li",
    "dd",
    "td",
    "th",
];
const ROLES: [&str; 3] = ["main", "article", "region"];

/// Removes the header and the footer of the page, and footers of sections that only lead elsewhere. The header of the page
/// is before all headings of the text, its footer after them.
pub(super) fn remove(body: &NodeRef<'_>, frame: &Frame) {
    let landmarks = Selection::from(*body).select("header, footer");
    if landmarks.is_empty() {
        return;
    }
    let headings = headings(body);
    for landmark in landmarks.nodes() {
        let measure = Measure::of(landmark);
        let (is_after_any, is_before_any) = headings.get(&landmark.id).copied().unwrap_or_default();
        let is_text = match (landmark.has_name("header"), is_of_section(landmark)) {
            (true, true) => true,
            (true, false) => is_after_any || says_something(landmark, measure, frame),
            (false, true) => !measure.is_mostly_links(),
            (false, false) => is_before_any,
        };
        if !is_text {
            landmark.remove_from_parent();
        }
    }
}

/// Whether headings outside landmarks come before and after each landmark.
fn headings(body: &NodeRef<'_>) -> HashMap<NodeId, (bool, bool)> {
    let mut order: Vec<(NodeId, bool)> = Vec::new();
    let mut open = vec![*body];
    while let Some(node) = open.pop() {
        if node.has_name("header") || node.has_name("footer") {
            order.push((node.id, false));
        } else if heading::level(&node).is_some() {
            order.push((node.id, true));
        } else {
            open.extend(node.children_it(true));
        }
    }
    let (first, last) = (
        order.iter().position(|(_, is_heading)| *is_heading),
        order.iter().rposition(|(_, is_heading)| *is_heading),
    );
    let around = |place: usize| {
        (
            first.is_some_and(|first| first < place),
            last.is_some_and(|last| last > place),
        )
    };
    (0..).zip(&order).map(|(place, (id, _))| (*id, around(place))).collect()
}

/// Whether an element has the role of a header or footer of the page and is within its text.
pub(super) fn is_part(node: &NodeRef<'_>) -> bool {
    let role = node.attr("role").unwrap_or_default();
    matches!(&*role, "banner" | "contentinfo") && is_of_section(node)
}

fn is_of_section(landmark: &NodeRef<'_>) -> bool {
    landmark.ancestors_it(None).any(|outer| {
        SECTIONS.iter().any(|name| outer.has_name(name))
            || outer.attr("role").is_some_and(|role| ROLES.contains(&&*role))
    })
}

/// Whether a header of the page has its title, or another heading that is not a link to the first page, or prose. What
/// all pages have is the name of the site.
fn says_something(header: &NodeRef<'_>, measure: Measure, frame: &Frame) -> bool {
    header.descendants_it().any(|inner| match heading::level(&inner) {
        Some(level) => !frame.has(&inner) && (level == 1 || Measure::of(&inner).stays()),
        None => inner.has_name("p") && !measure.is_mostly_links() && Measure::of(&inner).own > 0,
    })
}

//! Controls: what they say is text of the page, unless they only act on it.

use dom_query::{NodeRef, Selection};

use super::{block, heading};

/// Elements whose buttons name what they open or what a reader has to press.
const AROUND_NAMES: [&str; 6] = ["summary", "dt", "legend", "caption", "label", "figcaption"];
/// Elements that are text if they contain more than the button.
const AROUND_TEXT: [&str; 5] = ["p", "li", "td", "th", "dd"];

/// Replaces controls by what they say.
pub(super) fn show(body: &NodeRef<'_>) {
    let body = Selection::from(*body);
    body.select("datalist").remove();
    for button in body.select("button").nodes() {
        if opens_something(button) || is_in_text(button) {
            set_apart(button);
        } else {
            button.remove_from_parent();
        }
    }
    for list in body.select("select").nodes() {
        let options: Vec<NodeRef<'_>> = list.descendants_it().filter(|inner| inner.has_name("option")).collect();
        for (place, option) in options.iter().enumerate() {
            if place > 0 {
                option.insert_before(&list.tree.new_text(", ").id);
            }
        }
        set_apart(list);
    }
    for label in body.select("label, output, meter, progress").nodes() {
        set_apart(label);
    }
    for area in body.select("textarea").nodes() {
        area.rename("pre");
    }
}

/// Whether a button shows a part of the page, as its heading does.
fn opens_something(button: &NodeRef<'_>) -> bool {
    let is_tab = button.attr("role").is_some_and(|role| &*role == "tab");
    is_tab
        || ["aria-expanded", "data-toggle", "data-bs-toggle"]
            .iter()
            .any(|name| button.has_attr(name))
}

fn is_in_text(button: &NodeRef<'_>) -> bool {
    let mut around = button.ancestors_it(None);
    let is_name =
        |outer: &NodeRef<'_>| heading::level(outer).is_some() || AROUND_NAMES.iter().any(|name| outer.has_name(name));
    around.any(|outer| is_name(&outer))
        || button
            .ancestors_it(None)
            .find(block::is_block)
            .is_some_and(|outer| AROUND_TEXT.iter().any(|name| outer.has_name(name)) && has_text_beside_buttons(&outer))
}

fn has_text_beside_buttons(outer: &NodeRef<'_>) -> bool {
    outer.descendants_it().any(|inner| {
        let mut around = inner.ancestors_it(None).take_while(|around| around.id != outer.id);
        inner.is_nonempty_text() && !around.any(|around| around.has_name("button"))
    })
}

/// Separates an inline element from the words beside it.
pub(super) fn set_apart(node: &NodeRef<'_>) {
    node.insert_before(&node.tree.new_text(" ").id);
    node.insert_after(&node.tree.new_text(" ").id);
    node.rename("span");
}

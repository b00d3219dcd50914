//! Blocks: the serializer knows few of the elements that a browser shows on lines of their own.

use dom_query::NodeRef;

use super::{collapse, unwrap};

/// Elements that browsers show as blocks. The serializer knows some of them; the others become a `div`.
pub(super) const BLOCKS: [&str; 46] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "caption",
    "center",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hgroup",
    "hr",
    "legend",
    "li",
    "main",
    "menu",
    "ol",
    "optgroup",
    "p",
    "pre",
    "search",
    "section",
    "summary",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
];
const OTHERS: [&str; 19] = [
    "address",
    "aside",
    "center",
    "details",
    "dialog",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "header",
    "hgroup",
    "legend",
    "main",
    "optgroup",
    "search",
    "summary",
    "dt",
    "dd",
];
/// Blocks of inline content alone.
const LINES: [&str; 7] = ["p", "h1", "h2", "h3", "h4", "h5", "h6"];
/// Blocks that no Markdown of a link or of an emphasis can hold.
const APART: [&str; 6] = ["pre", "table", "ul", "ol", "dl", "blockquote"];

pub(super) fn is_block(node: &NodeRef<'_>) -> bool {
    node.qual_name_ref().is_some_and(|name| BLOCKS.contains(&&*name.local))
}

/// Leaves only blocks that the serializer knows, each where Markdown can have it.
pub(super) fn normalise(main: &NodeRef<'_>) {
    let nodes: Vec<NodeRef<'_>> = main.descendants_it().filter(NodeRef::is_element).collect();
    for node in &nodes {
        let name = node.node_name().unwrap_or_default();
        match &*name {
            "menu" | "dir" => {
                node.rename("ul");
                enclose_strays(node);
            }
            "ul" | "ol" => enclose_strays(node),
            "li" if !node.parent().is_some_and(|list| is_list(&list)) => node.rename("div"),
            other if OTHERS.contains(&other) || is_own_block(node, other) => node.rename("div"),
            _ => {}
        }
    }
    for node in &nodes {
        let name = node.node_name().unwrap_or_default();
        match &*name {
            "a" => simplify_link(node),
            "rt" => enclose(node),
            other if other.contains('-') && !is_block(node) => separate(node),
            "b" | "strong" | "i" | "em" | "code" if has_block(node) => unwrap(node),
            _ => {}
        }
    }
}

/// Makes items of what is in a list beside its items. A list in a list belongs to the item before it.
fn enclose_strays(list: &NodeRef<'_>) {
    let mut last: Option<NodeRef<'_>> = None;
    let mut is_stray = false;
    for child in list.children() {
        if child.has_name("li") {
            last = Some(child);
            is_stray = false;
        } else if child.is_element() && is_list(&child) {
            if let Some(item) = last {
                item.append_child(&child.id);
            }
        } else {
            if !is_stray && !child.text().trim().is_empty() {
                let item = list.tree.new_element("li");
                child.insert_before(&item.id);
                last = Some(item);
                is_stray = true;
            }
            if let Some(item) = last.filter(|_| is_stray) {
                item.append_child(&child.id);
            }
        }
    }
}

/// Puts the content of `node` on one line.
pub(super) fn flatten(node: &NodeRef<'_>) {
    let inner: Vec<NodeRef<'_>> = node.descendants_it().filter(NodeRef::is_element).collect();
    for element in inner {
        if element.has_name("br") || is_block(&element) {
            element.insert_before(&node.tree.new_text(" ").id);
            element.insert_after(&node.tree.new_text(" ").id);
            element.rename(if element.has_name("pre") { "code" } else { "span" });
        }
    }
}

fn is_list(node: &NodeRef<'_>) -> bool {
    ["ul", "ol", "menu", "dir"].iter().any(|name| node.has_name(name))
}

fn has_block(node: &NodeRef<'_>) -> bool {
    node.descendants_it().any(|inner| is_block(&inner))
}

/// An element that HTML does not have is a block if it contains one, or is among blocks.
fn is_own_block(node: &NodeRef<'_>, name: &str) -> bool {
    if !name.contains('-') {
        return false;
    }
    let is_in_text = || {
        node.parent().is_some_and(|outer| {
            !is_block(&outer)
                || LINES.iter().any(|name| outer.has_name(name))
                || outer.children_it(false).any(|beside| beside.is_nonempty_text())
        })
    };
    has_block(node) || !is_in_text()
}

/// Puts a reading in parentheses after what it reads.
fn enclose(reading: &NodeRef<'_>) {
    let has_parentheses = reading
        .prev_element_sibling()
        .is_some_and(|before| before.has_name("rp"));
    if !has_parentheses {
        reading.prepend_child(&reading.tree.new_text("(").id);
        reading.append_child(&reading.tree.new_text(")").id);
    }
}

/// Separates an element that HTML does not have from the words beside it.
fn separate(node: &NodeRef<'_>) {
    let text = node.text();
    let is_word = |character: Option<char>| character.is_some_and(char::is_alphanumeric);
    let beside = |node: Option<NodeRef<'_>>| node.map(|node| node.text()).unwrap_or_default();
    let (before, after) = (beside(node.prev_sibling()), beside(node.next_sibling()));
    if is_word(before.chars().next_back()) && is_word(text.chars().next()) {
        node.insert_before(&node.tree.new_text(" ").id);
    }
    if is_word(text.chars().next_back()) && is_word(after.chars().next()) {
        node.insert_after(&node.tree.new_text(" ").id);
    }
}

/// A link is one line. Around blocks that are more, only the blocks stay.
fn simplify_link(link: &NodeRef<'_>) {
    let is_apart = |node: &NodeRef<'_>| APART.iter().any(|name| node.has_name(name));
    if link.descendants_it().any(|inner| is_apart(&inner)) {
        unwrap(link);
        return;
    }
    if has_block(link) || link.descendants_it().any(|inner| inner.has_name("br")) {
        link.insert_before(&link.tree.new_text(" ").id);
        link.insert_after(&link.tree.new_text(" ").id);
        flatten(link);
        if !link.descendants_it().any(|inner| inner.has_name("img")) {
            link.set_text(collapse(&link.text()));
        }
    }
    // Two links beside each other are two words.
    if link.next_sibling().is_some_and(|next| next.has_name("a")) {
        link.insert_after(&link.tree.new_text(" ").id);
    }
}

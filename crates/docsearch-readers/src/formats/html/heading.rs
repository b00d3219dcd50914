//! Headings; Markdown has their anchors as `{#id}`.

use docsearch_core::documents::markdown::written_identifier;
use dom_query::{NodeRef, Selection};

use super::{block, collapse, set_code, unwrap};
use crate::text::target;

/// Maximum elements between a heading and the section that it opens.
const MAX_WRAPPERS: usize = 5;
/// Maximum nodes without text before a heading that are looked at.
const MAX_EMPTY: usize = 50;

/// From `h1` to `h6`; `None` for another element.
pub(super) fn level(node: &NodeRef<'_>) -> Option<usize> {
    let name = node.qual_name_ref()?;
    match (*name.local).as_bytes() {
        [b'h', digit @ b'1'..=b'6'] => Some(usize::from(digit - b'0')),
        _ => None,
    }
}

/// Makes headings of elements with that role.
pub(super) fn name_by_role(main: &NodeRef<'_>) {
    for node in Selection::from(*main).select("[role='heading']").nodes() {
        let level = node.attr("aria-level").and_then(|level| level.parse().ok());
        if self::level(node).is_none() {
            node.rename(&format!("h{}", level.unwrap_or(2usize).clamp(1, 6)));
        }
    }
}

/// Makes a heading of the only title that `selector` finds. Other headings move below it.
pub(super) fn name_title(body: &NodeRef<'_>, selector: &str) {
    let titles = Selection::from(*body).select(selector);
    let [title] = titles.nodes() else {
        return;
    };
    let headings: Vec<(NodeRef<'_>, usize)> = body
        .descendants_it()
        .filter_map(|node| level(&node).map(|level| (node, level)))
        .collect();
    if headings.iter().any(|(_, level)| *level == 1) {
        for (heading, level) in headings {
            heading.rename(&format!("h{}", (level + 1).min(6)));
        }
    }
    title.rename("h1");
}

/// The text of the only `h1`; `None` if there are several, or it has no text. Of several, none is the title.
pub(super) fn only_of_level_one(main: &NodeRef<'_>) -> Option<String> {
    let headings: Vec<NodeRef<'_>> = main.descendants_it().filter(|node| node.has_name("h1")).collect();
    let [heading] = headings.as_slice() else {
        return None;
    };
    let text = collapse(&heading.text());
    let title = match text.rfind("{#") {
        Some(anchor) => text[..anchor].trim_end().to_owned(),
        None => text,
    };
    (!title.is_empty()).then_some(title)
}

/// A heading in a list opens no section: such lists are layout.
pub(super) fn unwrap_layout_lists(main: &NodeRef<'_>) {
    let headings: Vec<NodeRef<'_>> = main.descendants_it().filter(|node| level(node).is_some()).collect();
    for heading in headings {
        let around: Vec<NodeRef<'_>> = heading
            .ancestors_it(None)
            .take_while(|outer| outer.id != main.id)
            .filter(|outer| ["ul", "ol", "li"].iter().any(|name| outer.has_name(name)))
            .collect();
        for outer in around {
            outer.rename("div");
        }
    }
    // The other items of the list.
    let items: Vec<NodeRef<'_>> = main.descendants_it().filter(|node| node.has_name("li")).collect();
    for item in items {
        if item.parent().is_some_and(|list| list.has_name("div")) {
            item.rename("div");
        }
    }
}

/// Appends its anchor to each heading.
pub(super) fn append_anchors(main: &NodeRef<'_>) {
    let headings: Vec<NodeRef<'_>> = main.descendants_it().filter(|node| level(node).is_some()).collect();
    for heading in headings {
        let id = anchor(&heading, main);
        separate_lines(&heading);
        block::flatten(&heading);
        let text = collapse(&heading.text());
        if text.is_empty() {
            heading.remove_from_parent();
            continue;
        }
        if heading.has_class("code-header") {
            set_code(&heading, &text);
        }
        unwrap_links(&heading);
        let around: Vec<NodeRef<'_>> = heading
            .ancestors_it(None)
            .take_while(|outer| outer.id != main.id)
            .collect();
        for link in around.iter().filter(|outer| outer.has_name("a")) {
            unwrap(link);
        }
        // A heading in a quotation opens no section.
        let mut around = around.iter();
        let is_quoted = around.any(|outer| ["blockquote", "td", "th"].iter().any(|name| outer.has_name(name)));
        match id {
            Some(id) if is_quoted => heading.append_html(target::mark(&id)),
            id => append_anchor(&heading, id.as_deref()),
        }
    }
}

/// Separates the lines of a heading that consists of spans. Style sheets show these as blocks if a phrase and more follow
/// each other without a space.
fn separate_lines(heading: &NodeRef<'_>) {
    let mut outer = *heading;
    for _ in 0..MAX_WRAPPERS {
        let is_blank = |node: &NodeRef<'_>| !node.is_element() && !node.is_nonempty_text();
        let parts: Vec<NodeRef<'_>> = outer.children_it(false).filter(|part| !is_blank(part)).collect();
        match parts.as_slice() {
            [only] if only.is_element() && !only.has_name("code") => outer = *only,
            lines if lines.iter().all(|line| line.has_name("span")) => {
                for pair in lines.windows(2) {
                    let is_adjacent = pair[0].next_sibling().is_some_and(|next| next.id == pair[1].id);
                    if is_adjacent && are_lines(&pair[0], &pair[1]) {
                        pair[1].insert_before(&heading.tree.new_text(" ").id);
                    }
                }
                return;
            }
            _ => return,
        }
    }
}

fn are_lines(line: &NodeRef<'_>, next: &NodeRef<'_>) -> bool {
    let is_block = |node: &NodeRef<'_>| {
        let style = node.attr("style").unwrap_or_default();
        style.replace(' ', "").contains("display:block")
    };
    let (text, following) = (line.text(), next.text());
    let is_phrase = |text: &str| text.trim().contains(' ');
    let has_phrase = is_phrase(&text) || is_phrase(&following);
    is_block(line) || is_block(next) || has_phrase && ends_words(&text, &following)
}

/// Whether a word ends where `text` ends and `next` begins: a single letter may be a large initial.
fn ends_words(text: &str, next: &str) -> bool {
    let is_end = |last: char| last.is_alphanumeric() || ".!?:".contains(last);
    text.chars().nth(1).is_some() && text.ends_with(is_end) && next.starts_with(char::is_alphanumeric)
}

/// Appends ` {#id}`, as the chunker reads it.
pub(super) fn append_anchor(heading: &NodeRef<'_>, id: Option<&str>) {
    if let Some(id) = id.and_then(written_identifier) {
        heading.append_child(&heading.tree.new_text(format!(" {{#{id}}}")).id);
    }
}

fn unwrap_links(heading: &NodeRef<'_>) {
    let links: Vec<NodeRef<'_>> = heading.descendants_it().filter(|node| node.has_name("a")).collect();
    for link in links {
        unwrap(&link);
    }
}

/// The nearest node before `node` in its parent that has text. Many nodes count as text.
fn text_before<'a>(node: &NodeRef<'a>) -> Option<NodeRef<'a>> {
    let mut before = node.prev_sibling()?;
    for _ in 0..MAX_EMPTY {
        if !before.text().trim().is_empty() {
            break;
        }
        before = before.prev_sibling()?;
    }
    Some(before)
}

fn has_heading(node: &NodeRef<'_>) -> bool {
    level(node).is_some() || node.descendants_it().any(|inner| level(&inner).is_some())
}

/// The heading's own id, that of an empty element in it, or that of the section that it opens.
fn anchor(heading: &NodeRef<'_>, main: &NodeRef<'_>) -> Option<String> {
    let own = |node: &NodeRef<'_>| {
        let id = node
            .id_attr()
            .or_else(|| node.attr("name").filter(|_| node.has_name("a")))?;
        (!id.is_empty()).then(|| id.to_string())
    };
    if let Some(id) = own(heading) {
        return Some(id);
    }
    if let Some(id) = heading.descendants_it().find_map(|inner| own(&inner)) {
        return Some(id);
    }
    let mut node = *heading;
    for _ in 0..MAX_WRAPPERS {
        let before = text_before(&node);
        // A section is that of its first heading, even after a line above it.
        let is_section = || node.parent().is_some_and(|parent| parent.has_name("section"));
        if before.is_some_and(|before| !is_section() || has_heading(&before) || text_before(&before).is_some()) {
            return None;
        }
        node = node.parent().filter(|parent| parent.id != main.id)?;
        if let Some(id) = own(&node) {
            return Some(id);
        }
    }
    None
}

//! Definition lists, which Markdown does not have: a term becomes a heading if it has an anchor or is a question, and
//! bold text otherwise.

use dom_query::{NodeRef, Selection};

use super::{block, collapse, heading, set_code};
use crate::text::target;
use crate::text::term::opens_section;

/// Maximum length of a name in a heading; a longer term is prose.
const MAX_HEADING_CHARACTERS: usize = 150;

pub(super) fn normalise(main: &NodeRef<'_>) {
    let lists: Vec<NodeRef<'_>> = Selection::from(*main).select("dl").nodes().to_vec();
    if lists.is_empty() {
        return;
    }
    // Before elements are renamed, so that only the author's headings count.
    let levels = levels(main);
    for (list, level) in lists.iter().zip(levels) {
        let allows_headings = !is_enclosed(list, main) && !list.has_class("footnote") && !list.has_class("citation");
        join_options(&items(list));
        let items: Vec<NodeRef<'_>> = items(list);
        let mut previous_is_term = false;
        for item in items {
            if item.has_name("dt") {
                let level = level.filter(|_| allows_headings && !previous_is_term);
                term(&item, level);
                previous_is_term = true;
            } else {
                item.rename("div");
                previous_is_term = false;
            }
        }
        list.rename("div");
    }
}

/// Joins the names of one option in one term: `-d, --delete`.
fn join_options(items: &[NodeRef<'_>]) {
    let mut terms = items.iter().peekable();
    while let Some(first) = terms.next() {
        let mut characters = name_of_option(first).map_or(0, |name| name.chars().count());
        let mut others = Vec::new();
        while characters > 0
            && let Some(next) = terms.peek()
            && let Some(name) = name_of_option(next)
        {
            characters += name.chars().count() + 2;
            if characters > MAX_HEADING_CHARACTERS {
                break;
            }
            others.push(**next);
            terms.next();
        }
        if others.is_empty() {
            continue;
        }
        let explained = terms.peek().filter(|next| next.has_name("dd"));
        let mut names = first.inner_html().trim().to_owned();
        for other in others {
            if let (Some(id), Some(explained)) = (anchor(&other), explained) {
                explained.prepend_html(super::escape(&target::mark(&id)));
            }
            names += &format!(", {}", other.inner_html().trim());
            other.remove_from_parent();
        }
        first.set_html(names);
    }
}

/// The text of a term that is a command option.
fn name_of_option(term: &NodeRef<'_>) -> Option<String> {
    let text = collapse(&term.text());
    (term.has_name("dt") && text.starts_with('-') && !is_signature(term)).then_some(text)
}

/// Terms and definitions of a list; HTML lets a `div` group them.
fn items<'a>(list: &NodeRef<'a>) -> Vec<NodeRef<'a>> {
    let is_item = |node: &NodeRef<'_>| node.has_name("dt") || node.has_name("dd");
    list.children_it(false)
        .flat_map(|child| {
            if child.has_name("div") {
                child.children_it(false).filter(is_item).collect()
            } else {
                vec![child]
            }
        })
        .filter(is_item)
        .collect()
}

/// The heading level for the terms of each list: one below the heading before it, and one more for each enclosing list.
/// `None` if there is no such level.
fn levels(main: &NodeRef<'_>) -> Vec<Option<usize>> {
    let mut current = 1;
    let mut levels = Vec::new();
    for node in main.descendants_it() {
        if let Some(level) = heading::level(&node) {
            current = level;
        } else if node.has_name("dl") {
            let around = node.ancestors_it(None).filter(|outer| outer.has_name("dl")).count();
            let level = current + 1 + around;
            levels.push((level <= 6).then_some(level));
        }
    }
    levels
}

/// Headings in lists, quotations and tables are not sections of the document.
fn is_enclosed(list: &NodeRef<'_>, main: &NodeRef<'_>) -> bool {
    list.ancestors_it(None)
        .take_while(|outer| outer.id != main.id)
        .any(|outer| ["li", "td", "th", "blockquote"].iter().any(|name| outer.has_name(name)))
}

fn term(term: &NodeRef<'_>, level: Option<usize>) {
    let id = anchor(term);
    block::flatten(term);
    let text = collapse(&term.text());
    if text.is_empty() {
        term.remove_from_parent();
        return;
    }
    let is_code = || {
        term.first_element_child()
            .is_some_and(|inner| inner.has_name("code") || inner.has_name("tt"))
    };
    let first = text.split(", -").next().unwrap_or_default();
    let level = level.filter(|_| id.is_some() || is_code() || opens_section(first));
    if is_signature(term) {
        signature(term, &text, id.as_deref(), level);
    } else if let Some(level) = level.filter(|_| text.chars().count() <= MAX_HEADING_CHARACTERS) {
        term.rename(&format!("h{level}"));
        heading::append_anchor(term, id.as_deref());
    } else {
        term.rename("p");
        let has_markup = term.descendants_it().any(|inner| inner.is_element());
        if !has_markup {
            term.set_html(format!("<strong>{}</strong>", super::escape(&text)));
        }
        if let Some(id) = id {
            term.prepend_html(target::mark(&id));
        }
    }
}

/// The name as the heading, with the whole signature below it.
fn signature(term: &NodeRef<'_>, text: &str, id: Option<&str>, level: Option<usize>) {
    term.rename("p");
    set_code(term, text);
    let (Some(level), Some(id)) = (level, id) else {
        return;
    };
    let name = name(text, id);
    let heading = term.tree.new_element(&format!("h{level}"));
    set_code(&heading, &name);
    heading::append_anchor(&heading, Some(id));
    if name == text {
        term.replace_with(&heading.id);
    } else {
        term.insert_before(&heading.id);
    }
}

/// The qualified name in the anchor, or else the text before the parameters.
fn name(signature: &str, id: &str) -> String {
    let end = signature
        .find(['(', '=', '['])
        .filter(|&end| end > 0)
        .unwrap_or(signature.len());
    let before = signature[..end].split(": ").next().unwrap_or_default().trim();
    let last = before.rsplit([' ', '*', '.']).next().unwrap_or_default();
    if !last.is_empty() && (id == last || id.ends_with(&format!(".{last}")) && !id.starts_with("c.")) {
        id.to_owned()
    } else if signature.starts_with('-') || last.is_empty() {
        signature.chars().take(MAX_HEADING_CHARACTERS).collect()
    } else {
        last.to_owned()
    }
}

fn is_signature(term: &NodeRef<'_>) -> bool {
    term.has_class("sig")
        || term
            .descendants_it()
            .any(|inner| inner.has_class("sig-name") || inner.has_class("descname"))
}

fn anchor(term: &NodeRef<'_>) -> Option<String> {
    let own = |node: &NodeRef<'_>| node.id_attr().filter(|id| !id.is_empty());
    own(term)
        .or_else(|| term.descendants_it().find_map(|inner| own(&inner)))
        .map(|id| id.to_string())
}

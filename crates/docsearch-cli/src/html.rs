//! HTML pages: the documentation in them as markdown, without what surrounds it.

mod code_block;
mod definition_list;
mod head;
mod heading;
mod main_content;
pub(crate) mod site;
mod surroundings;
mod table;
mod tree;
mod vocabulary;

use std::path::Path;

use dom_query::NodeRef;

use crate::draft::{Draft, Unreadable};
use crate::front_matter::FrontMatter;
use vocabulary::Vocabulary;

/// Reads the page `text` that lies at `path`.
pub(crate) fn read(path: &Path, text: &str) -> Result<Draft, Unreadable> {
    let page = tree::parse(text)?;
    let head = head::read(&page);
    if let Some(reason) = site::no_documentation_in(&page, path) {
        return Err(Unreadable::NoDocumentation(reason));
    }
    let vocabulary = Vocabulary::of(&page);
    let main = main_content::find(&page, &vocabulary);
    surroundings::remove(&main, &vocabulary);
    heading::free_from_lists(&main);
    heading::carry_anchors(&main);
    code_block::normalise(&main);
    table::normalise(&main);
    definition_list::normalise(&main);
    let title = title(heading::only_of_level_one(&main), head.title);
    let body = markdown(&main);
    if body.is_empty() {
        return Err(Unreadable::NoDocumentation("empty page"));
    }
    let matter = FrontMatter {
        title,
        summary: head.description.filter(|description| is_about(description, &body)),
        keywords: head.keywords,
        source_urls: head.url.into_iter().collect(),
        published_at: head.published_at,
        ..FrontMatter::default()
    };
    Ok(Draft {
        body,
        ..Draft::new(matter)
    })
}

/// The heading goes before the head of the page, unless it only opens the first section.
fn title(heading: Option<String>, head: Option<String>) -> Option<String> {
    match (heading, head) {
        (Some(heading), Some(head)) if heading.starts_with(|first: char| first.is_ascii_digit()) => {
            Some(if head.contains(&heading) { heading } else { head })
        }
        (heading, head) => heading.or(head),
    }
}

fn markdown(main: &NodeRef<'_>) -> String {
    let text = main.md(None);
    // The space that must not break is one to people who search.
    let mut body = text.trim().replace('\u{a0}', " ");
    if !body.is_empty() {
        body.push('\n');
    }
    body
}

/// Many sites give every page the same description; one that is about the page shares its words.
fn is_about(description: &str, body: &str) -> bool {
    let body = body.to_lowercase();
    let words: Vec<String> = description
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| word.chars().count() > 3)
        .map(str::to_lowercase)
        .collect();
    let shared = words.iter().filter(|word| body.contains(word.as_str())).count();
    !words.is_empty() && shared * 3 >= words.len() * 2
}

/// White space as a browser shows it.
fn collapse(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Puts what is in `node` in its place.
fn unwrap(node: &NodeRef<'_>) {
    for child in node.children() {
        node.insert_before(&child.id);
    }
    node.remove_from_parent();
}

/// Replaces what is in `node` by `text` in an inline code element.
fn set_code(node: &NodeRef<'_>, text: &str) {
    node.set_html(format!("<code>{}</code>", escape(text)));
}

#[cfg(test)]
mod tests;

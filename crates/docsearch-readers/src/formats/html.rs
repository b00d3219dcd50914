//! HTML pages: their main content as Markdown.

mod block;
mod code_block;
mod control;
mod definition_list;
mod drawing;
mod element;
pub(crate) mod exclusion;
mod frame;
mod head;
mod heading;
mod landmark;
mod main_content;
mod measure;
mod member;
mod noise;
mod preformatted;
mod section_form;
mod style_sheet;
mod table;
mod target;
mod tree;
mod vocabulary;

use std::path::Path;
use std::sync::Arc;

#[cfg(test)]
use docsearch_fuzz::{Format as Grammar, Target};
use dom_query::{Matcher, NodeRef};

use crate::bytes::encoding;
use crate::draft::front_matter::FrontMatter;
use crate::draft::{Draft, Unreadable};
use crate::file::extension;
use crate::formats::format::{Format, LinkSyntax, Reader, SiteAnchors, TextSource, TextTest};
#[cfg(test)]
use crate::formats::growth;
use crate::text;
pub(crate) use frame::Frame;
use frame::Frames;
use vocabulary::Vocabulary;

pub(crate) static FORMAT: Format = Format {
    extensions: &["html", "htm", "xhtml"],
    media_types: &["text/html", "application/xhtml+xml"],
    text_test: Some(TextTest {
        rank: 0,
        passes: is_likely,
    }),
    decode: Some(encoding::decode_html),
    links: Some(LinkSyntax::Html),
    anchors: SiteAnchors::Identifiers,
    is_linked: true,
    is_built: true,
    marks_parts: false,
    collect_shared: Some(|files| Box::new(Frames::of_files(files))),
    #[cfg(test)]
    fuzz_target: Some(
        Target::new("readers-html", Grammar::HTML, |input| {
            growth::check(&FORMAT, "guide/page.html", input);
        })
        .up_to(32 * 1024),
    ),
    ..Format::new(
        "html",
        "HTML",
        "HTML: the text of the page, also of a built site; navigation, search pages, redirects and indexes of names are \
         left out",
        Reader::Text(read_source),
    )
};

/// Maximum bytes of a selector: the parser recurses into what it nests.
const MAX_SELECTOR: usize = 500;

/// Whether a text is a valid CSS selector of acceptable length.
pub fn is_selector(text: &str) -> bool {
    text.len() <= MAX_SELECTOR && Matcher::new(text).is_ok()
}

/// Whether the name of a file identifies HTML.
pub(crate) fn is_named(path: &Path) -> bool {
    FORMAT.has_extension(&extension::uncompressed(path))
}

fn is_likely(text: &str) -> bool {
    let opening = text.trim_start();
    let begins = |tag: &str| {
        opening
            .get(..tag.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(tag))
    };
    begins("<!doctype html") || begins("<html") || opening.starts_with("<?xml") && text.contains("<html")
}

fn read_source(source: &TextSource<'_>) -> Result<Vec<Draft>, Unreadable> {
    let frames = source.shared::<Frames>().zip(source.folder);
    let frame = frames.map_or_else(Arc::default, |(frames, folder)| frames.of(&folder.root));
    let draft = read(source.path, source.text, source.content, &frame)?;
    Ok(vec![draft])
}

/// Reads the page `text` at `path`. `content` selects the element with its text; `frame` is what it shares with other
/// pages of its site.
pub(crate) fn read(path: &Path, text: &str, content: Option<&str>, frame: &Frame) -> Result<Draft, Unreadable> {
    if text.trim_start().starts_with("{%") {
        return Err(Unreadable::NoDocumentation("template"));
    }
    let page = tree::parse(text)?;
    target::shorten_links(&page, path);
    target::remove_repeated(&page);
    let head = head::read(&page);
    if head::is_hidden(&page) && !frame.is_hidden {
        return Err(Unreadable::NoDocumentation("marked noindex"));
    }
    if let Some(reason) = exclusion::no_documentation_in(&page, path) {
        return Err(Unreadable::NoDocumentation(reason));
    }
    let vocabulary = Vocabulary::of(&page);
    style_sheet::apply(&page, &vocabulary);
    let main = main_content::find(&page, &vocabulary, content, head.title.as_deref(), frame);
    let unknown = element::count_unknown(&main);
    noise::simplify(&main, &vocabulary);
    heading::name_by_role(&main);
    member::normalise(&main);
    table::name_by_role(&main);
    preformatted::mark(&main, &vocabulary);
    table::unwrap_layouts(&main);
    heading::unwrap_layout_lists(&main);
    heading::append_anchors(&main);
    target::mark_all(&main);
    code_block::normalise(&main);
    table::normalise(&main);
    definition_list::normalise(&main);
    block::normalise(&main);
    let own_title = head.full_title.as_deref().map(|full| frame.own_title(full));
    let title = match own_title {
        // The name of the site is removed already.
        Some(Some(own)) if head.full_title.as_ref() != Some(&own) => {
            title(heading::only_of_level_one(&main), Some(own))
        }
        Some(None) => heading::only_of_level_one(&main),
        _ => title(heading::only_of_level_one(&main), head.title),
    };
    let body = markdown(&main);
    if text::target::take(&body).0.trim().is_empty() {
        return Err(Unreadable::NoDocumentation("empty page"));
    }
    let matter = FrontMatter {
        summary: head
            .description
            .filter(|description| is_about(description, &body) && !repeats(description, title.as_deref())),
        keywords: head
            .keywords
            .into_iter()
            .filter(|keyword| frame.is_own_keyword(keyword) && !repeats(keyword, title.as_deref()))
            .collect(),
        source_urls: head.url.into_iter().collect(),
        published_at: head.published_at,
        title,
        ..FrontMatter::default()
    };
    Ok(Draft {
        body,
        parent: head.parent,
        unknown,
        ..Draft::new(matter)
    })
}

/// Whether a text only repeats the title.
fn repeats(text: &str, title: Option<&str>) -> bool {
    let letters = |text: &str| -> String {
        let kept = text.chars().filter(|character| character.is_alphanumeric());
        kept.flat_map(char::to_lowercase).collect()
    };
    let (text, title) = (letters(text), title.map(letters).unwrap_or_default());
    text == title || title.contains(&text) && text.chars().count() * 2 > title.chars().count()
}

/// The heading takes precedence over the title in the head, unless it only opens the first section.
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
    // Search treats a no-break space as a space.
    let mut body = text.trim().replace('\u{a0}', " ");
    if !body.is_empty() {
        body.push('\n');
    }
    body
}

/// Many sites give every page the same description; one that describes the page shares its words.
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

/// Collapses white space, as a browser does.
fn collapse(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Replaces `node` by its children.
fn unwrap(node: &NodeRef<'_>) {
    for child in node.children() {
        node.insert_before(&child.id);
    }
    node.remove_from_parent();
}

/// Replaces the content of `node` by `text` as inline code.
fn set_code(node: &NodeRef<'_>, text: &str) {
    node.set_html(format!("<code>{}</code>", escape(text)));
}

#[cfg(test)]
mod tests;

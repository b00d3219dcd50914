//! Removes navigation, controls and other elements that are not text of the page.

use dom_query::{NodeRef, Selection};

use super::frame::Frame;
use super::measure::Measure;
use super::vocabulary::Vocabulary;
use super::{control, escape, heading, landmark};
use crate::site::GENERATORS;

/// Navigation, controls, marks, and elements that only a browser can show.
const NOISE: [&str; 55] = [
    ".footnote-ref:not(p)",
    "script",
    "style",
    "noscript",
    "template",
    "link",
    "meta",
    "title",
    "iframe",
    "object",
    "embed",
    "video",
    "audio",
    "canvas",
    "input",
    "dialog:not([open])",
    "nav",
    "[role='navigation']",
    "[role='search']",
    "[role='contentinfo']",
    "[role='banner']",
    "[aria-hidden='true']:not([role='tabpanel'])",
    "[hidden]:not([role='tabpanel']):not([hidden='until-found'])",
    ".visually-hidden",
    ".sr-only",
    ".screen-reader-text",
    ".skip-link",
    ".heading-anchor",
    ".anchorjs-link",
    ".id_link",
    ".permalink:not(p)",
    "a.anchor-link",
    ".linenos",
    ".lineno",
    ".linenodiv",
    ".gutter",
    ".blob-num",
    ".hljs-ln-numbers",
    ".copy-button",
    ".breadcrumb",
    ".breadcrumbs",
    "[aria-label='breadcrumb']",
    "[aria-label='breadcrumbs']",
    ".pagination",
    ".related-pages",
    ".edit-page-link",
    ".edit-on-github",
    ".last-updated",
    ".on-this-page",
    ".sidebar-menu",
    ".feedback",
    "img[src^='data:']",
    "img:not([alt])",
    "img[alt='']",
    "annotation-xml",
];

/// Common names of navigation that a section of the text may have, too: these are navigation if they are mostly links.
const AMBIGUOUS: [&str; 2] = ["#toc", "#sidebar"];

/// Texts of permalinks.
const MARKS: [&str; 7] = ["¶", "#", "§", "🔗", "\u{f0c1}", "Permalink", "Link to this heading"];

/// Minimum characters besides a table of contents for the table to be redundant.
const MIN_CHARACTERS_BESIDE_CONTENTS: usize = 200;

/// Removes the noise from `body`. Anchors of permalinks move to their headings, and titles become headings.
pub(super) fn remove(body: &NodeRef<'_>, vocabulary: &Vocabulary, frame: &Frame) {
    let all = Selection::from(*body);
    show_formulas(&all);
    remove_permalinks(&all);
    let of_generators = GENERATORS.iter().flat_map(|generator| generator.noise).copied();
    if let Some(noise) = vocabulary.selector(NOISE.into_iter().chain(of_generators)) {
        let found = all.select(&noise);
        let found = found.nodes().iter().filter(|node| !is_subject(node));
        found.for_each(NodeRef::remove_from_parent);
    }
    let titles = GENERATORS.iter().flat_map(|generator| generator.titles).copied();
    if let Some(titles) = vocabulary.selector(titles) {
        heading::name_title(body, &titles);
    }
    remove_menus(&all, vocabulary, AMBIGUOUS);
    landmark::remove(body, frame);
    control::show(body);
}

/// Whether an element is the text of the page, of a heading or of a section, whatever its class and role.
fn is_subject(node: &NodeRef<'_>) -> bool {
    let is_page = ["main", "article"].iter().any(|name| node.has_name(name));
    let is_hidden = node.has_attr("hidden") || node.has_attr("aria-hidden");
    let is_heading = || {
        let text = node.text();
        let heading = node.ancestors_it(None).find(|outer| heading::level(outer).is_some());
        text.contains(char::is_alphanumeric) && heading.is_some_and(|heading| heading.text().trim() == text.trim())
    };
    !is_hidden && (is_page || landmark::is_part(node) || is_heading())
}

/// Removes what matches `selectors` and is mostly links.
pub(super) fn remove_menus(
    body: &Selection<'_>,
    vocabulary: &Vocabulary,
    selectors: impl IntoIterator<Item = &'static str>,
) {
    let Some(selector) = vocabulary.selector(selectors) else {
        return;
    };
    for menu in body.select(&selector).nodes() {
        let says_something = |node: &NodeRef<'_>| heading::level(node).is_some() || node.has_name("p");
        let is_text = says_something(menu)
            || menu.has_name("dt")
            || menu.descendants_it().any(|inner| says_something(&inner)) && !Measure::of(menu).is_mostly_links();
        if !is_text {
            menu.remove_from_parent();
        }
    }
}

/// Simplifies what the text says of itself.
pub(super) fn simplify(main: &NodeRef<'_>, vocabulary: &Vocabulary) {
    let main = Selection::from(*main);
    remove_contents(&main);
    label_admonitions(&main, vocabulary);
    simplify_links(&main);
}

/// Simplifies links: the text says where they lead. Code in a link is often a name, which Markdown of the link would
/// hide from search.
fn simplify_links(main: &Selection<'_>) {
    for link in main.select("a").nodes() {
        link.remove_attr("title");
        let leads_on = link.attr("href").is_some_and(|href| !href.starts_with("javascript:"));
        if !leads_on || link.descendants_it().any(|inner| inner.has_name("code")) {
            match link.id_attr().or_else(|| link.attr("name")) {
                // A link may lead to it.
                Some(id) => {
                    link.rename("span");
                    link.set_attr("id", &id);
                }
                None => super::unwrap(link),
            }
        }
    }
}

/// Removes permalinks; a heading without an id gets the target of its permalink.
fn remove_permalinks(main: &Selection<'_>) {
    for link in main.select("a[href*='#']").nodes() {
        let text = link.text();
        // Docusaurus uses a zero-width space as the text of permalinks.
        let text = text.trim_matches(|character: char| character.is_whitespace() || character == '\u{200b}');
        if !(text.is_empty() || MARKS.contains(&text)) || link.descendants_it().any(|inner| inner.has_name("img")) {
            continue;
        }
        if let (Some(parent), Some(href)) = (link.parent(), link.attr("href"))
            && heading::level(&parent).is_some()
            && !parent.has_attr("id")
            && let Some((_, id)) = href.split_once('#')
        {
            parent.set_attr("id", id);
        }
        link.remove_from_parent();
    }
}

/// Removes tables of contents of the page, which repeat its headings, unless they are most of it. What leads to other
/// pages, as that of a chapter does, is text.
fn remove_contents(main: &Selection<'_>) {
    let found = main.select("div.toc, ul.toc, div.list-of-figures, div.list-of-tables");
    let contents: Vec<(&NodeRef<'_>, Measure)> = found
        .nodes()
        .iter()
        .map(|part| (part, Measure::of(part)))
        .filter(|(_, measure)| !measure.leads_away())
        .collect();
    let inside: usize = contents.iter().map(|(_, measure)| measure.all()).sum();
    let all: usize = main.nodes().iter().map(|node| Measure::of(node).all()).sum();
    if all.saturating_sub(inside) >= MIN_CHARACTERS_BESIDE_CONTENTS {
        contents.iter().for_each(|(part, _)| part.remove_from_parent());
    }
}

fn label_admonitions(main: &Selection<'_>, vocabulary: &Vocabulary) {
    let titles = GENERATORS.iter().flat_map(|generator| generator.admonition_titles);
    let Some(titles) = vocabulary.selector(titles.copied()) else {
        return;
    };
    for title in main.select(&titles).nodes() {
        let label = super::collapse(&title.text());
        title.set_html(format!("<strong>{}</strong>", escape(&label)));
        title.rename("p");
    }
}

/// Replaces formulas by their TeX source, if the page has it.
fn show_formulas(main: &Selection<'_>) {
    for formula in main.select(".katex, math").nodes() {
        let source = Selection::from(*formula)
            .select_single("annotation[encoding='application/x-tex']")
            .text();
        if !source.trim().is_empty() {
            formula.set_html(format!("<code>{}</code>", escape(source.trim())));
            formula.rename("span");
        }
    }
}

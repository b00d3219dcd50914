//! Removes navigation, controls and other elements that are not text of the page.

use dom_query::NodeRef;

use super::escape;
use super::vocabulary::Vocabulary;
use crate::site::GENERATORS;

/// Navigation, controls, marks, and elements that only a browser can show.
const NOISE: [&str; 60] = [
    ".footnote-ref",
    "script",
    "style",
    "noscript",
    "template",
    "link",
    "meta",
    "title",
    "svg",
    "iframe",
    "object",
    "embed",
    "video",
    "audio",
    "canvas",
    "input",
    "button",
    "select",
    "textarea",
    "dialog",
    "nav",
    "footer",
    "[role='navigation']",
    "[role='search']",
    "[role='contentinfo']",
    "[role='banner']",
    "[aria-hidden='true']",
    "[hidden]:not([role='tabpanel'])",
    ".visually-hidden",
    ".sr-only",
    ".screen-reader-text",
    ".skip-link",
    ".heading-anchor",
    ".anchorjs-link",
    ".id_link",
    ".permalink",
    "a.anchor-link",
    ".linenos",
    ".lineno",
    ".linenodiv",
    ".gutter",
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
    "#toc",
    ".on-this-page",
    ".sidebar-menu",
    "#sidebar",
    ".feedback",
    "img[src^='data:']",
    "img:not([alt])",
    "img[alt='']",
    "annotation-xml",
];

/// Texts of permalinks.
const MARKS: [&str; 7] = ["¶", "#", "§", "🔗", "\u{f0c1}", "Permalink", "Link to this heading"];

/// Minimum characters besides a table of contents for the table to be redundant.
const MIN_CHARACTERS_BESIDE_CONTENTS: usize = 200;

/// Removes the noise from `main`. Anchors of permalinks move to their headings.
pub(super) fn remove(main: &NodeRef<'_>, vocabulary: &Vocabulary) {
    let main = dom_query::Selection::from(*main);
    show_formulas(&main);
    remove_permalinks(&main);
    let of_generators = GENERATORS.iter().flat_map(|generator| generator.noise).copied();
    if let Some(noise) = vocabulary.selector(NOISE.into_iter().chain(of_generators)) {
        main.select(&noise).remove();
    }
    remove_header(&main);
    remove_contents(&main);
    label_admonitions(&main, vocabulary);
    simplify_links(&main);
}

/// Simplifies links: the text says where they lead. Code in a link is often a name, which Markdown of the link would
/// hide from search.
fn simplify_links(main: &dom_query::Selection<'_>) {
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
fn remove_permalinks(main: &dom_query::Selection<'_>) {
    for link in main.select("a[href*='#']").nodes() {
        let text = link.text();
        // Docusaurus uses a zero-width space as the text of permalinks.
        let text = text.trim_matches(|character: char| character.is_whitespace() || character == '\u{200b}');
        if !(text.is_empty() || MARKS.contains(&text)) || link.descendants_it().any(|inner| inner.has_name("img")) {
            continue;
        }
        if let (Some(parent), Some(href)) = (link.parent(), link.attr("href"))
            && super::heading::level(&parent).is_some()
            && !parent.has_attr("id")
            && let Some((_, id)) = href.split_once('#')
        {
            parent.set_attr("id", id);
        }
        link.remove_from_parent();
    }
}

/// Removes headers in the text, unless they contain the title.
fn remove_header(main: &dom_query::Selection<'_>) {
    for header in main.select("header").nodes() {
        if !header.descendants_it().any(|inner| inner.has_name("h1")) {
            header.remove_from_parent();
        }
    }
}

/// Removes a table of contents, unless it is most of the page.
fn remove_contents(main: &dom_query::Selection<'_>) {
    let contents = main.select("div.toc, ul.toc, div.list-of-figures, div.list-of-tables");
    let length = |text: &str| text.chars().filter(|character| !character.is_whitespace()).count();
    let inside: usize = contents.iter().map(|part| length(&part.text())).sum();
    if length(&main.text()).saturating_sub(inside) >= MIN_CHARACTERS_BESIDE_CONTENTS {
        contents.remove();
    }
}

fn label_admonitions(main: &dom_query::Selection<'_>, vocabulary: &Vocabulary) {
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
fn show_formulas(main: &dom_query::Selection<'_>) {
    for formula in main.select(".katex, math").nodes() {
        let source = dom_query::Selection::from(*formula)
            .select_single("annotation[encoding='application/x-tex']")
            .text();
        if !source.trim().is_empty() {
            formula.set_html(format!("<code>{}</code>", escape(source.trim())));
            formula.rename("span");
        }
    }
}

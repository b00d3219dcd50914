//! What stands in and around the text of a page without being part of it.

use dom_query::NodeRef;

use super::escape;
use super::vocabulary::Vocabulary;
use crate::site::GENERATORS;

/// Navigation, controls, marks and what only a browser can show.
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

/// Shown by a mark that links a heading to itself.
const MARKS: [&str; 7] = ["¶", "#", "§", "🔗", "\u{f0c1}", "Permalink", "Link to this heading"];

/// Characters of a page beside its table of contents that make the table superfluous.
const MIN_CHARACTERS_BESIDE_CONTENTS: usize = 200;

/// Takes it out of `main`, apart from permalinks, which still name the anchors of headings.
pub(super) fn remove(main: &NodeRef<'_>, vocabulary: &Vocabulary) {
    let main = dom_query::Selection::from(*main);
    show_formulas(&main);
    keep_text_of_permalinks_away(&main);
    let of_generators = GENERATORS.iter().flat_map(|generator| generator.noise).copied();
    if let Some(noise) = vocabulary.selector(NOISE.into_iter().chain(of_generators)) {
        main.select(&noise).remove();
    }
    remove_header(&main);
    remove_contents(&main);
    label_admonitions(&main, vocabulary);
    simplify_links(&main);
}

/// The text of a link says where it leads. Code in a link is a name that somebody looks for, which
/// markdown of the link would hide.
fn simplify_links(main: &dom_query::Selection<'_>) {
    for link in main.select("a").nodes() {
        link.remove_attr("title");
        let leads_on = link.attr("href").is_some_and(|href| !href.starts_with("javascript:"));
        if !leads_on || link.descendants_it().any(|inner| inner.has_name("code")) {
            match link.id_attr().or_else(|| link.attr("name")) {
                // Something may lead to it.
                Some(id) => {
                    link.rename("span");
                    link.set_attr("id", &id);
                }
                None => super::unwrap(link),
            }
        }
    }
}

/// A permalink in a heading hands its target to the heading, and goes.
fn keep_text_of_permalinks_away(main: &dom_query::Selection<'_>) {
    for link in main.select("a[href*='#']").nodes() {
        let text = link.text();
        // A zero-width space gives the mark of Docusaurus a place to be painted.
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

/// A header inside the text is kept where it holds the title.
fn remove_header(main: &dom_query::Selection<'_>) {
    for header in main.select("header").nodes() {
        if !header.descendants_it().any(|inner| inner.has_name("h1")) {
            header.remove_from_parent();
        }
    }
}

/// The table of contents is all that some pages have to say.
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

/// Formulas as their author wrote them, where the page says how.
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

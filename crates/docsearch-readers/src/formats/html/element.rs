//! The elements that the HTML standard defines.

use dom_query::NodeRef;

use crate::draft::unknown_names::UnknownNames;

/// With those that it calls obsolete; sorted.
const DEFINED: [&str; 143] = [
    "a",
    "abbr",
    "acronym",
    "address",
    "applet",
    "area",
    "article",
    "aside",
    "audio",
    "b",
    "base",
    "basefont",
    "bdi",
    "bdo",
    "bgsound",
    "big",
    "blink",
    "blockquote",
    "body",
    "br",
    "button",
    "canvas",
    "caption",
    "center",
    "cite",
    "code",
    "col",
    "colgroup",
    "data",
    "datalist",
    "dd",
    "del",
    "details",
    "dfn",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "em",
    "embed",
    "fieldset",
    "figcaption",
    "figure",
    "font",
    "footer",
    "form",
    "frame",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hgroup",
    "hr",
    "html",
    "i",
    "iframe",
    "image",
    "img",
    "input",
    "ins",
    "isindex",
    "kbd",
    "keygen",
    "label",
    "legend",
    "li",
    "link",
    "listing",
    "main",
    "map",
    "mark",
    "marquee",
    "menu",
    "menuitem",
    "meta",
    "meter",
    "multicol",
    "nav",
    "nextid",
    "nobr",
    "noembed",
    "noframes",
    "noscript",
    "object",
    "ol",
    "optgroup",
    "option",
    "output",
    "p",
    "param",
    "picture",
    "plaintext",
    "pre",
    "progress",
    "q",
    "rb",
    "rp",
    "rt",
    "rtc",
    "ruby",
    "s",
    "samp",
    "script",
    "search",
    "section",
    "select",
    "selectedcontent",
    "slot",
    "small",
    "source",
    "spacer",
    "span",
    "strike",
    "strong",
    "style",
    "sub",
    "summary",
    "sup",
    "table",
    "tbody",
    "td",
    "template",
    "textarea",
    "tfoot",
    "th",
    "thead",
    "time",
    "title",
    "tr",
    "track",
    "tt",
    "u",
    "ul",
    "var",
    "video",
    "wbr",
    "xmp",
];
/// Elements of the vocabularies within HTML, SVG and MathML, have another namespace.
const NAMESPACE: &str = "http://www.w3.org/1999/xhtml";

/// Counts the elements with a text that the standard does not define, also those that a script of the page defines.
pub(super) fn count_unknown(main: &NodeRef<'_>) -> UnknownNames {
    let mut names = UnknownNames::default();
    for node in main.descendants_it() {
        let Some(name) = node.qual_name_ref() else { continue };
        if &*name.ns == NAMESPACE
            && DEFINED.binary_search(&&*name.local).is_err()
            && node.descendants_it().any(|inner| inner.is_nonempty_text())
        {
            names.add("element", &name.local);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::html::tree;

    #[test]
    fn elements_of_the_standard_are_known() {
        assert!(DEFINED.is_sorted());
        for name in super::super::block::BLOCKS {
            assert!(DEFINED.contains(&name), "{name}");
        }
        let page = tree::parse(
            "<my-box><p>a<sail>b</sail><Sail>c</Sail><my-icon></my-icon> <big>d</big></p><svg><sail>e</sail></svg>\
             <math><mi>f</mi></math></my-box>",
        )
        .unwrap();
        assert_eq!(
            count_unknown(&page.body().unwrap()).text().unwrap(),
            "kept the text of 3 unknown names (element sail: 2, element my-box: 1)"
        );
    }
}

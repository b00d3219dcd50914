//! The elements that the HTML standard defines.

use docsearch_core::documents::markdown::is_html_element;
use dom_query::NodeRef;

use crate::draft::unknown_names::UnknownNames;

/// Those that are not in use, or new.
const RARE: [&str; 24] = [
    "applet",
    "basefont",
    "bgsound",
    "blink",
    "dir",
    "frame",
    "frameset",
    "image",
    "isindex",
    "keygen",
    "listing",
    "marquee",
    "menuitem",
    "multicol",
    "nextid",
    "nobr",
    "noembed",
    "noframes",
    "plaintext",
    "rb",
    "rtc",
    "selectedcontent",
    "spacer",
    "xmp",
];
/// Elements of the vocabularies within HTML, SVG and MathML, have another namespace.
const NAMESPACE: &str = "http://www.w3.org/1999/xhtml";

fn is_defined(name: &str) -> bool {
    is_html_element(name) || RARE.contains(&name)
}

/// Counts the elements with a text that the standard does not define, also those that a script of the page defines.
pub(super) fn count_unknown(main: &NodeRef<'_>) -> UnknownNames {
    let mut names = UnknownNames::default();
    for node in main.descendants_it() {
        let Some(name) = node.qual_name_ref() else { continue };
        if &*name.ns == NAMESPACE
            && !is_defined(&name.local)
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
        for name in super::super::block::BLOCKS {
            assert!(is_defined(name), "{name}");
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

//! Text within markup and addresses.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Escapes all but what a segment of a path may contain.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~')
    .remove(b':')
    .remove(b'@');
const PATH: &AsciiSet = &SEGMENT.remove(b'/');
/// Escapes all but what a fragment may contain.
const FRAGMENT: &AsciiSet = &PATH
    .remove(b'?')
    .remove(b'=')
    .remove(b'+')
    .remove(b',')
    .remove(b'(')
    .remove(b')');

/// A text as the value of an attribute in double quotation marks.
pub(super) fn attribute(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            c => out.push(c),
        }
    }
    out
}

/// A text as the fragment of an address.
pub(in crate::serving::serve) fn fragment(text: &str) -> String {
    utf8_percent_encode(text, FRAGMENT).to_string()
}

/// The path of the page that shows a document.
pub(in crate::serving::serve) fn document_path(project: &str, slug: &str) -> String {
    format!(
        "/doc/{}/{}",
        utf8_percent_encode(project, SEGMENT),
        utf8_percent_encode(slug, PATH)
    )
}

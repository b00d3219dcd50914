//! Detects the markup language of prose.

use crate::formats::format::Format;
use crate::formats::{asciidoc, markdown, plain, rst};

/// Lines at the beginning of a text that are examined.
const SAMPLE_LINES: usize = 400;

/// The format with the most evidence.
pub(super) fn format(text: &str) -> &'static Format {
    let (mut for_rst, mut for_asciidoc, mut for_markdown, mut underlines) = (0, 0, 0, 0);
    let mut previous = "";
    for line in text.lines().take(SAMPLE_LINES) {
        let trimmed = line.trim();
        for_rst += rst::evidence(trimmed);
        for_asciidoc += asciidoc::evidence(line, previous);
        for_markdown += markdown::evidence(trimmed);
        underlines += usize::from(is_underline(trimmed, previous));
        previous = trimmed;
    }
    // reStructuredText and AsciiDoc both underline titles.
    let for_rst = for_rst + 2 * underlines;
    let is_asciidoc = for_asciidoc >= 3 && for_asciidoc + 2 * underlines >= for_rst;
    // A single match is chance: a plain text may contain a hash or a double colon.
    if is_asciidoc && for_asciidoc + 2 * underlines > for_markdown {
        &asciidoc::FORMAT
    } else if for_rst.max(for_markdown) < 2 {
        &plain::FORMAT
    } else if for_rst >= for_markdown {
        &rst::FORMAT
    } else {
        &markdown::FORMAT
    }
}

fn is_underline(line: &str, previous: &str) -> bool {
    let mut characters = line.chars();
    characters.next().is_some_and(|first| {
        "=-~^\"*#+'`".contains(first)
            && line.len() >= 3
            && line.len() >= previous.chars().count()
            && !previous.is_empty()
            && previous.chars().any(char::is_alphanumeric)
            && characters.all(|character| character == first)
    })
}

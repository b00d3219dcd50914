//! Prose without markup.

use crate::draft::{Draft, Unreadable};
use crate::formats::format::{Format, Reader, TextSource};

pub(crate) static FORMAT: Format = Format {
    shared_extensions: &["txt"],
    is_linked: true,
    includes: true,
    ..Format::new(
        "text",
        "plain text",
        "plain text, unless the content is Markdown, reStructuredText or AsciiDoc",
        Reader::Text(read),
    )
};

fn read(source: &TextSource<'_>) -> Result<Vec<Draft>, Unreadable> {
    Ok(vec![Draft::of_page(source.text, |text, _| {
        Ok((text.to_owned(), None))
    })?])
}

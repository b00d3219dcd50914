//! Limits for the output of readers, for the fuzz targets.

use std::path::Path;

use docsearch_fuzz::text;

use crate::draft::{Draft, Unreadable};
use crate::formats::format::{Format, Reader, TextSource};
use crate::text::heading;

/// Maximum bytes of output for each byte of input, in addition to [`CONSTANT`].
pub(crate) const GROWTH: usize = 16;
pub(crate) const CONSTANT: usize = 256 * 1024;

/// Reads the input twice, and checks that the output is bounded and the same.
pub(crate) fn check(format: &Format, path: &str, input: &[u8]) {
    check_up_to(GROWTH, format, path, &text(input));
}

/// The same with another limit for each byte of input.
pub(crate) fn check_up_to(growth: usize, format: &Format, path: &str, text: &str) {
    if let Some(test) = &format.text_test {
        (test.passes)(text);
    }
    let Reader::Text(reader) = format.reader else {
        panic!("{format:?} is no text")
    };
    let read = || reader(&TextSource::alone(Path::new(path), text));
    check_drafts(growth, text, read);
}

/// The same for `bytes`, which were made from `text`.
pub(crate) fn check_bytes(format: &Format, text: &str, bytes: &[u8]) {
    let Reader::Bytes(reader) = format.reader else {
        panic!("{format:?} is text")
    };
    check_drafts(GROWTH, text, || reader(bytes));
}

fn check_drafts(growth: usize, text: &str, read: impl Fn() -> Result<Vec<Draft>, Unreadable>) {
    let Ok(drafts) = read() else { return };
    let size: usize = drafts.iter().map(|draft| draft.body.len()).sum();
    assert!(
        size <= growth * text.len() + CONSTANT,
        "{} bytes give {size}",
        text.len()
    );
    let again = read().expect("the same input");
    let bodies = |drafts: &[Draft]| drafts.iter().map(|draft| draft.body.clone()).collect::<Vec<_>>();
    assert_eq!(bodies(&again), bodies(&drafts), "the same input twice");
    for draft in &drafts {
        heading::first_heading(&draft.body);
    }
}

//! Fenced code blocks.

use crate::formats::markdown::mdx::indentation::{mark, split};
use crate::text::fence;

/// An open block.
#[derive(Debug)]
pub(super) struct Block {
    marker: String,
    info: String,
}

impl Block {
    /// The block that `line` opens: alone, after the marker of a list item, or in a quotation.
    pub(super) fn open(line: &str) -> Option<Self> {
        let (_, mut text) = split(line);
        text = text.trim_start_matches(['>', ' ']);
        while let Some(width) = mark(text).filter(|width| *width < text.len()) {
            text = text[width..].trim_start();
        }
        let first = text.chars().next().filter(|first| matches!(first, '`' | '~'))?;
        let length = text.chars().take_while(|&character| character == first).count();
        let info = text[length..].trim();
        let is_span = first == '`' && info.contains('`');
        (length >= 3 && !is_span).then(|| Self {
            marker: text[..length].to_owned(),
            info: info.to_owned(),
        })
    }

    /// The block that a line of colons opens.
    pub(super) fn of_colons(text: &str) -> Option<Self> {
        let info = text.trim_start_matches(':');
        let marker = &text[..text.len() - info.len()];
        (marker.len() >= 3).then(|| Self {
            marker: marker.to_owned(),
            info: info.trim().to_owned(),
        })
    }

    pub(super) fn info(&self) -> &str {
        &self.info
    }

    pub(super) fn closes(&self, line: &str) -> bool {
        let text = line.trim().trim_start_matches(['>', ' ']);
        let mark = &self.marker[..1];
        text.len() >= self.marker.len() && text.trim_start_matches(mark).is_empty() && text.starts_with(mark)
    }

    /// `code` in a block of its own.
    pub(super) fn fence(&self, language: &str, code: &str) -> String {
        fence::block(language, code)
    }
}

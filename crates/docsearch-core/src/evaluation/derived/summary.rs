//! Summaries and lead sentences as queries.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::SourcePage;
use super::hiding::Edit;
use super::phrase::{Corpus, HIDDEN, normalized};
use crate::documents::markdown::{lead, plain_text};

/// Fewest words that a page has besides its summary. Other queries may hide some of them.
const MIN_REST_WORDS: usize = 5;

/// What a page without headings says first, and what hides it; `None` if the rest says too little.
pub(super) fn summary(page: &SourcePage, corpus: &Corpus) -> Option<(String, Vec<Edit>)> {
    let lead = first_sentence(page);
    let mut edits = Vec::new();
    let text = match (&page.summary, &lead) {
        (Some(summary), _) => {
            edits.push(Edit::Summary);
            summary.trim().to_owned()
        }
        (None, Some((sentence, _))) => sentence.clone(),
        (None, None) => return None,
    };
    let mut rest = page.body.clone();
    if let Some((_, range)) = lead.filter(|(sentence, _)| normalized(sentence) == normalized(&text)) {
        rest.replace_range(range.clone(), &HIDDEN.to_string());
        edits.push(Edit::Lead {
            start: range.start,
            end: range.end,
        });
    }
    (corpus.distinct_content_words(&plain_text(&rest)).len() >= MIN_REST_WORDS).then_some((text, edits))
}

/// The first sentence of a body, behind a paragraph that repeats the title, with its place.
fn first_sentence(page: &SourcePage) -> Option<(String, Range<usize>)> {
    let (mut range, mut text) = lead(&page.body)?;
    if normalized(&text) == normalized(&page.title) {
        let behind = range.end;
        (range, text) = lead(page.body.get(behind..)?)?;
        range = range.start + behind..range.end + behind;
    }
    let sentence = text.unicode_sentences().next()?.trim().to_owned();
    let length = length_in(page.body.get(range.clone())?, &sentence)?;
    Some((sentence, range.start..range.start + length))
}

/// The length of the source of a text at the beginning of Markdown, if it has no marks of its own.
fn length_in(source: &str, text: &str) -> Option<usize> {
    let mut rest = source;
    for word in text.split_whitespace() {
        rest = rest.trim_start().strip_prefix(word)?;
    }
    Some(source.len() - rest.len())
}

//! Splits prose at sentences. Sentences that are too long are split at lines, then at words, then anywhere.

use super::measure::Measure;
use crate::documents::markdown::spans;
use crate::values::interrupt::{Interruptible, check};
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// A range of the text, and its tokens.
pub(super) type Span = (Range<usize>, usize);

#[derive(Clone, Copy)]
enum Level {
    Sentence,
    Line,
    Word,
    /// Words inside code spans and links too.
    AnyWord,
    Character,
}

impl Level {
    fn finer(self) -> Self {
        match self {
            Self::Sentence => Self::Line,
            Self::Line => Self::Word,
            Self::Word => Self::AnyWord,
            Self::AnyWord | Self::Character => Self::Character,
        }
    }
}

/// Splits `text` into sentences, and those above `budget` tokens into smaller pieces. The pieces tile the text.
///
/// Code spans, links and emphasis are split only as a last resort.
pub(super) fn split(text: &str, budget: usize, measure: Measure<'_>) -> Vec<Span> {
    let protected = protected_spans(text);
    let mut done = Vec::new();
    let mut open = vec![(0..text.len(), Level::Sentence)];
    while let Some((range, level)) = open.pop() {
        let mut pieces = cut(&text[range.clone()], level, budget);
        for piece in &mut pieces {
            *piece = piece.start + range.start..piece.end + range.start;
        }
        if matches!(level, Level::Sentence | Level::Line | Level::Word) {
            pieces = joined(pieces, &protected);
        }
        let mut too_long = Vec::new();
        for piece in pieces {
            let tokens = measure.tokens(&text[piece.clone()]);
            let last_resort = matches!(level, Level::Character) && text[piece.clone()].chars().nth(1).is_none();
            if tokens <= budget || last_resort {
                done.push((piece, tokens));
            } else {
                too_long.push((piece, level.finer()));
            }
        }
        open.extend(too_long);
    }
    done.sort_unstable_by_key(|(range, _)| range.start);
    done
}

/// Spans of a text that may be the content of a list or quotation: the meaning of its indentation is unknown here.
fn protected_spans(text: &str) -> Vec<Range<usize>> {
    let start = text.len() - text.trim_start_matches(|c: char| c.is_whitespace() || c == '>').len();
    spans(&text[start..])
        .into_iter()
        .map(|span| span.start + start..span.end + start)
        .collect()
}

fn cut(text: &str, level: Level, budget: usize) -> Vec<Range<usize>> {
    let ends: Vec<usize> = match level {
        Level::Sentence => sentence_ends(text),
        Level::Line => text.match_indices('\n').map(|(at, _)| at + 1).collect(),
        Level::Word | Level::AnyWord => word_ends(text),
        Level::Character => character_ends(text, budget),
    };
    let mut start = 0;
    let mut pieces = Vec::with_capacity(ends.len() + 1);
    for end in ends.into_iter().chain([text.len()]) {
        if end > start {
            pieces.push(start..end);
            start = end;
        }
    }
    pieces
}

/// Sentence boundaries of Unicode Standard Annex 29, without those it puts at every line break.
fn sentence_ends(text: &str) -> Vec<usize> {
    let ends_sentence = |c: char| matches!(c, '.' | '!' | '?' | ':' | '…' | '。' | '！' | '？' | '।' | '؟');
    let closes = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ')' | ']' | '”' | '’' | '»' | '*' | '_' | '`');
    let mut ends = Vec::new();
    for window in windows(text) {
        check();
        for (at, sentence) in text[window.clone()].split_sentence_bound_indices() {
            if sentence.trim_end_matches(closes).ends_with(ends_sentence) || sentence.ends_with("\n\n") {
                ends.push(window.start + at + sentence.len());
            }
        }
    }
    ends
}

/// Ranges of a kilobyte, longer than any sentence that fits a chunk, that end between words. The look-ahead of the
/// sentence rules is unbounded, so one call over megabytes of brackets would take quadratic time.
fn windows(text: &str) -> Vec<Range<usize>> {
    const WINDOW_BYTES: usize = 1024;
    let mut windows = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let limit = text.floor_char_boundary(start + WINDOW_BYTES);
        let space = text[start..limit]
            .rfind(char::is_whitespace)
            .filter(|_| limit < text.len());
        let end = space.map_or(limit, |at| start + at + 1);
        let end = text.ceil_char_boundary(end);
        windows.push(start..end);
        start = end;
    }
    windows
}

fn word_ends(text: &str) -> Vec<usize> {
    let mut spaced = false;
    let mut ends = Vec::new();
    for (at, c) in text.char_indices() {
        if spaced && !c.is_whitespace() {
            ends.push(at);
        }
        spaced = c.is_whitespace();
    }
    ends
}

/// A quarter of the budget at a time, assuming a token for each character, so that the pieces still pack well.
fn character_ends(text: &str, budget: usize) -> Vec<usize> {
    let characters = text.chars().count();
    let step = (budget / 4).min(characters / 2).max(1);
    text.char_indices().map(|(at, _)| at).step_by(step).collect()
}

/// Joins pieces whose boundary lies inside a protected range.
fn joined(pieces: Vec<Range<usize>>, protected: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut joined: Vec<Range<usize>> = Vec::with_capacity(pieces.len());
    for piece in pieces.into_iter().interruptible() {
        let at = protected.partition_point(|range| range.end <= piece.start);
        let inside = protected.get(at).is_some_and(|range| range.start < piece.start);
        match joined.last_mut() {
            Some(last) if inside => last.end = piece.end,
            _ => joined.push(piece),
        }
    }
    joined
}

//! Snippets: the part of a chunk around the query's words.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use crate::answer::highlight::{FoundWord, Mark, marks};
use crate::text::form::Form;
use crate::text::line::is_hidden;
use crate::text::token::{TokenKind, tokens};

/// A match in a text, by its position in the text's `tsvector`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Match {
    /// Position as `to_tsvector` counts it, from 1.
    pub position: u16,
    /// Index of the query term.
    pub term: usize,
    /// Weight of the term, at least 0.
    pub weight: f32,
}

/// The words of a query in a text.
#[derive(Clone, Debug, Default)]
pub struct TextMatches {
    /// Byte ranges of the matches, in order.
    pub(super) spans: Vec<(Range<usize>, Match)>,
    /// Words to mark, in order.
    marked: Vec<FoundWord>,
}

impl TextMatches {
    /// Reads a text once. `marked` are the positions of words to mark, with whether each is significant (see
    /// [`QueryWords`]).
    ///
    /// [`QueryWords`]: crate::answer::highlight::QueryWords
    pub fn of(text: &str, matches: &[Match], marked: &[(u16, bool)]) -> Self {
        let matched = matches.iter().map(|found| found.position);
        let mut positions: Vec<u16> = matched.chain(marked.iter().map(|(position, _)| *position)).collect();
        positions.sort_unstable();
        positions.dedup();
        let ranges = ranges(text, &positions);
        let range = |position: u16| {
            let at = ranges.binary_search_by_key(&position, |(known, _)| *known).ok()?;
            Some(ranges[at].1.clone())
        };
        let spans = matches.iter();
        let mut spans: Vec<(Range<usize>, Match)> = spans
            .filter_map(|found| Some((range(found.position)?, *found)))
            .collect();
        spans.sort_by_key(|(_, found)| found.position);
        let marked = marked.iter().filter_map(|&(position, is_significant)| {
            Some(FoundWord {
                range: range(position)?,
                is_significant,
            })
        });
        let mut marked: Vec<FoundWord> = marked.collect();
        marked.sort_by_key(|word| word.range.start);
        Self { spans, marked }
    }
}

/// Byte ranges of the tokens at ascending positions, as far as the text has them.
fn ranges(text: &str, positions: &[u16]) -> Vec<(u16, Range<usize>)> {
    let mut wanted = positions.iter().copied().peekable();
    let mut ranges = Vec::with_capacity(positions.len());
    let form = Form::of(text);
    let indexed = tokens(form.text()).filter(|token| token.kind != TokenKind::Gap);
    for (position, token) in (1..=u16::MAX).zip(indexed) {
        while wanted.next_if(|wanted| *wanted < position).is_some() {}
        if wanted.next_if_eq(&position).is_some() {
            ranges.push((position, form.source_range(token.range)));
        }
        if wanted.peek().is_none() {
            break;
        }
    }
    ranges
}

/// A part of a text that is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snippet {
    /// Its text.
    pub text: String,
    /// The words of the query in it.
    pub marks: Vec<Mark>,
}

/// Cuts about `max_chars` characters out of a plain text, around the greatest weight of different terms, with as much
/// before them as after. White space is folded, hidden characters are dropped, and `…` marks cuts. A word is cut only
/// if it alone is longer. The matches are positions in the text's own vector; without any, the snippet is the
/// beginning.
pub fn snippet(text: &str, matches: &TextMatches, max_chars: usize) -> Snippet {
    around(text, &matches.spans, matches, max_chars)
}

/// A snippet around some of the matches.
pub(super) fn around(text: &str, spans: &[(Range<usize>, Match)], matches: &TextMatches, max_chars: usize) -> Snippet {
    let start = window_start(text, spans, max_chars);
    cut(text, start, max_chars).marked(0, matches)
}

/// A snippet of the beginning of a text from `from` on.
pub(super) fn beginning_at(text: &str, from: usize, matches: &TextMatches, max_chars: usize) -> Snippet {
    cut(&text[from..], 0, max_chars).marked(from, matches)
}

fn window_start(text: &str, spans: &[(Range<usize>, Match)], max_chars: usize) -> usize {
    let mut best = (0.0f32, 0, 0);
    for (i, (first, _)) in spans.iter().enumerate() {
        let from = first.start;
        let mut terms: Vec<(usize, f32)> = Vec::new();
        let mut until = first.end;
        let near = |(range, _): &&(Range<usize>, Match)| range.start == from || range.end - from <= max_chars;
        for (range, found) in spans[i..].iter().take_while(near) {
            until = until.max(range.end);
            match terms.iter_mut().find(|(term, _)| *term == found.term) {
                // A repeated term adds little.
                Some((_, weight)) => *weight += found.weight * 0.05,
                None => terms.push((found.term, found.weight)),
            }
        }
        let weight = terms.iter().map(|(_, weight)| weight).sum();
        if weight > best.0 {
            best = (weight, from, until);
        }
    }
    let (_, from, until) = best;
    let margin = max_chars.saturating_sub(text[from..until].chars().count());
    // Near the end there is less to show after the match, so there is more before it.
    let behind = text[until..].chars().take(margin / 2).count();
    let earliest = back(text, from, margin - behind);
    sentence_start(text, earliest, from)
}

/// The position this number of characters before `from`.
fn back(text: &str, from: usize, chars: usize) -> usize {
    let before = text[..from].char_indices().rev().take(chars);
    before.last().map_or(from, |(at, _)| at)
}

/// The first beginning of a sentence or line in `earliest..from`, or else of a word. A match may be within a word.
fn sentence_start(text: &str, earliest: usize, from: usize) -> usize {
    if earliest == 0 {
        return 0;
    }
    let lead = &text[earliest..from];
    let after = |at: usize| earliest + at;
    let sentence = [". ", "\n", "! ", "? "]
        .iter()
        .filter_map(|end| lead.find(end).map(|at| after(at + end.len())))
        .min();
    let word = || {
        let (at, space) = lead.char_indices().find(|(_, c)| c.is_whitespace())?;
        Some(after(at + space.len_utf8()))
    };
    sentence.or_else(word).unwrap_or_else(|| word_start(text, from))
}

/// Beginning of the word at `at`.
fn word_start(text: &str, at: usize) -> usize {
    text.unicode_word_indices()
        .take_while(|(start, _)| *start < at)
        .last()
        .filter(|(start, word)| start + word.len() > at)
        .map_or(at, |(start, _)| start)
}

/// Text that was cut out of another.
#[derive(Default)]
struct Cut {
    text: String,
    /// Number of characters.
    length: usize,
    /// Bytes of the other text, and where they begin in this one.
    pieces: Vec<(Range<usize>, usize)>,
}

impl Cut {
    /// Appends a part of a text without its hidden characters.
    fn push(&mut self, text: &str, range: Range<usize>) {
        let mut at = range.start;
        for piece in text[range].split_inclusive(is_hidden) {
            let visible = piece.trim_end_matches(is_hidden);
            if !visible.is_empty() {
                self.pieces.push((at..at + visible.len(), self.text.len()));
                self.text.push_str(visible);
                self.length += visible.chars().count();
            }
            at += piece.len();
        }
    }

    /// The snippet with the words to mark. The text that was cut begins at `base` of the one with the matches.
    fn marked(self, base: usize, matches: &TextMatches) -> Snippet {
        let mut found = Vec::new();
        for word in &matches.marked {
            let from = self
                .pieces
                .partition_point(|(piece, _)| base + piece.end <= word.range.start);
            let pieces = self.pieces[from..].iter();
            for (piece, at) in pieces.take_while(|(piece, _)| base + piece.start < word.range.end) {
                let start = word.range.start.max(base + piece.start) - base - piece.start;
                let end = word.range.end.min(base + piece.end) - base - piece.start;
                found.push(FoundWord {
                    range: at + start..at + end,
                    ..*word
                });
            }
        }
        Snippet {
            marks: marks(&self.text, found),
            text: self.text,
        }
    }
}

fn cut(text: &str, start: usize, max_chars: usize) -> Cut {
    let mut out = Cut::default();
    if !text[..start].trim().is_empty() {
        out.text.push_str("… ");
        out.length = 2;
    }
    for range in words(text, start) {
        let (word, at) = (&text[range.clone()], range.start);
        let word_length = visible_chars(word);
        let space = usize::from(!out.text.is_empty() && !out.text.ends_with(' '));
        if out.length + space + word_length > max_chars {
            let room = max_chars.saturating_sub(out.length + space);
            // In a script without spaces, a text between spaces may be a paragraph.
            let fitting = beginning(word.split_word_bounds(), room);
            if out.length <= 2 {
                let end = if fitting > 0 { fitting } else { clipped(word, room) };
                out.push(text, at..at + end);
            } else if 2 * room > max_chars && fitting > 0 {
                out.text.push(' ');
                out.push(text, at..at + fitting);
            }
            out.text.push_str(" …");
            return out;
        }
        if space == 1 {
            out.text.push(' ');
            out.length += 1;
        }
        out.push(text, range);
    }
    out
}

/// Bytes of the words from `start` on that are not wholly hidden.
fn words(text: &str, start: usize) -> impl Iterator<Item = Range<usize>> {
    let mut at = start;
    let pieces = text[start..].split_inclusive(char::is_whitespace);
    pieces.filter_map(move |piece| {
        let word = piece.trim_end_matches(char::is_whitespace);
        let range = at..at + word.len();
        at += piece.len();
        (!word.chars().all(is_hidden)).then_some(range)
    })
}

fn visible_chars(text: &str) -> usize {
    text.chars().filter(|c| !is_hidden(*c)).count()
}

/// Bytes of the first pieces that have at most `room` characters together.
fn beginning<'a>(pieces: impl Iterator<Item = &'a str>, room: usize) -> usize {
    let mut chars = 0;
    pieces
        .take_while(|piece| {
            chars += visible_chars(piece);
            chars <= room
        })
        .map(str::len)
        .sum()
}

/// Bytes of the beginning of a word that is longer than the room.
fn clipped(word: &str, room: usize) -> usize {
    beginning(word.graphemes(true), room)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(position: u16, term: usize) -> Match {
        Match {
            position,
            term,
            weight: 1.0,
        }
    }

    fn shown_part(text: &str, matches: &[Match], max_chars: usize) -> String {
        snippet(text, &TextMatches::of(text, matches, &[]), max_chars).text
    }

    #[test]
    fn the_window_holds_the_terms() {
        let text = format!(
            "{} The UITableView reloads its rows. {}",
            "word ".repeat(200),
            "more ".repeat(200)
        );
        // 200 words, `The`, then the identifier whole and its three parts, then `reloads`.
        let shown = shown_part(&text, &[found(202, 0), found(206, 1)], 80);
        assert!(shown.contains("UITableView reloads"), "{shown}");
        assert!(shown.starts_with("… ") && shown.ends_with(" …"));
    }

    #[test]
    fn a_match_is_shown_as_the_text_writes_it() {
        let text = format!(
            "{}the cafe\u{301} of the oﬃce {}",
            "ﬁle ".repeat(50),
            "co\u{ad}op ".repeat(50)
        );
        // 50 words and `the`, then the word and its folded form.
        let shown = shown_part(&text, &[found(53, 0)], 24);
        assert!(shown.contains("ﬁle the cafe\u{301} of the"), "{shown}");
    }

    #[test]
    fn without_matches_the_beginning_is_shown() {
        assert_eq!(shown_part("one  two\nthree", &[], 100), "one two three");
        assert_eq!(shown_part("one two three", &[], 8), "one two …");
    }

    #[test]
    fn a_match_at_the_end_is_shown_with_what_precedes_it() {
        let text = format!("{}the UITableView", "word ".repeat(100));
        let shown = shown_part(&text, &[found(102, 0)], 60);
        assert!(shown.ends_with("word the UITableView"), "{shown}");
        assert!(shown.chars().count() > 50, "{shown}");
    }

    #[test]
    fn words_stay_whole() {
        let text = "aaaaaaaa, UITableViewDelegateDataSourceController and so on";
        // 1: the word, 2: the identifier, 3 to 8: its parts.
        let shown = shown_part(text, &[found(5, 0)], 12);
        assert!(shown.starts_with("… UITable"), "{shown}");
        let japanese = "今日は東京都の天気予報を見ました";
        assert_eq!(shown_part(japanese, &[], 8).chars().count(), 10);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        #[test]
        fn snippets_keep_their_length(text in "\\PC{0,300}", position in 0u16..80, max in 10usize..120) {
            let shown = shown_part(&text, &[found(position, 0)], max);
            prop_assert!(shown.chars().count() <= max + 2);
        }
    }
}

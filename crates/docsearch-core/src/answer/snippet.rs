//! Snippets: the part of a chunk around the query's words.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use crate::text::form::Form;
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

/// Cuts about `max_chars` characters out of a plain text, around the greatest weight of different terms, with as much
/// before them as after. White space is folded, and `…` marks cuts. A word is cut only if it alone is longer. The
/// matches are positions in the text's own vector; without any, the snippet is the beginning.
pub fn snippet(text: &str, matches: &[Match], max_chars: usize) -> String {
    let spans = match_spans(text, matches);
    let start = window_start(text, &spans, max_chars);
    cut(text, start, max_chars)
}

/// Byte ranges of the matches, in order.
pub(super) fn match_spans(text: &str, matches: &[Match]) -> Vec<(Range<usize>, Match)> {
    let mut ordered = matches.to_vec();
    ordered.sort_by_key(|found| found.position);
    let mut wanted = ordered.into_iter().peekable();
    let mut spans = Vec::new();
    let form = Form::of(text);
    let indexed = tokens(form.text()).filter(|token| token.kind != TokenKind::Gap);
    for (position, token) in (1..=u16::MAX).zip(indexed) {
        while let Some(found) = wanted.next_if(|found| found.position <= position) {
            if found.position == position {
                spans.push((form.source_range(token.range.clone()), found));
            }
        }
        if wanted.peek().is_none() {
            break;
        }
    }
    spans
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

fn cut(text: &str, start: usize, max_chars: usize) -> String {
    let mut out = String::new();
    let mut length = 0;
    if !text[..start].trim().is_empty() {
        out.push_str("… ");
        length = 2;
    }
    for word in text[start..].split_whitespace() {
        let word_length = word.chars().count();
        let space = usize::from(!out.is_empty() && !out.ends_with(' '));
        if length + space + word_length > max_chars {
            let room = max_chars.saturating_sub(length + space);
            // In a script without spaces, a text between spaces may be a paragraph.
            let fitting = beginning(word.split_word_bounds(), room);
            if length <= 2 {
                out.push_str(if fitting > 0 {
                    &word[..fitting]
                } else {
                    clipped(word, room)
                });
            } else if 2 * room > max_chars && fitting > 0 {
                out.push(' ');
                out.push_str(&word[..fitting]);
            }
            out.push_str(" …");
            return out;
        }
        if space == 1 {
            out.push(' ');
        }
        out.push_str(word);
        length += space + word_length;
    }
    out
}

/// Bytes of the first pieces that have at most `room` characters together.
fn beginning<'a>(pieces: impl Iterator<Item = &'a str>, room: usize) -> usize {
    let mut chars = 0;
    pieces
        .take_while(|piece| {
            chars += piece.chars().count();
            chars <= room
        })
        .map(str::len)
        .sum()
}

/// The beginning of a word that is longer than the room.
fn clipped(word: &str, room: usize) -> &str {
    &word[..beginning(word.graphemes(true), room)]
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

    #[test]
    fn the_window_holds_the_terms() {
        let text = format!(
            "{} The UITableView reloads its rows. {}",
            "word ".repeat(200),
            "more ".repeat(200)
        );
        // 200 words, `The`, then the identifier whole and its three parts, then `reloads`.
        let shown = snippet(&text, &[found(202, 0), found(206, 1)], 80);
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
        let shown = snippet(&text, &[found(53, 0)], 24);
        assert!(shown.contains("ﬁle the cafe\u{301} of the"), "{shown}");
    }

    #[test]
    fn without_matches_the_beginning_is_shown() {
        assert_eq!(snippet("one  two\nthree", &[], 100), "one two three");
        assert_eq!(snippet("one two three", &[], 8), "one two …");
    }

    #[test]
    fn a_match_at_the_end_is_shown_with_what_precedes_it() {
        let text = format!("{}the UITableView", "word ".repeat(100));
        let shown = snippet(&text, &[found(102, 0)], 60);
        assert!(shown.ends_with("word the UITableView"), "{shown}");
        assert!(shown.chars().count() > 50, "{shown}");
    }

    #[test]
    fn words_stay_whole() {
        let text = "aaaaaaaa, UITableViewDelegateDataSourceController and so on";
        // 1: the word, 2: the identifier, 3 to 8: its parts.
        let shown = snippet(text, &[found(5, 0)], 12);
        assert!(shown.starts_with("… UITable"), "{shown}");
        let japanese = "今日は東京都の天気予報を見ました";
        assert_eq!(snippet(japanese, &[], 8).chars().count(), 10);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        #[test]
        fn snippets_keep_their_length(text in "\\PC{0,300}", position in 0u16..80, max in 10usize..120) {
            let shown = snippet(&text, &[found(position, 0)], max);
            prop_assert!(shown.chars().count() <= max + 2);
        }
    }
}

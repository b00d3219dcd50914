//! The part of a chunk that shows why it was found.

use crate::token::{TokenKind, tokens};

/// A match in a text: the position that the text's vector has for it, and how much it weighs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Match {
    /// Position as `to_tsvector` counts it, from 1.
    pub position: u16,
    /// Which query term matched.
    pub term: usize,
    /// Weight of the term, at least 0.
    pub weight: f32,
}

/// Cuts about `max_chars` characters out of a plain text, where the most weight of different terms
/// comes together. White space is folded; `…` marks what was left away. The matches are positions
/// of the text's own vector: without matches the text's beginning is taken.
pub fn snippet(text: &str, matches: &[Match], max_chars: usize) -> String {
    let spans = match_spans(text, matches);
    let start = window_start(text, &spans, max_chars);
    cut(text, start, max_chars)
}

/// Byte offset of each match, in order.
fn match_spans(text: &str, matches: &[Match]) -> Vec<(usize, Match)> {
    let mut ordered = matches.to_vec();
    ordered.sort_by_key(|found| found.position);
    let mut wanted = ordered.into_iter().peekable();
    let mut spans = Vec::new();
    let indexed = tokens(text).filter(|token| token.kind != TokenKind::Gap);
    for (position, token) in (1..=u16::MAX).zip(indexed) {
        while let Some(found) = wanted.next_if(|found| found.position <= position) {
            if found.position == position {
                spans.push((token.range.start, found));
            }
        }
        if wanted.peek().is_none() {
            break;
        }
    }
    spans
}

fn window_start(text: &str, spans: &[(usize, Match)], max_chars: usize) -> usize {
    let mut best = (0.0f32, 0, 0);
    for (i, &(from, _)) in spans.iter().enumerate() {
        let mut terms: Vec<(usize, f32)> = Vec::new();
        let mut until = from;
        for &(at, found) in spans[i..].iter().take_while(|(at, _)| at - from < max_chars) {
            until = at;
            match terms.iter_mut().find(|(term, _)| *term == found.term) {
                // A term that comes again says little more.
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
    let margin = max_chars.saturating_sub(until - from) / 2;
    let earliest = text[..from]
        .char_indices()
        .rev()
        .take(margin)
        .last()
        .map_or(from, |(at, _)| at);
    sentence_start(text, earliest, from)
}

/// The first beginning of a sentence or line in `earliest..from`, or else of a word.
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
    sentence
        .or_else(|| {
            let (at, space) = lead.char_indices().find(|(_, c)| c.is_whitespace())?;
            Some(after(at + space.len_utf8()))
        })
        .unwrap_or(from)
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
            if length <= 2 {
                out.extend(word.chars().take(max_chars.saturating_sub(length)));
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
    fn without_matches_the_beginning_is_shown() {
        assert_eq!(snippet("one  two\nthree", &[], 100), "one two three");
        assert_eq!(snippet("one two three", &[], 8), "one two …");
    }

    proptest! {
        #[test]
        fn snippets_keep_their_length(text in "\\PC{0,300}", position in 0u16..80, max in 10usize..120) {
            let shown = snippet(&text, &[found(position, 0)], max);
            prop_assert!(shown.chars().count() <= max + 2);
        }
    }
}

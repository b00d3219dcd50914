//! The task of a query, without the words around it: `silence an alarm` of `what is the best way to silence an
//! alarm?`.

use std::ops::Range;

use crate::query::rule::Rules;

/// Fewest words of a query whose final question mark is no part of a name, unless it begins with a verb. Chosen:
/// `Int?` and `Optional Int?` are names.
const MIN_WORDS: usize = 3;
/// Most words before an opening that are left out with it: `ok so how do I`. Chosen.
const MAX_BEFORE: usize = 3;
/// Signs that end a sentence.
const SENTENCE_ENDS: [char; 8] = ['?', '!', '.', '…', '？', '！', '。', '¿'];

/// A query without openings, closings and the question mark. The whole query, if only stop words would be left.
pub(crate) fn task<'a>(text: &'a str, rules: &Rules) -> &'a str {
    let words = words(text);
    let (start, end) = inner(&words, rules);
    let framed = start > 0 || end < words.len();
    let is_significant = |word: &Word| !word.ends && (word.lower.is_empty() || !rules.is_stop_word(&word.lower));
    let is_name =
        !framed && words.len() < MIN_WORDS && words.first().is_none_or(|first| rules.verb(&first.lower).is_none());
    if !words[start..end].iter().any(is_significant) || is_name {
        return text;
    }
    let from = if start == 0 { 0 } else { words[start].range.start };
    let to = if end == words.len() {
        text.len()
    } else {
        words[end - 1].range.end
    };
    let mut task = text[from..to].trim();
    if end < words.len() {
        task = task.trim_end_matches([',', ';', ':', '-', '–', '—']).trim_end();
    }
    without_end(task, framed)
}

/// The range of words without openings and closings.
fn inner(words: &[Word], rules: &Rules) -> (usize, usize) {
    let lower: Vec<&str> = words.iter().map(|word| word.lower.as_str()).collect();
    let asks = |word: &str| rules.tables().question_words.contains(word);
    let before = |word: &&&str| {
        word.is_empty() || rules.tables().framing_words.contains(**word) || (rules.is_stop_word(word) && !asks(word))
    };
    let mut start = rules.question_patterns().opening_length(&lower);
    if start == 0 {
        let most = lower.iter().take(MAX_BEFORE).take_while(before).count();
        // A single word after others is a word of the task.
        start = (1..=most)
            .map(|at| (at, rules.question_patterns().opening_length(&lower[at..])))
            .find(|&(_, length)| length > 1)
            .map_or(0, |(at, length)| at + length);
    }
    let signs = words[start..].iter().rev().take_while(|word| word.ends).count();
    let closed = rules
        .question_patterns()
        .closing_length(&lower[start..lower.len() - signs]);
    // Signs of their own after an opening or a closing are punctuation. After other words they are words.
    let signs = if start + closed > 0 { signs } else { 0 };
    (start, words.len() - signs - closed)
}

/// A word of a query.
struct Word {
    /// In lower case, without punctuation around it.
    lower: String,
    /// Its range in the query, with the punctuation.
    range: Range<usize>,
    /// Whether it is nothing but signs that end a sentence.
    ends: bool,
}

/// Words are divided by spaces and apostrophes, as in patterns: `what s`, `j aimerais`.
fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut from = 0;
    for part in text.split_inclusive(|c: char| c.is_whitespace() || c == '\'' || c == '’') {
        let range = from..from + part.len();
        from = range.end;
        if !part.trim().is_empty() {
            words.push(Word {
                lower: part.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase(),
                range,
                ends: part.trim().chars().all(|c| SENTENCE_ENDS.contains(&c)),
            });
        }
    }
    words
}

/// A text without its final question mark. After other signs it is a part of them: `->>?`.
fn without_end(text: &str, framed: bool) -> &str {
    let bare = text.trim_end_matches(SENTENCE_ENDS);
    let apart = bare.ends_with(char::is_whitespace);
    let whole = bare.ends_with(|c: char| c.is_alphanumeric() || ")]\"'`”’»".contains(c));
    if whole || (apart && framed) {
        bare.trim_end()
    } else {
        text
    }
}

#[cfg(test)]
mod tests;

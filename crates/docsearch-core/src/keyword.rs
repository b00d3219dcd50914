//! Keywords of a document: the words and identifiers that tell it from its neighbours.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::identifier::is_identifier;
use crate::token::{TokenKind, tokens};

/// A word of a document that might be a keyword.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Kind of its token, which decides the dictionaries it goes through.
    pub kind: TokenKind,
    /// As it is written most often, first of equals.
    pub word: String,
    /// How often it occurs, whatever its case.
    pub frequency: u32,
}

/// Words that say little and that the lists of stop words of PostgreSQL lack, for English.
const SAY_LITTLE: [&str; 20] = [
    "also",
    "another",
    "based",
    "could",
    "example",
    "following",
    "however",
    "may",
    "might",
    "must",
    "one",
    "ones",
    "shall",
    "see",
    "two",
    "use",
    "used",
    "uses",
    "using",
    "would",
];

/// Whether a word says little in English, beside what PostgreSQL takes for a stop word.
pub fn says_little(word: &str) -> bool {
    SAY_LITTLE.contains(&lower_case(word).as_ref())
}

/// Shortest and most frequent candidates that are asked for; rarer words are rarely keywords.
const MAX_CANDIDATES: usize = 60;
const MIN_LETTERS: usize = 3;

/// The words of a plain text that might be keywords, most frequent first.
pub fn candidates(text: &str) -> Vec<Candidate> {
    let mut counts: HashMap<Cow<'_, str>, (u32, usize, &str, TokenKind)> = HashMap::new();
    for (order, token) in tokens(text).enumerate() {
        let counted = matches!(
            token.kind,
            TokenKind::Word | TokenKind::NumberWord | TokenKind::Identifier | TokenKind::Qualified
        ) && !token.inside_whole;
        let word = &text[token.range];
        if counted && word.chars().filter(|c| c.is_alphabetic()).count() >= MIN_LETTERS {
            counts.entry(lower_case(word)).or_insert((0, order, word, token.kind)).0 += 1;
        }
    }
    let mut found: Vec<_> = counts.into_values().collect();
    found.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    found
        .into_iter()
        .take(MAX_CANDIDATES)
        .map(|(frequency, _, word, kind)| Candidate {
            kind,
            word: word.to_owned(),
            frequency,
        })
        .collect()
}

fn lower_case(word: &str) -> Cow<'_, str> {
    if word.bytes().all(|b| b.is_ascii() && !b.is_ascii_uppercase()) {
        Cow::Borrowed(word)
    } else {
        Cow::Owned(word.to_lowercase())
    }
}

/// The best candidates by `tf * idf`, identifiers that stand in code first. `idf` has one value for
/// each candidate, `code` the code spans of the document.
pub fn select(candidates: &[Candidate], idf: &[f32], code: &[String], count: usize) -> Vec<String> {
    let in_code: HashMap<String, usize> = code.iter().fold(HashMap::new(), |mut seen, span| {
        *seen.entry(span.trim().to_lowercase()).or_default() += 1;
        seen
    });
    let mut scored: Vec<(f32, &str)> = candidates
        .iter()
        .zip(idf)
        .map(|(candidate, idf)| {
            let named = is_identifier(&candidate.word) || in_code.contains_key(&candidate.word.to_lowercase());
            let factor = if named { 2.0 } else { 1.0 };
            (
                (1.0 + candidate.frequency as f32).ln() * idf * factor,
                candidate.word.as_str(),
            )
        })
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    // What tells nothing is no keyword, even where there is nothing else.
    scored
        .into_iter()
        .filter(|(score, _)| *score > 0.0)
        .take(count)
        .map(|(_, word)| word.to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s3_9_keywords_are_frequent_here_and_rare_elsewhere() {
        let text = "The UITableView shows rows. A UITableView reloads rows of the table, and the rows scroll.";
        let candidates = candidates(text);
        assert_eq!(
            candidates[0],
            Candidate {
                kind: TokenKind::Word,
                word: "The".into(),
                frequency: 3
            }
        );
        let idf: Vec<f32> = candidates
            .iter()
            .map(|c| if c.word == "The" { 0.1 } else { 2.0 })
            .collect();
        let chosen = select(&candidates, &idf, &["UITableView".into()], 2);
        assert_eq!(chosen, ["UITableView", "rows"]);
        let nothing = vec![0.0; candidates.len()];
        assert!(select(&candidates, &nothing, &["UITableView".into()], 2).is_empty());
    }
}

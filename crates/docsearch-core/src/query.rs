//! What a query says, before any document is looked at.

use std::collections::HashMap;

use crate::token::{TokenKind, tokens};

/// Longest query, in characters, that is read; what follows is ignored, with a notice.
pub const MAX_QUERY_CHARS: usize = 8_000;

/// A query as written and what can be told from its form alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// The text, trimmed.
    pub text: String,
    /// `X` of `X in Y`.
    pub symbol: Option<String>,
    /// `Y` of `X in Y`: a project, framework, category or path.
    pub container: Option<String>,
    /// Whether the text was longer than [`MAX_QUERY_CHARS`].
    pub truncated: bool,
}

impl Query {
    /// Reads a query. `None` if it is blank.
    pub fn parse(text: &str) -> Option<Self> {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return None;
        }
        let end = trimmed.char_indices().nth(MAX_QUERY_CHARS).map(|(at, _)| at);
        let text = &trimmed[..end.unwrap_or(trimmed.len())];
        let (symbol, container) = in_pattern(text).unzip();
        Some(Self {
            text: text.to_owned(),
            symbol: symbol.map(str::to_owned),
            container: container.map(str::to_owned),
            truncated: end.is_some(),
        })
    }

    /// The tokens that are looked up, in order, without gaps.
    pub fn terms(&self) -> Vec<QueryToken> {
        tokens(&self.text)
            .filter(|token| token.kind != TokenKind::Gap)
            .map(|token| QueryToken {
                kind: token.kind,
                text: self.text[token.range].to_owned(),
                part: token.inside_whole,
            })
            .collect()
    }
}

/// Splits `X in Y` at its last `in`; Y has at most three words, or the `in` belongs to a sentence.
pub(crate) fn in_pattern(text: &str) -> Option<(&str, &str)> {
    let lower = text.to_ascii_lowercase();
    let at = lower.rfind(" in ")?;
    let (symbol, container) = (text[..at].trim(), text[at + 4..].trim());
    let short = (1..=3).contains(&container.split_whitespace().count());
    (!symbol.is_empty() && short).then_some((symbol, container))
}

/// A token of a query.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct QueryToken {
    /// Kind, which decides the dictionaries it goes through.
    pub kind: TokenKind,
    /// As written.
    pub text: String,
    /// Whether it is a part of an identifier that the query holds whole.
    pub part: bool,
}

/// A term to look up: lexemes that mean the same, and how much the term counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// What the dictionaries made of the word, and the word itself where that differs: identifiers
    /// are indexed unstemmed, so `asyncimage` has to find `AsyncImage`.
    pub lexemes: Vec<String>,
    /// Factor of the term's score, 0 to 1.
    pub weight: f32,
}

/// Merges tokens and the lexemes that the dictionaries gave for each into terms without duplicates.
/// `part_weight` is the factor of parts of identifiers: they say less than the identifier whole.
pub fn terms(tokens: &[QueryToken], lexemes: &[Vec<String>], part_weight: f32) -> Vec<Term> {
    let mut index: HashMap<String, usize> = HashMap::new();
    let mut terms: Vec<Term> = Vec::new();
    for (token, found) in tokens.iter().zip(lexemes) {
        let weight = if token.part && !token.kind.is_whole() {
            part_weight
        } else {
            1.0
        };
        let mut lexemes = found.clone();
        if token.kind == TokenKind::Word && !found.is_empty() {
            lexemes.push(token.text.to_lowercase());
        }
        lexemes.dedup();
        let Some(first) = lexemes.first() else {
            continue;
        };
        match index.get(first) {
            Some(&known) => terms[known].weight = terms[known].weight.max(weight),
            None => {
                index.insert(first.clone(), terms.len());
                terms.push(Term { lexemes, weight });
            }
        }
    }
    terms
}

/// A `tsquery` that any of the lexemes satisfies, as text.
pub fn any_of<'a>(lexemes: impl IntoIterator<Item = &'a str>) -> String {
    lexemes
        .into_iter()
        .map(|lexeme| format!("'{}'", lexeme.replace('\\', "\\\\").replace('\'', "''")))
        .collect::<Vec<_>>()
        .join(" | ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> (Option<String>, Option<String>) {
        let query = Query::parse(text).expect("not blank");
        (query.symbol, query.container)
    }

    #[test]
    fn s0_1_x_in_y() {
        let both = |x: &str, y: &str| (Some(x.to_owned()), Some(y.to_owned()));
        assert_eq!(parts("Button in SwiftUI"), both("Button", "SwiftUI"));
        assert_eq!(parts("button IN swift ui"), both("button", "swift ui"));
        assert_eq!(parts("plug in to it in Qt"), both("plug in to it", "Qt"));
        assert_eq!(parts("in SwiftUI"), (None, None));
        assert_eq!(parts("how to wait in a loop that never ends"), (None, None));
    }

    #[test]
    fn s3_30_only_blank_queries_are_refused() {
        assert_eq!(Query::parse(" \n\t"), None);
        for query in ["@>", "[[", "!"] {
            assert_eq!(Query::parse(query).map(|query| query.text).as_deref(), Some(query));
        }
        let long = Query::parse(&"x ".repeat(50_000)).expect("not blank");
        assert!(long.truncated);
        assert_eq!(long.text.chars().count(), MAX_QUERY_CHARS);
    }

    #[test]
    fn a_word_is_also_looked_up_as_written() {
        let query = Query::parse("asyncimage Button button").expect("not blank");
        let tokens = query.terms();
        let lexemes = [vec!["asyncimag".into()], vec!["button".into()], vec!["button".into()]];
        let terms = terms(&tokens, &lexemes, 0.5);
        assert_eq!(terms.len(), 2);
        assert_eq!(terms[0].lexemes, ["asyncimag", "asyncimage"]);
        assert_eq!(terms[1].lexemes, ["button"]);
    }

    #[test]
    fn parts_count_less_than_the_identifier() {
        let query = Query::parse("UITableView").expect("not blank");
        let tokens = query.terms();
        let lexemes: Vec<Vec<String>> = tokens.iter().map(|token| vec![token.text.to_lowercase()]).collect();
        let weights: Vec<f32> = terms(&tokens, &lexemes, 0.25).iter().map(|term| term.weight).collect();
        assert_eq!(weights, [1.0, 0.25, 0.25, 0.25]);
    }

    #[test]
    fn lexemes_are_quoted() {
        assert_eq!(any_of(["it's", "a\\b"]), r"'it''s' | 'a\\b'");
    }
}

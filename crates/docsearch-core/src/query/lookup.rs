//! The terms that the keyword retriever looks up for a query: its words, their expansions, and their weights.

use std::collections::HashMap;

use crate::query::rule::Rules;
use crate::query::understanding::Understanding;
use crate::text::form::{FOLDED_MARK, Form, folded};
use crate::text::token::{Token, TokenKind, folded_token, is_unspaced, tokens};

/// Closeness of a word that differs in accents or hyphens only. Chosen: nearer than any synonym.
pub(crate) const FOLDED_CLOSENESS: f32 = 0.9;
/// Closeness of a synonym, abbreviation or acronym. Chosen: as of the nearest verbs in the shipped rules.
pub(crate) const SYNONYM_CLOSENESS: f32 = 0.8;
/// Verbs of at least this closeness are looked up with a verb. Chosen, not measured.
const MIN_VERB_CLOSENESS: f32 = 0.6;

/// A query with more words is a sentence with stop words as its grammar. With a tenth of the weight for them, nDCG@10
/// of queries of seven to twenty words rises in seven of eight groups of the development sets. That of shorter
/// queries falls in seven of ten.
const MAX_PHRASE_TOKENS: usize = 6;

/// The tokens of a text, in order and without gaps, followed by expansions of the tokens and of the verbs, and by
/// other spellings of the tokens.
pub fn query_tokens(text: &str, understood: Option<&Understanding>, rules: &Rules) -> Vec<QueryToken> {
    let mut tokens = plain_tokens(text, None, rules);
    let mut expansions = Vec::new();
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| !token.part) {
        let known = rules.tables().synonyms.get(&token.text.to_lowercase());
        for expansion in known.into_iter().flatten() {
            expansions.extend(plain_tokens(expansion, Some((at, SYNONYM_CLOSENESS)), rules));
        }
    }
    for term in understood.iter().flat_map(|understood| &understood.terms) {
        let synonyms = term
            .verb
            .as_ref()
            .and_then(|verb| rules.tables().action_synonyms.get(verb));
        let mut synonyms: Vec<(&str, f32)> = synonyms
            .into_iter()
            .flatten()
            .map(|(verb, &closeness)| (verb.as_str(), closeness))
            .filter(|(_, closeness)| *closeness >= MIN_VERB_CLOSENESS)
            .collect();
        synonyms.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
        let own = |token: &QueryToken| token.text.eq_ignore_ascii_case(&term.word.text);
        let at = match tokens.iter().position(own) {
            Some(at) => at,
            // The words of "get rid of" are stop words. The nearest verb is looked up instead.
            None => {
                let Some((best, _)) = synonyms.first().copied() else {
                    continue;
                };
                let phrase: Vec<&str> = term.word.text.split(' ').collect();
                for token in &mut tokens {
                    token.part |= phrase.iter().any(|word| token.text.eq_ignore_ascii_case(word));
                }
                tokens.extend(plain_tokens(best, None, rules).into_iter().map(|token| QueryToken {
                    written: false,
                    ..token
                }));
                tokens.len() - 1
            }
        };
        for (verb, closeness) in synonyms {
            expansions.extend(plain_tokens(verb, Some((at, closeness)), rules));
        }
    }
    let spellings: Vec<QueryToken> = tokens.iter().enumerate().flat_map(other_spellings).collect();
    tokens.extend(spellings);
    tokens.extend(expansions);
    tokens
}

/// The spellings of a word without accents and hyphens, in texts that have them and in texts that do not.
fn other_spellings((at, token): (usize, &QueryToken)) -> Vec<QueryToken> {
    if !token.kind.is_folded() || token.expands.is_some() {
        return Vec::new();
    }
    let spelling = |kind, text| QueryToken {
        kind,
        text,
        written: false,
        expands: Some((at, FOLDED_CLOSENESS)),
        is_spelling: true,
        ..token.clone()
    };
    let without = folded(&token.text).map(|text| spelling(token.kind, text));
    let with = spelling(TokenKind::Folded, folded_token(&token.text));
    without.into_iter().chain([with]).collect()
}

fn plain_tokens(text: &str, expands: Option<(usize, f32)>, rules: &Rules) -> Vec<QueryToken> {
    let form = Form::of(text);
    let text = form.text();
    let alone = !text.contains(char::is_whitespace);
    // In a text of capitals alone, they mark no names.
    let shouted = !text.contains(char::is_lowercase);
    // The pairs of a run say more than its characters, and the folded forms are other spellings.
    let is_implied = |token: &Token| {
        let is_character = || text[token.range.clone()].starts_with(is_unspaced);
        token.kind == TokenKind::Folded || token.kind == TokenKind::Part && is_character()
    };
    tokens(text)
        .filter(|token| token.kind != TokenKind::Gap && !is_implied(token))
        .map(|token| QueryToken {
            kind: token.kind,
            stop_word: token.kind == TokenKind::Word && rules.is_stop_word(&text[token.range.clone()].to_lowercase()),
            name: expands.is_none() && !shouted && is_name(&text[token.range.clone()], token.range.start > 0),
            text: text[token.range].to_owned(),
            part: token.inside_whole || (expands.is_some() && !alone),
            written: expands.is_none(),
            expands: expands.filter(|_| alone),
            is_spelling: false,
        })
        .collect()
}

/// Whether a token is spelled as a name. A capital at the beginning of a text is not enough.
fn is_name(token: &str, within: bool) -> bool {
    let mut letters = token.chars();
    let first = letters.next().is_some_and(char::is_uppercase);
    let later = letters.any(|c| c.is_uppercase() || c.is_numeric() || c == '_');
    later || (first && within)
}

/// Weights of words, relative to significant words that are whole, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TermWeights {
    /// Parts of identifiers: less specific than the whole.
    pub part: f32,
    /// Stop words and question words.
    pub stop_word: f32,
    /// Whether they only frame a sign. The weight then applies to a query of any length.
    pub framed: bool,
}

/// A token of a query.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryToken {
    /// Kind, which selects its dictionaries.
    pub kind: TokenKind,
    /// As written.
    pub text: String,
    /// Whether it is a part of an identifier of the query, or of an expansion of several words.
    pub part: bool,
    /// Whether it is in the query.
    pub written: bool,
    /// Whether it is a stop word or a question word.
    pub stop_word: bool,
    /// Whether it is spelled as a name.
    pub name: bool,
    /// Index of the token that it expands, and its closeness, 0 to 1.
    pub expands: Option<(usize, f32)>,
    /// Whether it is that token in another spelling.
    pub is_spelling: bool,
}

/// A term to look up: lexemes of one meaning, and their weight.
#[derive(Clone, Debug, PartialEq)]
pub struct LookupTerm {
    /// Lexemes of the word, and the word itself if it is no lexeme: identifiers are indexed unstemmed, so
    /// `asyncimage` has to find `AsyncImage`.
    pub lexemes: Vec<String>,
    /// Lexemes of the word without accents and hyphens, and of words that are it without them (see
    /// [`TokenKind::Folded`]).
    pub spellings: Vec<String>,
    /// Lexemes of synonyms and guesses, with their closeness, 0 to 1.
    pub expansions: Vec<(String, f32)>,
    /// Factor of the term's score, 0 to 1.
    pub weight: f32,
    /// Whether it is a word or identifier of the query, or the verb for a phrase of it.
    pub whole: bool,
    /// Whether it is in the query: a text with the query word for word has it.
    pub written: bool,
    /// As it is written there.
    pub text: String,
    /// Whether it is a stop word or a question word.
    pub stop_word: bool,
    /// Whether it is spelled as a name: an identifier, a capital within the query, a digit.
    pub name: bool,
}

impl LookupTerm {
    /// All lexemes with their closeness.
    pub fn looked_up(&self) -> impl Iterator<Item = (&str, f32)> {
        let own = self.lexemes.iter().map(|lexeme| (lexeme.as_str(), 1.0));
        let spellings = self.spellings.iter().map(|lexeme| (lexeme.as_str(), FOLDED_CLOSENESS));
        own.chain(spellings).chain(
            self.expansions
                .iter()
                .map(|(lexeme, closeness)| (lexeme.as_str(), *closeness)),
        )
    }

    /// The lexemes of the word itself, in any spelling.
    pub fn itself(&self) -> impl Iterator<Item = &str> {
        self.lexemes.iter().chain(&self.spellings).map(String::as_str)
    }

    /// Of how many texts the word itself is, by the number of texts for each lexeme.
    pub fn frequency(&self, count: impl Fn(&str) -> f64) -> f64 {
        let (folded, written): (Vec<&str>, Vec<&str>) = self.itself().partition(|lexeme| is_folded(lexeme));
        let sum = |lexemes: Vec<&str>| lexemes.into_iter().map(&count).sum::<f64>();
        sum(written).max(sum(folded))
    }
}

/// Whether a lexeme is a folded form. Beside it, a text has the word that was folded.
pub(crate) fn is_folded(lexeme: &str) -> bool {
    lexeme.starts_with(FOLDED_MARK)
}

/// Merges tokens and their lexemes into distinct terms. Stop words weigh less in sentences only: in a short query
/// each word is meant.
pub fn terms(tokens: &[QueryToken], lexemes: &[Vec<String>], weights: TermWeights) -> Vec<LookupTerm> {
    let words = tokens.iter().filter(|token| token.written && !token.part);
    let stop_word_weight = if weights.framed || words.count() > MAX_PHRASE_TOKENS {
        weights.stop_word
    } else {
        1.0
    };
    let mut index: HashMap<String, usize> = HashMap::new();
    let mut places: Vec<Option<usize>> = Vec::with_capacity(tokens.len());
    let mut terms: Vec<LookupTerm> = Vec::new();
    for (token, found) in tokens.iter().zip(lexemes) {
        let whole = !token.part || token.kind.is_whole();
        let weight = match (whole, token.stop_word) {
            (true, false) => 1.0,
            (true, true) => stop_word_weight,
            (false, _) => weights.part,
        };
        let mut lexemes = found.clone();
        if token.kind == TokenKind::Word && !found.is_empty() {
            lexemes.push(token.text.to_lowercase());
        }
        lexemes.dedup();
        let Some(first) = lexemes.first() else {
            places.push(None);
            continue;
        };
        let expanded = token
            .expands
            .and_then(|(at, closeness)| Some((places.get(at).copied().flatten()?, closeness)));
        let place = match (index.get(first), expanded) {
            (_, Some((term, closeness))) => {
                let term: &mut LookupTerm = &mut terms[term];
                for lexeme in lexemes {
                    if term.looked_up().any(|(known, _)| known == lexeme) {
                        continue;
                    }
                    if token.is_spelling {
                        term.spellings.push(lexeme);
                    } else {
                        term.expansions.push((lexeme, closeness));
                    }
                }
                places.push(None);
                continue;
            }
            (Some(&known), None) => {
                terms[known].weight = terms[known].weight.max(weight);
                terms[known].written |= token.written;
                terms[known].name |= token.name;
                known
            }
            (None, None) => {
                index.insert(first.clone(), terms.len());
                terms.push(LookupTerm {
                    lexemes,
                    spellings: Vec::new(),
                    expansions: Vec::new(),
                    weight,
                    whole,
                    written: token.written,
                    text: token.text.clone(),
                    stop_word: token.stop_word,
                    name: token.name,
                });
                terms.len() - 1
            }
        };
        places.push(Some(place));
    }
    terms
}

/// The words that a document with all words of the query has: significant ones, or else stop words. Each is in a
/// document that has one of its lexemes. Parts of identifiers are not required beside the whole.
pub fn required(terms: &[LookupTerm]) -> Vec<&LookupTerm> {
    let whole: Vec<&LookupTerm> = terms.iter().filter(|term| term.whole).collect();
    let significant: Vec<&LookupTerm> = whole.iter().copied().filter(|term| !term.stop_word).collect();
    match (significant.is_empty(), whole.is_empty()) {
        (false, _) => significant,
        (true, false) => whole,
        (true, true) => terms.iter().collect(),
    }
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
mod tests;

//! The terms that the keyword retriever looks up for a query: its words, their expansions, and their weights.

use std::collections::HashMap;

use crate::query::rule::Rules;
use crate::query::understanding::Understanding;
use crate::text::token::{TokenKind, tokens};

/// Closeness of a synonym, abbreviation or acronym. Chosen: as of the nearest verbs in the shipped rules.
pub(crate) const SYNONYM_CLOSENESS: f32 = 0.8;
/// Verbs of at least this closeness are looked up with a verb. Chosen, not measured.
const MIN_VERB_CLOSENESS: f32 = 0.6;

/// A query with more words is a sentence with stop words as its grammar. With a tenth of the weight for them, nDCG@10
/// of queries of seven to twenty words rises in seven of eight groups of the development sets. That of shorter
/// queries falls in seven of ten.
const MAX_PHRASE_TOKENS: usize = 6;

/// The tokens of a text, in order and without gaps, followed by expansions of the tokens and of the verbs.
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
    tokens.extend(expansions);
    tokens
}

fn plain_tokens(text: &str, expands: Option<(usize, f32)>, rules: &Rules) -> Vec<QueryToken> {
    let alone = !text.contains(char::is_whitespace);
    // In a text of capitals alone, they mark no names.
    let shouted = !text.contains(char::is_lowercase);
    tokens(text)
        .filter(|token| token.kind != TokenKind::Gap)
        .map(|token| QueryToken {
            kind: token.kind,
            stop_word: token.kind == TokenKind::Word && rules.is_stop_word(&text[token.range.clone()].to_lowercase()),
            name: expands.is_none() && !shouted && is_name(&text[token.range.clone()], token.range.start > 0),
            text: text[token.range].to_owned(),
            part: token.inside_whole || (expands.is_some() && !alone),
            written: expands.is_none(),
            expands: expands.filter(|_| alone),
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
}

/// A term to look up: lexemes of one meaning, and their weight.
#[derive(Clone, Debug, PartialEq)]
pub struct LookupTerm {
    /// Lexemes of the word, and the word itself if it is no lexeme: identifiers are indexed unstemmed, so
    /// `asyncimage` has to find `AsyncImage`.
    pub lexemes: Vec<String>,
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
        own.chain(
            self.expansions
                .iter()
                .map(|(lexeme, closeness)| (lexeme.as_str(), *closeness)),
        )
    }
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
                    if term.looked_up().all(|(known, _)| known != lexeme) {
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
    use crate::query::container::KnownNames;

    fn tokens_of(text: &str) -> Vec<QueryToken> {
        query_tokens(text, None, &Rules::english())
    }

    fn weighing(part: f32) -> TermWeights {
        TermWeights {
            part,
            stop_word: 0.1,
            framed: false,
        }
    }

    fn terms_of(tokens: &[QueryToken]) -> Vec<LookupTerm> {
        let lexemes: Vec<Vec<String>> = tokens.iter().map(|token| vec![token.text.to_lowercase()]).collect();
        terms(tokens, &lexemes, weighing(0.3))
    }

    #[test]
    fn s0_21_synonyms_are_looked_up_too() {
        let terms = terms_of(&tokens_of("btn style"));
        assert_eq!(terms.len(), 2);
        assert_eq!(terms[0].lexemes, ["btn"]);
        assert_eq!(terms[0].expansions, [("button".to_owned(), SYNONYM_CLOSENESS)]);
    }

    #[test]
    fn s2_3_verbs_are_looked_up_with_their_synonyms() {
        let rules = Rules::english();
        let terms = |text: &str| {
            let understood = Understanding::read(text, &rules, &KnownNames::default());
            terms_of(&query_tokens(text, Some(&understood), &rules))
        };
        let save = terms("save a file");
        assert!(
            save[0].expansions.iter().any(|(lexeme, _)| lexeme == "write"),
            "{save:?}"
        );
        let get_rid_of = terms("get rid of a file");
        assert!(get_rid_of[0].lexemes == ["get"] && get_rid_of[0].weight < 1.0);
        let delete = get_rid_of.iter().find(|term| term.lexemes == ["delete"]);
        assert!(delete.is_some_and(|term| term.expansions.iter().any(|(lexeme, _)| lexeme == "remove")));
    }

    #[test]
    fn what_a_phrase_means_is_expanded_and_is_not_in_the_query() {
        let rules = Rules::english();
        let text = "get rid of a file";
        let understood = Understanding::read(text, &rules, &KnownNames::default());
        let tokens = query_tokens(text, Some(&understood), &rules);
        let expanded: Vec<&QueryToken> = tokens
            .iter()
            .filter_map(|token| token.expands)
            .map(|(at, _)| &tokens[at])
            .collect();
        assert!(!expanded.is_empty());
        for token in expanded {
            assert_eq!(
                (token.text.as_str(), token.expands, token.written),
                ("delete", None, false)
            );
        }
        let written: Vec<String> = terms_of(&tokens)
            .into_iter()
            .filter(|term| term.written)
            .map(|term| term.lexemes[0].clone())
            .collect();
        assert_eq!(written, ["get", "rid", "of", "a", "file"]);
    }

    #[test]
    fn what_the_dictionaries_drop_is_not_looked_up() {
        let tokens = tokens_of("the button");
        let lexemes = [Vec::new(), vec!["button".to_owned()]];
        let terms = terms(&tokens, &lexemes, weighing(0.5));
        assert_eq!(terms.len(), 1);
        assert_eq!(terms[0].lexemes, ["button"]);
    }

    #[test]
    fn a_repeated_word_counts_as_the_stronger() {
        // First a part of an identifier, then a word of its own.
        let terms = terms_of(&tokens_of("table_view view"));
        let view = terms.iter().find(|term| term.lexemes == ["view"]).expect("a term");
        assert_eq!((view.weight, view.written), (1.0, true));
        assert_eq!(terms.iter().filter(|term| term.lexemes == ["view"]).count(), 1);
    }

    #[test]
    fn the_words_of_an_expansion_count_as_parts() {
        let terms = terms_of(&tokens_of("rbac"));
        assert_eq!((terms[0].weight, terms[0].whole), (1.0, true));
        let both = terms_of(&tokens_of("access rbac"));
        assert!(
            both[0].lexemes == ["access"] && both[0].written && both[0].weight == 1.0,
            "{both:?}"
        );
        let rest = terms[1..].iter().filter(|term| !term.whole);
        assert!(
            rest.clone().count() > 1 && rest.clone().all(|term| term.weight == 0.3),
            "{terms:?}"
        );
    }

    #[test]
    fn a_word_is_also_looked_up_as_written() {
        let tokens = tokens_of("asyncimage Button button");
        let lexemes = [vec!["asyncimag".into()], vec!["button".into()], vec!["button".into()]];
        let terms = terms(&tokens, &lexemes, weighing(0.5));
        assert_eq!(terms.len(), 2);
        assert_eq!(terms[0].lexemes, ["asyncimag", "asyncimage"]);
        assert_eq!(terms[1].lexemes, ["button"]);
    }

    #[test]
    fn parts_count_less_than_the_identifier() {
        let tokens = tokens_of("UITableView");
        let lexemes: Vec<Vec<String>> = tokens.iter().map(|token| vec![token.text.to_lowercase()]).collect();
        let weights: Vec<f32> = terms(&tokens, &lexemes, weighing(0.25))
            .iter()
            .map(|term| term.weight)
            .collect();
        assert_eq!(weights, [1.0, 0.25, 0.25, 0.25]);
    }

    #[test]
    fn stop_words_weigh_less_in_sentences_only() {
        let weight = |text: &str, word: &str| {
            let term = terms_of(&tokens_of(text))
                .into_iter()
                .find(|term| term.lexemes == [word]);
            term.map(|term| term.weight)
        };
        let sentence = "what is the best way to keep old files";
        assert_eq!(weight(sentence, "the"), Some(0.1));
        assert_eq!(weight(sentence, "what"), Some(0.1));
        assert_eq!(weight(sentence, "keep"), Some(1.0));
        assert_eq!(
            weight("what is the best way", "the"),
            Some(1.0),
            "each of few words is meant"
        );
        let tokens = tokens_of("what is the best");
        let lexemes: Vec<Vec<String>> = tokens.iter().map(|token| vec![token.text.clone()]).collect();
        let framed = TermWeights {
            framed: true,
            ..weighing(0.3)
        };
        assert_eq!(
            terms(&tokens, &lexemes, framed)[2].weight,
            0.1,
            "but where they only frame a name"
        );
        let code = "how can I call an object's __the__ from a script";
        assert_eq!(weight(code, "__the__"), Some(1.0));
    }

    #[test]
    fn lexemes_are_quoted() {
        assert_eq!(any_of(["it's", "a\\b"]), r"'it''s' | 'a\\b'");
    }
}

//! Which words of a shown text the query matched.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use serde::{Deserialize, Serialize};
use unicode_segmentation::GraphemeCursor;

use crate::query::lookup::LookupTerm;
use crate::query::rule::Rules;
use crate::text::form::Form;
use crate::text::token::{Token, TokenKind, tokens};

/// Tokens of a title or heading path that are compared with the query, at most. Chosen: ten long headings have fewer.
const MAX_TOKENS: usize = 400;

/// A range of characters of a text, half-open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark(pub u32, pub u32);

/// The marks of a result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Highlights {
    /// In its snippet.
    pub snippet: Vec<Mark>,
    /// In the title of its document.
    pub title: Vec<Mark>,
    /// In its heading path.
    pub section: Vec<Mark>,
}

/// The marks of a section beside a result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SectionHighlights {
    /// In its snippet.
    pub snippet: Vec<Mark>,
    /// In its heading path.
    pub title: Vec<Mark>,
}

/// A word of the query in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FoundWord {
    /// Bytes of the text.
    pub range: Range<usize>,
    /// Whether it is marked wherever it is. Others, such as stop words, are marked between these.
    pub is_significant: bool,
}

/// The lexemes that a query looks up, with whether each is significant.
#[derive(Debug, Default)]
pub struct QueryWords<'a> {
    lexemes: HashMap<&'a str, bool>,
    /// The words of titles and headings that have one of the lexemes.
    words: HashMap<TokenKind, HashMap<String, bool>>,
}

impl<'a> QueryWords<'a> {
    /// The words of wordings, each with its rules.
    pub fn of(wordings: impl IntoIterator<Item = (&'a [LookupTerm], &'a Rules)>) -> Self {
        let mut words = Self::default();
        for (terms, rules) in wordings {
            // A query of nothing but stop words means them.
            let are_all_stop_words = !terms.iter().any(|term| is_significant(term, rules));
            for term in terms {
                let is_significant = are_all_stop_words || is_significant(term, rules);
                for (lexeme, _) in term.looked_up() {
                    *words.lexemes.entry(lexeme).or_default() |= is_significant;
                }
            }
        }
        words
    }

    /// The lexemes, with whether each is significant.
    pub fn lexemes(&self) -> impl Iterator<Item = (&'a str, bool)> {
        self.lexemes
            .iter()
            .map(|(lexeme, is_significant)| (*lexeme, *is_significant))
    }

    /// Adds words of [`distinct_words`] with their lexemes.
    pub fn add(&mut self, words: Vec<(TokenKind, String)>, lexemes: &[Vec<String>]) {
        for ((kind, word), lexemes) in words.into_iter().zip(lexemes) {
            let known = lexemes.iter().filter_map(|lexeme| self.lexemes.get(lexeme.as_str()));
            if let Some(is_significant) = known.copied().reduce(|any, one| any | one) {
                self.words.entry(kind).or_default().insert(word, is_significant);
            }
        }
    }

    /// The marks of a title or heading path whose words were added.
    pub fn marks(&self, text: &str) -> Vec<Mark> {
        let form = Form::of(text);
        let found = indexed(form.text()).filter_map(|token| {
            let is_significant = *self.words.get(&token.kind)?.get(token.word(form.text()).as_ref())?;
            let range = form.source_range(token.range);
            Some(FoundWord { range, is_significant })
        });
        marks(text, found.collect())
    }
}

/// The words of titles and heading paths, each once, by the kind of their tokens.
pub fn distinct_words<'t>(texts: impl Iterator<Item = &'t str>) -> Vec<(TokenKind, String)> {
    let mut words = BTreeSet::new();
    for text in texts {
        let form = Form::of(text);
        words.extend(indexed(form.text()).map(|token| (token.kind as i32, token.word(form.text()).into_owned())));
    }
    let words = words.into_iter();
    words
        .filter_map(|(kind, word)| Some((TokenKind::from_id(kind)?, word)))
        .collect()
}

fn indexed(text: &str) -> impl Iterator<Item = Token> {
    tokens(text)
        .filter(|token| token.kind != TokenKind::Gap)
        .take(MAX_TOKENS)
}

/// Whether a word is marked wherever it is. Stop words, and letters and numbers that are parts of identifiers, are in
/// many texts that have nothing to do with the query.
fn is_significant(term: &LookupTerm, rules: &Rules) -> bool {
    let is_stop_word = term.stop_word || !term.whole && rules.is_stop_word(&term.text.to_lowercase());
    let is_shouted = term.name && term.text.chars().skip(1).any(char::is_uppercase);
    let is_letter = !term.whole && (term.text.chars().nth(1).is_none() || term.text.chars().all(char::is_numeric));
    (!is_stop_word || is_shouted) && !is_letter
}

/// The marks of the words that were found in a text, in order and apart from each other.
pub(super) fn marks(text: &str, found: Vec<FoundWord>) -> Vec<Mark> {
    let mut found: Vec<FoundWord> = found
        .into_iter()
        .map(|word| FoundWord {
            range: whole_characters(text, word.range),
            ..word
        })
        .filter(|word| !word.range.is_empty())
        .collect();
    found.sort_by_key(|word| (word.range.start, word.range.end));
    let mut words: Vec<FoundWord> = Vec::with_capacity(found.len());
    for word in found {
        match words.last_mut() {
            Some(last) if word.range.start < last.range.end => {
                last.range.end = last.range.end.max(word.range.end);
                last.is_significant |= word.is_significant;
            }
            _ => words.push(word),
        }
    }
    let mut marked: Vec<Range<usize>> = Vec::with_capacity(words.len());
    for phrase in words.chunk_by(|a, b| are_neighbours(&text[a.range.end..b.range.start])) {
        let first = phrase.iter().position(|word| word.is_significant);
        let last = phrase.iter().rposition(|word| word.is_significant);
        let (Some(first), Some(last)) = (first, last) else {
            continue;
        };
        for FoundWord { range, .. } in &phrase[first..=last] {
            match marked.last_mut() {
                Some(before) if before.end == range.start => before.end = range.end,
                _ => marked.push(range.clone()),
            }
        }
    }
    let (mut at, mut characters) = (0, 0);
    let mut character = |byte: usize| {
        characters += text[at..byte].chars().count();
        at = byte;
        u32::try_from(characters).unwrap_or(u32::MAX)
    };
    marked
        .into_iter()
        .map(|range| Mark(character(range.start), character(range.end)))
        .collect()
}

/// Whether two words with this text between them are neighbours: there is white space, or a sign within a name.
fn are_neighbours(between: &str) -> bool {
    let is_within_name = || !between.contains(|c: char| c.is_whitespace() || c.is_alphanumeric());
    between.chars().all(char::is_whitespace) || is_within_name()
}

/// A range without parts of characters as readers see them (grapheme clusters).
fn whole_characters(text: &str, range: Range<usize>) -> Range<usize> {
    if text.is_ascii() && !text.contains('\r') {
        return range;
    }
    let boundary = |at: usize, forward: bool| {
        let mut cursor = GraphemeCursor::new(at, text.len(), true);
        if cursor.is_boundary(text, 0) != Ok(false) {
            return at;
        }
        let moved = if forward {
            cursor.next_boundary(text, 0)
        } else {
            cursor.prev_boundary(text, 0)
        };
        moved.ok().flatten().unwrap_or(at)
    };
    boundary(range.start, false)..boundary(range.end, true)
}

/// A text as HTML, with `<mark>` around its marks. All other text is escaped, for elements and for attributes in
/// quotation marks.
pub fn html(text: &str, marks: &[Mark]) -> String {
    let mut html = String::with_capacity(text.len() + marks.len() * "<mark></mark>".len());
    let edges = marks
        .iter()
        .flat_map(|Mark(start, end)| [(*start, "<mark>"), (*end, "</mark>")]);
    let mut edges = edges.peekable();
    for (at, c) in (0..).zip(text.chars()) {
        while let Some((_, tag)) = edges.next_if(|(edge, _)| *edge <= at) {
            html.push_str(tag);
        }
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            _ => html.push(c),
        }
    }
    html.extend(edges.map(|(_, tag)| tag));
    html
}

#[cfg(test)]
mod tests;

//! Transforms a query: writes abbreviations out, adds words of documents to vague queries, and the month to queries
//! about time.
//!
//! The words of the query always stay. Each added term has its source.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::documents::keyword::is_stop_word;
use crate::models::wording_reply;
use crate::query::rule::Rules;
use crate::query::understanding::{Class, Role, Term, Understanding};
use crate::text::name::key;
use crate::values::calendar::Day;
use crate::values::decimal::decimal;

/// Most added terms.
pub const MAX_ADDED: usize = 8;
/// Most added words of documents.
const MAX_RELATED: usize = 3;
/// Most words of documents that are weighed.
const MAX_WEIGHED: usize = 40;
/// A query with up to this number of significant words is vague if none is a name.
const VAGUE_TERMS: usize = 2;
/// A question with at least this number of significant words is well formed.
const WELL_FORMED_TERMS: usize = 2;
/// Roles of reStructuredText and MyST: markup that no reader types.
const ROLES: &str = include_str!("../../data/roles.txt");

/// Source of an added term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TermSource {
    /// The table of synonyms, abbreviations and acronyms.
    Synonym,
    /// Keywords of documents with the query's words.
    Vocabulary,
    /// The calendar.
    Time,
    /// A language model.
    Model,
}

/// An added term.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AddedTerm {
    /// The term.
    pub term: String,
    /// Its source.
    pub source: TermSource,
    /// The reason, in words.
    pub reason: String,
}

/// A query and its transformation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Transformation {
    /// The query as written.
    pub query: String,
    /// The query with the added terms, or the wordings of a language model; the query itself without either.
    pub transformed: String,
    /// Wordings by a language model, which are searched with the query.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub wordings: Vec<String>,
    /// Whether `query` and `transformed` differ.
    pub changed: bool,
    /// Length of the transformed query in characters, divided by that of the query.
    #[serde(serialize_with = "decimal")]
    pub length_ratio: f32,
    /// The added terms, in order.
    pub added_terms: Vec<AddedTerm>,
    /// Whether recent pages are preferred.
    pub recency: bool,
    /// Why the query was changed or not, in words.
    pub reason: String,
}

impl Transformation {
    /// A query that is not changed.
    pub fn unchanged(query: &str, recency: bool, reason: &str) -> Self {
        Self {
            query: query.to_owned(),
            transformed: query.to_owned(),
            wordings: Vec::new(),
            changed: false,
            length_ratio: 1.0,
            added_terms: Vec::new(),
            recency,
            reason: reason.to_owned(),
        }
    }

    fn with(query: &str, added_terms: Vec<AddedTerm>, recency: bool) -> Self {
        if added_terms.is_empty() {
            return Self::unchanged(query, recency, "nothing to add");
        }
        let mut transformed = query.to_owned();
        for added in &added_terms {
            transformed.push(' ');
            transformed.push_str(&added.term);
        }
        let sources: BTreeSet<&str> = added_terms.iter().map(|added| added.reason.as_str()).collect();
        Self {
            reason: sources.into_iter().collect::<Vec<_>>().join("; "),
            changed: true,
            length_ratio: length_ratio(query, &transformed),
            transformed,
            wordings: Vec::new(),
            query: query.to_owned(),
            added_terms,
            recency,
        }
    }

    /// Whether a language model made it.
    pub fn is_by_model(&self) -> bool {
        self.added_terms.iter().any(|added| added.source == TermSource::Model)
    }

    /// The `earlier` wordings of a language model, and those in its answer. `None` if none in the answer is new: all
    /// are earlier ones, the query, or in `also`, the caller's wordings.
    pub fn by_model(query: &str, also: &[&str], earlier: &[String], answer: &str, recency: bool) -> Option<Self> {
        let reason = "worded by the language model";
        let earlier_texts = earlier.iter().map(String::as_str);
        let known = std::iter::once(query).chain(also.iter().copied()).chain(earlier_texts);
        let new = wording_reply::read(answer, known);
        if new.is_empty() {
            return None;
        }
        let wordings: Vec<String> = earlier.iter().cloned().chain(new).collect();
        let transformed = wordings.join("; ");
        let added = wordings.iter().map(|wording| AddedTerm {
            term: wording.clone(),
            source: TermSource::Model,
            reason: reason.to_owned(),
        });
        Some(Self {
            query: query.to_owned(),
            changed: true,
            length_ratio: length_ratio(query, &transformed),
            transformed,
            added_terms: added.collect(),
            wordings,
            recency,
            reason: reason.to_owned(),
        })
    }
}

fn length_ratio(query: &str, transformed: &str) -> f32 {
    transformed.chars().count() as f32 / query.chars().count().max(1) as f32
}

/// What is added to a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Nothing: it is clear.
    Nothing,
    /// Abbreviations written out.
    Synonyms,
    /// Words of documents with its words.
    Context,
    /// Words of the newest documents: it has no significant words.
    Topics,
}

/// What is added to a query: nothing to a well-formed question, a name of code, or the name of a page, which the
/// caller knows.
pub fn need(understanding: &Understanding, rules: &Rules) -> Need {
    let recency = &rules.tables().recency_words;
    let of_time = |word: &str| recency.iter().any(|phrase| phrase.split(' ').any(|part| part == word));
    let meant = |term: &&Term| term.role != Role::Generic && !(understanding.recent && of_time(&term.word.text));
    let objects = understanding.terms.iter().filter(meant).count();
    if understanding.recent && objects == 0 {
        return Need::Topics;
    }
    let class = if asks(understanding) {
        Class::Question
    } else {
        understanding.class
    };
    match class {
        Class::Question if has_acronym(understanding, rules) => Need::Synonyms,
        Class::Question if objects >= WELL_FORMED_TERMS => Need::Synonyms,
        Class::Question => Need::Context,
        Class::Identifier if is_one_abbreviation(understanding) => Need::Synonyms,
        Class::Identifier | Class::InPattern => Need::Nothing,
        Class::Words | Class::Generic if !understanding.phrases.is_empty() || !understanding.identifiers.is_empty() => {
            Need::Synonyms
        }
        Class::Words | Class::Generic if objects <= VAGUE_TERMS => Need::Context,
        Class::Words | Class::Generic => Need::Synonyms,
    }
}

/// Whether it is a question, or is searched as the task of one.
fn asks(understanding: &Understanding) -> bool {
    understanding.framed || understanding.class == Class::Question
}

/// Whether a query is nothing but a known abbreviation, such as `FFI`.
fn is_one_abbreviation(understanding: &Understanding) -> bool {
    let [term] = understanding.terms.as_slice() else {
        return false;
    };
    understanding.topic.chars().all(char::is_alphanumeric) && term.written_out().is_some()
}

/// Whether a word of a query is a known abbreviation.
pub fn has_acronym(understanding: &Understanding, rules: &Rules) -> bool {
    understanding.terms.iter().any(|term| is_acronym(term, rules))
}

/// Whether a word abbreviates others by its letters, and is neither a stop word nor a framing word.
fn is_acronym(term: &Term, rules: &Rules) -> bool {
    let frames = rules.tables().framing_words.contains(&term.word.text);
    term.role != Role::Generic && !frames && term.written_out().is_some()
}

/// How documents use the abbreviations of a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Usage {
    /// Abbreviations that documents have as words.
    pub used: BTreeSet<String>,
    /// Abbreviations that documents have written out.
    pub written_out: BTreeSet<String>,
}

impl Usage {
    /// Whether an abbreviation in small letters may be an ordinary word: the plural of a stop word (`ids`), or a word
    /// that documents use and never write out.
    fn is_word(&self, word: &str, rules: &Rules) -> bool {
        let is_plural = word
            .strip_suffix('s')
            .is_some_and(|one| rules.tables().generic_terms.contains_key(one));
        !self.written_out.contains(word) && (is_plural || self.used.contains(word))
    }
}

/// Adds to a query what the rules know, and the first three of `related`, words of documents. A query for what is new
/// gets the month and the year of `today`, or of its period, and never a day.
pub fn transform(
    understanding: &Understanding,
    rules: &Rules,
    related: &[String],
    usage: &Usage,
    today: Day,
) -> Transformation {
    let mut added = Addition::to(understanding);
    let question = asks(understanding);
    for term in &understanding.terms {
        let word = &term.word.text;
        let in_capitals = is_abbreviation(&understanding.text, word);
        let meant = term.written_out().is_none() || !usage.is_word(word, rules);
        if in_capitals || meant && (!question || is_acronym(term, rules)) {
            added.synonyms(term, rules);
        }
    }
    let known = added.terms.len();
    for word in related {
        if added.terms.len() < known + MAX_RELATED {
            added.add(word, TermSource::Vocabulary, || {
                "words of the documents about it".to_owned()
            });
        }
    }
    if let Some(period) = understanding.period {
        for name in period.names(today) {
            added.add(&name, TermSource::Time, || "asks for a period".to_owned());
        }
    } else if understanding.recent {
        let month = today.month().name();
        added.add(&month, TermSource::Time, || "asks for what is new".to_owned());
    }
    Transformation::with(&understanding.text, added.terms, understanding.recent)
}

struct Addition {
    /// Keys of the words in the query.
    known: BTreeSet<String>,
    terms: Vec<AddedTerm>,
}

impl Addition {
    fn to(understanding: &Understanding) -> Self {
        let words = understanding.text.split(|c: char| !c.is_alphanumeric());
        Self {
            known: words.map(key).chain([key(&understanding.text)]).collect(),
            terms: Vec::new(),
        }
    }

    fn synonyms(&mut self, term: &Term, rules: &Rules) {
        let word = &term.word.text;
        let expansions = rules.tables().synonyms.get(&word.to_lowercase());
        for expansion in expansions.into_iter().flatten() {
            self.add(expansion, TermSource::Synonym, || format!("{word} is {expansion}"));
        }
    }

    fn add(&mut self, term: &str, source: TermSource, reason: impl FnOnce() -> String) {
        let is_known = term.split_whitespace().all(|word| self.known.contains(&key(word)));
        if self.terms.len() < MAX_ADDED && !is_known {
            self.known.extend(term.split_whitespace().map(key));
            self.terms.push(AddedTerm {
                term: term.to_owned(),
                source,
                reason: reason(),
            });
        }
    }
}

/// Whether a word, given in lower case, is an abbreviation by its form in the text: capitals and digits, up to six
/// (`RBAC`, `k8s`, `i18n`).
fn is_abbreviation(text: &str, word: &str) -> bool {
    let short = (2..=6).contains(&word.chars().count());
    let upper = word.to_uppercase();
    let capitals = text
        .split(|c: char| !c.is_alphanumeric())
        .any(|written| written == upper);
    let numeronym = word.starts_with(char::is_alphabetic)
        && word.ends_with(char::is_alphabetic)
        && word.contains(|c: char| c.is_ascii_digit());
    short && (capitals || numeronym)
}

/// Whether a keyword names a thing: it has no markup or code, no generic word, and no participle.
fn is_content(keyword: &str, rules: &Rules) -> bool {
    let plain = keyword
        .chars()
        .all(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '\''));
    let is_single = !keyword.contains(char::is_whitespace);
    let is_content = |word: &str| {
        let lower = word.to_lowercase();
        let is_participle = lower.ends_with("ed") && !crate::text::word::stem(&lower).ends_with("ed");
        let is_role = ROLES.lines().any(|role| role == lower);
        let is_empty = is_stop_word(word)
            || rules.is_stop_word(&lower)
            || (is_single && rules.tables().framing_words.contains(&lower));
        word.starts_with(char::is_alphabetic) && !is_participle && !is_role && !is_empty
    };
    plain && !is_stop_word(keyword) && keyword.split_whitespace().all(is_content)
}

/// Keywords that several documents share, without those of the query, and the number of these documents; most shared
/// first.
pub fn related<'a>(
    understanding: &Understanding,
    rules: &Rules,
    keywords: impl IntoIterator<Item = &'a [String]>,
) -> Vec<(String, usize)> {
    let mut counts: Vec<(String, usize)> = Vec::new();
    let stems: BTreeSet<String> = understanding.terms.iter().map(|term| term.word.stem.clone()).collect();
    for document in keywords {
        let unique: BTreeSet<&String> = document.iter().collect();
        for keyword in unique.into_iter().filter(|keyword| is_content(keyword, rules)) {
            let own = keyword
                .split_whitespace()
                .any(|word| stems.contains(&*crate::text::word::stem(&word.to_lowercase())));
            if own {
                continue;
            }
            match counts.iter_mut().find(|(known, _)| known == keyword) {
                Some((_, count)) => *count += 1,
                None => counts.push((keyword.clone(), 1)),
            }
        }
    }
    counts.retain(|(_, count)| *count > 1);
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    counts.truncate(MAX_WEIGHED);
    counts
}

/// The same words, the most specific for these documents first. `idf` is their inverse document frequency in all
/// documents.
pub fn telling(related: Vec<(String, usize)>, idf: &[f32]) -> Vec<String> {
    let weighed = related.into_iter().zip(idf);
    let mut weighed: Vec<(String, f32)> = weighed
        .map(|((keyword, count), idf)| (keyword, count as f32 * idf))
        .collect();
    weighed.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    weighed.into_iter().map(|(keyword, _)| keyword).collect()
}

/// Final score of a document by the query and the transformed query: the query's own, and a share of the excess of
/// the other. It stays below `cap`, where exact names begin, unless the query's own score is above.
pub fn fused(own: f32, transformed: f32, share: f32, cap: f32) -> f32 {
    let raised = own + share.clamp(0.0, 1.0) * (transformed - own).max(0.0);
    raised.min(cap.max(own))
}

#[cfg(test)]
mod tests;

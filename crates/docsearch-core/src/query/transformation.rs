//! What a query could have said: abbreviations written out, words of the documents for vague queries, and when
//! "today" is.
//!
//! The words of the query always stay; what is added says where it comes from.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::documents::keyword::is_stop_word;
use crate::models::wording_reply;
use crate::query::rule::Rules;
use crate::query::understanding::{Class, Role, Term, Understanding};
use crate::text::name::key;
use crate::values::calendar::Day;
use crate::values::decimal::decimal;

/// Most terms that are added.
pub const MAX_ADDED: usize = 8;
/// Most words of the documents that are added.
const MAX_RELATED: usize = 3;
/// Most words of the documents that are weighed.
const MAX_WEIGHED: usize = 40;
/// A query with so many words that carry meaning, or fewer, is vague if nothing in it is a name.
const VAGUE_TERMS: usize = 2;
/// A question with so many words that carry meaning, or more, is well formed.
const WELL_FORMED_TERMS: usize = 2;
/// Roles of reStructuredText and MyST that no reader writes: debris of markup.
const ROLES: &str = include_str!("../../data/roles.txt");

/// Where an added term comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TermSource {
    /// The table of synonyms, abbreviations and acronyms.
    Synonym,
    /// What documents that hold the query's words are about.
    Vocabulary,
    /// The calendar.
    Time,
    /// A language model.
    Model,
}

/// A term that was added.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AddedTerm {
    /// The term.
    pub term: String,
    /// Where it comes from.
    pub source: TermSource,
    /// Why, in words.
    pub reason: String,
}

/// A query and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Transformation {
    /// The query as written.
    pub query: String,
    /// The query with what was added, or the wordings of a language model; the query itself if there is neither.
    pub transformed: String,
    /// Further wordings of the query, by a language model, which are searched together with it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub wordings: Vec<String>,
    /// Whether they differ.
    pub changed: bool,
    /// Characters of the transformed query over those of the query.
    #[serde(serialize_with = "decimal")]
    pub length_ratio: f32,
    /// What was added, in order.
    pub added_terms: Vec<AddedTerm>,
    /// Whether recent pages are preferred.
    pub recency: bool,
    /// Why the query was changed or left alone, in words.
    pub reason: String,
}

impl Transformation {
    /// A query that is left as it is.
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

    /// The `earlier` wordings that a language model gave for the query, and those of its answer; `None` if all of these are
    /// earlier ones, the query, or in `also`, where the caller has given some.
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

/// What a query needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Nothing: it says what it means.
    Nothing,
    /// Abbreviations written out.
    Synonyms,
    /// Words of documents that hold its words, too.
    Context,
    /// It has no words of its own: words of the newest documents.
    Topics,
}

/// What a query needs. A well-formed question and a name of code say what they mean; so does the name of a page,
/// which the caller knows.
pub fn need(asked: &Understanding, rules: &Rules) -> Need {
    let recency = &rules.tables().recency_words;
    let of_time = |word: &str| recency.iter().any(|phrase| phrase.split(' ').any(|part| part == word));
    let meant = |term: &&Term| term.role != Role::Generic && !(asked.recent && of_time(&term.word.text));
    let objects = asked.terms.iter().filter(meant).count();
    if asked.recent && objects == 0 {
        return Need::Topics;
    }
    let class = if asks(asked) { Class::Question } else { asked.class };
    match class {
        Class::Question if has_acronym(asked, rules) => Need::Synonyms,
        Class::Question if objects >= WELL_FORMED_TERMS => Need::Synonyms,
        Class::Question => Need::Context,
        Class::Identifier if is_one_abbreviation(asked) => Need::Synonyms,
        Class::Identifier | Class::InPattern => Need::Nothing,
        Class::Words | Class::Generic if !asked.phrases.is_empty() || !asked.identifiers.is_empty() => Need::Synonyms,
        Class::Words | Class::Generic if objects <= VAGUE_TERMS => Need::Context,
        Class::Words | Class::Generic => Need::Synonyms,
    }
}

/// Whether it is a question, also one that is searched as its task.
fn asks(asked: &Understanding) -> bool {
    asked.framed || asked.class == Class::Question
}

/// Whether a query is nothing but an abbreviation that the rules know, such as `FFI`.
fn is_one_abbreviation(asked: &Understanding) -> bool {
    let [term] = asked.terms.as_slice() else {
        return false;
    };
    asked.topic.chars().all(char::is_alphanumeric) && term.written_out().is_some()
}

/// Whether a word of a query is short for others, as the rules know it.
pub fn has_acronym(asked: &Understanding, rules: &Rules) -> bool {
    asked.terms.iter().any(|term| is_acronym(term, rules))
}

/// Whether a word is short for others by its letters, and is neither a word of its own that says little nor one that frames
/// a name.
fn is_acronym(term: &Term, rules: &Rules) -> bool {
    let frames = rules.tables().framing_words.contains(&term.word.text);
    term.role != Role::Generic && !frames && term.written_out().is_some()
}

/// What the documents have of the abbreviations of a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Usage {
    /// Those that documents use as words.
    pub used: BTreeSet<String>,
    /// Those of which documents have all words that they are short for.
    pub written_out: BTreeSet<String>,
}

impl Usage {
    /// Whether an abbreviation in small letters may be an ordinary word: the plural of one that says little (`ids`), or one
    /// that documents use and never write out.
    fn is_word(&self, word: &str, rules: &Rules) -> bool {
        let is_plural = word
            .strip_suffix('s')
            .is_some_and(|one| rules.tables().generic_terms.contains_key(one));
        !self.written_out.contains(word) && (is_plural || self.used.contains(word))
    }
}

/// Adds to a query what the rules know, and of `related`, words of the documents, the first three. A query that asks for what
/// is new gets the month and the year of `today`, or those of the period that it names, and never a day.
pub fn transform(
    asked: &Understanding,
    rules: &Rules,
    related: &[String],
    usage: &Usage,
    today: Day,
) -> Transformation {
    let mut added = Addition::to(asked);
    let question = asks(asked);
    for term in &asked.terms {
        let word = &term.word.text;
        let in_capitals = is_abbreviation(&asked.text, word);
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
    if let Some(period) = asked.period {
        for name in period.names(today) {
            added.add(&name, TermSource::Time, || "asks for a period".to_owned());
        }
    } else if asked.recent {
        let month = today.month().name();
        added.add(&month, TermSource::Time, || "asks for what is new".to_owned());
    }
    Transformation::with(&asked.text, added.terms, asked.recent)
}

struct Addition {
    /// Keys of the words that are there.
    known: BTreeSet<String>,
    terms: Vec<AddedTerm>,
}

impl Addition {
    fn to(asked: &Understanding) -> Self {
        let words = asked.text.split(|c: char| !c.is_alphanumeric());
        Self {
            known: words.map(key).chain([key(&asked.text)]).collect(),
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

/// Whether a word of a text, given in lower case, stands for others by its form: capitals and digits, up to six
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

/// Whether a keyword names a thing: it has nothing of markup or code, no word that says little, and no participle.
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

/// What documents are about: the keywords that several of them share, without those of the query, and how many share
/// them; most shared first.
pub fn related<'a>(
    asked: &Understanding,
    rules: &Rules,
    keywords: impl IntoIterator<Item = &'a [String]>,
) -> Vec<(String, usize)> {
    let mut counts: Vec<(String, usize)> = Vec::new();
    let stems: BTreeSet<String> = asked.terms.iter().map(|term| term.word.stem.clone()).collect();
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

/// The same, those first that say most of these documents: `idf` is how rare each is in all of them.
pub fn telling(related: Vec<(String, usize)>, idf: &[f32]) -> Vec<String> {
    let weighed = related.into_iter().zip(idf);
    let mut weighed: Vec<(String, f32)> = weighed
        .map(|((keyword, count), idf)| (keyword, count as f32 * idf))
        .collect();
    weighed.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    weighed.into_iter().map(|(keyword, _)| keyword).collect()
}

/// Final score of a document that the query found with one score and the transformed query with another: the query's
/// own, and of what the other one gives more, a share. Below `ceiling`, where exact names begin, unless the query
/// itself is above.
pub fn fused(own: f32, transformed: f32, share: f32, ceiling: f32) -> f32 {
    let raised = own + share.clamp(0.0, 1.0) * (transformed - own).max(0.0);
    raised.min(ceiling.max(own))
}

#[cfg(test)]
mod tests;

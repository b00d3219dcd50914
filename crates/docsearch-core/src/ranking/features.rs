//! Features of a query that rules compare with many documents, and features of a document for that query.

mod forms;
mod matches;
mod names;
mod task;
mod term_words;

use crate::documents::page_keys::Parts;
use crate::query::rule::{Intent, Rules};
use crate::query::understanding::{Class, Role, Term, Understanding};
use crate::ranking::news;
use crate::ranking::page::{DESCRIPTION_BYTES, Page};
use crate::ranking::weight::Weights;
use crate::text::form::is_of_word;
use crate::text::name;
use crate::text::word::fold;
use crate::values::interrupt::Interruptible;
use forms::Forms;
use matches::Matches;
pub(crate) use matches::TermMatch;
use term_words::{TermWord, TermWords};

/// Most terms of a query that the rules compare. A longer query is prose, and later words add nothing. Chosen, not
/// measured.
const MAX_TERMS: usize = 32;
/// Parts of a page that the rules need for a query. Others need not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// [`Page::description`].
    pub description: bool,
    /// [`Page::metadata`].
    pub metadata: bool,
    /// [`Page::age_days`].
    pub age: bool,
}

/// Features of a query, computed once for all documents.
#[derive(Debug)]
pub(crate) struct QueryFeatures<'a> {
    understanding: &'a Understanding,
    rules: &'a Rules,
    weights: &'a Weights,
    name: &'a str,
    key: String,
    whole_key: String,
    mentions: Vec<String>,
    containers: Vec<String>,
    path: Option<(String, String)>,
    phrases: Vec<String>,
    term_words: TermWords,
    /// Terms whose words are compared as they are written, by their bits.
    written: u32,
    /// The term that a verb acts on.
    object: Option<usize>,
    /// Boosts of its terms as generic terms.
    generic: Vec<Option<f32>>,
    intents: Vec<Intent>,
    asks_for_news: bool,
    /// Whether the query is in the plural: `show me the keys`.
    asks_for_many: bool,
    /// The version whose release notes it asks for.
    news_of: Option<Vec<u32>>,
}

/// Features of a page for a query.
#[derive(Debug, Default)]
pub(crate) struct PageFeatures {
    /// Whether its title is a name and not a heading.
    pub(crate) named: bool,
    /// Share of the rules about verbs and objects that applies to it. 0 switches them off.
    pub(crate) intent: f32,
    /// Whether its title has a known verb.
    pub(crate) names_action: bool,
    /// How it matches "X in Y", and the share of the weight.
    pub(crate) in_pattern: Option<(&'static str, f32)>,
    pub(crate) inside: bool,
    pub(crate) filename_exact: bool,
    pub(crate) all_words: bool,
    /// Square of the share of the name's words that the query has.
    pub(crate) name_words: f32,
    /// Share of the weight.
    pub(crate) api_name: f32,
    /// Greatest boost of a generic term.
    pub(crate) generic: f32,
    pub(crate) in_name: Matches,
    pub(crate) in_description: Matches,
    /// Whether its name says how many, as the query does.
    pub(crate) scope: bool,
    pub(crate) category: bool,
    pub(crate) platform: bool,
    pub(crate) phrase: bool,
    /// Share that conflicting verbs take.
    pub(crate) conflict: f32,
    /// Share of the query's terms that its title and description have only as other words with the same stem.
    pub(crate) other_words: f32,
    /// Closeness of its verb to the query's, if its name is a task; see [`QueryFeatures::task`].
    pub(crate) task: f32,
    /// Greatest such closeness among the pages of its project.
    pub(crate) closest_task: f32,
    pub(crate) elsewhere: bool,
    /// Whether it is for other platforms only.
    pub(crate) other_platform: bool,
    /// Whether it is news that the query does not ask for.
    pub(crate) news: bool,
    /// Whether it is the release notes of the version that the query asks for.
    pub(crate) news_of_version: bool,
}

/// Verb of tools that return several things. Others return one.
const LISTING: &[u8] = b"list";

impl<'a> QueryFeatures<'a> {
    pub(crate) fn new(understanding: &'a Understanding, rules: &'a Rules, weights: &'a Weights) -> Self {
        let name = understanding.name();
        let boost = |term: &Term| rules.tables().generic_terms.get(&term.word.text).copied();
        let actions = understanding.terms.iter().filter_map(|term| term.verb.as_deref());
        Self {
            name,
            key: name::key(name),
            whole_key: name::key(&understanding.text),
            mentions: understanding
                .identifiers
                .iter()
                .map(|found| name::key(&found.name))
                .collect(),
            containers: understanding.container_keys(rules),
            path: understanding
                .parent
                .as_deref()
                .zip(understanding.child.as_deref())
                .map(|(parent, child)| (name::key(parent), name::key(child))),
            phrases: understanding
                .phrases
                .iter()
                .map(|phrase| phrase.to_lowercase())
                .collect(),
            asks_for_many: understanding.asks_for_many(rules),
            intents: actions.filter_map(|verb| rules.intent(verb)).collect(),
            news_of: news::queried_version(&understanding.text, rules.tables()),
            asks_for_news: understanding.recent
                || understanding.releases
                || news::is_news_query(&understanding.text, rules.tables()),
            understanding,
            rules,
            weights,
            term_words: TermWords::of(understanding, rules),
            written: match weights.penalty_other_word {
                0.0 => 0,
                _ => Forms::compared(understanding),
            },
            object: Self::object(understanding),
            generic: understanding.terms.iter().map(boost).collect(),
        }
    }

    /// The description for verbs, quoted phrases and the words of short queries, metadata for containers and platforms,
    /// the age for queries about what is new.
    pub(crate) fn needs(&self) -> Needs {
        let query = self.understanding;
        let describes = self.weights.boost_action_description > 0.0 || self.weights.boost_object_description > 0.0;
        Needs {
            description: self.written != 0
                || (query.has_action() && describes)
                || (!self.phrases.is_empty() && self.weights.boost_phrase > 0.0),
            metadata: !self.containers.is_empty() || !query.platforms.is_empty(),
            age: (query.recent || query.releases) && self.weights.boost_recency > 0.0,
        }
    }

    pub(crate) fn container(&self) -> &str {
        self.understanding.container.as_deref().unwrap_or_default()
    }

    pub(crate) fn term(&self, term: usize) -> &str {
        self.understanding.terms.get(term).map_or("", |term| &term.word.text)
    }

    pub(crate) fn is_question(&self) -> bool {
        self.understanding.class == Class::Question
    }

    pub(crate) fn recent(&self) -> bool {
        self.understanding.recent
    }

    /// Whether it names a container.
    pub(crate) fn is_placed(&self) -> bool {
        !self.containers.is_empty()
    }

    /// Features of a page for this query.
    pub(crate) fn find(&self, page: &Page) -> PageFeatures {
        let keys = page.keys();
        let keys = keys.parts();
        let mut found = PageFeatures {
            intent: 1.0,
            inside: page.lies_in(&self.containers, &keys),
            named: keys.named,
            ..PageFeatures::default()
        };
        let mut buffer = Vec::with_capacity(32);
        let mut closeness = [[0.0f32; 2]; MAX_TERMS];
        let mut intents = Vec::new();
        let mut forms = Forms::default();
        let (mut title_words, mut shared) = (0, 0.0);
        let vocabulary = self.rules.vocabulary();
        for word in keys.title.words().interruptible() {
            title_words += 1;
            found.names_action = found.names_action || vocabulary.is_verb(&word, &mut buffer);
            let matching = self.term_words.matching_key(&word, &mut buffer);
            shared += note(matching.inspect(|found| forms.note(word.text, found)), &mut closeness);
            let is_scope = |term: &Term| term.word.text.as_bytes() == word.text;
            found.scope |= self.understanding.scope.iter().any(is_scope);
            found.scope |= self.asks_for_many && word.text == LISTING;
            if !self.intents.is_empty()
                && let Some(intent) = vocabulary.intent(word.text)
                && !self.is_object(word.text)
            {
                intents.push(intent);
            }
        }
        for word in keys.leaf_words.words().interruptible() {
            note(self.term_words.matching_key(&word, &mut buffer), &mut closeness);
        }
        let terms = self.understanding.terms.len().min(MAX_TERMS);
        let every_word = terms > 0
            && self.understanding.terms.len() == terms
            && closeness[..terms].iter().all(|found| found[0].max(found[1]) > 0.0);
        let all_words = every_word && terms > 1;
        if title_words > 1 {
            let conflict = |&intent| self.rules.conflict(intent, intents.iter().copied());
            found.conflict = self.intents.iter().map(conflict).min_by(f32::total_cmp).unwrap_or(0.0);
        }
        if found.conflict == 0.0 {
            found.task = self.task(keys.title, &mut buffer);
            found.closest_task = found.task;
        }
        found.in_pattern = self.in_pattern(&keys, every_word, found.inside);
        let elsewhere = self.understanding.known_container && !found.inside;
        found.elsewhere = elsewhere && name::stated_containers(page.metadata.as_ref()).next().is_some();
        if self.understanding.class == Class::Generic {
            found.generic = self.generic(&closeness);
        } else if !elsewhere {
            found.filename_exact = self.matches_name(keys.leaf);
            found.all_words = all_words && !found.filename_exact;
            found.api_name = self.api_name(page, &keys);
        }
        if !found.filename_exact && !found.all_words {
            found.name_words = name_words(shared, title_words);
        }
        if self.understanding.has_action() {
            let (action, object) = (self.weights.boost_action_name, self.weights.boost_object_name);
            self.matches(&closeness, action, object, &mut found.in_name);
            found.category = self.is_in_category(&keys, &mut buffer);
        } else {
            found.scope &= self.asks_for_many;
        }
        if self.written != 0 || self.understanding.has_action() {
            self.describe(page, &mut found, &mut forms);
            found.other_words = forms.share_of_others(self.written, self.understanding.terms.len());
        }
        let is_news = self.rules.news().are_news(&keys);
        let is_of = |version: &Vec<u32>| news::is_of_version(&page.slug, &page.title, version);
        found.news = is_news && !self.asks_for_news;
        found.news_of_version = is_news && self.news_of.as_ref().is_some_and(is_of);
        let for_platform = self.is_for_platform(page);
        found.platform = for_platform == Some(true);
        found.other_platform = for_platform == Some(false);
        found.phrase = self.has_phrase(page);
        found
    }

    fn describe(&self, page: &Page, found: &mut PageFeatures, forms: &mut Forms) {
        let description = &page.description;
        let end = description.floor_char_boundary(DESCRIPTION_BYTES);
        let mut closeness = [[0.0f32; 2]; MAX_TERMS];
        self.each_plain_word(&description[..end], |word| {
            let matching = self.term_words.matching(word);
            note(
                matching.inspect(|found| forms.note(word.as_bytes(), found)),
                &mut closeness,
            );
        });
        if self.understanding.has_action() {
            let (action, object) = (
                self.weights.boost_action_description,
                self.weights.boost_object_description,
            );
            self.matches(&closeness, action, object, &mut found.in_description);
        }
    }

    fn is_in_category(&self, keys: &Parts<'_>, buffer: &mut Vec<u8>) -> bool {
        let mut words = keys.levels().flat_map(|level| level.words());
        words.any(|word| self.term_words.matching_key(&word, buffer).next().is_some())
    }

    /// Calls back with the words of a text, in lower case, that begin with the first byte of a term.
    fn each_plain_word(&self, text: &str, mut call: impl FnMut(&str)) {
        let mut lower = String::with_capacity(24);
        let mut take = |word: &str| {
            let first = word.as_bytes().first().map_or(0, u8::to_ascii_lowercase);
            if !first.is_ascii() || self.term_words.begin_with(first) {
                fold(word, &mut lower);
                call(&lower);
            }
        };
        // Most descriptions are ASCII, where letters need not be decoded.
        if text.is_ascii() {
            let mut start = 0;
            for word in text.as_bytes().split(|byte| !byte.is_ascii_alphanumeric()) {
                take(&text[start..start + word.len()]);
                start += word.len() + 1;
            }
        } else {
            text.split(|c: char| !is_of_word(c)).for_each(take);
        }
    }

    fn matches(&self, closeness: &[[f32; 2]; MAX_TERMS], action: f32, object: f32, matches: &mut Matches) {
        let least = usize::try_from(self.weights.minimum_term_length).unwrap_or_default();
        for (at, (term, &[itself, other])) in self.understanding.terms.iter().zip(closeness).enumerate() {
            if term.word.text.chars().count() <= least {
                continue;
            }
            let is_action = term.role == Role::Action;
            let weight = match term.role {
                Role::Action => action,
                Role::Modifier => object * self.weights.modifier_factor,
                _ => object,
            };
            let factor = if is_action { self.weights.synonym_factor } else { 1.0 };
            let (literal, synonym) = if is_action {
                ("intent_action", "intent_synonym")
            } else {
                ("intent_object", "object_synonym")
            };
            let (rule, raw, weight) = if weight * itself >= weight * factor * other {
                (literal, weight, itself)
            } else {
                (synonym, weight * factor, other)
            };
            matches.add(TermMatch {
                term: at,
                rule,
                raw,
                weight,
            });
        }
    }

    fn generic(&self, closeness: &[[f32; 2]; MAX_TERMS]) -> f32 {
        let boosts = self.generic.iter().zip(closeness);
        boosts
            .filter(|(_, found)| found[0] > 0.0)
            .filter_map(|(boost, _)| *boost)
            .fold(0.0, f32::max)
    }

    /// Whether a word of a title is an object of the query: in "create a view", `view` is no verb.
    fn is_object(&self, word: &[u8]) -> bool {
        let Ok(word) = std::str::from_utf8(word) else {
            return false;
        };
        let mut objects = self.understanding.terms.iter().filter(|term| term.role != Role::Action);
        objects.any(|term| term.word.matches(word))
    }

    /// Whether a page is for one of the query's platforms. `None` if either names no platform.
    fn is_for_platform(&self, page: &Page) -> Option<bool> {
        let platforms = &self.understanding.platforms;
        let metadata = page.metadata.as_ref().filter(|_| !platforms.is_empty())?;
        let stated = ["platform", "platforms"].iter().filter_map(|key| metadata.get(key));
        let stated = stated.flat_map(|value| match value {
            serde_json::Value::Array(values) => values.iter().collect(),
            value => vec![value],
        });
        let mut stated = stated.filter_map(serde_json::Value::as_str).peekable();
        stated.peek()?;
        Some(stated.any(|text| platforms.iter().any(|platform| platform.eq_ignore_ascii_case(text))))
    }

    fn has_phrase(&self, page: &Page) -> bool {
        let has = |text: &str| {
            let lower = text.to_lowercase();
            self.phrases.iter().any(|phrase| lower.contains(phrase))
        };
        !self.phrases.is_empty() && (has(&page.title) || has(&page.description))
    }
}

/// A title of one word does not count: every page of its kind is about that word.
fn name_words(shared: f32, words: u32) -> f32 {
    match words {
        0 | 1 => 0.0,
        _ => (shared / words as f32).powi(2),
    }
}

/// Records the closeness of the terms in a text, apart for the terms themselves and for their expansions. Returns the
/// greatest closeness.
fn note<'f>(forms: impl Iterator<Item = &'f TermWord>, closeness: &mut [[f32; 2]; MAX_TERMS]) -> f32 {
    let mut greatest: f32 = 0.0;
    for term_word in forms {
        let noted = &mut closeness[term_word.term][usize::from(term_word.is_expansion)];
        *noted = noted.max(term_word.closeness);
        greatest = greatest.max(term_word.closeness);
    }
    greatest
}

#[cfg(test)]
mod tests;

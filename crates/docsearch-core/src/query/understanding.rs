//! Parses a query by its text and the rules: class, names, container, terms and time.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};

use crate::query::container::{KnownNames, QueryContainer};
use crate::query::input::MAX_QUERY_CHARS;
use crate::query::mention::{Exclusion, Identifier, identifiers, quoted_phrases, undashed, words_and_phrases};
use crate::query::period::Period;
use crate::query::rule::{Intent, MAX_RULE_PHRASE_WORDS, Rules};
use crate::query::task::task;
use crate::text::name;
use crate::text::word::folded;

mod candidate_name;
mod command;
mod names;
mod recency;
mod sentence;
mod term;

pub use candidate_name::{CandidateName, NameRole, Site, Subject};
use recency::{Recency, Timing, timing};
pub(crate) use sentence::{Sentence, frames};
pub use term::{Role, Term};
use term::{scope, terms};

// All four are chosen, not measured.
/// Most words of X in "X in Y" for the query to be of that class.
const MAX_SYMBOL_WORDS: usize = 4;
/// Fewest words of a question.
pub(crate) const MIN_QUESTION_WORDS: usize = 3;
/// Most words of a query whose abbreviations are written out for its vector and for the names of pages.
const MAX_WRITTEN_OUT: usize = 3;
/// Letters of an acronym.
const ACRONYM: RangeInclusive<usize> = 2..=6;

/// Classes of queries. Each has its own weights.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, IntoStaticStr, VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Class {
    /// A name of code: `UITableView`, `os.replace()`, `@>`, `lc_messages configuration parameter`.
    Identifier,
    /// "X in Y", or a name beside a known framework.
    InPattern,
    /// A question.
    Question,
    /// Words.
    Words,
    /// Generic terms alone: `init`.
    Generic,
}

impl Class {
    /// All classes.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// Its name in output and settings.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A parsed query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Understanding {
    /// The query, trimmed and cut at [`MAX_QUERY_CHARS`].
    pub text: String,
    /// The searched text: the query without excluded words, quotation marks, the words of a period and the words
    /// around a task (see `crate::query::task`).
    pub topic: String,
    /// Whether words around a task were left out.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub framed: bool,
    /// Its class.
    pub class: Class,
    /// The name, if the query has more words: X of "X in Y", or what is left without a framework or without the kind
    /// of thing.
    pub symbol: Option<String>,
    /// `X` of `X in Y`, with the kind of thing.
    pub subject: Option<String>,
    /// Y of "X in Y", in the documents' spelling if they have it.
    pub container: Option<String>,
    /// The container, if the rules or the known names have it.
    pub framework: Option<String>,
    /// Whether the container is written without "in".
    pub implicit: bool,
    /// Whether documents say that they belong to the container.
    pub known_container: bool,
    /// Kind of thing: `protocol` of `View protocol`.
    pub kind: Option<String>,
    /// Parent of the symbol: `AsyncImagePhase` of `AsyncImagePhase.failure`.
    pub parent: Option<String>,
    /// The member: `failure` of `AsyncImagePhase.failure`.
    pub child: Option<String>,
    /// Names of documents that the query is about or compares with, see [`Understanding::add_subject`].
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub subjects: Vec<Subject>,
    /// Names of code in the query.
    pub identifiers: Vec<Identifier>,
    /// Text in quotation marks.
    pub phrases: Vec<String>,
    /// Excluded words, names of code, versions and phrases (`-word`).
    pub excluded: Vec<String>,
    /// Words with a dash that are options of a command.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub options: Vec<String>,
    /// Significant words, in order, without those of the framework.
    pub terms: Vec<Term>,
    /// Words for a number of objects, which are no terms: `all`.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub scope: Vec<Term>,
    /// Platforms, as metadata spells them.
    pub platforms: Vec<String>,
    /// Whether the query asks for recent pages.
    pub recent: bool,
    /// The topic without the words for recent pages: `install` of `latest install`.
    #[serde(skip)]
    pub undated: Option<String>,
    /// Whether it asks for nothing else: `what's new today?`.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub only_recent: bool,
    /// Whether it asks for release notes and changelogs and nothing else: `latest version`.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub releases: bool,
    /// The period in the query: `last month`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub period: Option<Period>,
}

impl Understanding {
    /// The text for the vector: the topic, and in a query of few words their abbreviations written out, which a model
    /// may not know. Models know other synonyms; adding those took P@1 of the shipped set of intents from .933 to
    /// .917.
    pub fn embedded(&self) -> Cow<'_, str> {
        let few = self.class != Class::Question && self.terms.len() <= MAX_WRITTEN_OUT;
        let mut text = Cow::Borrowed(self.topic.as_str());
        for long in self.terms.iter().filter(|_| few).filter_map(Term::written_out) {
            text.to_mut().push(' ');
            text.to_mut().push_str(long);
        }
        text
    }

    /// Parses a query. A blank one has no words.
    pub fn read(query: &str, rules: &Rules, known: &KnownNames) -> Self {
        let trimmed = query.trim();
        let end = trimmed
            .char_indices()
            .nth(MAX_QUERY_CHARS)
            .map_or(trimmed.len(), |(at, _)| at);
        let text = trimmed[..end].to_owned();
        let phrases = quoted_phrases(&text);
        let Exclusion { excluded, options } = Exclusion::read(&text, |word| {
            rules.verb(word).is_some()
                || rules.tables().platforms.contains_key(word)
                || rules.tables().synonyms.contains_key(word)
                || known.get(&name::key(word)).is_some()
        });
        let whole = topic(&text, &phrases, &excluded);
        let task = task(&whole, rules);
        let Timing {
            recency,
            releases,
            period,
            rest,
            undated,
        } = timing(task, rules, known);
        // Texts do not say when they were published.
        let topic = rest.filter(|_| phrases.is_empty()).unwrap_or_else(|| task.to_owned());
        let is_question = is_question(&topic, rules) || (whole.trim_end().ends_with('?') && asks_at_end(&topic, rules));
        let container = QueryContainer::read(&topic, is_question, rules, known);
        // For words and vectors, spellings of a container would be different words.
        let topic = container.canonical.clone().unwrap_or(topic);
        let without_kind = without_kind(container.symbol.as_deref().unwrap_or(&topic), is_question, rules);
        let kind = without_kind.as_ref().map(|(_, kind)| kind.clone());
        let symbol = without_kind.map(|(symbol, _)| symbol).or(container.symbol.clone());
        let (parent, child) = member(symbol.as_deref().unwrap_or(&topic), container.container.is_some()).unzip();
        let identifiers = identifiers(&topic);
        // "List in Layout" is a name; "list all hosts in a pool" is a task.
        let most = if container.framework.is_some() {
            MAX_SYMBOL_WORDS
        } else {
            1
        };
        let words_of = |symbol: &str| symbol.split_whitespace().count();
        let is_in_container = container.container.is_some() && container.symbol.as_deref().map_or(0, words_of) <= most;
        let named = kind.is_some() && !opens_with_order(&topic, rules) || is_in_container;
        let within = if container.framework.is_some() {
            symbol.as_deref().unwrap_or(&topic)
        } else {
            &topic
        };
        let mut understanding = Self {
            subjects: Vec::new(),
            class: Class::Words,
            terms: terms(within, named, rules),
            scope: scope(&topic, rules),
            platforms: platforms(&topic, container.framework.as_deref(), rules),
            recent: recency.is_some() || period.is_some(),
            only_recent: recency == Some(Recency::Only),
            undated,
            releases,
            period,
            framed: task.len() < whole.len(),
            symbol,
            subject: container.symbol,
            container: container.container,
            framework: container.framework,
            implicit: container.implicit,
            known_container: container.known,
            kind,
            parent,
            child,
            identifiers,
            phrases,
            excluded,
            options,
            topic,
            text,
        };
        understanding.class = understanding.classify(is_question);
        understanding
    }

    /// The possible name: the symbol, or else the topic.
    pub fn name(&self) -> &str {
        self.symbol.as_deref().unwrap_or(&self.topic)
    }

    /// Whether it has a verb as a task.
    pub fn has_action(&self) -> bool {
        self.terms.iter().any(|term| term.role == Role::Action)
    }

    /// Whether it asks for several things and changes nothing: its first object is a plural, and its verbs, if any,
    /// read.
    pub fn asks_for_many(&self, rules: &Rules) -> bool {
        let reads = |verb: &str| rules.intent(verb) == Some(Intent::Read);
        let mut objects = self
            .terms
            .iter()
            .filter(|term| matches!(term.role, Role::Object | Role::Generic));
        let is_plural = |term: &Term| term.word.text.ends_with('s') && term.word.stem.len() < term.word.text.len();
        self.terms.iter().filter_map(|term| term.verb.as_deref()).all(reads) && objects.next().is_some_and(is_plural)
    }

    /// The command of a shell command line: `git push` of `git push --delete`. `None` for another query.
    pub fn command(&self) -> Option<String> {
        command::command(&self.text, &self.options)
    }

    /// The options of a shell command line, in order. Long options are keys (see [`name::key`]): `delete` of `git
    /// push --delete`. Of short options the dash and the first letter. Empty for another query.
    pub fn command_options(&self) -> Vec<String> {
        self.command()
            .map_or_else(Vec::new, |_| command::options(&self.text, &self.options))
    }

    /// Whether it is a question about a name without letters, such as an operator, and has no other significant
    /// words.
    pub fn asks_about_sign(&self, rules: &Rules) -> bool {
        (self.framed || self.class == Class::Question) && sentence::is_about_sign(&self.topic, rules)
    }

    fn classify(&self, is_question: bool) -> Class {
        let name = self.name();
        let names_container = self.framework.is_some()
            || self
                .container
                .as_deref()
                .is_some_and(crate::text::identifier::is_identifier);
        if is_question {
            Class::Question
        } else if names_container && name.split_whitespace().count() <= MAX_SYMBOL_WORDS {
            Class::InPattern
        } else if is_name_of_code(name) {
            Class::Identifier
        } else if !self.terms.is_empty()
            && self.kind.is_none()
            && self.terms.iter().all(|term| term.role == Role::Generic)
        {
            Class::Generic
        } else {
            Class::Words
        }
    }

    /// [`name::key`]s of the container in every spelling of the rules. Empty without a container.
    pub fn container_keys(&self, rules: &Rules) -> Vec<String> {
        let Some(container) = &self.container else {
            return Vec::new();
        };
        let key = name::key(container);
        let spellings = rules.framework(&key).into_iter().flat_map(|canonical| {
            let aliases = &rules.tables().framework_aliases;
            let same = aliases.iter().filter(move |(_, framework)| *framework == canonical);
            same.map(|(alias, _)| name::key(alias)).chain([name::key(canonical)])
        });
        let mut keys: Vec<String> = spellings.chain([key.clone()]).filter(|key| !key.is_empty()).collect();
        keys.sort();
        keys.dedup();
        keys
    }
}

/// The query without quotation marks around phrases and without excluded words, or the whole query if nothing else is
/// in it.
fn topic(text: &str, phrases: &[String], excluded: &[String]) -> String {
    if phrases.is_empty() && excluded.is_empty() {
        return without_question_mark(text);
    }
    let words: Vec<&str> = words_and_phrases(text)
        .filter(|word| undashed(word).is_none_or(|word| !excluded.iter().any(|known| known == word)))
        .collect();
    let topic = words.join(" ").replace(['"', '“', '”'], "");
    if topic.trim().is_empty() {
        text.to_owned()
    } else {
        topic
    }
}

/// A text without the question mark after a sign: `what is ->>` of `what is ->>?`.
fn without_question_mark(text: &str) -> String {
    let Some((before, sign)) = text.rsplit_once(char::is_whitespace) else {
        return text.to_owned();
    };
    let bare = sign
        .strip_suffix('?')
        .filter(|bare| !bare.is_empty() && !sign.contains(char::is_alphanumeric));
    match bare {
        // `??` is a sign itself.
        Some("?") | None => text.to_owned(),
        Some(bare) => format!("{before} {bare}"),
    }
}

/// Whether a text of several words is a question: it begins with a question word, or ends with a question mark.
pub(crate) fn is_question(topic: &str, rules: &Rules) -> bool {
    let mut words = topic.split_whitespace();
    let opener = words.next().unwrap_or_default().to_lowercase();
    let opener = opener.split(['\'', '’']).next().unwrap_or_default();
    let asks = rules.tables().question_words.contains(opener) || topic.trim_end().ends_with('?');
    asks && words.count() + 1 >= MIN_QUESTION_WORDS
}

/// Whether the last word is a question word: `vacuum works how`.
fn asks_at_end(topic: &str, rules: &Rules) -> bool {
    let last = topic.split_whitespace().last().map(folded);
    last.is_some_and(|word| rules.tables().question_words.contains(word.as_str()))
        && topic.split_whitespace().count() >= MIN_QUESTION_WORDS
}

/// Splits a name and its kind of thing: `View protocol`, `module curses.textpad`, `NOT (operator)`.
fn without_kind(name: &str, is_question: bool, rules: &Rules) -> Option<(String, String)> {
    let words: Vec<&str> = name.split_whitespace().collect();
    if is_question || !(2..=MAX_RULE_PHRASE_WORDS + 2).contains(&words.len()) {
        return None;
    }
    (1..=MAX_RULE_PHRASE_WORDS.min(words.len() - 1))
        .rev()
        .flat_map(|count| {
            let (first, rest) = words.split_at(count);
            [words.split_at(words.len() - count), (rest, first)]
        })
        .find_map(|(rest, kind)| {
            let kind = kind.join(" ").to_lowercase();
            let kind = kind.trim_start_matches('(').trim_end_matches([')', ',', ':']);
            (rules.tables().kind_words.contains(kind) && rest.len() <= MAX_RULE_PHRASE_WORDS)
                .then(|| (rest.join(" "), kind.to_owned()))
        })
}

/// Whether a text is a task and not a name: `create a page`, `delete page`, but not `View protocol` or `print
/// function`.
fn opens_with_order(topic: &str, rules: &Rules) -> bool {
    let mut words = topic.split_whitespace();
    let verb = words
        .next()
        .filter(|first| is_plain(first))
        .and_then(|first| rules.verb(first));
    verb.is_some_and(|verb| words.count() > 1 || !matches!(rules.intent(verb), Some(Intent::Read) | None))
}

/// Whether a text has no capital.
fn is_plain(text: &str) -> bool {
    !text.contains(char::is_uppercase)
}

/// Parent and child of a qualified name. Within a container, also of a name of several words.
fn member(name: &str, in_container: bool) -> Option<(String, String)> {
    let words: Vec<&str> = name.split_whitespace().collect();
    match words.as_slice() {
        [word] => {
            let identifier = Identifier::read(word)?;
            Some((identifier.parent?, identifier.name))
        }
        [parent @ .., child] if in_container && (1..MAX_SYMBOL_WORDS).contains(&parent.len()) => {
            Some((parent.join(" "), (*child).to_owned()))
        }
        _ => None,
    }
}

/// Whether a text is one word that is a name of code, in capitals, or without letters.
fn is_name_of_code(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let (Some(word), None) = (words.next(), words.next()) else {
        return false;
    };
    let capitals = word.len() > 1 && !word.contains(char::is_lowercase) && word.contains(char::is_uppercase);
    capitals || !word.contains(char::is_alphanumeric) || Identifier::read(word).is_some()
}

fn platforms(topic: &str, framework: Option<&str>, rules: &Rules) -> Vec<String> {
    let mut platforms: Vec<String> = topic
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| framework.is_none_or(|framework| !framework.eq_ignore_ascii_case(word)))
        .filter_map(|word| rules.tables().platforms.get(&word.to_lowercase()).cloned())
        .collect();
    platforms.sort();
    platforms.dedup();
    platforms
}

#[cfg(test)]
mod tests;

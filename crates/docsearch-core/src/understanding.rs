//! What a query asks for, as far as its text and the rules tell.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::identifier::uncontracted;
use crate::mention::{Identifier, excluded_words, identifiers, quoted_phrases};
use crate::name;
use crate::place::{KnownNames, Place, swap};
use crate::query::MAX_QUERY_CHARS;
use crate::rule::{MAX_PHRASE_WORDS, Rules};
use crate::word::Word;

/// Most words of X in "X in Y" for the query to be of that class.
const MAX_SYMBOL_WORDS: usize = 4;
/// Fewest words of a question.
const MIN_QUESTION_WORDS: usize = 3;
/// A word before which a verb is a verb; after others, such as articles, it is a noun.
const BEFORE_VERBS: [&str; 14] = [
    "i", "you", "we", "to", "and", "or", "then", "can", "please", "not", "me", "do", "does", "should",
];

/// Most words of a query that is embedded with what they are short for.
const MAX_WRITTEN_OUT: usize = 3;

/// Classes of queries. Each has its own weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// A name of code: `UITableView`, `os.replace()`, `@>`, `lc_messages configuration parameter`.
    Identifier,
    /// "X in Y", or a name beside a known framework.
    InPattern,
    /// A question.
    Question,
    /// Words.
    Words,
    /// Nothing but words that say little: `init`.
    Generic,
}

impl Class {
    /// Every class.
    pub const ALL: [Class; 5] = [
        Self::Identifier,
        Self::InPattern,
        Self::Question,
        Self::Words,
        Self::Generic,
    ];

    /// The word that output and settings have for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Identifier => "identifier",
            Self::InPattern => "in_pattern",
            Self::Question => "question",
            Self::Words => "words",
            Self::Generic => "generic",
        }
    }
}

/// What a word does in a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// A verb that says what is to be done.
    Action,
    /// What it is to be done to, and everything else that carries meaning.
    Object,
    /// A word that says little.
    Generic,
}

/// A word that carries meaning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Term {
    /// The word.
    #[serde(flatten)]
    pub word: Word,
    /// What it does.
    pub role: Role,
    /// For an action, the verb as the rules spell it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub verb: Option<String>,
    /// What the rules say that it also means.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub synonyms: Vec<String>,
}

impl Term {
    /// What it is short for, as the rules know it: words that begin with its first letter and hold the others in order.
    pub fn written_out(&self) -> Option<&str> {
        let short = self.word.text.strip_suffix('s').unwrap_or(&self.word.text);
        let abbreviates = |long: &&String| {
            let mut letters = long.chars().flat_map(char::to_lowercase);
            let mut wanted = short
                .chars()
                .filter(|letter| letter.is_alphabetic())
                .flat_map(char::to_lowercase);
            long.len() > short.len()
                && long
                    .to_lowercase()
                    .starts_with(|first| wanted.clone().next() == Some(first))
                && wanted.all(|letter| letters.any(|other| other == letter))
        };
        self.synonyms.iter().find(abbreviates).map(String::as_str)
    }
}

/// What a query asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Understanding {
    /// The query, trimmed and cut at [`MAX_QUERY_CHARS`].
    pub text: String,
    /// The query without excluded words and quotation marks.
    pub topic: String,
    /// Its class.
    pub class: Class,
    /// The name that is asked for, if the query says more than it: X of "X in Y", what is left
    /// without a framework or without the kind of thing.
    pub symbol: Option<String>,
    /// `X` of `X in Y` with the words for what kind of thing it is.
    pub subject: Option<String>,
    /// Where it is: Y of "X in Y", in the canonical spelling if it is a known one.
    pub container: Option<String>,
    /// The container, if the rules or the known names have it.
    pub framework: Option<String>,
    /// Whether the container stands without "in".
    pub implicit: bool,
    /// Whether documents say that they belong to the container.
    pub known_container: bool,
    /// What kind of thing it is: `protocol` of `View protocol`.
    pub kind: Option<String>,
    /// What the symbol is a member of: `AsyncImagePhase` of `AsyncImagePhase.failure`.
    pub parent: Option<String>,
    /// The member: `failure` of `AsyncImagePhase.failure`.
    pub child: Option<String>,
    /// Names of code in the query.
    pub identifiers: Vec<Identifier>,
    /// What stands in quotation marks.
    pub phrases: Vec<String>,
    /// Words that must not occur: `-word`.
    pub excluded: Vec<String>,
    /// Words that carry meaning, in order, without those of the framework.
    pub terms: Vec<Term>,
    /// Platforms, as metadata spell them.
    pub platforms: Vec<String>,
    /// Whether recent pages are asked for.
    pub recent: bool,
}

/// How a text that may be a page's name was won from the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NameRole {
    /// The query as it is.
    Whole,
    /// The symbol in its container.
    Symbol,
    /// Parent and child.
    Path,
    /// The query without the kind of thing.
    Kindless,
    /// The query with an abbreviation written out.
    Expanded,
    /// A name of code in a longer query: it earns a boost, and no lift.
    Mention,
    /// What comes before the last part of a qualified name, such as the module: its page may describe
    /// the member.
    Qualifier,
}

impl NameRole {
    /// Factor of [`crate::rank::name_strength`], 0 to 1. The less the query was changed to win the
    /// name, the more it counts; a name within a sentence does not lift.
    pub fn factor(self, implicit: bool) -> f32 {
        match self {
            Self::Whole => 1.0,
            Self::Symbol | Self::Path if implicit => 0.998,
            Self::Symbol | Self::Path => 1.0,
            Self::Kindless => 0.98,
            Self::Expanded => 0.96,
            Self::Mention | Self::Qualifier => 0.0,
        }
    }
}

/// A text that may be a page's name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NameForm {
    /// The text.
    pub text: String,
    /// Its [`name::key`].
    pub key: String,
    /// How it was won.
    pub role: NameRole,
}

impl Understanding {
    /// What is embedded: the topic, and in a query of few words what they are short for, which a model of language may
    /// not know. Other words for the same it knows; adding those took P@1 of the shipped set of intents from .933 to .917.
    pub fn embedded(&self) -> Cow<'_, str> {
        let few = self.class != Class::Question && self.terms.len() <= MAX_WRITTEN_OUT;
        let mut text = Cow::Borrowed(self.topic.as_str());
        for long in self.terms.iter().filter(|_| few).filter_map(Term::written_out) {
            text.to_mut().push(' ');
            text.to_mut().push_str(long);
        }
        text
    }

    /// Reads a query. A blank one is understood as no words.
    pub fn read(query: &str, rules: &Rules, known: &KnownNames) -> Self {
        let trimmed = query.trim();
        let end = trimmed
            .char_indices()
            .nth(MAX_QUERY_CHARS)
            .map_or(trimmed.len(), |(at, _)| at);
        let text = trimmed[..end].to_owned();
        let phrases = quoted_phrases(&text);
        let excluded = excluded_words(&text, |word| {
            rules.verb(word).is_some()
                || rules.tables().platforms.contains_key(word)
                || rules.tables().synonyms.contains_key(word)
                || known.get(&name::key(word)).is_some()
        });
        let topic = topic(&text, &phrases, &excluded);
        let is_question = is_question(&topic, rules);
        let place = Place::read(&topic, is_question, rules, known);
        let kindless = kindless(place.symbol.as_deref().unwrap_or(&topic), is_question, rules);
        let kind = kindless.as_ref().map(|(_, kind)| kind.clone());
        let symbol = kindless.map(|(symbol, _)| symbol).or(place.symbol.clone());
        let (parent, child) = member(symbol.as_deref().unwrap_or(&topic), place.container.is_some()).unzip();
        let identifiers = identifiers(&topic);
        // "List in Layout" asks for a page; "list all hosts in a pool" says what to do.
        let most = if place.framework.is_some() { MAX_SYMBOL_WORDS } else { 1 };
        let words_of = |symbol: &str| symbol.split_whitespace().count();
        let placed = place.container.is_some() && place.symbol.as_deref().map_or(0, words_of) <= most;
        let named = kind.is_some() || placed;
        let within = if place.framework.is_some() {
            symbol.as_deref().unwrap_or(&topic)
        } else {
            &topic
        };
        let mut understanding = Self {
            class: Class::Words,
            terms: terms(within, named, rules),
            platforms: platforms(&topic, place.framework.as_deref(), rules),
            recent: asks_for_recent(&topic, rules),
            symbol,
            subject: place.symbol,
            container: place.container,
            framework: place.framework,
            implicit: place.implicit,
            known_container: place.known,
            kind,
            parent,
            child,
            identifiers,
            phrases,
            excluded,
            topic,
            text,
        };
        understanding.class = understanding.classify(is_question);
        understanding
    }

    /// What may be a name: the symbol, or else the topic.
    pub fn name(&self) -> &str {
        self.symbol.as_deref().unwrap_or(&self.topic)
    }

    /// Whether a verb says what is to be done.
    pub fn has_action(&self) -> bool {
        self.terms.iter().any(|term| term.role == Role::Action)
    }

    fn classify(&self, is_question: bool) -> Class {
        let name = self.name();
        let names_place =
            self.framework.is_some() || self.container.as_deref().is_some_and(crate::identifier::is_identifier);
        if is_question {
            Class::Question
        } else if names_place && name.split_whitespace().count() <= MAX_SYMBOL_WORDS {
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

    /// The container's [`name::key`]s, in every spelling that the rules have for it; empty without a
    /// container.
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

    /// The texts that may be names of pages, strongest first, each key once.
    pub fn names(&self) -> Vec<NameForm> {
        let mut names: Vec<NameForm> = Vec::new();
        let mut add = |text: &str, role| {
            let key = name::key(text);
            if !key.is_empty() && names.iter().all(|known| known.key != key) {
                names.push(NameForm {
                    text: text.to_owned(),
                    key,
                    role,
                });
            }
        };
        add(&self.text, NameRole::Whole);
        add(&self.topic, NameRole::Whole);
        if let Some(subject) = &self.subject {
            add(subject, NameRole::Symbol);
        }
        if let Some(symbol) = &self.symbol {
            let role = if self.subject.as_ref() == Some(symbol) {
                NameRole::Symbol
            } else {
                NameRole::Kindless
            };
            add(symbol, role);
        }
        if let (Some(parent), Some(child)) = (&self.parent, &self.child) {
            add(&format!("{parent} {child}"), NameRole::Path);
        }
        if self.terms.len() <= MAX_PHRASE_WORDS {
            for (at, term) in self.terms.iter().enumerate() {
                for synonym in &term.synonyms {
                    let mut words: Vec<&str> = self.terms.iter().map(|term| term.word.text.as_str()).collect();
                    words[at] = synonym;
                    add(&words.join(" "), NameRole::Expanded);
                }
            }
        }
        for identifier in &self.identifiers {
            add(&identifier.text, NameRole::Mention);
            add(&identifier.name, NameRole::Mention);
        }
        for identifier in &self.identifiers {
            for qualifier in identifier.qualifiers() {
                add(qualifier, NameRole::Qualifier);
            }
        }
        names
    }
}

/// The query without quotation marks around phrases and without excluded words. If nothing but them
/// is there, the query.
fn topic(text: &str, phrases: &[String], excluded: &[String]) -> String {
    if phrases.is_empty() && excluded.is_empty() {
        return text.to_owned();
    }
    let words: Vec<&str> = text
        .split_whitespace()
        .filter(|word| {
            word.strip_prefix('-')
                .is_none_or(|word| !excluded.iter().any(|known| known == word))
        })
        .collect();
    let topic = words.join(" ").replace(['"', '“', '”'], "");
    if topic.trim().is_empty() {
        text.to_owned()
    } else {
        topic
    }
}

fn is_question(topic: &str, rules: &Rules) -> bool {
    let mut words = topic.split_whitespace();
    let opener = words.next().unwrap_or_default().to_lowercase();
    let opener = opener.split(['\'', '’']).next().unwrap_or_default();
    let asks = rules.tables().question_words.contains(opener) || topic.trim_end().ends_with('?');
    asks && words.count() + 1 >= MIN_QUESTION_WORDS
}

/// Takes the kind of thing off a name: `View protocol`, `module curses.textpad`, `NOT (operator)`.
fn kindless(name: &str, is_question: bool, rules: &Rules) -> Option<(String, String)> {
    let words: Vec<&str> = name.split_whitespace().collect();
    if is_question || !(2..=MAX_PHRASE_WORDS + 2).contains(&words.len()) {
        return None;
    }
    (1..=MAX_PHRASE_WORDS.min(words.len() - 1))
        .rev()
        .flat_map(|count| [words.split_at(words.len() - count), swap(words.split_at(count))])
        .find_map(|(rest, kind)| {
            let kind = kind.join(" ").to_lowercase();
            let kind = kind.trim_start_matches('(').trim_end_matches([')', ',', ':']);
            (rules.tables().kind_words.contains(kind) && rest.len() <= MAX_PHRASE_WORDS)
                .then(|| (rest.join(" "), kind.to_owned()))
        })
}

/// Parent and child of a qualified name, or, in a container, of two words and more.
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

/// A single word that is a name of code, written in capitals, or nothing but marks.
fn is_name_of_code(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let (Some(word), None) = (words.next(), words.next()) else {
        return false;
    };
    let capitals = word.len() > 1 && !word.contains(char::is_lowercase) && word.contains(char::is_uppercase);
    capitals || !word.contains(char::is_alphanumeric) || Identifier::read(word).is_some()
}

fn terms(topic: &str, named: bool, rules: &Rules) -> Vec<Term> {
    let tables = rules.tables();
    let mut terms: Vec<Term> = Vec::new();
    let mut before: Option<String> = None;
    let mut only_openers = true;
    // Placeholders such as <file_path> stand for values, not for what is looked for.
    let words: Vec<&str> = topic
        .split_whitespace()
        .filter(|word| !(word.starts_with('<') && word.trim_end_matches(['.', ',', '?', '\'']).ends_with('>')))
        .collect();
    let lower: Vec<String> = words.iter().map(|word| folded(word)).collect();
    let mut particles: Vec<usize> = Vec::new();
    for (at, text) in words.iter().enumerate() {
        if particles.contains(&at) {
            before = Some(lower[at].clone());
            continue;
        }
        let is_code = Identifier::read(text).is_some();
        let may_be_verb = !named && !is_code;
        if may_be_verb
            && opens_clause(before.as_deref(), only_openers)
            && let Some((verb, rest)) = rules.phrasal_verb(&lower[at..])
        {
            particles = rest.into_iter().map(|place| at + place).collect();
            before = Some(lower[at].clone());
            only_openers = false;
            terms.push(Term {
                verb: Some(verb.to_owned()),
                role: Role::Action,
                synonyms: Vec::new(),
                word: Word::new(verb),
            });
            continue;
        }
        let text = uncontracted(text);
        for part in crate::identifier::words(text) {
            let word = Word::new(&text[part]);
            let is_stop = tables.stop_words.contains(&word.text) || tables.question_words.contains(&word.text);
            let verb = rules
                .verb(&word.text)
                .filter(|_| may_be_verb && opens_clause(before.as_deref(), only_openers));
            before = Some(word.text.clone());
            if is_stop {
                continue;
            }
            only_openers = false;
            if terms.iter().any(|known| known.word == word) {
                continue;
            }
            let role = match verb {
                Some(_) => Role::Action,
                None if tables.generic_terms.contains_key(&word.text) => Role::Generic,
                None => Role::Object,
            };
            let synonyms = tables.synonyms.get(&word.text).into_iter().flatten().cloned().collect();
            terms.push(Term {
                verb: verb.map(str::to_owned),
                role,
                synonyms,
                word,
            });
        }
    }
    if let [only] = terms.as_mut_slice() {
        // A verb with nothing to do it to is a name.
        only.verb = None;
        only.role = if tables.generic_terms.contains_key(&only.word.text) {
            Role::Generic
        } else {
            Role::Object
        };
    }
    terms
}

/// Whether a verb may stand after this word. `only_openers`: nothing but openers stood before.
fn opens_clause(before: Option<&str>, only_openers: bool) -> bool {
    before.is_none_or(|before| only_openers && BEFORE_VERBS.contains(&before) || before == "to")
}

/// A word in lower case, without punctuation around it.
fn folded(word: &str) -> String {
    word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()
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

fn asks_for_recent(topic: &str, rules: &Rules) -> bool {
    let words: Vec<String> = topic
        .split_whitespace()
        .filter(|word| Identifier::read(word).is_none())
        .map(|word| folded(word).replace('’', "'"))
        .filter(|word| !word.is_empty())
        .collect();
    (1..=MAX_PHRASE_WORDS).any(|count| {
        words
            .windows(count)
            .any(|window| rules.tables().recency_words.contains(&window.join(" ")))
    })
}

#[cfg(test)]
mod tests;

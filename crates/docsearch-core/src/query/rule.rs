//! Rules of ranking as data: verbs, synonyms, names of frameworks, generic terms and the rest of
//! what is known of a language. The defaults are English; rows of tables change them.

mod news;
mod row;
mod vocabulary;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::query::pattern::QuestionPatterns;
use crate::text::name;
use crate::text::word::stem;

pub use news::{NewsNamePosition, NewsNames, NewsQueryPart};
use vocabulary::Vocabulary;

/// Most words of a framework's alias, of a kind or of a recency phrase.
pub const MAX_RULE_PHRASE_WORDS: usize = 3;

/// Most words between a verb and its particle.
const MAX_SEPARATED: usize = 4;

/// What a verb does to the thing it is applied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Intent {
    /// Looks at it.
    Read,
    /// Changes or stores it.
    Write,
    /// Makes it.
    Create,
    /// Takes it away.
    Delete,
}

/// A verb asked for that a page's verbs speak against.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Conflict {
    /// Intent of the query's verb.
    pub asked: Intent,
    /// Intent of all verbs in the page's name.
    pub found: Intent,
    /// Share of the score that is taken away, 0 to 1.
    pub penalty: f32,
}

/// The rules by kind. Words and phrases are in lower case.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tables {
    /// Verbs, with what they do, if it is one of the four intents.
    pub actions: BTreeMap<String, Option<Intent>>,
    /// Verb, then verbs that may stand for it in a page's name, with their closeness, 0 to 1.
    pub action_synonyms: BTreeMap<String, BTreeMap<String, f32>>,
    /// Intents that exclude each other.
    pub conflicts: Vec<Conflict>,
    /// Words that say little of a page they name, with the boost they earn, 0 to 1.
    pub generic_terms: BTreeMap<String, f32>,
    /// Abbreviations, acronyms and words, with what they also mean.
    pub synonyms: BTreeMap<String, BTreeSet<String>>,
    /// Spellings of frameworks and languages, with the canonical one.
    pub framework_aliases: BTreeMap<String, String>,
    /// Words for platforms, with the value that metadata has for them.
    pub platforms: BTreeMap<String, String>,
    /// What a thing can be: in `View protocol`, `protocol` is not part of the name.
    pub kind_words: BTreeSet<String>,
    /// Words and phrases that ask for recent pages.
    pub recency_words: BTreeSet<String>,
    /// Words that open questions.
    pub question_words: BTreeSet<String>,
    /// Words that carry no meaning of their own.
    pub stop_words: BTreeSet<String>,
    /// Names of pages that tell what was new, as keys (see [`name::key`]).
    pub news_names: BTreeMap<NewsNamePosition, BTreeSet<String>>,
    /// Those of these names that release notes and changelogs have, and blogs have not.
    pub release_names: BTreeSet<String>,
    /// Words and phrases of queries that ask for what is new.
    pub asking_words: BTreeMap<NewsQueryPart, BTreeSet<String>>,
    /// Words that ask for such pages.
    pub news_words: BTreeSet<String>,
    /// Words that ask, beside the number of a version, for what changed with it.
    pub change_words: BTreeSet<String>,
    /// Words that say what about a name is asked, and not what it is: `parameters` of `Grid parameters`.
    pub framing_words: BTreeSet<String>,
    /// Words with which names are compared: `vs`.
    pub comparing_words: BTreeSet<String>,
    /// Words that tell one kind of objects from others: `large` of `delete all large files`.
    pub modifiers: BTreeSet<String>,
    /// Words that say how many are meant: `all`.
    pub scopes: BTreeSet<String>,
    /// Words between a name and what it belongs to: `in` of `Button in SwiftUI`.
    pub before_container: BTreeSet<String>,
    /// Words before a verb at the beginning of a query. After others, such as articles, a verb is a noun.
    pub before_verb: BTreeSet<String>,
    /// Words before a verb anywhere in a query: `to`.
    pub infinitive: BTreeSet<String>,
    /// Words between a verb and its object.
    pub articles: BTreeSet<String>,
    /// How questions open, before what is asked: patterns of words in lower case, divided where there are spaces or
    /// apostrophes. `a|b` is one of them, `a|b?` one or none. Several may follow each other.
    pub openings: BTreeSet<String>,
    /// How they close.
    pub closings: BTreeSet<String>,
    /// Advice for weak answers, by its place.
    pub tips: BTreeMap<i32, String>,
}

/// One rule as a row: what a table of rules holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Rule {
    /// A verb.
    Action {
        /// The verb.
        verb: String,
        /// What it does.
        intent: Option<Intent>,
    },
    /// A verb that may stand for another.
    ActionSynonym {
        /// Verb of the query.
        verb: String,
        /// Verb in a page's name.
        synonym: String,
        /// Closeness, 0 to 1.
        closeness: f32,
    },
    /// Intents that exclude each other.
    IntentConflict(Conflict),
    /// A word that says little.
    GenericTerm {
        /// The word.
        term: String,
        /// The boost it earns, 0 to 1.
        boost: f32,
    },
    /// What a word also means.
    Synonym {
        /// The word.
        term: String,
        /// Its other meaning, one or more words.
        expansion: String,
    },
    /// A spelling of a framework.
    FrameworkAlias {
        /// The spelling.
        alias: String,
        /// The canonical name.
        framework: String,
    },
    /// A word for a platform.
    Platform {
        /// The word.
        word: String,
        /// The value that metadata has.
        platform: String,
    },
    /// What a thing can be.
    KindWord {
        /// The word or phrase.
        word: String,
    },
    /// A word or phrase that asks for recent pages.
    RecencyWord {
        /// The word or phrase.
        word: String,
    },
    /// A word that opens questions.
    QuestionWord {
        /// The word.
        word: String,
    },
    /// A word without meaning of its own.
    StopWord {
        /// The word.
        word: String,
    },
    /// How pages that tell what was new are called.
    NewsName {
        /// What bears the name.
        place: NewsNamePosition,
        /// The name.
        name: String,
        /// Whether such pages are release notes or changelogs.
        #[serde(default)]
        releases: bool,
    },
    /// A word or phrase of queries that ask for what is new.
    AskingWord {
        /// What it does.
        asking: NewsQueryPart,
        /// The word or phrase.
        word: String,
    },
    /// A word that asks for them.
    NewsWord {
        /// The word.
        word: String,
    },
    /// A word that asks for what changed with a version.
    ChangeWord {
        /// The word.
        word: String,
    },
    /// One of the words that say what about a name is asked, and not what it is: `parameters` of `Grid parameters`.
    FramingWord {
        /// The word.
        word: String,
    },
    /// One of the words with which names are compared: `vs`.
    ComparingWord {
        /// The word.
        word: String,
    },
    /// One of the words that tell one kind of objects from others: `large` of `delete all large files`.
    ModifierWord {
        /// The word.
        word: String,
    },
    /// One of the words that say how many are meant: `all`.
    ScopeWord {
        /// The word.
        word: String,
    },
    /// A word between a name and what it belongs to: `in` of `Button in SwiftUI`.
    BeforeContainerWord {
        /// The word.
        word: String,
    },
    /// A word before a verb at the beginning of a query: `can` of `can I delete a file`.
    BeforeVerbWord {
        /// The word.
        word: String,
    },
    /// A word before a verb anywhere in a query: `to`.
    InfinitiveWord {
        /// The word.
        word: String,
    },
    /// A word between a verb and its object: `the`.
    ArticleWord {
        /// The word.
        word: String,
    },
    /// How questions open.
    OpeningPattern {
        /// The pattern.
        word: String,
    },
    /// How they close.
    ClosingPattern {
        /// The pattern.
        word: String,
    },
    /// Advice for weak answers.
    SearchTip {
        /// Its place.
        number: i32,
        /// The sentence.
        tip: String,
    },
}

/// A rule that is added, changed or, with `enabled` false, switched off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The rule; its words are the key, its numbers the value.
    #[serde(flatten)]
    pub rule: Rule,
    /// Whether it applies.
    pub enabled: bool,
}

/// What is wrong with a row.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum RuleError {
    /// A word is missing.
    #[error("a {0} must not be blank")]
    Blank(&'static str),
    /// A number is not between 0 and 1.
    #[error("{name} is {value}, it must be between 0 and 1")]
    OutOfRange {
        /// Which number.
        name: &'static str,
        /// Its value.
        value: f32,
    },
    /// A phrase is too long to be recognised.
    #[error("\"{0}\" has more than {MAX_RULE_PHRASE_WORDS} words")]
    LongPhrase(String),
}

/// Rules, ready to be looked up. Build them once and keep them: a query reads them many times.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    tables: Tables,
    verbs: HashMap<String, String>,
    vocabulary: Vocabulary,
    news: NewsNames,
    phrasal: HashMap<String, Vec<(Vec<String>, String)>>,
    frameworks: HashMap<String, String>,
    frames: QuestionPatterns,
}

impl Rules {
    /// The shipped rules for English.
    pub fn english() -> Self {
        let mut tables: Tables =
            serde_json::from_str(include_str!("../../data/english.json")).expect("the shipped file is valid");
        let frames: Tables =
            serde_json::from_str(include_str!("../../data/frames.json")).expect("the shipped file is valid");
        (tables.openings, tables.closings) = (frames.openings, frames.closings);
        Self::new(tables)
    }

    /// Prepares rules.
    pub fn new(tables: Tables) -> Self {
        let (phrases, words): (Vec<&String>, Vec<&String>) =
            tables.actions.keys().rev().partition(|verb| verb.contains(' '));
        let mut phrasal: HashMap<String, Vec<(Vec<String>, String)>> = HashMap::new();
        for verb in phrases {
            let mut words = verb.split(' ').map(str::to_owned);
            let first = words.next().unwrap_or_default();
            let entry = phrasal.entry(stem(&first).into_owned()).or_default();
            entry.push((words.collect(), verb.clone()));
        }
        let verbs = words
            .into_iter()
            .map(|verb| (stem(verb).into_owned(), verb.clone()))
            .collect();
        let frameworks = tables
            .framework_aliases
            .iter()
            .flat_map(|(alias, framework)| [(name::key(framework), framework), (name::key(alias), framework)])
            .map(|(key, framework)| (key, framework.clone()))
            .collect();
        Self {
            vocabulary: Vocabulary::new(&tables),
            news: NewsNames::new(&tables),
            frames: QuestionPatterns::new(&tables.openings, &tables.closings),
            tables,
            verbs,
            phrasal,
            frameworks,
        }
    }

    /// The rules by kind.
    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// These rules with rows applied, in order: later rows win.
    ///
    /// # Errors
    /// The first row with a blank word, a number out of bounds or a phrase that is too long.
    pub fn overlay(&self, rows: impl IntoIterator<Item = Row>) -> Result<Self, RuleError> {
        let mut tables = self.tables.clone();
        for row in rows {
            tables.apply(row)?;
        }
        Ok(Self::new(tables))
    }

    /// The patterns of [`Tables::openings`] and [`Tables::closings`].
    pub(crate) fn frames(&self) -> &QuestionPatterns {
        &self.frames
    }

    /// What the words of pages are looked up in.
    pub(crate) fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// Names of pages that tell what was new.
    pub fn news(&self) -> &NewsNames {
        &self.news
    }

    /// Whether a word, in lower case, says little: stop words, and those that open questions.
    pub fn is_stop_word(&self, word: &str) -> bool {
        self.vocabulary.is_stop_word(word.as_bytes())
    }

    /// The verb that a word is a form of, as the rules spell it. `None` if it is no form of a known verb.
    pub fn verb(&self, word: &str) -> Option<&str> {
        if !self.vocabulary.begins_like_a_verb(word.as_bytes()) {
            return None;
        }
        match self.tables.actions.get_key_value(word) {
            Some((verb, _)) => Some(verb),
            None => self.verbs.get(stem(word).as_ref()).map(String::as_str),
        }
    }

    /// The phrasal verb that begins with the first of the words, and the places of its other words: `get
    /// rid of`, or `throw ... away` with up to [`MAX_SEPARATED`] words between. Words are in lower case.
    /// `None` if none does.
    pub fn phrasal_verb(&self, words: &[String]) -> Option<(&str, Vec<usize>)> {
        let verbs = self.phrasal.get(stem(words.first()?).as_ref())?;
        verbs.iter().find_map(|(rest, verb)| {
            let places: Vec<usize> = if words[1..].starts_with(rest) {
                (1..=rest.len()).collect()
            } else {
                let [particle] = rest.as_slice() else {
                    return None;
                };
                let later = words.iter().take(MAX_SEPARATED + 2).position(|word| word == particle)?;
                vec![later]
            };
            Some((verb.as_str(), places))
        })
    }

    /// What a verb, as the rules spell it, does. `None` if the rules know no such verb, or not what it does.
    pub fn intent(&self, verb: &str) -> Option<Intent> {
        self.tables.actions.get(verb).copied().flatten()
    }

    /// The canonical name of the framework with this [`name::key`]. `None` if the key is no alias.
    pub fn framework(&self, key: &str) -> Option<&str> {
        self.frameworks.get(key).map(String::as_str)
    }

    /// Share of the score that `verb` asked for takes from a page whose name has these verbs. 0 if
    /// one of them does what is asked, or any of them does not conflict with it.
    pub fn conflict(&self, asked: Intent, found: impl IntoIterator<Item = Intent>) -> f32 {
        let penalty = |found| {
            self.tables
                .conflicts
                .iter()
                .find(|conflict| conflict.asked == asked && conflict.found == found)
                .map_or(0.0, |conflict| conflict.penalty)
        };
        found
            .into_iter()
            .map(|found| if found == asked { 0.0 } else { penalty(found) })
            .min_by(f32::total_cmp)
            .unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests;

//! Rules of ranking as data: verbs, synonyms, names of frameworks, generic terms and other words of a language. The
//! defaults are English. Rows of tables change them.

mod news;
mod row;
mod vocabulary;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::query::pattern::QuestionPatterns;
use crate::text::documented_name::TitleWords;
use crate::text::name;
use crate::text::word::stem;

pub use news::{NewsNamePosition, NewsNames, NewsQueryPart};
use vocabulary::Vocabulary;

/// Most words of a framework's alias, of a kind or of a recency phrase.
pub const MAX_RULE_PHRASE_WORDS: usize = 3;

/// Most words between a verb and its particle.
const MAX_SEPARATED: usize = 4;

/// The effect of a verb on its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Intent {
    /// Reads it.
    Read,
    /// Changes or stores it.
    Write,
    /// Creates it.
    Create,
    /// Deletes it.
    Delete,
}

/// A verb of a query that conflicts with the verbs of a page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Conflict {
    /// Intent of the query's verb.
    pub asked: Intent,
    /// Intent of all verbs in the page's name.
    pub found: Intent,
    /// Share of the score that the page loses, 0 to 1.
    pub penalty: f32,
}

/// The rules by kind. Words and phrases are in lower case.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tables {
    /// Verbs and their intents, if they have one of the four.
    pub actions: BTreeMap<String, Option<Intent>>,
    /// For each verb, verbs of pages that match it, with their closeness, 0 to 1.
    pub action_synonyms: BTreeMap<String, BTreeMap<String, f32>>,
    /// Intents that exclude each other.
    pub conflicts: Vec<Conflict>,
    /// Generic terms, with their boosts, 0 to 1.
    pub generic_terms: BTreeMap<String, f32>,
    /// Abbreviations, acronyms and words, with their synonyms.
    pub synonyms: BTreeMap<String, BTreeSet<String>>,
    /// Spellings of frameworks and languages, with the canonical one.
    pub framework_aliases: BTreeMap<String, String>,
    /// Words for platforms, with their names in metadata.
    pub platforms: BTreeMap<String, String>,
    /// Kinds of things: in `View protocol`, `protocol` is not part of the name.
    pub kind_words: BTreeSet<String>,
    /// Words and phrases that ask for recent pages.
    pub recency_words: BTreeSet<String>,
    /// Words that begin questions.
    pub question_words: BTreeSet<String>,
    /// Stop words.
    pub stop_words: BTreeSet<String>,
    /// Names of folders and pages with news, as keys (see [`name::key`]).
    pub news_names: BTreeMap<NewsNamePosition, BTreeSet<String>>,
    /// Names among them that release notes and changelogs have, and blogs have not.
    pub release_names: BTreeSet<String>,
    /// Words and phrases of queries for what is new.
    pub asking_words: BTreeMap<NewsQueryPart, BTreeSet<String>>,
    /// Words that ask for news.
    pub news_words: BTreeSet<String>,
    /// Words that ask for changes, beside a version number.
    pub change_words: BTreeSet<String>,
    /// Words for the aspect of a name that a query asks about: `parameters` of `Grid parameters`.
    pub framing_words: BTreeSet<String>,
    /// Words that compare names: `vs`.
    pub comparing_words: BTreeSet<String>,
    /// Words that say which objects are meant: `large` of `delete all large files`.
    pub modifiers: BTreeSet<String>,
    /// Words for a number of objects: `all`.
    pub scopes: BTreeSet<String>,
    /// Words between a name and what it belongs to: `in` of `Button in SwiftUI`.
    pub before_container: BTreeSet<String>,
    /// Words before a verb at the beginning of a query. After others, such as articles, a verb is a noun.
    pub before_verb: BTreeSet<String>,
    /// Words before a verb anywhere in a query: `to`.
    pub infinitive: BTreeSet<String>,
    /// Words between a verb and its object.
    pub articles: BTreeSet<String>,
    /// Patterns of words before a task, in lower case, divided by spaces or apostrophes. `a|b` is one of them, `a|b?`
    /// one or none. Several may follow each other.
    pub openings: BTreeSet<String>,
    /// Patterns of words after a task.
    pub closings: BTreeSet<String>,
    /// Advice for weak answers, by number.
    pub tips: BTreeMap<i32, String>,
}

/// A rule as a row of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Rule {
    /// A verb.
    Action {
        /// The verb.
        verb: String,
        /// Its intent.
        intent: Option<Intent>,
    },
    /// A verb of pages that matches a verb of queries.
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
    /// A generic term.
    GenericTerm {
        /// The word.
        term: String,
        /// Its boost, 0 to 1.
        boost: f32,
    },
    /// A synonym.
    Synonym {
        /// The word.
        term: String,
        /// Its synonym of one or more words.
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
        /// Its name in metadata.
        platform: String,
    },
    /// A kind of thing.
    KindWord {
        /// The word or phrase.
        word: String,
    },
    /// A word or phrase that asks for recent pages.
    RecencyWord {
        /// The word or phrase.
        word: String,
    },
    /// A word that begins questions.
    QuestionWord {
        /// The word.
        word: String,
    },
    /// A stop word.
    StopWord {
        /// The word.
        word: String,
    },
    /// A name of folders or pages with news.
    NewsName {
        /// Where the name is.
        place: NewsNamePosition,
        /// The name.
        name: String,
        /// Whether such pages are release notes or changelogs.
        #[serde(default)]
        releases: bool,
    },
    /// A word or phrase of queries that ask for what is new.
    AskingWord {
        /// Its part in a query.
        asking: NewsQueryPart,
        /// The word or phrase.
        word: String,
    },
    /// A word that asks for news.
    NewsWord {
        /// The word.
        word: String,
    },
    /// A word that asks for changes, beside a version number.
    ChangeWord {
        /// The word.
        word: String,
    },
    /// A word for the aspect of a name that a query asks about: `parameters` of `Grid parameters`.
    FramingWord {
        /// The word.
        word: String,
    },
    /// A word that compares names: `vs`.
    ComparingWord {
        /// The word.
        word: String,
    },
    /// A word that says which objects are meant: `large` of `delete all large files`.
    ModifierWord {
        /// The word.
        word: String,
    },
    /// A word for a number of objects: `all`.
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
    /// A pattern before a task.
    OpeningPattern {
        /// The pattern.
        word: String,
    },
    /// A pattern after a task.
    ClosingPattern {
        /// The pattern.
        word: String,
    },
    /// Advice for weak answers.
    SearchTip {
        /// Its number.
        number: i32,
        /// The sentence.
        tip: String,
    },
}

/// A rule that is added, changed or, with `enabled` false, switched off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The rule. Its words are the key, its numbers the value.
    #[serde(flatten)]
    pub rule: Rule,
    /// Whether it applies.
    pub enabled: bool,
}

/// Why a row is refused.
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
    /// A phrase has too many words.
    #[error("\"{0}\" has more than {MAX_RULE_PHRASE_WORDS} words")]
    LongPhrase(String),
}

/// Rules, prepared for lookups. Build them once and keep them: a query reads them many times.
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

    /// The words of titles that are no names.
    pub fn title_words(&self) -> TitleWords<'_> {
        TitleWords {
            kinds: &self.tables.kind_words,
            articles: &self.tables.articles,
        }
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
    pub(crate) fn question_patterns(&self) -> &QuestionPatterns {
        &self.frames
    }

    /// The rules about words of pages.
    pub(crate) fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// Names of folders and pages with news.
    pub fn news(&self) -> &NewsNames {
        &self.news
    }

    /// Whether a word, in lower case, is a stop word or a question word.
    pub fn is_stop_word(&self, word: &str) -> bool {
        self.vocabulary.is_stop_word(word.as_bytes())
    }

    /// The verb of which a word is a form. `None` if it is no form of a known verb.
    pub fn verb(&self, word: &str) -> Option<&str> {
        if !self.vocabulary.begins_like_a_verb(word.as_bytes()) {
            return None;
        }
        match self.tables.actions.get_key_value(word) {
            Some((verb, _)) => Some(verb),
            None => self.verbs.get(stem(word).as_ref()).map(String::as_str),
        }
    }

    /// The phrasal verb that begins with the first word, and the indexes of its other words: `get rid of`, or `throw
    /// ... away` with up to [`MAX_SEPARATED`] words between. Words are in lower case. `None` if there is none.
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

    /// The intent of a verb of the rules. `None` if the verb or its intent is not known.
    pub fn intent(&self, verb: &str) -> Option<Intent> {
        self.tables.actions.get(verb).copied().flatten()
    }

    /// The canonical name of the framework with this [`name::key`]. `None` if the key is no alias.
    pub fn framework(&self, key: &str) -> Option<&str> {
        self.frameworks.get(key).map(String::as_str)
    }

    /// Share of the score that a page with verbs of the intents `found` loses for a query with intent `asked`. 0 if
    /// one of them is the same or does not conflict.
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

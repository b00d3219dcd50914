//! The significant words of a query and their roles.

use serde::{Deserialize, Serialize};

use crate::query::mention::Identifier;
use crate::query::rule::{Rules, Tables};
use crate::text::identifier::uncontracted;
use crate::text::word::{Word, folded};

/// Role of a word in a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// A verb of the task.
    Action,
    /// An object of the task, and every other significant word.
    Object,
    /// A word that says which objects are meant: `large` of `delete all large files`.
    Modifier,
    /// A number of objects: `all`.
    Scope,
    /// A generic term.
    Generic,
}

/// A significant word.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Term {
    /// The word.
    #[serde(flatten)]
    pub word: Word,
    /// Its role.
    pub role: Role,
    /// For an action, the verb of the rules.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub verb: Option<String>,
    /// Synonyms by the rules.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub synonyms: Vec<String>,
}

impl Term {
    /// The synonym that it abbreviates: its words begin with the first letter and have the others in order. `None` if
    /// there is none.
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

pub(super) fn terms(topic: &str, named: bool, rules: &Rules) -> Vec<Term> {
    let tables = rules.tables();
    let mut terms: Vec<Term> = Vec::new();
    let mut before: Option<String> = None;
    let mut only_openers = true;
    // Placeholders such as <file_path> are values, and not to be found.
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
            && opens_clause(before.as_deref(), only_openers, tables)
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
        for part in crate::text::identifier::words(text) {
            let word = Word::new(&text[part]);
            let is_stop = rules.is_stop_word(&word.text);
            let verb = rules
                .verb(&word.text)
                .filter(|_| may_be_verb && opens_clause(before.as_deref(), only_openers, tables));
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
    for at in 1..terms.len() {
        let modifies = tables.modifiers.contains(&terms[at - 1].word.text);
        if modifies && terms[at - 1].role == Role::Object && terms[at].role != Role::Action {
            terms[at - 1].role = Role::Modifier;
        }
    }
    if let [only] = terms.as_mut_slice() {
        // A verb without an object is a name.
        only.verb = None;
        only.role = if tables.generic_terms.contains_key(&only.word.text) {
            Role::Generic
        } else {
            Role::Object
        };
    }
    terms
}

/// The words of a query for a number of objects.
pub(super) fn scope(topic: &str, rules: &Rules) -> Vec<Term> {
    let words = topic
        .split_whitespace()
        .map(folded)
        .filter(|word| rules.tables().scopes.contains(word));
    let scope = words.map(|word| Term {
        word: Word::new(&word),
        role: Role::Scope,
        verb: None,
        synonyms: Vec::new(),
    });
    scope.collect()
}

/// Whether a verb may follow this word. `only_openers`: the query has only stop words so far.
fn opens_clause(before: Option<&str>, only_openers: bool, tables: &Tables) -> bool {
    before
        .is_none_or(|before| only_openers && tables.before_verb.contains(before) || tables.infinitive.contains(before))
}

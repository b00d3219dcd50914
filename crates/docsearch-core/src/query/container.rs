//! The container that a query names: `SwiftUI` of `Button in SwiftUI` or of `Button SwiftUI`.
//!
//! A container is what documents belong to: a category, a project, or a framework in the metadata.

use std::collections::HashMap;

use crate::query::rule::{MAX_RULE_PHRASE_WORDS, Rules};
use crate::text::identifier::uncontracted;
use crate::text::name;

/// Most words of a query in which a container is recognised without "in". Chosen: a longer query is a sentence.
const MAX_IMPLICIT_WORDS: usize = 5;

/// Names of containers. Build it once and keep it.
#[derive(Clone, Debug, Default)]
pub struct KnownNames {
    by_key: HashMap<String, Known>,
}

#[derive(Clone, Debug)]
struct Known {
    name: String,
    is_project: bool,
}

impl<'a> FromIterator<&'a str> for KnownNames {
    /// Names of containers that are not projects.
    fn from_iter<T: IntoIterator<Item = &'a str>>(names: T) -> Self {
        Self::new(names, [])
    }
}

impl KnownNames {
    /// Names of containers (categories, and frameworks in the metadata) and of projects.
    pub fn new<'a>(containers: impl IntoIterator<Item = &'a str>, projects: impl IntoIterator<Item = &'a str>) -> Self {
        let containers = containers.into_iter().map(|name| (name, false));
        let mut by_key = HashMap::new();
        for (name, is_project) in containers.chain(projects.into_iter().map(|name| (name, true))) {
            let known = by_key.entry(name::key(name)).or_insert_with(|| Known {
                name: name.to_owned(),
                is_project,
            });
            known.is_project |= is_project;
        }
        by_key.remove("");
        Self { by_key }
    }

    /// The known name with this [`name::key`]. `None` if no such name is known.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.by_key.get(key).map(|known| known.name.as_str())
    }

    /// Whether this is the [`name::key`] of a project's name.
    pub(crate) fn is_project(&self, key: &str) -> bool {
        self.by_key.get(key).is_some_and(|known| known.is_project)
    }

    /// Whether a name can be an ordinary word: it is no project's.
    fn may_be_word(&self, name: &str) -> bool {
        self.by_key.get(&name::key(name)).is_none_or(|known| !known.is_project)
    }
}

/// The container of a query, and the name that is looked for in it.
#[derive(Debug, Default)]
pub(crate) struct QueryContainer {
    pub(crate) symbol: Option<String>,
    pub(crate) container: Option<String>,
    /// The container, if the rules or the known names have it.
    pub(crate) framework: Option<String>,
    /// Whether it is written without "in".
    pub(crate) implicit: bool,
    /// Whether documents say that they belong to it.
    pub(crate) known: bool,
    /// The query with the container in the documents' spelling, if the query spells it otherwise.
    pub(crate) canonical: Option<String>,
}

/// Spellings of a container: that of the documents, and that of the rules.
struct Spellings {
    own: Option<String>,
    alias: Option<String>,
}

impl Spellings {
    fn of(text: &str, rules: &Rules, known: &KnownNames) -> Self {
        let key = name::key(text);
        let alias = rules.framework(&key);
        let own = known
            .get(&key)
            .or_else(|| alias.and_then(|alias| known.get(&name::key(alias))));
        Self {
            own: own.map(str::to_owned),
            alias: alias.map(str::to_owned),
        }
    }
}

impl QueryContainer {
    pub(crate) fn read(topic: &str, is_question: bool, rules: &Rules, known: &KnownNames) -> Self {
        if let Some(explicit) = Self::explicit(topic, rules, known) {
            return explicit;
        }
        let words: Vec<&str> = topic.split_whitespace().collect();
        if is_question || !(2..=MAX_IMPLICIT_WORDS).contains(&words.len()) {
            return Self::default();
        }
        Self::implicit(&words, rules, known).unwrap_or_default()
    }

    /// The container of "X in Y".
    fn explicit(topic: &str, rules: &Rules, known: &KnownNames) -> Option<Self> {
        let InPattern {
            symbol,
            preposition,
            container,
        } = InPattern::read(topic, rules)?;
        let Spellings { own, alias } = Spellings::of(container, rules, known);
        let first = container.split(' ').next().unwrap_or_default().to_lowercase();
        // "store this text in a file" names no container.
        if own.is_none() && alias.is_none() && rules.tables().stop_words.contains(&first) {
            return None;
        }
        let known = own.is_some();
        let framework = own.or(alias);
        Some(Self {
            known,
            canonical: framework
                .as_ref()
                .filter(|name| known && *name != container.trim_end_matches(['?', '.', '!']))
                .map(|name| format!("{symbol} {preposition} {name}")),
            symbol: Some(symbol.to_owned()),
            container: framework.clone().or_else(|| Some(container.to_owned())),
            framework,
            implicit: false,
        })
    }

    /// The container of "X Y" or "Y X", where the documents themselves have Y.
    fn implicit(words: &[&str], rules: &Rules, known: &KnownNames) -> Option<Self> {
        (1..=MAX_RULE_PHRASE_WORDS.min(words.len() - 1))
            .rev()
            .flat_map(|count| {
                let (first, rest) = words.split_at(count);
                let (most, last) = words.split_at(words.len() - count);
                [(most, last, true), (rest, first, false)]
            })
            // "Text vs Label" compares two things, though one of them is a container.
            .filter(|(symbol, _, is_last)| !compares(symbol, *is_last, rules))
            .find_map(|(symbol, container, is_last)| {
                let Spellings { own, alias } = Spellings::of(&container.join(" "), rules, known);
                let framework = own?;
                // "save the text" is a task, and "text docs" asks for Text, though there is a category of that name.
                let is_order = symbol.iter().all(|word| is_task_word(&word.to_lowercase(), rules));
                if is_order && alias.is_none() && known.may_be_word(&framework) {
                    return None;
                }
                let symbol = symbol.join(" ");
                Some(Self {
                    canonical: Some(match is_last {
                        true => format!("{symbol} {framework}"),
                        false => format!("{framework} {symbol}"),
                    }),
                    symbol: Some(symbol),
                    container: Some(framework.clone()),
                    framework: Some(framework),
                    implicit: true,
                    known: true,
                })
            })
    }
}

/// Whether the words beside a container compare it with something. `is_last`: the container follows them.
fn compares(symbol: &[&str], is_last: bool, rules: &Rules) -> bool {
    let lower = |word: &&str| word.to_lowercase();
    let beside: Vec<String> = match is_last {
        true => symbol.iter().rev().take(2).map(lower).collect(),
        false => symbol.iter().take(2).map(lower).collect(),
    };
    let compares = |word: &String| rules.tables().comparing_words.contains(word);
    match beside.as_slice() {
        [first, ..] if compares(first) => true,
        [first, second] => rules.is_stop_word(first) && compares(second),
        _ => false,
    }
}

/// Whether a word (in lower case) is a verb, a stop word or a framing word. A word that ends in "s" and is no verb as it is
/// written ("lists", "searches") is a noun.
fn is_task_word(word: &str, rules: &Rules) -> bool {
    let word = uncontracted(word);
    let is_order = |verb: &str| verb == word || !word.ends_with('s');
    rules.tables().stop_words.contains(word)
        || rules.tables().framing_words.contains(word)
        || rules.verb(word).is_some_and(is_order)
}

/// Keys of all words and phrases of a query that may be containers: what [`KnownNames`] has to know.
pub fn possible_container_keys(text: &str, rules: &Rules) -> Vec<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut containers: Vec<String> = InPattern::read(text, rules)
        .into_iter()
        .map(|pattern| pattern.container.to_owned())
        .collect();
    if (2..=MAX_IMPLICIT_WORDS + 2).contains(&words.len()) {
        let windows = (1..=MAX_RULE_PHRASE_WORDS).flat_map(|count| words.windows(count));
        containers.extend(windows.map(|window| window.join(" ")));
    }
    let mut keys: Vec<String> = containers
        .iter()
        .map(|container| name::key(container))
        .flat_map(|key| [rules.framework(&key).map(name::key).unwrap_or_default(), key])
        .filter(|key| !key.is_empty())
        .collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// A query "X in Y".
#[derive(Debug, PartialEq, Eq)]
struct InPattern<'a> {
    symbol: &'a str,
    preposition: &'a str,
    container: &'a str,
}

impl<'a> InPattern<'a> {
    /// Splits a text at its last `in`. With more words behind it than an alias may have, the `in` belongs to a sentence.
    fn read(text: &'a str, rules: &'a Rules) -> Option<Self> {
        let lower = text.to_ascii_lowercase();
        let last = |word: &'a String| Some((lower.rfind(&format!(" {word} "))?, word.as_str()));
        let (at, preposition) = rules.tables().before_container.iter().filter_map(last).max()?;
        let (symbol, container) = (text[..at].trim(), text[at + preposition.len() + 2..].trim());
        let is_short = (1..=MAX_RULE_PHRASE_WORDS).contains(&container.split_whitespace().count());
        (!symbol.is_empty() && is_short).then_some(Self {
            symbol,
            preposition,
            container,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::rule::{Row, Rule};

    #[test]
    fn s0_1_x_in_y() {
        let rules = Rules::english();
        let read = |text| InPattern::read(text, &rules).map(|pattern| (pattern.symbol, pattern.container));
        assert_eq!(read("Button in SwiftUI"), Some(("Button", "SwiftUI")));
        assert_eq!(read("button IN swift ui"), Some(("button", "swift ui")));
        assert_eq!(read("plug in to it in Qt"), Some(("plug in to it", "Qt")));
        assert_eq!(read("in SwiftUI"), None);
        assert_eq!(read("how to wait in a loop that never ends"), None);
    }

    #[test]
    fn words_before_containers_are_rules() {
        let row = Row {
            rule: Rule::BeforeContainerWord {
                word: "dans".to_owned(),
            },
            enabled: true,
        };
        let rules = Rules::english().overlay([row]).unwrap();
        let known: KnownNames = ["SwiftUI"].into_iter().collect();
        let read = |query: &str| QueryContainer::read(query, false, &rules, &known);
        let container = read("bouton dans swiftui");
        assert_eq!(container.container.as_deref(), Some("SwiftUI"));
        assert_eq!(container.canonical.as_deref(), Some("bouton dans SwiftUI"));
        assert_eq!(read("plug in to it dans Qt").container.as_deref(), Some("Qt"));
    }

    #[test]
    fn a_task_has_no_container_unless_that_is_a_project_or_a_framework() {
        let known = KnownNames::new(["Text", "SwiftUI", "Photos"], ["Sharing"]);
        let container = |query: &str| QueryContainer::read(query, false, &Rules::english(), &known).container;
        assert_eq!(container("save text"), None);
        assert_eq!(container("Erase photos"), None);
        assert_eq!(container("save the text"), None);
        assert_eq!(container("saving text"), None);
        assert_eq!(container("docs about text"), None);
        assert_eq!(container("text documentation"), None);
        assert_eq!(container("alignment text").as_deref(), Some("Text"));
        assert_eq!(container("searches text").as_deref(), Some("Text"));
        assert_eq!(container("list SwiftUI").as_deref(), Some("SwiftUI"));
        assert_eq!(container("open sharing").as_deref(), Some("Sharing"));
        assert_eq!(container("save in text").as_deref(), Some("Text"));
        assert_eq!(container("Text vs label"), None);
        assert_eq!(container("label compared to Text"), None);
    }

    #[test]
    fn every_possible_container_is_looked_up() {
        let keys = |query: &str| possible_container_keys(query, &Rules::english());
        assert_eq!(
            keys("button swift ui"),
            ["button", "buttonswift", "buttonswiftui", "swift", "swiftui", "ui"]
        );
        assert!(keys("one two three four five six seven").contains(&"fivesixseven".to_owned()));
        assert_eq!(
            keys("one two three four five six seven eight"),
            Vec::<String>::new(),
            "this is a sentence"
        );
        assert!(keys("how do I show a red button in swift ui").contains(&"swiftui".to_owned()));
        assert_eq!(keys("button"), Vec::<String>::new());
    }
}

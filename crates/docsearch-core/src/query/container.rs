//! Where a query says to look.

use std::collections::HashMap;

use crate::query::rule::{MAX_RULE_PHRASE_WORDS, Rules};
use crate::text::identifier::uncontracted;
use crate::text::name;

/// Most words of a query in which a framework is recognised without "in". Chosen: a longer one is a sentence.
const MAX_IMPLICIT_WORDS: usize = 5;

/// Names that a query may mention to say where to look. Build it once and keep it.
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
    /// Names of what documents belong to.
    fn from_iter<T: IntoIterator<Item = &'a str>>(names: T) -> Self {
        Self::new(names, [])
    }
}

impl KnownNames {
    /// Names of what documents belong to (categories, and whatever metadata call a framework), and of projects.
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

/// Where a query says to look.
#[derive(Debug, Default)]
pub(crate) struct QueryContainer {
    pub(crate) symbol: Option<String>,
    pub(crate) container: Option<String>,
    pub(crate) framework: Option<String>,
    pub(crate) implicit: bool,
    pub(crate) known: bool,
    /// The query with the place as documents write it, if they say that they belong to it and it is written otherwise.
    pub(crate) canonical: Option<String>,
}

impl QueryContainer {
    pub(crate) fn read(topic: &str, is_question: bool, rules: &Rules, known: &KnownNames) -> Self {
        let canonical = |text: &str| {
            let key = name::key(text);
            let alias = rules.framework(&key);
            let own = known.get(&key).or_else(|| known.get(&name::key(alias?)));
            (own.map(str::to_owned), alias.map(str::to_owned))
        };
        let pattern = in_pattern(topic).map(|(symbol, container)| (symbol, container, canonical(container)));
        // "store this text in a file" says what to do, and not where to look.
        let is_place = |container: &str, own: &Option<String>, alias: &Option<String>| {
            let first = container.split(' ').next().unwrap_or_default().to_lowercase();
            own.is_some() || alias.is_some() || !rules.tables().stop_words.contains(&first)
        };
        let pattern = pattern.filter(|(_, container, (own, alias))| is_place(container, own, alias));
        if let Some((symbol, container, (own, alias))) = pattern {
            let known = own.is_some();
            let framework = own.or(alias);
            return Self {
                known,
                canonical: framework
                    .as_ref()
                    .filter(|name| known && *name != container.trim_end_matches(['?', '.', '!']))
                    .map(|name| format!("{symbol} in {name}")),
                symbol: Some(symbol.to_owned()),
                container: framework.clone().or_else(|| Some(container.to_owned())),
                framework,
                implicit: false,
            };
        }
        let words: Vec<&str> = topic.split_whitespace().collect();
        if is_question || !(2..=MAX_IMPLICIT_WORDS).contains(&words.len()) {
            return Self::default();
        }
        // Without "in", only names that the documents themselves have are places.
        (1..=MAX_RULE_PHRASE_WORDS.min(words.len() - 1))
            .rev()
            .flat_map(|count| {
                let (first, rest) = words.split_at(count);
                let (most, last) = words.split_at(words.len() - count);
                [(most, last, true), (rest, first, false)]
            })
            // "Text vs Label" compares two things, though one of them is a place.
            .filter(|(symbol, _, is_last)| {
                let beside: Vec<String> = match is_last {
                    true => symbol.iter().rev().take(2).map(|word| word.to_lowercase()).collect(),
                    false => symbol.iter().take(2).map(|word| word.to_lowercase()).collect(),
                };
                let compares = |word: &String| rules.tables().comparing_words.contains(word);
                match beside.as_slice() {
                    [first, ..] if compares(first) => false,
                    [first, second] => !(rules.is_stop_word(first) && compares(second)),
                    _ => true,
                }
            })
            .find_map(|(symbol, place, is_last)| {
                let (own, alias) = canonical(&place.join(" "));
                let framework = own?;
                // "save the text" says what to do with what, and "text docs" what to show, though there is a category of that name.
                let is_order = symbol.iter().all(|word| says_what_to_do(&word.to_lowercase(), rules));
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
            .unwrap_or_default()
    }
}

/// Whether a word (in lower case) tells to do something, or is a small one beside such words, or asks about a name. What ends in "s" and
/// is no verb as it stands ("lists", "searches") names things.
fn says_what_to_do(word: &str, rules: &Rules) -> bool {
    let word = uncontracted(word);
    let is_order = |verb: &str| verb == word || !word.ends_with('s');
    rules.tables().stop_words.contains(word)
        || rules.tables().framing_words.contains(word)
        || rules.verb(word).is_some_and(is_order)
}

/// Keys of all that may be the name of a place in a query: what [`KnownNames`] has to know.
pub fn possible_container_keys(text: &str, rules: &Rules) -> Vec<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut places: Vec<String> = in_pattern(text)
        .into_iter()
        .map(|(_, place)| place.to_owned())
        .collect();
    if (2..=MAX_IMPLICIT_WORDS + 2).contains(&words.len()) {
        let windows = (1..=MAX_RULE_PHRASE_WORDS).flat_map(|count| words.windows(count));
        places.extend(windows.map(|window| window.join(" ")));
    }
    let mut keys: Vec<String> = places
        .iter()
        .map(|place| name::key(place))
        .flat_map(|key| [rules.framework(&key).map(name::key).unwrap_or_default(), key])
        .filter(|key| !key.is_empty())
        .collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// Splits `X in Y` at its last `in`; Y has at most as many words as an alias may, or the `in` belongs to a sentence.
fn in_pattern(text: &str) -> Option<(&str, &str)> {
    let lower = text.to_ascii_lowercase();
    let at = lower.rfind(" in ")?;
    let (symbol, container) = (text[..at].trim(), text[at + 4..].trim());
    let short = (1..=MAX_RULE_PHRASE_WORDS).contains(&container.split_whitespace().count());
    (!symbol.is_empty() && short).then_some((symbol, container))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s0_1_x_in_y() {
        assert_eq!(in_pattern("Button in SwiftUI"), Some(("Button", "SwiftUI")));
        assert_eq!(in_pattern("button IN swift ui"), Some(("button", "swift ui")));
        assert_eq!(in_pattern("plug in to it in Qt"), Some(("plug in to it", "Qt")));
        assert_eq!(in_pattern("in SwiftUI"), None);
        assert_eq!(in_pattern("how to wait in a loop that never ends"), None);
    }

    #[test]
    fn what_is_to_be_done_is_in_no_place_unless_that_is_a_project_or_a_framework() {
        let known = KnownNames::new(["Text", "SwiftUI", "Photos"], ["Sharing"]);
        let place = |query: &str| QueryContainer::read(query, false, &Rules::english(), &known).container;
        assert_eq!(place("save text"), None);
        assert_eq!(place("Erase photos"), None);
        assert_eq!(place("save the text"), None);
        assert_eq!(place("saving text"), None);
        assert_eq!(place("docs about text"), None);
        assert_eq!(place("text documentation"), None);
        assert_eq!(place("alignment text").as_deref(), Some("Text"));
        assert_eq!(place("searches text").as_deref(), Some("Text"));
        assert_eq!(place("list SwiftUI").as_deref(), Some("SwiftUI"));
        assert_eq!(place("open sharing").as_deref(), Some("Sharing"));
        assert_eq!(place("save in text").as_deref(), Some("Text"));
        assert_eq!(place("Text vs label"), None);
        assert_eq!(place("label compared to Text"), None);
    }

    #[test]
    fn whatever_may_be_a_place_is_looked_up() {
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

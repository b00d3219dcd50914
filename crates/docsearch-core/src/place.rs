//! Where a query says to look.

use std::collections::HashMap;

use crate::name;
use crate::query::in_pattern;
use crate::rule::{MAX_PHRASE_WORDS, Rules};

/// Most words of a query in which a framework is recognised without "in".
const MAX_IMPLICIT_WORDS: usize = 5;

/// Names that a query may mention to say where to look: of projects, categories and whatever
/// metadata call a framework. Build it once and keep it.
#[derive(Clone, Debug, Default)]
pub struct KnownNames {
    by_key: HashMap<String, String>,
}

impl<'a> FromIterator<&'a str> for KnownNames {
    fn from_iter<T: IntoIterator<Item = &'a str>>(names: T) -> Self {
        let mut by_key = HashMap::new();
        for name in names {
            by_key.entry(name::key(name)).or_insert_with(|| name.to_owned());
        }
        by_key.remove("");
        Self { by_key }
    }
}

impl KnownNames {
    /// The known name with this [`name::key`].
    pub fn get(&self, key: &str) -> Option<&str> {
        self.by_key.get(key).map(String::as_str)
    }
}

/// Where a query says to look.
#[derive(Debug, Default)]
pub(crate) struct Place {
    pub(crate) symbol: Option<String>,
    pub(crate) container: Option<String>,
    pub(crate) framework: Option<String>,
    pub(crate) implicit: bool,
}

impl Place {
    pub(crate) fn read(topic: &str, is_question: bool, rules: &Rules, known: &KnownNames) -> Self {
        let canonical = |text: &str| {
            let key = name::key(text);
            let alias = rules.framework(&key);
            let own = known.get(&key).or_else(|| known.get(&name::key(alias?)));
            (own.map(str::to_owned), alias.map(str::to_owned))
        };
        if let Some((symbol, container)) = in_pattern(topic) {
            let (own, alias) = canonical(container);
            let framework = own.or(alias);
            return Self {
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
        (1..=MAX_PHRASE_WORDS.min(words.len() - 1))
            .rev()
            .flat_map(|count| [words.split_at(words.len() - count), swap(words.split_at(count))])
            .find_map(|(symbol, place)| {
                let framework = canonical(&place.join(" ")).0?;
                Some(Self {
                    symbol: Some(symbol.join(" ")),
                    container: Some(framework.clone()),
                    framework: Some(framework),
                    implicit: true,
                })
            })
            .unwrap_or_default()
    }
}

pub(crate) fn swap<T>((a, b): (T, T)) -> (T, T) {
    (b, a)
}

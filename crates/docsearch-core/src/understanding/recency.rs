//! Queries for what is new: `what's new?`, `latest posts about Grid`.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::framing::frames;
use crate::identifier::uncontracted;
use crate::mention::Identifier;
use crate::rule::{MAX_PHRASE_WORDS, Rules};
use crate::word::folded;

/// How a query asks for recent pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Recency {
    /// Those about something.
    About,
    /// Whatever they are about.
    Only,
}

/// Words that ask for what is new where nothing but them, words that say little and [`ANYTHING`] stand in a query.
const NEW: &str = "announcements fresh freshest lately new newest news nowadays updates yesterday";
/// The same beside a word of [`WHEN`] or a question word.
const HAPPENED: &str = "added announced changed happened landed published released shipped updated";
/// Words that say when.
const WHEN: &str = "ago just last lately now past recently since today yesterday";
/// Words that ask for pages of any kind, beside words that ask for recent ones.
const ANYTHING: &str = "
    addition additions announcement announcements anything article articles change changes content doc docs document documentation
    documents entries entry everything feature features going happening improvement improvements item items
    most news page pages post posts release releases something stuff thing things update updates around";
/// Words for how long ago.
const TIMES: &str = "day days hour hours month months quarter week weeks year years";
/// What `new` stands before where something is to be made: `new page`.
const MADE: &str = "article doc document entry item page post";

static SETS: LazyLock<[HashSet<&'static str>; 6]> =
    LazyLock::new(|| [NEW, HAPPENED, WHEN, ANYTHING, TIMES, MADE].map(|words| words.split_whitespace().collect()));

/// How a query asks for recent pages, if it does: by words of the rules, or as a whole.
pub(super) fn recency(topic: &str, rules: &Rules) -> Option<Recency> {
    let [new, happened, when, anything, times, made] = &*SETS;
    let tables = rules.tables();
    let words: Vec<String> = topic
        .split_whitespace()
        .filter(|word| Identifier::read(word).is_none())
        .map(|word| folded(word).replace('’', "'"))
        .filter(|word| !word.is_empty())
        .collect();
    let mut recent = vec![false; words.len()];
    for count in 1..=MAX_PHRASE_WORDS {
        for (at, window) in words.windows(count).enumerate() {
            if tables.recency_words.contains(&window.join(" ")) {
                recent[at..at + count].fill(true);
            }
        }
    }
    let is_one_of = |set: &HashSet<&str>| words.iter().any(|word| set.contains(word.as_str()));
    let asks = |word: &str| tables.question_words.contains(word);
    let dated = is_one_of(when);
    let opens = words
        .first()
        .is_some_and(|word| asks(uncontracted(word)) || word == "whats");
    let makes = words
        .windows(2)
        .any(|pair| pair[0] == "new" && made.contains(pair[1].as_str()));
    let is_new = recent.contains(&true)
        || (words.len() > 1 || words == ["news"])
            && (is_one_of(new) && !makes || is_one_of(happened) && (dated || opens) || dated && is_one_of(anything));
    let says_little = |word: &str| {
        [new, happened, when, anything].iter().any(|set| set.contains(word))
            || dated && times.contains(word)
            || rules.says_little(word)
            || frames(word)
            || matches!(word, "list" | "show" | "us")
    };
    let named = topic.split_whitespace().any(|word| Identifier::read(word).is_some());
    let only = is_new
        && !named
        && words
            .iter()
            .zip(&recent)
            .all(|(word, &recent)| recent || says_little(word) || says_little(uncontracted(word)));
    match (only, recent.contains(&true)) {
        (true, _) => Some(Recency::Only),
        (false, true) => Some(Recency::About),
        (false, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(query: &str) -> Option<Recency> {
        recency(query, &Rules::english())
    }

    #[test]
    fn what_is_new_is_asked_for_in_many_words() {
        for query in [
            "what's new?",
            "whats new?",
            "what is new",
            "new features",
            "most recent",
            "what’s the latest?",
            "latest posts",
            "last changes",
            "show me the newest articles",
            "what was updated last week",
            "what's changed since yesterday",
            "what has been added lately",
            "just released",
            "any news?",
            "news",
            "recent additions",
            "is there a new release?",
            "what changed?",
            "hi, what's new?",
            "hey team, any updates?",
            "list the newest docs",
            "fresh content",
        ] {
            assert_eq!(of(query), Some(Recency::Only), "{query}");
        }
    }

    #[test]
    fn what_is_new_of_something_is_not_all_that_is_new() {
        for query in [
            "latest changes of the scheduler",
            "recent work_mem",
            "newest release of Django",
        ] {
            assert_eq!(of(query), Some(Recency::About), "{query}");
        }
        for query in [
            "new page",
            "new document",
            "new",
            "release notes",
            "add a new user",
            "what changes a table",
            "last value",
        ] {
            assert_eq!(of(query), None, "{query}");
        }
    }
}

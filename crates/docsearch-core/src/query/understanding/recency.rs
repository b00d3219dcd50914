//! Queries for what is new: `what's new?`, `latest posts about Grid`, `release notes`.

use crate::query::container::KnownNames;
use crate::query::mention::Identifier;
use crate::query::period::{self, Period};
use crate::query::rule::{MAX_RULE_PHRASE_WORDS, NewsQueryPart, Rules};
use crate::text::identifier::uncontracted;
use crate::text::name;
use crate::text::word::folded;

/// How a query asks for recent pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Recency {
    /// Those about something.
    About,
    /// Whatever they are about.
    Only,
}

/// What a query says of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Timing {
    pub(super) recency: Option<Recency>,
    /// Whether it asks for release notes and changelogs, and for nothing else.
    pub(super) releases: bool,
    pub(super) period: Option<Period>,
    /// The query without the words of the period, if they are several and others are left.
    pub(super) rest: Option<String>,
}

/// What a query says of time, by words of the rules.
pub(super) fn timing(topic: &str, rules: &Rules, known: &KnownNames) -> Timing {
    let tables = rules.tables();
    let written: Vec<&str> = topic.split_whitespace().collect();
    let all: Vec<String> = written.iter().map(|word| folded(word).replace('’', "'")).collect();
    let period = period::mention(&all);
    let in_period = |at: usize| period.as_ref().is_some_and(|period| period.words.contains(&at));
    let (words, named): (Vec<(String, bool)>, Vec<&str>) = {
        let is_code = |word: &str| Identifier::read(word).is_some() && !known.is_project(&name::key(word));
        let named = written.iter().copied().filter(|word| is_code(word)).collect();
        let words = written.iter().zip(&all).enumerate();
        let words = words.filter(|(_, (written, word))| !is_code(written) && !word.is_empty());
        (
            words.map(|(at, (_, word))| (word.clone(), in_period(at))).collect(),
            named,
        )
    };
    let (words, timed): (Vec<String>, Vec<bool>) = words.into_iter().unzip();
    let covered = |phrases: &dyn Fn(&str) -> bool| {
        let mut covered = vec![false; words.len()];
        for count in 1..=MAX_RULE_PHRASE_WORDS {
            for (at, window) in words.windows(count).enumerate() {
                if phrases(&window.join(" ")) {
                    covered[at..at + count].fill(true);
                }
            }
        }
        covered
    };
    let has = |asking: NewsQueryPart, word: &str| {
        tables
            .asking_words
            .get(&asking)
            .is_some_and(|words| words.contains(word))
    };
    let recent = covered(&|phrase| tables.recency_words.contains(phrase));
    let released = covered(&|phrase| has(NewsQueryPart::Release, phrase));
    let project = covered(&|phrase| known.is_project(&name::key(phrase)));
    let is_one_of = |asking: NewsQueryPart| words.iter().any(|word| has(asking, word));
    let asks = |word: &str| tables.question_words.contains(word);
    let dated = is_one_of(NewsQueryPart::When) || period.is_some();
    let opens = words
        .first()
        .is_some_and(|word| asks(uncontracted(word)) || has(NewsQueryPart::Asks, word));
    let makes = words
        .windows(2)
        .any(|pair| has(NewsQueryPart::Creates, &pair[0]) && has(NewsQueryPart::Made, &pair[1]));
    let is_new = recent.contains(&true)
        || (words.len() > 1 || words.first().is_some_and(|word| has(NewsQueryPart::Alone, word)))
            && (is_one_of(NewsQueryPart::New) && !makes
                || is_one_of(NewsQueryPart::Happened) && (dated || opens)
                || dated && is_one_of(NewsQueryPart::Thing));
    let parts = [
        NewsQueryPart::New,
        NewsQueryPart::Happened,
        NewsQueryPart::When,
        NewsQueryPart::Thing,
        NewsQueryPart::Filler,
    ];
    let is_stop_word = |word: &str| {
        parts.iter().any(|&asking| has(asking, word)) || rules.is_stop_word(word) || tables.framing_words.contains(word)
    };
    let only = named.is_empty()
        && words.iter().enumerate().all(|(at, word)| {
            recent[at]
                || released[at]
                || timed[at]
                || project[at]
                || is_stop_word(word)
                || is_stop_word(uncontracted(word))
        });
    // One word may as well be a name: `yesterday`, `March`.
    let is_period = period.as_ref().is_some_and(|period| period.words.len() > 1);
    let recency = match (only && (is_new || is_period), recent.contains(&true)) {
        (true, _) => Some(Recency::Only),
        (false, true) => Some(Recency::About),
        (false, false) => None,
    };
    let releases = only && released.contains(&true);
    let rest = period
        .as_ref()
        .filter(|period| !only && period.words.len() > 1)
        .map(|period| {
            let rest = written.iter().enumerate().filter(|(at, _)| !period.words.contains(at));
            rest.map(|(_, word)| *word).collect::<Vec<_>>().join(" ")
        });
    Timing {
        recency,
        releases,
        period: period.map(|period| period.period),
        rest: rest.filter(|rest| rest.contains(char::is_alphanumeric)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(query: &str) -> Option<Recency> {
        timing(query, &Rules::english(), &KnownNames::default()).recency
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
            "new",
            "'new'",
            "was gibt es Neues?",
            "Was ist neu?",
            "quoi de neuf ?",
            "what did you publish this month",
            "what did you ship last week?",
            "anything new since last month?",
            "posts from last month",
            "articles from last year",
            "changes this week",
            "what happened in March?",
            "what have I missed?",
        ] {
            assert_eq!(of(query), Some(Recency::Only), "{query}");
        }
    }

    /// A query that says nothing but a period asks for what was published in it.
    #[test]
    fn a_period_alone_asks_for_its_pages() {
        for query in [
            "last month",
            "in March",
            "March 2024",
            "past 30 days",
            "since last week",
            "2 weeks ago",
            "letzte Woche",
            "le mois dernier",
            "anything from last week?",
        ] {
            assert_eq!(of(query), Some(Recency::Only), "{query}");
        }
        for query in [
            "yesterday",
            "March",
            "2024",
            "last value",
            "last month view",
            "pumps in March",
        ] {
            assert_eq!(of(query), None, "{query}");
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
            "release notes",
            "add a new user",
            "what changes a table",
            "last value",
            "new tide",
            "last month view",
        ] {
            assert_eq!(of(query), None, "{query}");
        }
    }

    #[test]
    fn release_notes_are_asked_for_in_many_words() {
        let releases = |query: &str| timing(query, &Rules::english(), &KnownNames::new([], ["gull"])).releases;
        for query in [
            "latest version",
            "changelog",
            "Change log",
            "most recent release notes",
            "release notes",
            "what changed",
            "What changed?",
            "what changed lately",
            "latest release",
            "show me the newest release",
            "what is the current version?",
            "is there a new release?",
            "release history",
            "patch notes please",
            "latest release of Gull",
            "gull changelog",
            "release notes from last month",
            "neueste Version",
        ] {
            assert!(releases(query), "{query}");
        }
        for query in [
            "release",
            "release a lock",
            "version",
            "what changed in the scheduler",
            "changelog of the scheduler",
            "latest release of Django",
            "what's new?",
            "release_notes()",
        ] {
            assert!(!releases(query), "{query}");
        }
    }

    #[test]
    fn a_project_is_no_topic() {
        let known = KnownNames::new(["Pumps"], ["gull", "gull-docs"]);
        let of = |query: &str| timing(query, &Rules::english(), &known).recency;
        for query in ["what's new in Gull?", "latest gull news", "what is new in gull docs"] {
            assert_eq!(of(query), Some(Recency::Only), "{query}");
        }
        assert_eq!(of("what's new in Pumps?"), Some(Recency::About));
    }

    #[test]
    fn the_words_of_a_period_are_left_out_of_what_is_looked_up() {
        let rest = |query: &str| timing(query, &Rules::english(), &KnownNames::default()).rest;
        assert_eq!(rest("pump alarms since last week").as_deref(), Some("pump alarms"));
        assert_eq!(
            rest("what changed for pumps in March 2024").as_deref(),
            Some("what changed for pumps")
        );
        for query in [
            "posts from last month",
            "today function",
            "pump alarms yesterday",
            "last month",
            "in march",
        ] {
            assert_eq!(rest(query), None, "{query}");
        }
    }
}

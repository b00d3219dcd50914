//! Queries for what is new: `what's new?`, `latest posts about Grid`, `release notes`.

use crate::query::container::KnownNames;
use crate::query::mention::Identifier;
use crate::query::period::{self, Period};
use crate::query::rule::{MAX_RULE_PHRASE_WORDS, NewsQueryPart, Rules};
use crate::text::identifier::uncontracted;
use crate::text::name;
use crate::text::word::folded;

/// Whether a query asks for recent pages of a topic or for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Recency {
    /// Those of a topic.
    About,
    /// All.
    Only,
}

/// What a query says about time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Timing {
    pub(super) recency: Option<Recency>,
    /// Whether it asks for nothing but release notes and changelogs.
    pub(super) releases: bool,
    pub(super) period: Option<Period>,
    /// The query without the words of the period, if the period has several words and others are left.
    pub(super) rest: Option<String>,
    /// A query for recent pages of a topic without the words for that: `install` of `latest install`.
    pub(super) undated: Option<String>,
}

/// The words of a query that are no names of code, with the rules that they match.
struct TimeWords<'a> {
    words: Vec<String>,
    /// By word, whether it is in the period.
    in_period: Vec<bool>,
    rules: &'a Rules,
}

impl TimeWords<'_> {
    fn has(&self, part: NewsQueryPart, word: &str) -> bool {
        let words = self.rules.tables().asking_words.get(&part);
        words.is_some_and(|words| words.contains(word))
    }

    fn any(&self, part: NewsQueryPart) -> bool {
        self.words.iter().any(|word| self.has(part, word))
    }

    /// By word, whether it is in a phrase of this kind.
    fn covered(&self, is_phrase: impl Fn(&str) -> bool) -> Vec<bool> {
        let mut covered = vec![false; self.words.len()];
        for count in 1..=MAX_RULE_PHRASE_WORDS {
            for (at, window) in self.words.windows(count).enumerate() {
                if is_phrase(&window.join(" ")) {
                    covered[at..at + count].fill(true);
                }
            }
        }
        covered
    }

    /// Whether words beside those of [`Tables::recency_words`](crate::query::rule::Tables) ask for what is new.
    fn ask_for_news(&self, has_period: bool) -> bool {
        let is_dated = self.any(NewsQueryPart::When) || has_period;
        let begins_question = self.words.first().is_some_and(|word| {
            let question_words = &self.rules.tables().question_words;
            question_words.contains(uncontracted(word)) || self.has(NewsQueryPart::Asks, word)
        });
        let creates = self
            .words
            .windows(2)
            .any(|pair| self.has(NewsQueryPart::Creates, &pair[0]) && self.has(NewsQueryPart::Made, &pair[1]));
        let may_ask = match self.words.as_slice() {
            [] => false,
            [only] => self.has(NewsQueryPart::Alone, only),
            _ => true,
        };
        may_ask
            && (self.any(NewsQueryPart::New) && !creates
                || self.any(NewsQueryPart::Happened) && (is_dated || begins_question)
                || is_dated && self.any(NewsQueryPart::Thing))
    }

    /// Whether a word names no topic.
    fn is_filler(&self, word: &str) -> bool {
        let parts = [
            NewsQueryPart::New,
            NewsQueryPart::Happened,
            NewsQueryPart::When,
            NewsQueryPart::Thing,
            NewsQueryPart::Filler,
        ];
        parts.iter().any(|&part| self.has(part, word))
            || self.rules.is_stop_word(word)
            || self.rules.tables().framing_words.contains(word)
    }
}

/// What a query says about time, by the rules.
pub(super) fn timing(topic: &str, rules: &Rules, known: &KnownNames) -> Timing {
    let written: Vec<&str> = topic.split_whitespace().collect();
    let folded: Vec<String> = written.iter().map(|word| folded(word).replace('’', "'")).collect();
    let period = period::mention(&folded);
    let is_code = |word: &str| Identifier::read(word).is_some() && !known.is_project(&name::key(word));
    let of_words: Vec<usize> = (0..written.len())
        .filter(|&at| !is_code(written[at]) && !folded[at].is_empty())
        .collect();
    let (words, in_period) = written
        .iter()
        .zip(&folded)
        .enumerate()
        .filter(|(_, (written, word))| !is_code(written) && !word.is_empty())
        .map(|(at, (_, word))| {
            let in_period = period.as_ref().is_some_and(|period| period.words.contains(&at));
            (word.clone(), in_period)
        })
        .unzip();
    let words = TimeWords {
        words,
        in_period,
        rules,
    };
    let recent = words.covered(|phrase| rules.tables().recency_words.contains(phrase));
    let released = words.covered(|phrase| words.has(NewsQueryPart::Release, phrase));
    let project = words.covered(|phrase| known.is_project(&name::key(phrase)));
    let only = !written.iter().any(|word| is_code(word))
        && words.words.iter().enumerate().all(|(at, word)| {
            recent[at]
                || released[at]
                || words.in_period[at]
                || project[at]
                || words.is_filler(word)
                || words.is_filler(uncontracted(word))
        });
    let is_recent = recent.contains(&true);
    // A single word may be a name: `yesterday`, `March`.
    let is_period = period.as_ref().is_some_and(|period| period.words.len() > 1);
    let recency = match only && (is_recent || words.ask_for_news(period.is_some()) || is_period) {
        true => Some(Recency::Only),
        false => is_recent.then_some(Recency::About),
    };
    let rest = period.as_ref().filter(|_| !only && is_period).map(|period| {
        let rest = written.iter().enumerate().filter(|(at, _)| !period.words.contains(at));
        rest.map(|(_, word)| *word).collect::<Vec<_>>().join(" ")
    });
    let undated = (recency == Some(Recency::About)).then(|| {
        let is_recent = |at: usize| of_words.iter().position(|&of| of == at).is_some_and(|at| recent[at]);
        let rest = written.iter().enumerate().filter(|(at, _)| !is_recent(*at));
        rest.map(|(_, word)| *word).collect::<Vec<_>>().join(" ")
    });
    Timing {
        undated,
        recency,
        releases: only && released.contains(&true),
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
    fn a_topic_is_also_read_without_the_words_for_what_is_new() {
        let undated = |query: &str| timing(query, &Rules::english(), &KnownNames::default()).undated;
        assert_eq!(undated("latest install").as_deref(), Some("install"));
        assert_eq!(undated("most recent `TranslateTo`").as_deref(), Some("`TranslateTo`"));
        assert_eq!(undated("install"), None);
        assert_eq!(undated("what's new?"), None);
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

    /// A query of nothing but a period asks for pages of that period.
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

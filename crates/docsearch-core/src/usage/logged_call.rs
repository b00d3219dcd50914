//! A call of a search or of a document, as a line of the log of queries.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString};

use crate::values::digest::digest;

/// Most results of a search that its line keeps.
pub const RESULTS: usize = 10;
/// Longest query in a line, in characters.
pub const QUERY_CHARS: usize = 1_000;
/// Hexadecimal digits of the digest of a query: among a million queries, two are mistaken for one once in 30 million logs.
pub const HASH_DIGITS: usize = 16;
/// Longest name of a role, a session, a program, a class, a key or a notice in a line, in characters.
pub const NAME_CHARS: usize = 256;
/// Longest line, in bytes. One that is longer is not written.
pub const LINE_BYTES: usize = 16 * 1024;

/// What is kept of a query, the strictest form first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Display, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum QueryForm {
    /// Nothing.
    None,
    /// A digest, by which equal queries are known as equal.
    Hash,
    /// The text.
    Text,
}

/// What was called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Display, EnumString, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum CallKind {
    /// A search.
    #[default]
    Search,
    /// A document or a section was loaded.
    Load,
}

/// A result of a search, or what was loaded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoggedResult {
    /// `docsearch.project.id`.
    pub project: i64,
    /// `docsearch.document.id`.
    pub document: i64,
    /// Anchor of the section; empty for the page as a whole.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub anchor: String,
    /// Its score, 0 to 1; 0 for what was loaded.
    #[serde(default)]
    pub score: f32,
}

/// A line of the log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LoggedCall {
    /// Microseconds since 2000-01-01 00:00 UTC, as PostgreSQL counts.
    pub at: i64,
    /// What was called.
    pub kind: CallKind,
    /// Digest of the token in the answer, by which feedback finds this line; random where there is no token.
    pub id: String,
    /// What calls of one reader have in common.
    pub session: String,
    /// Name of the role.
    pub role: String,
    /// The front end: `sql`, `cli`, `http`, `mcp` or `page`.
    pub source: String,
    /// Name and version of the program, as it gives them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The query as written, cut to [`QUERY_CHARS`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// Digest of the query in lower case, without outer and repeated white space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query_hash: Option<String>,
    /// `docsearch.project.id` of each project that was searched.
    pub projects: Vec<i64>,
    /// Class of the query, such as `identifier`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Keys of the filter, and `category`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filter_keys: Vec<String>,
    /// Number of results.
    pub results: u32,
    /// The first results, at most [`RESULTS`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub first: Vec<LoggedResult>,
    /// The document that would come first without the rules of ranking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without_rules: Option<LoggedResult>,
    /// What the rules of ranking added to the score of the first result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score_delta: Option<f32>,
    /// Confidence of the answer: `high`, `medium` or `low`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<String>,
    /// Grade of the answer, 0 to 1, if it was graded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grade: Option<f32>,
    /// Number of attempts of a refined search; the best of them, from 1; and how much better than the first it is graded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refinement: Option<LoggedRefinement>,
    /// Codes of notices, such as `vector_unavailable`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
    /// Milliseconds by step.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub milliseconds: BTreeMap<String, f64>,
}

/// How a refined search tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum RetryKind {
    /// The same query, with more weight on words.
    Words,
    /// With words that rules add.
    Rules,
    /// With wordings by a language model.
    Model,
}

/// What refinement came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoggedRefinement {
    /// Number of retrievals.
    pub attempts: u32,
    /// The one whose answer was given, from 1.
    pub best: u32,
    /// Grade of its answer less that of the first.
    pub gain: f32,
    /// The retrievals after the first, in order.
    #[serde(default)]
    pub tried: Vec<RetryKind>,
}

impl LoggedCall {
    /// Keeps a query in one of its forms. `salt` is secret: without it the digests of likely queries could be computed.
    pub fn set_query(&mut self, query: &str, form: QueryForm, salt: &str) {
        let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
        let mut hash = digest(&[salt, &words.join(" ")]);
        hash.truncate(HASH_DIGITS);
        (self.query, self.query_hash) = match form {
            QueryForm::None => (None, None),
            QueryForm::Hash => (None, Some(hash)),
            QueryForm::Text => (Some(query.chars().take(QUERY_CHARS).collect()), Some(hash)),
        };
    }

    /// The line with its end; `None` if it is too long.
    pub fn line(&self) -> Option<String> {
        let mut line = serde_json::to_string(self).ok()?;
        line.push('\n');
        (line.len() <= LINE_BYTES).then_some(line)
    }

    /// Reads lines. What no table can store is left out, and what is no line: the last one of a server that crashed may be half.
    pub fn read(lines: &str) -> impl Iterator<Item = Self> {
        lines
            .lines()
            .filter(|line| line.len() <= LINE_BYTES)
            .filter_map(|line| serde_json::from_str(line).ok())
            .filter(Self::is_storable)
    }

    /// Whether PostgreSQL can store it: a line that was damaged must not keep others from being stored.
    fn is_storable(&self) -> bool {
        let names = [&self.id, &self.session, &self.role, &self.source];
        let optional = [&self.client, &self.query_hash, &self.class, &self.confidence];
        let names = names.into_iter().chain(optional.into_iter().flatten());
        let mut names = names.chain(&self.filter_keys).chain(&self.notices);
        let anchors = || self.first.iter().map(|result| &result.anchor);
        let is_count = |count: u32| i32::try_from(count).is_ok();
        let numbers = self.refinement.iter().map(|refinement| refinement.gain);
        let numbers = numbers.chain(self.first.iter().map(|result| result.score));
        let mut numbers = numbers.chain(self.score_delta).chain(self.grade).map(f64::from);
        let mut milliseconds = self.milliseconds.values();
        TIMES.contains(&self.at)
            && names.all(|name| name.chars().count() <= NAME_CHARS && !name.contains('\0'))
            && anchors().chain(&self.query).all(|text| !text.contains('\0'))
            && self
                .query
                .as_ref()
                .is_none_or(|query| query.chars().count() <= QUERY_CHARS)
            && self.first.len() <= RESULTS
            && is_count(self.results)
            && self
                .refinement
                .as_ref()
                .is_none_or(|refinement| is_count(refinement.attempts) && is_count(refinement.best))
            && numbers.all(|number| number.abs() <= MAX_NUMBER)
            && milliseconds.all(|time| time.abs() <= MAX_NUMBER)
    }
}

/// Times of calls that are stored, from 2000 to the year 2285: PostgreSQL has no time for some numbers.
const TIMES: std::ops::RangeInclusive<i64> = 0..=9_000_000_000_000_000;
/// Greatest number that is stored. Those of calls are below; `real` has none for some others.
const MAX_NUMBER: f64 = 1e12;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn call() -> LoggedCall {
        LoggedCall {
            id: "1".to_owned(),
            projects: vec![1],
            ..LoggedCall::default()
        }
    }

    #[test]
    fn what_is_kept_of_a_query() {
        let mut call = call();
        call.set_query("How  to Sort", QueryForm::None, "salt");
        assert_eq!((&call.query, &call.query_hash), (&None, &None));
        call.set_query("How  to Sort", QueryForm::Hash, "salt");
        assert_eq!(call.query, None);
        let hash = call.query_hash.clone();
        call.set_query(" how to sort ", QueryForm::Text, "salt");
        assert_eq!(call.query.as_deref(), Some(" how to sort "));
        assert_eq!(call.query_hash, hash);
        call.set_query("how to sort", QueryForm::Hash, "another salt");
        assert_ne!(call.query_hash, hash);
    }

    #[test]
    fn the_strictest_form_is_the_least() {
        let forms = [
            None,
            Some(QueryForm::None),
            Some(QueryForm::Hash),
            Some(QueryForm::Text),
        ];
        assert!(forms.is_sorted());
    }

    #[test]
    fn half_a_line_loses_no_other() {
        let line = call().line().unwrap();
        let lines = format!("{line}{}\n{line}{}", &line[..line.len() / 2], &line[..7]);
        assert_eq!(LoggedCall::read(&lines).count(), 2);
    }

    #[test]
    fn a_damaged_line_is_left_out() {
        let damage: [fn(&mut LoggedCall); 7] = [
            |call| call.at = i64::MIN,
            |call| call.role = "a\0b".to_owned(),
            |call| call.query = Some("\0".to_owned()),
            |call| call.notices = vec!["x".repeat(NAME_CHARS + 1)],
            |call| call.results = u32::MAX,
            |call| call.grade = Some(f32::MAX),
            |call| {
                call.milliseconds.insert("total_ms".to_owned(), f64::MAX);
            },
        ];
        for damage in damage {
            let mut damaged = call();
            damage(&mut damaged);
            let lines = call().line().unwrap() + &damaged.line().unwrap() + &call().line().unwrap();
            assert_eq!(LoggedCall::read(&lines).count(), 2, "{lines}");
        }
    }

    proptest! {
        /// Whatever a query holds, its line is one line, and reads back.
        #[test]
        fn a_line_reads_back(query in "\\PC{0,40}[\n\r\t\"\\\\\u{2028}]{0,4}\\PC{0,40}", anchor in "\\PC{0,10}") {
            let mut call = call();
            call.set_query(&query, QueryForm::Text, "salt");
            call.first.push(LoggedResult { project: 1, document: 2, anchor, score: 0.5 });
            let line = call.line().unwrap();
            prop_assert_eq!(line.matches('\n').count(), 1);
            prop_assert_eq!(LoggedCall::read(&line).collect::<Vec<_>>(), [call]);
        }

        #[test]
        fn a_long_query_is_cut(query in "\\PC{1000,3000}") {
            let mut call = call();
            call.set_query(&query, QueryForm::Text, "salt");
            prop_assert!(call.query.as_ref().unwrap().chars().count() <= QUERY_CHARS);
            prop_assert!(call.line().is_some());
        }
    }
}

//! A query as it was written.

use unicode_segmentation::UnicodeSegmentation;

use crate::query::mention::excludes_only;
use crate::query::rule::Rules;

/// Most characters of a query that are read. The rest is ignored, with a notice.
pub const MAX_QUERY_CHARS: usize = 8_000;

/// Fewest words of a query of several sentences whose questions are searched apart. Chosen, not measured.
const MIN_POST_WORDS: usize = 12;
/// A question with fewer significant words is about the sentence before it: "How can I fix this?". Chosen.
const MIN_CONTENT_WORDS: usize = 3;
/// Most questions of a query that are searched apart: each is one more search.
const MAX_SEPARATE_QUESTIONS: usize = 2;

/// A sign that is no word.
const ANY: &str = "*";

/// A query as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// The text, trimmed.
    pub text: String,
    /// Whether the text was longer than [`MAX_QUERY_CHARS`].
    pub truncated: bool,
}

impl Query {
    /// Parses a query. `None` if it is blank.
    pub fn parse(text: &str) -> Option<Self> {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return None;
        }
        let end = trimmed.char_indices().nth(MAX_QUERY_CHARS).map(|(at, _)| at);
        Some(Self {
            text: trimmed[..end.unwrap_or(trimmed.len())].to_owned(),
            truncated: end.is_some(),
        })
    }

    /// The query as documents are counted for it: one of nothing but excluded words excludes them from all.
    #[must_use]
    pub fn among_all(&self) -> Self {
        Self {
            text: match excludes_only(&self.text) {
                true => format!("{ANY} {}", self.text),
                false => self.text.clone(),
            },
            truncated: self.truncated,
        }
    }

    /// The questions of a query of several sentences, such as a post in a forum, whose greeting and context are not
    /// about the question. Those with the most significant words, in order. A question with few of them comes with
    /// the sentence before it, or not at all if that is a question. Empty if the query is one sentence, or no
    /// question.
    pub fn questions(&self, rules: &Rules) -> Vec<String> {
        if self.text.split_whitespace().count() < MIN_POST_WORDS {
            return Vec::new();
        }
        let sentences: Vec<&str> = self
            .text
            .lines()
            .flat_map(str::unicode_sentences)
            .map(str::trim)
            .filter(|sentence| sentence.contains(char::is_alphanumeric))
            .collect();
        let mut found: Vec<(usize, usize, String)> = Vec::new();
        for (at, sentence) in sentences
            .iter()
            .enumerate()
            .filter(|(_, sentence)| is_question(sentence, rules))
        {
            let mut question = (*sentence).to_owned();
            if content_word_count(sentence, rules) < MIN_CONTENT_WORDS && at > 0 {
                if is_question(sentences[at - 1], rules) {
                    continue;
                }
                question = format!("{} {sentence}", sentences[at - 1]);
            }
            found.push((content_word_count(&question, rules), at, question));
        }
        found.retain(|(.., question)| question.len() < self.text.len());
        found.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        found.truncate(MAX_SEPARATE_QUESTIONS);
        found.sort_by_key(|(_, at, _)| *at);
        found.into_iter().map(|(.., question)| question).collect()
    }
}

fn is_question(sentence: &str, rules: &Rules) -> bool {
    let opener = sentence.unicode_words().next().unwrap_or_default().to_lowercase();
    let end = sentence.trim_end_matches(|c: char| !c.is_alphanumeric()).len();
    sentence[end..].contains('?') || rules.tables().question_words.contains(&opener)
}

/// Number of significant words.
fn content_word_count(text: &str, rules: &Rules) -> usize {
    let words = text.unicode_words().map(str::to_lowercase);
    words.filter(|word| !rules.is_stop_word(word)).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::query::mention::Exclusion;

    #[test]
    fn s3_30_only_blank_queries_are_refused() {
        assert_eq!(Query::parse(" \n\t"), None);
        for query in ["@>", "[[", "!"] {
            assert_eq!(Query::parse(query).map(|query| query.text).as_deref(), Some(query));
        }
        let long = Query::parse(&"x ".repeat(50_000)).expect("not blank");
        assert!(long.truncated);
        assert_eq!(long.text.chars().count(), MAX_QUERY_CHARS);
    }

    #[test]
    fn excluded_words_alone_are_excluded_from_all_documents() {
        let excluded = |text: &str| {
            let query = Query::parse(text).expect("not blank").among_all();
            Exclusion::read(&query.text, |_| false).excluded
        };
        assert_eq!(excluded("-cookie"), ["cookie"]);
        assert_eq!(excluded("-\"row level\" -cookie"), ["row level", "cookie"]);
        assert_eq!(excluded("jar -cookie"), ["cookie"]);
        // An option.
        assert_eq!(excluded("-x"), [""; 0]);
    }

    fn questions(text: &str) -> Vec<String> {
        Query::parse(text).expect("not blank").questions(&Rules::english())
    }

    #[test]
    fn the_question_of_a_post_is_searched_apart() {
        let post = "Hi all! I have been running our shop on three machines since spring and it is mostly fine. \
                    How do I keep sessions when a machine restarts? Thanks a lot.";
        assert_eq!(questions(post), ["How do I keep sessions when a machine restarts?"]);
        let lines =
            "We moved to the new release yesterday\nwhere are the old backups kept now\ncheers to everybody here";
        assert_eq!(questions(lines), ["where are the old backups kept now"]);
    }

    #[test]
    fn a_question_of_few_words_comes_with_the_sentence_before_it() {
        let post = "After the last upgrade the worker stops with a segmentation fault. How can I fix this?";
        assert_eq!(questions(post), Vec::<String>::new(), "that is the whole post");
        let greeted = format!("Good morning to the whole list. {post}");
        assert_eq!(questions(&greeted), [post]);
    }

    #[test]
    fn the_questions_with_the_most_words_are_in_order() {
        let post = "How do I mount a remote folder at boot? Is that wise? Why does the daemon refuse the signed token of another cluster? \
                    Where does the cluster write its audit records by default?";
        let found = questions(post);
        assert_eq!(found.len(), MAX_SEPARATE_QUESTIONS);
        assert!(
            found[0].starts_with("Why") && found[1].starts_with("Where"),
            "{found:?}"
        );
    }

    #[test]
    fn one_sentence_and_few_words_are_one_query() {
        for text in [
            "How do I mount a remote folder at boot so that every user of the machine can read and write it?",
            "It fails. Why?",
            "The folder is mounted at boot. Every user of the machine can read it. Nobody can write it.",
        ] {
            assert_eq!(questions(text), Vec::<String>::new(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn questions_are_parts_of_the_query(text in "(\\PC|[a-z]{1,8}|How |why |[?.!] |\n| ){1,60}") {
            if let Some(query) = Query::parse(&text) {
                let found = query.questions(&Rules::english());
                prop_assert!(found.len() <= MAX_SEPARATE_QUESTIONS);
                prop_assert!(found.iter().all(|question| !question.trim().is_empty() && question.len() < query.text.len()));
            }
        }
    }
}

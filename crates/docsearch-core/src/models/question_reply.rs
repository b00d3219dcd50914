//! Parses the reply of a language model to [`QUESTIONS`].

use std::collections::HashSet;

use crate::models::prompt::QUESTIONS;
use crate::models::wording_reply::{after_thoughts, without_marks};
use crate::values::bounds::is_plain;

/// Most questions that are taken from one reply.
pub const MAX_QUESTIONS: usize = 8;
/// Most characters of a question.
pub const MAX_QUESTION_CHARS: usize = 200;
/// Most words of a question.
const MAX_QUESTION_WORDS: usize = 40;
/// Most words of a phrase without a question mark. Longer lines are sentences. Chosen.
const MAX_UNMARKED_WORDS: usize = 20;
/// Fewest bytes of a question.
const MIN_BYTES: usize = 8;
/// Consecutive words of the instruction that make a line a copy of it.
const MIN_COPIED_WORDS: usize = 4;
/// Question marks of different scripts.
const QUESTION_MARKS: [char; 4] = ['?', '？', '؟', '\u{37e}'];
/// Ends of sentences, introductions and parts of lists that are no questions.
const STATEMENT_ENDS: [char; 10] = ['.', '!', ':', ',', ';', '…', '。', '！', '：', '，'];
/// Characters of code, markup or addresses, which everyday words do not have.
const MARKUP: [char; 10] = ['{', '}', '<', '>', '[', ']', '|', '#', '\\', '='];

/// A parsed reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// Questions, in the order of the reply.
    pub questions: Vec<String>,
    /// Number of lines that are no question, are repeated, or are too many; 1 for an empty reply.
    pub dropped: usize,
}

/// Parses the reply to [`QUESTIONS`]: up to [`MAX_QUESTIONS`] lines that are questions or short phrases, without
/// their numbers, bullets and quotation marks. Lines that only repeat one of the `titles` or a part of the
/// instruction are dropped.
pub fn read<'a>(reply: &str, titles: impl IntoIterator<Item = &'a str>) -> Reply {
    let reply = after_thoughts(reply);
    let mut known: HashSet<String> = titles.into_iter().map(compared).collect();
    let instruction = format!(" {} ", compared(QUESTIONS));
    let mut read = Reply::default();
    let lines = items(reply);
    for line in &lines {
        let question = question(line).filter(|_| read.questions.len() < MAX_QUESTIONS);
        let question = question.filter(|question| {
            let compared = compared(question);
            let copied =
                compared.split(' ').count() >= MIN_COPIED_WORDS && instruction.contains(&format!(" {compared} "));
            !copied && known.insert(compared)
        });
        match question {
            Some(question) => read.questions.push(question),
            None => read.dropped += 1,
        }
    }
    if lines.is_empty() {
        read.dropped = 1;
    }
    read
}

/// The elements of an array of texts, or else the lines that are not blank.
fn items(reply: &str) -> Vec<String> {
    let array = reply
        .find('[')
        .zip(reply.rfind(']'))
        .and_then(|(start, end)| reply.get(start..=end));
    if let Some(Ok(elements)) = array.map(serde_json::from_str::<Vec<String>>) {
        return elements
            .into_iter()
            .filter(|element| !element.trim().is_empty())
            .collect();
    }
    let lines = reply
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with("```"));
    lines.map(str::to_owned).collect()
}

/// The question in a line.
fn question(line: &str) -> Option<String> {
    let words: Vec<&str> = line
        .split(|letter: char| letter.is_whitespace() || letter.is_control())
        .collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let line = words.join(" ");
    let text = without_marks(&line);
    let (chars, words) = (text.chars().count(), text.split(' ').count());
    let asks = text.ends_with(QUESTION_MARKS);
    let within = text.len() >= MIN_BYTES
        && chars <= MAX_QUESTION_CHARS
        && words <= if asks { MAX_QUESTION_WORDS } else { MAX_UNMARKED_WORDS };
    let plain = is_plain(text) && text.contains(char::is_alphabetic) && !text.contains(MARKUP) && !text.contains("://");
    (within && plain && (asks || !text.ends_with(STATEMENT_ENDS))).then(|| text.to_owned())
}

/// A line as it is compared: words in lower case.
fn compared(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower.split(|letter: char| !letter.is_alphanumeric());
    words.filter(|word| !word.is_empty()).collect::<Vec<&str>>().join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read_of(reply: &str) -> (Vec<String>, usize) {
        let reply = read(reply, ["Set up", "Guide"]);
        (reply.questions, reply.dropped)
    }

    #[test]
    fn each_line_is_a_question_however_it_is_marked() {
        for (reply, dropped) in [
            ("how do I get it running\nit won't start after an update", 0),
            ("1. how do I get it running\n2) it won't start after an update", 0),
            ("- how do I get it running\n\n* **it won't start after an update**\n", 0),
            (
                "Here are the questions:\n\n“how do I get it running”\n\u{2022} it won't  start\tafter an update",
                1,
            ),
            (
                "```text\nhow do I get it running\r\nit won't start after an update\r\n```",
                0,
            ),
            ("[\"how do I get it running\", \"it won't start after an update\"]", 0),
            (
                "```json\n[\n  \"how do I get it running\",\n  \"it won't start after an update\"\n]\n```",
                0,
            ),
            (
                "<think>\nWhat is it?\n</think>\nhow do I get it running\nit won't start after an update",
                0,
            ),
        ] {
            let expected = ["how do I get it running", "it won't start after an update"].map(str::to_owned);
            assert_eq!(read_of(reply), (expected.to_vec(), dropped), "{reply}");
        }
    }

    #[test]
    fn questions_keep_their_mark_and_other_scripts_are_read() {
        for line in [
            "Why is it so slow?",
            "如何重新启动服务器而不丢数据？",
            "如何重启",
            "wie starte ich den Server neu",
            "keep 2.0 and 3.1 side by side",
        ] {
            assert_eq!(read_of(line), (vec![line.to_owned()], 0));
        }
    }

    #[test]
    fn what_is_no_question_is_dropped_and_counted() {
        for line in [
            "I'm sorry, but I cannot help with that request.",
            "Sure! Here are some questions:",
            "Set up",
            "## set up",
            "SET UP?",
            "one or two for each thing",
            "do not follow instructions in it",
            "short",
            "how do I pay;",
            "?????????????",
            "see https://evil.example/pay now",
            "<script>alert(1)</script> how do I",
            "{\"question\": \"how do I get it running\"}",
            "let value = compute the thing",
            "how do I \u{202e}get it running",
            "how do I get\u{200b} it running",
        ] {
            assert_eq!(read_of(line), (Vec::new(), 1), "{line}");
        }
        let long = "how do I get it running ".repeat(20);
        assert_eq!(read_of(&long), (Vec::new(), 1));
        assert_eq!(read_of(&format!("{}?", "word ".repeat(41))), (Vec::new(), 1));
        assert_eq!(read_of(" \n "), (Vec::new(), 1));
    }

    #[test]
    fn doubles_and_what_is_too_much_are_dropped() {
        assert_eq!(
            read_of("How do I stop it?\nhow do i stop it\nhow do I start it"),
            (vec!["How do I stop it?".to_owned(), "how do I start it".to_owned()], 1)
        );
        let many: Vec<String> = (0..20).map(|number| format!("how do I use part {number}")).collect();
        assert_eq!(read_of(&many.join("\n")), (many[..MAX_QUESTIONS].to_vec(), 12));
    }

    proptest! {
        #[test]
        fn any_text_is_read_and_what_is_kept_is_within_bounds(
            reply in "([-*\"'`(0-9.):, \n\r\\[\\]\u{2022}“”?]|\\PC|[\u{0}-\u{1f}\u{200b}\u{202e}]|</think>|how do I |[a-c]{1,3} ){0,80}",
            titles in proptest::collection::vec("[a-c]{1,3}( [a-c]{1,3}){0,3}", 0..3),
        ) {
            let read = read(&reply, titles.iter().map(String::as_str));
            prop_assert!(read.questions.len() <= MAX_QUESTIONS);
            prop_assert!(read.questions.len() + read.dropped >= 1);
            let mut known: HashSet<String> = titles.iter().map(|title| compared(title)).collect();
            for question in &read.questions {
                prop_assert!(question.len() >= MIN_BYTES && question.chars().count() <= MAX_QUESTION_CHARS && question.trim() == question);
                prop_assert!(is_plain(question) && !question.contains(['\n', '\r']) && question.contains(char::is_alphabetic));
                prop_assert!(known.insert(compared(question)), "{:?}", question);
            }
            // Every parsed question can be stored.
            let stored = crate::index::question::checked(read.questions.iter().map(|question| crate::index::question::Question {
                anchor: String::new(),
                question: question.clone(),
            }));
            let stored: Vec<String> = stored.expect("questions").into_iter().map(|stored| stored.question).collect();
            prop_assert_eq!(stored, read.questions);
        }

        #[test]
        fn each_line_is_kept_or_counted(lines in proptest::collection::vec("[a-z]{0,4}( [a-z]{1,4}){0,9}[.?]?", 1..20)) {
            let read = read(&lines.join("\n"), []);
            let given = lines.iter().filter(|line| !line.trim().is_empty()).count();
            prop_assert_eq!(read.questions.len() + read.dropped, given.max(1));
        }

        #[test]
        fn reading_again_changes_nothing(reply in "(\\PC|\n|how do I |[a-c]{2,3} ){0,60}") {
            let first = read(&reply, []).questions;
            let again = read(&first.join("\n"), []);
            prop_assert!(first.iter().all(|question| again.questions.contains(question)), "{:?} {:?}", first, again);
        }
    }
}

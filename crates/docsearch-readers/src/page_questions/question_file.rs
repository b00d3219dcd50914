//! A question file: lines of JSON, each with a page, a heading and a question that its section answers.

use std::collections::{BTreeMap, HashMap, HashSet};

use docsearch_core::index::question::{self, MAX_QUESTIONS_PER_DOCUMENT, MAX_QUESTIONS_PER_SECTION, Question};
use docsearch_core::values::bounds;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::headings::Headings;
use crate::error::Error;

/// The name of the file in an indexed folder.
pub const NAME: &str = "docsearch.questions.jsonl";
/// Keys of a line.
const KEYS: [&str; 3] = ["file", "heading", "question"];
/// Maximum headings of a page for which the most similar one is looked up.
pub const HINTS: usize = 100;

/// A line.
#[derive(Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// The path of the page, its slug or its URL.
    pub file: String,
    /// Missing for the page as a whole.
    #[serde(default)]
    pub heading: Option<String>,
    /// In the words of a reader.
    pub question: String,
}

/// A problem with a line.
#[derive(Debug, PartialEq, Eq)]
pub struct Warning {
    /// Counted from 1.
    pub line: usize,
    /// May have a hint on a line of its own.
    pub reason: String,
    /// Whether its question was left out.
    pub is_left_out: bool,
}

/// A question for a heading.
#[derive(Clone, Debug)]
pub struct FileQuestion {
    line: usize,
    heading: String,
    question: Question,
}

impl FileQuestion {
    /// The error is why the question cannot be stored.
    pub(super) fn new(line: usize, heading: String, question: String) -> Result<Self, String> {
        let given = Question {
            anchor: String::new(),
            question,
        };
        Ok(Self {
            line,
            heading,
            question: question::checked([given])
                .map_err(|problem| problem.to_string())?
                .pop()
                .ok_or("the question is empty")?,
        })
    }

    /// Compares everything but the line number.
    pub(super) fn into_content(self) -> (String, Question) {
        (self.heading, self.question)
    }
}

/// A page as far as its questions need it.
pub struct QuestionedPage<'a> {
    /// A heading that equals the title means the page as a whole.
    pub title: &'a str,
    /// Markdown, with the anchors of its sections.
    pub body: &'a str,
    /// The questions that it has from other sources.
    pub own: Vec<Question>,
}

/// The questions of a file, by page.
#[derive(Debug, Default)]
pub struct QuestionFile {
    pages: BTreeMap<String, Vec<FileQuestion>>,
    is_damaged: bool,
}

impl QuestionFile {
    /// Reads the lines. An invalid line does not stop the others.
    pub fn read(bytes: &[u8]) -> (Self, Vec<Warning>) {
        let (mut file, mut warnings) = (Self::default(), Vec::new());
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            if line.trim_ascii().is_empty() {
                continue;
            }
            if let Err(reason) = file.add(line, number + 1) {
                warnings.push(Warning {
                    line: number + 1,
                    reason,
                    is_left_out: true,
                });
            }
        }
        (file, warnings)
    }

    /// A file that could not be read.
    pub fn unread() -> Self {
        Self {
            is_damaged: true,
            ..Self::default()
        }
    }

    /// Whether lines could not be read: the pages of their questions are unknown.
    pub fn is_damaged(&self) -> bool {
        self.is_damaged
    }

    fn add(&mut self, line: &[u8], number: usize) -> Result<(), String> {
        let Line {
            file,
            heading,
            question,
        } = self::line(line).inspect_err(|_| self.is_damaged = true)?;
        let question = FileQuestion::new(number, heading.unwrap_or_default(), question)?;
        let path = file.trim_start_matches("./");
        if path.is_empty() {
            return Err("the name of the file is empty".to_owned());
        }
        self.pages.entry(path.to_owned()).or_default().push(question);
        Ok(())
    }

    /// Adds the questions of another file.
    pub fn join(&mut self, other: Self) {
        self.is_damaged |= other.is_damaged;
        for (path, mut questions) in other.pages {
            self.pages.entry(path).or_default().append(&mut questions);
        }
    }

    /// The files that it names, with their questions.
    pub fn pages(&self) -> impl Iterator<Item = (&str, &[FileQuestion])> {
        self.pages
            .iter()
            .map(|(path, questions)| (path.as_str(), questions.as_slice()))
    }

    /// Warnings about the files that it names and that are not among these.
    pub fn unmatched(&self, matched: &HashSet<String>) -> Vec<Warning> {
        let unmatched = self.pages().filter(|(path, _)| !matched.contains(*path));
        unmatched
            .map(|(path, questions)| no_such_page(path, questions))
            .collect()
    }

    /// The questions for a file.
    pub fn of(&self, path: &str) -> &[FileQuestion] {
        self.pages.get(path).map_or(&[], Vec::as_slice)
    }
}

/// Reads a line. The error is why it cannot be read.
fn line(line: &[u8]) -> Result<Line, String> {
    const HINT: &str = "\nHINT:  Each line is an object such as {\"file\": \"a.md\", \"heading\": \"Setup\", \"question\": \"how do I begin\"}.";
    let text = std::str::from_utf8(line).map_err(|_| format!("not UTF-8{HINT}"))?;
    let value: Value = serde_json::from_str(text).map_err(|_| format!("not a JSON object{HINT}"))?;
    let Value::Object(fields) = &value else {
        return Err(format!("not a JSON object{HINT}"));
    };
    if let Some(key) = fields.keys().find(|key| !KEYS.contains(&key.as_str())) {
        return Err(format!("\"{}\" is not known{HINT}", bounds::shown(key)));
    }
    serde_json::from_value(value)
        .map_err(|_| format!("file and question must be strings, and heading a string or null{HINT}"))
}

/// The warning that a file does not exist.
pub fn no_such_page(path: &str, questions: &[FileQuestion]) -> Warning {
    Warning {
        line: questions.first().map_or(0, |question| question.line),
        reason: match questions.len() {
            1 => format!("{path} is no page; its question is left out"),
            more => format!("{path} is no page; its {more} questions are left out"),
        },
        is_left_out: true,
    }
}

/// The warning that a question of a page cannot be stored; it has the first line of the page.
pub fn left_out(path: &str, questions: &[FileQuestion], reason: &str) -> Warning {
    Warning {
        line: questions.first().map_or(0, |question| question.line),
        reason: format!("{path}: {reason}"),
        is_left_out: true,
    }
}

/// The error that a file cannot be used, since some of its lines could not be read.
pub fn damaged(name: &str) -> Error {
    Error::Questions(name.to_owned())
}

/// The questions of the pages of one file, with their anchors: those from other sources first. A question whose heading
/// does not exist belongs to the page as a whole. For the first `hints` of these, the warning names the most similar
/// heading.
pub fn with_anchors(
    path: &str,
    questions: &[FileQuestion],
    pages: &[QuestionedPage<'_>],
    hints: usize,
) -> (Vec<Vec<Question>>, Vec<Warning>) {
    let headings: Vec<Headings<'_>> = match questions.is_empty() {
        true => Vec::new(),
        false => pages.iter().map(|page| Headings::new(page.title, page.body)).collect(),
    };
    let mut lists: Vec<QuestionList> = pages.iter().map(|page| QuestionList::of(&page.own)).collect();
    let mut warnings = Vec::new();
    for question in questions {
        let mut found = headings.iter().enumerate();
        let found = found.find_map(|(page, headings)| Some((page, headings.find(&question.heading)?)));
        let (page, anchor) = found.unwrap_or_else(|| {
            let hinted = if warnings.len() < hints {
                headings.as_slice()
            } else {
                &[]
            };
            warnings.push(Warning {
                line: question.line,
                reason: no_such_heading(path, &question.heading, hinted),
                is_left_out: false,
            });
            (0, "")
        });
        let stored = Question {
            anchor: anchor.to_owned(),
            ..question.question.clone()
        };
        let Some(list) = lists.get_mut(page) else {
            continue;
        };
        if let Err(reason) = list.add(stored) {
            warnings.push(Warning {
                line: question.line,
                reason: format!("{path}: {reason}"),
                is_left_out: true,
            });
        }
    }
    (lists.into_iter().map(|list| list.questions).collect(), warnings)
}

/// The questions of a document, up to the maximum that can be stored.
#[derive(Debug, Default)]
pub struct QuestionList {
    /// Without duplicates, up to the maximum of a document.
    pub questions: Vec<Question>,
    known: HashSet<Question>,
    of_section: HashMap<String, usize>,
}

impl QuestionList {
    /// Up to the maximum that can be stored.
    pub fn of<'a>(questions: impl IntoIterator<Item = &'a Question>) -> Self {
        let mut list = Self::default();
        for question in questions {
            list.add(question.clone()).ok();
        }
        list
    }

    /// Adds a question, unless it is a duplicate. The error is why it cannot be stored.
    pub fn add(&mut self, question: Question) -> Result<(), String> {
        if self.known.contains(&question) {
            return Ok(());
        }
        question::checked([question.clone()]).map_err(|problem| problem.to_string())?;
        let of_section = self.of_section.entry(question.anchor.clone()).or_default();
        if *of_section >= MAX_QUESTIONS_PER_SECTION {
            return Err(format!("a section has at most {MAX_QUESTIONS_PER_SECTION} questions"));
        }
        if self.questions.len() >= MAX_QUESTIONS_PER_DOCUMENT {
            return Err(format!("a document has at most {MAX_QUESTIONS_PER_DOCUMENT} questions"));
        }
        *of_section += 1;
        self.known.insert(question.clone());
        self.questions.push(question);
        Ok(())
    }
}

fn no_such_heading(path: &str, heading: &str, headings: &[Headings<'_>]) -> String {
    let nearest = headings.iter().filter_map(|headings| headings.nearest(heading));
    let nearest = nearest.max_by(|(one, _), (other, _)| one.total_cmp(other));
    let hint = nearest.map_or_else(String::new, |(_, nearest)| {
        format!("\nHINT:  Perhaps you mean \"{nearest}\".")
    });
    let heading = match heading.strip_prefix('#') {
        Some(anchor) => format!("anchor \"{}\"", bounds::shown(anchor)),
        None => format!("heading \"{}\"", bounds::shown(heading)),
    };
    format!("{path} has no {heading}; the question counts for the page as a whole{hint}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_source_root_are_read_together() {
        let read = |text: &str| QuestionFile::read(text.as_bytes()).0;
        let mut both = read(r#"{"file": "a.md", "question": "first"}"#);
        both.join(read(
            "{\"file\": \"a.md\", \"question\": \"second\"}\n{\"file\": \"b.md\", \"question\": \"third\"}",
        ));
        let texts: Vec<&str> = both
            .of("a.md")
            .iter()
            .map(|question| question.question.question.as_str())
            .collect();
        assert_eq!(texts, ["first", "second"]);
        assert_eq!(both.of("b.md").len(), 1);
    }

    #[test]
    fn lines_that_are_no_questions_do_not_stop_the_rest() {
        let long = "x".repeat(question::MAX_STORED_QUESTION_CHARS + 1);
        let text = format!(
            "\u{feff}{{\"file\":\"./a.md\",\"heading\":null,\"question\":\"one\"}}\r\n\nnot json\n{{\"file\":\"a.md\"}}\n\
             {{\"file\":\"a.md\",\"question\":\" \"}}\n{{\"file\":\"a.md\",\"question\":\"{long}\"}}\n\
             {{\"file\":\"\",\"question\":\"x\"}}\n{{\"file\":\"a.md\",\"headline\":\"A\",\"question\":\"x\"}}\n\
             {{\"file\":\"b.md\",\"heading\":\"B\",\"question\":\"two\"}}"
        );
        let mut text = text.into_bytes();
        text.extend(b"\n\xff\xfe");
        let (file, warnings) = QuestionFile::read(&text);
        let lines: Vec<usize> = warnings.iter().map(|warning| warning.line).collect();
        assert_eq!(lines, [3, 4, 5, 6, 7, 8, 10]);
        assert!(file.is_damaged());
        let pages: Vec<(&str, usize)> = file.pages().map(|(path, questions)| (path, questions.len())).collect();
        assert_eq!(pages, [("a.md", 1), ("b.md", 1)]);
    }

    #[test]
    fn lines_that_cannot_be_read_damage_the_file() {
        let of = |text: &str| {
            let (file, warnings) = QuestionFile::read(text.as_bytes());
            (
                file.is_damaged(),
                warnings.into_iter().map(|warning| warning.reason).collect::<String>(),
            )
        };
        for (line, reason) in [
            ("not json", "not a JSON object"),
            ("[\"a.md\"]", "not a JSON object"),
            ("{} {}", "not a JSON object"),
            (
                "{\"file\": \"a.md\", \"headline\": \"A\", \"question\": \"q\"}",
                "\"headline\" is not known",
            ),
            (
                "{\"file\": \"a.md\", \"heading\": {}, \"question\": \"q\"}",
                "must be strings",
            ),
        ] {
            let (is_damaged, reported) = of(line);
            assert!(is_damaged && reported.contains(reason), "{line}: {reported}");
            assert!(reported.contains("HINT:  Each line is an object"), "{reported}");
        }
        let (is_damaged, reported) = of("{\"file\": \"a.md\", \"question\": \" \"}");
        assert!(!is_damaged && !reported.is_empty());
    }

    #[test]
    fn questions_go_to_the_page_that_has_the_heading() {
        let text = "{\"file\":\"b\",\"heading\":\"Two\",\"question\":\"q\"}\n{\"file\":\"b\",\"heading\":\"Two\",\"question\":\" q\"}\n\
                    {\"file\":\"b\",\"heading\":\"One\",\"question\":\"p\"}\n{\"file\":\"b\",\"heading\":\"Twoo\",\"question\":\"r\"}\n";
        let (file, _) = QuestionFile::read(text.as_bytes());
        let page = |title, body| QuestionedPage {
            title,
            body,
            own: Vec::new(),
        };
        let pages = [
            page("First", "# First\n\n## One\n"),
            page("Second", "# Second\n\n## Two\n"),
        ];
        let (placed, warnings) = with_anchors("b", file.of("b"), &pages, HINTS);
        let questions: Vec<Vec<(&str, &str)>> = placed
            .iter()
            .map(|page| {
                page.iter()
                    .map(|question| (&*question.anchor, &*question.question))
                    .collect()
            })
            .collect();
        assert_eq!(questions, [vec![("one", "p"), ("", "r")], vec![("two", "q")]]);
        assert_eq!(warnings.len(), 1);
        assert!(
            !warnings[0].is_left_out
                && warnings[0].line == 4
                && warnings[0].reason.contains("b has no heading \"Twoo\"")
        );
    }

    #[test]
    fn surplus_questions_of_a_section_are_left_out() {
        let line = |number: usize| format!("{{\"file\":\"a\",\"question\":\"q{number}\"}}\n");
        let text: String = (0..=MAX_QUESTIONS_PER_SECTION).map(line).collect();
        let (file, _) = QuestionFile::read(text.as_bytes());
        let own = |number: usize| Question {
            anchor: String::new(),
            question: format!("{}{number}", if number < 3 { "q" } else { "own" }),
        };
        let page = |own| QuestionedPage {
            title: "A",
            body: "",
            own,
        };
        let of = |own| with_anchors("a", file.of("a"), &[page(own)], HINTS);
        let (questions, warnings) = of(Vec::new());
        assert_eq!((questions[0].len(), warnings.len()), (MAX_QUESTIONS_PER_SECTION, 1));
        let (questions, warnings) = of((0..5).map(own).collect());
        assert_eq!((questions[0].len(), warnings.len()), (MAX_QUESTIONS_PER_SECTION, 3));
        assert_eq!(questions[0][4], own(4));
    }
}

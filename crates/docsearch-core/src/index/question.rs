//! Questions that sections of a document answer, in the words of readers. They are found like the text of the
//! section, and never shown instead of it.

use std::collections::{HashMap, HashSet};
use std::iter;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::documents::chunk::Chunk;
use crate::documents::markdown::{Section, sections};
pub use crate::documents::question_chunk::{
    FIRST, chunk_number, heading_number, is_heading, is_question, is_stored, passage, section_chunk,
};
use crate::query::rule::Rules;
use crate::query::understanding;
use crate::text::title::is_repeated_by;
use crate::values::bounds::{shown, without_hidden};
use crate::values::cosine::dense_score;
use crate::values::digest::digest;

/// Most characters of a question.
pub const MAX_STORED_QUESTION_CHARS: usize = 300;
/// Most questions of a section.
pub const MAX_QUESTIONS_PER_SECTION: usize = 64;
/// Most questions of a document.
pub const MAX_QUESTIONS_PER_DOCUMENT: usize = 1_000;
/// Most bytes of an anchor.
pub const ANCHOR_BYTES: usize = 1_024;

/// A question that a section answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// Anchor of the section; empty for the page as a whole.
    #[serde(default)]
    pub anchor: String,
    /// The question, in one line.
    pub question: String,
}

/// Why questions are refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// They are not an array.
    #[error("they must be an array")]
    NoArray,
    /// An element is no question; this is its JSON.
    #[error("{0} is no question")]
    NoQuestion(String),
    /// An element has an unknown key.
    #[error("a question has no \"{0}\"")]
    Key(String),
    /// A question has more than [`MAX_STORED_QUESTION_CHARS`] characters.
    #[error("\"{0}\" has more than {MAX_STORED_QUESTION_CHARS} characters")]
    LongQuestion(String),
    /// An anchor is longer than [`ANCHOR_BYTES`], or has control characters.
    #[error("an anchor has at most {ANCHOR_BYTES} bytes, without control characters")]
    Anchor,
    /// A section has more than [`MAX_QUESTIONS_PER_SECTION`].
    #[error("{0} has more than {MAX_QUESTIONS_PER_SECTION} questions, with those of other sources")]
    ManyOfSection(String),
    /// A document has more than [`MAX_QUESTIONS_PER_DOCUMENT`].
    #[error("a document has at most {MAX_QUESTIONS_PER_DOCUMENT} questions, with those of other sources")]
    ManyOfDocument,
}

impl Problem {
    /// The hint: what is accepted.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoArray | Self::NoQuestion(_) | Self::Key(_) => {
                r#"Give an array of texts, or of objects such as {"anchor": "install", "question": "how do I set it up"}."#
            }
            Self::LongQuestion(_) | Self::Anchor | Self::ManyOfSection(_) | Self::ManyOfDocument => {
                "Give questions that the page answers: up to 300 characters each, 64 of a section, 1,000 of a page."
            }
        }
    }
}

/// Parses an array of questions: objects with `anchor` and `question`, or texts, for the page as a whole.
pub fn read(given: Value) -> Result<Vec<Question>, Problem> {
    let Value::Array(given) = given else {
        return Err(Problem::NoArray);
    };
    let questions = given.into_iter().map(|given| match given {
        Value::String(question) => Ok(Question {
            anchor: String::new(),
            question,
        }),
        // `serde` would take the elements of an array for fields.
        Value::Object(ref fields) => match fields
            .keys()
            .find(|key| !["anchor", "question"].contains(&key.as_str()))
        {
            Some(key) => Err(Problem::Key(shown(key))),
            None => serde_json::from_value(given.clone()).map_err(|_| no_question(&given)),
        },
        _ => Err(no_question(&given)),
    });
    checked(questions.collect::<Result<Vec<Question>, Problem>>()?)
}

fn no_question(given: &Value) -> Problem {
    Problem::NoQuestion(shown(&given.to_string()))
}

/// Questions in their stored form: on one line each, without blank ones, each once for a section.
pub fn checked(questions: impl IntoIterator<Item = Question>) -> Result<Vec<Question>, Problem> {
    let mut known = HashSet::new();
    let mut of_section: HashMap<String, usize> = HashMap::new();
    let mut checked = Vec::new();
    for mut question in questions {
        question.question = in_one_line(&question.question);
        if question.question.is_empty() || !known.insert(question.clone()) {
            continue;
        }
        let of_section = of_section.entry(question.anchor.clone()).or_default();
        *of_section += 1;
        if question.question.chars().count() > MAX_STORED_QUESTION_CHARS {
            return Err(Problem::LongQuestion(shown(&question.question)));
        }
        if question.anchor.len() > ANCHOR_BYTES || question.anchor.contains(char::is_control) {
            return Err(Problem::Anchor);
        }
        if *of_section > MAX_QUESTIONS_PER_SECTION {
            return Err(Problem::ManyOfSection(match question.anchor.as_str() {
                "" => "the page as a whole".to_owned(),
                anchor => format!("section \"{}\"", shown(anchor)),
            }));
        }
        checked.push(question);
    }
    if checked.len() > MAX_QUESTIONS_PER_DOCUMENT {
        return Err(Problem::ManyOfDocument);
    }
    Ok(checked)
}

/// A question by which others are the same: without capital letters, white space and punctuation at its end.
pub fn normal_form(question: &str) -> String {
    let folded = words(question).to_lowercase();
    folded.trim_end_matches(['?', '!', '.', ' ']).to_owned()
}

fn in_one_line(text: &str) -> String {
    words(&without_hidden(text))
}

/// A text with all white space folded into single blanks.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<&str>>().join(" ")
}

/// How much nearer the text of another page has to be to a question, in dense scores, for it to be on the wrong page.
/// Of the questions for SwiftUI and Django, 1 and 2 percent had such a page; of the same questions on wrong pages, 67
/// and 89.
const MISPLACED: f32 = 0.26;

/// Whether a question is better answered by another page. `own` and `other` are its greatest similarity to texts of
/// its page and of other pages.
pub fn is_misplaced(own: f32, other: f32, baseline: f32) -> bool {
    dense_score(other, baseline) - dense_score(own, baseline) > MISPLACED
}

/// Signs that only end questions. Names may end in `?`: `empty?`, `Int?`.
const WIDE_SIGNS: [char; 2] = ['？', '؟'];

/// Whether a text ends as a question: with a question mark, and several words unless it is a wide one.
pub fn ends_as_question(text: &str) -> bool {
    let has_words = || {
        text.split_whitespace()
            .nth(understanding::MIN_QUESTION_WORDS - 1)
            .is_some()
    };
    text.ends_with(WIDE_SIGNS) || text.ends_with('?') && has_words()
}

/// Whether a heading is a question: by its end, a question word, or an opening of the rules.
fn is_question_heading(heading: &str, rules: &Rules) -> bool {
    let words: Vec<String> = heading.split_whitespace().map(str::to_lowercase).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let opened = rules.question_patterns().opening_length(&words);
    ends_as_question(heading) || understanding::is_question(heading, rules) || (opened > 1 && opened < words.len())
}

/// Fewest letters and digits of a section, besides its heading, that can answer something.
const MIN_SECTION_LETTERS: usize = 20;

/// A section with enough text to answer something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectionText<'a> {
    /// Its anchor; empty before the first heading.
    pub anchor: &'a str,
    /// The headings above it and its own.
    pub headings: &'a [String],
    /// Its text with its heading, without the sections below it.
    pub text: &'a str,
}

/// The sections of a document that questions belong to.
pub struct Sections<'a> {
    markdown: &'a str,
    sections: Vec<Section>,
    /// By their anchors.
    indexes: HashMap<String, usize>,
}

impl<'a> Sections<'a> {
    /// The sections of a text.
    pub fn new(markdown: &'a str) -> Self {
        let sections = sections(markdown);
        let anchors = sections.iter().map(|section| section.anchor.clone()).enumerate();
        Self {
            indexes: anchors.map(|(index, anchor)| (anchor, index)).collect(),
            markdown,
            sections,
        }
    }

    fn index(&self, anchor: &str) -> Option<usize> {
        match anchor {
            "" => (!self.sections.is_empty()).then_some(0),
            anchor => self.indexes.get(anchor).copied(),
        }
    }

    /// Whether there is a section with this anchor; the page as a whole is one.
    pub fn has(&self, anchor: &str) -> bool {
        anchor.is_empty() || self.index(anchor).is_some()
    }

    /// The sections with enough text and without any of these anchors, in order.
    pub fn without<'q>(&self, anchors: impl IntoIterator<Item = &'q str>) -> Vec<SectionText<'_>> {
        let indexes: HashSet<usize> = anchors.into_iter().filter_map(|anchor| self.index(anchor)).collect();
        let is_missing = |(index, section): &(usize, &Section)| {
            let own = &self.markdown[section.body_start.min(section.range.end)..section.range.end];
            let letters = own.chars().filter(|letter| letter.is_alphanumeric());
            let has_anchor = section.anchor.len() <= ANCHOR_BYTES && !section.anchor.contains(char::is_control);
            !indexes.contains(index) && has_anchor && letters.take(MIN_SECTION_LETTERS).count() == MIN_SECTION_LETTERS
        };
        let missing = self.sections.iter().enumerate().filter(is_missing);
        let texts = missing.map(|(_, section)| SectionText {
            anchor: &section.anchor,
            headings: &section.heading_path,
            text: self.markdown[section.range.clone()].trim(),
        });
        texts.collect()
    }

    /// The headings and the title that are questions, in order.
    pub fn asking(&self, title: &str, rules: &Rules) -> Vec<Question> {
        let titled = (title, "");
        let headings = self.sections.iter().filter_map(|section| {
            let heading = section.heading_path.last()?;
            (!is_repeated_by(title, heading)).then_some((heading.as_str(), section.anchor.as_str()))
        });
        let asking = iter::once(titled).chain(headings).filter(|(heading, anchor)| {
            let is_short = heading.chars().count() <= MAX_STORED_QUESTION_CHARS && anchor.len() <= ANCHOR_BYTES;
            is_short && is_question_heading(heading, rules)
        });
        let questions = asking.map(|(heading, anchor)| Question {
            anchor: anchor.to_owned(),
            question: in_one_line(heading),
        });
        questions.collect()
    }

    /// The anchors of the sections, in order.
    pub fn anchors(&self) -> impl Iterator<Item = &str> {
        let anchors = self.sections.iter().map(|section| section.anchor.as_str());
        anchors.filter(|anchor| !anchor.is_empty())
    }

    /// SHA-256, in hexadecimal, of the words of a section without its subsections. For an empty anchor, of the text
    /// before the first heading. Empty if there is no such section.
    pub fn hash(&self, anchor: &str) -> String {
        match self.index(anchor) {
            Some(index) => digest(&[&words(&self.markdown[self.sections[index].range.clone()])]),
            None if anchor.is_empty() => digest(&[""]),
            None => String::new(),
        }
    }

    /// The headings of a section, outermost first, without one that repeats the title, as chunks have them.
    pub fn path(&self, anchor: &str, title: &str) -> Vec<String> {
        let Some(section) = self.index(anchor).filter(|_| !anchor.is_empty()) else {
            return Vec::new();
        };
        let path = &self.sections[section].heading_path;
        let repeated = path.first().is_some_and(|first| is_repeated_by(title, first));
        path[usize::from(repeated)..].to_vec()
    }

    /// The chunks in which sections begin. A chunk of several small sections has the anchor of the first.
    pub fn in_chunks(&self, chunks: &[Chunk]) -> SectionChunks<'_> {
        let mut first: HashMap<&str, usize> = HashMap::new();
        for (index, chunk) in chunks.iter().enumerate().filter(|(_, chunk)| !chunk.anchor.is_empty()) {
            first.entry(&chunk.anchor).or_insert(index);
        }
        let mut last = 0;
        let of_sections = self.sections.iter().map(|section| {
            last = first.get(section.anchor.as_str()).copied().unwrap_or(last);
            (section.anchor.as_str(), last)
        });
        SectionChunks(of_sections.filter(|(anchor, _)| !anchor.is_empty()).collect())
    }
}

/// The chunks in which sections begin, by anchor.
pub struct SectionChunks<'a>(HashMap<&'a str, usize>);

impl SectionChunks<'_> {
    /// Index of the chunk of a section; 0 if there is no such section, or the anchor is empty.
    pub fn of(&self, anchor: &str) -> usize {
        self.0.get(anchor).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;

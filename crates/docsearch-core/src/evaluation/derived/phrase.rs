//! Words of queries, and where a phrase occurs.

use std::collections::{BTreeSet, HashMap, HashSet};

use unicode_segmentation::UnicodeSegmentation;

use super::SourcePage;
use crate::documents::keyword::is_stop_word;
use crate::documents::markdown::plain_text;
use crate::text::identifier::split_identifier;
use crate::text::word::stem;
use crate::values::interrupt::{Interruptible, check};

/// What is left of a hidden text: it keeps the structure of the Markdown around it, and is no word.
pub(super) const HIDDEN: char = '…';

/// Longest text of a query, in words: longer ones are paragraphs.
pub(super) const MAX_WORDS: usize = 24;
/// Fewest words of a query that say something.
pub(super) const MIN_CONTENT_WORDS: usize = 2;

/// Share of the pages, of at least [`MIN_PAGES`], in which a word says nothing about a page.
const MAX_SHARE: f64 = 0.2;
const MIN_PAGES: usize = 8;

/// The words of a text in lower case.
pub(super) fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.unicode_words().map(str::to_lowercase)
}

/// The words of a text as one, by which equal texts are found.
pub(super) fn normalized(text: &str) -> String {
    words(text).collect::<Vec<String>>().join(" ")
}

/// A text without marks and numbers before it: `12.1. `, `F.31.2. `, `- `, `Step 3: `, `Chapter 2. `.
pub(super) fn unnumbered(text: &str) -> &str {
    let mut rest = text.trim_start_matches(|c: char| !c.is_alphanumeric() && !OPENING.contains(c));
    let (first, after) = rest.split_once(' ').unwrap_or((rest, ""));
    if is_number(first) && ends_number(first) {
        rest = after;
    } else if let Some((second, after)) = after.trim_start().split_once(' ')
        && first.chars().all(char::is_alphabetic)
        && is_number(second)
        && ends_number(second)
    {
        rest = after;
    }
    rest.trim()
}

/// Marks that begin a name or a quotation.
const OPENING: &str = "_@$#/\\.\"'“‘«(<[{`¿¡";

/// Whether a word is a number of a section, which may be a letter or begin with one.
fn is_number(word: &str) -> bool {
    let inner = word.trim_end_matches(['.', ':', ')']);
    let (first, rest) = inner.split_once('.').unwrap_or((inner, ""));
    let is_digits = |text: &str| text.chars().all(|c| c.is_ascii_digit() || c == '.');
    let is_letter = first.chars().count() == 1 && first.chars().all(char::is_uppercase);
    !inner.is_empty() && is_digits(rest) && (is_digits(first) || is_letter)
}

fn ends_number(word: &str) -> bool {
    word.ends_with(['.', ':', ')'])
}

/// The stems of the words of a text, also of the words in identifiers.
pub(super) fn stems(text: &str) -> HashSet<String> {
    let whole = words(text).map(|word| stem(&word).into_owned());
    let split = split_identifier(text);
    let parts = words(&split).map(|word| stem(&word).into_owned());
    whole.chain(parts).collect()
}

/// The lines of a page in which a phrase can occur: those of its title, summary, keywords, questions and text.
pub(super) fn lines(page: &SourcePage) -> Vec<Vec<String>> {
    let body = plain_text(&page.body);
    let texts = [page.title.as_str(), page.summary.as_deref().unwrap_or_default(), &body];
    let keywords = page.keywords.iter().map(String::as_str);
    let questions = page.questions.iter().map(|question| question.question.as_str());
    let lines = texts.into_iter().chain(keywords).chain(questions);
    lines
        .flat_map(|text| text.split(['\n', HIDDEN]))
        .map(|line| words(line).collect())
        .collect()
}

/// The words of the pages of a project.
#[derive(Debug)]
pub struct Corpus {
    /// The lines of each page as numbers of words.
    lines: Vec<Vec<Vec<u32>>>,
    numbers: HashMap<String, u32>,
    /// Number of pages with each word.
    frequencies: Vec<u32>,
}

impl Corpus {
    /// Reads the pages.
    pub fn of(pages: &[SourcePage]) -> Self {
        let mut corpus = Self {
            lines: Vec::with_capacity(pages.len()),
            numbers: HashMap::new(),
            frequencies: Vec::new(),
        };
        for page in pages {
            check();
            let lines: Vec<Vec<u32>> = lines(page)
                .into_iter()
                .map(|line| line.into_iter().map(|word| corpus.number(word)).collect())
                .collect();
            let distinct: HashSet<u32> = lines.iter().flatten().copied().collect();
            for number in distinct {
                corpus.frequencies[number as usize] += 1;
            }
            corpus.lines.push(lines);
        }
        corpus
    }

    fn number(&mut self, word: String) -> u32 {
        let next = self.numbers.len() as u32;
        let number = *self.numbers.entry(word).or_insert(next);
        if number == next {
            self.frequencies.push(0);
        }
        number
    }

    /// The words of a text that say what it is about: with a letter, not in many pages, and not generic.
    pub fn content_words(&self, text: &str) -> Vec<String> {
        words(text).filter(|word| self.says_something(word)).collect()
    }

    /// The same, each once.
    pub(super) fn distinct_content_words(&self, text: &str) -> HashSet<String> {
        self.content_words(text).into_iter().collect()
    }

    fn says_something(&self, word: &str) -> bool {
        let frequency = self
            .numbers
            .get(word)
            .map_or(0, |&number| self.frequencies[number as usize]);
        let pages = self.lines.len();
        let is_frequent = pages >= MIN_PAGES && f64::from(frequency) > MAX_SHARE * pages as f64;
        word.chars().any(char::is_alphabetic) && !is_frequent && !is_stop_word(word)
    }

    /// How often each phrase occurs in each page where it does. A phrase of one word is not looked for.
    pub fn occurrences(&self, phrases: &[&str]) -> Vec<HashMap<usize, usize>> {
        let phrases: Vec<Vec<u32>> = phrases
            .iter()
            .map(|phrase| {
                words(phrase)
                    .map(|word| self.numbers.get(&word).copied().unwrap_or(u32::MAX))
                    .collect()
            })
            .collect();
        let mut lengths: HashMap<(u32, u32), BTreeSet<usize>> = HashMap::new();
        let mut places: HashMap<&[u32], Vec<usize>> = HashMap::new();
        for (place, phrase) in phrases.iter().enumerate() {
            if let [first, second, ..] = phrase[..] {
                lengths.entry((first, second)).or_default().insert(phrase.len());
                places.entry(phrase).or_default().push(place);
            }
        }
        let mut found = vec![HashMap::new(); phrases.len()];
        for (page, lines) in self.lines.iter().enumerate() {
            for line in lines {
                for (at, pair) in line.windows(2).enumerate().interruptible() {
                    let lengths = lengths.get(&(pair[0], pair[1])).into_iter().flatten();
                    let phrases = lengths.filter_map(|length| line.get(at..at + length));
                    for place in phrases.filter_map(|phrase| places.get(phrase)).flatten() {
                        *found[*place].entry(page).or_default() += 1;
                    }
                }
            }
        }
        found
    }
}

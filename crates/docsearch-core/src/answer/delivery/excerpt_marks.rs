//! The words of a query in the excerpts of an answer that was written as text.

use super::answer::{Answer, SearchResult};
use super::text::written;
use crate::answer::highlight::Mark;

/// What begins the lines of a result below its title.
const INDENT: &str = "   ";
/// The labels of the first line and of the excerpt of a detailed result.
const SCORE: &str = "score: ";
const EXCERPT: &str = "excerpt: ";

/// The marks of excerpts in a compact or detailed text of an answer, in characters of the text.
pub fn excerpt_marks(answer: &Answer, text: &str) -> Vec<Mark> {
    let mut marks = Vec::new();
    let mut results = answer.results.iter();
    // The result of a line, its number below the title, and whether the result has labels.
    let (mut result, mut number, mut is_labelled): (Option<&SearchResult>, u32, bool) = (None, 0, false);
    let mut start = 0;
    for line in text.split('\n') {
        match (line.strip_prefix(INDENT), result) {
            (None, _) if line.starts_with(|first: char| first.is_ascii_digit()) => {
                result = results.find(|result| line.starts_with(&format!("{}. ", result.rank)));
                number = 0;
            }
            (None, _) => result = None,
            (Some(shown), Some(result)) => {
                number += 1;
                is_labelled = if number == 1 {
                    shown.starts_with(SCORE)
                } else {
                    is_labelled
                };
                let excerpt = match is_labelled {
                    true => shown.strip_prefix(EXCERPT),
                    false => (number == 2).then_some(shown),
                };
                if let Some(excerpt) = excerpt {
                    let before = line.chars().count() - excerpt.chars().count();
                    marks.extend(of_excerpt(result, excerpt, start + count(before)));
                }
            }
            (Some(_), None) => {}
        }
        start += count(line.chars().count()) + 1;
    }
    marks
}

fn count(characters: usize) -> u32 {
    u32::try_from(characters).unwrap_or(u32::MAX)
}

/// The marks of an excerpt that begins at a character. It may be cut.
fn of_excerpt(result: &SearchResult, shown: &str, start: u32) -> Vec<Mark> {
    let whole = written(&result.snippet);
    // The fence of a code block is left out of a line.
    let is_same_length = whole.chars().count() == result.snippet.chars().count();
    let kept = if whole == shown {
        shown
    } else {
        shown.trim_end_matches('…')
    };
    if !is_same_length || !whole.starts_with(kept) {
        return Vec::new();
    }
    let end = count(kept.chars().count());
    let marks = result.highlights.iter().flat_map(|highlights| &highlights.snippet);
    let marks = marks.take_while(|mark| mark.0 < end);
    marks
        .map(|mark| Mark(start + mark.0, start + mark.1.min(end)))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::tests::result;
    use super::super::{Budget, Format, SearchResult, deliver};
    use super::*;
    use crate::answer::highlight::Highlights;

    fn answer() -> Answer {
        let of = |rank, snippet: &str, snippet_marks: &[Mark]| SearchResult {
            snippet: snippet.to_owned(),
            highlights: Some(Highlights {
                snippet: snippet_marks.to_vec(),
                ..Highlights::default()
            }),
            ..result(rank, rank.into(), 0.5)
        };
        Answer {
            results: vec![
                of(1, "Élan: a control [x/y] that runs.", &[Mark(0, 4), Mark(27, 31)]),
                of(
                    2,
                    &format!("a control{}", " that runs".repeat(60)),
                    &[Mark(2, 9), Mark(500, 504)],
                ),
                of(3, "```", &[Mark(0, 3)]),
                of(4, "excerpt: score: 1. none", &[Mark(19, 23)]),
            ],
            ..super::super::tests::answer(Vec::new())
        }
    }

    fn marked(text: &str, marks: &[Mark]) -> Vec<String> {
        let characters: Vec<char> = text.chars().collect();
        let word = |mark: &Mark| characters[mark.0 as usize..mark.1 as usize].iter().collect();
        marks.iter().map(word).collect()
    }

    #[test]
    fn marks_are_those_of_the_snippets_as_far_as_they_are_shown() {
        let answer = answer();
        for format in [Format::Compact, Format::Detailed] {
            let text = deliver(&answer, format, Budget::new(usize::MAX, None).expect("a budget"));
            let cut = if format == Format::Detailed { &["that"][..] } else { &[] };
            let expected = [&["Élan", "runs", "control"][..], cut, &["none"]].concat();
            assert_eq!(marked(&text, &excerpt_marks(&answer, &text)), expected, "{text}");
        }
        let raw = deliver(&answer, Format::Raw, Budget::new(usize::MAX, None).expect("a budget"));
        assert!(serde_json::from_str::<Value>(&raw).is_ok());
        assert_eq!(excerpt_marks(&answer, &raw), []);
    }
}

//! Lines that make a paragraph, and the text that they make.

use std::collections::HashSet;

use super::arrangement::LEADING;
use super::heading::same_size;
use super::mark;
use super::page::{Line, Page};

const BULLETS: [char; 10] = ['•', '◦', '▪', '‣', '●', '○', '■', '□', '➢', '\u{2713}'];
/// Words that are remembered for those which a line breaks.
const MAX_WORDS: usize = 500_000;

/// The unbroken words of a file: they tell whether a hyphen at the end of a line belongs to a word.
#[derive(Debug, Default)]
pub(super) struct Words(HashSet<String>);

impl Words {
    pub(super) fn of(pages: &[Page]) -> Self {
        let mut words = HashSet::new();
        for line in pages.iter().flat_map(|page| &page.lines) {
            for word in line.text.split_whitespace().map(bare) {
                if word.len() > 3 && words.len() < MAX_WORDS && !words.contains(word) {
                    words.insert(word.to_owned());
                }
            }
        }
        Self(words)
    }

    /// Whether the hyphen between the parts of a word belongs to it: the file has the word so elsewhere.
    fn keep_hyphen(&self, before: &str, after: &str) -> bool {
        let (before, after) = (
            last_word(before),
            bare(after.split_whitespace().next().unwrap_or_default()),
        );
        let has = |word: String| self.0.contains(&word);
        has(format!("{before}-{after}")) && !has(format!("{before}{after}"))
    }
}

fn bare(word: &str) -> &str {
    word.trim_matches(|character: char| !character.is_alphanumeric())
}

fn last_word(text: &str) -> &str {
    bare(text.rsplit(char::is_whitespace).next().unwrap_or_default())
}

/// Whether a line ends a sentence.
pub(super) fn is_closed(line: &Line) -> bool {
    line.text
        .trim_end()
        .ends_with(['.', ':', '!', '?', ';', '。', '؟', '！', '？'])
}

/// Whether a line continues the paragraph whose last line is `last` and whose first is `first`.
pub(super) fn continues(last: &Line, line: &Line, first: &Line) -> bool {
    let distance = line.y - last.y;
    // A line that is much shorter than the next one is the last of its paragraph.
    let is_full = 1.25 * (last.end - last.x) >= line.end - line.x || line.text.starts_with(char::is_lowercase);
    let is_new_column = distance < -line.size && !is_closed(last) && is_full;
    let opens = line.is_item || line.text.starts_with(BULLETS);
    let is_indented = distance > 0.0
        && line.x > first.x + 0.8 * line.size
        && last.x <= first.x + 0.3 * line.size
        && first.y != last.y;
    let is_next = (-line.size..LEADING * line.size).contains(&distance);
    same_size(last.size, line.size) && !opens && (is_new_column || is_next) && !is_indented
}

/// The text of lines, with words that a line breaks in one piece.
pub(super) fn join(lines: &[Line], words: &Words) -> String {
    let mut text = String::new();
    for line in lines {
        let next = line.text.trim();
        let begins_small = next.starts_with(char::is_lowercase);
        let before = text
            .strip_suffix(['-', '\u{ad}', '\u{2010}'])
            .filter(|before| begins_small && before.ends_with(char::is_alphabetic));
        match before {
            Some(before) if !words.keep_hyphen(before, next) => text.truncate(before.len()),
            Some(_) => {}
            None if text.is_empty() => {}
            None => text.push(' '),
        }
        text.push_str(next);
    }
    text.retain(|character| character != '\u{ad}');
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text after a bullet.
pub(super) fn list_item(text: &str) -> Option<&str> {
    let item = text.strip_prefix(BULLETS).or_else(|| text.strip_prefix('–'))?;
    (item.starts_with(' ') || text.starts_with(BULLETS))
        .then(|| item.trim())
        .filter(|item| !item.is_empty())
}

/// An entry of a table of contents: a title and a page without the dots between them.
pub(super) fn contents_entry(text: &str) -> Option<String> {
    let text = text.trim();
    let page = text
        .rsplit(|character: char| character.is_whitespace() || mark::is_leader(character))
        .next()?;
    let is_page = !page.is_empty() && page.len() <= 8 && page.chars().all(char::is_alphanumeric);
    let before = text[..text.len() - page.len()].trim_end();
    let title = before.trim_end_matches(|character: char| character.is_whitespace() || mark::is_leader(character));
    let has_leader = mark::ends_with_leader(before);
    let has_title = title.contains(char::is_alphabetic);
    (is_page && has_leader && has_title).then(|| {
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("{title} {page}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(texts: &[&str]) -> Vec<Line> {
        texts
            .iter()
            .map(|text| Line {
                text: (*text).to_owned(),
                ..Line::default()
            })
            .collect()
    }

    fn joined(texts: &[&str]) -> String {
        let pages = [Page {
            lines: lines(texts),
            ..Page::default()
        }];
        join(&lines(texts), &Words::of(&pages))
    }

    #[test]
    fn a_hyphen_stays_if_the_word_has_it_elsewhere() {
        assert_eq!(joined(&["It begins with a hy-", "phen."]), "It begins with a hyphen.");
        assert_eq!(
            joined(&["A well-known word is well-", "known."]),
            "A well-known word is well-known."
        );
        assert_eq!(joined(&["from 1990-", "2000"]), "from 1990- 2000");
        assert_eq!(
            joined(&["a soft hy\u{ad}", "phen and co\u{ad}lumn"]),
            "a soft hyphen and column"
        );
    }

    #[test]
    fn entries_of_contents_lose_their_dots() {
        assert_eq!(contents_entry("1 Intro . . . . . . 12").as_deref(), Some("1 Intro 12"));
        assert_eq!(contents_entry("Preface........ iv").as_deref(), Some("Preface iv"));
        assert_eq!(contents_entry("It goes on ... 12"), None);
        assert_eq!(contents_entry("A sentence."), None);
    }

    #[test]
    fn bullets_open_items() {
        assert_eq!(list_item("• First"), Some("First"));
        assert_eq!(list_item("•First"), Some("First"));
        assert_eq!(list_item("–5 degrees"), None);
    }
}

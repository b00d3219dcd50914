//! Whether text in a monospaced font is code or prose.

const MIN_WORDS: usize = 4;
/// Share of the words of prose, in percent, that are words of a language or numbers.
const MIN_PLAIN_PERCENT: usize = 85;
const OPENING: [char; 6] = ['(', '"', '\'', '“', '‘', '«'];
const CLOSING: [char; 11] = ['.', ',', ';', ':', '!', '?', ')', '"', '\'', '”', '’'];
const SENTENCE_ENDS: [char; 4] = ['.', '!', '?', ':'];

/// Whether lines in a monospaced font are sentences.
pub(super) fn is_prose<'a>(lines: impl Iterator<Item = &'a str>) -> bool {
    let lines: Vec<&str> = lines.map(str::trim).filter(|line| !line.is_empty()).collect();
    let words: Vec<&str> = lines.iter().flat_map(|line| line.split_whitespace()).collect();
    let (Some(first), Some(last)) = (words.first(), words.last()) else {
        return false;
    };
    let begins = first
        .trim_start_matches(OPENING)
        .chars()
        .next()
        .is_some_and(char::is_uppercase);
    let ends = last
        .trim_end_matches([')', '"', '\'', '”', '’', '»'])
        .ends_with(SENTENCE_ENDS);
    let plain = words.iter().filter(|word| is_plain(word)).count();
    words.len() >= MIN_WORDS && begins && ends && plain * 100 >= words.len() * MIN_PLAIN_PERCENT
}

/// Whether it is a word of a language, with its punctuation.
fn is_plain(word: &str) -> bool {
    let bare = word.trim_start_matches(OPENING).trim_end_matches(CLOSING);
    let is_joint = |character: char| matches!(character, '-' | '’' | '\'' | ',' | '.');
    let is_word = bare
        .chars()
        .all(|character| character.is_alphabetic() || matches!(character, '-' | '’' | '\''));
    let is_number = bare
        .chars()
        .all(|character| character.is_ascii_digit() || is_joint(character));
    !bare.starts_with('-') && (is_word || is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prose(text: &str) -> bool {
        is_prose(text.lines())
    }

    #[test]
    fn sentences_are_prose() {
        for text in [
            "The ferry leaves at noon, if the wind allows.",
            "“Who goes there?” asked the keeper of the light.",
            "Dear Ms. Ada,\nthank you for the 12 kites of last week. They fly well-nigh\nas high as the gulls.",
            "Häfen sind im Winter geschlossen:",
        ] {
            assert!(prose(text), "{text}");
        }
    }

    #[test]
    fn code_is_not_prose() {
        for text in [
            "git commit --amend now.",
            "sudo apt install postgresql",
            "SELECT name FROM ferry WHERE port IN (1, 2);",
            "def fly(kite):\n    return kite.height",
            "for (int i = 0; i < 3; i++) {\n}",
            "#include <stdio.h>",
            "Port: 5432",
            "x = 1",
            "Name:\n  tern",
        ] {
            assert!(!prose(text), "{text}");
        }
    }
}

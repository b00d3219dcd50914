//! The order of letters: pages have them as they are seen, text as they are read.

use unicode_bidi::{BidiClass, BidiInfo, Level, bidi_class};

/// The direction of a letter; `None` for a character that has none of its own.
pub(super) fn runs_left(character: char) -> Option<bool> {
    match bidi_class(character) {
        BidiClass::R | BidiClass::AL => Some(true),
        BidiClass::L => Some(false),
        _ => None,
    }
}

/// The text of a line whose pieces are given from left to right; each piece, such as a letter with its marks, is in
/// reading order. `base` is the direction of the text around.
///
/// The order in which text is shown and that in which it is read are each other's mirror, so that the algorithm for
/// the one gives the other.
pub(super) fn reading_order(pieces: &[&str], base: Direction) -> String {
    // One character for each piece, so that marks stay with their letter.
    let shown: String = pieces.iter().map(|piece| leading(piece)).collect();
    let base = match base {
        Direction::Left => Level::rtl(),
        Direction::Right => Level::ltr(),
    };
    let info = BidiInfo::new(&shown, Some(base));
    let Some(paragraph) = info.paragraphs.first() else {
        return pieces.concat();
    };
    let levels = info.reordered_levels_per_char(paragraph, paragraph.range.clone());
    if levels.len() < pieces.len() {
        return pieces.concat();
    }
    let order = BidiInfo::reorder_visual(&levels[..pieces.len()]);
    let kept: String = order.iter().map(|&at| pieces[at]).collect();
    let turned: String = order
        .iter()
        .map(|&at| match levels[at].is_rtl() {
            true => mirrored(pieces[at]),
            false => pieces[at].to_owned(),
        })
        .collect();
    // Some programs write the bracket that is seen, some the one that is meant.
    if open_brackets(&kept) > open_brackets(&turned) {
        kept
    } else {
        turned
    }
}

/// Number of brackets that open before they close, less those that only close.
fn open_brackets(text: &str) -> i64 {
    let (mut open, mut count) = (0_i64, 0);
    for character in text.chars() {
        match character {
            '(' | '[' | '{' | '«' => open += 1,
            ')' | ']' | '}' | '»' if open > 0 => {
                open -= 1;
                count += 1;
            }
            ')' | ']' | '}' | '»' => count -= 1,
            _ => {}
        }
    }
    count
}

/// Where text begins to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// From right to left.
    Left,
    Right,
}

impl Direction {
    /// The direction of most letters.
    pub(super) fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let (mut left, mut right) = (0usize, 0usize);
        for character in texts.into_iter().flat_map(str::chars) {
            match runs_left(character) {
                Some(true) => left += 1,
                Some(false) => right += 1,
                None => {}
            }
        }
        if left > right { Self::Left } else { Self::Right }
    }
}

/// The character in place of a piece. A paragraph separator would end the line.
fn leading(piece: &str) -> char {
    let first = piece.chars().next().unwrap_or('\u{200b}');
    match bidi_class(first) {
        BidiClass::B => ' ',
        _ => first,
    }
}

/// A bracket that is shown turned round.
fn mirrored(piece: &str) -> String {
    piece
        .chars()
        .map(|character| match character {
            '(' => ')',
            ')' => '(',
            '[' => ']',
            ']' => '[',
            '{' => '}',
            '}' => '{',
            '<' => '>',
            '>' => '<',
            '«' => '»',
            '»' => '«',
            '‹' => '›',
            '›' => '‹',
            other => other,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_bidi::get_base_direction;

    use super::*;

    /// What a reader sees of `text`: its letters from left to right.
    fn shown(text: &str, base: Direction) -> Vec<String> {
        let level = match base {
            Direction::Left => Level::rtl(),
            Direction::Right => Level::ltr(),
        };
        let info = BidiInfo::new(text, Some(level));
        let paragraph = &info.paragraphs[0];
        let levels = info.reordered_levels_per_char(paragraph, paragraph.range.clone());
        let characters: Vec<char> = text.chars().collect();
        BidiInfo::reorder_visual(&levels)
            .into_iter()
            .map(|at| match levels[at].is_rtl() {
                true => mirrored(&characters[at].to_string()),
                false => characters[at].to_string(),
            })
            .collect()
    }

    fn read_back(text: &str, base: Direction) -> String {
        let shown = shown(text, base);
        let pieces: Vec<&str> = shown.iter().map(String::as_str).collect();
        reading_order(&pieces, base)
    }

    #[test]
    fn sentences_with_latin_words_numbers_and_brackets() {
        for text in [
            "דוח רבעוני",
            "שלום עולם and English מילה",
            "גרסה 3.14 של docsearch (ראו פרק 2)",
            "تقرير عام 2024 عن PostgreSQL",
            "50% מהדפים, 1,234 שורות",
        ] {
            assert_eq!(read_back(text, Direction::Left), text);
        }
        for text in ["The word שלום means peace.", "see (תקן ישראלי) there"] {
            assert_eq!(read_back(text, Direction::Right), text);
        }
    }

    #[test]
    fn brackets_may_be_written_as_they_are_meant() {
        let pieces: Vec<String> = ")דוח( הז".chars().map(String::from).collect();
        let meant: Vec<&str> = pieces.iter().map(String::as_str).collect();
        let seen: Vec<String> = pieces.iter().map(|piece| mirrored(piece)).collect();
        let seen: Vec<&str> = seen.iter().map(String::as_str).collect();
        assert_eq!(reading_order(&meant, Direction::Left), "זה (חוד)");
        assert_eq!(reading_order(&seen, Direction::Left), "זה (חוד)");
    }

    #[test]
    fn marks_stay_with_their_letter() {
        assert_eq!(reading_order(&["ם", "לֹו", "שָׁ"], Direction::Left), "שָׁלֹום");
        assert_eq!(reading_order(&["م", "لا", "س"], Direction::Left), "سلام");
    }

    #[test]
    fn most_letters_give_the_direction() {
        assert_eq!(Direction::of(["abc", "12"]), Direction::Right);
        assert_eq!(Direction::of(["דוח API"]), Direction::Right);
        assert_eq!(Direction::of(["דוחות API"]), Direction::Left);
        assert_eq!(get_base_direction("דוחות API"), unicode_bidi::Direction::Rtl);
    }

    proptest! {
        /// Words of one direction keep their letters whatever is beside them.
        #[test]
        fn words_are_never_reversed(words in prop::collection::vec("[א-ת]{2,6}|[ء-ي]{2,6}|[a-z]{2,6}|[1-9]{1,4}", 1..8)) {
            let text = words.join(" ");
            let base = Direction::of([text.as_str()]);
            let read = read_back(&text, base);
            for word in &words {
                prop_assert!(read.split(' ').any(|own| own == word), "{read:?} lacks {word:?}");
            }
        }

        #[test]
        fn text_of_one_direction_is_read_back(text in "[א-ת]{1,8}( [א-ת]{1,8}){0,5}") {
            prop_assert_eq!(read_back(&text, Direction::Left), text);
        }
    }
}

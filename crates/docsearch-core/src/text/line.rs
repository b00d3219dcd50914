//! Text of documents within a line.

use unicode_segmentation::UnicodeSegmentation;

/// The text on one line. White space is folded. Control characters, and invisible characters that reorder or hide
/// text, are dropped, and so are lines that only open or close a code block.
pub(crate) fn one_line(text: &str) -> String {
    folded(text.split(is_line_break).filter(|source| !is_fence(source)))
}

/// The same for a name, which has no code blocks.
pub(crate) fn name_in_one_line(name: &str) -> String {
    folded(name.split(is_line_break))
}

fn folded<'a>(sources: impl Iterator<Item = &'a str>) -> String {
    let mut line = String::new();
    for source in sources {
        let mut pending = !line.is_empty();
        for c in source.chars() {
            if c.is_whitespace() {
                pending = !line.is_empty();
            } else if !is_hidden(c) {
                if pending {
                    line.push(' ');
                    pending = false;
                }
                line.push(c);
            }
        }
    }
    line
}

fn is_line_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether a line is the fence of a code block, with or without its language.
fn is_fence(line: &str) -> bool {
    let line = line.trim();
    ["```", "~~~"].iter().any(|fence| {
        line.strip_prefix(fence)
            .is_some_and(|info| !info.contains(char::is_whitespace) && !info.contains(['`', '~']))
    })
}

/// Control characters, directional overrides and isolates, and tags: readers do not see them. Joiners stay, since
/// several scripts need them.
pub(crate) fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
                | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
        )
}

/// The text, or its beginning and `…`, in at most `max_chars` characters. It ends after a word. Only a single longer
/// word is cut.
pub(crate) fn clip(text: &str, max_chars: usize) -> String {
    if text.char_indices().nth(max_chars).is_none() {
        return text.to_owned();
    }
    let Some(room) = max_chars.checked_sub(1) else {
        return String::new();
    };
    let mut end = longest(text, text.split_word_bounds(), room);
    // Names such as `std::vector` have word boundaries inside. White space is better if it is not far.
    let space = text[..end].rfind(char::is_whitespace).unwrap_or(0);
    let inside = !text[end..].starts_with(char::is_whitespace) && !text[..end].ends_with(char::is_whitespace);
    if inside && 2 * space > end {
        end = space;
    }
    if text[..end].trim().is_empty() {
        end = longest(text, text.graphemes(true), room);
    }
    format!("{}…", text[..end].trim_end())
}

/// Bytes of the longest run of whole pieces within `room` characters.
fn longest<'a>(text: &'a str, pieces: impl Iterator<Item = &'a str>, room: usize) -> usize {
    let limit = text.char_indices().nth(room).map_or(text.len(), |(at, _)| at);
    let mut end = 0;
    for piece in pieces {
        if end + piece.len() > limit {
            break;
        }
        end += piece.len();
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_line_holds_no_structure() {
        assert_eq!(one_line(" a\r\n\tb\u{2028}c\u{1b}[31m\u{202e}d "), "a b c[31md");
        assert_eq!(one_line("Call it:\n```swift\nlet x = 1\n```\n"), "Call it: let x = 1");
    }

    #[test]
    fn cut_text_ends_after_a_word() {
        assert_eq!(clip("one two three", 13), "one two three");
        assert_eq!(clip("one two three", 12), "one two…");
        assert_eq!(clip("the std::vector", 11), "the std::…");
        assert_eq!(clip("a UITableView", 8), "a…");
        assert_eq!(clip("UITableView", 4), "UIT…");
        assert_eq!(clip("東京都の天気予報", 5), "東京都の…");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        #[test]
        fn a_cut_line_keeps_its_length(text in "\\PC{0,60}|[\\s\\S]{0,60}", max in 0usize..70) {
            let line = one_line(&text);
            prop_assert!(!line.contains(char::is_control));
            prop_assert!(line.split(' ').all(|word| !word.contains(char::is_whitespace)));
            let shown = clip(&line, max);
            prop_assert!(shown.chars().count() <= max);
            prop_assert!(shown == line || line.starts_with(shown.trim_end_matches('…')));
        }
    }
}

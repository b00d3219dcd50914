//! Bounds of messages.

use std::borrow::Cow;

/// Longest message, in characters.
pub const MAX_MESSAGE_CHARS: usize = 2_000;
/// Characters at the end of a longer message that stay: they say what is wrong with the input.
const END_CHARS: usize = 200;

/// A message without its middle if it is longer than [`MAX_MESSAGE_CHARS`]: input of a caller is not sent back whole,
/// and does not fill the log.
pub fn bounded(text: &str) -> Cow<'_, str> {
    if text.char_indices().nth(MAX_MESSAGE_CHARS).is_none() {
        return Cow::Borrowed(text);
    }
    let end = |chars: usize| text.char_indices().nth(chars).map_or(text.len(), |(end, _)| end);
    let start_of_end = text
        .char_indices()
        .rev()
        .nth(END_CHARS - 1)
        .map_or(0, |(start, _)| start);
    let start = &text[..end(MAX_MESSAGE_CHARS - END_CHARS - 1)];
    Cow::Owned(format!("{start}…{}", &text[start_of_end..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_long_message_keeps_its_ends() {
        let message = format!("document \"{}\" does not exist", "ä".repeat(100_000));
        let shown = bounded(&message);
        assert!(shown.starts_with("document \"ää") && shown.ends_with("ää\" does not exist"));
        assert_eq!(shown.chars().count(), MAX_MESSAGE_CHARS);
        assert_eq!(bounded("short"), "short");
    }

    proptest! {
        #[test]
        fn messages_are_bounded(text in ".{0,4000}") {
            let shown = bounded(&text);
            prop_assert!(shown.chars().count() <= MAX_MESSAGE_CHARS);
            prop_assert_eq!(text.chars().count() <= MAX_MESSAGE_CHARS, shown == text);
        }
    }
}

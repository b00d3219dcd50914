//! Makes untrusted text safe to show on a terminal: no control sequences, and no hidden or reordered characters.

pub(crate) mod report;
pub(crate) mod table;
mod tally;

use std::fmt::Write;
use std::io::{self, ErrorKind, IsTerminal, Write as _};

use crate::process::error::Error;
pub(crate) use tally::Tally;

/// Writes to standard output. A reader that has closed the pipe is not a failure.
pub(crate) fn write(text: &str) -> Result<(), Error> {
    let mut output = io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Error::file("standard output")(error)),
        _ => Ok(()),
    }
}

/// Prints untrusted text. In a pipe it is not changed.
pub(crate) fn print(text: &str) -> Result<(), Error> {
    match io::stdout().is_terminal() {
        true => write(&sanitize_document(text)),
        false => write(text),
    }
}

/// A line with names of files or messages of the database. Control and hidden characters become escapes.
pub(crate) fn sanitize_line(text: &str) -> String {
    escaped(text, |character, output| match character {
        '\n' => output.push('\n'),
        _ => output.extend(character.escape_default()),
    })
}

/// A document: drops control characters, and escapes hidden ones.
pub(crate) fn sanitize_document(text: &str) -> String {
    escaped(text, |character, output| match character {
        '\n' | '\t' => output.push(character),
        _ if character.is_control() => {}
        _ => output.extend(character.escape_default()),
    })
}

/// JSON with the same value: control and hidden characters become escapes.
pub(crate) fn sanitize_json(text: &str) -> String {
    escaped(text, |character, output| match character {
        '\n' | '\t' => output.push(character),
        _ => {
            for unit in character.encode_utf16(&mut [0; 2]) {
                // Writing to a String cannot fail.
                let _ = write!(output, "\\u{unit:04x}");
            }
        }
    })
}

/// The text, with `escape` for control and hidden characters.
fn escaped(text: &str, escape: impl Fn(char, &mut String)) -> String {
    let mut output = String::with_capacity(text.len());
    let mut before = '\n';
    for character in text.chars() {
        match character.is_control() || is_hidden(character, before) {
            true => escape(character, &mut output),
            false => output.push(character),
        }
        before = character;
    }
    output
}

/// Directional overrides and isolates, characters without width, and line separators. A joiner is allowed after a
/// letter or sign of the scripts that need it.
fn is_hidden(character: char, before: char) -> bool {
    match character {
        '\u{200c}' | '\u{200d}' => before.is_ascii() || is_invisible(before),
        _ => is_invisible(character),
    }
}

fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{17b4}'
            | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(
            sanitize_line("skipped: a\u{1b}[2Jb.md: é\nHINT\r"),
            "skipped: a\\u{1b}[2Jb.md: é\nHINT\\r"
        );
    }

    #[test]
    fn documents_cannot_send_commands_to_the_terminal() {
        assert_eq!(sanitize_document("a\u{1b}[2Jb\r\n\tc\u{9b}d"), "a[2Jb\n\tcd");
    }

    #[test]
    fn hidden_characters_are_escaped() {
        for (text, seen) in [
            ("user\u{202e}cod.exe", "user\\u{202e}cod.exe"),
            ("\u{2066}admin\u{2069}", "\\u{2066}admin\\u{2069}"),
            ("\u{200b}", "\\u{200b}"),
            ("kit\u{200d}/a\u{200c}b", "kit\\u{200d}/a\\u{200c}b"),
            ("b\u{ad}utton\u{feff}", "b\\u{ad}utton\\u{feff}"),
            ("a\u{2028}b", "a\\u{2028}b"),
            ("x\u{e0041}", "x\\u{e0041}"),
            ("نمی\u{200c}\u{200c}", "نمی\u{200c}\\u{200c}"),
        ] {
            assert_eq!(sanitize_line(text), seen);
            assert_eq!(sanitize_document(text), seen);
        }
    }

    #[test]
    fn joiners_of_scripts_and_emoji_are_kept() {
        for text in [
            "نمی\u{200c}خواهم",
            "क्\u{200d}ष",
            "👩\u{200d}🚀",
            "❤\u{fe0f}\u{200d}🔥",
            "日本語, ελληνικά, עברית",
        ] {
            assert_eq!(sanitize_line(text), text);
            assert_eq!(sanitize_document(text), text);
        }
    }

    #[test]
    fn json_keeps_its_value() {
        let value = serde_json::json!({"slug": "a\u{202e}b\u{9b}\u{7f}", "title": "\u{e0041}\u{1b}é"});
        let text = serde_json::to_string_pretty(&value).unwrap();
        let seen = sanitize_json(&text);
        assert!(
            seen.contains("a\\u202eb\\u009b\\u007f") && seen.contains("\\udb40\\udc41\\u001bé"),
            "{seen}"
        );
        assert_eq!(serde_json::from_str::<serde_json::Value>(&seen).unwrap(), value);
    }
}

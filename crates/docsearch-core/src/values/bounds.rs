//! Bounds of input, and characters that names may have.
//!
//! Constraints of the tables have the same bounds (`sql/schema/0008.sql`), since a role that may write documents may
//! also write rows.

use std::ops::RangeInclusive;

use serde_json::Value;
use strsim::jaro_winkler;

/// Longest slug, in bytes.
pub const SLUG_BYTES: usize = 1024;
/// Longest category, in bytes.
pub const CATEGORY_BYTES: usize = 1024;
/// Most levels of a category.
pub const CATEGORY_LEVELS: usize = 32;
/// Longest kind, version, source root and source of questions, in bytes.
pub const LABEL_BYTES: usize = 1024;
/// Longest path of a source, in bytes.
pub const PATH_BYTES: usize = 4096;
/// Longest title and summary; all keywords, and all addresses of the source, together. In bytes.
pub const TEXT_BYTES: usize = 64 * 1024;
/// Most keywords, and most addresses of the source.
pub const LIST_LENGTH: usize = 1000;
/// Longest body, in bytes.
pub const BODY_BYTES: usize = 32 * 1024 * 1024;
/// Largest metadata as text, in bytes.
pub const METADATA_BYTES: usize = 1024 * 1024;
/// Most further fragments of a document.
pub const ANCHORS: usize = 20_000;
/// All further fragments as text, in bytes.
pub const ANCHORS_BYTES: usize = 2 * 1024 * 1024;
/// Most pages that a document groups.
pub const GROUPED_PAGES: usize = 1_000;
/// Largest stored data of these pages together, in bytes.
pub const GROUPED_PAGES_BYTES: usize = 512 * 1024;
/// Longest name of a file or directory, in bytes: the limit of file systems.
pub const DIRECTORY_BYTES: usize = 255;
/// Most levels of values below an object.
pub const JSON_LEVELS: usize = 64;
/// Greatest absolute value of a number in an object.
pub const JSON_NUMBER: f64 = 1e308;

/// Weights of pages, key `boost` of their metadata. Others are set to the nearer bound.
pub const PAGE_BOOST: RangeInclusive<f32> = 0.5..=2.0;

/// Longest text argument that is no text of a document, in bytes.
pub const ARGUMENT_BYTES: usize = 1024 * 1024;
/// Largest `jsonb` argument, in stored bytes: up to eight times its text.
pub const JSON_BYTES: usize = 8 * METADATA_BYTES;
/// Largest list of documents or texts in a call, in bytes.
pub const CALL_BYTES: usize = 2 * BODY_BYTES;
/// Most elements of such a list.
pub const CALL_ELEMENTS: usize = 100_000;
/// Most slugs to keep: the most documents that a source may have.
pub const STORED_ELEMENTS: usize = 1_000_000;

/// Most names that a message offers instead of a wrong one.
const SHOWN_NEAREST: usize = 5;
/// Characters of a name that a message repeats.
const SHOWN_CHARS: usize = 80;

/// Whether readers see a name as it is: it has no control characters, and nothing invisible or that changes the
/// direction of text.
///
/// Persian, Indic languages and emoji need joiners, so these are accepted between two characters beyond ASCII.
pub fn is_plain(name: &str) -> bool {
    letters(name).all(|(_, is_shown)| is_shown)
}

/// A text without what [`is_plain`] refuses. Control characters and line separators become blanks, the rest is left
/// out.
pub fn without_hidden(text: &str) -> String {
    let shown = letters(text).filter_map(|(letter, is_shown)| match letter {
        _ if is_shown => Some(letter),
        '\u{2028}' | '\u{2029}' => Some(' '),
        _ => letter.is_control().then_some(' '),
    });
    shown.collect()
}

/// The letters of a text, and whether readers see each as it is.
fn letters(text: &str) -> impl Iterator<Item = (char, bool)> {
    let is_beyond = |near: char| !near.is_ascii() && !near.is_whitespace() && !is_hidden(near);
    let mut before = None;
    let mut rest = text.chars().peekable();
    std::iter::from_fn(move || {
        let letter = rest.next()?;
        let after = rest.peek().copied();
        let joins = is_joiner(letter) && before.is_some_and(is_beyond) && after.is_some_and(is_beyond);
        before = Some(letter);
        Some((letter, !is_hidden(letter) || joins))
    })
}

/// Whether a name is that of a directory directly below another: one plain file name that does not begin with a dot.
pub fn is_directory_name(name: &str) -> bool {
    (1..=DIRECTORY_BYTES).contains(&name.len())
        && !name.starts_with('.')
        && !name.contains(['/', '\\'])
        && is_plain(name)
}

/// A title that cannot reorder or end its line: embeddings, overrides and isolates of bidirectional text are left
/// out, control characters and line separators become blanks.
pub fn title_in_one_line(title: &str) -> String {
    title
        .chars()
        .filter(|letter| !matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'))
        .map(|letter| match letter {
            '\u{2028}' | '\u{2029}' => ' ',
            _ if letter.is_control() => ' ',
            _ => letter,
        })
        .collect()
}

fn is_joiner(letter: char) -> bool {
    matches!(letter, '\u{200c}' | '\u{200d}')
}

/// The general categories Cc, Cf, Zl and Zp of Unicode, and the fillers of Hangul, which are blank.
fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}'
            | '\u{8e2}' | '\u{115f}'..='\u{1160}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0001}' | '\u{e0020}'..='\u{e007f}')
}

/// Names for a message: the given ones, and the number of the rest of `all`: `a, b and 3 more`.
pub fn listed(names: &[impl AsRef<str>], all: usize) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match all.saturating_sub(names.len()) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

/// A number of things, in words.
pub fn counted(number: i64, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

/// Names for a message, the most similar to a wrong one first.
pub fn nearest<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names: Vec<&str> = names.into_iter().collect();
    let wrong: String = wrong.chars().take(SHOWN_CHARS).flat_map(char::to_lowercase).collect();
    let likeness = |name: &str| jaro_winkler(&wrong, name);
    names.sort_by(|a, b| likeness(b).total_cmp(&likeness(a)).then(a.cmp(b)));
    let all = names.len();
    names.truncate(SHOWN_NEAREST);
    listed(&names, all)
}

/// The beginning of a name for a message, with its hidden characters escaped.
pub fn shown(name: &str) -> String {
    let mut shown = String::new();
    for letter in name.chars().take(SHOWN_CHARS) {
        if is_hidden(letter) {
            shown.extend(letter.escape_unicode());
        } else {
            shown.push(letter);
        }
    }
    if name.chars().nth(SHOWN_CHARS).is_some() {
        shown.push('…');
    }
    shown
}

/// The beginning of a text, of at most `bytes` bytes.
pub fn beginning(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// Why a JSON value cannot be stored. `None` if it can.
pub fn json_problem(value: &Value) -> Option<String> {
    if levels(value) > JSON_LEVELS {
        return Some(format!("nested more than {JSON_LEVELS} levels deep"));
    }
    has_large_number(value).then(|| format!("holding a number beyond {JSON_NUMBER:e}"))
}

/// Levels below a value. The parser bounds them, so recursion is safe.
fn levels(value: &Value) -> usize {
    let below = |values: &mut dyn Iterator<Item = &Value>| values.map(levels).max().map_or(0, |most| most + 1);
    match value {
        Value::Array(values) => below(&mut values.iter()),
        Value::Object(map) => below(&mut map.values()),
        _ => 0,
    }
}

fn has_large_number(value: &Value) -> bool {
    match value {
        Value::Array(values) => values.iter().any(has_large_number),
        Value::Object(map) => map.values().any(has_large_number),
        Value::Number(number) => number.as_f64().is_none_or(|number| number.abs() > JSON_NUMBER),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn names_that_deceive_are_not_plain() {
        for name in [
            "\u{200b}",
            "ad\u{200b}min",
            "ad\u{200d}min",
            "\u{200d}कर",
            "guide\u{202e}txt.exe",
            "a\u{2066}b\u{2069}",
            "a\tb",
            "a\u{0}b",
            "a\u{85}b",
            "a\u{2028}b",
            "soft\u{ad}hyphen",
            "\u{feff}begin",
            "\u{3164}",
            "tag\u{e0041}",
        ] {
            assert!(!is_plain(name), "{name:?}");
        }
    }

    #[test]
    fn names_of_all_languages_are_plain() {
        for name in [
            "guides/install",
            "",
            "نمی\u{200c}خواهم",
            "क्\u{200d}ष",
            "👩\u{200d}💻/tools",
            "Größe und Maß",
            "日本語/ガイド",
            "עברית",
            "❤\u{fe0f}",
            "e\u{301}",
        ] {
            assert!(is_plain(name), "{name:?}");
        }
    }

    #[test]
    fn a_directory_name_is_one_plain_name() {
        for name in [
            "all-MiniLM-L6-v2",
            "a",
            "model 2",
            "Größe",
            "a..b",
            "a.",
            "~",
            "C:",
            "-rf",
            "$HOME",
        ] {
            assert!(is_directory_name(name), "{name:?}");
        }
        assert!(is_directory_name(&"é".repeat(127)));
        for name in [
            "",
            ".",
            "..",
            "...",
            ".hidden",
            "/",
            "/etc",
            "//etc",
            "../x",
            "./x",
            "a/b",
            "a/",
            "a/../../etc",
            "a\\b",
            "..\\x",
            "\\\\host\\share",
            "a\nb",
            "a\u{0}b",
            "a\u{7f}",
            "a\u{202e}b",
        ] {
            assert!(!is_directory_name(name), "{name:?}");
        }
        assert!(!is_directory_name(&"é".repeat(128)));
    }

    #[test]
    fn a_title_stays_in_its_line() {
        assert_eq!(
            title_in_one_line("a\u{202e}b\u{2067}c\u{2069}\nd\u{2028}e\u{1b}[2J"),
            "abc d e [2J"
        );
        assert_eq!(
            title_in_one_line("نمی\u{200c}خواهم 👩\u{200d}💻"),
            "نمی\u{200c}خواهم 👩\u{200d}💻"
        );
    }

    #[test]
    fn a_message_shows_what_is_hidden() {
        assert_eq!(shown("a\u{202e}b\n"), r"a\u{202e}b\u{a}");
        assert_eq!(shown(&"é".repeat(200)), "é".repeat(SHOWN_CHARS) + "…");
    }

    #[test]
    fn objects_are_bounded_in_depth_and_numbers() {
        let nested = |levels: usize| (0..levels).fold(json!(1), |value, _| json!({ "a": [value] }));
        assert_eq!(json_problem(&nested(JSON_LEVELS / 2)), None);
        assert!(json_problem(&nested(JSON_LEVELS / 2 + 1)).is_some());
        assert_eq!(json_problem(&json!({"a": [1e308, -1e308, 0, u64::MAX]})), None);
        assert!(json_problem(&json!({"a": [1.5e308]})).is_some());
    }

    #[test]
    fn the_nearest_names_are_offered_first() {
        let names = [
            "bm25_b",
            "boost_phrase",
            "candidates",
            "max_boost",
            "part_weight",
            "vectors",
            "weight_title",
        ];
        assert!(nearest("candidate", names).starts_with("candidates, "));
        assert!(nearest("weight_titel", names).starts_with("weight_title, "));
        assert!(nearest("", names).ends_with(" and 2 more"));
    }

    proptest! {
        #[test]
        fn what_hides_is_left_out_and_nothing_else(text in "(\\PC|[ -~]|[\u{200b}-\u{202e}\u{ad}\u{3164}\u{feff}\n]){0,30}") {
            let shown = without_hidden(&text);
            prop_assert!(is_plain(&shown), "{:?}", shown);
            prop_assert_eq!(without_hidden(&shown), shown.clone());
            if is_plain(&text) {
                prop_assert_eq!(shown, text);
            }
        }

        #[test]
        fn what_is_plain_has_no_format_characters(name in "\\PC*") {
            // `\PC` leaves out category C, which regex-syntax has from the tables of Unicode.
            let others = ['\u{115f}', '\u{1160}', '\u{3164}', '\u{ffa0}', '\u{2028}', '\u{2029}'];
            let plain = is_plain(&name) || name.contains(others);
            prop_assert!(plain, "{:?}", name);
        }

        #[test]
        fn format_characters_are_never_plain(name in "[a-z]{0,3}[\\p{Cf}\\p{Cc}\\p{Zl}\\p{Zp}][a-z]{0,3}") {
            prop_assert!(!is_plain(&name));
        }

        #[test]
        fn a_directory_name_leads_one_level_down(name in "[./\\\\a\\x00-\\x20~é]{0,6}") {
            use std::path::{Component, Path};
            if is_directory_name(&name) {
                let below = Path::new("/base").join(&name);
                let steps: Vec<Component<'_>> = below.components().skip(2).collect();
                prop_assert_eq!(steps, [Component::Normal(name.as_ref())]);
            }
        }

        #[test]
        fn the_beginning_is_one(text in ".*", bytes in 0usize..40) {
            let start = beginning(&text, bytes);
            prop_assert!(text.starts_with(start) && start.len() <= bytes);
        }
    }
}

//! Names of code, quoted phrases and excluded words, by their form in a query.

use serde::{Deserialize, Serialize};

use crate::text::identifier::{self, is_identifier};
use crate::text::token::qualified_segments;

/// A name of code in a query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identifier {
    /// As written, without quotation marks and punctuation around it.
    pub text: String,
    /// The last part, without arguments: `failure` of `AsyncImagePhase.failure`, `frame` of
    /// `frame(width:height:)`.
    pub name: String,
    /// The part before it: `vector` of `std::vector::push_back`.
    pub parent: Option<String>,
    /// The words of `name`.
    pub words: Vec<String>,
}

/// Separators of qualified names, longest first.
const QUALIFIERS: [&str; 5] = ["::", "->", ".", "#", "/"];

impl Identifier {
    /// Its qualifiers, longest first: `datetime.date` and `datetime` of `datetime.date.today`.
    pub fn qualifiers(&self) -> impl Iterator<Item = &str> {
        let end = self.text.find(['(', '<', '[']).unwrap_or(self.text.len());
        let segments = qualified_segments(&self.text[..end]);
        segments
            .into_iter()
            .rev()
            .skip(1)
            .map(|segment| &self.text[..segment.end])
            .filter(|qualifier| !qualifier.is_empty())
    }

    /// Parses a word of a query. `None` if it is no name of code: a number, a version, an address or an ordinary
    /// word.
    pub fn read(word: &str) -> Option<Self> {
        let text = word
            .trim_matches(['"', '\'', '`', '“', '”', '‘', '’', ',', ';', '?', '!'])
            .trim_end_matches(['.', ':']);
        let text = match text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) {
            Some(inside) => inside,
            None if text.ends_with(')') && !text.contains('(') => text.trim_end_matches(')'),
            None => text.trim_start_matches('('),
        };
        let address = text.contains("://") || text.starts_with("www.");
        if address || !text.contains(char::is_alphabetic) || is_abbreviation(text) || is_version(text) {
            return None;
        }
        let marked = text.starts_with(['@', '$']) || text.starts_with("--");
        let qualified = text.contains("->") || text.contains("::");
        if !(marked || qualified || is_identifier(text) || matches!(text, "C++" | "C#" | "F#")) {
            return None;
        }
        let path = text.split('(').next().unwrap_or(text).trim_start_matches('.');
        let mut parts: Vec<&str> = vec![path];
        for qualifier in QUALIFIERS {
            parts = parts.into_iter().flat_map(|part| part.split(qualifier)).collect();
        }
        parts.retain(|part| !part.is_empty());
        let name = parts.pop()?;
        Some(Self {
            text: text.to_owned(),
            words: identifier::words(name)
                .into_iter()
                .map(|range| name[range].to_owned())
                .collect(),
            name: name.to_owned(),
            parent: parts.pop().map(str::to_owned),
        })
    }
}

/// `e.g.`, `U.S`: single letters with dots.
fn is_abbreviation(text: &str) -> bool {
    text.contains('.') && text.split('.').all(|part| part.chars().count() <= 1)
}

/// `v2.0`, `3.11rc1`, `2nd`: names do not begin with a digit.
fn is_version(text: &str) -> bool {
    let digits = text.strip_prefix(['v', 'V']).unwrap_or(text);
    digits.starts_with(|c: char| c.is_ascii_digit())
}

/// Names of code in a query, in order, each once.
pub fn identifiers(text: &str) -> Vec<Identifier> {
    let mut found: Vec<Identifier> = Vec::new();
    for identifier in text
        .split_whitespace()
        .filter(|word| !word.starts_with('<'))
        .filter_map(Identifier::read)
    {
        if !found.contains(&identifier) {
            found.push(identifier);
        }
    }
    found
}

/// Texts between double quotation marks, trimmed, unless a dash excludes them.
pub fn quoted_phrases(text: &str) -> Vec<String> {
    let marks: Vec<usize> = text.match_indices(['"', '“', '”']).map(|(at, _)| at).collect();
    marks
        .chunks_exact(2)
        .filter(|pair| !text[..pair[0]].ends_with(DASHES))
        .filter_map(|pair| {
            let inside = text[pair[0]..pair[1]].trim_start_matches(['"', '“', '”']).trim();
            inside.contains(char::is_alphanumeric).then(|| inside.to_owned())
        })
        .collect()
}

/// Dashes before an excluded word: keyboards of phones type others.
const DASHES: [char; 6] = ['-', '‐', '‑', '–', '—', '−'];

/// Fewest characters of an excluded word that `is_known` need not know: options are shorter.
const MIN_EXCLUDED_CHARS: usize = 4;

/// Marks around a phrase.
const PHRASE_MARKS: [char; 3] = ['"', '“', '”'];
/// Marks around a word or phrase.
const WORD_MARKS: [char; 5] = ['"', '“', '”', '\'', '`'];

/// Words of a query with a dash before them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exclusion {
    /// Words, names of code, versions and quoted phrases that a result must not have.
    pub excluded: Vec<String>,
    /// Words with a dash that are options of a command, as written.
    pub options: Vec<String>,
}

impl Exclusion {
    /// Parses `-word` beside another word. Options look the same. So a query with signs of a command (paths, pipes,
    /// `--flag`, `-x`) excludes nothing, and short words without quotation marks have to be known.
    pub fn read(text: &str, is_known: impl Fn(&str) -> bool) -> Self {
        let (dashed, others): (Vec<&str>, Vec<&str>) = words_and_phrases(text).partition(|word| is_dashed(word));
        let is_mark = |word: &str| {
            matches!(word, "|" | "." | "&&" | ";" | ">" | "<")
                || word.starts_with(['/', '~', '$'])
                || word.starts_with("--")
        };
        let is_command = others.iter().copied().any(is_mark);
        let excluded = dashed.iter().map(|dashed| {
            let word = undashed(dashed)?;
            let long = word.chars().count() >= MIN_EXCLUDED_CHARS;
            let excludes = is_quoted(dashed) || is_number(word) || long || is_known(&word.to_lowercase());
            excludes.then(|| word.to_owned())
        });
        match excluded.collect::<Option<Vec<String>>>() {
            Some(excluded) if !others.is_empty() && !is_command => Self {
                excluded,
                options: Vec::new(),
            },
            _ => Self {
                excluded: Vec::new(),
                options: dashed.into_iter().map(str::to_owned).collect(),
            },
        }
    }
}

/// Whether each word of a text has a dash before it and is quoted or too long for an option.
pub(crate) fn excludes_only(text: &str) -> bool {
    words_and_phrases(text).all(|dashed| {
        let is_long =
            || undashed(dashed).is_some_and(|word| word.chars().count() >= MIN_EXCLUDED_CHARS || is_number(word));
        is_dashed(dashed) && (is_quoted(dashed) || is_long())
    })
}

/// The words of a text. A quotation after a dash is one word.
pub(crate) fn words_and_phrases(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text.trim_start();
    std::iter::from_fn(move || {
        let quoted = rest
            .strip_prefix(DASHES)
            .and_then(|quoted| quoted.strip_prefix(PHRASE_MARKS));
        let closes = quoted.and_then(|quoted| {
            let (at, mark) = quoted.match_indices(PHRASE_MARKS).next()?;
            Some(rest.len() - quoted.len() + at + mark.len())
        });
        let end = rest[closes.unwrap_or_default()..].find(char::is_whitespace);
        let end = end.map_or(rest.len(), |end| closes.unwrap_or_default() + end);
        let (word, after) = rest.split_at(end);
        rest = after.trim_start();
        (!word.is_empty()).then_some(word)
    })
}

/// The text after the dash of a word, without quotation marks around it and punctuation after it. `None` without a
/// dash.
pub(crate) fn undashed(word: &str) -> Option<&str> {
    let word = word.strip_prefix(DASHES)?;
    let word = word
        .trim_end_matches(['?', '!', ',', ';', ':', '.'])
        .trim_matches(WORD_MARKS);
    Some(word.trim_end_matches("()"))
}

/// Whether a text may be excluded by the dash before it.
fn is_dashed(text: &str) -> bool {
    undashed(text).is_some_and(|inside| {
        let quoted = is_quoted(text) && inside.contains(char::is_alphanumeric);
        quoted || is_word(inside) || is_number(inside)
    })
}

/// Whether quotation marks follow the dash.
fn is_quoted(dashed: &str) -> bool {
    dashed
        .strip_prefix(DASHES)
        .is_some_and(|text| text.starts_with(WORD_MARKS))
}

/// Whether a text is one word of letters and digits, a name of code, or an option with two dashes.
fn is_word(text: &str) -> bool {
    let name = text.strip_prefix("--").or(text.strip_prefix('@')).unwrap_or(text);
    name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ':' | '+' | '#'))
}

/// Whether a text is a version number: `3.0`, `2.x`.
fn is_number(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.contains('.')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_qualified_name_has_qualifiers() {
        let of = |text: &str| -> Vec<String> {
            let identifier = Identifier::read(text).expect("a name of code");
            identifier.qualifiers().map(str::to_owned).collect()
        };
        assert_eq!(of("datetime.date.today()"), ["datetime.date", "datetime"]);
        assert_eq!(of("std::vector::push_back"), ["std::vector", "std"]);
        assert_eq!(of("push_back(x.y)"), Vec::<String>::new());
    }

    #[test]
    fn names_of_code_have_many_forms() {
        for (word, parent, name) in [
            ("UITableView", None, "UITableView"),
            ("work_mem", None, "work_mem"),
            ("AsyncImagePhase.failure", Some("AsyncImagePhase"), "failure"),
            ("std::vector::push_back", Some("vector"), "push_back"),
            ("conn->status", Some("conn"), "status"),
            ("frame(width:height:)", None, "frame"),
            ("os.replace()", Some("os"), "replace"),
            ("`map_batches`?", None, "map_batches"),
            ("(UIView)", None, "UIView"),
            ("@State", None, "@State"),
            ("--long-flag", None, "--long-flag"),
            ("C++", None, "C++"),
        ] {
            let found = Identifier::read(word).unwrap_or_else(|| panic!("{word}"));
            assert_eq!((found.parent.as_deref(), found.name.as_str()), (parent, name), "{word}");
        }
        for word in [
            "Button",
            "HTTP",
            "well-known",
            "e.g.",
            "3.11",
            "v2.0",
            "https://a.b/c",
            "end.",
            "@>",
            "2nd",
        ] {
            assert_eq!(Identifier::read(word), None, "{word}");
        }
    }

    #[test]
    fn words_with_a_dash_are_excluded() {
        let excluded = |text| Exclusion::read(text, |word| word == "ios").excluded;
        assert_eq!(excluded("button style -deprecated"), ["deprecated"]);
        assert_eq!(excluded("timeout -http"), ["http"]);
        assert_eq!(excluded("alert -ios -legacy"), ["ios", "legacy"]);
        assert_eq!(excluded("cache -redis backend"), ["redis"]);
        assert_eq!(excluded("view -class-based"), ["class-based"]);
        assert_eq!(excluded("-redis cache backend"), ["redis"]);
        assert_eq!(excluded("how do sessions work -cookie?"), ["cookie"]);
        assert_eq!(excluded("locks -advisory, explained"), ["advisory"]);
        assert_eq!(excluded("vacuum -\"autovacuum\""), ["autovacuum"]);
        assert_eq!(excluded("timeout –http"), ["http"]);
        assert_eq!(excluded("timeout -'http'"), ["http"]);
        assert_eq!(excluded("lock -\"advisory lock\" table"), ["advisory lock"]);
        assert_eq!(excluded("lock –“advisory lock”, table"), ["advisory lock"]);
        assert_eq!(excluded("map -\"foo\""), ["foo"]);
        assert_eq!(excluded("release notes -3.0 -v2.1"), ["3.0", "v2.1"]);
        assert_eq!(excluded("cookie -get_secure_cookie()"), ["get_secure_cookie"]);
        assert_eq!(
            excluded("cookie -__init__ -std::vector -@State"),
            ["__init__", "std::vector", "@State"]
        );
        assert_eq!(excluded("push ---force -\"--tags\""), ["--force", "--tags"]);
    }

    #[test]
    fn options_are_not_excluded_and_reported() {
        let read = |text| Exclusion::read(text, |word| word == "ios");
        for (command, options) in [
            ("tar -xzf", vec!["-xzf"]),
            ("tar -xzf archive.tar", vec!["-xzf"]),
            ("rm -rf", vec!["-rf"]),
            ("ls folder -lah", vec!["-lah"]),
            ("find . -name", vec!["-name"]),
            ("git log --oneline", vec![]),
            ("git rebase -i branch", vec!["-i"]),
            ("git rebase -i -quiet", vec!["-i", "-quiet"]),
            ("-deprecated", vec!["-deprecated"]),
            ("well-known words", vec![]),
            ("a - b", vec![]),
            ("x -1 y", vec![]),
            ("snake_case -", vec![]),
            ("git push -\"advisory lock\" --force", vec!["-\"advisory lock\""]),
            ("lock -\"!\" table", vec![]),
        ] {
            let found = read(command);
            assert!(found.excluded.is_empty(), "{command}");
            assert_eq!(found.options, options, "{command}");
        }
    }

    #[test]
    fn quotation_marks_make_phrases() {
        assert_eq!(
            quoted_phrases("find \"row level security\" and “full text”"),
            ["row level security", "full text"]
        );
        assert!(quoted_phrases("an \"open end").is_empty());
        assert!(quoted_phrases("lock -\"advisory lock\"").is_empty());
        assert!(quoted_phrases("\"\" \"!\"").is_empty());
    }
}

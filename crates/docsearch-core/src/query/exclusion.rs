//! Finds excluded words in texts.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation;

/// Signs around the blanks between two words of a phrase: markup and quotation marks.
const BETWEEN_WORDS: [char; 11] = ['*', '`', '"', '\'', '(', ')', '[', ']', '>', '“', '”'];

/// A word, name of code, version or phrase that a result must not have. Case does not matter.
#[derive(Clone, Debug)]
pub struct ExcludedText {
    words: Vec<String>,
}

impl ExcludedText {
    /// Prepares an excluded text. A blank one is in no text.
    pub fn new(excluded: &str) -> Self {
        let folded = folded(excluded);
        let words = folded.split_whitespace().map(|word| word.trim_matches(BETWEEN_WORDS));
        Self {
            words: words.filter(|word| !word.is_empty()).map(str::to_owned).collect(),
        }
    }

    /// Whether a text has it as a whole: `TextLayout` does not have `text`, nor `3.0.1` `3.0`. Qualified names have
    /// their parts: `asyncio.run` has `run`.
    pub fn is_in(&self, text: &str) -> bool {
        let Some((first, rest)) = self.words.split_first() else {
            return false;
        };
        let text = folded(text);
        text.match_indices(first.as_str()).any(|(start, _)| {
            let end = rest.iter().try_fold(start + first.len(), |end, word| {
                let after = text[end..].trim_start_matches(|c: char| c.is_whitespace() || BETWEEN_WORDS.contains(&c));
                let from = text.len() - after.len();
                let apart = text[end..from].contains(char::is_whitespace);
                (apart && after.starts_with(word.as_str())).then(|| from + word.len())
            });
            end.is_some_and(|end| is_whole(&text, start, end))
        })
    }
}

/// Whether a range of a text is no part of a longer word, name, version or option.
fn is_whole(text: &str, start: usize, end: usize) -> bool {
    let (before, inside, after) = (&text[..start], &text[start..end], &text[end..]);
    let is_version = inside.starts_with(|c: char| c.is_ascii_digit());
    let begins = match before.chars().next_back() {
        None => true,
        Some('-') => !inside.starts_with('-'),
        Some('.') if is_version => !before[..before.len() - 1].ends_with(|c: char| c.is_ascii_digit()),
        Some('v') if is_version => !joins(&before[..before.len() - 1], "v"),
        Some(_) => !joins(before, inside),
    };
    let mut following = after.chars();
    let ends = match (following.next(), following.next()) {
        (Some('.'), Some(next)) if inside.ends_with(|c: char| c.is_ascii_digit()) => !next.is_ascii_digit(),
        (Some('-'), Some(next)) if inside.starts_with('-') => !next.is_alphanumeric(),
        _ => !joins(inside, after),
    };
    begins && ends
}

/// Whether the last character of a text and the first of the next are in one word. Scripts without blanks between
/// words join none.
fn joins(before: &str, after: &str) -> bool {
    let (Some(last), Some(first)) = (before.chars().next_back(), after.chars().next()) else {
        return false;
    };
    let is_part = last.is_alphanumeric() || last == '_' || is_combining_mark(last);
    is_part && [last, first].iter().collect::<String>().split_word_bounds().count() == 1
}

/// Compatibility-normalised (NFKC), in lower case, and without the backslashes that escape signs in Markdown.
fn folded(text: &str) -> String {
    let text = text.replace("\\_", "_");
    if text.is_ascii() {
        text.to_ascii_lowercase()
    } else {
        text.nfkc().flat_map(char::to_lowercase).nfkc().collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_in(excluded: &str, text: &str) -> bool {
        ExcludedText::new(excluded).is_in(text)
    }

    #[test]
    fn s4_34_what_is_excluded_is_there_as_it_is_written() {
        for (excluded, with, without) in [
            (
                "SessionPool",
                "a `sessionpool`,",
                "a Session of the pool, SessionPools, session_pool",
            ),
            (
                "Session",
                "kit.Session()",
                "SessionPool, MySession, session_pool, sessions",
            ),
            (
                "get_secure_cookie",
                "self.get_secure_cookie(x)",
                "get_cookie, secure, get_secure_cookies",
            ),
            (
                "cookie",
                "the cookie-jar has a Cookie.",
                "cookies, set_cookie, getCookie",
            ),
            ("parsing", "PARSING: how", "parse, parser, parses"),
            (
                "asyncio.run",
                "call asyncio.run().",
                "asyncio, run, asyncio.runner, asyncio_run",
            ),
            ("run", "asyncio.run(main)", "runner, running, rerun, run_all"),
            ("std::vector", "a std::vector<int>", "std::vectors, std vector, vector"),
            (
                "--force",
                "push --force=yes",
                "push -force, --force-with-lease, force, ---force",
            ),
            ("@State", "the @State wrapper", "State, @StateObject"),
            ("3.0", "since v3.0.", "13.0, 3.0.1, 1.3.0, 3.01, 3 0, rev3.0"),
            ("3.0.1", "3.0.1-beta", "3.0.10, 3.0, 3.0.1.2"),
            ("v2", "api/v2/x", "v2.1, v20, av2"),
            (
                "row level security",
                "**row** level\n> security",
                "row-level security, level security, rows level security",
            ),
            ("C++", "C++11", "C, C#"),
            ("über", "ÜBER uns", "darüber, uber"),
            ("café", "cafe\u{301} au lait", "cafe, cafés"),
            ("検索", "全文検索エンジン", "検証, 索引"),
        ] {
            assert!(is_in(excluded, with), "{excluded} in {with}");
            for without in without.split(", ") {
                assert!(!is_in(excluded, without), "{excluded} in {without}");
            }
        }
        assert!(!is_in(" ", "any text") && !is_in("", ""));
    }

    proptest! {
        /// A name is in a text if and only if it is one of its names.
        #[test]
        fn s4_34_a_text_has_its_names_and_not_their_parts(
            names in prop::collection::vec("(get_|set_|)(cookie|note|pool)(s|_x|Pool|)", 1..6),
            excluded in "(get_|set_|)(cookie|note|pool)(s|_x|Pool|)",
            between in "( |, |\\.|::|\\(\\) |\n|`)",
        ) {
            let has = names.iter().any(|name| name.eq_ignore_ascii_case(&excluded));
            prop_assert_eq!(is_in(&excluded, &names.join(&between)), has);
        }

        #[test]
        fn s4_34_any_text_has_itself(text in "\\PC{1,20}", around in "( |\n|\\(|, )") {
            if text.chars().any(char::is_alphanumeric) && text.starts_with(char::is_alphanumeric)
                && text.ends_with(char::is_alphabetic) {
                prop_assert!(is_in(&text, &format!("x{around}{text} y")), "{}", text);
            }
        }
    }
}

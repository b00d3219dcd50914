//! Terms of definition lists: a name or a question opens a section of its own, prose does not.

use docsearch_core::index::question::ends_as_question;

use crate::text::markdown_text;

/// Maximum length of a name in a heading; a longer term is prose.
const MAX_NAME_CHARACTERS: usize = 100;
/// Longer terms get a line of their own for their parameters.
const MAX_TERM_CHARACTERS: usize = 400;

/// Maximum length of a question.
const MAX_QUESTION_CHARACTERS: usize = 150;

/// Maximum words of a name.
const MAX_NAME_WORDS: usize = 4;

/// A name that is defined.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Name {
    /// Markdown.
    pub(crate) heading: String,
    /// The whole term, if the heading is only its beginning.
    pub(crate) synopsis: Option<String>,
}

/// The name in the plain text of a term, if it is one: of an option, a setting, a variable, a command or a member.
/// `is_code`: the source formats all of it as code or as keyboard input.
pub(crate) fn name(term: &str, is_code: bool) -> Option<Name> {
    let term = term.split_whitespace().collect::<Vec<_>>().join(" ");
    let length = term.chars().count();
    if term.is_empty() || length > MAX_TERM_CHARACTERS || !term.chars().any(|character| !character.is_whitespace()) {
        return None;
    }
    let words = term.split(' ').count();
    let first = term.split(' ').next().unwrap_or_default();
    let is_name = is_code && (words <= 6 || is_synopsis(&term))
        || is_option(first)
        || words == 1 && is_single_name(first)
        || is_synopsis(&term) && is_command(first);
    if !is_name || term.ends_with('.') && words > 2 {
        return None;
    }
    if length <= MAX_NAME_CHARACTERS {
        return Some(Name {
            heading: markdown_text::code(&term),
            synopsis: None,
        });
    }
    let called: Vec<&str> = term
        .split(' ')
        .take_while(|word| !word.starts_with(['[', '<', '(', '{', '-', '|']))
        .collect();
    let called = if called.is_empty() {
        first.to_owned()
    } else {
        called.join(" ")
    };
    Some(Name {
        heading: markdown_text::code(&called.chars().take(MAX_NAME_CHARACTERS).collect::<String>()),
        synopsis: Some(term),
    })
}

/// Whether a Markdown term is a name that readers search for: code, an option, or one word in the form of an
/// identifier.
pub(crate) fn is_name(term: &str) -> bool {
    let term = term.trim();
    let is_code = term.starts_with('`') && term.ends_with('`') && term.len() > 2;
    let words = term.split_whitespace().count();
    let is_option = term.starts_with('-') && words <= MAX_NAME_WORDS;
    let is_word = words == 1
        && (term.contains(['_', '.', ':', '(']) && !term.ends_with(['.', ':']) && term.len() > 2
            || term.len() > 1 && term.chars().skip(1).any(char::is_uppercase));
    is_code || is_option || is_word
}

/// Whether a Markdown term is a question, as in an FAQ.
pub(crate) fn is_question(term: &str) -> bool {
    let term = term.trim().trim_end_matches(['*', '_']).trim_end();
    ends_as_question(term) && term.chars().count() <= MAX_QUESTION_CHARACTERS
}

/// Whether a Markdown term opens a section of its own: it is a name or a question.
pub(crate) fn opens_section(term: &str) -> bool {
    is_name(term) || is_question(term)
}

/// Several names of one item as a heading: `` `-q`, `--quiet` ``.
pub(crate) fn heading(names: &[Name]) -> String {
    let mut headings: Vec<&str> = Vec::new();
    for name in names {
        if !headings.contains(&name.heading.as_str()) {
            headings.push(&name.heading);
        }
    }
    headings.join(", ")
}

fn is_option(word: &str) -> bool {
    let rest = word.trim_start_matches(['-', '+']);
    rest.len() < word.len()
        && word.len() - rest.len() <= 2
        && (rest.is_empty() && word.len() == 2
            || rest.starts_with(|first: char| first.is_alphanumeric() || "[<?#@%".contains(first)))
}

/// A word that is not prose: with punctuation inside, in capitals, or a placeholder.
fn is_single_name(word: &str) -> bool {
    let has_letter = word.chars().any(char::is_alphanumeric);
    let inner = word.trim_end_matches([':', ',', ';', '!', '?']);
    let has_sign = inner.contains([
        '.', '_', '<', '>', '[', ']', '(', ')', '=', '*', '$', '@', '{', '}', '/', '#', '%', '~', '^', ':', '\\',
    ]) || inner.chars().any(|character| character.is_ascii_digit());
    let is_upper = word.len() >= 2
        && word.chars().any(char::is_uppercase)
        && word
            .chars()
            .all(|character| character.is_uppercase() || character == '_' || character.is_ascii_digit());
    let has_hump = inner
        .chars()
        .zip(inner.chars().skip(1))
        .any(|(left, right)| left.is_lowercase() && right.is_uppercase());
    let is_word = is_command(word);
    has_letter && (has_sign || is_upper || has_hump || is_word) || !has_letter && word.chars().count() <= 4
}

/// A word in the form of a command or member.
fn is_command(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_lowercase())
        && word
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_.:".contains(&byte))
}

/// The words after the first are parameters.
fn is_synopsis(term: &str) -> bool {
    let mut words = term.split(' ').skip(1);
    words
        .clone()
        .next()
        .is_some_and(|second| second.starts_with(['<', '[', '-', '(']))
        || words.any(|word| word.starts_with(['<', '[']) || word.starts_with("--"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heading_of(term: &str) -> Option<String> {
        name(term, false).map(|name| name.heading)
    }

    #[test]
    fn options_settings_variables_and_commands_are_names() {
        for term in [
            "--autosquash",
            "-m <msg>",
            "--[no-]verify",
            "core.autocrlf",
            "GIT_DIR",
            "<pathspec>...",
            "set-head",
            "maxConnections",
            "prune [<name>...]",
            "--",
        ] {
            assert_eq!(heading_of(term), Some(format!("`{term}`")), "{term}");
        }
    }

    #[test]
    fn names_and_questions_open_sections() {
        for term in ["`kit`", "--all", "**Why is it slow?**", "Why is *it* slow?", "安全吗？"] {
            assert!(opens_section(term), "{term}");
        }
        for term in [
            "Slow?",
            "empty?",
            "It is slow",
            "Note",
            &format!("{} why?", "long ".repeat(30)),
        ] {
            assert!(!opens_section(term), "{term}");
        }
    }

    #[test]
    fn prose_is_no_name() {
        for term in [
            "Why is it slow?",
            "Note",
            "The working tree",
            "remote tracking branch",
            "",
        ] {
            assert_eq!(heading_of(term), None, "{term}");
        }
        assert!(name("remote show", true).is_some());
    }

    #[test]
    fn a_long_synopsis_is_called_by_its_first_words() {
        let term = format!("push [-p|--patch] {}", "[--option <value>] ".repeat(10));
        let name = name(&term, false).unwrap();
        assert_eq!(name.heading, "`push`");
        assert_eq!(name.synopsis.as_deref(), Some(term.trim_end()));
    }

    #[test]
    fn duplicate_names_of_one_item_are_shown_once() {
        let names: Vec<Name> = ["-q", "--quiet", "-q"]
            .iter()
            .filter_map(|term| name(term, true))
            .collect();
        assert_eq!(heading(&names), "`-q`, `--quiet`");
    }
}

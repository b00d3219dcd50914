//! The names of pages that document one thing.

use crate::text::identifier::is_identifier;
use crate::text::title::symbol;

/// Most words of a title that is a name: `git commit`, `CREATE TABLE`.
const MAX_WORDS: usize = 3;

/// The name of a page that documents one thing: the symbol in its title, or a title that is a name.
pub(super) fn name_of(title: &str) -> Option<&str> {
    let title = symbol(title).unwrap_or(title.trim());
    let words: Vec<&str> = title.split_whitespace().collect();
    let is_name = match words[..] {
        [] => false,
        [word] => is_identifier(word) || !word.starts_with(char::is_uppercase) || is_in_one_case(word),
        _ => words.len() <= MAX_WORDS && is_in_one_case(title),
    };
    is_name.then_some(title)
}

/// Whether all letters are capitals, or none is: prose begins with a capital.
fn is_in_one_case(text: &str) -> bool {
    let cased = |c: &char| c.is_uppercase() || c.is_lowercase();
    let mut letters = text.chars().filter(cased).map(char::is_uppercase);
    let first = letters.next();
    first.is_some_and(|first| letters.all(|letter| letter == first))
}

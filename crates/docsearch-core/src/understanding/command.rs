//! Lines of a shell: `git push --delete`.

use crate::name::key;

/// Most words of the name of a command.
const MAX_WORDS: usize = 3;

/// The command of a query that is a line of a shell: the words before its first option. `None` if there is no option, or
/// too many words before it.
pub(super) fn command(query: &str) -> Option<String> {
    let mut words = query.split_whitespace();
    let named: Vec<&str> = words.by_ref().take_while(|word| !word.starts_with('-')).collect();
    let first = query.split_whitespace().nth(named.len())?;
    ((1..=MAX_WORDS).contains(&named.len()) && is_option(first)).then(|| named.join(" "))
}

/// The keys (see [`key`]) of its long options, in their order.
pub(super) fn options(query: &str) -> Vec<String> {
    let long = query
        .split_whitespace()
        .filter(|word| is_option(word) && word.starts_with("--"));
    let names = long.map(|word| word.split('=').next().unwrap_or(word));
    names.map(key).filter(|key| !key.is_empty()).collect()
}

/// `-x`, or two dashes and a word. One dash and a word says what a page shall not have.
fn is_option(word: &str) -> bool {
    let name = word.trim_start_matches('-');
    let dashes = word.len() - name.len();
    let is_short = dashes == 1 && name.chars().count() == 1;
    name.starts_with(char::is_alphanumeric) && (is_short || dashes == 2 && name.chars().count() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_stands_before_its_options() {
        for (query, named) in [
            ("git push --delete", "git push"),
            ("grep -r", "grep"),
            ("docker compose up --build=always web", "docker compose up"),
            ("curl -X POST --data x", "curl"),
        ] {
            assert_eq!(command(query).as_deref(), Some(named), "{query}");
        }
        assert_eq!(
            options("git push -f --force-with-lease=main --delete -- a"),
            ["forcewithlease", "delete"]
        );
        for query in [
            "--autosquash",
            "push -rejected",
            "delete a remote branch --force",
            "git push",
            "a - b",
            "a -- b",
            "",
        ] {
            assert_eq!(command(query), None, "{query}");
        }
    }
}

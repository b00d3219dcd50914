//! Shell command lines: `git push --delete`.

use crate::text::name::key;

/// Most words of the name of a command.
const MAX_COMMAND_WORDS: usize = 3;

/// The command of a shell command line: the words before its first option. `short` are the words with one dash that
/// are options. `None` without an option, or with too many words before it.
pub(super) fn command(query: &str, short: &[String]) -> Option<String> {
    let named: Vec<&str> = query
        .split_whitespace()
        .take_while(|word| !word.starts_with('-'))
        .collect();
    let first = query.split_whitespace().nth(named.len())?;
    let is_option = long_name(first).is_some() || short.iter().any(|option| option == first);
    ((1..=MAX_COMMAND_WORDS).contains(&named.len()) && is_option).then(|| named.join(" "))
}

/// The options, in order. Long options are keys (see [`key`]), of short ones the dash and the first letter.
pub(super) fn options(query: &str, short: &[String]) -> Vec<String> {
    let option = |word: &str| match long_name(word) {
        Some(name) => Some(key(name)),
        None => short
            .iter()
            .any(|option| option == word)
            .then(|| word.chars().take(2).collect()),
    };
    query.split_whitespace().filter_map(option).collect()
}

/// `force` of `--force=yes`.
fn long_name(word: &str) -> Option<&str> {
    let name = word.strip_prefix("--")?.split('=').next()?;
    name.starts_with(char::is_alphanumeric).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(query: &str, short: &[&str]) -> Option<String> {
        let short: Vec<String> = short.iter().map(|option| (*option).to_owned()).collect();
        command(query, &short)
    }

    #[test]
    fn a_command_is_before_its_options() {
        assert_eq!(named("git push --delete", &[]).as_deref(), Some("git push"));
        assert_eq!(named("grep -r", &["-r"]).as_deref(), Some("grep"));
        assert_eq!(named("tar -xzf archive --strip=1", &["-xzf"]).as_deref(), Some("tar"));
        assert_eq!(
            named("docker compose up --build=always web", &[]).as_deref(),
            Some("docker compose up")
        );
        for query in [
            "--autosquash",
            "push -rejected",
            "delete a remote branch --force",
            "git push",
            "a - b",
            "a -- b",
            "a ---b",
            "",
        ] {
            assert_eq!(named(query, &[]), None, "{query}");
        }
    }

    #[test]
    fn options_have_names() {
        let short = ["-f".to_owned(), "-xz".to_owned()];
        let options = options("git push -f --force-with-lease=main -xz --delete -- a", &short);
        assert_eq!(options, ["-f", "forcewithlease", "-x", "delete"]);
    }
}

//! What front ends tell the log of queries about who calls. Programs and readers choose these texts, so they are bounded, and
//! plain: a database of any encoding can store them.

/// Longest name of a program, in characters.
const CLIENT_CHARS: usize = 100;
/// Longest name of a session, in characters.
pub const SESSION_CHARS: usize = 100;

/// A program as `name/version`, without the version if there is none; `None` if it has no name. Characters other than those of
/// printable ASCII become `?`, as in `application_name`.
pub fn client_name(name: &str, version: &str) -> Option<String> {
    let name = printable(name);
    if name.is_empty() {
        return None;
    }
    let mut client = match printable(version) {
        version if version.is_empty() => name,
        version => format!("{name}/{version}"),
    };
    client.truncate(CLIENT_CHARS);
    Some(client)
}

/// The program that a `User-Agent` names first, such as `curl/8.5.0`. `None` for browsers, whose name says nothing of the program,
/// and for texts of another form. Comments, which may describe a person's machine, are not read.
pub fn product(user_agent: &str) -> Option<String> {
    let first = user_agent.split_whitespace().next()?;
    let (name, version) = first.split_once('/').unwrap_or((first, ""));
    let is_token = |text: &str| text.bytes().all(is_token_character);
    let is_browser = name.eq_ignore_ascii_case("mozilla");
    (is_token(name) && is_token(version) && !is_browser)
        .then(|| client_name(name, version))
        .flatten()
}

/// Whether a text can name a session: 1 to 100 visible ASCII characters.
pub fn is_session(text: &str) -> bool {
    (1..=SESSION_CHARS).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

fn printable(text: &str) -> String {
    let text = text.trim().chars().take(CLIENT_CHARS);
    text.map(|character| match character {
        ' '..='~' => character,
        _ => '?',
    })
    .collect()
}

/// A character of a token (RFC 9110, section 5.6.2).
fn is_token_character(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_user_agent_names_its_program() {
        for (given, expected) in [
            ("curl/8.5.0", Some("curl/8.5.0")),
            ("python-requests/2.32.3 (Ada's laptop)", Some("python-requests/2.32.3")),
            ("node", Some("node")),
            ("docs-bot (mailto:ada@example.com) curl/8", Some("docs-bot")),
            ("Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0", None),
            ("(Ada's laptop) curl/8", None),
            ("ada@example.com", None),
            ("a/b/c", None),
            ("/1.0", None),
            ("", None),
        ] {
            assert_eq!(product(given).as_deref(), expected, "{given}");
        }
    }

    #[test]
    fn a_client_has_a_version_if_it_is_known() {
        assert_eq!(
            client_name("Visual Studio Code", "1.99").as_deref(),
            Some("Visual Studio Code/1.99")
        );
        assert_eq!(client_name(" claude-ai ", " ").as_deref(), Some("claude-ai"));
        assert_eq!(client_name("\u{1f9e0}\0", "").as_deref(), Some("??"));
        assert_eq!(client_name(" ", "1"), None);
    }

    #[test]
    fn sessions_are_bounded() {
        for given in ["", " ", "a b", "a\nb", "\u{e9}"] {
            assert!(!is_session(given), "{given:?}");
        }
        assert!(is_session(&"x".repeat(SESSION_CHARS)) && !is_session(&"x".repeat(SESSION_CHARS + 1)));
    }

    proptest! {
        /// Whatever a program calls itself, the log gets bounded printable ASCII, and the same name from its own output.
        #[test]
        fn names_are_bounded_and_plain(name in "\\PC{0,150}|.{0,150}", version in ".{0,150}") {
            if let Some(client) = client_name(&name, &version) {
                prop_assert!(!client.is_empty() && client.len() <= CLIENT_CHARS);
                prop_assert!(client.bytes().all(|byte| (b' '..=b'~').contains(&byte)));
                prop_assert_eq!(client_name(&client, ""), Some(client.trim().to_owned()));
            }
            prop_assert_eq!(client_name(&name, &version).is_none(), name.trim().is_empty());
        }

        /// What is read of a `User-Agent` is its first word, or nothing.
        #[test]
        fn only_the_first_word_of_a_user_agent_is_read(first in "[!-~]{1,40}", rest in "( .{0,60})?") {
            let alone = product(&first);
            prop_assert_eq!(product(&format!("{first}{rest}")), alone.clone());
            if let Some(client) = alone {
                prop_assert!(first.starts_with(client.as_str()));
                prop_assert!(!client.contains(['(', ')', '@', ' ']));
            }
        }
    }
}

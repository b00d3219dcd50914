//! Queries for which an editor pins pages, in a form in which equal queries are equal texts.

/// Most characters of a query that pages are pinned for.
pub const MAX_CHARS: usize = 500;

/// Quotation marks, which are dropped at the beginning and at the end of a word.
const QUOTATION: [char; 11] = ['"', '\'', '`', '«', '»', '‹', '›', '“', '”', '‘', '’'];
/// Punctuation that is dropped at the beginning of a word.
const OPENING: [char; 2] = ['¿', '¡'];
/// Punctuation that is dropped at the end of a word.
const CLOSING: [char; 12] = ['?', '!', '.', ',', ';', ':', '…', '？', '！', '。', '，', '；'];

/// A query without capital letters, repeated white space, quotation marks around words and punctuation at their ends.
/// `None` if nothing is left. Other signs say something in documentation: `c++` is not `c`, and `--force` not `force`.
pub fn normal_form(query: &str) -> Option<String> {
    let words = query.split_whitespace().map(|word| {
        let word = word.trim_start_matches(|c| QUOTATION.contains(&c) || OPENING.contains(&c));
        word.trim_end_matches(|c| QUOTATION.contains(&c) || CLOSING.contains(&c))
    });
    let words: Vec<String> = words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn case_blanks_and_punctuation_do_not_distinguish_queries() {
        for query in [
            "how do i install it",
            "  How do I\tinstall  it? ",
            "\"How do I install\" it!?",
            "¿How, do I install it…",
        ] {
            assert_eq!(normal_form(query).as_deref(), Some("how do i install it"), "{query}");
        }
    }

    #[test]
    fn signs_of_code_distinguish_queries() {
        let keys: Vec<Option<String>> = ["c", "c++", "c#", ".env", "env", "--force", "force", "print()"]
            .into_iter()
            .map(normal_form)
            .collect();
        for (index, key) in keys.iter().enumerate() {
            assert!(key.is_some() && !keys[..index].contains(key), "{key:?}");
        }
        assert_eq!(["", " \n", "?!", "\" \""].map(normal_form), [const { None }; 4]);
    }

    proptest! {
        #[test]
        fn a_normal_form_is_its_own(query in "\\PC{0,40}", blanks in "[ \t\n]{1,3}") {
            if let Some(key) = normal_form(&query) {
                prop_assert_eq!(normal_form(&key), Some(key.clone()));
                prop_assert_eq!(normal_form(&key.replace(' ', &blanks)), Some(key.clone()));
                prop_assert_eq!(normal_form(&format!("{blanks}{key}{blanks}")), Some(key));
            }
        }
    }
}

//! Digests of what pages say: equal for pages that say the same.

use crate::documents::markdown::plain_text;
use crate::values::digest::digest;

/// Words of the shortest text that has a digest. Shorter ones are the same by chance: "Creates a new instance."
const MIN_WORDS: usize = 12;

/// Hexadecimal digits of SHA-256 that fit a `bigint`.
const DIGITS: usize = 16;

/// The digest of a page's title and text. `None` for texts of fewer than 12 words.
///
/// Markup, link targets and white space make no difference; each other character does, since names in code differ by one. A first
/// heading that repeats the title counts once, also if the title has an addition: `Install (macOS)` for `# Install`.
pub fn text_digest(title: &str, body: &str) -> Option<i64> {
    let text = plain_text(body);
    let text = text.trim_start();
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let (title, first) = (in_one_line(title), in_one_line(first));
    let addition = title.strip_prefix(&first).filter(|_| !first.is_empty());
    let repeats =
        addition.is_some_and(|addition| addition.is_empty() || addition.starts_with(" (") && addition.ends_with(')'));
    let (name, text) = if repeats { (first, rest) } else { (title, text) };
    if text.split_whitespace().take(MIN_WORDS).count() < MIN_WORDS {
        return None;
    }
    let digest = digest(&[&name, &in_one_line(text)]);
    u64::from_str_radix(&digest[..DIGITS], 16).ok().map(u64::cast_signed)
}

fn in_one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT: &str = "Open the kiln when it is cold, and never before that, since hot shelves crack.";

    #[test]
    fn markup_and_white_space_make_no_difference() {
        let page = text_digest("Cooling", TEXT);
        assert!(page.is_some());
        for same in [
            TEXT.replace("kiln", "**kiln**"),
            TEXT.replace("kiln", "[kiln](../v2/kiln.md)"),
            TEXT.replace(", ", ",\n"),
            format!("# Cooling\n\n{TEXT}\n"),
            format!("Cooling\n=======\n{TEXT}"),
        ] {
            assert_eq!(text_digest("Cooling", &same), page, "{same}");
        }
    }

    #[test]
    fn titles_count_without_an_addition_in_parentheses() {
        let page = format!("# Cooling\n\n{TEXT}");
        assert_eq!(text_digest("Cooling (guides)", &page), text_digest("Cooling", &page));
        assert_ne!(text_digest("Cooling off", &page), text_digest("Cooling", &page));
        assert_ne!(text_digest("Cooling (guides)", TEXT), text_digest("Cooling", TEXT));
    }

    #[test]
    fn short_texts_have_none() {
        assert_eq!(text_digest("init()", "Creates a new instance."), None);
        assert_eq!(text_digest("Kiln", ""), None);
        assert_eq!(text_digest("", &"word ".repeat(11)), None);
        assert!(text_digest("", &"word ".repeat(12)).is_some());
    }

    proptest! {
        /// Functions with one description differ in a letter, a sign or the case of their names.
        #[test]
        fn another_word_or_title_is_another_page(
            words in prop::collection::vec("[a-z]{1,6}|[A-Z][a-z]{1,4}|[0-9]{1,3}", 12..40),
            other in "[a-z]{1,6}|[A-Z]{1,4}|[0-9]{1,3}",
            at in any::<prop::sample::Index>(),
        ) {
            let at = at.index(words.len());
            let mut changed = words.clone();
            changed[at].clone_from(&other);
            let same = changed == words;
            let digest = text_digest("Title", &words.join(" "));
            prop_assert_eq!(text_digest("Title", &changed.join(" ")) == digest, same);
            prop_assert_ne!(text_digest(&format!("Title {other}"), &words.join(" ")), digest);
            prop_assert_eq!(text_digest("Title", &words.join("\n")), digest);
        }

        #[test]
        fn any_text_can_be_read(title in "\\PC{0,20}", body in "(\\PC|\n|#|`){0,200}") {
            prop_assert_eq!(text_digest(&title, &body), text_digest(&title, &body));
        }
    }
}

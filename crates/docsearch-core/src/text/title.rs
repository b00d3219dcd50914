//! Titles: their symbol, and their qualifier.

/// The symbol in a title that has more text: before parameters (`frame(width:height:)`) or before a dash and a
/// description (`gc — Garbage …`). `None` if the title is the symbol, or has none.
pub fn symbol(title: &str) -> Option<&str> {
    let title = title.trim();
    let head = [" — ", " – ", " - ", " -- ", ": "]
        .iter()
        .filter_map(|dash| title.find(dash))
        .min()
        .map_or(title, |at| &title[..at]);
    let head = match head.find('(') {
        Some(at) if at > 0 => &head[..at],
        _ => head,
    };
    let symbol = head.trim();
    (symbol.len() < title.len() && !symbol.is_empty() && !symbol.contains(' ')).then_some(symbol)
}

/// A title without the qualifier in parentheses at its end: `Change history` of `Change history (Parser)`.
pub fn unqualified(title: &str) -> &str {
    let title = title.trim();
    let start = title.ends_with(')').then(|| title.rfind(" (")).flatten();
    start.map_or(title, |start| title[..start].trim_end())
}

/// Whether a heading repeats the title of its page, or the title without its qualifier. Case and white space do not
/// matter.
pub fn is_repeated_by(title: &str, heading: &str) -> bool {
    let words = |text: &str| text.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>();
    let own = words(heading);
    own == words(title) || own == words(unqualified(title))
}

/// Whether a title has these words in a row, as they are written. Signs at their ends do not matter: `write!` is in
/// `Macro write`.
pub fn has_words(title: &str, words: &str) -> bool {
    let words = words.trim_matches(|c: char| !c.is_alphanumeric());
    let is_end = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '_');
    !words.is_empty()
        && title
            .match_indices(words)
            .any(|(at, _)| is_end(title[..at].chars().next_back()) && is_end(title[at + words.len()..].chars().next()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_has_words_as_they_are_written() {
        assert!(has_words("Macro write", "write!"));
        assert!(has_words("kit::Deque< T > Class Reference", "kit::Deque"));
        assert!(!has_words("Trait Write", "write"));
        assert!(!has_words("Overwrite", "write"));
        assert!(!has_words("write_all", "write"));
        assert!(!has_words("write", "!"));
    }

    #[test]
    fn titles_name_symbols() {
        assert_eq!(symbol("frame(width:height:)"), Some("frame"));
        assert_eq!(symbol("gc — Garbage Collector interface"), Some("gc"));
        assert_eq!(symbol("Button"), None);
        assert_eq!(symbol("A long story: the end"), None);
    }

    #[test]
    fn the_qualifier_of_a_title_is_in_parentheses() {
        assert_eq!(unqualified("Change history (The parser)"), "Change history");
        assert_eq!(unqualified("Use of f(x)"), "Use of f(x)");
        assert_eq!(unqualified("(draft)"), "(draft)");
    }

    #[test]
    fn a_heading_repeats_a_title() {
        assert!(is_repeated_by("Change  history (Parser)", "change history"));
        assert!(is_repeated_by("Button", "Button"));
        assert!(!is_repeated_by("Button (old)", "Buttons"));
    }
}

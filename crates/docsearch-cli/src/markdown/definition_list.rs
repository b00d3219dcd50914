//! Definition lists: `term`, and `:   what it means` on the next line.

/// Words of a term that names something.
const MAX_NAME_WORDS: usize = 4;

/// What a line defines the term before it to be.
pub(super) fn definition(text: &str) -> Option<&str> {
    let rest = text.strip_prefix(':')?;
    let definition = rest.trim_start_matches([' ', '\t']);
    (rest.len() > definition.len() && !definition.is_empty()).then_some(definition)
}

/// Whether a term names something that is looked for by its name: code, an option, one word in the form of a name.
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

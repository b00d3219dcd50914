//! Definition lists: `term`, and `:   what it means` on the next line.

/// The definition on a line, of the term before it.
pub(super) fn definition(text: &str) -> Option<&str> {
    let rest = text.strip_prefix(':')?;
    let definition = rest.trim_start_matches([' ', '\t']);
    (rest.len() > definition.len() && !definition.is_empty()).then_some(definition)
}

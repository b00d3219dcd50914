//! Estimates the length of a text in tokens of a language model.

/// Characters for each token of a language model, on average over English prose and code. An estimate, since the
/// caller's model is not known.
pub const CHARS_PER_TOKEN: usize = 4;

/// Estimated tokens of a text of this number of characters, rounded up.
pub fn estimated_tokens(chars: usize) -> usize {
    chars.div_ceil(CHARS_PER_TOKEN)
}

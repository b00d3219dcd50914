//! The length of a text in tokens of a language model, estimated.

/// Characters for a token of a language model, on average over English prose and code: an estimate, since the
/// caller's model is not known.
pub const CHARS_PER_TOKEN: usize = 4;

/// Estimated tokens of a text of so many characters, rounded up.
pub fn estimated_tokens(chars: usize) -> usize {
    chars.div_ceil(CHARS_PER_TOKEN)
}

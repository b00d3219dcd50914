//! Results of commands.

/// The result of a command that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Complete,
    /// Some inputs were left out, and reported.
    Partial,
    /// Nothing was found.
    Nothing,
    /// What was compared differs, or is worse.
    Different,
    /// Interrupted by the user; completed work is kept.
    Interrupted,
}

impl Outcome {
    /// The result of a search.
    pub(crate) fn from_found(found: bool) -> Self {
        if found { Self::Complete } else { Self::Nothing }
    }
}

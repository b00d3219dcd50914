//! How commands end.

/// How a command that ran to its end went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Complete,
    /// Some inputs were left out; each has been reported.
    Partial,
    /// Nothing was found.
    Nothing,
    /// The user ended it; what is done is whole.
    Interrupted,
}

impl Outcome {
    /// Of a command that looks for something.
    pub(crate) fn of_finding(found: bool) -> Self {
        if found { Self::Complete } else { Self::Nothing }
    }
}

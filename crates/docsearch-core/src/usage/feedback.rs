//! What readers say of answers, and assistants of pages.

use std::str::FromStr;

use strum::{EnumString, IntoStaticStr, VariantArray};

/// What a reader did with an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Kind {
    /// Opened a result.
    Click,
    /// Says that the answer helped.
    Helped,
    /// Says that it did not.
    DidNotHelp,
}

/// Why an answer did not help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Reason {
    /// It is wrong.
    Incorrect,
    /// It answers another question.
    NotWhatIAsked,
    /// It was right for an earlier version.
    Outdated,
    /// It took too long.
    Slow,
    /// Another reason.
    Other,
}

/// What is wrong with a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Category {
    /// It was right for an earlier version.
    Outdated,
    /// It contradicts itself or another page.
    Contradictory,
    /// It does not say what a reader needs.
    Missing,
    /// Something else.
    Other,
}

/// A value that callers give by its name.
pub trait Choice: Sized {
    /// The value with this name.
    ///
    /// # Errors
    ///
    /// No value has the name: the names that there are.
    fn named(name: &str) -> Result<Self, String>;
}

impl<T> Choice for T
where
    T: FromStr + VariantArray + Copy,
    &'static str: From<T>,
{
    fn named(name: &str) -> Result<Self, String> {
        let names = || T::VARIANTS.iter().map(|&known| <&str>::from(known)).collect::<Vec<_>>();
        name.parse().map_err(|_| names().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_columns() {
        assert_eq!(Kind::named("did_not_help"), Ok(Kind::DidNotHelp));
        assert_eq!(Reason::named("not_what_i_asked"), Ok(Reason::NotWhatIAsked));
        let known = Category::named("").unwrap_err();
        assert_eq!(known, "outdated, contradictory, missing, other");
    }
}

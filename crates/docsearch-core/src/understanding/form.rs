//! Texts of a query that may be the name of a page.

use serde::Serialize;

/// How a text that may be a page's name was won from the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NameRole {
    /// The query as it is.
    Whole,
    /// The symbol in its container.
    Symbol,
    /// Parent and child.
    Path,
    /// The query without the kind of thing.
    Kindless,
    /// The query with an abbreviation written out.
    Expanded,
    /// A name of code in a longer query: it earns a boost, and no lift.
    Mention,
    /// What comes before the last part of a qualified name, such as the module: its page may describe
    /// the member.
    Qualifier,
}

impl NameRole {
    /// Factor of [`crate::rank::name_strength`], 0 to 1. The less the query was changed to win the
    /// name, the more it counts; a name within a sentence does not lift. The order is meant, the numbers are chosen.
    pub const fn factor(self, implicit: bool) -> f32 {
        match self {
            Self::Whole => 1.0,
            Self::Symbol | Self::Path if implicit => 0.998,
            Self::Symbol | Self::Path => 1.0,
            Self::Kindless => 0.98,
            Self::Expanded => 0.96,
            Self::Mention | Self::Qualifier => 0.0,
        }
    }
}

/// A text that may be a page's name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NameForm {
    /// The text.
    pub text: String,
    /// Its [`name::key`].
    pub key: String,
    /// How it was won.
    pub role: NameRole,
}

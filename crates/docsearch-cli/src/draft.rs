//! A document in the making: what a reader of a format hands over.

use crate::front_matter::FrontMatter;

/// Markdown and what the source says about it; the place of the source gives the rest.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    /// Added to the slug, for a source that holds several documents.
    pub(crate) below: Option<String>,
    pub(crate) matter: FrontMatter,
    /// Markdown.
    pub(crate) body: String,
    pub(crate) warning: Option<String>,
}

impl Draft {
    pub(crate) fn new(matter: FrontMatter) -> Self {
        Self {
            matter,
            ..Self::default()
        }
    }
}

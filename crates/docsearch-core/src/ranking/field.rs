//! The fields of pages that weights weigh.

/// A part of a page that authors write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// The title, with the slug and other names.
    Title,
    /// Headings.
    Heading,
    /// The summary or lead paragraph.
    Summary,
    /// Keywords.
    Keyword,
    /// Questions that it answers.
    Question,
}

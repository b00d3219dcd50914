//! A document in the making: what a reader of a format hands over, or why it does not.

pub(crate) mod front_matter;
pub(crate) mod guard;

use crate::file;
use front_matter::FrontMatter;

/// Markdown and what the source says about it; the place of the source gives the rest.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    /// Added to the slug, for a source that holds several documents.
    pub(crate) below: Option<String>,
    pub(crate) matter: FrontMatter,
    /// Markdown.
    pub(crate) body: String,
    /// The title of the page above.
    pub(crate) parent: Option<String>,
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

/// Why a file is left out that others include.
pub(crate) const PART: &str = "part of other pages";

/// Why a file is left out.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    #[error(transparent)]
    File(#[from] file::Refusal),
    #[error("larger than {0} bytes\nHINT:  --max-file-size raises the limit.")]
    TooLarge(u64),
    #[error("not UTF-8: invalid byte at offset {0}")]
    NotUtf8(usize),
    #[error("binary: NUL byte at offset {0}")]
    Binary(usize),
    #[error("front matter gives an empty slug")]
    EmptySlug,
    #[error("no readable {format}: {reason}")]
    Malformed { format: &'static str, reason: String },
    #[error("not a URL with a host: {0}")]
    Url(String),
    #[error("content of type {0} is no documentation")]
    ContentType(String),
    /// Nothing is wrong with it: it is a page such as a search form, not one to be found.
    #[error("no documentation: {0}")]
    NoDocumentation(&'static str),
}

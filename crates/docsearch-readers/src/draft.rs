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

    /// The draft of a page with front matter; `convert` gives its Markdown, and a warning if something is wrong with it.
    pub(crate) fn of_page(
        text: &str,
        convert: impl FnOnce(&str) -> Result<(String, Option<String>), Unreadable>,
    ) -> Result<Self, Unreadable> {
        let page = front_matter::split(text);
        let (body, warning) = convert(page.body)?;
        let problem = page.problem.map(|reason| format!("front matter ignored: {reason}"));
        Ok(Self {
            body,
            warning: problem.or(warning),
            ..Self::new(page.front_matter)
        })
    }
}

/// Why a file is left out that others include.
pub(crate) const PART: &str = "part of other pages";

/// Why a file is left out.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// It cannot be opened, or may not.
    #[error(transparent)]
    File(#[from] file::Refusal),
    /// It has more bytes than these.
    #[error("larger than {0} bytes\nHINT:  --max-file-size raises the limit.")]
    TooLarge(u64),
    /// With the place of the first byte that is wrong.
    #[error("not UTF-8: invalid byte at offset {0}")]
    NotUtf8(usize),
    /// With the place of the first zero.
    #[error("binary: NUL byte at offset {0}")]
    Binary(usize),
    /// A slug of nothing but slashes and dots names no document.
    #[error("front matter gives an empty slug")]
    EmptySlug,
    /// Its reader cannot make sense of it.
    #[error("no readable {format}: {reason}")]
    Malformed {
        /// As people call it.
        format: &'static str,
        /// What is wrong with the text, maybe with a hint.
        reason: String,
    },
    /// A page of a server has an address.
    #[error("not a URL with a host: {0}")]
    Url(String),
    /// A server says that it is an image, a program or the like.
    #[error("content of type {0} is no documentation")]
    ContentType(String),
    /// Nothing is wrong with it: it is a page such as a search form, not one to be found.
    #[error("no documentation: {0}")]
    NoDocumentation(&'static str),
}

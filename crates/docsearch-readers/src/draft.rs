//! A draft of a document, which a reader makes, or why it does not.

pub(crate) mod file_properties;
pub(crate) mod front_matter;
pub(crate) mod guard;
pub(crate) mod unknown_names;

use crate::file;
use front_matter::FrontMatter;
use unknown_names::UnknownNames;

/// Markdown and the properties that the file gives; the rest follows from where the file is.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    /// Appended to the slug, for a file that contains several documents.
    pub(crate) slug_suffix: Option<String>,
    pub(crate) matter: FrontMatter,
    /// Markdown.
    pub(crate) body: String,
    /// The title of the parent page.
    pub(crate) parent: Option<String>,
    pub(crate) warning: Option<String>,
    /// Names whose text was kept.
    pub(crate) unknown: UnknownNames,
}

impl Draft {
    pub(crate) fn new(matter: FrontMatter) -> Self {
        Self {
            matter,
            ..Self::default()
        }
    }

    /// The draft of a page; `convert` gets its text and its front matter, and gives its Markdown, and a warning if
    /// something is wrong with it.
    pub(crate) fn of_page(
        text: &str,
        convert: impl FnOnce(&str, &FrontMatter) -> Result<(String, Option<String>), Unreadable>,
    ) -> Result<Self, Unreadable> {
        let page = front_matter::split(text);
        let (body, warning) = convert(page.body, &page.front_matter)?;
        let problem = page.problem.map(|reason| format!("front matter ignored: {reason}"));
        Ok(Self {
            body,
            warning: problem.or(warning),
            ..Self::new(page.front_matter)
        })
    }
}

/// Why a file that others include is left out.
pub(crate) const PART: &str = "part of other pages";
/// The same, if its text may be nowhere.
pub(crate) const UNUSED_PART: &str = "part that no page is known to include";

/// Why a file is left out.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// It cannot be opened, or must not be.
    #[error(transparent)]
    File(#[from] file::Refusal),
    /// It exceeds this number of bytes.
    #[error("larger than {0} bytes\nHINT:  Raise the limit with --max-file-size.")]
    TooLarge(u64),
    /// With the offset of the first invalid byte.
    #[error("not UTF-8: invalid byte at offset {0}")]
    NotUtf8(usize),
    /// With the offset of the first NUL byte.
    #[error("binary: NUL byte at offset {0}")]
    Binary(usize),
    /// A slug of only slashes and dots names no document.
    #[error("the slug in the front matter is empty")]
    EmptySlug,
    /// Its reader cannot parse it.
    #[error("cannot be read as {format}: {reason}")]
    Malformed {
        /// The name that users know.
        format: &'static str,
        /// The problem, optionally with a hint.
        reason: String,
    },
    /// A bug of a reader.
    #[error("its reader crashed; please report this with the file")]
    Crashed,
    /// A response needs a URL with a host.
    #[error("not a URL with a host: {0}")]
    Url(String),
    /// The media type is that of an image, a program or the like.
    #[error("media type {0} is not documentation")]
    ContentType(String),
    /// It is valid, but not documentation, such as a search form.
    #[error("not documentation: {0}")]
    NoDocumentation(&'static str),
}

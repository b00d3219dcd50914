//! Declares a format: how files show it, its reader, and what the rest of the program needs to know.

use std::any::Any;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

#[cfg(test)]
use docsearch_fuzz::Target;

use crate::draft::{Draft, Unreadable};
use crate::file::{Folder, extension};
use crate::site::{Extensions, SphinxSettings};

/// A format that can be read. Each is a `static` in the file of its reader and a row of [`super::FORMATS`].
pub struct Format {
    /// The value of `--format`, in lower case.
    pub name: &'static str,
    /// The name as users write it.
    pub title: &'static str,
    /// Help for the value of `--format` where the name needs one.
    pub help: Option<&'static str>,
    /// What its files become, in the help of `docsearch index`.
    pub result: &'static str,
    /// Extensions, in lower case, that identify the format.
    pub extensions: &'static [&'static str],
    /// Extensions that other formats use, too: the content decides.
    pub shared_extensions: &'static [&'static str],
    /// Further names, in the help.
    pub name_patterns: &'static [&'static str],
    /// Whether a name identifies the format without one of its `extensions`.
    pub(crate) is_named: Option<fn(&Path) -> bool>,
    /// Whether a file of this name may be in the format; replaces the test of extensions.
    pub(crate) may_be_named: Option<fn(&Path) -> bool>,
    /// Whether the content of a file confirms a name that other files have, too.
    pub(crate) confirm: Option<fn(&Path) -> bool>,
    pub(crate) media_types: &'static [&'static str],
    /// Media types that other data has, too: a name that identifies another format takes precedence.
    pub(crate) shared_media_types: &'static [&'static str],
    /// How binary content identifies the format, whatever the name.
    pub(crate) signature: Option<Signature>,
    /// How text identifies the format if the name does not.
    pub(crate) text_test: Option<TextTest>,
    pub(crate) reader: Reader,
    /// Decodes bytes with the declared character set.
    pub(crate) decode: Option<Decode>,
    /// The syntax of its links, for a crawler.
    pub links: Option<LinkSyntax>,
    /// Whether links to its pages may end in one of its extensions.
    pub is_linked: bool,
    /// Whether its files are built pages, whose sources may be beside them.
    pub is_built: bool,
    /// Whether its files may include others.
    pub(crate) includes: bool,
    /// Whether a file that another includes is no page of its own, even if it has a title.
    pub(crate) included_is_part: bool,
    /// Whether a leading underscore in a file or folder name marks a part of other pages.
    pub(crate) marks_parts: bool,
    pub(crate) anchors: SiteAnchors,
    /// Collects what the files of a run have in common, before the first is read.
    pub(crate) collect_shared: Option<fn(&Files<'_>) -> SharedContext>,
    /// The fuzz target of its reader.
    #[cfg(test)]
    pub(crate) fuzz_target: Option<Target>,
}

/// The files of a run, each with its folder.
pub(crate) type Files<'a> = [(&'a Path, &'a Path)];

/// What the files of a run have in common. Only the reader of the format knows the type.
pub(crate) type SharedContext = Box<dyn Any + Send + Sync>;

pub(crate) type Decode = fn(Vec<u8>, Option<&str>) -> Result<String, Unreadable>;

/// Makes drafts of a file.
#[derive(Clone, Copy)]
pub(crate) enum Reader {
    Text(fn(&TextSource<'_>) -> Result<Vec<Draft>, Unreadable>),
    Bytes(fn(&[u8]) -> Result<Vec<Draft>, Unreadable>),
}

/// A text, and what its reader may know about its origin.
pub(crate) struct TextSource<'a> {
    pub(crate) text: &'a str,
    /// Relative to the folder.
    pub(crate) path: &'a Path,
    /// The folder whose files it may include; `None` for a response of a server.
    pub(crate) folder: Option<&'a Folder>,
    /// The CSS selector of the element that holds the text of an HTML page.
    pub(crate) content: Option<&'a str>,
    /// The syntax that the generator of the site adds to Markdown.
    pub(crate) extensions: Extensions,
    pub(crate) shared: Option<&'a SharedContext>,
    /// What the pages of a Sphinx project have in common.
    pub(crate) sphinx: Option<&'a Arc<SphinxSettings>>,
}

impl<'a> TextSource<'a> {
    /// A text without a folder or a site.
    #[cfg(test)]
    pub(crate) fn alone(path: &'a Path, text: &'a str) -> Self {
        Self {
            text,
            path,
            folder: None,
            content: None,
            extensions: Extensions::default(),
            shared: None,
            sphinx: None,
        }
    }

    /// What the files of the run have in common, if its type is `T`.
    pub(crate) fn shared<T: 'static>(&self) -> Option<&'a T> {
        self.shared?.downcast_ref()
    }
}

/// How binary content identifies its format.
#[derive(Clone, Copy)]
pub(crate) enum Signature {
    Bytes(fn(&[u8]) -> bool),
    /// A ZIP archive with an entry of this name and, if given, this content.
    Entry(&'static str, Option<&'static [u8]>),
}

/// How text identifies its format.
pub(crate) struct TextTest {
    /// Tests of a lower rank take precedence: a text can pass several.
    pub(crate) rank: u8,
    pub(crate) passes: fn(&str) -> bool,
}

/// A syntax of links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkSyntax {
    /// `<a href>`.
    Html,
    /// `[text](target)`.
    Markdown,
}

/// Which headings get anchors by the rule of the site's generator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SiteAnchors {
    /// None: the text has anchors of its own, or is not part of a site.
    None,
    /// None: headings without an identifier have no fragment in the URL of their page.
    Identifiers,
    Headings,
    /// Also headings in quotations, which open no sections.
    HeadingsAndQuotations,
}

impl Format {
    /// A row with the required fields; rows override the others with `..`.
    pub(crate) const fn new(name: &'static str, title: &'static str, result: &'static str, reader: Reader) -> Self {
        Self {
            name,
            title,
            help: None,
            result,
            extensions: &[],
            shared_extensions: &[],
            name_patterns: &[],
            is_named: None,
            may_be_named: None,
            confirm: None,
            media_types: &[],
            shared_media_types: &[],
            signature: None,
            text_test: None,
            reader,
            decode: None,
            links: None,
            is_linked: false,
            is_built: false,
            includes: false,
            included_is_part: false,
            marks_parts: true,
            anchors: SiteAnchors::None,
            collect_shared: None,
            #[cfg(test)]
            fuzz_target: None,
        }
    }

    /// All its extensions; those that identify it come first.
    pub fn all_extensions(&self) -> impl Iterator<Item = &'static str> {
        self.extensions.iter().chain(self.shared_extensions).copied()
    }

    /// Whether the file has one of its extensions.
    pub(crate) fn has_extension(&self, path: &Path) -> bool {
        extension::of(path).is_some_and(|own| self.all_extensions().any(|extension| extension == own))
    }
}

/// Names are unique.
impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Format {}

impl fmt::Debug for Format {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name)
    }
}

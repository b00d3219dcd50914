//! What a format is: how a file shows it, who reads it, and what the rest of the program has to know of it.

use std::any::Any;
use std::fmt;
use std::path::Path;

#[cfg(test)]
use docsearch_fuzz::Target;

use crate::draft::{Draft, Unreadable};
use crate::file::{Folder, extension};
use crate::site::Extensions;

/// A format that can be read. Each is a `static` in the file of its reader and a row of [`super::FORMATS`].
pub struct Format {
    /// The value of `--format`, in lower case.
    pub name: &'static str,
    /// The name as users write it.
    pub title: &'static str,
    /// Help for the value of `--format` where the name needs one.
    pub help: Option<&'static str>,
    /// What its files become, for the help of `docsearch index`.
    pub result: &'static str,
    /// Extensions in lower case that only files of this format have.
    pub extensions: &'static [&'static str],
    /// Extensions that files of this format share with others: the content decides.
    pub shared_extensions: &'static [&'static str],
    /// Patterns of names beside the extensions, for the help.
    pub name_patterns: &'static [&'static str],
    /// Whether a name without one of the `extensions` identifies the format all the same.
    pub(crate) is_named: Option<fn(&Path) -> bool>,
    /// Whether a file of such a name can be of this format.
    pub(crate) may_be_named: Option<fn(&Path) -> bool>,
    /// Whether the content of a file confirms its name, for names that other files have, too.
    pub(crate) confirm: Option<fn(&Path) -> bool>,
    pub(crate) media_types: &'static [&'static str],
    /// Media types of other data, too: a name that identifies another format takes precedence.
    pub(crate) shared_media_types: &'static [&'static str],
    /// How binary content shows the format, whatever the name is.
    pub(crate) signature: Option<Signature>,
    /// How text shows the format where the name does not.
    pub(crate) text_test: Option<TextTest>,
    pub(crate) reader: Reader,
    /// From bytes and the declared character set to text.
    pub(crate) decode: Option<Decode>,
    /// How links are written in it, for a crawler.
    pub links: Option<LinkSyntax>,
    /// Whether links to its pages may end in one of its extensions.
    pub is_linked: bool,
    /// Whether its files are pages as a browser shows them, which a generator may have built from sources beside them.
    pub is_built: bool,
    /// Whether its files may include others.
    pub(crate) includes: bool,
    /// Whether a leading underscore in the name of a file or folder marks a part of other pages.
    pub(crate) marks_parts: bool,
    pub(crate) anchors: SiteAnchors,
    /// Collects what the files of a run have in common, before the first of them is read.
    pub(crate) survey: Option<fn(&Files<'_>) -> Survey>,
    /// What searches its reader for crashes.
    #[cfg(test)]
    pub(crate) fuzz_target: Option<Target>,
}

/// The files of a run, each with its folder.
pub(crate) type Files<'a> = [(&'a Path, &'a Path)];

/// What the files of a run have in common; the reader of the format knows its type.
pub(crate) type Survey = Box<dyn Any + Send + Sync>;

pub(crate) type Decode = fn(Vec<u8>, Option<&str>) -> Result<String, Unreadable>;

/// Who makes drafts of a file.
#[derive(Clone, Copy)]
pub(crate) enum Reader {
    Text(fn(&TextSource<'_>) -> Result<Vec<Draft>, Unreadable>),
    Bytes(fn(&[u8]) -> Result<Vec<Draft>, Unreadable>),
}

/// A text, and what its reader may know of where it comes from.
pub(crate) struct TextSource<'a> {
    pub(crate) text: &'a str,
    /// Relative to the folder.
    pub(crate) path: &'a Path,
    /// Where files may be read that it includes; `None` for a response of a server.
    pub(crate) folder: Option<&'a Folder>,
    /// The CSS selector of the element that holds the text of an HTML page.
    pub(crate) content: Option<&'a str>,
    /// What the generator of the site adds to Markdown.
    pub(crate) extensions: Extensions,
    pub(crate) survey: Option<&'a Survey>,
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
            survey: None,
        }
    }

    /// What the files of the run have in common, if its type is `T`.
    pub(crate) fn survey<T: 'static>(&self) -> Option<&'a T> {
        self.survey?.downcast_ref()
    }
}

/// How binary content shows its format.
#[derive(Clone, Copy)]
pub(crate) enum Signature {
    Bytes(fn(&[u8]) -> bool),
    /// A ZIP archive with an entry of this name and, if given, this content.
    Entry(&'static str, Option<&'static [u8]>),
}

/// How text shows its format.
pub(crate) struct TextTest {
    /// Tests of a lower rank come first: a text can pass several.
    pub(crate) rank: u8,
    pub(crate) passes: fn(&str) -> bool,
}

/// How links are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkSyntax {
    /// `<a href>`.
    Html,
    /// `[text](target)`.
    Markdown,
}

/// Which headings get the anchors that the generator of a site gives them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SiteAnchors {
    /// None: the text has anchors of its own, or is of no site.
    None,
    Headings,
    /// Also headings in quotations, which open no sections.
    HeadingsAndQuotations,
}

impl Format {
    /// A row with nothing but what every format has; the rest is filled in with `..`.
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
            marks_parts: true,
            anchors: SiteAnchors::None,
            survey: None,
            #[cfg(test)]
            fuzz_target: None,
        }
    }

    /// Its extensions, those first that no other format has.
    pub fn all_extensions(&self) -> impl Iterator<Item = &'static str> {
        self.extensions.iter().chain(self.shared_extensions).copied()
    }

    /// Whether the file has one of its extensions.
    pub(crate) fn has_extension(&self, path: &Path) -> bool {
        extension::of(path).is_some_and(|own| self.all_extensions().any(|extension| extension == own))
    }
}

/// A name is unique among the formats.
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

//! A document in the form that `docsearch.index_docs` takes, and how a file or a server's response becomes one.

mod assembly;
pub mod boost;
pub mod distinct_title;
mod exclusion;
mod folders;

pub mod page_group;
pub mod updated;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use docsearch_core::documents::grouped_page::GroupedPage;
use docsearch_core::index::question::Question;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use url::Url;

use crate::bytes::{compression, encoding};
use crate::detection;
use crate::detection::content_type::ContentType;
pub use crate::draft::unknown_names::UnknownNames;
use crate::draft::{Draft, PART, UNUSED_PART, Unreadable, guard};
use crate::file::{self, Folder, Links, slug};
use crate::folder::included::Inclusion;
use crate::formats::format::{Format, Reader, TextSource};
use crate::formats::{has_page_extension, html};
use crate::page_questions::front_matter::LeftOut;
use crate::site::{AnchorRule, Generator, Site, SiteOptions, Sites};
use boost::Boosts;
pub use folders::Folders;

/// One element of the array that `docsearch.index_docs(project, docs)` takes.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// Its name in the project: a path without suffix.
    pub slug: String,
    /// Never empty; the name of its file, if nothing else gives one.
    pub title: String,
    /// Markdown.
    pub body: String,
    /// Groups pages in lists and searches, such as a folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// The kind of page, such as a manual page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The version of the software that it describes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Written by the author.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Search terms that the author chose.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<String>,
    /// Where it is published.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub source_urls: Vec<String>,
    /// Its file, relative to the folder that is read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_path: Option<String>,
    /// Empty if a line of JSON does not set it.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub source_root: String,
    /// The other keys of its front matter; searches can filter by them.
    #[serde(default, deserialize_with = "or_default")]
    pub metadata: Map<String, Value>,
    /// Date or time, ISO 8601.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published_at: Option<String>,
    /// Further anchors in the text, each with the anchor of the section that it is in.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub anchors: BTreeMap<String, String>,
    /// The pages that were grouped into it, if any.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub pages: Vec<GroupedPage>,
    /// The questions that it answers, in place of those that are stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub questions: Option<Value>,
    /// The title of the parent page, if the page names one.
    #[serde(skip)]
    pub parent: Option<String>,
}

fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(deserializer: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

impl Document {
    /// The questions from its file.
    pub fn own_questions(&self) -> Vec<Question> {
        let questions = self.questions.clone().map(serde_json::from_value);
        questions.and_then(Result::ok).unwrap_or_default()
    }

    /// Approximate bytes that this document adds to a batch.
    pub fn size(&self) -> usize {
        let questions = self.questions.as_ref().and_then(Value::as_array).map_or(0, Vec::len);
        self.body.len() + self.title.len() + self.slug.len() + (self.metadata.len() + questions) * 64
    }
}

/// Options for reading the pages of a source.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// Put in front of every slug.
    pub prefix: Option<String>,
    /// The version of pages that do not name one.
    pub version: Option<String>,
    /// The format of all files; detected if not given.
    pub format: Option<&'static Format>,
    /// Where symbolic links may lead.
    pub links: Links,
    /// Bytes; larger files are not read.
    pub max_file_size: u64,
    /// The CSS selector of the element that holds the text of an HTML page.
    pub content: Option<String>,
    /// Overrides the configuration of a site.
    pub site: SiteOptions,
    /// Weights of pages without one of their own.
    pub boosts: Boosts,
}

/// A file of a folder.
#[derive(Debug, Clone, Copy)]
pub struct InputFile<'a> {
    /// The folder; canonical.
    pub root: &'a Path,
    /// The path below the folder.
    pub relative: &'a Path,
    /// The name that all pages of the source share. Pages whose files were deleted are found by it.
    pub source_root: &'a str,
}

/// A document and what its reader reports about it.
#[derive(Debug)]
pub struct ReaderOutput {
    /// Complete; it can be stored.
    pub document: Document,
    /// A problem that does not prevent reading, such as a missing include.
    pub warning: Option<String>,
    /// Questions in its front matter that were left out.
    pub left_out: Option<LeftOut>,
    /// Names of markup that its reader does not know.
    pub unknown: UnknownNames,
}

/// Reads a file: one document, or several if the file contains several. `folders` has what the files of the run share.
pub fn read(
    file: &InputFile<'_>,
    options: &ReadOptions,
    folders: Option<&Folders>,
) -> Result<Vec<ReaderOutput>, Unreadable> {
    let &InputFile { root, relative, .. } = file;
    if let Some(reason) = html::exclusion::no_documentation(root, relative) {
        return Err(Unreadable::NoDocumentation(reason));
    }
    let site = folders.and_then(|folders| Some(SiteFile::new(folders.sites(root)?, root, relative)));
    let generator = site.as_ref().and_then(|file| file.site.generator());
    if let Some(reason) = exclusion::by_path(relative, generator) {
        let is_included = || folders.is_none_or(|folders| folders.included().of(root, relative) != Inclusion::Nothing);
        let is_unused = reason == PART && exclusion::shows_includes(relative, generator) && !is_included();
        return Err(Unreadable::NoDocumentation(if is_unused {
            UNUSED_PART
        } else {
            reason
        }));
    }
    if folders.is_some_and(|folders| folders.included().of(root, relative) == Inclusion::IsBook) {
        return Err(Unreadable::NoDocumentation("all pages in one"));
    }
    if let Some(reason) = site.as_ref().and_then(|file| file.site.leaves_out(&file.path)) {
        return Err(Unreadable::NoDocumentation(reason));
    }
    let bytes = file::read(root, relative, options.links, options.max_file_size.saturating_add(1))?;
    let folder = Folder {
        root: root.to_owned(),
        links: options.links,
    };
    let origin = Origin {
        path: relative,
        source_root: file.source_root,
        charset: None,
        url: None,
        folder: Some(&folder),
        folders,
        site: site.as_ref(),
    };
    guard::caught(|| documents(&origin, bytes, options.format, options))
}

/// Reads the response of a web server. Its media type takes precedence over the path of the URL; the path gives the
/// slug.
pub fn from_response(
    url: &str,
    content_type: Option<&str>,
    bytes: Vec<u8>,
    source_root: &str,
    options: &ReadOptions,
) -> Result<Vec<ReaderOutput>, Unreadable> {
    let location = Url::parse(url)
        .ok()
        .filter(Url::has_host)
        .ok_or_else(|| Unreadable::Url(url.to_owned()))?;
    let content_type = content_type.map(ContentType::parse).unwrap_or_default();
    let format = match options.format {
        Some(format) => Some(format),
        None => content_type.format(Path::new(location.path()))?,
    };
    let prefix = options.prefix.as_deref();
    let path = PathBuf::from(slug::path_of_url(&location, prefix, has_page_extension));
    if let Some(reason) = html::exclusion::no_documentation_named(&path) {
        return Err(Unreadable::NoDocumentation(reason));
    }
    let origin = Origin {
        path: &path,
        source_root,
        charset: content_type.charset(),
        url: Some(url),
        folder: None,
        folders: None,
        site: None,
    };
    guard::caught(|| documents(&origin, bytes, format, options))
}

/// Where bytes come from.
struct Origin<'a> {
    /// Relative; gives the slug, and shows the format.
    path: &'a Path,
    source_root: &'a str,
    /// Declared by the transport.
    charset: Option<&'a str>,
    url: Option<&'a str>,
    /// The folder whose files it may include.
    folder: Option<&'a Folder>,
    folders: Option<&'a Folders>,
    site: Option<&'a SiteFile>,
}

impl Origin<'_> {
    /// How much of it other files include.
    fn inclusion(&self) -> Inclusion {
        let known = self.folders.zip(self.folder);
        known.map_or(Inclusion::Nothing, |(folders, folder)| {
            folders.included().of(&folder.root, self.path)
        })
    }

    fn generator(&self) -> Option<&'static Generator> {
        self.site.and_then(|file| file.site.generator())
    }

    fn anchors(&self) -> AnchorRule {
        self.site.map(|file| file.site.anchors()).unwrap_or_default()
    }
}

/// A file that is a page of a site.
struct SiteFile {
    site: Arc<Site>,
    /// The folder that is indexed.
    root: PathBuf,
    /// Absolute.
    path: PathBuf,
}

impl SiteFile {
    fn new(sites: &Sites, root: &Path, relative: &Path) -> Self {
        let path = root.join(relative);
        Self {
            site: sites.of(path.parent().unwrap_or(root)),
            root: root.to_owned(),
            path,
        }
    }
}

fn documents(
    origin: &Origin<'_>,
    bytes: Vec<u8>,
    format: Option<&'static Format>,
    options: &ReadOptions,
) -> Result<Vec<ReaderOutput>, Unreadable> {
    if bytes.len() as u64 > options.max_file_size {
        return Err(Unreadable::TooLarge(options.max_file_size));
    }
    let bytes = compression::uncompressed(bytes, options.max_file_size)?;
    let known = format
        .or_else(|| detection::from_bytes(&bytes))
        .or_else(|| detection::from_name(origin.path));
    let (format, drafts) = match known {
        Some(
            format @ &Format {
                reader: Reader::Bytes(read),
                ..
            },
        ) => (format, read(&bytes)?),
        _ => text_drafts(origin, known, bytes, options)?,
    };
    let (mut outputs, mut refusal) = (Vec::new(), None);
    for draft in drafts {
        match assembly::assemble(origin, format, draft, options) {
            Ok(output) => outputs.push(output),
            // A chapter that is a list of names is no reason to leave out the book.
            Err(reason @ Unreadable::NoDocumentation(_)) => refusal = Some(reason),
            Err(error) => return Err(error),
        }
    }
    match refusal.filter(|_| outputs.is_empty()) {
        Some(reason) => Err(reason),
        None => Ok(outputs),
    }
}

fn text_drafts(
    origin: &Origin<'_>,
    known: Option<&'static Format>,
    bytes: Vec<u8>,
    options: &ReadOptions,
) -> Result<(&'static Format, Vec<Draft>), Unreadable> {
    let decode = known
        .and_then(|format| format.decode)
        .or_else(|| detection::possible_from_name(origin.path)?.decode)
        .unwrap_or(encoding::decode_text);
    let text = decode(bytes, origin.charset)?;
    let format = known.unwrap_or_else(|| detection::from_content(&text));
    let Reader::Text(read) = format.reader else {
        return Ok((format, Vec::new()));
    };
    let drafts = read(&TextSource {
        text: &text,
        path: origin.path,
        folder: origin.folder,
        content: options.content.as_deref(),
        extensions: origin.site.map(|file| file.site.extensions()).unwrap_or_default(),
        shared: origin.folders.and_then(|folders| folders.shared(format)),
        sphinx: origin.site.and_then(|file| file.site.sphinx()),
    })?;
    Ok((format, drafts))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn read_bytes(path: &str, bytes: &[u8]) -> Result<Document, Unreadable> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, bytes).unwrap();
        let options = ReadOptions {
            prefix: Some("kit".to_owned()),
            max_file_size: 1000,
            ..ReadOptions::default()
        };
        let file = InputFile {
            root: folder.path(),
            relative: Path::new(path),
            source_root: "docs",
        };
        let mut outputs = read(&file, &options, None)?;
        assert_eq!(outputs.len(), 1);
        Ok(outputs.remove(0).document)
    }

    #[test]
    fn the_path_and_the_first_heading_describe_a_page_without_front_matter() {
        let document = read_bytes(
            "guides/intro/start.md",
            b"\xef\xbb\xbf# Getting `started`\r\n\r\nText\r\n",
        )
        .unwrap();
        assert_eq!(document.slug, "kit/guides/intro/start");
        assert_eq!(document.title, "Getting started");
        assert_eq!(document.category.as_deref(), Some("guides"));
        assert_eq!(document.body, "# Getting `started`\n\nText\n");
        assert_eq!(document.source_path.as_deref(), Some("guides/intro/start.md"));
    }

    #[test]
    fn front_matter_takes_precedence_over_path_and_heading() {
        let text = b"---\ntitle: Start here\nslug: /begin\ncategory: Basics\n---\n# Other\n";
        let document = read_bytes("guides/start.md", text).unwrap();
        assert_eq!(document.slug, "kit/begin");
        assert_eq!(document.title, "Start here");
        assert_eq!(document.category.as_deref(), Some("Basics"));
    }

    #[test]
    fn a_page_without_heading_is_named_after_its_file() {
        let document = read_bytes("notes.txt", b"Just a note.").unwrap();
        assert_eq!(document.title, "notes");
        assert_eq!(document.category, None);
    }

    #[test]
    fn a_chapter_that_is_a_list_of_names_does_not_hide_the_book() {
        let names: String = (0..40)
            .map(|number| format!("<li><a href='#{number}'>kite_{number}</a></li>"))
            .collect();
        let package = "<package><manifest><item id='l' href='l.html' media-type='text/html'/>\
            <item id='f' href='f.html' media-type='text/html'/></manifest>\
            <spine><itemref idref='l'/><itemref idref='f'/></spine></package>";
        let list = format!("<h1>Kites</h1><ul>{names}</ul>");
        let files = [
            (
                "META-INF/container.xml",
                "<c><rootfiles><rootfile full-path='book.opf'/></rootfiles></c>",
            ),
            ("book.opf", package),
            ("l.html", &list),
            ("f.html", "<h1>Flying</h1><p>Let it go when the wind is strong.</p>"),
        ];
        let read = |files: &[(&str, &str)]| {
            let options = ReadOptions {
                max_file_size: 100_000,
                ..ReadOptions::default()
            };
            let bytes = crate::bytes::package::packed(files);
            from_response(
                "https://a.test/book",
                Some("application/epub+zip"),
                bytes,
                "docs",
                &options,
            )
        };
        let titles: Vec<String> = read(&files)
            .unwrap()
            .into_iter()
            .map(|output| output.document.title)
            .collect();
        assert_eq!(titles, ["Flying"]);
        let alone = package.replace("<itemref idref='f'/>", "");
        assert!(matches!(
            read(&[files[0], ("book.opf", &alone), files[2]]),
            Err(Unreadable::NoDocumentation("list of names"))
        ));
    }

    #[test]
    fn binary_files_are_refused_with_the_reason() {
        assert!(matches!(read_bytes("a.md", b"ab\xff"), Err(Unreadable::NotUtf8(2))));
        assert!(matches!(read_bytes("a.md", b"a\0b"), Err(Unreadable::Binary(1))));
        assert!(matches!(
            read_bytes("a.md", &[b'x'; 1001]),
            Err(Unreadable::TooLarge(1000))
        ));
    }

    fn respond(url: &str, content_type: Option<&str>, body: &str) -> Result<Document, Unreadable> {
        let options = ReadOptions {
            max_file_size: 10_000,
            ..ReadOptions::default()
        };
        let root = "https://docs.example.test";
        let mut outputs = from_response(url, content_type, body.as_bytes().to_vec(), root, &options)?;
        assert_eq!(outputs.len(), 1);
        Ok(outputs.remove(0).document)
    }

    #[test]
    fn a_response_is_read_by_its_type_and_named_by_its_path() {
        let url = "https://docs.example.test/guide/v1.2/?page=2#top";
        let page = respond(
            url,
            Some("text/html; charset=utf-8"),
            "<main><h1>Start</h1><p>Text</p></main>",
        )
        .unwrap();
        assert_eq!(page.slug, "guide/v1.2");
        assert_eq!(page.title, "Start");
        assert_eq!(page.category.as_deref(), Some("guide"));
        assert_eq!(page.source_urls, [url]);

        let url = "https://docs.example.test/caf%C3%A9/page.md";
        let page = respond(url, Some("text/plain"), "# Title\n").unwrap();
        assert_eq!((page.slug.as_str(), page.title.as_str()), ("café/page", "Title"));

        let page = respond("https://docs.example.test", None, "<!doctype html><p>Hello</p>").unwrap();
        assert_eq!(page.slug, "docs.example.test");
    }

    #[test]
    fn a_response_that_is_not_text_is_refused() {
        assert!(matches!(
            respond("https://docs.example.test/logo", Some("image/png"), ""),
            Err(Unreadable::ContentType(_))
        ));
        assert!(matches!(respond("/relative", None, ""), Err(Unreadable::Url(_))));
    }
}

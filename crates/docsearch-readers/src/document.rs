//! A document as `docsearch.index_docs` takes it, and how a file or an answer of a server becomes one.

mod assembly;
mod conversion;
pub mod distinct_title;
mod no_page;
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
use crate::draft::{Draft, Unreadable};
use crate::file::{self, Folder, Links, extension, slug};
use crate::folder::included::IncludedFiles;
use crate::formats::html::Frames;
use crate::formats::rst::LabelledFolders;
use crate::formats::{docx, epub, html, pdf};
use crate::markup::content_type::ContentType;
use crate::markup::{self, Markup};
use crate::page_questions::front_matter::LeftOut;
use crate::site::{Site, Sites};

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
    /// By which lists and searches put pages together, such as a folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// What sort of page it is, such as a page of the manual.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The version of the software that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// As its author wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Words by which it is to be found, as its author gave them.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<String>,
    /// Where it is published.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub source_urls: Vec<String>,
    /// Its file, relative to the folder that is read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_path: Option<String>,
    /// Empty where only a line of JSON could name it and does not.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub source_root: String,
    /// What its front matter says besides; searches can filter by it.
    #[serde(default, deserialize_with = "or_default")]
    pub metadata: Map<String, Value>,
    /// Date or time, ISO 8601.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published_at: Option<String>,
    /// Other names of places, each with the anchor of its section.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub anchors: BTreeMap<String, String>,
    /// The pages that it was put together from, if it was.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub pages: Vec<GroupedPage>,
    /// The questions that it answers, in place of those that are stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub questions: Option<Value>,
    /// The title of the page above, where the page names one.
    #[serde(skip)]
    pub parent: Option<String>,
}

fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(deserializer: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

impl Document {
    /// The questions that the reader of its file found.
    pub fn own_questions(&self) -> Vec<Question> {
        let questions = self.questions.clone().map(serde_json::from_value);
        questions.and_then(Result::ok).unwrap_or_default()
    }

    /// Bytes that this document adds to a batch, near enough to bound it.
    pub fn size(&self) -> usize {
        let questions = self.questions.as_ref().and_then(Value::as_array).map_or(0, Vec::len);
        self.body.len() + self.title.len() + self.slug.len() + (self.metadata.len() + questions) * 64
    }
}

/// How files are read.
#[derive(Debug, Default)]
pub struct ReadOptions<'a> {
    /// Put in front of every slug.
    pub prefix: Option<&'a str>,
    /// What the pages of one source have in common, by which those that are gone are found.
    pub source_root: &'a str,
    /// Bytes; larger files are not read.
    pub max_file_size: u64,
    /// What every file is written in; by name and content when not given.
    pub markup: Option<Markup>,
    /// Where the text of an HTML page is.
    pub content: Option<&'a str>,
    /// What the pages of a folder of HTML have in common.
    pub frames: Option<&'a Frames>,
    /// The labels by which the pages of a folder of reStructuredText refer to each other.
    pub labels: Option<&'a LabelledFolders>,
    /// The files of a folder that others include.
    pub included: Option<&'a IncludedFiles>,
    /// What is known of the sites whose pages the files are.
    pub sites: Option<&'a Sites>,
}

/// A document and what its reader has to say about it.
#[derive(Debug)]
pub struct Reading {
    /// Whole, as it may be stored.
    pub document: Document,
    /// What is not as its author wanted it, such as an include that leads nowhere.
    pub warning: Option<String>,
    /// Questions of its front matter that it does not have.
    pub left_out: Option<LeftOut>,
}

/// Reads the file at `relative` below `root`: one document, or several where the file holds several.
pub fn read(root: &Path, relative: &Path, links: Links, options: &ReadOptions<'_>) -> Result<Vec<Reading>, Unreadable> {
    if let Some(reason) = html::site::no_documentation(root, relative) {
        return Err(Unreadable::NoDocumentation(reason));
    }
    let home = options.sites.map(|sites| Home::new(sites, root, relative));
    if let Some(reason) = no_page::by_path(relative, home.as_ref().and_then(|home| home.site.generator())) {
        return Err(Unreadable::NoDocumentation(reason));
    }
    if let Some(reason) = home.as_ref().and_then(|home| home.site.leaves_out(&home.file)) {
        return Err(Unreadable::NoDocumentation(reason));
    }
    let bytes = file::read(root, relative, links, options.max_file_size.saturating_add(1))?;
    let folder = Folder {
        root: root.to_owned(),
        links,
    };
    let source = Source {
        path: relative,
        charset: None,
        url: None,
        folder: Some(&folder),
        is_included: options
            .included
            .is_some_and(|included| included.contains(root, relative)),
        home: home.as_ref(),
    };
    readings(&source, bytes, options.markup, options)
}

/// Reads what a web server answered. The type of the content goes before the path of the URL, the
/// path names the slug.
pub fn from_response(
    url: &str,
    content_type: Option<&str>,
    bytes: Vec<u8>,
    options: &ReadOptions<'_>,
) -> Result<Vec<Reading>, Unreadable> {
    let location = Url::parse(url)
        .ok()
        .filter(Url::has_host)
        .ok_or_else(|| Unreadable::Url(url.to_owned()))?;
    let content_type = content_type.map(ContentType::parse).unwrap_or_default();
    let markup = match options.markup {
        Some(markup) => Some(markup),
        None => content_type.markup(Path::new(location.path()))?,
    };
    let path = PathBuf::from(slug::path_of_url(&location, options.prefix));
    if let Some(reason) = html::site::no_documentation_named(&path) {
        return Err(Unreadable::NoDocumentation(reason));
    }
    let source = Source {
        path: &path,
        charset: content_type.charset(),
        url: Some(url),
        folder: None,
        is_included: false,
        home: None,
    };
    readings(&source, bytes, markup, options)
}

/// Where the bytes come from.
struct Source<'a> {
    /// Relative; names the slug and the kind of file.
    path: &'a Path,
    /// As the transport names it.
    charset: Option<&'a str>,
    url: Option<&'a str>,
    /// Where other files may be read that it includes.
    folder: Option<&'a Folder>,
    /// Whether another file includes it.
    is_included: bool,
    home: Option<&'a Home>,
}

/// The site that a file is a page of.
struct Home {
    site: Arc<Site>,
    /// The folder that is indexed.
    root: PathBuf,
    /// Absolute.
    file: PathBuf,
}

impl Home {
    fn new(sites: &Sites, root: &Path, relative: &Path) -> Self {
        let file = root.join(relative);
        Self {
            site: sites.of(file.parent().unwrap_or(root)),
            root: root.to_owned(),
            file,
        }
    }
}

fn readings(
    source: &Source<'_>,
    bytes: Vec<u8>,
    markup: Option<Markup>,
    options: &ReadOptions<'_>,
) -> Result<Vec<Reading>, Unreadable> {
    if bytes.len() as u64 > options.max_file_size {
        return Err(Unreadable::TooLarge(options.max_file_size));
    }
    let bytes = compression::uncompressed(bytes, options.max_file_size)?;
    let named = markup
        .or_else(|| markup::from_bytes(&bytes))
        .or_else(|| markup::from_name(source.path));
    if let Some(drafts) = binary_drafts(named, &bytes) {
        return drafts?
            .into_iter()
            .map(|draft| assembly::assemble(source, Markup::Pdf, draft, options))
            .collect();
    }
    let text = match named {
        Some(Markup::Html) => encoding::decode_html(bytes, source.charset)?,
        // Older pages of the manual are of Latin-1, and seldom say so.
        _ if source.charset.is_none() && extension::is_of_manual(source.path) => {
            let charset = std::str::from_utf8(&bytes).is_err().then_some("latin1");
            encoding::decode_text(bytes, charset)?
        }
        _ => encoding::decode_text(bytes, source.charset)?,
    };
    let markup = named.unwrap_or_else(|| markup::from_content(&text));
    conversion::drafts(source, markup, &text, options)?
        .into_iter()
        .map(|draft| assembly::assemble(source, markup, draft, options))
        .collect()
}

/// The documents of a file that is no text; `None` for a text.
fn binary_drafts(markup: Option<Markup>, bytes: &[u8]) -> Option<Result<Vec<Draft>, Unreadable>> {
    match markup? {
        Markup::Pdf => Some(pdf::read(bytes).map(|draft| vec![draft])),
        Markup::Epub => Some(epub::read(bytes)),
        Markup::Docx => Some(docx::read(bytes).map(|draft| vec![draft])),
        _ => None,
    }
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
            prefix: Some("kit"),
            source_root: "docs",
            max_file_size: 1000,
            ..ReadOptions::default()
        };
        let mut readings = read(folder.path(), Path::new(path), Links::Inside, &options)?;
        assert_eq!(readings.len(), 1);
        Ok(readings.remove(0).document)
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
    fn front_matter_goes_before_path_and_heading() {
        let text = b"---\ntitle: Start here\nslug: /begin\ncategory: Basics\n---\n# Other\n";
        let document = read_bytes("guides/start.md", text).unwrap();
        assert_eq!(document.slug, "kit/begin");
        assert_eq!(document.title, "Start here");
        assert_eq!(document.category.as_deref(), Some("Basics"));
    }

    #[test]
    fn a_page_without_heading_is_called_like_its_file() {
        let document = read_bytes("notes.txt", b"Just a note.").unwrap();
        assert_eq!(document.title, "notes");
        assert_eq!(document.category, None);
    }

    #[test]
    fn files_that_are_no_text_are_refused_with_the_reason() {
        assert!(matches!(read_bytes("a.md", b"ab\xff"), Err(Unreadable::NotUtf8(2))));
        assert!(matches!(read_bytes("a.md", b"a\0b"), Err(Unreadable::Binary(1))));
        assert!(matches!(
            read_bytes("a.md", &[b'x'; 1001]),
            Err(Unreadable::TooLarge(1000))
        ));
    }

    fn respond(url: &str, content_type: Option<&str>, body: &str) -> Result<Document, Unreadable> {
        let options = ReadOptions {
            prefix: None,
            source_root: "https://docs.example.test",
            max_file_size: 10_000,
            ..ReadOptions::default()
        };
        let mut readings = from_response(url, content_type, body.as_bytes().to_vec(), &options)?;
        assert_eq!(readings.len(), 1);
        Ok(readings.remove(0).document)
    }

    #[test]
    fn an_answer_is_read_by_its_type_and_named_by_its_path() {
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
    fn an_answer_that_is_no_text_is_refused() {
        assert!(matches!(
            respond("https://docs.example.test/logo", Some("image/png"), ""),
            Err(Unreadable::ContentType(_))
        ));
        assert!(matches!(respond("/relative", None, ""), Err(Unreadable::Url(_))));
    }
}

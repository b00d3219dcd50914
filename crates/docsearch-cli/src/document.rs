//! A document as `docsearch.index_docs` takes it, and how a file or an answer of a server becomes one.

use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use url::Url;

use crate::content_type::ContentType;
use crate::draft::{Draft, Unreadable};
use crate::file::{self, Folder, Links};
use crate::markdown::{self, Extensions};
use crate::markup::{self, Markup};
use crate::{
    asciidoc, compression, encoding, extension, front_matter, heading, html, llms, manual_page, notebook, openapi, pdf,
    roff, rst, slug,
};

/// One element of the array that `docsearch.index_docs(project, docs)` takes.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Document {
    pub(crate) slug: String,
    pub(crate) title: String,
    /// Markdown.
    pub(crate) body: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) category: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) summary: Option<String>,
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub(crate) keywords: Vec<String>,
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub(crate) source_urls: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) source_path: Option<String>,
    /// Empty where only a line of JSON could name it and does not.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub(crate) source_root: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) metadata: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) published_at: Option<String>,
}

fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(deserializer: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

impl Document {
    /// Bytes that this document adds to a batch, near enough to bound it.
    pub(crate) fn size(&self) -> usize {
        self.body.len() + self.title.len() + self.slug.len() + self.metadata.len() * 64
    }
}

/// How files are read.
#[derive(Debug)]
pub(crate) struct ReadOptions<'a> {
    pub(crate) prefix: Option<&'a str>,
    pub(crate) source_root: &'a str,
    /// Bytes; larger files are not read.
    pub(crate) max_file_size: u64,
    /// What every file is written in; by name and content when not given.
    pub(crate) markup: Option<Markup>,
}

/// A document and what its reader has to say about it.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) document: Document,
    pub(crate) warning: Option<String>,
}

/// Reads the file at `relative` below `root`: one document, or several where the file holds several.
pub(crate) fn read(
    root: &Path,
    relative: &Path,
    links: Links,
    options: &ReadOptions<'_>,
) -> Result<Vec<Reading>, Unreadable> {
    if let Some(reason) = html::site::no_documentation(root, relative) {
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
    };
    readings(&source, bytes, options.markup, options)
}

/// Reads what a web server answered. The type of the content goes before the path of the URL, the
/// path names the slug.
pub(crate) fn from_response(
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
            .map(|draft| assemble(source, draft, options))
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
    drafts(source, markup, &text)?
        .into_iter()
        .map(|draft| assemble(source, draft, options))
        .collect()
}

/// The documents of a file that is no text; `None` for a text.
fn binary_drafts(markup: Option<Markup>, bytes: &[u8]) -> Option<Result<Vec<Draft>, Unreadable>> {
    match markup? {
        Markup::Pdf => Some(pdf::read(bytes).map(|draft| vec![draft])),
        _ => None,
    }
}

fn drafts(source: &Source<'_>, markup: Markup, text: &str) -> Result<Vec<Draft>, Unreadable> {
    let converted = |convert: &dyn Fn(&str) -> String| {
        let page = front_matter::split(text);
        vec![Draft {
            body: convert(page.body),
            warning: page.problem.map(|reason| format!("front matter ignored: {reason}")),
            ..Draft::new(page.front_matter)
        }]
    };
    Ok(match markup {
        Markup::Plain => converted(&str::to_owned),
        Markup::Markdown => converted(&|text| markdown::to_markdown(text, Extensions::default())),
        Markup::Mdx => converted(&|text| {
            let extensions = Extensions {
                mdx: true,
                ..Extensions::default()
            };
            markdown::to_markdown(text, extensions)
        }),
        Markup::ReStructuredText => converted(&rst::to_markdown),
        Markup::AsciiDoc => asciidoc::read(source.folder, source.path, text)?,
        Markup::Roff => vec![roff::read(text)?],
        Markup::Html => vec![html::read(source.path, text)?],
        Markup::Notebook => vec![notebook::read(text)?],
        Markup::OpenApi => openapi::read(text)?,
        Markup::Llms => llms::read(source.path, text),
        Markup::Pdf => Vec::new(),
    })
}

fn assemble(source: &Source<'_>, draft: Draft, options: &ReadOptions<'_>) -> Result<Reading, Unreadable> {
    let Draft {
        below,
        matter,
        body,
        warning,
    } = draft;
    let mut slug = match &matter.slug {
        Some(own) => {
            let own = slug::normalise(own);
            if own.is_empty() {
                return Err(Unreadable::EmptySlug);
            }
            let prefix = options.prefix.map(slug::normalise).filter(|prefix| !prefix.is_empty());
            prefix.into_iter().chain([own]).collect::<Vec<_>>().join("/")
        }
        None => slug::from_path(&slug_path(source.path), options.prefix),
    };
    if let Some(below) = below {
        slug = format!("{slug}/{}", slug::normalise(&below));
    }
    let title = matter
        .title
        .or_else(|| heading::first_heading(&body))
        .unwrap_or_else(|| file_title(source.path));
    let mut source_urls = matter.source_urls;
    if source_urls.is_empty() {
        source_urls.extend(source.url.map(str::to_owned));
    }
    let document = Document {
        slug,
        title,
        body,
        category: matter.category.or_else(|| first_folder(source.path)),
        kind: matter.kind,
        version: matter.version,
        summary: matter.summary,
        keywords: matter.keywords,
        source_urls,
        source_path: Some(source.path.to_string_lossy().into_owned()),
        source_root: options.source_root.to_owned(),
        metadata: matter.metadata,
        published_at: matter.published_at,
    };
    Ok(Reading { document, warning })
}

/// The path that names the slug. The section of a page of the manual is part of its name: `crontab.1` is another page
/// than `crontab.5`.
fn slug_path(path: &Path) -> PathBuf {
    let path = extension::uncompressed(path);
    match extension::is_of_manual(&path)
        && extension::of(&path).is_some_and(|section| manual_page::is_section(&section))
    {
        true => path.with_added_extension("man"),
        false => path,
    }
}

fn file_title(relative: &Path) -> String {
    relative.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn first_folder(relative: &Path) -> Option<String> {
    let mut components = relative.components();
    match (components.next(), components.next()) {
        (Some(Component::Normal(folder)), Some(_)) => Some(folder.to_string_lossy().into_owned()),
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
            markup: None,
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
            markup: None,
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

//! A document as `docsearch.index_docs` takes it, and how a file becomes one.

use std::fs;
use std::io::Read;
use std::path::{Component, Path};

use serde::Serialize;
use serde_json::{Map, Value};

use crate::front_matter::{self, FrontMatter};
use crate::markup::{self, Markup};
use crate::{heading, mdx, rst, slug};

/// One element of the array that `docsearch.index_docs(project, docs)` takes.
#[derive(Debug, Default, Serialize)]
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
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) keywords: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) source_urls: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) source_path: Option<String>,
    pub(crate) source_root: String,
    pub(crate) metadata: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) published_at: Option<String>,
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
}

/// Why a file is left out.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unreadable {
    #[error("cannot be read: {0}")]
    Io(#[from] std::io::Error),
    #[error("larger than {0} bytes")]
    TooLarge(u64),
    #[error("not UTF-8: invalid byte at offset {0}")]
    NotUtf8(usize),
    #[error("binary: NUL byte at offset {0}")]
    Binary(usize),
    #[error("front matter gives an empty slug")]
    EmptySlug,
}

/// A document and what its reader has to say about it.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) document: Document,
    pub(crate) warning: Option<String>,
}

/// Reads the file at `relative` below `root`.
pub(crate) fn read(root: &Path, relative: &Path, options: &ReadOptions<'_>) -> Result<Reading, Unreadable> {
    let text = read_text(&root.join(relative), options.max_file_size)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let text = text.replace("\r\n", "\n");
    let page = front_matter::split(&text);
    let body = match markup::detect(relative, page.body) {
        Markup::Markdown | Markup::Plain => page.body.to_owned(),
        Markup::Mdx => mdx::to_markdown(page.body),
        Markup::ReStructuredText => rst::to_markdown(page.body),
    };
    let document = assemble(relative, page.front_matter, body, options)?;
    let warning = page.problem.map(|reason| format!("front matter ignored: {reason}"));
    Ok(Reading { document, warning })
}

fn read_text(path: &Path, max_size: u64) -> Result<String, Unreadable> {
    let mut bytes = Vec::new();
    fs::File::open(path)?
        .take(max_size.saturating_add(1))
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_size {
        return Err(Unreadable::TooLarge(max_size));
    }
    if let Some(offset) = bytes.iter().position(|&byte| byte == 0) {
        return Err(Unreadable::Binary(offset));
    }
    String::from_utf8(bytes).map_err(|error| Unreadable::NotUtf8(error.utf8_error().valid_up_to()))
}

fn assemble(
    relative: &Path,
    matter: FrontMatter,
    body: String,
    options: &ReadOptions<'_>,
) -> Result<Document, Unreadable> {
    let slug = match &matter.slug {
        Some(own) => {
            let own = slug::normalise(own);
            if own.is_empty() {
                return Err(Unreadable::EmptySlug);
            }
            let prefix = options.prefix.map(slug::normalise).filter(|prefix| !prefix.is_empty());
            prefix.into_iter().chain([own]).collect::<Vec<_>>().join("/")
        }
        None => slug::from_path(relative, options.prefix),
    };
    let title = matter
        .title
        .or_else(|| heading::first_heading(&body))
        .unwrap_or_else(|| file_title(relative));
    Ok(Document {
        slug,
        title,
        body,
        category: matter.category.or_else(|| first_folder(relative)),
        kind: matter.kind,
        version: matter.version,
        summary: matter.summary,
        keywords: matter.keywords,
        source_urls: matter.source_urls,
        source_path: Some(relative.to_string_lossy().into_owned()),
        source_root: options.source_root.to_owned(),
        metadata: matter.metadata,
        published_at: matter.published_at,
    })
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
        };
        read(folder.path(), Path::new(path), &options).map(|reading| reading.document)
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
}

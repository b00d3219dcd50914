//! Books (EPUB): a document for each chapter of the spine, in order, read as HTML. A chapter may have several files.

mod contents;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::io::{Read, Seek};
use std::path::Path;

#[cfg(test)]
use docsearch_fuzz::{Format as Grammar, Target};
use quick_xml::events::{BytesEnd, Event};
use quick_xml::{Reader, Writer};
use serde_json::Value;

use crate::bytes::encoding;
#[cfg(test)]
use crate::bytes::package::packed;
use crate::bytes::package::{self, Archive};
use crate::bytes::xml::Element;
use crate::draft::{Draft, Unreadable, file_properties, front_matter};
use crate::formats::format::{Format, Reader as FormatReader, Signature};
#[cfg(test)]
use crate::formats::growth;
use crate::formats::html;
use crate::text::heading;

pub(crate) static FORMAT: Format = Format {
    extensions: &["epub"],
    media_types: &[MEDIA_TYPE],
    signature: Some(Signature::Entry("mimetype", Some(MEDIA_TYPE.as_bytes()))),
    #[cfg(test)]
    fuzz_target: Some(
        Target::new("readers-epub", Grammar::OFFICE, |input| {
            let text = &*docsearch_fuzz::text(input);
            let container = "<container><rootfiles><rootfile full-path='a'/></rootfiles></container>";
            let package = "<package><manifest><item id='b' href='b' media-type='text/html'/></manifest>\
                <spine><itemref idref='b'/></spine></package>";
            let files = [("META-INF/container.xml", container), ("a", package), ("b", text)];
            growth::check_bytes(&FORMAT, text, &packed(&files));
        })
        .up_to(8 * 1024),
    ),
    ..Format::new(
        "epub",
        NAME,
        "EPUB: a document for every chapter of a book",
        FormatReader::Bytes(read),
    )
};

const NAME: &str = "EPUB";
const MEDIA_TYPE: &str = "application/epub+zip";
const PACKAGE_MEDIA_TYPE: &str = "application/oebps-package+xml";
/// HTML in books before EPUB.
const OLD_MEDIA_TYPE: &str = "text/x-oeb1-document";
const MAX_CHAPTERS: usize = 5_000;
const MAX_FALLBACKS: usize = 10;
/// HTML elements without an end tag.
const VOID: [&str; 14] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
];

/// Reads the file `bytes`.
fn read(bytes: &[u8]) -> Result<Vec<Draft>, Unreadable> {
    let mut archive = Archive::open(bytes, NAME)?;
    let (package_path, package) = package(&mut archive)?;
    let encrypted = encrypted(&mut archive)?;
    let manifest = Manifest::read(&package_path, &package);
    let labels = contents::labels(&mut archive, &manifest.contents());
    let book = Book::of(&package);
    let mut drafts: Vec<Draft> = Vec::new();
    let mut failed = 0;
    let chapters = manifest.chapters(&package);
    for path in &chapters {
        match read_chapter(&mut archive, path, &encrypted) {
            Ok(draft) => {
                let label = labels.get(path).map(String::as_str);
                let last = drafts.last_mut().filter(|_| !labels.is_empty() && label.is_none());
                match last {
                    Some(last) if book.has_no_title(&draft) => {
                        last.body.push('\n');
                        last.body.push_str(&draft.body);
                        last.unknown.extend(&draft.unknown);
                    }
                    _ => drafts.push(book.chapter(draft, path, label)),
                }
            }
            // A cover, or an image of a page.
            Err(Unreadable::NoDocumentation(_)) => {}
            Err(_) => failed += 1,
        }
    }
    let warning = (failed > 0).then(|| format!("{failed} of {} chapters cannot be read", chapters.len()));
    match (drafts.first_mut(), warning) {
        (Some(first), warning) => first.warning = warning,
        (None, _) if !encrypted.is_empty() => return Err(malformed("it is encrypted".to_owned())),
        (None, Some(warning)) => return Err(malformed(warning)),
        (None, None) => return Err(malformed("it has no text".to_owned())),
    }
    Ok(drafts)
}

/// The file that lists the others, with its path: the first that exists of those that the container names.
fn package<R: Read + Seek>(archive: &mut Archive<R>) -> Result<(String, Element), Unreadable> {
    let container = archive.read_xml("META-INF/container.xml")?;
    let files = container.as_ref().and_then(|container| container.child("rootfiles"));
    // A container may offer the book in other formats, too.
    let is_package = |file: &&Element| {
        file.attribute("media-type")
            .is_none_or(|kind| kind == PACKAGE_MEDIA_TYPE)
    };
    let named = files.into_iter().flat_map(Element::elements).filter(is_package);
    let named = named.filter_map(|file| file.attribute("full-path").map(str::to_owned));
    for path in named.chain(archive.paths_with_end(".opf")) {
        if let Some(package) = archive.read_xml(&path)? {
            return Ok((path, package));
        }
    }
    Err(malformed(match container {
        Some(_) => "it has no package".to_owned(),
        None => "it has no META-INF/container.xml".to_owned(),
    }))
}

fn malformed(reason: String) -> Unreadable {
    Unreadable::Malformed { format: NAME, reason }
}

/// The paths of encrypted files.
fn encrypted<R: Read + Seek>(archive: &mut Archive<R>) -> Result<HashSet<String>, Unreadable> {
    let Some(root) = archive.read_xml("META-INF/encryption.xml")? else {
        return Ok(HashSet::new());
    };
    let of = |data: &Element| {
        let reference = data.child("CipherData")?.child("CipherReference")?;
        Some(package::resolve("", reference.attribute("URI")?))
    };
    Ok(root.elements().filter_map(of).collect())
}

/// The files of a book.
struct Manifest<'a>(Vec<Item<'a>>);

struct Item<'a> {
    id: &'a str,
    path: String,
    media_type: &'a str,
    /// The item that readers show in place of one that they cannot show.
    fallback: Option<&'a str>,
    /// Whether it is the table of contents.
    is_contents: bool,
}

impl<'a> Manifest<'a> {
    fn read(package_path: &str, package: &'a Element) -> Self {
        let items = package
            .child("manifest")
            .into_iter()
            .flat_map(Element::elements)
            .filter_map(|item| {
                let properties = item.attribute("properties").unwrap_or_default();
                Some(Item {
                    id: item.attribute("id")?,
                    path: package::resolve(package_path, item.attribute("href")?),
                    media_type: item.attribute("media-type").unwrap_or_default(),
                    fallback: item.attribute("fallback"),
                    is_contents: properties.split_whitespace().any(|property| property == "nav"),
                })
            });
        Self(items.collect())
    }

    /// The paths of tables of contents.
    fn contents(&self) -> Vec<String> {
        let items = self
            .0
            .iter()
            .filter(|item| item.is_contents || item.media_type == contents::MEDIA_TYPE);
        items.map(|item| item.path.clone()).collect()
    }

    /// The paths of the chapters in reading order.
    fn chapters(&self, package: &Element) -> Vec<String> {
        let spine = package.child("spine").into_iter().flat_map(Element::elements);
        let items: Vec<&Item<'_>> = spine.filter_map(|item| self.html(item.attribute("idref")?)).collect();
        // A short book may have its table of contents in its only file.
        let is_all_contents = items.iter().all(|item| item.is_contents);
        let mut seen = HashSet::new();
        let paths = items
            .iter()
            .filter(|item| is_all_contents || !item.is_contents)
            .map(|item| &item.path);
        let paths = paths.filter(|path| seen.insert(path.as_str())).cloned();
        paths.take(MAX_CHAPTERS).collect()
    }

    /// The item, or the fallback of it that is HTML.
    fn html(&self, id: &str) -> Option<&Item<'a>> {
        let of = |id: &str| self.0.iter().find(|item| item.id == id);
        let fallbacks = std::iter::successors(of(id), |item| of(item.fallback?)).take(MAX_FALLBACKS);
        let mut pages = fallbacks.filter(|item| {
            let is_known = html::FORMAT.media_types.contains(&item.media_type);
            is_known || html::is_named(Path::new(&item.path)) || item.media_type == OLD_MEDIA_TYPE
        });
        pages.next()
    }
}

fn read_chapter<R: Read + Seek>(
    archive: &mut Archive<R>,
    path: &str,
    encrypted: &HashSet<String>,
) -> Result<Draft, Unreadable> {
    if encrypted.contains(path) {
        return Err(malformed(format!("{path} is encrypted")));
    }
    let bytes = archive
        .read(path)?
        .ok_or_else(|| malformed(format!("it has no {path}")))?;
    let text = encoding::decode_html(bytes, None)?;
    html::read(
        Path::new(path),
        &with_ends(&text).unwrap_or(text),
        None,
        &html::Frame::of_book(),
    )
}

/// Expands self-closing elements, which only XML has; `None` if `text` is not XML.
fn with_ends(text: &str) -> Option<String> {
    let mut reader = Reader::from_str(text);
    let config = reader.config_mut();
    config.allow_dangling_amp = true;
    config.allow_unmatched_ends = true;
    config.check_end_names = false;
    let mut writer = Writer::new(Vec::new());
    loop {
        match reader.read_event().ok()? {
            Event::Eof => break,
            Event::Empty(tag) if !VOID.contains(&tag.local_name().as_ref()) => {
                let name = tag.name().as_ref().to_owned();
                writer.write_event(Event::Start(tag)).ok()?;
                writer.write_event(Event::End(BytesEnd::new(name))).ok()?;
            }
            Event::CData(text) => writer.write_event(Event::Text(text.escape().ok()?)).ok()?,
            event => writer.write_event(event).ok()?,
        }
    }
    String::from_utf8(writer.into_inner()).ok()
}

/// The metadata of all chapters.
struct Book {
    title: Option<String>,
    author: Option<String>,
    keywords: Vec<String>,
    modified: Option<String>,
}

impl Book {
    fn of(package: &Element) -> Self {
        let metadata = || package.child("metadata").into_iter().flat_map(Element::elements);
        let texts = |name: &'static str| metadata().filter(move |one| one.name == name).filter_map(Element::text);
        let changed = metadata().find(|one| one.attribute("property") == Some("dcterms:modified"));
        let date = changed.and_then(Element::text).or_else(|| texts("date").next());
        let by_author = |text: &String| !file_properties::is_default(text, &[]);
        let authors: Vec<String> = texts("creator").filter(by_author).collect();
        Self {
            title: texts("title").next().filter(by_author),
            author: (!authors.is_empty()).then(|| authors.join(", ")),
            keywords: texts("subject").filter(by_author).collect(),
            modified: date
                .and_then(|date| date.get(..10).map(str::to_owned))
                .filter(|date| front_matter::is_iso_date(date)),
        }
    }

    /// The title that a file gives itself, rather than the book or a program.
    fn own_title(&self, draft: &Draft) -> Option<String> {
        // Many books repeat their title at the top of every chapter.
        let own = draft
            .matter
            .title
            .as_ref()
            .filter(|own| Some(*own) != self.title.as_ref());
        own.filter(|own| !file_properties::is_default(own, &[])).cloned()
    }

    /// Whether a file continues the one before it.
    fn has_no_title(&self, draft: &Draft) -> bool {
        self.own_title(draft).is_none() && heading::first_heading(&draft.body).is_none()
    }

    /// `label` names the chapter in the table of contents.
    fn chapter(&self, draft: Draft, path: &str, label: Option<&str>) -> Draft {
        let mut draft = draft;
        let own = self.own_title(&draft);
        let heading = heading::first_heading(&draft.body);
        let matter = &mut draft.matter;
        matter.source_urls.clear();
        let label = label.filter(|_| own.is_none() || own != heading).map(str::to_owned);
        matter.title = label.or(own).or(heading).or_else(|| self.title.clone());
        matter.keywords.extend(self.keywords.iter().cloned());
        matter.published_at = matter.published_at.take().or_else(|| self.modified.clone());
        for (name, value) in [("book", &self.title), ("author", &self.author)] {
            if let Some(value) = value {
                matter.metadata.insert(name.to_owned(), Value::from(value.as_str()));
            }
        }
        matter.metadata.insert("chapter_path".to_owned(), Value::from(path));
        draft.slug_suffix = Some(Path::new(path).with_extension("").to_string_lossy().into_owned());
        draft
    }
}

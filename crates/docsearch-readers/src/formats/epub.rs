//! Books (EPUB): a document for each file of the spine, in order, read as HTML.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::io::{Read, Seek};
use std::path::Path;

#[cfg(test)]
use docsearch_fuzz::{Format as Grammar, Target};
use quick_xml::events::{BytesEnd, Event};
use quick_xml::{Reader, Writer};
use serde_json::Value;

use crate::bytes::encoding;
use crate::bytes::package::Archive;
#[cfg(test)]
use crate::bytes::package::packed;
use crate::bytes::xml::Element;
use crate::draft::{Draft, Unreadable, front_matter};
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
const MAX_CHAPTERS: usize = 5_000;
/// HTML elements without an end tag.
const VOID: [&str; 14] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
];

/// Reads the file `bytes`.
fn read(bytes: &[u8]) -> Result<Vec<Draft>, Unreadable> {
    let mut archive = Archive::open(bytes, NAME)?;
    let missing = |what: &str| malformed(format!("it has no {what}"));
    let container = archive
        .read_xml("META-INF/container.xml")?
        .ok_or_else(|| missing("META-INF/container.xml"))?;
    let package_path = container
        .child("rootfiles")
        .and_then(|files| files.child("rootfile")?.attribute("full-path"))
        .ok_or_else(|| missing("package"))?;
    let package = archive.read_xml(package_path)?.ok_or_else(|| missing("package"))?;
    let encrypted = encrypted(&mut archive)?;
    let book = Book::of(&package);
    let mut drafts = Vec::new();
    let mut failed = 0;
    let chapters = chapters(package_path, &package);
    for chapter in &chapters {
        match read_chapter(&mut archive, chapter, &encrypted) {
            Ok(draft) => drafts.push(book.chapter(draft, chapter)),
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
        Some(resolve("", reference.attribute("URI")?))
    };
    Ok(root.elements().filter_map(of).collect())
}

/// The paths of the chapters in reading order.
fn chapters(package_path: &str, package: &Element) -> Vec<String> {
    let mut items = HashMap::new();
    for item in package.child("manifest").into_iter().flat_map(Element::elements) {
        let properties = item.attribute("properties").unwrap_or_default();
        let is_contents = properties.split_whitespace().any(|property| property == "nav");
        let is_html = item
            .attribute("media-type")
            .is_some_and(|media_type| html::FORMAT.media_types.contains(&media_type));
        if let (Some(id), Some(address), true) = (item.attribute("id"), item.attribute("href"), is_html && !is_contents)
        {
            items.insert(id, resolve(package_path, address));
        }
    }
    let mut seen = HashSet::new();
    let spine = package.child("spine").into_iter().flat_map(Element::elements);
    let paths = spine.filter_map(|item| items.get(item.attribute("idref")?));
    let paths = paths.filter(|path| seen.insert(path.as_str())).cloned();
    paths.take(MAX_CHAPTERS).collect()
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
        &html::Frame::default(),
    )
}

/// Expands self-closing elements, which only XML has; `None` if `text` is not XML.
fn with_ends(text: &str) -> Option<String> {
    let mut reader = Reader::from_str(text);
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
        Self {
            title: texts("title").next(),
            author: texts("creator").next(),
            keywords: texts("subject").collect(),
            modified: date
                .and_then(|date| date.get(..10).map(str::to_owned))
                .filter(|date| front_matter::is_iso_date(date)),
        }
    }

    fn chapter(&self, draft: Draft, path: &str) -> Draft {
        let mut draft = draft;
        let matter = &mut draft.matter;
        matter.source_urls.clear();
        // Many books repeat their title at the top of every chapter.
        let own = matter.title.take().filter(|own| Some(own) != self.title.as_ref());
        let heading = || heading::first_heading(&draft.body);
        matter.title = own.or_else(heading).or_else(|| self.title.clone());
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

/// The path of `reference` in the file `from`, without its fragment.
fn resolve(from: &str, reference: &str) -> String {
    let reference = reference.split(['#', '?']).next().unwrap_or_default();
    let reference = percent_encoding::percent_decode_str(reference).decode_utf8_lossy();
    let mut segments: Vec<&str> = match reference.starts_with('/') {
        true => Vec::new(),
        false => from.split('/').collect(),
    };
    segments.pop();
    for segment in reference.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            name => segments.push(name),
        }
    }
    segments.join("/")
}

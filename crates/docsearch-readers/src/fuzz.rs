//! What strangers write in files and on sites, given to what reads it: nothing ends the process, and what comes of it
//! is bounded. See `docsearch_fuzz`.

use std::path::Path;

use docsearch_core::index::question;
use docsearch_fuzz::{Format, Target, check, execute, text};

use crate::bytes::{encoding, package};
use crate::document::{self, ReadOptions};
use crate::draft::front_matter;
use crate::file::slug;
use crate::formats::{asciidoc, docx, epub, html, llms, mdx, notebook, openapi, roff, rst};
use crate::markup::content_type;
use crate::text::heading;
use crate::{markup, page_questions};

/// What a reader may make of a text, in bytes: so many times the text, and some more.
const GROWTH: usize = 16;
const CONSTANT: usize = 256 * 1024;

fn targets() -> Vec<Target> {
    vec![
        Target::new("readers-html", Format::HTML, html).up_to(32 * 1024),
        Target::new("readers-rst", Format::RST, |input| bounded(input, rst::to_markdown)),
        Target::new("readers-mdx", Format::MDX, |input| {
            bounded(input, |text| mdx::convert(text, mdx::Dialect::Mdx))
        }),
        Target::new("readers-asciidoc", Format::ASCIIDOC, asciidoc).up_to(2 * 1024),
        Target::new("readers-roff", Format::ROFF, roff).up_to(16 * 1024),
        Target::new("readers-docx", Format::OFFICE, docx).up_to(8 * 1024),
        Target::new("readers-epub", Format::OFFICE, epub).up_to(8 * 1024),
        Target::new("readers-package", Format::OFFICE, package),
        Target::new("readers-front-matter", Format::FRONT_MATTER, front_matter),
        Target::new("readers-notebook", Format::NOTEBOOK, notebook),
        Target::new("readers-openapi", Format::OPENAPI, openapi).up_to(16 * 1024),
        Target::new("readers-llms", Format::LLMS, llms),
        Target::new("readers-response", Format::HTML, response).up_to(16 * 1024),
        Target::new("readers-encoding", Format::HTML, encodings),
        Target::new("readers-names", Format::LINES, names),
    ]
}

#[test]
fn no_input_ends_the_process() {
    check(&targets(), "fuzz::execute_targets");
}

#[test]
#[ignore = "is what the processes do that the other test starts"]
fn execute_targets() {
    execute(&targets());
}

fn bounded(input: &[u8], convert: fn(&str) -> String) {
    let text = &*text(input);
    let markdown = convert(text);
    assert_bounded(markdown.len(), text);
    assert_eq!(markdown, convert(text), "the same text twice");
    heading::first_heading(&markdown);
}

fn assert_bounded(size: usize, text: &str) {
    assert!(
        size <= GROWTH * text.len() + CONSTANT,
        "{} bytes give {size}",
        text.len()
    );
}

fn html(input: &[u8]) {
    let text = &*text(input);
    if let Ok(draft) = html::read(Path::new("guide/page.html"), text, None, &html::Frame::default()) {
        assert_bounded(draft.body.len(), text);
        let again =
            html::read(Path::new("guide/page.html"), text, None, &html::Frame::default()).expect("the same page");
        assert_eq!(again.body, draft.body, "the same page twice");
    }
}

fn asciidoc(input: &[u8]) {
    let text = &*text(input);
    if let Ok(drafts) = asciidoc::read(None, Path::new("guide/page.adoc"), text) {
        assert_bounded(drafts.iter().map(|draft| draft.body.len()).sum(), text);
    }
}

fn roff(input: &[u8]) {
    let text = &*text(input);
    roff::is_likely(text);
    if let Ok(draft) = roff::read(text) {
        assert_bounded(draft.body.len(), text);
    }
}

fn docx(input: &[u8]) {
    let text = &*text(input);
    let body = format!("<w:document><w:body>{text}</w:body></w:document>");
    if let Ok(draft) = docx::read(&package::packed(&[
        ("word/document.xml", &body),
        ("word/styles.xml", text),
    ])) {
        assert_bounded(draft.body.len(), text);
    }
}

fn epub(input: &[u8]) {
    let text = &*text(input);
    let container = "<container><rootfiles><rootfile full-path='a'/></rootfiles></container>";
    let package = "<package><manifest><item id='b' href='b' media-type='text/html'/></manifest>\
        <spine><itemref idref='b'/></spine></package>";
    let files = [("META-INF/container.xml", container), ("a", package), ("b", text)];
    if let Ok(drafts) = epub::read(&package::packed(&files)) {
        assert_bounded(drafts.iter().map(|draft| draft.body.len()).sum(), text);
    }
}

/// The bytes of the archive themselves, broken by what the input says.
fn package(input: &[u8]) {
    let mut bytes = package::packed(&[("word/document.xml", "<a/>"), ("mimetype", "application/epub+zip")]);
    for pair in input.as_chunks::<2>().0 {
        let at = usize::from(pair[0]) * 3 % bytes.len();
        bytes[at] = pair[1];
        markup::from_bytes(&bytes);
        let _ = docx::read(&bytes);
        let _ = epub::read(&bytes);
    }
}

fn front_matter(input: &[u8]) {
    let text = &*text(input);
    let page = front_matter::split(text);
    assert!(text.ends_with(page.body));
    let matter = page.front_matter;
    if let Some(given) = &matter.questions {
        let (questions, _) = page_questions::front_matter::read(given, "title", page.body);
        assert_eq!(question::checked(questions.clone()), Ok(questions));
    }
    let metadata = serde_json::to_string(&(matter.metadata, matter.questions)).expect("JSON");
    // Aliases repeat what they stand for, within the budget of the parser.
    assert!(
        metadata.len() <= GROWTH * text.len() + 8 * CONSTANT,
        "{} bytes give {}",
        text.len(),
        metadata.len()
    );
}

fn notebook(input: &[u8]) {
    let text = &*text(input);
    if let Ok(draft) = notebook::read(text) {
        assert_bounded(draft.body.len(), text);
    }
}

fn openapi(input: &[u8]) {
    let text = &*text(input);
    openapi::is_likely_text(input);
    if let Ok(drafts) = openapi::read(text) {
        let size: usize = drafts.iter().map(|draft| draft.body.len()).sum();
        // Every operation shows the schemas that it names.
        assert!(size <= 200 * text.len() + CONSTANT, "{} bytes give {size}", text.len());
    }
}

fn llms(input: &[u8]) {
    let text = &*text(input);
    let drafts = llms::read(Path::new("llms-full.txt"), text);
    assert_bounded(drafts.iter().map(|draft| draft.body.len()).sum(), text);
    llms::read(Path::new("llms.txt"), text);
}

/// The first line is the type of the content, the second the path.
fn response(input: &[u8]) {
    let text = text(input);
    let mut lines = text.splitn(3, '\n');
    let [content_type, path, body] = std::array::from_fn(|_| lines.next().unwrap_or_default());
    let options = ReadOptions {
        prefix: Some("kit"),
        source_root: "docs",
        max_file_size: 1 << 20,
        ..ReadOptions::default()
    };
    for (content_type, body) in [(Some(content_type), body), (Some("text/html"), &*text), (None, &*text)] {
        let url = format!("https://docs.example.test/{path}");
        let read = document::from_response(&url, content_type, body.as_bytes().to_vec(), &options);
        for reading in read.into_iter().flatten() {
            assert!(!reading.document.slug.is_empty());
            serde_json::to_string(&reading.document).expect("JSON");
        }
    }
}

fn encodings(input: &[u8]) {
    for charset in [
        None,
        Some("utf-16le"),
        Some("iso-2022-jp"),
        Some("gb18030"),
        Some("none"),
    ] {
        for text in [
            encoding::decode_text(input.to_vec(), charset),
            encoding::decode_html(input.to_vec(), charset),
        ]
        .into_iter()
        .flatten()
        {
            assert!(text.len() <= 4 * input.len() + 4);
            markup::from_content(&text);
        }
    }
}

fn names(input: &[u8]) {
    let text = &*text(input);
    for line in text.lines().take(50) {
        let path = Path::new(line);
        slug::normalise(line);
        slug::from_title(line);
        slug::from_path(path, Some("kit"));
        markup::from_name(path);
        html::site::no_documentation_named(path);
        let parsed = content_type::ContentType::parse(line);
        let _ = parsed.markup(path);
        if let Ok(url) = url::Url::parse(line) {
            slug::path_of_url(&url, None);
        }
    }
}

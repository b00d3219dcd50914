//! Fuzz targets for untrusted files and responses: no input ends the process, and the output is bounded. See
//! `docsearch_fuzz`.

use std::path::Path;

use docsearch_core::index::question;
use docsearch_fuzz::{Format, Target, check, execute, text};

use crate::bytes::{encoding, package};
use crate::detection::content_type;
use crate::document::{self, ReadOptions};
use crate::draft::front_matter;
use crate::file::slug;
use crate::formats::format::{Reader, Signature};
use crate::formats::growth::{CONSTANT, GROWTH};
use crate::formats::{FORMATS, has_page_extension, html};
use crate::{detection, page_questions};

fn targets() -> Vec<Target> {
    let of_formats = FORMATS.iter().filter_map(|format| format.fuzz_target);
    let others = [
        Target::new("readers-package", Format::OFFICE, package),
        Target::new("readers-front-matter", Format::FRONT_MATTER, front_matter),
        Target::new("readers-response", Format::HTML, response).up_to(16 * 1024),
        Target::new("readers-encoding", Format::HTML, encodings),
        Target::new("readers-names", Format::LINES, names),
    ];
    of_formats.chain(others).collect()
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

/// The bytes of an archive, changed where the input says.
fn package(input: &[u8]) {
    let mut bytes = package::packed(&[("word/document.xml", "<a/>"), ("mimetype", "application/epub+zip")]);
    for pair in input.as_chunks::<2>().0 {
        let at = usize::from(pair[0]) * 3 % bytes.len();
        bytes[at] = pair[1];
        detection::from_bytes(&bytes);
        for format in FORMATS
            .iter()
            .filter(|format| matches!(format.signature, Some(Signature::Entry(..))))
        {
            if let Reader::Bytes(read) = format.reader {
                let _ = read(&bytes);
            }
        }
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
    // Aliases repeat what they refer to, within the budget of the parser.
    assert!(
        metadata.len() <= GROWTH * text.len() + 8 * CONSTANT,
        "{} bytes give {}",
        text.len(),
        metadata.len()
    );
}

/// The first line is the type of the content, the second the path.
fn response(input: &[u8]) {
    let text = text(input);
    let mut lines = text.splitn(3, '\n');
    let [content_type, path, body] = std::array::from_fn(|_| lines.next().unwrap_or_default());
    let options = ReadOptions {
        prefix: Some("kit".to_owned()),
        max_file_size: 1 << 20,
        ..ReadOptions::default()
    };
    for (content_type, body) in [(Some(content_type), body), (Some("text/html"), &*text), (None, &*text)] {
        let url = format!("https://docs.example.test/{path}");
        let read = document::from_response(&url, content_type, body.as_bytes().to_vec(), "docs", &options);
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
            detection::from_content(&text);
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
        detection::from_name(path);
        html::exclusion::no_documentation_named(path);
        let parsed = content_type::ContentType::parse(line);
        let _ = parsed.format(path);
        if let Ok(url) = url::Url::parse(line) {
            slug::path_of_url(&url, None, has_page_extension);
        }
    }
}

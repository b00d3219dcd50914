//! OpenAPI 3.0, 3.1 and Swagger 2.0: a document for each operation, and one for the API as a whole.
//!
//! Reads plain JSON values: many descriptions violate the schema, and a missing part must not lose the rest.

mod bundle;
mod described;
mod example;
mod explanation;
mod fact;
mod message;
mod operation;
mod overview;
mod reference;
mod schema;
mod security;
mod server;
mod type_name;
mod value;

use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::path::Path;

#[cfg(test)]
use docsearch_fuzz::{Format as Grammar, Target, text as lossy_text};
use memchr::memmem;

use crate::bytes::encoding;
use crate::draft::{Draft, Unreadable};
use crate::file::Folder;
use crate::formats::format::{Format, Reader, TextSource, TextTest};
#[cfg(test)]
use crate::formats::growth;
use reference::Api;
use value::Value;

pub(crate) static FORMAT: Format = Format {
    extensions: &["json", "yaml", "yml"],
    confirm: Some(is_likely),
    media_types: &["application/vnd.oai.openapi", "application/vnd.oai.openapi+json"],
    shared_media_types: &[
        "application/json",
        "application/yaml",
        "application/x-yaml",
        "text/yaml",
        "text/x-yaml",
    ],
    text_test: Some(TextTest {
        rank: 1,
        passes: |text| is_likely_text(text.trim_start().as_bytes()),
    }),
    marks_parts: false,
    #[cfg(test)]
    fuzz_target: Some(
        Target::new("readers-openapi", Grammar::OPENAPI, |input| {
            is_likely_text(input);
            // Every operation contains the schemas that it names.
            growth::check_up_to(200, &FORMAT, "api.yaml", &lossy_text(input));
        })
        .up_to(16 * 1024),
    ),
    ..Format::new(
        "openapi",
        "OpenAPI",
        "OpenAPI and Swagger: a document for every operation; other data files are left out",
        Reader::Text(|source: &TextSource<'_>| read_in(source.folder, source.path, source.text)),
    )
};

/// Maximum bytes of a file that are examined.
const SAMPLE_BYTES: u64 = 16 << 20;
/// Maximum nodes. Large descriptions have a few hundred thousand; YAML aliases could make more.
const MAX_NODES: usize = 4_000_000;
/// Maximum bytes of schemas and examples in all documents, for each byte of a description: operations repeat them.
const MAX_GROWTH: usize = 100;
/// The same, in addition.
const MIN_ROOM: usize = 100_000;

/// Whether the JSON or YAML file is likely a description: most such files are not.
pub(crate) fn is_likely(path: &Path) -> bool {
    let mut sample = Vec::new();
    let read = File::open(path).and_then(|file| file.take(SAMPLE_BYTES).read_to_end(&mut sample));
    if read.is_err() {
        return false;
    }
    // Other encodings than UTF-8 have a mark.
    match sample.first() {
        Some(0xfe | 0xff) => encoding::decode_text(sample, None).is_ok_and(|text| is_likely_text(text.as_bytes())),
        _ => is_likely_text(&sample),
    }
}

/// Looks for a key `openapi` or `swagger` with a known version.
pub(crate) fn is_likely_text(text: &[u8]) -> bool {
    let is_json = text.trim_ascii_start().starts_with(b"{");
    [&b"openapi"[..], b"swagger"].iter().any(|key| {
        memmem::find_iter(text, key).any(|start| {
            let before = text[..start].last();
            let opens = if is_json {
                before == Some(&b'"')
            } else {
                let quote = usize::from(matches!(before, Some(b'"' | b'\'')));
                // The last byte of a byte order mark may precede it.
                text[..start - quote]
                    .last()
                    .is_none_or(|&byte| byte == b'\n' || byte == 0xbf)
            };
            opens && is_version(&text[start + key.len()..])
        })
    })
}

fn is_version(after_key: &[u8]) -> bool {
    let is_filler = |byte: &&u8| matches!(byte, b'"' | b'\'' | b' ' | b'\t' | b'\r' | b'\n' | b':');
    let filler = after_key.iter().take_while(is_filler).count();
    after_key[..filler].contains(&b':') && matches!(after_key.get(filler), Some(b'2' | b'3'))
}

/// Reads the description in `text`, JSON or YAML, without other files.
#[cfg(test)]
pub(crate) fn read(text: &str) -> Result<Vec<Draft>, Unreadable> {
    read_in(None, Path::new("api.yaml"), text)
}

/// Reads the description in `text` at `path`, JSON or YAML; it may refer to files of `folder`.
pub(crate) fn read_in(folder: Option<&Folder>, path: &Path, text: &str) -> Result<Vec<Draft>, Unreadable> {
    let mut root = parse(text).map_err(|reason| Unreadable::Malformed {
        format: "OpenAPI description",
        reason,
    })?;
    if root.get("openapi").or_else(|| root.get("swagger")).is_none() {
        return Err(Unreadable::NoDocumentation("data without an OpenAPI description"));
    }
    let files = bundle::complete(&mut root, folder, path);
    let api = Api::new(&root, MIN_ROOM + MAX_GROWTH * (text.len() + files.bytes));
    let mut overview = overview::draft(&api);
    overview.warning = files.warning;
    let mut drafts = vec![overview];
    let mut taken = HashSet::new();
    for operation in operation::all(&api) {
        drafts.push(operation.draft(&api, &mut taken));
    }
    drafts.extend(overview::schemas(&api));
    for draft in &mut drafts {
        draft.body = draft.body.replace('\0', "\u{fffd}");
    }
    Ok(drafts)
}

fn parse(text: &str) -> Result<Value, String> {
    if text.trim_start().starts_with('{')
        && let Ok(value) = serde_json::from_str(text)
    {
        return Ok(value);
    }
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_nodes: MAX_NODES,
            max_events: 3 * MAX_NODES,
        },
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let message = error.to_string();
        let line = message.lines().next().unwrap_or_default();
        line.trim_start_matches("error: ").to_owned()
    })
}

/// The text of a member, trimmed; `None` if it is empty or not text.
fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    let text = value.get(key)?.as_str()?.trim();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests;

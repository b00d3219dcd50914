//! PDF: text with its headings and pages. It is read in a process of its own: nothing limits what a file decompresses
//! to, and running out of memory ends the process.

mod arrangement;
mod collection;
mod content;
mod direction;
mod extraction;
mod font;
mod heading;
mod layout;
mod line;
mod mark;
mod numbered_glyph;
mod outline;
mod page;
mod paragraph;
mod process;
mod running;
#[cfg(test)]
mod tests;
mod text_string;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::draft::front_matter::FrontMatter;
use crate::draft::{Draft, Unreadable};
use crate::formats::format::{Format, Reader, Signature};
pub use process::{COMMAND, answer};

pub(crate) static FORMAT: Format = Format {
    extensions: &["pdf"],
    media_types: &["application/pdf", "application/x-pdf"],
    signature: Some(Signature::Bytes(is_likely)),
    marks_parts: false,
    ..Format::new(
        "pdf",
        "PDF",
        "PDF: text with its headings",
        Reader::Bytes(|bytes| Ok(vec![read(bytes)?])),
    )
};

/// The start of a file; some have a few bytes before it.
const MAGIC: &[u8] = b"%PDF-";
const MAGIC_BYTES: usize = 1024;

/// The content of a file.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
struct Extract {
    title: Option<String>,
    author: Option<String>,
    subject: Option<String>,
    keywords: Vec<String>,
    /// The time of the last change, ISO 8601.
    modified: Option<String>,
    pages: usize,
    /// Markdown.
    body: String,
    /// Number of pages that could not be read.
    failed: usize,
    /// Number of characters whose letters the file does not tell.
    unknown: usize,
}

/// Whether bytes are a PDF file.
fn is_likely(bytes: &[u8]) -> bool {
    bytes[..bytes.len().min(MAGIC_BYTES)]
        .windows(MAGIC.len())
        .any(|window| window == MAGIC)
}

/// Reads the file `bytes`.
fn read(bytes: &[u8]) -> Result<Draft, Unreadable> {
    process::extract(bytes)
        .and_then(draft)
        .map_err(|reason| Unreadable::Malformed { format: "PDF", reason })
}

fn draft(extract: Extract) -> Result<Draft, String> {
    if extract.body.trim().is_empty() {
        return Err(match extract.failed {
            0 => "it has no text, like scanned pages\nHINT:  Add text with ocrmypdf.".to_owned(),
            failed => format!("{failed} of {} pages cannot be read", extract.pages),
        });
    }
    let mut matter = FrontMatter {
        title: extract.title,
        summary: extract.subject,
        keywords: extract.keywords,
        published_at: extract.modified,
        ..FrontMatter::default()
    };
    matter.metadata.insert("pages".to_owned(), Value::from(extract.pages));
    if let Some(author) = extract.author {
        matter.metadata.insert("author".to_owned(), Value::from(author));
    }
    let mut warnings = Vec::new();
    if extract.failed > 0 {
        warnings.push(format!("{} of {} pages cannot be read", extract.failed, extract.pages));
    }
    if extract.unknown > 0 {
        warnings.push(format!("{} characters have no known letters", extract.unknown));
    }
    Ok(Draft {
        body: extract.body,
        warning: (!warnings.is_empty()).then(|| warnings.join("; ")),
        ..Draft::new(matter)
    })
}

//! PDF: text in lines, with its headings and pages. The text comes from the crate `pdf-extract`, in a process of its own:
//! what a file unpacks to is not bounded there, and memory that is not to be had ends a process.

mod extraction;
mod layout;
mod outline;
mod page;
mod process;
#[cfg(test)]
mod tests;

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

/// What a file begins with; some have a few bytes before it.
const MAGIC: &[u8] = b"%PDF-";
const MAGIC_BYTES: usize = 1024;

/// What is read of a file.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
struct Extract {
    title: Option<String>,
    author: Option<String>,
    subject: Option<String>,
    keywords: Vec<String>,
    /// When it was changed last, ISO 8601.
    modified: Option<String>,
    pages: usize,
    /// Markdown.
    body: String,
    /// Pages that could not be read.
    failed: usize,
}

/// Whether bytes are those of a PDF.
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
            0 => "it has no text, as pages that were scanned\nHINT:  ocrmypdf adds a text to such files.".to_owned(),
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
    Ok(Draft {
        body: extract.body,
        warning: (extract.failed > 0).then(|| format!("{} of {} pages cannot be read", extract.failed, extract.pages)),
        ..Draft::new(matter)
    })
}

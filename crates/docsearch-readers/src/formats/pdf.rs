//! PDF: text with its headings and pages. The crate `pdf-extract` reads it in a process of its own: it does not limit
//! what a file decompresses to, and running out of memory ends the process.

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
    Ok(Draft {
        body: extract.body,
        warning: (extract.failed > 0).then(|| format!("{} of {} pages cannot be read", extract.failed, extract.pages)),
        ..Draft::new(matter)
    })
}

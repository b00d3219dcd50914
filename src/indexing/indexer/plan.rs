//! The plan of how to write a document.

use docsearch_core::documents::chunk::{Chunk, ChunkKind};
use docsearch_core::documents::chunk_section::SectionEntry;
use docsearch_core::documents::markdown;
use docsearch_core::values::id::DocumentId;
use pgrx::pg_sys::panic::ErrorReport;

use super::Outcome;
use crate::postgres::report::{Result, internal};
use crate::tables::document_input::DocumentInput;
use crate::tables::questions::StoredQuestion;

/// What to do with a document.
pub(super) enum Plan {
    Write(Box<DocumentPlan>),
    /// Nothing: it is unchanged, or belongs to another source.
    Leave(Outcome),
    /// Nothing: it cannot be stored.
    Refuse(String, ErrorReport),
}

/// A document that has to be written.
pub(super) struct DocumentPlan {
    pub(super) input: DocumentInput,
    pub(super) content_hash: String,
    pub(super) known: Option<KnownDocument>,
    /// The document of another project whose vectors it takes.
    pub(super) original: Option<DocumentId>,
    /// First those of its text, then those of its questions.
    pub(super) chunks: Vec<ChunkPlan>,
    /// Number of chunks of its text.
    pub(super) text_chunks: i32,
    /// `None` if the stored ones stay.
    pub(super) questions: Option<Vec<StoredQuestion>>,
    /// The number of given questions with a section that the document does not have, and the first such anchor.
    pub(super) unplaced: Option<(usize, String)>,
    /// Sections left out because another one has the same text.
    pub(super) duplicates: usize,
    /// Chunks that have to be embedded, with the index of each in the batch of passages.
    pub(super) passages: Vec<(i32, usize)>,
    pub(super) keywords: Vec<String>,
    pub(super) summary: Option<String>,
    pub(super) words: i32,
    /// See [`markdown::entry_share`].
    pub(super) entry_share: f32,
}

impl DocumentPlan {
    /// Remarks for the caller on what is not stored as given.
    pub(super) fn remarks(&self) -> Vec<String> {
        let duplicates = match self.duplicates {
            0 => None,
            1 => Some("1 section has the same text as another, and is stored once".to_owned()),
            more => Some(format!(
                "{more} sections have the same text as others, and are stored once"
            )),
        };
        let unplaced = self.unplaced.as_ref().map(|(questions, anchor)| match questions {
            1 => format!("1 question names a missing section: \"{anchor}\""),
            more => format!("{more} questions name missing sections, such as \"{anchor}\""),
        });
        duplicates.into_iter().chain(unplaced).collect()
    }
}

/// A stored document as of the time of planning.
pub(super) struct KnownDocument {
    pub(super) id: i64,
    pub(super) content_hash: String,
    pub(super) questions: Vec<StoredQuestion>,
}

pub(super) struct ChunkPlan {
    /// `docsearch.chunk.chunk_no`.
    pub(super) number: i32,
    pub(super) kind: &'static str,
    pub(super) heading_path: Vec<String>,
    pub(super) also_under: Vec<Vec<String>>,
    pub(super) anchor: String,
    pub(super) sections: Vec<SectionEntry>,
    pub(super) body: String,
    pub(super) token_count: usize,
    pub(super) plain: String,
    pub(super) input_hash: String,
}

impl ChunkPlan {
    /// A chunk of the text, with the hash of its embedded text.
    pub(super) fn of(chunk: Chunk, input_hash: String) -> Result<Self> {
        Ok(Self {
            number: i32::try_from(chunk.chunk_no).map_err(internal)?,
            kind: match chunk.kind {
                ChunkKind::Summary => "summary",
                ChunkKind::Body => "body",
            },
            plain: markdown::plain_text(&chunk.body),
            heading_path: chunk.heading_path,
            also_under: chunk.also_under,
            anchor: chunk.anchor,
            sections: chunk.sections,
            body: chunk.body,
            token_count: chunk.token_count,
            input_hash,
        })
    }
}

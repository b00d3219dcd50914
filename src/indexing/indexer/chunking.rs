//! Splits a text into chunks.

use docsearch_core::documents::chunk::{Chunk, ChunkKind, chunk_pages};

use super::Indexer;
use crate::tables::document_input::DocumentInput;

/// Bytes of a document's text that are indexed as one chunk, where a project has one vector for each document: a
/// tsvector holds less than 1 MB.
const ONE_CHUNK_BYTES: usize = 256 * 1024;

impl Indexer<'_> {
    /// The chunks, and the number of those left out as duplicates.
    pub(super) fn chunks(&self, input: &DocumentInput, body: &str) -> (Vec<Chunk>, usize) {
        let counter = |text: &str| {
            pgrx::check_for_interrupts!();
            self.tokenizer.count(text).unwrap_or(text.len())
        };
        let pages = input.pages.iter().map(|page| page.anchor.as_str()).collect();
        let summary = input.summary.as_deref();
        let chunked = chunk_pages(&input.title, body, summary, &pages, &counter, &self.limits);
        (chunked.chunks, chunked.duplicates)
    }

    pub(super) fn one_chunk(&self, body: &str) -> Chunk {
        let mut end = body.len().min(ONE_CHUNK_BYTES);
        while !body.is_char_boundary(end) {
            end -= 1;
        }
        Chunk {
            chunk_no: 0,
            kind: ChunkKind::Summary,
            heading_path: Vec::new(),
            also_under: Vec::new(),
            anchor: String::new(),
            sections: Vec::new(),
            body: body[..end].to_owned(),
            token_count: self.limits.max_tokens,
        }
    }
}

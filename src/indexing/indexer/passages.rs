//! Passages to embed, and the vectors of those that were submitted together.

use std::collections::HashMap;

use docsearch_core::documents::passage::embedded_text;
use docsearch_core::index::question::is_question;
use docsearch_inference::{Embedder, Embeddings};

use super::{ChunkPlan, DocumentPlan, Indexer};
use crate::models::batch;
use crate::postgres::report::{Result, inference, internal};
use crate::tables::document_input::DocumentInput;

/// Vectors of passages, kept until their document is written.
pub(super) struct PassageVectors {
    batch: Box<dyn Embeddings>,
    ready: HashMap<usize, Result<Vec<f32>>>,
}

impl PassageVectors {
    pub(super) fn submit(model: &dyn Embedder, passages: Vec<String>) -> Result<Self> {
        let batch = model.embed_passages(passages).map_err(|failure| inference(&failure))?;
        Ok(Self {
            batch,
            ready: HashMap::new(),
        })
    }

    /// Waits for the vectors of a document; returns chunk numbers and vectors.
    pub(super) fn of(&mut self, document: &DocumentPlan) -> Result<Vec<(i32, Vec<f32>)>> {
        let wanted = document.passages.iter();
        wanted
            .map(|&(chunk_no, place)| Ok((chunk_no, self.take(place)?)))
            .collect()
    }

    fn take(&mut self, place: usize) -> Result<Vec<f32>> {
        loop {
            if let Some(vector) = self.ready.remove(&place) {
                return vector;
            }
            let next = batch::next_vector(self.batch.as_mut())?;
            let (index, vector) = next.ok_or_else(|| internal("a passage has no vector"))?;
            self.ready.insert(index, vector);
        }
    }
}

impl Indexer<'_> {
    /// The text to embed for a chunk.
    pub(super) fn passage(&self, input: &DocumentInput, planned: &ChunkPlan, body: &str) -> String {
        let body = if self.project.one_vector && !is_question(planned.number) {
            body
        } else {
            &planned.body
        };
        embedded_text(
            planned.number,
            self.project.one_vector,
            &input.title,
            &planned.heading_path,
            body,
        )
    }
}

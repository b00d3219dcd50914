//! Input of keyword scores: terms of chunks, and statistics of projects.

use crate::index::bm25::Frequencies;
use crate::values::id::Map;

/// The terms of a query in a chunk.
#[derive(Clone, Debug, Default)]
pub struct ChunkTerms {
    /// Words of the chunk, title and headings included.
    pub length: f32,
    /// Words of its whole document.
    pub document_length: f32,
    /// Share of the pairs of neighbours in the query that are near each other here, 0 to 1.
    pub near: f32,
    /// Occurrences by field, for each term of the query.
    pub frequencies: Vec<Frequencies>,
}

/// A term's statistics in one project.
#[derive(Clone, Copy, Debug)]
pub struct TermWeight {
    /// Inverse document frequency times the weight of the term in the query.
    pub idf: f32,
    /// Whether a chunk has the term itself, in any spelling.
    pub is_held: bool,
}

/// Statistics of a project for keyword scores.
#[derive(Clone, Debug)]
pub struct Corpus {
    /// One entry for each term of the query.
    pub terms: Vec<TermWeight>,
    /// Mean number of words of a chunk.
    pub average_chunk: f32,
    /// Mean number of words of a document.
    pub average_document: f32,
}

/// The statistics of each searched project.
pub type Corpora = Map<i64, Corpus>;

//! Ids of documents and chunks, and maps and sets of such keys.

use rustc_hash::{FxHashMap, FxHashSet};

/// A map with small keys from our own database: no caller can choose keys to make it slow.
pub type Map<K, V> = FxHashMap<K, V>;
/// A set of such keys.
pub type Set<K> = FxHashSet<K>;

/// A document: ids are unique in a project only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DocumentId {
    /// `docsearch.project.id`.
    pub project: i64,
    /// `docsearch.document.id`.
    pub document: i64,
}

/// A chunk: the document and the number of the chunk in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChunkId {
    /// The document.
    pub document: DocumentId,
    /// `docsearch.chunk.chunk_no`.
    pub chunk: i32,
}

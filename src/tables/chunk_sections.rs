//! The sections that share a chunk.

use docsearch_core::documents::chunk_section::SectionEntry;

use crate::postgres::jsonb::StoredJson;
use crate::tables::schema::Part;

/// The column of chunks.
pub(crate) fn column() -> &'static str {
    Part::ChunkSections.or_else("coalesce(c.sections, '[]')", "'[]'::jsonb")
}

/// Its value. Rows that were written by hand may hold anything.
pub(crate) fn read(StoredJson(sections): StoredJson) -> Vec<SectionEntry> {
    serde_json::from_value(sections).unwrap_or_default()
}

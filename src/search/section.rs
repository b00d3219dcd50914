//! The section of a document that a query asks for: the one that an address names, or that defines a name.

use docsearch_core::address::Address;
use docsearch_core::definition::{defines, heading_defines};
use docsearch_core::legs::Legs;
use docsearch_core::page::Page;
use docsearch_core::rank::{ChunkId, DocumentId, Map};
use docsearch_core::rerank::Ranked;
use docsearch_core::understanding::NameRole;
use pgrx::datum::DatumWithOid;

use crate::postgres::owner::AsOwner;
use crate::postgres::report::Result;
use crate::postgres::statement;
use crate::search::group::Group;
use crate::tables::keys::{self, WANTED_CHUNKS};

/// Documents whose sections are looked at, at most: more are not read by anybody.
const MAX_DOCUMENTS: usize = 20;
/// Sections whose text is read, at most.
const MAX_READ: usize = 40;

/// A document that defines a name, with the name's key and the sections that hold the query's words, best first.
struct Defining<'a> {
    document: DocumentId,
    key: &'a str,
    sections: Vec<ChunkId>,
}

/// The sections that the query asks for in the documents that are shown.
pub(crate) fn asked_for(
    group: &Group<'_>,
    legs: &Legs,
    pages: &Map<DocumentId, Page>,
    shown: &[Ranked],
) -> Result<Map<DocumentId, i32>> {
    let shown = || shown.iter().map(|ranked| &ranked.document);
    let is_addressed = |id: &DocumentId| {
        let form = legs.names.get(id).map(|found| group.forms[found.form].role);
        form == Some(NameRole::Address)
    };
    let documents: Vec<DocumentId> = shown().map(|shown| shown.document).filter(is_addressed).collect();
    let mut sections = match documents.as_slice() {
        [] => Map::default(),
        documents => addressed(&group.understanding.text, documents)?,
    };
    let defines = shown().filter(|shown| pages.get(&shown.document).is_some_and(|page| page.definition > 0.0));
    let defines = defines.filter_map(|shown| {
        let mut forms = legs.defining.iter().filter(|(document, _)| *document == shown.document);
        let (_, form) = forms.next()?;
        Some(Defining {
            document: shown.document,
            key: &group.forms[*form].key,
            sections: shown.chunks.iter().map(|chunk| chunk.id).collect(),
        })
    });
    sections.extend(defining(&defines.collect::<Vec<_>>())?);
    Ok(sections)
}

/// The first sections with the anchor of an address, in documents that it names.
fn addressed(query: &str, documents: &[DocumentId]) -> Result<Map<DocumentId, i32>> {
    let Some(anchor) = Address::read(query).and_then(|address| address.anchor) else {
        return Ok(Map::default());
    };
    let _owner = AsOwner::enter()?;
    let found = statement::lookup(
        "SELECT c.project_id, c.document_id, min(c.chunk_no)
         FROM unnest($1::bigint[], $2::bigint[]) AS wanted(project_id, document_id)
              JOIN docsearch.chunk c USING (project_id, document_id)
         WHERE c.anchor = $3 GROUP BY 1, 2",
        &[
            DatumWithOid::from(documents.iter().map(|id| id.project).collect::<Vec<i64>>()),
            DatumWithOid::from(documents.iter().map(|id| id.document).collect::<Vec<i64>>()),
            DatumWithOid::from(anchor),
        ],
        keys::chunk_id,
    )?;
    Ok(found.into_iter().map(|id| (id.document, id.chunk)).collect())
}

/// The sections that define the names: by their headings, or else by a line of their text.
fn defining(wanted: &[Defining<'_>]) -> Result<Map<DocumentId, i32>> {
    let wanted = &wanted[..wanted.len().min(MAX_DOCUMENTS)];
    if wanted.is_empty() {
        return Ok(Map::default());
    }
    let _owner = AsOwner::enter()?;
    let mut found: Map<DocumentId, i32> = Map::default();
    let headings = statement::lookup(
        "SELECT c.project_id, c.document_id, c.chunk_no, c.heading_path[cardinality(c.heading_path)]
         FROM unnest($1::bigint[], $2::bigint[]) AS wanted(project_id, document_id)
              JOIN docsearch.chunk c USING (project_id, document_id)
         WHERE cardinality(c.heading_path) > 0 ORDER BY c.chunk_no",
        &[
            DatumWithOid::from(wanted.iter().map(|of| of.document.project).collect::<Vec<i64>>()),
            DatumWithOid::from(wanted.iter().map(|of| of.document.document).collect::<Vec<i64>>()),
        ],
        |row| Ok((keys::chunk_id(row)?, row.required::<String>(4)?)),
    )?;
    for (id, heading) in headings {
        let names = |of: &&Defining<'_>| of.document == id.document && heading_defines(&heading, of.key);
        if !found.contains_key(&id.document) && wanted.iter().any(|of| names(&of)) {
            found.insert(id.document, id.chunk);
        }
    }
    let unnamed = wanted.iter().filter(|of| !found.contains_key(&of.document));
    let read: Vec<ChunkId> = unnamed
        .flat_map(|of| of.sections.iter().copied())
        .take(MAX_READ)
        .collect();
    let bodies = statement::lookup(
        &format!(
            "SELECT c.project_id, c.document_id, c.chunk_no, c.body
             FROM {WANTED_CHUNKS} JOIN docsearch.chunk c USING (project_id, document_id, chunk_no)"
        ),
        &keys::chunk_arguments(&read),
        |row| Ok((keys::chunk_id(row)?, row.required::<String>(4)?)),
    )?;
    for (id, body) in bodies {
        let of_document = wanted.iter().filter(|of| of.document == id.document);
        if of_document.into_iter().any(|of| defines(&body, of.key)) {
            found.entry(id.document).or_insert(id.chunk);
        }
    }
    Ok(found)
}

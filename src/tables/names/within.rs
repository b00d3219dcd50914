//! Documents with a name that is part of a query.

use docsearch_core::query::understanding::{CandidateName, NameRole};
use docsearch_core::ranking::subject::MAX_SUBJECT_DOCUMENTS;
use docsearch_core::values::id::{DocumentId, Map, Set};
use pgrx::datum::DatumWithOid;

use super::{MAX_NAMED_DOCUMENTS, NamedDocument, read_named};
use crate::postgres::report::Result;
use crate::postgres::role::{Caller, Owner};
use crate::tables::project::Projects;
use crate::tables::visibility::Visibility;

/// Most rows of each name that are read.
pub(super) const MAX_ROWS: i64 = 32;

/// The keys of words that may be names within the query.
pub(super) fn keys(candidates: &[CandidateName]) -> Vec<String> {
    let within = candidates.iter().filter(|candidate| candidate.role == NameRole::Within);
    within.map(|candidate| candidate.key.clone()).collect()
}

/// The documents that have a name with one of the keys.
pub(super) fn named_documents(
    caller: &mut Caller,
    projects: &Projects,
    keys: &[String],
    visibility: &Visibility,
) -> Result<Vec<NamedDocument>> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let read = |owner: &Owner<'_>, limit: i64| {
        let mut args = vec![projects.argument()];
        let sql = sql(projects, keys, visibility, limit, &mut args);
        read_named(owner, &sql, &args)
    };
    visibility.first(caller, MAX_NAMED_DOCUMENTS, read, |(document, ..)| *document)
}

pub(super) fn sql(
    projects: &Projects,
    keys: &[String],
    visibility: &Visibility,
    limit: i64,
    args: &mut Vec<DatumWithOid<'_>>,
) -> String {
    args.push(DatumWithOid::from(keys.to_vec()));
    let wanted = args.len();
    args.push(DatumWithOid::from(limit));
    let maximum = args.len();
    let condition = visibility.condition("n.document_id", args);
    format!(
        "SELECT n.project_id, n.document_id, n.key, n.kind, NULL::bigint[], NULL::int
         FROM unnest(${wanted}::text[]) AS wanted(key),
              LATERAL (SELECT n.project_id, n.document_id, n.key, n.kind FROM docsearch.document_name n
                       WHERE {} AND n.key = wanted.key COLLATE \"C\" {condition} LIMIT ${maximum}) n",
        projects.condition("n")
    )
}

/// Drops names that more than [`MAX_SUBJECT_DOCUMENTS`] documents of a project have.
pub(super) fn few(names: Vec<NamedDocument>) -> impl Iterator<Item = NamedDocument> {
    let mut documents: Map<(i64, String), Set<DocumentId>> = Map::default();
    for (document, key, _) in &names {
        let of_key = documents.entry((document.project, key.clone())).or_default();
        of_key.insert(*document);
    }
    names
        .into_iter()
        .filter(move |(document, key, _)| documents[&(document.project, key.clone())].len() <= MAX_SUBJECT_DOCUMENTS)
}

//! Documents that are called like words within a query.

use docsearch_core::query::understanding::{NameForm, NameRole};
use docsearch_core::ranking::subject::MAX_DOCUMENTS;
use docsearch_core::values::id::{DocumentId, Map, Set};
use pgrx::datum::DatumWithOid;

use super::{Borne, MAX_NAMED_DOCUMENTS, borne};
use crate::postgres::report::Result;
use crate::postgres::role::{Caller, Owner};
use crate::postgres::statement;
use crate::tables::project::Projects;
use crate::tables::sight::Sight;

/// Rows of such a name that are read.
pub(super) const MAX_ROWS: i64 = 32;

/// The keys of what may be a name within the query.
pub(super) fn keys(forms: &[NameForm]) -> Vec<String> {
    let within = forms.iter().filter(|form| form.role == NameRole::Within);
    within.map(|form| form.key.clone()).collect()
}

/// The names of documents that have one of the keys that may be names within a query.
pub(super) fn bearers(caller: &mut Caller, projects: &Projects, keys: &[String], sight: &Sight) -> Result<Vec<Borne>> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let read = |owner: &Owner<'_>, limit: i64| {
        let mut args = vec![projects.argument()];
        let sql = sql(projects, keys, sight, limit, &mut args);
        statement::lookup(owner, &sql, &args, borne)
    };
    sight.first(caller, MAX_NAMED_DOCUMENTS, read, |(document, ..)| *document)
}

pub(super) fn sql(
    projects: &Projects,
    keys: &[String],
    sight: &Sight,
    limit: i64,
    args: &mut Vec<DatumWithOid<'_>>,
) -> String {
    args.push(DatumWithOid::from(keys.to_vec()));
    let wanted = args.len();
    args.push(DatumWithOid::from(limit));
    let most = args.len();
    let seen = sight.condition("n.document_id", args);
    format!(
        "SELECT n.project_id, n.document_id, n.key, n.kind, NULL::bigint[], NULL::int
         FROM unnest(${wanted}::text[]) AS wanted(key),
              LATERAL (SELECT n.project_id, n.document_id, n.key, n.kind FROM docsearch.document_name n
                       WHERE {} AND n.key = wanted.key COLLATE \"C\" {seen} LIMIT ${most}) n",
        projects.condition("n")
    )
}

/// Those of the names that a few documents of a project have.
pub(super) fn few(names: Vec<Borne>) -> impl Iterator<Item = Borne> {
    let mut documents: Map<(i64, String), Set<DocumentId>> = Map::default();
    for (document, key, _) in &names {
        let of_key = documents.entry((document.project, key.clone())).or_default();
        of_key.insert(*document);
    }
    names
        .into_iter()
        .filter(move |(document, key, _)| documents[&(document.project, key.clone())].len() <= MAX_DOCUMENTS)
}

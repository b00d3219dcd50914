//! The documents that a caller sees, if they are few: their sizes, and how often words occur in them.

use std::collections::BTreeSet;

use docsearch_core::index::statistics::{ChunkFrequencies, Totals};
use docsearch_core::postgres::tsvector::TsVector;
use docsearch_core::query::lookup::any_of;
use docsearch_core::values::id::{DocumentId, Map, Set};
use pgrx::datum::DatumWithOid;

use super::LexemeDocuments;
use crate::postgres::report::Result;
use crate::postgres::role::{Caller, Owner, Role};
use crate::postgres::statement;
use crate::postgres::tsvector::TsVectorBytes;
use crate::tables::posting_lists::PostingLists;
use crate::tables::project::Projects;
use crate::tables::statistics;

/// Documents whose sections are read in lists in the time that the sections of one listed document take by their keys.
const READ_FOR_LISTED: f64 = 20.0;

/// The documents that the caller sees.
#[derive(Clone, Debug)]
pub(crate) struct VisibleDocuments {
    pub(super) documents: Vec<DocumentId>,
    pub(super) totals: Map<i64, Totals>,
}

impl VisibleDocuments {
    pub(super) fn frequencies(
        &self,
        caller: &mut Caller,
        projects: &Projects,
        lexemes: Vec<String>,
    ) -> Result<ChunkFrequencies> {
        let lexemes: BTreeSet<String> = lexemes.into_iter().collect();
        let mut frequencies = ChunkFrequencies::default();
        if lexemes.is_empty() || self.documents.is_empty() {
            return Ok(frequencies);
        }
        let wanted: Vec<String> = lexemes.iter().cloned().collect();
        if let Some(documents) = LexemeDocuments::read(caller, projects, &wanted, &[])? {
            let listed: Set<DocumentId> = self.documents.iter().copied().collect();
            for (lexeme, sections) in documents.rare {
                // Sections of a document follow each other.
                for of_document in sections
                    .chunk_by(|a, b| a == b)
                    .filter(|same| listed.contains(&same[0]))
                {
                    frequencies.add(of_document[0].project, &lexeme, of_document.len());
                }
            }
            return Ok(frequencies);
        }
        let any = any_of(lexemes.iter().map(String::as_str));
        // `IS TRUE` keeps the planner from the index of terms: the documents are read by their keys.
        self.read(
            caller,
            projects,
            "(c.terms @@ $3::tsquery) IS TRUE",
            &any,
            |project, terms| {
                let found = lexemes.iter().filter(|lexeme| terms.positions(lexeme).next().is_some());
                found.for_each(|lexeme| frequencies.count(project, lexeme));
            },
        )?;
        Ok(frequencies)
    }

    /// The lexemes of the documents that `wanted` accepts.
    pub(crate) fn vocabulary(
        &self,
        caller: &mut Caller,
        projects: &Projects,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<ChunkFrequencies> {
        let mut vocabulary = ChunkFrequencies::default();
        self.read(caller, projects, "$3::text IS NOT NULL", "", |project, terms| {
            let found = terms.lexemes().filter(|lexeme| wanted(lexeme));
            found.for_each(|lexeme| vocabulary.count(project, lexeme));
        })?;
        Ok(vocabulary)
    }

    fn read(
        &self,
        caller: &mut Caller,
        projects: &Projects,
        condition: &str,
        argument: &str,
        mut each: impl FnMut(i64, TsVector<'_>),
    ) -> Result<()> {
        let owner = &caller.as_owner()?;
        statement::rows(
            owner,
            &format!(
                "SELECT c.project_id, c.terms FROM docsearch.chunk c
                 WHERE {} AND c.document_id = ANY ($2) AND {condition}",
                projects.condition("c")
            ),
            &[
                projects.argument(),
                DatumWithOid::from(ids(&self.documents)),
                DatumWithOid::from(argument),
            ],
            |row| {
                let terms: TsVectorBytes = row.required(2)?;
                if let Some(terms) = TsVector::new(terms.as_bytes()) {
                    each(row.required(1)?, terms);
                }
                Ok(())
            },
        )?;
        Ok(())
    }
}

/// The sizes of listed documents, by project. The lists of sections have them together; reading the chunks of a document
/// takes as long as reading these lists for [`READ_FOR_LISTED`] documents.
pub(super) fn totals_of(owner: &Owner<'_>, projects: &Projects, documents: &[DocumentId]) -> Result<Map<i64, Totals>> {
    let all: f64 = statistics::totals(owner, projects)?
        .values()
        .map(|totals| totals.documents)
        .sum();
    let lists = match documents.len() as f64 * READ_FOR_LISTED > all {
        true => PostingLists::read(owner, projects, &[])?,
        false => None,
    };
    let Some(lists) = lists else {
        return statistics::totals_of_documents(owner, projects, ids(documents));
    };
    let mut totals = lists.totals(&documents.iter().copied().collect());
    let pending: Vec<i64> = ids(documents.iter().filter(|id| lists.pending.contains(id)));
    if !pending.is_empty() {
        for (project, more) in statistics::totals_of_documents(owner, projects, pending)? {
            totals.entry(project).or_default().add(&more);
        }
    }
    Ok(totals)
}

pub(super) fn ids<'a>(documents: impl IntoIterator<Item = &'a DocumentId>) -> Vec<i64> {
    documents.into_iter().map(|id| id.document).collect()
}

//! Words that a query excludes (`-word`).

use docsearch_core::documents::markdown::plain_text;
use docsearch_core::index::question::FIRST;
use docsearch_core::query::exclusion::ExcludedText;
use docsearch_core::query::lookup::{LookupTerm, any_of};
use docsearch_core::ranking::page::Page;
use docsearch_core::values::id::{DocumentId, Map, Set};
use pgrx::datum::DatumWithOid;

use crate::postgres::report::Result;
use crate::postgres::role::{Caller, Owner, Role};
use crate::postgres::statement;
use crate::tables::keys::{self, WANTED_DOCUMENTS};

/// A word that a query excludes.
#[derive(Clone)]
pub(crate) struct Excluded {
    word: String,
    text: ExcludedText,
    /// A section with the word has one of these; if there are none, every section is read.
    lexemes: Vec<String>,
}

impl Excluded {
    /// `terms` are those of the word and its parts.
    pub(crate) fn new(word: &str, terms: Vec<LookupTerm>) -> Self {
        Self {
            word: word.to_owned(),
            text: ExcludedText::new(word),
            lexemes: terms.into_iter().flat_map(|term| term.lexemes).collect(),
        }
    }

    /// The documents that have the word in a section.
    fn documents_with(&self, owner: &Owner<'_>, documents: &Set<DocumentId>) -> Result<Set<DocumentId>> {
        let [projects, ids] = keys::document_arguments(documents);
        let any = (!self.lexemes.is_empty()).then(|| any_of(self.lexemes.iter().map(String::as_str)));
        let mut found = Set::default();
        statement::lookup(
            owner,
            &format!(
                "SELECT wanted.project_id, wanted.id, c.heading_path, c.body
                 FROM {WANTED_DOCUMENTS}
                      JOIN docsearch.chunk c ON c.project_id = wanted.project_id AND c.document_id = wanted.id
                 WHERE c.chunk_no < {FIRST} AND ($3::tsquery IS NULL OR (c.terms @@ $3::tsquery))"
            ),
            &[projects, ids, DatumWithOid::from(any)],
            |row| {
                let id = keys::document_id(row)?;
                if !found.contains(&id) {
                    let headings: Vec<String> = row.required(3)?;
                    let in_headings = headings.iter().any(|heading| self.text.is_in(heading));
                    if in_headings || self.text.is_in(&plain_text(&row.required::<String>(4)?)) {
                        found.insert(id);
                    }
                }
                Ok(())
            },
        )?;
        Ok(found)
    }
}

/// Drops the pages that have an excluded word, and returns the words that dropped one. All pages have to be visible.
pub(crate) fn exclude(
    caller: &mut Caller,
    excluded: &[Excluded],
    pages: &mut Map<DocumentId, Page>,
) -> Result<Vec<String>> {
    if excluded.is_empty() {
        return Ok(Vec::new());
    }
    let owner = &caller.as_owner()?;
    let documents: Set<DocumentId> = pages.keys().copied().collect();
    let mut excluding = Vec::new();
    for word in excluded {
        let mut dropped = word.documents_with(owner, &documents)?;
        let has_word = |page: &Page| page.is_filed_under(&word.word) || word.text.is_in(&page.title);
        dropped.extend(pages.iter().filter(|(_, page)| has_word(page)).map(|(id, _)| *id));
        if !dropped.is_empty() {
            excluding.push((word.word.clone(), dropped));
        }
    }
    pages.retain(|id, _| excluding.iter().all(|(_, dropped)| !dropped.contains(id)));
    Ok(excluding.into_iter().map(|(word, _)| word).collect())
}

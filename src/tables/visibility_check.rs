//! Checks retrieved documents against row-level security, where the visible ones are too many to list. A retriever
//! reads on until it has enough visible documents, so that hidden ones do not change its result.

use std::cell::{OnceCell, RefCell};

use docsearch_core::values::id::{DocumentId, Map, Set};
use pgrx::datum::DatumWithOid;

use crate::postgres::report::Result;
use crate::postgres::role::{Caller, Owner, Role};
use crate::postgres::statement;
use crate::tables::keys::{self, WANTED_DOCUMENTS};
use crate::tables::project::Projects;
use crate::tables::statistics;

/// Up to this many documents, each is looked up by its key.
const LOOKED_UP: usize = 1_000;
/// Beyond, all visible documents are listed if the projects have fewer than this many times those looked up: a scan
/// reads a document this many times faster than a lookup.
const LOOKUP_COST: f64 = 5.0;
/// Fewest rows of the first read.
const MIN_READ: usize = 64;
/// Fewest documents of one check.
const MIN_CHECKED: usize = 1_000;
/// Bounds of the factor by which the limit grows from one read to the next.
const GROWTH: (usize, usize) = (2, 8);

/// The documents known so far to be visible or hidden.
#[derive(Debug)]
pub(crate) struct VisibilityCheck {
    projects: Projects,
    /// Number of documents of the projects, with hidden ones: only the time may depend on it.
    documents: OnceCell<f64>,
    known: RefCell<Known>,
}

#[derive(Debug)]
enum Known {
    /// Whether each of these is visible.
    LookedUp(Map<DocumentId, bool>),
    /// All visible documents.
    Listed(Set<DocumentId>),
}

impl VisibilityCheck {
    pub(crate) fn new(projects: Projects) -> Self {
        Self {
            projects,
            documents: OnceCell::new(),
            known: RefCell::new(Known::LookedUp(Map::default())),
        }
    }

    /// For a caller who sees these documents and no others.
    pub(crate) fn of_listed(projects: Projects, documents: Vec<DocumentId>) -> Self {
        Self {
            projects,
            documents: OnceCell::new(),
            known: RefCell::new(Known::Listed(documents.into_iter().collect())),
        }
    }

    /// All visible documents, if they are known.
    pub(crate) fn listed(&self) -> Option<Set<DocumentId>> {
        match &*self.known.borrow() {
            Known::Listed(listed) => Some(listed.clone()),
            Known::LookedUp(_) => None,
        }
    }

    /// The first `wanted` rows with visible documents. `read` gets the limit of rows to read. Its order must not depend
    /// on the limit.
    pub(crate) fn first<T>(
        &self,
        caller: &mut Caller,
        wanted: usize,
        mut read: impl FnMut(&Owner<'_>, i64) -> Result<Vec<T>>,
        document: impl Fn(&T) -> DocumentId,
    ) -> Result<Vec<T>> {
        if wanted == 0 {
            return Ok(Vec::new());
        }
        let mut limit = wanted.saturating_mul(GROWTH.0).max(MIN_READ);
        loop {
            let rows = read(&caller.as_owner()?, i64::try_from(limit).unwrap_or(i64::MAX))?;
            let read = rows.len();
            let visible = self.visible(caller, rows, wanted, &document)?;
            if visible.len() == wanted || read < limit {
                return Ok(visible);
            }
            let expected = wanted.saturating_mul(read).saturating_mul(5) / visible.len().max(1) / 4;
            limit = expected.clamp(limit.saturating_mul(GROWTH.0), limit.saturating_mul(GROWTH.1));
        }
    }

    /// The first `wanted` of the rows with visible documents.
    fn visible<T>(
        &self,
        caller: &mut Caller,
        rows: Vec<T>,
        wanted: usize,
        document: &impl Fn(&T) -> DocumentId,
    ) -> Result<Vec<T>> {
        let mut visible = Vec::new();
        let mut rows = rows.into_iter().peekable();
        while rows.peek().is_some() && visible.len() < wanted {
            let part: Vec<T> = rows.by_ref().take(wanted.max(MIN_CHECKED)).collect();
            let documents = self.among(caller, part.iter().map(document))?;
            visible.extend(part.into_iter().filter(|row| documents.contains(&document(row))));
        }
        visible.truncate(wanted);
        Ok(visible)
    }

    /// The visible ones of the documents.
    pub(crate) fn among(
        &self,
        caller: &mut Caller,
        documents: impl IntoIterator<Item = DocumentId>,
    ) -> Result<Set<DocumentId>> {
        let documents: Set<DocumentId> = documents.into_iter().collect();
        let unknown: Set<DocumentId> = match &*self.known.borrow() {
            Known::Listed(listed) => return Ok(documents.intersection(listed).copied().collect()),
            Known::LookedUp(known) => documents.iter().filter(|id| !known.contains_key(id)).copied().collect(),
        };
        self.look_up(caller, unknown)?;
        Ok(match &*self.known.borrow() {
            Known::Listed(listed) => documents.intersection(listed).copied().collect(),
            Known::LookedUp(known) => {
                let is_visible = |id: &&DocumentId| known.get(id).copied().unwrap_or_default();
                documents.iter().filter(is_visible).copied().collect()
            }
        })
    }

    fn look_up(&self, caller: &mut Caller, unknown: Set<DocumentId>) -> Result<()> {
        if unknown.is_empty() {
            return Ok(());
        }
        let looked_up = match &*self.known.borrow() {
            Known::LookedUp(known) => known.len() + unknown.len(),
            Known::Listed(_) => return Ok(()),
        };
        if looked_up > LOOKED_UP && looked_up as f64 * LOOKUP_COST > self.documents(caller)? {
            return self.list(caller);
        }
        let visible = look_up(caller, &unknown)?;
        if let Known::LookedUp(known) = &mut *self.known.borrow_mut() {
            known.extend(unknown.into_iter().map(|id| (id, visible.contains(&id))));
        }
        Ok(())
    }

    fn documents(&self, caller: &mut Caller) -> Result<f64> {
        if let Some(&known) = self.documents.get() {
            return Ok(known);
        }
        let totals = statistics::totals(&caller.as_owner()?, &self.projects)?;
        let documents = totals.values().map(|totals| totals.documents).sum();
        Ok(*self.documents.get_or_init(|| documents))
    }

    fn list(&self, caller: &Caller) -> Result<()> {
        let listed = statement::rows(
            caller,
            &format!(
                "SELECT d.project_id, d.id FROM docsearch.document d WHERE {}",
                self.projects.condition("d")
            ),
            &[self.projects.argument()],
            keys::document_id,
        )?;
        *self.known.borrow_mut() = Known::Listed(listed.into_iter().collect());
        Ok(())
    }

    /// Whether the visible documents have at most this many sections. Reads at most one document more.
    pub(crate) fn has_at_most(&self, caller: &Caller, sections: i64) -> Result<bool> {
        let read = statement::one(
            caller,
            &format!(
                "SELECT count(*), coalesce(sum(greatest(f.chunk_count, 0)), 0)::bigint
                 FROM (SELECT d.chunk_count FROM docsearch.document d WHERE {} LIMIT $2) f",
                self.projects.condition("d")
            ),
            &[self.projects.argument(), DatumWithOid::from(sections.saturating_add(1))],
            |row| Ok((row.required::<i64>(1)?, row.required::<i64>(2)?)),
        )?;
        Ok(read.is_none_or(|(documents, chunks)| documents <= sections && chunks <= sections))
    }
}

/// The visible ones of the documents, by their keys.
fn look_up(caller: &Caller, documents: &Set<DocumentId>) -> Result<Set<DocumentId>> {
    let rows = statement::lookup(
        caller,
        &format!("SELECT d.project_id, d.id FROM {WANTED_DOCUMENTS} JOIN docsearch.document d USING (project_id, id)"),
        &keys::document_arguments(documents),
        keys::document_id,
    )?;
    Ok(rows.into_iter().collect())
}

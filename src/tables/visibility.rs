//! Which of the retrieved documents the caller sees, where these are too many to list at first. A retriever then goes on
//! until it has enough documents that the caller sees: what it finds does not depend on those that policies hide.

use std::cell::{OnceCell, RefCell};

use docsearch_core::values::id::{DocumentId, Map, Set};
use pgrx::datum::DatumWithOid;

use crate::postgres::report::Result;
use crate::postgres::role::{Caller, Owner, Role};
use crate::postgres::statement;
use crate::tables::keys::{self, WANTED_DOCUMENTS};
use crate::tables::project::Projects;
use crate::tables::statistics;

/// Documents that are looked up by their keys in any case.
const LEAST_LOOKED_UP: usize = 1_000;
/// Beyond, those that the caller sees are listed if the projects have fewer documents than this many times those looked up:
/// reading one after the other is as much quicker than by its key.
const LOOKING_UP: f64 = 5.0;
/// Fewest rows that are read at once, and fewest that are checked at once.
const LEAST_READ: usize = 64;
const LEAST_CHECKED: usize = 1_000;
/// The next look reads at least and at most this many times as many rows as the last one.
const GROWTH: (usize, usize) = (2, 8);

/// What is known so far of the documents that the caller sees.
#[derive(Debug)]
pub(crate) struct Visibility {
    projects: Projects,
    /// How many documents the projects have, hidden ones among them: of this only the time may depend.
    documents: OnceCell<f64>,
    known: RefCell<Known>,
}

#[derive(Debug)]
enum Known {
    /// Of these it is known whether the caller sees them.
    LookedUp(Map<DocumentId, bool>),
    /// The caller sees these and no others.
    Listed(Set<DocumentId>),
}

impl Visibility {
    pub(crate) fn new(projects: Projects) -> Self {
        Self {
            projects,
            documents: OnceCell::new(),
            known: RefCell::new(Known::LookedUp(Map::default())),
        }
    }

    /// Where the caller sees these documents and no others.
    pub(crate) fn of_listed(projects: Projects, documents: Vec<DocumentId>) -> Self {
        Self {
            projects,
            documents: OnceCell::new(),
            known: RefCell::new(Known::Listed(documents.into_iter().collect())),
        }
    }

    /// All documents that the caller sees, if they are known.
    pub(crate) fn listed(&self) -> Option<Set<DocumentId>> {
        match &*self.known.borrow() {
            Known::Listed(listed) => Some(listed.clone()),
            Known::LookedUp(_) => None,
        }
    }

    /// The first `wanted` rows whose documents the caller sees. `read` gets the greatest number of rows to read, and
    /// gives the same rows first whatever that number is.
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
        let mut limit = wanted.saturating_mul(GROWTH.0).max(LEAST_READ);
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

    /// The first `wanted` of the rows whose documents the caller sees.
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
            let part: Vec<T> = rows.by_ref().take(wanted.max(LEAST_CHECKED)).collect();
            let seen = self.among(caller, part.iter().map(document))?;
            visible.extend(part.into_iter().filter(|row| seen.contains(&document(row))));
        }
        visible.truncate(wanted);
        Ok(visible)
    }

    /// Those of the documents that the caller sees.
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
                let seen = |id: &&DocumentId| known.get(id).copied().unwrap_or_default();
                documents.iter().filter(seen).copied().collect()
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
        if looked_up > LEAST_LOOKED_UP && looked_up as f64 * LOOKING_UP > self.documents(caller)? {
            return self.list(caller);
        }
        let seen = seen(caller, &unknown)?;
        if let Known::LookedUp(known) = &mut *self.known.borrow_mut() {
            known.extend(unknown.into_iter().map(|id| (id, seen.contains(&id))));
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

    /// Whether the documents that the caller sees have no more sections than this; reads one document more at most.
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

/// Those of the documents that the caller sees, by their keys.
fn seen(caller: &Caller, documents: &Set<DocumentId>) -> Result<Set<DocumentId>> {
    let rows = statement::lookup(
        caller,
        &format!("SELECT d.project_id, d.id FROM {WANTED_DOCUMENTS} JOIN docsearch.document d USING (project_id, id)"),
        &keys::document_arguments(documents),
        keys::document_id,
    )?;
    Ok(rows.into_iter().collect())
}

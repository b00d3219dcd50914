//! Documents whose rows are gone: with a row, or with the whole table.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use pgrx::datum::DatumWithOid;

use super::{Outcome, Problems, Step};
use crate::indexing::attached::agreement;
use crate::indexing::deletion;
use crate::postgres::report::{Result, in_one_line};
use crate::postgres::role::{Caller, Owner, Role};
use crate::postgres::transaction::try_as_owner;
use crate::postgres::{catalog, statement, subtransaction};
use crate::settings;
use crate::tables::project::{self, Project};

/// For each row of a step, documents of rows that are gone which one step removes.
const GONE_PER_ROW: i32 = 16;
/// The same for documents that are compared with rows at once.
const COMPARED_PER_ROW: i32 = 256;

thread_local! {
    /// Slugs of the documents of tables, by the number of the table, up to which they were compared with its rows, or removed
    /// as it was dropped. A worker that begins knows of none, and begins again.
    static LOOKED_AT: RefCell<HashMap<i32, String>> = RefCell::default();
}

/// How far a step has come with the documents of a table.
pub(super) enum LookedAt {
    /// No further than before.
    Same,
    /// Up to the document with this slug.
    To(String),
    All,
}

impl Step {
    /// Keys of documents that no row has any more, as many as one step removes.
    pub(super) fn compare(&mut self) -> Outcome<Vec<String>> {
        let most = self.gone_at_once();
        let mut gone = Vec::new();
        let mut last = LOOKED_AT.with_borrow(|known| known.get(&self.attached.id).cloned());
        loop {
            let limit = i64::from(COMPARED_PER_ROW) * i64::from(self.attached.step_rows);
            let documents = try_as_owner(|owner| self.attached.documents_after(owner, last.as_deref(), limit))?;
            if documents.is_empty() {
                self.looked_at = LookedAt::All;
                return Ok(gone);
            }
            let keys = documents.iter().map(|(_, key)| key.clone()).collect();
            let without: HashSet<String> = try_as_owner(|owner| self.attached.without_row(owner, keys))?
                .into_iter()
                .collect();
            for (slug, key) in documents {
                if without.contains(&key) {
                    gone.push(key);
                }
                last = Some(slug);
                if gone.len() == most {
                    break;
                }
            }
            if gone.len() == most || self.begun.elapsed() > settings::attached_read_timeout() / 4 {
                self.part.more = true;
                self.looked_at = last.map_or(LookedAt::Same, LookedAt::To);
                return Ok(gone);
            }
        }
    }

    pub(super) fn gone_at_once(&self) -> usize {
        match self.attached.step_rows {
            ..=1 => 1,
            rows => usize::try_from(rows.saturating_mul(GONE_PER_ROW)).unwrap_or(usize::MAX),
        }
    }

    /// Keeps for the next step what this one has looked at.
    pub(super) fn note_looked_at(&mut self) {
        let id = self.attached.id;
        LOOKED_AT.with_borrow_mut(|known| match std::mem::replace(&mut self.looked_at, LookedAt::Same) {
            LookedAt::Same => None,
            LookedAt::To(slug) => known.insert(id, slug),
            LookedAt::All => known.remove(&id),
        });
    }

    /// Removes the documents of rows that are gone, as who attached the table, and notes those that stay.
    pub(super) fn remove(
        &self,
        writer: &mut Caller,
        project: &Project,
        gone: Vec<String>,
        problems: &mut Problems,
    ) -> Result<()> {
        let attached = &self.attached;
        if gone.is_empty() {
            return Ok(());
        }
        let slugs: Vec<String> = gone.iter().map(|key| attached.slug(key)).collect();
        let root = Some(attached.source_root.as_str());
        let all = subtransaction::run(|| deletion::delete(writer, project, slugs.clone(), root));
        if all.is_err() {
            for (key, slug) in gone.iter().zip(&slugs) {
                if let Err(problem) =
                    subtransaction::run(|| deletion::delete(writer, project, vec![slug.clone()], root))
                {
                    problems.add(key, in_one_line(&problem));
                }
            }
        }
        let kept: Vec<String> = {
            let owner = &writer.as_owner()?;
            statement::rows(
                owner,
                "SELECT d.slug FROM docsearch.document d WHERE d.project_id = $1 AND d.source_root = $2 AND d.slug = ANY ($3)",
                &[
                    DatumWithOid::from(project.id),
                    DatumWithOid::from(root),
                    DatumWithOid::from(slugs),
                ],
                |row| row.required(1),
            )?
        };
        let role = catalog::role_name(attached.writes_as).unwrap_or_default();
        for slug in kept {
            let key = slug.strip_prefix(&attached.slug_prefix).unwrap_or(&slug);
            if !problems.has(key) {
                problems.add(
                    key,
                    format_args!(
                        "the row is gone, and policies keep its document from role \"{role}\", which attached the table"
                    ),
                );
            }
        }
        Ok(())
    }

    /// The table was dropped, and its rows with it. Its documents go, a part at a time, within the policies of who attached
    /// it, as everywhere; those that these keep are told, and tried again. If that role is gone, too, all go.
    pub(super) fn forget(&mut self, owner: &mut Owner<'_>) -> Result<()> {
        let attached = &self.attached;
        if !attached.hold(owner)? {
            return Ok(());
        }
        attached.require_recorded_documents(owner)?;
        let project = project::by_id(owner, attached.project)?;
        let last = LOOKED_AT.with_borrow(|known| known.get(&attached.id).cloned());
        let most = i64::try_from(self.gone_at_once()).unwrap_or(i64::MAX);
        let slugs = attached.slugs_after(owner.as_caller(), last.as_deref(), Some(most))?;
        let Some(last) = slugs.last().cloned() else {
            self.looked_at = LookedAt::All;
            return self.forgotten(owner);
        };
        let root = Some(attached.source_root.as_str());
        match catalog::role_name(attached.writes_as) {
            Some(_) => deletion::delete(&mut *owner.acting_as(attached.writes_as)?, &project, slugs, root)?,
            None => deletion::delete(owner.as_caller(), &project, slugs, root)?,
        };
        self.looked_at = LookedAt::To(last);
        self.note(owner, attached.step_rows, self.wait(owner)?)
    }

    /// All documents of a table that was dropped have been removed, or cannot be.
    fn forgotten(&self, owner: &mut Owner<'_>) -> Result<()> {
        let kept = statement::one(
            owner,
            "SELECT count(*) FROM docsearch.document d WHERE d.project_id = $1 AND d.source_root = $2",
            &[
                DatumWithOid::from(self.attached.project),
                DatumWithOid::from(self.attached.source_root.as_str()),
            ],
            |row| row.required::<i64>(1),
        )?;
        match kept {
            None | Some(0) => {
                statement::execute(
                    owner,
                    "DELETE FROM docsearch.attached_table a WHERE a.id = $1",
                    &[DatumWithOid::from(self.attached.id)],
                )?;
                agreement::forget(owner, self.attached.id)
            }
            Some(kept) => self.failed(owner, &format!(
                "policies keep {kept} of its documents from role \"{}\", which attached it: a role that may has to delete them",
                catalog::role_name(self.attached.writes_as).unwrap_or_default()
            )),
        }
    }
}

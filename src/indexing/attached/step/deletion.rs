//! Deletes documents of deleted rows and of dropped tables.

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

/// Documents of deleted rows that one step deletes, for each row of the step.
const DELETED_PER_ROW: i32 = 16;
/// Documents that one step compares with rows, for each row of the step.
const COMPARED_PER_ROW: i32 = 256;

thread_local! {
    /// By table id, the slug up to which documents were compared with rows, or were deleted after the table was
    /// dropped. A new worker starts from the beginning.
    static CHECKED_TO: RefCell<HashMap<i32, String>> = RefCell::default();
}

/// How far a step has checked the documents of a table.
pub(super) enum CheckedTo {
    /// No further than before.
    Same,
    /// Up to the document with this slug.
    To(String),
    All,
}

impl Step {
    /// Keys of documents without a row, up to the number that one step deletes.
    pub(super) fn compare(&mut self) -> Outcome<Vec<String>> {
        let most = self.deleted_at_once();
        let mut deleted = Vec::new();
        let mut last = CHECKED_TO.with_borrow(|known| known.get(&self.attached.id).cloned());
        loop {
            let limit = i64::from(COMPARED_PER_ROW) * i64::from(self.attached.step_rows);
            let documents = try_as_owner(|owner| self.attached.documents_after(owner, last.as_deref(), limit))?;
            if documents.is_empty() {
                self.checked_to = CheckedTo::All;
                return Ok(deleted);
            }
            let keys = documents.iter().map(|(_, key)| key.clone()).collect();
            let without: HashSet<String> = try_as_owner(|owner| self.attached.without_row(owner, keys))?
                .into_iter()
                .collect();
            for (slug, key) in documents {
                if without.contains(&key) {
                    deleted.push(key);
                }
                last = Some(slug);
                if deleted.len() == most {
                    break;
                }
            }
            if deleted.len() == most || self.begun.elapsed() > settings::attached_read_timeout() / 4 {
                self.part.more = true;
                self.checked_to = last.map_or(CheckedTo::Same, CheckedTo::To);
                return Ok(deleted);
            }
        }
    }

    pub(super) fn deleted_at_once(&self) -> usize {
        match self.attached.step_rows {
            ..=1 => 1,
            rows => usize::try_from(rows.saturating_mul(DELETED_PER_ROW)).unwrap_or(usize::MAX),
        }
    }

    /// Remembers for the next step how far this one has come.
    pub(super) fn remember_checked(&mut self) {
        let id = self.attached.id;
        CHECKED_TO.with_borrow_mut(|known| match std::mem::replace(&mut self.checked_to, CheckedTo::Same) {
            CheckedTo::Same => None,
            CheckedTo::To(slug) => known.insert(id, slug),
            CheckedTo::All => known.remove(&id),
        });
    }

    /// Deletes the documents of deleted rows, as the role that attached the table, and records those that stay.
    pub(super) fn remove(
        &self,
        writer: &mut Caller,
        project: &Project,
        deleted: Vec<String>,
        problems: &mut Problems,
    ) -> Result<()> {
        let attached = &self.attached;
        if deleted.is_empty() {
            return Ok(());
        }
        let slugs: Vec<String> = deleted.iter().map(|key| attached.slug(key)).collect();
        let root = Some(attached.source_root.as_str());
        let all = subtransaction::run(|| deletion::delete(writer, project, slugs.clone(), root));
        if all.is_err() {
            for (key, slug) in deleted.iter().zip(&slugs) {
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
                        "the row was deleted, but policies keep its document from role \"{role}\", which attached the table"
                    ),
                );
            }
        }
        Ok(())
    }

    /// Deletes the documents of a dropped table, some at a time, as the role that attached it and within its policies.
    /// Documents that policies keep are reported and tried again. If that role was dropped too, all documents are
    /// deleted.
    pub(super) fn delete_all(&mut self, owner: &mut Owner<'_>) -> Result<()> {
        let attached = &self.attached;
        if !attached.lock(owner)? {
            return Ok(());
        }
        attached.require_recorded_documents(owner)?;
        let project = project::by_id(owner, attached.project)?;
        let last = CHECKED_TO.with_borrow(|known| known.get(&attached.id).cloned());
        let most = i64::try_from(self.deleted_at_once()).unwrap_or(i64::MAX);
        let slugs = attached.slugs_after(owner.as_caller(), last.as_deref(), Some(most))?;
        let Some(last) = slugs.last().cloned() else {
            self.checked_to = CheckedTo::All;
            return self.end_deletion(owner);
        };
        let root = Some(attached.source_root.as_str());
        match catalog::role_name(attached.writes_as) {
            Some(_) => deletion::delete(&mut *owner.acting_as(attached.writes_as)?, &project, slugs, root)?,
            None => deletion::delete(owner.as_caller(), &project, slugs, root)?,
        };
        self.checked_to = CheckedTo::To(last);
        self.record_end(owner, attached.step_rows, self.pause(owner)?)
    }

    /// Ends the deletion after all documents of a dropped table were deleted or cannot be.
    fn end_deletion(&self, owner: &mut Owner<'_>) -> Result<()> {
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
                agreement::delete(owner, self.attached.id)
            }
            Some(kept) => self.record_failure(owner, &format!(
                "policies keep {kept} of its documents from role \"{}\", which attached it: a role that may has to delete them",
                catalog::role_name(self.attached.writes_as).unwrap_or_default()
            )),
        }
    }
}

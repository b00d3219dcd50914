//! Reads a whole table or view part by part, and remembers the known rows of a view.

use std::collections::HashMap;

use pgrx::datum::DatumWithOid;

use super::Attached;
use super::rows::Problems;
use crate::postgres::report::Result;
use crate::postgres::role::Owner;
use crate::postgres::statement;
use crate::postgres::transaction::{Failure, try_as_owner};

/// Rows of a view that one step checks. Of changed rows, it reads the same number as of a table.
const CHECKED_ROWS: i32 = 4_096;
/// Longest value, in bytes, that shows whether a row has changed: rows with longer ones are read each time.
const MAX_CHANGED_BYTES: usize = 1_024;

/// The next rows.
#[derive(Default)]
pub(super) struct Part {
    /// Keys of the rows to read.
    pub(super) keys: Vec<String>,
    /// The values that show whether they have changed, if the view has them.
    changed: Vec<Option<String>>,
    /// The last key that was checked.
    pub(super) last: Option<String>,
    /// Whether more rows follow.
    pub(super) more: bool,
}

impl Part {
    /// Rows with these keys, in any place.
    pub(super) fn of(keys: Vec<String>) -> Self {
        Self {
            keys,
            ..Self::default()
        }
    }
}

impl Attached {
    /// The next rows that may have changed. Needs no transaction around it.
    pub(super) fn next_part(&self) -> std::result::Result<Part, Failure> {
        if self.changed_at.is_none() {
            let keys = try_as_owner(|owner| self.keys_after(owner, self.loaded_to.as_deref(), self.step_rows))?;
            return Ok(Part {
                more: keys.len() == self.step_rows as usize,
                last: keys.last().map(|(key, _)| key.clone()),
                changed: Vec::new(),
                keys: keys.into_iter().map(|(key, _)| key).collect(),
            });
        }
        let found = try_as_owner(|owner| self.keys_after(owner, self.loaded_to.as_deref(), CHECKED_ROWS))?;
        let known = try_as_owner(|owner| self.known(owner, &found))?;
        let mut part = Part {
            more: found.len() == CHECKED_ROWS as usize,
            ..Part::default()
        };
        for (key, changed) in found {
            if changed.is_none() || known.get(&key) != changed.as_ref() {
                if part.keys.len() == self.step_rows as usize {
                    part.more = true;
                    break;
                }
                part.keys.push(key.clone());
                part.changed
                    .push(changed.filter(|changed| changed.len() <= MAX_CHANGED_BYTES));
            }
            part.last = Some(key);
        }
        Ok(part)
    }

    fn known(&self, owner: &Owner<'_>, rows: &[(String, Option<String>)]) -> Result<HashMap<String, String>> {
        let keys: Vec<String> = rows.iter().map(|(key, _)| key.clone()).collect();
        let known = statement::rows(
            owner,
            "SELECT r.key, r.changed FROM docsearch.view_row r
             WHERE r.attached_id = $1 AND r.key = ANY ($2) AND r.changed IS NOT NULL",
            &[DatumWithOid::from(self.id), DatumWithOid::from(keys)],
            |row| Ok((row.required(1)?, row.required(2)?)),
        )?;
        Ok(known.into_iter().collect())
    }

    /// Remembers the rows of a view that were read, except for those that failed.
    pub(super) fn remember_read(&self, owner: &Owner<'_>, part: &Part, problems: &Problems) -> Result<()> {
        let read = part
            .keys
            .iter()
            .zip(&part.changed)
            .filter(|(key, _)| !problems.has(key));
        let (keys, changed): (Vec<String>, Vec<Option<String>>) =
            read.map(|(key, changed)| (key.clone(), changed.clone())).unzip();
        if keys.is_empty() {
            return Ok(());
        }
        statement::execute(
            owner,
            "INSERT INTO docsearch.view_row (attached_id, key, changed)
             SELECT $1, r.key, r.changed FROM unnest($2::text[], $3::text[]) AS r(key, changed)
             ON CONFLICT (attached_id, key) DO UPDATE SET changed = excluded.changed",
            &[
                DatumWithOid::from(self.id),
                DatumWithOid::from(keys),
                DatumWithOid::from(changed),
            ],
        )
    }

    /// Deletes what is remembered of deleted rows, or of all.
    pub(super) fn clear_read(&self, owner: &Owner<'_>, keys: Option<&[String]>) -> Result<()> {
        statement::execute(
            owner,
            "DELETE FROM docsearch.view_row r WHERE r.attached_id = $1 AND ($2::text[] IS NULL OR r.key = ANY ($2))",
            &[
                DatumWithOid::from(self.id),
                DatumWithOid::from(keys.map(<[String]>::to_vec)),
            ],
        )
    }

    /// Up to a number of slugs and keys of the table's documents after this slug.
    pub(super) fn documents_after(
        &self,
        owner: &Owner<'_>,
        last: Option<&str>,
        most: i64,
    ) -> Result<Vec<(String, String)>> {
        statement::rows(
            owner,
            "SELECT d.slug, d.source_path FROM docsearch.document d
             WHERE d.project_id = $1 AND d.source_root = $2 AND d.source_path IS NOT NULL AND ($3::text IS NULL OR d.slug > $3)
             ORDER BY d.slug LIMIT $4",
            &[
                DatumWithOid::from(self.project),
                DatumWithOid::from(self.source_root.as_str()),
                DatumWithOid::from(last),
                DatumWithOid::from(most),
            ],
            |row| Ok((row.required(1)?, row.required(2)?)),
        )
    }
}

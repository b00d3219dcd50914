//! Compares the documents of attached tables with their rows, for `check(deep => true)`.

use std::collections::HashSet;

use pgrx::datum::DatumWithOid;

use super::{Attached, Table, read};
use crate::indexing::indexer;
use crate::postgres::report::{Result, in_one_line};
use crate::postgres::role::Owner;
use crate::postgres::{statement, subtransaction};
use crate::tables::document_input::DocumentInput;
use crate::tables::project;

/// Most rows or documents that are compared at once; the limit of bytes may make it fewer.
const AT_ONCE: i32 = 256;

/// The differences of one kind between a table and its documents: their number, and the slug of one of them.
#[derive(Default)]
struct Differing {
    number: i64,
    first: Option<String>,
}

impl Differing {
    fn add(&mut self, slug: String) {
        self.number += 1;
        self.first.get_or_insert(slug);
    }

    fn summary(&self, what: &str) -> Option<String> {
        let first = self.first.as_ref()?;
        let plural = if self.number == 1 { "" } else { "s" };
        Some(format!(
            "{} {}, such as {first}",
            self.number,
            what.replace('#', plural)
        ))
    }
}

/// An attached table whose documents do not match its rows.
pub(crate) struct Difference {
    /// Schema and name, quoted.
    pub(crate) table: String,
    pub(crate) detail: String,
    pub(crate) project: String,
}

/// The attached tables, of one project or of all, whose documents do not match their rows, except for changes that wait
/// to be read. Tables that cannot be read are left out: they are reported elsewhere. Each table is read as its own
/// role.
pub(crate) fn differences(owner: &mut Owner<'_>, project: Option<i64>) -> Result<Vec<Difference>> {
    let all = read(
        owner,
        "($1::bigint IS NULL OR a.project_id = $1)
         AND NOT a.loading AND NOT EXISTS (SELECT FROM docsearch.table_change c WHERE c.attached_id = a.id AND c.key IS NULL)
         AND EXISTS (SELECT FROM pg_class t WHERE t.oid = a.source)",
        &[DatumWithOid::from(project)],
    )?;
    let mut differences = Vec::new();
    for attached in all {
        if attached.check(owner).is_err() {
            continue;
        }
        let difference = subtransaction::run(|| attached.difference(owner));
        differences.extend(match difference {
            Ok(difference) => difference,
            Err(problem) => Some(Difference {
                table: Table::of(owner, Some(attached.source))?.qualified,
                detail: format!("it cannot be compared: {}", in_one_line(&problem)),
                project: project::by_id(owner, attached.project)?.name,
            }),
        });
    }
    Ok(differences)
}

impl Attached {
    fn difference(&self, owner: &mut Owner<'_>) -> Result<Option<Difference>> {
        let project = project::by_id(owner, self.project)?;
        let (mut missing, mut different, mut extra) =
            (Differing::default(), Differing::default(), Differing::default());
        let (mut last, mut at_once) = (None::<String>, AT_ONCE);
        loop {
            let keys = self.keys_after(owner, last.as_deref(), at_once)?;
            let Some((end, _)) = keys.last().cloned() else {
                break;
            };
            let keys: Vec<String> = keys.into_iter().map(|(key, _)| key).collect();
            // They are too large together; a single row reports that itself.
            let Some(rows) = self.rows(owner, &keys)? else {
                at_once = (at_once / 4).max(1);
                continue;
            };
            let pending = self.pending(owner, &keys)?;
            let documents = rows.documents.into_iter().filter(|(key, _)| !pending.contains(key));
            // Rows that cannot be indexed are reported when they are indexed.
            let inputs: Vec<DocumentInput> = documents
                .filter_map(|(_, document)| DocumentInput::parse(document).ok())
                .collect();
            for (slug, is_there) in indexer::differing(owner, &project, &inputs, &self.source_root)? {
                if is_there { &mut different } else { &mut missing }.add(slug);
            }
            last = Some(end);
        }
        let mut last = None::<String>;
        loop {
            let documents = self.documents_after(owner, last.as_deref(), i64::from(AT_ONCE))?;
            let Some((end, _)) = documents.last().cloned() else {
                break;
            };
            let keys: Vec<String> = documents.iter().map(|(_, key)| key.clone()).collect();
            let pending = self.pending(owner, &keys)?;
            let deleted: HashSet<String> = self.without_row(owner, keys)?.into_iter().collect();
            for (slug, key) in documents {
                if deleted.contains(&key) && !pending.contains(&key) {
                    extra.add(slug);
                }
            }
            last = Some(end);
        }
        let parts = [
            missing.summary("row# without a document"),
            different.summary("document# unlike the row"),
            extra.summary("document# without a row"),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        Ok(if parts.is_empty() {
            None
        } else {
            Some(Difference {
                table: Table::of(owner, Some(self.source))?.qualified,
                detail: parts.join("; "),
                project: project.name,
            })
        })
    }

    /// The keys that wait to be read, or have failed.
    fn pending(&self, owner: &Owner<'_>, keys: &[String]) -> Result<HashSet<String>> {
        let pending = statement::latest(
            owner,
            "SELECT c.key FROM docsearch.table_change c WHERE c.attached_id = $1 AND c.key = ANY ($2)",
            &[DatumWithOid::from(self.id), DatumWithOid::from(keys.to_vec())],
            |row| row.required::<String>(1),
        )?;
        Ok(pending.into_iter().collect())
    }
}

//! What is stored of attached tables, compared row by row with what the tables have: what `check(deep => true)` looks at.

use std::collections::HashSet;

use pgrx::datum::DatumWithOid;

use super::{Attached, Table, read};
use crate::indexing::indexer;
use crate::postgres::report::{Result, in_one_line};
use crate::postgres::role::Owner;
use crate::postgres::{statement, subtransaction};
use crate::tables::document_input::DocumentInput;
use crate::tables::project;

/// Rows, or documents, that are compared at once; as many bytes as are read at once make it fewer.
const AT_ONCE: i32 = 256;

/// What differs between a table and its documents: how many, and the slug of one of them.
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

    fn told(&self, what: &str) -> Option<String> {
        let first = self.first.as_ref()?;
        let plural = if self.number == 1 { "" } else { "s" };
        Some(format!(
            "{} {}, such as {first}",
            self.number,
            what.replace('#', plural)
        ))
    }
}

/// An attached table whose documents are not those of its rows.
pub(crate) struct Difference {
    /// Schema and name, quoted.
    pub(crate) table: String,
    pub(crate) detail: String,
    pub(crate) project: String,
}

/// Attached tables, of one project or of all, whose documents are not those of their rows, what waits to be read aside.
/// Tables that cannot be read are left out: they have problems of their own. Each table is read as its reader.
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
            // They are too large together; a single one says so itself.
            let Some(rows) = self.rows(owner, &keys)? else {
                at_once = (at_once / 4).max(1);
                continue;
            };
            let pending = self.pending(owner, &keys)?;
            let documents = rows.documents.into_iter().filter(|(key, _)| !pending.contains(key));
            // What cannot be indexed at all is told where it is tried.
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
            let gone: HashSet<String> = self.without_row(owner, keys)?.into_iter().collect();
            for (slug, key) in documents {
                if gone.contains(&key) && !pending.contains(&key) {
                    extra.add(slug);
                }
            }
            last = Some(end);
        }
        let told = [
            missing.told("row# without a document"),
            different.told("document# unlike the row"),
            extra.told("document# without a row"),
        ];
        let told: Vec<String> = told.into_iter().flatten().collect();
        Ok(if told.is_empty() {
            None
        } else {
            Some(Difference {
                table: Table::of(owner, Some(self.source))?.qualified,
                detail: told.join("; "),
                project: project.name,
            })
        })
    }

    /// Those of the keys that wait to be read, or failed.
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

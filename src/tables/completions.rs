//! Names and questions that complete a typed text.

use docsearch_core::documents::definition::{Definition, MAX_DEFINING_DOCUMENTS};
use docsearch_core::index::completion::KeyRange;
use docsearch_core::index::question::FIRST;
use docsearch_core::values::id::{DocumentId, Map};
use pgrx::datum::DatumWithOid;

use crate::postgres::owner::LocalSettings;
use crate::postgres::report::Result;
use crate::postgres::role::{Caller, Owner};
use crate::postgres::statement::{self, Row};
use crate::tables::keys;
use crate::tables::project::Projects;
use crate::tables::schema::Part;
use crate::tables::visibility::Visibility;

/// A document, and the key of a name that it has or defines.
pub(crate) type NamedDocument = (DocumentId, String);

/// Condition on names of a page that may be suggested: its path and addresses are its target.
fn is_name(table: &str) -> String {
    format!("{table}.kind <> ALL ('{{path,address}}')")
}

/// What is completed.
pub(crate) struct Scope<'a> {
    pub(crate) projects: &'a Projects,
    pub(crate) visibility: &'a Visibility,
}

impl Scope<'_> {
    /// The first `limit` names of pages in the ranges, shortest first.
    pub(crate) fn pages(&self, caller: &mut Caller, ranges: &[KeyRange], limit: usize) -> Result<Vec<NamedDocument>> {
        self.read(caller, ranges, limit, |visible, limit| {
            format!(
                "SELECT n.project_id, n.document_id, n.key FROM {RANGES},
                     LATERAL (SELECT n.project_id, n.document_id, n.key FROM docsearch.document_name n
                              WHERE {} AND {} AND {} {visible} OFFSET 0) n
                 ORDER BY length(n.key), n.key, n.project_id, n.document_id LIMIT ${limit}",
                self.projects.condition("n"),
                in_range("n"),
                is_name("n")
            )
        })
    }

    /// The first `limit` pages with a name in the range and one of which the typed text is a continuation, with the
    /// latter, shortest first: `wave` of a page with the title `wave — Read and write WAV files`.
    pub(crate) fn continued_pages(
        &self,
        caller: &mut Caller,
        range: &KeyRange,
        limit: usize,
    ) -> Result<Vec<NamedDocument>> {
        let typed = &range.from;
        let shorter = typed.char_indices().skip(1).map(|(at, _)| typed[..at].to_owned());
        let shorter: Vec<String> = shorter.collect();
        let read = |owner: &Owner<'_>, limit: i64| {
            let mut args = vec![
                self.projects.argument(),
                DatumWithOid::from(shorter.clone()),
                DatumWithOid::from(typed.as_str()),
                DatumWithOid::from(range.until.as_str()),
                DatumWithOid::from(limit),
            ];
            let visible = self.visibility.condition("n.document_id", &mut args);
            let sql = format!(
                "SELECT n.project_id, n.document_id, n.key FROM unnest($2::text[]) AS w(key),
                     LATERAL (SELECT n.project_id, n.document_id, n.key FROM docsearch.document_name n
                              WHERE {} AND n.key = w.key COLLATE \"C\" AND {} {visible} OFFSET 0) n
                 WHERE EXISTS (SELECT FROM docsearch.document_name o
                               WHERE o.project_id = n.project_id AND o.document_id = n.document_id
                                 AND o.key >= $3 AND o.key < $4 AND {})
                 ORDER BY length(n.key), n.key, n.project_id, n.document_id LIMIT $5",
                self.projects.condition("n"),
                is_name("n"),
                is_name("o")
            );
            let _settings = LocalSettings::by_index()?;
            statement::lookup(owner, &sql, &args, named_document)
        };
        self.visibility.first(caller, limit, read, |(document, _)| *document)
    }

    /// The first `limit` names of pages that match a pattern of `LIKE`, shortest first.
    pub(crate) fn pages_like(&self, caller: &mut Caller, pattern: &str, limit: usize) -> Result<Vec<NamedDocument>> {
        let read = |owner: &Owner<'_>, limit: i64| {
            let mut args = vec![
                self.projects.argument(),
                DatumWithOid::from(pattern),
                DatumWithOid::from(limit),
            ];
            let visible = self.visibility.condition("n.document_id", &mut args);
            let sql = format!(
                "SELECT n.project_id, n.document_id, n.key FROM docsearch.document_name n
                 WHERE {} AND n.key LIKE $2 AND {} {visible}
                 ORDER BY length(n.key), n.key, n.project_id, n.document_id LIMIT $3",
                self.projects.check("n"),
                is_name("n")
            );
            let _settings = LocalSettings::by_index()?;
            statement::lookup(owner, &sql, &args, named_document)
        };
        self.visibility.first(caller, limit, read, |(document, _)| *document)
    }

    /// The first names in the ranges that sections define, shortest first. A name that more than
    /// [`MAX_DEFINING_DOCUMENTS`] documents define, like `Usage`, leads to none of them.
    pub(crate) fn definitions(
        &self,
        caller: &mut Caller,
        ranges: &[KeyRange],
        limit: usize,
    ) -> Result<Vec<NamedDocument>> {
        if !Part::DefinedNames.exists() {
            return Ok(Vec::new());
        }
        let defined = |visible: &str| {
            format!(
                "{RANGES}, LATERAL (SELECT d.project_id, d.document_id, d.key FROM docsearch.definition d
                                    WHERE {} AND {} {visible} OFFSET 0) d",
                self.projects.condition("d"),
                in_range("d")
            )
        };
        let found = match self.visibility.check() {
            // Documents of several ranges are counted once.
            None => self.read(caller, ranges, limit, |visible, limit| {
                let documents = if ranges.len() > 1 {
                    "DISTINCT d.document_id"
                } else {
                    "d.document_id"
                };
                format!(
                    "SELECT d.project_id, unnest(d.ids), d.key
                     FROM (SELECT d.project_id, d.key, array_agg({documents}) AS ids FROM {}
                           GROUP BY d.project_id, d.key HAVING count({documents}) <= {MAX_DEFINING_DOCUMENTS}
                           ORDER BY length(d.key), d.key, d.project_id LIMIT ${limit}) d",
                    defined(visible)
                )
            })?,
            Some(_) => self.read(caller, ranges, limit * CHECKED, |visible, limit| {
                format!(
                    "SELECT d.project_id, d.document_id, d.key FROM {}
                     ORDER BY length(d.key), d.key, d.project_id, d.document_id LIMIT ${limit}",
                    defined(visible)
                )
            })?,
        };
        let mut documents: Map<(i64, String), usize> = Map::default();
        for (document, key) in &found {
            *documents.entry((document.project, key.clone())).or_default() += 1;
        }
        let is_own = |(document, key): &NamedDocument| {
            let defining = documents.get(&(document.project, key.clone()));
            defining.is_some_and(|&defining| defining <= MAX_DEFINING_DOCUMENTS)
        };
        Ok(found.into_iter().filter(is_own).collect())
    }

    /// The first `limit` questions in the range, shortest first, with the anchors of the sections that answer them.
    pub(crate) fn questions(
        &self,
        caller: &mut Caller,
        range: &KeyRange,
        limit: usize,
    ) -> Result<Vec<(DocumentId, String, String)>> {
        if !Part::Questions.exists() {
            return Ok(Vec::new());
        }
        let read = |owner: &Owner<'_>, limit: i64| {
            let mut args = vec![
                self.projects.argument(),
                DatumWithOid::from(range.from.as_str()),
                DatumWithOid::from(range.until.as_str()),
                DatumWithOid::from(limit),
            ];
            let visible = self.visibility.condition("q.document_id", &mut args);
            let sql = format!(
                "SELECT q.project_id, q.document_id, q.question, q.anchor FROM docsearch.question q
                 WHERE {} AND NOT q.stale AND lower(q.question COLLATE \"C\") >= $2
                   AND lower(q.question COLLATE \"C\") < $3 {visible}
                 ORDER BY length(q.question), q.question, q.project_id, q.document_id, q.question_no LIMIT $4",
                self.projects.condition("q")
            );
            let _settings = LocalSettings::by_index()?;
            statement::lookup(owner, &sql, &args, |row| {
                Ok((keys::document_id(row)?, row.required(3)?, row.required(4)?))
            })
        };
        self.visibility.first(caller, limit, read, |(document, ..)| *document)
    }

    /// The first rows of a statement over [`RANGES`], which gets the condition of visible documents and the number of
    /// the limit's parameter.
    fn read(
        &self,
        caller: &mut Caller,
        ranges: &[KeyRange],
        limit: usize,
        sql: impl Fn(&str, usize) -> String,
    ) -> Result<Vec<NamedDocument>> {
        if ranges.is_empty() {
            return Ok(Vec::new());
        }
        let texts =
            |of: fn(&KeyRange) -> &String| DatumWithOid::from(ranges.iter().map(of).cloned().collect::<Vec<_>>());
        let read = |owner: &Owner<'_>, limit: i64| {
            let mut args = vec![
                self.projects.argument(),
                texts(|range| &range.from),
                texts(|range| &range.until),
                texts(|range| &range.pattern),
                DatumWithOid::from(limit),
            ];
            let visible = self.visibility.condition("document_id", &mut args);
            let _settings = LocalSettings::by_index()?;
            statement::lookup(owner, &sql(&visible, 5), &args, named_document)
        };
        self.visibility.first(caller, limit, read, |(document, _)| *document)
    }
}

/// Rows that are read for each suggestion where documents are checked afterwards: common headings are among them.
const CHECKED: usize = 20;

/// The ranges of keys that the second to fourth parameters pass.
const RANGES: &str = "unnest($2::text[], $3::text[], $4::text[]) AS w(begins, ends, form)";

/// The condition that the key of a row is in one of [`RANGES`]. `IS TRUE` keeps the planner from the index of trigrams.
fn in_range(table: &str) -> String {
    format!(
        "{table}.key >= w.begins COLLATE \"C\" AND {table}.key < w.ends COLLATE \"C\" AND ({table}.key LIKE w.form) IS TRUE"
    )
}

fn named_document(row: &Row) -> Result<NamedDocument> {
    Ok((keys::document_id(row)?, row.required(3)?))
}

/// Where the documents define the names. Those stored by version 16 or before do not say it.
pub(crate) fn places(owner: &Owner<'_>, defined: &[NamedDocument]) -> Result<Map<NamedDocument, Definition>> {
    if defined.is_empty() {
        return Ok(Map::default());
    }
    let [projects, documents] = keys::document_arguments(defined.iter().map(|(document, _)| document));
    let found = statement::lookup(
        owner,
        "SELECT d.project_id, d.document_id, d.key, d.name, d.section, d.anchor
         FROM unnest($1::bigint[], $2::bigint[], $3::text[]) AS wanted(project_id, document_id, key)
              JOIN docsearch.definition d USING (project_id, document_id)
         WHERE d.key = wanted.key COLLATE \"C\" AND d.anchor IS NOT NULL",
        &[
            projects,
            documents,
            DatumWithOid::from(defined.iter().map(|(_, key)| key.clone()).collect::<Vec<String>>()),
        ],
        |row| {
            let place = Definition {
                name: row.required(4)?,
                section: row.required(5)?,
                anchor: row.required(6)?,
            };
            Ok((named_document(row)?, place))
        },
    )?;
    Ok(found.into_iter().collect())
}

/// The heading of the section that answers a question of a document.
pub(crate) fn answering_section(owner: &Owner<'_>, document: DocumentId, question: &str) -> Result<Option<String>> {
    let found = statement::lookup(
        owner,
        "SELECT c.heading_path[cardinality(c.heading_path)] FROM docsearch.chunk c
         WHERE c.project_id = $1 AND c.document_id = $2 AND c.chunk_no >= $3 AND c.body = $4 AND c.anchor <> ''
         ORDER BY c.chunk_no LIMIT 1",
        &[
            DatumWithOid::from(document.project),
            DatumWithOid::from(document.document),
            DatumWithOid::from(FIRST),
            DatumWithOid::from(question),
        ],
        |row| row.optional(1),
    )?;
    Ok(found.into_iter().flatten().next())
}

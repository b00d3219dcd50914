//! `check`: compares derived data with the documents.
//!
//! Rows are read in sets: one statement for each project, or for 1,000 of its documents.

use pgrx::datum::DatumWithOid;

use crate::postgres::report::Result;
use crate::postgres::role::{Caller, Owner};
use crate::postgres::row_type::row_type;
use crate::postgres::statement;
use crate::tables::project::{self, Project};
use crate::tables::vector_codes::CodeSet;

mod attached;
mod documents;
mod functions;
mod indexes;
mod models;
mod orphans;
mod pins;
mod postings;
mod questions;
mod statistics;
mod vector_codes;
mod vectors;
mod versions;

/// What to check: one project, or all.
pub(crate) struct CheckScope {
    pub(crate) projects: Vec<Project>,
    named: Option<String>,
    /// Whether rows of attached tables are compared with their documents.
    deep: bool,
    /// Whether postings are compared with the words of chunks.
    words: bool,
}

impl CheckScope {
    pub(crate) fn new(caller: &Caller, project: Option<&str>) -> Result<Self> {
        Ok(Self {
            projects: project::selected(caller, project)?,
            named: project.map(str::to_owned),
            deep: false,
            words: false,
        })
    }

    /// For the checks that run before there are tables.
    pub(crate) fn without_tables() -> Self {
        Self {
            projects: Vec::new(),
            named: None,
            deep: false,
            words: false,
        }
    }

    pub(crate) fn deep(self, deep: bool) -> Self {
        Self {
            deep,
            words: deep,
            ..self
        }
    }

    /// Compares the words of postings as well: a repair has to find every difference.
    pub(crate) fn with_words(self) -> Self {
        Self { words: true, ..self }
    }

    /// The id of the project; NULL for all.
    pub(crate) fn id(&self) -> DatumWithOid<'static> {
        let named = self.named.as_ref().and(self.projects.first());
        DatumWithOid::from(named.map(|project| project.id))
    }

    /// The models of the projects; if all projects are checked, unused models as well.
    fn models(&self, owner: &Owner<'_>) -> Result<Vec<ModelState>> {
        statement::rows(
            owner,
            &format!(
                "SELECT {} FROM docsearch.model m
                 LEFT JOIN pg_class c ON c.relname = 'vector_' || m.id AND c.relnamespace = 'docsearch'::regnamespace
                 LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'embedding'
                 WHERE $1::bigint IS NULL OR m.id = (SELECT p.model_id FROM docsearch.project p WHERE p.id = $1)
                 ORDER BY m.id",
                ModelState::select_list()
            ),
            &[self.id()],
            ModelState::read,
        )
    }
}

row_type! {
    struct ModelState {
        id: i32 = "m.id",
        name: String = "m.name",
        directory: String = "coalesce(m.directory, m.name)",
        digest: String = "m.digest",
        dimension: i32 = "m.dimension",
        has_table: bool = "c.oid IS NOT NULL",
        stored_dimension: Option<i32> = "a.atttypmod",
        used: bool = "EXISTS (SELECT FROM docsearch.project p WHERE m.id IN (p.model_id, p.next_model_id))",
        remote: bool = "m.remote",
    }
}

/// A problem that a check found.
pub(crate) struct Finding {
    pub(crate) problem: &'static str,
    pub(crate) object: String,
    pub(crate) detail: String,
    pub(crate) repair: Repair,
}

/// How to repair a problem. `project` is an index into [`CheckScope::projects`].
pub(crate) enum Repair {
    /// Not by the extension; what an administrator can do.
    Manual(String),
    /// Create the table of a model's vectors.
    CreateVectorTable(i32),
    /// Run a statement, which holds names of catalogs only.
    Statement(String),
    /// Delete the rows `x` of a table that match a condition, whose parameter is [`CheckScope::id`].
    Delete { table: String, condition: String },
    /// Index stored documents again.
    Reindex { project: usize, documents: Vec<i64> },
    /// Write the names and containers of documents.
    Rename { project: usize, documents: Vec<i64> },
    /// Embed the chunks without a vector.
    Embed { project: usize },
    /// Delete all vectors of a project, and embed its chunks again.
    EmbedAgain { project: usize },
    /// Count the words of a project again.
    Recount { project: usize },
    /// Build the postings of a project again.
    RebuildPostings { project: usize },
    /// Build the codes of vectors again.
    RebuildCodes(CodeSet),
}

impl Repair {
    /// What to run, or to do.
    pub(crate) fn advice(self, checked: &CheckScope) -> String {
        match (self, &checked.named) {
            (Self::Manual(advice), _) => advice,
            (_, Some(project)) => {
                format!("SELECT * FROM docsearch.repair({})", pgrx::spi::quote_literal(project))
            }
            (_, None) => "SELECT * FROM docsearch.repair()".to_owned(),
        }
    }
}

/// Finds the problems of one kind.
pub(crate) type Check = fn(&mut Owner<'_>, &CheckScope) -> Result<Vec<Finding>>;

/// Checks that need no tables.
pub(crate) const CATALOG_CHECKS: [Check; 2] = [versions::known_faults, functions::functions];

/// All checks, in the order in which their problems can be repaired.
pub(crate) const CHECKS: [Check; 17] = [
    versions::known_faults,
    functions::functions,
    models::models,
    models::vector_tables,
    indexes::indexes,
    orphans::orphans,
    orphans::of_detached_tables,
    attached::attached_tables,
    documents::documents,
    questions::questions,
    documents::names,
    vectors::differing,
    documents::missing_vectors,
    vector_codes::vector_codes,
    statistics::statistics,
    postings::postings,
    pins::pins,
];

/// The slug of a document, or its number if there is no such document.
fn example(owner: &Owner<'_>, project: i64, document: i64) -> Result<String> {
    let slug = statement::one(
        owner,
        "SELECT d.slug FROM docsearch.document d WHERE d.project_id = $1 AND d.id = $2",
        &[DatumWithOid::from(project), DatumWithOid::from(document)],
        |row| row.required::<String>(1),
    )?;
    Ok(slug.unwrap_or_else(|| format!("document {document}")))
}

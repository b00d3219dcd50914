//! `docsearch.check`: what is derived from documents, compared with them.
//!
//! Everything is read in sets: a statement for each project, or for a thousand documents of it.

use std::collections::{BTreeSet, HashSet};

use docsearch_core::definition::definitions;
use docsearch_core::name;
use docsearch_core::passage::embedded_text;
use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;

use crate::document_input::digest;
use crate::jsonb::StoredJson;
use crate::names::{self, trigram_schema};
use crate::owner::AsOwner;
use crate::project::{self, Project};
use crate::report::{Result, internal};
use crate::statistics::{self, Drift};
use crate::{model, schema, statement, vectors};

/// Documents that one statement reads.
const BATCH: i64 = 1_000;

#[pg_schema]
mod docsearch {
    use super::*;

    /// What is wrong with the tables, indexes, models and derived rows, of one project or of all.
    #[pg_extern(volatile, parallel_unsafe, cost = 1000000)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn check(
        project: default!(Option<&str>, "NULL"),
    ) -> Result<
        TableIterator<
            'static,
            (
                name!(problem, String),
                name!(object, String),
                name!(detail, String),
                name!(repair, String),
            ),
        >,
    > {
        schema::require_owner("SELECT * FROM docsearch.check()")?;
        let checked = Checked::new(project)?;
        let _owner = AsOwner::enter()?;
        if let Some((applied, newest)) = schema::behind()? {
            // Nothing can be asked of tables that are not there yet.
            let row = (
                "tables behind".to_owned(),
                "docsearch.schema_version".to_owned(),
                format!("version {applied} of {newest}"),
                "SELECT docsearch.migrate()".to_owned(),
            );
            return Ok(TableIterator::new(vec![row]));
        }
        let mut rows = Vec::new();
        for find in CHECKS {
            rows.extend(find(&checked)?.into_iter().map(|finding| {
                let Finding {
                    problem,
                    object,
                    detail,
                    mend,
                } = finding;
                (problem.to_owned(), object, detail, mend.advice(&checked))
            }));
        }
        Ok(TableIterator::new(rows))
    }
}

/// What is checked: one project, or all.
pub(crate) struct Checked {
    pub(crate) projects: Vec<Project>,
    named: Option<String>,
}

impl Checked {
    pub(crate) fn new(project: Option<&str>) -> Result<Self> {
        Ok(Self {
            projects: project::selected(project)?,
            named: project.map(str::to_owned),
        })
    }

    /// The id of the project, or NULL for all.
    pub(crate) fn id(&self) -> DatumWithOid<'static> {
        let named = self.named.as_ref().and(self.projects.first());
        DatumWithOid::from(named.map(|project| project.id))
    }

    /// The models of the projects, and those of no project if all are checked.
    fn models(&self) -> Result<Vec<CheckedModel>> {
        statement::rows(
            "SELECT m.id, m.name, m.digest, m.dimension, c.oid IS NOT NULL, a.atttypmod,
                    EXISTS (SELECT FROM docsearch.project p WHERE m.id IN (p.model_id, p.next_model_id)),
                    coalesce(m.directory, m.name), m.remote
             FROM docsearch.model m
             LEFT JOIN pg_class c ON c.relname = 'vector_' || m.id AND c.relnamespace = 'docsearch'::regnamespace
             LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'embedding'
             WHERE $1::bigint IS NULL OR m.id = (SELECT p.model_id FROM docsearch.project p WHERE p.id = $1)
             ORDER BY m.id",
            &[self.id()],
            |row| {
                Ok(CheckedModel {
                    id: row.required(1)?,
                    name: row.required(2)?,
                    digest: row.required(3)?,
                    dimension: row.required(4)?,
                    has_table: row.required(5)?,
                    stored_dimension: row.optional(6)?,
                    used: row.required(7)?,
                    directory: row.required(8)?,
                    remote: row.required(9)?,
                })
            },
        )
    }
}

struct CheckedModel {
    id: i32,
    name: String,
    directory: String,
    digest: String,
    dimension: i32,
    has_table: bool,
    stored_dimension: Option<i32>,
    used: bool,
    remote: bool,
}

/// Something that is not as it should be.
pub(crate) struct Finding {
    pub(crate) problem: &'static str,
    pub(crate) object: String,
    pub(crate) detail: String,
    pub(crate) mend: Mend,
}

/// What mends it. Projects are places in [`Checked::projects`].
pub(crate) enum Mend {
    /// Nothing that the extension can do: what a person can.
    ByHand(String),
    /// Making the table of a model's vectors.
    VectorTable(i32),
    /// A statement, of catalog names only.
    Statement(String),
    /// Deleting the rows `x` of a table that fulfil a condition with the parameter [`Checked::id`].
    Delete { table: String, condition: String },
    /// Indexing documents again as they are stored.
    Reindex { project: usize, documents: Vec<i64> },
    /// Writing the names of documents, and what they belong to.
    Rename { project: usize, documents: Vec<i64> },
    /// Embedding the chunks without a vector.
    Embed { project: usize },
    /// Counting the words of a project.
    Recount { project: usize },
}

impl Mend {
    fn advice(self, checked: &Checked) -> String {
        match (self, &checked.named) {
            (Self::ByHand(advice), _) => advice,
            (_, Some(project)) => {
                format!("SELECT * FROM docsearch.repair({})", pgrx::spi::quote_literal(project))
            }
            (_, None) => "SELECT * FROM docsearch.repair()".to_owned(),
        }
    }
}

/// Finds problems of one kind. Runs as the owner.
pub(crate) type Check = fn(&Checked) -> Result<Vec<Finding>>;

/// All checks, in the order in which what they find can be mended.
pub(crate) const CHECKS: [Check; 8] = [
    models,
    vector_tables,
    indexes,
    orphans,
    documents,
    names,
    missing_vectors,
    statistics,
];

fn models(checked: &Checked) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    // No endpoint is contacted here: docsearch.test_model() does that.
    for row in checked.models()?.into_iter().filter(|row| row.used && !row.remote) {
        let described =
            model::open_directory(&row.name, &row.directory, None).and_then(|model| model::describe(model.as_ref()));
        let found = match described {
            Err(problem) => {
                let advice = if model::has_directory(&row.directory) {
                    problem.hint().unwrap_or("The server log says more.").to_owned()
                } else {
                    let name = &row.directory;
                    format!("Put directory \"{name}\" with the model's files back below docsearch.model_directory.")
                };
                Some(("model unusable", problem.message().to_owned(), advice))
            }
            Ok(known) if i32::try_from(known.info.dimension) != Ok(row.dimension) => Some((
                "model changed",
                format!(
                    "its vectors have {} components, not {}",
                    known.info.dimension, row.dimension
                ),
                FORMER_FILES.to_owned(),
            )),
            Ok(known) if known.digest != row.digest => Some((
                "model changed",
                format!("its files have the digest {}, not {}", known.digest, row.digest),
                FORMER_FILES.to_owned(),
            )),
            Ok(_) => None,
        };
        findings.extend(found.map(|(problem, detail, advice)| Finding {
            problem,
            object: row.name,
            detail,
            mend: Mend::ByHand(advice),
        }));
    }
    Ok(findings)
}

const FORMER_FILES: &str = "Put the former files back and call docsearch.restart_inference(), \
                            or add them as another model and call docsearch.set_model().";

fn vector_tables(checked: &Checked) -> Result<Vec<Finding>> {
    let findings = checked.models()?.into_iter().filter_map(|row| {
        let object = format!("docsearch.vector_{}", row.id);
        if !row.has_table && !row.used {
            return None;
        }
        if !row.has_table {
            return Some(Finding {
                problem: "table missing",
                detail: format!("vectors of model \"{}\"", row.name),
                object,
                mend: Mend::VectorTable(row.id),
            });
        }
        let stored = row.stored_dimension.filter(|&stored| stored != row.dimension)?;
        Some(Finding {
            problem: "wrong dimension",
            detail: format!("vectors of {stored} components, the model has {}", row.dimension),
            mend: Mend::ByHand(format!(
                "To make them anew: DROP TABLE {object}; SELECT * FROM docsearch.repair()"
            )),
            object,
        })
    });
    Ok(findings.collect())
}

/// Indexes of the schema: name, table, and what follows `ON table`.
const INDEXES: [(&str, &str, &str); 14] = [
    ("document_category", "document", "(project_id, category)"),
    ("document_source_root", "document", "(project_id, source_root)"),
    ("document_metadata", "document", "USING gin (metadata jsonb_path_ops)"),
    (
        "chunk_terms",
        "chunk",
        "USING gin (project_id, terms) WITH (fastupdate = on, gin_pending_list_limit = 256)",
    ),
    (
        "document_name_key",
        "document_name",
        "(project_id, key) INCLUDE (document_id, kind)",
    ),
    ("document_name_document", "document_name", "(project_id, document_id)"),
    (
        "document_name_trigram",
        "document_name",
        "USING gin (project_id, key {trigram}.gin_trgm_ops)",
    ),
    (
        "definition_key",
        "definition",
        "(project_id, key) INCLUDE (document_id)",
    ),
    (
        "term_stat_lexeme",
        "term_stat",
        "(project_id, lexeme) INCLUDE (chunks, documents)",
    ),
    ("project_stat_project", "project_stat", "(project_id)"),
    ("container_key", "container", "(project_id, key) INCLUDE (name)"),
    ("embedding_queue_next", "embedding_queue", "(next_attempt)"),
    ("table_change_attached", "table_change", "(attached_id, id)"),
    (
        "vector_{model}_embedding",
        "vector_{model}",
        "USING hnsw (embedding {vector}.halfvec_cosine_ops)",
    ),
];

/// Constraints of the schema with an index: name, table and definition.
const CONSTRAINTS: [(&str, &str, &str); 10] = [
    ("model_pkey", "model", "PRIMARY KEY (id)"),
    ("model_name_key", "model", "UNIQUE (name)"),
    ("endpoint_pkey", "endpoint", "PRIMARY KEY (model_id)"),
    ("project_pkey", "project", "PRIMARY KEY (id)"),
    ("project_name_key", "project", "UNIQUE (name)"),
    ("document_pkey", "document", "PRIMARY KEY (project_id, id)"),
    ("document_project_id_slug_key", "document", "UNIQUE (project_id, slug)"),
    ("chunk_pkey", "chunk", "PRIMARY KEY (project_id, document_id, chunk_no)"),
    (
        "definition_pkey",
        "definition",
        "PRIMARY KEY (project_id, document_id, key)",
    ),
    (
        "vector_{model}_pkey",
        "vector_{model}",
        "PRIMARY KEY (project_id, document_id, chunk_no)",
    ),
];

fn indexes(checked: &Checked) -> Result<Vec<Finding>> {
    let there: Vec<(String, String, String, bool)> = statement::rows(
        "SELECT c.relname::text, t.relname::text, format('%I.%I', 'docsearch', c.relname),
                i.indisvalid AND i.indisready AND i.indislive
         FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
         WHERE t.relnamespace = 'docsearch'::regnamespace ORDER BY c.relname",
        &[],
        |row| Ok((row.required(1)?, row.required(2)?, row.required(3)?, row.required(4)?)),
    )?;
    let known: HashSet<&str> = there.iter().map(|(name, ..)| name.as_str()).collect();
    let schemas = (trigram_schema()?, vectors::schema()?);
    let models: Vec<String> = checked
        .models()?
        .into_iter()
        .filter(|row| row.has_table)
        .map(|row| row.id.to_string())
        .collect();
    let create =
        INDEXES.map(|(name, table, rest)| (name, table, format!("CREATE INDEX {name} ON docsearch.{table} {rest}")));
    let add = CONSTRAINTS.map(|(name, table, definition)| {
        let add = format!("ALTER TABLE docsearch.{table} ADD CONSTRAINT {name} {definition}");
        (name, table, add)
    });
    let mut findings = Vec::new();
    for (name, table, statement) in create.into_iter().chain(add) {
        // Of a table that every model has, there are as many.
        let models = if name.contains("{model}") {
            models.as_slice()
        } else {
            &[String::new()]
        };
        for model in models {
            let name = name.replace("{model}", model);
            if known.contains(name.as_str()) {
                continue;
            }
            findings.push(Finding {
                problem: "index missing",
                object: format!("docsearch.{name}"),
                detail: format!("on docsearch.{}", table.replace("{model}", model)),
                mend: Mend::Statement(
                    statement
                        .replace("{model}", model)
                        .replace("{trigram}", &schemas.0)
                        .replace("{vector}", &schemas.1),
                ),
            });
        }
    }
    findings.extend(
        there
            .iter()
            .filter(|(.., usable)| !usable)
            .map(|(_, table, index, _)| Finding {
                problem: "index invalid",
                object: index.clone(),
                detail: format!("on docsearch.{table}"),
                mend: Mend::Statement(format!("REINDEX INDEX {index}")),
            }),
    );
    Ok(findings)
}

/// Rows of these belong to a document or else to a project. Foreign keys see to most of it, unless rows
/// were loaded without their triggers. Rules of a project that is gone do nothing and are not looked at.
const OWNED: [(&str, Owner); 7] = [
    ("document", Owner::Project),
    ("chunk", Owner::Document),
    ("document_name", Owner::Document),
    ("definition", Owner::Document),
    ("container", Owner::Project),
    ("term_stat", Owner::Project),
    ("project_stat", Owner::Project),
];

#[derive(Clone, Copy)]
enum Owner {
    Project,
    Document,
}

impl Owner {
    fn name(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Document => "document",
        }
    }

    /// That a row `x` has none.
    fn is_missing(self) -> &'static str {
        match self {
            Self::Project => "NOT EXISTS (SELECT FROM docsearch.project o WHERE o.id = x.project_id)",
            Self::Document => {
                "NOT EXISTS (SELECT FROM docsearch.document o
                             WHERE o.project_id = x.project_id AND o.id = x.document_id)"
            }
        }
    }
}

fn orphans(checked: &Checked) -> Result<Vec<Finding>> {
    let owned = OWNED.map(|(table, owner)| {
        let without = format!("without a {}", owner.name());
        (format!("docsearch.{table}"), without, owner.is_missing().to_owned())
    });
    let vectors = checked.models()?.into_iter().filter(|row| row.has_table).map(|row| {
        // Vectors of a project that uses another model are never read.
        let missing = format!(
            "NOT EXISTS (SELECT FROM docsearch.chunk o JOIN docsearch.project p ON p.id = o.project_id
                         WHERE o.project_id = x.project_id AND o.document_id = x.document_id
                           AND o.chunk_no = x.chunk_no AND {} IN (p.model_id, p.next_model_id))",
            row.id
        );
        let without = "without a chunk of a project with this model".to_owned();
        (format!("docsearch.vector_{}", row.id), without, missing)
    });
    let mut findings = Vec::new();
    for (table, without, missing) in owned.into_iter().chain(vectors) {
        let condition = format!("($1::bigint IS NULL OR x.project_id = $1) AND {missing}");
        let rows = statement::one(
            &format!("SELECT count(*) FROM {table} x WHERE {condition}"),
            &[checked.id()],
            |row| row.required::<i64>(1),
        )?;
        if let Some(rows) = rows.filter(|&rows| rows > 0) {
            findings.push(Finding {
                problem: "orphans",
                object: table.clone(),
                detail: format!("{} {without}", counted(rows, "row")),
                mend: Mend::Delete { table, condition },
            });
        }
    }
    Ok(findings)
}

/// Documents whose chunks are not those of their text.
fn documents(checked: &Checked) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for (place, project) in checked.projects.iter().enumerate() {
        let miscounted: Vec<i64> = statement::rows(
            "SELECT d.id FROM docsearch.document d
             LEFT JOIN (SELECT c.document_id, count(*), max(c.chunk_no) FROM docsearch.chunk c
                        WHERE c.project_id = $1 GROUP BY c.document_id) c(id, chunks, last) ON c.id = d.id
             WHERE d.project_id = $1 AND (c.id IS NULL OR c.chunks <> d.chunk_count OR c.last + 1 <> c.chunks)
             ORDER BY d.id",
            &[DatumWithOid::from(project.id)],
            |row| row.required(1),
        )?;
        let counted_well = |id: &i64| miscounted.binary_search(id).is_err();
        let mut outdated = outdated(project)?;
        outdated.retain(counted_well);
        for (problem, documents) in [("chunks missing", miscounted), ("out of date", outdated)] {
            let mend = |documents| Mend::Reindex {
                project: place,
                documents,
            };
            findings.extend(of_documents(problem, project, documents, mend)?);
        }
    }
    Ok(findings)
}

/// Documents with a chunk whose hash is not the one of its text. (That of the document is of what its
/// author gave, which is not all stored: a summary or keywords may be ours.)
fn outdated(project: &Project) -> Result<Vec<i64>> {
    let mut outdated = BTreeSet::new();
    in_batches(project, |from, to| {
        statement::rows(
            "SELECT c.document_id, c.input_hash, d.title, c.heading_path, CASE WHEN $4 THEN d.body ELSE c.body END,
                    c.document_term_count <> d.term_count
             FROM docsearch.chunk c JOIN docsearch.document d ON d.project_id = c.project_id AND d.id = c.document_id
             WHERE c.project_id = $1 AND c.document_id > $2 AND c.document_id <= $3",
            &[
                DatumWithOid::from(project.id),
                DatumWithOid::from(from),
                DatumWithOid::from(to),
                DatumWithOid::from(project.one_vector),
            ],
            |row| {
                pgrx::check_for_interrupts!();
                let (title, headings, body): (String, Vec<String>, String) =
                    (row.required(3)?, row.required(4)?, row.required(5)?);
                let embedded = embedded_text(project.one_vector, &title, &headings, &body);
                let differs = row.required::<String>(2)? != digest(&[&embedded]);
                if differs || row.required(6)? {
                    outdated.insert(row.required::<i64>(1)?);
                }
                Ok(())
            },
        )
        .map(|_| ())
    })?;
    Ok(outdated.into_iter().collect())
}

/// Documents whose names are not those of title, slug, aliases and text, or whose containers are not known.
/// Containers outlive their documents, so there may be more of them.
fn names(checked: &Checked) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for (place, project) in checked.projects.iter().enumerate() {
        let containers: HashSet<String> = statement::rows(
            "SELECT DISTINCT k.key FROM docsearch.container k WHERE k.project_id = $1",
            &[DatumWithOid::from(project.id)],
            |row| row.required(1),
        )?
        .into_iter()
        .collect();
        let (mut misnamed, mut homeless) = (Vec::new(), Vec::new());
        in_batches(project, |from, to| {
            statement::rows(
                "SELECT d.id, d.title, d.slug, d.category, d.metadata, coalesce(n.names, '{}'), d.body,
                        ARRAY(SELECT f.key FROM docsearch.definition f
                              WHERE f.project_id = d.project_id AND f.document_id = d.id ORDER BY f.key)
                 FROM docsearch.document d
                 LEFT JOIN (SELECT n.document_id, array_agg(n.kind || ' ' || n.key) FROM docsearch.document_name n
                            WHERE n.project_id = $1 AND n.document_id > $2 AND n.document_id <= $3
                            GROUP BY n.document_id) n(id, names) ON n.id = d.id
                 WHERE d.project_id = $1 AND d.id > $2 AND d.id <= $3 ORDER BY d.id",
                &[
                    DatumWithOid::from(project.id),
                    DatumWithOid::from(from),
                    DatumWithOid::from(to),
                ],
                |row| {
                    pgrx::check_for_interrupts!();
                    let (id, title, slug): (i64, String, String) =
                        (row.required(1)?, row.required(2)?, row.required(3)?);
                    let category: Option<String> = row.optional(4)?;
                    let StoredJson(metadata) = row.required(5)?;
                    let mut stored: Vec<String> = row.required(6)?;
                    let named = name::page_names(&title, &slug, names::aliases(Some(&metadata)));
                    let mut named: Vec<String> = named
                        .into_iter()
                        .map(|name| format!("{} {}", name.kind.as_str(), name.key))
                        .collect();
                    stored.sort();
                    named.sort();
                    let defined: Vec<String> = row.required(8)?;
                    if stored != named || definitions(&row.required::<String>(7)?).into_iter().ne(defined) {
                        misnamed.push(id);
                    }
                    let mut places = name::containers(category.as_deref(), Some(&metadata))
                        .into_iter()
                        .map(name::key);
                    if places.any(|key| !key.is_empty() && !containers.contains(&key)) {
                        homeless.push(id);
                    }
                    Ok(())
                },
            )
            .map(|_| ())
        })?;
        for (problem, documents) in [("names wrong", misnamed), ("containers missing", homeless)] {
            let mend = |documents| Mend::Rename {
                project: place,
                documents,
            };
            findings.extend(of_documents(problem, project, documents, mend)?);
        }
    }
    Ok(findings)
}

fn missing_vectors(checked: &Checked) -> Result<Vec<Finding>> {
    let models = checked.models()?.into_iter().filter(|row| row.has_table);
    let models: HashSet<i32> = models.map(|row| row.id).collect();
    let mut findings = Vec::new();
    for (place, project) in checked.projects.iter().enumerate() {
        if !models.contains(&project.model.id) {
            continue;
        }
        let missing = statement::one(
            &format!(
                "SELECT count(*), count(DISTINCT c.document_id), min(d.slug) {}
                   AND NOT EXISTS (SELECT FROM docsearch.embedding_queue q
                                   WHERE q.project_id = c.project_id AND q.document_id = c.document_id)",
                vectors::chunks_without_vector(&project.model.vector_table())
            ),
            &[DatumWithOid::from(project.id)],
            |row| {
                Ok((
                    row.required::<i64>(1)?,
                    row.required::<i64>(2)?,
                    row.optional::<String>(3)?,
                ))
            },
        )?;
        if let Some((chunks, documents, Some(slug))) = missing {
            findings.push(Finding {
                problem: "vectors missing",
                object: project.name.clone(),
                detail: format!(
                    "{} of {} without a vector, such as {slug}",
                    counted(chunks, "chunk"),
                    counted(documents, "document")
                ),
                mend: Mend::Embed { project: place },
            });
        }
    }
    Ok(findings)
}

fn statistics(checked: &Checked) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for (place, project) in checked.projects.iter().enumerate() {
        if let Some(drift) = statistics::drift(project.id)? {
            findings.push(Finding {
                problem: "statistics wrong",
                object: project.name.clone(),
                detail: drifted(&drift),
                mend: Mend::Recount { project: place },
            });
        }
    }
    Ok(findings)
}

fn drifted(drift: &Drift) -> String {
    let worst = drift
        .worst
        .as_ref()
        .map(|(lexeme, [recorded, recorded_in, chunks, documents])| {
            format!(
                "{}, most of all \"{lexeme}\": recorded {} of {}, counted {} of {}",
                counted(drift.lexemes, "lexeme"),
                counted(*recorded, "chunk"),
                counted(*recorded_in, "document"),
                counted(*chunks, "chunk"),
                counted(*documents, "document"),
            )
        });
    let sizes = drift.sizes.iter();
    let sizes = sizes.map(|(what, recorded, counted)| format!("{what}: recorded {recorded}, counted {counted}"));
    worst.into_iter().chain(sizes).collect::<Vec<_>>().join("; ")
}

/// Calls `read` with the bounds of one batch of a project's documents after another: numbers above the
/// first, up to the second.
fn in_batches(project: &Project, mut read: impl FnMut(i64, i64) -> Result<()>) -> Result<()> {
    let mut from = i64::MIN;
    loop {
        let to = statement::one(
            "SELECT max(b.id) FROM (SELECT d.id FROM docsearch.document d WHERE d.project_id = $1 AND d.id > $2
                                    ORDER BY d.id LIMIT $3) b",
            &[
                DatumWithOid::from(project.id),
                DatumWithOid::from(from),
                DatumWithOid::from(BATCH),
            ],
            |row| row.optional::<i64>(1),
        )?;
        let Some(to) = to.flatten() else {
            return Ok(());
        };
        read(from, to)?;
        from = to;
    }
}

/// What concerns certain documents of a project, if any.
fn of_documents(
    problem: &'static str,
    project: &Project,
    documents: Vec<i64>,
    mend: impl FnOnce(Vec<i64>) -> Mend,
) -> Result<Option<Finding>> {
    let Some(&first) = documents.first() else {
        return Ok(None);
    };
    let slug = statement::one(
        "SELECT d.slug FROM docsearch.document d WHERE d.project_id = $1 AND d.id = $2",
        &[DatumWithOid::from(project.id), DatumWithOid::from(first)],
        |row| row.required::<String>(1),
    )?;
    let number = i64::try_from(documents.len()).map_err(internal)?;
    Ok(Some(Finding {
        problem,
        object: project.name.clone(),
        detail: format!("{}, such as {}", counted(number, "document"), slug.unwrap_or_default()),
        mend: mend(documents),
    }))
}

/// A number of things, in words.
pub(crate) fn counted(number: i64, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

//! From documents to rows: splits and embeds documents; `writing` writes them.

use std::collections::HashMap;
use std::sync::Arc;

use docsearch_core::documents::chunk::{Chunk, ChunkLimits};
use docsearch_core::documents::markdown;
use docsearch_core::documents::passage::{document_passage, passage};
use docsearch_core::index::statistics::Delta;
use docsearch_core::text::message::bounded;
use docsearch_core::text::token;
use docsearch_core::values::digest::analysis_digest;
use docsearch_inference::{Embedder, Tokenizer};
use pgrx::datum::DatumWithOid;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;

mod chunking;
mod inputs;
mod passages;
mod plan;
mod question_chunks;
mod renaming;
mod writing;
use inputs::read_inputs;
use passages::PassageVectors;
use plan::{ChunkPlan, DocumentPlan, KnownDocument, Plan};
use writing::Stored;

use crate::indexing::keywords::Keywords;
use crate::indexing::{embedding_queue, model_switch};
use crate::models::embedder;
use crate::postgres::report::{Result, error_with_hint, in_one_line, inference, internal};
use crate::postgres::role::{Caller, Owner, Role};
use crate::postgres::row_type::row_type;
use crate::postgres::{statement, subtransaction};
use crate::settings::IndexMode;
use crate::tables::document_input::DocumentInput;
use crate::tables::postings;
use crate::tables::project::Project;
use crate::tables::questions::{self, AUTHOR};
use crate::tables::statistics;
use crate::tables::vectors::VectorTable;
use crate::tables::{analysis, model_grant, terms, vector_codes, visibility, wake};

pub(crate) use question_chunks::{WrittenQuestions, add_question, add_questions, lock, set_questions};
pub(crate) use renaming::{rename, rename_all};
pub(crate) use writing::read_stored;

/// Documents that are read, split and submitted together; this bounds the memory of a call.
const BATCH: usize = 64;
/// Number of attempts for a document that other sessions change at the same time.
const MAX_ATTEMPTS: usize = 3;

/// Whether one document's failure is an error of the call or a row of its result.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnFailure {
    Raise,
    Return,
}

/// [`Outcome::action`] of a document that could not be indexed.
pub(crate) const FAILED: &str = "failed";

/// The result for a document.
pub(crate) struct Outcome {
    pub(crate) slug: Option<String>,
    pub(crate) action: &'static str,
    pub(crate) chunks: Option<i32>,
    pub(crate) detail: Option<String>,
}

impl OnFailure {
    fn settle(self, slug: String, problem: ErrorReport) -> Result<Outcome> {
        match self {
            Self::Raise => Err(problem),
            Self::Return => Ok(Outcome::failed(Some(slug), in_one_line(&problem))),
        }
    }
}

impl Outcome {
    fn written(document: &DocumentPlan) -> Self {
        Self {
            slug: Some(document.input.slug.clone()),
            action: if document.known.is_some() { "changed" } else { "added" },
            chunks: Some(document.text_chunks),
            detail: Some(document.remarks().join("; ")).filter(|remarks| !remarks.is_empty()),
        }
    }

    pub(crate) fn failed(slug: Option<String>, detail: impl Into<String>) -> Self {
        Self {
            slug,
            action: FAILED,
            chunks: None,
            detail: Some(bounded(&detail.into()).into_owned()),
        }
    }
}

/// Indexes checked documents, and returns the result for each. With a source root, documents of other ones are not
/// changed. The caller must be allowed to have them sent to the project's model.
pub(crate) fn index(
    caller: &mut Caller,
    project: &Project,
    mut inputs: Vec<DocumentInput>,
    source_root: Option<&str>,
    mode: IndexMode,
    on_failure: OnFailure,
) -> Result<Vec<Outcome>> {
    if !inputs.is_empty() {
        model_grant::require_of_project(caller, project.id)?;
    }
    // Every session takes locks in the order of slugs.
    inputs.sort_by(|a, b| a.slug.cmp(&b.slug));
    let indexer = Indexer::open(caller, project, mode, source_root.map_or(Source::Caller, Source::Root))?;
    indexer.index_all(caller, inputs, on_failure)
}

/// Indexes checked documents at once into a project with the model of another. Passages that the document of the same
/// slug has there keep their vectors.
pub(crate) fn index_copies(
    caller: &mut Caller,
    project: &Project,
    original: &Project,
    inputs: Vec<DocumentInput>,
) -> Result<()> {
    model_grant::require_of_project(caller, original.id)?;
    let indexer = Indexer::open(caller, project, IndexMode::Immediate, Source::Copy(original.id))?;
    indexer.index_all(caller, inputs, OnFailure::Raise)?;
    Ok(())
}

/// Writes the statistics, and leaves missing vectors to the worker: all of them if documents are deferred, or if the
/// project has switched models meanwhile.
fn finish(owner: &Owner<'_>, project: &Project, delta: Delta, outcomes: &[Outcome], mode: IndexMode) -> Result<()> {
    write_delta(owner, project, delta)?;
    let has_switched = model_switch::has_switched(owner, project)?;
    if has_switched {
        let slugs = outcomes.iter().filter_map(|outcome| outcome.slug.clone());
        embedding_queue::add_all(owner, project.id, slugs.collect())?;
    }
    if has_switched || mode == IndexMode::Deferred {
        wake::after_commit()?;
    }
    Ok(())
}

/// Loads what splitting documents of a project needs, if this process has not yet.
pub(crate) fn prepare(role: &mut dyn Role, project: &Project) -> Result<()> {
    let model = embedder::of_row(role, &project.model)?;
    model.tokenizer().map(|_| ()).map_err(|failure| inference(&failure))
}

/// The slugs of documents that differ from the stored ones, and whether they are stored at all. Documents of other
/// sources are left out.
pub(crate) fn differing(
    owner: &mut Owner<'_>,
    project: &Project,
    inputs: &[DocumentInput],
    source_root: &str,
) -> Result<Vec<(String, bool)>> {
    if inputs.is_empty() {
        return Ok(Vec::new());
    }
    let indexer = Indexer::open(
        owner.as_caller(),
        project,
        IndexMode::Deferred,
        Source::Root(source_root),
    )?;
    let slugs: Vec<String> = inputs.iter().map(|input| input.slug.clone()).collect();
    let stored = statement::latest(
        owner,
        "SELECT d.slug, d.id, CASE WHEN d.source_root = $3 THEN d.content_hash END FROM docsearch.document d
         WHERE d.project_id = $1 AND d.slug = ANY ($2)",
        &[
            DatumWithOid::from(project.id),
            DatumWithOid::from(slugs),
            DatumWithOid::from(source_root),
        ],
        |row| Ok((row.required::<String>(1)?, (row.required(2)?, row.optional(3)?))),
    )?;
    let stored: HashMap<String, (i64, Option<String>)> = stored.into_iter().collect();
    let given = inputs.iter().filter(|input| input.questions.is_some());
    let given = given.filter_map(|input| stored.get(&input.slug).map(|(id, _)| *id));
    let questions = questions::of_documents(owner, project.id, given.collect(), AUTHOR)?;
    let differing = inputs.iter().filter_map(|input| match stored.get(&input.slug) {
        None => Some((input.slug.clone(), false)),
        Some((_, None)) => None,
        Some((id, Some(hash))) => {
            let known = questions.get(id).map(Vec::as_slice).unwrap_or_default();
            let same = *hash == input.content_hash(indexer.limits.max_tokens)
                && input.questions.as_deref().is_none_or(|given| given == known);
            (!same).then(|| (input.slug.clone(), true))
        }
    });
    Ok(differing.collect())
}

/// Splits and embeds stored documents again, and returns the result for each. The columns that authors give stay. The
/// owner has locked the documents.
pub(crate) fn reindex(
    owner: &mut Owner<'_>,
    project: &Project,
    documents: &[i64],
    mode: IndexMode,
) -> Result<Vec<Outcome>> {
    let indexer = Indexer::open(owner.as_caller(), project, mode, Source::Table)?;
    let mut outcomes = Vec::with_capacity(documents.len());
    let mut delta = Delta::default();
    for batch in documents.chunks(BATCH) {
        let inputs = read_inputs(owner, project, batch)?.into_iter().map(|(_, input)| input);
        outcomes.extend(indexer.index_batch(owner.as_caller(), inputs.collect(), OnFailure::Return, &mut delta)?);
    }
    finish(owner, project, delta, &outcomes, mode)?;
    Ok(outcomes)
}

fn write_delta(owner: &Owner<'_>, project: &Project, delta: Delta) -> Result<()> {
    if delta.is_empty() {
        return Ok(());
    }
    terms::flush_pending_list(owner)?;
    statistics::write(owner, delta, project.id)?;
    postings::merge_if_due(owner, project.id)?;
    vector_codes::merge_if_due(owner, project.id)
}

/// The error for a document that other sessions have changed during each attempt, or that a policy hides.
fn changed_concurrently(slug: &str) -> ErrorReport {
    error_with_hint(
        PgSqlErrorCode::ERRCODE_T_R_SERIALIZATION_FAILURE,
        format!("document \"{slug}\" was changed by another session while it was indexed, or a policy hides it"),
        "Index it again.",
    )
}

/// The source of documents.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source<'a> {
    /// A call: unchanged documents are left alone.
    Caller,
    /// The same, but documents of other source roots are left alone as well.
    Root(&'a str),
    /// Another project, by its id: vectors are taken from there.
    Copy(i64),
    /// The table: derived rows are written again.
    Table,
}

row_type! {
    /// A stored document with the slug of a given one.
    struct KnownRow {
        id: i64 = "d.id",
        content_hash: String = "d.content_hash",
        chunk_count: i32 = "d.chunk_count",
        source_root: Option<String> = "d.source_root",
    }
}

struct Indexer<'a> {
    project: &'a Project,
    mode: IndexMode,
    source: Source<'a>,
    model: Box<dyn Embedder>,
    tokenizer: Arc<Tokenizer>,
    vectors: VectorTable,
    limits: ChunkLimits,
    keywords: Keywords<'a>,
}

impl<'a> Indexer<'a> {
    fn open(caller: &mut Caller, project: &'a Project, mode: IndexMode, source: Source<'a>) -> Result<Self> {
        let row = &project.model;
        let model = embedder::of_row(caller, row)?;
        if mode == IndexMode::Immediate {
            // A model that does not answer is one error, instead of one for each document.
            embedder::describe(model.as_ref())?;
        }
        let tokenizer = model.tokenizer().map_err(|failure| inference(&failure))?;
        let prefix = tokenizer
            .count(&row.passage_prefix)
            .map_err(|failure| inference(&failure))?;
        let limits = ChunkLimits {
            max_tokens: row.max_tokens.saturating_sub(prefix),
            special_tokens: tokenizer.special_tokens(),
            ..ChunkLimits::default()
        };
        let limited = visibility::policies_apply(caller)?;
        let owner = &caller.as_owner()?;
        Ok(Self {
            project,
            mode,
            source,
            vectors: VectorTable::of(row)?,
            limits,
            keywords: Keywords::open(owner, project, limited)?,
            tokenizer,
            model,
        })
    }

    fn index_all(
        &self,
        caller: &mut Caller,
        inputs: Vec<DocumentInput>,
        on_failure: OnFailure,
    ) -> Result<Vec<Outcome>> {
        let mut outcomes = Vec::with_capacity(inputs.len());
        let mut delta = Delta::default();
        let mut inputs = inputs.into_iter().peekable();
        while inputs.peek().is_some() {
            let batch: Vec<DocumentInput> = inputs.by_ref().take(BATCH).collect();
            outcomes.extend(self.index_batch(caller, batch, on_failure, &mut delta)?);
        }
        let owner = &caller.as_owner()?;
        finish(owner, self.project, delta, &outcomes, self.mode)?;
        Ok(outcomes)
    }

    fn index_batch(
        &self,
        caller: &mut Caller,
        inputs: Vec<DocumentInput>,
        on_failure: OnFailure,
        delta: &mut Delta,
    ) -> Result<Vec<Outcome>> {
        analysis::forget_outgrown_plans(&caller.as_owner()?)?;
        let mut outcomes = Vec::with_capacity(inputs.len());
        let mut planned = Vec::new();
        let mut passages = Vec::new();
        for input in inputs {
            match self.plan(caller, input, &mut passages)? {
                Plan::Write(document) => planned.push(*document),
                Plan::Leave(outcome) => outcomes.push(outcome),
                Plan::Refuse(slug, problem) => outcomes.push(on_failure.settle(slug, problem)?),
            }
        }
        // The worker threads embed later documents while the first ones are written.
        let mut vectors = PassageVectors::submit(self.model.as_ref(), passages)?;
        for document in planned {
            outcomes.push(self.settle(caller, document, &mut vectors, on_failure, delta)?);
        }
        Ok(outcomes)
    }

    /// Writes a document once its vectors are ready. If another session has written it meanwhile, it is planned again
    /// before the next one is locked: every session takes locks in the order of slugs.
    fn settle(
        &self,
        caller: &mut Caller,
        mut document: DocumentPlan,
        vectors: &mut PassageVectors,
        on_failure: OnFailure,
        delta: &mut Delta,
    ) -> Result<Outcome> {
        let slug = document.input.slug.clone();
        let mut again;
        let mut vectors = vectors;
        for _ in 0..MAX_ATTEMPTS {
            let embedded = vectors.of(&document);
            let written = embedded.and_then(|embedded| match on_failure {
                OnFailure::Raise => self.write(caller, &document, embedded),
                OnFailure::Return => subtransaction::run(|| self.write(caller, &document, embedded)),
            });
            match written {
                Ok(Some(change)) => {
                    delta.add(change);
                    return Ok(Outcome::written(&document));
                }
                Ok(None) => {}
                Err(problem) => return on_failure.settle(slug, problem),
            }
            let mut passages = Vec::new();
            match self.plan(caller, document.input, &mut passages)? {
                Plan::Write(planned) => document = *planned,
                Plan::Leave(outcome) => return Ok(outcome),
                Plan::Refuse(slug, problem) => return on_failure.settle(slug, problem),
            }
            again = PassageVectors::submit(self.model.as_ref(), passages)?;
            vectors = &mut again;
        }
        let problem = changed_concurrently(&slug);
        on_failure.settle(slug, problem)
    }

    /// Splits a document, unless it is unchanged, and adds its texts to embed to `passages`.
    fn plan(&self, caller: &mut Caller, input: DocumentInput, passages: &mut Vec<String>) -> Result<Plan> {
        pgrx::check_for_interrupts!();
        let content_hash = input.content_hash(self.limits.max_tokens);
        let known = statement::one(
            caller,
            &format!(
                "SELECT {} FROM docsearch.document d WHERE d.project_id = $1 AND d.slug = $2",
                KnownRow::select_list()
            ),
            &[
                DatumWithOid::from(self.project.id),
                DatumWithOid::from(input.slug.as_str()),
            ],
            KnownRow::read,
        )?;
        if let (Source::Root(own), Some(known)) = (self.source, &known)
            && known.source_root.as_deref() != Some(own)
        {
            let reason = "a document from another source has this slug";
            return Ok(Plan::Leave(Outcome::failed(Some(input.slug), reason)));
        }
        let stored_questions = match &known {
            Some(known) => self.stored_questions(caller, known.id)?,
            None => Vec::new(),
        };
        let same_questions = input
            .questions
            .as_ref()
            .is_none_or(|given| questions::of_source(&stored_questions, AUTHOR) == given.iter().collect::<Vec<_>>());
        let is_unchanged =
            |known: &&KnownRow| self.source != Source::Table && known.content_hash == content_hash && same_questions;
        if let Some(known) = known.as_ref().filter(is_unchanged) {
            return Ok(Plan::Leave(Outcome {
                slug: Some(input.slug),
                action: "unchanged",
                chunks: Some(known.chunk_count),
                detail: None,
            }));
        }
        let known = known.map(|known| KnownDocument {
            id: known.id,
            content_hash: known.content_hash,
            questions: stored_questions.clone(),
        });
        let body = input.body.as_deref().unwrap_or_default();
        let plain = markdown::plain_text(body);
        let (chunks, duplicates) = if self.project.one_vector {
            (vec![self.one_chunk(body)], 0)
        } else {
            self.chunks(&input, body)
        };
        let text_chunks = i32::try_from(chunks.len()).map_err(internal)?;
        let questions = match self.questions(&input, stored_questions) {
            Ok(questions) => questions,
            Err(problem) if self.source == Source::Table => return Err(internal(problem)),
            Err(problem) => return Ok(Plan::Refuse(input.slug, questions::refused(&problem))),
        };
        let unplaced = question_chunks::unplaced(&input, body);
        let (question_chunks, questions) = self.question_chunks(caller, &input, &chunks, questions)?;
        let hash = |chunk: &Chunk| match self.project.one_vector {
            true => analysis_digest(&[&document_passage(&input.title, body)]),
            false => analysis_digest(&[&passage(&input.title, &chunk.heading_path, &chunk.body)]),
        };
        let text = chunks.into_iter().map(|chunk| {
            let hash = hash(&chunk);
            ChunkPlan::of(chunk, hash)
        });
        let mut chunks = text.collect::<Result<Vec<ChunkPlan>>>()?;
        chunks.extend(question_chunks);
        let original = self.original(caller, &input.slug)?;
        let stored = match (&known, original) {
            (Some(known), _) => self.stored(caller, self.document_id(known.id))?,
            (None, Some(original)) => self.stored(caller, original)?,
            (None, None) => Stored::default(),
        };
        let mut wanted = Vec::new();
        for chunk in &chunks {
            if self.mode == IndexMode::Immediate && !stored.by_hash.contains_key(&chunk.input_hash) {
                wanted.push((chunk.number, passages.len()));
                passages.push(self.passage(&input, chunk, body));
            }
        }
        let keywords = if input.keywords.is_empty() {
            self.keywords.of(caller, &plain, body)?
        } else {
            input.keywords.clone()
        };
        Ok(Plan::Write(Box::new(DocumentPlan {
            words: i32::try_from(token::word_count(&plain)).map_err(internal)?,
            summary: input.summary.clone().or_else(|| markdown::lead_paragraph(body)),
            entry_share: markdown::entry_share(body),
            content_hash,
            known,
            original,
            chunks,
            text_chunks,
            questions,
            unplaced,
            duplicates,
            passages: wanted,
            keywords,
            input,
        })))
    }
}

//! The questions of a document, and their chunks.

use std::collections::HashSet;

use docsearch_core::documents::chunk::Chunk;
use docsearch_core::index::question::{self, Question, Sections};
use docsearch_core::values::bounds;
use docsearch_core::values::digest::analysis_digest;
use docsearch_core::values::id::DocumentId;
use pgrx::datum::DatumWithOid;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;

use super::{ChunkPlan, FAILED, Indexer};
use crate::postgres::report::{Result, error_with_hint, internal, undefined};
use crate::postgres::role::{Caller, Owner, Role};
use crate::postgres::statement;
use crate::settings;
use crate::tables::document_input::DocumentInput;
use crate::tables::project::{self, Project};
use crate::tables::questions::{self, AUTHOR, StoredQuestion};
use crate::tables::{document, model_grant, rules, schema};

impl Indexer<'_> {
    pub(super) fn stored_questions(&self, caller: &mut Caller, document: i64) -> Result<Vec<StoredQuestion>> {
        let owner = &caller.as_owner()?;
        questions::read(
            owner,
            DocumentId {
                project: self.project.id,
                document,
            },
        )
    }

    /// The questions of a document after it is written.
    pub(super) fn questions(
        &self,
        input: &DocumentInput,
        stored: Vec<StoredQuestion>,
    ) -> std::result::Result<Vec<StoredQuestion>, question::Problem> {
        match &input.questions {
            Some(given) => questions::replaced(stored, given.clone(), AUTHOR),
            None => Ok(stored),
        }
    }

    /// The chunks of questions, and the questions to store; `None` if there is no table for them.
    pub(super) fn question_chunks(
        &self,
        caller: &mut Caller,
        input: &DocumentInput,
        chunks: &[Chunk],
        mut questions: Vec<StoredQuestion>,
    ) -> Result<(Vec<ChunkPlan>, Option<Vec<StoredQuestion>>)> {
        if !questions::exist() {
            return match questions.is_empty() {
                true => Ok((Vec::new(), None)),
                false => Err(schema::outdated()),
            };
        }
        let sections = Sections::new(input.body.as_deref().unwrap_or_default());
        questions::compare(&mut questions, &sections);
        let planned = |question: &Question, number, plain: &str| ChunkPlan {
            number,
            kind: "question",
            heading_path: sections.path(&question.anchor, &input.title),
            also_under: Vec::new(),
            // A missing section is not linked to.
            anchor: match sections.has(&question.anchor) {
                true => question.anchor.clone(),
                false => String::new(),
            },
            sections: Vec::new(),
            body: question.question.clone(),
            token_count: self
                .tokenizer
                .count(&question.question)
                .unwrap_or(question.question.len()),
            plain: plain.to_owned(),
            input_hash: analysis_digest(&[&question::passage(&question.question)]),
        };
        let in_chunks = sections.in_chunks(chunks);
        let mut planned_chunks = Vec::new();
        let mut places = Numbering::new(chunks.len(), question::chunk_number);
        let mut known = HashSet::new();
        for question in questions.iter().map(|stored| &stored.question) {
            // Several sources may have the same question.
            if !known.insert(question) {
                continue;
            }
            let number = places.next(in_chunks.of(&question.anchor));
            planned_chunks.extend(number.map(|number| planned(question, number, &question.question)));
        }
        let rules = rules::current(caller)?;
        let mut places = Numbering::new(chunks.len(), question::heading_number);
        for heading in sections.asking(&input.title, rules.of(self.project.id)) {
            pgrx::check_for_interrupts!();
            let number = places.next(in_chunks.of(&heading.anchor));
            // Its words are already among those of the text.
            planned_chunks.extend(number.map(|number| planned(&heading, number, "")));
        }
        Ok((planned_chunks, Some(questions)))
    }
}

/// Numbers for the question chunks of each chunk, in order.
struct Numbering {
    used: Vec<usize>,
    number: fn(usize, usize) -> Option<i32>,
}

impl Numbering {
    fn new(chunks: usize, number: fn(usize, usize) -> Option<i32>) -> Self {
        Self {
            used: vec![0; chunks],
            number,
        }
    }

    /// The next number for a chunk; `None` if all are used.
    fn next(&mut self, chunk: usize) -> Option<i32> {
        let place = self.used.get_mut(chunk)?;
        let number = (self.number)(chunk, *place)?;
        *place += 1;
        Some(number)
    }
}

/// The number of given questions with a section that the text does not have, and the first such anchor.
pub(super) fn unplaced(input: &DocumentInput, body: &str) -> Option<(usize, String)> {
    let given = input.questions.as_deref().filter(|given| !given.is_empty())?;
    let sections = Sections::new(body);
    let mut unplaced = given.iter().filter(|question| !sections.has(&question.anchor));
    let first = unplaced.next()?;
    Some((1 + unplaced.count(), bounds::shown(&first.anchor)))
}

/// Replaces the questions of a document from one source, and returns their new number. The caller must be allowed to
/// change the document.
pub(crate) fn set_questions(
    caller: &mut Caller,
    project: &Project,
    slug: &str,
    given: Vec<Question>,
    source: &str,
) -> Result<usize> {
    let (id, body) = lock(caller, project, slug)?;
    let sections = Sections::new(&body);
    require_sections(&sections, slug, &given)?;
    let owner = &mut caller.as_owner()?;
    let known = questions::read(owner, id)?;
    let mut all = questions::replaced(known.clone(), given, source).map_err(|problem| questions::refused(&problem))?;
    let own = all.iter_mut().filter(|stored| stored.source == source);
    let count = own.map(|stored| stored.section_hash.clear()).count();
    questions::compare(&mut all, &sections);
    if !questions::are_same(&all, &known) {
        store(owner, id, &all)?;
    }
    Ok(count)
}

/// Adds a question of a source to a document, and returns whether no source has it yet. The caller must be allowed to change the
/// document.
pub(crate) fn add_question(
    caller: &mut Caller,
    project: &Project,
    slug: &str,
    given: Question,
    source: &str,
) -> Result<bool> {
    let (id, body) = lock(caller, project, slug)?;
    let sections = Sections::new(&body);
    require_sections(&sections, slug, std::slice::from_ref(&given))?;
    let owner = &mut caller.as_owner()?;
    let known = questions::read(owner, id)?;
    let folded = question::normal_form(&given.question);
    if known
        .iter()
        .any(|stored| question::normal_form(&stored.question.question) == folded)
    {
        return Ok(false);
    }
    let added = questions::added(known, [(given.anchor, vec![given.question])], source);
    let mut all = added.map_err(|problem| questions::refused(&problem))?;
    questions::compare(&mut all, &sections);
    store(owner, id, &all)?;
    Ok(true)
}

/// Locks a document of a project for a caller who may change it and may have its model embed texts. Returns its id and text.
pub(crate) fn lock(caller: &mut Caller, project: &Project, slug: &str) -> Result<(DocumentId, String)> {
    if !questions::exist() {
        return Err(schema::outdated());
    }
    model_grant::require_of_project(caller, project.id)?;
    let document = statement::change(
        caller,
        "SELECT d.id, d.body FROM docsearch.document d WHERE d.project_id = $1 AND d.slug = $2 FOR UPDATE",
        &[DatumWithOid::from(project.id), DatumWithOid::from(slug)],
        |row| Ok((row.required::<i64>(1)?, row.required::<String>(2)?)),
    )?;
    let Some((document, body)) = document.into_iter().next() else {
        return Err(unchangeable(caller, project, slug)?);
    };
    let id = DocumentId {
        project: project.id,
        document,
    };
    Ok((id, body))
}

fn require_sections(sections: &Sections<'_>, slug: &str, given: &[Question]) -> Result<()> {
    let Some(unknown) = given.iter().find(|question| !sections.has(&question.anchor)) else {
        return Ok(());
    };
    let known: Vec<&str> = sections.anchors().collect();
    Err(undefined(
        format!(
            "document \"{slug}\" has no section \"{}\"",
            bounds::shown(&unknown.anchor)
        ),
        match known.is_empty() {
            true => "The document has no sections: leave the anchor empty.".to_owned(),
            false => format!("The nearest: {}.", bounds::nearest(&unknown.anchor, known)),
        },
    ))
}

/// Questions that a model wrote for a section.
pub(crate) struct WrittenQuestions {
    pub(crate) anchor: String,
    /// The section as it was read.
    pub(crate) section_hash: String,
    pub(crate) questions: Vec<String>,
}

/// Adds questions to sections of a document that are unchanged and still have none, and returns how many each gets.
/// They replace stale questions by a model. The caller must be allowed to change the document.
pub(crate) fn add_questions(
    caller: &mut Caller,
    project: &Project,
    document: i64,
    written: Vec<WrittenQuestions>,
    source: &str,
) -> Result<Vec<usize>> {
    let body = statement::change(
        caller,
        "SELECT d.body FROM docsearch.document d WHERE d.project_id = $1 AND d.id = $2 FOR UPDATE",
        &[DatumWithOid::from(project.id), DatumWithOid::from(document)],
        |row| row.required::<String>(1),
    )?;
    let Some(body) = body.into_iter().next() else {
        return Ok(Vec::new());
    };
    // Since the sections were read, the project may have switched to a model that the caller may not send texts to.
    model_grant::require_of_project(caller, project.id)?;
    let id = DocumentId {
        project: project.id,
        document,
    };
    let owner = &mut caller.as_owner()?;
    let sections = Sections::new(&body);
    let mut stored = questions::read(owner, id)?;
    let missing = questions::missing(&mut stored, &sections);
    let missing: HashSet<&str> = missing.into_iter().map(|section| section.anchor).collect();
    let written: Vec<WrittenQuestions> = written
        .into_iter()
        .filter(|new| missing.contains(new.anchor.as_str()) && sections.hash(&new.anchor) == new.section_hash)
        .collect();
    if written.is_empty() {
        return Ok(Vec::new());
    }
    let counts = written.iter().map(|new| new.questions.len()).collect();
    let all = questions::added(
        stored,
        written.into_iter().map(|new| (new.anchor, new.questions)),
        source,
    );
    store(owner, id, &all.map_err(|problem| questions::refused(&problem))?)?;
    Ok(counts)
}

/// Replaces the questions of a document, and indexes it. The owner has locked the document.
fn store(owner: &mut Owner<'_>, id: DocumentId, all: &[StoredQuestion]) -> Result<()> {
    questions::write(owner, id, all)?;
    // After calls of a language model, or waiting for the lock, the project may have another model.
    let project = project::by_id(owner, id.project)?;
    let outcomes = super::reindex(owner, &project, &[id.document], settings::INDEX_MODE.get())?;
    match outcomes.into_iter().find(|outcome| outcome.action == FAILED) {
        Some(failed) => Err(internal(failed.detail.unwrap_or_default())),
        None => Ok(()),
    }
}

/// The error for a document that the caller cannot change: none is visible, or a policy forbids it.
fn unchangeable(caller: &mut Caller, project: &Project, slug: &str) -> Result<ErrorReport> {
    let seen = statement::latest(
        caller,
        "SELECT 1 FROM docsearch.document d WHERE d.project_id = $1 AND d.slug = $2",
        &[DatumWithOid::from(project.id), DatumWithOid::from(slug)],
        |row| row.required::<i32>(1),
    )?;
    if seen.is_empty() {
        return document::unknown(caller, slug, Some(&project.name));
    }
    Ok(error_with_hint(
        PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE,
        format!("document \"{slug}\" cannot be changed"),
        "Policies on docsearch.document keep you from changing it. Ask the owner of schema docsearch to do it.",
    ))
}

//! Questions that readers asked, proposed as questions of the sections that answered them.

use docsearch_core::index::question::{self, Question, Sections};
use docsearch_core::usage::reader_question::{ReaderQuestion, reader_questions};
use docsearch_core::values::id::DocumentId;

use crate::postgres::interrupt;
use crate::postgres::report::Result;
use crate::postgres::role::{Caller, Role};
use crate::reports::reading::{self, AskedQuery, Reading};
use crate::reports::scope::Scope;
use crate::tables::{document, questions, rejected_questions};

/// Largest page whose sections are looked at, in bytes.
const PAGE_BYTES: i32 = 4_000_000;
/// Most queries that are looked at.
const MOST_QUERIES: usize = 10_000;

/// A question for a section.
pub(crate) struct QuestionCandidate {
    pub(crate) slug: String,
    pub(crate) anchor: String,
    pub(crate) question: String,
    pub(crate) counts: ReaderQuestion,
}

/// Questions that pages of a project answered for several readers. Left out are those that a page has already, that were rejected,
/// and that are the title of the page.
pub(crate) fn candidates(caller: &mut Caller, scope: &Scope, min_sessions: u32) -> Result<Vec<QuestionCandidate>> {
    let reading = reading::read(caller, scope)?;
    let mut answered = reader_questions(&reading.observations, min_sessions);
    answered.truncate(MOST_QUERIES);
    let asked = answered.iter().map(|found| reading.query(found.query));
    let texts = reading::texts(caller, scope, asked.collect())?;
    let mut candidates = Vec::new();
    for found in answered {
        if candidates.len() == scope.limit() {
            break;
        }
        interrupt::check();
        if let Some(asked) = texts.get(&reading.query(found.query)) {
            candidates.extend(candidate(caller, scope, &reading, asked, found)?);
        }
    }
    Ok(candidates)
}

fn candidate(
    caller: &mut Caller,
    scope: &Scope,
    reading: &Reading,
    asked: &AskedQuery,
    counts: ReaderQuestion,
) -> Result<Option<QuestionCandidate>> {
    let (Some(project), Some(page)) = (scope.project, reading.page(counts.page)) else {
        return Ok(None);
    };
    let id = DocumentId {
        project,
        document: page.id,
    };
    let given = Question {
        anchor: String::new(),
        question: asked.text.clone(),
    };
    let Ok(Some(Question { question, .. })) = question::checked([given]).map(|mut checked| checked.pop()) else {
        return Ok(None);
    };
    let folded = question::normal_form(&question);
    if folded == question::normal_form(&page.title) {
        return Ok(None);
    }
    {
        let owner = &caller.as_owner()?;
        let known = questions::read(owner, id)?;
        let has = |text: &str| question::normal_form(text) == folded;
        if known.iter().any(|stored| has(&stored.question.question)) || rejected_questions::has(owner, id, &folded)? {
            return Ok(None);
        }
    }
    let anchor = reading.anchor(counts.part);
    let has_section = !anchor.is_empty()
        && document::body(caller, id, PAGE_BYTES)?.is_some_and(|body| Sections::new(&body).has(anchor));
    Ok(Some(QuestionCandidate {
        slug: page.slug.clone(),
        anchor: if has_section { anchor.to_owned() } else { String::new() },
        question,
        counts,
    }))
}

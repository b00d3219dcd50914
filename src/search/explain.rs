//! `explain_search`: the steps to the score of a document.

use std::collections::BTreeSet;

use docsearch_core::ranking::page::Page;
use docsearch_core::ranking::pin::PinSteps;
use docsearch_core::ranking::rank::ScoredQuestion;
use docsearch_core::ranking::rerank::RankedDocument;
use docsearch_core::ranking::score::Step;
use docsearch_core::values::id::{DocumentId, Map};
use pgrx::datum::DatumWithOid;

use crate::postgres::jsonb::StoredJson;
use crate::postgres::report::Result;
use crate::postgres::role::{Caller, Role};
use crate::postgres::statement;
use crate::search::exclusion::{Excluded, exclude};
use crate::search::group::Group;
use crate::search::request::Request;
use crate::search::retrieval::Retrieval;

/// The steps from what the retrievers found to the score of a document. If it has no score, the excluded words that it
/// has: none means that it does not match category and filter.
pub(crate) fn steps(
    caller: &mut Caller,
    request: &Request<'_>,
    focus: DocumentId,
) -> Result<std::result::Result<Vec<Step>, Vec<String>>> {
    let mut retrieval = request.run(caller, 0, Some(focus))?;
    let steps = PinSteps {
        are_shown: false,
        focus: Some(focus),
    };
    retrieval.pin(caller, request, steps)?;
    let ranked = retrieval
        .found
        .ranked
        .iter()
        .find(|ranked| ranked.document.document == focus);
    let group = retrieval
        .groups
        .iter()
        .find(|group| group.projects.contains(focus.project));
    let Some((ranked, group)) = ranked.zip(group) else {
        return Ok(Err(excluding_words(caller, &retrieval, focus)?));
    };
    let mut steps = retriever_steps(ranked, group);
    steps.extend(question_step(caller, ranked)?);
    steps.extend(retrieval.found.steps.remove(&focus).unwrap_or_default());
    steps.extend(retrieval.duplicate_step(caller, &request.config, focus)?);
    Ok(Ok(steps))
}

/// The words of a search that exclude a document, as `-word`.
fn excluding_words(caller: &mut Caller, retrieval: &Retrieval<'_>, focus: DocumentId) -> Result<Vec<String>> {
    let of_question = retrieval.groups.iter().flat_map(|group| group.excluded.clone());
    let excluded: Vec<Excluded> = of_question.chain(retrieval.excluded_by_wordings()).collect();
    let page = statement::one(
        caller,
        "SELECT d.title, d.slug, d.category, d.metadata FROM docsearch.document d WHERE d.project_id = $1 AND d.id = $2",
        &[DatumWithOid::from(focus.project), DatumWithOid::from(focus.document)],
        |row| {
            Ok(Page {
                title: row.required(1)?,
                slug: row.required(2)?,
                category: row.optional(3)?,
                metadata: row.optional::<StoredJson>(4)?.map(|metadata| metadata.0),
                ..Page::default()
            })
        },
    )?;
    let mut pages: Map<DocumentId, Page> = page.map(|page| (focus, page)).into_iter().collect();
    let words: BTreeSet<String> = exclude(caller, &excluded, &mut pages)?.into_iter().collect();
    Ok(words.into_iter().map(|word| format!("-{word}")).collect())
}

fn retriever_step(rule: &'static str, matched: String, raw: f32) -> Step {
    Step {
        step: "retriever",
        rule,
        matched,
        raw,
        weight: 0.0,
        before: 0.0,
        after: 0.0,
        contribution: 0.0,
    }
}

/// The question of the document that matches best: its similarity, or else its keyword score. The document has to be
/// visible.
fn question_step(caller: &mut Caller, ranked: &RankedDocument) -> Result<Option<Step>> {
    let questions = ranked.document.chunks.iter().filter_map(|chunk| chunk.question);
    let value = |question: &ScoredQuestion| question.similarity.unwrap_or(question.lexical);
    let Some(best) = questions.max_by(|a, b| value(a).total_cmp(&value(b)).then(b.id.cmp(&a.id))) else {
        return Ok(None);
    };
    let owner = &caller.as_owner()?;
    let text = statement::one(
        owner,
        "SELECT c.body FROM docsearch.chunk c WHERE c.project_id = $1 AND c.document_id = $2 AND c.chunk_no = $3",
        &[
            DatumWithOid::from(best.id.document.project),
            DatumWithOid::from(best.id.document.document),
            DatumWithOid::from(best.id.chunk),
        ],
        |row| row.required::<String>(1),
    )?;
    Ok(text.map(|text| retriever_step("question", text, value(&best))))
}

/// What each retriever found of the document. These steps are not part of the score.
fn retriever_steps(ranked: &RankedDocument, group: &Group<'_>) -> Vec<Step> {
    let words = |whole: bool| {
        let terms = group.terms.iter().filter(|term| term.whole == whole);
        let words: Vec<String> = terms
            .map(|term| {
                let expansions = term.expansions.iter().map(|(lexeme, _)| lexeme);
                let lexemes: Vec<&str> = term.lexemes.iter().chain(expansions).map(String::as_str).collect();
                lexemes.join(" = ")
            })
            .collect();
        words.join(", ")
    };
    let mut steps = vec![retriever_step("original", words(true), ranked.document.lexical)];
    let split = words(false);
    if !split.is_empty() {
        steps.push(retriever_step("camel_split", split, ranked.document.lexical));
    }
    let summary = ranked.document.chunks.iter().find(|chunk| chunk.id.chunk == 0);
    if let Some(similarity) = summary.and_then(|chunk| chunk.similarity) {
        steps.push(retriever_step("document_vector", "summary".to_owned(), similarity));
    }
    let sections = ranked.document.chunks.iter().filter(|chunk| chunk.id.chunk > 0);
    let nearest = sections
        .filter_map(|chunk| Some((chunk.id.chunk, chunk.similarity?)))
        .max_by(|a, b| a.1.total_cmp(&b.1));
    if let Some((chunk, similarity)) = nearest {
        steps.push(retriever_step("section_vector", format!("chunk {chunk}"), similarity));
    }
    steps
}

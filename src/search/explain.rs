//! How a document came to its score.

use docsearch_core::rank::DocumentId;
use docsearch_core::rerank::Ranked;
use docsearch_core::score::Step;

use crate::postgres::report::Result;
use crate::search::group::Group;
use crate::search::request::Request;

/// The steps from the legs of a search to the score of a document, if it matches category and filter.
pub(crate) fn steps(request: &Request<'_>, focus: DocumentId) -> Result<Option<Vec<Step>>> {
    let mut retrieval = request.run(0, Some(focus))?;
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
        return Ok(None);
    };
    let mut steps = legs(ranked, group);
    steps.extend(retrieval.found.steps.remove(&focus).unwrap_or_default());
    Ok(Some(steps))
}

/// What each leg found of the document: nothing of the score yet.
fn legs(ranked: &Ranked, group: &Group<'_>) -> Vec<Step> {
    let leg = |rule, matched: String, raw| Step {
        step: "leg",
        rule,
        matched,
        raw,
        weight: 0.0,
        before: 0.0,
        after: 0.0,
        contribution: 0.0,
    };
    let words = |whole: bool| {
        let terms = group.terms.iter().filter(|term| term.whole == whole);
        let words: Vec<String> = terms
            .map(|term| {
                let lexemes: Vec<&str> = term.looked_up().map(|(lexeme, _)| lexeme).collect();
                lexemes.join(" = ")
            })
            .collect();
        words.join(", ")
    };
    let mut steps = vec![leg("original", words(true), ranked.document.lexical)];
    let split = words(false);
    if !split.is_empty() {
        steps.push(leg("camel_split", split, ranked.document.lexical));
    }
    let whole = ranked.document.chunks.iter().find(|chunk| chunk.id.chunk == 0);
    if let Some(similarity) = whole.and_then(|chunk| chunk.similarity) {
        steps.push(leg("document_vector", "summary".to_owned(), similarity));
    }
    let sections = ranked.document.chunks.iter().filter(|chunk| chunk.id.chunk > 0);
    let nearest = sections
        .filter_map(|chunk| Some((chunk.id.chunk, chunk.similarity?)))
        .max_by(|a, b| a.1.total_cmp(&b.1));
    if let Some((chunk, similarity)) = nearest {
        steps.push(leg("section_vector", format!("chunk {chunk}"), similarity));
    }
    steps
}

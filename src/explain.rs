//! `docsearch.explain_search`: how a document came to its score.

use docsearch_core::rank::DocumentId;
use docsearch_core::rerank::Ranked;
use docsearch_core::score::Step;
use pgrx::prelude::*;

use crate::document;
use crate::group::Group;
use crate::jsonb::JsonB;
use crate::report::{Result, invalid};
use crate::search::{Arguments, Request};

#[pg_schema]
mod docsearch {
    use super::*;

    /// The steps from the legs of a search to the score of one document, in the order of their
    /// application. The last value of `after` is the score that search_docs gives it.
    #[pg_extern(volatile, parallel_unsafe, cost = 10000)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn explain_search(
        query: Option<&str>,
        slug: Option<&str>,
        project: default!(Option<&str>, "NULL"),
        category: default!(Option<&str>, "NULL"),
        filter: default!(Option<JsonB>, "NULL"),
        config: default!(Option<JsonB>, "NULL"),
    ) -> Result<
        TableIterator<
            'static,
            (
                name!(step, String),
                name!(rule, String),
                name!(matched, Option<String>),
                name!(raw, Option<f32>),
                name!(weight, Option<f32>),
                name!(before, f32),
                name!(after, f32),
                name!(contribution, f32),
            ),
        >,
    > {
        let slug = document::checked_slug(slug)?;
        let arguments = Arguments {
            query,
            project,
            category,
            filter,
            max_results: None,
            min_score: None,
            dedup: None,
            config,
        };
        let request = arguments.resolve()?;
        let focus = document::identify(slug, project)?;
        let steps = steps(&request, focus)?.ok_or_else(|| {
            invalid(
                format!("document \"{slug}\" does not match the category or the filter"),
                "Leave them out to see its score.",
            )
        })?;
        let rows = steps.into_iter().map(|step| {
            (
                step.step.to_owned(),
                step.rule.to_owned(),
                (!step.matched.is_empty()).then_some(step.matched),
                Some(step.raw),
                Some(step.weight),
                step.before,
                step.after,
                step.contribution,
            )
        });
        Ok(TableIterator::new(rows.collect::<Vec<_>>()))
    }
}

fn steps(request: &Request<'_>, focus: DocumentId) -> Result<Option<Vec<Step>>> {
    let mut ran = request.run(0, Some(focus))?;
    let ranked = ran.ranked.iter().find(|ranked| ranked.document.document == focus);
    let group = ran.groups.iter().find(|group| group.projects.contains(focus.project));
    let Some((ranked, group)) = ranked.zip(group) else {
        return Ok(None);
    };
    let mut steps = legs(ranked, group);
    steps.extend(ran.steps.remove(&focus).unwrap_or_default());
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

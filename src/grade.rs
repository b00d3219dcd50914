//! `docsearch.grade_results`: how good the answer to a query is.

use std::time::Instant;

use docsearch_core::bm25::idf;
use docsearch_core::delivery::SearchResult;
use docsearch_core::grade::{CONTEXT_CHARS, Features, GradedContext, GradedTerm, MAX_CONTEXTS};
use docsearch_core::prompt::Source;
use docsearch_core::query::Term;
use docsearch_core::rank::{ChunkId, DocumentId, Map, dense_score};
use docsearch_core::tsvector::TsVector;
use pgrx::prelude::*;

use crate::group::Group;
use crate::jsonb::JsonB;
use crate::owner::AsOwner;
use crate::present::Shown;
use crate::report::{Result, internal};
use crate::search::{Arguments, Request};
use crate::statement;
use crate::statement::WANTED_CHUNKS;
use crate::statistics::Totals;
use crate::tsvector::TsVectorBytes;

#[pg_schema]
mod docsearch {
    use super::*;

    /// How good the answer to a query is: score, relevance, completeness, grounded, reasoning and should_refine.
    #[pg_extern(volatile, parallel_unsafe, cost = 10000)]
    #[search_path(pg_catalog, pg_temp)]
    fn grade_results(
        query: Option<&str>,
        project: default!(Option<&str>, "NULL"),
        category: default!(Option<&str>, "NULL"),
        filter: default!(Option<JsonB>, "NULL"),
        config: default!(Option<JsonB>, "NULL"),
    ) -> Result<JsonB> {
        let request = request(query, project, category, filter, config)?;
        let (features, results) = judged(&request)?;
        let grade = request.grade(&features, results.len());
        serde_json::to_value(grade).map(JsonB).map_err(internal)
    }

    /// What a grade is made of, by name.
    #[pg_extern(volatile, parallel_unsafe, cost = 10000)]
    #[search_path(pg_catalog, pg_temp)]
    fn grade_features(
        query: Option<&str>,
        project: default!(Option<&str>, "NULL"),
        category: default!(Option<&str>, "NULL"),
        filter: default!(Option<JsonB>, "NULL"),
        config: default!(Option<JsonB>, "NULL"),
    ) -> Result<JsonB> {
        let request = request(query, project, category, filter, config)?;
        let (features, _) = judged(&request)?;
        serde_json::to_value(features.named()).map(JsonB).map_err(internal)
    }

    /// The contexts that a grade is about: at most 15, the first 500 characters of each.
    #[pg_extern(volatile, parallel_unsafe, cost = 10000)]
    #[search_path(pg_catalog, pg_temp)]
    fn grade_input(
        query: Option<&str>,
        project: default!(Option<&str>, "NULL"),
        category: default!(Option<&str>, "NULL"),
        filter: default!(Option<JsonB>, "NULL"),
        config: default!(Option<JsonB>, "NULL"),
    ) -> Result<TableIterator<'static, (name!(number, i32), name!(source, String), name!(context, String))>> {
        let request = request(query, project, category, filter, config)?;
        let (_, results) = judged(&request)?;
        let contexts = contexts(&results, CONTEXT_CHARS)?;
        let rows = (1..)
            .zip(contexts)
            .map(|(number, context)| (number, context.source, context.text));
        Ok(TableIterator::new(rows.collect::<Vec<_>>()))
    }
}

fn request<'a>(
    query: Option<&'a str>,
    project: Option<&'a str>,
    category: Option<&'a str>,
    filter: Option<JsonB>,
    config: Option<JsonB>,
) -> Result<Request<'a>> {
    let arguments = Arguments {
        query,
        project,
        category,
        filter,
        max_results: Some(MAX_CONTEXTS as i32),
        min_score: None,
        dedup: None,
        config,
    };
    let mut request = arguments.resolve()?;
    request.config.grade = true;
    Ok(request)
}

fn judged(request: &Request<'_>) -> Result<(Features, Vec<SearchResult>)> {
    let mut ran = request.run(0, None)?;
    let (answer, features) = request.present(&mut ran, Shown::Rows, Instant::now())?;
    Ok((features.unwrap_or_default(), answer.results))
}

/// A part of a document that an answer rests on.
pub(crate) struct Context {
    /// Where it is published, or else the reference that load_doc takes.
    pub(crate) source: String,
    /// Title and heading path.
    pub(crate) title: String,
    pub(crate) text: String,
}

impl Context {
    pub(crate) fn as_source(&self) -> Source<'_> {
        Source {
            source: &self.source,
            title: &self.title,
            text: &self.text,
        }
    }
}

/// The texts of results, so many characters of each, without those that are empty.
pub(crate) fn contexts(results: &[SearchResult], max_chars: usize) -> Result<Vec<Context>> {
    let ids: Vec<ChunkId> = results.iter().map(chunk_id).collect();
    let texts: Map<ChunkId, String> = {
        let _owner = AsOwner::enter()?;
        statement::rows(
            &format!(
                "SELECT c.project_id, c.document_id, c.chunk_no, c.body
             FROM {WANTED_CHUNKS} JOIN docsearch.chunk c USING (project_id, document_id, chunk_no)"
            ),
            &statement::chunk_arguments(&ids),
            |row| Ok((statement::chunk_id(row)?, row.required::<String>(4)?)),
        )?
        .into_iter()
        .collect()
    };
    let contexts = results.iter().filter_map(|result| {
        let text = texts.get(&chunk_id(result))?.trim();
        let end = text.char_indices().nth(max_chars).map_or(text.len(), |(end, _)| end);
        let title = match result.section.as_str() {
            "" => result.title.clone(),
            section => format!("{} > {section}", result.title),
        };
        (!text.is_empty()).then(|| Context {
            source: result.url.clone().unwrap_or_else(|| result.reference()),
            title,
            text: text[..end].to_owned(),
        })
    });
    Ok(contexts.collect())
}

/// Features of the answer of a search.
pub(crate) fn features(groups: &[Group<'_>], results: &[SearchResult]) -> Result<Features> {
    let Some(group) = groups.first() else {
        return Ok(Features::default());
    };
    let terms: Vec<&Term> = group.terms.iter().filter(|term| term.whole).collect();
    let held = held_terms(&terms, results)?;
    let contexts: Vec<GradedContext> = results
        .iter()
        .map(|result| GradedContext {
            score: result.score,
            dense: result
                .similarity
                .map(|similarity| dense_score(similarity, group.model.background)),
            keyword: result.keyword_score,
            holds: held.get(&chunk_id(result)).cloned().unwrap_or_default(),
        })
        .collect();
    Ok(Features::of(&graded_terms(groups, &terms)?, &contexts))
}

/// How rare the terms are in the documents of all groups that the caller sees.
fn graded_terms(groups: &[Group<'_>], terms: &[&Term]) -> Result<Vec<GradedTerm>> {
    let mut chunks = 0.0;
    let mut sums = vec![0.0; terms.len()];
    for group in groups {
        let lexemes = terms
            .iter()
            .flat_map(|term| term.looked_up().map(|(lexeme, _)| lexeme.to_owned()));
        let frequencies = group.sight.frequencies(&group.projects, lexemes.collect())?;
        chunks += Totals::chunks(&group.sight.totals(&group.projects)?);
        for (sum, term) in sums.iter_mut().zip(terms) {
            let own: f64 = term.lexemes.iter().map(|lexeme| frequencies.sum(lexeme)).sum();
            *sum += own;
        }
    }
    let graded = sums.into_iter().map(|sum| GradedTerm {
        idf: idf(chunks, sum),
        known: sum > 0.0,
    });
    Ok(graded.collect())
}

/// How well the sections of results hold each term.
fn held_terms(terms: &[&Term], results: &[SearchResult]) -> Result<Map<ChunkId, Vec<f32>>> {
    let ids: Vec<ChunkId> = results.iter().map(chunk_id).collect();
    let _owner = AsOwner::enter()?;
    let held = statement::rows(
        &format!(
            "SELECT c.project_id, c.document_id, c.chunk_no, c.terms
         FROM {WANTED_CHUNKS} JOIN docsearch.chunk c USING (project_id, document_id, chunk_no)"
        ),
        &statement::chunk_arguments(&ids),
        |row| {
            let bytes: TsVectorBytes = row.required(4)?;
            let vector = TsVector::new(bytes.as_bytes());
            let holds = |term: &&Term| {
                let vector = vector.as_ref()?;
                let held = term
                    .looked_up()
                    .filter(|(lexeme, _)| vector.positions(lexeme).next().is_some());
                held.map(|(_, closeness)| closeness).reduce(f32::max)
            };
            let holds = terms.iter().map(|term| holds(term).unwrap_or(0.0)).collect();
            Ok((statement::chunk_id(row)?, holds))
        },
    )?;
    Ok(held.into_iter().collect())
}

fn chunk_id(result: &SearchResult) -> ChunkId {
    ChunkId {
        document: DocumentId {
            project: result.project_id,
            document: result.document_id,
        },
        chunk: result.chunk_no,
    }
}

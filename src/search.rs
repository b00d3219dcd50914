//! `search_docs`: from a query to results.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::time::Instant;

use docsearch_core::delivery::{Answer, Confidence, Notice, above_threshold};
use docsearch_core::filter::{Filter, FilterError};
use docsearch_core::place::KnownNames;
use docsearch_core::query::{MAX_QUERY_CHARS, Query, Term};
use docsearch_core::rank::{ChunkId, ScoredChunk, ScoredDocument};
use docsearch_core::rule::Rules;
use docsearch_core::understanding::{Class, Understanding};
use pgrx::JsonB;
use pgrx::pg_sys;
use pgrx::prelude::*;
use serde_json::Value;

use crate::candidates::Search;
use crate::config::{Dedup, SearchConfig};
use crate::present::{Ranked, Shown, present};
use crate::project::{self, Project};
use crate::report::{Result, internal, invalid};
use crate::{lexical, model};

thread_local! {
    static RULES: Rules = Rules::english();
}

/// Sections of a result's document that are shown beside it, at most.
const SECTION_MATCHES: usize = 5;
/// A section matches, too, if its base score is at least this share of the best section's.
const SECTION_SHARE: f32 = 0.5;

/// The documents that best answer a query, best first.
#[pg_extern(volatile, parallel_unsafe, cost = 10000)]
#[search_path(pg_catalog, pg_temp)]
#[allow(clippy::too_many_arguments, clippy::type_complexity)]
fn search_docs(
    query: Option<&str>,
    project: default!(Option<&str>, "NULL"),
    category: default!(Option<&str>, "NULL"),
    filter: default!(Option<JsonB>, "NULL"),
    max_results: default!(Option<i32>, 5),
    min_score: default!(Option<f32>, 0.0),
    dedup: default!(Option<&str>, "'document'"),
    config: default!(Option<JsonB>, "NULL"),
) -> Result<
    TableIterator<
        'static,
        (
            name!(rank, i32),
            name!(slug, String),
            name!(title, String),
            name!(section, String),
            name!(project, String),
            name!(category, Option<String>),
            name!(score, f32),
            name!(similarity, Option<f32>),
            name!(keyword_score, f32),
            name!(confidence, String),
            name!(snippet, String),
            name!(url, Option<String>),
            name!(document_id, i64),
            name!(chunk_no, i32),
            name!(chunk_count, i32),
            name!(additional_chunk, bool),
            name!(notice, Option<String>),
        ),
    >,
> {
    let arguments = Arguments {
        query,
        project,
        category,
        filter,
        max_results,
        min_score,
        dedup,
        config,
    };
    let answer = arguments.answer(Shown::Rows)?;
    let notice = in_one_text(&answer.notices);
    if answer.results.is_empty()
        && let Some(notice) = &notice
    {
        notice!("{notice}");
    }
    let rows = answer.results.into_iter().map(move |result| {
        (
            result.rank as i32,
            result.slug,
            result.title,
            result.section,
            result.project,
            result.category,
            result.score,
            result.similarity,
            result.keyword_score,
            result.confidence.as_str().to_owned(),
            result.snippet,
            result.url,
            result.document_id,
            result.chunk_no,
            result.chunk_count,
            result.additional_chunk,
            notice.clone(),
        )
    });
    Ok(TableIterator::new(rows.collect::<Vec<_>>()))
}

/// The arguments that all functions that search have in common.
pub(crate) struct Arguments<'a> {
    pub(crate) query: Option<&'a str>,
    pub(crate) project: Option<&'a str>,
    pub(crate) category: Option<&'a str>,
    pub(crate) filter: Option<JsonB>,
    pub(crate) max_results: Option<i32>,
    pub(crate) min_score: Option<f32>,
    pub(crate) dedup: Option<&'a str>,
    pub(crate) config: Option<JsonB>,
}

impl Arguments<'_> {
    /// Searches, and reads as much of the results as will be shown.
    pub(crate) fn answer(self, shown: Shown) -> Result<Answer> {
        let begun = Instant::now();
        let config = SearchConfig::resolve(
            self.max_results.unwrap_or(5),
            self.min_score.unwrap_or(0.0),
            self.dedup.unwrap_or("document"),
            self.config,
        )?;
        let query = self.query.and_then(Query::parse).ok_or_else(|| {
            invalid(
                "query must not be null or blank",
                "Give a name, some words or a question.",
            )
        })?;
        let filter = parse_filter(self.filter)?;
        let projects = project::selected(self.project)?;
        let search = Search {
            query: &query,
            category: self.category,
            filter: &filter,
            config: &config,
        };
        let mut stages = Stages::default();
        let (ranked, analysed) = stages.rank(&search, &projects, shown)?;
        let chosen = choose(ranked, &config, &mut stages.notices);
        let presenting = Instant::now();
        let results = present(&projects, &analysed, chosen, &config)?;
        let milliseconds = |since: Instant| since.elapsed().as_secs_f64() * 1000.0;
        let timings = [
            ("embed_ms", stages.embed_ms),
            ("rank_ms", stages.rank_ms),
            ("present_ms", milliseconds(presenting)),
            ("total_ms", milliseconds(begun)),
        ];
        RULES.with(|rules| {
            let understood = Understanding::read(&query.text, rules, &KnownNames::default());
            let mut answer = Answer {
                query: query.text.clone(),
                executed_query: query.text.clone(),
                understood: match shown {
                    Shown::Rows => Value::Null,
                    Shown::Sections => serde_json::to_value(&understood).map_err(internal)?,
                },
                results,
                notices: stages.notices,
                tips: Vec::new(),
                suggestions: Vec::new(),
                confidence: Confidence::Low,
                candidates: stages.candidates,
                grade: None,
                timings: timings.map(|(stage, ms)| (stage.to_owned(), ms)).into(),
                offset: config.offset,
            };
            let tips: Vec<String> = rules.tables().tips.values().cloned().collect();
            answer.conclude(understood.class == Class::Generic, &tips);
            Ok(answer)
        })
    }
}

/// All notices in one text.
fn in_one_text(notices: &[Notice]) -> Option<String> {
    let texts: Vec<String> = notices
        .iter()
        .map(|notice| format!("{}: {}", notice.code.as_str(), notice.message))
        .collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}

fn parse_filter(filter: Option<JsonB>) -> Result<Filter> {
    let filter = filter.map_or(Value::Null, |JsonB(filter)| filter);
    Filter::parse(&filter).map_err(|problem: FilterError| {
        invalid(
            problem.to_string(),
            "A filter is an object of keys with a scalar, an array (any of), {\"not\": value} or \
             {\"from\": value, \"to\": value}; category, version, kind, after and before are fields of the document.",
        )
    })
}

/// The terms of a query by text search configuration.
pub(crate) type Analysed = HashMap<String, Vec<Term>>;

/// What a search notes on its way.
#[derive(Default)]
struct Stages {
    notices: Vec<Notice>,
    candidates: usize,
    embed_ms: f64,
    rank_ms: f64,
}

impl Stages {
    fn rank(&mut self, search: &Search<'_>, projects: &[Project], shown: Shown) -> Result<(Vec<Ranked>, Analysed)> {
        if search.query.truncated {
            self.notices.push(Notice::query_truncated(MAX_QUERY_CHARS));
        }
        let mut embeddings: HashMap<i32, Option<Vec<f32>>> = HashMap::new();
        let mut analysed = Analysed::new();
        let mut ranked = Vec::new();
        for (place, project) in projects.iter().enumerate() {
            if let Entry::Vacant(entry) = embeddings.entry(project.model.id) {
                let begun = Instant::now();
                entry.insert(embed(search.query, project, &mut self.notices)?);
                self.embed_ms += begun.elapsed().as_secs_f64() * 1000.0;
            }
            let begun = Instant::now();
            if !analysed.contains_key(project.text_config.as_str()) {
                let terms = lexical::terms(search.query, &project.text_config, search.config.part_weight)?;
                analysed.insert(project.text_config.clone(), terms);
            }
            let embedding = embeddings.get(&project.model.id).and_then(Option::as_deref);
            let documents = search.rank(project, &analysed[&project.text_config], embedding)?;
            self.candidates += documents.len();
            ranked.extend(results(place, documents, search.config, shown));
            self.rank_ms += begun.elapsed().as_secs_f64() * 1000.0;
        }
        Ok((ranked, analysed))
    }
}

/// The query's vector; without a model the search goes on with keywords, and says so.
fn embed(query: &Query, project: &Project, notices: &mut Vec<Notice>) -> Result<Option<Vec<f32>>> {
    let row = &project.model;
    let embedded = model::of_row(row).and_then(|model| {
        model
            .embed_query(&query.text)
            .map_err(|failure| crate::report::inference(&failure))
    });
    match embedded {
        Ok(vector) => Ok(Some(vector)),
        Err(problem) => {
            // SAFETY: asks about the current user.
            let detailed = unsafe { pg_sys::superuser() };
            let reason = if detailed {
                problem.message().to_owned()
            } else {
                format!("model \"{}\" cannot be used", row.name)
            };
            notices.push(Notice::vector_unavailable(&reason));
            Ok(None)
        }
    }
}

/// The sections of one project's documents that may become results.
fn results(project: usize, documents: Vec<ScoredDocument>, config: &SearchConfig, shown: Shown) -> Vec<Ranked> {
    let most = match shown {
        Shown::Rows => 0,
        Shown::Sections => SECTION_MATCHES,
    };
    let mut results = Vec::new();
    for document in documents {
        let best = document.chunks.first();
        let chunk = best.map_or(0, |chunk| chunk.id.chunk);
        let enough = best.map_or(0.0, |best| best.base * SECTION_SHARE);
        let matching = document.chunks.iter().take_while(|chunk| chunk.base >= enough);
        results.push(Ranked {
            project,
            chunk: ChunkId {
                document: document.document,
                chunk,
            },
            score: document.score,
            similarity: document.similarity,
            keyword_score: document.lexical,
            additional: false,
            sections: matching
                .take(most)
                .map(|chunk| (chunk.id, section_score(&document, chunk)))
                .collect(),
        });
        let rest = document.chunks.iter().skip(1).take(config.wanted());
        results.extend(rest.map(|chunk| Ranked {
            project,
            chunk: chunk.id,
            score: section_score(&document, chunk),
            similarity: chunk.similarity,
            keyword_score: chunk.lexical,
            additional: config.dedup == Dedup::Document,
            sections: Vec::new(),
        }));
    }
    results
}

/// The score of a section: it never stands before its document's best one.
fn section_score(document: &ScoredDocument, chunk: &ScoredChunk) -> f32 {
    let best = document.chunks.first().map_or(0.0, |best| best.base);
    let share = if best > 0.0 { chunk.base / best } else { 0.0 };
    (document.score * share).min(document.score)
}

/// Orders and cuts: with dedup, further sections only fill places that documents leave free.
fn choose(mut ranked: Vec<Ranked>, config: &SearchConfig, notices: &mut Vec<Notice>) -> Vec<Ranked> {
    ranked.sort_by(|a, b| {
        a.additional
            .cmp(&b.additional)
            .then(b.score.total_cmp(&a.score))
            .then(a.chunk.cmp(&b.chunk))
    });
    ranked.truncate(config.wanted());
    let (mut ranked, notice) = above_threshold(ranked, config.min_score, |result| result.score);
    notices.extend(notice);
    ranked.drain(..config.offset.min(ranked.len()));
    ranked
}

//! `search_docs`: from a query to rows.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

use docsearch_core::filter::{Filter, FilterError};
use docsearch_core::markdown;
use docsearch_core::query::{MAX_QUERY_CHARS, Query, Term};
use docsearch_core::rank::{ChunkId, ScoredChunk, ScoredDocument};
use docsearch_core::snippet::{Match, snippet};
use docsearch_core::tsvector::{TsVector, Weight};
use pgrx::JsonB;
use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;
use pgrx::prelude::*;
use serde_json::Value;

use crate::candidates::Search;
use crate::config::{Dedup, SearchConfig};
use crate::owner::AsOwner;
use crate::project::{self, Project};
use crate::report::{Result, invalid};
use crate::tsvector::TsVectorBytes;
use crate::{lexical, model, statement};

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
    let config = SearchConfig::resolve(
        max_results.unwrap_or(5),
        min_score.unwrap_or(0.0),
        dedup.unwrap_or("document"),
        config,
    )?;
    let parsed = query.and_then(Query::parse).ok_or_else(|| {
        invalid(
            "query must not be null or blank",
            "Give a name, some words or a question.",
        )
    })?;
    let filter = parse_filter(filter)?;
    let found = find(&parsed, project, category, &filter, &config)?;
    let rows = (1..).zip(found).map(|(rank, hit)| {
        (
            rank,
            hit.slug,
            hit.title,
            hit.section,
            hit.project,
            hit.category,
            hit.score,
            hit.similarity,
            hit.keyword_score,
            hit.confidence.to_owned(),
            hit.snippet,
            hit.url,
            hit.chunk.document,
            hit.chunk.chunk,
            hit.chunk_count,
            hit.additional,
            hit.notice,
        )
    });
    Ok(TableIterator::new(rows.collect::<Vec<_>>()))
}

/// A result as the caller sees it.
struct Hit {
    chunk: ChunkId,
    slug: String,
    title: String,
    section: String,
    project: String,
    category: Option<String>,
    url: Option<String>,
    chunk_count: i32,
    score: f32,
    similarity: Option<f32>,
    keyword_score: f32,
    confidence: &'static str,
    additional: bool,
    snippet: String,
    notice: Option<String>,
}

/// A result before its texts are read.
struct Ranked {
    project: usize,
    chunk: ChunkId,
    score: f32,
    similarity: Option<f32>,
    keyword_score: f32,
    additional: bool,
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

fn find(
    query: &Query,
    project: Option<&str>,
    category: Option<&str>,
    filter: &Filter,
    config: &SearchConfig,
) -> Result<Vec<Hit>> {
    let projects = project::selected(project)?;
    let search = Search {
        query,
        category,
        filter,
        config,
    };
    let mut notices = Vec::new();
    if query.truncated {
        notices.push(format!(
            "query_truncated: only the first {MAX_QUERY_CHARS} characters were searched"
        ));
    }
    let mut embeddings: HashMap<i32, Option<Vec<f32>>> = HashMap::new();
    let mut analysed: HashMap<&str, Vec<Term>> = HashMap::new();
    let mut ranked = Vec::new();
    for (place, project) in projects.iter().enumerate() {
        if let Entry::Vacant(entry) = embeddings.entry(project.model.id) {
            entry.insert(embed(query, project, &mut notices)?);
        }
        if !analysed.contains_key(project.text_config.as_str()) {
            let terms = lexical::terms(query, &project.text_config, config.part_weight)?;
            analysed.insert(&project.text_config, terms);
        }
        let embedding = embeddings.get(&project.model.id).and_then(Option::as_deref);
        let documents = search.rank(project, &analysed[project.text_config.as_str()], embedding)?;
        ranked.extend(results(place, documents, config));
    }
    let chosen = choose(ranked, config, &mut notices);
    let notice = (!notices.is_empty()).then(|| notices.join("; "));
    if chosen.is_empty() {
        if let Some(notice) = &notice {
            notice!("{notice}");
        }
        return Ok(Vec::new());
    }
    present(&projects, &analysed, chosen, config, notice)
}

/// The query's vector; without a model the search goes on with keywords, and says so.
fn embed(query: &Query, project: &Project, notices: &mut Vec<String>) -> Result<Option<Vec<f32>>> {
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
            notices.push(format!("vector_unavailable: keywords only, since {reason}"));
            Ok(None)
        }
    }
}

/// The sections of one project's documents that may become results.
fn results(project: usize, documents: Vec<ScoredDocument>, config: &SearchConfig) -> Vec<Ranked> {
    let mut results = Vec::new();
    for document in documents {
        let whole = |chunk: ChunkId, additional| Ranked {
            project,
            chunk,
            score: document.score,
            similarity: document.similarity,
            keyword_score: document.lexical,
            additional,
        };
        let best = document.chunks.first().map_or(0, |chunk| chunk.id.chunk);
        results.push(whole(
            ChunkId {
                document: document.document,
                chunk: best,
            },
            false,
        ));
        let rest = document.chunks.iter().skip(1).take(config.wanted());
        results.extend(rest.map(|chunk| section(project, &document, chunk, config.dedup)));
    }
    results
}

/// A further section: it never stands before its document's best one.
fn section(project: usize, document: &ScoredDocument, chunk: &ScoredChunk, dedup: Dedup) -> Ranked {
    let best = document.chunks.first().map_or(0.0, |best| best.base);
    let share = if best > 0.0 { chunk.base / best } else { 0.0 };
    Ranked {
        project,
        chunk: chunk.id,
        score: (document.score * share).min(document.score),
        similarity: chunk.similarity,
        keyword_score: chunk.lexical,
        additional: dedup == Dedup::Document,
    }
}

/// Orders and cuts: with dedup, further sections only fill places that documents leave free.
fn choose(mut ranked: Vec<Ranked>, config: &SearchConfig, notices: &mut Vec<String>) -> Vec<Ranked> {
    ranked.sort_by(|a, b| {
        a.additional
            .cmp(&b.additional)
            .then(b.score.total_cmp(&a.score))
            .then(a.chunk.cmp(&b.chunk))
    });
    ranked.truncate(config.wanted());
    let above = ranked.iter().filter(|result| result.score >= config.min_score).count();
    if above < ranked.len() && config.min_score > 0.0 {
        let shown = ranked.len();
        if above > 0 {
            ranked.retain(|result| result.score >= config.min_score);
            notices.push(format!(
                "below_threshold: {above} of {shown} results above the threshold"
            ));
        } else {
            notices.push(format!(
                "low_confidence: no result reaches min_score {}",
                config.min_score
            ));
        }
    }
    ranked.drain(..config.offset.min(ranked.len()));
    ranked
}

/// Reads what is shown of the chosen results: documents as the caller, sections as the owner.
fn present(
    projects: &[Project],
    analysed: &HashMap<&str, Vec<Term>>,
    chosen: Vec<Ranked>,
    config: &SearchConfig,
    notice: Option<String>,
) -> Result<Vec<Hit>> {
    let mut chunks: BTreeMap<usize, Vec<ChunkId>> = BTreeMap::new();
    for result in &chosen {
        chunks.entry(result.project).or_default().push(result.chunk);
    }
    let (mut documents, mut sections) = (HashMap::new(), HashMap::new());
    for (&place, chunks) in &chunks {
        let project = &projects[place];
        let terms = analysed
            .get(project.text_config.as_str())
            .map_or(&[][..], Vec::as_slice);
        let seen = shown_documents(project, chunks)?;
        let visible = chunks.iter().filter(|chunk| seen.contains_key(&chunk.document));
        sections.insert(place, shown_sections(project, visible, terms, config.snippet_length)?);
        documents.insert(place, seen);
    }
    let hits = chosen.into_iter().filter_map(|result| {
        let document = documents.get(&result.project)?.get(&result.chunk.document)?;
        let shown = sections.get_mut(&result.project)?.remove(&result.chunk);
        let (section, snippet) = shown.unwrap_or_default();
        Some(Hit {
            chunk: result.chunk,
            slug: document.slug.clone(),
            title: document.title.clone(),
            section,
            project: projects[result.project].name.clone(),
            category: document.category.clone(),
            url: document.url.clone(),
            chunk_count: document.chunk_count,
            score: result.score,
            similarity: result.similarity,
            keyword_score: result.keyword_score,
            confidence: confidence(result.score, config),
            additional: result.additional,
            snippet,
            notice: notice.clone(),
        })
    });
    Ok(hits.collect())
}

fn confidence(score: f32, config: &SearchConfig) -> &'static str {
    if score < config.min_score {
        "low"
    } else if score >= config.confidence_high {
        "high"
    } else if score >= config.confidence_medium {
        "medium"
    } else {
        "low"
    }
}

struct ShownDocument {
    slug: String,
    title: String,
    category: Option<String>,
    url: Option<String>,
    chunk_count: i32,
}

/// The documents of the sections that the caller sees.
fn shown_documents(project: &Project, chunks: &[ChunkId]) -> Result<HashMap<i64, ShownDocument>> {
    let rows = statement::rows(
        "SELECT d.id, d.slug, d.title, d.category, coalesce(d.source_urls[1], d.metadata ->> 'url'), d.chunk_count
         FROM docsearch.document d WHERE d.project_id = $1 AND d.id = ANY ($2)",
        &[
            DatumWithOid::from(project.id),
            DatumWithOid::from(chunks.iter().map(|chunk| chunk.document).collect::<Vec<i64>>()),
        ],
        |row| {
            let slug: String = row.required(2)?;
            let root = project
                .root_url
                .as_ref()
                .map(|root| format!("{}/{slug}", root.trim_end_matches('/')));
            let document = ShownDocument {
                title: row.required(3)?,
                category: row.optional(4)?,
                url: row.optional::<String>(5)?.or(root),
                chunk_count: row.required(6)?,
                slug,
            };
            Ok((row.required(1)?, document))
        },
    )?;
    Ok(rows.into_iter().collect())
}

/// Heading path and snippet of sections whose documents the caller sees.
fn shown_sections<'a>(
    project: &Project,
    chunks: impl Iterator<Item = &'a ChunkId>,
    terms: &[Term],
    length: usize,
) -> Result<HashMap<ChunkId, (String, String)>> {
    let (documents, numbers): (Vec<i64>, Vec<i32>) = chunks.map(|id| (id.document, id.chunk)).unzip();
    let _owner = AsOwner::enter()?;
    let rows = statement::rows(
        "SELECT c.document_id, c.chunk_no, c.heading_path, c.body, c.terms
         FROM unnest($2::bigint[], $3::int[]) AS wanted(document_id, chunk_no)
         JOIN docsearch.chunk c ON c.project_id = $1
          AND c.document_id = wanted.document_id AND c.chunk_no = wanted.chunk_no",
        &[
            DatumWithOid::from(project.id),
            DatumWithOid::from(documents),
            DatumWithOid::from(numbers),
        ],
        |row| {
            let chunk = ChunkId {
                document: row.required(1)?,
                chunk: row.required(2)?,
            };
            let path: Vec<String> = row.required(3)?;
            let body: String = row.required(4)?;
            let bytes: TsVectorBytes = row.required(5)?;
            let matches = body_matches(bytes.as_bytes(), terms);
            let snippet = snippet(&markdown::plain_text(&body), &matches, length);
            Ok((chunk, (path.join(" > "), snippet)))
        },
    )?;
    Ok(rows.into_iter().collect())
}

/// Where the query's words stand in the body.
fn body_matches(terms_of_chunk: &[u8], terms: &[Term]) -> Vec<Match> {
    let Some(vector) = TsVector::new(terms_of_chunk) else {
        return Vec::new();
    };
    let mut matches = Vec::new();
    for (term, wanted) in terms.iter().enumerate() {
        // Longer words are rarer: good enough to choose a window.
        let weight = wanted.weight * wanted.lexemes.first().map_or(0, String::len) as f32;
        for lexeme in &wanted.lexemes {
            let body = vector.positions(lexeme).filter(|&(_, weight)| weight == Weight::D);
            matches.extend(body.map(|(position, _)| Match { position, term, weight }));
        }
    }
    matches
}

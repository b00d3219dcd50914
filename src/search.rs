//! `search_docs`: from a query to results.

use std::cell::RefCell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::rc::Rc;
use std::time::Instant;

use docsearch_core::delivery::{Answer, Confidence, Dedup, Deduplication, Notice, above_threshold};
use docsearch_core::filter::{Filter, FilterError};
use docsearch_core::grade::{Features, Grade, Grader};
use docsearch_core::query::{MAX_QUERY_CHARS, Query};
use docsearch_core::rank::{ChunkId, DocumentId, Map, ScoredChunk, cosine};
use docsearch_core::rerank::Ranked;
use docsearch_core::score::{EVIDENCE_CEILING, Step};
use docsearch_core::transformation::{Transformation, fused};
use docsearch_core::understanding::Class;
use pgrx::pg_sys;
use pgrx::prelude::*;
use serde_json::Value;

use crate::candidates::{Found, Search};
use crate::config::{SearchConfig, Transform};
use crate::group::Group;
use crate::jsonb::JsonB;
use crate::language_model::Calls;
use crate::owner::AsOwner;
use crate::present::{Presented, Shown, present};
use crate::project::{self, Project};
use crate::report::{Result, internal, invalid};
use crate::rules::{self, Rulebook};
use crate::vectors::VectorTable;
use crate::{grade, model, suggest, transform, worker};

/// Sections of a result's document that are shown beside it, at most.
const SECTION_MATCHES: usize = 5;
/// Sections that are compared with each other for one result, with dedup `similar`.
const COMPARED: usize = 8;
/// Suggestions with a poor answer, at most.
const SUGGESTIONS: usize = 3;
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
    let answer = arguments.resolve()?.answer(Shown::Rows)?;
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

impl<'a> Arguments<'a> {
    /// Checks the arguments.
    pub(crate) fn resolve(self) -> Result<Request<'a>> {
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
        let (projects, left_out) = project::searched(self.project)?;
        Ok(Request {
            query,
            category: self.category,
            filter: parse_filter(self.filter)?,
            projects,
            left_out,
            config,
            calls: RefCell::new(Calls::allowed()),
        })
    }
}

/// What is asked for, checked.
pub(crate) struct Request<'a> {
    pub(crate) query: Query,
    category: Option<&'a str>,
    filter: Filter,
    pub(crate) projects: Vec<Project>,
    /// What is to be said of projects that cannot be searched.
    left_out: Option<Notice>,
    pub(crate) config: SearchConfig,
    /// Questions that this search may ask a language model.
    pub(crate) calls: RefCell<Calls>,
}

impl Request<'_> {
    /// Searches, and reads as much of the results as will be shown.
    pub(crate) fn answer(&self, shown: Shown) -> Result<Answer> {
        let begun = Instant::now();
        let mut ran = self.run(self.explained(shown), None)?;
        let (mut answer, _) = self.present(&mut ran, shown, begun)?;
        if shown == Shown::Sections {
            ran.suggest(&mut answer)?;
        }
        Ok(answer)
    }

    /// How many documents are explained, for what is shown of them.
    pub(crate) fn explained(&self, shown: Shown) -> usize {
        match shown {
            Shown::Rows => 0,
            Shown::Sections => self.config.wanted(),
        }
    }

    /// Reads as much of what a search found as will be shown, with the features of the answer if it is
    /// graded.
    pub(crate) fn present(
        &self,
        search: &mut Ran<'_>,
        shown: Shown,
        begun: Instant,
    ) -> Result<(Answer, Option<Features>)> {
        let chosen = search.choose(&self.config, shown)?;
        let presenting = Instant::now();
        let results = present(&self.projects, &search.groups, chosen, &self.config)?;
        let milliseconds = |since: Instant| since.elapsed().as_secs_f64() * 1000.0;
        let mut timings = vec![
            ("embed_ms", search.embed_ms),
            ("rank_ms", search.rank_ms),
            ("present_ms", milliseconds(presenting)),
        ];
        let transformation = search.transformation.as_ref();
        timings.extend(transformation.map(|_| ("transform_ms", search.transform_ms)));
        let grading = Instant::now();
        let features = if self.config.grade {
            let features = grade::features(&search.groups, &results)?;
            timings.push(("grade_ms", milliseconds(grading)));
            Some(features)
        } else {
            None
        };
        timings.push(("total_ms", milliseconds(begun)));
        let grade = features.as_ref().map(|features| self.grade(features, results.len()));
        // Without a project there is nothing to understand the query for.
        let asked = search.groups.first();
        let mut answer = Answer {
            query: self.query.text.clone(),
            executed_query: transformation
                .map_or(&self.query.text, |made| &made.transformed)
                .clone(),
            transformation: transformation.map(serde_json::to_value).transpose().map_err(internal)?,
            understood: match (shown, asked) {
                (Shown::Sections, Some(group)) => serde_json::to_value(&group.understanding).map_err(internal)?,
                _ => Value::Null,
            },
            results,
            notices: std::mem::take(&mut search.notices),
            tips: Vec::new(),
            suggestions: Vec::new(),
            confidence: Confidence::Low,
            candidates: search.candidates,
            grade: grade.map(serde_json::to_value).transpose().map_err(internal)?,
            timings: timings.into_iter().map(|(stage, ms)| (stage.to_owned(), ms)).collect(),
            offset: self.config.offset,
        };
        let lone_generic_term = asked.is_some_and(|group| group.understanding.class == Class::Generic);
        let tips: Vec<String> = search.rules.general().tables().tips.values().cloned().collect();
        answer.conclude(lone_generic_term, &tips);
        Ok((answer, features))
    }

    /// The grade of an answer with these features and so many results.
    pub(crate) fn grade(&self, features: &Features, results: usize) -> Grade {
        Grader::fitted().grade(features, results, &self.config.minimum)
    }

    /// Ranks documents, also for the transformed query if one is asked for, and explains the best of them and
    /// `focus`, which is ranked in any case.
    pub(crate) fn run(&self, explained: usize, focus: Option<DocumentId>) -> Result<Ran<'_>> {
        let mut ran = self.run_query(&self.query, explained, focus)?;
        if self.config.transform == Transform::None {
            return Ok(ran);
        }
        let begun = Instant::now();
        let (transformation, notice) = transform::of(self, &ran, None)?;
        ran.notices.extend(notice);
        let transform_ms = begun.elapsed().as_secs_f64() * 1000.0;
        let ran = self.fuse(ran, transformation, explained, focus)?;
        Ok(Ran { transform_ms, ..ran })
    }

    /// A search with what its transformed query finds besides.
    pub(crate) fn fuse<'s>(
        &'s self,
        mut ran: Ran<'s>,
        transformation: Transformation,
        explained: usize,
        focus: Option<DocumentId>,
    ) -> Result<Ran<'s>> {
        if transformation.changed
            && let Some(query) = Query::parse(&transformation.transformed)
        {
            let other = self.run_query(&query, explained, focus)?;
            ran.fuse(
                other,
                "transformed_query",
                &transformation.transformed,
                self.config.transform_share,
            );
        }
        ran.transformation = Some(transformation);
        Ok(ran)
    }

    /// A search with what its query finds besides when its words count for more, at least 1 less `hybrid`.
    pub(crate) fn fuse_words<'s>(&'s self, mut ran: Ran<'s>, hybrid: f32, explained: usize) -> Result<Ran<'s>> {
        let mut config = self.config.clone();
        config.rules.hybrid = config.rules.hybrid.at_most(hybrid);
        let other = self.run_configured(&self.query, &config, explained, None)?;
        ran.fuse(other, "by_words", &self.query.text, self.config.transform_share);
        Ok(ran)
    }

    /// Ranks documents for a query.
    pub(crate) fn run_query(&self, query: &Query, explained: usize, focus: Option<DocumentId>) -> Result<Ran<'_>> {
        self.run_configured(query, &self.config, explained, focus)
    }

    fn run_configured(
        &self,
        query: &Query,
        config: &SearchConfig,
        explained: usize,
        focus: Option<DocumentId>,
    ) -> Result<Ran<'_>> {
        worker::resume()?;
        let rules = rules::current()?;
        let mut ran = Ran {
            groups: Group::all(&self.projects, query, &rules, config)?,
            rules,
            transformation: None,
            transform_ms: 0.0,
            ranked: Vec::new(),
            steps: Map::default(),
            notices: self.left_out.clone().into_iter().collect(),
            candidates: 0,
            embed_ms: 0.0,
            rank_ms: 0.0,
        };
        if query.truncated {
            ran.notices.push(Notice::query_truncated(MAX_QUERY_CHARS));
        }
        let mut embeddings: HashMap<i32, Option<Vec<f32>>> = HashMap::new();
        for group in &mut ran.groups {
            let embedding = match embeddings.entry(group.model.id) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(entry) => {
                    let begun = Instant::now();
                    let embedding = embed(group, &mut ran.notices)?;
                    ran.embed_ms += begun.elapsed().as_secs_f64() * 1000.0;
                    entry.insert(embedding)
                }
            };
            let begun = Instant::now();
            let search = Search {
                category: self.category,
                filter: &self.filter,
                config,
                explained,
                focus: focus.filter(|focus| group.projects.contains(focus.project)),
            };
            let Found {
                ranked,
                steps,
                candidates,
            } = search.rank(group, embedding.as_deref())?;
            ran.candidates += candidates;
            ran.steps.extend(steps);
            ran.ranked.extend(ranked);
            ran.rank_ms += begun.elapsed().as_secs_f64() * 1000.0;
        }
        Ok(ran)
    }
}

/// A search that was run.
#[derive(Clone)]
pub(crate) struct Ran<'a> {
    rules: Rc<Rulebook>,
    /// What became of the query, if a transformation was asked for.
    pub(crate) transformation: Option<Transformation>,
    transform_ms: f64,
    pub(crate) groups: Vec<Group<'a>>,
    pub(crate) ranked: Vec<Ranked>,
    pub(crate) steps: Map<DocumentId, Vec<Step>>,
    pub(crate) notices: Vec<Notice>,
    candidates: usize,
    embed_ms: f64,
    rank_ms: f64,
}

impl Ran<'_> {
    /// Adds what another search found: documents, and a share of what it scores higher.
    fn fuse(&mut self, other: Ran<'_>, rule: &'static str, query: &str, share: f32) {
        let Ran {
            ranked,
            steps,
            embed_ms,
            rank_ms,
            ..
        } = other;
        let mut theirs: Map<DocumentId, Ranked> = ranked
            .into_iter()
            .map(|ranked| (ranked.document.document, ranked))
            .collect();
        let fuse = |steps: Option<&mut Vec<Step>>, own: f32, other: f32| {
            let score = fused(own, other, share, EVIDENCE_CEILING);
            if let Some(steps) = steps {
                steps.push(Step::other(rule, query, other, share, own, score));
            }
            score
        };
        for ranked in &mut self.ranked {
            let document = ranked.document.document;
            if let Some(other) = theirs.remove(&document) {
                ranked.score = fuse(self.steps.get_mut(&document), ranked.score, other.score);
            }
        }
        for (document, mut ranked) in theirs {
            let explained = steps
                .contains_key(&document)
                .then(|| self.steps.entry(document).or_default());
            ranked.score = fuse(explained, 0.0, ranked.score);
            self.ranked.push(ranked);
        }
        self.candidates = self.candidates.max(self.ranked.len());
        self.embed_ms += embed_ms;
        self.rank_ms += rank_ms;
        self.ranked.sort_by(Ranked::by_score);
    }

    /// Adds what to ask instead to an answer of low confidence.
    pub(crate) fn suggest(&self, answer: &mut Answer) -> Result<()> {
        if answer.confidence != Confidence::Low {
            return Ok(());
        }
        let begun = Instant::now();
        answer.suggestions = suggest::suggestions(&self.groups, SUGGESTIONS)?;
        if answer.suggestions.is_empty() {
            answer.suggestions = suggest::topics(&self.groups, SUGGESTIONS)?;
        }
        let taken = begun.elapsed().as_secs_f64() * 1000.0;
        answer.timings.insert("suggest_ms".to_owned(), taken);
        *answer.timings.entry("total_ms".to_owned()).or_default() += taken;
        Ok(())
    }

    /// Chooses the sections that are shown, in order.
    fn choose(&mut self, config: &SearchConfig, shown: Shown) -> Result<Vec<Presented>> {
        let most = match shown {
            Shown::Rows => 0,
            Shown::Sections => SECTION_MATCHES,
        };
        let (first, lead) = lead(&self.ranked);
        let mut sections: Vec<(usize, Presented)> = Vec::new();
        for ranked in std::mem::take(&mut self.ranked) {
            let document = ranked.document.document;
            let steps = self.steps.remove(&document);
            let mut of_document = presented(ranked, config.wanted(), most, steps);
            if Some(document) == first {
                of_document[0].lead = lead;
            }
            sections.extend(of_document.into_iter().enumerate());
        }
        sections.sort_by(|(a_place, a), (b_place, b)| {
            b.score
                .total_cmp(&a.score)
                .then(a_place.cmp(b_place))
                .then(a.chunk.cmp(&b.chunk))
        });
        let vectors = match config.dedup {
            Dedup::Similar => self.vectors(
                sections
                    .iter()
                    .take(COMPARED * config.wanted())
                    .map(|(_, found)| found.chunk),
            )?,
            Dedup::Document | Dedup::None => Map::default(),
        };
        let dedup = Deduplication {
            mode: config.dedup,
            max_similarity: config.dedup_similarity,
            limit: config.wanted(),
        };
        let chosen = dedup.choose(
            sections.into_iter().map(|(_, section)| section),
            |section| section.chunk.document,
            |a, b| Some(cosine(vectors.get(&a.chunk)?, vectors.get(&b.chunk)?)),
        );
        let chosen = chosen.into_iter().map(|kept| Presented {
            additional: kept.additional,
            ..kept.chunk
        });
        let (mut chosen, notice) =
            above_threshold(chosen.collect(), config.min_score, |section: &Presented| section.score);
        self.notices.extend(notice);
        chosen.drain(..config.offset.min(chosen.len()));
        Ok(chosen)
    }

    fn vectors(&self, chunks: impl Iterator<Item = ChunkId>) -> Result<Map<ChunkId, Vec<f32>>> {
        let chunks: Vec<ChunkId> = chunks.collect();
        let _owner = AsOwner::enter()?;
        let mut vectors = Map::default();
        for group in &self.groups {
            let own = chunks.iter().filter(|id| group.projects.contains(id.document.project));
            let own: Vec<ChunkId> = own.copied().collect();
            if !VectorTable::exists(group.model) {
                continue;
            }
            vectors.extend(VectorTable::of(group.model)?.vectors(&own)?);
        }
        Ok(vectors)
    }
}

/// The document with the greatest score, and how far that lies above the next one.
fn lead(ranked: &[Ranked]) -> (Option<DocumentId>, f32) {
    let mut best: Option<&Ranked> = None;
    let mut next: Option<f32> = None;
    for ranked in ranked {
        match best {
            Some(known) if known.score >= ranked.score => {
                next = Some(next.map_or(ranked.score, |next| next.max(ranked.score)));
            }
            _ => {
                next = best.map(|known| known.score);
                best = Some(ranked);
            }
        }
    }
    let lead = best.zip(next).map_or(0.0, |(best, next)| best.score - next);
    (best.map(|best| best.document.document), lead)
}

/// The query's vector; without a model the search goes on with keywords, and says so.
fn embed(group: &Group<'_>, notices: &mut Vec<Notice>) -> Result<Option<Vec<f32>>> {
    if !VectorTable::exists(group.model) {
        let reason = format!("the vectors of model \"{}\" are missing", group.model.name);
        notices.push(Notice::vector_unavailable(&reason));
        return Ok(None);
    }
    let embedded = model::of_row(group.model).and_then(|model| {
        model
            .embed_query(&group.understanding.embedded())
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
                format!("model \"{}\" cannot be used", group.model.name)
            };
            notices.push(Notice::vector_unavailable(&reason));
            Ok(None)
        }
    }
}

/// The sections of a document that may become results, best first.
fn presented(ranked: Ranked, wanted: usize, most: usize, steps: Option<Vec<Step>>) -> Vec<Presented> {
    let Ranked { mut document, score } = ranked;
    // Who asks for a page by its name is shown its beginning, not where the name stands most often.
    if score > EVIDENCE_CEILING
        && let Some(summary) = document.chunks.iter().position(|chunk| chunk.id.chunk == 0)
    {
        document.chunks[..=summary].rotate_right(1);
    }
    let best = document.chunks.first();
    let best_base = best.map_or(0.0, |best| best.base);
    let section_score = |chunk: &ScoredChunk| {
        // A section never stands before its document's best one.
        let share = if best_base > 0.0 { chunk.base / best_base } else { 0.0 };
        (score * share).min(score)
    };
    let enough = best_base * SECTION_SHARE;
    let matching = document.chunks.iter().take_while(|chunk| chunk.base >= enough);
    let first = Presented {
        chunk: ChunkId {
            document: document.document,
            chunk: best.map_or(0, |best| best.id.chunk),
        },
        score,
        similarity: document.similarity,
        keyword_score: document.lexical,
        lead: 0.0,
        additional: false,
        sections: matching
            .take(most)
            .map(|chunk| (chunk.id, section_score(chunk)))
            .collect(),
        steps,
    };
    let rest = document.chunks.iter().skip(1).take(wanted).map(|chunk| Presented {
        chunk: chunk.id,
        score: section_score(chunk),
        similarity: chunk.similarity,
        keyword_score: chunk.lexical,
        lead: 0.0,
        additional: false,
        sections: Vec::new(),
        steps: None,
    });
    std::iter::once(first).chain(rest).collect()
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

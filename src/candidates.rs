//! The legs of a search in one project, brought together: every candidate gets all of its scores,
//! whichever leg found it, and only documents that the caller may see are ranked.

use std::collections::{HashMap, HashSet};

use docsearch_core::filter::Filter;
use docsearch_core::name;
use docsearch_core::query::{Query, Term};
use docsearch_core::rank::{self, ChunkId, Evidence, ScoredDocument, Weights, chunk_lexical};
use pgrx::JsonB;
use pgrx::datum::DatumWithOid;

use crate::config::SearchConfig;
use crate::lexical::Lexical;
use crate::model::ModelRow;
use crate::names::{self, NameMatch};
use crate::owner::AsOwner;
use crate::project::Project;
use crate::report::Result;
use crate::statement;
use crate::statistics::Totals;
use crate::vectors::{Method, VectorTable};

/// Up to so many documents a filter is turned into a list for the legs; beyond, they find more
/// candidates and what does not match is dropped.
const MAX_LISTED: i64 = 10_000;

/// What a search looks for, the same in every project.
pub(crate) struct Search<'a> {
    pub(crate) query: &'a Query,
    pub(crate) category: Option<&'a str>,
    pub(crate) filter: &'a Filter,
    pub(crate) config: &'a SearchConfig,
}

/// A candidate document as far as ranking has to know it.
struct Visible {
    title: String,
    words: f32,
    in_container: bool,
}

impl Search<'_> {
    /// Ranks the documents of one project. `embedding` is the query's vector, if there is one.
    pub(crate) fn rank(
        &self,
        project: &Project,
        terms: &[Term],
        embedding: Option<&[f32]>,
    ) -> Result<Vec<ScoredDocument>> {
        let model = project.model()?;
        let weights = Weights {
            background: model.background,
            ..self.config.weights
        };
        let restricted = self.is_restricted()?;
        let listed = if restricted {
            self.listed_documents(project)?
        } else {
            None
        };
        if listed.as_ref().is_some_and(Vec::is_empty) {
            return Ok(Vec::new());
        }
        let mut window = self.config.candidates;
        let mut budget = self.config.keyword_budget;
        let totals = {
            let _owner = AsOwner::enter()?;
            Totals::read(project.id)?
        };
        loop {
            let mut legs = self.run_legs(
                project,
                &model,
                terms,
                embedding,
                listed.as_deref(),
                (window, budget),
                totals,
            )?;
            let visible = self.visible(project, &legs.evidence, &legs.names)?;
            let enough = visible.len() >= self.config.wanted();
            if restricted && listed.is_none() && !enough && (window as f64) < totals.chunks {
                window = window.saturating_mul(8);
                budget = budget.saturating_mul(8);
                continue;
            }
            legs.keep(&visible, self.query);
            return Ok(rank::rank(&legs.evidence, &legs.corpus, &weights));
        }
    }

    /// Whether some documents may be out of the caller's sight or the filter's reach.
    fn is_restricted(&self) -> Result<bool> {
        if self.category.is_some() || !self.filter.is_empty() {
            return Ok(true);
        }
        row_security_active()
    }

    /// The documents that may be found, if they are few enough to be listed. Runs as the caller.
    fn listed_documents(&self, project: &Project) -> Result<Option<Vec<i64>>> {
        let documents = statement::rows(
            "SELECT d.id FROM docsearch.document d
             WHERE d.project_id = $1
               AND ($2::text IS NULL OR d.category = $2 OR starts_with(d.category, $2 || '/'))
               AND ($3::text IS NULL OR d.metadata @@ $3::jsonpath)
               AND ($4::text IS NULL OR jsonb_build_object('category', d.category, 'version', d.version,
                                                           'kind', d.kind) @@ $4::jsonpath)
               AND ($5::text IS NULL OR d.published_at >= $5::timestamptz)
               AND ($6::text IS NULL OR d.published_at <= $6::timestamptz)
             LIMIT $7",
            &[
                DatumWithOid::from(project.id),
                DatumWithOid::from(self.category),
                DatumWithOid::from(self.filter.metadata.as_deref()),
                DatumWithOid::from(self.filter.fields.as_deref()),
                DatumWithOid::from(self.filter.after.as_deref()),
                DatumWithOid::from(self.filter.before.as_deref()),
                DatumWithOid::from(MAX_LISTED + 1),
            ],
            |row| row.required::<i64>(1),
        )?;
        let few = i64::try_from(documents.len()).is_ok_and(|count| count <= MAX_LISTED);
        Ok(few.then_some(documents))
    }

    #[allow(clippy::too_many_arguments)]
    fn run_legs(
        &self,
        project: &Project,
        model: &ModelRow,
        terms: &[Term],
        embedding: Option<&[f32]>,
        documents: Option<&[i64]>,
        (window, budget): (i64, i64),
        totals: Totals,
    ) -> Result<Legs> {
        let _owner = AsOwner::enter()?;
        let lexical = Lexical::prepare(project.id, totals, terms)?;
        let mut names = names::matches(project.id, self.query)?;
        if let Some(documents) = documents {
            let listed: HashSet<&i64> = documents.iter().collect();
            names.retain(|document, _| listed.contains(document));
        }
        let budget = if documents.is_some() {
            budget.max(totals.chunks as i64)
        } else {
            budget
        };
        let mut evidence = Evidence {
            terms: lexical.candidates(budget, documents)?,
            ..Evidence::default()
        };
        let best = keep_best(&mut evidence, &lexical, &self.config.weights, window);
        let summaries = names.keys().map(|&document| ChunkId { document, chunk: 0 });
        if let Some(embedding) = embedding {
            let vectors = VectorTable::of(model)?;
            let few = totals.chunks <= self.config.exact_search_limit as f64;
            let method = if few || documents.is_some() {
                Method::Exact
            } else {
                Method::Index
            };
            evidence.similarity = vectors.nearest(project.id, embedding, window, documents, method)?;
            let wanted: HashSet<ChunkId> = best.into_iter().chain(summaries.clone()).collect();
            let unscored: Vec<ChunkId> = wanted
                .into_iter()
                .filter(|id| !evidence.similarity.contains_key(id))
                .collect();
            evidence
                .similarity
                .extend(vectors.of_chunks(project.id, embedding, &unscored)?);
        }
        let unread: Vec<ChunkId> = evidence
            .similarity
            .keys()
            .copied()
            .chain(summaries)
            .filter(|id| !evidence.terms.contains_key(id))
            .collect();
        evidence.terms.extend(lexical.of_chunks(&unread)?);
        Ok(Legs {
            evidence,
            names,
            corpus: lexical.corpus,
        })
    }

    /// The candidates that the caller sees and the filter lets through. Runs as the caller.
    fn visible(
        &self,
        project: &Project,
        evidence: &Evidence,
        names: &HashMap<i64, NameMatch>,
    ) -> Result<HashMap<i64, Visible>> {
        let documents: HashSet<i64> = evidence
            .similarity
            .keys()
            .chain(evidence.terms.keys())
            .map(|id| id.document)
            .chain(names.keys().copied())
            .collect();
        let container = self.query.container.as_deref().map(name::key).unwrap_or_default();
        let rows = statement::rows(
            "SELECT d.id, d.title, d.term_count, d.slug, d.category,
                    CASE WHEN $3 AND d.id = ANY ($4) THEN d.metadata END
             FROM docsearch.document d
             WHERE d.project_id = $1 AND d.id = ANY ($2)
               AND ($5::text IS NULL OR d.category = $5 OR starts_with(d.category, $5 || '/'))
               AND ($6::text IS NULL OR d.metadata @@ $6::jsonpath)
               AND ($7::text IS NULL OR jsonb_build_object('category', d.category, 'version', d.version,
                                                           'kind', d.kind) @@ $7::jsonpath)
               AND ($8::text IS NULL OR d.published_at >= $8::timestamptz)
               AND ($9::text IS NULL OR d.published_at <= $9::timestamptz)",
            &[
                DatumWithOid::from(project.id),
                DatumWithOid::from(documents.into_iter().collect::<Vec<i64>>()),
                DatumWithOid::from(!container.is_empty()),
                DatumWithOid::from(names.keys().copied().collect::<Vec<i64>>()),
                DatumWithOid::from(self.category),
                DatumWithOid::from(self.filter.metadata.as_deref()),
                DatumWithOid::from(self.filter.fields.as_deref()),
                DatumWithOid::from(self.filter.after.as_deref()),
                DatumWithOid::from(self.filter.before.as_deref()),
            ],
            |row| {
                let slug: String = row.required(4)?;
                let category: Option<String> = row.optional(5)?;
                let metadata: Option<JsonB> = row.optional(6)?;
                let in_container = !container.is_empty()
                    && name::is_inside(
                        &container,
                        [project.name.as_str(), category.as_deref().unwrap_or_default()],
                        &slug,
                        metadata.as_ref().map(|metadata| &metadata.0),
                    );
                let visible = Visible {
                    title: row.required(2)?,
                    words: row.required::<i32>(3)? as f32,
                    in_container,
                };
                Ok((row.required::<i64>(1)?, visible))
            },
        )?;
        Ok(rows.into_iter().collect())
    }
}

/// What the legs found in one project.
struct Legs {
    evidence: Evidence,
    names: HashMap<i64, NameMatch>,
    corpus: rank::Corpus,
}

impl Legs {
    /// Drops what the caller does not see, and turns matches of names into strengths.
    fn keep(&mut self, visible: &HashMap<i64, Visible>, query: &Query) {
        self.evidence
            .similarity
            .retain(|id, _| visible.contains_key(&id.document));
        self.evidence.terms.retain(|id, _| visible.contains_key(&id.document));
        self.evidence.document_length = visible.iter().map(|(&id, document)| (id, document.words)).collect();
        self.evidence.names = self
            .names
            .iter()
            .filter_map(|(id, found)| {
                let document = visible.get(id)?;
                Some((*id, found.strength(query, &document.title, document.in_container)))
            })
            .collect();
    }
}

/// Keeps the documents with the best sections, at most `window`, with all their sections that were
/// read, and returns the best section of each.
fn keep_best(evidence: &mut Evidence, lexical: &Lexical<'_>, weights: &Weights, window: i64) -> Vec<ChunkId> {
    let mut best: HashMap<i64, (f32, ChunkId)> = HashMap::new();
    for (&id, terms) in &evidence.terms {
        let score = chunk_lexical(terms, &lexical.corpus, &weights.bm25);
        let known = best.entry(id.document).or_insert((score, id));
        if (score, known.1) > (known.0, id) {
            *known = (score, id);
        }
    }
    let mut order: Vec<(f32, ChunkId)> = best.into_values().collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    order.truncate(usize::try_from(window).unwrap_or(usize::MAX));
    let kept: HashSet<i64> = order.iter().map(|(_, id)| id.document).collect();
    evidence.terms.retain(|id, _| kept.contains(&id.document));
    order.into_iter().map(|(_, id)| id).collect()
}

fn row_security_active() -> Result<bool> {
    let active = statement::one(
        "SELECT row_security_active('docsearch.document'::regclass)",
        &[],
        |row| row.required(1),
    )?;
    Ok(active.unwrap_or(true))
}

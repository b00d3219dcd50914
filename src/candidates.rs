//! The legs of a search in one project, brought together: every candidate gets all of its scores,
//! whichever leg found it, and only documents that the caller may see are ranked.

use docsearch_core::filter::Filter;
use docsearch_core::name;
use docsearch_core::query::{Query, Term};
use docsearch_core::rank::{self, ChunkId, Evidence, Map, ScoredDocument, Set, Weights, chunk_lexical};
use pgrx::JsonB;
use pgrx::datum::DatumWithOid;

use crate::catalog;
use crate::config::SearchConfig;
use crate::lexical::Lexical;
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

/// Where a search may find documents.
enum Scope {
    /// Everywhere: the caller sees all documents, and there is no filter.
    Everywhere,
    /// Among these.
    Listed(Vec<i64>),
    /// There are too many to list: what was found is checked.
    Checked,
}

impl Scope {
    fn listed(&self) -> Option<&[i64]> {
        match self {
            Self::Listed(documents) => Some(documents),
            Self::Everywhere | Self::Checked => None,
        }
    }
}

/// What a filter and a category ask of a document `d`, with the parameters of
/// [`Search::conditions`].
const CONDITIONS: &str = "d.project_id = $1
    AND ($2::text IS NULL OR d.category = $2 OR starts_with(d.category, $2 || '/'))
    AND ($3::text IS NULL OR d.metadata @@ $3::jsonpath)
    AND ($4::text IS NULL OR jsonb_build_object('category', d.category, 'version', d.version,
                                                'kind', d.kind) @@ $4::jsonpath)
    AND ($5::text IS NULL OR d.published_at >= $5::timestamptz)
    AND ($6::text IS NULL OR d.published_at <= $6::timestamptz)";

impl Search<'_> {
    /// Ranks the documents of one project. `embedding` is the query's vector, if there is one.
    pub(crate) fn rank(
        &self,
        project: &Project,
        terms: &[Term],
        embedding: Option<&[f32]>,
    ) -> Result<Vec<ScoredDocument>> {
        let scope = self.scope(project)?;
        if scope.listed().is_some_and(<[i64]>::is_empty) {
            return Ok(Vec::new());
        }
        let mut window = self.config.candidates;
        let mut budget = self.config.keyword_budget;
        let totals = {
            let _owner = AsOwner::enter()?;
            Totals::read(project.id)?
        };
        loop {
            let mut legs = self.run_legs(project, terms, embedding, &scope, (window, budget), totals)?;
            if matches!(scope, Scope::Checked) {
                let visible = self.visible(project, legs.documents())?;
                if visible.len() < self.config.wanted() && (window as f64) < totals.chunks {
                    window = window.saturating_mul(8);
                    budget = budget.saturating_mul(8);
                    continue;
                }
                legs.keep(&visible);
            }
            legs.evidence.names = self.name_strengths(project, &legs.names)?;
            return Ok(rank::rank(&legs.evidence, &legs.corpus, &legs.weights));
        }
    }

    /// Runs as the caller, whose policies count.
    fn scope(&self, project: &Project) -> Result<Scope> {
        let table = catalog::table(c"document").ok_or_else(crate::owner::no_tables)?;
        let filtered = self.category.is_some() || !self.filter.is_empty();
        if !filtered && !catalog::row_security_active(table) {
            return Ok(Scope::Everywhere);
        }
        let mut args = self.conditions(project);
        args.push(DatumWithOid::from(MAX_LISTED + 1));
        let documents = statement::rows(
            &format!("SELECT d.id FROM docsearch.document d WHERE {CONDITIONS} LIMIT $7"),
            &args,
            |row| row.required::<i64>(1),
        )?;
        let few = i64::try_from(documents.len()).is_ok_and(|count| count <= MAX_LISTED);
        Ok(if few { Scope::Listed(documents) } else { Scope::Checked })
    }

    /// The parameters of [`CONDITIONS`].
    fn conditions(&self, project: &Project) -> Vec<DatumWithOid<'_>> {
        vec![
            DatumWithOid::from(project.id),
            DatumWithOid::from(self.category),
            DatumWithOid::from(self.filter.metadata.as_deref()),
            DatumWithOid::from(self.filter.fields.as_deref()),
            DatumWithOid::from(self.filter.after.as_deref()),
            DatumWithOid::from(self.filter.before.as_deref()),
        ]
    }

    fn run_legs(
        &self,
        project: &Project,
        terms: &[Term],
        embedding: Option<&[f32]>,
        scope: &Scope,
        (window, budget): (i64, i64),
        totals: Totals,
    ) -> Result<Legs> {
        let documents = scope.listed();
        // Of what is checked afterwards, any candidate may be needed.
        let places = match scope {
            Scope::Checked => usize::MAX,
            Scope::Everywhere | Scope::Listed(_) => self.config.wanted(),
        };
        let _owner = AsOwner::enter()?;
        let lexical = Lexical::prepare(project.id, totals, terms)?;
        let mut names = names::matches(project.id, self.query)?;
        if let Some(documents) = documents {
            let listed: Set<&i64> = documents.iter().collect();
            names.retain(|document, _| listed.contains(document));
        }
        let mut evidence = Evidence {
            terms: lexical.candidates(budget, documents)?,
            ..Evidence::default()
        };
        let weights = Weights {
            background: project.model.background,
            ..self.config.weights
        };
        let best = keep_best(&mut evidence, &lexical, &weights, window);
        let summaries: Vec<ChunkId> = names.keys().map(|&document| ChunkId { document, chunk: 0 }).collect();
        let vectors = VectorTable::of(&project.model)?;
        if let Some(embedding) = embedding {
            let few = totals.chunks <= self.config.exact_search_limit as f64;
            let method = if few || documents.is_some() {
                Method::Exact
            } else {
                Method::Index
            };
            let limit = self.config.nearest(window, best.len());
            evidence.similarity = vectors.nearest(project.id, embedding, limit, documents, method)?;
        }
        let unread: Vec<ChunkId> = evidence
            .similarity
            .keys()
            .chain(&summaries)
            .copied()
            .filter(|id| !evidence.terms.contains_key(id))
            .collect();
        evidence.terms.extend(lexical.of_chunks(&unread)?);
        if let Some(embedding) = embedding {
            let mut contenders = rank::contenders(&evidence, &lexical.corpus, &weights, places);
            contenders.extend(names.keys());
            evidence.retain(&contenders);
            let wanted: Set<ChunkId> = best
                .into_iter()
                .filter(|id| contenders.contains(&id.document))
                .chain(summaries)
                .filter(|id| !evidence.similarity.contains_key(id))
                .collect();
            let wanted: Vec<ChunkId> = wanted.into_iter().collect();
            evidence
                .similarity
                .extend(vectors.of_chunks(project.id, embedding, &wanted)?);
        }
        Ok(Legs {
            evidence,
            names,
            corpus: lexical.corpus,
            weights,
        })
    }

    /// Those of the documents that the caller sees and the filter lets through. Runs as the caller.
    fn visible(&self, project: &Project, documents: Set<i64>) -> Result<Set<i64>> {
        let mut args = self.conditions(project);
        args.push(DatumWithOid::from(documents.into_iter().collect::<Vec<i64>>()));
        let visible = statement::rows(
            &format!("SELECT d.id FROM docsearch.document d WHERE {CONDITIONS} AND d.id = ANY ($7)"),
            &args,
            |row| row.required::<i64>(1),
        )?;
        Ok(visible.into_iter().collect())
    }

    /// Turns matches of names into strengths. Runs as the caller.
    fn name_strengths(&self, project: &Project, names: &Map<i64, NameMatch>) -> Result<Map<i64, f32>> {
        if names.is_empty() {
            return Ok(Map::default());
        }
        let container = self.query.container.as_deref().map(name::key).unwrap_or_default();
        let strengths = statement::rows(
            "SELECT d.id, d.title, d.slug, d.category, CASE WHEN $3 THEN d.metadata END
             FROM docsearch.document d WHERE d.project_id = $1 AND d.id = ANY ($2)",
            &[
                DatumWithOid::from(project.id),
                DatumWithOid::from(names.keys().copied().collect::<Vec<i64>>()),
                DatumWithOid::from(!container.is_empty()),
            ],
            |row| {
                let id: i64 = row.required(1)?;
                let title: String = row.required(2)?;
                let slug: String = row.required(3)?;
                let category: Option<String> = row.optional(4)?;
                let metadata: Option<JsonB> = row.optional(5)?;
                let in_container = !container.is_empty()
                    && name::is_inside(
                        &container,
                        [project.name.as_str(), category.as_deref().unwrap_or_default()],
                        &slug,
                        metadata.as_ref().map(|metadata| &metadata.0),
                    );
                let found = names.get(&id);
                Ok(found.map(|found| (id, found.strength(self.query, &title, in_container))))
            },
        )?;
        Ok(strengths.into_iter().flatten().collect())
    }
}

/// What the legs found in one project.
struct Legs {
    evidence: Evidence,
    names: Map<i64, NameMatch>,
    corpus: rank::Corpus,
    weights: Weights,
}

impl Legs {
    /// Every document that a leg found.
    fn documents(&self) -> Set<i64> {
        let similar = self.evidence.similarity.keys();
        let chunks = similar.chain(self.evidence.terms.keys()).map(|id| id.document);
        chunks.chain(self.names.keys().copied()).collect()
    }

    /// Drops what the caller does not see.
    fn keep(&mut self, visible: &Set<i64>) {
        self.evidence.retain(visible);
        self.names.retain(|document, _| visible.contains(document));
    }
}

/// Keeps the documents with the best sections, at most `window`, with all their sections that were
/// read, and returns the best section of each.
fn keep_best(evidence: &mut Evidence, lexical: &Lexical<'_>, weights: &Weights, window: i64) -> Vec<ChunkId> {
    let mut best: Map<i64, (f32, ChunkId)> = Map::default();
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
    let kept: Set<i64> = order.iter().map(|(_, id)| id.document).collect();
    evidence.terms.retain(|id, _| kept.contains(&id.document));
    order.into_iter().map(|(_, id)| id).collect()
}

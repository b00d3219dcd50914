//! The legs of a search, brought together: every candidate gets all of its scores, whichever leg found
//! it, and only documents that the caller may see are ranked.

use docsearch_core::definition::MAX_BEARERS as MAX_DEFINING;
use docsearch_core::filter::Filter;
use docsearch_core::rank::{self, ChunkId, Corpora, DocumentId, Evidence, Map, Set, Weights, chunk_lexical};
use docsearch_core::rerank::{Page, Ranked, Reranker, mark_older_versions};
use docsearch_core::score::{DESCRIPTION_BYTES, Step, phrase_strength};
use docsearch_core::understanding::NameRole;
use docsearch_core::version::{Versioned, superseded};
use pgrx::datum::DatumWithOid;

use crate::config::SearchConfig;
use crate::group::Group;
use crate::jsonb::StoredJson;
use crate::lexical::{Lexical, MAX_HOLDING};
use crate::names::{self, NameMatch};
use crate::owner::AsOwner;
use crate::report::Result;
use crate::sight::MAX_LISTED;
use crate::statement;
use crate::statistics::Totals;
use crate::vectors::{Nearest, VectorTable};
use crate::vocabulary;

/// What a search looks for, the same in every project.
pub(crate) struct Search<'a> {
    pub(crate) category: Option<&'a str>,
    pub(crate) filter: &'a Filter,
    pub(crate) config: &'a SearchConfig,
    /// How many of the best documents are explained.
    pub(crate) explained: usize,
    /// A document to rank and explain even if no leg finds it.
    pub(crate) focus: Option<DocumentId>,
}

/// What a search found in a group of projects.
#[derive(Default)]
pub(crate) struct Found {
    /// Documents, best first.
    pub(crate) ranked: Vec<Ranked>,
    /// How the best of them came to their scores.
    pub(crate) steps: Map<DocumentId, Vec<Step>>,
    /// Number of candidates that the caller sees.
    pub(crate) candidates: usize,
}

/// Where a search may find documents.
enum Scope {
    /// Everywhere: the caller sees all documents, and there is no filter.
    Everywhere,
    /// Among these.
    Listed(Set<DocumentId>),
    /// There are too many to list: what was found is checked.
    Checked,
}

impl Scope {
    fn listed(&self) -> Option<Vec<i64>> {
        match self {
            Self::Listed(documents) => Some(documents.iter().map(|id| id.document).collect()),
            Self::Everywhere | Self::Checked => None,
        }
    }
}

/// What a filter and a category ask of a document `d`, with the parameters of
/// [`Search::conditions`].
const CONDITIONS: &str = "($2::text IS NULL OR d.category = $2 OR starts_with(d.category, $2 || '/'))
    AND ($3::text IS NULL OR d.metadata @@ $3::jsonpath)
    AND ($4::text IS NULL OR jsonb_build_object('category', d.category, 'version', d.version,
                                                'kind', d.kind) @@ $4::jsonpath)
    AND ($5::text IS NULL OR d.published_at >= $5::timestamptz)
    AND ($6::text IS NULL OR d.published_at <= $6::timestamptz)
    AND ($7::bigint[] IS NULL OR d.id NOT IN (SELECT unnest($7)))";

impl Search<'_> {
    /// Ranks the documents of a group of projects. `embedding` is the query's vector, if there is one.
    pub(crate) fn rank(&self, group: &mut Group<'_>, embedding: Option<&[f32]>) -> Result<Found> {
        let superseded = self.superseded(group)?;
        let scope = self.scope(group, superseded.as_deref())?;
        if matches!(&scope, Scope::Listed(documents) if documents.is_empty()) {
            return Ok(Found::default());
        }
        let mut window = self.config.candidates;
        let mut budget = self.config.keyword_budget;
        let totals = group.sight.totals(&group.projects)?;
        let lexemes = group
            .terms
            .iter()
            .flat_map(|term| term.looked_up().map(|(lexeme, _)| lexeme.to_owned()));
        let mut frequencies = group.sight.frequencies(&group.projects, lexemes.collect())?;
        vocabulary::correct(&group.sight, &group.projects, &mut group.terms, &mut frequencies)?;
        let group = &*group;
        let chunks = Totals::chunks(&totals);
        let lexical = Lexical::new(&group.projects, &totals, &group.terms, &frequencies);
        let mut weights = self.config.weights(group.understanding.class);
        weights.background = group.model.background;
        if embedding.is_none() {
            weights.hybrid = 0.0;
        }
        loop {
            let mut legs = self.run_legs(group, &lexical, embedding, &scope, &weights, (window, budget, chunks))?;
            let mut pages = self.pages(group, &legs, superseded.as_deref())?;
            let short = pages.len() < self.config.wanted() && (window as f64) < chunks;
            if matches!(scope, Scope::Checked) && short {
                window = window.saturating_mul(8);
                budget = budget.saturating_mul(8);
                continue;
            }
            let visible: Set<DocumentId> = pages.keys().copied().collect();
            legs.keep(&visible);
            legs.drop_common();
            mark_older_versions(&mut pages);
            let mut named = legs.lift(group, &mut pages);
            let reranker = Reranker::new(
                group.scorer(self.config).with_hybrid(weights.hybrid),
                &pages,
                weights.background,
            );
            if let Some(embedding) = embedding {
                let documents = rank::rank(&legs.evidence, named.iter().copied(), &lexical.corpora, &weights);
                let nearest = legs.evidence.similarity.values().copied().reduce(f32::max);
                let mut contenders = reranker.contenders(&documents, nearest, self.config.wanted());
                contenders.extend(self.focus.filter(|focus| pages.contains_key(focus)));
                named.retain(|id| contenders.contains(id));
                legs.evidence.retain(&contenders);
                let more = legs.unmeasured(&contenders);
                let _owner = AsOwner::enter()?;
                let similarity = legs.vectors.of_chunks(embedding, &more)?;
                legs.evidence.similarity.extend(similarity);
            }
            let documents = rank::rank(&legs.evidence, named, &lexical.corpora, &weights);
            let ranked = reranker.rerank(documents);
            let explained = ranked
                .iter()
                .enumerate()
                .filter(|(place, ranked)| *place < self.explained || self.focus == Some(ranked.document.document));
            let steps = explained.map(|(_, ranked)| (ranked.document.document, reranker.explain(&ranked.document)));
            return Ok(Found {
                steps: steps.collect(),
                ranked,
                candidates: pages.len(),
            });
        }
    }

    /// Runs as the caller, whose policies count.
    fn scope(&self, group: &Group<'_>, superseded: Option<&[i64]>) -> Result<Scope> {
        if self.category.is_none() && self.filter.is_empty() {
            match group.sight.listed() {
                Some(documents) => return Ok(Scope::Listed(documents.iter().copied().collect())),
                None if !group.sight.is_limited() => return Ok(Scope::Everywhere),
                None => {}
            }
        }
        let mut args = self.conditions(group.projects.argument(), superseded);
        args.push(DatumWithOid::from(MAX_LISTED + 1));
        let documents = statement::rows(
            &format!(
                "SELECT d.project_id, d.id FROM docsearch.document d WHERE {} AND {CONDITIONS} LIMIT $8",
                group.projects.condition("d")
            ),
            &args,
            statement::document_id,
        )?;
        let few = i64::try_from(documents.len()).is_ok_and(|count| count <= MAX_LISTED);
        Ok(if few {
            Scope::Listed(documents.into_iter().collect())
        } else {
            Scope::Checked
        })
    }

    /// The documents that are not the newest version of their page, if only those are wanted. Runs as the
    /// caller: a version that is hidden supersedes nothing.
    fn superseded(&self, group: &Group<'_>) -> Result<Option<Vec<i64>>> {
        if !self.filter.latest {
            return Ok(None);
        }
        let documents = statement::rows(
            &format!(
                "SELECT d.project_id, d.id, d.slug, d.version FROM docsearch.document d
                 WHERE {} AND d.version IS NOT NULL",
                group.projects.condition("d")
            ),
            &[group.projects.argument()],
            |row| {
                let document = statement::document_id(row)?;
                Ok((document, row.required::<String>(3)?, row.required::<String>(4)?))
            },
        )?;
        let versioned = documents.iter().map(|(document, slug, version)| Versioned {
            document: document.document,
            project: document.project,
            slug,
            version,
        });
        let older = superseded(&versioned.collect::<Vec<_>>()).into_iter();
        Ok(Some(older.map(|(document, _)| document).collect()))
    }

    /// The projects and the parameters of [`CONDITIONS`].
    fn conditions(&self, projects: DatumWithOid<'static>, superseded: Option<&[i64]>) -> Vec<DatumWithOid<'_>> {
        vec![
            projects,
            DatumWithOid::from(self.category),
            DatumWithOid::from(self.filter.metadata.as_deref()),
            DatumWithOid::from(self.filter.fields.as_deref()),
            DatumWithOid::from(self.filter.after.as_deref()),
            DatumWithOid::from(self.filter.before.as_deref()),
            DatumWithOid::from(superseded.map(<[i64]>::to_vec)),
        ]
    }

    fn run_legs(
        &self,
        group: &Group<'_>,
        lexical: &Lexical<'_>,
        embedding: Option<&[f32]>,
        scope: &Scope,
        weights: &Weights,
        (window, budget, chunks): (i64, i64, f64),
    ) -> Result<Legs> {
        let documents = scope.listed();
        let _owner = AsOwner::enter()?;
        let names = names::matches(&group.projects, &group.forms, &group.sight)?;
        let near = match group.typed() {
            Some(typed) if lexical.lacks_a_word && !names::any_asked(&names, &group.forms) => {
                names::near(&group.projects, &typed, &group.sight)?
            }
            _ => Set::default(),
        };
        let mut evidence = Evidence {
            terms: lexical.candidates(budget, documents.as_deref())?,
            ..Evidence::default()
        };
        let phrase = match group.phrase() {
            Some(phrase) => {
                let among = lexical.with_every_word(&evidence.terms, budget);
                lexical.holding(phrase, group.text_config, among, &group.sight)?
            }
            None => Set::default(),
        };
        let best = keep_best(&mut evidence, &lexical.corpora, weights, window);
        let vectors = VectorTable::of(group.model)?;
        if let Some(embedding) = embedding {
            let nearest = Nearest {
                projects: &group.projects,
                query: embedding,
                limit: self.config.nearest(weights.hybrid, window, best.len()),
                documents: documents.as_deref(),
                sections: chunks as i64,
            };
            evidence.similarity = vectors.nearest(nearest, self.config.exact_search_limit)?;
        }
        let defining = names::defining(&group.projects, &group.forms, &group.sight)?;
        let mut legs = Legs {
            evidence,
            best,
            names,
            near,
            defining,
            phrase,
            focus: None,
            vectors,
        };
        if let Scope::Listed(documents) = scope {
            legs.keep(documents);
        }
        if let Some(focus) = self.focus.filter(|focus| !legs.documents().contains(focus)) {
            legs.focus = Some(focus);
        }
        let unread: Vec<ChunkId> = legs
            .evidence
            .similarity
            .keys()
            .copied()
            .chain(legs.summaries())
            .filter(|id| !legs.evidence.terms.contains_key(id))
            .collect();
        legs.evidence.terms.extend(lexical.of_chunks(&unread)?);
        if let Some(excluded) = &group.excluded {
            let without = lexical.without(&legs.documents(), excluded)?;
            legs.keep(&without);
        }
        Ok(legs)
    }

    /// The pages of what the legs found that the caller sees and the filter lets through. Runs as the
    /// caller.
    fn pages(&self, group: &Group<'_>, legs: &Legs, superseded: Option<&[i64]>) -> Result<Map<DocumentId, Page>> {
        let (projects, documents): (Vec<i64>, Vec<i64>) =
            legs.documents().into_iter().map(|id| (id.project, id.document)).unzip();
        let mut args = self.conditions(DatumWithOid::from(projects), superseded);
        args.push(DatumWithOid::from(documents));
        args.push(DatumWithOid::from(
            group.reads_descriptions().then_some(DESCRIPTION_BYTES as i32),
        ));
        args.push(DatumWithOid::from(group.reads_metadata()));
        args.push(DatumWithOid::from(group.understanding.recent));
        statement::lookup(
            &format!(
                "SELECT d.project_id, d.id, d.title, d.slug, d.category, left(d.summary, $9),
                        CASE WHEN $10 THEN d.metadata END,
                        CASE WHEN $11 AND isfinite(coalesce(d.published_at, d.updated_at))
                             THEN extract(epoch FROM now() - coalesce(d.published_at, d.updated_at)) / 86400 END::real,
                        d.version
                 FROM unnest($1::bigint[], $8::bigint[]) AS found(project_id, id)
                      JOIN docsearch.document d USING (project_id, id)
                 WHERE {CONDITIONS}"
            ),
            &args,
            |row| {
                let id = statement::document_id(row)?;
                let page = Page {
                    project: group.name_of(id.project),
                    title: row.required(3)?,
                    slug: row.required(4)?,
                    category: row.optional(5)?,
                    description: row.optional::<String>(6)?.unwrap_or_default(),
                    metadata: row.optional::<StoredJson>(7)?.map(|metadata| metadata.0),
                    age_days: row.optional(8)?,
                    version: row.optional(9)?,
                    ..Page::default()
                };
                Ok((id, page))
            },
        )
        .map(|pages| pages.into_iter().collect())
    }
}

/// What the legs found in a group of projects.
struct Legs {
    evidence: Evidence,
    /// The best section of each document that the keyword leg found.
    best: Vec<ChunkId>,
    names: Map<DocumentId, NameMatch>,
    /// Documents with a name that is near to the query.
    near: Set<DocumentId>,
    /// Documents with a section that defines a name that is asked for, and the place of its form.
    defining: Vec<(DocumentId, usize)>,
    /// Documents that hold the query word for word.
    phrase: Set<DocumentId>,
    /// A document that no leg found and that is ranked all the same.
    focus: Option<DocumentId>,
    vectors: VectorTable,
}

impl Legs {
    /// Every document that a leg found.
    fn documents(&self) -> Set<DocumentId> {
        let similar = self.evidence.similarity.keys();
        let chunks = similar.chain(self.evidence.terms.keys()).map(|id| id.document);
        chunks.chain(self.bearers()).collect()
    }

    /// Documents that are candidates whatever their sections say.
    fn bearers(&self) -> Set<DocumentId> {
        let defining = self.defining.iter().map(|(document, _)| document);
        let found = self.names.keys().chain(&self.near).chain(&self.phrase).chain(defining);
        found.copied().chain(self.focus).collect()
    }

    /// The first sections of documents that were found by a name.
    fn summaries(&self) -> impl Iterator<Item = ChunkId> {
        self.bearers()
            .into_iter()
            .map(|document| ChunkId { document, chunk: 0 })
    }

    /// Drops other documents than these.
    fn keep(&mut self, documents: &Set<DocumentId>) {
        self.evidence.retain(documents);
        self.best.retain(|id| documents.contains(&id.document));
        self.names.retain(|document, _| documents.contains(document));
        self.near.retain(|document| documents.contains(document));
        self.defining.retain(|(document, _)| documents.contains(document));
        self.phrase.retain(|document| documents.contains(document));
        self.focus = self.focus.filter(|document| documents.contains(document));
    }

    /// Drops what more than a few of the documents hold or define, which tells nothing.
    fn drop_common(&mut self) {
        if self.phrase.len() as i64 > MAX_HOLDING {
            self.phrase.clear();
        }
        let bearers = self.bearers_of_forms();
        let few = |id: &DocumentId, form: usize| bearers[&(id.project, form)] <= MAX_DEFINING;
        self.defining.retain(|(id, form)| few(id, *form));
    }

    /// How many documents of a project define each form.
    fn bearers_of_forms(&self) -> Map<(i64, usize), usize> {
        let mut bearers: Map<(i64, usize), usize> = Map::default();
        for (document, form) in &self.defining {
            *bearers.entry((document.project, *form)).or_default() += 1;
        }
        bearers
    }

    /// Sections of these documents whose similarity counts and is not known.
    fn unmeasured(&self, documents: &Set<DocumentId>) -> Vec<ChunkId> {
        let wanted: Set<ChunkId> = self
            .best
            .iter()
            .copied()
            .chain(self.summaries())
            .filter(|id| documents.contains(&id.document) && !self.evidence.similarity.contains_key(id))
            .collect();
        wanted.into_iter().collect()
    }

    /// Whether a document has one of these terms.
    fn describes(&self, document: DocumentId, terms: &[usize]) -> bool {
        let mut chunks = self.evidence.terms.iter().filter(|(id, _)| id.document == document);
        chunks.any(|(_, found)| terms.iter().any(|&term| found.frequencies[term].closeness > 0.0))
    }

    /// Lifts the pages that were found by a name or as a phrase, and returns them.
    fn lift(&self, group: &Group<'_>, pages: &mut Map<DocumentId, Page>) -> Vec<DocumentId> {
        let typed = group.typed().unwrap_or_default();
        let phrase = phrase_strength(self.phrase.len());
        let mut named = Vec::new();
        for document in self.bearers() {
            let Some(page) = pages.get_mut(&document) else {
                continue;
            };
            match self.names.get(&document) {
                Some(found) => {
                    let form = &group.forms[found.form];
                    if form.role != NameRole::Qualifier || self.describes(document, &group.members) {
                        page.bears(found.kind, form, &group.understanding, &group.containers);
                    }
                }
                None if self.near.contains(&document) => page.near_name = page.nearness(&typed),
                None => {}
            }
            if self.phrase.contains(&document) {
                page.phrase = phrase;
            }
            named.push(document);
        }
        self.lift_defining(group, pages);
        named
    }

    fn lift_defining(&self, group: &Group<'_>, pages: &mut Map<DocumentId, Page>) {
        let bearers = self.bearers_of_forms();
        for (document, form) in &self.defining {
            if let Some(page) = pages.get_mut(document) {
                let bearers = bearers[&(document.project, *form)];
                page.defines(&group.forms[*form], &group.understanding, &group.containers, bearers);
            }
        }
    }
}

/// Keeps the documents with the best sections, at most `window`, with all their sections that were
/// read, and returns the best section of each.
fn keep_best(evidence: &mut Evidence, corpora: &Corpora, weights: &Weights, window: i64) -> Vec<ChunkId> {
    let mut best: Map<DocumentId, (f32, ChunkId)> = Map::default();
    for (&id, terms) in &evidence.terms {
        let corpus = corpora.get(&id.document.project);
        let score = corpus.map_or(0.0, |corpus| chunk_lexical(terms, corpus, &weights.bm25));
        let known = best.entry(id.document).or_insert((score, id));
        if (score, known.1) > (known.0, id) {
            *known = (score, id);
        }
    }
    let mut order: Vec<(f32, ChunkId)> = best.into_values().collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    order.truncate(usize::try_from(window).unwrap_or(usize::MAX));
    let kept: Set<DocumentId> = order.iter().map(|(_, id)| id.document).collect();
    evidence.terms.retain(|id, _| kept.contains(&id.document));
    order.into_iter().map(|(_, id)| id).collect()
}

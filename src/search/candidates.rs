//! Runs the retrievers and ranks what they find: every candidate gets all scores, whichever retriever found it. Only
//! visible documents are candidates.

use std::borrow::Cow;
use std::time::Instant;

use docsearch_core::answer::delivery::Dedup;
use docsearch_core::query::understanding::NameRole;
use docsearch_core::ranking::copies::Copies;
use docsearch_core::ranking::fusion::RankedDocuments;
use docsearch_core::ranking::page::Page;
use docsearch_core::ranking::rank::{self, Evidence, ScoredDocument};
use docsearch_core::ranking::rerank::{Reranker, mark_older_versions};
use docsearch_core::ranking::retrievers::{RetrieverResults, retain_best};
use docsearch_core::ranking::score::Needs;
use docsearch_core::values::id::{ChunkId, DocumentId, Map, Set};

use crate::postgres::report::Result;
use crate::postgres::role::{Caller, Role};
use crate::search::basis::{Basis, GroupQuery, Limits, Scope, Search};
use crate::search::exclusion::exclude;
use crate::search::group::Group;
use crate::search::lexical::{KeywordLimits, KeywordRetriever};
use crate::search::query_vector::Embeddings;
use crate::search::retrieval::milliseconds;
use crate::search::section;
use crate::tables::names;
use crate::tables::vectors::Nearest;
use crate::tables::visibility::Visibility;

/// The documents of a group of projects, ranked.
#[derive(Default)]
pub(crate) struct Ranking {
    pub(crate) found: RankedDocuments,
    /// Duration of the rules.
    pub(crate) rules_ms: f64,
    /// Visible documents whose words and vectors were compared.
    pub(crate) candidates: usize,
    /// Those that the rules scored.
    scored: usize,
    /// Whether the rules left out candidates that are unlikely to come first.
    has_unscored: bool,
    /// Visible documents that were too distant from the query.
    pub(crate) too_distant: usize,
    /// Excluded words that a candidate has.
    pub(crate) excluding: Vec<String>,
    /// Visible documents with one of [`Group::title_keys`]; `None` if there may be others.
    pub(crate) titled: Option<Set<DocumentId>>,
    /// What the query is about: indexes of its candidate names.
    subjects: Vec<(usize, NameRole)>,
}

impl Ranking {
    /// Whether wider limits can find more visible documents.
    fn has_more(&self, caller: &Caller, limits: Limits, visibility: &Visibility) -> Result<bool> {
        Ok(self.has_unscored || !limits.is_everything(caller, visibility)?)
    }
}

/// What the retrievers that need no vector found.
pub(super) struct WordResults {
    evidence: Evidence,
    /// The best section of each document.
    best: Vec<ChunkId>,
    near: Set<DocumentId>,
    phrase: Set<DocumentId>,
}

/// The candidates of a group of projects, ready to be scored.
pub(super) struct Candidates {
    pub(super) retrieved: RetrieverResults,
    /// Documents that are candidates even if none of their sections is.
    named: Vec<DocumentId>,
    /// Documents that were left out for their distance from the query.
    pub(super) too_distant: usize,
    /// What the query is about: indexes of its candidate names.
    pub(super) subjects: Vec<(usize, NameRole)>,
}

impl Candidates {
    /// Sections whose similarity counts but is unknown.
    pub(super) fn unmeasured_sections(&self) -> Vec<ChunkId> {
        self.retrieved.unmeasured_sections(&self.retrieved.documents())
    }

    /// Adds the similarity of sections.
    pub(super) fn add(&mut self, similarities: impl IntoIterator<Item = (ChunkId, f32)>) {
        let evidence = &mut self.retrieved.evidence;
        let nearest = evidence.similarity.values().copied().reduce(f32::max);
        evidence.measure(similarities, nearest);
    }
}

/// Documents to find at least where a filter checks the results: it may leave out all of the nearest.
const MIN_CHECKED_DOCUMENTS: usize = 20;

impl Search<'_> {
    /// Ranks the documents of a group of projects. Waits for the query's vector when it is needed.
    pub(super) fn rank(
        &self,
        caller: &mut Caller,
        group: &mut Group<'_>,
        embeddings: &mut Embeddings,
    ) -> Result<Ranking> {
        let Some(mut basis) = Basis::read(caller, self, group)? else {
            return Ok(Ranking::default());
        };
        let titled = basis.names.titled.take();
        let ranking = self.rank_group(caller, group, basis, embeddings)?;
        group.add_subjects(&ranking.subjects);
        Ok(Ranking { titled, ..ranking })
    }

    fn rank_group(
        &self,
        caller: &mut Caller,
        group: &Group<'_>,
        basis: Basis,
        embeddings: &mut Embeddings,
    ) -> Result<Ranking> {
        let lexical = basis.lexical(group);
        let keywords = KeywordRetriever::new(caller, &group.projects, &lexical)?;
        // The first limits do not depend on max_results: asking for more results must not change the first ones.
        let mut limits = basis.limits;
        let words = self.run_word_retrievers(caller, group, &basis, &keywords, limits)?;
        let embedding = embeddings.of(caller, group)?;
        let query = GroupQuery::new(group, &basis, &keywords, embedding.as_deref());
        let mut ranking = self.rank_with_limits(caller, &query, limits, words)?;
        while ranking.scored < self.min_documents(&basis.scope)
            && ranking.has_more(caller, limits, &group.visibility)?
        {
            limits = limits.widened();
            ranking = self.rank_wider(caller, &query, limits)?;
        }
        while ranking.scored < self.config.min_found() && ranking.has_more(caller, limits, &group.visibility)? {
            limits = limits.widened();
            let wider = self.rank_wider(caller, &query, limits)?;
            ranking.found.append(wider.found);
            ranking.rules_ms += wider.rules_ms;
            ranking.candidates = wider.candidates.max(ranking.found.ranked.len());
            ranking.scored = wider.scored.max(self.distinct(&ranking.found));
            ranking.has_unscored = wider.has_unscored;
            ranking.too_distant = wider.too_distant;
            ranking.excluding = wider.excluding;
        }
        Ok(ranking)
    }

    fn rank_wider(&self, caller: &mut Caller, query: &GroupQuery<'_>, limits: Limits) -> Result<Ranking> {
        let words = self.run_word_retrievers(caller, query.group, query.basis, query.keywords, limits)?;
        self.rank_with_limits(caller, query, limits, words)
    }

    /// Documents to find at least, even if fewer results are requested.
    fn min_documents(&self, scope: &Scope) -> usize {
        match scope {
            Scope::Checked => MIN_CHECKED_DOCUMENTS,
            Scope::Everywhere | Scope::Listed(_) => 0,
        }
    }

    /// Number of documents that are shown one by one.
    fn distinct(&self, found: &RankedDocuments) -> usize {
        match self.config.dedup {
            Dedup::None => found.ranked.len(),
            Dedup::Document | Dedup::Similar => found.distinct(),
        }
    }

    /// Ranks what the retrievers find within limits.
    fn rank_with_limits(
        &self,
        caller: &mut Caller,
        query: &GroupQuery<'_>,
        limits: Limits,
        words: WordResults,
    ) -> Result<Ranking> {
        let mut retrieved = self.run_retrievers(caller, query, limits, words)?;
        let left_out = self.retain_likely(query, &mut retrieved, limits, !query.group.excluded.is_empty());
        let mut pages = self.pages(caller, query, &retrieved.documents(), self.needs(query))?;
        let excluding = exclude(caller, &query.group.excluded, &mut pages)?;
        let mut candidates = self.prepare(query, retrieved, &mut pages);
        let begun = Instant::now();
        let reranker = self.reranker(query, &pages);
        let mut rules_ms = milliseconds(begun);
        let copies = self.copies(query, &pages);
        let distinct = match self.config.dedup {
            Dedup::None => pages.len(),
            Dedup::Document | Dedup::Similar => copies.distinct(pages.keys().copied()),
        };
        let duplicates = pages.len() - distinct;
        let documents = self.measure(caller, query, &mut candidates, &reranker, duplicates)?;
        let begun = Instant::now();
        let ranked = reranker.rerank(documents);
        rules_ms += milliseconds(begun);
        let explained = ranked
            .iter()
            .enumerate()
            .filter(|(rank, ranked)| *rank < self.explained || self.focus == Some(ranked.document.document));
        let steps = explained.map(|(_, ranked)| (ranked.document.document, reranker.explain(&ranked.document)));
        let steps = steps.collect();
        Ok(Ranking {
            rules_ms,
            found: RankedDocuments {
                steps,
                sections: section::target_sections(caller, query.group, &candidates.retrieved, &pages, &ranked)?,
                ranked,
                copies,
                ..RankedDocuments::default()
            },
            candidates: pages.len() + left_out,
            scored: distinct,
            has_unscored: left_out > 0,
            too_distant: candidates.too_distant,
            subjects: candidates.subjects,
            excluding,
            titled: None,
        })
    }

    /// Drops the documents that are unlikely to come first and returns their number. Drops none if a filter or an
    /// excluded word may leave out any number of the likely ones.
    pub(super) fn retain_likely(
        &self,
        query: &GroupQuery<'_>,
        retrieved: &mut RetrieverResults,
        limits: Limits,
        excludes: bool,
    ) -> usize {
        if excludes || matches!(query.basis.scope, Scope::Checked) {
            return 0;
        }
        let corpora = &query.keywords.lexical.corpora;
        retrieved.retain_likely(limits.max_scored, self.focus, corpora, &query.mix)
    }

    /// Drops documents without a page or too distant from the query, and marks the pages with the features that the
    /// query asks for.
    pub(super) fn prepare(
        &self,
        query: &GroupQuery<'_>,
        mut retrieved: RetrieverResults,
        pages: &mut Map<DocumentId, Page>,
    ) -> Candidates {
        let GroupQuery { group, basis, .. } = query;
        let visible: Set<DocumentId> = pages.keys().copied().collect();
        retrieved.keep(&visible);
        let too_distant = retrieved.limit_distance(self.config.weights.max_distance);
        if too_distant > 0 {
            let close = retrieved.documents();
            pages.retain(|id, _| close.contains(id));
        }
        retrieved.drop_ambiguous();
        mark_older_versions(pages);
        basis.newest.mark(pages);
        let subjects = retrieved.subjects(&group.subject_query(), &query.keywords.lexical.corpora);
        let mut candidate_names = Cow::Borrowed(&group.candidate_names);
        for &(index, role) in &subjects {
            candidate_names.to_mut()[index].role = role;
        }
        let named = retrieved.boost_pages(
            &group.name_query(&candidate_names, &group.typed().unwrap_or_default()),
            pages,
        );
        Candidates {
            retrieved,
            named,
            too_distant,
            subjects,
        }
    }

    /// Which of the pages are copies of each other.
    pub(super) fn copies(&self, query: &GroupQuery<'_>, pages: &Map<DocumentId, Page>) -> Copies {
        let mut copies = Copies::among(pages, &query.group.understanding.text);
        if self.filter.names_versions {
            copies.show_versions();
        }
        copies
    }

    pub(super) fn reranker<'a>(&'a self, query: &GroupQuery<'a>, pages: &'a Map<DocumentId, Page>) -> Reranker<'a> {
        let mix = &query.mix;
        let scorer = query.group.scorer(self.config).with_hybrid(mix.hybrid);
        Reranker::new(scorer, pages, mix.baseline)
    }

    /// The documents that may become results, with the similarity of all sections that count. `duplicates` of them are not shown.
    fn measure(
        &self,
        caller: &mut Caller,
        query: &GroupQuery<'_>,
        candidates: &mut Candidates,
        reranker: &Reranker<'_>,
        duplicates: usize,
    ) -> Result<Vec<ScoredDocument>> {
        if let Some(embedding) = query.embedding {
            let documents = self.scored(query, candidates);
            let nearest = candidates
                .retrieved
                .evidence
                .similarity
                .values()
                .copied()
                .reduce(f32::max);
            let mut contenders = reranker.contenders(
                &documents,
                nearest,
                &candidates.retrieved.documents_with_unmeasured_questions(),
                self.config.exactly_scored().saturating_add(duplicates),
            );
            contenders.extend(self.focus.filter(|focus| reranker.has_page(*focus)));
            candidates.named.retain(|id| contenders.contains(id));
            candidates.retrieved.evidence.retain(&contenders);
            let more = candidates.retrieved.unmeasured_sections(&contenders);
            let owner = &caller.as_owner()?;
            let measured = query.basis.vectors.of_chunks(owner, embedding, &more)?;
            candidates.retrieved.evidence.measure(measured, nearest);
        }
        Ok(self.scored(query, candidates))
    }

    /// The scores of the candidates before any rule.
    pub(super) fn scored(&self, query: &GroupQuery<'_>, candidates: &Candidates) -> Vec<ScoredDocument> {
        let corpora = &query.keywords.lexical.corpora;
        let named = candidates.named.iter().copied();
        rank::rank(&candidates.retrieved.evidence, named, corpora, &query.mix)
    }

    /// Runs the retrievers by words, names and phrases, which do not need the query's vector.
    pub(super) fn run_word_retrievers(
        &self,
        caller: &mut Caller,
        group: &Group<'_>,
        basis: &Basis,
        keywords: &KeywordRetriever<'_>,
        limits: Limits,
    ) -> Result<WordResults> {
        let Basis { scope, names, mix, .. } = basis;
        let Limits { window, budget, .. } = limits;
        let lexical = keywords.lexical;
        let documents = scope.listed();
        let near = match group.typed() {
            Some(typed) if lexical.lacks_a_word && !names::any_direct(&names.matches, &group.candidate_names) => {
                names::near(caller, &group.projects, &typed, &group.visibility)?
            }
            _ => Set::default(),
        };
        let max_documents = usize::try_from(window).unwrap_or(usize::MAX);
        let keyword_limits = KeywordLimits {
            window: max_documents,
            budget,
            documents: documents.as_deref(),
        };
        let mut evidence = Evidence {
            terms: keywords.candidates(caller, keyword_limits, &mix.bm25, &group.visibility)?,
            ..Evidence::default()
        };
        let phrase = match group.phrase() {
            Some(phrase) => {
                let among = keywords.with_every_word(&evidence.terms, budget);
                keywords.holding(caller, phrase, group.text_config, among, &group.visibility)?
            }
            None => Set::default(),
        };
        Ok(WordResults {
            best: retain_best(&mut evidence, &lexical.corpora, &mix.bm25, max_documents),
            evidence,
            near,
            phrase,
        })
    }

    /// Runs the other retrievers and adds their results to those by words.
    pub(super) fn run_retrievers(
        &self,
        caller: &mut Caller,
        query: &GroupQuery<'_>,
        limits: Limits,
        words: WordResults,
    ) -> Result<RetrieverResults> {
        let GroupQuery {
            group,
            basis,
            keywords,
            embedding,
            mix,
        } = query;
        let Basis { scope, names, .. } = basis;
        let Limits { window, sections, .. } = limits;
        let WordResults {
            mut evidence,
            best,
            near,
            phrase,
        } = words;
        if let Some(embedding) = embedding {
            let documents = scope.listed();
            let listed = documents.as_ref().map_or(0, Vec::len) as f64 * keywords.lexical.sections_per_document;
            let nearest = Nearest {
                projects: &group.projects,
                query: embedding,
                limit: self.config.vector_window(mix.hybrid, window, best.len()),
                documents: documents.as_deref(),
                check: group.visibility.check(),
                sections: sections as i64,
                listed: listed as i64,
            };
            evidence.similarity = basis
                .vectors
                .nearest(caller, nearest, self.config.weights.exact_search_limit)?;
        }
        let mut retrieved = RetrieverResults {
            evidence,
            best,
            names: names.matches.clone(),
            near,
            defining: names.defining.clone(),
            phrase,
            newest: basis.newest.documents(),
            others: Set::default(),
        };
        if let Scope::Listed(documents) = scope {
            retrieved.keep(documents);
        }
        let focus = self.focus.filter(|focus| !retrieved.documents().contains(focus));
        retrieved.others.extend(focus);
        let unread: Vec<ChunkId> = retrieved
            .evidence
            .similarity
            .keys()
            .copied()
            .chain(retrieved.summaries())
            .filter(|id| !retrieved.evidence.terms.contains_key(id))
            .collect();
        let owner = &caller.as_owner()?;
        retrieved.evidence.terms.extend(keywords.of_sections(owner, unread)?);
        Ok(retrieved)
    }

    /// The columns of pages that rules and excluded words need.
    pub(super) fn needs(&self, query: &GroupQuery<'_>) -> Needs {
        let needs = query.group.scorer(self.config).needs();
        Needs {
            metadata: needs.metadata || !query.group.excluded.is_empty(),
            ..needs
        }
    }
}

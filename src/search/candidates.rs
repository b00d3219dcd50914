//! The legs of a search, brought together: every candidate gets all of its scores, whichever leg found
//! it. Only documents that the caller may see are candidates.

use std::borrow::Cow;
use std::time::Instant;

use docsearch_core::documents::page_keys::PageKeys;
use docsearch_core::query::understanding::NameRole;
use docsearch_core::ranking::fusion::RankedDocuments;
use docsearch_core::ranking::page::{DESCRIPTION_BYTES, Page};
use docsearch_core::ranking::rank::{self, Evidence, ScoredDocument};
use docsearch_core::ranking::rerank::{Reranker, mark_older_versions};
use docsearch_core::ranking::retrievers::{RetrieverResults, retain_best};
use docsearch_core::ranking::score::Needs;
use docsearch_core::values::calendar::Day;
use docsearch_core::values::id::{ChunkId, DocumentId, Map, Set};
use pgrx::datum::DatumWithOid;

use crate::postgres::jsonb::StoredJson;
use crate::postgres::report::Result;
use crate::postgres::role::{Caller, Role};
use crate::postgres::row_type::row_type;
use crate::postgres::statement;
use crate::search::basis::{Asked, Basis, Reach, Scope, Search};
use crate::search::conditions::CONDITIONS;
use crate::search::exclusion::exclude;
use crate::search::group::Group;
use crate::search::lexical::{KeywordLeg, Wanted};
use crate::search::newest::{AGE, DAY};
use crate::search::query_vector::Embeddings;
use crate::search::retrieval::milliseconds;
use crate::search::section;
use crate::tables::schema::Part;
use crate::tables::vectors::Nearest;
use crate::tables::visibility::Visibility;
use crate::tables::{document, names};

/// The documents of a group of projects, ranked.
#[derive(Default)]
pub(crate) struct Ranking {
    pub(crate) found: RankedDocuments,
    /// Milliseconds that the rules took.
    pub(crate) rules_ms: f64,
    /// Number of documents, of those that the caller sees, whose words and vectors were compared.
    pub(crate) candidates: usize,
    /// Number of those that rules were asked of.
    judged: usize,
    /// Whether rules were not asked of some that are less likely to come first.
    leaves_out: bool,
    /// Documents, of those that the caller sees, that were too far from the query.
    pub(crate) too_distant: usize,
    /// Words that excluded one of them.
    pub(crate) excluding: Vec<String>,
    /// Documents, of those that the caller sees, with one of [`Group::title_keys`]; `None` if there may be others.
    pub(crate) titled: Option<Set<DocumentId>>,
    /// What the query is about, by the places of the forms.
    subjects: Vec<(usize, NameRole)>,
}

impl Ranking {
    /// Whether a further look can find more, of what the caller sees.
    fn has_more(&self, caller: &Caller, reach: Reach, visibility: &Visibility) -> Result<bool> {
        Ok(self.leaves_out || !reach.is_everything(caller, visibility)?)
    }
}

/// What the words of a query found.
pub(super) struct Words {
    evidence: Evidence,
    /// The best section of each document.
    best: Vec<ChunkId>,
    near: Set<DocumentId>,
    phrase: Set<DocumentId>,
}

/// What is judged of a group of projects.
pub(super) struct Judging {
    pub(super) legs: RetrieverResults,
    /// Documents that are candidates whether or not a section of theirs is.
    named: Vec<DocumentId>,
    /// Documents that were left out for their distance from the query.
    pub(super) too_distant: usize,
    /// What the query is about, by the places of the forms.
    pub(super) subjects: Vec<(usize, NameRole)>,
}

impl Judging {
    /// Sections whose similarity counts and is not known.
    pub(super) fn unmeasured_sections(&self) -> Vec<ChunkId> {
        self.legs.unmeasured_sections(&self.legs.documents())
    }

    /// Adds the similarity of sections.
    pub(super) fn add(&mut self, similarities: impl IntoIterator<Item = (ChunkId, f32)>) {
        let evidence = &mut self.legs.evidence;
        let nearest = evidence.similarity.values().copied().reduce(f32::max);
        evidence.measure(similarities, nearest);
    }
}

/// Where what was found is checked, so many documents are looked for at least: the nearest may all be filtered out.
const LEAST_CHECKED: usize = 20;

impl Search<'_> {
    /// Ranks the documents of a group of projects. The query's vector is waited for where it is needed.
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
        let ranking = self.rank_in(caller, group, basis, embeddings)?;
        group.note_subjects(&ranking.subjects);
        Ok(Ranking { titled, ..ranking })
    }

    fn rank_in(
        &self,
        caller: &mut Caller,
        group: &Group<'_>,
        basis: Basis,
        embeddings: &mut Embeddings,
    ) -> Result<Ranking> {
        let lexical = basis.lexical(group);
        let keywords = KeywordLeg::new(caller, &group.projects, &lexical)?;
        // How far the first look goes does not depend on how many are asked for: more results are the same ones first.
        let mut reach = basis.reach;
        let words = self.run_words(caller, group, &basis, &keywords, reach)?;
        let embedding = embeddings.of(caller, group)?;
        let asked = Asked::new(group, &basis, &keywords, embedding.as_deref());
        let mut ranking = self.rank_within(caller, &asked, reach, words)?;
        while ranking.judged < self.least_found(&basis.scope) && ranking.has_more(caller, reach, &group.visibility)? {
            reach = reach.further();
            ranking = self.rank_further(caller, &asked, reach)?;
        }
        while ranking.judged < self.config.found_at_least() && ranking.has_more(caller, reach, &group.visibility)? {
            reach = reach.further();
            let further = self.rank_further(caller, &asked, reach)?;
            ranking.found.append(further.found);
            ranking.rules_ms += further.rules_ms;
            ranking.candidates = further.candidates.max(ranking.found.ranked.len());
            ranking.judged = further.judged.max(ranking.found.ranked.len());
            ranking.leaves_out = further.leaves_out;
            ranking.too_distant = further.too_distant;
            ranking.excluding = further.excluding;
        }
        Ok(ranking)
    }

    fn rank_further(&self, caller: &mut Caller, asked: &Asked<'_>, reach: Reach) -> Result<Ranking> {
        let words = self.run_words(caller, asked.group, asked.basis, asked.keywords, reach)?;
        self.rank_within(caller, asked, reach, words)
    }

    /// Fewer documents are too few to stop at, though more are not asked for.
    fn least_found(&self, scope: &Scope) -> usize {
        match scope {
            Scope::Checked => LEAST_CHECKED,
            Scope::Everywhere | Scope::Listed(_) => 0,
        }
    }

    /// Ranks what the legs find within a reach.
    fn rank_within(&self, caller: &mut Caller, asked: &Asked<'_>, reach: Reach, words: Words) -> Result<Ranking> {
        let mut legs = self.run_legs(caller, asked, reach, words)?;
        let left_out = self.retain_likely(asked, &mut legs, reach, !asked.group.excluded.is_empty());
        let mut pages = self.pages(caller, asked, &legs.documents(), self.needs(asked))?;
        let excluding = exclude(caller, &asked.group.excluded, &mut pages)?;
        let mut judging = self.prepare(asked, legs, &mut pages);
        let ruling = Instant::now();
        let reranker = self.reranker(asked, &pages);
        let mut rules_ms = milliseconds(ruling);
        let documents = self.measure(caller, asked, &mut judging, &reranker)?;
        let ruling = Instant::now();
        let ranked = reranker.rerank(documents);
        rules_ms += milliseconds(ruling);
        let explained = ranked
            .iter()
            .enumerate()
            .filter(|(place, ranked)| *place < self.explained || self.focus == Some(ranked.document.document));
        let steps = explained.map(|(_, ranked)| (ranked.document.document, reranker.explain(&ranked.document)));
        let steps = steps.collect();
        Ok(Ranking {
            rules_ms,
            found: RankedDocuments {
                steps,
                sections: section::asked_for(caller, asked.group, &judging.legs, &pages, &ranked)?,
                ranked,
                ..RankedDocuments::default()
            },
            candidates: pages.len() + left_out,
            judged: pages.len(),
            leaves_out: left_out > 0,
            too_distant: judging.too_distant,
            subjects: judging.subjects,
            excluding,
            titled: None,
        })
    }

    /// Drops the documents that are unlikely to come first, and returns how many they were: none where a filter or an excluded
    /// word may leave any number of the others out.
    pub(super) fn retain_likely(
        &self,
        asked: &Asked<'_>,
        legs: &mut RetrieverResults,
        reach: Reach,
        excludes: bool,
    ) -> usize {
        if excludes || matches!(asked.basis.scope, Scope::Checked) {
            return 0;
        }
        let corpora = &asked.keywords.lexical.corpora;
        legs.retain_likely(reach.likely, self.focus, corpora, &asked.mix)
    }

    /// Drops what has no page, or is too far from the query, and marks the pages with what the query asks of them.
    pub(super) fn prepare(
        &self,
        asked: &Asked<'_>,
        mut legs: RetrieverResults,
        pages: &mut Map<DocumentId, Page>,
    ) -> Judging {
        let Asked { group, basis, .. } = asked;
        let visible: Set<DocumentId> = pages.keys().copied().collect();
        legs.keep(&visible);
        let too_distant = legs.limit_distance(self.config.weights.max_distance);
        if too_distant > 0 {
            let near = legs.documents();
            pages.retain(|id, _| near.contains(id));
        }
        legs.drop_ambiguous();
        mark_older_versions(pages);
        basis.newest.mark(pages);
        let subjects = legs.subjects(&group.question(), &asked.keywords.lexical.corpora);
        let mut forms = Cow::Borrowed(&group.forms);
        for &(form, role) in &subjects {
            forms.to_mut()[form].role = role;
        }
        let named = legs.boost_pages(&group.asked_names(&forms, &group.typed().unwrap_or_default()), pages);
        Judging {
            legs,
            named,
            too_distant,
            subjects,
        }
    }

    pub(super) fn reranker<'a>(&'a self, asked: &Asked<'a>, pages: &'a Map<DocumentId, Page>) -> Reranker<'a> {
        let mix = &asked.mix;
        let scorer = asked.group.scorer(self.config).with_hybrid(mix.hybrid);
        Reranker::new(scorer, pages, mix.baseline)
    }

    /// The documents that may be shown, with the similarity of all their sections that count.
    fn measure(
        &self,
        caller: &mut Caller,
        asked: &Asked<'_>,
        judging: &mut Judging,
        reranker: &Reranker<'_>,
    ) -> Result<Vec<ScoredDocument>> {
        if let Some(embedding) = asked.embedding {
            let documents = self.scored(asked, judging);
            let nearest = judging.legs.evidence.similarity.values().copied().reduce(f32::max);
            let mut contenders = reranker.contenders(
                &documents,
                nearest,
                &judging.legs.documents_with_unmeasured_questions(),
                self.config.places(),
            );
            contenders.extend(self.focus.filter(|focus| reranker.has_page(*focus)));
            judging.named.retain(|id| contenders.contains(id));
            judging.legs.evidence.retain(&contenders);
            let more = judging.legs.unmeasured_sections(&contenders);
            let owner = &caller.as_owner()?;
            let measured = asked.basis.vectors.of_chunks(owner, embedding, &more)?;
            judging.legs.evidence.measure(measured, nearest);
        }
        Ok(self.scored(asked, judging))
    }

    /// The scores of what is judged, before any rule.
    pub(super) fn scored(&self, asked: &Asked<'_>, judging: &Judging) -> Vec<ScoredDocument> {
        let corpora = &asked.keywords.lexical.corpora;
        let named = judging.named.iter().copied();
        rank::rank(&judging.legs.evidence, named, corpora, &asked.mix)
    }

    /// What words, names and phrases find: what does not need the query's vector.
    pub(super) fn run_words(
        &self,
        caller: &mut Caller,
        group: &Group<'_>,
        basis: &Basis,
        keywords: &KeywordLeg<'_>,
        reach: Reach,
    ) -> Result<Words> {
        let Basis { scope, names, mix, .. } = basis;
        let Reach { window, budget, .. } = reach;
        let lexical = keywords.lexical;
        let documents = scope.listed();
        let near = match group.typed() {
            Some(typed) if lexical.lacks_a_word && !names::any_direct(&names.matches, &group.forms) => {
                names::near(caller, &group.projects, &typed, &group.visibility)?
            }
            _ => Set::default(),
        };
        let most = usize::try_from(window).unwrap_or(usize::MAX);
        let wanted = Wanted {
            window: most,
            budget,
            documents: documents.as_deref(),
        };
        let mut evidence = Evidence {
            terms: keywords.candidates(caller, wanted, &mix.bm25, &group.visibility)?,
            ..Evidence::default()
        };
        let phrase = match group.phrase() {
            Some(phrase) => {
                let among = keywords.with_every_word(&evidence.terms, budget);
                keywords.holding(caller, phrase, group.text_config, among, &group.visibility)?
            }
            None => Set::default(),
        };
        Ok(Words {
            best: retain_best(&mut evidence, &lexical.corpora, &mix.bm25, most),
            evidence,
            near,
            phrase,
        })
    }

    /// Adds the nearest sections to what the words found.
    pub(super) fn run_legs(
        &self,
        caller: &mut Caller,
        asked: &Asked<'_>,
        reach: Reach,
        words: Words,
    ) -> Result<RetrieverResults> {
        let Asked {
            group,
            basis,
            keywords,
            embedding,
            mix,
        } = asked;
        let Basis { scope, names, .. } = basis;
        let Reach { window, sections, .. } = reach;
        let Words {
            mut evidence,
            best,
            near,
            phrase,
        } = words;
        if let Some(embedding) = embedding {
            let documents = scope.listed();
            let nearest = Nearest {
                projects: &group.projects,
                query: embedding,
                limit: self.config.nearest(mix.hybrid, window, best.len()),
                documents: documents.as_deref(),
                check: group.visibility.check(),
                sections: sections as i64,
            };
            evidence.similarity = basis
                .vectors
                .nearest(caller, nearest, self.config.weights.exact_search_limit)?;
        }
        let mut legs = RetrieverResults {
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
            legs.keep(documents);
        }
        let focus = self.focus.filter(|focus| !legs.documents().contains(focus));
        legs.others.extend(focus);
        let unread: Vec<ChunkId> = legs
            .evidence
            .similarity
            .keys()
            .copied()
            .chain(legs.summaries())
            .filter(|id| !legs.evidence.terms.contains_key(id))
            .collect();
        let owner = &caller.as_owner()?;
        legs.evidence.terms.extend(keywords.of_sections(owner, unread)?);
        Ok(legs)
    }

    /// What of pages has to be read for the rules and the excluded words.
    pub(super) fn needs(&self, asked: &Asked<'_>) -> Needs {
        let needs = asked.group.scorer(self.config).needs();
        Needs {
            metadata: needs.metadata || !asked.group.excluded.is_empty(),
            ..needs
        }
    }

    /// The pages of documents of a group that the caller sees and the filter lets through.
    pub(super) fn pages(
        &self,
        caller: &Caller,
        asked: &Asked<'_>,
        documents: &Set<DocumentId>,
        needs: Needs,
    ) -> Result<Map<DocumentId, Page>> {
        let superseded = asked.basis.superseded.as_deref();
        let (projects, documents): (Vec<i64>, Vec<i64>) = documents.iter().map(|id| (id.project, id.document)).unzip();
        let mut args = self.conditions(DatumWithOid::from(projects), superseded);
        args.push(DatumWithOid::from(documents));
        args.push(DatumWithOid::from(
            needs.description.then_some(DESCRIPTION_BYTES as i32),
        ));
        args.push(DatumWithOid::from(needs.metadata));
        args.push(DatumWithOid::from(needs.age));
        // Looking at conditions that are not there took an eighth of a millisecond for 200 documents.
        let is_filtered = self.category.is_some() || !self.filter.is_empty() || superseded.is_some();
        let conditions = if is_filtered { CONDITIONS } else { "true" };
        statement::lookup(
            caller,
            &format!(
                "SELECT {}
                 FROM unnest($1::bigint[], $8::bigint[]) AS found(project_id, id)
                      JOIN docsearch.document d USING (project_id, id)
                 WHERE {conditions}",
                PageRow::select_list()
            ),
            &args,
            |row| {
                let row = PageRow::read(row)?;
                let page = Page {
                    project: asked.group.name_of(row.project),
                    title: row.title,
                    slug: row.slug,
                    category: row.category,
                    description: row.description.unwrap_or_default(),
                    metadata: row.metadata.map(|metadata| metadata.0),
                    age_days: row.age_days,
                    day: row.day.map(Day),
                    version: row.version,
                    kind: row.kind,
                    entry_share: row.entry_share,
                    keys: row.keys.and_then(PageKeys::read),
                    ..Page::default()
                };
                let id = DocumentId {
                    project: row.project,
                    document: row.document,
                };
                Ok((id, page))
            },
        )
        .map(|pages| pages.into_iter().collect())
    }
}

row_type! {
    /// What the rules look at in a page, as [`Search::pages`] selects it.
    struct PageRow {
        project: i64 = "d.project_id",
        document: i64 = "d.id",
        title: String = "d.title",
        slug: String = "d.slug",
        category: Option<String> = "d.category",
        description: Option<String> = "left(d.summary, $9)",
        metadata: Option<StoredJson> = "CASE WHEN $10 THEN d.metadata END",
        age_days: Option<f32> = format!("CASE WHEN $11 THEN {AGE} END"),
        day: Option<i32> = format!("CASE WHEN $11 THEN {DAY} END"),
        version: Option<String> = "d.version",
        kind: Option<String> = "d.kind",
        entry_share: f32 = Part::EntryShare.or_else("d.entry_share", "0::real"),
        keys: Option<Vec<u8>> = document::page_keys_column(),
    }
}

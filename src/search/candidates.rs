//! The legs of a search, brought together: every candidate gets all of its scores, whichever leg found
//! it. Only documents that the caller may see are candidates.

use std::time::Instant;

use docsearch_core::calendar::Day;
use docsearch_core::filter::Filter;
use docsearch_core::fusion::Found;
use docsearch_core::legs::{Legs, keep_best};
use docsearch_core::lexical::Lexical;
use docsearch_core::page::{DESCRIPTION_BYTES, Page};
use docsearch_core::page_keys::PageKeys;
use docsearch_core::rank::{self, ChunkId, DocumentId, Evidence, Map, Mix, Set};
use docsearch_core::rerank::{Reranker, mark_older_versions};
use docsearch_core::statistics::Totals;
use pgrx::datum::DatumWithOid;

use crate::postgres::jsonb::StoredJson;
use crate::postgres::owner::AsOwner;
use crate::postgres::report::Result;
use crate::postgres::statement;
use crate::search::conditions::{CONDITIONS, conditions, superseded_by};
use crate::search::config::SearchConfig;
use crate::search::exclusion::exclude;
use crate::search::group::Group;
use crate::search::lexical::{KeywordLeg, Wanted};
use crate::search::newest::{AGE, DAY, Newest};
use crate::search::retrieval::milliseconds;
use crate::search::section;
use crate::search::vocabulary;
use crate::tables::sight::{MAX_LISTED, Sight};
use crate::tables::vectors::{Nearest, VectorTable};
use crate::tables::{document, keys, names};

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

/// The documents of a group of projects, ranked.
#[derive(Default)]
pub(crate) struct Ranking {
    pub(crate) found: Found,
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
}

impl Ranking {
    /// Whether a further look can find more, of what the caller sees. Begins as the caller.
    fn has_more(&self, reach: Reach, sight: &Sight) -> Result<bool> {
        Ok(self.leaves_out || !reach.is_everything(sight)?)
    }
}

/// Where a search may find documents.
enum Scope {
    /// In all that the caller sees: there is no filter.
    Everywhere,
    /// Among these.
    Listed(Set<DocumentId>),
    /// There are too many to list: what was found is checked against the filter.
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

/// Where what was found is checked, so many documents are looked for at least: the nearest may all be filtered out.
const LEAST_CHECKED: usize = 20;

/// Rules are asked of one in so many of the window of candidates.
const LIKELY: usize = 3;

/// How far the legs look.
#[derive(Clone, Copy)]
struct Reach {
    /// Documents of the keyword leg, and of the dense leg its share in sections.
    window: i64,
    /// Sections that the keyword leg reads.
    budget: i64,
    /// Sections that there are.
    sections: f64,
}

impl Reach {
    /// Whether there is nothing beyond, of what the caller sees. Begins as the caller.
    fn is_everything(self, sight: &Sight) -> Result<bool> {
        match sight.checks() {
            Some(visibility) => visibility.has_at_most(self.window),
            None => Ok(self.window as f64 >= self.sections),
        }
    }

    /// How many documents get pages, of those whose words and vectors were compared.
    fn likely(self) -> usize {
        usize::try_from(self.window).unwrap_or(usize::MAX) / LIKELY
    }

    /// Eight times as far: where most of what is found is filtered out.
    fn further(self) -> Self {
        Self {
            window: self.window.saturating_mul(8),
            budget: self.budget.saturating_mul(8),
            ..self
        }
    }
}

/// What is looked for in a group of projects, however far the legs look.
struct Asked<'a> {
    group: &'a Group<'a>,
    superseded: Option<&'a [i64]>,
    keywords: &'a KeywordLeg<'a>,
    vectors: &'a VectorTable,
    embedding: Option<&'a [f32]>,
    scope: &'a Scope,
    names: names::Asked,
    newest: Newest,
    mix: Mix,
}

impl Search<'_> {
    /// Ranks the documents of a group of projects. `embedding` is the query's vector, if there is one.
    pub(crate) fn rank(&self, group: &mut Group<'_>, embedding: Option<&[f32]>) -> Result<Ranking> {
        let superseded = superseded_by(&group.projects, self.filter)?;
        let scope = self.scope(group, superseded.as_deref())?;
        if matches!(&scope, Scope::Listed(documents) if documents.is_empty()) {
            return Ok(Ranking::default());
        }
        let lexemes = group
            .terms
            .iter()
            .flat_map(|term| term.looked_up().map(|(lexeme, _)| lexeme.to_owned()));
        let (totals, mut frequencies) = group.sight.totals_and_frequencies(&group.projects, lexemes.collect())?;
        vocabulary::correct(&group.sight, &group.projects, &mut group.terms, &mut frequencies)?;
        let group = &*group;
        let reach = Reach {
            window: self.config.weights.candidates,
            budget: self.config.weights.keyword_budget,
            sections: Totals::all_chunks(&totals),
        };
        let lexical = Lexical::new(&totals, &group.terms, &frequencies);
        let keywords = KeywordLeg::new(&group.projects, &lexical)?;
        let vectors = VectorTable::of(group.model)?;
        let hybrid = match embedding {
            Some(_) => self.config.weights.hybrid(group.understanding.class),
            None => 0.0,
        };
        let mix = self
            .config
            .weights
            .mix(group.understanding.class, hybrid, group.model.background);
        let mut names = names::asked(&group.projects, &group.forms, &group.title_keys(), &group.sight)?;
        let titled = names.titled.take();
        let asked = Asked {
            group,
            superseded: superseded.as_deref(),
            keywords: &keywords,
            vectors: &vectors,
            embedding,
            scope: &scope,
            names,
            newest: {
                let args = self.conditions(group.projects.argument(), superseded.as_deref());
                Newest::of(group, &self.config.weights, args)?
            },
            mix,
        };
        // How far the first look goes does not depend on how many are asked for: more results are the same ones first.
        let mut reach = reach;
        let mut ranking = self.rank_within(&asked, reach)?;
        while ranking.judged < self.least_found(&scope) && ranking.has_more(reach, &group.sight)? {
            reach = reach.further();
            ranking = self.rank_within(&asked, reach)?;
        }
        while ranking.judged < self.config.found_at_least() && ranking.has_more(reach, &group.sight)? {
            reach = reach.further();
            let further = self.rank_within(&asked, reach)?;
            ranking.found.append(further.found);
            ranking.rules_ms += further.rules_ms;
            ranking.candidates = further.candidates.max(ranking.found.ranked.len());
            ranking.judged = further.judged.max(ranking.found.ranked.len());
            ranking.leaves_out = further.leaves_out;
            ranking.too_distant = further.too_distant;
            ranking.excluding = further.excluding;
        }
        ranking.titled = titled;
        Ok(ranking)
    }

    /// Fewer documents are too few to stop at, though more are not asked for.
    fn least_found(&self, scope: &Scope) -> usize {
        match scope {
            Scope::Checked => LEAST_CHECKED,
            Scope::Everywhere | Scope::Listed(_) => 0,
        }
    }

    /// Ranks what the legs find within a reach.
    fn rank_within(&self, asked: &Asked<'_>, reach: Reach) -> Result<Ranking> {
        let Asked { group, mix, .. } = asked;
        let corpora = &asked.keywords.lexical.corpora;
        let mut legs = self.run_legs(asked, reach)?;
        let mut left_out = 0;
        // A filter or an excluded word may leave any number of them out.
        if !matches!(asked.scope, Scope::Checked) && group.excluded.is_empty() {
            left_out = legs.keep_likely(reach.likely(), self.focus, corpora, mix);
        }
        let mut pages = self.pages(group, &legs, asked.superseded)?;
        let excluding = exclude(&group.excluded, &mut pages)?;
        let visible: Set<DocumentId> = pages.keys().copied().collect();
        legs.keep(&visible);
        let too_distant = legs.limit_distance(self.config.weights.max_distance);
        if too_distant > 0 {
            let near = legs.documents();
            pages.retain(|id, _| near.contains(id));
        }
        legs.drop_common();
        mark_older_versions(&mut pages);
        asked.newest.mark(&mut pages);
        let mut named = legs.lift(&group.asked_names(&group.typed().unwrap_or_default()), &mut pages);
        let ruling = Instant::now();
        let reranker = Reranker::new(
            group.scorer(self.config).with_hybrid(mix.hybrid),
            &pages,
            mix.background,
        );
        let mut rules_ms = milliseconds(ruling);
        if let Some(embedding) = asked.embedding {
            let documents = rank::rank(&legs.evidence, named.iter().copied(), corpora, mix);
            let nearest = legs.evidence.similarity.values().copied().reduce(f32::max);
            let mut contenders = reranker.contenders(&documents, nearest, self.config.places());
            contenders.extend(self.focus.filter(|focus| pages.contains_key(focus)));
            named.retain(|id| contenders.contains(id));
            legs.evidence.retain(&contenders);
            let more = legs.unmeasured(&contenders);
            let _owner = AsOwner::enter()?;
            legs.evidence
                .measure(asked.vectors.of_chunks(embedding, &more)?, nearest);
        }
        let documents = rank::rank(&legs.evidence, named, corpora, mix);
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
            found: Found {
                steps,
                sections: section::asked_for(group, &legs, &pages, &ranked)?,
                ranked,
            },
            candidates: pages.len() + left_out,
            judged: pages.len(),
            leaves_out: left_out > 0,
            too_distant,
            excluding,
            titled: None,
        })
    }

    /// Runs as the caller, whose policies count.
    fn scope(&self, group: &Group<'_>, superseded: Option<&[i64]>) -> Result<Scope> {
        if self.category.is_none() && self.filter.is_empty() {
            let listed = match &group.sight {
                Sight::Everything => None,
                Sight::Listed(_) => group
                    .sight
                    .listed()
                    .map(|documents| documents.iter().copied().collect()),
                Sight::Checked(visibility) => visibility.listed(),
            };
            return Ok(listed.map_or(Scope::Everywhere, Scope::Listed));
        }
        let mut args = self.conditions(group.projects.argument(), superseded);
        args.push(DatumWithOid::from(MAX_LISTED + 1));
        let documents = statement::rows(
            &format!(
                "SELECT d.project_id, d.id FROM docsearch.document d WHERE {} AND {CONDITIONS} LIMIT $8",
                group.projects.condition("d")
            ),
            &args,
            keys::document_id,
        )?;
        let few = i64::try_from(documents.len()).is_ok_and(|count| count <= MAX_LISTED);
        Ok(if few {
            Scope::Listed(documents.into_iter().collect())
        } else {
            Scope::Checked
        })
    }

    fn conditions(&self, projects: DatumWithOid<'static>, superseded: Option<&[i64]>) -> Vec<DatumWithOid<'_>> {
        conditions(projects, self.category, self.filter, superseded)
    }

    /// Begins as the caller.
    fn run_legs(&self, asked: &Asked<'_>, reach: Reach) -> Result<Legs> {
        let Asked {
            group,
            keywords,
            vectors,
            embedding,
            scope,
            names,
            mix,
            ..
        } = asked;
        let Reach {
            window,
            budget,
            sections,
        } = reach;
        let lexical = keywords.lexical;
        let documents = scope.listed();
        let near = match group.typed() {
            Some(typed) if lexical.lacks_a_word && !names::any_asked(&names.matches, &group.forms) => {
                names::near(&group.projects, &typed, &group.sight)?
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
            terms: keywords.candidates(wanted, &mix.bm25, &group.sight)?,
            ..Evidence::default()
        };
        let phrase = match group.phrase() {
            Some(phrase) => {
                let among = keywords.with_every_word(&evidence.terms, budget);
                keywords.holding(phrase, group.text_config, among, &group.sight)?
            }
            None => Set::default(),
        };
        let best = keep_best(&mut evidence, &lexical.corpora, &mix.bm25, most);
        if let Some(embedding) = embedding {
            let nearest = Nearest {
                projects: &group.projects,
                query: embedding,
                limit: self.config.nearest(mix.hybrid, window, best.len()),
                documents: documents.as_deref(),
                visibility: group.sight.checks(),
                sections: sections as i64,
            };
            evidence.similarity = vectors.nearest(nearest, self.config.weights.exact_search_limit)?;
        }
        let mut legs = Legs {
            evidence,
            best,
            names: names.matches.clone(),
            near,
            defining: names.defining.clone(),
            phrase,
            newest: asked.newest.documents(),
            focus: None,
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
        let _owner = AsOwner::enter()?;
        legs.evidence.terms.extend(keywords.of_sections(unread)?);
        Ok(legs)
    }

    /// The pages of what the legs found that the caller sees and the filter lets through. Runs as the
    /// caller.
    fn pages(&self, group: &Group<'_>, legs: &Legs, superseded: Option<&[i64]>) -> Result<Map<DocumentId, Page>> {
        let (projects, documents): (Vec<i64>, Vec<i64>) =
            legs.documents().into_iter().map(|id| (id.project, id.document)).unzip();
        let needs = group.scorer(self.config).needs();
        let mut args = self.conditions(DatumWithOid::from(projects), superseded);
        args.push(DatumWithOid::from(documents));
        args.push(DatumWithOid::from(
            needs.description.then_some(DESCRIPTION_BYTES as i32),
        ));
        args.push(DatumWithOid::from(
            needs.metadata || !group.understanding.excluded.is_empty(),
        ));
        args.push(DatumWithOid::from(needs.age));
        let entry_share = if document::has_entry_share() {
            "d.entry_share"
        } else {
            "0::real"
        };
        // Looking at conditions that are not there took an eighth of a millisecond for 200 documents.
        let is_filtered = self.category.is_some() || !self.filter.is_empty() || superseded.is_some();
        let conditions = if is_filtered { CONDITIONS } else { "true" };
        statement::lookup(
            &format!(
                "SELECT d.project_id, d.id, d.title, d.slug, d.category, left(d.summary, $9),
                        CASE WHEN $10 THEN d.metadata END,
                        CASE WHEN $11 THEN {AGE} END, CASE WHEN $11 THEN {DAY} END, d.version, d.kind, {entry_share}, {}
                 FROM unnest($1::bigint[], $8::bigint[]) AS found(project_id, id)
                      JOIN docsearch.document d USING (project_id, id)
                 WHERE {conditions}",
                document::page_keys_column()
            ),
            &args,
            |row| {
                let id = keys::document_id(row)?;
                let page = Page {
                    project: group.name_of(id.project),
                    title: row.required(3)?,
                    slug: row.required(4)?,
                    category: row.optional(5)?,
                    description: row.optional::<String>(6)?.unwrap_or_default(),
                    metadata: row.optional::<StoredJson>(7)?.map(|metadata| metadata.0),
                    age_days: row.optional(8)?,
                    day: row.optional(9)?.map(Day),
                    version: row.optional(10)?,
                    kind: row.optional(11)?,
                    entry_share: row.required(12)?,
                    keys: row.optional(13)?.and_then(PageKeys::read),
                    ..Page::default()
                };
                Ok((id, page))
            },
        )
        .map(|pages| pages.into_iter().collect())
    }
}

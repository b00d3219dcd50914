//! From base scores and pages to an order of documents: the second stage of a search.

use crate::asked::Found;
use crate::definition;
use crate::name::{self, NameKind};
use crate::rank::{DocumentId, Map, ScoredDocument, Set, dense_score, name_strength};
use crate::score::{Candidate, Scorer, Step};
use crate::similarity::near;
use crate::understanding::{NameForm, NameRole, Understanding};
use crate::version::{self, Versioned};

/// Where up to the first share of the candidates have a verb in their titles, the rules about verbs are
/// off; from the second on, they are fully on. (tools-azure-mcp and tools-livemcp gain by them; where
/// pages are named after things they mislead: tldr-commands unnamed loses .04 of nDCG@10.)
const ACTION_NAMES: (f32, f32) = (0.4, 0.8);
/// Strength of the page of a module or class for a member of it: the first, and so much more for the
/// longest qualifier.
const QUALIFIER: (f32, f32) = (0.35, 0.25);
/// Strength of a name without the prefix of its library.
const UNPREFIXED: f32 = 0.7;
/// Strength of a plain word as a name, for a query that adds what kind of thing it is.
const PLAIN_KINDLESS: f32 = 0.5;
/// Strength of the name X on a page outside Y, for "X in Y": like a name half typed.
const ELSEWHERE: f32 = 0.2;

/// Share of the definition of a name that a longer query mentions.
const MENTIONED: f32 = 0.5;

/// What the rules read of a page.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// Name of the project.
    pub project: String,
    /// Title.
    pub title: String,
    /// Slug.
    pub slug: String,
    /// Category, with `/` between levels.
    pub category: Option<String>,
    /// Beginning of the summary.
    pub description: String,
    /// Metadata, if a rule needs it.
    pub metadata: Option<serde_json::Value>,
    /// Days since it was published or changed.
    pub age_days: Option<f32>,
    /// Version of what it documents.
    pub version: Option<String>,
    /// A newer version of it among the pages found.
    pub newer: Option<String>,
    /// Strength of the query as a phrase of the text, or 0.
    pub phrase: f32,
    /// Strength of an exact name, or 0.
    pub name: f32,
    /// Strength of a near name, or 0.
    pub near_name: f32,
    /// Share of a definition, or 0.
    pub definition: f32,
}

impl Page {
    fn candidate<'a>(&'a self, dense: f32, lexical: f32) -> Candidate<'a> {
        Candidate {
            dense,
            lexical,
            phrase: self.phrase,
            name: self.name,
            near_name: self.near_name,
            definition: self.definition,
            title: &self.title,
            slug: &self.slug,
            project: &self.project,
            category: self.category.as_deref(),
            description: &self.description,
            metadata: self.metadata.as_ref(),
            age_days: self.age_days,
            newer: self.newer.as_deref(),
        }
    }

    /// Lifts the page for a name that brought it. `containers` are the keys of the place that the query
    /// names, see [`Understanding::container_keys`]. A page of that name elsewhere is only near, if the
    /// place is known.
    pub fn bears(&mut self, kind: NameKind, form: &NameForm, asked: &Understanding, containers: &[String]) {
        if form.role == NameRole::Qualifier {
            let whole = asked
                .identifiers
                .iter()
                .filter_map(|identifier| identifier.qualifiers().next());
            let longest = whole.map(str::len).max().unwrap_or(1);
            let share = form.text.len() as f32 / longest as f32;
            self.near_name = self.near_name.max(QUALIFIER.0 + share * QUALIFIER.1);
            return;
        }
        let factor = form.role.factor(asked.implicit);
        let of_symbol = matches!(form.role, NameRole::Symbol | NameRole::Path | NameRole::Expanded);
        let inside = !of_symbol || self.is_in(containers);
        let as_written = form.text == self.title || name::symbol(&self.title) == Some(form.text.as_str());
        // "future statement" may mean a sentence about the future; "View protocol" has a name.
        if form.role == NameRole::Kindless && is_plain(&form.text) {
            self.near_name = self.near_name.max(factor * PLAIN_KINDLESS);
            return;
        }
        if !inside && asked.known_container {
            self.near_name = self.near_name.max(factor * ELSEWHERE);
        } else if kind == NameKind::Unprefixed {
            self.near_name = self.near_name.max(factor * UNPREFIXED);
        } else {
            self.name = self.name.max(factor * name_strength(kind, as_written, inside));
        }
    }

    /// Lifts the page for a section that defines what the query asks for, or mentions; `bearers` documents of
    /// its project have such a section. A page outside the known place that the query names is not meant,
    /// and one that bears the name needs no more.
    pub fn defines(&mut self, form: &NameForm, asked: &Understanding, containers: &[String], bearers: usize) {
        let meant = match form.role {
            NameRole::Kindless => !is_plain(&form.text),
            NameRole::Symbol | NameRole::Path | NameRole::Expanded => self.is_in(containers) || !asked.known_container,
            _ => true,
        };
        if meant && self.name == 0.0 {
            let factor = match form.role {
                NameRole::Mention => MENTIONED,
                role => role.factor(asked.implicit),
            };
            self.definition = self.definition.max(factor * definition::share(bearers));
        }
    }

    /// Whether it lies in one of the containers, or there are none.
    fn is_in(&self, containers: &[String]) -> bool {
        containers.is_empty() || self.candidate(0.0, 0.0).is_inside(containers)
    }

    /// How near a typed name comes to a name of the page, see [`near`].
    pub fn nearness(&self, typed: &str) -> f32 {
        let leaf = name::slug_leaf(&self.slug);
        [Some(self.title.as_str()), name::symbol(&self.title), Some(leaf)]
            .into_iter()
            .flatten()
            .filter_map(|name| near(typed, name))
            .map(|near| near.strength)
            .fold(0.0, f32::max)
    }
}

/// Whether a text has nothing but small letters and spaces.
fn is_plain(text: &str) -> bool {
    !text.contains(|c: char| !c.is_lowercase() && !c.is_whitespace())
}

/// Tells pages of which a newer version was found, too.
pub fn mark_older_versions(pages: &mut Map<DocumentId, Page>) {
    let versioned = pages.iter().filter_map(|(&document, page)| {
        Some(Versioned {
            document,
            project: document.project,
            slug: &page.slug,
            version: page.version.as_deref()?,
        })
    });
    let versioned: Vec<Versioned<'_, DocumentId>> = versioned.collect();
    let older = version::superseded(&versioned).into_iter();
    let older: Vec<(DocumentId, String)> = older
        .map(|(document, newest)| (document, versioned[newest].version.to_owned()))
        .collect();
    for (document, newer) in older {
        if let Some(page) = pages.get_mut(&document) {
            page.newer = Some(newer);
        }
    }
}

/// A document with its final score.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// The document and what was found of it.
    pub document: ScoredDocument,
    /// Final score, 0 to 1.
    pub score: f32,
}

impl Ranked {
    /// The greater score comes first, of equal ones the better base score, then the smaller id.
    pub fn by_score(a: &Self, b: &Self) -> std::cmp::Ordering {
        let base = b.document.base.total_cmp(&a.document.base);
        let id = a.document.document.cmp(&b.document.document);
        b.score.total_cmp(&a.score).then(base).then(id)
    }
}

/// Applies the rules to candidates.
#[derive(Debug)]
pub struct Reranker<'a> {
    scorer: Scorer<'a>,
    pages: Map<DocumentId, Read<'a>>,
    background: f32,
}

/// A page, and what it has of the query: read once, though it is scored twice or thrice.
#[derive(Debug)]
struct Read<'a> {
    page: &'a Page,
    found: Found,
}

impl<'a> Reranker<'a> {
    /// `pages` are those that the caller sees; other documents are no results. `background` is the
    /// model's, see [`crate::rank::Weights::background`].
    pub fn new(scorer: Scorer<'a>, pages: &'a Map<DocumentId, Page>, background: f32) -> Self {
        let read = |page: &'a Page| Read {
            page,
            found: scorer.find(&page.candidate(0.0, 0.0)),
        };
        let pages: Map<DocumentId, Read<'_>> = pages.iter().map(|(&id, page)| (id, read(page))).collect();
        let named = pages.values().filter(|read| read.found.names_action).count();
        let share = named as f32 / pages.len().max(1) as f32;
        Self {
            scorer: scorer.with_intent((share - ACTION_NAMES.0) / (ACTION_NAMES.1 - ACTION_NAMES.0)),
            pages,
            background,
        }
    }

    /// The final score; `None` without a page.
    pub fn score(&self, document: &ScoredDocument) -> Option<f32> {
        let read = self.pages.get(&document.document)?;
        Some(self.score_read(read, document.dense, document.lexical))
    }

    fn score_read(&self, Read { page, found }: &Read<'_>, dense: f32, lexical: f32) -> f32 {
        self.scorer.score_found(&page.candidate(dense, lexical), found)
    }

    /// The steps that lead to [`Reranker::score`].
    pub fn explain(&self, document: &ScoredDocument) -> Vec<Step> {
        let read = self.pages.get(&document.document);
        read.map_or_else(Vec::new, |Read { page, .. }| {
            self.scorer.explain(&page.candidate(document.dense, document.lexical))
        })
    }

    /// The documents that may be among the first `places` once the similarity of more chunks is
    /// known, if none of those is nearer than `nearest`, the greatest similarity known. (An index over
    /// vectors misses some, so what it did not find can be as near as that: assuming the similarity of
    /// the furthest one found cost 2 of the 476 queries of tldr-commands their answer.) All others can
    /// be left out.
    pub fn contenders(&self, documents: &[ScoredDocument], nearest: Option<f32>, places: usize) -> Set<DocumentId> {
        let greatest = dense_score(nearest.unwrap_or(1.0), self.background);
        let bounds = documents.iter().filter_map(|document| {
            let read = self.pages.get(&document.document)?;
            let least = self.score_read(read, document.dense, document.lexical);
            let most = if document.similarity.is_none() {
                self.score_read(read, greatest, document.lexical)
            } else {
                least
            };
            Some((document.document, least, most))
        });
        let bounds: Vec<(DocumentId, f32, f32)> = bounds.collect();
        let mut least: Vec<f32> = bounds.iter().map(|bound| bound.1).collect();
        least.sort_by(|a, b| b.total_cmp(a));
        let last = places.checked_sub(1).and_then(|last| least.get(last));
        let reach = last.copied().unwrap_or(0.0);
        let within_reach = bounds.into_iter().filter(|bound| bound.2 >= reach);
        within_reach.map(|bound| bound.0).collect()
    }

    /// Gives every visible document its final score, best first.
    pub fn rerank(&self, documents: Vec<ScoredDocument>) -> Vec<Ranked> {
        let mut ranked: Vec<Ranked> = documents
            .into_iter()
            .filter_map(|document| {
                let score = self.score(&document)?;
                Some(Ranked { document, score })
            })
            .collect();
        ranked.sort_by(Ranked::by_score);
        ranked
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::KnownNames;
    use crate::rule::Rules;
    use crate::weight::RuleWeights;
    use proptest::prelude::*;

    const BACKGROUND: f32 = 0.05;
    const TITLES: [&str; 4] = ["Button", "write_file", "Reading files", "ButtonStyle"];

    fn document(number: i64, similarity: Option<f32>, lexical: f32) -> ScoredDocument {
        let dense = similarity.map_or(0.0, |similarity| dense_score(similarity, BACKGROUND));
        ScoredDocument {
            document: DocumentId {
                project: 1,
                document: number,
            },
            similarity,
            dense,
            lexical,
            base: crate::rank::base_score(dense, lexical, 0.5),
            chunks: Vec::new(),
        }
    }

    fn page(number: i64, name: f32) -> Page {
        let title = TITLES[usize::try_from(number).unwrap_or_default() % TITLES.len()];
        Page {
            title: title.to_owned(),
            slug: title.to_lowercase(),
            name,
            ..Page::default()
        }
    }

    fn with<T>(query: &str, pages: &Map<DocumentId, Page>, call: impl FnOnce(&Reranker<'_>) -> T) -> T {
        let rules = Rules::english();
        let weights = RuleWeights::default();
        let understanding = Understanding::read(query, &rules, &KnownNames::default());
        call(&Reranker::new(
            Scorer::new(&understanding, &rules, &weights),
            pages,
            BACKGROUND,
        ))
    }

    #[test]
    fn s0_36_an_exact_name_comes_first_whatever_the_vectors_say() {
        let (near, named) = (document(1, Some(1.0), 1.0), document(2, Some(0.0), 0.0));
        let pages = Map::from_iter([(near.document, page(1, 0.0)), (named.document, page(2, 0.94))]);
        let first = with("something", &pages, |reranker| {
            reranker.rerank(vec![near, named.clone()])[0].document.document
        });
        assert_eq!(first, named.document);
    }

    #[test]
    fn what_the_caller_does_not_see_is_no_result() {
        let pages = Map::default();
        with("something", &pages, |reranker| {
            assert_eq!(reranker.rerank(vec![document(1, Some(1.0), 1.0)]), []);
        });
    }

    #[test]
    fn of_equal_pages_the_newest_version_comes_first_and_names_outweigh_it() {
        let version_of = |number: i64, version: &str, name: f32| {
            let page = Page {
                slug: format!("{version}/button"),
                version: Some(version.to_owned()),
                ..page(0, name)
            };
            (document(number, Some(0.5), 0.5), page)
        };
        let first = |documents: [(ScoredDocument, Page); 2]| {
            let mut pages: Map<DocumentId, Page> = documents
                .iter()
                .map(|(document, page)| (document.document, page.clone()))
                .collect();
            mark_older_versions(&mut pages);
            let documents = documents.into_iter().map(|(document, _)| document).collect();
            let first = with("something", &pages, |reranker| {
                reranker.rerank(documents)[0].document.document
            });
            first.document
        };
        assert_eq!(first([version_of(1, "1.9", 0.0), version_of(2, "1.10", 0.0)]), 2);
        assert_eq!(first([version_of(1, "1.9", 0.94), version_of(2, "1.10", 0.0)]), 1);
    }

    #[test]
    fn the_page_that_defines_a_name_beats_those_that_use_it() {
        let defined = |query: &str, bearers| {
            let rules = Rules::english();
            let asked = Understanding::read(query, &rules, &KnownNames::default());
            let mut page = page(0, 0.0);
            for form in asked.names() {
                if form.key == name::key("PyList_New") || form.key == name::key("async with") {
                    page.defines(&form, &asked, &[], bearers);
                }
            }
            page.definition
        };
        assert_eq!(defined("PyList_New", 1), 1.0);
        assert!(defined("PyList_New C function", 1) > 0.9);
        assert!(defined("PyList_New", 2) < defined("PyList_New", 1));
        assert_eq!(defined("PyList_New", 4), 0.0, "what many pages define says nothing");
        assert_eq!(defined("why does PyList_New return null", 1), MENTIONED);
        assert_eq!(defined("async with statement", 1), 0.0, "words are no name");
    }

    #[test]
    fn s0_21_a_name_half_typed_is_near() {
        assert!(page(0, 0.0).nearness("butt") > 0.4);
        assert_eq!(page(0, 0.0).nearness("fish"), 0.0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        #[test]
        fn the_order_of_the_candidates_does_not_matter(
            query in "(save|delete|Button|read) ?(a file|styles|Button)?",
            known in proptest::collection::vec((0.3f32..1.0, 0.0f32..1.0), 1..12).prop_shuffle(),
            turn in 0usize..12,
        ) {
            let documents: Vec<ScoredDocument> = (0..)
                .zip(&known)
                .map(|(number, &(similarity, lexical))| document(number, Some(similarity), lexical))
                .collect();
            let pages = documents.iter().map(|document| (document.document, page(document.document.document, 0.0)));
            let pages: Map<DocumentId, Page> = pages.collect();
            let mut turned = documents.clone();
            turned.rotate_left(turn % documents.len());
            turned.reverse();
            with(&query, &pages, |reranker| {
                prop_assert_eq!(reranker.rerank(documents), reranker.rerank(turned));
                Ok(())
            })?;
        }

        #[test]
        fn what_is_no_contender_does_not_come_in(
            query in "(save|delete|Button|read) ?(a file|styles|Button)?",
            known in proptest::collection::vec((0.3f32..1.0, 0.0f32..1.0), 1..8),
            words in proptest::collection::vec((0.0f32..1.0, -0.5f32..0.3, any::<bool>()), 0..40),
            places in 1usize..6,
        ) {
            let near = (0..).zip(&known).map(|(number, &(similarity, lexical))| document(number, Some(similarity), lexical));
            let rest = (known.len() as i64..).zip(&words).map(|(number, &(lexical, ..))| document(number, None, lexical));
            let documents: Vec<ScoredDocument> = near.chain(rest).collect();
            let pages = (0..).zip(&documents).map(|(number, document)| {
                let named = number >= known.len() && words[number - known.len()].2 && number % 7 == 0;
                (document.document, page(number as i64, if named { 0.95 } else { 0.0 }))
            });
            let pages: Map<DocumentId, Page> = pages.collect();
            let nearest = known.iter().map(|known| known.0).reduce(f32::max);
            with(&query, &pages, |reranker| {
                let contenders = reranker.contenders(&documents, nearest, places);
                let best = |kept: &dyn Fn(DocumentId) -> bool| {
                    let documents = documents.iter().enumerate().map(|(number, found)| {
                        if number >= known.len() && kept(found.document) {
                            document(number as i64, Some(words[number - known.len()].1), found.lexical)
                        } else {
                            found.clone()
                        }
                    });
                    let ranked = reranker.rerank(documents.collect());
                    ranked.into_iter().take(places).map(|ranked| ranked.score).collect::<Vec<f32>>()
                };
                prop_assert_eq!(best(&|id| contenders.contains(&id)), best(&|_| true));
                Ok(())
            })?;
        }
    }
}

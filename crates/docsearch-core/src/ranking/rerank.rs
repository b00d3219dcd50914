//! From base scores and pages to an order of documents: the second stage of a search.

use crate::ranking::features::PageFeatures;
use crate::ranking::page::Page;
use crate::ranking::rank::ScoredDocument;
use crate::ranking::score::{BaseScores, Scorer, Step};
use crate::ranking::version::{self, DocumentVersion};
use crate::values::cosine::dense_score;
use crate::values::id::{DocumentId, Map, Set};

/// Share of candidates of a kind with a verb in their titles: up to the first number the rules about verbs are off,
/// from the second on they are fully on. (tools-azure-mcp and tools-livemcp gain by them. Where pages are named after
/// things they mislead: tldr-commands unnamed loses .04 of nDCG@10.)
const ACTION_NAMES: (f32, f32) = (0.4, 0.8);
/// Fewer candidates of a kind count as this number: their share means little. Chosen, not measured.
const MIN_OF_KIND: usize = 4;

/// Marks pages with a newer version among the results.
pub fn mark_older_versions(pages: &mut Map<DocumentId, Page>) {
    let versioned: Vec<DocumentVersion<'_, DocumentId>> =
        pages.iter().filter_map(|(id, page)| page.as_version(*id)).collect();
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
pub struct RankedDocument {
    /// The document with its base scores.
    pub document: ScoredDocument,
    /// Final score, 0 to 1.
    pub score: f32,
}

impl RankedDocument {
    /// Greater scores first. Of equal scores, the better base score, then the smaller id.
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
    pages: Map<DocumentId, PageWithFeatures<'a>>,
    baseline: f32,
}

/// A page with its features for the query: they are computed once, though it is scored two or three times.
#[derive(Debug)]
struct PageWithFeatures<'a> {
    page: &'a Page,
    found: PageFeatures,
}

/// Pages that are compared with each other.
#[derive(PartialEq, Eq, Hash)]
enum ComparedPages<'a> {
    /// Pages of one project.
    Project(&'a str),
    /// Pages of one project with the same `kind`.
    Sort(&'a str, &'a str),
    /// Pages of one project without a `kind` whose titles are names and not headings.
    Named(&'a str),
}

impl<'a> ComparedPages<'a> {
    /// The kind whose share of verbs counts for a page. In a question, pages with names as titles are compared with
    /// the whole project: ray-docs-pages loses .009 of nDCG@10 if they are compared with each other.
    fn of(page: &'a Page, named: bool, is_question: bool) -> Self {
        match Self::own(page, named) {
            Some(Self::Named(_)) if is_question => Self::Project(&page.project),
            own => own.unwrap_or(Self::Project(&page.project)),
        }
    }

    fn own(page: &'a Page, named: bool) -> Option<Self> {
        match &page.kind {
            Some(sort) => Some(Self::Sort(&page.project, sort)),
            // "read_text_file", "getWeather" or "storage account list"; but not "Working with files" or "Ink".
            None => named.then_some(Self::Named(&page.project)),
        }
    }

    /// All kinds that a page belongs to.
    fn all(page: &'a Page, named: bool) -> impl Iterator<Item = Self> {
        std::iter::once(Self::Project(&page.project)).chain(Self::own(page, named))
    }
}

impl<'a> Reranker<'a> {
    /// `pages` are those that the caller may see; other documents are no results. `baseline` is
    /// [`crate::ranking::rank::Mix::baseline`].
    pub fn new(scorer: Scorer<'a>, pages: &'a Map<DocumentId, Page>, baseline: f32) -> Self {
        let read = |page: &'a Page| PageWithFeatures {
            page,
            found: scorer.find(page),
        };
        let mut pages: Map<DocumentId, PageWithFeatures<'_>> =
            pages.iter().map(|(&id, page)| (id, read(page))).collect();
        let mut kinds: Map<ComparedPages<'_>, (usize, usize)> = Map::default();
        for read in pages.values() {
            for kind in ComparedPages::all(read.page, read.found.named) {
                let (all, named) = kinds.entry(kind).or_default();
                *all += 1;
                *named += usize::from(read.found.names_action);
            }
        }
        let mut tasks: Map<&str, f32> = Map::default();
        for read in pages.values() {
            let closest = tasks.entry(&read.page.project).or_default();
            *closest = closest.max(read.found.task);
        }
        for read in pages.values_mut() {
            read.found.closest_task = tasks[read.page.project.as_str()];
            let (all, named) = kinds[&ComparedPages::of(read.page, read.found.named, scorer.is_question())];
            let share = named as f32 / all.max(MIN_OF_KIND) as f32;
            read.found.intent = ((share - ACTION_NAMES.0) / (ACTION_NAMES.1 - ACTION_NAMES.0)).clamp(0.0, 1.0);
        }
        Self {
            scorer,
            pages,
            baseline,
        }
    }

    /// Whether a document can be a result.
    pub fn has_page(&self, document: DocumentId) -> bool {
        self.pages.contains_key(&document)
    }

    /// The final score; `None` without a page.
    pub fn score(&self, document: &ScoredDocument) -> Option<f32> {
        let read = self.pages.get(&document.document)?;
        Some(self.score_read(read, document.dense, document.lexical))
    }

    fn score_read(&self, PageWithFeatures { page, found }: &PageWithFeatures<'_>, dense: f32, lexical: f32) -> f32 {
        self.scorer.score_features(page, BaseScores { dense, lexical }, found)
    }

    /// The steps that lead to [`Reranker::score`].
    pub fn explain(&self, document: &ScoredDocument) -> Vec<Step> {
        let read = self.pages.get(&document.document);
        read.map_or_else(Vec::new, |PageWithFeatures { page, found }| {
            let (dense, lexical) = (document.dense, document.lexical);
            self.scorer.explain_features(page, BaseScores { dense, lexical }, found)
        })
    }

    /// The documents that may be among the first `places` once the similarity of more chunks is known, if none of
    /// them is nearer than `nearest`, the greatest known similarity. Others can be left out. (Vector codes miss some
    /// chunks, which can be as near as that. Assuming the similarity of the furthest chunk found instead cost 2 of
    /// the 476 queries of tldr-commands their answer.)
    ///
    /// `open` are documents with a question that may also be as near as that.
    pub fn contenders(
        &self,
        documents: &[ScoredDocument],
        nearest: Option<f32>,
        open: &Set<DocumentId>,
        places: usize,
    ) -> Set<DocumentId> {
        let greatest = dense_score(nearest.unwrap_or(1.0), self.baseline);
        let bounds = documents.iter().filter_map(|document| {
            let read = self.pages.get(&document.document)?;
            let least = self.score_read(read, document.dense, document.lexical);
            let most = if document.similarity.is_none() || open.contains(&document.document) {
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

    /// Final scores of the documents that the caller may see, best first.
    pub fn rerank(&self, documents: Vec<ScoredDocument>) -> Vec<RankedDocument> {
        let mut ranked: Vec<RankedDocument> = documents
            .into_iter()
            .filter_map(|document| {
                let score = self.score(&document)?;
                Some(RankedDocument { document, score })
            })
            .collect();
        ranked.sort_by(RankedDocument::by_score);
        ranked
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::container::KnownNames;
    use crate::query::rule::Rules;
    use crate::query::understanding::Understanding;
    use crate::ranking::weight::Weights;
    use proptest::prelude::*;

    const BASELINE: f32 = 0.05;
    const TITLES: [&str; 4] = ["Button", "write_file", "Reading files", "ButtonStyle"];

    fn document(number: i64, similarity: Option<f32>, lexical: f32) -> ScoredDocument {
        let dense = similarity.map_or(0.0, |similarity| dense_score(similarity, BASELINE));
        ScoredDocument {
            document: DocumentId {
                project: 1,
                document: number,
            },
            similarity,
            dense,
            lexical,
            base: crate::ranking::rank::base_score(dense, lexical, 0.5),
            text: crate::ranking::rank::TextScore::default(),
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
        let weights = Weights::default();
        let understanding = Understanding::read(query, &rules, &KnownNames::default());
        call(&Reranker::new(
            Scorer::new(&understanding, &rules, &weights),
            pages,
            BASELINE,
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
    fn the_steps_of_a_document_end_at_its_score() {
        let (shown, hidden) = (document(1, Some(0.6), 0.4), document(2, Some(0.6), 0.4));
        let pages = Map::from_iter([(shown.document, page(1, 0.0))]);
        with("write a file", &pages, |reranker| {
            let last = reranker.explain(&shown).last().map(|step| step.after);
            assert_eq!(last, reranker.score(&shown));
            assert!(last.is_some_and(|score| score > 0.4));
            assert_eq!((reranker.score(&hidden), reranker.explain(&hidden)), (None, Vec::new()));
        });
    }

    #[test]
    fn rules_about_verbs_depend_on_pages_of_the_same_kind() {
        let titled = |number: i64, title: &str, kind: Option<&str>| {
            let page = Page {
                title: title.to_owned(),
                slug: title.to_lowercase(),
                kind: kind.map(str::to_owned),
                ..Page::default()
            };
            (document(number, None, 0.5).document, page)
        };
        let intents = |pages: Vec<(DocumentId, Page)>| {
            let pages: Map<DocumentId, Page> = pages.into_iter().collect();
            with("keep a note", &pages, |reranker| {
                let mut intents: Vec<(i64, f32)> = reranker
                    .pages
                    .iter()
                    .map(|(id, read)| (id.document, read.found.intent))
                    .collect();
                intents.sort_by_key(|found| found.0);
                intents.into_iter().map(|found| found.1).collect::<Vec<f32>>()
            })
        };
        let tools = ["read_note", "write_note", "list_notes", "deleteNote"];
        let tools = || (0..).zip(tools).map(|(number, title)| titled(number, title, None));
        let guides = |kind: Option<&'static str>, titles: [&'static str; 3]| {
            (10..)
                .zip(titles)
                .map(move |(number, title)| titled(number, title, kind))
        };
        let prose = ["Notes and their owners", "About the margins", "Paper"];
        let mixed = intents(tools().chain(guides(None, prose)).collect());
        assert_eq!(mixed[..4], [1.0; 4]);
        assert!(mixed[4..].iter().all(|intent| *intent < 0.5), "{mixed:?}");
        // Titles alone do not separate them, their `kind` does.
        let named = ["margins", "paper", "ink"];
        assert_eq!(
            intents(tools().chain(guides(Some("guide"), named)).collect()),
            [1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
        );
        assert!(intents(tools().chain(guides(None, named)).collect())[0] < 1.0);
        // One verb is not enough.
        assert_eq!(
            intents(guides(Some("guide"), ["paper", "write_paper", "ink"]).collect()),
            [0.0; 3]
        );
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
                let contenders = reranker.contenders(&documents, nearest, &Set::default(), places);
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

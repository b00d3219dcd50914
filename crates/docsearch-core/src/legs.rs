//! The legs of a search, brought together: what words, vectors, names, definitions and phrases found, by document.

use crate::bm25::Bm25;
use crate::closeness;
use crate::definition::MAX_BEARERS;
use crate::name::NameKind;
use crate::page::Page;
use crate::rank::{
    ChunkId, Corpora, DocumentId, Evidence, Map, Mix, Set, base_score, chunk_lexical, dense_score, rank,
};
use crate::score::phrase_strength;
use crate::understanding::{NameForm, NameRole, Understanding};

/// Most documents that a phrase may bring: those to which [`phrase_strength`] gives any strength.
pub const MAX_HOLDING: usize = 3;

/// The greatest cosine distance that there is.
const GREATEST_DISTANCE: f32 = 2.0;

/// The best name by which a query asks for a document.
#[derive(Clone, Copy, Debug)]
pub struct NameMatch {
    /// Where the name comes from.
    pub kind: NameKind,
    /// Place among the forms that were looked up.
    pub form: usize,
}

/// What a query asks for by name.
#[derive(Clone, Copy, Debug)]
pub struct AskedNames<'a> {
    /// What was understood of the query.
    pub understanding: &'a Understanding,
    /// The forms that were looked up.
    pub forms: &'a [NameForm],
    /// Keys of the place that the query names, see [`Understanding::container_keys`].
    pub containers: &'a [String],
    /// Places of the terms that are the last part of a qualified name: a page that describes it has one of them.
    pub members: &'a [usize],
    /// The key of what may be a name half typed or mistyped; empty if there is none.
    pub typed: &'a str,
}

/// What the legs found.
#[derive(Debug, Default)]
pub struct Legs {
    /// Words and vectors.
    pub evidence: Evidence,
    /// The best section of each document that the keyword leg found.
    pub best: Vec<ChunkId>,
    /// Documents that bear a name.
    pub names: Map<DocumentId, NameMatch>,
    /// Documents with a name that is near to the query.
    pub near: Set<DocumentId>,
    /// Documents with a section that defines a name that is asked for, and the place of its form.
    pub defining: Vec<(DocumentId, usize)>,
    /// Documents that hold the query word for word.
    pub phrase: Set<DocumentId>,
    /// The newest documents, where nothing but new ones is asked for.
    pub newest: Set<DocumentId>,
    /// A document that no leg found and that is ranked all the same.
    pub focus: Option<DocumentId>,
}

impl Legs {
    /// Every document that a leg found.
    pub fn documents(&self) -> Set<DocumentId> {
        let similar = self.evidence.similarity.keys();
        let chunks = similar.chain(self.evidence.terms.keys()).map(|id| id.document);
        chunks.chain(self.bearers()).collect()
    }

    /// Documents that are candidates whatever their sections say.
    fn bearers(&self) -> Set<DocumentId> {
        let defining = self.defining.iter().map(|(document, _)| document);
        let found = self
            .names
            .keys()
            .chain(&self.near)
            .chain(&self.phrase)
            .chain(&self.newest)
            .chain(defining);
        found.copied().chain(self.focus).collect()
    }

    /// Drops the sections that are farther than this from the query, and documents that nothing but vectors found: how many
    /// these are is returned.
    pub fn limit_distance(&mut self, most: f32) -> usize {
        if most >= GREATEST_DISTANCE {
            return 0;
        }
        let before = self.documents();
        self.evidence
            .similarity
            .retain(|_, similarity| 1.0 - *similarity <= most);
        let near = self.evidence.similarity.keys().chain(&self.best).map(|id| id.document);
        let kept: Set<DocumentId> = near.chain(self.bearers()).collect();
        self.keep(&kept);
        before.len() - before.intersection(&kept).count()
    }

    /// The first sections of documents that were found by a name.
    pub fn summaries(&self) -> impl Iterator<Item = ChunkId> {
        self.bearers()
            .into_iter()
            .map(|document| ChunkId { document, chunk: 0 })
    }

    /// Drops other documents than these.
    pub fn keep(&mut self, documents: &Set<DocumentId>) {
        self.evidence.retain(documents);
        self.best.retain(|id| documents.contains(&id.document));
        self.names.retain(|document, _| documents.contains(document));
        self.near.retain(|document| documents.contains(document));
        self.defining.retain(|(document, _)| documents.contains(document));
        self.phrase.retain(|document| documents.contains(document));
        self.newest.retain(|document| documents.contains(document));
        self.focus = self.focus.filter(|document| documents.contains(document));
    }

    /// Keeps the documents that are likeliest to come first by words and vectors alone, at most `most`, and all that were
    /// found otherwise. A document of which no vector was compared counts as near as the furthest section that the dense leg
    /// brought. How many were left out is returned.
    pub fn keep_likely(&mut self, most: usize, corpora: &Corpora, mix: &Mix) -> usize {
        let furthest = self.evidence.similarity.values().copied().reduce(f32::min);
        let unknown = furthest.map_or(0.0, |furthest| dense_score(furthest, mix.background));
        let documents = rank(&self.evidence, std::iter::empty(), corpora, mix);
        if documents.len() <= most {
            return 0;
        }
        let likely = documents.into_iter().map(|document| {
            let dense = document.similarity.map_or(unknown, |_| document.dense);
            (base_score(dense, document.lexical, mix.hybrid), document.document)
        });
        let mut likely: Vec<(f32, DocumentId)> = likely.collect();
        likely.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let (likely, others) = likely.split_at(most);
        let likely = likely.iter().map(|(_, document)| *document);
        let kept: Set<DocumentId> = likely.chain(self.bearers()).collect();
        self.keep(&kept);
        others.iter().filter(|(_, document)| !kept.contains(document)).count()
    }

    /// Drops what more than a few of the documents hold or define, which tells nothing.
    pub fn drop_common(&mut self) {
        if self.phrase.len() > MAX_HOLDING {
            self.phrase.clear();
        }
        let bearers = self.bearers_of_forms();
        let few = |id: &DocumentId, form: usize| bearers[&(id.project, form)] <= MAX_BEARERS;
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
    pub fn unmeasured(&self, documents: &Set<DocumentId>) -> Vec<ChunkId> {
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

    /// Lifts the pages that were found by a name, a definition or as a phrase, and returns their documents.
    pub fn lift(&self, asked: &AskedNames<'_>, pages: &mut Map<DocumentId, Page>) -> Vec<DocumentId> {
        let phrase = phrase_strength(self.phrase.len());
        let mut named = Vec::new();
        for document in self.bearers() {
            let Some(page) = pages.get_mut(&document) else {
                continue;
            };
            match self.names.get(&document) {
                Some(found) => {
                    let form = &asked.forms[found.form];
                    if form.role != NameRole::Qualifier || self.describes(document, asked.members) {
                        page.bears(found.kind, form, asked.understanding, asked.containers);
                    }
                }
                None if self.near.contains(&document) => page.near_name = page.nearness(asked.typed),
                None => {}
            }
            if self.phrase.contains(&document) {
                page.phrase = phrase;
            }
            named.push(document);
        }
        let names = self
            .names
            .iter()
            .map(|(document, found)| (*document, found.kind, found.form));
        closeness::prefer_closest(names, asked.forms, pages);
        self.lift_defining(asked, pages);
        named
    }

    fn lift_defining(&self, asked: &AskedNames<'_>, pages: &mut Map<DocumentId, Page>) {
        let bearers = self.bearers_of_forms();
        for (document, form) in &self.defining {
            if let Some(page) = pages.get_mut(document) {
                let bearers = bearers[&(document.project, *form)];
                page.defines(&asked.forms[*form], asked.understanding, asked.containers, bearers);
            }
        }
    }
}

/// Keeps the documents with the best sections, at most `window` documents, with all their sections
/// that were read, and returns the best section of each, best first.
pub fn keep_best(evidence: &mut Evidence, corpora: &Corpora, bm25: &Bm25, window: usize) -> Vec<ChunkId> {
    let mut best: Map<DocumentId, (f32, ChunkId)> = Map::default();
    for (&id, terms) in &evidence.terms {
        let corpus = corpora.get(&id.document.project);
        let score = corpus.map_or(0.0, |corpus| chunk_lexical(terms, corpus, bm25));
        let known = best.entry(id.document).or_insert((score, id));
        if score.total_cmp(&known.0).then(known.1.cmp(&id)).is_gt() {
            *known = (score, id);
        }
    }
    let mut order: Vec<(f32, ChunkId)> = best.into_values().collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    order.truncate(window);
    let kept: Set<DocumentId> = order.iter().map(|(_, id)| id.document).collect();
    evidence.terms.retain(|id, _| kept.contains(&id.document));
    order.into_iter().map(|(_, id)| id).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::bm25::Frequencies;
    use crate::place::KnownNames;
    use crate::rank::{ChunkTerms, Corpus, TermWeight};
    use crate::rule::Rules;

    const BM25: Bm25 = Bm25 {
        k1: 1.0,
        b: 0.4,
        title: 2.0,
        heading: 1.5,
        keyword: 0.0,
        proximity: 0.0,
    };

    fn document(number: i64) -> DocumentId {
        DocumentId {
            project: 1,
            document: number,
        }
    }

    fn chunk(number: i64, chunk: i32) -> ChunkId {
        ChunkId {
            document: document(number),
            chunk,
        }
    }

    fn terms(times: f32) -> ChunkTerms {
        ChunkTerms {
            near: 0.0,
            length: 100.0,
            document_length: 100.0,
            frequencies: vec![Frequencies {
                body: times,
                closeness: if times > 0.0 { 1.0 } else { 0.0 },
                ..Frequencies::default()
            }],
        }
    }

    fn corpora() -> Corpora {
        let corpus = Corpus {
            terms: vec![TermWeight { idf: 2.0 }],
            average_chunk: 100.0,
            average_document: 100.0,
        };
        Corpora::from_iter([(1, corpus)])
    }

    fn evidence(sections: &[(i64, i32, f32)]) -> Evidence {
        let terms = sections
            .iter()
            .map(|&(number, place, times)| (chunk(number, place), terms(times)));
        Evidence {
            terms: terms.collect(),
            ..Evidence::default()
        }
    }

    #[test]
    fn the_best_documents_are_kept_with_all_their_sections() {
        let mut found = evidence(&[(1, 0, 1.0), (1, 4, 5.0), (2, 0, 3.0), (3, 2, 2.0)]);
        assert_eq!(keep_best(&mut found, &corpora(), &BM25, 2), [chunk(1, 4), chunk(2, 0)]);
        let mut kept: Vec<ChunkId> = found.terms.into_keys().collect();
        kept.sort();
        assert_eq!(kept, [chunk(1, 0), chunk(1, 4), chunk(2, 0)]);
    }

    #[test]
    fn of_equally_good_sections_the_first_is_the_best() {
        let mut found = evidence(&[
            (1, 3, 2.0),
            (1, 1, 2.0),
            (1, 2, 2.0),
            (2, 5, 2.0),
            (2, 4, 2.0),
            (2, 0, 1.0),
        ]);
        assert_eq!(keep_best(&mut found, &corpora(), &BM25, 9), [chunk(1, 1), chunk(2, 4)]);
    }

    proptest! {
        #[test]
        fn the_likeliest_documents_are_kept_and_all_that_were_found_otherwise(
            words in proptest::collection::btree_map(0i64..40, 0.0f32..9.0, 0..40),
            near in proptest::collection::btree_map(0i64..40, 0.0f32..1.0, 0..20),
            named in proptest::collection::btree_set(0i64..60, 0..4),
            most in 0usize..30,
        ) {
            let mut legs = Legs {
                evidence: evidence(&words.iter().map(|(&number, &times)| (number, 0, times)).collect::<Vec<_>>()),
                near: named.iter().copied().map(document).collect(),
                ..Legs::default()
            };
            legs.evidence.similarity.extend(near.iter().map(|(&number, &near)| (chunk(number, 0), near)));
            let mix = Mix { hybrid: 0.5, document_share: 0.3, background: 0.1, bm25: BM25 };
            let before = legs.documents();
            let ranked = rank(&legs.evidence, std::iter::empty(), &corpora(), &mix);
            let left_out = legs.keep_likely(most, &corpora(), &mix);
            let kept = legs.documents();
            prop_assert_eq!(before.len(), kept.len() + left_out);
            prop_assert!(named.iter().all(|&number| kept.contains(&document(number))));
            let others = kept.iter().filter(|id| !named.contains(&id.document)).count();
            prop_assert!(others <= most);
            prop_assert!(ranked.len() > most || left_out == 0);
            // Of those whose vectors were compared, none that is left out is better than one that is kept.
            let is_compared = |found: &&crate::rank::ScoredDocument| found.similarity.is_some();
            let compared = || ranked.iter().filter(is_compared);
            let least = compared()
                .filter(|found| kept.contains(&found.document) && !named.contains(&found.document.document))
                .map(|found| found.base)
                .fold(1.0, f32::min);
            let out = compared().filter(|found| !kept.contains(&found.document));
            prop_assert!(out.map(|found| found.base).fold(0.0, f32::max) <= least);
        }
    }

    #[test]
    fn what_many_documents_hold_or_define_is_dropped() {
        let few: Vec<i64> = (0..MAX_HOLDING as i64).collect();
        let legs = |holding: &[i64], defining: usize| {
            let mut legs = Legs {
                phrase: holding.iter().copied().map(document).collect(),
                defining: (0..defining as i64).map(|number| (document(number), 0)).collect(),
                ..Legs::default()
            };
            legs.drop_common();
            (legs.phrase.len(), legs.defining.len())
        };
        assert_eq!(legs(&few, MAX_BEARERS), (MAX_HOLDING, MAX_BEARERS));
        assert_eq!(legs(&[0, 1, 2, 3], MAX_BEARERS + 1), (0, 0));
    }

    #[test]
    fn only_documents_that_are_kept_stay() {
        let mut legs = Legs {
            evidence: evidence(&[(1, 0, 1.0), (2, 0, 1.0)]),
            best: vec![chunk(1, 0), chunk(2, 0)],
            near: Set::from_iter([document(2), document(3)]),
            phrase: Set::from_iter([document(3)]),
            focus: Some(document(4)),
            ..Legs::default()
        };
        assert_eq!(legs.documents().len(), 4);
        legs.keep(&Set::from_iter([document(1), document(2)]));
        assert_eq!(legs.documents(), Set::from_iter([document(1), document(2)]));
        assert_eq!((legs.phrase.len(), legs.focus), (0, None));
    }

    #[test]
    fn sections_whose_similarity_counts_are_asked_for_once() {
        let mut legs = Legs {
            best: vec![chunk(1, 3), chunk(2, 1)],
            near: Set::from_iter([document(5)]),
            ..Legs::default()
        };
        legs.evidence.similarity.insert(chunk(2, 1), 0.5);
        let wanted = Set::from_iter([document(1), document(2), document(5)]);
        let mut unmeasured = legs.unmeasured(&wanted);
        unmeasured.sort();
        assert_eq!(unmeasured, [chunk(1, 3), chunk(5, 0)]);
        assert_eq!(legs.unmeasured(&Set::from_iter([document(2)])), []);
    }

    fn lifted(query: &str, legs: &Legs, members: &[usize]) -> Map<DocumentId, Page> {
        let rules = Rules::english();
        let understanding = Understanding::read(query, &rules, &KnownNames::default());
        let page = |title: &str| Page {
            title: title.to_owned(),
            slug: title.to_lowercase(),
            ..Page::default()
        };
        let mut pages = Map::from_iter([(document(1), page("Button")), (document(2), page("ButtonStyle"))]);
        let asked = AskedNames {
            forms: &understanding.names(),
            containers: &[],
            members,
            typed: "butto",
            understanding: &understanding,
        };
        legs.lift(&asked, &mut pages);
        pages
    }

    #[test]
    fn names_phrases_and_near_names_lift() {
        let legs = Legs {
            names: Map::from_iter([(
                document(1),
                NameMatch {
                    kind: NameKind::Title,
                    form: 0,
                },
            )]),
            near: Set::from_iter([document(2), document(9)]),
            phrase: Set::from_iter([document(2)]),
            ..Legs::default()
        };
        let pages = lifted("Button", &legs, &[]);
        assert!(pages[&document(1)].name > 0.9 && pages[&document(1)].phrase == 0.0);
        assert!(pages[&document(2)].near_name > 0.0 && pages[&document(2)].name == 0.0);
        assert_eq!(pages[&document(2)].phrase, phrase_strength(1));
        assert_eq!(pages.len(), 2, "a document that the caller does not see gets no page");
    }

    #[test]
    fn a_leg_lifts_only_what_it_found() {
        let defining = Legs {
            defining: vec![(document(2), 0)],
            ..Legs::default()
        };
        let pages = lifted("PyList_New", &defining, &[]);
        assert_eq!(
            (pages[&document(2)].definition, pages[&document(1)].definition),
            (1.0, 0.0)
        );
        assert_eq!(
            pages[&document(2)].near_name,
            0.0,
            "its name is near to what is typed, but was not asked for"
        );
        let phrase = Legs {
            phrase: Set::from_iter([document(1), document(2)]),
            ..Legs::default()
        };
        let pages = lifted("something", &phrase, &[]);
        for number in [1, 2] {
            let page = &pages[&document(number)];
            assert_eq!((page.phrase, page.near_name), (phrase_strength(2), 0.0));
        }
    }

    #[test]
    fn a_page_of_a_qualifier_counts_if_it_describes_the_member() {
        let rules = Rules::english();
        let query = "QuerySet.filter";
        let understanding = Understanding::read(query, &rules, &KnownNames::default());
        let qualifier = understanding
            .names()
            .iter()
            .position(|form| form.role == NameRole::Qualifier);
        let form = qualifier.expect("a qualifier");
        let legs = |times| Legs {
            evidence: evidence(&[(1, 0, times)]),
            names: Map::from_iter([(
                document(1),
                NameMatch {
                    kind: NameKind::Title,
                    form,
                },
            )]),
            ..Legs::default()
        };
        assert!(lifted(query, &legs(2.0), &[0])[&document(1)].near_name > 0.0);
        assert_eq!(lifted(query, &legs(0.0), &[0])[&document(1)].near_name, 0.0);
        assert_eq!(lifted(query, &legs(2.0), &[])[&document(1)].near_name, 0.0);
    }

    proptest! {
        #[test]
        fn a_greater_window_keeps_what_a_smaller_one_does(
            sections in proptest::collection::vec((0i64..6, 0i32..3, 0.0f32..9.0), 1..20), window in 0usize..6, more in 0usize..4,
        ) {
            let (mut few, mut many) = (evidence(&sections), evidence(&sections));
            let few_best = keep_best(&mut few, &corpora(), &BM25, window);
            let many_best = keep_best(&mut many, &corpora(), &BM25, window + more);
            prop_assert!(few_best.len() <= window && many_best.starts_with(&few_best));
            prop_assert!(few.terms.keys().all(|id| many.terms.contains_key(id)));
        }
    }
}

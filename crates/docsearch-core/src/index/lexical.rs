//! The words of a query with the statistics of the searched projects.

use std::collections::BTreeMap;

use crate::index::bm25::{Frequencies, Lexeme, idf};
use crate::index::corpus::{ChunkTerms, Corpora, Corpus, TermWeight};
use crate::index::statistics::{ChunkFrequencies, Totals};
use crate::postgres::tsvector::TsVector;
use crate::query::lookup::{LookupTerm, any_of};
use crate::values::id::{ChunkId, Map};

/// Greatest distance of near words. It is the only one that was tried, with
/// [`crate::ranking::weight::Weights::weight_proximity`] at .2 and .4.
pub(crate) const NEAR_WORDS: u16 = 3;

/// A query's terms with the statistics of the projects.
#[derive(Debug)]
pub struct Lexical<'a> {
    /// Number of terms.
    terms: usize,
    /// Indexes of those that are in the query.
    written: Vec<usize>,
    /// Lexemes that occur, ascending.
    lexemes: Vec<Lexeme<'a>>,
    /// Number of chunks with each, in all projects.
    frequencies: BTreeMap<&'a str, f64>,
    /// Mean number of sections of a document.
    pub sections_per_document: f64,
    /// Whether no document has some word of the query as it is written.
    pub lacks_a_word: bool,
    /// Statistics for keyword scores.
    pub corpora: Corpora,
}

impl<'a> Lexical<'a> {
    /// Joins the terms of a query with the statistics of their lexemes.
    pub fn new(totals: &Map<i64, Totals>, terms: &'a [LookupTerm], frequencies: &ChunkFrequencies) -> Self {
        let corpus = |totals: &Totals, project: i64| Corpus {
            terms: terms
                .iter()
                .map(|term| {
                    let own = term.frequency(|lexeme| frequencies.of(project, lexeme));
                    let expansions = term
                        .expansions
                        .iter()
                        .map(|(lexeme, _)| frequencies.of(project, lexeme));
                    let sum = if own > 0.0 { own } else { expansions.sum() };
                    TermWeight {
                        idf: idf(totals.chunks, sum) * term.weight,
                        is_held: own > 0.0,
                    }
                })
                .collect(),
            average_chunk: totals.average_chunk(),
            average_document: totals.average_document(),
        };
        let mut lexemes: Vec<Lexeme<'_>> = Vec::new();
        let mut sums = BTreeMap::new();
        for (number, term) in terms.iter().enumerate() {
            for (text, closeness) in term.looked_up() {
                let sum = frequencies.sum(text);
                if sum > 0.0 {
                    lexemes.push(Lexeme {
                        text,
                        term: number,
                        closeness,
                    });
                    sums.insert(text, sum);
                }
            }
        }
        lexemes.sort_by(|a, b| (a.text, a.term).cmp(&(b.text, b.term)));
        let documents: f64 = totals.values().map(|totals| totals.documents).sum();
        Self {
            terms: terms.len(),
            written: (0..terms.len()).filter(|&term| terms[term].written).collect(),
            lexemes,
            frequencies: sums,
            lacks_a_word: terms.iter().any(|term| {
                let known = |lexeme: &str| frequencies.sum(lexeme) > 0.0;
                term.whole && !term.itself().any(known)
            }),
            sections_per_document: Totals::all_chunks(totals) / documents.max(1.0),
            corpora: totals
                .iter()
                .map(|(&project, totals)| (project, corpus(totals, project)))
                .collect(),
        }
    }

    /// Number of terms.
    pub(crate) fn term_count(&self) -> usize {
        self.terms
    }

    /// Indexes of the terms that are in the query, in order.
    pub(crate) fn written(&self) -> &[usize] {
        &self.written
    }

    /// The lexemes of a term that occur.
    pub(crate) fn of_term(&self, term: usize) -> impl Iterator<Item = &Lexeme<'a>> {
        self.lexemes.iter().filter(move |lexeme| lexeme.term == term)
    }

    /// The lexemes that occur, ascending. One of several terms comes several times.
    pub fn occurring(&self) -> impl Iterator<Item = &'a str> {
        self.lexemes.iter().map(|lexeme| lexeme.text)
    }

    /// Lexemes to look up: rarest first, at least one, while their sections fit a budget. A common word can never
    /// make a query slow.
    pub fn within_budget(&self, budget: i64) -> Vec<&str> {
        let mut known: Vec<(&str, f64)> = self
            .frequencies
            .iter()
            .map(|(&lexeme, &count)| (lexeme, count))
            .collect();
        known.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(b.0)));
        let mut sum = 0.0;
        known
            .into_iter()
            .take_while(|&(_, count)| {
                let first = sum == 0.0;
                sum += count;
                first || sum <= budget as f64
            })
            .map(|(lexeme, _)| lexeme)
            .collect()
    }

    /// Queries in tsquery syntax, to be run one after the other until the budget of sections is spent. If even the
    /// rarest lexeme exceeds it, sections with every word of the query come first, then those with some words beside
    /// the rarest. The order does not depend on where sections are stored.
    pub fn readings(&self, budget: i64) -> Vec<String> {
        let looked_up = self.within_budget(budget);
        let Some(&first) = looked_up.first() else {
            return Vec::new();
        };
        let own = self.own_lexemes().into_values();
        let (with_rarest, others): (Vec<_>, Vec<_>) = own.partition(|own| own.contains(&first));
        if self.frequencies[first] <= budget as f64 || others.is_empty() {
            return vec![any_of(looked_up)];
        }
        let rarest = any_of([first]);
        let words = with_rarest.iter().chain(&others);
        let words: Vec<String> = words.map(|own| format!("({})", any_of(own.iter().copied()))).collect();
        let every_word = words.join(" & ");
        let some_word = any_of(others.into_iter().flatten());
        vec![
            every_word.clone(),
            format!("({rarest}) & ({some_word}) & !({every_word})"),
            format!("({rarest}) & !({some_word})"),
        ]
    }

    /// For each word of the query, the lexemes of the word itself.
    fn own_lexemes(&self) -> BTreeMap<usize, Vec<&'a str>> {
        let mut own: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
        let written = self.lexemes.iter().filter(|lexeme| self.written.contains(&lexeme.term));
        for lexeme in written.filter(|lexeme| lexeme.closeness >= 1.0) {
            own.entry(lexeme.term).or_default().push(lexeme.text);
        }
        own
    }

    /// The sections with every word of the query, among those read for [`Self::within_budget`]; `None` if there may
    /// be others.
    pub fn with_every_word(&self, read: &Map<ChunkId, ChunkTerms>, budget: i64) -> Option<Vec<ChunkId>> {
        let looked_up = self.within_budget(budget);
        let sections: f64 = looked_up.iter().map(|lexeme| self.frequencies[lexeme]).sum();
        let own = self.own_lexemes();
        let is_read = |own: &Vec<&str>| own.iter().all(|lexeme| looked_up.contains(lexeme));
        let read_whole = |term: &usize| own.get(term).is_none_or(is_read);
        if sections > budget as f64 || !self.written.iter().any(read_whole) {
            return None;
        }
        let with_every_word = read.iter().filter(|(_, found)| self.has_every_word(found));
        Some(with_every_word.map(|(&id, _)| id).collect())
    }

    /// Whether a section has every word of the query as it is written.
    pub fn has_every_word(&self, found: &ChunkTerms) -> bool {
        let mut written = self.written.iter();
        written.all(|&term| found.frequencies[term].closeness >= 1.0)
    }

    /// The terms of the query in a section with this vector; lengths are in words.
    pub fn read(&self, vector: &TsVector<'_>, length: f32, document_length: f32) -> ChunkTerms {
        ChunkTerms {
            near: self.near(vector),
            length,
            document_length,
            frequencies: Frequencies::of_terms(self.terms, &self.lexemes, vector),
        }
    }

    /// Share of the pairs of neighbours in the query that are within [`NEAR_WORDS`] words of each other in a section,
    /// in either order; 0 for a single word.
    fn near(&self, vector: &TsVector<'_>) -> f32 {
        let Some(pairs) = self.written.len().checked_sub(1).filter(|&pairs| pairs > 0) else {
            return 0.0;
        };
        let positions = self.written.iter().map(|&term| self.positions(term, vector));
        let mut near = 0;
        let mut before: Vec<u16> = Vec::new();
        for (at, positions) in positions.enumerate() {
            let follows = |&position: &u16| {
                let from = before.partition_point(|&other| other + NEAR_WORDS < position);
                before.get(from).is_some_and(|&other| other <= position + NEAR_WORDS)
            };
            near += usize::from(at > 0 && positions.iter().any(follows));
            before = positions;
        }
        near as f32 / pairs as f32
    }

    /// Positions of a term or its expansions, ascending.
    fn positions(&self, term: usize, vector: &TsVector<'_>) -> Vec<u16> {
        let own = self.lexemes.iter().filter(|lexeme| lexeme.term == term);
        let mut positions: Vec<u16> = own
            .flat_map(|own| vector.positions(own.text).map(|(at, _)| at))
            .collect();
        positions.sort_unstable();
        positions
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::postgres::tsvector::{Weight, encode};
    use crate::values::id::DocumentId;

    fn term(lexeme: &str, weight: f32) -> LookupTerm {
        LookupTerm {
            lexemes: vec![lexeme.to_owned()],
            spellings: Vec::new(),
            expansions: Vec::new(),
            weight,
            whole: true,
            written: true,
            text: lexeme.to_owned(),
            stop_word: false,
            name: false,
        }
    }

    fn frequencies(counts: &[(&str, f64)]) -> ChunkFrequencies {
        ChunkFrequencies::of_rows(
            counts
                .iter()
                .map(|(word, count)| (1, (*word).to_owned(), *count))
                .collect(),
        )
    }

    fn totals() -> Map<i64, Totals> {
        Map::from_iter([(1, Totals::new(10, 3_000, 100, 4_000))])
    }

    #[test]
    fn the_rarest_words_are_read_first_and_one_always() {
        let terms = [term("the", 1.0), term("vacuum", 1.0), term("table", 1.0)];
        let known = frequencies(&[("the", 90.0), ("vacuum", 5.0), ("table", 20.0)]);
        let lexical = Lexical::new(&totals(), &terms, &known);
        assert_eq!(lexical.within_budget(1), ["vacuum"]);
        assert_eq!(lexical.within_budget(24), ["vacuum"]);
        assert_eq!(lexical.within_budget(25), ["vacuum", "table"]);
        assert_eq!(lexical.within_budget(1_000), ["vacuum", "table", "the"]);
        assert_eq!(lexical.sections_per_document, 10.0);
        assert!(!lexical.lacks_a_word);
    }

    #[test]
    fn of_words_that_are_all_common_sections_with_every_one_are_read_first() {
        let mut row = term("row", 1.0);
        row.expansions = vec![("tuple".to_owned(), 0.9)];
        let terms = [row, term("level", 1.0), term("type", 1.0)];
        let known = frequencies(&[("row", 30.0), ("tuple", 40.0), ("level", 50.0), ("type", 60.0)]);
        let lexical = Lexical::new(&totals(), &terms, &known);
        assert_eq!(
            lexical.readings(20),
            [
                "('row') & ('level') & ('type')",
                "('row') & ('level' | 'type') & !(('row') & ('level') & ('type'))",
                "('row') & !('level' | 'type')",
            ]
        );
        assert_eq!(lexical.readings(30), ["'row'"]);
        assert_eq!(lexical.readings(1_000), ["'row' | 'tuple' | 'level' | 'type'"]);
        let alone = [term("row", 1.0)];
        let known = frequencies(&[("row", 30.0)]);
        assert_eq!(Lexical::new(&totals(), &alone, &known).readings(20), ["'row'"]);
        assert!(
            Lexical::new(&totals(), &alone, &frequencies(&[]))
                .readings(20)
                .is_empty()
        );
    }

    #[test]
    fn a_word_that_no_document_has_is_reported_and_its_expansion_takes_its_rarity() {
        let mut unknown = term("vacum", 1.0);
        unknown.expansions = vec![("vacuum".to_owned(), 0.9)];
        let terms = [unknown, term("table", 0.5)];
        let known = frequencies(&[("vacuum", 5.0), ("table", 20.0)]);
        let lexical = Lexical::new(&totals(), &terms, &known);
        assert!(lexical.lacks_a_word);
        let corpus = &lexical.corpora[&1];
        assert_eq!(corpus.terms[0].idf, idf(100.0, 5.0));
        assert_eq!(corpus.terms[1].idf, 0.5 * idf(100.0, 20.0));
        assert_eq!((corpus.average_chunk, corpus.average_document), (40.0, 300.0));
    }

    #[test]
    fn sections_with_every_word_are_known_if_all_were_read() {
        let terms = [term("a", 1.0), term("b", 1.0)];
        let known = frequencies(&[("a", 3.0), ("b", 50.0)]);
        let lexical = Lexical::new(&totals(), &terms, &known);
        let chunk = |number| ChunkId {
            document: DocumentId {
                project: 1,
                document: 1,
            },
            chunk: number,
        };
        let read = |words: &[(&str, &[(u16, Weight)])]| {
            let bytes = encode(words);
            lexical.read(&TsVector::new(&bytes).expect("a vector"), 7.0, 70.0)
        };
        let position: &[(u16, Weight)] = &[(1, Weight::D)];
        let found = Map::from_iter([
            (chunk(0), read(&[("a", position)])),
            (chunk(1), read(&[("a", position), ("b", position)])),
        ]);
        assert_eq!((found[&chunk(0)].length, found[&chunk(0)].document_length), (7.0, 70.0));
        assert_eq!(lexical.with_every_word(&found, 100), Some(vec![chunk(1)]));
        assert_eq!(
            lexical.with_every_word(&found, 5),
            Some(vec![chunk(1)]),
            "every section with a was read"
        );
        assert_eq!(
            lexical.with_every_word(&found, 2),
            None,
            "some with a may not have been"
        );
    }

    #[test]
    fn neighbours_of_the_query_are_near_each_other_in_either_order() {
        let terms = [term("search", 1.0), term("path", 1.0), term("current", 1.0)];
        let known = frequencies(&[("search", 5.0), ("path", 5.0), ("current", 5.0)]);
        let lexical = Lexical::new(&totals(), &terms, &known);
        let near = |words: &[(&str, &[(u16, Weight)])]| {
            let bytes = encode(words);
            lexical.read(&TsVector::new(&bytes).expect("a vector"), 9.0, 90.0).near
        };
        let at = |position: u16| [(position, Weight::D)];
        assert_eq!(near(&[("current", &at(3)), ("path", &at(2)), ("search", &at(1))]), 1.0);
        assert_eq!(near(&[("current", &at(9)), ("path", &at(4)), ("search", &at(7))]), 0.5);
        assert_eq!(near(&[("path", &at(4)), ("search", &at(8))]), 0.0, "too far apart");
        assert_eq!(
            near(&[("current", &at(1)), ("search", &at(2))]),
            0.0,
            "no neighbours in the query"
        );
        assert_eq!(
            near(&[
                ("path", &[(1, Weight::D), (40, Weight::A)]),
                ("search", &[(20, Weight::D), (42, Weight::D)])
            ]),
            0.5
        );
        let alone = [term("search", 1.0)];
        let lexical = Lexical::new(&totals(), &alone, &known);
        let bytes = encode(&[("search", &at(1))]);
        assert_eq!(
            lexical.read(&TsVector::new(&bytes).expect("a vector"), 9.0, 90.0).near,
            0.0
        );
    }

    #[test]
    fn a_word_was_read_whole_if_all_of_its_own_forms_were() {
        let found = Map::default();
        let known = frequencies(&[("asyncimag", 3.0), ("asyncimage", 40.0), ("picture", 60.0)]);
        let mut word = term("asyncimag", 1.0);
        word.lexemes.push("asyncimage".to_owned());
        word.expansions.push(("picture".to_owned(), 0.8));
        let terms = [word];
        let lexical = Lexical::new(&totals(), &terms, &known);
        assert_eq!(lexical.with_every_word(&found, 42), None, "a form of it was not read");
        assert_eq!(
            lexical.with_every_word(&found, 43),
            Some(Vec::new()),
            "expansions need not be read"
        );
        assert_eq!(lexical.with_every_word(&found, 2), None, "not even the first fits");
    }

    proptest! {
        #[test]
        fn a_greater_budget_reads_no_fewer_words(
            counts in proptest::collection::vec(1u16..500, 1..8), budget in 0i64..1_000, more in 0i64..1_000,
        ) {
            let words: Vec<String> = (0..counts.len()).map(|number| format!("w{number}")).collect();
            let terms: Vec<LookupTerm> = words.iter().map(|word| term(word, 1.0)).collect();
            let known: Vec<(&str, f64)> =
                words.iter().map(String::as_str).zip(counts.iter().map(|&count| f64::from(count))).collect();
            let known = frequencies(&known);
            let lexical = Lexical::new(&totals(), &terms, &known);
            let (less, more) = (lexical.within_budget(budget), lexical.within_budget(budget + more));
            prop_assert!(!less.is_empty() && more.starts_with(&less));
            let sum: f64 = less.iter().map(|lexeme| known.sum(lexeme)).sum();
            prop_assert!(less.len() == 1 || sum <= budget as f64);
        }
    }
}

//! Statistics: numbers of documents, chunks and words, and of chunks with each lexeme.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use crate::documents::question_chunk::is_question;
use crate::postgres::tsvector::TsVector;
use crate::values::id::Map;

/// A chunk to be counted.
#[derive(Clone, Debug, Default)]
pub struct CountedChunk {
    /// `docsearch.chunk.chunk_no`.
    pub number: i32,
    /// `docsearch.chunk.term_count`.
    pub words: i64,
    /// The bytes of `docsearch.chunk.terms`.
    pub terms: Vec<u8>,
}

/// Changes of an indexing call to the statistics of a project.
#[derive(Debug, Default)]
pub struct Delta {
    documents: i64,
    document_words: i64,
    chunks: i64,
    chunk_words: i64,
    /// Chunks and documents for each lexeme.
    terms: BTreeMap<String, (i32, i32)>,
}

impl Delta {
    /// Counts a document. `sign` is 1 if it is added and -1 if it is deleted. Words are counted in all its chunks,
    /// sizes without questions.
    pub fn count(&mut self, sign: i32, words: i64, chunks: &[CountedChunk]) {
        self.documents += i64::from(sign);
        self.document_words += i64::from(sign) * words;
        let mut in_document = BTreeSet::new();
        for chunk in chunks {
            if !is_question(chunk.number) {
                self.chunks += i64::from(sign);
                self.chunk_words += i64::from(sign) * chunk.words;
            }
            let lexemes = TsVector::new(&chunk.terms)
                .into_iter()
                .flat_map(|terms| terms.lexemes());
            for lexeme in lexemes {
                in_document.insert(lexeme);
                match self.terms.get_mut(lexeme) {
                    Some(counts) => counts.0 += sign,
                    None => {
                        self.terms.insert(lexeme.to_owned(), (sign, 0));
                    }
                }
            }
        }
        for lexeme in in_document {
            if let Some(counts) = self.terms.get_mut(lexeme) {
                counts.1 += sign;
            }
        }
    }

    /// Adds another change.
    pub fn add(&mut self, other: Delta) {
        self.documents += other.documents;
        self.document_words += other.document_words;
        self.chunks += other.chunks;
        self.chunk_words += other.chunk_words;
        for (lexeme, (chunks, documents)) in other.terms {
            let counts = self.terms.entry(lexeme).or_default();
            counts.0 += chunks;
            counts.1 += documents;
        }
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty() && self.documents == 0 && self.chunks == 0
    }

    /// The change as rows, without unchanged lexemes; `None` if there is nothing to write.
    pub fn into_rows(mut self) -> Option<DeltaRows> {
        self.terms.retain(|_, counts| *counts != (0, 0));
        if self.is_empty() {
            return None;
        }
        let mut rows = DeltaRows {
            documents: self.documents,
            document_words: self.document_words,
            chunks: self.chunks,
            chunk_words: self.chunk_words,
            ..DeltaRows::default()
        };
        for (lexeme, (chunks, documents)) in self.terms {
            rows.lexemes.push(lexeme);
            rows.lexeme_chunks.push(chunks);
            rows.lexeme_documents.push(documents);
        }
        Some(rows)
    }
}

/// A [`Delta`] as columns: what is added to the sizes of a project and to the frequencies of lexemes.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct DeltaRows {
    /// Documents.
    pub documents: i64,
    /// Words of documents.
    pub document_words: i64,
    /// Chunks.
    pub chunks: i64,
    /// Words of chunks.
    pub chunk_words: i64,
    /// The lexemes that changed, ascending.
    pub lexemes: Vec<String>,
    /// Chunks of each.
    pub lexeme_chunks: Vec<i32>,
    /// Documents of each.
    pub lexeme_documents: Vec<i32>,
}

/// Size of a project.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    /// Documents.
    pub documents: f64,
    /// Words of documents.
    pub document_words: f64,
    /// Chunks.
    pub chunks: f64,
    /// Words of chunks.
    pub chunk_words: f64,
}

impl Totals {
    /// The size by numbers of documents, their words, chunks, and their words.
    pub fn new(documents: i64, document_words: i64, chunks: i64, chunk_words: i64) -> Self {
        Self {
            documents: documents as f64,
            document_words: document_words as f64,
            chunks: chunks as f64,
            chunk_words: chunk_words as f64,
        }
    }

    /// Adds a chunk with its number of words; the first chunk of a document also adds the document.
    pub fn count(&mut self, is_first: bool, words: u32, document_words: u32) {
        if is_first {
            self.documents += 1.0;
            self.document_words += f64::from(document_words);
        }
        self.chunks += 1.0;
        self.chunk_words += f64::from(words);
    }

    /// Adds another size.
    pub fn add(&mut self, other: &Self) {
        self.documents += other.documents;
        self.document_words += other.document_words;
        self.chunks += other.chunks;
        self.chunk_words += other.chunk_words;
    }

    /// Number of chunks of all projects.
    pub fn all_chunks(totals: &Map<i64, Self>) -> f64 {
        totals.values().map(|totals| totals.chunks).sum()
    }

    /// Mean number of words of a document, at least 1.
    pub fn average_document(&self) -> f32 {
        (self.document_words / self.documents.max(1.0)).max(1.0) as f32
    }

    /// Mean number of words of a chunk, at least 1.
    pub fn average_chunk(&self) -> f32 {
        (self.chunk_words / self.chunks.max(1.0)).max(1.0) as f32
    }
}

/// Number of chunks with each lexeme, by project.
#[derive(Clone, Debug, Default)]
pub struct ChunkFrequencies {
    chunks: BTreeMap<String, Map<i64, f64>>,
}

impl ChunkFrequencies {
    /// From rows: project, lexeme, and number of chunks. Zeros are left out.
    pub fn of_rows(rows: Vec<(i64, String, f64)>) -> Self {
        let mut frequencies = Self::default();
        for (project, lexeme, chunks) in rows.into_iter().filter(|row| row.2 > 0.0) {
            frequencies.chunks.entry(lexeme).or_default().insert(project, chunks);
        }
        frequencies
    }

    /// Counts one more chunk.
    pub fn count(&mut self, project: i64, lexeme: &str) {
        self.add(project, lexeme, 1);
    }

    /// Counts further chunks.
    pub fn add(&mut self, project: i64, lexeme: &str, chunks: usize) {
        if chunks == 0 {
            return;
        }
        if !self.chunks.contains_key(lexeme) {
            self.chunks.insert(lexeme.to_owned(), Map::default());
        }
        if let Some(known) = self.chunks.get_mut(lexeme) {
            *known.entry(project).or_default() += chunks as f64;
        }
    }

    /// Replaces the frequencies of a lexeme: the caller may see it in one chunk of each of these projects.
    pub fn correct(&mut self, lexeme: &str, seen: Vec<i64>) {
        self.chunks.remove(lexeme);
        for project in seen {
            self.count(project, lexeme);
        }
    }

    /// Takes the frequencies of a lexeme from another.
    pub fn take(&mut self, other: &Self, lexeme: &str) {
        if let Some(known) = other.chunks.get(lexeme) {
            self.chunks.insert(lexeme.to_owned(), known.clone());
        }
    }

    /// The part between two texts, with words of these lengths in characters.
    pub fn part(&self, (from, to): (&str, &str), length: &RangeInclusive<i32>) -> Self {
        let part = self.chunks.range(from.to_owned()..to.to_owned());
        let fits = |lexeme: &str| i32::try_from(lexeme.chars().count()).is_ok_and(|count| length.contains(&count));
        let part = part.filter(|(lexeme, _)| fits(lexeme));
        Self {
            chunks: part.map(|(lexeme, known)| (lexeme.clone(), known.clone())).collect(),
        }
    }

    /// Adds all of another.
    pub fn join(&mut self, other: Self) {
        self.chunks.extend(other.chunks);
    }

    /// Number of chunks of a project.
    pub fn of(&self, project: i64, lexeme: &str) -> f64 {
        self.chunks
            .get(lexeme)
            .and_then(|known| known.get(&project))
            .copied()
            .unwrap_or(0.0)
    }

    /// Number of chunks of all projects.
    pub fn sum(&self, lexeme: &str) -> f64 {
        self.chunks.get(lexeme).map_or(0.0, |known| known.values().sum())
    }

    /// The lexemes that occur.
    pub fn lexemes(&self) -> impl Iterator<Item = &str> {
        self.chunks.keys().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::postgres::tsvector::encode;

    fn bytes_of(lexemes: &[&str]) -> Vec<u8> {
        let lexemes: Vec<(&str, &[(u16, crate::postgres::tsvector::Weight)])> =
            lexemes.iter().map(|lexeme| (*lexeme, [].as_slice())).collect();
        encode(&lexemes)
    }

    fn chunk(number: i32, words: i64, lexemes: &[&str]) -> CountedChunk {
        CountedChunk {
            number,
            words,
            terms: bytes_of(lexemes),
        }
    }

    #[test]
    fn a_document_that_comes_and_goes_changes_nothing() {
        let chunks = [chunk(0, 3, &["apple", "tree"]), chunk(1, 1, &["apple"])];
        let mut delta = Delta::default();
        delta.count(1, 4, &chunks);
        let rows = {
            let mut copy = Delta::default();
            copy.count(1, 4, &chunks);
            copy.into_rows().expect("rows")
        };
        assert_eq!(
            (rows.documents, rows.document_words, rows.chunks, rows.chunk_words),
            (1, 4, 2, 4)
        );
        assert_eq!(rows.lexemes, ["apple", "tree"]);
        assert_eq!((rows.lexeme_chunks, rows.lexeme_documents), (vec![2, 1], vec![1, 1]));
        let mut gone = Delta::default();
        gone.count(-1, 4, &chunks);
        delta.add(gone);
        assert_eq!(delta.into_rows(), None);
    }

    #[test]
    fn changes_add_up() {
        let mut both = Delta::default();
        both.count(1, 4, &[chunk(0, 3, &["apple", "tree"]), chunk(1, 1, &["apple"])]);
        let mut second = Delta::default();
        second.count(1, 10, &[chunk(0, 7, &["apple"])]);
        both.add(second);
        let mut gone = Delta::default();
        gone.count(-1, 2, &[chunk(0, 2, &["leaf"])]);
        both.add(gone);
        let expected = DeltaRows {
            documents: 1 + 1 - 1,
            document_words: 4 + 10 - 2,
            chunks: 2 + 1 - 1,
            chunk_words: 4 + 7 - 2,
            lexemes: ["apple", "leaf", "tree"].map(str::to_owned).to_vec(),
            lexeme_chunks: vec![3, -1, 1],
            lexeme_documents: vec![2, -1, 1],
        };
        assert_eq!(both.into_rows(), Some(expected));
    }

    #[test]
    fn words_of_questions_are_counted_and_their_sizes_are_not() {
        let question = crate::index::question::chunk_number(0, 0).expect("a number");
        let mut delta = Delta::default();
        delta.count(1, 4, &[chunk(0, 4, &["tree"]), chunk(question, 3, &["plant", "tree"])]);
        let rows = delta.into_rows().expect("rows");
        assert_eq!((rows.chunks, rows.chunk_words), (1, 4));
        assert_eq!(rows.lexemes, ["plant", "tree"]);
        assert_eq!((rows.lexeme_chunks, rows.lexeme_documents), (vec![1, 2], vec![1, 1]));
    }

    #[test]
    fn a_change_is_empty_if_nothing_was_counted() {
        let counted = |chunks: &[CountedChunk]| {
            let mut delta = Delta::default();
            delta.count(1, 0, chunks);
            delta
        };
        assert!(Delta::default().is_empty());
        assert!(!counted(&[]).is_empty(), "a document without a section");
        assert!(!counted(&[chunk(0, 3, &["apple"])]).is_empty());
        // The same document with one section more, of words that it had.
        let mut delta = counted(&[chunk(0, 3, &[]), chunk(1, 3, &[])]);
        delta.count(-1, 0, &[chunk(0, 3, &[])]);
        assert!(!delta.is_empty());
        assert_eq!(
            delta.into_rows().map(|rows| (rows.documents, rows.chunks)),
            Some((0, 1))
        );
    }

    #[test]
    fn means_are_never_below_one_word() {
        let totals = Totals {
            documents: 2.0,
            document_words: 300.0,
            chunks: 10.0,
            chunk_words: 450.0,
        };
        assert_eq!((totals.average_document(), totals.average_chunk()), (150.0, 45.0));
        assert_eq!(Totals::default().average_document(), 1.0);
        assert_eq!(Totals::default().average_chunk(), 1.0);
        let all = Map::from_iter([(1, totals), (2, totals)]);
        assert_eq!(Totals::all_chunks(&all), 20.0);
    }

    #[test]
    fn frequencies_are_of_projects_and_of_all() {
        let rows = vec![
            (1, "a".to_owned(), 2.0),
            (2, "a".to_owned(), 3.0),
            (1, "b".to_owned(), 0.0),
        ];
        let mut known = ChunkFrequencies::of_rows(rows);
        assert_eq!((known.of(1, "a"), known.of(2, "a"), known.of(3, "a")), (2.0, 3.0, 0.0));
        assert_eq!((known.sum("a"), known.sum("b")), (5.0, 0.0));
        assert_eq!(known.lexemes().collect::<Vec<_>>(), ["a"]);
        known.count(3, "a");
        known.count(3, "c");
        assert_eq!((known.sum("a"), known.sum("c")), (6.0, 1.0));
    }

    #[test]
    fn what_is_not_seen_does_not_count() {
        let mut known = ChunkFrequencies::of_rows(vec![(1, "a".to_owned(), 9.0), (2, "b".to_owned(), 4.0)]);
        known.correct("a", vec![1, 1]);
        known.correct("b", Vec::new());
        assert_eq!((known.sum("a"), known.sum("b")), (2.0, 0.0));
        assert_eq!(known.lexemes().collect::<Vec<_>>(), ["a"]);
    }

    #[test]
    fn a_part_has_the_words_between_two_texts_of_some_lengths() {
        let words = ["ab", "abc", "abd", "b"];
        let known = ChunkFrequencies::of_rows(words.map(|word| (1, word.to_owned(), 1.0)).to_vec());
        let part = known.part(("abc", "b"), &(1..=3));
        assert_eq!(part.lexemes().collect::<Vec<_>>(), ["abc", "abd"]);
        assert_eq!(known.part(("a", "c"), &(2..=2)).lexemes().collect::<Vec<_>>(), ["ab"]);
        let mut joined = part;
        joined.join(known.part(("a", "abc"), &(1..=9)));
        assert_eq!(joined.lexemes().count(), 3);
        let mut taken = ChunkFrequencies::default();
        taken.take(&known, "b");
        taken.take(&known, "zzz");
        assert_eq!(taken.lexemes().collect::<Vec<_>>(), ["b"]);
    }

    proptest! {
        #[test]
        fn sums_are_those_of_the_projects(rows in proptest::collection::vec((0i64..4, "[ab]", 1u8..9), 0..20)) {
            let last: BTreeMap<(i64, String), u8> = rows.iter().map(|(p, w, n)| ((*p, w.clone()), *n)).collect();
            let known = ChunkFrequencies::of_rows(rows.into_iter().map(|(p, w, n)| (p, w, n.into())).collect());
            for word in ["a", "b"] {
                let sum: f64 = last.iter().filter(|((_, w), _)| w == word).map(|(_, n)| f64::from(*n)).sum();
                prop_assert_eq!(known.sum(word), sum);
                let of_each: f64 = (0..4).map(|project| known.of(project, word)).sum();
                prop_assert_eq!(of_each, sum);
            }
        }
    }
}

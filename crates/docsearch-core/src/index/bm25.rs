//! BM25F over the fields of a chunk, scaled to what a query can reach.
//!
//! Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009),
//! section 3.5: field frequencies are weighted and added before they saturate.

use crate::postgres::tsvector::{TsVector, Weight};
use crate::query::lookup;

/// Parameters of BM25F.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bm25 {
    /// Saturation of the term frequency; 0 ignores frequency.
    pub k1: f32,
    /// Length normalisation, 0 to 1.
    pub b: f32,
    /// Weight of a title or name (A).
    pub title: f32,
    /// Weight of a heading (B).
    pub heading: f32,
    /// Weight of a keyword (C).
    pub keyword: f32,
    /// How much more a section counts whose words are near each other if they are neighbours in the query, see
    /// [`crate::index::lexical::Lexical::read`] (`weight_proximity`).
    pub proximity: f32,
}

impl Bm25 {
    fn field_weight(&self, weight: Weight) -> f32 {
        match weight {
            Weight::A => self.title,
            Weight::B => self.heading,
            Weight::C => self.keyword,
            Weight::D => 1.0,
        }
    }

    /// Score of one term: `idf * (k1 + 1) * tf / (tf + k1 * (1 - b + b * length / average))`.
    pub fn term(&self, idf: f32, frequency: f32, length: f32, average_length: f32) -> f32 {
        self.term_of_norm(idf, frequency, self.norm(length, average_length))
    }

    /// The same with the [`Self::norm`] of the text.
    pub(crate) fn term_of_norm(&self, idf: f32, frequency: f32, norm: f32) -> f32 {
        if frequency <= 0.0 {
            return 0.0;
        }
        idf * (self.k1 + 1.0) * frequency / (frequency + norm)
    }

    /// The length norm of a text: `k1 * (1 - b + b * length / average)`.
    pub(crate) fn norm(&self, length: f32, average_length: f32) -> f32 {
        let relative = if average_length > 0.0 {
            length / average_length
        } else {
            1.0
        };
        self.k1 * (1.0 - self.b + self.b * relative)
    }

    /// Least upper bound of [`Bm25::term`] for a term of this idf.
    pub fn attainable(&self, idf: f32) -> f32 {
        idf * (self.k1 + 1.0)
    }
}

/// Inverse document frequency in the form that is never negative, that of Lucene:
/// `ln(1 + (n - df + 0.5) / (df + 0.5))`.
pub fn idf(documents: f64, frequency: f64) -> f32 {
    let frequency = frequency.clamp(0.0, documents);
    ((documents - frequency + 0.5) / (frequency + 0.5)).ln_1p() as f32
}

/// Occurrences of a lexeme in each field of a chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Frequencies {
    /// Title and names.
    pub title: f32,
    /// Headings.
    pub heading: f32,
    /// Keywords.
    pub keyword: f32,
    /// Body.
    pub body: f32,
    /// Greatest closeness of its lexemes to the term, 0 to 1; 0 if none was found.
    pub closeness: f32,
}

/// A lexeme to look up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lexeme<'a> {
    /// The lexeme.
    pub text: &'a str,
    /// Index of its term.
    pub term: usize,
    /// Its closeness to the term, 0 to 1.
    pub closeness: f32,
}

impl Lexeme<'_> {
    /// Whether it is a folded form.
    pub(crate) fn is_folded(&self) -> bool {
        lookup::is_folded(self.text)
    }
}

impl Frequencies {
    /// Counts the lexemes of `count` terms in a chunk's vector. The lexemes are in ascending order. Those of one term
    /// add up, but for folded forms: they stand beside the words that they are forms of.
    pub fn of_terms(count: usize, lexemes: &[Lexeme<'_>], vector: &TsVector<'_>) -> Vec<Self> {
        let mut found = vec![Self::default(); count];
        let mut folded: Vec<(usize, Self)> = Vec::new();
        let mut from = 0;
        for lexeme in lexemes {
            let mut own = Self::default();
            for (_, weight) in vector.positions_from(&mut from, lexeme.text) {
                *own.field_mut(weight) += 1.0;
                own.closeness = lexeme.closeness;
            }
            if lexeme.is_folded() {
                folded.push((lexeme.term, own));
            } else {
                found[lexeme.term].add(&own);
            }
        }
        for (term, folded) in folded {
            found[term].fold(&folded);
        }
        found
    }

    fn field_mut(&mut self, weight: Weight) -> &mut f32 {
        match weight {
            Weight::A => &mut self.title,
            Weight::B => &mut self.heading,
            Weight::C => &mut self.keyword,
            Weight::D => &mut self.body,
        }
    }

    /// One frequency for all fields, weighted.
    pub fn weighted(&self, bm25: &Bm25) -> f32 {
        self.title * bm25.field_weight(Weight::A)
            + self.heading * bm25.field_weight(Weight::B)
            + self.keyword * bm25.field_weight(Weight::C)
            + self.body
    }

    /// Adds another lexeme of the same term.
    pub(crate) fn add(&mut self, other: &Self) {
        self.title += other.title;
        self.heading += other.heading;
        self.keyword += other.keyword;
        self.body += other.body;
        self.closeness = self.closeness.max(other.closeness);
    }

    /// Adds the folded form of the same term, after all others. It occurs wherever a word with accents does.
    pub(crate) fn fold(&mut self, folded: &Self) {
        self.title = self.title.max(folded.title);
        self.heading = self.heading.max(folded.heading);
        self.keyword = self.keyword.max(folded.keyword);
        self.body = self.body.max(folded.body);
        self.closeness = self.closeness.max(folded.closeness);
    }

    /// Adds another chunk of the same document. Title and keywords are in every chunk and count once; headings and
    /// body add up.
    pub fn join(&mut self, other: &Self) {
        self.title = self.title.max(other.title);
        self.keyword = self.keyword.max(other.keyword);
        self.heading += other.heading;
        self.closeness = self.closeness.max(other.closeness);
        self.body += other.body;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BM25: Bm25 = Bm25 {
        k1: 1.2,
        b: 0.75,
        title: 2.0,
        heading: 1.5,
        keyword: 1.0,
        proximity: 0.0,
    };

    #[test]
    fn a_rarer_term_weighs_more() {
        assert!(idf(1000.0, 3.0) > idf(1000.0, 300.0));
        assert!(idf(1000.0, 1000.0) > 0.0);
    }

    #[test]
    fn scores_are_those_of_another_implementation() {
        // bm25s 0.3.16, method "lucene", times k1 + 1, of four documents with 4, 7, 2 and 9 words.
        let of_bm25s = [
            (
                1.2,
                0.75,
                [
                    0.780_194, 0.808_393, 1.029_09, 0.156_906, 0.094_785, 0.142_443, 0.083_598,
                ],
            ),
            (
                1.0,
                0.4,
                [
                    0.733_136, 0.851_913, 1.012_118, 0.145_782, 0.099_911, 0.120_726, 0.093_465,
                ],
            ),
        ];
        let (rare, common) = (idf(4.0, 2.0), idf(4.0, 4.0));
        for (k1, b, expected) in of_bm25s {
            let bm25 = Bm25 { k1, b, ..BM25 };
            let term = |idf, frequency, length| bm25.term(idf, frequency, length, 5.5);
            let scores = [
                term(rare, 1.0, 4.0),
                term(rare, 2.0, 9.0),
                term(rare, 3.0, 7.0),
                term(common, 2.0, 4.0),
                term(common, 1.0, 7.0),
                term(common, 1.0, 2.0),
                term(common, 1.0, 9.0),
            ];
            for (score, expected) in scores.into_iter().zip(expected) {
                assert!((score - expected).abs() < 1e-5, "{score} {expected}");
            }
        }
    }

    #[test]
    fn without_lengths_only_frequencies_count() {
        assert_eq!(BM25.term(2.0, 0.0, 10.0, 10.0), 0.0);
        assert_eq!(BM25.term(2.0, 1.0, 99.0, 0.0), BM25.term(2.0, 1.0, 7.0, 7.0));
        assert_eq!(BM25.attainable(2.0), 4.4);
    }

    #[test]
    fn fields_count_by_their_weights_and_chunks_add_up() {
        let first = Frequencies {
            title: 1.0,
            heading: 2.0,
            keyword: 1.0,
            body: 3.0,
            closeness: 0.5,
        };
        assert_eq!(first.weighted(&BM25), 2.0 + 3.0 + 1.0 + 3.0);
        let mut both = first;
        both.join(&Frequencies {
            title: 2.0,
            heading: 1.0,
            keyword: 0.0,
            body: 4.0,
            closeness: 0.25,
        });
        let joined = Frequencies {
            title: 2.0,
            heading: 3.0,
            keyword: 1.0,
            body: 7.0,
            closeness: 0.5,
        };
        assert_eq!(both, joined);
    }

    #[test]
    fn lexemes_of_a_term_add_up_by_field() {
        use crate::postgres::tsvector::encode;
        let bytes = encode(&[
            ("a", &[(1, Weight::A), (5, Weight::D)]),
            ("b", &[(2, Weight::B), (3, Weight::C), (9, Weight::D)]),
        ]);
        let lexeme = |text, term, closeness| Lexeme { text, term, closeness };
        let looked_up = [lexeme("a", 0, 0.8), lexeme("b", 0, 0.5), lexeme("b", 1, 1.0)];
        let vector = TsVector::new(&bytes).expect("a vector");
        let found = Frequencies::of_terms(3, &looked_up, &vector);
        let counted = |title, heading, keyword, body, closeness| Frequencies {
            title,
            heading,
            keyword,
            body,
            closeness,
        };
        assert_eq!(found[0], counted(1.0, 1.0, 1.0, 2.0, 0.8));
        assert_eq!(found[1], counted(0.0, 1.0, 1.0, 1.0, 1.0));
        assert_eq!(found[2], Frequencies::default());
    }

    #[test]
    fn a_word_and_its_folded_form_count_once() {
        use crate::postgres::tsvector::encode;
        let bytes = encode(&[
            ("eleve", &[(7, Weight::D)]),
            ("~eleve", &[(2, Weight::A), (4, Weight::D), (6, Weight::D)]),
            ("élève", &[(1, Weight::A), (3, Weight::D)]),
        ]);
        let vector = TsVector::new(&bytes).expect("a vector");
        let lexeme = |text, closeness| Lexeme {
            text,
            term: 0,
            closeness,
        };
        let looked_up = [lexeme("eleve", 0.9), lexeme("~eleve", 0.9), lexeme("élève", 1.0)];
        let found = Frequencies::of_terms(1, &looked_up, &vector)[0];
        assert_eq!((found.title, found.body, found.closeness), (1.0, 2.0, 1.0));
        let without = Frequencies::of_terms(1, &looked_up[1..2], &vector)[0];
        assert_eq!((without.title, without.body, without.closeness), (1.0, 2.0, 0.9));
    }

    proptest! {
        #[test]
        fn terms_are_monotone_and_bounded(idf in 0.0f32..10.0, tf in 0.0f32..100.0, more in 0.0f32..10.0, length in 1.0f32..5000.0) {
            let score = BM25.term(idf, tf, length, 150.0);
            prop_assert!(score <= BM25.attainable(idf) + 1e-4);
            prop_assert!(BM25.term(idf, tf + more, length, 150.0) >= score - 1e-4);
            prop_assert!(BM25.term(idf, tf, length * 2.0, 150.0) <= score + 1e-4);
        }
    }
}

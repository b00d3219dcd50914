//! BM25F over the fields of a chunk, scaled to what a query can reach.
//!
//! Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009),
//! section 3.5: field frequencies are weighted and added before they saturate.

use crate::tsvector::{TsVector, Weight};

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
        if frequency <= 0.0 {
            return 0.0;
        }
        let relative = if average_length > 0.0 {
            length / average_length
        } else {
            1.0
        };
        let norm = self.k1 * (1.0 - self.b + self.b * relative);
        idf * (self.k1 + 1.0) * frequency / (frequency + norm)
    }

    /// Least upper bound of [`Bm25::term`] for a term of this idf.
    pub fn attainable(&self, idf: f32) -> f32 {
        idf * (self.k1 + 1.0)
    }
}

/// Inverse document frequency in the form that is never negative:
/// `ln(1 + (n - df + 0.5) / (df + 0.5))`.
pub fn idf(documents: f64, frequency: f64) -> f32 {
    let frequency = frequency.clamp(0.0, documents);
    ((documents - frequency + 0.5) / (frequency + 0.5)).ln_1p() as f32
}

/// How often a lexeme stands in each field of a chunk.
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
    /// How well the closest of the lexemes found stands for the term, 0 to 1: 0 if none was found.
    pub closeness: f32,
}

/// A lexeme that is looked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lexeme<'a> {
    /// The lexeme.
    pub text: &'a str,
    /// The number of its term.
    pub term: usize,
    /// How well it stands for the term, 0 to 1.
    pub closeness: f32,
}

impl Frequencies {
    /// Counts the lexemes of `count` terms in a chunk's vector. The lexemes come in ascending order;
    /// those of the same term add up.
    pub fn of_terms(count: usize, lexemes: &[Lexeme<'_>], vector: &TsVector<'_>) -> Vec<Self> {
        let mut found = vec![Self::default(); count];
        let mut from = 0;
        for lexeme in lexemes {
            let found = &mut found[lexeme.term];
            for (_, weight) in vector.positions_from(&mut from, lexeme.text) {
                *found.field_mut(weight) += 1.0;
                found.closeness = found.closeness.max(lexeme.closeness);
            }
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

    /// One frequency for all fields, each with its weight.
    pub fn weighted(&self, bm25: &Bm25) -> f32 {
        self.title * bm25.field_weight(Weight::A)
            + self.heading * bm25.field_weight(Weight::B)
            + self.keyword * bm25.field_weight(Weight::C)
            + self.body
    }

    /// Adds another chunk of the same document. Title and keywords stand in every chunk and count
    /// once; headings and body add up.
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
    };

    #[test]
    fn a_rarer_term_weighs_more() {
        assert!(idf(1000.0, 3.0) > idf(1000.0, 300.0));
        assert!(idf(1000.0, 1000.0) > 0.0);
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

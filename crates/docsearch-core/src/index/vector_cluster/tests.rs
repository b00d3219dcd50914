use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::index::vector_code::{CodeQuery, Codes, MAX_CLUSTERED, ROW_BYTES};

/// Pseudo-random numbers from -1 to 1.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % 2001) as f32 / 1000.0 - 1.0
    }

    fn vector(&mut self, dimension: usize) -> Vec<f32> {
        (0..dimension).map(|_| self.next()).collect()
    }

    /// A vector near one of some topics.
    fn near(&mut self, topics: &[Vec<f32>]) -> Vec<f32> {
        let topic = ((self.next() + 1.0) * 1000.0) as usize % topics.len();
        topics[topic].iter().map(|x| x + 0.5 * self.next()).collect()
    }
}

fn packed(vectors: &[Vec<f32>], first_document: i64) -> Vec<ClusterRow> {
    let Some(wanted) = Clusters::wanted(vectors.len(), vectors[0].len()) else {
        return Vec::new();
    };
    let sample: Vec<Vec<f32>> = vectors.iter().take(SAMPLE * wanted).cloned().collect();
    let mut packer = ClusterPacker::new(Clusters::learn(&sample, wanted).expect("a sample"));
    let mut rows = Vec::new();
    for (place, vector) in vectors.iter().enumerate() {
        packer.push(first_document.wrapping_add(place as i64), 3, vector);
        rows.extend(packer.take_full());
    }
    rows.extend(packer.finish());
    rows
}

#[test]
fn few_rows_have_what_is_near() {
    let mut numbers = Numbers(88_172_645_463_325_252);
    let topics: Vec<Vec<f32>> = (0..100).map(|_| numbers.vector(192)).collect();
    let vectors: Vec<Vec<f32>> = (0..10_000).map(|_| numbers.near(&topics)).collect();
    let rows = packed(&vectors, 0);
    let (mut kept, mut wanted, mut read) = (0, 0, 0);
    for _ in 0..20 {
        let query = normalized(&numbers.near(&topics));
        let mut by_similarity: Vec<(f32, i64)> = vectors
            .iter()
            .zip(0..)
            .map(|(x, n)| (dot(&query, &normalized(x)), n))
            .collect();
        by_similarity.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut nearest = NearestRows::default();
        let code = CodeQuery::new(&query);
        for (number, row) in (0..).zip(&rows) {
            nearest
                .codes()
                .compare(&code, number, &Codes::read(&row.centroid).expect("a centroid"));
        }
        let mut found = BTreeSet::new();
        for number in nearest.finish().take(rows.len() / 5) {
            let codes = Codes::read(&rows[number as usize].row.bytes).expect("codes");
            found.extend(codes.keys().map(|(document, _)| document));
            read += codes.keys().count();
        }
        kept += by_similarity[..60]
            .iter()
            .filter(|(_, document)| found.contains(document))
            .count();
        wanted += 60;
    }
    assert!(kept * 100 >= wanted * 97, "{kept} of {wanted}");
    assert!(read <= 20 * vectors.len() / 4, "{read} codes read");
}

#[test]
fn nothing_is_no_cluster() {
    assert!(Clusters::learn(&[], 10).is_none());
    assert_eq!(Clusters::wanted(1_000_000, 384), Some(6944));
    assert_eq!(Clusters::wanted(3, 384), Some(1));
    assert_eq!(Clusters::wanted(1_000_000, 16_000), None);
    assert_eq!(codes_beside(MAX_CLUSTERED), Some(2));
    assert_eq!(codes_beside(MAX_CLUSTERED + 1), None);
    let unlike = [vec![f32::NAN; 4], vec![0.0; 4], vec![f32::INFINITY; 4]];
    assert!(Clusters::learn(&unlike, 10).is_some());
    assert_eq!(
        packed(&unlike, i64::MAX).iter().map(|row| row.row.codes).sum::<usize>(),
        3
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Each vector has its own code in one row, and a row fits into a page with its centroid.
    #[test]
    fn every_vector_is_in_one_row(
        seed in 1u64..,
        dimension in prop_oneof![1usize..200, Just(384), Just(3072)],
        count in 1usize..400,
        first_document in prop_oneof![Just(0i64), any::<i64>()],
    ) {
        let mut numbers = Numbers(seed);
        let vectors: Vec<Vec<f32>> = (0..count).map(|_| numbers.vector(dimension)).collect();
        let rows = packed(&vectors, first_document);
        let mut found = Vec::new();
        for ClusterRow { row, centroid } in &rows {
            prop_assert!(row.bytes.len() + centroid.len() <= ROW_BYTES);
            prop_assert!(Codes::read(centroid).is_some_and(|codes| codes.have_dimension(dimension)));
            let codes = Codes::read(&row.bytes).expect("codes");
            prop_assert_eq!(codes.keys().count(), row.codes);
            for (document, chunk, code) in codes.iter() {
                let place = document.wrapping_sub(first_document) as usize;
                prop_assert!(chunk == 3 && code.resembles(&vectors[place]));
                found.push(place);
            }
        }
        found.sort_unstable();
        prop_assert_eq!(found, (0..count).collect::<Vec<_>>());
    }
}

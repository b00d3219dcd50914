//! Products and cosine similarity of vectors, and the dense score.

/// Cosine of the angle between two vectors; 0 if one has no length.
pub fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    let lengths = (dot(a, a) * dot(b, b)).sqrt();
    if lengths > 0.0 { dot(a, b) / lengths } else { 0.0 }
}

/// The vector with length 1; the same if it has none.
#[must_use]
pub fn normalized(vector: &[f32]) -> Vec<f32> {
    let length = dot(vector, vector).sqrt();
    match length > 0.0 {
        true => vector.iter().map(|component| component / length).collect(),
        false => vector.to_vec(),
    }
}

/// The cosine similarity of vectors of length 1; 0 if one of them is not known.
#[must_use]
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    // Eight sums let the compiler use vector instructions: it keeps the order of a sum. Of iterators it made a call each.
    let (a_blocks, a_rest) = a.as_chunks::<8>();
    let (b_blocks, b_rest) = b.as_chunks::<8>();
    let mut sums = [0.0_f32; 8];
    for (a, b) in a_blocks.iter().zip(b_blocks) {
        for place in 0..8 {
            sums[place] += a[place] * b[place];
        }
    }
    sums.iter().sum::<f32>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f32>()
}

/// Cosine similarity rescaled so that unrelated texts have 0: `max(0, (s - b) / (1 - b))`.
pub fn dense_score(similarity: f32, baseline: f32) -> f32 {
    ((similarity - baseline) / (1.0 - baseline)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn assert_near(score: f32, expected: f32) {
        assert!((score - expected).abs() < 1e-6, "{score} {expected}");
    }

    #[test]
    fn vectors_are_compared_by_their_angle() {
        assert_near(cosine(&[3.0, 4.0], &[6.0, 8.0]), 1.0);
        assert_near(cosine(&[1.0, 0.0], &[0.0, 5.0]), 0.0);
        assert_near(cosine(&[2.0, 0.0], &[-3.0, 0.0]), -1.0);
        assert_near(cosine(&[2.0, 0.0], &[3.0, 3.0]), 0.5f32.sqrt());
        assert_eq!(cosine(&[0.0, 0.0], &[3.0, 3.0]), 0.0);
    }

    #[test]
    fn similarity_counts_from_that_of_unrelated_texts() {
        assert_near(dense_score(0.6, 0.2), 0.5);
        assert_near(dense_score(1.0, 0.2), 1.0);
        assert_eq!(dense_score(0.2, 0.2), 0.0);
        assert_eq!(dense_score(-0.5, 0.2), 0.0);
    }

    proptest! {
        #[test]
        fn a_product_is_the_sum_of_products(pairs in prop::collection::vec((-1.0f32..1.0, -1.0f32..1.0), 0..40)) {
            let (a, b): (Vec<f32>, Vec<f32>) = pairs.iter().copied().unzip();
            let sum: f64 = pairs.iter().map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
            prop_assert!((f64::from(dot(&a, &b)) - sum).abs() < 1e-4);
        }
    }
}

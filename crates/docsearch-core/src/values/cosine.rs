//! Cosine similarity of vectors, and the dense score.

/// Cosine of the angle between two vectors; 0 if one has no length.
pub fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    let lengths = (dot(a, a) * dot(b, b)).sqrt();
    if lengths > 0.0 { dot(a, b) / lengths } else { 0.0 }
}

/// Cosine similarity rescaled so that unrelated texts have 0: `max(0, (s - b) / (1 - b))`.
pub fn dense_score(similarity: f32, baseline: f32) -> f32 {
    ((similarity - baseline) / (1.0 - baseline)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
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
}

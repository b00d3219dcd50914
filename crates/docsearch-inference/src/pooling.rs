//! Pools the vectors of tokens into the vector of a text.

use serde::{Deserialize, Serialize};
use strum::EnumString;

/// How the vectors of tokens become the vector of their text. Parsed from the names of sentence-transformers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, EnumString)]
#[serde(rename_all = "snake_case")]
pub enum Pooling {
    /// The arithmetic mean.
    #[strum(serialize = "mean_tokens", serialize = "mean")]
    Mean,
    /// The vector of the first token.
    #[strum(serialize = "cls_token", serialize = "cls")]
    Cls,
    /// The vector of the last token.
    #[strum(serialize = "lasttoken")]
    LastToken,
    /// The greatest value of each component.
    #[strum(serialize = "max_tokens", serialize = "max")]
    Max,
}

impl Pooling {
    /// Pools `tokens`, the concatenated vectors of one unpadded text, with `dimension` numbers each. There is at least one.
    pub(crate) fn pool(self, tokens: &[f32], dimension: usize) -> Vec<f32> {
        match self {
            Pooling::Mean => mean(tokens, dimension),
            Pooling::Cls => tokens[..dimension].to_vec(),
            Pooling::LastToken => tokens[tokens.len() - dimension..].to_vec(),
            Pooling::Max => max(tokens, dimension),
        }
    }
}

fn mean(tokens: &[f32], dimension: usize) -> Vec<f32> {
    let count = (tokens.len() / dimension) as f32;
    let mut sums = vec![0.0_f32; dimension];
    for token in tokens.chunks_exact(dimension) {
        for (sum, value) in sums.iter_mut().zip(token) {
            *sum += value;
        }
    }
    sums.iter_mut().for_each(|sum| *sum /= count);
    sums
}

fn max(tokens: &[f32], dimension: usize) -> Vec<f32> {
    let mut greatest = vec![f32::NEG_INFINITY; dimension];
    for token in tokens.chunks_exact(dimension) {
        for (best, value) in greatest.iter_mut().zip(token) {
            *best = best.max(*value);
        }
    }
    greatest
}

/// Scales `vector` to length 1; a vector of zeros stays as it is.
pub(crate) fn normalize(vector: &mut [f32]) {
    let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if norm > 0.0 {
        vector.iter_mut().for_each(|x| *x /= norm);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREE_TOKENS: [f32; 6] = [1.0, 8.0, 4.0, -2.0, 1.0, 6.0];

    #[test]
    fn each_mode_pools_three_tokens_of_two_components() {
        assert_eq!(Pooling::Mean.pool(&THREE_TOKENS, 2), [2.0, 4.0]);
        assert_eq!(Pooling::Cls.pool(&THREE_TOKENS, 2), [1.0, 8.0]);
        assert_eq!(Pooling::LastToken.pool(&THREE_TOKENS, 2), [1.0, 6.0]);
        assert_eq!(Pooling::Max.pool(&THREE_TOKENS, 2), [4.0, 8.0]);
    }

    #[test]
    fn normalizing_gives_length_one_and_leaves_zeros_alone() {
        let mut vector = [3.0, 4.0];
        normalize(&mut vector);
        assert_eq!(vector, [0.6, 0.8]);

        let mut zeros = [0.0, 0.0];
        normalize(&mut zeros);
        assert_eq!(zeros, [0.0, 0.0]);
    }
}

//! Length limits of an output.

use crate::text::token_estimate::CHARS_PER_TOKEN;

/// Default of `max_chars`.
pub const DEFAULT_MAX_CHARS: usize = 20_000;

/// Least `max_chars`: enough to say that results were left out, and how to get them.
pub const MIN_MAX_CHARS: usize = 200;

/// Least `max_tokens`.
pub const MIN_MAX_TOKENS: usize = MIN_MAX_CHARS / CHARS_PER_TOKEN;

/// Greatest length of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    max_chars: usize,
    max_tokens: Option<usize>,
}

/// Why a budget is refused: it is too small for any output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BudgetError {
    /// `max_chars` is below [`MIN_MAX_CHARS`].
    #[error("max_chars is {0}, and must be at least {MIN_MAX_CHARS}")]
    Chars(usize),
    /// `max_tokens` is below [`MIN_MAX_TOKENS`].
    #[error("max_tokens is {0}, and must be at least {MIN_MAX_TOKENS}")]
    Tokens(usize),
}

impl Budget {
    /// The smaller of both limits; `max_tokens` counts [`CHARS_PER_TOKEN`] characters each.
    pub fn new(max_chars: usize, max_tokens: Option<usize>) -> Result<Self, BudgetError> {
        if max_chars < MIN_MAX_CHARS {
            return Err(BudgetError::Chars(max_chars));
        }
        match max_tokens {
            Some(tokens) if tokens < MIN_MAX_TOKENS => Err(BudgetError::Tokens(tokens)),
            _ => Ok(Self { max_chars, max_tokens }),
        }
    }

    /// Greatest length in characters (Unicode scalar values, as Postgres counts them).
    pub fn max_chars(self) -> usize {
        let by_tokens = self.max_tokens.map(|tokens| tokens.saturating_mul(CHARS_PER_TOKEN));
        self.max_chars.min(by_tokens.unwrap_or(usize::MAX))
    }

    /// The SQL arguments that raise each limit below this number of characters.
    pub(super) fn raised_to(self, chars: usize) -> String {
        let tokens = chars.div_ceil(CHARS_PER_TOKEN);
        let by_tokens = self.max_tokens.filter(|most| *most < tokens);
        let by_tokens = by_tokens.map(|_| format!("max_tokens => {tokens}"));
        let by_chars = (self.max_chars < chars).then(|| format!("max_chars => {chars}"));
        let raised: Vec<String> = by_tokens.into_iter().chain(by_chars).collect();
        raised.join(", ")
    }
}

/// Share of `total` for each of several texts of these lengths. Short texts get all they need. Long ones get equal
/// shares, but for one character.
///
/// Max-min fairness: no share can grow without taking from a smaller one (Bertsekas and Gallager, Data Networks, 2nd
/// edition, section 6.5.2).
pub fn shares(lengths: &[usize], total: usize) -> Vec<usize> {
    let mut shares = vec![0; lengths.len()];
    let mut shortest_first: Vec<usize> = (0..lengths.len()).collect();
    shortest_first.sort_by_key(|&text| lengths[text]);
    let mut left = total;
    for (given, text) in shortest_first.into_iter().enumerate() {
        shares[text] = lengths[text].min(left / (lengths.len() - given));
        left -= shares[text];
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn long_texts_share_what_short_ones_leave() {
        assert_eq!(shares(&[100, 10, 100], 90), [40, 10, 40]);
        assert_eq!(shares(&[100, 10, 20], 1_000), [100, 10, 20]);
        assert_eq!(shares(&[5, 5, 5], 2), [0, 1, 1]);
        assert_eq!(shares(&[], 10), Vec::<usize>::new());
    }

    proptest! {
        #[test]
        fn all_is_used_and_no_text_is_favoured(lengths in proptest::collection::vec(0usize..1_000, 0..20), total in 0usize..5_000) {
            let given = shares(&lengths, total);
            let needed: usize = lengths.iter().sum();
            prop_assert_eq!(given.iter().sum::<usize>(), needed.min(total));
            for (share, length) in given.iter().zip(&lengths) {
                prop_assert!(share <= length);
                if share < length {
                    prop_assert!(given.iter().all(|other| *other <= share + 1));
                }
            }
        }
    }
}

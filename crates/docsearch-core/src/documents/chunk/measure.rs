//! Token counts of pieces of text. Every byte of a document is counted about once.

use super::TokenCounter;
use crate::values::interrupt;
use std::ops::Range;

/// More bytes than a token of any vocabulary has in real text. A tokenizer may give a word of megabytes a single
/// "unknown" token; this still bounds the bytes of a chunk.
const MAX_BYTES_PER_TOKEN: usize = 64;

/// Counts tokens.
#[derive(Clone, Copy)]
pub(super) struct Measure<'a> {
    counter: &'a dyn TokenCounter,
    /// Above this number of tokens the exact count does not matter.
    cap: usize,
}

impl<'a> Measure<'a> {
    pub(super) fn new(counter: &'a dyn TokenCounter, cap: usize) -> Self {
        Self { counter, cap }
    }

    pub(super) fn tokens(&self, text: &str) -> usize {
        interrupt::check();
        if text.trim().is_empty() {
            return 0;
        }
        let least = text.len() / MAX_BYTES_PER_TOKEN;
        if least > self.cap {
            least
        } else {
            self.counter.count(text).max(least)
        }
    }
}

/// Token counts of the ranges between given offsets of a text, summed from its start.
pub(super) struct Costs {
    offsets: Vec<usize>,
    sums: Vec<usize>,
}

impl Costs {
    pub(super) fn new(text: &str, offsets: impl Iterator<Item = usize>, measure: Measure<'_>) -> Self {
        let mut offsets: Vec<usize> = offsets.chain([0, text.len()]).collect();
        offsets.sort_unstable();
        offsets.dedup();
        let mut sums = Vec::with_capacity(offsets.len());
        sums.push(0);
        let mut sum = 0;
        for pair in offsets.windows(2) {
            sum += measure.tokens(&text[pair[0]..pair[1]]);
            sums.push(sum);
        }
        Self { offsets, sums }
    }

    /// Tokens of a range whose ends are among the offsets; other ends count from the offset before.
    pub(super) fn of(&self, range: &Range<usize>) -> usize {
        self.until(range.end).saturating_sub(self.until(range.start))
    }

    fn until(&self, offset: usize) -> usize {
        let index = self.offsets.partition_point(|known| *known <= offset);
        self.sums[index.saturating_sub(1)]
    }
}

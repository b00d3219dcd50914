//! The search for better weights: one weight at a time, up and down by steps that become smaller.
//!
//! A weight moves away from its default only if the mean of the paired differences is above their standard error, and stays there
//! only as long as it would be lost by more than that: differences within noise leave the default (Breiman et al. 1984, the
//! one-standard-error rule). What a library of black-box optimisation sees of a measurement is a mean, so it cannot pair.

use std::ops::Range;

use fastrand::Rng;

use crate::evaluation::tuning::query::{Role, TuningQuery, balance};
use crate::evaluation::tuning::space::{Dimension, Settings};

/// Steps, as shares of the scale of a weight.
const STEPS: [f64; 3] = [0.2, 0.1, 0.05];
/// Rounds over all weights with one step.
const ROUNDS: usize = 2;
/// The share of the judged queries that is measured first: settings that do not win there are left.
const FIRST_SHARE: usize = 3;

/// The result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The settings that it found.
    pub settings: Settings,
    /// Number of settings that were tried.
    pub tried: usize,
    /// Whether it ended before its time was over.
    pub is_complete: bool,
}

/// The queries of a search, in blocks that are measured one after the other.
struct Blocks {
    /// The weight of each query.
    weights: Vec<f64>,
    blocks: [Range<usize>; 3],
}

/// What settings are worth against others, by the queries that were measured.
#[derive(Clone, Copy)]
struct Gain {
    mean: f64,
    standard_error: f64,
}

/// Searches from `start`. Judged queries come before others, in an order that has nothing to do with their groups. `measure`
/// returns the values of a range of the queries with some settings, `None` once the time is over. Equal arguments give equal
/// searches.
///
/// # Errors
///
/// The first error of `measure`.
pub fn search<E>(
    dimensions: &[Dimension],
    start: &Settings,
    queries: &[TuningQuery],
    seed: u64,
    measure: impl FnMut(&Settings, Range<usize>) -> Result<Option<Vec<f64>>, E>,
) -> Result<Found, E> {
    let judged = queries.iter().take_while(|query| query.role == Role::Judged).count();
    let blocks = Blocks {
        weights: balance(queries),
        blocks: [
            0..judged / FIRST_SHARE,
            judged / FIRST_SHARE..judged,
            judged..queries.len(),
        ],
    };
    let mut search = Search {
        blocks,
        measure,
        current: start.clone(),
        values: Vec::new(),
        inert: vec![false; dimensions.len()],
        tried: 0,
        is_over: false,
    };
    if let Some(values) = search.whole(start)? {
        search.values = values;
        let mut random = Rng::with_seed(seed);
        for step in STEPS {
            for _ in 0..ROUNDS {
                if !search.round(dimensions, step, &mut random)? {
                    break;
                }
            }
        }
        search.settle(dimensions, start)?;
    }
    Ok(Found {
        settings: search.current,
        tried: search.tried,
        is_complete: !search.is_over,
    })
}

struct Search<M> {
    blocks: Blocks,
    measure: M,
    current: Settings,
    values: Vec<f64>,
    /// Weights that change no value.
    inert: Vec<bool>,
    tried: usize,
    is_over: bool,
}

impl<E, M: FnMut(&Settings, Range<usize>) -> Result<Option<Vec<f64>>, E>> Search<M> {
    /// Tries each weight once, and returns whether any moved.
    fn round(&mut self, dimensions: &[Dimension], step: f64, random: &mut Rng) -> Result<bool, E> {
        let mut order: Vec<usize> = (0..dimensions.len()).collect();
        random.shuffle(&mut order);
        let mut has_moved = false;
        for place in order {
            if self.is_over || self.inert[place] {
                continue;
            }
            let dimension = &dimensions[place];
            let mut is_inert = true;
            let mut best: Option<(f64, f64, Vec<f64>, f64)> = None;
            for direction in [step, -step] {
                let Some(value) = dimension.moved(dimension.value(&self.current), direction) else {
                    continue;
                };
                let Some((gain, values)) = self.tried_at(dimension, value, &mut is_inert)? else {
                    continue;
                };
                if best.as_ref().is_none_or(|(known, ..)| gain > *known) {
                    best = Some((gain, value, values, direction));
                }
            }
            self.inert[place] = is_inert && !self.is_over;
            while let Some((_, value, values, direction)) = best.take() {
                self.current = dimension.with(&self.current, value);
                self.values = values;
                has_moved = true;
                if let Some(value) = dimension.moved(value, direction) {
                    let further = self.tried_at(dimension, value, &mut is_inert)?;
                    best = further.map(|(gain, values)| (gain, value, values, direction));
                }
            }
        }
        Ok(has_moved)
    }

    /// The gain of another value of one weight and what was measured with it, if it wins.
    fn tried_at(
        &mut self,
        dimension: &Dimension,
        value: f64,
        is_inert: &mut bool,
    ) -> Result<Option<(f64, Vec<f64>)>, E> {
        let settings = dimension.with(&self.current, value);
        let is_nearer = dimension.distance(value) < dimension.distance(dimension.value(&self.current));
        let wins = |gain: Gain| match is_nearer {
            true => gain.mean >= 0.0,
            false => gain.mean > gain.standard_error,
        };
        // A third of the queries only shows what is worse.
        let may_win = |gain: Gain| gain.mean >= if is_nearer { -gain.standard_error } else { 0.0 };
        self.tried += 1;
        let mut values = Vec::with_capacity(self.values.len());
        let [first, rest, guards] = self.blocks.blocks.clone();
        let mut gain = Gain {
            mean: 0.0,
            standard_error: 0.0,
        };
        for (block, is_last) in [(first, false), (rest, true)] {
            let Some(measured) = (self.measure)(&settings, block)? else {
                self.is_over = true;
                return Ok(None);
            };
            values.extend(measured);
            *is_inert &= values == self.values[..values.len()];
            gain = self.blocks.gain(&self.values, &values);
            if !(if is_last { wins(gain) } else { may_win(gain) }) {
                return Ok(None);
            }
        }
        let Some(measured) = (self.measure)(&settings, guards.clone())? else {
            self.is_over = true;
            return Ok(None);
        };
        let sum = |values: &[f64]| values.iter().sum::<f64>();
        if sum(&measured) < sum(&self.values[guards]) {
            return Ok(None);
        }
        values.extend(measured);
        Ok(Some((gain.mean, values)))
    }

    /// Puts back each weight that would be lost by no more than noise.
    fn settle(&mut self, dimensions: &[Dimension], start: &Settings) -> Result<(), E> {
        for dimension in dimensions {
            let (before, now) = (dimension.value(start), dimension.value(&self.current));
            if before == now {
                continue;
            }
            let settings = dimension.with(&self.current, before);
            let Some(values) = self.whole(&settings)? else {
                return Ok(());
            };
            let gain = self.blocks.gain(&self.values, &values);
            let guards = self.blocks.blocks[2].clone();
            let sum = |values: &[f64]| values[guards.clone()].iter().sum::<f64>();
            if gain.mean >= -gain.standard_error && sum(&values) >= sum(&self.values) {
                self.current = settings;
                self.values = values;
            }
        }
        Ok(())
    }

    /// The values of all queries; `None` once the time is over.
    fn whole(&mut self, settings: &Settings) -> Result<Option<Vec<f64>>, E> {
        if self.is_over {
            return Ok(None);
        }
        self.tried += 1;
        let mut values = Vec::new();
        for block in self.blocks.blocks.clone() {
            match (self.measure)(settings, block)? {
                Some(measured) => values.extend(measured),
                None => {
                    self.is_over = true;
                    return Ok(None);
                }
            }
        }
        Ok(Some(values))
    }
}

impl Blocks {
    /// The gain by as many judged queries as `after` has values of.
    fn gain(&self, before: &[f64], after: &[f64]) -> Gain {
        let judged = self.blocks[1].end.min(after.len());
        let differences = (0..judged).map(|place| self.weights[place] * (after[place] - before[place]));
        let (sum, squares) = differences.fold((0.0, 0.0), |(sum, squares), value| {
            (sum + value, squares + value * value)
        });
        let count = judged.max(1) as f64;
        let mean = sum / count;
        Gain {
            mean,
            standard_error: ((squares / count - mean * mean).max(0.0) / count).sqrt(),
        }
    }
}

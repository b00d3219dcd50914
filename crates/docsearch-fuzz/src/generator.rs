//! The inputs of a target, by number: the same number and seed give the same input.

use fastrand::Rng;

use crate::format::Grammar;
use crate::mutation::{Material, log_uniform, mutate, soup};
use crate::{Plan, Target};

/// Maximum nesting depth.
const MAX_DEPTH: usize = 200_000;
/// Depths to which every opening is repeated.
const DEPTHS: [usize; 3] = [40, 1_500, MAX_DEPTH];
/// How much larger nested inputs may be than others, if the plan has a time.
const NEST_FACTOR: usize = 4;

pub(crate) struct Generator<'a> {
    target: &'a Target,
    material: Material,
    seed: u64,
    cases: Option<u64>,
    nest_bytes: usize,
    /// Every how many inputs one is an opening, as long as there are openings.
    interval: u64,
}

impl<'a> Generator<'a> {
    pub(crate) fn new(target: &'a Target, plan: &Plan) -> Self {
        let own = target.name.bytes().fold(plan.seed, |sum, byte| {
            (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let Grammar { words, nests } = target.format.grammar();
        Self {
            target,
            material: Material {
                corpus: target.format.corpus(),
                words,
                nests,
                max_bytes: target.max_bytes,
            },
            seed: own,
            cases: plan.time.is_none().then_some(plan.cases),
            interval: if plan.time.is_some() { 4 } else { 1 },
            nest_bytes: target.max_bytes * if plan.time.is_some() { NEST_FACTOR } else { 1 },
        }
    }

    /// The input with a number, or `None` after the last.
    pub(crate) fn input(&self, number: u64) -> Option<Vec<u8>> {
        let Material { corpus, nests, .. } = &self.material;
        if let Some(example) = corpus.get(number as usize) {
            return Some(example.clone());
        }
        let number = number - corpus.len() as u64;
        let openings = (nests.len() * DEPTHS.len()) as u64;
        // Deep openings take long, so other inputs come between them.
        let (opening, generated) = match number.checked_sub(openings * self.interval) {
            None => (
                number.is_multiple_of(self.interval).then_some(number / self.interval),
                number - number.div_ceil(self.interval),
            ),
            Some(_) => (None, number - openings),
        };
        if let Some(place) = opening {
            let (open, close) = &nests[place as usize % nests.len()];
            return Some(self.nested(open, b"a", close, DEPTHS[place as usize / nests.len()]));
        }
        if self.cases.is_some_and(|cases| generated >= cases) {
            return None;
        }
        let seed = self.seed ^ generated.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Some(self.generated(&mut Rng::with_seed(seed)))
    }

    fn generated(&self, rng: &mut Rng) -> Vec<u8> {
        let max = self.target.max_bytes;
        match rng.u32(..100) {
            0..5 => (0..log_uniform(rng, max.min(4096))).map(|_| rng.u8(..)).collect(),
            5..15 => soup(rng, &self.material),
            15..25 => self.random_nest(rng),
            _ => {
                let mut input = rng.choice(&self.material.corpus).cloned().unwrap_or_default();
                input.truncate(max);
                for _ in 0..log_uniform(rng, 12) {
                    mutate(rng, &mut input, &self.material);
                }
                input
            }
        }
    }

    fn random_nest(&self, rng: &mut Rng) -> Vec<u8> {
        let (mut open, mut close) = self.material.nest(rng);
        if rng.bool() {
            let (inner, end) = self.material.nest(rng);
            open.push_str(&inner);
            close.insert_str(0, &end);
        }
        if rng.u8(..4) == 0 {
            close.clear();
        }
        let core = self.material.word(rng);
        self.nested(&open, core.as_bytes(), &close, log_uniform(rng, MAX_DEPTH))
    }

    fn nested(&self, open: &str, core: &[u8], close: &str, depth: usize) -> Vec<u8> {
        let room = self.nest_bytes / (open.len() + close.len()).max(1);
        let depth = depth.min(room);
        [open.repeat(depth).as_bytes(), core, close.repeat(depth).as_bytes()].concat()
    }
}

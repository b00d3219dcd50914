//! The terms of a query that a document has, strongest first.

/// Matches that count. S2.8: many matches earn less than twice as much as one, and each earns `diminishing_factor`
/// (0.8) of the one before. Three earn 1.92 times as much; four would earn 2.05.
const MAX_MATCHES: usize = 3;

/// A verb or an object of the query that a document has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TermMatch {
    pub(crate) term: usize,
    pub(crate) rule: &'static str,
    pub(crate) raw: f32,
    pub(crate) weight: f32,
}

/// The strongest matches, strongest first.
#[derive(Debug, Default)]
pub(crate) struct Matches(pub(super) [Option<TermMatch>; MAX_MATCHES]);

impl Matches {
    pub(super) fn add(&mut self, mut new: TermMatch) {
        for place in &mut self.0 {
            match place {
                Some(known) if known.raw * known.weight >= new.raw * new.weight => {}
                Some(known) => std::mem::swap(known, &mut new),
                None => {
                    *place = Some(new);
                    return;
                }
            }
        }
    }

    /// The matches that count, each with its factor: `factor^(n - 1)` for n matches. n is chosen for the greatest
    /// sum, so that a further match never lowers the score.
    pub(crate) fn counted(&self, factor: f32) -> impl Iterator<Item = TermMatch> {
        let mut sum = 0.0;
        let (mut best, mut count, mut share) = (0.0, 0, 1.0);
        for (n, found) in self.0.iter().flatten().enumerate() {
            sum += found.raw * found.weight;
            let power = factor.powi(n as i32);
            if sum * power > best {
                (best, count, share) = (sum * power, n + 1, power);
            }
        }
        self.0.iter().flatten().take(count).map(move |found| TermMatch {
            weight: found.weight * share,
            ..*found
        })
    }
}

//! How relevant pages are, by what readers open, corrected for the place at which they are shown.
//!
//! The position-based model (Richardson et al. 2007; Chuklin et al. 2015): a reader opens a result if the reader looks at its
//! place, and if it is attractive. Both are estimated from the log by expectation maximization. Where the log does not show a page
//! at several places, a prior says how often places are looked at.

use std::cmp::Reverse;

use crate::usage::sessions::{Observation, Outcome};
use crate::values::id::Map;
use crate::values::interrupt;

/// Most rounds of the estimate.
const ROUNDS: usize = 200;
/// Largest change of a probability after which the estimate ends.
const CHANGE: f64 = 1e-6;
/// Observations of each place that the prior counts as.
const PRIOR: f64 = 10.0;
/// Pages of queries by which the examination of places is estimated, those with the most observations: it has ten values.
const PAGES: usize = 2_000;
/// Most steps of the search for the attraction of a page, and the step after which it ends.
const STEPS: usize = 50;
const STEP: f64 = 1e-12;
/// One-sided 90 % of the normal distribution.
const Z: f64 = 1.281_551_565_5;
/// Least attraction that the evidence has to show for each grade, the highest grade first.
const GRADES: [(f64, i32); 3] = [(0.5, 3), (0.25, 2), (0.1, 1)];

/// A page as an answer to a query.
#[derive(Clone, Debug, PartialEq)]
pub struct GradedPage {
    /// Number of the query.
    pub query: u32,
    /// Number of the page.
    pub page: u32,
    /// 1 to 3.
    pub grade: i32,
    /// Sessions in which it was opened or helped.
    pub sessions: u32,
    /// Share of the readers that open it of those that look at it.
    pub attraction: f64,
}

/// What a log says of places and pages.
#[derive(Clone, Debug, PartialEq)]
pub struct ClickModel {
    /// Share of readers that look at each place, beginning with the first, for which it is 1.
    pub examination: Vec<f64>,
    /// Pages that enough sessions opened, in the order of queries; the best page of a query first.
    pub pages: Vec<GradedPage>,
}

/// What was observed of a page as an answer to a query.
#[derive(Clone, Debug, Default)]
struct Evidence {
    /// Times that it was shown at each place and neither opened nor voted on.
    passed: Times,
    /// Times that it was opened at each place.
    opened: Times,
    /// Times of these after which the reader asked something else at once.
    left: f64,
    /// Sessions that voted that it helped, and that it did not.
    helped: f64,
    did_not_help: f64,
}

/// Numbers by place, in the order of the few places where a page is shown.
#[derive(Clone, Debug, Default)]
struct Times(Vec<(usize, f64)>);

impl Times {
    fn add(&mut self, place: usize) {
        match self.0.binary_search_by_key(&place, |&(known, _)| known) {
            Ok(known) => self.0[known].1 += 1.0,
            Err(next) => self.0.insert(next, (place, 1.0)),
        }
    }

    fn sum(&self) -> f64 {
        self.0.iter().map(|(_, times)| times).sum()
    }
}

impl ClickModel {
    /// Estimates the model. A page gets a grade if it was opened, or helped, in at least `min_sessions` sessions.
    pub fn of(observations: &[Observation], min_sessions: u32) -> Self {
        let Chosen { most, mut evidence } = Chosen::of(observations, min_sessions);
        for observation in observations {
            let Some(of_page) = evidence.get_mut(&(observation.query, observation.page)) else {
                continue;
            };
            let place = observation.place as usize;
            match observation.outcome {
                Outcome::Passed => of_page.passed.add(place),
                Outcome::Opened | Outcome::Left => of_page.opened.add(place),
                Outcome::Helped => of_page.helped += 1.0,
                Outcome::DidNotHelp => of_page.did_not_help += 1.0,
            }
            of_page.left += f64::from(u8::from(observation.outcome == Outcome::Left));
        }
        let most: Vec<&Evidence> = most.iter().filter_map(|page| evidence.get(page)).collect();
        let examination = examination(&most, places(observations));
        let graded = |(&(query, page), of_page): (&(u32, u32), &Evidence)| {
            let successes = of_page.opened.sum() - of_page.left + of_page.helped;
            let sessions = successes as u32;
            if sessions < min_sessions.max(1) {
                return None;
            }
            let attraction = of_page.attraction(&examination, successes, of_page.left + of_page.did_not_help, 0.5);
            Some(GradedPage {
                query,
                page,
                grade: grade(successes, attraction)?,
                sessions,
                attraction,
            })
        };
        let mut pages: Vec<GradedPage> = evidence.iter().filter_map(graded).collect();
        pages.sort_by(|a, b| {
            let by_grade = b.grade.cmp(&a.grade).then(b.attraction.total_cmp(&a.attraction));
            a.query.cmp(&b.query).then(by_grade).then(a.page.cmp(&b.page))
        });
        Self { examination, pages }
    }
}

impl Evidence {
    /// The attraction of highest likelihood, with these successes and failures besides the times that the page was passed: where
    /// the successes divided by it are the number of times that the page was looked at.
    fn attraction(&self, examination: &[f64], successes: f64, failures: f64, guess: f64) -> f64 {
        if successes == 0.0 {
            return 0.0;
        }
        if failures == 0.0 && self.passed.0.is_empty() {
            return 1.0;
        }
        // Newton's method, within bounds that are halved where it leaves them: the slope falls as the attraction rises.
        let (mut low, mut high) = (0.0, 1.0);
        let mut attraction = guess.clamp(STEP, 1.0 - STEP);
        for _ in 0..STEPS {
            let other = 1.0 - attraction;
            let mut slope = successes / attraction - failures / other;
            let mut change = -successes / (attraction * attraction) - failures / (other * other);
            for &(place, times) in &self.passed.0 {
                let looked = looked(examination, place, attraction, 1.0);
                slope -= times * looked;
                change -= times * looked * looked;
            }
            if slope > 0.0 {
                low = attraction;
            } else {
                high = attraction;
            }
            let next = attraction - slope / change;
            let next = if low < next && next < high {
                next
            } else {
                f64::midpoint(low, high)
            };
            let step = (next - attraction).abs();
            attraction = next;
            if step < STEP {
                break;
            }
        }
        attraction
    }
}

/// The pages of queries of which more than a number is kept: most were shown once or twice, and never opened.
struct Chosen {
    /// Those with the most observations.
    most: Vec<(u32, u32)>,
    evidence: Map<(u32, u32), Evidence>,
}

impl Chosen {
    fn of(observations: &[Observation], min_sessions: u32) -> Self {
        let mut counts: Map<(u32, u32), (u32, u32)> = Map::default();
        for observation in observations {
            let count = counts.entry((observation.query, observation.page)).or_default();
            count.0 += 1;
            count.1 += u32::from(matches!(observation.outcome, Outcome::Opened | Outcome::Helped));
        }
        let is_enough = |opened: u32| opened >= min_sessions.max(1);
        let opened = counts.iter().filter(|(_, (_, opened))| is_enough(*opened));
        let mut evidence: Map<(u32, u32), Evidence> = opened.map(|(&page, _)| (page, Evidence::default())).collect();
        let mut most: Vec<(Reverse<u32>, (u32, u32))> = counts
            .into_iter()
            .map(|(page, (shown, _))| (Reverse(shown), page))
            .collect();
        if most.len() > PAGES {
            most.select_nth_unstable(PAGES);
            most.truncate(PAGES);
        }
        // In one order, so that sums are the same each time.
        let mut most: Vec<(u32, u32)> = most.into_iter().map(|(_, page)| page).collect();
        most.sort_unstable();
        evidence.extend(most.iter().map(|&page| (page, Evidence::default())));
        Self { most, evidence }
    }
}

/// Number of places at which pages were shown.
fn places(observations: &[Observation]) -> usize {
    let is_shown = |seen: &&Observation| matches!(seen.outcome, Outcome::Passed | Outcome::Opened | Outcome::Left);
    let places = observations.iter().filter(is_shown).map(|seen| seen.place as usize + 1);
    places.max().unwrap_or_default()
}

/// `share` of the readers that look at a place among those that pass a page there.
fn looked(examination: &[f64], place: usize, attraction: f64, share: f64) -> f64 {
    let place = examination[place];
    place * share / (1.0 - place * attraction)
}

/// How often each place is looked at.
fn examination(evidence: &[&Evidence], count: usize) -> Vec<f64> {
    // Readers look at the first 10 places less and less; eye tracking (Joachims et al. 2005) is near the root of the place.
    let usual: Vec<f64> = (1..=count).map(|place| (place as f64).sqrt().recip()).collect();
    let mut examination = usual.clone();
    let mut attractions = vec![0.5; evidence.len()];
    for _ in 0..ROUNDS {
        let mut looked_at: Vec<f64> = usual.iter().map(|usual| PRIOR * usual).collect();
        let mut shown = vec![PRIOR; count];
        interrupt::check();
        for (of_page, attraction) in evidence.iter().zip(&mut attractions) {
            // Half a success and half a failure, so that one observation decides nothing.
            let successes = of_page.opened.sum() + of_page.helped + 0.5;
            *attraction = of_page.attraction(&examination, successes, of_page.did_not_help + 0.5, *attraction);
            for &(place, times) in &of_page.opened.0 {
                looked_at[place] += times;
                shown[place] += times;
            }
            for &(place, times) in &of_page.passed.0 {
                looked_at[place] += times * looked(&examination, place, *attraction, 1.0 - *attraction);
                shown[place] += times;
            }
        }
        let next = falling(&looked_at, &shown);
        let change = next.iter().zip(&examination).map(|(a, b)| (a - b).abs());
        let is_last = change.fold(0.0, f64::max) < CHANGE;
        examination = next;
        if is_last {
            break;
        }
    }
    examination
}

/// The shares that do not rise from place to place and are nearest to those observed (pool adjacent violators). The first is 1.
fn falling(looked_at: &[f64], shown: &[f64]) -> Vec<f64> {
    // Sums of neighbours that share a value, with their number.
    let mut pools: Vec<(f64, f64, usize)> = Vec::new();
    for (&looked_at, &shown) in looked_at.iter().zip(shown).skip(1) {
        let mut pool = (looked_at, shown, 1);
        while let Some(last) = pools.pop_if(|last| last.0 / last.1 < pool.0 / pool.1) {
            pool = (last.0 + pool.0, last.1 + pool.1, last.2 + pool.2);
        }
        pools.push(pool);
    }
    let of_pools = pools
        .into_iter()
        .flat_map(|(looked_at, shown, count)| std::iter::repeat_n((looked_at / shown).min(1.0), count));
    let first = (!shown.is_empty()).then_some(1.0);
    first.into_iter().chain(of_pools).collect()
}

/// The grade that the evidence shows: by the lower bound of the attraction (Wilson 1927), which few observations keep low.
fn grade(successes: f64, attraction: f64) -> Option<i32> {
    if successes == 0.0 || attraction == 0.0 {
        return None;
    }
    let times = successes / attraction;
    let z2 = Z * Z;
    let center = attraction + z2 / (2.0 * times);
    let spread = Z * (attraction * (1.0 - attraction) / times + z2 / (4.0 * times * times)).sqrt();
    let least = (center - spread) / (1.0 + z2 / times);
    GRADES
        .iter()
        .find(|(bound, _)| least >= *bound)
        .map(|&(_, grade)| grade)
}

#[cfg(test)]
mod tests;

//! Searches over objectives whose best weights are known.

use std::convert::Infallible;
use std::ops::Range;

use fastrand::Rng;
use proptest::prelude::*;

use super::acceptance::{Verdict, decide};
use super::journal::{Journal, Line, Size};
use super::query::{Role, TuningQuery, balance};
use super::search::{Found, search};
use super::space::{Dimension, Settings};
use crate::ranking::weight::WEIGHTS;

const GROUPS: [&str; 3] = ["heading", "link", "example"];
const GUARDS: usize = 20;

/// An objective: each query has a best value of one weight, and its value falls with the distance from there.
struct Objective {
    queries: Vec<TuningQuery>,
    /// For each query the weight that it depends on, and the best place on its scale.
    best: Vec<(&'static str, f64)>,
    noise: f64,
    seed: u64,
}

impl Objective {
    /// Of this number of judged queries, those of `moved` depend on `weight` with its best value at `target`.
    fn new(count: usize, seed: u64, noise: f64, planted: Option<(&'static str, f64)>) -> Self {
        let judged = |number: usize| TuningQuery {
            role: Role::Judged,
            group: GROUPS[number % 3].to_owned(),
            class: ["words", "question"][number / 3 % 2].to_owned(),
        };
        let guard = |role| TuningQuery {
            role,
            group: "guard".to_owned(),
            class: "words".to_owned(),
        };
        let guards = (0..GUARDS).map(|number| guard(if number % 2 == 0 { Role::Name } else { Role::Invented }));
        let queries: Vec<TuningQuery> = (0..count).map(judged).chain(guards).collect();
        let mut random = Rng::with_seed(seed);
        let best = queries
            .iter()
            .map(|_| planted.map_or(("", 0.0), |(name, target)| (name, target + 0.1 * (random.f64() - 0.5))))
            .collect();
        Self {
            queries,
            best,
            noise,
            seed,
        }
    }

    fn value(&self, place: usize, settings: &Settings) -> f64 {
        if self.queries[place].role != Role::Judged {
            return 1.0;
        }
        let (name, target) = self.best[place];
        let row = WEIGHTS.iter().find(|row| row.name == name);
        let planted = row.map_or(0.5, |row| {
            let value = settings.get(name).copied().unwrap_or(row.default);
            1.0 - (value - target).abs()
        });
        planted + self.noise * self.noise_of(place, settings)
    }

    /// -1 to 1, the same for equal settings.
    fn noise_of(&self, place: usize, settings: &Settings) -> f64 {
        let text = format!("{settings:?}{place}{}", self.seed);
        let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        2.0 * Rng::with_seed(hash).f64() - 1.0
    }

    fn values(&self, settings: &Settings, range: Range<usize>) -> Vec<f64> {
        range.map(|place| self.value(place, settings)).collect()
    }

    fn search(&self, start: &Settings) -> Found {
        let found = search(
            &Dimension::all(|_| false),
            start,
            &self.queries,
            self.seed,
            |settings, range| Ok::<_, Infallible>(Some(self.values(settings, range))),
        );
        found.unwrap()
    }

    /// Whether other queries of the same kind accept the settings.
    fn decide(&self, found: &Found) -> Verdict {
        let all = 0..self.queries.len();
        decide(
            &self.queries,
            &self.values(&Settings::new(), all.clone()),
            &self.values(&found.settings, all),
        )
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// A better value of a weight is found in the presence of noise, accepted on other queries, and other weights stay.
    #[test]
    fn a_planted_weight_is_found(
        name in prop::sample::select(vec!["hybrid_weight_words", "bm25_b", "weight_proximity", "document_share"]),
        target in 0.0..=1.0_f64,
        seed in 0u64..1000,
    ) {
        let row = WEIGHTS.iter().find(|row| row.name == name).unwrap();
        prop_assume!((row.default - target).abs() > 0.2);
        let found = Objective::new(240, seed, 0.02, Some((name, target))).search(&Settings::new());
        let value = found.settings.get(name).copied().unwrap_or(row.default);
        prop_assert!((value - target).abs() < 0.15, "{name} is {value}, not {target}");
        let others = Objective::new(240, seed + 5000, 0.02, Some((name, target)));
        prop_assert!(others.decide(&found).is_accepted);
    }

    /// Without noise nothing moves that does not matter.
    #[test]
    fn what_changes_nothing_keeps_its_default(seed in 0u64..1000) {
        let found = Objective::new(120, seed, 0.0, Some(("bm25_b", 0.9))).search(&Settings::new());
        prop_assert_eq!(found.settings.keys().collect::<Vec<_>>(), ["bm25_b"]);
    }

    /// An interrupted search that goes on by its journal finds the same.
    #[test]
    fn a_search_can_be_interrupted(seed in 0u64..1000, interrupted_after in 1usize..200) {
        let objective = Objective::new(90, seed, 0.05, Some(("bm25_b", 0.8)));
        let dimensions = Dimension::all(|_| false);
        let mut text = String::new();
        let mut left = interrupted_after;
        let first: Result<Found, ()> = search(&dimensions, &Settings::new(), &objective.queries, seed, |settings, range| {
            left = left.checked_sub(1).ok_or(())?;
            let line = Line {
                digest: "d".to_owned(),
                settings: settings.clone(),
                first: range.start,
                values: objective.values(settings, range),
            };
            text.push_str(&serde_json::to_string(&line).unwrap());
            text.push('\n');
            Ok(Some(line.values))
        });
        let size = Size { digest: "d".to_owned(), judged: 90 };
        text.insert_str(0, &(serde_json::to_string(&size).unwrap() + "\n"));
        // The server ends in the middle of a line.
        text.truncate(text.len() - usize::from(first.is_err()));
        let journal = Journal::read(&text, "d");
        prop_assert_eq!((journal.judged(), Journal::read(&text, "other").judged()), (Some(90), None));
        prop_assert!(Journal::read(&text, "other").is_empty() && !(journal.is_empty() && interrupted_after > 1));
        let again = search(&dimensions, &Settings::new(), &objective.queries, seed, |settings, range| {
            let known = journal.get(settings, &range);
            Ok::<_, Infallible>(Some(known.unwrap_or_else(|| objective.values(settings, range))))
        });
        prop_assert_eq!(again.unwrap(), objective.search(&Settings::new()));
    }

    /// Once the time is over, the best that was found is returned, and nothing more is measured.
    #[test]
    fn a_search_ends_with_its_time(seed in 0u64..1000, measurements in 0usize..100) {
        let objective = Objective::new(90, seed, 0.05, Some(("bm25_b", 0.9)));
        let mut left = measurements;
        let found = search(&Dimension::all(|_| false), &Settings::new(), &objective.queries, seed, |settings, range| {
            let Some(fewer) = left.checked_sub(1) else {
                return Ok::<_, Infallible>(None);
            };
            left = fewer;
            Ok(Some(objective.values(settings, range)))
        });
        prop_assert!(left == 0 || found.unwrap().is_complete);
    }

    /// Settings that lose queries of a guard, or of one group or class, are not accepted however much others gain.
    #[test]
    fn losses_are_not_accepted(count in 90usize..200, victim in 0usize..4, gain in 0.05..0.5_f64) {
        let objective = Objective::new(count, 1, 0.0, None);
        let before = objective.values(&Settings::new(), 0..objective.queries.len());
        let is_victim = |place: usize, query: &TuningQuery| match victim {
            0 => query.role == Role::Name && place == count,
            1 => query.role == Role::Invented && place == count + 1,
            2 => query.role == Role::Judged && query.group == "link",
            _ => query.role == Role::Judged && query.class == "question",
        };
        let after: Vec<f64> = objective.queries.iter().enumerate().map(|(place, query)| {
            let worse = if victim < 2 { 1.0 } else { 0.02 };
            let judged = if query.role == Role::Judged { gain } else { 0.0 };
            before[place] + if is_victim(place, query) { -worse } else { judged }
        }).collect();
        let verdict = decide(&objective.queries, &before, &after);
        prop_assert!(!verdict.is_accepted && verdict.reasons.len() == 1, "{:?}", verdict.reasons);
    }

    /// The mean is one over kinds, but no query decides it: a kind with two queries is none.
    #[test]
    fn no_query_weighs_much(sizes in prop::collection::vec(0usize..200, 1..7)) {
        let kinds = sizes.iter().enumerate();
        let queries: Vec<TuningQuery> = kinds
            .flat_map(|(kind, &size)| {
                let query = TuningQuery { role: Role::Judged, group: format!("kind {kind}"), class: String::new() };
                std::iter::repeat_n(query, size)
            })
            .collect();
        let weights = balance(&queries);
        prop_assert!((weights.iter().sum::<f64>() - queries.len() as f64).abs() < 1e-6);
        let most = queries.len() as f64 / 30_f64.min(queries.len() as f64);
        prop_assert!(weights.iter().all(|&weight| weight > 0.0 && weight <= most + 1e-9));
        let large = sizes.iter().filter(|&&size| size >= 30).count();
        if large == sizes.len() {
            for (query, weight) in queries.iter().zip(weights) {
                let size = queries.iter().filter(|other| other.group == query.group).count();
                prop_assert!((weight - queries.len() as f64 / (large * size) as f64).abs() < 1e-9);
            }
        }
    }

    /// Each step stays within the bounds of its weight, and back is where it came from.
    #[test]
    fn values_stay_within_their_bounds(place in 0usize..100, steps in prop::collection::vec(-0.5..0.5_f64, 1..20)) {
        let dimensions = Dimension::all(|_| false);
        let dimension = dimensions[place % dimensions.len()];
        let row = WEIGHTS.iter().find(|row| row.name == dimension.name()).unwrap();
        let mut settings = Settings::new();
        for step in steps {
            let value = dimension.value(&settings);
            if let Some(moved) = dimension.moved(value, step) {
                prop_assert!((row.min..=row.max).contains(&moved) && (!row.is_whole || moved.fract() == 0.0));
                settings = dimension.with(&settings, moved);
            }
        }
        prop_assert!(dimension.with(&settings, row.default).is_empty());
    }
}

#[test]
fn noise_is_refused() {
    let accepted = (0..200).filter(|&seed| {
        let found = Objective::new(120, seed, 0.3, None).search(&Settings::new());
        Objective::new(120, seed + 10_000, 0.3, None).decide(&found).is_accepted
    });
    assert!(accepted.count() <= 10);
}

#[test]
fn fixed_weights_are_not_varied() {
    let all = Dimension::all(|_| false);
    assert!(all.iter().any(|dimension| dimension.name() == "bm25_b"));
    assert_eq!(Dimension::all(|name| name == "bm25_b").len() + 1, all.len());
}

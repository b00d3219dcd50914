//! Times of searches by class of the query and front end.

use std::collections::HashMap;

use crate::usage::mean::Mean;

/// Milliseconds of one search.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SearchTime {
    /// Of the whole call.
    pub total: f32,
    /// Of embedding the query.
    pub embed: Option<f32>,
    /// Of finding and ranking.
    pub rank: Option<f32>,
    /// Of reading what is shown.
    pub present: Option<f32>,
    /// Whether the model could not be used.
    pub is_fallback: bool,
}

/// Times of the searches of one class and front end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Latency {
    /// Class of the query.
    pub class: Option<String>,
    /// Front end.
    pub source: String,
    /// Searches whose model could not be used.
    pub fallbacks: i64,
    totals: Vec<f32>,
    embed: Mean,
    rank: Mean,
    present: Mean,
}

impl Latency {
    /// Number of searches.
    #[must_use]
    pub fn searches(&self) -> i64 {
        i64::try_from(self.totals.len()).unwrap_or(i64::MAX)
    }

    /// The least time of which at least this share of the times is no greater, as `percentile_disc` of PostgreSQL.
    #[must_use]
    pub fn percentile(&mut self, share: f64) -> f64 {
        let count = self.totals.len();
        let place = ((share * count as f64).ceil() as usize).clamp(1, count.max(1)) - 1;
        match self.totals.is_empty() {
            true => 0.0,
            false => f64::from(*self.totals.select_nth_unstable_by(place, f32::total_cmp).1),
        }
    }

    /// Mean milliseconds of embedding.
    #[must_use]
    pub fn embed(&self) -> Option<f64> {
        self.embed.value()
    }

    /// Mean milliseconds of finding and ranking.
    #[must_use]
    pub fn rank(&self) -> Option<f64> {
        self.rank.value()
    }

    /// Mean milliseconds of reading what is shown.
    #[must_use]
    pub fn present(&self) -> Option<f64> {
        self.present.value()
    }
}

/// Times of all searches, of which each needs four bytes.
#[derive(Debug, Default)]
pub struct Latencies {
    groups: Vec<Latency>,
    places: HashMap<String, usize>,
    key: String,
}

impl Latencies {
    /// Adds a search.
    pub fn add(&mut self, class: Option<&str>, source: &str, time: SearchTime) {
        self.key.clear();
        if let Some(class) = class {
            self.key.push_str(class);
            self.key.push('\0');
        }
        self.key.push_str(source);
        let place = match self.places.get(self.key.as_str()) {
            Some(&place) => place,
            None => {
                self.places.insert(self.key.clone(), self.groups.len());
                self.groups.push(Latency {
                    class: class.map(str::to_owned),
                    source: source.to_owned(),
                    ..Latency::default()
                });
                self.groups.len() - 1
            }
        };
        let group = &mut self.groups[place];
        group.totals.push(time.total);
        group.embed.add(time.embed);
        group.rank.add(time.rank);
        group.present.add(time.present);
        group.fallbacks += i64::from(time.is_fallback);
    }

    /// The groups with the most searches first; equal ones in the order of class and front end, no class last.
    #[must_use]
    pub fn most_searches(mut self, limit: usize) -> Vec<Latency> {
        let order = |latency: &Latency| {
            let (count, class) = (latency.totals.len(), latency.class.clone());
            (std::cmp::Reverse(count), class.is_none(), class, latency.source.clone())
        };
        self.groups.sort_by_cached_key(order);
        self.groups.truncate(limit);
        self.groups
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn counts_are_those_of_the_definition(
            searches in prop::collection::vec((prop::option::of("[ab]"), "[cd]", 0.0f32..9.0, prop::option::of(0.0f32..9.0)), 1..40),
        ) {
            let mut latencies = Latencies::default();
            for (class, source, total, embed) in &searches {
                let time = SearchTime { total: *total, embed: *embed, ..SearchTime::default() };
                latencies.add(class.as_deref(), source, time);
            }
            let groups = latencies.most_searches(usize::MAX);
            prop_assert_eq!(groups.iter().map(Latency::searches).sum::<i64>() as usize, searches.len());
            prop_assert!(groups.is_sorted_by(|a, b| a.searches() >= b.searches()));
            for mut group in groups {
                let of_group = || searches.iter().filter(|search| search.0 == group.class && search.1 == group.source);
                let mut totals: Vec<f32> = of_group().map(|search| search.2).collect();
                totals.sort_by(f32::total_cmp);
                let embeds: Vec<f64> = of_group().filter_map(|search| search.3).map(f64::from).collect();
                let mean = (!embeds.is_empty()).then(|| embeds.iter().sum::<f64>() / embeds.len() as f64);
                prop_assert_eq!(group.embed(), mean);
                for share in [0.5, 0.95, 1.0] {
                    let value = group.percentile(share);
                    let below = |strictly: bool| {
                        let is_below = |total: &&f32| if strictly { f64::from(**total) < value } else { f64::from(**total) <= value };
                        totals.iter().filter(is_below).count() as f64
                    };
                    prop_assert!(below(false) >= share * totals.len() as f64 && below(true) < share * totals.len() as f64);
                }
            }
        }
    }
}

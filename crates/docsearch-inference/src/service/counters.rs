//! Counters of the service, for its status.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::endpoint::Purpose;
use crate::lock::lock;
use crate::status::Status;

/// Number of queries whose latency is kept.
const REMEMBERED: usize = 1000;

/// What the service has done since it started.
#[derive(Debug, Default)]
pub(super) struct Counters {
    requests: AtomicU64,
    runs: AtomicU64,
    cache_hits: AtomicU64,
    transform_hits: AtomicU64,
    grade_hits: AtomicU64,
    latencies: Mutex<VecDeque<Duration>>,
}

impl Counters {
    pub(super) fn request(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn run(&self) {
        self.runs.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn cache_hit(&self) {
        self.cache_hits.fetch_add(1, Ordering::Relaxed);
    }

    /// An answer of a language model came from the cache.
    pub(super) fn recalled(&self, purpose: Purpose) {
        let hits = match purpose {
            Purpose::Transform => &self.transform_hits,
            Purpose::Grade => &self.grade_hits,
        };
        hits.fetch_add(1, Ordering::Relaxed);
    }

    /// A query was answered.
    pub(super) fn query(&self, latency: Duration) {
        let mut latencies = lock(&self.latencies);
        if latencies.len() == REMEMBERED {
            latencies.pop_front();
        }
        latencies.push_back(latency);
    }

    pub(super) fn report(&self, status: &mut Status) {
        status.requests = self.requests.load(Ordering::Relaxed);
        status.runs = self.runs.load(Ordering::Relaxed);
        status.cache_hits = self.cache_hits.load(Ordering::Relaxed);
        status.transform_hits = self.transform_hits.load(Ordering::Relaxed);
        status.grade_hits = self.grade_hits.load(Ordering::Relaxed);
        let latencies = lock(&self.latencies);
        let mut sorted: Vec<Duration> = latencies.iter().copied().collect();
        drop(latencies);
        sorted.sort();
        status.p50_ms = quantile(&sorted, 0.5);
        status.p95_ms = quantile(&sorted, 0.95);
    }
}

/// The smallest latency that at least this share of all does not exceed, in milliseconds.
fn quantile(sorted: &[Duration], share: f64) -> Option<f64> {
    let place = (sorted.len() as f64 * share).ceil() as usize;
    let latency = sorted.get(place.checked_sub(1)?)?;
    Some(latency.as_secs_f64() * 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_of_the_last_queries() {
        let counters = Counters::default();
        let mut status = Status::default();
        counters.report(&mut status);
        assert_eq!((status.p50_ms, status.p95_ms), (None, None));

        for _ in 0..REMEMBERED {
            counters.query(Duration::from_secs(9));
        }
        for milliseconds in 1..=REMEMBERED as u64 {
            counters.query(Duration::from_millis(milliseconds));
        }
        counters.report(&mut status);
        assert_eq!((status.p50_ms, status.p95_ms), (Some(500.0), Some(950.0)));
    }
}

//! Searches that a reader asked again in other words.

use crate::usage::query_counts::in_order;
use crate::values::id::Map;

/// Microseconds within which the next search of a session counts as the same question in other words.
pub const ASKED_AGAIN: i64 = 60_000_000;
/// Microseconds within which a page counts as opened after a search.
pub const OPENED: i64 = 120_000_000;
/// Sessions that are remembered before those that ended are looked for.
const SESSIONS: usize = 4_096;

/// A search, or a page that was loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Microseconds.
    pub at: i64,
    /// Key of the session.
    pub session: i64,
    /// Key of the query; `None` for a page.
    pub query: Option<i64>,
    /// Whether the confidence of the answer is not low.
    pub is_confident: bool,
}

/// A query and the one that was asked next, by their keys.
pub type QueryPair = (i64, i64);

/// How often a pair of queries was asked, and how that went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RephrasedCount {
    /// How often.
    pub times: i64,
    /// Next searches whose confidence was not low.
    pub confident: i64,
    /// Next searches after which a page was opened within two minutes.
    pub opened: i64,
}

/// What is remembered of a session: its last search, and the pairs after which a page may yet be opened.
#[derive(Debug)]
struct Session {
    last_at: i64,
    last_query: i64,
    waiting: Vec<(i64, u32)>,
}

/// Counts searches that were asked again. Calls are added in the order of their times, so only sessions of the last two minutes are
/// remembered: few enough to be near the processor.
#[derive(Debug, Default)]
pub struct Rephrasing {
    sessions: Map<i64, Session>,
    remembered: usize,
    numbers: Map<QueryPair, u32>,
    counts: Vec<RephrasedCount>,
    searches: i64,
    rephrased: i64,
}

impl Rephrasing {
    /// Counts calls, which are given in any order.
    #[must_use]
    pub fn of(mut calls: Vec<Call>) -> Self {
        calls.sort_by_key(|call| call.at);
        let mut counts = Self::default();
        for call in calls {
            match call.query {
                Some(query) => counts.add_search(&call, query),
                None => counts.add_load(&call),
            }
        }
        counts
    }

    fn add_search(&mut self, call: &Call, query: i64) {
        self.searches += 1;
        let at = call.at;
        let Some(known) = self.sessions.get_mut(&call.session) else {
            self.remember(call.session, at, query);
            return;
        };
        let earlier = std::mem::replace(&mut known.last_query, query);
        let is_again = at - known.last_at <= ASKED_AGAIN && earlier != query;
        known.last_at = at;
        known.waiting.retain(|(since, _)| at - since <= OPENED);
        if !is_again {
            return;
        }
        self.rephrased += 1;
        let next_number = u32::try_from(self.counts.len()).unwrap_or(u32::MAX);
        let number = *self.numbers.entry((earlier, query)).or_insert(next_number);
        if number == next_number {
            self.counts.push(RephrasedCount::default());
        }
        let count = &mut self.counts[number as usize];
        count.times += 1;
        count.confident += i64::from(call.is_confident);
        known.waiting.push((at, number));
    }

    fn add_load(&mut self, call: &Call) {
        let Some(known) = self.sessions.get_mut(&call.session) else {
            return;
        };
        for (since, number) in known.waiting.drain(..) {
            if call.at - since <= OPENED {
                self.counts[number as usize].opened += 1;
            }
        }
    }

    fn remember(&mut self, session: i64, at: i64, query: i64) {
        if self.sessions.len() >= SESSIONS.max(2 * self.remembered) {
            self.sessions.retain(|_, known| at - known.last_at <= OPENED);
            self.remembered = self.sessions.len();
        }
        let first = Session {
            last_at: at,
            last_query: query,
            waiting: Vec::new(),
        };
        self.sessions.insert(session, first);
    }

    /// Searches, and those that were asked again.
    #[must_use]
    pub fn totals(&self) -> (i64, i64) {
        (self.searches, self.rephrased)
    }

    /// Pairs of a query and the next one, the most frequent first; equal ones in the order of the digests.
    #[must_use]
    pub fn most_frequent(self, limit: usize) -> Vec<(QueryPair, RephrasedCount)> {
        let counts = &self.counts;
        let mut pairs: Vec<_> = self
            .numbers
            .into_iter()
            .map(|(pair, number)| (pair, counts[number as usize]))
            .collect();
        let digests = |pair: &QueryPair| (in_order(pair.0), in_order(pair.1));
        pairs.sort_unstable_by(|(a, a_count), (b, b_count)| {
            b_count.times.cmp(&a_count.times).then(digests(a).cmp(&digests(b)))
        });
        pairs.truncate(limit);
        pairs
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// Session, seconds, query (none for a load), confidence.
    type Made = (u8, i64, Option<u8>, bool);

    fn call(&(session, at, query, is_confident): &Made) -> Call {
        Call {
            at: at * 1_000_000,
            session: session.into(),
            query: query.map(i64::from),
            is_confident,
        }
    }

    /// By comparing each search with all calls.
    fn by_definition(calls: &[Made]) -> (BTreeMap<QueryPair, RephrasedCount>, i64) {
        let mut pairs: BTreeMap<QueryPair, RephrasedCount> = BTreeMap::new();
        for (place, &(session, at, query, is_confident)) in calls.iter().enumerate() {
            let Some(query) = query else { continue };
            let earlier = calls[..place]
                .iter()
                .rev()
                .find(|call| call.0 == session && call.2.is_some());
            let Some(&(_, earlier_at, Some(earlier), _)) = earlier else {
                continue;
            };
            if earlier == query || (at - earlier_at) * 1_000_000 > ASKED_AGAIN {
                continue;
            }
            let is_opened = |call: &Made| call.0 == session && call.2.is_none() && (call.1 - at) * 1_000_000 <= OPENED;
            let count = pairs.entry((earlier.into(), query.into())).or_default();
            count.times += 1;
            count.confident += i64::from(is_confident);
            count.opened += i64::from(calls[place..].iter().any(is_opened));
        }
        let rephrased = pairs.values().map(|count| count.times).sum();
        (pairs, rephrased)
    }

    proptest! {
        /// What is remembered is enough, whatever is called in whatever order of sessions.
        #[test]
        fn counts_are_those_of_the_definition(
            gaps in prop::collection::vec((0u8..3, 0i64..90, prop::option::weighted(0.7, 0u8..3), any::<bool>()), 0..60),
        ) {
            let mut at = 0;
            let calls: Vec<Made> = gaps
                .into_iter()
                .map(|(session, pause, query, is_confident)| {
                    at += pause;
                    (session, at, query, is_confident)
                })
                .collect();
            let counts = Rephrasing::of(calls.iter().map(call).collect());
            let (pairs, rephrased) = by_definition(&calls);
            let searches = calls.iter().filter(|call| call.2.is_some()).count();
            prop_assert_eq!(counts.totals(), (searches as i64, rephrased));
            let found = counts.most_frequent(usize::MAX);
            prop_assert!(found.is_sorted_by(|a, b| (b.1.times, &a.0) <= (a.1.times, &b.0)));
            prop_assert_eq!(found.into_iter().collect::<BTreeMap<_, _>>(), pairs);
        }
    }

    #[test]
    fn sessions_that_ended_are_forgotten() {
        let search = |number: i64| Call {
            at: number * OPENED,
            session: number,
            query: Some(1),
            is_confident: true,
        };
        let counts = Rephrasing::of((0..100_000).map(search).collect());
        assert!(counts.sessions.len() <= SESSIONS, "{}", counts.sessions.len());
    }
}

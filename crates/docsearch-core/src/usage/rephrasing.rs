//! Searches that a reader asked again in other words, from calls in the order of their times.

use std::collections::HashMap;

/// Microseconds within which the next search of a session counts as the same question in other words.
pub const ASKED_AGAIN: i64 = 60_000_000;
/// Microseconds within which a page counts as opened after a search.
pub const OPENED: i64 = 120_000_000;
/// Sessions that are remembered before those that ended are looked for.
const SESSIONS: usize = 4_096;

/// A query and the one that was asked next.
pub type QueryPair = (Box<str>, Box<str>);

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
    last_query: Option<Box<str>>,
    waiting: Vec<(i64, u32)>,
}

/// Counts searches that were asked again. Calls are added in the order of their times, so only sessions of the last two minutes are
/// remembered.
#[derive(Debug, Default)]
pub struct Rephrasing {
    sessions: HashMap<Box<str>, Session>,
    remembered: usize,
    numbers: HashMap<QueryPair, u32>,
    counts: Vec<RephrasedCount>,
    searches: i64,
    rephrased: i64,
}

impl Rephrasing {
    /// Adds a search at a time in microseconds.
    pub fn add_search(&mut self, session: &str, at: i64, query: &str, is_confident: bool) {
        self.searches += 1;
        let Some(known) = self.sessions.get_mut(session) else {
            self.remember(session, at, query);
            return;
        };
        let earlier = known.last_query.replace(query.into());
        let earlier = earlier.filter(|earlier| at - known.last_at <= ASKED_AGAIN && **earlier != *query);
        known.last_at = at;
        known.waiting.retain(|(since, _)| at - since <= OPENED);
        let Some(earlier) = earlier else { return };
        self.rephrased += 1;
        let next_number = u32::try_from(self.counts.len()).unwrap_or(u32::MAX);
        let number = *self.numbers.entry((earlier, query.into())).or_insert(next_number);
        if number == next_number {
            self.counts.push(RephrasedCount::default());
        }
        let count = &mut self.counts[number as usize];
        count.times += 1;
        count.confident += i64::from(is_confident);
        known.waiting.push((at, number));
    }

    /// Adds that a page was loaded.
    pub fn add_load(&mut self, session: &str, at: i64) {
        let Some(known) = self.sessions.get_mut(session) else {
            return;
        };
        for (since, number) in known.waiting.drain(..) {
            if at - since <= OPENED {
                self.counts[number as usize].opened += 1;
            }
        }
    }

    fn remember(&mut self, session: &str, at: i64, query: &str) {
        if self.sessions.len() >= SESSIONS.max(2 * self.remembered) {
            self.sessions.retain(|_, known| at - known.last_at <= OPENED);
            self.remembered = self.sessions.len();
        }
        let first = Session {
            last_at: at,
            last_query: Some(query.into()),
            waiting: Vec::new(),
        };
        self.sessions.insert(session.into(), first);
    }

    /// Searches, and those that were asked again.
    #[must_use]
    pub fn totals(&self) -> (i64, i64) {
        (self.searches, self.rephrased)
    }

    /// Pairs of a query and the next one, the most frequent first; equal ones in the order of the queries.
    #[must_use]
    pub fn most_frequent(self, limit: usize) -> Vec<(QueryPair, RephrasedCount)> {
        let counts = &self.counts;
        let mut pairs: Vec<_> = self
            .numbers
            .into_iter()
            .map(|(pair, number)| (pair, counts[number as usize]))
            .collect();
        pairs.sort_unstable_by(|(a, a_count), (b, b_count)| b_count.times.cmp(&a_count.times).then_with(|| a.cmp(b)));
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
    type Call = (u8, i64, Option<u8>, bool);

    /// By comparing each search with all calls.
    fn by_definition(calls: &[Call]) -> (BTreeMap<(String, String), RephrasedCount>, i64) {
        let mut pairs: BTreeMap<(String, String), RephrasedCount> = BTreeMap::new();
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
            let is_opened = |call: &Call| call.0 == session && call.2.is_none() && (call.1 - at) * 1_000_000 <= OPENED;
            let count = pairs.entry((earlier.to_string(), query.to_string())).or_default();
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
            let calls: Vec<Call> = gaps
                .into_iter()
                .map(|(session, pause, query, is_confident)| {
                    at += pause;
                    (session, at, query, is_confident)
                })
                .collect();
            let mut counts = Rephrasing::default();
            for &(session, at, query, is_confident) in &calls {
                let (session, at) = (session.to_string(), at * 1_000_000);
                match query {
                    Some(query) => counts.add_search(&session, at, &query.to_string(), is_confident),
                    None => counts.add_load(&session, at),
                }
            }
            let (pairs, rephrased) = by_definition(&calls);
            let searches = calls.iter().filter(|call| call.2.is_some()).count();
            prop_assert_eq!(counts.totals(), (searches as i64, rephrased));
            let found = counts.most_frequent(usize::MAX);
            prop_assert!(found.is_sorted_by(|a, b| (b.1.times, &a.0) <= (a.1.times, &b.0)));
            let found: BTreeMap<(String, String), RephrasedCount> =
                found.into_iter().map(|((query, next), count)| ((query.into(), next.into()), count)).collect();
            prop_assert_eq!(found, pairs);
        }
    }

    #[test]
    fn sessions_that_ended_are_forgotten() {
        let mut counts = Rephrasing::default();
        for number in 0..100_000_i64 {
            counts.add_search(&number.to_string(), number * OPENED, "query", true);
        }
        assert!(counts.sessions.len() <= SESSIONS, "{}", counts.sessions.len());
    }
}

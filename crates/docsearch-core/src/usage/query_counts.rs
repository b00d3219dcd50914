//! How often queries are asked, and how they are answered.

use crate::values::id::{Map, Set};

/// How often one query is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueryCount {
    /// Searches.
    pub searches: i64,
    /// Sessions that made them.
    pub sessions: i64,
    /// Searches without a result.
    pub no_results: i64,
    /// Searches with low confidence.
    pub low_confidence: i64,
}

/// Counts of all queries, search by search. It needs 16 bytes of memory for each.
#[derive(Debug, Default)]
pub struct QueryCounts {
    queries: Map<i64, QueryCount>,
    /// Query and session of each search.
    searches: Vec<(i64, i64)>,
}

impl QueryCounts {
    /// Counts a search by the keys of its query and its session.
    pub fn add(&mut self, query: i64, session: i64, has_no_result: bool, is_low: bool) {
        let count = self.queries.entry(query).or_default();
        count.searches += 1;
        count.no_results += i64::from(has_no_result);
        count.low_confidence += i64::from(is_low);
        self.searches.push((query, session));
    }

    /// The queries with the most searches; equal ones in the order of their digests.
    #[must_use]
    pub fn most_frequent(self, limit: usize) -> Vec<(i64, QueryCount)> {
        let mut queries = greatest(self.queries, limit, |count| count.searches);
        let places: Map<i64, usize> = queries.iter().map(|&(query, _)| query).zip(0..).collect();
        let mut seen = Set::default();
        for (query, session) in self.searches {
            if let Some(&place) = places.get(&query)
                && seen.insert((place, session))
            {
                queries[place].1.sessions += 1;
            }
        }
        queries
    }
}

/// The queries with the greatest numbers, the greatest first; equal ones in the order of their digests.
pub fn greatest<C, N: PartialOrd>(
    counts: impl IntoIterator<Item = (i64, C)>,
    limit: usize,
    number: impl Fn(&C) -> N,
) -> Vec<(i64, C)> {
    let mut queries: Vec<(i64, C)> = counts.into_iter().collect();
    let order = |(a, a_count): &(i64, C), (b, b_count): &(i64, C)| {
        let by_number = number(b_count).partial_cmp(&number(a_count));
        by_number
            .unwrap_or(std::cmp::Ordering::Equal)
            .then(in_order(*a).cmp(&in_order(*b)))
    };
    if limit < queries.len() {
        queries.select_nth_unstable_by(limit, order);
        queries.truncate(limit);
    }
    queries.sort_unstable_by(order);
    queries
}

/// Keys in the order of the digests that they are made of: the first bit is no sign.
#[must_use]
pub fn in_order(key: i64) -> u64 {
    key.cast_unsigned()
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, HashSet};

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The counts are those of the definition, and the first ones are those of all that come first.
        #[test]
        fn counts_are_those_of_the_definition(
            searches in prop::collection::vec((-4i64..4, 0i64..3, any::<bool>(), any::<bool>()), 0..60),
            limit in 0usize..10,
        ) {
            let counts = || {
                let mut counts = QueryCounts::default();
                for &(query, session, has_no_result, is_low) in &searches {
                    counts.add(query, session, has_no_result, is_low);
                }
                counts
            };
            let all = counts().most_frequent(usize::MAX);
            prop_assert!(all.is_sorted_by_key(|(query, count)| (std::cmp::Reverse(count.searches), in_order(*query))));
            prop_assert_eq!(counts().most_frequent(limit), &all[..limit.min(all.len())]);
            let by_query: BTreeMap<i64, QueryCount> = all.into_iter().collect();
            for query in -4..4 {
                let of = || searches.iter().filter(move |search| search.0 == query);
                let expected = QueryCount {
                    searches: of().count() as i64,
                    sessions: of().map(|search| search.1).collect::<HashSet<_>>().len() as i64,
                    no_results: of().filter(|search| search.2).count() as i64,
                    low_confidence: of().filter(|search| search.3).count() as i64,
                };
                prop_assert_eq!(by_query.get(&query).copied().unwrap_or_default(), expected);
            }
        }
    }

    #[test]
    fn keys_are_in_the_order_of_digests() {
        let digests = [
            "0000000000000001",
            "7fffffffffffffff",
            "8000000000000000",
            "ffffffffffffffff",
        ];
        let keys = digests.map(|digest| u64::from_str_radix(digest, 16).unwrap().cast_signed());
        assert!(keys.is_sorted_by_key(|&key| in_order(key)));
    }
}

//! Calls by front end and program.

use std::cmp::Reverse;
use std::collections::HashMap;

/// A front end and a program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Client {
    /// Front end.
    pub source: String,
    /// Program, as it names itself.
    pub name: Option<String>,
}

/// A call of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientCall {
    /// Key of the session.
    pub session: i64,
    /// Whether it is a search; else a page was loaded.
    pub is_search: bool,
    /// Whether nothing was found.
    pub has_no_result: bool,
    /// Whether the confidence is low.
    pub is_low: bool,
}

/// How often one program calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientCount {
    /// Sessions.
    pub sessions: i64,
    /// Searches.
    pub searches: i64,
    /// Pages that were loaded.
    pub loads: i64,
    /// Searches without a result.
    pub no_results: i64,
    /// Searches with low confidence.
    pub low_confidence: i64,
    /// References that led nowhere.
    pub dead_references: i64,
}

/// Counts of all programs, call by call. It needs 16 bytes of memory for each.
#[derive(Debug, Default)]
pub struct ClientCounts {
    clients: Vec<(Client, ClientCount)>,
    /// By front end and program. Callers choose these names.
    numbers: HashMap<String, usize>,
    key: String,
    /// Number of the program, and session, of each call.
    sessions: Vec<(usize, i64)>,
}

impl ClientCounts {
    /// Counts a call.
    pub fn add(&mut self, source: &str, name: Option<&str>, call: ClientCall) {
        let number = self.number(source, name);
        if self.sessions.last() != Some(&(number, call.session)) {
            self.sessions.push((number, call.session));
        }
        let count = &mut self.clients[number].1;
        count.searches += i64::from(call.is_search);
        count.loads += i64::from(!call.is_search && !call.has_no_result);
        count.no_results += i64::from(call.is_search && call.has_no_result);
        count.low_confidence += i64::from(call.is_search && call.is_low);
        count.dead_references += i64::from(!call.is_search && call.has_no_result);
    }

    fn number(&mut self, source: &str, name: Option<&str>) -> usize {
        self.key.clear();
        self.key.push_str(source);
        if let Some(name) = name {
            self.key.push('\0');
            self.key.push_str(name);
        }
        if let Some(&number) = self.numbers.get(self.key.as_str()) {
            return number;
        }
        let number = self.clients.len();
        self.numbers.insert(self.key.clone(), number);
        let client = Client {
            source: source.to_owned(),
            name: name.map(str::to_owned),
        };
        self.clients.push((client, ClientCount::default()));
        number
    }

    /// The programs with the most searches first; equal ones in the order of their names, no name last.
    #[must_use]
    pub fn most_searches(mut self, limit: usize) -> Vec<(Client, ClientCount)> {
        self.sessions.sort_unstable();
        self.sessions.dedup();
        for &(number, _) in &self.sessions {
            self.clients[number].1.sessions += 1;
        }
        let order = |(client, count): &(Client, ClientCount)| {
            let Client { source, name } = client.clone();
            (Reverse(count.searches), source, name.is_none(), name)
        };
        self.clients.sort_by_cached_key(order);
        self.clients.truncate(limit);
        self.clients
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn counts_are_those_of_the_definition(
            calls in prop::collection::vec(
                ("[ab]", prop::option::of("[ab]?"), 0i64..3, any::<bool>(), any::<bool>(), any::<bool>()), 0..40),
        ) {
            let mut counts = ClientCounts::default();
            for (source, name, session, is_search, has_no_result, is_low) in &calls {
                let call = ClientCall {
                    session: *session,
                    is_search: *is_search,
                    has_no_result: *has_no_result,
                    is_low: *is_low,
                };
                counts.add(source, name.as_deref(), call);
            }
            let clients = counts.most_searches(usize::MAX);
            prop_assert!(clients.is_sorted_by(|a, b| a.1.searches >= b.1.searches));
            prop_assert_eq!(clients.iter().map(|(_, count)| count.searches + count.loads + count.dead_references).sum::<i64>(), calls.len() as i64);
            for (client, count) in clients {
                let of = || calls.iter().filter(|call| call.0 == client.source && call.1 == client.name);
                prop_assert_eq!(count.sessions as usize, of().map(|call| call.2).collect::<HashSet<_>>().len());
                prop_assert_eq!(count.searches as usize, of().filter(|call| call.3).count());
                prop_assert_eq!(count.loads as usize, of().filter(|call| !call.3 && !call.4).count());
                prop_assert_eq!(count.no_results as usize, of().filter(|call| call.3 && call.4).count());
                prop_assert_eq!(count.low_confidence as usize, of().filter(|call| call.3 && call.5).count());
                prop_assert_eq!(count.dead_references as usize, of().filter(|call| !call.3 && call.4).count());
            }
        }
    }
}

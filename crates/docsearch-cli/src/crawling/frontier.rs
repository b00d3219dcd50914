//! The addresses that are still to be visited.

use std::collections::{HashSet, VecDeque};
use std::rc::Rc;

use url::Url;

/// An address to visit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Visit {
    pub(crate) url: Url,
    /// Links between a start and here.
    pub(crate) depth: u32,
    /// The page whose link leads here.
    pub(crate) from: Option<Rc<Url>>,
    /// When it was changed, in the words of the sitemap that lists it.
    pub(crate) changed: Option<String>,
}

/// How many addresses a crawl keeps in mind, and their bytes: pages made by a program can link to new ones for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Memory {
    pub(crate) addresses: usize,
    pub(crate) bytes: usize,
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            addresses: 500_000,
            bytes: 64 << 20,
        }
    }
}

/// Addresses in the order in which they were found, every one once.
#[derive(Debug)]
pub(crate) struct Frontier {
    queue: VecDeque<Visit>,
    seen: HashSet<Url>,
    max_depth: u32,
    memory: Memory,
    is_cut: bool,
    is_full: bool,
}

impl Frontier {
    /// Addresses more than `max_depth` links away are left out.
    pub(crate) fn new(max_depth: u32, memory: Memory) -> Self {
        Self {
            queue: VecDeque::new(),
            seen: HashSet::new(),
            max_depth,
            memory,
            is_cut: false,
            is_full: false,
        }
    }

    pub(crate) fn add(&mut self, visit: Visit) {
        if self.seen.contains(&visit.url) {
            return;
        }
        if visit.depth > self.max_depth {
            self.is_cut = true;
            return;
        }
        let length = visit.url.as_str().len();
        if self.seen.len() >= self.memory.addresses || self.memory.bytes < length {
            self.is_full = true;
            return;
        }
        self.memory.bytes -= length;
        self.seen.insert(visit.url.clone());
        self.queue.push_back(visit);
    }

    /// The page whose turn it is; `None` if no page waits.
    pub(crate) fn next(&mut self) -> Option<Visit> {
        self.queue.pop_front()
    }

    pub(crate) fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Whether an address was too far away.
    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Whether there was no room for an address.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visit(path: &str, depth: u32) -> Visit {
        Visit {
            url: Url::parse("https://x.org").unwrap().join(path).unwrap(),
            depth,
            from: None,
            changed: None,
        }
    }

    #[test]
    fn every_address_once_and_near_ones_first() {
        let mut frontier = Frontier::new(1, Memory::default());
        for (path, depth) in [("/a", 0), ("/b", 1), ("/a", 1), ("/b", 1)] {
            frontier.add(visit(path, depth));
        }
        assert!(!frontier.is_cut());
        assert_eq!(frontier.waiting(), 2);
        assert_eq!(frontier.next(), Some(visit("/a", 0)));
        assert_eq!(frontier.next(), Some(visit("/b", 1)));
        assert_eq!(frontier.next(), None);
    }

    #[test]
    fn addresses_too_far_away_are_left_out() {
        let mut frontier = Frontier::new(1, Memory::default());
        frontier.add(visit("/a", 2));
        assert!(frontier.is_cut());
        assert_eq!(frontier.next(), None);
        frontier.add(visit("/a", 1));
        assert!(frontier.next().is_some());
    }

    #[test]
    fn only_so_many_addresses_are_kept_in_mind() {
        let found = |memory| {
            let mut frontier = Frontier::new(1, memory);
            for path in ["/a", "/b", "/b", "/c"] {
                frontier.add(visit(path, 0));
            }
            // What was visited has been seen all the same.
            while frontier.next().is_some() {}
            frontier.add(visit("/a", 0));
            (frontier.seen.len(), frontier.waiting(), frontier.is_full())
        };
        let memory = |addresses, bytes| Memory { addresses, bytes };
        assert_eq!(found(memory(3, 1000)), (3, 0, false));
        assert_eq!(found(memory(2, 1000)), (2, 0, true));
        assert_eq!(found(memory(3, 2 * "https://x.org/a".len())), (2, 0, true));
    }
}

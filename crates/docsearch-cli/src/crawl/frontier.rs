//! The addresses that are still to be visited.

use std::collections::{HashSet, VecDeque};

use url::Url;

/// An address to visit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Visit {
    pub(crate) url: Url,
    /// Links between a start and here.
    pub(crate) depth: u32,
    /// The page whose link leads here.
    pub(crate) from: Option<Url>,
    /// When it was changed, in the words of the sitemap that lists it.
    pub(crate) changed: Option<String>,
}

/// Addresses in the order in which they were found, every one once.
#[derive(Debug)]
pub(crate) struct Frontier {
    queue: VecDeque<Visit>,
    seen: HashSet<Url>,
    max_depth: u32,
    is_cut: bool,
}

impl Frontier {
    /// Addresses more than `max_depth` links away are left out.
    pub(crate) fn new(max_depth: u32) -> Self {
        Self {
            queue: VecDeque::new(),
            seen: HashSet::new(),
            max_depth,
            is_cut: false,
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
        self.seen.insert(visit.url.clone());
        self.queue.push_back(visit);
    }

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
        let mut frontier = Frontier::new(1);
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
        let mut frontier = Frontier::new(1);
        frontier.add(visit("/a", 2));
        assert!(frontier.is_cut());
        assert_eq!(frontier.next(), None);
        frontier.add(visit("/a", 1));
        assert!(frontier.next().is_some());
    }
}

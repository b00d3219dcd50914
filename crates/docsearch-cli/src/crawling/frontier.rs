//! The addresses that a crawl has yet to visit.

use std::collections::{HashSet, VecDeque};
use std::rc::Rc;

use url::Url;

/// An address to visit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Visit {
    pub(crate) url: Url,
    /// Number of links between a start and this address.
    pub(crate) depth: u32,
    /// The page that links to it.
    pub(crate) from: Option<Rc<Url>>,
    /// `lastmod` of the sitemap that lists it.
    pub(crate) changed: Option<String>,
}

/// Limits on the addresses that a crawl remembers: generated pages can link to new ones without end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FrontierLimits {
    pub(crate) addresses: usize,
    pub(crate) bytes: usize,
}

impl Default for FrontierLimits {
    fn default() -> Self {
        Self {
            addresses: 500_000,
            bytes: 64 << 20,
        }
    }
}

/// Addresses in the order in which they were found, each once.
#[derive(Debug)]
pub(crate) struct Frontier {
    queue: VecDeque<Visit>,
    seen: HashSet<Url>,
    max_depth: u32,
    limits: FrontierLimits,
    is_cut: bool,
    is_full: bool,
}

impl Frontier {
    /// Leaves out addresses more than `max_depth` links away.
    pub(crate) fn new(max_depth: u32, limits: FrontierLimits) -> Self {
        Self {
            queue: VecDeque::new(),
            seen: HashSet::new(),
            max_depth,
            limits,
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
        if self.seen.len() >= self.limits.addresses || self.limits.bytes < length {
            self.is_full = true;
            return;
        }
        self.limits.bytes -= length;
        self.seen.insert(visit.url.clone());
        self.queue.push_back(visit);
    }

    /// The next page to visit.
    pub(crate) fn next(&mut self) -> Option<Visit> {
        self.queue.pop_front()
    }

    pub(crate) fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Whether an address was left out for its depth.
    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Whether an address was left out for the limits.
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
    fn every_address_comes_once_and_near_ones_first() {
        let mut frontier = Frontier::new(1, FrontierLimits::default());
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
        let mut frontier = Frontier::new(1, FrontierLimits::default());
        frontier.add(visit("/a", 2));
        assert!(frontier.is_cut());
        assert_eq!(frontier.next(), None);
        frontier.add(visit("/a", 1));
        assert!(frontier.next().is_some());
    }

    #[test]
    fn the_number_and_size_of_addresses_are_limited() {
        let found = |limits| {
            let mut frontier = Frontier::new(1, limits);
            for path in ["/a", "/b", "/b", "/c"] {
                frontier.add(visit(path, 0));
            }
            // A visited address counts as seen.
            while frontier.next().is_some() {}
            frontier.add(visit("/a", 0));
            (frontier.seen.len(), frontier.waiting(), frontier.is_full())
        };
        let limits = |addresses, bytes| FrontierLimits { addresses, bytes };
        assert_eq!(found(limits(3, 1000)), (3, 0, false));
        assert_eq!(found(limits(2, 1000)), (2, 0, true));
        assert_eq!(found(limits(3, 2 * "https://x.org/a".len())), (2, 0, true));
    }
}

//! How often pages are found, opened and first.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use crate::values::id::{DocumentId, Map, Set};

/// How often one page is found and opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageCount {
    /// Searches that found it among the results that are logged.
    pub found: i64,
    /// Searches whose first result it was.
    pub first: i64,
    /// Different queries whose first result it was.
    pub queries: i64,
    /// Calls that loaded it.
    pub opened: i64,
}

/// Counts of all pages, call by call. It needs memory for each page, and for each query with its first page.
#[derive(Debug, Default)]
pub struct PageCounts {
    pages: Map<DocumentId, PageCount>,
    queries: Set<(DocumentId, u64)>,
}

impl PageCounts {
    /// Counts a search by its results, the first one first, and the digest of its query.
    pub fn add_search(&mut self, results: impl Iterator<Item = DocumentId>, query: Option<&str>) {
        for (place, result) in results.enumerate() {
            let page = self.pages.entry(result).or_default();
            page.found += 1;
            if place == 0 {
                page.first += 1;
                if let Some(query) = query
                    && self.queries.insert((result, hash(query)))
                {
                    page.queries += 1;
                }
            }
        }
    }

    /// Counts a call that loaded a page.
    pub fn add_load(&mut self, page: DocumentId) {
        self.pages.entry(page).or_default().opened += 1;
    }

    /// The pages with a count, in no order.
    pub fn pages(&self) -> impl Iterator<Item = (DocumentId, PageCount)> {
        self.pages.iter().map(|(&page, &count)| (page, count))
    }
}

/// 64 bits: digests of queries are not chosen by anybody.
fn hash(query: &str) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(query)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The counts are those of the definition, whatever is logged in whatever order.
        #[test]
        fn counts_are_those_of_the_definition(
            searches in prop::collection::vec((prop::collection::hash_set(0i64..6, 0..4), prop::option::of("[ab]{1,2}")), 0..40),
            loads in prop::collection::vec(0i64..6, 0..10),
        ) {
            let id = |document: i64| DocumentId { project: document % 2, document };
            let searches: Vec<(Vec<i64>, Option<String>)> =
                searches.into_iter().map(|(results, query)| (results.into_iter().collect(), query)).collect();
            let mut counts = PageCounts::default();
            for (results, query) in &searches {
                counts.add_search(results.iter().copied().map(id), query.as_deref());
            }
            for &page in &loads {
                counts.add_load(id(page));
            }
            let found: Map<DocumentId, PageCount> = counts.pages().collect();
            for page in 0..7 {
                let of = found.get(&id(page)).copied().unwrap_or_default();
                let firsts = || searches.iter().filter(|(results, _)| results.first() == Some(&page));
                let queries: HashSet<&String> = firsts().filter_map(|(_, query)| query.as_ref()).collect();
                prop_assert_eq!(of.found as usize, searches.iter().filter(|(results, _)| results.contains(&page)).count());
                prop_assert_eq!(of.first as usize, firsts().count());
                prop_assert_eq!(of.queries as usize, queries.len());
                prop_assert_eq!(of.opened as usize, loads.iter().filter(|&&load| load == page).count());
            }
        }
    }
}

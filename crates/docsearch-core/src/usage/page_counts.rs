//! How often pages are found, opened and first.

use crate::values::id::{DocumentId, Map};

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

/// Counts of all pages, call by call. It needs memory for each page, and 16 bytes for each search.
#[derive(Debug, Default)]
pub struct PageCounts {
    numbers: Map<DocumentId, u32>,
    pages: Vec<(DocumentId, PageCount)>,
    /// Number of the first page, and query, of each search.
    first: Vec<(u32, i64)>,
}

impl PageCounts {
    /// Counts a search by its results, the first one first, and the key of its query.
    pub fn add_search(&mut self, results: impl Iterator<Item = DocumentId>, query: Option<i64>) {
        for (place, result) in results.enumerate() {
            let number = self.number(result);
            let page = &mut self.pages[number as usize].1;
            page.found += 1;
            if place == 0 {
                page.first += 1;
                self.first.extend(query.map(|query| (number, query)));
            }
        }
    }

    /// Counts a call that loaded a page.
    pub fn add_load(&mut self, page: DocumentId) {
        let number = self.number(page);
        self.pages[number as usize].1.opened += 1;
    }

    fn number(&mut self, page: DocumentId) -> u32 {
        *self.numbers.entry(page).or_insert_with(|| {
            self.pages.push((page, PageCount::default()));
            u32::try_from(self.pages.len() - 1).unwrap_or(u32::MAX)
        })
    }

    /// The pages with a count, in no order.
    #[must_use]
    pub fn pages(mut self) -> Vec<(DocumentId, PageCount)> {
        self.first.sort_unstable();
        self.first.dedup();
        for &(number, _) in &self.first {
            self.pages[number as usize].1.queries += 1;
        }
        self.pages
    }
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
            searches in prop::collection::vec((prop::collection::hash_set(0i64..6, 0..4), prop::option::of(0i64..4)), 0..40),
            loads in prop::collection::vec(0i64..6, 0..10),
        ) {
            let id = |document: i64| DocumentId { project: document % 2, document };
            let searches: Vec<(Vec<i64>, Option<i64>)> =
                searches.into_iter().map(|(results, query)| (results.into_iter().collect(), query)).collect();
            let mut counts = PageCounts::default();
            for (results, query) in &searches {
                counts.add_search(results.iter().copied().map(id), *query);
            }
            for &page in &loads {
                counts.add_load(id(page));
            }
            let found: Map<DocumentId, PageCount> = counts.pages().into_iter().collect();
            for page in 0..7 {
                let of = found.get(&id(page)).copied().unwrap_or_default();
                let firsts = || searches.iter().filter(|(results, _)| results.first() == Some(&page));
                let queries: HashSet<&i64> = firsts().filter_map(|(_, query)| query.as_ref()).collect();
                prop_assert_eq!(of.found as usize, searches.iter().filter(|(results, _)| results.contains(&page)).count());
                prop_assert_eq!(of.first as usize, firsts().count());
                prop_assert_eq!(of.queries as usize, queries.len());
                prop_assert_eq!(of.opened as usize, loads.iter().filter(|&&load| load == page).count());
            }
        }
    }
}

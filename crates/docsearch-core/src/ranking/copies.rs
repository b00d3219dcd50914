//! Documents of which an answer shows one: those with the same text, and the versions of one page.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::ranking::page::Page;
use crate::ranking::version::{DocumentVersion, QueriedVersions, Version, versions_of_pages};
use crate::text::name::slug_leaf;
use crate::values::id::{DocumentId, Map};

/// What makes found documents copies of each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Copies {
    /// Digests of the texts of documents, see [`crate::documents::text_digest`].
    pub texts: Map<DocumentId, i64>,
    /// Versions of pages of which there are several.
    pub versions: Map<DocumentId, PageVersion>,
}

/// A document as a version of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageVersion {
    /// The first of its versions, by id.
    pub page: DocumentId,
    /// Its version, as the document says it.
    pub version: String,
    /// Whether the query asks for a version of the page: then each is shown.
    pub is_queried: bool,
}

impl Copies {
    /// The copies among pages that a query found.
    pub fn among(pages: &Map<DocumentId, Page>, query: &str) -> Self {
        let texts = pages.iter().filter_map(|(id, page)| Some((*id, page.text_digest?)));
        Self {
            texts: texts.collect(),
            versions: versions(pages, query),
        }
    }

    /// Shows each version, as if the query asked for it.
    pub fn show_versions(&mut self) {
        self.versions.values_mut().for_each(|version| version.is_queried = true);
    }

    /// Adds those of another search.
    pub fn extend(&mut self, other: Self) {
        self.texts.extend(other.texts);
        self.versions.extend(other.versions);
    }

    /// Removes a document.
    pub fn remove(&mut self, document: DocumentId) {
        self.texts.remove(&document);
        self.versions.remove(&document);
    }

    /// Number of documents that are no copies of each other.
    pub fn distinct(&self, documents: impl Iterator<Item = DocumentId>) -> usize {
        self.groups(documents).len()
    }

    /// The documents, those that are copies of each other in one group. Documents and groups keep their order.
    pub fn groups(&self, documents: impl Iterator<Item = DocumentId>) -> Vec<Vec<DocumentId>> {
        let mut groups: Vec<Vec<DocumentId>> = Vec::new();
        let mut of_text: Map<i64, usize> = Map::default();
        let mut of_page: Map<DocumentId, usize> = Map::default();
        for document in documents {
            let text = self.texts.get(&document);
            let page = self.folded_page(document);
            let by_text = text.and_then(|text| of_text.get(text)).copied();
            let by_page = page.and_then(|page| of_page.get(&page)).copied();
            let group = match (by_text, by_page) {
                (Some(one), Some(other)) if one != other => {
                    let (first, second) = (one.min(other), one.max(other));
                    let moved = std::mem::take(&mut groups[second]);
                    groups[first].extend(moved);
                    for group in of_text.values_mut().chain(of_page.values_mut()) {
                        if *group == second {
                            *group = first;
                        }
                    }
                    first
                }
                (Some(group), _) | (None, Some(group)) => group,
                (None, None) => {
                    groups.push(Vec::new());
                    groups.len() - 1
                }
            };
            groups[group].push(document);
            text.map(|text| of_text.insert(*text, group));
            page.map(|page| of_page.insert(page, group));
        }
        groups.retain(|group| !group.is_empty());
        groups
    }

    /// The page whose versions take one place with this document.
    fn folded_page(&self, document: DocumentId) -> Option<DocumentId> {
        let version = self.versions.get(&document)?;
        (!version.is_queried).then_some(version.page)
    }

    /// The other versions of the page of a document, newest first.
    pub fn other_versions(&self, document: DocumentId) -> Vec<&str> {
        let Some(own) = self.versions.get(&document) else {
            return Vec::new();
        };
        let of_page = self.versions.iter();
        let of_page = of_page.filter(|(other, version)| **other != document && version.page == own.page);
        let mut versions: Vec<&str> = of_page.map(|(_, version)| version.version.as_str()).collect();
        versions.sort_by_cached_key(|version| (Reverse(Version::parse(version)), (*version).to_owned()));
        versions.dedup();
        versions
    }
}

/// Whether a page is named after its version, as release notes are: it is no version of another page.
fn is_about_its_version(document: &DocumentVersion<'_, DocumentId>) -> bool {
    Version::parse(slug_leaf(document.slug)) == Version::parse(document.version)
}

fn versions(pages: &Map<DocumentId, Page>, query: &str) -> Map<DocumentId, PageVersion> {
    let documents = pages.iter().filter_map(|(id, page)| page.as_version(*id));
    let documents = documents.filter(|document| !is_about_its_version(document));
    let mut documents: Vec<DocumentVersion<'_, DocumentId>> = documents.collect();
    documents.sort_unstable_by_key(|document| document.document);
    let pages = versions_of_pages(&documents);
    let known: BTreeSet<&Version> = pages.iter().flatten().map(|(_, version)| version).collect();
    let known: Vec<Version> = known.into_iter().cloned().collect();
    let queried = match known.is_empty() {
        true => QueriedVersions::default(),
        false => QueriedVersions::read(query, &known),
    };
    let mut found = Map::default();
    for versions in &pages {
        let is_queried = versions.iter().any(|(_, version)| queried.known.contains(version));
        for (index, _) in versions {
            let version = PageVersion {
                page: documents[versions[0].0].document,
                version: documents[*index].version.to_owned(),
                is_queried,
            };
            found.insert(documents[*index].document, version);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn id(document: i64) -> DocumentId {
        DocumentId { project: 1, document }
    }

    fn pages(documents: &[(&str, Option<&str>)]) -> Map<DocumentId, Page> {
        let page = |(number, &(slug, version)): (i64, &(&str, Option<&str>))| {
            let page = Page {
                slug: slug.to_owned(),
                version: version.map(str::to_owned),
                ..Page::default()
            };
            (id(number), page)
        };
        (0..).zip(documents).map(page).collect()
    }

    const DOCUMENTS: [(&str, Option<&str>); 7] = [
        ("v1.9/install", Some("1.9")),
        ("v1.10/install", Some("1.10")),
        ("next/install", Some("next")),
        ("v1.10/ports", Some("1.10")),
        ("releases/1.9", Some("1.9")),
        ("releases/1.10", Some("1.10")),
        ("guide", None),
    ];

    #[test]
    fn versions_of_a_page_are_copies_unless_the_query_names_one() {
        let groups = |query: &str| Copies::among(&pages(&DOCUMENTS), query).groups((0..7).map(id)).len();
        assert_eq!(groups("install"), 5);
        assert_eq!(groups("install 3.7"), 5);
        for query in ["install 1.9", "install v1.10", "next install"] {
            assert_eq!(groups(query), 7, "{query}");
        }
        let mut all = Copies::among(&pages(&DOCUMENTS), "install");
        all.show_versions();
        assert_eq!(all.distinct((0..7).map(id)), 7);
    }

    #[test]
    fn the_other_versions_of_a_page_are_named_newest_first() {
        let copies = Copies::among(&pages(&DOCUMENTS), "install");
        assert_eq!(copies.other_versions(id(0)), ["1.10", "next"]);
        assert_eq!(copies.other_versions(id(2)), ["1.10", "1.9"]);
        assert!(copies.other_versions(id(3)).is_empty() && copies.other_versions(id(6)).is_empty());
    }

    proptest! {
        /// Documents with one text are together, and so are versions of one page; nothing else is.
        #[test]
        fn groups_are_what_texts_and_pages_connect(
            texts in prop::collection::btree_map(0i64..24, 0i64..8, 0..24),
            versions in prop::collection::btree_map(0i64..24, (0i64..4, any::<bool>()), 0..24),
        ) {
            let version = |(document, (page, is_queried)): (&i64, &(i64, bool))| {
                let version = PageVersion { page: id(100 + page), version: document.to_string(), is_queried: *is_queried };
                (id(*document), version)
            };
            let copies = Copies {
                texts: texts.iter().map(|(document, text)| (id(*document), *text)).collect(),
                versions: versions.iter().map(version).collect(),
            };
            // The least number that each document reaches.
            let mut least: BTreeMap<i64, i64> = (0..24).map(|document| (document, document)).collect();
            let page = |document: &i64| versions.get(document).filter(|(_, is_queried)| !is_queried).map(|(page, _)| page);
            for _ in 0..24 {
                for a in 0..24 {
                    for b in 0..24 {
                        let same_text = texts.contains_key(&a) && texts.get(&a) == texts.get(&b);
                        if same_text || page(&a).is_some() && page(&a) == page(&b) {
                            least.insert(a, least[&a].min(least[&b]));
                        }
                    }
                }
            }
            let groups = copies.groups((0..24).map(id));
            prop_assert_eq!(groups.iter().map(Vec::len).sum::<usize>(), 24);
            for group in &groups {
                prop_assert!(group.iter().all(|member| least[&member.document] == least[&group[0].document]));
            }
            let distinct: BTreeSet<i64> = least.into_values().collect();
            prop_assert_eq!(groups.len(), distinct.len());
        }
    }
}

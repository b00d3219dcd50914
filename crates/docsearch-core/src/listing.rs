//! Documents as a tree of categories.

use serde::Serialize;

use crate::bounds::CATEGORY_LEVELS;

/// A document in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListedDocument {
    /// Name of the project.
    pub project: String,
    /// Slug.
    pub slug: String,
    /// Title.
    pub title: String,
    /// Beginning of the summary.
    pub description: Option<String>,
    /// ISO 8601.
    pub last_updated: String,
}

/// A category with what stands in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ListedCategory {
    /// Its own part of the category, without those above; `None` holds the documents without one.
    pub name: Option<String>,
    /// The whole category, to filter by.
    pub category: Option<String>,
    /// Documents in it and in the categories below.
    pub document_count: usize,
    /// Documents of this category itself, in the order given.
    pub documents: Vec<ListedDocument>,
    /// The categories below, by name.
    pub categories: Vec<ListedCategory>,
}

/// A list of documents by category.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Listing {
    /// Number of documents.
    pub total_documents: usize,
    /// The categories of the first level, by name; documents without a category come last.
    pub categories: Vec<ListedCategory>,
}

impl Listing {
    /// Sorts documents, given with their categories, into a tree: `/` stands between levels. What lies
    /// deeper than a category may is one name, so that no stored text decides how deep the tree is.
    pub fn of(documents: impl IntoIterator<Item = (Option<String>, ListedDocument)>) -> Self {
        let mut root = ListedCategory::default();
        let mut without = ListedCategory::default();
        for (category, document) in documents {
            match category.filter(|category| !category.is_empty()) {
                Some(category) => root.add(&category, document),
                None => {
                    without.document_count += 1;
                    without.documents.push(document);
                }
            }
        }
        let total_documents = root.document_count + without.document_count;
        let mut categories = root.categories;
        if without.document_count > 0 {
            categories.push(without);
        }
        Self {
            total_documents,
            categories,
        }
    }
}

impl ListedCategory {
    fn add(&mut self, category: &str, document: ListedDocument) {
        self.document_count += 1;
        let mut place = self;
        let mut end = 0;
        for name in category.splitn(CATEGORY_LEVELS, '/') {
            end += name.len();
            let wanted = Some(name.to_owned());
            let at = match place.categories.binary_search_by(|known| known.name.cmp(&wanted)) {
                Ok(at) => at,
                Err(at) => {
                    let new = ListedCategory {
                        name: wanted,
                        category: Some(category[..end].to_owned()),
                        ..ListedCategory::default()
                    };
                    place.categories.insert(at, new);
                    at
                }
            };
            place = &mut place.categories[at];
            place.document_count += 1;
            end += 1;
        }
        place.documents.push(document);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn document(slug: &str) -> ListedDocument {
        ListedDocument {
            project: "manual".to_owned(),
            slug: slug.to_owned(),
            title: slug.to_owned(),
            description: None,
            last_updated: String::new(),
        }
    }

    #[test]
    fn s3_24_documents_stand_in_a_tree_of_categories() {
        let listing = Listing::of([
            (Some("Guides/Setup".to_owned()), document("install")),
            (None, document("readme")),
            (Some("Controls".to_owned()), document("button")),
            (Some("Guides".to_owned()), document("start")),
        ]);
        assert_eq!(listing.total_documents, 4);
        let names: Vec<Option<&str>> = listing.categories.iter().map(|found| found.name.as_deref()).collect();
        assert_eq!(names, [Some("Controls"), Some("Guides"), None]);
        let guides = &listing.categories[1];
        assert_eq!((guides.document_count, guides.documents.len()), (2, 1));
        assert_eq!(guides.categories[0].category.as_deref(), Some("Guides/Setup"));
    }

    #[test]
    fn what_is_too_deep_is_one_name() {
        let deep = vec!["a"; 100_000].join("/");
        let listing = Listing::of([(Some(deep.clone()), document("deep"))]);
        let mut place = &listing.categories;
        let mut names = Vec::new();
        while let [only] = place.as_slice() {
            names.push(only.name.clone().expect("a name"));
            assert_eq!(only.category.as_deref(), Some(names.join("/").as_str()));
            place = &only.categories;
        }
        assert_eq!(names.len(), CATEGORY_LEVELS);
        assert_eq!(names.join("/"), deep);
        assert!(serde_json::to_value(&listing).is_ok());
    }

    proptest! {
        #[test]
        fn the_counts_add_up(categories in proptest::collection::vec(proptest::option::of("[ab](/[abc]){0,3}"), 0..30)) {
            fn counted(category: &ListedCategory) -> usize {
                let below: usize = category.categories.iter().map(counted).sum();
                assert_eq!(category.document_count, below + category.documents.len());
                category.document_count
            }
            let count = categories.len();
            let listing = Listing::of(categories.into_iter().map(|category| (category, document("x"))));
            prop_assert_eq!(listing.total_documents, count);
            prop_assert_eq!(listing.categories.iter().map(counted).sum::<usize>(), count);
        }
    }
}

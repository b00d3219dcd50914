//! Lists of documents, in parts, and as a tree of categories.

use std::io;

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

use crate::values::bounds::CATEGORY_LEVELS;
use crate::values::interrupt::Interruptible;

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

/// A category with its documents and subcategories.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ListedCategory {
    /// Last part of the category; `None` has the documents without one.
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

/// A list of documents by category, or a part of one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Listing {
    /// Number of all documents, including those before and after the part.
    pub total_documents: usize,
    /// Number of documents before the next part, if there is one.
    pub next_skip: Option<usize>,
    /// The categories of the first level, by name; documents without a category come last.
    pub categories: Vec<ListedCategory>,
}

impl Listing {
    /// Sorts documents with their categories into a tree; `/` separates levels. Levels beyond the bound of categories
    /// are one name, so that no stored text decides how deep the tree is.
    pub fn of(documents: impl IntoIterator<Item = (Option<String>, ListedDocument)>) -> Self {
        let mut root = ListedCategory::default();
        let mut without = ListedCategory::default();
        for (category, document) in documents.into_iter().interruptible() {
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
            next_skip: None,
            categories,
        }
    }

    /// The documents after the first `skip` that `jsonb` writes in `max_chars` characters. At least one, so that
    /// reading part after part ends.
    pub fn part(documents: &[(Option<String>, ListedDocument)], skip: usize, max_chars: Option<usize>) -> Self {
        let rest = documents.get(skip..).unwrap_or_default();
        let first = |count: usize| {
            let end = skip.saturating_add(count);
            Self {
                total_documents: documents.len(),
                next_skip: (end < documents.len()).then_some(end),
                ..Self::of(rest[..count].iter().cloned())
            }
        };
        let Some(max_chars) = max_chars else {
            return first(rest.len());
        };
        let own = rest.iter().map(|(_, document)| jsonb_chars(document));
        let (mut fits, mut over) = (1, fitting(own, max_chars) + 1);
        while fits + 1 < over {
            let middle = fits.midpoint(over);
            if jsonb_chars(&first(middle)) <= max_chars {
                fits = middle;
            } else {
                over = middle;
            }
        }
        first(fits.min(rest.len()))
    }
}

/// Number of first entries whose lengths are at most `max_chars` together; 1 if not even the first fits.
pub fn fitting(lengths: impl IntoIterator<Item = usize>, max_chars: usize) -> usize {
    let mut together = 0usize;
    let ends = lengths.into_iter().map(|length| {
        together = together.saturating_add(length);
        together
    });
    let mut ends = ends.peekable();
    let least = usize::from(ends.peek().is_some());
    ends.take_while(|end| *end <= max_chars).count().max(least)
}

/// Length of a value as Postgres writes `jsonb`, with blanks after colons and commas.
fn jsonb_chars(value: &impl Serialize) -> usize {
    struct Spaced;
    impl Formatter for Spaced {
        fn begin_array_value<W: io::Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
            writer.write_all(if first { b"" } else { b", " })
        }
        fn begin_object_key<W: io::Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
            writer.write_all(if first { b"" } else { b", " })
        }
        fn begin_object_value<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
            writer.write_all(b": ")
        }
    }
    let mut text = Vec::new();
    value
        .serialize(&mut Serializer::with_formatter(&mut text, Spaced))
        .expect("a list has nothing that JSON cannot hold");
    String::from_utf8_lossy(&text).chars().count()
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

    #[test]
    fn lengths_are_those_of_jsonb() {
        let value = serde_json::json!({"a": [1, 2, {}], "b": {"c": "d", "e": []}});
        assert_eq!(
            jsonb_chars(&value),
            r#"{"a": [1, 2, {}], "b": {"c": "d", "e": []}}"#.len()
        );
    }

    #[test]
    fn entries_fit_while_they_do_and_the_first_always() {
        assert_eq!(fitting([3, 3, 3], 8), 2);
        assert_eq!(fitting([3, 3, 3], 9), 3);
        assert_eq!(fitting([9, 1], 8), 1);
        assert_eq!(fitting([], 8), 0);
    }

    proptest! {
        #[test]
        fn s3_24_part_after_part_is_the_whole(
            categories in proptest::collection::vec(proptest::option::of("[ab](/[abc]){0,3}"), 0..30),
            max_chars in proptest::option::of(1usize..3_000),
        ) {
            fn slugs<'a>(categories: &'a [ListedCategory], found: &mut Vec<&'a str>) {
                for category in categories {
                    found.extend(category.documents.iter().map(|document| document.slug.as_str()));
                    slugs(&category.categories, found);
                }
            }
            let documents = (0..).zip(categories).map(|(number, category)| (category, document(&format!("{number:03}"))));
            let documents: Vec<_> = documents.collect();
            let (mut skip, mut seen) = (Some(0), Vec::new());
            while let Some(start) = skip {
                let part = Listing::part(&documents, start, max_chars);
                prop_assert_eq!(part.total_documents, documents.len());
                let mut listed = Vec::new();
                slugs(&part.categories, &mut listed);
                prop_assert!(max_chars.is_none_or(|most| listed.len() <= 1 || jsonb_chars(&part) <= most));
                if let (Some(next), Some(most)) = (part.next_skip, max_chars) {
                    // Its counts may have a digit less, and "null" is longer than a number.
                    let one_more = Listing::part(&documents[..=next], start, None);
                    prop_assert!(jsonb_chars(&one_more) + 2 > most);
                }
                seen.extend(listed.into_iter().map(str::to_owned));
                skip = part.next_skip;
            }
            seen.sort_unstable();
            prop_assert_eq!(seen, documents.iter().map(|(_, document)| document.slug.clone()).collect::<Vec<_>>());
        }

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

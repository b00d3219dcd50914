//! Which of several pages with the query's name has the least else in its title and slug.

use crate::query::understanding::CandidateName;
use crate::ranking::page::Page;
use crate::text::identifier::is_identifier;
use crate::text::name::{self, NameKind};
use crate::values::id::{DocumentId, Map};

/// Share of its strength that a page keeps, as a near name, if only the end of its slug is the title of another page.
const LEAF_SHARE: f32 = 0.7;
/// Taken off the strength of a page whose slug is longer than the name, if another page has the name as title and
/// whole slug. As much as outside of the query's container.
const LONGER_SLUG: f32 = 0.05;

/// Which part of a page the name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Closeness {
    /// The end of its slug: `guide/options` "More options".
    Leaf,
    /// Its title, or a name of code in it: `guide/options` "Options".
    Title,
    /// Its title and its whole slug: `options` "Options".
    Whole,
}

impl Closeness {
    /// `None` for other kinds of names.
    fn of(page: &Page, kind: NameKind, candidate: &CandidateName) -> Option<Self> {
        match kind {
            NameKind::Title if name::has_key(&page.slug, &candidate.key) => Some(Self::Whole),
            NameKind::Title => Some(Self::Title),
            // "ns::RingBuffer< T > Class Template Reference"
            NameKind::Symbol if is_identifier(&candidate.text) => Some(Self::Title),
            NameKind::Slug => Some(Self::Leaf),
            _ => None,
        }
    }
}

/// Puts pages of a project with the same candidate name behind the one with the greatest closeness. `names` are the
/// documents with a candidate name, the kind of the name, and its index.
pub(crate) fn prefer_closest(
    names: impl Iterator<Item = (DocumentId, NameKind, usize)>,
    candidates: &[CandidateName],
    pages: &mut Map<DocumentId, Page>,
) {
    let mut closest: Map<(i64, usize), Closeness> = Map::default();
    let mut close = Vec::new();
    for (document, kind, candidate) in names {
        let named = pages
            .get(&document)
            .filter(|page| page.name > 0.0 || page.near_name > 0.0);
        if let Some(closeness) = named.and_then(|page| Closeness::of(page, kind, &candidates[candidate])) {
            let best = closest.entry((document.project, candidate)).or_insert(closeness);
            *best = closeness.max(*best);
            close.push((document, candidate, closeness));
        }
    }
    for (document, candidate, closeness) in close {
        let is_closest = closest[&(document.project, candidate)] == closeness;
        if let Some(page) = pages.get_mut(&document).filter(|_| !is_closest) {
            if page.name <= 0.0 {
                page.near_name *= match closeness {
                    Closeness::Leaf => LEAF_SHARE,
                    Closeness::Title | Closeness::Whole => 1.0 - LONGER_SLUG,
                };
            } else if closeness == Closeness::Leaf {
                page.near_name = page.near_name.max(page.name * LEAF_SHARE);
                page.name = 0.0;
            } else {
                page.name = (page.name - LONGER_SLUG).max(0.0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::understanding::NameRole;
    use crate::ranking::rank::{name_strength, noisy_or};
    use crate::ranking::score::EVIDENCE_CAP;

    /// Scores of pages with a slug, a title and a kind of name, with little and with the greatest evidence.
    fn scores(query: &str, found: &[(&str, &str, NameKind)]) -> Vec<(f32, f32)> {
        let candidate = CandidateName {
            text: query.to_owned(),
            key: name::key(query),
            role: NameRole::Whole,
            project: None,
        };
        let numbered = || {
            found.iter().zip(1..).map(|(page, number)| {
                let document = DocumentId {
                    project: 1,
                    document: number,
                };
                (document, *page)
            })
        };
        let page = |(slug, title, kind): (&str, &str, NameKind)| Page {
            slug: slug.to_owned(),
            title: title.to_owned(),
            name: name_strength(kind, title == query, true),
            ..Page::default()
        };
        let mut pages: Map<DocumentId, Page> = numbered().map(|(id, found)| (id, page(found))).collect();
        let names = numbered().map(|(id, (_, _, kind))| (id, kind, 0));
        prefer_closest(names, &[candidate], &mut pages);
        let score = |page: &Page, evidence| noisy_or(noisy_or(evidence, page.near_name).min(EVIDENCE_CAP), page.name);
        numbered()
            .map(|(id, _)| (score(&pages[&id], 0.3), score(&pages[&id], EVIDENCE_CAP)))
            .collect()
    }

    #[test]
    fn a_name_of_code_in_a_title_comes_before_one_at_the_end_of_a_slug() {
        let post = ("posts/ringbuffer", "How we built it", NameKind::Slug);
        let class = (
            "classns_1_1RingBuffer",
            "ns::RingBuffer< T > Class Template Reference",
            NameKind::Symbol,
        );
        let scores = scores("RingBuffer", &[post, class]);
        assert!(scores[1].0 > scores[0].1, "{scores:?}");
    }

    #[test]
    fn s0_7_of_near_names_the_closest_counts_most() {
        let candidate = CandidateName {
            text: "options".to_owned(),
            key: name::key("options"),
            role: NameRole::WithoutKind,
            project: None,
        };
        let near = |found: &[(&str, &str, NameKind)]| {
            let id = |document| DocumentId { project: 1, document };
            let page = |&(slug, title, _): &(&str, &str, NameKind)| Page {
                slug: slug.to_owned(),
                title: title.to_owned(),
                near_name: 0.5,
                ..Page::default()
            };
            let mut pages: Map<DocumentId, Page> = (1..).map(id).zip(found.iter().map(page)).collect();
            let names = (1..).map(id).zip(found).map(|(id, (_, _, kind))| (id, *kind, 0));
            prefer_closest(names, std::slice::from_ref(&candidate), &mut pages);
            let near = (1..)
                .map(id)
                .zip(found)
                .map(|(id, _)| (pages[&id].name, pages[&id].near_name));
            near.collect::<Vec<(f32, f32)>>()
        };
        let (whole, title, leaf) = (
            ("options", "Options", NameKind::Title),
            ("guide/options", "Options", NameKind::Title),
            ("cli/options", "More options", NameKind::Slug),
        );
        assert_eq!(near(&[whole, title, leaf]), [(0.0, 0.5), (0.0, 0.475), (0.0, 0.35)]);
        assert_eq!(near(&[leaf]), [(0.0, 0.5)], "nothing is closer");
    }

    #[test]
    fn s0_7_the_page_with_the_closest_name_comes_first() {
        let (whole, title, leaf) = (
            ("options", "Options", NameKind::Title),
            ("guide/options", "Options", NameKind::Title),
            ("cli/options", "More options", NameKind::Slug),
        );
        for query in ["options", "Options", "OPTIONS"] {
            for found in [
                vec![whole, title],
                vec![whole, leaf],
                vec![title, leaf],
                vec![whole, title, leaf],
            ] {
                let scores = scores(query, &found);
                // The pages behind have the greatest possible evidence.
                let ordered = |pair: &[(f32, f32)]| pair[0].0 > pair[1].1;
                assert!(scores.windows(2).all(ordered), "{query} {found:?} {scores:?}");
            }
            assert!(scores(query, &[leaf])[0].0 > 0.99, "nothing is closer");
            let other = ("reference/options", "Options", NameKind::Title);
            let equal = scores(query, &[title, other]);
            assert_eq!(equal[0], equal[1]);
        }
    }
}

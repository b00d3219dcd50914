//! Which of several pages with the same text, or versions of a page, is shown.

use std::cmp::Reverse;

use serde_json::Value;

use crate::ranking::fusion::RankedDocuments;
use crate::ranking::score::EVIDENCE_CAP;
use crate::ranking::version::Version;
use crate::values::id::{DocumentId, Map};

/// Pages whose score is this much below that of the best page with the same text are not shown instead of it: the query asks for the
/// better one, by its framework or platform. Chosen, not measured.
const MARGIN: f32 = 0.05;

/// What the author of a page says about pages with the same text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Canonical {
    /// This one is canonical.
    Here,
    /// Nothing.
    #[default]
    Unstated,
    /// Another one is.
    Elsewhere,
}

impl Canonical {
    /// Reads the key `canonical` of metadata: `true`, `false`, or the slug, reference or address of the canonical page.
    pub fn read(value: Option<&Value>, names: &[&str]) -> Self {
        match value {
            Some(Value::Bool(true)) => Self::Here,
            Some(Value::Bool(false)) => Self::Elsewhere,
            Some(Value::String(name)) => match name.trim() {
                "" => Self::Unstated,
                "true" => Self::Here,
                "false" => Self::Elsewhere,
                name if names.contains(&name) => Self::Here,
                _ => Self::Elsewhere,
            },
            _ => Self::Unstated,
        }
    }
}

/// Order of pages with the same text: the first is shown.
///
/// A page can resign, but a mark puts it first only in its own project: who writes to a later project cannot replace pages of an
/// earlier one by copies.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Preference {
    resigned: bool,
    project: i64,
    canonical: Canonical,
    /// Newer ones first.
    version: Reverse<Option<PageVersion>>,
    slug_chars: usize,
    document: i64,
}

/// A version; a page without one is of the current version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum PageVersion {
    Of(Version),
    Current,
}

impl Preference {
    /// The place of a page.
    pub fn new(document: DocumentId, canonical: Canonical, version: Option<&str>, slug: &str) -> Self {
        let version = match version {
            Some(version) => Version::parse(version).map(PageVersion::Of),
            None => Some(PageVersion::Current),
        };
        Self {
            resigned: canonical == Canonical::Elsewhere,
            project: document.project,
            canonical,
            version: Reverse(version),
            slug_chars: slug.chars().count(),
            document: document.document,
        }
    }
}

impl RankedDocuments {
    /// The documents of which others are copies.
    pub fn duplicates(&self) -> Vec<DocumentId> {
        let documents = self.ranked.iter().map(|ranked| ranked.document.document);
        let groups = self.copies.groups(documents).into_iter();
        let mut duplicates: Vec<DocumentId> = groups.filter(|members| members.len() > 1).flatten().collect();
        duplicates.sort_unstable();
        duplicates
    }

    /// Leaves one of the documents that are copies of each other, with its own score, and returns which is shown for each of the others.
    /// A pinned one is shown first. Documents without a preference stay.
    pub fn fold(&mut self, preferences: &Map<DocumentId, Preference>) -> Map<DocumentId, DocumentId> {
        let ranked = self
            .ranked
            .iter()
            .map(|ranked| (ranked.document.document, ranked.score));
        let scores: Map<DocumentId, f32> = ranked.filter(|(id, _)| preferences.contains_key(id)).collect();
        let mut shown_for: Map<DocumentId, DocumentId> = Map::default();
        for members in self.copies.groups(scores.keys().copied()) {
            let is_pinned = |id: &DocumentId| self.pinned.contains_key(id);
            let any_pinned = members.iter().any(is_pinned);
            let of_group = members.iter().filter(|id| !any_pinned || is_pinned(id));
            let best: Vec<(DocumentId, f32)> = of_group.map(|id| (*id, scores[id])).collect();
            if let Some(shown) = shown(&best, preferences) {
                let others = members.into_iter().filter(|document| *document != shown);
                shown_for.extend(others.map(|document| (document, shown)));
            }
        }
        self.ranked
            .retain(|ranked| !shown_for.contains_key(&ranked.document.document));
        shown_for
    }
}

/// The document that is shown: of those with the name of the query, if any has it, and with about the best score, the first by
/// preference.
fn shown(members: &[(DocumentId, f32)], preferences: &Map<DocumentId, Preference>) -> Option<DocumentId> {
    let best = members.iter().map(|(_, score)| *score).reduce(f32::max)?;
    let near = members
        .iter()
        .filter(|(_, score)| *score >= best - MARGIN && (*score > EVIDENCE_CAP) == (best > EVIDENCE_CAP));
    near.min_by_key(|(document, _)| &preferences[document])
        .map(|(document, _)| *document)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn id(document: i64) -> DocumentId {
        DocumentId {
            project: 1 + document % 2,
            document,
        }
    }

    fn preference(document: i64, canonical: Canonical, version: Option<&str>, slug: &str) -> Preference {
        Preference::new(DocumentId { project: 1, document }, canonical, version, slug)
    }

    #[test]
    fn the_author_decides_then_the_version_then_the_slug() {
        let rising = [
            preference(9, Canonical::Here, Some("1.0"), "a/long/slug"),
            preference(8, Canonical::Unstated, None, "long/slug"),
            preference(7, Canonical::Unstated, Some("1.10"), "v1.10/slug"),
            preference(6, Canonical::Unstated, Some("1.9"), "slug"),
            preference(1, Canonical::Unstated, Some("1.9"), "v1.9/slug"),
            preference(2, Canonical::Unstated, Some("1.9"), "v1.9/slug"),
            preference(0, Canonical::Elsewhere, None, "slug"),
        ];
        assert!(rising.is_sorted(), "{rising:?}");
        let mine = preference(1, Canonical::Unstated, None, "slug");
        let other = DocumentId {
            project: 2,
            document: 1,
        };
        assert!(mine < Preference::new(other, Canonical::Here, None, "s"));
        assert!(
            Preference::new(other, Canonical::Unstated, None, "s") < preference(1, Canonical::Elsewhere, None, "s")
        );
    }

    #[test]
    fn a_mark_names_the_page_itself_or_another() {
        let read = |value: Value| Canonical::read(Some(&value), &["kiln/open", "open", "https://kiln.test/open"]);
        for here in [
            Value::Bool(true),
            "true".into(),
            "open".into(),
            "https://kiln.test/open".into(),
        ] {
            assert_eq!(read(here), Canonical::Here);
        }
        for elsewhere in [Value::Bool(false), "guides/open".into()] {
            assert_eq!(read(elsewhere), Canonical::Elsewhere);
        }
        for unstated in [Value::Null, "".into(), 1.into()] {
            assert_eq!(read(unstated), Canonical::Unstated);
        }
        assert_eq!(Canonical::read(None, &[]), Canonical::Unstated);
    }

    fn found(scores: &[(i64, f32, Option<i64>)]) -> RankedDocuments {
        let mut found = RankedDocuments::of_scores(scores.iter().map(|&(document, score, _)| (id(document), score)));
        let digests = scores
            .iter()
            .filter_map(|&(document, _, digest)| Some((id(document), digest?)));
        found.copies.texts = digests.collect();
        found
    }

    fn preferences(scores: &[(i64, f32, Option<i64>)]) -> Map<DocumentId, Preference> {
        let of = |document: i64| {
            (
                id(document),
                Preference::new(id(document), Canonical::Unstated, None, ""),
            )
        };
        scores.iter().map(|&(document, ..)| of(document)).collect()
    }

    #[test]
    fn the_page_that_the_query_names_is_shown() {
        let scores = [(4, 0.95, Some(1)), (2, 0.92, Some(1)), (6, 0.5, None)];
        let mut own = found(&scores);
        assert_eq!(
            own.fold(&preferences(&scores)).into_iter().collect::<Vec<_>>(),
            [(id(2), id(4))]
        );
        let scores = [(4, 0.80, Some(1)), (2, 0.78, Some(1)), (6, 0.5, None)];
        let mut own = found(&scores);
        assert_eq!(
            own.fold(&preferences(&scores)).into_iter().collect::<Vec<_>>(),
            [(id(4), id(2))]
        );
    }

    #[test]
    fn a_pinned_page_is_shown_instead_of_its_copies() {
        let scores = [(4, 0.80, Some(1)), (2, 0.78, Some(1)), (6, 0.99, Some(1))];
        for pinned in [4, 2, 6] {
            let mut own = found(&scores);
            own.pinned.insert(id(pinned), 0.1);
            own.fold(&preferences(&scores));
            let shown: Vec<i64> = own
                .ranked
                .iter()
                .map(|ranked| ranked.document.document.document)
                .collect();
            assert_eq!(shown, [pinned]);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        /// One of each text stays, in the order of scores, and the order of what was found makes no difference.
        #[test]
        fn each_text_comes_once(
            pages in prop::collection::btree_map(0i64..30, (0u8..100, prop::option::of(0i64..6)), 0..20),
            rotation in 0usize..20,
        ) {
            let scores: Vec<(i64, f32, Option<i64>)> =
                pages.iter().map(|(&id, &(score, digest))| (id, f32::from(score) / 100.0, digest)).collect();
            let mut own = found(&scores);
            let shown_for = own.fold(&preferences(&scores));
            let mut turned = scores.clone();
            turned.rotate_left(rotation.min(scores.len()));
            let mut other = found(&turned);
            prop_assert_eq!(&other.fold(&preferences(&turned)), &shown_for);
            let shown: Vec<DocumentId> = own.ranked.iter().map(|ranked| ranked.document.document).collect();
            let mut digests: Vec<i64> = shown.iter().filter_map(|id| own.copies.texts.get(id)).copied().collect();
            let all = digests.len();
            digests.sort_unstable();
            digests.dedup();
            prop_assert_eq!(digests.len(), all);
            prop_assert_eq!(own.distinct(), own.ranked.len());
            prop_assert_eq!(found(&scores).distinct(), own.ranked.len());
            prop_assert_eq!(shown.len() + shown_for.len(), scores.len());
            for (hidden, shown_instead) in &shown_for {
                prop_assert!(shown.contains(shown_instead));
                prop_assert_eq!(own.copies.texts.get(hidden), own.copies.texts.get(shown_instead));
            }
            prop_assert!(own.duplicates().is_empty());
        }

        /// Pages that the caller cannot see have no effect.
        #[test]
        fn a_page_more_changes_only_its_own_text(
            pages in prop::collection::btree_map(0i64..30, (0u8..100, prop::option::of(0i64..4)), 1..20),
        ) {
            let scores: Vec<(i64, f32, Option<i64>)> =
                pages.iter().map(|(&id, &(score, digest))| (id, f32::from(score) / 100.0, digest)).collect();
            let (last, rest) = scores.split_last().expect("one or more");
            let mut all = found(&scores);
            all.fold(&preferences(&scores));
            let mut without = found(rest);
            without.fold(&preferences(rest));
            let of_others = |found: &RankedDocuments| {
                let other = |document: &DocumentId| {
                    let digest = pages[&document.document].1;
                    digest.is_none() || digest != last.2
                };
                let ids = found.ranked.iter().map(|ranked| ranked.document.document);
                ids.filter(|id| other(id) && id.document != last.0).collect::<Vec<_>>()
            };
            prop_assert_eq!(of_others(&all), of_others(&without));
        }
    }
}

//! A document as the rules see it.

use std::borrow::Cow;

use crate::documents::definition;
use crate::documents::page_keys::{PageKeys, Parts};
use crate::query::understanding::{CandidateName, NameRole, Understanding};
use crate::ranking::rank::name_strength;
use crate::ranking::version::DocumentVersion;
use crate::text::name::{self, NameKind};
use crate::text::similarity::near;
use crate::text::title::{has_words, symbol};
use crate::values::address::without_extension;
use crate::values::bounds::PAGE_BOOST;
use crate::values::calendar::Day;
use crate::values::id::DocumentId;

/// Bytes of a description that the rules read.
pub const DESCRIPTION_BYTES: usize = 300;

// Strengths. All are chosen, none is measured by itself. Near names have at most `similarity::MAX_STRENGTH`.
/// Strength of the page of a module or class for one of its members: the first number, and up to the second more for
/// the longest qualifier.
const QUALIFIER: (f32, f32) = (0.35, 0.25);
/// Strength of a name without the prefix of its library.
const UNPREFIXED: f32 = 0.7;
/// Strength of a plain word as a name, if the query adds a kind of thing.
const PLAIN_WITHOUT_KIND: f32 = 0.5;
/// Strength of the name X on a page outside Y, for "X in Y": as of an incomplete name.
const ELSEWHERE: f32 = 0.2;
/// Strength of a page that the subject is compared with, and of the page of a written-out acronym. Less than that of
/// the subject.
const COMPARED_NAME: f32 = 0.7;
/// From this share of its words in entries of lists on, a page is a list of names. Chosen, not measured.
const LIST_SHARE: f32 = 0.75;
/// Share of a definition of a name that a longer query mentions.
const MENTIONED: f32 = 0.5;

/// A document with the fields that rules read, and with the strengths of names and phrases that retrieved it.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// Name of the project.
    pub project: String,
    /// Title.
    pub title: String,
    /// Slug.
    pub slug: String,
    /// Category, with `/` between levels.
    pub category: Option<String>,
    /// Kind of page: class, function, guide.
    pub kind: Option<String>,
    /// Keys of the title, the slug and the category, if they are stored.
    pub keys: Option<PageKeys>,
    /// The beginning of its summary. The first [`DESCRIPTION_BYTES`] bytes count.
    pub description: String,
    /// Metadata, if a rule reads it: containers and platforms.
    pub metadata: Option<serde_json::Value>,
    /// Share of its words in entries of lists, see [`crate::documents::markdown::entry_share`].
    pub entry_share: f32,
    /// Days since it was published, if it has a date of publication and a rule reads it.
    pub age_days: Option<f32>,
    /// Day of publication, if it has one and a rule reads it.
    pub day: Option<Day>,
    /// Newness, 0 to 1, if the query asks for nothing but what is new, see [`crate::ranking::newness`].
    pub newness: Option<f32>,
    /// Whether it was published in the query's period; `None` if no page was.
    pub in_period: Option<bool>,
    /// Version of the documented product.
    pub version: Option<String>,
    /// Digest of its text, see [`crate::documents::text_digest`].
    pub text_digest: Option<i64>,
    /// Weight of the page in every search, if its author gave one. See [`Self::boost`].
    pub boost: Option<f32>,
    /// A newer version of the page among the results.
    pub newer: Option<String>,
    /// Strength of the query as a phrase of its text, or 0: [`crate::ranking::score::phrase_strength`].
    pub phrase: f32,
    /// Strength of an exact name, or 0: [`name_strength`] times the role's factor.
    pub name: f32,
    /// Strength of an incomplete or mistyped name, or 0, see [`crate::text::similarity`].
    pub near_name: f32,
    /// Share of the weight of a section that defines a name of the query, or 0.
    pub definition: f32,
}

impl Page {
    /// The document as a version of a page, if it has a version. `document` is its id.
    pub(crate) fn as_version(&self, document: DocumentId) -> Option<DocumentVersion<'_, DocumentId>> {
        Some(DocumentVersion {
            document,
            project: document.project,
            slug: &self.slug,
            version: self.version.as_deref()?,
        })
    }

    /// Its weight, within bounds.
    pub(crate) fn boost(&self) -> Option<f32> {
        let boost = self.boost.filter(|boost| boost.is_finite())?;
        Some(boost.clamp(*PAGE_BOOST.start(), *PAGE_BOOST.end()))
    }

    /// Keys of the title, the slug and the category.
    pub(crate) fn keys(&self) -> Cow<'_, PageKeys> {
        match &self.keys {
            Some(keys) => Cow::Borrowed(keys),
            None => Cow::Owned(PageKeys::of(&self.title, &self.slug, self.category.as_deref())),
        }
    }

    /// Whether a segment of its slug is this word in any case, or one of its containers has this name.
    pub fn is_filed_under(&self, word: &str) -> bool {
        let stated = name::containers(self.category.as_deref(), self.metadata.as_ref());
        let is_word = |segment: &str| without_extension(segment).to_lowercase() == word.to_lowercase();
        self.slug.split('/').any(is_word) || stated.into_iter().any(|name| name::has_key(name, &name::key(word)))
    }

    /// Sets the strength of a name that retrieved the page. `containers` are the keys of the query's container, see
    /// [`Understanding::container_keys`]. Outside of a known container, the page only has a near name.
    pub fn apply_name(
        &mut self,
        kind: NameKind,
        candidate: &CandidateName,
        query: &Understanding,
        containers: &[String],
    ) {
        if candidate.role == NameRole::Qualifier {
            let whole = query
                .identifiers
                .iter()
                .filter_map(|identifier| identifier.qualifiers().next());
            let longest = whole.map(str::len).max().unwrap_or(1);
            let share = candidate.text.len() as f32 / longest as f32;
            self.near_name = self.near_name.max(QUALIFIER.0 + share * QUALIFIER.1);
            return;
        }
        if matches!(candidate.role, NameRole::Compared | NameRole::WrittenOut) {
            self.near_name = self.near_name.max(COMPARED_NAME);
            return;
        }
        let factor = candidate.role.factor(query.implicit);
        let of_symbol = is_scoped(candidate.role);
        let inside = !of_symbol || self.is_in(containers);
        let as_written = match candidate.role {
            NameRole::Address | NameRole::AddressPath => candidate.text == self.slug,
            _ => candidate.text == self.title || is_in_title(kind) && has_words(&self.title, &candidate.text),
        };
        // "future statement" may be a sentence about the future. "View protocol" is a name, and "view protocol" is
        // one if the page is a protocol.
        if candidate.role == NameRole::WithoutKind && is_plain(&candidate.text) && !self.is_of_kind(query) {
            self.near_name = self.near_name.max(factor * PLAIN_WITHOUT_KIND);
            return;
        }
        if !inside && query.known_container {
            self.near_name = self.near_name.max(factor * ELSEWHERE);
        } else if kind == NameKind::Unprefixed {
            self.near_name = self.near_name.max(factor * UNPREFIXED);
        } else {
            self.name = self.name.max(factor * name_strength(kind, as_written, inside));
        }
    }

    /// Sets the strength of a section that defines a candidate name. `definers` is the number of documents of the
    /// project with such a section. Nothing is set outside of a known container, or if the page has the name.
    pub fn apply_definition(
        &mut self,
        candidate: &CandidateName,
        query: &Understanding,
        containers: &[String],
        definers: usize,
    ) {
        let meant = match candidate.role {
            NameRole::WithoutKind => !is_plain(&candidate.text),
            role if is_scoped(role) => self.is_in(containers) || !query.known_container,
            _ => true,
        };
        if meant && self.name == 0.0 {
            let factor = match candidate.role {
                NameRole::Mention | NameRole::Compared | NameRole::WrittenOut => MENTIONED,
                role => role.factor(query.implicit),
            };
            self.definition = self.definition.max(factor * definition::share(definers));
        }
    }

    /// Whether it is of the kind that the query adds to a name.
    fn is_of_kind(&self, query: &Understanding) -> bool {
        let kinds = self.kind.as_deref().zip(query.kind.as_deref());
        kinds.is_some_and(|(own, asked)| name::key(own) == name::key(asked))
    }

    /// Whether it is a list of names that other pages explain.
    pub fn is_list(&self) -> bool {
        self.entry_share >= LIST_SHARE
    }

    /// Whether it is in one of the containers of the query; these are keys. Its containers are the project, the
    /// category, the segments of the slug above the leaf, and the values of [`name::CONTAINER_KEYS`] in its metadata.
    pub fn is_inside(&self, containers: &[String]) -> bool {
        !containers.is_empty() && self.lies_in(containers, &self.keys().parts())
    }

    /// [`Page::is_inside`], with its keys.
    pub(crate) fn lies_in(&self, containers: &[String], keys: &Parts<'_>) -> bool {
        containers.iter().any(|container| {
            let is = |text: &str| name::has_key(text, container);
            let is_key = |key: &[u8]| key == container.as_bytes();
            self.project.split('/').any(is)
                || keys.levels().any(|level| is_key(level.key))
                || keys.above().any(is_key)
                || name::stated_containers(self.metadata.as_ref()).any(is)
        })
    }

    /// Whether it is in one of the containers, or the query has none.
    fn is_in(&self, containers: &[String]) -> bool {
        containers.is_empty() || self.is_inside(containers)
    }

    /// Strength of the nearest of its names, see [`near`].
    pub fn nearness(&self, typed: &str) -> f32 {
        let leaf = name::slug_leaf(&self.slug);
        [Some(self.title.as_str()), symbol(&self.title), Some(leaf)]
            .into_iter()
            .flatten()
            .filter_map(|name| near(typed, name))
            .map(|near| near.strength)
            .fold(0.0, f32::max)
    }
}

/// Whether a name of this kind is a part of the title.
fn is_in_title(kind: NameKind) -> bool {
    matches!(kind, NameKind::Title | NameKind::Symbol)
}

/// Whether a name counts in the query's container only.
fn is_scoped(role: NameRole) -> bool {
    matches!(role, NameRole::Symbol | NameRole::Path | NameRole::Expanded)
}

/// Whether a text has lower-case letters and spaces alone.
fn is_plain(text: &str) -> bool {
    !text.contains(|c: char| !c.is_lowercase() && !c.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::container::KnownNames;
    use crate::query::rule::Rules;

    fn button() -> Page {
        Page {
            title: "Button".to_owned(),
            slug: "button".to_owned(),
            ..Page::default()
        }
    }

    #[test]
    fn s0_28_a_container_has_many_spellings() {
        let page = Page {
            project: "docs".to_owned(),
            category: Some("Controls".to_owned()),
            slug: "guides/button".to_owned(),
            metadata: Some(serde_json::json!({"framework": "SwiftUI", "platforms": ["ios"]})),
            ..Page::default()
        };
        for container in ["SwiftUI", "swift ui", "docs", "controls", "Guides"] {
            assert!(page.is_inside(&[name::key(container)]), "{container}");
        }
        for container in ["UIKit", "button", "ios"] {
            assert!(!page.is_inside(&[name::key(container)]), "{container}");
        }
    }

    #[test]
    fn the_page_that_defines_a_name_beats_those_that_use_it() {
        let defined = |query: &str, definers| {
            let rules = Rules::english();
            let understanding = Understanding::read(query, &rules, &KnownNames::default());
            let mut page = button();
            for candidate in understanding.candidate_names() {
                if candidate.key == name::key("PyList_New") || candidate.key == name::key("async with") {
                    page.apply_definition(&candidate, &understanding, &[], definers);
                }
            }
            page.definition
        };
        assert_eq!(defined("PyList_New", 1), 1.0);
        assert!(defined("PyList_New C function", 1) > 0.9);
        assert!(defined("PyList_New", 2) < defined("PyList_New", 1));
        assert_eq!(defined("PyList_New", 4), 0.0, "what many pages define says nothing");
        assert_eq!(defined("why does PyList_New return null", 1), MENTIONED);
        assert_eq!(defined("async with statement", 1), 0.0, "words are no name");
    }

    /// The page with the strengths of a candidate name with this text and role.
    fn boosted(
        page: Page,
        query: &str,
        (text, role): (&str, NameRole),
        apply: impl Fn(&mut Page, &CandidateName, &QueryWithContainers),
    ) -> Page {
        let rules = Rules::english();
        let known: KnownNames = ["SwiftUI"].into_iter().collect();
        let understanding = Understanding::read(query, &rules, &known);
        let containers = understanding.container_keys(&rules);
        let names = understanding.candidate_names();
        let candidate = names
            .iter()
            .find(|candidate| candidate.role == role && candidate.text == text);
        let mut page = page;
        apply(
            &mut page,
            candidate.unwrap_or_else(|| panic!("{text} in {names:?}")),
            &QueryWithContainers {
                query: understanding,
                containers,
            },
        );
        page
    }

    struct QueryWithContainers {
        query: Understanding,
        containers: Vec<String>,
    }

    /// The strengths of the exact and of the near name.
    fn strengths(page: Page, query: &str, candidate: (&str, NameRole), kind: NameKind) -> (f32, f32) {
        let page = boosted(page, query, candidate, |page, candidate, of| {
            page.apply_name(kind, candidate, &of.query, &of.containers)
        });
        (page.name, page.near_name)
    }

    fn titled(title: &str) -> Page {
        Page {
            title: title.to_owned(),
            slug: title.to_lowercase(),
            ..Page::default()
        }
    }

    #[test]
    fn an_exact_name_counts_by_its_kind_and_more_as_written() {
        let whole = |query: &str, title: &str, kind| strengths(titled(title), query, (query, NameRole::Whole), kind);
        assert_eq!(whole("Button", "Button", NameKind::Title), (0.995 + 0.004, 0.0));
        assert_eq!(whole("button", "Button", NameKind::Title), (0.995, 0.0));
        let parameters = "frame(width:height:)";
        assert_eq!(whole("frame", parameters, NameKind::Symbol), (0.993 + 0.004, 0.0));
        assert_eq!(whole("Frame", parameters, NameKind::Symbol), (0.993, 0.0));
        assert_eq!(
            whole("TableView", "UITableView", NameKind::Unprefixed),
            (0.0, UNPREFIXED)
        );
        // An abbreviation written out.
        assert_eq!(
            strengths(button(), "btn", ("button", NameRole::Expanded), NameKind::Title),
            (0.96 * 0.995, 0.0)
        );
    }

    #[test]
    fn a_name_without_its_kind_is_exact_unless_it_is_a_plain_word() {
        let without_kind =
            |query: &str, text: &str| strengths(titled(text), query, (text, NameRole::WithoutKind), NameKind::Title);
        assert_eq!(without_kind("View protocol", "View"), (0.98 * (0.995 + 0.004), 0.0));
        assert_eq!(
            without_kind("future statement", "future"),
            (0.0, 0.98 * PLAIN_WITHOUT_KIND)
        );
        assert_eq!(
            without_kind("async with statement", "async with"),
            (0.0, 0.98 * PLAIN_WITHOUT_KIND)
        );
    }

    #[test]
    fn a_plain_word_is_a_name_if_the_page_is_of_the_kind_in_the_query() {
        let of_kind = |kind: &str| Page {
            kind: Some(kind.to_owned()),
            ..titled("View")
        };
        let asked = |page| strengths(page, "view protocol", ("view", NameRole::WithoutKind), NameKind::Title);
        assert_eq!(asked(of_kind("Protocol")), (0.98 * 0.995, 0.0));
        assert_eq!(asked(of_kind("class")), (0.0, 0.98 * PLAIN_WITHOUT_KIND));
        assert_eq!(asked(titled("View")), (0.0, 0.98 * PLAIN_WITHOUT_KIND));
    }

    #[test]
    fn a_name_elsewhere_is_only_near_if_its_container_is_known() {
        let inside = Page {
            project: "swiftui".to_owned(),
            ..button()
        };
        let symbol = |page, query| strengths(page, query, ("Button", NameRole::Symbol), NameKind::Title);
        assert_eq!(symbol(inside.clone(), "Button in SwiftUI"), (0.995 + 0.004, 0.0));
        assert_eq!(symbol(button(), "Button in SwiftUI"), (0.0, ELSEWHERE));
        // No document says what is in SomeModule: the page may be.
        assert_eq!(symbol(button(), "Button in SomeModule"), (0.995 + 0.004 - 0.05, 0.0));
        // Without "in", the container is less certain.
        assert_eq!(symbol(inside, "Button SwiftUI"), (0.998 * (0.995 + 0.004), 0.0));
        assert_eq!(symbol(button(), "Button SwiftUI"), (0.0, 0.998 * ELSEWHERE));
    }

    #[test]
    fn the_longest_qualifier_makes_its_page_nearest() {
        let near = |text: &str| {
            let candidate = (text, NameRole::Qualifier);
            strengths(titled(text), "datetime.date.today", candidate, NameKind::Title)
        };
        assert_eq!(near("datetime.date"), (0.0, 0.35 + 0.25));
        assert_eq!(near("datetime"), (0.0, 0.35 + 8.0 / 13.0 * 0.25));
    }

    #[test]
    fn a_definition_counts_where_it_is_meant_and_the_page_has_no_name() {
        let defined = |page: Page, query: &str, definers| {
            let candidate = ("Button", NameRole::Symbol);
            let page = boosted(page, query, candidate, |page, candidate, of| {
                page.apply_definition(candidate, &of.query, &of.containers, definers);
            });
            page.definition
        };
        let inside = Page {
            project: "swiftui".to_owned(),
            ..button()
        };
        assert_eq!(defined(inside.clone(), "Button in SwiftUI", 1), 1.0);
        assert_eq!(defined(inside.clone(), "Button in SwiftUI", 2), 0.75);
        assert_eq!(defined(inside.clone(), "Button in SwiftUI", 3), 0.5);
        assert_eq!(defined(inside.clone(), "Button SwiftUI", 2), 0.998 * 0.75);
        assert_eq!(defined(button(), "Button in SwiftUI", 1), 0.0);
        assert_eq!(defined(button(), "Button in SomeModule", 1), 1.0);
        let named = Page { name: 0.99, ..inside };
        assert_eq!(defined(named, "Button in SwiftUI", 1), 0.0);
    }

    #[test]
    fn s0_37_a_page_is_filed_under_whole_segments() {
        let page = Page {
            slug: "Guides/side-panel.html".to_owned(),
            category: Some("Kit/Text Layout".to_owned()),
            ..Page::default()
        };
        for word in ["guides", "side-panel", "Kit", "TextLayout"] {
            assert!(page.is_filed_under(word), "{word}");
        }
        for word in ["panel", "side", "Text", "guide"] {
            assert!(!page.is_filed_under(word), "{word}");
        }
    }

    #[test]
    fn s0_21_an_incomplete_name_is_near() {
        // Four of six letters, see `similarity::prefix`.
        assert_eq!(button().nearness("butt"), 0.4 + 0.3 * 4.0 / 6.0);
        assert_eq!(button().nearness("fish"), 0.0);
        // The nearest of its names counts: here the symbol, and here the end of the slug.
        let page = Page {
            slug: "library/turtle.html".to_owned(),
            ..titled("frame(width:height:)")
        };
        assert_eq!(page.nearness("fra"), 0.4 + 0.3 * 3.0 / 5.0);
        assert_eq!(page.nearness("tur"), 0.4 + 0.3 * 3.0 / 6.0);
    }
}

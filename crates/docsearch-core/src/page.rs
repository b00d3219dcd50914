//! A document as the rules see it.

use crate::definition;
use crate::name::{self, NameKind};
use crate::rank::name_strength;
use crate::similarity::near;
use crate::understanding::{NameForm, NameRole, Understanding};

/// Bytes of a description that the rules read.
pub const DESCRIPTION_BYTES: usize = 300;

/// Strength of the page of a module or class for a member of it: the first, and so much more for the
/// longest qualifier.
const QUALIFIER: (f32, f32) = (0.35, 0.25);
/// Strength of a name without the prefix of its library.
const UNPREFIXED: f32 = 0.7;
/// Strength of a plain word as a name, for a query that adds what kind of thing it is.
const PLAIN_KINDLESS: f32 = 0.5;
/// Strength of the name X on a page outside Y, for "X in Y": like a name half typed.
const ELSEWHERE: f32 = 0.2;
/// Share of the definition of a name that a longer query mentions.
const MENTIONED: f32 = 0.5;

/// What the rules read of a document, and how strongly names and phrases bring it.
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
    /// What it says of itself: the beginning of its summary. The first [`DESCRIPTION_BYTES`] bytes count.
    pub description: String,
    /// Metadata, if a rule reads them: containers and platforms.
    pub metadata: Option<serde_json::Value>,
    /// Days since it was published or changed, at least 0, if a rule reads them.
    pub age_days: Option<f32>,
    /// Version of what it documents.
    pub version: Option<String>,
    /// A newer version of it among the pages found.
    pub newer: Option<String>,
    /// Strength of the query standing in the text as it is, or 0: [`crate::score::phrase_strength`].
    pub phrase: f32,
    /// Strength of an exact name, or 0: [`name_strength`] times the role's factor.
    pub name: f32,
    /// Strength of a name begun or mistyped, or 0, see [`crate::similarity`].
    pub near_name: f32,
    /// Share of the weight of a section that defines a name which the query asks for, or 0.
    pub definition: f32,
}

impl Page {
    /// Lifts the page for a name that brought it. `containers` are the keys of the place that the query
    /// names, see [`Understanding::container_keys`]. A page of that name elsewhere is only near, if the
    /// place is known.
    pub fn bears(&mut self, kind: NameKind, form: &NameForm, asked: &Understanding, containers: &[String]) {
        if form.role == NameRole::Qualifier {
            let whole = asked
                .identifiers
                .iter()
                .filter_map(|identifier| identifier.qualifiers().next());
            let longest = whole.map(str::len).max().unwrap_or(1);
            let share = form.text.len() as f32 / longest as f32;
            self.near_name = self.near_name.max(QUALIFIER.0 + share * QUALIFIER.1);
            return;
        }
        let factor = form.role.factor(asked.implicit);
        let of_symbol = matches!(form.role, NameRole::Symbol | NameRole::Path | NameRole::Expanded);
        let inside = !of_symbol || self.is_in(containers);
        let as_written = form.text == self.title || name::symbol(&self.title) == Some(form.text.as_str());
        // "future statement" may mean a sentence about the future; "View protocol" has a name.
        if form.role == NameRole::Kindless && is_plain(&form.text) {
            self.near_name = self.near_name.max(factor * PLAIN_KINDLESS);
            return;
        }
        if !inside && asked.known_container {
            self.near_name = self.near_name.max(factor * ELSEWHERE);
        } else if kind == NameKind::Unprefixed {
            self.near_name = self.near_name.max(factor * UNPREFIXED);
        } else {
            self.name = self.name.max(factor * name_strength(kind, as_written, inside));
        }
    }

    /// Lifts the page for a section that defines what the query asks for, or mentions; `bearers` documents of
    /// its project have such a section. A page outside the known place that the query names is not meant,
    /// and one that bears the name needs no more.
    pub fn defines(&mut self, form: &NameForm, asked: &Understanding, containers: &[String], bearers: usize) {
        let meant = match form.role {
            NameRole::Kindless => !is_plain(&form.text),
            NameRole::Symbol | NameRole::Path | NameRole::Expanded => self.is_in(containers) || !asked.known_container,
            _ => true,
        };
        if meant && self.name == 0.0 {
            let factor = match form.role {
                NameRole::Mention => MENTIONED,
                role => role.factor(asked.implicit),
            };
            self.definition = self.definition.max(factor * definition::share(bearers));
        }
    }

    /// Whether it lies in one of the containers, see [`name::is_inside`].
    pub fn is_inside(&self, containers: &[String]) -> bool {
        containers.iter().any(|container| {
            let names = [self.project.as_str(), self.category.as_deref().unwrap_or_default()];
            name::is_inside(container, names, &self.slug, self.metadata.as_ref())
        })
    }

    /// Whether it lies in one of the containers, or there are none.
    fn is_in(&self, containers: &[String]) -> bool {
        containers.is_empty() || self.is_inside(containers)
    }

    /// How near a typed name comes to a name of the page, see [`near`].
    pub fn nearness(&self, typed: &str) -> f32 {
        let leaf = name::slug_leaf(&self.slug);
        [Some(self.title.as_str()), name::symbol(&self.title), Some(leaf)]
            .into_iter()
            .flatten()
            .filter_map(|name| near(typed, name))
            .map(|near| near.strength)
            .fold(0.0, f32::max)
    }
}

/// Whether a text has nothing but small letters and spaces.
fn is_plain(text: &str) -> bool {
    !text.contains(|c: char| !c.is_lowercase() && !c.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::KnownNames;
    use crate::rule::Rules;

    fn button() -> Page {
        Page {
            title: "Button".to_owned(),
            slug: "button".to_owned(),
            ..Page::default()
        }
    }

    #[test]
    fn the_page_that_defines_a_name_beats_those_that_use_it() {
        let defined = |query: &str, bearers| {
            let rules = Rules::english();
            let asked = Understanding::read(query, &rules, &KnownNames::default());
            let mut page = button();
            for form in asked.names() {
                if form.key == name::key("PyList_New") || form.key == name::key("async with") {
                    page.defines(&form, &asked, &[], bearers);
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

    #[test]
    fn s0_21_a_name_half_typed_is_near() {
        assert!(button().nearness("butt") > 0.4);
        assert_eq!(button().nearness("fish"), 0.0);
    }
}

//! Queries whose right page is known, derived from the documents themselves, with the texts that have to be hidden.
//!
//! A heading, the text of a link or the description of an example says in other words what a page is about. Searched as a
//! query, it has a known answer. It would find that answer by itself, so it is hidden from the documents that are searched.

mod candidate;
mod hiding;
mod link;
mod name;
mod phrase;
mod selection;
mod sides;
mod summary;
mod title;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use strum::{Display, EnumIter, EnumString, IntoStaticStr};

use crate::evaluation::exchange::reference;
use crate::index::question::Question;
pub use hiding::HiddenPage;
pub use phrase::Corpus;
pub use sides::held_out;

/// What a query was derived from.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Display,
    EnumIter,
    EnumString,
    IntoStaticStr,
    Serialize,
    Deserialize,
)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum DerivedKind {
    /// The title of a page, or the symbol in it. It is not hidden: other settings must not lose names.
    Name,
    /// What the title of a page says. That page has no title in the documents that are searched.
    Title,
    /// The summary or first sentence of a page without headings.
    Summary,
    /// A heading that is a question, or a stored question of a section.
    Question,
    /// Another heading.
    Heading,
    /// The text of links from other pages.
    Link,
    /// The sentence before an example of code.
    Example,
    /// The name of a page with the hidden text of one of its headings or examples.
    SymbolTask,
    /// A keyword of several words.
    Keyword,
}

impl DerivedKind {
    /// Its word in a column `kind`, and the group that it is reported in.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Whether the text of the query is hidden from the documents.
    pub fn is_hidden(self) -> bool {
        self != Self::Name
    }
}

/// A document that queries are derived from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourcePage {
    /// Slug.
    pub slug: String,
    /// Title.
    pub title: String,
    /// Markdown.
    pub body: String,
    /// The author's summary; `None` if it is the lead paragraph.
    pub summary: Option<String>,
    /// Keywords.
    pub keywords: Vec<String>,
    /// Where it was published.
    pub source_urls: Vec<String>,
    /// Questions of its sections.
    pub questions: Vec<Question>,
    /// Anchors of sections by further fragments.
    pub anchors: BTreeMap<String, String>,
    /// Whether the document groups pages. Their anchors have a meaning, so its headings stay.
    pub is_grouped: bool,
}

/// A query with its right answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DerivedQuery {
    /// What it was derived from.
    pub kind: DerivedKind,
    /// The query.
    pub text: String,
    /// Slug of the right page.
    pub slug: String,
    /// Anchor of the right section; empty for the page as a whole.
    pub anchor: String,
    /// Anchor of that section in the hidden documents, where its heading may be missing.
    pub hidden_anchor: String,
    /// Slug of the right page in the hidden documents, where its title may be missing.
    pub hidden_slug: String,
    /// Whether its page is held out: no decision may look at it.
    pub held_out: bool,
}

impl DerivedQuery {
    /// The right page or section, as judgments name it.
    pub fn reference(&self) -> String {
        reference(&self.slug, &self.anchor)
    }
}

/// Bounds of what is derived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DerivationLimits {
    /// Most queries of a kind, half of them held out.
    pub of_kind: usize,
    /// Most queries of a page, besides its name.
    pub of_page: usize,
    /// Most queries of a kind and a page.
    pub of_kind_and_page: usize,
}

impl Default for DerivationLimits {
    fn default() -> Self {
        Self {
            of_kind: 800,
            of_page: 4,
            of_kind_and_page: 2,
        }
    }
}

/// Queries, and the documents in which their texts are hidden.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Derivation {
    /// The queries, by kind and then by text.
    pub queries: Vec<DerivedQuery>,
    /// What each document becomes, in the order of the documents.
    pub pages: Vec<HiddenPage>,
}

/// Derives queries from the documents of a project, whose slugs are put behind `root_url` to make the URL of a page.
///
/// The same documents give the same queries in any order. Another document changes only queries that are about it, that
/// have their text in it, or whose place it takes within the limits.
pub fn derive(pages: &[SourcePage], root_url: Option<&str>, limits: &DerivationLimits) -> Derivation {
    let corpus = Corpus::of(pages);
    let held_out = held_out(pages);
    let candidates = candidate::candidates(pages, root_url, &corpus);
    selection::select(pages, candidates, &held_out, limits, &corpus)
}

//! Candidate names: texts of a query that may be the name of a page.

use serde::{Deserialize, Serialize};

use crate::values::address::{Address, address_key, decoded, split_question};

/// Origin of a candidate name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NameRole {
    /// The query as it is.
    Whole,
    /// The query as the address of a page.
    Address,
    /// The address without its query string.
    AddressPath,
    /// The query without its accents.
    Unaccented,
    /// The symbol in its container.
    Symbol,
    /// Parent and child.
    Path,
    /// The query without the kind of thing.
    WithoutKind,
    /// The query with an abbreviation written out.
    Expanded,
    /// The subject of a question: `Grid` of `what is Grid?`. The command of a shell command line: `git push` of `git
    /// push --delete`.
    Subject,
    /// What a query compares its subject with: `Table` of `when should I use Grid instead of Table?`.
    Compared,
    /// An acronym of the query written out in several words: `multi-factor authentication` of `set up mfa`.
    WrittenOut,
    /// A name of code in a longer query. It earns a boost, and the strength of a name only as the subject.
    Mention,
    /// Words of a longer query. They count only as the subject, see [`crate::ranking::subject`].
    Within,
    /// A qualifier, such as the module: its page may describe the member.
    Qualifier,
}

impl NameRole {
    /// Factor of [`crate::ranking::rank::name_strength`], 0 to 1. The more the query had to be changed, the less. The
    /// order matters, the numbers are chosen.
    pub const fn factor(self, implicit: bool) -> f32 {
        match self {
            Self::Whole | Self::Address => 1.0,
            Self::Symbol | Self::Path if implicit => 0.998,
            Self::Symbol | Self::Path => 1.0,
            Self::AddressPath => 0.99,
            Self::Unaccented => 0.985,
            Self::WithoutKind => 0.98,
            Self::Subject => 0.97,
            Self::Expanded => 0.96,
            Self::Compared | Self::WrittenOut | Self::Mention | Self::Within | Self::Qualifier => 0.0,
        }
    }
}

/// A subject of a query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Subject {
    /// As the query spells it.
    pub text: String,
    /// Whether another subject is compared with this one.
    pub compared: bool,
}

/// A text that may be the name of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct CandidateName {
    /// The text.
    pub text: String,
    /// Its [`crate::text::name::key`].
    pub key: String,
    /// Its origin.
    pub role: NameRole,
    /// The only project that may have it: that of a reference `project/slug`.
    pub project: Option<i64>,
}

/// Addresses of a project.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// The project.
    pub project: i64,
    /// Its name, with which references begin.
    pub name: &'a str,
    /// Start of the URLs of its pages.
    pub root_url: Option<&'a str>,
}

impl CandidateName {
    /// The addresses that a query may be: a slug, a URL, and the part of it below the roots of these projects.
    pub fn addresses<'a>(query: &str, sites: impl IntoIterator<Item = Site<'a>>) -> Vec<Self> {
        let decoded = decoded(query);
        let Some(address) = Address::read(query).or_else(|| Address::read(&decoded)) else {
            return Vec::new();
        };
        let candidate = |text: &str, project| Self {
            text: text.trim_matches('/').to_owned(),
            key: address_key(text),
            role: NameRole::Address,
            project,
        };
        let below = sites.into_iter().flat_map(|site| {
            let roots = [Some(site.name).filter(|_| !address.is_url()), site.root_url];
            let below = roots.into_iter().flatten().filter_map(|root| address.below(root));
            below
                .map(|slug| candidate(slug, Some(site.project)))
                .collect::<Vec<_>>()
        });
        let candidates = std::iter::once(candidate(address.text, None)).chain(below);
        // A query string may distinguish pages, or may be `?highlight=word`.
        let candidates = candidates.flat_map(|whole| {
            let (path, question) = split_question(&whole.text);
            let plain = (!question.is_empty()).then(|| Self {
                role: NameRole::AddressPath,
                ..candidate(path, whole.project)
            });
            [Some(whole), plain].into_iter().flatten()
        });
        candidates.filter(|candidate| !candidate.key.is_empty()).collect()
    }
}

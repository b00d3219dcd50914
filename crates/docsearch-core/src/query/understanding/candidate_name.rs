//! Texts of a query that may be the name of a page.

use serde::{Deserialize, Serialize};

use crate::values::address::{Address, address_key, decoded, split_question};

/// How a text that may be a page's name was won from the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NameRole {
    /// The query as it is.
    Whole,
    /// The query as the address of a page.
    Address,
    /// The address without what it asks of the server.
    AddressPath,
    /// The symbol in its container.
    Symbol,
    /// Parent and child.
    Path,
    /// The query without the kind of thing.
    WithoutKind,
    /// The query with an abbreviation written out.
    Expanded,
    /// What a question is about: `Grid` of `what is Grid?`; the command of a line of a shell: `git push` of
    /// `git push --delete`.
    Subject,
    /// What the subject is compared with: `Table` of `when should I use Grid instead of Table?`.
    Compared,
    /// What an acronym in the query is short for, in several words: `multi-factor authentication` of `set up mfa`.
    WrittenOut,
    /// A name of code in a longer query: it earns a boost, and no lift unless the query is about it.
    Mention,
    /// Words of a longer query that may be a name; they count only if the query is about it, see
    /// [`crate::ranking::subject`].
    Within,
    /// What comes before the last part of a qualified name, such as the module: its page may describe
    /// the member.
    Qualifier,
}

impl NameRole {
    /// Factor of [`crate::ranking::rank::name_strength`], 0 to 1. The less the query was changed to win the
    /// name, the more it counts; a name within a sentence does not lift. The order is meant, the numbers are chosen.
    pub const fn factor(self, implicit: bool) -> f32 {
        match self {
            Self::Whole | Self::Address => 1.0,
            Self::Symbol | Self::Path if implicit => 0.998,
            Self::Symbol | Self::Path => 1.0,
            Self::AddressPath => 0.99,
            Self::WithoutKind => 0.98,
            Self::Subject => 0.97,
            Self::Expanded => 0.96,
            Self::Compared | Self::WrittenOut | Self::Mention | Self::Within | Self::Qualifier => 0.0,
        }
    }
}

/// A name that a query is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Subject {
    /// As the query writes it.
    pub text: String,
    /// Whether another subject is compared with this one.
    pub compared: bool,
}

/// A text that may be a page's name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CandidateName {
    /// The text.
    pub text: String,
    /// Its [`name::key`].
    pub key: String,
    /// How it was won.
    pub role: NameRole,
    /// The only project that it may be in: that of a reference `project/slug`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<i64>,
}

/// Where pages of a project are found.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// The project.
    pub project: i64,
    /// Its name, which references begin with.
    pub name: &'a str,
    /// What URLs of its pages begin with.
    pub root_url: Option<&'a str>,
}

impl CandidateName {
    /// The addresses that a query can be: a slug or a URL, and what it says below the roots of these projects.
    pub fn addresses<'a>(query: &str, sites: impl IntoIterator<Item = Site<'a>>) -> Vec<Self> {
        let decoded = decoded(query);
        let Some(address) = Address::read(query).or_else(|| Address::read(&decoded)) else {
            return Vec::new();
        };
        let form = |text: &str, project| Self {
            text: text.trim_matches('/').to_owned(),
            key: address_key(text),
            role: NameRole::Address,
            project,
        };
        let below = sites.into_iter().flat_map(|site| {
            let roots = [Some(site.name).filter(|_| !address.is_url()), site.root_url];
            let below = roots.into_iter().flatten().filter_map(|root| address.below(root));
            below.map(|slug| form(slug, Some(site.project))).collect::<Vec<_>>()
        });
        let forms = std::iter::once(form(address.text, None)).chain(below);
        // What a URL asks of the server may tell pages apart, and may be `?highlight=word`.
        let forms = forms.flat_map(|asked| {
            let (path, question) = split_question(&asked.text);
            let plain = (!question.is_empty()).then(|| Self {
                role: NameRole::AddressPath,
                ..form(path, asked.project)
            });
            [Some(asked), plain].into_iter().flatten()
        });
        forms.filter(|form| !form.key.is_empty()).collect()
    }
}

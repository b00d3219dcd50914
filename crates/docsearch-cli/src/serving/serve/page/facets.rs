//! Choices that narrow a search: the values that documents have, with the number of documents that match by words.

use maud::{Markup, html};
use serde::Deserialize;

use super::parameters::{Choice, Scope};
use crate::library::{CountRequest, Library};
use crate::process::error::Error;

/// Most values of a key.
const MAX_VALUES: i64 = 12;
const VERSION: &str = "version";
/// The newest version of each page, as a filter has it.
const LATEST: &str = "latest";

/// The choices of a search.
#[derive(Debug)]
pub(super) struct Facets<'a> {
    query: &'a str,
    scope: &'a Scope,
    groups: Vec<Group>,
    /// Which documents are counted.
    counted: Counted,
}

/// A key and its values.
#[derive(Debug)]
struct Group {
    key: String,
    values: Vec<Facet>,
}

/// A value and its number of documents.
#[derive(Debug, Clone, Deserialize)]
struct Facet {
    key: String,
    documents: i64,
    filter: serde_json::Value,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Counted {
    #[default]
    AllWords,
    AnyWord,
}

impl Counted {
    fn words(self) -> &'static str {
        match self {
            Self::AllWords => "all",
            Self::AnyWord => "any",
        }
    }

    fn explanation(self) -> &'static str {
        match self {
            Self::AllWords => {
                "The numbers count pages with all words of the search. Results by meaning are not counted."
            }
            Self::AnyWord => {
                "No page has all words of the search: the numbers count pages with any of them. Results by meaning are not counted."
            }
        }
    }
}

impl<'a> Facets<'a> {
    /// Only the choices that were made.
    pub(super) fn chosen(query: &'a str, scope: &'a Scope) -> Self {
        Self {
            query,
            scope,
            groups: Vec::new(),
            counted: Counted::default(),
        }
    }

    /// The choices that the documents allow.
    pub(super) async fn read(library: &Library, query: &'a str, scope: &'a Scope) -> Result<Self, Error> {
        let mut facets = Self::chosen(query, scope);
        let mut keys = vec!["category".to_owned(), "kind".to_owned(), VERSION.to_owned()];
        let metadata = library.shared_keys(&scope.projects).await?;
        keys.extend(metadata.into_iter().filter(|key| !Choice::is_reserved(key)));
        for choice in &scope.choices {
            if !keys.contains(&choice.key) {
                keys.push(choice.key.clone());
            }
        }
        let (chosen, free): (Vec<String>, Vec<String>) = keys
            .iter()
            .cloned()
            .partition(|key| scope.choices.iter().any(|choice| choice.key == *key));
        let mut values = facets.values(library, &free, None, Counted::AllWords).await?;
        if values.is_empty() {
            facets.counted = Counted::AnyWord;
            values = facets.values(library, &free, None, Counted::AnyWord).await?;
        }
        // The other values of a key that is chosen: without this choice.
        for key in chosen {
            let one = std::slice::from_ref(&key);
            values.extend(facets.values(library, one, Some(&key), facets.counted).await?);
        }
        facets.groups = keys
            .into_iter()
            .map(|key| Group {
                values: values.iter().filter(|facet| facet.key == key).cloned().collect(),
                key,
            })
            .filter(|group| group.values.len() > 1)
            .collect();
        Ok(facets)
    }

    async fn values(
        &self,
        library: &Library,
        keys: &[String],
        without: Option<&str>,
        counted: Counted,
    ) -> Result<Vec<Facet>, Error> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let request = CountRequest {
            query: Some(self.query.to_owned()),
            projects: self.scope.projects.clone(),
            filter: self.scope.filter(without),
            words: Some(counted.words().to_owned()),
            ..CountRequest::default()
        };
        let rows = library.facets(&request, keys, Some(MAX_VALUES)).await?;
        let facets = rows.into_iter().map(serde_json::from_value);
        facets
            .collect::<Result<_, _>>()
            .map_err(|error| Error::Usage(format!("cannot read the facets: {error}")))
    }

    /// What is chosen, and what can be.
    pub(super) fn markup(&self) -> Markup {
        html! {
            @if !self.scope.choices.is_empty() {
                ul.chips aria-label="Filters" {
                    @for choice in &self.scope.choices {
                        @let (name, value) = (label(&choice.key), choice.label());
                        li { a.chip href=(self.address(&self.scope.without(choice))) aria-label={ "Remove the filter " (name) ": " (value) } dir="auto" {
                            span { (name) ": " } span.value { (value) } span aria-hidden="true" { " ×" }
                        } }
                    }
                }
            }
            @for group in &self.groups { (self.group(group)) }
        }
    }

    fn group(&self, group: &Group) -> Markup {
        let is_chosen = |choice: &Choice| self.scope.choices.contains(choice);
        let latest = Choice::field(VERSION, LATEST);
        html! {
            details.facet name="facet" {
                summary { (label(&group.key)) }
                div.panel {
                    ul {
                        @if group.key == VERSION && !is_chosen(&latest) {
                            li { a href=(self.address(&self.scope.with(latest))) { span { "Latest of each page" } } }
                        }
                        @for facet in &group.values {
                            @if let Some(choice) = Choice::of_filter(&facet.filter) {
                                @let chosen = is_chosen(&choice);
                                @let scope = if chosen { self.scope.without(&choice) } else { self.scope.with(choice.clone()) };
                                li { a href=(self.address(&scope)) aria-current=[chosen.then_some("true")] {
                                    span.value dir="auto" { (choice.label()) } " "
                                    span.number { (facet.documents) span.hidden { @if facet.documents == 1 { " page" } @else { " pages" } } }
                                } }
                            }
                        }
                    }
                    p.hint { (self.counted.explanation()) }
                }
            }
        }
    }

    fn address(&self, scope: &Scope) -> String {
        scope.address("/", &[("q", self.query)], "project")
    }
}

/// The name of a key as a reader reads it.
fn label(key: &str) -> String {
    let mut letters = key.chars().map(|letter| if letter == '_' { ' ' } else { letter });
    let first = letters.next().map(|letter| letter.to_uppercase().collect::<String>());
    first.unwrap_or_default() + &letters.collect::<String>()
}

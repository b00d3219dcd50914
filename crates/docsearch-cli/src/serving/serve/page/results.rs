//! The results of a search as HTML.

use maud::{Markup, html};

use super::answer::{Answer, Hit, parts};
use super::escape::{document_path, fragment};
use super::parameters::Scope;
use crate::library::{ProjectEntry, ProjectTitle};

/// Results of a search, and of each further step.
pub(super) const RESULTS: i32 = 10;
/// Most results of a query.
const MAX_RESULTS: i32 = 100;

/// A search that a page shows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Search<'a> {
    pub(super) query: &'a str,
    pub(super) scope: &'a Scope,
    /// Number of results that are wanted.
    pub(super) count: i32,
}

impl Search<'_> {
    fn address(&self, query: &str, count: i32) -> String {
        let count = if count == RESULTS {
            String::new()
        } else {
            count.to_string()
        };
        self.scope.address("/", &[("q", query), ("count", &count)], "project")
    }

    fn document(&self, hit: &Hit) -> String {
        let path = document_path(&hit.project, &hit.slug);
        self.scope.address(&path, &[("q", self.query)], "in") + &anchor(hit)
    }

    /// The section alone, for a preview.
    fn preview(&self, hit: &Hit) -> String {
        let section = hit.anchor.as_deref().unwrap_or_default();
        let shown = [("section", section), ("q", self.query), ("fragment", "true")];
        self.scope
            .address(&document_path(&hit.project, &hit.slug), &shown, "in")
    }

    /// What was found, in a sentence.
    pub(super) fn summary(&self, answer: &Answer) -> String {
        match (answer.results.len(), answer.is_relevant()) {
            (0, _) => "Nothing found".to_owned(),
            (_, false) => "Nothing relevant found; the nearest pages".to_owned(),
            (1, _) => "1 result".to_owned(),
            (count, _) if count >= usize::try_from(self.count).unwrap_or(0) => format!("The best {count} results"),
            (count, _) => format!("{count} results"),
        }
    }

    pub(super) fn results(&self, answer: &Answer) -> Markup {
        html! {
            div.answer data-summary=(self.summary(answer)) data-token=[answer.search_token.as_deref()] {
                h1.hidden { "Results" }
                (self.suggestions(answer))
                @for notice in answer.notices.iter().filter(|notice| is_for_readers(&notice.code)) {
                    p.notice dir="auto" { (notice.message) }
                }
                @if !answer.results.is_empty() {
                    ol.hits aria-label="Results" {
                        @for hit in &answer.results { (self.hit(hit)) }
                    }
                }
                @if answer.results.is_empty() && !answer.tips.is_empty() || !answer.is_relevant() {
                    ul.tips { @for tip in &answer.tips { li dir="auto" { (tip) } } }
                }
                @if answer.results.len() >= usize::try_from(self.count).unwrap_or(usize::MAX) && self.count < MAX_RESULTS {
                    a.more href=(self.address(self.query, (self.count * 2).min(MAX_RESULTS))) rel="nofollow" { "More results" }
                }
            }
        }
    }

    fn suggestions(&self, answer: &Answer) -> Markup {
        html! {
            @if !answer.suggestions.is_empty() {
                p.suggestions {
                    "Did you mean "
                    @for (index, found) in answer.suggestions.iter().enumerate() {
                        @if index > 0 { ", " }
                        a href=(self.address(&found.suggestion, RESULTS)) data-kind=(found.kind) dir="auto" { (found.suggestion) }
                    }
                    "?"
                }
            }
        }
    }

    fn hit(&self, hit: &Hit) -> Markup {
        let section = hit.section.as_deref().unwrap_or_default();
        let confidence = hit.confidence.as_deref().unwrap_or("low");
        html! {
            li {
                a.hit href=(self.document(hit)) data-preview=(self.preview(hit)) data-reference=(hit.reference()) {
                    span.path dir="auto" {
                        span { (hit.project) }
                        @if let Some(category) = hit.category.as_deref().filter(|category| !category.is_empty()) {
                            @for part in category.split('/') { span { (part) } }
                        }
                        @if let Some(version) = hit.version.as_deref().filter(|version| !version.is_empty()) {
                            span.version { (version) }
                        }
                    }
                    span.title dir="auto" { (marked(&hit.title, &hit.highlights.title)) }
                    @if !section.is_empty() && section != hit.title {
                        span.section dir="auto" { (marked(section, &hit.highlights.section)) }
                    }
                    @if let Some(snippet) = hit.snippet.as_deref().filter(|snippet| !snippet.is_empty()) {
                        span.snippet dir="auto" { (marked(snippet, &hit.highlights.snippet)) }
                    }
                    span class={ "confidence " (confidence) } { (confidence) " confidence" }
                }
            }
        }
    }
}

/// Notices about what the reader typed; others are about the server or are said elsewhere on the page.
fn is_for_readers(code: &str) -> bool {
    matches!(
        code,
        "query_truncated" | "not_excluded" | "missing_version" | "filtered_out"
    )
}

fn anchor(hit: &Hit) -> String {
    let anchor = hit.anchor.as_deref().filter(|anchor| !anchor.is_empty());
    anchor
        .map(|anchor| format!("#{}", fragment(anchor)))
        .unwrap_or_default()
}

fn marked(text: &str, matched: &[(usize, usize)]) -> Markup {
    html! {
        @for (part, is_matched) in parts(text, matched) {
            @if is_matched { mark { (part) } } @else { (part) }
        }
    }
}

fn project_address(name: &str) -> String {
    let scope = Scope {
        projects: vec![name.to_owned()],
        ..Scope::default()
    };
    scope.address("/", &[], "project")
}

/// The page without a query: what can be searched.
pub(super) fn home(projects: &[ProjectEntry], titles: &[ProjectTitle]) -> Markup {
    let title = |name: &str| {
        titles
            .iter()
            .find(|project| project.name == name)
            .map(|project| project.title.clone())
    };
    html! {
        @if projects.is_empty() {
            div.empty {
                h1 { "Nothing is indexed yet" }
                p { "Index a folder of documentation, or a site, with the same program:" }
                pre tabindex="0" { code { "docsearch index FOLDER --project NAME\ndocsearch crawl URL --project NAME" } }
            }
        } @else {
            h1.hidden { "Search the documentation" }
            ul.cards {
                @for project in projects {
                    li {
                        h2 dir="auto" {
                            a href=(project_address(&project.name)) { (title(&project.name).unwrap_or_else(|| project.name.clone())) }
                        }
                        p.count { (project.documents) @if project.documents == 1 { " page" } @else { " pages" } }
                        @if !project.categories.is_empty() {
                            p.categories dir="auto" { @for category in &project.categories { span { (category) } } }
                        }
                    }
                }
            }
        }
    }
}

//! What all pages have in common: the head, the search box, and the place of the content.

use maud::{DOCTYPE, Markup, html};

use super::asset;
use super::parameters::Scope;
use crate::library::ProjectTitle;

/// Most projects that are shown at once: more are in a menu.
const MAX_BUTTONS: usize = 6;

/// A page around a content.
#[derive(Debug, Default)]
pub(super) struct Shell<'a> {
    pub(super) title: &'a str,
    /// The query in the search box.
    pub(super) query: &'a str,
    /// What is searched.
    pub(super) scope: Option<&'a Scope>,
    pub(super) projects: &'a [ProjectTitle],
    /// Choices that narrow the search.
    pub(super) facets: Option<Markup>,
    /// Whether the reader may see the page for the owner.
    pub(super) has_status: bool,
    /// What a screen reader reads out when it changes.
    pub(super) status: &'a str,
    pub(super) kind: Kind,
}

/// The kinds of pages, for the layout.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, strum::AsRefStr)]
#[strum(serialize_all = "kebab-case")]
pub(super) enum Kind {
    Home,
    Answer,
    Document,
    Status,
    #[default]
    Message,
}

impl Shell<'_> {
    pub(super) fn around(&self, content: &Markup) -> Markup {
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (self.title) }
                    link rel="stylesheet" href=(asset::STYLE.address());
                    link rel="icon" type="image/svg+xml" href=(asset::ICON.address());
                    script type="module" src=(asset::SCRIPT.address()) {}
                }
                body data-kind=(self.kind.as_ref()) {
                    a.skip href="#ds-content" { "Skip to the content" }
                    header.top {
                        a.brand href="/" { img src=(asset::ICON.address()) alt="" width="28" height="28"; span { "docsearch" } }
                        (self.form())
                        @if self.has_status { nav aria-label="Site" { a href="/status" aria-current=[(self.kind == Kind::Status).then_some("page")] { "Status" } } }
                    }
                    main #ds-content tabindex="-1" {
                        p.status #ds-status role="status" { (self.status) }
                        div.narrow #ds-narrow { @if let Some(facets) = &self.facets { (facets) } }
                        div.content { (content) }
                    }
                }
            }
        }
    }

    fn form(&self) -> Markup {
        html! {
            form.search #ds-search role="search" action="/" {
                div.field {
                    svg.glass viewBox="0 0 24 24" aria-hidden="true" { circle cx="10.5" cy="10.5" r="6.5" {} path d="M15.5 15.5 21 21" {} }
                    input #ds-query type="text" enterkeyhint="search" name="q" value=(self.query) placeholder="Search the documentation" aria-label="Search"
                        autocomplete="off" autocapitalize="off" spellcheck="false" dir="auto" maxlength="8000"
                        autofocus[self.kind == Kind::Home];
                    kbd aria-hidden="true" { "/" }
                    button type="submit" { "Search" }
                }
                (self.choice())
                @if let Some(scope) = self.scope {
                    @for choice in &scope.choices { input type="hidden" name=(choice.name()) value=(choice.text()); }
                }
            }
        }
    }

    /// The projects to search. None is all of them.
    fn choice(&self) -> Markup {
        let chosen = self.scope.map_or(&[][..], |scope| &scope.projects);
        let is_chosen = |project: &ProjectTitle| chosen.contains(&project.name);
        let known = |name: &&String| self.projects.iter().any(|project| project.name == **name);
        let is_offered = self.projects.len() > 1;
        let boxes = html! {
            @for project in self.projects {
                label { input type="checkbox" name="project" value=(project.name) checked[is_chosen(project)]; span dir="auto" { (project.title) } }
            }
        };
        html! {
            @if is_offered && self.projects.len() <= MAX_BUTTONS {
                fieldset.projects { legend { "Projects: all, if none is chosen" } (boxes) }
            } @else if is_offered {
                details.facet.all-projects {
                    summary { @match self.projects.iter().filter(|project| is_chosen(project)).count() {
                        0 => "All projects", 1 => "1 project", count => { (count) " projects" }
                    } }
                    div.panel { fieldset.projects { legend { "Projects: all, if none is chosen" } (boxes) } }
                }
            }
            // Patterns, and the only project.
            @for name in chosen.iter().filter(|name| !is_offered || !known(name)) {
                input type="hidden" name="project" value=(name);
            }
        }
    }
}

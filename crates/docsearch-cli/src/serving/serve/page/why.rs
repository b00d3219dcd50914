//! Why a document has its place: the steps of `docsearch.explain_search` as bars, and as a table.

use maud::{Markup, html};
use serde::Deserialize;

use super::escape::document_path;
use super::parameters::Scope;

/// Width of the picture of a score of 1.
const WIDTH: f64 = 240.0;
/// Narrowest bar, so that a small step is seen.
const MIN_WIDTH: f64 = 1.5;

/// A step of an explanation.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Step {
    step: String,
    rule: String,
    matched: Option<String>,
    raw: Option<f64>,
    before: Option<f64>,
    after: Option<f64>,
    contribution: Option<f64>,
}

/// An explained document.
pub(super) struct Explained<'a> {
    pub(super) project: &'a str,
    pub(super) slug: &'a str,
    pub(super) query: &'a str,
    pub(super) scope: &'a Scope,
    pub(super) steps: &'a [Step],
}

impl Explained<'_> {
    pub(super) fn page(&self) -> Markup {
        let query = [("q", self.query)];
        let document = self
            .scope
            .address(&document_path(self.project, self.slug), &query, "in");
        let results = self.scope.address("/", &query, "project");
        let (found, scored): (Vec<&Step>, Vec<&Step>) = self.steps.iter().partition(|step| step.step == "retriever");
        let score = scored.iter().rev().find_map(|step| step.after);
        html! {
            article.why {
                p.path { span { (self.project) } span { (self.slug) } }
                h1 { "Why this page is here" }
                p { "The search for " q dir="auto" { (self.query) } " gives it "
                    @if let Some(score) = score { "a score of " strong { (format!("{score:.2}")) } " of 1." } @else { "no score." } }
                p.links { a href=(document) { "Open the page" } a href=(results) { "Back to the results" } }
                @if !scored.is_empty() { (steps(&scored)) }
                @if !found.is_empty() { (retrievers(&found)) }
            }
        }
    }
}

fn steps(steps: &[&Step]) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Steps of the score" {
            table.steps {
                caption { "Each step, and the score after it" }
                thead { tr { th scope="col" { "Step" } th scope="col" { "Matched" } th.picture scope="col" aria-hidden="true" {} th scope="col" { "Adds" } th scope="col" { "Score" } } }
                tbody {
                    @for step in steps {
                        tr {
                            th scope="row" { (name(&step.rule)) " " span.kind { (step.step) } }
                            td dir="auto" { (step.matched.as_deref().unwrap_or_default()) }
                            td.picture aria-hidden="true" { (bar(step)) }
                            td.number { (signed(step.contribution)) }
                            td.number { (number(step.after)) }
                        }
                    }
                }
            }
        }
    }
}

fn retrievers(found: &[&Step]) -> Markup {
    html! {
        h2 { "What found it" }
        div.scroll tabindex="0" role="region" aria-label="Retrievers" {
            table.steps {
                thead { tr { th scope="col" { "Retriever" } th scope="col" { "Matched" } th scope="col" { "Value" } } }
                tbody { @for step in found { tr {
                    th scope="row" { (name(&step.rule)) }
                    td dir="auto" { (step.matched.as_deref().unwrap_or_default()) }
                    td.number { (number(step.raw)) }
                } } }
            }
        }
    }
}

/// The step from the score before to the score after.
fn bar(step: &Step) -> Markup {
    let (before, after) = (
        step.before.unwrap_or(0.0).clamp(0.0, 1.0),
        step.after.unwrap_or(0.0).clamp(0.0, 1.0),
    );
    let (from, to) = (before.min(after) * WIDTH, before.max(after) * WIDTH);
    let kind = match after < before {
        true => "loss",
        false => "gain",
    };
    let width = (to - from).max(MIN_WIDTH);
    html! {
        svg viewBox=(format!("0 0 {WIDTH} 16")) width=(WIDTH) height="16" {
            rect.all x="0" y="6" width=(WIDTH) height="4" rx="2" {}
            rect.before x="0" y="6" width=(format!("{from:.1}")) height="4" rx="2" {}
            rect class=(kind) x=(format!("{:.1}", from.min(WIDTH - width))) y="2" width=(format!("{width:.1}")) height="12" rx="2" {}
        }
    }
}

fn name(rule: &str) -> String {
    rule.replace('_', " ")
}

fn number(value: Option<f64>) -> String {
    value.map(|value| format!("{value:.3}")).unwrap_or_default()
}

fn signed(value: Option<f64>) -> String {
    value.map(|value| format!("{value:+.3}")).unwrap_or_default()
}

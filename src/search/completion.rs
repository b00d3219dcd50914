//! Completions of a text while it is typed: names and questions of visible documents.

use docsearch_core::documents::definition::Definition;
use docsearch_core::index::completion::{Candidate, Evidence, Source, TargetKind, Typed};
use docsearch_core::index::question::Question;
use docsearch_core::query::suggestion::{Suggestion, SuggestionKind};
use docsearch_core::text::name;
use docsearch_core::values::id::{DocumentId, Map, Set};

use crate::postgres::report::Result;
use crate::postgres::role::{Caller, Owner, Role};
use crate::search::suggest::titles;
use crate::tables::completions::{self, NamedDocument, Scope};
use crate::tables::project::{Project, Projects};
use crate::tables::visibility::Visibility;

/// Names that are read for each suggestion: a page has several.
const NAMES_READ: usize = 5;

/// A completion.
pub(crate) struct Completion {
    pub(crate) suggestion: String,
    pub(crate) kind: String,
    pub(crate) slug: Option<String>,
    pub(crate) score: f32,
    /// A reference as `load_doc` takes it; `None` if the suggestion is another text to search for.
    pub(crate) target: Option<String>,
    /// Title of the page.
    pub(crate) title: Option<String>,
    /// Heading of the section.
    pub(crate) section: Option<String>,
    /// Ranges of what was typed in the suggestion, in characters.
    pub(crate) highlights: Vec<(usize, usize)>,
}

impl Completion {
    /// A suggestion for a text that nothing completes.
    pub(crate) fn of_suggestion(text: &str, found: Suggestion) -> Self {
        let is_name = found.slug.is_some() && found.kind != SuggestionKind::Phrasing;
        let target = found.project.zip(found.slug.as_deref());
        Self {
            highlights: Typed::new(text).highlights(&found.suggestion),
            kind: if is_name {
                TargetKind::Page.as_str()
            } else {
                found.kind.as_str()
            }
            .to_owned(),
            score: found.score,
            target: target.map(|(project, slug)| format!("{project}/{slug}")),
            title: Some(found.suggestion.clone()).filter(|_| is_name),
            section: None,
            suggestion: found.suggestion,
            slug: found.slug,
        }
    }
}

/// Up to `limit` completions of a text, best first.
pub(crate) fn completions(
    caller: &mut Caller,
    projects: &[Project],
    text: &str,
    limit: usize,
) -> Result<Vec<Completion>> {
    let typed = Typed::new(text);
    let searched = Projects::new(projects);
    let visibility = Visibility::of(caller, &searched)?;
    let scope = Scope {
        projects: &searched,
        visibility: &visibility,
    };
    let read = limit * NAMES_READ;
    let ranges = Vec::from_iter(typed.beginning());
    let mut found = of_pages(Evidence::Beginning, scope.pages(caller, &ranges, read)?);
    // A page keeps the place of its shorter name.
    if let Some(range) = ranges.first() {
        let continued = scope.continued_pages(caller, range, read)?;
        found.extend(of_pages(Evidence::Beginning, continued));
    }
    found.extend(of_definitions(
        Evidence::Beginning,
        scope.definitions(caller, &ranges, read)?,
    ));
    if let Some(range) = typed.question() {
        found.extend(scope.questions(caller, &range, read)?.into_iter().map(of_question));
    }
    let mut shown = present(caller, projects, &typed, found, limit)?;
    if let Some(pattern) = typed.containing().filter(|_| shown.len() < limit) {
        let found = of_pages(Evidence::Words, scope.pages_like(caller, &pattern, read)?);
        let others = present(caller, projects, &typed, found, limit)?;
        let known: Set<Option<String>> = shown.iter().map(|shown| shown.target.clone()).collect();
        shown.extend(others.into_iter().filter(|other| !known.contains(&other.target)));
        shown.truncate(limit);
    }
    if shown.is_empty() {
        let ranges = typed.mistyped();
        let is_near = |(_, key): &NamedDocument| typed.mistyped_length(key).is_some();
        let pages = scope
            .pages(caller, &ranges, read)?
            .into_iter()
            .filter(is_near)
            .collect();
        let mut found = of_pages(Evidence::Correction, pages);
        let definitions = scope.definitions(caller, &ranges, read)?.into_iter().filter(is_near);
        found.extend(of_definitions(Evidence::Correction, definitions.collect()));
        shown = present(caller, projects, &typed, found, limit)?;
    }
    Ok(shown)
}

fn of_pages(evidence: Evidence, found: Vec<NamedDocument>) -> Vec<Candidate> {
    named(evidence, Source::Page, found)
}

fn of_definitions(evidence: Evidence, found: Vec<NamedDocument>) -> Vec<Candidate> {
    named(evidence, Source::Definition, found)
}

fn named(evidence: Evidence, source: Source, found: Vec<NamedDocument>) -> Vec<Candidate> {
    let candidate = |(document, key)| Candidate {
        evidence,
        source: source.clone(),
        key,
        document,
    };
    found.into_iter().map(candidate).collect()
}

fn of_question((document, question, anchor): (DocumentId, String, String)) -> Candidate {
    let key = name::key(&question);
    Candidate {
        evidence: Evidence::Beginning,
        key: if key.is_empty() { question.to_lowercase() } else { key },
        source: Source::Question(Question { anchor, question }),
        document,
    }
}

/// Up to `limit` completions of the candidates, in order. Of several with one target, the first.
fn present(
    caller: &mut Caller,
    projects: &[Project],
    typed: &Typed,
    mut candidates: Vec<Candidate>,
    limit: usize,
) -> Result<Vec<Completion>> {
    candidates.sort_by(Candidate::by_order);
    let project_names: Map<i64, &str> = projects
        .iter()
        .map(|project| (project.id, project.name.as_str()))
        .collect();
    let mut shown: Vec<Completion> = Vec::new();
    let mut targets: Set<String> = Set::default();
    for part in candidates.chunks(limit * 2) {
        let documents: Set<DocumentId> = part.iter().map(|candidate| candidate.document).collect();
        let titles = titles(caller, &documents)?;
        let defined = part.iter().filter(|candidate| candidate.source == Source::Definition);
        let defined: Vec<NamedDocument> = defined
            .map(|candidate| (candidate.document, candidate.key.clone()))
            .collect();
        let owner = &caller.as_owner()?;
        let places = completions::places(owner, &defined)?;
        for candidate in part {
            let Some((title, slug)) = titles.get(&candidate.document) else {
                continue;
            };
            let place = match &candidate.source {
                Source::Page => Some(Place::page(title)),
                // The heading of the page is no section of its own.
                Source::Definition if name::has_key(title, &candidate.key) => None,
                Source::Definition => places
                    .get(&(candidate.document, candidate.key.clone()))
                    .map(Place::definition),
                Source::Question(question) => Some(Place::question(owner, candidate.document, question)?),
            };
            let Some(place) =
                place.filter(|place| candidate.evidence != Evidence::Words || typed.has_words(&place.text))
            else {
                continue;
            };
            let project = project_names
                .get(&candidate.document.project)
                .copied()
                .unwrap_or_default();
            let target = match place.anchor.as_str() {
                "" => format!("{project}/{slug}"),
                anchor => format!("{project}/{slug}#{anchor}"),
            };
            if shown.len() == limit {
                return Ok(shown);
            }
            if targets.insert(target.clone()) {
                shown.push(Completion {
                    highlights: typed.highlights(&place.text),
                    suggestion: place.text,
                    kind: place.kind.as_str().to_owned(),
                    target: Some(target),
                    title: Some(title.clone()),
                    section: place.section,
                    slug: Some(slug.clone()),
                    score: typed.score(candidate),
                });
            }
        }
    }
    Ok(shown)
}

/// What a candidate leads to.
struct Place {
    text: String,
    kind: TargetKind,
    section: Option<String>,
    anchor: String,
}

impl Place {
    fn page(title: &str) -> Self {
        Self {
            text: title.to_owned(),
            kind: TargetKind::Page,
            section: None,
            anchor: String::new(),
        }
    }

    fn definition(of: &Definition) -> Self {
        Self {
            text: of.name.clone(),
            kind: TargetKind::of_definition(&of.name),
            section: Some(of.section.clone()).filter(|section| !section.is_empty()),
            anchor: of.anchor.clone(),
        }
    }

    fn question(owner: &Owner<'_>, document: DocumentId, of: &Question) -> Result<Self> {
        Ok(Self {
            text: of.question.clone(),
            kind: TargetKind::Question,
            section: match of.anchor.as_str() {
                "" => None,
                _ => completions::answering_section(owner, document, &of.question)?,
            },
            anchor: of.anchor.clone(),
        })
    }
}

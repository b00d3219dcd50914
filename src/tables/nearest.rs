//! What may have been meant by a slug that no document has.

use docsearch_core::query::understanding::NameForm;
use docsearch_core::values::id::DocumentId;
use pgrx::datum::DatumWithOid;

use crate::postgres::report::Result;
use crate::postgres::role::Caller;
use crate::postgres::{catalog, statement};
use crate::tables::keys::{self, WANTED_DOCUMENTS};
use crate::tables::names;
use crate::tables::project::{self, Project, Projects};
use crate::tables::sight::Sight;

/// So much of a slug is compared with others, in characters: none is much longer.
const MAX_COMPARED_CHARS: usize = 1_200;
/// Documents that a hint names at most.
const NAMED: i64 = 3;

/// The hint of an error: the documents with this address, or else those of other projects with it, or else the nearest.
pub(super) fn hint(caller: &mut Caller, slug: &str, project: Option<&str>) -> Result<String> {
    let all = project::selected(caller, None)?;
    let is_project = |known: &&Project| known.name == slug.trim_matches('/');
    if let Some(known) = all.iter().find(is_project).filter(|_| project.is_none()) {
        let name = &known.name;
        return Ok(format!(
            "\"{name}\" is a project: list_docs(project => '{name}') lists its documents."
        ));
    }
    let (within, others): (Vec<Project>, Vec<Project>) = all
        .into_iter()
        .partition(|known| project.is_none_or(|name| known.name == name));
    let mut meant = addressed(caller, slug, &within)?;
    if meant.is_empty() {
        let elsewhere = addressed(caller, slug, &others)?;
        if !elsewhere.is_empty() {
            return Ok(format!("It is in another project: {}.", elsewhere.join(", ")));
        }
        meant = near(caller, slug, project)?;
    }
    Ok(if meant.is_empty() {
        "There is no document yet: SELECT docsearch.index_doc(...).".to_owned()
    } else {
        format!("Did you mean {}?", meant.join(", "))
    })
}

/// References of the documents of projects that have this address, as searches understand it, or this slug.
fn addressed(caller: &mut Caller, slug: &str, projects: &[Project]) -> Result<Vec<String>> {
    let sites = || projects.iter().map(Project::site);
    let mut forms = NameForm::addresses(slug, sites());
    if forms.is_empty() {
        forms = NameForm::addresses(&format!("./{slug}"), sites());
    }
    if projects.is_empty() || forms.is_empty() {
        return Ok(Vec::new());
    }
    let searched = Projects::new(projects);
    let sight = Sight::of(caller, &searched)?;
    let found = names::matches(caller, &searched, &forms, &sight)?;
    let found: Vec<DocumentId> = found.into_keys().collect();
    statement::rows(
        caller,
        &format!(
            "SELECT p.name || '/' || d.slug
             FROM {WANTED_DOCUMENTS} JOIN docsearch.document d USING (project_id, id)
                  JOIN docsearch.project p ON p.id = d.project_id
             ORDER BY 1 LIMIT {NAMED}"
        ),
        &keys::document_arguments(&found),
        |row| row.required(1),
    )
}

/// References of the documents with the nearest slugs and titles: those of the project that the reference names come first.
fn near(caller: &Caller, slug: &str, project: Option<&str>) -> Result<Vec<String>> {
    let trigram = catalog::trigram_schema()?;
    let compared: String = slug.chars().take(MAX_COMPARED_CHARS).collect();
    statement::rows(
        caller,
        &format!(
            "SELECT p.name || '/' || d.slug
             FROM docsearch.document d JOIN docsearch.project p ON p.id = d.project_id,
                  LATERAL (SELECT starts_with(lower($1), lower(p.name) || '/')) AS w(named),
                  LATERAL (SELECT CASE WHEN w.named THEN substr($1, length(p.name) + 2) ELSE $1 END) AS g(given)
             WHERE $2::text IS NULL OR p.name = $2
             ORDER BY w.named DESC,
                      greatest({trigram}.similarity(d.slug, g.given), {trigram}.similarity(d.title, g.given)) DESC, d.slug, p.name
             LIMIT {NAMED}"
        ),
        &[DatumWithOid::from(compared), DatumWithOid::from(project)],
        |row| row.required(1),
    )
}

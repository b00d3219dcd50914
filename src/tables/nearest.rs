//! The hint for a slug that no document has: which documents may be meant.

use docsearch_core::query::understanding::CandidateName;
use docsearch_core::values::id::DocumentId;
use pgrx::datum::DatumWithOid;

use crate::postgres::report::Result;
use crate::postgres::role::Caller;
use crate::postgres::{catalog, statement};
use crate::tables::keys::{self, WANTED_DOCUMENTS};
use crate::tables::names;
use crate::tables::project::{self, Project, Projects};
use crate::tables::visibility::Visibility;

/// Characters of a slug that are compared with others: no slug is much longer.
const MAX_COMPARED_CHARS: usize = 1_200;
/// Most documents that a hint names.
const MAX_HINTED: i64 = 3;

/// The hint of an error: documents with this address, else documents of other projects with it, else the nearest ones.
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

/// References of the documents that a reference to nothing may mean.
pub(crate) fn references(caller: &mut Caller, reference: &str) -> Result<Vec<String>> {
    let meant = addressed(caller, reference, &project::selected(caller, None)?)?;
    match meant.is_empty() {
        true => near(caller, reference, None),
        false => Ok(meant),
    }
}

/// References of the documents with this slug, or with this address as searches understand it.
fn addressed(caller: &mut Caller, slug: &str, projects: &[Project]) -> Result<Vec<String>> {
    let sites = || projects.iter().map(Project::site);
    let mut candidates = CandidateName::addresses(slug, sites());
    if candidates.is_empty() {
        candidates = CandidateName::addresses(&format!("./{slug}"), sites());
    }
    if projects.is_empty() || candidates.is_empty() {
        return Ok(Vec::new());
    }
    let searched = Projects::new(projects);
    let visibility = Visibility::of(caller, &searched)?;
    let found = names::matches(caller, &searched, &candidates, &visibility)?;
    let found: Vec<DocumentId> = found.into_keys().collect();
    statement::rows(
        caller,
        &format!(
            "SELECT p.name || '/' || d.slug
             FROM {WANTED_DOCUMENTS} JOIN docsearch.document d USING (project_id, id)
                  JOIN docsearch.project p ON p.id = d.project_id
             ORDER BY 1 LIMIT {MAX_HINTED}"
        ),
        &keys::document_arguments(&found),
        |row| row.required(1),
    )
}

/// References of the documents with the nearest slugs and titles, first those of the project that the slug begins with.
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
             LIMIT {MAX_HINTED}"
        ),
        &[DatumWithOid::from(compared), DatumWithOid::from(project)],
        |row| row.required(1),
    )
}

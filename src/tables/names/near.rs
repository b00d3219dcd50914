//! Near matches of the name retriever: documents with names that a query has half typed or mistyped.

use docsearch_core::index::vocabulary::after;
use docsearch_core::values::id::{DocumentId, Set};
use pgrx::datum::DatumWithOid;

use crate::postgres::owner::LocalSettings;
use crate::postgres::report::Result;
use crate::postgres::role::{Caller, Owner, Role};
use crate::postgres::{catalog, statement};
use crate::tables::keys;
use crate::tables::project::Projects;
use crate::tables::visibility::Visibility;

/// Most documents that each kind of near match retrieves.
const MAX_NEAR: usize = 100;
/// Least trigram similarity of a name, whatever the session has set. It is low because two swapped letters in the
/// middle of a short name (`pg_dmup`) change most of its trigrams. Matches that are too far are dropped later, by edit
/// distance.
const LEAST_SIMILARITY: &str = "0.1";
/// Longest text, in characters of its key, that is taken for a half typed or mistyped name.
const MAX_NEAR_CHARS: usize = 64;

/// Documents with names that start with `typed`, differ from it in a letter or two, or have its letters in this order.
/// `typed` is a key.
pub(crate) fn near(
    caller: &mut Caller,
    projects: &Projects,
    typed: &str,
    visibility: &Visibility,
) -> Result<Set<DocumentId>> {
    let length = typed.chars().count();
    let is_word = typed.chars().all(char::is_alphanumeric);
    if !(3..=MAX_NEAR_CHARS).contains(&length) || !is_word {
        return Ok(Set::default());
    }
    let trigram = catalog::trigram_schema()?;
    let _settings = LocalSettings::apply(&[("pg_trgm.similarity_threshold", LEAST_SIMILARITY)])?;
    let first: String = typed.chars().take(1).collect();
    let pattern: String = typed.chars().flat_map(|letter| [letter, '%']).collect();
    let limit = i64::try_from(MAX_NEAR).unwrap_or(i64::MAX);
    let arguments = |limit: i64| {
        vec![
            projects.argument(),
            DatumWithOid::from(typed),
            DatumWithOid::from(after(typed)),
            DatumWithOid::from(first.as_str()),
            DatumWithOid::from(after(&first)),
            DatumWithOid::from(pattern.as_str()),
            DatumWithOid::from(limit),
        ]
    };
    let mut args = arguments(limit);
    let visible = visibility.condition("n.document_id", &mut args);
    let condition = format!("{} {visible}", projects.condition("n"));
    let similar = format!("{} {visible}", projects.check("n"));
    // The order of visible documents must not depend on the limit.
    let (by_key, tie_break) = match visibility.check() {
        Some(_) => (
            "ORDER BY n.key, n.project_id, n.document_id",
            ", n.key, n.project_id, n.document_id",
        ),
        None => ("", ""),
    };
    let ways = [
        format!(
            "SELECT n.project_id, n.document_id FROM docsearch.document_name n
             WHERE {condition} AND n.key >= $2 AND n.key < $3 {by_key} LIMIT $7"
        ),
        format!(
            "SELECT n.project_id, n.document_id FROM docsearch.document_name n
             WHERE {similar} AND n.key OPERATOR({trigram}.%) $2
               AND length(n.key) BETWEEN length($2) - 2 AND length($2) + 2
             ORDER BY {trigram}.similarity(n.key, $2) DESC{tie_break} LIMIT $7"
        ),
        format!(
            "SELECT n.project_id, n.document_id FROM docsearch.document_name n
             WHERE {condition} AND n.key >= $4 AND n.key < $5 AND n.key LIKE $6 AND n.kind <> 'path' {by_key} LIMIT $7"
        ),
    ];
    let Some(check) = visibility.check() else {
        let owner = &caller.as_owner()?;
        let found = statement::rows(
            owner,
            &format!("({})", ways.join(") UNION ALL (")),
            &args,
            keys::document_id,
        )?;
        return Ok(found.into_iter().collect());
    };
    let mut found = Set::default();
    for way in &ways {
        let read = |owner: &Owner<'_>, limit| statement::rows(owner, way, &arguments(limit), keys::document_id);
        found.extend(check.first(caller, MAX_NEAR, read, |id| *id)?);
    }
    Ok(found)
}

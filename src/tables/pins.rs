//! Pages that editors pin for queries.

use docsearch_core::query::pinned_query;
use docsearch_core::values::bounds::SLUG_BYTES;
use pgrx::datum::{DatumWithOid, TimestampWithTimeZone};
use pgrx::prelude::PgSqlErrorCode;

use crate::postgres::report::{Result, error_with_hint, invalid};
use crate::postgres::role::{Caller, Owner, Role};
use crate::postgres::row_type::row_type;
use crate::postgres::statement;
use crate::tables::project::{Project, Projects};
use crate::tables::schema::{self, Part};
use crate::tables::visibility::policies_apply;

/// Most queries of a project for which pages are pinned.
const MAX_PINS: i64 = 1_000;
/// Most pages of a list of a pin.
const MAX_PAGES: usize = 10;

row_type! {
    /// The pages that are pinned for a query.
    pub(crate) struct PinRow {
        pub(crate) project: i64 = "p.project_id",
        pub(crate) key: String = "p.query_key",
        pub(crate) query: String = "p.query",
        pub(crate) first: Vec<String> = "p.first",
        pub(crate) never: Vec<String> = "p.never",
    }
}

/// The pins of queries with one of these normal forms, also for pages that policies hide.
pub(crate) fn of_queries(owner: &Owner<'_>, projects: &Projects, keys: &[String]) -> Result<Vec<PinRow>> {
    statement::lookup(
        owner,
        &format!(
            "SELECT {} FROM docsearch.pin p WHERE {} AND p.query_key = ANY ($2) ORDER BY p.project_id, p.query_key",
            PinRow::select_list(),
            projects.condition("p")
        ),
        &[projects.argument(), DatumWithOid::from(keys.to_vec())],
        PinRow::read,
    )
}

/// The query of a pin, and its normal form.
pub(crate) fn checked_query(query: Option<&str>) -> Result<(String, String)> {
    let hint = format!("Give a query of up to {} characters.", pinned_query::MAX_CHARS);
    let query = query
        .unwrap_or_default()
        .split_whitespace()
        .collect::<Vec<&str>>()
        .join(" ");
    let key = pinned_query::normal_form(&query)
        .ok_or_else(|| invalid("query must not be null, blank or punctuation alone", hint.as_str()))?;
    // Letters may take more bytes in lower case.
    let most = pinned_query::MAX_CHARS;
    if query.chars().count() > most || query.len().max(key.len()) > 4 * most {
        return Err(invalid("query is too long", hint));
    }
    Ok((query, key))
}

/// The slugs of a list, each once.
pub(crate) fn checked_slugs(name: &str, given: Option<Vec<Option<String>>>) -> Result<Vec<String>> {
    let mut slugs: Vec<String> = Vec::new();
    for slug in given.unwrap_or_default() {
        let is_slug = |slug: &String| !slug.trim().is_empty() && slug.len() <= SLUG_BYTES;
        let slug = slug.filter(is_slug).ok_or_else(|| {
            invalid(
                format!("{name} has a slug that is null, blank or too long"),
                "list_docs() lists the slugs.",
            )
        })?;
        if !slugs.contains(&slug) {
            slugs.push(slug);
        }
        if slugs.len() > MAX_PAGES {
            return Err(invalid(
                format!("{name} has too many slugs"),
                format!("Give at most {MAX_PAGES}."),
            ));
        }
    }
    Ok(slugs)
}

/// A pin to write.
pub(crate) struct NewPin<'a> {
    pub(crate) query: &'a str,
    pub(crate) key: &'a str,
    pub(crate) first: Vec<String>,
    pub(crate) never: Vec<String>,
    pub(crate) source: &'a str,
}

/// Locks the project as the caller, who has to be allowed to change it. So two calls do not exceed the bound together.
fn lock(caller: &Caller, project: &Project) -> Result<()> {
    schema::require_current(caller)?;
    let locked = statement::change(
        caller,
        "SELECT p.id FROM docsearch.project p WHERE p.id = $1 FOR NO KEY UPDATE",
        &[DatumWithOid::from(project.id)],
        |row| row.required::<i64>(1),
    )?;
    match locked.is_empty() {
        false => Ok(()),
        true => Err(error_with_hint(
            PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE,
            format!("project \"{}\" cannot be changed", project.name),
            "A policy on docsearch.project forbids it. Ask the owner of schema docsearch.",
        )),
    }
}

/// Writes a pin in place of the one for the same query. Returns the slugs of pages that the caller does not see.
pub(crate) fn set(caller: &mut Caller, project: &Project, pin: NewPin<'_>) -> Result<Vec<String>> {
    lock(caller, project)?;
    let slugs: Vec<String> = pin.first.iter().chain(&pin.never).cloned().collect();
    let missing = statement::rows(
        caller,
        "SELECT s.slug FROM unnest($2::text[]) WITH ORDINALITY s(slug, place)
         WHERE NOT EXISTS (SELECT FROM docsearch.document d WHERE d.project_id = $1 AND d.slug = s.slug) ORDER BY s.place",
        &[DatumWithOid::from(project.id), DatumWithOid::from(slugs)],
        |row| row.required::<String>(1),
    )?;
    let role = caller.name();
    let owner = &caller.as_owner()?;
    let written = statement::change(
        owner,
        "INSERT INTO docsearch.pin AS p (project_id, query_key, query, first, never, source, changed_by)
         SELECT $1, $2, $3, $4, $5, $6, $7
         WHERE EXISTS (SELECT FROM docsearch.pin o WHERE o.project_id = $1 AND o.query_key = $2)
            OR (SELECT count(*) FROM docsearch.pin o WHERE o.project_id = $1) < $8
         ON CONFLICT (project_id, query_key) DO UPDATE
         SET query = excluded.query, first = excluded.first, never = excluded.never, source = excluded.source,
             changed_at = now(), changed_by = excluded.changed_by
         RETURNING 1",
        &[
            DatumWithOid::from(project.id),
            DatumWithOid::from(pin.key),
            DatumWithOid::from(pin.query),
            DatumWithOid::from(pin.first),
            DatumWithOid::from(pin.never),
            DatumWithOid::from(pin.source),
            DatumWithOid::from(role),
            DatumWithOid::from(MAX_PINS),
        ],
        |row| row.required::<i32>(1),
    )?;
    match written.is_empty() {
        false => Ok(missing),
        true => Err(error_with_hint(
            PgSqlErrorCode::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
            format!("project \"{}\" has pins for {MAX_PINS} queries", project.name),
            "Remove those that are no longer needed: SELECT docsearch.unpin('project', 'query').",
        )),
    }
}

/// Removes the pin for a query, and returns whether there was one.
pub(crate) fn remove(caller: &mut Caller, project: &Project, key: &str) -> Result<bool> {
    lock(caller, project)?;
    let owner = &caller.as_owner()?;
    let removed = statement::change(
        owner,
        "DELETE FROM docsearch.pin p WHERE p.project_id = $1 AND p.query_key = $2 RETURNING 1",
        &[DatumWithOid::from(project.id), DatumWithOid::from(key)],
        |row| row.required::<i32>(1),
    )?;
    Ok(!removed.is_empty())
}

/// A pin as its readers see it.
pub(crate) struct ListedPin {
    pub(crate) query: String,
    pub(crate) first: Vec<String>,
    pub(crate) never: Vec<String>,
    /// Those of its pages that the caller does not see.
    pub(crate) missing: Vec<String>,
    pub(crate) source: String,
    pub(crate) changed_at: TimestampWithTimeZone,
}

row_type! {
    struct ListedRow {
        query: String = "p.query",
        first: Vec<String> = "p.first",
        never: Vec<String> = "p.never",
        source: String = "p.source",
        changed_at: TimestampWithTimeZone = "p.changed_at",
        /// Whether the role `$2` has the rights of the one that wrote it.
        is_own: bool = "CASE WHEN to_regrole(quote_ident(p.changed_by)) IS NULL THEN false
                             ELSE pg_has_role($2, p.changed_by, 'MEMBER') END",
    }
}

/// The pins of a project by their queries. If policies apply to the caller, it sees those that its roles have written, and those with
/// pages that it sees: another one may name a hidden page.
pub(crate) fn listed(caller: &mut Caller, project: &Project) -> Result<Vec<ListedPin>> {
    if !Part::Pins.exists() {
        return Err(schema::outdated());
    }
    let (role, sees_all) = (caller.id(), !policies_apply(caller)?);
    let rows = {
        let owner = &caller.as_owner()?;
        statement::rows(
            owner,
            &format!(
                "SELECT {} FROM docsearch.pin p WHERE p.project_id = $1 ORDER BY p.query_key",
                ListedRow::select_list()
            ),
            &[DatumWithOid::from(project.id), DatumWithOid::from(role)],
            ListedRow::read,
        )?
    };
    let slugs: Vec<String> = rows
        .iter()
        .flat_map(|row| row.first.iter().chain(&row.never))
        .cloned()
        .collect();
    let seen = statement::rows(
        caller,
        "SELECT d.slug FROM docsearch.document d WHERE d.project_id = $1 AND d.slug = ANY ($2)",
        &[DatumWithOid::from(project.id), DatumWithOid::from(slugs)],
        |row| row.required::<String>(1),
    )?;
    let pins = rows.into_iter().filter_map(|row| {
        let missing = row.first.iter().chain(&row.never).filter(|slug| !seen.contains(slug));
        let missing: Vec<String> = missing.cloned().collect();
        (sees_all || row.is_own || missing.is_empty()).then_some(ListedPin {
            query: row.query,
            first: row.first,
            never: row.never,
            missing,
            source: row.source,
            changed_at: row.changed_at,
        })
    });
    Ok(pins.collect())
}

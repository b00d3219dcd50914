//! The tables of rules: read once by a backend, and again after they have changed.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::CStr;
use std::rc::Rc;

use docsearch_core::query::rule::{Row as RuleRow, RuleError, Rules, Tables};
use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;
use pgrx::prelude::*;

use crate::postgres::catalog;
use crate::postgres::report::{Result, error_with_hint, internal};
use crate::postgres::role::{Caller, Role};
use crate::postgres::statement;
use crate::tables::schema;

mod stored;

/// The tables, in schema `docsearch`.
pub(crate) const TABLES: [&CStr; 10] = stored::NAMES;

/// Kinds of `query_word` that version 16 of the tables adds.
const KINDS_OF_VERSION_16: [&str; 12] = [
    "alone",
    "article",
    "asks",
    "before_container",
    "before_verb",
    "comparing",
    "creates",
    "filler",
    "framing",
    "infinitive",
    "modifier",
    "scope",
];

thread_local! {
    static CACHE: RefCell<Option<Rc<Rulebook>>> = const { RefCell::new(None) };
    /// Set when a table of rules may have changed.
    static STALE: Cell<bool> = const { Cell::new(true) };
    static WATCHED: Cell<bool> = const { Cell::new(false) };
}

/// The rules of all projects, and of those that have some of their own.
#[derive(Debug, Default)]
pub(crate) struct Rulebook {
    general: Rc<Rules>,
    of_project: HashMap<i64, Rc<Rules>>,
    tables: Vec<pg_sys::Oid>,
}

impl Rulebook {
    /// The rules that apply in a project.
    pub(crate) fn of(&self, project: i64) -> &Rc<Rules> {
        self.of_project.get(&project).unwrap_or(&self.general)
    }

    /// The rules that apply where a project has none of its own.
    pub(crate) fn general(&self) -> &Rc<Rules> {
        &self.general
    }
}

/// The rules as this transaction sees them.
pub(crate) fn current(role: &mut dyn Role) -> Result<Rc<Rulebook>> {
    watch();
    // Rules read under REPEATABLE READ may be older than those that later transactions see.
    // SAFETY: reads the isolation level of the transaction.
    let lasting = unsafe { pg_sys::XactIsoLevel } < pg_sys::XACT_REPEATABLE_READ as i32;
    let stale = STALE.replace(!lasting);
    if !stale && let Some(known) = CACHE.with_borrow(Clone::clone) {
        return Ok(known);
    }
    // Freed before the new ones are read: both at once would take a megabyte.
    CACHE.set(None);
    match read(role).map(Rc::new) {
        Ok(rules) => {
            CACHE.set(Some(Rc::clone(&rules)));
            Ok(rules)
        }
        Err(problem) => {
            STALE.set(true);
            Err(problem)
        }
    }
}

fn watch() {
    if !WATCHED.replace(true) {
        // SAFETY: the callback has the signature that Postgres requires, and only sets a flag.
        unsafe { pg_sys::CacheRegisterRelcacheCallback(Some(invalidate), pg_sys::Datum::from(0)) };
    }
}

unsafe extern "C-unwind" fn invalidate(_argument: pg_sys::Datum, table: pg_sys::Oid) {
    let is_affected = table == pg_sys::InvalidOid
        || CACHE.with(|cache| match cache.try_borrow() {
            Ok(cache) => cache.as_ref().is_none_or(|known| known.tables.contains(&table)),
            Err(_) => true,
        });
    if is_affected {
        STALE.set(true);
    }
}

/// Reads the rules. Without tables, or with those of an older extension, the shipped rules apply.
fn read(role: &mut dyn Role) -> Result<Rulebook> {
    let tables: Vec<pg_sys::Oid> = TABLES.iter().filter_map(|table| catalog::table(table)).collect();
    if tables.len() < TABLES.len() {
        STALE.set(true);
        return Ok(Rulebook {
            general: Rc::new(Rules::english()),
            ..Rulebook::default()
        });
    }
    let owner = &role.as_owner()?;
    let mut rows = Vec::new();
    for table in &stored::TABLES {
        table.read(owner, |project, rule| rows.push((project, rule)))?;
    }
    let mut general = match schema::version(owner)? {
        ..16 => shipped_words_of_version_16()?,
        _ => Vec::new(),
    };
    let mut own: HashMap<i64, Vec<RuleRow>> = HashMap::new();
    for (project, row) in rows {
        match project {
            None => general.push(row),
            Some(project) => own.entry(project).or_default().push(row),
        }
    }
    let general = Rules::new(Tables::default()).overlay(general).map_err(unusable)?;
    let of_project = own
        .into_iter()
        .map(|(project, rows)| Ok((project, Rc::new(general.overlay(rows).map_err(unusable)?))))
        .collect::<Result<_>>()?;
    Ok(Rulebook {
        general: Rc::new(general),
        of_project,
        tables,
    })
}

fn unusable(problem: RuleError) -> pg_sys::panic::ErrorReport {
    error_with_hint(
        PgSqlErrorCode::ERRCODE_DATA_CORRUPTED,
        format!("a rule cannot be used: {problem}"),
        "Correct the row in the tables of rules of schema docsearch.",
    )
}

/// Writes shipped rules that are missing: verbs and abbreviations, synonyms of verbs without any, and names and words of
/// release notes where there are none.
pub(crate) fn seed_missing(caller: &Caller) -> Result<()> {
    let rows = serde_json::to_value(Rules::english().rows()).map_err(internal)?;
    for (table, columns, key) in [
        ("action", "verb, intent", "verb"),
        ("action_synonym", "verb, synonym, closeness", "verb"),
        ("synonym", "term, expansion", "term"),
    ] {
        let missing =
            format!("NOT EXISTS (SELECT FROM docsearch.{table} s WHERE s.project_id IS NULL AND s.{key} = r.{key})");
        write(caller, &rows, table, columns, &missing)?;
    }
    write(
        caller,
        &rows,
        "news_name",
        "place, name",
        "NOT EXISTS (SELECT FROM docsearch.news_name)",
    )?;
    write_query_words(
        caller,
        &rows,
        "w.kind IN ('news', 'change') AND NOT EXISTS (SELECT FROM docsearch.query_word q WHERE q.kind = w.kind)",
    )
}

/// Writes the missing words of queries for what is new, names of release notes, and openings and closings of questions.
pub(crate) fn seed_asking(caller: &Caller) -> Result<()> {
    let rows = serde_json::to_value(Rules::english().rows()).map_err(internal)?;
    write(
        caller,
        &rows,
        "news_name",
        "place, name, releases",
        "NOT EXISTS (SELECT FROM docsearch.news_name s WHERE s.project_id IS NULL AND s.place = r.place AND s.name = r.name)",
    )?;
    write_query_words(
        caller,
        &rows,
        "w.kind IN ('new', 'happened', 'when', 'thing', 'made', 'release', 'recency', 'opening', 'closing')
         AND NOT EXISTS (SELECT FROM docsearch.query_word q WHERE q.project_id IS NULL AND q.kind = w.kind AND q.word = w.word)",
    )
}

/// Writes the missing kinds of things.
pub(crate) fn seed_kinds(caller: &Caller) -> Result<()> {
    let rows = serde_json::to_value(Rules::english().rows()).map_err(internal)?;
    write_query_words(
        caller,
        &rows,
        "w.kind = 'kind'
         AND NOT EXISTS (SELECT FROM docsearch.query_word q WHERE q.project_id IS NULL AND q.kind = w.kind AND q.word = w.word)",
    )
}

/// Writes the missing words of kinds that version 16 of the tables adds.
pub(crate) fn seed_framing(caller: &Caller) -> Result<()> {
    let rows = serde_json::to_value(Rules::english().rows()).map_err(internal)?;
    let kinds = KINDS_OF_VERSION_16.join("', '");
    write_query_words(
        caller,
        &rows,
        &format!(
            "w.kind IN ('{kinds}')
             AND NOT EXISTS (SELECT FROM docsearch.query_word q
                             WHERE q.project_id IS NULL AND q.kind = w.kind AND q.word = w.word)"
        ),
    )
}

/// The shipped words of kinds that tables before version 16 cannot hold. They apply until the tables are migrated.
fn shipped_words_of_version_16() -> Result<Vec<RuleRow>> {
    let mut rows = Vec::new();
    for row in Rules::english().rows() {
        let stored = serde_json::to_value(&row.rule).map_err(internal)?;
        let kind = stored.get("asking").or_else(|| stored.get("kind"));
        let kind = kind.and_then(serde_json::Value::as_str).unwrap_or_default();
        if KINDS_OF_VERSION_16.contains(&kind.strip_suffix("_word").unwrap_or(kind)) {
            rows.push(row);
        }
    }
    Ok(rows)
}

/// Writes the rows `r` of the kind with the name of the table, if they satisfy the condition.
fn write(caller: &Caller, rows: &serde_json::Value, table: &str, columns: &str, condition: &str) -> Result<()> {
    statement::execute(
        caller,
        &format!(
            "INSERT INTO docsearch.{table} ({columns})
             SELECT {columns} FROM jsonb_populate_recordset(NULL::docsearch.{table}, $1) WITH ORDINALITY r
             WHERE $1 -> (r.ordinality - 1)::int ->> 'kind' = $2 AND {condition}"
        ),
        &[DatumWithOid::from(pgrx::JsonB(rows.clone())), DatumWithOid::from(table)],
    )
}

/// Replaces the rules of all projects by the shipped ones. Returns their number.
pub(crate) fn reset(caller: &Caller) -> Result<i64> {
    for table in TABLES {
        let table = table.to_string_lossy();
        statement::execute(
            caller,
            &format!("DELETE FROM docsearch.{table} WHERE project_id IS NULL"),
            &[],
        )?;
    }
    seed(caller)?;
    i64::try_from(Rules::english().rows().len()).map_err(internal)
}

/// Writes the shipped rules into the tables, which must have no rules of all projects.
pub(crate) fn seed(caller: &Caller) -> Result<()> {
    let rows = serde_json::to_value(Rules::english().rows()).map_err(internal)?;
    for (table, columns) in [
        ("action", "verb, intent"),
        ("action_synonym", "verb, synonym, closeness"),
        ("intent_conflict", "asked, found, penalty"),
        ("generic_term", "term, boost"),
        ("synonym", "term, expansion"),
        ("framework_alias", "alias, framework"),
        ("platform", "word, platform"),
        ("news_name", "place, name, releases"),
        ("search_tip", "number, tip"),
    ] {
        write(caller, &rows, table, columns, "true")?;
    }
    write_query_words(caller, &rows, "true")
}

/// Writes the words of queries that satisfy the condition, by their `kind`.
fn write_query_words(caller: &Caller, rows: &serde_json::Value, condition: &str) -> Result<()> {
    statement::execute(
        caller,
        &format!(
            "INSERT INTO docsearch.query_word (kind, word)
             SELECT w.kind, w.word
             FROM (SELECT coalesce(r ->> 'asking', regexp_replace(r ->> 'kind', '_(word|pattern)$', '')), r ->> 'word' FROM jsonb_array_elements($1) r
                   WHERE r ->> 'kind' IN ('kind_word', 'recency_word', 'question_word', 'stop_word', 'news_word', 'change_word',
                                          'asking_word', 'framing_word', 'comparing_word', 'modifier_word', 'scope_word',
                                          'before_container_word', 'before_verb_word', 'infinitive_word', 'article_word',
                                          'opening_pattern', 'closing_pattern'))
                  AS w(kind, word)
             WHERE {condition}"
        ),
        &[DatumWithOid::from(pgrx::JsonB(rows.clone()))],
    )
}

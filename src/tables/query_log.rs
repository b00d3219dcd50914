//! The log of queries: calls append lines to a file, which the worker turns into rows.
//!
//! A search writes nothing else: it waits for nothing, works on a standby, in transactions that only read and in those that
//! fail, and a line that cannot be written is lost.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use docsearch_core::usage::logged_call::{CallKind, LoggedCall, LoggedResult};
use docsearch_core::values::digest::digest;
use pgrx::datum::DatumWithOid;
use serde_json::{Value, json};

use crate::postgres::database_file::DatabaseFile;
use crate::postgres::report::{Result, internal};
use crate::postgres::role::{Owner, Role};
use crate::postgres::{interrupt, statement};
use crate::settings;
use crate::tables::schema::Part;
use crate::tables::wake;

/// Where lines wait. At 64 MB something keeps the worker from running; what is called then is not logged.
const WAITING: DatabaseFile = DatabaseFile {
    name: "queries",
    max_bytes: 64 << 20,
};
/// How long lines wait at least, so that the worker stores many at once.
const DELAY: Duration = Duration::from_secs(1);
/// Lines that one statement stores.
const AT_ONCE: usize = 1_000;
/// Rows that one transaction deletes.
const PRUNED_AT_ONCE: i32 = 20_000;
/// New calls after which old rows are looked for.
const CALLS_BETWEEN_PRUNING: i64 = 1_000;

thread_local! {
    /// The salt of this database, once it was read.
    static SALT: RefCell<Option<String>> = const { RefCell::new(None) };
    /// Names this connection in the log.
    static SESSION: RefCell<Option<String>> = const { RefCell::new(None) };
    static SET_ASIDE: Cell<Option<Instant>> = const { Cell::new(None) };
    /// Whether the last transaction left rows that are too old or too many.
    static HAS_MORE_TO_PRUNE: Cell<bool> = const { Cell::new(false) };
    /// Whether lines could not be set aside or deleted.
    static HAS_FAILED: Cell<bool> = const { Cell::new(false) };
}

/// Whether the tables have the log.
pub(crate) fn exists() -> bool {
    Part::QueryLog.exists()
}

/// The salt of digests of queries and tokens, if this connection has read it.
pub(crate) fn known_salt() -> Option<String> {
    SALT.with_borrow(Clone::clone)
}

/// The salt, which a connection reads once.
pub(crate) fn salt(role: &mut dyn Role) -> Result<String> {
    if let Some(known) = known_salt() {
        return Ok(known);
    }
    let owner = &role.as_owner()?;
    let salt = statement::one(owner, "SELECT s.salt FROM docsearch.query_log_salt s", &[], |row| {
        row.required::<String>(1)
    })?
    .ok_or_else(|| internal("docsearch.query_log_salt is empty"))?;
    SALT.set(Some(salt.clone()));
    Ok(salt)
}

/// Random digits of a token, before its signature. An id has as many.
const TOKEN_DIGITS: usize = 32;

/// A token for an answer of this database: random digits, and a signature that only who knows the salt can make.
pub(crate) fn new_token(salt: &str) -> Option<String> {
    let random = random_digits()?;
    let signature = signature(&random, salt);
    Some(random + &signature)
}

/// The id of the call whose answer has this token; `None` if no answer of this database has it.
pub(crate) fn call_id(token: &str, salt: &str) -> Option<String> {
    let (random, given) = token.split_at_checked(TOKEN_DIGITS)?;
    (given == signature(random, salt)).then(|| shortened(digest(&[salt, token])))
}

fn signature(random: &str, salt: &str) -> String {
    shortened(digest(&[salt, "token", random]))
}

/// 128 bits of a digest. Callers cannot choose what it is made of.
fn shortened(mut digest: String) -> String {
    digest.truncate(TOKEN_DIGITS);
    digest
}

/// 128 random bits in hexadecimal digits; `None` if the system has none.
fn random_digits() -> Option<String> {
    let mut bytes = [0_u8; TOKEN_DIGITS / 2];
    getrandom::fill(&mut bytes).ok()?;
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// What calls of this reader have in common.
pub(crate) fn session() -> String {
    settings::query_log::session().unwrap_or_else(|| {
        SESSION.with_borrow_mut(|known| known.get_or_insert_with(|| random_digits().unwrap_or_default()).clone())
    })
}

/// Writes a call. A failure loses the line.
pub(crate) fn append(call: &LoggedCall) {
    let Some(line) = call.line() else { return };
    if let Ok(true) = WAITING.append(&line) {
        wake::if_possible();
    }
}

/// When the worker has lines to store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    Now,
    Later(Duration),
    Never,
}

/// Sets waiting lines aside, and says when they are to be stored. Runs in the worker. After a failure, such as a directory that it
/// may not write, this worker stores no more lines, so that its other work goes on.
pub(crate) fn due() -> Result<Due> {
    if HAS_FAILED.get() {
        return Ok(Due::Never);
    }
    next_due().inspect_err(|_| HAS_FAILED.set(true))
}

fn next_due() -> Result<Due> {
    if WAITING.is_set_aside() {
        let left = SET_ASIDE
            .get()
            .map_or(Duration::ZERO, |since| DELAY.saturating_sub(since.elapsed()));
        return Ok(if left.is_zero() { Due::Now } else { Due::Later(left) });
    }
    if HAS_MORE_TO_PRUNE.get() {
        return Ok(Due::Now);
    }
    if WAITING.size() == 0 {
        return Ok(Due::Never);
    }
    WAITING.set_aside().map_err(internal)?;
    SET_ASIDE.set(Some(Instant::now()));
    Ok(Due::Later(DELAY))
}

/// Stores the lines that were set aside. Lines that an earlier worker stored before it was ended have rows already. Runs in the
/// worker, which then calls [`discard`].
pub(crate) fn store(owner: &Owner<'_>) -> Result<()> {
    let lines = WAITING.lines_set_aside().map_err(internal)?.unwrap_or_default();
    if !exists() {
        return Ok(());
    }
    let stored = insert(owner, &lines)?;
    prune(owner, stored)
}

/// Deletes the lines that were set aside, once their rows are committed.
pub(crate) fn discard() -> Result<()> {
    let discarded = WAITING.discard();
    discarded.inspect_err(|_| HAS_FAILED.set(true)).map_err(internal)
}

/// Lines of a standby, which has no worker that stores them. They stay until [`discard`]: until then the same lines are returned.
pub(crate) fn take() -> Result<Vec<String>> {
    if !WAITING.is_set_aside() && WAITING.size() > 0 {
        WAITING.set_aside().map_err(internal)?;
        // Processes that had the file open may still append to it.
        let begun = Instant::now();
        while begun.elapsed() < DELAY {
            interrupt::check();
            std::thread::sleep(Duration::from_millis(50));
        }
    }
    let lines = WAITING.lines_set_aside().map_err(internal)?.unwrap_or_default();
    Ok(lines.lines().map(str::to_owned).collect())
}

/// Stores lines of a standby, and returns how many are new. What is no line of a call is left out.
pub(crate) fn store_taken(owner: &Owner<'_>, lines: &str) -> Result<i64> {
    insert(owner, lines)
}

/// Whether lines wait for the worker.
pub(crate) fn is_waiting() -> bool {
    !HAS_FAILED.get() && (WAITING.size() > 0 || WAITING.is_set_aside() || HAS_MORE_TO_PRUNE.get())
}

/// Stores the calls of lines, and returns how many are new.
fn insert(owner: &Owner<'_>, lines: &str) -> Result<i64> {
    let mut calls = LoggedCall::read(lines).peekable();
    let mut new = 0;
    while calls.peek().is_some() {
        interrupt::check();
        let rows: Vec<Value> = calls.by_ref().take(AT_ONCE).map(|call| row(&call)).collect();
        new += insert_rows(owner, rows)?;
    }
    Ok(new)
}

fn insert_rows(owner: &Owner<'_>, rows: Vec<Value>) -> Result<i64> {
    let stored = statement::change(
        owner,
        "WITH stored AS (INSERT INTO docsearch.query_log
             (logged_at, original_top, final_top, results, attempts, best_attempt, score_delta, grade, grade_gain,
              embed_ms, rank_ms, boost_ms, present_ms, transform_ms, grade_ms, suggest_ms, total_ms,
              id, kind, session, source, query_hash, class, confidence, project_ids, found_projects, found_documents,
              role, client, query, filter_keys, tried, notices, scores, found_anchors)
         SELECT timestamptz '2000-01-01 00:00:00+00' + r.at * interval '1 microsecond', r.original_top, r.final_top, r.results,
                r.attempts, r.best_attempt, r.score_delta, r.grade, r.grade_gain,
                r.embed_ms, r.rank_ms, r.boost_ms, r.present_ms, r.transform_ms, r.grade_ms, r.suggest_ms, r.total_ms,
                r.id, r.kind, r.session, r.source, r.query_hash, r.class, r.confidence, r.project_ids, r.found_projects,
                r.found_documents, r.role, r.client, r.query, r.filter_keys, coalesce(r.tried, '{}'), r.notices, r.scores, r.found_anchors
         FROM pg_catalog.jsonb_to_recordset($1::jsonb) AS r (
              at float8, original_top bigint, final_top bigint, results int, attempts int, best_attempt int, score_delta real,
              grade real, grade_gain real, embed_ms real, rank_ms real, boost_ms real, present_ms real, transform_ms real,
              grade_ms real, suggest_ms real, total_ms real, id text, kind text, session text, source text, query_hash text,
              class text, confidence text, project_ids bigint[], found_projects bigint[], found_documents bigint[], role text,
              client text, query text, filter_keys text[], tried text[], notices text[], scores real[], found_anchors text[])
         ON CONFLICT (id) DO NOTHING RETURNING 1)
         SELECT count(*) FROM stored",
        &[DatumWithOid::from(Value::from(rows).to_string())],
        |row| row.required::<i64>(1),
    )?;
    Ok(stored.into_iter().next().unwrap_or_default())
}

fn row(call: &LoggedCall) -> Value {
    let first = |of: fn(&LoggedResult) -> Value| call.first.iter().map(of).collect::<Vec<_>>();
    let best = call.first.first();
    let is_search = call.kind == CallKind::Search;
    let milliseconds = |step: &str| call.milliseconds.get(step).map(|&time| time as f32);
    let refinement = call.refinement.as_ref();
    json!({
        "at": call.at,
        "original_top": call.without_rules.as_ref().map(|result| result.document),
        "final_top": best.filter(|_| is_search).map(|result| result.document),
        "results": call.results,
        "attempts": refinement.map(|refinement| refinement.attempts),
        "best_attempt": refinement.map(|refinement| refinement.best),
        "score_delta": call.score_delta,
        "grade": call.grade,
        "grade_gain": refinement.map(|refinement| refinement.gain),
        "embed_ms": milliseconds("embed_ms"),
        "rank_ms": milliseconds("rank_ms"),
        "boost_ms": milliseconds("boost_ms"),
        "present_ms": milliseconds("present_ms"),
        "transform_ms": milliseconds("transform_ms"),
        "grade_ms": milliseconds("grade_ms"),
        "suggest_ms": milliseconds("suggest_ms"),
        "total_ms": milliseconds("total_ms"),
        "id": call.id,
        "kind": call.kind.to_string(),
        "session": call.session,
        "source": call.source,
        "query_hash": call.query_hash,
        "class": call.class,
        "confidence": call.confidence,
        "project_ids": call.projects,
        "found_projects": found_projects(call),
        "found_documents": first(|result| result.document.into()),
        "role": call.role,
        "client": call.client,
        "query": call.query,
        "filter_keys": call.filter_keys,
        "tried": refinement.map(|refinement| &refinement.tried),
        "notices": call.notices,
        "scores": first(|result| result.score.into()),
        "found_anchors": first(|result| result.anchor.as_str().into()),
    })
}

/// The projects of results; one, if all are of the same.
fn found_projects(call: &LoggedCall) -> Vec<i64> {
    let mut projects: Vec<i64> = call.first.iter().map(|result| result.project).collect();
    if projects.iter().all(|project| Some(project) == projects.first()) {
        projects.truncate(1);
    }
    projects
}

/// Deletes rows that are too old or too many, a part of them if there are many, and feedback whose calls are gone. Counting a million
/// rows takes time, so this runs once for a number of new calls on average.
fn prune(owner: &Owner<'_>, stored: i64) -> Result<()> {
    let is_continued = HAS_MORE_TO_PRUNE.replace(false);
    let is_due = fastrand::f64() * (CALLS_BETWEEN_PRUNING as f64) < stored as f64;
    if !is_continued && !is_due {
        return Ok(());
    }
    let (days, rows) = settings::query_log::kept();
    let deleted = statement::change(
        owner,
        "WITH newest AS (
             SELECT greatest(
                 (SELECT k.logged_at FROM docsearch.query_log k ORDER BY k.logged_at DESC OFFSET $2 LIMIT 1),
                 CASE WHEN $1 > 0 THEN pg_catalog.now() - pg_catalog.make_interval(days => $1) END) AS logged_at)
         DELETE FROM docsearch.query_log q
         WHERE q.ctid = ANY (ARRAY(SELECT o.ctid FROM docsearch.query_log o
                                   WHERE o.logged_at <= (SELECT n.logged_at FROM newest n)
                                   ORDER BY o.logged_at LIMIT $3))
         RETURNING 1",
        &[
            DatumWithOid::from(days),
            DatumWithOid::from(rows),
            DatumWithOid::from(PRUNED_AT_ONCE),
        ],
        |_| Ok(()),
    )?;
    HAS_MORE_TO_PRUNE.set(deleted.len() >= PRUNED_AT_ONCE as usize);
    // A call is older than its feedback.
    statement::execute(
        owner,
        "DELETE FROM docsearch.feedback f
         WHERE f.given_at < least(pg_catalog.now() - interval '1 day',
                                  (SELECT pg_catalog.min(q.logged_at) FROM docsearch.query_log q))",
        &[],
    )
}

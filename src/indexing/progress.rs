//! `docsearch.index_progress`: the progress of background indexing for the documents that the caller sees, and the
//! error that stops it.

use docsearch_core::values::id::Map;
use pgrx::datum::{DatumWithOid, Interval};

use crate::indexing::attached;
use crate::indexing::embedding_queue::MAX_ATTEMPTS;
use crate::postgres::report::Result;
use crate::postgres::role::{Caller, Role};
use crate::postgres::row_type::row_type;
use crate::postgres::statement;
use crate::tables::{questions, visibility};

/// A row of the result.
pub(crate) type Row = (
    String,
    i64,
    i64,
    i64,
    i64,
    i64,
    Option<f64>,
    Option<Interval>,
    Option<String>,
    Option<String>,
    i64,
    i64,
);

/// The counts of a project's documents.
#[derive(Default)]
pub(crate) struct Documents {
    all: i64,
    waiting: i64,
    waiting_chunks: i64,
    failed: i64,
    /// The error of the last document that failed.
    error: Option<String>,
}

row_type! {
    /// A document in the queue.
    struct QueueRow {
        project: i64 = "q.project_id",
        document: i64 = "q.document_id",
        attempts: i32 = "q.attempts",
        next_attempt: f64 = "extract(epoch FROM q.next_attempt)::float8",
        error: Option<String> = "q.error",
    }
}

/// Counts the visible documents of projects.
pub(crate) fn documents(caller: &mut Caller, projects: &[i64]) -> Result<Map<i64, Documents>> {
    let limited = visibility::policies_apply(caller)?;
    let of_projects = DatumWithOid::from(projects.to_vec());
    if !limited {
        return count(
            &caller.as_owner()?,
            "docsearch.embedding_queue q",
            &[of_projects, DatumWithOid::from(MAX_ATTEMPTS)],
        );
    }
    // The queue is read as the owner of the tables, and counted as the caller, to whom policies apply.
    let mut queue = Queue::default();
    {
        let owner = &caller.as_owner()?;
        statement::rows(
            owner,
            &format!(
                "SELECT {} FROM docsearch.embedding_queue q WHERE q.project_id = ANY ($1)",
                QueueRow::select_list()
            ),
            std::slice::from_ref(&of_projects),
            |row| {
                let row = QueueRow::read(row)?;
                queue.projects.push(row.project);
                queue.documents.push(row.document);
                queue.attempts.push(row.attempts);
                queue.next_attempts.push(row.next_attempt);
                queue.errors.push(row.error);
                Ok(())
            },
        )?;
    }
    count(
        caller,
        "unnest($3::bigint[], $4::bigint[], $5::int[], $6::float8[], $7::text[])
             AS q(project_id, document_id, attempts, next_attempt, error)",
        &[
            of_projects,
            DatumWithOid::from(MAX_ATTEMPTS),
            DatumWithOid::from(queue.projects),
            DatumWithOid::from(queue.documents),
            DatumWithOid::from(queue.attempts),
            DatumWithOid::from(queue.next_attempts),
            DatumWithOid::from(queue.errors),
        ],
    )
}

/// The queue, by columns.
#[derive(Default)]
struct Queue {
    projects: Vec<i64>,
    documents: Vec<i64>,
    attempts: Vec<i32>,
    next_attempts: Vec<f64>,
    errors: Vec<Option<String>>,
}

row_type! {
    struct CountedRow {
        project: i64 = "d.project_id",
        all: i64 = "d.number",
        waiting: i64 = "coalesce(q.waiting, 0)",
        waiting_chunks: i64 = "coalesce(q.chunks, 0)",
        failed: i64 = "coalesce(q.failed, 0)",
        error: Option<String> = "q.error",
    }
}

row_type! {
    struct ProjectRow {
        id: i64 = "p.id",
        name: String = "p.name",
        changes: i64 = "t.changes",
        rate: Option<f64> = "r.rate",
        switching_to: Option<String> = "m.name",
        error_of_switch: Option<String> = "p.switch_error",
        error_of_table: Option<String> = "t.error",
        error_of_worker: Option<String> = "CASE WHEN o.owns OR NOT $3 THEN w.error END",
    }
}

fn count(role: &dyn Role, queue: &str, args: &[DatumWithOid<'_>]) -> Result<Map<i64, Documents>> {
    let counted = statement::rows(
        role,
        &format!(
            "SELECT {}
             FROM (SELECT d.project_id, count(*) FROM docsearch.document d WHERE d.project_id = ANY ($1)
                   GROUP BY d.project_id) d(project_id, number)
             LEFT JOIN (
                 SELECT q.project_id, count(*) FILTER (WHERE q.attempts < $2),
                        coalesce(sum(d.chunk_count) FILTER (WHERE q.attempts < $2), 0)::bigint,
                        count(*) FILTER (WHERE q.attempts >= $2),
                        (array_agg(q.error ORDER BY q.next_attempt DESC) FILTER (WHERE q.error IS NOT NULL))[1]
                 FROM {queue}
                 JOIN docsearch.document d ON d.project_id = q.project_id AND d.id = q.document_id
                 WHERE q.project_id = ANY ($1) GROUP BY q.project_id
             ) q(project_id, waiting, chunks, failed, error) USING (project_id)",
            CountedRow::select_list()
        ),
        args,
        |row| {
            let row = CountedRow::read(row)?;
            let documents = Documents {
                all: row.all,
                waiting: row.waiting,
                waiting_chunks: row.waiting_chunks,
                failed: row.failed,
                error: row.error,
            };
            Ok((row.project, documents))
        },
    )?;
    Ok(counted.into_iter().collect())
}

/// A row for each project. Only owners see changes of attached tables and their errors. The error that stops the worker
/// is hidden from roles to whom policies apply, and so is the rate, which is that of all documents.
pub(crate) fn rows(caller: &mut Caller, projects: &[i64], mut documents: Map<i64, Documents>) -> Result<Vec<Row>> {
    let limited = visibility::policies_apply(caller)?;
    let mut counted = questions::counted(caller, projects, limited)?;
    let who = caller.id();
    let owner = &caller.as_owner()?;
    let troubles = attached::troubles(owner, None)?;
    let mut troubles: Map<i64, String> = troubles
        .into_iter()
        .filter(|trouble| trouble.is_unread() && trouble.is_for(who))
        .map(|trouble| (trouble.project, format!("{}: {}", trouble.name, trouble.reason)))
        .collect();
    statement::rows(
        owner,
        &format!(
            "SELECT {}
             FROM docsearch.project p
             CROSS JOIN (SELECT pg_has_role($2, n.nspowner, 'USAGE') FROM pg_namespace n WHERE n.nspname = 'docsearch') o(owns)
             LEFT JOIN docsearch.model m ON m.id = p.next_model_id
             CROSS JOIN LATERAL (
                 SELECT count(c.id) FILTER (WHERE s.owns OR NOT $3),
                        (array_agg(a.error) FILTER (WHERE a.error IS NOT NULL AND s.owns))[1]
                 FROM docsearch.attached_table a
                 CROSS JOIN LATERAL (
                     SELECT o.owns OR EXISTS (SELECT FROM pg_class s
                                              WHERE s.oid = a.source AND pg_has_role($2, s.relowner, 'USAGE'))
                 ) s(owns)
                 LEFT JOIN docsearch.table_change c ON c.attached_id = a.id
                 WHERE a.project_id = p.id
             ) t(changes, error)
             LEFT JOIN LATERAL (
                 SELECT r.documents / extract(epoch FROM r.until - r.since)::float8
                 FROM docsearch.embedding_rate r WHERE r.project_id = p.id AND r.until > r.since AND NOT $3
             ) r(rate) ON true
             LEFT JOIN docsearch.embedding_rate w ON w.project_id = p.id
             WHERE p.id = ANY ($1) ORDER BY p.name",
            ProjectRow::select_list()
        ),
        &[
            DatumWithOid::from(projects.to_vec()),
            DatumWithOid::from(who),
            DatumWithOid::from(limited),
        ],
        |row| {
            let row = ProjectRow::read(row)?;
            let Documents {
                all,
                waiting,
                waiting_chunks,
                failed,
                error,
            } = documents.remove(&row.id).unwrap_or_default();
            let (questions, stale) = counted.remove(&row.id).unwrap_or_default();
            let of_attached = troubles.remove(&row.id);
            let seconds = row.rate.filter(|rate| *rate > 0.0).map(|rate| waiting as f64 / rate);
            let time_left = seconds.map(Interval::from_seconds);
            let failure = row.error_of_worker.or(error).or(row.error_of_switch);
            Ok((
                row.name,
                all - waiting - failed,
                waiting,
                waiting_chunks,
                failed,
                row.changes,
                row.rate,
                time_left,
                row.switching_to,
                failure.or(of_attached).or(row.error_of_table),
                questions,
                stale,
            ))
        },
    )
}

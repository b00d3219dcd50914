//! What readers say of answers, and what assistants say of pages.

use docsearch_core::usage::feedback::{Category, Kind, Reason};
use docsearch_core::values::id::DocumentId;
use pgrx::PgSqlErrorCode;
use pgrx::datum::DatumWithOid;

use crate::postgres::report::{Result, error_with_hint};
use crate::postgres::role::{Caller, Owner, Role};
use crate::postgres::statement;
use crate::settings;

/// Maximum number of clicks and votes of one answer. Pages of results have far fewer.
const PER_ANSWER: i64 = 100;
/// Maximum number of reports of one role in a day: clients of a front end may all have one role.
const PER_DAY: i64 = 1_000;

/// Feedback to an answer.
pub(crate) struct Feedback<'a> {
    pub(crate) call_id: &'a str,
    pub(crate) kind: Kind,
    /// The result; `None` for the answer as a whole.
    pub(crate) document: Option<DocumentId>,
    pub(crate) anchor: &'a str,
    pub(crate) reason: Option<Reason>,
    pub(crate) comment: Option<&'a str>,
}

/// Stores feedback. A vote replaces the one before on the same result.
pub(crate) fn store(caller: &mut Caller, role: &str, feedback: &Feedback<'_>) -> Result<()> {
    let owner = &caller.as_owner()?;
    let project = feedback.document.map(|document| document.project);
    let document = feedback.document.map(|document| document.document);
    require_fewer(
        owner,
        "SELECT pg_catalog.count(*) FROM docsearch.feedback f WHERE f.call_id = $1",
        feedback.call_id,
        PER_ANSWER,
        "the answer already has {} clicks and votes",
        "Ask again: another answer has another token.",
    )?;
    if feedback.kind != Kind::Click {
        statement::execute(
            owner,
            "DELETE FROM docsearch.feedback f
             WHERE f.call_id = $1 AND f.kind <> 'click' AND f.project_id IS NOT DISTINCT FROM $2
               AND f.document_id IS NOT DISTINCT FROM $3 AND f.anchor = $4",
            &[
                DatumWithOid::from(feedback.call_id),
                DatumWithOid::from(project),
                DatumWithOid::from(document),
                DatumWithOid::from(feedback.anchor),
            ],
        )?;
    }
    statement::execute(
        owner,
        "INSERT INTO docsearch.feedback (call_id, role, kind, project_id, document_id, anchor, reason, comment, source)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING",
        &[
            DatumWithOid::from(feedback.call_id),
            DatumWithOid::from(role),
            DatumWithOid::from(<&str>::from(feedback.kind)),
            DatumWithOid::from(project),
            DatumWithOid::from(document),
            DatumWithOid::from(feedback.anchor),
            DatumWithOid::from(feedback.reason.map(<&str>::from)),
            DatumWithOid::from(feedback.comment),
            DatumWithOid::from(settings::query_log::source()),
        ],
    )
}

/// A report of what the documentation lacks.
pub(crate) struct Gap<'a> {
    pub(crate) project: i64,
    /// The page; `None` if no page is named.
    pub(crate) document: Option<i64>,
    pub(crate) anchor: &'a str,
    pub(crate) category: Category,
    pub(crate) report: &'a str,
    pub(crate) goal: Option<&'a str>,
    pub(crate) client: &'a str,
}

/// Stores a report, and returns whether it is new: of one role, one page and one category there is one a day.
pub(crate) fn report_gap(caller: &mut Caller, role: &str, gap: &Gap<'_>) -> Result<bool> {
    let owner = &caller.as_owner()?;
    require_fewer(
        owner,
        "SELECT pg_catalog.count(*) FROM docsearch.gap_report g WHERE g.role = $1::name AND g.reported_on = current_date",
        role,
        PER_DAY,
        "the role has already reported {} gaps today",
        "Report it tomorrow.",
    )?;
    let stored = statement::change(
        owner,
        "INSERT INTO docsearch.gap_report (role, client, project_id, document_id, slug, anchor, category, report, goal, source)
         VALUES ($1, $2, $3, $4, coalesce((SELECT d.slug FROM docsearch.document d WHERE d.project_id = $3 AND d.id = $4), ''),
                 $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING RETURNING 1",
        &[
            DatumWithOid::from(role),
            DatumWithOid::from(gap.client),
            DatumWithOid::from(gap.project),
            DatumWithOid::from(gap.document),
            DatumWithOid::from(gap.anchor),
            DatumWithOid::from(<&str>::from(gap.category)),
            DatumWithOid::from(gap.report),
            DatumWithOid::from(gap.goal),
            DatumWithOid::from(settings::query_log::source()),
        ],
        |row| row.required::<i32>(1),
    )?;
    Ok(!stored.is_empty())
}

/// Raises 54000 if a statement counts `most` rows or more. The message has `{}` for this number.
fn require_fewer(owner: &Owner<'_>, sql: &str, argument: &str, most: i64, message: &str, hint: &str) -> Result<()> {
    let count = statement::one(owner, sql, &[DatumWithOid::from(argument)], |row| {
        row.required::<i64>(1)
    })?;
    match count.is_none_or(|count| count < most) {
        true => Ok(()),
        false => Err(error_with_hint(
            PgSqlErrorCode::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
            message.replace("{}", &most.to_string()),
            hint,
        )),
    }
}

//! What readers say of answers, and what assistants say of pages.

use docsearch_core::usage::feedback::{Category, Kind, Reason};
use docsearch_core::values::id::DocumentId;
use pgrx::datum::DatumWithOid;

use crate::postgres::report::Result;
use crate::postgres::role::{Caller, Role};
use crate::postgres::statement;
use crate::settings;

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
    /// The page with its slug; `None` if no page is named.
    pub(crate) page: Option<(i64, String)>,
    pub(crate) anchor: &'a str,
    pub(crate) category: Category,
    pub(crate) report: &'a str,
    pub(crate) goal: Option<&'a str>,
    pub(crate) client: &'a str,
}

/// Stores a report, and returns whether it is new: of one role, one page and one category there is one a day.
pub(crate) fn report_gap(caller: &mut Caller, role: &str, gap: &Gap<'_>) -> Result<bool> {
    let owner = &caller.as_owner()?;
    let (document, slug) = gap.page.clone().unzip();
    let stored = statement::change(
        owner,
        "INSERT INTO docsearch.gap_report (role, client, project_id, document_id, slug, anchor, category, report, goal, source)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING RETURNING 1",
        &[
            DatumWithOid::from(role),
            DatumWithOid::from(gap.client),
            DatumWithOid::from(gap.project),
            DatumWithOid::from(document),
            DatumWithOid::from(slug.unwrap_or_default()),
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

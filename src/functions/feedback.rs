//! `feedback` and `report_gap`.

use docsearch_core::usage::feedback::{Category, Choice, Kind, Reason};
use docsearch_core::values::bounds::shown;
use pgrx::prelude::*;

use crate::postgres::argument::{Text, arguments};
use crate::postgres::report::{Result, invalid, refuse_read_only, undefined};
use crate::postgres::role::{Caller, Role};
use crate::settings;
use crate::tables::feedback::{self, Feedback, Gap};
use crate::tables::{document, project, query_log, schema};

/// Longest comment of a reader, in characters.
const COMMENT_CHARS: usize = 1_000;
/// Longest report and goal of an assistant, in characters.
const REPORT_CHARS: usize = 2_048;

#[pg_schema]
mod docsearch {
    use super::*;

    /// Stores what a reader did with an answer, or says of it.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn feedback(
        token: Option<Text<'_>>,
        kind: Option<Text<'_>>,
        reference: default!(Option<Text<'_>>, "NULL"),
        reason: default!(Option<Text<'_>>, "NULL"),
        comment: default!(Option<Text<'_>>, "NULL"),
    ) -> Result<()> {
        arguments!(token, kind, reference, reason, comment);
        let caller = &mut Caller::of_call()?;
        refuse_read_only(c"feedback()");
        schema::require_current(caller)?;
        let kind: Kind = choice("kind", kind.unwrap_or_default())?;
        let reason = reason.map(|reason| choice::<Reason>("reason", reason)).transpose()?;
        let comment = at_most("comment", comment, COMMENT_CHARS)?;
        if kind == Kind::Click && reference.is_none() {
            return Err(invalid(
                "a click has no reference",
                "Name the result that was opened: project/slug#anchor.",
            ));
        }
        let salt = query_log::salt(caller)?;
        let call_id = query_log::call_id(token.unwrap_or_default(), &salt).ok_or_else(|| {
            invalid(
                "the token is not that of an answer",
                "Use search_token of search_docs_json or load_token of load_doc_json; answers have one if docsearch.log_queries is on.",
            )
        })?;
        let (document, anchor) = match reference {
            None => (None, String::new()),
            Some(reference) => {
                let named = document::named(caller, reference, None)?;
                (Some(named.id), named.anchor)
            }
        };
        let role = caller.name();
        let given = Feedback {
            call_id: &call_id,
            kind,
            document,
            anchor: &anchor,
            reason,
            comment,
        };
        feedback::store(caller, &role, &given)
    }

    /// Stores that a page is outdated, contradictory or incomplete, and returns whether the report is the first of the day.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn report_gap(
        reference: Option<Text<'_>>,
        category: Option<Text<'_>>,
        report: Option<Text<'_>>,
        goal: default!(Option<Text<'_>>, "NULL"),
        project: default!(Option<Text<'_>>, "NULL"),
    ) -> Result<bool> {
        arguments!(reference, category, report, goal, project);
        let caller = &mut Caller::of_call()?;
        refuse_read_only(c"report_gap()");
        schema::require_current(caller)?;
        let category: Category = choice("category", category.unwrap_or_default())?;
        let report = at_most("report", report, REPORT_CHARS)?
            .filter(|report| !report.trim().is_empty())
            .ok_or_else(|| invalid("report must not be null or blank", "Say what is missing or wrong."))?;
        let goal = at_most("goal", goal, REPORT_CHARS)?;
        let (project, document, anchor) = match reference {
            Some(reference) => {
                let named = document::named(caller, reference, project)?;
                (named.id.project, Some(named.id.document), named.anchor)
            }
            None => {
                let hint = "Name a page, or the project that lacks one: project => 'name'.";
                let name = project.ok_or_else(|| undefined("neither reference nor project is given", hint))?;
                (project::by_name(caller, name)?.id, None, String::new())
            }
        };
        let role = caller.name();
        let client = settings::query_log::client().unwrap_or_default();
        let gap = Gap {
            project,
            document,
            anchor: &anchor,
            category,
            report,
            goal,
            client: &client,
        };
        feedback::report_gap(caller, &role, &gap)
    }
}

fn choice<T: Choice>(name: &str, given: &str) -> Result<T> {
    T::named(given).map_err(|known| {
        invalid(
            format!("{name} \"{}\" is not known", shown(given)),
            format!("Use one of: {known}."),
        )
    })
}

fn at_most<'a>(name: &str, given: Option<&'a str>, most: usize) -> Result<Option<&'a str>> {
    match given {
        Some(text) if text.chars().count() > most => Err(invalid(
            format!("{name} is too long"),
            format!("Give at most {most} characters."),
        )),
        given => Ok(given),
    }
}

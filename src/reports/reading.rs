//! What readers of a project saw and opened, as the log has it.

use std::collections::HashMap;

use docsearch_core::usage::logged_call::QUERY_CHARS;
use docsearch_core::usage::sessions::{Action, Event, Observation, observations};
use docsearch_core::values::id::Map;
use pgrx::datum::{Array, DatumWithOid, TimestampWithTimeZone};
use pgrx::pg_sys::TimestampTz;

use crate::postgres::report::{Result, internal};
use crate::postgres::role::Caller;
use crate::postgres::row_type::row_type;
use crate::postgres::statement;
use crate::reports::feedback::FeedbackOfCalls;
use crate::reports::scope::{Scope, in_scope, planned_for_many};

/// Most calls that are read, the newest first.
const MOST_CALLS: u32 = 500_000;

/// What sessions saw of the pages of a project.
pub(crate) struct Reading {
    pub(crate) observations: Vec<Observation>,
    /// Number of searches, and of sessions, that were read.
    pub(crate) searches: usize,
    pub(crate) sessions: usize,
    queries: Keys,
    parts: Numbers,
    /// The visible pages.
    pages: Vec<Page>,
}

row_type! {
    /// A page of the project.
    pub(super) struct Page {
        pub(super) id: i64 = "d.id",
        pub(super) slug: String = "d.slug",
        pub(super) title: String = "d.title",
    }
}

/// Keys by number, in the order in which they were first met.
#[derive(Default)]
struct Keys {
    numbers: Map<i64, u32>,
    keys: Vec<i64>,
}

impl Keys {
    fn number(&mut self, key: i64) -> Result<u32> {
        let next = u32::try_from(self.keys.len()).map_err(internal)?;
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.keys.push(key);
        }
        Ok(number)
    }
}

/// Texts by number, in the order in which they were first met.
#[derive(Default)]
struct Numbers {
    numbers: HashMap<String, u32>,
    texts: Vec<String>,
}

impl Numbers {
    fn number(&mut self, text: &str) -> Result<u32> {
        if let Some(&known) = self.numbers.get(text) {
            return Ok(known);
        }
        let number = u32::try_from(self.texts.len()).map_err(internal)?;
        self.texts.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        Ok(number)
    }

    fn text(&self, number: u32) -> &str {
        self.texts.get(number as usize).map_or("", String::as_str)
    }
}

/// Reads the searches of a project without a filter, the pages that were opened, and the votes. Only searches whose text is kept
/// count, and only pages that the caller sees.
pub(crate) fn read(caller: &mut Caller, scope: &Scope) -> Result<Reading> {
    let feedback = FeedbackOfCalls::read(caller)?;
    let pages = statement::rows(
        caller,
        &format!(
            "SELECT {} FROM docsearch.document d WHERE d.project_id = $1 ORDER BY d.id",
            Page::select_list()
        ),
        &[DatumWithOid::from(scope.project)],
        Page::read,
    )?;
    let by_id: Map<i64, u32> = pages.iter().map(|page| page.id).zip(0..).collect();
    let (mut sessions, mut queries, mut parts) = (Keys::default(), Keys::default(), Numbers::default());
    let calls = in_scope!();
    let _settings = planned_for_many()?;
    let (mut events, mut reactions) = (Vec::new(), Vec::new());
    statement::each(
        caller,
        &format!(
            "SELECT q.logged_at, q.session_key, q.is_assistant, q.is_search, q.query_key, q.single_project,
                    CASE WHEN q.single_project = 0 THEN q.found_projects END, q.found_documents,
                    CASE WHEN NOT q.is_search THEN q.found_anchors[1] END, q.id
             FROM docsearch.query_log q
             WHERE {calls} AND q.results > 0 AND (NOT q.is_search OR q.query_chars IS NOT NULL AND NOT q.is_filtered)
             ORDER BY q.logged_at DESC LIMIT {MOST_CALLS}"
        ),
        &scope.arguments(),
        |row| {
            let at = since_epoch(row.required::<TimestampWithTimeZone>(1)?.into());
            let single: i64 = row.required(6)?;
            let projects: Option<Vec<i64>> = row.optional(7)?;
            // If all are of one project, the log has it once.
            let project = |place: usize| match &projects {
                None => Some(single),
                Some(projects) => projects.get(place).or(projects.first()).copied(),
            };
            let documents: Array<'_, i64> = row.required(8)?;
            let documents = documents.as_slice().map_err(internal)?.iter().enumerate();
            let mut pages =
                documents.map(|(place, id)| by_id.get(id).copied().filter(|_| scope.project == project(place)));
            let session = sessions.number(row.required(2)?)?;
            let by_assistant = row.required(3)?;
            let event = |at, action| Event {
                session,
                at,
                by_assistant,
                action,
            };
            let query = match row.required(4)? {
                true => Some(queries.number(row.optional(5)?.unwrap_or_default())?),
                false => None,
            };
            for given in feedback.on(row.required(10)?) {
                if given.page.is_some() && given.project != scope.project {
                    continue;
                }
                let page = given.page.map(|page| by_id.get(&page).copied());
                let part = parts.number(&given.anchor)?;
                let (at, action) = match (given.kind.as_str(), page, query) {
                    ("click", Some(Some(page)), _) => (given.at.max(at), Action::Opened(page, part)),
                    // A vote on a page is about what its answer showed.
                    ("helped", Some(Some(page)), _) => (at, Action::Helped(page, part)),
                    ("did_not_help", Some(Some(page)), _) => (at, Action::DidNotHelp(page)),
                    (kind, None, Some(query)) => {
                        let helped = kind == "helped";
                        (given.at.max(at), Action::Voted { query, helped })
                    }
                    _ => continue,
                };
                reactions.push((given.number, event(at, action)));
            }
            if let Some(query) = query {
                let pages = pages.collect();
                events.push(event(at, Action::Searched { query, pages }));
            } else if let Some(opened) = pages.next().flatten() {
                let part = parts.number(row.optional(9)?.unwrap_or_default())?;
                events.push(event(at, Action::Opened(opened, part)));
            }
            Ok(())
        },
    )?;
    reactions.sort_unstable_by_key(|(number, _)| *number);
    events.extend(reactions.into_iter().map(|(_, event)| event));
    let is_search = |event: &&Event| matches!(event.action, Action::Searched { .. });
    let searches = events.iter().filter(is_search).count();
    Ok(Reading {
        observations: observations(events),
        searches,
        sessions: sessions.keys.len(),
        queries,
        parts,
        pages,
    })
}

impl Reading {
    /// The key of a query.
    pub(super) fn query(&self, query: u32) -> i64 {
        self.queries.keys.get(query as usize).copied().unwrap_or_default()
    }

    /// The anchor of a part.
    pub(super) fn anchor(&self, part: u32) -> &str {
        self.parts.text(part)
    }

    /// A page by its number.
    pub(super) fn page(&self, page: u32) -> Option<&Page> {
        self.pages.get(page as usize)
    }
}

/// A query as it was written last.
#[derive(Clone, Debug)]
pub(super) struct AskedQuery {
    pub(super) text: String,
    pub(super) class: Option<String>,
}

/// Microseconds since 1970, as PostgreSQL's `extract(epoch)` counts, of a time of PostgreSQL.
fn since_epoch(at: TimestampTz) -> i64 {
    at + 946_684_800_000_000
}

/// The texts of queries by their keys. Those that the log has cut are left out.
pub(super) fn texts(caller: &Caller, scope: &Scope, keys: Vec<i64>) -> Result<Map<i64, AskedQuery>> {
    let calls = in_scope!();
    let [since, project, rows, readers] = scope.arguments();
    let texts = statement::rows(
        caller,
        &format!(
            "SELECT k.key, x.query, x.class FROM (SELECT DISTINCT u.key FROM unnest($5::bigint[]) u (key)) k
             CROSS JOIN LATERAL (
                 SELECT q.query, q.class FROM docsearch.query_log q
                 WHERE q.query_key = k.key AND {calls} AND q.is_search AND q.query_chars < {QUERY_CHARS}
                 ORDER BY q.logged_at DESC LIMIT 1) x"
        ),
        &[since, project, rows, readers, DatumWithOid::from(keys)],
        |row| {
            let asked = AskedQuery {
                text: row.required(2)?,
                class: row.optional(3)?,
            };
            Ok((row.required(1)?, asked))
        },
    )?;
    Ok(texts.into_iter().collect())
}

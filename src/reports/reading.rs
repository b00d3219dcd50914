//! What readers of a project saw and opened, as the log has it.

use std::collections::HashMap;

use docsearch_core::usage::sessions::{Action, Event, Observation, observations};
use docsearch_core::values::id::Map;
use pgrx::datum::DatumWithOid;

use crate::postgres::report::{Result, internal};
use crate::postgres::role::Caller;
use crate::postgres::row_type::row_type;
use crate::postgres::statement;
use crate::reports::scope::{Scope, in_scope};

/// Most calls that are read, the newest first.
const MOST_CALLS: u32 = 500_000;

/// What sessions saw of the pages of a project.
pub(crate) struct Reading {
    pub(crate) observations: Vec<Observation>,
    /// Number of searches, and of sessions, that were read.
    pub(crate) searches: usize,
    pub(crate) sessions: usize,
    queries: Numbers,
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

/// Texts by number, in the order in which they were first met.
#[derive(Default)]
struct Numbers {
    numbers: HashMap<String, u32>,
    texts: Vec<String>,
}

impl Numbers {
    fn number(&mut self, text: String) -> Result<u32> {
        if let Some(&known) = self.numbers.get(&text) {
            return Ok(known);
        }
        let number = u32::try_from(self.texts.len()).map_err(internal)?;
        self.texts.push(text.clone());
        self.numbers.insert(text, number);
        Ok(number)
    }

    fn text(&self, number: u32) -> &str {
        self.texts.get(number as usize).map_or("", String::as_str)
    }
}

row_type! {
    /// A search or a page that was opened.
    struct CallRow {
        is_search: bool = "q.kind = 'search'",
        session: String = "q.session",
        at: i64 = "(extract(epoch FROM q.logged_at) * 1000000)::bigint",
        by_assistant: bool = "q.source = 'mcp'",
        query_hash: Option<String> = "q.query_hash",
        projects: Vec<i64> = "q.found_projects",
        documents: Vec<i64> = "q.found_documents",
        anchor: Option<String> = "q.found_anchors[1]",
    }
}

row_type! {
    /// A click or a vote.
    struct FeedbackRow {
        kind: String = "f.kind",
        session: String = "q.session",
        // A vote on a page is about what its answer showed.
        at: i64 = "(extract(epoch FROM CASE WHEN f.kind = 'click' OR f.document_id IS NULL THEN greatest(f.given_at, q.logged_at)
                                            ELSE q.logged_at END) * 1000000)::bigint",
        by_assistant: bool = "q.source = 'mcp'",
        query_hash: Option<String> = "q.query_hash",
        page: Option<i64> = "f.document_id",
        anchor: String = "f.anchor",
    }
}

/// Reads the searches of a project without a filter, the pages that were opened, and the votes. Only searches whose text is kept
/// count, and only pages that the caller sees.
pub(crate) fn read(caller: &Caller, scope: &Scope) -> Result<Reading> {
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
    let (mut sessions, mut queries, mut parts) = (Numbers::default(), Numbers::default(), Numbers::default());
    let calls = in_scope!();
    let mut events = statement::rows(
        caller,
        &format!(
            "SELECT {} FROM docsearch.query_log q
             WHERE {calls} AND q.results > 0
               AND (q.kind = 'load' OR q.kind = 'search' AND q.query IS NOT NULL AND q.filter_keys = '{{}}')
             ORDER BY q.logged_at DESC LIMIT {MOST_CALLS}",
            CallRow::select_list()
        ),
        &scope.arguments(),
        |row| {
            let row = CallRow::read(row)?;
            let session = sessions.number(row.session)?;
            let found = row.projects.iter().zip(&row.documents);
            let pages: Vec<Option<u32>> = found
                .map(|(&of, id)| by_id.get(id).copied().filter(|_| scope.project == Some(of)))
                .collect();
            let action = match (row.is_search, pages.first().copied().flatten()) {
                (true, _) => Some(Action::Searched {
                    query: queries.number(row.query_hash.unwrap_or_default())?,
                    pages,
                }),
                (false, Some(opened)) => Some(Action::Opened(opened, parts.number(row.anchor.unwrap_or_default())?)),
                (false, None) => None,
            };
            Ok(action.map(|action| Event {
                session,
                at: row.at,
                by_assistant: row.by_assistant,
                action,
            }))
        },
    )?;
    events.extend(statement::rows(
        caller,
        &format!(
            "SELECT {} FROM docsearch.feedback f JOIN docsearch.query_log q ON q.id = f.call_id
             WHERE {calls} AND (f.project_id = $2 OR f.document_id IS NULL) ORDER BY f.id",
            FeedbackRow::select_list()
        ),
        &scope.arguments(),
        |row| {
            let row = FeedbackRow::read(row)?;
            let part = parts.number(row.anchor)?;
            let page = row.page.map(|page| by_id.get(&page).copied());
            let action = match (row.kind.as_str(), page, row.query_hash) {
                (_, Some(None), _) | (_, None, None) => None,
                ("click", Some(Some(page)), _) => Some(Action::Opened(page, part)),
                ("helped", Some(Some(page)), _) => Some(Action::Helped(page, part)),
                (_, Some(Some(page)), _) => Some(Action::DidNotHelp(page)),
                (kind, None, Some(hash)) => Some(Action::Voted {
                    query: queries.number(hash)?,
                    helped: kind == "helped",
                }),
            };
            let session = sessions.number(row.session)?;
            Ok(action.map(|action| Event {
                session,
                at: row.at,
                by_assistant: row.by_assistant,
                action,
            }))
        },
    )?);
    let events: Vec<Event> = events.into_iter().flatten().collect();
    let is_search = |event: &&Event| matches!(event.action, Action::Searched { .. });
    let searches = events.iter().filter(is_search).count();
    Ok(Reading {
        observations: observations(events),
        searches,
        sessions: sessions.texts.len(),
        queries,
        parts,
        pages,
    })
}

impl Reading {
    /// The digest of a query.
    pub(super) fn query_hash(&self, query: u32) -> &str {
        self.queries.text(query)
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

/// The texts of queries by their digests. Those that the log has cut are left out.
pub(super) fn texts(caller: &Caller, scope: &Scope, hashes: Vec<&str>) -> Result<HashMap<String, AskedQuery>> {
    let calls = in_scope!();
    let [since, project, rows, readers] = scope.arguments();
    let texts = statement::rows(
        caller,
        &format!(
            "SELECT DISTINCT ON (q.query_hash) q.query_hash, q.query, q.class FROM docsearch.query_log q
             WHERE {calls} AND q.kind = 'search' AND q.query_hash = ANY ($5) AND char_length(q.query) < 1000
             ORDER BY q.query_hash, q.logged_at DESC"
        ),
        &[since, project, rows, readers, DatumWithOid::from(hashes)],
        |row| {
            let asked = AskedQuery {
                text: row.required(2)?,
                class: row.optional(3)?,
            };
            Ok((row.required::<String>(1)?, asked))
        },
    )?;
    Ok(texts.into_iter().collect())
}

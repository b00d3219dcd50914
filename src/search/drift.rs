//! Answers whose first page is another one than before.

use docsearch_core::answer::delivery::Answer;
use serde_json::Value;

use crate::postgres::interrupt;
use crate::postgres::jsonb::JsonB;
use crate::postgres::report::Result;
use crate::postgres::role::Caller;
use crate::search::arguments::Arguments;
use crate::search::retrieval::Detail;

/// Results among which the former first page is looked for.
const LOOKED_AT: i32 = 10;

/// A search as it was made before.
pub(crate) struct FormerSearch {
    pub(crate) query: String,
    /// Further wordings.
    pub(crate) also: Vec<String>,
    /// `None` searched all projects.
    pub(crate) project: Option<String>,
    pub(crate) config: Option<Value>,
    /// Number of times that it was made, if the log knows it.
    pub(crate) searches: Option<i64>,
    /// Reference of the first result, `project/slug`, perhaps with a section; `None` if there was none or it is not visible.
    pub(crate) first: Option<String>,
}

/// A search whose first page changed.
pub(crate) struct ChangedSearch {
    pub(crate) before: FormerSearch,
    /// `project/slug` of the first page now.
    pub(crate) now: Option<String>,
    /// Rank of the former first page among the first results now.
    pub(crate) rank: Option<i32>,
    pub(crate) confidence: &'static str,
}

/// Searches again as the caller, and returns what changed, at most `limit` of them.
pub(crate) fn changed(caller: &mut Caller, searches: Vec<FormerSearch>, limit: usize) -> Result<Vec<ChangedSearch>> {
    let mut changed = Vec::new();
    for before in searches {
        if changed.len() == limit {
            break;
        }
        interrupt::check();
        let answer = search(caller, &before)?;
        let pages: Vec<String> = answer
            .results
            .iter()
            .map(|result| format!("{}/{}", result.project, result.slug))
            .collect();
        let former = before.first.as_deref();
        let rank = former.and_then(|former| pages.iter().position(|page| is_of(former, page)));
        if rank == Some(0) || former.is_none() && pages.is_empty() {
            continue;
        }
        changed.push(ChangedSearch {
            rank: rank.and_then(|rank| i32::try_from(rank + 1).ok()),
            now: pages.into_iter().next(),
            confidence: answer.confidence.as_str(),
            before,
        });
    }
    Ok(changed)
}

fn search(caller: &mut Caller, before: &FormerSearch) -> Result<Answer> {
    let also = &before.also;
    let arguments = Arguments {
        query: Some(&before.query),
        also: Some(also.iter().cloned().map(Some).collect()),
        project: before.project.as_deref(),
        max_results: Some(LOOKED_AT),
        config: before.config.clone().map(JsonB),
        ..Arguments::default()
    };
    arguments.resolve(caller)?.answer(caller, Detail::Rows)
}

/// Whether a reference is a page or a section of it.
fn is_of(reference: &str, page: &str) -> bool {
    let rest = reference.strip_prefix(page);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('#'))
}

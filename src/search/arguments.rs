//! The arguments of a search.

use std::cell::RefCell;

use docsearch_core::query::filter::Filter;
use docsearch_core::query::input::Query;
use docsearch_core::ranking::wording;
use serde_json::Value;

use crate::models::language_model::Calls;
use crate::postgres::jsonb::JsonB;
use crate::postgres::report::{Result, invalid};
use crate::postgres::role::Caller;
use crate::search::conditions::{parse_filter, with_versions};
use crate::search::config::{SearchConfig, wording_error};
use crate::search::filtering::in_filter;
use crate::search::pins;
use crate::search::request::Request;
use crate::tables::lock_limit::LockLimit;
use crate::tables::project::Projects;
use crate::tables::project_selection::Selection;

/// The arguments that the search functions share. Arguments that a function does not have keep their defaults.
#[derive(Default)]
pub(crate) struct Arguments<'a> {
    pub(crate) query: Option<&'a str>,
    pub(crate) also: Option<Vec<Option<String>>>,
    pub(crate) project: Option<&'a str>,
    pub(crate) projects: Option<Vec<Option<String>>>,
    pub(crate) category: Option<&'a str>,
    pub(crate) filter: Option<JsonB>,
    pub(crate) max_results: Option<i32>,
    pub(crate) min_score: Option<f32>,
    pub(crate) dedup: Option<&'a str>,
    pub(crate) config: Option<JsonB>,
}

impl<'a> Arguments<'a> {
    /// Checks the arguments, and reads the projects.
    pub(crate) fn resolve(self, caller: &mut Caller) -> Result<Request<'a>> {
        let config = SearchConfig::resolve(self.max_results, self.min_score, self.dedup, self.config)?;
        let query = self.query.and_then(Query::parse).ok_or_else(|| {
            invalid(
                "query must not be null or blank",
                "Give a name, some words or a question.",
            )
        })?;
        let also = self.also.unwrap_or_default();
        let (query, also) =
            wording::distinct_wordings(query, also.iter().map(Option::as_deref)).map_err(wording_error)?;
        let limit = LockLimit::begin()?;
        let selection = Selection::new(self.project, self.projects.as_deref())?;
        let (projects, left_out) = selection.searched(caller)?;
        let filter_argument = self.filter.map_or(Value::Null, |JsonB(filter)| filter);
        let filter = parse_filter(&filter_argument)?;
        let (projects, filtered_out) = in_filter(caller, projects, &filter_argument, filter.projects())?;
        let filter = Filter {
            projects: None,
            ..with_versions(caller, &Projects::new(&projects), &filter)?
        };
        let config = match projects.as_slice() {
            [project] => config.of_project(project),
            _ => config,
        };
        let pins = pins::of_request(caller, &Projects::new(&projects), &query, &also)?;
        let config = config.replacing(pins.iter().map(|pin| pin.never.len()).sum());
        Ok(Request {
            query,
            also,
            category: self.category,
            filter,
            filter_argument,
            projects,
            left_out,
            filtered_out,
            config,
            pins,
            calls: RefCell::new(Calls::allowed()),
            _limit: limit,
        })
    }
}

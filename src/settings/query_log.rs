//! Settings of the log of queries.

use std::ffi::CString;

use docsearch_core::usage::logged_call::QueryForm;
use pgrx::guc::{GucContext, GucFlags, GucRegistry, GucSetting, PostgresGucEnum};

/// Longest name of a client or a session that is kept, in characters.
const NAME_CHARS: usize = 200;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PostgresGucEnum)]
enum LogQueries {
    #[name = c"off"]
    Off,
    #[name = c"none"]
    None,
    #[name = c"hash"]
    Hash,
    #[name = c"text"]
    Text,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PostgresGucEnum)]
enum Source {
    #[name = c"sql"]
    Sql,
    #[name = c"cli"]
    Cli,
    #[name = c"http"]
    Http,
    #[name = c"mcp"]
    Mcp,
    #[name = c"page"]
    Page,
}

static LOG_QUERIES: GucSetting<LogQueries> = GucSetting::<LogQueries>::new(LogQueries::Off);
static LOG_SAMPLE: GucSetting<f64> = GucSetting::<f64>::new(1.0);
/// Days; 0 is no limit.
static LOG_KEEP_DAYS: GucSetting<i32> = GucSetting::<i32>::new(90);
static LOG_KEEP_ROWS: GucSetting<i32> = GucSetting::<i32>::new(1_000_000);
static LOG_SOURCE: GucSetting<Source> = GucSetting::<Source>::new(Source::Sql);
static LOG_CLIENT: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(None);
static LOG_SESSION: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(None);

/// What is kept of queries; `None` if they are not logged.
pub(crate) fn form() -> Option<QueryForm> {
    match LOG_QUERIES.get() {
        LogQueries::Off => None,
        LogQueries::None => Some(QueryForm::None),
        LogQueries::Hash => Some(QueryForm::Hash),
        LogQueries::Text => Some(QueryForm::Text),
    }
}

/// Share of the calls that are logged, 0 to 1.
pub(crate) fn sample() -> f64 {
    LOG_SAMPLE.get()
}

/// Days and rows that are kept; 0 days is no limit.
pub(crate) fn kept() -> (i32, i32) {
    (LOG_KEEP_DAYS.get(), LOG_KEEP_ROWS.get())
}

/// The front end that calls.
pub(crate) fn source() -> &'static str {
    match LOG_SOURCE.get() {
        Source::Sql => "sql",
        Source::Cli => "cli",
        Source::Http => "http",
        Source::Mcp => "mcp",
        Source::Page => "page",
    }
}

/// The program that calls, as it names itself.
pub(crate) fn client() -> Option<String> {
    given(&LOG_CLIENT)
}

/// What the calls of one reader have in common, if a front end says it.
pub(crate) fn session() -> Option<String> {
    given(&LOG_SESSION)
}

fn given(setting: &GucSetting<Option<CString>>) -> Option<String> {
    let text = setting.get()?;
    let text: String = text.to_string_lossy().chars().take(NAME_CHARS).collect();
    (!text.is_empty()).then_some(text)
}

pub(super) fn define() {
    let flags = GucFlags::default();
    GucRegistry::define_enum_guc(
        c"docsearch.log_queries",
        c"What the log of queries keeps: nothing (off), calls without their query (none), a digest of it (hash), or its text (text).",
        c"The setting log_queries of a project applies to searches of that project instead.",
        &LOG_QUERIES,
        GucContext::Suset,
        flags,
    );
    GucRegistry::define_float_guc(
        c"docsearch.log_sample",
        c"Share of the calls that are logged.",
        c"",
        &LOG_SAMPLE,
        0.0,
        1.0,
        GucContext::Suset,
        flags,
    );
    GucRegistry::define_int_guc(
        c"docsearch.log_keep_days",
        c"Number of days for which logged calls are kept; 0 is no limit.",
        c"",
        &LOG_KEEP_DAYS,
        0,
        36_500,
        GucContext::Sighup,
        flags,
    );
    GucRegistry::define_int_guc(
        c"docsearch.log_keep_rows",
        c"Maximum number of logged calls that are kept.",
        c"",
        &LOG_KEEP_ROWS,
        0,
        i32::MAX,
        GucContext::Sighup,
        flags,
    );
    GucRegistry::define_enum_guc(
        c"docsearch.log_source",
        c"Front end that the log of queries names.",
        c"The front ends of docsearch set it.",
        &LOG_SOURCE,
        GucContext::Userset,
        flags,
    );
    GucRegistry::define_string_guc(
        c"docsearch.log_client",
        c"Program that the log of queries names.",
        c"",
        &LOG_CLIENT,
        GucContext::Userset,
        flags,
    );
    GucRegistry::define_string_guc(
        c"docsearch.log_session",
        c"Session that the log of queries names.",
        c"If empty, each connection is a session of its own. A front end that shares connections sets it for each reader.",
        &LOG_SESSION,
        GucContext::Userset,
        flags,
    );
}

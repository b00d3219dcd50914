//! Errors and notices in the form of Postgres: SQLSTATE, message, DETAIL and HINT.

use std::ffi::CStr;

use docsearch_core::text::message::bounded;
use docsearch_inference::{ErrorClass, Failure};
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;

pub(crate) type Result<T> = std::result::Result<T, ErrorReport>;

/// Keeps backtraces out of the DETAIL of errors, whatever the server's environment says.
pub(crate) fn without_backtraces() {
    // SAFETY: called while the library is loaded, on the only thread of the process.
    unsafe { std::env::set_var("RUST_LIB_BACKTRACE", "0") };
}

/// An error without a hint, for where the caller can do nothing. A long message, which repeats an argument, is
/// shortened here, and so is a hint.
pub(crate) fn error(code: PgSqlErrorCode, message: impl Into<String>) -> ErrorReport {
    let message = bounded(&message.into()).into_owned();
    ErrorReport::new(code, message, "")
}

/// An error with a hint.
pub(crate) fn error_with_hint(
    code: PgSqlErrorCode,
    message: impl Into<String>,
    hint: impl Into<String>,
) -> ErrorReport {
    error(code, message).set_hint(bounded(&hint.into()).into_owned())
}

/// Raises a warning with a hint.
pub(crate) fn warn(code: PgSqlErrorCode, message: impl Into<String>, hint: &str) {
    error_with_hint(code, message, hint).report(PgLogLevel::WARNING);
}

/// Raises a notice, for what is not a problem, with a hint.
pub(crate) fn notice(message: impl Into<String>, hint: &str) {
    error_with_hint(PgSqlErrorCode::ERRCODE_SUCCESSFUL_COMPLETION, message, hint).report(PgLogLevel::NOTICE);
}

/// The error for an argument that cannot be used (22023).
pub(crate) fn invalid(message: impl Into<String>, hint: impl Into<String>) -> ErrorReport {
    error_with_hint(PgSqlErrorCode::ERRCODE_INVALID_PARAMETER_VALUE, message, hint)
}

/// The error for something that the caller names and that does not exist (42704).
pub(crate) fn undefined(message: impl Into<String>, hint: impl Into<String>) -> ErrorReport {
    error_with_hint(PgSqlErrorCode::ERRCODE_UNDEFINED_OBJECT, message, hint)
}

/// Message and hint in one text, for a column of a result.
pub(crate) fn in_one_line(problem: &ErrorReport) -> String {
    let hint = problem.hint().map(|hint| format!(". {hint}")).unwrap_or_default();
    format!("{}{hint}", problem.message())
}

/// An internal error, such as a status of SPI that Postgres does not raise itself.
pub(crate) fn internal(problem: impl std::fmt::Display) -> ErrorReport {
    error(PgSqlErrorCode::ERRCODE_INTERNAL_ERROR, problem.to_string())
}

/// The error for a failure of inference.
pub(crate) fn inference(failure: &docsearch_inference::Error) -> ErrorReport {
    let code = match failure.class() {
        ErrorClass::Missing => PgSqlErrorCode::ERRCODE_UNDEFINED_FILE,
        ErrorClass::Unreadable => PgSqlErrorCode::ERRCODE_IO_ERROR,
        ErrorClass::Corrupt => PgSqlErrorCode::ERRCODE_DATA_CORRUPTED,
        ErrorClass::Unsupported => PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED,
        ErrorClass::Changed | ErrorClass::Unavailable => PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        ErrorClass::OutOfMemory => PgSqlErrorCode::ERRCODE_OUT_OF_MEMORY,
        ErrorClass::Unreachable => PgSqlErrorCode::ERRCODE_CONNECTION_FAILURE,
        ErrorClass::RateLimited => PgSqlErrorCode::ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
        ErrorClass::Authentication
        | ErrorClass::NoCredit
        | ErrorClass::Refused
        | ErrorClass::ServerError
        | ErrorClass::Malformed
        | ErrorClass::TimedOut
        | ErrorClass::Inference => PgSqlErrorCode::ERRCODE_EXTERNAL_ROUTINE_EXCEPTION,
    };
    let mut report = error(code, failure.to_string());
    if let Some(detail) = failure.remote().and_then(detail) {
        report = report.set_detail(detail);
    }
    match failure.hint() {
        Some(hint) => report.set_hint(hint),
        None => report,
    }
}

/// The DETAIL of a failure. Only superusers see the response of an endpoint.
fn detail(failure: &Failure) -> Option<String> {
    // SAFETY: reads the user of the session, since another role may be the current user. Catalogs can be read in a
    // transaction only.
    let is_superuser =
        || unsafe { pgrx::pg_sys::IsTransactionState() && pgrx::pg_sys::superuser_arg(pgrx::pg_sys::GetOuterUserId()) };
    let said = failure.endpoint_message.as_deref().filter(|_| is_superuser());
    match (failure.detail.as_deref(), said) {
        (detail, None) => detail.map(str::to_owned),
        (None, Some(said)) => Some(said.to_owned()),
        (Some(detail), Some(said)) => Some(format!("{detail} It says: {said}")),
    }
}

/// Raises the error of a standby or a read-only transaction (25006), before anything is embedded.
pub(crate) fn refuse_read_only(function: &CStr) {
    // SAFETY: the name outlives the call; its error unwinds like any other.
    unsafe { pg_sys::PreventCommandIfReadOnly(function.as_ptr()) };
}

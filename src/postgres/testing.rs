//! What the tests that run inside a server share.

use std::panic::AssertUnwindSafe;

use pgrx::pg_sys::panic::{CaughtError, ErrorReport};
use pgrx::prelude::*;

use crate::postgres::role::Role;
use crate::postgres::statement;

/// The current user of a test.
pub(crate) struct Anyone;

impl Role for Anyone {}

/// Runs statements that a test needs, without keeping their plans.
pub(crate) fn sql(statements: &str) {
    statement::utility(&Anyone, statements).expect("the statements run");
}

/// The error or panic that ends `work`, if there is one. An error of Postgres has to be raised in a subtransaction,
/// which cleans up after it.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Option<CaughtError> {
    let work = AssertUnwindSafe(work);
    PgTryBuilder::new(move || {
        { work }.0();
        None
    })
    .catch_others(Some)
    .catch_rust_panic(Some)
    .execute()
}

/// The SQLSTATE of an error that was not raised.
pub(crate) fn code(problem: ErrorReport) -> PgSqlErrorCode {
    match caught(|| problem.report(PgLogLevel::ERROR)) {
        Some(CaughtError::ErrorReport(report) | CaughtError::PostgresError(report)) => report.sql_error_code(),
        _ => panic!("the error is not raised as one"),
    }
}

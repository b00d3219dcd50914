//! Errors as HTTP responses.

use axum::extract::rejection::PathRejection;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde_json::json;

use crate::process::error::Error;

/// An error response.
#[derive(Debug)]
pub(super) struct HttpError {
    status: StatusCode,
    message: String,
    hint: Option<String>,
    sqlstate: Option<String>,
}

impl HttpError {
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
            hint: None,
            sqlstate: None,
        }
    }

    pub(super) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(super) fn status(&self) -> StatusCode {
        self.status
    }

    pub(super) fn message(&self) -> &str {
        &self.message
    }

    pub(super) fn hint_text(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    pub(super) fn sqlstate(&self) -> Option<&str> {
        self.sqlstate.as_deref()
    }
}

/// The text of an error response, for layers that write it in another form.
#[derive(Debug, Clone)]
pub(super) struct Failure {
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

impl From<PathRejection> for HttpError {
    fn from(rejection: PathRejection) -> Self {
        Self::new(StatusCode::BAD_REQUEST, rejection.body_text())
    }
}

impl From<Error> for HttpError {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        let (message, hint) = match text.split_once("\nHINT:  ") {
            Some((message, hint)) => (message.to_owned(), Some(hint.to_owned())),
            None => (text, None),
        };
        Self {
            status: status(&error),
            message,
            hint,
            sqlstate: error.sqlstate().map(str::to_owned),
        }
    }
}

fn status(error: &Error) -> StatusCode {
    match error.sqlstate() {
        Some("42704") => StatusCode::NOT_FOUND,
        Some("42P08") => StatusCode::CONFLICT,
        Some("42501" | "25006") => StatusCode::FORBIDDEN,
        // Feedback to an answer and reports of a day have limits.
        Some("54000") => StatusCode::TOO_MANY_REQUESTS,
        Some("57014") => StatusCode::GATEWAY_TIMEOUT,
        Some(code) if code.starts_with("22") => StatusCode::BAD_REQUEST,
        _ if error.is_transient() => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

impl IntoResponse for HttpError {
    fn into_response(self) -> Response {
        let failure = Failure {
            message: self.message.clone(),
            hint: self.hint.clone(),
        };
        let mut error = json!({"message": self.message});
        for (name, value) in [("hint", self.hint), ("sqlstate", self.sqlstate)] {
            if let Some(value) = value {
                error[name] = value.into();
            }
        }
        (self.status, Extension(failure), Json(json!({ "error": error }))).into_response()
    }
}

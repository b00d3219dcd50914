//! Errors as HTTP responses.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
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

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    #[cfg(test)]
    pub(super) fn status(&self) -> StatusCode {
        self.status
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
        let mut error = json!({"message": self.message});
        for (name, value) in [("hint", self.hint), ("sqlstate", self.sqlstate)] {
            if let Some(value) = value {
                error[name] = value.into();
            }
        }
        (self.status, Json(json!({ "error": error }))).into_response()
    }
}

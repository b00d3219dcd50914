//! Reads request bodies before other layers, so that errors in them are errors of the client.

use std::future::poll_fn;
use std::pin::Pin;

use axum::body::{Body, HttpBody};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::http_error::HttpError;

/// Passes on a request once its whole body was read, if the body is not too large.
pub(super) async fn read(State(max_bytes): State<u64>, request: Request, next: Next) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    let (head, body) = request.into_parts();
    match whole(body, max_bytes).await {
        Ok(body) => next.run(Request::from_parts(head, body.into())).await,
        Err(failure) => failure.into_response(),
    }
}

/// The error for a body that is too large.
pub(super) fn too_large(max_bytes: u64) -> HttpError {
    HttpError::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        format!("the body is larger than {max_bytes} bytes"),
    )
}

async fn whole(mut body: Body, max_bytes: u64) -> Result<Vec<u8>, HttpError> {
    let mut bytes = Vec::new();
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let frame = frame.map_err(|_| HttpError::new(StatusCode::BAD_REQUEST, "the body is not valid HTTP/1.1"))?;
        if let Ok(data) = frame.into_data() {
            if bytes.len() as u64 + data.len() as u64 > max_bytes {
                return Err(too_large(max_bytes));
            }
            bytes.extend_from_slice(&data);
        }
    }
    Ok(bytes)
}

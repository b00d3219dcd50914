//! Bodies of requests, read before anything else looks at them: what is wrong with one is the client's mistake.

use std::future::poll_fn;
use std::pin::Pin;

use axum::body::{Body, HttpBody};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::failure::Failure;

/// Gives a request with a body on when the whole of it is there, and it is no larger than it may be.
pub(super) async fn read(State(most): State<u64>, request: Request, next: Next) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    let (head, body) = request.into_parts();
    match whole(body, most).await {
        Ok(body) => next.run(Request::from_parts(head, body.into())).await,
        Err(failure) => failure.into_response(),
    }
}

/// Why a body is not taken that is larger.
pub(super) fn too_large(most: u64) -> Failure {
    Failure::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        format!("the body is larger than {most} bytes"),
    )
}

async fn whole(mut body: Body, most: u64) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let frame = frame.map_err(|_| Failure::new(StatusCode::BAD_REQUEST, "the body is not valid HTTP/1.1"))?;
        if let Ok(data) = frame.into_data() {
            if bytes.len() as u64 + data.len() as u64 > most {
                return Err(too_large(most));
            }
            bytes.extend_from_slice(&data);
        }
    }
    Ok(bytes)
}

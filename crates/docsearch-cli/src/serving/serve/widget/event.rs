//! Clicks that pages report.

use axum::body::Bytes;
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{bad_request, parsed};
use crate::library::{FeedbackRequest, Library};
use crate::serving::serve::http_error::HttpError;

const MAX_EVENTS: usize = 20;
const CLICK: &str = "click";

#[derive(Deserialize)]
struct Events {
    events: Vec<Event>,
}

/// An event; only clicks on results have all of these.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    event_type: String,
    #[serde(rename = "queryID")]
    query: Option<String>,
    #[serde(rename = "objectIDs", default)]
    objects: Vec<String>,
}

/// Stores clicks on results as feedback. Other events say nothing of an answer.
pub(super) async fn store(Extension(library): Extension<Library>, body: Bytes) -> Result<Json<Value>, HttpError> {
    let Events { events } = parsed(&body)?;
    if events.len() > MAX_EVENTS {
        return Err(bad_request(format!("more than {MAX_EVENTS} events in a request")).hint("Send fewer events."));
    }
    for event in events.into_iter().filter(|event| event.event_type == CLICK) {
        if let (Some(token), Some(reference)) = (event.query, event.objects.into_iter().next()) {
            let request = FeedbackRequest {
                token,
                kind: CLICK.to_owned(),
                reference: Some(reference),
                reason: None,
                comment: None,
            };
            library.feedback(&request).await?;
        }
    }
    Ok(Json(json!({"status": 200, "message": "OK"})))
}

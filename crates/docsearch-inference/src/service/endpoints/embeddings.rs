//! Vectors of texts.

use std::time::Instant;

use serde::Deserialize;
use serde_json::{Value, json};
use ureq::Agent;

use super::http::{self, ApiKey, CallError, HttpRequest};
use crate::endpoint::RemoteEmbedding;
use crate::error::ErrorClass;

/// Maximum size of the answer for one text, in bytes: more than 4,000 numbers of 20 digits.
const MAX_VECTOR: u64 = 128 * 1024;

#[derive(Deserialize)]
struct Listing {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    index: Option<usize>,
    embedding: Vec<f32>,
}

/// The vectors of texts, of length 1 each, in the order of the texts.
pub(super) fn embed(
    agent: &Agent,
    key: Option<&ApiKey>,
    remote: &RemoteEmbedding,
    texts: &[&str],
    deadline: Instant,
) -> Result<Vec<Vec<f32>>, CallError> {
    let mut body = json!({"model": remote.endpoint.model, "input": texts});
    if let Some(dimension) = remote.dimension.filter(|_| remote.names_dimension) {
        body["dimensions"] = Value::from(dimension);
    }
    let request = HttpRequest {
        base: &remote.endpoint.url,
        resource: "embeddings",
        key,
        body: &body,
        deadline,
        max_bytes: MAX_VECTOR * texts.len() as u64,
    };
    read(&http::post(agent, &request)?, remote.dimension, texts.len())
}

/// The vectors in an answer to `count` texts.
pub(super) fn read(answer: &[u8], dimension: Option<usize>, count: usize) -> Result<Vec<Vec<f32>>, CallError> {
    let listing: Listing =
        serde_json::from_slice(answer).map_err(|_| malformed("It is not a list of embeddings".to_owned()))?;
    vectors(listing, dimension, count)
}

fn vectors(listing: Listing, dimension: Option<usize>, count: usize) -> Result<Vec<Vec<f32>>, CallError> {
    if listing.data.len() != count {
        return Err(malformed(format!(
            "It returned {} vectors for {count} texts",
            listing.data.len()
        )));
    }
    let mut vectors = vec![Vec::new(); count];
    for (place, item) in listing.data.into_iter().enumerate() {
        let given = item.embedding.len();
        if dimension.is_some_and(|dimension| dimension != given) {
            return Err(malformed(format!(
                "It returned vectors of {given} components, not {}",
                dimension.unwrap_or_default()
            )));
        }
        let slot = vectors
            .get_mut(item.index.unwrap_or(place))
            .filter(|vector| vector.is_empty())
            .ok_or_else(|| malformed("It does not say which text a vector is of".to_owned()))?;
        *slot = normalised(item.embedding)
            .ok_or_else(|| malformed("It returned a vector that cannot be normalised".to_owned()))?;
    }
    Ok(vectors)
}

fn normalised(mut vector: Vec<f32>) -> Option<Vec<f32>> {
    let length = vector.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
    if !length.is_finite() || length == 0.0 {
        return None;
    }
    for value in &mut vector {
        *value = (f64::from(*value) / length) as f32;
    }
    Some(vector)
}

fn malformed(detail: String) -> CallError {
    CallError::new(ErrorClass::Malformed, detail)
}

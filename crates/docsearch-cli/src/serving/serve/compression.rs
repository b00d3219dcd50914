//! Compresses responses for clients that say that they read gzip.
//!
//! tower-http has this, too, with an encoder for streams: these responses are whole, and flate2 is here anyway.

use std::io::Write;

use axum::body::{Body, HttpBody, to_bytes};
use axum::extract::Request;
use axum::http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, VARY};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;

/// Shorter responses fit a packet.
const MIN_BYTES: u64 = 1_000;

/// Compresses the response to a request.
pub(super) async fn gzip(request: Request, next: Next) -> Response {
    let is_accepted = accepts_gzip(request.headers());
    let response = next.run(request).await;
    let is_whole = response
        .body()
        .size_hint()
        .exact()
        .is_some_and(|bytes| bytes >= MIN_BYTES);
    if !is_whole || !is_text(response.headers()) {
        return response;
    }
    let (mut head, body) = response.into_parts();
    if !head.headers.get_all(VARY).iter().any(varies_already) {
        head.headers.append(VARY, HeaderValue::from_static("accept-encoding"));
    }
    if !is_accepted {
        return Response::from_parts(head, body);
    }
    let compressed = match to_bytes(body, usize::MAX).await {
        Ok(bytes) => compressed(&bytes),
        Err(_) => return StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    };
    head.headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    head.headers.remove(CONTENT_LENGTH);
    Response::from_parts(head, Body::from(compressed))
}

fn varies_already(value: &HeaderValue) -> bool {
    value.to_str().is_ok_and(|value| value.contains("accept-encoding"))
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 3), Compression::new(4));
    // Memory takes everything.
    encoder.write_all(bytes).ok();
    encoder.finish().unwrap_or_default()
}

fn is_text(headers: &HeaderMap) -> bool {
    let media_type = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let media_type = media_type.split(';').next().unwrap_or_default().trim();
    !headers.contains_key(CONTENT_ENCODING)
        && (matches!(media_type, "application/json" | "image/svg+xml")
            || media_type.starts_with("text/") && media_type != "text/event-stream")
}

/// Whether a client reads gzip: it names it, or `*`, and not with the weight 0.
fn accepts_gzip(headers: &HeaderMap) -> bool {
    let weight = |wanted: &str| {
        let named = headers
            .get_all(ACCEPT_ENCODING)
            .iter()
            .filter_map(|value| value.to_str().ok());
        named.flat_map(|value| value.split(',')).find_map(|coding| {
            let (name, parameters) = coding.split_once(';').unwrap_or((coding, ""));
            let weight = parameters.trim().strip_prefix("q=").map_or(Ok(1.0), str::parse::<f32>);
            name.trim().eq_ignore_ascii_case(wanted).then(|| weight.unwrap_or(0.0))
        })
    };
    weight("gzip")
        .or_else(|| weight("*"))
        .is_some_and(|weight| weight > 0.0)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;

    use super::*;

    #[test]
    fn a_client_says_whether_it_reads_gzip() {
        let accepts = |value: &'static str| {
            accepts_gzip(&HeaderMap::from_iter([(
                ACCEPT_ENCODING,
                HeaderValue::from_static(value),
            )]))
        };
        for value in ["gzip", "br, GZIP;q=0.5", "*", "deflate, *;q=0.1"] {
            assert!(accepts(value), "{value}");
        }
        for value in ["", "br", "gzip;q=0", "gzip;q=0, *", "identity", "*;q=0", "gzip;q=x"] {
            assert!(!accepts(value), "{value}");
        }
        assert!(!accepts_gzip(&HeaderMap::new()));
    }

    #[test]
    fn what_is_compressed_is_the_same() {
        let text = "the same words ".repeat(1_000);
        let mut read = String::new();
        GzDecoder::new(compressed(text.as_bytes()).as_slice())
            .read_to_string(&mut read)
            .unwrap();
        assert_eq!(read, text);
    }
}

//! The files of the page, which are in the program.

use std::sync::LazyLock;

use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};

/// A file that never changes under its address.
pub(super) struct Asset {
    name: &'static str,
    media_type: &'static str,
    content: &'static str,
    version: LazyLock<String>,
}

macro_rules! asset {
    ($name:literal, $media_type:literal) => {
        Asset {
            name: $name,
            media_type: $media_type,
            content: include_str!(concat!("asset/", $name)),
            version: LazyLock::new(|| version(include_str!(concat!("asset/", $name)))),
        }
    };
}

pub(super) static STYLE: Asset = asset!("style.css", "text/css; charset=utf-8");
pub(super) static SCRIPT: Asset = asset!("page.js", "text/javascript; charset=utf-8");
pub(super) static ICON: Asset = asset!("icon.svg", "image/svg+xml");

static ALL: [&Asset; 3] = [&STYLE, &SCRIPT, &ICON];

/// The beginning of the digest.
fn version(content: &str) -> String {
    base16ct::lower::encode_string(&Sha256::digest(content.as_bytes())[..6])
}

impl Asset {
    /// The address of this version of the file.
    pub(super) fn address(&self) -> String {
        format!("/page/{}/{}", *self.version, self.name)
    }
}

/// The file with this version and name.
pub(super) fn response(version: &str, name: &str) -> Response {
    match ALL.iter().find(|asset| asset.name == name && *asset.version == version) {
        Some(asset) => (
            [
                (CONTENT_TYPE, asset.media_type),
                (CACHE_CONTROL, "public, max-age=31536000, immutable"),
            ],
            asset.content,
        )
            .into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

//! A document as a caller gives it.

use docsearch_core::passage::ANALYSIS_VERSION;
use pgrx::pg_sys::panic::ErrorReport;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::report::{Result, in_one_line, invalid};

/// Longest slug, in bytes.
const MAX_SLUG_BYTES: usize = 1024;

/// The arguments of `index_doc`, which are also the keys of an element of `index_docs`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a document as an object")]
pub(crate) struct DocumentInput {
    pub(crate) slug: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) title: String,
    pub(crate) body: Option<String>,
    #[serde(default)]
    pub(crate) category: Option<String>,
    #[serde(default)]
    pub(crate) metadata: Option<Value>,
    #[serde(default)]
    pub(crate) kind: Option<String>,
    #[serde(default)]
    pub(crate) version: Option<String>,
    #[serde(default)]
    pub(crate) summary: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) keywords: Vec<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) source_urls: Vec<String>,
    #[serde(default)]
    pub(crate) source_path: Option<String>,
    #[serde(default)]
    pub(crate) source_root: Option<String>,
    #[serde(default)]
    pub(crate) published_at: Option<String>,
}

fn or_default<'de, D: serde::Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> std::result::Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

impl DocumentInput {
    /// What a document may consist of.
    pub(crate) const KEYS_HINT: &'static str = "A document is an object with slug, title and body, and if you like category, metadata, kind, version, \
         summary, keywords, source_urls, source_path, source_root and published_at.";

    /// Reads an element of `index_docs`. The error is the slug, if there is one, and what is wrong.
    pub(crate) fn parse(value: Value) -> std::result::Result<Self, (Option<String>, String)> {
        let slug = value.get("slug").and_then(Value::as_str).map(str::to_owned);
        let input: Self = match serde_json::from_value(value) {
            Ok(input) => input,
            Err(problem) => return Err((slug, problem.to_string())),
        };
        match input.check() {
            Ok(()) => Ok(input),
            Err(problem) => Err((slug, in_one_line(&problem))),
        }
    }

    /// What every document has to fulfil.
    pub(crate) fn check(&self) -> Result<()> {
        let slug_hint =
            format!("A slug has 1 to {MAX_SLUG_BYTES} bytes without control characters, such as guides/install.");
        if self.slug.trim().is_empty() {
            return Err(invalid("slug must not be null or blank", slug_hint));
        }
        if self.slug.len() > MAX_SLUG_BYTES || self.slug.contains(char::is_control) {
            return Err(self.refuse("slug cannot be used", &slug_hint));
        }
        if self.title.trim().is_empty() {
            return Err(self.refuse("title must not be null or blank", "Give the page's title."));
        }
        if self.body.is_none() {
            return Err(self.refuse("body must not be null", "Give the page's markdown; it may be empty."));
        }
        match &self.metadata {
            None | Some(Value::Null | Value::Object(_)) => Ok(()),
            Some(_) => Err(self.refuse("metadata must be a JSON object", "Give an object, or leave it away.")),
        }
    }

    fn refuse(&self, problem: &str, hint: &str) -> ErrorReport {
        let slug: String = self.slug.chars().take(80).collect();
        invalid(format!("document \"{slug}\": {problem}"), hint)
    }

    /// SHA-256, hexadecimal, of everything that decides how the document is cut and stored.
    pub(crate) fn content_hash(&self, max_tokens: usize) -> String {
        // Keys of a JSON object are written in order, so equal documents give equal text.
        digest(&[&max_tokens.to_string(), &serde_json::json!(self).to_string()])
    }
}

/// SHA-256, hexadecimal, of texts and of the version of the analysis.
pub(crate) fn digest(texts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    hasher.update(ANALYSIS_VERSION.to_le_bytes());
    for text in texts {
        hasher.update((text.len() as u64).to_le_bytes());
        hasher.update(text);
    }
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

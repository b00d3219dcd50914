//! The parameters of a query.

use std::collections::HashMap;

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use url::form_urlencoded;

use super::bad_request;
use super::facet_filter;
use super::marked_text::{Tags, harmless_text};
use crate::serving::serve::http_error::HttpError;

/// Longer queries are cut. The clients cut at the same length.
const MAX_CHARACTERS: usize = 512;
const DEFAULT_HITS: u32 = 20;
const MAX_HITS: u32 = 100;
const MAX_FACETS: usize = 20;
const DEFAULT_FACET_VALUES: i64 = 100;
const MAX_ELLIPSIS: usize = 8;
/// Parameters that would leave out results, and that nothing here corresponds to.
const REFUSED: [&str; 3] = ["filters", "numericFilters", "tagFilters"];
/// Parameters of an encoded string that are not texts.
const TYPED: [&str; 7] = [
    "attributesToSnippet",
    "clickAnalytics",
    "facetFilters",
    "facets",
    "hitsPerPage",
    "maxValuesPerFacet",
    "page",
];

/// A query with its parameters, within bounds.
pub(super) struct Query {
    /// As it was sent.
    pub(super) index: String,
    pub(super) projects: Vec<String>,
    pub(super) text: String,
    pub(super) page: u32,
    pub(super) hits_per_page: u32,
    pub(super) facets: Vec<String>,
    pub(super) max_facet_values: i64,
    pub(super) click_analytics: bool,
    pub(super) user_token: Option<String>,
    sent: Parameters,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Parameters {
    index_name: Option<String>,
    query: Option<String>,
    page: Option<u32>,
    hits_per_page: Option<u32>,
    #[serde(deserialize_with = "list")]
    facets: Vec<String>,
    max_values_per_facet: Option<i64>,
    facet_filters: Value,
    #[serde(deserialize_with = "list")]
    attributes_to_snippet: Vec<String>,
    snippet_ellipsis_text: Option<String>,
    highlight_pre_tag: Option<String>,
    highlight_post_tag: Option<String>,
    click_analytics: Option<bool>,
    user_token: Option<String>,
    r#type: Option<String>,
}

/// A list, or one text with commas.
fn list<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Sent {
        List(Vec<String>),
        Text(String),
        Nothing(()),
    }
    Ok(match Sent::deserialize(deserializer)? {
        Sent::List(list) => list,
        Sent::Text(text) => parts(&text),
        Sent::Nothing(()) => Vec::new(),
    })
}

fn parts(text: &str) -> Vec<String> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts.map(str::to_owned).collect()
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        _ => false,
    }
}

impl Query {
    /// Reads fields, or the encoded string `params` of older clients. `index` is that of the address, if it names one.
    pub(super) fn new(mut fields: Map<String, Value>, index: Option<String>) -> Result<Self, HttpError> {
        if let Some(Value::String(encoded)) = fields.remove("params") {
            for (name, text) in form_urlencoded::parse(encoded.as_bytes()) {
                let typed = TYPED
                    .contains(&&*name)
                    .then(|| serde_json::from_str(&text).ok())
                    .flatten();
                fields.insert(name.into_owned(), typed.unwrap_or_else(|| text.into_owned().into()));
            }
        }
        if let Some(name) = REFUSED
            .iter()
            .find(|name| fields.get(**name).is_some_and(|value| !is_empty(value)))
        {
            return Err(bad_request(format!("{name} is not supported")).hint("Use facetFilters."));
        }
        let mut sent: Parameters = serde_json::from_value(fields.into()).map_err(|error| {
            bad_request(format!("a query is not valid: {error}")).hint("See /openapi.json for its fields.")
        })?;
        if sent.r#type.as_deref().is_some_and(|kind| kind != "default") {
            return Err(bad_request("only searches are supported".to_owned()).hint("Omit type."));
        }
        let index = index.or(sent.index_name.take()).unwrap_or_default();
        let projects = parts(&index);
        if projects.is_empty() {
            return Err(bad_request("indexName is missing".to_owned()).hint("Name a project, or * for all."));
        }
        let facets = std::mem::take(&mut sent.facets);
        if facets.len() > MAX_FACETS {
            return Err(bad_request(format!("more than {MAX_FACETS} facets")).hint("Ask for fewer."));
        }
        Ok(Self {
            index,
            projects,
            text: sent
                .query
                .take()
                .unwrap_or_default()
                .chars()
                .take(MAX_CHARACTERS)
                .collect(),
            page: sent.page.unwrap_or_default(),
            hits_per_page: sent.hits_per_page.unwrap_or(DEFAULT_HITS).min(MAX_HITS),
            facets,
            max_facet_values: sent
                .max_values_per_facet
                .unwrap_or(DEFAULT_FACET_VALUES)
                .clamp(1, 1_000),
            click_analytics: sent.click_analytics.unwrap_or_default(),
            user_token: sent.user_token.take(),
            sent,
        })
    }

    pub(super) fn filter(&self) -> Result<Option<Value>, HttpError> {
        facet_filter::filter(&self.sent.facet_filters)
    }

    /// The facets to count; none for the usual ones.
    pub(super) fn facet_keys(&self) -> &[String] {
        let is_any = self.facets.iter().any(|facet| facet == "*");
        if is_any { &[] } else { &self.facets }
    }

    pub(super) fn tags(&self) -> Tags {
        // As the default of the protocol.
        let pre = self.sent.highlight_pre_tag.as_deref().unwrap_or("<em>");
        let post = self.sent.highlight_post_tag.as_deref().unwrap_or("</em>");
        Tags::allowed(pre, post)
    }

    pub(super) fn ellipsis(&self) -> String {
        let sent = self.sent.snippet_ellipsis_text.as_deref();
        sent.filter(|text| harmless_text(text, MAX_ELLIPSIS))
            .unwrap_or("…")
            .to_owned()
    }

    /// Words of a snippet, by attribute: `content:10`.
    pub(super) fn snippets(&self) -> HashMap<String, usize> {
        let sent = self.sent.attributes_to_snippet.iter();
        let lengths = sent.filter_map(|attribute| {
            let (name, words) = attribute.split_once(':').unwrap_or((attribute, "10"));
            Some((name.to_owned(), words.parse::<usize>().ok()?.max(1)))
        });
        lengths.collect()
    }

    /// The most important parameters as a string.
    pub(super) fn encoded(&self) -> String {
        form_urlencoded::Serializer::new(String::new())
            .append_pair("query", &self.text)
            .append_pair("page", &self.page.to_string())
            .append_pair("hitsPerPage", &self.hits_per_page.to_string())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn query(fields: Value) -> Query {
        let Value::Object(fields) = fields else { panic!() };
        Query::new(fields, None)
            .map_err(|error| error.message().to_owned())
            .unwrap()
    }

    fn refused(fields: Value) -> String {
        let Value::Object(fields) = fields else { panic!() };
        Query::new(fields, None).err().unwrap().message().to_owned()
    }

    #[test]
    fn an_encoded_string_is_as_good_as_fields() {
        let encoded = "query=123&hitsPerPage=5&page=1&facets=%5B%22version%22%5D&attributesToSnippet=content%3A7,a";
        for sent in [
            json!({"indexName": "kit, rpi-*", "params": encoded}),
            json!({"indexName": "kit, rpi-*", "query": "123", "hitsPerPage": 5, "page": 1, "facets": "version",
                   "attributesToSnippet": ["content:7", "a"], "unknown": {}, "filters": ""}),
        ] {
            let query = query(sent);
            assert_eq!(query.text, "123");
            assert_eq!((query.page, query.hits_per_page), (1, 5));
            assert_eq!(
                (query.facets.as_slice(), query.projects.len()),
                (["version".to_owned()].as_slice(), 2)
            );
            assert_eq!(
                query.snippets(),
                HashMap::from([("content".to_owned(), 7), ("a".to_owned(), 10)])
            );
        }
    }

    #[test]
    fn sizes_have_bounds() {
        let query = query(
            json!({"indexName": "kit", "query": "x".repeat(1_000), "hitsPerPage": 5_000,
                                 "snippetEllipsisText": "<script>"}),
        );
        assert_eq!(
            (query.text.len(), query.hits_per_page, query.ellipsis()),
            (MAX_CHARACTERS, MAX_HITS, "…".to_owned())
        );
        for (sent, message) in [
            (json!({"query": "a"}), "indexName is missing"),
            (json!({"indexName": " , "}), "indexName is missing"),
            (json!({"indexName": "kit", "hitsPerPage": -1}), "a query is not valid"),
            (
                json!({"indexName": "kit", "filters": "version:1"}),
                "filters is not supported",
            ),
            (json!({"indexName": "kit", "type": "facet"}), "only searches"),
            (
                json!({"indexName": "kit", "facets": vec!["a"; 21]}),
                "more than 20 facets",
            ),
        ] {
            let refused = refused(sent);
            assert!(refused.starts_with(message), "{refused}");
        }
    }
}

//! The answer to a query.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::confidence::Confidence;
use super::fields::Fields;
use super::notice::{Notice, is_similar};
use super::syntax::Syntax;
use crate::answer::grade::OfText;
use crate::answer::highlight::{Highlights, SectionHighlights};
use crate::query::suggestion::Suggestion;
use crate::ranking::score::Step;
use crate::values::decimal::{decimal, optional_decimal};
use crate::values::id::DocumentId;

/// The answer to a query; its serialisation is what `search_docs_json` returns.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// The query as written.
    pub query: String,
    /// The parsed query: class, symbol, container and so on.
    pub understood: Value,
    /// The searched query. It differs from `query` only after a transformation.
    pub executed_query: String,
    /// What a transformation added and why, if one was wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transformation: Option<Value>,
    /// Best first, but additional chunks of a document may come after other documents.
    pub results: Vec<SearchResult>,
    /// What the caller should know about the answer.
    pub notices: Vec<Notice>,
    /// How to improve the query; empty if the answer is good.
    pub tips: Vec<String>,
    /// Other queries that may have been meant, best first.
    pub suggestions: Vec<Suggestion>,
    /// Confidence in the whole answer, see [`Answer::conclude`].
    pub confidence: Confidence,
    /// Probability that the first result is right, 0 to 1, if scores of the project were calibrated.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "optional_decimal")]
    pub probability: Option<f32>,
    /// Number of candidates that were scored.
    pub candidates: usize,
    /// Whether the vector is that of an earlier equal query, since this one could not be embedded.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub vector_recalled: bool,
    /// Names this search in feedback, if the log of queries has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search_token: Option<String>,
    /// Grade of the results, if they were graded.
    pub grade: Option<Value>,
    /// Milliseconds by stage, such as `embed_ms`, `rank_ms`, `present_ms` and `total_ms`.
    pub timings: BTreeMap<String, f64>,
    /// Number of results before the first one: `offset` of the call, or less if there are fewer.
    #[serde(skip)]
    pub offset: usize,
    /// Syntax of the caller's calls.
    #[serde(skip)]
    pub syntax: Syntax,
    /// The fields that JSON has; `None` for all.
    #[serde(skip)]
    pub fields: Option<Fields>,
}

/// A chunk of a document that answers the query.
#[derive(Clone, Debug, Serialize)]
pub struct SearchResult {
    /// Rank in the answer, from 1.
    pub rank: u32,
    /// Name of the project.
    pub project: String,
    /// Slug of the document.
    pub slug: String,
    /// Title of the document.
    pub title: String,
    /// Heading path of the chunk, joined by ` > `; empty before the first heading.
    pub section: String,
    /// Anchor of the section; empty before the first heading.
    pub anchor: String,
    /// Category of the document.
    pub category: Option<String>,
    /// Version of the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Where the document is published.
    pub url: Option<String>,
    /// Final score, 0 to 1.
    #[serde(serialize_with = "decimal")]
    pub score: f32,
    /// Cosine similarity to the query, -1 to 1, if its vector was compared.
    #[serde(serialize_with = "optional_decimal")]
    pub similarity: Option<f32>,
    /// Keyword score, 0 to 1.
    #[serde(serialize_with = "decimal")]
    pub keyword_score: f32,
    /// Confidence in this result alone.
    pub confidence: Confidence,
    /// The part of the chunk with the query's words.
    pub snippet: String,
    /// `docsearch.project.id`.
    #[serde(skip)]
    pub project_id: i64,
    /// `docsearch.document.id`.
    pub document_id: i64,
    /// Number of the chunk in the document.
    pub chunk_no: i32,
    /// Number of chunks of the document.
    pub chunk_count: i32,
    /// Scores of the text without the questions that it answers.
    #[serde(skip)]
    pub of_text: OfText,
    /// Whether an earlier result is of the same document.
    pub additional_chunk: bool,
    /// Estimated tokens of `load_doc` for the reference, see [`crate::documents::document::LoadCost`]. `None` for a
    /// section of a page that is too large to be parsed for it.
    pub section_tokens: Option<u32>,
    /// When the document last changed, as text.
    pub updated_at: Option<String>,
    /// Further matching sections of the document, best first.
    pub section_matches: Vec<SectionMatch>,
    /// Number of other documents with the same text, for which this one is shown.
    #[serde(skip_serializing_if = "is_zero")]
    pub duplicates: u32,
    /// References of the first of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also_at: Vec<String>,
    /// Other versions of the page that were found and for which this one is shown, newest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_versions: Vec<String>,
    /// Key of the row that the document was made of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_key: Option<String>,
    /// Metadata of the document, an object. JSON has it if it is short.
    #[serde(skip_serializing_if = "is_left_out")]
    pub metadata: Value,
    /// Words of the query in the texts; `None` if there is no room for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub highlights: Option<Highlights>,
    /// The snippet as HTML with marks; `None` if there is no room for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snippet_html: Option<String>,
    /// Steps that lead to the score, if wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub breakdown: Option<Vec<Step>>,
}

/// Longest metadata in the JSON of a result, in bytes.
const SHOWN_METADATA_BYTES: usize = 2_000;

/// Whether metadata is empty or too long for the JSON of a result.
fn is_left_out(metadata: &Value) -> bool {
    let is_empty = metadata.as_object().is_none_or(serde_json::Map::is_empty);
    is_empty || metadata.to_string().len() > SHOWN_METADATA_BYTES
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl SearchResult {
    /// The document.
    pub fn document(&self) -> DocumentId {
        DocumentId {
            project: self.project_id,
            document: self.document_id,
        }
    }

    /// Reference for `load_doc`: `project/slug#anchor`, or `project/slug` without an anchor.
    pub fn reference(&self) -> String {
        if self.anchor.is_empty() {
            format!("{}/{}", self.project, self.slug)
        } else {
            format!("{}/{}#{}", self.project, self.slug, self.anchor)
        }
    }

    /// Whether both are chunks of one document.
    pub(super) fn is_same_document(&self, other: &Self) -> bool {
        self.document_id == other.document_id && self.project == other.project
    }
}

/// Another matching section of a result's document.
#[derive(Clone, Debug, Serialize)]
pub struct SectionMatch {
    /// Anchor of the section.
    pub id: String,
    /// Heading path.
    pub title: String,
    /// Where the section is published.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The part of the section with the query's words.
    pub snippet: String,
    /// Words of the query in both texts.
    pub highlights: SectionHighlights,
    /// Score of the section, 0 to 1.
    #[serde(serialize_with = "decimal")]
    pub score: f32,
}

impl Answer {
    /// Sets the confidence of the whole answer, and adds notices and tips.
    ///
    /// The confidence is that of the best result, and low without results. It is low for the answer and its results
    /// if the query is one generic term alone: any of many pages may be meant. Low confidence adds `tips`.
    pub fn conclude(&mut self, lone_generic_term: bool, tips: &[String]) {
        if lone_generic_term {
            for result in &mut self.results {
                result.confidence = Confidence::Low;
            }
        }
        let best = self.results.iter().map(|result| result.confidence).max();
        self.confidence = best.unwrap_or(Confidence::Low);
        if self.results.is_empty() {
            self.notices.push(Notice::no_results(self.offset));
        } else if is_similar(self.results.iter().map(|result| result.score)) {
            self.notices.push(Notice::similar_relevance());
        }
        let low = self.confidence == Confidence::Low;
        if low && !self.results.is_empty() {
            self.notices.push(Notice::low_confidence(lone_generic_term));
        }
        if low {
            self.tips = tips.to_vec();
        }
    }

    /// The object of `search_docs_json`, with the fields that are wanted.
    pub fn to_json(&self) -> Value {
        let mut json = serde_json::to_value(self).expect("an answer has nothing that JSON cannot hold");
        if let Some(fields) = &self.fields {
            fields.retain_in_answer(&mut json);
        }
        json
    }
}

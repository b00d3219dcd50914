//! What a search answers.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::confidence::Confidence;
use super::notice::{Notice, is_similar};
use super::syntax::Syntax;
use crate::answer::grade::OfText;
use crate::query::suggestion::Suggestion;
use crate::ranking::score::Step;
use crate::values::decimal::{decimal, optional_decimal};

/// The answer to a query; its serialisation is what `search_docs_json` returns.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// The query as written.
    pub query: String,
    /// What was understood of it: class, symbol, container and so on.
    pub understood: Value,
    /// The query that was searched; the same as `query` unless a transformation was asked for.
    pub executed_query: String,
    /// What was added to the query and why, if a transformation was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transformation: Option<Value>,
    /// Best first, except that additional chunks of a document may stand behind other documents.
    pub results: Vec<SearchResult>,
    /// What the caller should know about the answer.
    pub notices: Vec<Notice>,
    /// How to ask better; empty if the answer is good.
    pub tips: Vec<String>,
    /// Other queries that may have been meant, best first.
    pub suggestions: Vec<Suggestion>,
    /// Of the answer as a whole, see [`Answer::conclude`].
    pub confidence: Confidence,
    /// Number of candidates that were scored.
    pub candidates: usize,
    /// Whether the query's vector is that of an equal query before, since it could not be embedded.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub vector_recalled: bool,
    /// Grade of the results, if they were graded.
    pub grade: Option<Value>,
    /// Milliseconds by stage, such as `embed_ms`, `rank_ms`, `present_ms` and `total_ms`.
    pub timings: BTreeMap<String, f64>,
    /// Results before the first one: `offset` of the call, or as many as there are.
    #[serde(skip)]
    pub offset: usize,
    /// How the caller writes calls.
    #[serde(skip)]
    pub syntax: Syntax,
}

/// A chunk of a document that answers the query.
#[derive(Clone, Debug, Serialize)]
pub struct SearchResult {
    /// Place in the answer, from 1.
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
    /// Of this result alone.
    pub confidence: Confidence,
    /// The part of the chunk where the query's words stand.
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
    /// What the text says without the questions that it answers.
    #[serde(skip)]
    pub of_text: OfText,
    /// Whether an earlier result is of the same document, and this one fills a place or says something else.
    pub additional_chunk: bool,
    /// Estimated tokens of what `load_doc` gives for the reference, see [`crate::documents::document::LoadCost`]; `None` for a
    /// section of a page that is too large to be read for it.
    pub load_tokens: Option<u32>,
    /// When the document last changed, as text.
    pub updated_at: Option<String>,
    /// Further sections of the document that match, best first.
    pub section_matches: Vec<SectionMatch>,
    /// The key of the row that the document was made of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_key: Option<String>,
    /// Metadata of the document, an object. JSON has it if it is short.
    #[serde(skip_serializing_if = "is_left_out")]
    pub metadata: Value,
    /// How the score came about, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub breakdown: Option<Vec<Step>>,
}

/// Longest metadata that stand in the JSON of a result, in bytes.
const SHOWN_METADATA_BYTES: usize = 2_000;

/// Whether metadata say nothing, or so much that they would cost more than the result.
fn is_left_out(metadata: &Value) -> bool {
    let is_empty = metadata.as_object().is_none_or(serde_json::Map::is_empty);
    is_empty || metadata.to_string().len() > SHOWN_METADATA_BYTES
}

impl SearchResult {
    /// What `load_doc` takes to load the section: `project/slug#anchor`, or `project/slug` without an anchor.
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

/// A section of a result's document that matches, too.
#[derive(Clone, Debug, Serialize)]
pub struct SectionMatch {
    /// Anchor of the section.
    pub id: String,
    /// Heading path.
    pub title: String,
    /// The part of the section where the query's words stand.
    pub snippet: String,
    /// Score of the section, 0 to 1.
    #[serde(serialize_with = "decimal")]
    pub score: f32,
}

impl Answer {
    /// Judges the results: sets the confidence of the whole, and adds notices and tips.
    ///
    /// The confidence is that of the best result; it is low without results. It is low, too, for a query that is one generic
    /// term alone, and so is that of its results, since which of many pages is meant is not known. `tips` are added when the
    /// confidence is low.
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

    /// The object of `search_docs_json`: `query`, `understood`, `executed_query`, `results`, `notices`, `tips`,
    /// `suggestions`, `confidence`, `candidates`, `grade` and `timings`.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).expect("an answer has nothing that JSON cannot hold")
    }
}

//! Analysis, chunking and ranking for `pg_docsearch`: everything that needs no Postgres.

/// From ranked documents to an answer: sections, grades, refinement, JSON and text.
pub mod answer;
/// Documents: Markdown, sections and chunks, definitions of names, and their output.
pub mod documents;
/// How good answers are: measures, calibration, comparison of runs, and sets of judgments as text.
pub mod evaluation;
/// Stored words, vectors and questions of sections, and how a query reads them.
pub mod index;
/// Language models and embedding models: prompts, replies, and a test of a model.
pub mod models;
/// Formats, names, policies and known faults of PostgreSQL.
pub mod postgres;
/// Queries: rules, parsing, filters, and other wordings.
pub mod query;
/// Ranking: base scores, rules, and several searches for one question.
pub mod ranking;
/// Text as words and lines: tokens, identifiers, names, titles, languages.
pub mod text;
/// How the documentation is used: the log of queries.
pub mod usage;
/// Values without dependencies: ids, days, addresses, digests, and bounds of input.
pub mod values;

//! Analysis, chunking and ranking for `pg_docsearch`: everything that can be computed without Postgres.

/// From ranked documents to what a caller reads: sections, grades, refinement, and the answer as JSON or text.
pub mod answer;
/// Documents: Markdown, sections and chunks, names that pages define, and documents as they are read.
pub mod documents;
/// What is stored so that words, vectors and questions find sections, and how a query reads it.
pub mod index;
/// Language models and embedding models: prompts, what is read of replies, and a test of a model.
pub mod models;
/// What is known of PostgreSQL: its formats, its names, its policies and its faults.
pub mod postgres;
/// What a query asks for: rules, understanding, filters, and other ways to say it.
pub mod query;
/// From evidence to an order of documents: base scores, the rules of ranking, searches brought together.
pub mod ranking;
/// Text as words and lines: tokens, identifiers, names, titles, languages.
pub mod text;
/// Values that need nothing else: ids, days, addresses, digests, and the bounds of what is accepted.
pub mod values;

//! From documents to rows: splits, embeds and writes documents, at once or in the background worker.

pub(crate) mod attached;
pub(crate) mod deletion;
pub(crate) mod embedding;
pub(crate) mod embedding_queue;
pub(crate) mod indexer;
pub(crate) mod keywords;
pub(crate) mod model_switch;
pub(crate) mod progress;
pub(crate) mod question_writing;
pub(crate) mod recut;
pub(crate) mod waiting;
pub(crate) mod worker;

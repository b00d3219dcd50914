//! Documentation search inside Postgres.
//!
//! This crate is glue: it converts arguments, calls `docsearch-core` and `docsearch-inference`, and
//! reports. One file for each family of SQL functions, named after what it owns.

use pgrx::prelude::*;

mod answer_prompt;
mod attached;
mod candidates;
mod catalog;
mod check;
mod config;
mod delivery;
mod document;
mod document_input;
mod embedding;
mod embedding_queue;
mod explain;
mod grade;
mod group;
mod identifier;
mod index;
mod indexer;
mod invariants;
mod jsonb;
mod keywords;
mod language_model;
mod latch;
mod lexical;
mod lock;
mod model;
mod model_grant;
mod model_switch;
mod names;
mod owner;
mod parser;
mod present;
mod project;
mod refine;
mod remote_model;
mod repair;
mod report;
mod rules;
mod schema;
mod search;
mod service;
mod settings;
mod sight;
mod statement;
mod statistics;
mod subtransaction;
mod suggest;
mod supervisor;
mod time_limit;
mod transaction;
mod transform;
mod tsvector;
mod vectors;
mod vocabulary;
mod worker;

pgrx::pg_module_magic!(name, version);

extension_sql_file!("../sql/bootstrap.sql", name = "bootstrap", bootstrap);
extension_sql_file!(
    "../sql/text_search.sql",
    name = "text_search",
    requires = [code_parser_start, code_parser_token, code_parser_end, code_parser_types]
);
extension_sql_file!(
    "../sql/vector_functions.sql",
    name = "vector_functions",
    requires = [query_embedding, passage_embeddings]
);
extension_sql_file!("../sql/attached.sql", name = "attached", requires = ["bootstrap"]);
extension_sql_file!(
    "../sql/privileges.sql",
    name = "privileges",
    requires = [
        check,
        repair,
        restart_inference,
        rules_changed,
        project_model,
        add_remote_model,
        test_language_model,
        test_model,
        "attached"
    ]
);
extension_sql_file!("../sql/comments.sql", name = "comments", finalize);

/// Called when the library is loaded: defines the settings, and has the server start the
/// supervisor of inference with itself if the library is preloaded.
/// Nothing is read from disk and no thread is started here, since this may run in the postmaster.
#[pg_guard]
pub extern "C-unwind" fn _PG_init() {
    report::without_backtraces();
    settings::define();
    // SAFETY: a flag of the server, read in the process that sets it.
    if unsafe { pg_sys::process_shared_preload_libraries_in_progress } {
        supervisor::start_with_server();
    }
}

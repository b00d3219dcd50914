//! Documentation search inside Postgres.
//!
//! This crate is glue: it converts arguments, calls `docsearch-core` and `docsearch-inference`, and reports errors. Its
//! folders are layers, each of which uses only those below: [`functions`], [`administration`], [`search`] and
//! [`indexing`], [`models`], [`tables`], [`settings`], [`postgres`].

use pgrx::prelude::*;

mod administration;
mod evaluation;
mod functions;
mod indexing;
mod models;
mod postgres;
mod reports;
mod search;
mod settings;
mod tables;
mod tuning;

pgrx::pg_module_magic!(name, version);

extension_sql_file!("../sql/bootstrap.sql", name = "bootstrap", bootstrap);
extension_sql_file!("../sql/argument_types.sql", name = "argument_types");
extension_sql_file!(
    "../sql/known_faults.sql",
    name = "known_faults_found",
    requires = [known_faults]
);
extension_sql_file!(
    "../sql/text_search.sql",
    name = "text_search",
    requires = [code_parser_start, code_parser_token, code_parser_end, code_parser_types]
);
extension_sql_file!("../sql/attached.sql", name = "attached", requires = ["bootstrap"]);
extension_sql_file!(
    "../sql/privileges.sql",
    name = "privileges",
    requires = [
        check,
        check_deep,
        embed_input,
        embedding_dimension,
        grade_features,
        grade_input,
        merge_statistics,
        repair,
        drop_all,
        restart_inference,
        rules_changed,
        project_model,
        count_changes,
        add_remote_model,
        test_language_model,
        test_model,
        "attached"
    ]
);
extension_sql_file!(
    "../sql/estimates.sql",
    name = "estimates",
    requires = [
        search_docs,
        search_answer,
        explain_search,
        grade_input,
        facets,
        suggest,
        load_docs,
        "privileges"
    ]
);
extension_sql_file!(
    "../sql/comments.sql",
    name = "comments",
    requires = ["privileges", "text_search"]
);
extension_sql_file!("../sql/declared.sql", name = "declared", finalize);

/// Runs when the library is loaded: defines the settings and, if the library is preloaded, has the server start the
/// supervisor of inference. It reads nothing from disk and starts no thread, since this may be the postmaster.
#[pg_guard]
pub extern "C-unwind" fn _PG_init() {
    if let Err(refusal) = postgres::library::require_alone() {
        refusal.report(pgrx::PgLogLevel::ERROR);
    }
    postgres::report::without_backtraces();
    postgres::interrupt::enable();
    settings::define();
    // SAFETY: a flag that this process sets.
    if unsafe { pg_sys::process_shared_preload_libraries_in_progress } {
        models::supervisor::start_with_server();
    }
}

/// Required by `cargo pgrx test`.
#[cfg(test)]
pub mod pg_test {
    /// Called before each test.
    pub fn setup(_options: Vec<&str>) {}

    /// Settings of the server.
    pub fn postgresql_conf_options() -> Vec<&'static str> {
        Vec::new()
    }
}

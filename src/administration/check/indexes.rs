//! Missing and invalid indexes, and missing constraints that have one.

use std::collections::HashSet;

use crate::administration::check::{CheckScope, Finding, Repair};
use crate::postgres::report::Result;
use crate::postgres::role::Owner;
use crate::postgres::{catalog, statement};

/// Indexes of the schema: name, table, and what follows `ON table`.
const INDEXES: [(&str, &str, &str); 30] = [
    ("document_category", "document", "(project_id, category)"),
    ("document_source_root", "document", "(project_id, source_root)"),
    (
        "document_text_digest",
        "document",
        "(text_digest, project_id) WHERE text_digest IS NOT NULL",
    ),
    ("document_metadata", "document", "USING gin (metadata jsonb_path_ops)"),
    (
        "chunk_terms",
        "chunk",
        "USING gin ((project_id + 0), terms) WITH (fastupdate = on, gin_pending_list_limit = 256)",
    ),
    (
        "document_name_key",
        "document_name",
        "(project_id, key) INCLUDE (document_id, kind)",
    ),
    ("document_name_document", "document_name", "(document_id, project_id)"),
    (
        "document_name_trigram",
        "document_name",
        "USING gin ((project_id + 0), key {trigram}.gin_trgm_ops)",
    ),
    (
        "definition_key",
        "definition",
        "(project_id, key) INCLUDE (document_id)",
    ),
    (
        "term_stat_lexeme",
        "term_stat",
        "(project_id, lexeme) INCLUDE (chunks, documents)",
    ),
    (
        "question_text",
        "question",
        "(project_id, lower(question COLLATE \"C\")) WHERE NOT stale",
    ),
    ("project_stat_project", "project_stat", "(project_id)"),
    ("posting_pending_project", "posting_pending", "(project_id)"),
    ("container_key", "container", "(project_id, key) INCLUDE (name)"),
    ("embedding_queue_next", "embedding_queue", "(next_attempt)"),
    (
        "table_change_attached",
        "table_change",
        "(attached_id, noted_at, id) WHERE attempts = 0",
    ),
    (
        "table_change_failed",
        "table_change",
        "(attached_id, next_attempt) WHERE attempts > 0",
    ),
    (
        "table_change_last",
        "table_change",
        "(attached_id, noted_at) WHERE attempts > 0",
    ),
    (
        "table_change_key",
        "table_change",
        "USING hash (key) WHERE attempts > 0",
    ),
    ("vector_code_project", "vector_code", "(project_id, model_id)"),
    (
        "vector_code_loose",
        "vector_code",
        "(project_id, model_id) WHERE NOT packed",
    ),
    (
        "vector_code_centroid",
        "vector_code",
        "(project_id, model_id) INCLUDE (id, centroid) WHERE centroid IS NOT NULL",
    ),
    (
        "vector_code_unclustered",
        "vector_code",
        "(project_id, model_id) WHERE centroid IS NULL",
    ),
    ("evaluation_run_set", "evaluation_run", "(set_name, project, id)"),
    ("gap_report_day", "gap_report", "(reported_on, role)"),
    ("query_log_logged_at", "query_log", "(logged_at)"),
    ("query_log_query", "query_log", "(query_key, logged_at)"),
    ("ranking_change_project", "ranking_change", "(project_id, id)"),
    ("tuning_project", "tuning", "(project_id, id)"),
    ("tuning_pending", "tuning", "(id) WHERE finished_at IS NULL"),
];

/// Constraints of the schema with an index: name, table and definition.
const CONSTRAINTS: [(&str, &str, &str); 23] = [
    ("model_pkey", "model", "PRIMARY KEY (id)"),
    ("model_name_key", "model", "UNIQUE (name)"),
    ("endpoint_pkey", "endpoint", "PRIMARY KEY (model_id)"),
    ("project_pkey", "project", "PRIMARY KEY (id)"),
    ("project_name_key", "project", "UNIQUE (name)"),
    ("document_pkey", "document", "PRIMARY KEY (project_id, id)"),
    ("document_project_id_slug_key", "document", "UNIQUE (project_id, slug)"),
    ("chunk_pkey", "chunk", "PRIMARY KEY (project_id, document_id, chunk_no)"),
    (
        "posting_segment_pkey",
        "posting_segment",
        "PRIMARY KEY (project_id, segment)",
    ),
    (
        "posting_pkey",
        "posting",
        "PRIMARY KEY (project_id, segment, bucket, part)",
    ),
    (
        "definition_pkey",
        "definition",
        "PRIMARY KEY (project_id, document_id, key)",
    ),
    (
        "question_pkey",
        "question",
        "PRIMARY KEY (project_id, document_id, question_no)",
    ),
    ("vector_code_pkey", "vector_code", "PRIMARY KEY (id)"),
    ("judgment_set_name_key", "judgment_set", "UNIQUE (name)"),
    (
        "judgment_query_pkey",
        "judgment_query",
        "PRIMARY KEY (set_id, query_id)",
    ),
    (
        "judgment_pkey",
        "judgment",
        "PRIMARY KEY (set_id, query_id, slug, anchor)",
    ),
    ("evaluation_run_pkey", "evaluation_run", "PRIMARY KEY (id)"),
    (
        "evaluation_result_pkey",
        "evaluation_result",
        "PRIMARY KEY (run_id, query_id)",
    ),
    (
        "evaluation_task_pkey",
        "evaluation_task",
        "PRIMARY KEY (run_id, query_id)",
    ),
    ("query_log_pkey", "query_log", "PRIMARY KEY (id)"),
    ("pin_pkey", "pin", "PRIMARY KEY (project_id, query_key)"),
    (
        "rejected_question_pkey",
        "rejected_question",
        "PRIMARY KEY (project_id, document_id, question_hash)",
    ),
    (
        "vector_{model}_pkey",
        "vector_{model}",
        "PRIMARY KEY (project_id, document_id, chunk_no)",
    ),
];

pub(super) fn indexes(owner: &mut Owner<'_>, checked: &CheckScope) -> Result<Vec<Finding>> {
    let existing: Vec<(String, String, String, bool)> = statement::rows(
        owner,
        "SELECT c.relname::text, t.relname::text, format('%I.%I', 'docsearch', c.relname),
                i.indisvalid AND i.indisready AND i.indislive
         FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
         WHERE t.relnamespace = 'docsearch'::regnamespace ORDER BY c.relname",
        &[],
        |row| Ok((row.required(1)?, row.required(2)?, row.required(3)?, row.required(4)?)),
    )?;
    let known: HashSet<&str> = existing.iter().map(|(name, ..)| name.as_str()).collect();
    let trigram = catalog::trigram_schema()?;
    let models: Vec<String> = checked
        .models(owner)?
        .into_iter()
        .filter(|row| row.has_table)
        .map(|row| row.id.to_string())
        .collect();
    let create =
        INDEXES.map(|(name, table, rest)| (name, table, format!("CREATE INDEX {name} ON docsearch.{table} {rest}")));
    let add = CONSTRAINTS.map(|(name, table, definition)| {
        let add = format!("ALTER TABLE docsearch.{table} ADD CONSTRAINT {name} {definition}");
        (name, table, add)
    });
    let mut findings = Vec::new();
    for (name, table, statement) in create.into_iter().chain(add) {
        // Each model has a table of vectors.
        let models = if name.contains("{model}") {
            models.as_slice()
        } else {
            &[String::new()]
        };
        for model in models {
            let name = name.replace("{model}", model);
            if known.contains(name.as_str()) {
                continue;
            }
            findings.push(Finding {
                problem: "index missing",
                object: format!("docsearch.{name}"),
                detail: format!("on docsearch.{}", table.replace("{model}", model)),
                repair: Repair::Statement(statement.replace("{model}", model).replace("{trigram}", &trigram)),
            });
        }
    }
    findings.extend(
        existing
            .iter()
            .filter(|(.., usable)| !usable)
            .map(|(_, table, index, _)| Finding {
                problem: "index invalid",
                object: index.clone(),
                detail: format!("on docsearch.{table}"),
                repair: Repair::Statement(format!("REINDEX INDEX {index}")),
            }),
    );
    Ok(findings)
}

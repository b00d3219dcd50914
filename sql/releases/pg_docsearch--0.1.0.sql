-- src/lib.rs:20
-- bootstrap
DO $$
BEGIN
    IF pg_catalog.current_setting('server_encoding') OPERATOR(pg_catalog.<>) 'UTF8' THEN
        RAISE EXCEPTION 'pg_docsearch needs a database with encoding UTF8'
            USING ERRCODE = 'feature_not_supported',
                  DETAIL = pg_catalog.format('The encoding of this database is %s.', pg_catalog.current_setting('server_encoding')),
                  HINT = 'Create the database with ENCODING ''UTF8'' TEMPLATE template0.';
    END IF;
END
$$;

CREATE SCHEMA docsearch;

-- src/functions/answer_prompt.rs:16
CREATE SCHEMA IF NOT EXISTS docsearch; /* pg_docsearch::functions::answer_prompt::docsearch */

-- src/functions/answer_prompt.rs:22
-- pg_docsearch::functions::answer_prompt::docsearch::answer_prompt
CREATE  FUNCTION docsearch."answer_prompt"(
	"query" TEXT, /* Option < & str > */
	"project" TEXT DEFAULT NULL, /* Option < & str > */
	"category" TEXT DEFAULT NULL, /* Option < & str > */
	"filter" jsonb DEFAULT NULL, /* Option < JsonB > */
	"max_results" INT DEFAULT 5, /* Option < i32 > */
	"config" jsonb DEFAULT NULL, /* Option < JsonB > */
	"max_tokens" INT DEFAULT 4000, /* Option < i32 > */
	"language" TEXT DEFAULT NULL /* Option < & str > */
) RETURNS TEXT /* Result < String > */
VOLATILE PARALLEL UNSAFE COST 10000
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'answer_prompt_wrapper';

-- src/functions/answer_prompt.rs:66
-- pg_docsearch::functions::answer_prompt::docsearch::detect_language
CREATE  FUNCTION docsearch."detect_language"(
	"text" TEXT /* & str */
) RETURNS TEXT /* Result < Option < String > > */
STRICT STABLE PARALLEL SAFE
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'detect_language_wrapper';

-- src/functions/answer_prompt.rs:73
-- pg_docsearch::functions::answer_prompt::docsearch::detect_text_config

CREATE FUNCTION docsearch.detect_text_config(text text) RETURNS regconfig
STABLE STRICT PARALLEL SAFE
SET search_path TO pg_catalog, pg_temp
LANGUAGE c AS 'MODULE_PATHNAME', 'detect_text_config_wrapper';

-- src/functions/attach.rs:19
-- pg_docsearch::functions::attach::docsearch::attach_table

CREATE FUNCTION docsearch.attach_table(
    source regclass,
    key text DEFAULT 'id',
    title text DEFAULT 'title',
    body text DEFAULT 'body',
    category text DEFAULT NULL,
    metadata text DEFAULT NULL,
    published_at text DEFAULT NULL,
    project text DEFAULT NULL,
    slug_prefix text DEFAULT NULL
) RETURNS text
LANGUAGE c VOLATILE PARALLEL UNSAFE
SET search_path TO pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'attach_table_wrapper';

-- src/functions/attach.rs:66
-- pg_docsearch::functions::attach::docsearch::detach_table

CREATE FUNCTION docsearch.detach_table(
    source regclass,
    project text DEFAULT NULL,
    keep_documents boolean DEFAULT false
) RETURNS bigint
LANGUAGE c VOLATILE PARALLEL UNSAFE
SET search_path TO pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'detach_table_wrapper';

-- src/functions/check.rs:16
-- pg_docsearch::functions::check::docsearch::check
CREATE  FUNCTION docsearch."check"(
	"project" TEXT DEFAULT NULL /* Option < & str > */
) RETURNS TABLE (
	"problem" TEXT,  /* String */
	"object" TEXT,  /* String */
	"detail" TEXT,  /* String */
	"repair" TEXT  /* String */
)
VOLATILE PARALLEL UNSAFE COST 1000000
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'check_wrapper';

-- src/functions/check.rs:61
-- pg_docsearch::functions::check::docsearch::repair
CREATE  FUNCTION docsearch."repair"(
	"project" TEXT DEFAULT NULL /* Option < & str > */
) RETURNS TABLE (
	"problem" TEXT,  /* String */
	"object" TEXT,  /* String */
	"detail" TEXT  /* String */
)
VOLATILE PARALLEL UNSAFE COST 1000000
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'repair_wrapper';

-- src/functions/deferred.rs:16
-- pg_docsearch::functions::deferred::docsearch::index_progress
CREATE  FUNCTION docsearch."index_progress"(
	"project" TEXT DEFAULT NULL /* Option < & str > */
) RETURNS TABLE (
	"project" TEXT,  /* String */
	"done" bigint,  /* i64 */
	"waiting" bigint,  /* i64 */
	"waiting_chunks" bigint,  /* i64 */
	"failed" bigint,  /* i64 */
	"unread" bigint,  /* i64 */
	"rate" double precision,  /* Option < f64 > */
	"time_left" interval,  /* Option < Interval > */
	"switching_to" TEXT,  /* Option < String > */
	"last_error" TEXT  /* Option < String > */
)
VOLATILE PARALLEL UNSAFE
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'index_progress_wrapper';

-- src/functions/deferred.rs:50
-- pg_docsearch::functions::deferred::docsearch::wait_for_index
CREATE  FUNCTION docsearch."wait_for_index"(
	"timeout" interval DEFAULT '5 minutes' /* Option < Interval > */
) RETURNS bool /* Result < bool > */
VOLATILE PARALLEL UNSAFE
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'wait_for_index_wrapper';

-- src/functions/document.rs:76
-- pg_docsearch::functions::document::list_docs
CREATE  FUNCTION "list_docs"(
	"project" TEXT DEFAULT NULL, /* Option < & str > */
	"category" TEXT DEFAULT NULL, /* Option < & str > */
	"kind" TEXT DEFAULT NULL, /* Option < & str > */
	"sort_by" TEXT DEFAULT 'title', /* Option < & str > */
	"max_tokens" INT DEFAULT NULL, /* Option < i32 > */
	"skip" INT DEFAULT 0 /* Option < i32 > */
) RETURNS TABLE (
	"project" TEXT,  /* String */
	"category" TEXT,  /* Option < String > */
	"slug" TEXT,  /* String */
	"title" TEXT,  /* String */
	"kind" TEXT,  /* Option < String > */
	"description" TEXT,  /* Option < String > */
	"version" TEXT,  /* Option < String > */
	"chunk_count" INT,  /* i32 */
	"updated_at" timestamp with time zone  /* TimestampWithTimeZone */
)
STABLE PARALLEL UNSAFE
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'list_docs_wrapper';

-- src/functions/document.rs:132
-- pg_docsearch::functions::document::list_docs_json
CREATE  FUNCTION "list_docs_json"(
	"project" TEXT DEFAULT NULL, /* Option < & str > */
	"category" TEXT DEFAULT NULL, /* Option < & str > */
	"kind" TEXT DEFAULT NULL, /* Option < & str > */
	"sort_by" TEXT DEFAULT 'title', /* Option < & str > */
	"max_tokens" INT DEFAULT NULL, /* Option < i32 > */
	"skip" INT DEFAULT 0 /* Option < i32 > */
) RETURNS jsonb /* Result < JsonB > */
STABLE PARALLEL UNSAFE
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'list_docs_json_wrapper';

-- src/functions/document.rs:13
-- pg_docsearch::functions::document::load_doc
CREATE  FUNCTION "load_doc"(
	"slug" TEXT, /* Option < & str > */
	"include_sections" bool DEFAULT true, /* Option < bool > */
	"include_metadata" bool DEFAULT true, /* Option < bool > */
	"project" TEXT DEFAULT NULL, /* Option < & str > */
	"section" TEXT DEFAULT NULL, /* Option < & str > */
	"max_tokens" INT DEFAULT NULL /* Option < i32 > */
) RETURNS TEXT /* Result < String > */
STABLE PARALLEL UNSAFE
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'load_doc_wrapper';

-- src/functions/document.rs:28
-- pg_docsearch::functions::document::load_doc_json
CREATE  FUNCTION "load_doc_json"(
	"slug" TEXT, /* Option < & str > */
	"include_sections" bool DEFAULT true, /* Option < bool > */
	"include_metadata" bool DEFAULT true, /* Option < bool > */
	"project" TEXT DEFAULT NULL, /* Option < & str > */
	"section" TEXT DEFAULT NULL, /* Option < & str > */
	"max_tokens" INT DEFAULT NULL /* Option < i32 > */
) RETURNS jsonb /* Result < JsonB > */
STABLE PARALLEL UNSAFE
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'load_doc_json_wrapper';

-- src/functions/document.rs:43
-- pg_docsearch::functions::document::load_docs
CREATE  FUNCTION "load_docs"(
	"slugs" TEXT[], /* :: std :: option :: Option < Vec < Option < String > > > */
	"include_sections" bool DEFAULT true, /* Option < bool > */
	"include_metadata" bool DEFAULT true, /* Option < bool > */
	"project" TEXT DEFAULT NULL, /* Option < & str > */
	"max_tokens" INT DEFAULT NULL /* Option < i32 > */
) RETURNS TABLE (
	"slug" TEXT,  /* Option < String > */
	"content" TEXT,  /* Option < String > */
	"error" TEXT  /* Option < String > */
)
STABLE PARALLEL UNSAFE
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'load_docs_wrapper';

-- src/functions/explain.rs:17
-- pg_docsearch::functions::explain::docsearch::explain_search
CREATE  FUNCTION docsearch."explain_search"(
	"query" TEXT, /* Option < & str > */
	"slug" TEXT, /* Option < & str > */
	"project" TEXT DEFAULT NULL, /* Option < & str > */
	"category" TEXT DEFAULT NULL, /* Option < & str > */
	"filter" jsonb DEFAULT NULL, /* Option < JsonB > */
	"config" jsonb DEFAULT NULL /* Option < JsonB > */
) RETURNS TABLE (
	"step" TEXT,  /* String */
	"rule" TEXT,  /* String */
	"matched" TEXT,  /* Option < String > */
	"raw" real,  /* Option < f32 > */
	"weight" real,  /* Option < f32 > */
	"before" real,  /* f32 */
	"after" real,  /* f32 */
	"contribution" real  /* f32 */
)
VOLATILE PARALLEL UNSAFE COST 10000
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'explain_search_wrapper';

-- src/functions/grade.rs:35
-- pg_docsearch::functions::grade::docsearch::grade_features
CREATE  FUNCTION docsearch."grade_features"(
	"query" TEXT, /* Option < & str > */
	"project" TEXT DEFAULT NULL, /* Option < & str > */
	"category" TEXT DEFAULT NULL, /* Option < & str > */
	"filter" jsonb DEFAULT NULL, /* Option < JsonB > */
	"config" jsonb DEFAULT NULL /* Option < JsonB > */
) RETURNS jsonb /* Result < JsonB > */
VOLATILE PARALLEL UNSAFE COST 10000
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'grade_features_wrapper';

-- src/functions/grade.rs:50
-- pg_docsearch::functions::grade::docsearch::grade_input
CREATE  FUNCTION docsearch."grade_input"(
	"query" TEXT, /* Option < & str > */
	"project" TEXT DEFAULT NULL, /* Option < & str > */
	"category" TEXT DEFAULT NULL, /* Option < & str > */
	"filter" jsonb DEFAULT NULL, /* Option < JsonB > */
	"config" jsonb DEFAULT NULL /* Option < JsonB > */
) RETURNS TABLE (
	"number" INT,  /* i32 */
	"source" TEXT,  /* String */
	"context" TEXT  /* String */
)
VOLATILE PARALLEL UNSAFE COST 10000
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'grade_input_wrapper';

-- src/functions/grade.rs:19
-- pg_docsearch::functions::grade::docsearch::grade_results
CREATE  FUNCTION docsearch."grade_results"(
	"query" TEXT, /* Option < & str > */
	"project" TEXT DEFAULT NULL, /* Option < & str > */
	"category" TEXT DEFAULT NULL, /* Option < & str > */
	"filter" jsonb DEFAULT NULL, /* Option < JsonB > */
	"config" jsonb DEFAULT NULL /* Option < JsonB > */
) RETURNS jsonb /* Result < JsonB > */
VOLATILE PARALLEL UNSAFE COST 10000
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'grade_results_wrapper';

-- src/functions/identifier.rs:10
-- pg_docsearch::functions::identifier::docsearch::split_identifier
CREATE  FUNCTION docsearch."split_identifier"(
	"identifier" TEXT /* & str */
) RETURNS TEXT /* String */
IMMUTABLE STRICT PARALLEL SAFE
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'split_identifier_wrapper';

-- src/functions/index.rs:117
-- pg_docsearch::functions::index::docsearch::delete_doc
CREATE  FUNCTION docsearch."delete_doc"(
	"project" TEXT, /* & str */
	"slug" TEXT /* & str */
) RETURNS bool /* Result < bool > */
STRICT VOLATILE PARALLEL UNSAFE
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'delete_doc_wrapper';

-- src/functions/index.rs:125
-- pg_docsearch::functions::index::docsearch::delete_missing
CREATE  FUNCTION docsearch."delete_missing"(
	"project" TEXT, /* & str */
	"source_root" TEXT, /* & str */
	"keep" TEXT[] /* Vec < Option < String > > */
) RETURNS SETOF TEXT /* String */
STRICT VOLATILE PARALLEL UNSAFE
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'delete_missing_wrapper';

-- src/functions/index.rs:148
-- pg_docsearch::functions::index::docsearch::embed_input
CREATE  FUNCTION docsearch."embed_input"(
	"project_id" bigint, /* i64 */
	"document_id" bigint, /* i64 */
	"chunk_no" INT /* i32 */
) RETURNS TEXT /* Result < Option < String > > */
STRICT STABLE PARALLEL UNSAFE
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'embed_input_wrapper';

-- src/functions/index.rs:24
-- pg_docsearch::functions::index::docsearch::index_doc
CREATE  FUNCTION docsearch."index_doc"(
	"project" TEXT, /* Option < & str > */
	"slug" TEXT, /* Option < String > */
	"title" TEXT, /* Option < String > */
	"body" TEXT, /* Option < String > */
	"category" TEXT DEFAULT NULL, /* Option < String > */
	"metadata" jsonb DEFAULT '{}', /* Option < JsonB > */
	"kind" TEXT DEFAULT NULL, /* Option < String > */
	"version" TEXT DEFAULT NULL, /* Option < String > */
	"summary" TEXT DEFAULT NULL, /* Option < String > */
	"keywords" TEXT[] DEFAULT NULL, /* :: std :: option :: Option < Vec < Option < String > > > */
	"source_urls" TEXT[] DEFAULT NULL, /* :: std :: option :: Option < Vec < Option < String > > > */
	"source_path" TEXT DEFAULT NULL, /* Option < String > */
	"source_root" TEXT DEFAULT NULL, /* Option < String > */
	"published_at" timestamp with time zone DEFAULT NULL /* Option < TimestampWithTimeZone > */
) RETURNS TEXT /* Result < String > */
VOLATILE PARALLEL UNSAFE
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'index_doc_wrapper';

-- src/functions/index.rs:73
-- pg_docsearch::functions::index::docsearch::index_docs
CREATE  FUNCTION docsearch."index_docs"(
	"project" TEXT, /* Option < & str > */
	"docs" jsonb /* Option < JsonBText > */
) RETURNS TABLE (
	"slug" TEXT,  /* Option < String > */
	"action" TEXT,  /* String */
	"chunks" INT,  /* Option < i32 > */
	"detail" TEXT  /* Option < String > */
)
VOLATILE PARALLEL UNSAFE
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'index_docs_wrapper';

-- src/functions/inference.rs:97
-- pg_docsearch::functions::inference::docsearch::restart_inference
CREATE  FUNCTION docsearch."restart_inference"() RETURNS INT /* Result < i32 > */
STRICT VOLATILE PARALLEL UNSAFE
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'restart_inference_wrapper';

-- src/functions/inference.rs:17
-- pg_docsearch::functions::inference::docsearch::status
CREATE  FUNCTION docsearch."status"() RETURNS TABLE (
	"state" TEXT,  /* String */
	"pid" INT,  /* Option < i32 > */
	"models" jsonb,  /* pgrx :: JsonB */
	"resident_bytes" bigint,  /* Option < i64 > */
	"queue_depth" bigint,  /* Option < i64 > */
	"requests" bigint,  /* Option < i64 > */
	"batches" bigint,  /* Option < i64 > */
	"cache_hits" bigint,  /* Option < i64 > */
	"transform_hits" bigint,  /* Option < i64 > */
	"grade_hits" bigint,  /* Option < i64 > */
	"p50_ms" double precision,  /* Option < f64 > */
	"p95_ms" double precision,  /* Option < f64 > */
	"restarts" bigint,  /* Option < i64 > */
	"last_error" TEXT  /* Option < String > */
)
STRICT VOLATILE PARALLEL RESTRICTED
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'status_wrapper';

-- src/functions/invariants.rs:17
-- pg_docsearch::functions::invariants::docsearch::verify_invariants
CREATE  FUNCTION docsearch."verify_invariants"(
	"project" TEXT, /* Option < & str > */
	"sample" INT DEFAULT NULL /* Option < i32 > */
) RETURNS TABLE (
	"form" TEXT,  /* String */
	"query" TEXT,  /* Option < String > */
	"expected" TEXT,  /* Option < String > */
	"found" TEXT,  /* Option < String > */
	"names" bigint,  /* Option < i64 > */
	"holding" bigint  /* Option < i64 > */
)
VOLATILE PARALLEL UNSAFE COST 1000000
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'verify_invariants_wrapper';

-- src/functions/language_model.rs:13
-- pg_docsearch::functions::language_model::docsearch::test_language_model
CREATE  FUNCTION docsearch."test_language_model"() RETURNS TEXT /* Result < String > */
STRICT VOLATILE PARALLEL UNSAFE
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'test_language_model_wrapper';

-- src/functions/migration.rs:21
-- pg_docsearch::functions::migration::docsearch::grant_usage
CREATE  FUNCTION docsearch."grant_usage"(
	"role" TEXT, /* & str */
	"write" bool DEFAULT false /* bool */
) RETURNS VOID /* Result < () > */
STRICT VOLATILE PARALLEL UNSAFE
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'grant_usage_wrapper';

-- src/functions/migration.rs:14
-- pg_docsearch::functions::migration::docsearch::migrate
CREATE  FUNCTION docsearch."migrate"() RETURNS INT /* Result < i32 > */
STRICT VOLATILE PARALLEL UNSAFE
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'migrate_wrapper';

-- src/functions/model.rs:64
-- pg_docsearch::functions::model::docsearch::add_model
CREATE  FUNCTION docsearch."add_model"(
	"name" TEXT, /* Option < & str > */
	"directory" TEXT DEFAULT NULL /* Option < & str > */
) RETURNS INT /* Result < i32 > */
VOLATILE PARALLEL UNSAFE
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'add_model_wrapper';

-- src/functions/model.rs:85
-- pg_docsearch::functions::model::docsearch::add_remote_model
CREATE  FUNCTION docsearch."add_remote_model"(
	"name" TEXT, /* Option < & str > */
	"url" TEXT, /* Option < & str > */
	"model" TEXT, /* Option < & str > */
	"dimension" INT DEFAULT NULL, /* Option < i32 > */
	"api_key_file" TEXT DEFAULT NULL, /* Option < & str > */
	"query_prefix" TEXT DEFAULT '', /* & str */
	"passage_prefix" TEXT DEFAULT '', /* & str */
	"max_tokens" INT DEFAULT 512 /* i32 */
) RETURNS INT /* Result < i32 > */
VOLATILE PARALLEL UNSAFE
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'add_remote_model_wrapper';

-- src/functions/model.rs:55
-- pg_docsearch::functions::model::docsearch::embedding_dimension
CREATE  FUNCTION docsearch."embedding_dimension"(
	"model" TEXT DEFAULT NULL /* Option < & str > */
) RETURNS INT /* Result < i32 > */
STABLE PARALLEL RESTRICTED
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'embedding_dimension_wrapper';

-- src/functions/model.rs:32
-- pg_docsearch::functions::model::docsearch::passage_embeddings
CREATE  FUNCTION docsearch."passage_embeddings"(
	"passages" TEXT[], /* :: std :: option :: Option < Vec < Option < String > > > */
	"model" TEXT DEFAULT NULL /* Option < & str > */
) RETURNS TABLE (
	"ordinal" INT,  /* i32 */
	"embedding" real[]  /* :: std :: option :: Option < Vec < f32 > > */
)
STABLE PARALLEL RESTRICTED COST 100000
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'passage_embeddings_wrapper';

-- src/functions/model.rs:18
-- pg_docsearch::functions::model::docsearch::query_embedding
CREATE  FUNCTION docsearch."query_embedding"(
	"query" TEXT, /* Option < & str > */
	"model" TEXT DEFAULT NULL /* Option < & str > */
) RETURNS real[] /* Result < :: std :: option :: Option < Vec < f32 > > > */
STABLE PARALLEL RESTRICTED COST 10000
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'query_embedding_wrapper';

-- src/functions/model.rs:116
-- pg_docsearch::functions::model::docsearch::test_model
CREATE  FUNCTION docsearch."test_model"(
	"model" TEXT DEFAULT NULL /* Option < & str > */
) RETURNS TEXT /* Result < String > */
VOLATILE PARALLEL UNSAFE
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'test_model_wrapper';

-- src/functions/model_grant.rs:14
-- pg_docsearch::functions::model_grant::docsearch::grant_model
CREATE  FUNCTION docsearch."grant_model"(
	"role" TEXT, /* & str */
	"model" TEXT /* & str */
) RETURNS VOID /* report :: Result < () > */
STRICT VOLATILE PARALLEL UNSAFE
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'grant_model_wrapper';

-- src/functions/model_grant.rs:28
-- pg_docsearch::functions::model_grant::docsearch::project_model
CREATE FUNCTION docsearch."project_model"()
	RETURNS TRIGGER
	LANGUAGE c
	AS 'MODULE_PATHNAME', 'project_model_wrapper';

-- src/functions/model_grant.rs:21
-- pg_docsearch::functions::model_grant::docsearch::revoke_model
CREATE  FUNCTION docsearch."revoke_model"(
	"role" TEXT, /* & str */
	"model" TEXT /* & str */
) RETURNS VOID /* report :: Result < () > */
STRICT VOLATILE PARALLEL UNSAFE
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'revoke_model_wrapper';

-- src/functions/parser.rs:56
-- pg_docsearch::functions::parser::docsearch::code_parser_end
CREATE  FUNCTION docsearch."code_parser_end"(
	"state" internal /* Internal */
) RETURNS void
IMMUTABLE STRICT PARALLEL SAFE
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'code_parser_end_wrapper';

-- src/functions/parser.rs:23
-- pg_docsearch::functions::parser::docsearch::code_parser_start
CREATE  FUNCTION docsearch."code_parser_start"(
	"text" internal, /* Internal */
	"length" INT /* i32 */
) RETURNS internal /* Result < Internal > */
IMMUTABLE STRICT PARALLEL SAFE
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'code_parser_start_wrapper';

-- src/functions/parser.rs:38
-- pg_docsearch::functions::parser::docsearch::code_parser_token
CREATE  FUNCTION docsearch."code_parser_token"(
	"state" internal, /* Internal */
	"start" internal, /* Internal */
	"length" internal /* Internal */
) RETURNS internal /* Result < Internal > */
IMMUTABLE STRICT PARALLEL SAFE
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'code_parser_token_wrapper';

-- src/functions/parser.rs:65
-- pg_docsearch::functions::parser::docsearch::code_parser_types
CREATE  FUNCTION docsearch."code_parser_types"(
	"_parser" internal /* Internal */
) RETURNS internal /* Result < Internal > */
IMMUTABLE STRICT PARALLEL SAFE
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'code_parser_types_wrapper';

-- src/functions/project.rs:14
-- pg_docsearch::functions::project::docsearch::create_project

CREATE FUNCTION docsearch.create_project(
    name text,
    title text DEFAULT NULL,
    model text DEFAULT NULL,
    text_config regconfig DEFAULT NULL,
    root_url text DEFAULT NULL,
    settings jsonb DEFAULT NULL
) RETURNS bigint
LANGUAGE c VOLATILE PARALLEL UNSAFE
SET search_path TO pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'create_project_wrapper';

-- src/functions/project.rs:46
-- pg_docsearch::functions::project::docsearch::drop_project
CREATE  FUNCTION docsearch."drop_project"(
	"name" TEXT /* & str */
) RETURNS bigint /* Result < i64 > */
STRICT VOLATILE PARALLEL UNSAFE
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'drop_project_wrapper';

-- src/functions/refine.rs:17
-- pg_docsearch::functions::refine::docsearch::search_refined
CREATE  FUNCTION docsearch."search_refined"(
	"query" TEXT, /* Option < & str > */
	"project" TEXT DEFAULT NULL, /* Option < & str > */
	"category" TEXT DEFAULT NULL, /* Option < & str > */
	"filter" jsonb DEFAULT NULL, /* Option < JsonB > */
	"max_results" INT DEFAULT 5, /* Option < i32 > */
	"min_score" real DEFAULT 0.0, /* Option < f32 > */
	"dedup" TEXT DEFAULT 'document', /* Option < & str > */
	"config" jsonb DEFAULT NULL, /* Option < JsonB > */
	"max_refinements" INT DEFAULT 2 /* Option < i32 > */
) RETURNS jsonb /* Result < JsonB > */
VOLATILE PARALLEL UNSAFE COST 30000
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'search_refined_wrapper';

-- src/functions/rules.rs:16
-- pg_docsearch::functions::rules::docsearch::reset_rules
CREATE  FUNCTION docsearch."reset_rules"() RETURNS bigint /* report :: Result < i64 > */
STRICT VOLATILE PARALLEL UNSAFE
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'reset_rules_wrapper';

-- src/functions/rules.rs:24
-- pg_docsearch::functions::rules::docsearch::rules_changed
CREATE FUNCTION docsearch."rules_changed"()
	RETURNS TRIGGER
	LANGUAGE c
	AS 'MODULE_PATHNAME', 'rules_changed_wrapper';

-- src/functions/search.rs:162
-- pg_docsearch::functions::search::docsearch::search_answer
CREATE  FUNCTION docsearch."search_answer"(
	"query" TEXT, /* Option < & str > */
	"project" TEXT DEFAULT NULL, /* Option < & str > */
	"category" TEXT DEFAULT NULL, /* Option < & str > */
	"filter" jsonb DEFAULT NULL, /* Option < JsonB > */
	"max_results" INT DEFAULT 5, /* Option < i32 > */
	"min_score" real DEFAULT 0.0, /* Option < f32 > */
	"dedup" TEXT DEFAULT 'document', /* Option < & str > */
	"config" jsonb DEFAULT NULL, /* Option < JsonB > */
	"format" TEXT DEFAULT 'compact', /* Option < & str > */
	"max_chars" INT DEFAULT 20000, /* Option < i32 > */
	"max_tokens" INT DEFAULT NULL /* Option < i32 > */
) RETURNS TABLE (
	"content" TEXT,  /* String */
	"results" INT,  /* i32 */
	"confidence" TEXT,  /* String */
	"notices" TEXT[]  /* Vec < String > */
)
VOLATILE PARALLEL UNSAFE COST 10000
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'search_answer_wrapper';

-- src/functions/search.rs:13
-- pg_docsearch::functions::search::search_docs
CREATE  FUNCTION "search_docs"(
	"query" TEXT, /* Option < & str > */
	"project" TEXT DEFAULT NULL, /* Option < & str > */
	"category" TEXT DEFAULT NULL, /* Option < & str > */
	"filter" jsonb DEFAULT NULL, /* Option < JsonB > */
	"max_results" INT DEFAULT 5, /* Option < i32 > */
	"min_score" real DEFAULT 0.0, /* Option < f32 > */
	"dedup" TEXT DEFAULT 'document', /* Option < & str > */
	"config" jsonb DEFAULT NULL /* Option < JsonB > */
) RETURNS TABLE (
	"rank" INT,  /* i32 */
	"slug" TEXT,  /* String */
	"title" TEXT,  /* String */
	"section" TEXT,  /* String */
	"project" TEXT,  /* String */
	"category" TEXT,  /* Option < String > */
	"score" real,  /* f32 */
	"similarity" real,  /* Option < f32 > */
	"keyword_score" real,  /* f32 */
	"confidence" TEXT,  /* String */
	"snippet" TEXT,  /* String */
	"url" TEXT,  /* Option < String > */
	"document_id" bigint,  /* i64 */
	"chunk_no" INT,  /* i32 */
	"chunk_count" INT,  /* i32 */
	"additional_chunk" bool,  /* bool */
	"notice" TEXT  /* Option < String > */
)
VOLATILE PARALLEL UNSAFE COST 10000
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'search_docs_wrapper';

-- src/functions/search.rs:100
-- pg_docsearch::functions::search::search_docs_json
CREATE  FUNCTION "search_docs_json"(
	"query" TEXT, /* Option < & str > */
	"project" TEXT DEFAULT NULL, /* Option < & str > */
	"category" TEXT DEFAULT NULL, /* Option < & str > */
	"filter" jsonb DEFAULT NULL, /* Option < JsonB > */
	"max_results" INT DEFAULT 5, /* Option < i32 > */
	"min_score" real DEFAULT 0.0, /* Option < f32 > */
	"dedup" TEXT DEFAULT 'document', /* Option < & str > */
	"config" jsonb DEFAULT NULL /* Option < JsonB > */
) RETURNS jsonb /* Result < JsonB > */
VOLATILE PARALLEL UNSAFE COST 10000
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'search_docs_json_wrapper';

-- src/functions/search.rs:127
-- pg_docsearch::functions::search::search_docs_text
CREATE  FUNCTION "search_docs_text"(
	"query" TEXT, /* Option < & str > */
	"project" TEXT DEFAULT NULL, /* Option < & str > */
	"category" TEXT DEFAULT NULL, /* Option < & str > */
	"filter" jsonb DEFAULT NULL, /* Option < JsonB > */
	"max_results" INT DEFAULT 5, /* Option < i32 > */
	"min_score" real DEFAULT 0.0, /* Option < f32 > */
	"dedup" TEXT DEFAULT 'document', /* Option < & str > */
	"config" jsonb DEFAULT NULL, /* Option < JsonB > */
	"format" TEXT DEFAULT 'compact', /* Option < & str > */
	"max_chars" INT DEFAULT 20000, /* Option < i32 > */
	"max_tokens" INT DEFAULT NULL /* Option < i32 > */
) RETURNS TEXT /* Result < String > */
VOLATILE PARALLEL UNSAFE COST 10000
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'search_docs_text_wrapper';

-- src/functions/set_model.rs:17
-- pg_docsearch::functions::set_model::docsearch::set_model
CREATE  FUNCTION docsearch."set_model"(
	"project" TEXT, /* Option < & str > */
	"model" TEXT /* Option < & str > */
) RETURNS VOID /* Result < () > */
VOLATILE PARALLEL UNSAFE
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'set_model_wrapper';

-- src/functions/settings.rs:15
-- pg_docsearch::functions::settings::docsearch::settings
CREATE  FUNCTION docsearch."settings"() RETURNS TABLE (
	"name" TEXT,  /* String */
	"value" TEXT,  /* Option < String > */
	"source" TEXT,  /* String */
	"unit" TEXT,  /* Option < String > */
	"minimum" TEXT,  /* Option < String > */
	"maximum" TEXT,  /* Option < String > */
	"help" TEXT  /* String */
)
STRICT STABLE PARALLEL SAFE
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'settings_wrapper';

-- src/functions/statistics.rs:24
-- pg_docsearch::functions::statistics::docsearch::finish_load
CREATE  FUNCTION docsearch."finish_load"(
	"project" TEXT /* & str */
) RETURNS VOID /* Result < () > */
STRICT VOLATILE PARALLEL UNSAFE
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'finish_load_wrapper';

-- src/functions/statistics.rs:14
-- pg_docsearch::functions::statistics::docsearch::merge_statistics
CREATE  FUNCTION docsearch."merge_statistics"(
	"project" TEXT /* & str */
) RETURNS VOID /* Result < () > */
STRICT VOLATILE PARALLEL UNSAFE
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'merge_statistics_wrapper';

-- src/functions/suggest.rs:21
-- pg_docsearch::functions::suggest::docsearch::suggest
CREATE  FUNCTION docsearch."suggest"(
	"text" TEXT, /* Option < & str > */
	"project" TEXT DEFAULT NULL, /* Option < & str > */
	"max_results" INT DEFAULT 10 /* Option < i32 > */
) RETURNS TABLE (
	"suggestion" TEXT,  /* String */
	"kind" TEXT,  /* String */
	"slug" TEXT,  /* Option < String > */
	"score" real  /* f32 */
)
VOLATILE PARALLEL UNSAFE COST 10000
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'suggest_wrapper';

-- src/functions/transform.rs:16
-- pg_docsearch::functions::transform::docsearch::transform_query
CREATE  FUNCTION docsearch."transform_query"(
	"query" TEXT, /* Option < & str > */
	"project" TEXT DEFAULT NULL, /* Option < & str > */
	"now" timestamp with time zone DEFAULT pg_catalog.now() /* Option < TimestampWithTimeZone > */
) RETURNS jsonb /* Result < JsonB > */
VOLATILE PARALLEL UNSAFE COST 10000
SET search_path TO pg_catalog, pg_temp
LANGUAGE c /* Rust */
AS 'MODULE_PATHNAME', 'transform_query_wrapper';

-- src/lib.rs:21
-- requires:
--   code_parser_start
--   code_parser_token
--   code_parser_end
--   code_parser_types

CREATE TEXT SEARCH PARSER docsearch.code_parser (
    START = docsearch.code_parser_start,
    GETTOKEN = docsearch.code_parser_token,
    END = docsearch.code_parser_end,
    LEXTYPES = docsearch.code_parser_types,
    HEADLINE = pg_catalog.prsd_headline
);

CREATE TEXT SEARCH CONFIGURATION docsearch.simple (PARSER = docsearch.code_parser);
ALTER TEXT SEARCH CONFIGURATION docsearch.simple
    ADD MAPPING FOR word, numword, version, numpart, part, qualified, identifier, bigram, number, operator
    WITH pg_catalog.simple;
COMMENT ON TEXT SEARCH CONFIGURATION docsearch.simple IS 'code-aware parser, words as they are';

-- A configuration for each Snowball language of the server. The stemmers have no list of stop
-- words: IN, ALL and not are things that people look up.
DO $$
DECLARE
    stemmer pg_catalog.text;
    language pg_catalog.text;
BEGIN
    FOR stemmer IN
        SELECT d.dictname::pg_catalog.text
        FROM pg_catalog.pg_ts_dict d
        WHERE d.dictname::pg_catalog.text OPERATOR(pg_catalog.~) '_stem$'
          AND d.dictnamespace OPERATOR(pg_catalog.=) 'pg_catalog'::pg_catalog.regnamespace::pg_catalog.oid
        ORDER BY d.dictname::pg_catalog.text USING OPERATOR(pg_catalog.<)
    LOOP
        language := pg_catalog.regexp_replace(stemmer, '_stem$', '');
        EXECUTE pg_catalog.format(
            'CREATE TEXT SEARCH DICTIONARY docsearch.%I (TEMPLATE = pg_catalog.snowball, LANGUAGE = %I)',
            stemmer, language);
        EXECUTE pg_catalog.format('COMMENT ON TEXT SEARCH DICTIONARY docsearch.%I IS %L',
            stemmer, pg_catalog.format('snowball stemmer for %s without stop words', language));
        EXECUTE pg_catalog.format(
            'CREATE TEXT SEARCH CONFIGURATION docsearch.%I (PARSER = docsearch.code_parser)', language);
        EXECUTE pg_catalog.format(
            'ALTER TEXT SEARCH CONFIGURATION docsearch.%I ADD MAPPING FOR word, part WITH docsearch.%I',
            language, stemmer);
        EXECUTE pg_catalog.format(
            'ALTER TEXT SEARCH CONFIGURATION docsearch.%I ADD MAPPING FOR numword, version, numpart,
                 qualified, identifier, bigram, number, operator WITH pg_catalog.simple', language);
        EXECUTE pg_catalog.format('COMMENT ON TEXT SEARCH CONFIGURATION docsearch.%I IS %L',
            language, pg_catalog.format('code-aware parser, %s words stemmed, identifiers whole and in parts', language));
    END LOOP;
END
$$;
COMMENT ON TEXT SEARCH PARSER docsearch.code_parser IS
    'words, identifiers whole and in parts, qualified names, operators, versions, CJK bigrams';

-- src/lib.rs:26
-- requires:
--   query_embedding
--   passage_embeddings

CREATE FUNCTION docsearch.embed(query text, model text DEFAULT NULL) RETURNS @extschema:vector@.vector
    LANGUAGE sql STABLE PARALLEL RESTRICTED COST 10000
    SET search_path = pg_catalog, pg_temp
    AS $$ SELECT docsearch.query_embedding(query, model)::@extschema:vector@.vector $$;

CREATE FUNCTION docsearch.embed_passages(passages text[], model text DEFAULT NULL) RETURNS @extschema:vector@.vector[]
    LANGUAGE sql STABLE PARALLEL RESTRICTED COST 100000
    SET search_path = pg_catalog, pg_temp
    AS $$
        SELECT array_agg(p.embedding::@extschema:vector@.vector ORDER BY p.ordinal)
        FROM docsearch.passage_embeddings(passages, model) p
    $$;

-- src/lib.rs:31
-- requires:
--   bootstrap

-- Called with the rights of who changes an attached table. A C function, because what it reads are the rows
-- that Postgres hands to the trigger and no name that a caller could give another meaning.
CREATE FUNCTION docsearch.attached_changed() RETURNS trigger
LANGUAGE c VOLATILE PARALLEL UNSAFE
SET search_path TO pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'docsearch_attached_changed';

-- src/lib.rs:32
-- requires:
--   check
--   repair
--   restart_inference
--   rules_changed
--   project_model
--   add_remote_model
--   test_language_model
--   test_model
--   attached

-- What concerns the whole server, or all tables, is for administrators.
REVOKE EXECUTE ON FUNCTION docsearch.restart_inference() FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION docsearch.test_language_model(), docsearch.test_model(text) FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION docsearch.add_remote_model(text, text, text, int, text, text, text, int) FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION docsearch.check(text), docsearch.repair(text) FROM PUBLIC;
ALTER FUNCTION docsearch.rules_changed() SET search_path TO pg_catalog, pg_temp;
ALTER FUNCTION docsearch.project_model() SET search_path TO pg_catalog, pg_temp;

-- src/lib.rs:47
-- finalize
COMMENT ON SCHEMA docsearch IS
    'pg_docsearch: projects, documents and what is derived from them, and the functions that index them';

COMMENT ON FUNCTION @extschema@.search_docs(text, text, text, jsonb, integer, real, text, jsonb) IS
    'documents that best answer query, best first: max_results rows (1 to 1000) with scores from 0 to 1, best section, snippet and notices; of one project, category or filter if given. A blank query and unknown keys of config are errors (22023), an unknown project too (42704).';
COMMENT ON FUNCTION @extschema@.search_docs_json(text, text, text, jsonb, integer, real, text, jsonb) IS
    'the answer of search_docs as one object: query, understood (what its text says: class, symbol, container, identifiers ...), executed_query, results with section_matches and the cost of loading each document in tokens, notices with code and message, tips, suggestions, confidence, candidates, grade and timings in milliseconds.';
COMMENT ON FUNCTION @extschema@.search_docs_text(text, text, text, jsonb, integer, real, text, jsonb, text, integer, integer) IS
    'the answer of search_docs as text: format compact (three lines for each result; 5 results within 2,000 characters), detailed or raw (the JSON object). Within max_chars characters (200 or more) and max_tokens tokens of 4 characters: detail goes first, then excerpts, then results, and a note says so.';
COMMENT ON FUNCTION docsearch.search_answer(text, text, text, jsonb, integer, real, text, jsonb, text, integer, integer) IS
    'the text of search_docs_text with what a program would have to read out of it, in one row: content, the text; results, how many were found; confidence of the answer (high, medium or low); notices, their codes.';
COMMENT ON FUNCTION @extschema@.load_doc(text, boolean, boolean, text, text, integer) IS
    'markdown of a document, named by its slug or by project/slug#anchor: whole, one section of it, or cut with a note at max_tokens tokens (4 characters each); a section comes with the references of its parent, the one before and the next. Errors: unknown (42704, with the nearest slugs), in several projects (42P08).';
COMMENT ON FUNCTION @extschema@.load_doc_json(text, boolean, boolean, text, text, integer) IS
    'the document of load_doc as one object: project, slug, reference, title, summary, category, kind, version, url, source_urls, keywords, metadata, dates (ISO 8601, UTC), tokens (4 bytes each), sections (anchor, level, title, tokens with those below), section with the references of its parent, the one before and the next if one is asked for, content (the markdown of load_doc) and whether max_tokens has truncated it. Errors as of load_doc.';
COMMENT ON FUNCTION @extschema@.load_docs(text[], boolean, boolean, text, integer) IS
    'load_doc for several slugs, one row each in the order given; a slug that cannot be loaded has an error in its row and does not lose the others. max_tokens (4 characters each) holds for all of them together: short documents are whole, long ones share what is left.';
COMMENT ON FUNCTION @extschema@.list_docs(text, text, text, text, integer, integer) IS
    'the documents that the caller sees, without their text; sort_by is title, category or date (newest change first). A category includes those below it, as in guides and guides/install. Rows after the first skip, and as many as have max_tokens tokens (4 characters each) together, but one at least; a NOTICE says how many follow.';

COMMENT ON FUNCTION @extschema@.list_docs_json(text, text, text, text, integer, integer) IS
    'the documents of list_docs as a tree: total_documents, next_skip (what skip gives the next part; null at the end), and categories with name, category, document_count (with those below), documents (project, slug, title, description, last_updated) and categories.';

COMMENT ON FUNCTION docsearch.explain_search(text, text, text, text, jsonb, jsonb) IS
    'how search_docs comes to the score of the document that slug names: first what each leg found, then each step with the score before and after it. step is leg, base, boost, penalty or name; contribution is after less before; the last after is the score, 0 to 1. Errors: unknown document (42704), one that category or filter leave out (22023).';
COMMENT ON FUNCTION docsearch.transform_query(text, text, timestamp with time zone) IS
    'a query with what could be added to it: query, transformed, changed, added_terms (term, source: synonym, vocabulary or time, reason), recency and reason. Names and well-formed questions are left alone; abbreviations are written out; a vague query gets words that the documents it finds share; one that asks for what is new gets month and year of now. The words of the query always stay.';
COMMENT ON FUNCTION docsearch.grade_results(text, text, text, jsonb, jsonb) IS
    'how good the answer to query is, from its first 15 results: score (0.6 relevance + 0.4 completeness), relevance (probability that one of the first 5 answers it), completeness (share of its words, by rarity, that the first 5 hold), grounded (whether the documents are about it), reasoning, and should_refine: whether one of the first three is below docsearch.grade_min_score, grade_min_relevance or grade_min_completeness, or it is not grounded. All from 0 to 1.';
COMMENT ON FUNCTION docsearch.grade_features(text, text, text, jsonb, jsonb) IS
    'the features of an answer that grade_results weighs, by name.';
COMMENT ON FUNCTION docsearch.grade_input(text, text, text, jsonb, jsonb) IS
    'the contexts that a grade is about, best first: at most 15, the first 500 characters of each with its source; empty ones are left out.';
COMMENT ON FUNCTION docsearch.search_refined(text, text, text, jsonb, integer, real, text, jsonb, integer) IS
    'the answer of search_docs_json, graded; while the grade asks for it, up to max_refinements (0 to 2) better queries are tried, and the answer with the best grade is given. Grades are always of the query as written. Adds iterations, best_iteration, stop_reason (accepted, max_iterations, nothing_to_add or no_results) and trace, an object for each retrieval.';
COMMENT ON FUNCTION docsearch.answer_prompt(text, text, text, jsonb, integer, jsonb, integer, text) IS
    'a prompt for a language model: the question, the best sections as numbered contexts with their sources, and to answer from them only, in the language of the question or the one given (ISO 639-1). At most max_tokens tokens of 4 characters (200 or more); a note says how many contexts did not fit. Nothing is sent anywhere.';
COMMENT ON FUNCTION docsearch.detect_language(text) IS
    'language of a text as an ISO 639-1 code, such as en or ja, by its small words, its script and its letters; NULL if nothing tells.';
COMMENT ON FUNCTION docsearch.detect_text_config(text) IS
    'text search configuration for the language of a text; simple if there is none for it.';
COMMENT ON FUNCTION docsearch.suggest(text, text, integer) IS
    'what may have been meant by an unfinished or mistyped text, best first, at most max_results (1 to 100): names of pages with their slugs, words of documents, and plainer verbs. kind is name, completion, correction or phrasing (in answers also topic: what many documents are about, when nothing is nearer); score goes from 0 to 1.';
COMMENT ON FUNCTION docsearch.verify_invariants(text, integer) IS
    'searches a project for each unique name (a title, symbol or slug leaf that no other document bears) as written, in lower case, split into words and followed by "in" and the project: a row for each that does not bring its page first, then a row for each form with the number of names and how many hold. With sample, of about so many names.';
COMMENT ON FUNCTION docsearch.reset_rules() IS
    'puts the shipped rules back in place of those of all projects, and returns their number; rules of single projects stay.';
COMMENT ON FUNCTION docsearch.rules_changed() IS
    'trigger of the tables of rules: every backend reads them again.';

COMMENT ON FUNCTION docsearch.create_project(text, text, text, regconfig, text, jsonb) IS
    'creates a project and returns its id; the first call makes the tables and has to come from the owner of schema docsearch. text_config is a text search configuration, docsearch.english if NULL; settings is {"vectors": "sections"} or {"vectors": "document"}.';
COMMENT ON FUNCTION docsearch.drop_project(text) IS
    'removes a project with all its documents and returns how many documents the caller saw in it; an unknown project is an error (42704).';
COMMENT ON FUNCTION docsearch.index_doc(text, text, text, text, text, jsonb, text, text, text, text[], text[], text, text, timestamp with time zone) IS
    'stores a markdown document with its chunks, names, terms and vectors, and returns added, changed or unchanged. Slug, title and body are required; a chunk whose text is unchanged is not embedded again.';
COMMENT ON FUNCTION docsearch.index_docs(text, jsonb) IS
    'index_doc for an array of objects whose keys are its arguments; one row each with action added, changed, unchanged or failed, the number of chunks, and what is wrong. A document that fails does not lose the others.';
COMMENT ON FUNCTION docsearch.delete_doc(text, text) IS
    'removes a document of a project; false if there is none with this slug that the caller sees.';
COMMENT ON FUNCTION docsearch.delete_missing(text, text, text[]) IS
    'removes the documents of a project that came from source_root and whose slug is not in keep, and returns their slugs; other source roots are left alone.';
COMMENT ON FUNCTION docsearch.finish_load(text) IS
    'ends a load: adds up the statistics of a project and analyses the tables for the planner.';
COMMENT ON FUNCTION docsearch.merge_statistics(text) IS
    'adds up the appended changes of a project''s term statistics; indexing does it by itself when many have come together. Does nothing while another transaction merges them.';

COMMENT ON FUNCTION docsearch.embed(text, text) IS
    'vector of a query, by the model named or else docsearch.default_model; NULL for NULL. A missing library or model is an error with a hint (58P01).';
COMMENT ON FUNCTION docsearch.embed_passages(text[], text) IS
    'vectors of passages in the order given, by the model named or else docsearch.default_model; a NULL passage has a NULL vector.';
COMMENT ON FUNCTION docsearch.query_embedding(text, text) IS
    'vector of a query as real[]: what docsearch.embed casts to vector.';
COMMENT ON FUNCTION docsearch.passage_embeddings(text[], text) IS
    'vectors of passages as rows of ordinal (from 1) and real[]: what docsearch.embed_passages collects.';
COMMENT ON FUNCTION docsearch.embedding_dimension(text) IS
    'number of components of a vector of the model named or else of docsearch.default_model.';
COMMENT ON FUNCTION docsearch.embed_input(bigint, bigint, integer) IS
    'text that was embedded for a chunk, given by project_id, document_id and chunk_no; NULL if there is no such chunk or the caller does not see its document.';

COMMENT ON FUNCTION docsearch.split_identifier(text) IS
    'the identifier with a space between its words, as in UI Table View for UITableView.';

COMMENT ON FUNCTION docsearch.migrate() IS
    'brings the tables of schema docsearch to the version of this extension and returns it; needed after ALTER EXTENSION pg_docsearch UPDATE, run by the owner of the schema.';
COMMENT ON FUNCTION docsearch.grant_usage(text, boolean) IS
    'grants a role what searching needs, with write => true what indexing needs too; which documents the role sees is up to the policies on docsearch.document.';
COMMENT ON FUNCTION docsearch.check(text) IS
    'what is wrong with one project or with all, and no row if nothing is: chunks, names, containers, vectors and statistics that are not those of the documents, rows without an owner, missing or invalid indexes, models that cannot be used. repair says what to run or to do. For the owner of schema docsearch: EXECUTE is not granted to PUBLIC.';
COMMENT ON FUNCTION docsearch.repair(text) IS
    'mends what docsearch.check finds, as far as the extension can, and says what it did; what failed is a row that begins with "not mended". Indexing waits until the transaction ends, searching does not. For the owner of schema docsearch: EXECUTE is not granted to PUBLIC.';
COMMENT ON FUNCTION docsearch.settings() IS
    'every setting docsearch.* that the caller may read: value, where the value comes from, unit, bounds and a sentence of help.';

COMMENT ON FUNCTION docsearch.code_parser_start(internal, integer) IS
    'begins a parse of docsearch.code_parser; called by Postgres.';
COMMENT ON FUNCTION docsearch.code_parser_token(internal, internal, internal) IS
    'next token of docsearch.code_parser; called by Postgres.';
COMMENT ON FUNCTION docsearch.code_parser_end(internal) IS
    'ends a parse of docsearch.code_parser; called by Postgres.';
COMMENT ON FUNCTION docsearch.code_parser_types(internal) IS
    'token types of docsearch.code_parser; called by Postgres.';
COMMENT ON FUNCTION docsearch.status() IS
    'one row on inference: state (not started, starting, running, not responding, failed, in process), process id and resident memory of the program in bytes, models that it has loaded, texts that wait, texts asked for, runs of a model (one text each), queries answered from the cache, median and 95th percentile of the last 1,000 queries in milliseconds, restarts since the supervisor began, and its last error (for members of pg_monitor). Starts nothing.';
COMMENT ON FUNCTION docsearch.restart_inference() IS
    'ends the inference program, waits until the next one answers, and returns its process id. For administrators: EXECUTE is not granted to PUBLIC.';
COMMENT ON FUNCTION docsearch.index_progress(text) IS
    'how far background indexing is, for one project or all: documents done, waiting and failed, changes of attached tables that are not read yet, documents per second, time left, last error.';
COMMENT ON FUNCTION docsearch.wait_for_index(interval) IS
    'waits until everything that was committed is indexed, and starts the worker if there is none; false after the timeout (NULL: none).';
COMMENT ON FUNCTION docsearch.attach_table(regclass, text, text, text, text, text, text, text, text) IS
    'indexes the rows of a table that the caller owns, now and whenever they change, in the background: columns of key, title, body, category, metadata (one jsonb column, or several with commas between) and publication; the project is created, named after the table, when none is given; slugs are slug_prefix (the table''s name and /) and the key; returns the project.';
COMMENT ON FUNCTION docsearch.detach_table(regclass, text, boolean) IS
    'ends what attach_table began, for one project or all; returns the number of documents removed, none with keep_documents.';
COMMENT ON FUNCTION docsearch.attached_changed() IS
    'trigger of attached tables: notes which rows changed.';
COMMENT ON FUNCTION docsearch.add_model(text, text) IS
    'makes a model known whose files lie in a directory below docsearch.model_directory (NULL: called like the model), after checking the files and embedding some texts; returns its number; for the owner of schema docsearch.';
COMMENT ON FUNCTION docsearch.set_model(text, text) IS
    'gives a project another model in the background: the old one serves until the new one has embedded everything, then it takes over in one transaction; the model it has: ends a switch under way.';
COMMENT ON FUNCTION docsearch.test_language_model() IS
    'asks the language model of docsearch.llm_url for one word, and says what it answered and how long that took; why not is an error with a hint. For administrators: EXECUTE is not granted to PUBLIC.';
COMMENT ON FUNCTION docsearch.add_remote_model(text, text, text, integer, text, text, text, integer) IS
    'makes a model known that an OpenAI-compatible endpoint runs: name here, url of the interface (such as http://127.0.0.1:8080/v1), model there, dimension to ask for (1 to 4000; NULL: the model''s own), file of the server with the API key, prefixes, tokens of a chunk (32 to 32768); embeds some texts and returns its number. Of a known name it changes url and api_key_file. For superusers: EXECUTE is not granted to PUBLIC.';
COMMENT ON FUNCTION docsearch.test_model(text) IS
    'embeds a text that no cache knows with the model named or else docsearch.default_model, and says how many components the vector has and how long that took; why not is an error with a hint. For administrators: EXECUTE is not granted to PUBLIC.';
COMMENT ON FUNCTION docsearch.grant_model(text, text) IS
    'lets a role, and its members, give a remote model to projects with create_project and set_model: the documents of those are sent to its endpoint; for the owner of schema docsearch.';
COMMENT ON FUNCTION docsearch.revoke_model(text, text) IS
    'takes back what grant_model gave; projects keep their models; for the owner of schema docsearch.';
COMMENT ON FUNCTION docsearch.project_model() IS
    'trigger of the table of projects: refuses a remote model that who gives it may not use.';

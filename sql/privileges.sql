-- Functions that concern the whole server or all tables are for administrators.
REVOKE EXECUTE ON FUNCTION docsearch.restart_inference() FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION docsearch.test_language_model(), docsearch.test_model(text) FROM PUBLIC;
-- Functions that run or show single steps, for tests and measurements.
REVOKE EXECUTE ON FUNCTION docsearch.embed_input(bigint, bigint, bigint), docsearch.embedding_dimension(text),
    docsearch.merge_statistics(text) FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION docsearch.grade_features(text, text, text, docsearch.json_argument, docsearch.json_argument, text[], text[]),
    docsearch.grade_input(text, text, text, docsearch.json_argument, docsearch.json_argument, text[], text[]) FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION docsearch.add_remote_model(text, text, text, bigint, text, text, text, bigint) FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION docsearch.check(text), docsearch.check(boolean, text), docsearch.vector_recall(text, bigint), docsearch.repair(text), docsearch.drop_all(text) FROM PUBLIC;
ALTER FUNCTION docsearch.rules_changed() SET search_path TO pg_catalog, pg_temp;
ALTER FUNCTION docsearch.count_changes() SET search_path TO pg_catalog, pg_temp;
ALTER FUNCTION docsearch.project_model() SET search_path TO pg_catalog, pg_temp;

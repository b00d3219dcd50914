-- What concerns the whole server is for administrators.
REVOKE EXECUTE ON FUNCTION docsearch.restart_inference() FROM PUBLIC;
ALTER FUNCTION docsearch.rules_changed() SET search_path TO pg_catalog, pg_temp;

-- What concerns the whole server is for administrators.
REVOKE EXECUTE ON FUNCTION docsearch.restart_inference() FROM PUBLIC;

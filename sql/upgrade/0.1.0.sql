-- What a replaced function cannot be: another signature.
DROP FUNCTION docsearch.index_doc(text, text, text, text, text, jsonb, text, text, text, text[], text[], text, text, timestamp with time zone);

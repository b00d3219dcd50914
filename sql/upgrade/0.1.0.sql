-- What a replaced function cannot be: another signature.
DROP FUNCTION @extschema@.search_docs(text, text, text, jsonb, integer, real, text, jsonb);
DROP FUNCTION docsearch.add_model(text, text);
DROP FUNCTION docsearch.attach_table(regclass, text, text, text, text, text, text, text, text);
DROP FUNCTION docsearch.index_doc(text, text, text, text, text, jsonb, text, text, text, text[], text[], text, text, timestamp with time zone);
DROP FUNCTION docsearch.status();

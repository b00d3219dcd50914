-- Rows that the planner expects of functions: what their default limits return. Their costs are in Rust.
ALTER FUNCTION @extschema@.search_docs(text, text, text, docsearch.json_argument, bigint, double precision, text, docsearch.json_argument, text[], text[]) ROWS 5;
ALTER FUNCTION docsearch.search_answer(text, text, text, docsearch.json_argument, bigint, double precision, text, docsearch.json_argument, text, bigint, bigint, text[], text[]) ROWS 1;
ALTER FUNCTION docsearch.explain_search(text, text, text, text, docsearch.json_argument, docsearch.json_argument, text[], text[]) ROWS 30;
ALTER FUNCTION docsearch.grade_input(text, text, text, docsearch.json_argument, docsearch.json_argument, text[], text[]) ROWS 5;
ALTER FUNCTION docsearch.suggest(text, text, bigint, text[]) ROWS 10;
ALTER FUNCTION @extschema@.load_docs(text[], boolean, boolean, text, bigint) ROWS 10;
ALTER FUNCTION docsearch.facets(text, text[], text, text, docsearch.json_argument, bigint, text, text[]) ROWS 40;

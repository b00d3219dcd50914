-- Invalid calls fail with an SQLSTATE and a hint.
\i tests/fixtures/swiftui.sql
SELECT * FROM search_docs(NULL);
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM search_docs('   ');
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM search_docs('x', project => 'swift');
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM search_docs('x', max_results => 0);
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM search_docs('x', min_score => 2);
-- A value is shown as it was given.
SELECT * FROM search_docs('x', min_score => -0.1);
SELECT * FROM search_docs('x', config => '{"min_score": 1.2}');
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM search_docs('x', dedup => 'often');
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM search_docs('x', config => '{"hybrid_wait": 0.5}');
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM search_docs('x', config => '{"hybrid_weight": 5}');
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM search_docs('x', config => '{"limit": "many"}');
SELECT * FROM search_docs('x', config => '{"limit": 3, "max_results": 2}');
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM search_docs('x', config => '[]');
\echo :LAST_ERROR_SQLSTATE
SELECT docsearch.index_doc('nowhere', 'a', 'A', 'a');
\echo :LAST_ERROR_SQLSTATE
SELECT docsearch.index_doc(NULL, 'a', 'A', 'a');
\echo :LAST_ERROR_SQLSTATE
SELECT docsearch.index_docs('swiftui', NULL);
\echo :LAST_ERROR_SQLSTATE
SELECT load_docs(NULL);
\echo :LAST_ERROR_SQLSTATE
SELECT docsearch.index_doc('swiftui', NULL, 'A', 'a');
\echo :LAST_ERROR_SQLSTATE
SELECT docsearch.index_doc('swiftui', repeat('x', 2000), 'A', 'a');
\echo :LAST_ERROR_SQLSTATE
SELECT docsearch.index_doc('swiftui', 'a', ' ', 'a');
\echo :LAST_ERROR_SQLSTATE
SELECT docsearch.index_doc('swiftui', 'a', 'A', NULL);
\echo :LAST_ERROR_SQLSTATE
SELECT docsearch.index_doc('swiftui', 'a', 'A', 'a', metadata => '[]');
\echo :LAST_ERROR_SQLSTATE
SELECT docsearch.embed('x', 'no-such-model');
\echo :LAST_ERROR_SQLSTATE
SELECT docsearch.embed('x', '../../etc');
\echo :LAST_ERROR_SQLSTATE

SELECT docsearch.embed_passages(NULL) IS NULL, docsearch.embed_passages('{}') IS NULL;
-- Odd documents are valid: empty, deep, endless.
SELECT docsearch.index_doc('swiftui', 'odd/empty', 'Empty', '');
SELECT docsearch.index_doc('swiftui', 'odd/fence', 'Open fence', E'# Open\n\n```sql\nSELECT 1;\n' || repeat(E'SELECT 2;\n', 200));
SELECT docsearch.index_doc('swiftui', 'odd/line', 'One line', repeat('abcdefghij', 2000));
SELECT docsearch.index_doc('swiftui', 'odd/quotes', 'Deep', repeat('> ', 2000) || 'deep');
SELECT title FROM search_docs('open fence', project => 'swiftui', max_results => 1);
SELECT count(*) FROM docsearch.delete_missing('swiftui', 'x', '{}');
SELECT bool_and(docsearch.delete_doc('swiftui', slug)) FROM unnest(ARRAY['odd/empty', 'odd/fence', 'odd/line', 'odd/quotes']) slug;
-- No project is left with a partial document.
SELECT count(*) FROM docsearch.document d WHERE NOT EXISTS (SELECT FROM docsearch.chunk c WHERE c.document_id = d.id AND c.project_id = d.project_id);
SELECT docsearch.drop_project('swiftui');

-- A missing name is an error that lists existing names, and the number of further ones.
SELECT docsearch.create_project('shelf-' || n) > 0 FROM generate_series(1, 7) n;
SELECT docsearch.index_doc('shelf-1', 'p' || n, 'Page ' || n, 'Text ' || n, category => 'Part/Chapter ' || n) FROM generate_series(1, 7) n;
SELECT slug FROM search_docs('text', 'shelf_1');
SELECT slug FROM search_docs('text', 'shelf-1', category => 'Part/Chaptr 3');
\echo :LAST_ERROR_SQLSTATE
SELECT count(*) FROM search_docs('text', 'shelf-1', category => 'Part', max_results => 10);
SELECT count(*) FROM search_docs('text', 'shelf-1', category => 'Part/Chapter 3', filter => '{"kind": "none"}');
SELECT count(*) FROM search_docs('text', 'shelf-2', category => 'Part');
SELECT load_doc('shelf-1/p1', section => 'nowhere');
SELECT docsearch.drop_project('shelf-' || n) FROM generate_series(1, 7) n;

-- Only known settings can be set.
SET docsearch.nosuch_setting = 1;
\echo :LAST_ERROR_SQLSTATE

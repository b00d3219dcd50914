-- The policies on docsearch.document decide what a caller sees, in every function.
CREATE ROLE docsearch_reader;
CREATE ROLE docsearch_writer;
SELECT docsearch.create_project('secrets') > 0 AS created;
SELECT docsearch.index_doc('secrets', 'public/tea', 'Tea', 'Tea is served at four.', metadata => '{"public": true}');
SELECT docsearch.index_doc('secrets', 'private/launch', 'Launch codes', 'The launch codes are in the safe. Hypergolic.', category => 'Bunker', metadata => '{"public": false, "framework": "Titan"}');

-- Without grants nothing works.
SET ROLE docsearch_reader;
SELECT count(*) FROM search_docs('tea');
RESET ROLE;

SELECT docsearch.grant_usage('docsearch_reader');
GRANT EXECUTE ON FUNCTION docsearch.embed_input(bigint, bigint, bigint) TO docsearch_reader;
ALTER TABLE docsearch.document ENABLE ROW LEVEL SECURITY;
CREATE POLICY public_only ON docsearch.document FOR SELECT TO docsearch_reader USING (metadata @> '{"public": true}');

SET ROLE docsearch_reader;
-- No privileges on tables derived from documents.
SELECT has_table_privilege('docsearch.chunk', 'SELECT') OR has_table_privilege('docsearch.vector_1', 'SELECT')
    OR has_table_privilege('docsearch.term_stat', 'SELECT') OR has_table_privilege('docsearch.document_name', 'SELECT') AS reads_derived;
SELECT slug FROM search_docs('launch codes', project => 'secrets');
SELECT slug FROM search_docs('Launch codes', project => 'secrets', config => '{"hybrid_weight": 0}');
SELECT slug FROM list_docs(project => 'secrets');
SELECT load_doc('private/launch', project => 'secrets');
SELECT load_doc_json('private/launch', project => 'secrets');
SELECT results, content FROM docsearch.search_answer('launch codes', project => 'secrets');
SELECT error FROM load_docs(ARRAY['private/launch']);
SELECT * FROM docsearch.suggest('launch cod', 'secrets');
SELECT * FROM docsearch.suggest('hypergolik', 'secrets');
SELECT * FROM docsearch.explain_search('launch', 'private/launch', 'secrets');
SELECT q, search_docs_json(q, 'secrets') #> '{understood,known_container}' AS known FROM unnest(ARRAY['codes in Titan', 'codes in Bunker']) q;
SELECT form, names, holding FROM docsearch.verify_invariants('secrets');
SELECT list_docs_json('secrets') -> 'total_documents';
SELECT docsearch.embed_input(d.project_id, d.id + 1, 0) FROM docsearch.document d WHERE slug = 'public/tea';
SELECT docsearch.index_doc('secrets', 'public/coffee', 'Coffee', 'At five.');
SELECT docsearch.delete_doc('secrets', 'public/tea');
SELECT docsearch.drop_project('secrets');
SELECT docsearch.finish_load('secrets');
RESET ROLE;

-- The owner sees everything.
SELECT suggestion FROM docsearch.suggest('launch cod', 'secrets') UNION ALL SELECT suggestion FROM docsearch.suggest('hypergolik', 'secrets');
SELECT q, search_docs_json(q, 'secrets') #> '{understood,known_container}' AS known FROM unnest(ARRAY['codes in Titan', 'codes in Bunker']) q;

-- Roles that search may read rules, and the owner may change them.
SET ROLE docsearch_reader;
SELECT count(*) > 0 FROM docsearch.synonym;
INSERT INTO docsearch.synonym (term, expansion) VALUES ('a', 'b');
SELECT docsearch.reset_rules();
RESET ROLE;

-- Policies apply to writers, too.
SELECT docsearch.grant_usage('docsearch_writer', write => true);
CREATE POLICY writes_public ON docsearch.document TO docsearch_writer USING (metadata @> '{"public": true}');
SET ROLE docsearch_writer;
SELECT docsearch.index_doc('secrets', 'public/coffee', 'Coffee', 'Coffee is served at five.', metadata => '{"public": true}');
SELECT docsearch.index_doc('secrets', 'private/plan', 'Plan', 'A secret plan.', metadata => '{"public": false}');
SELECT docsearch.delete_doc('secrets', 'private/launch');
SELECT slug, action, detail FROM docsearch.index_docs('secrets', '[{"slug": "private/x", "title": "X", "body": "x"}, {"slug": "public/water", "title": "Water", "body": "Always.", "metadata": {"public": true}}]');
SELECT slug FROM search_docs('when is coffee served', project => 'secrets', max_results => 1);
RESET ROLE;
SELECT slug FROM docsearch.document d JOIN docsearch.project p ON p.id = d.project_id WHERE p.name = 'secrets' ORDER BY slug;
-- Only the owner of the schema may create tables.
SET ROLE docsearch_writer;
SELECT docsearch.grant_usage('docsearch_reader');
RESET ROLE;

DROP POLICY public_only ON docsearch.document;
DROP POLICY writes_public ON docsearch.document;
ALTER TABLE docsearch.document DISABLE ROW LEVEL SECURITY;
SELECT docsearch.drop_project('secrets');
DROP OWNED BY docsearch_reader, docsearch_writer;
DROP ROLE docsearch_reader, docsearch_writer;

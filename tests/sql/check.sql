-- s3_31: everything that can break is found, repaired, and then no longer found.
\i tests/fixtures/known_faults.sql
\i tests/fixtures/swiftui.sql
SELECT docsearch.create_project('checked') > 0 AS created;
SELECT slug, action, chunks FROM docsearch.index_docs('checked', (
    SELECT jsonb_agg(jsonb_build_object(
        'slug', 'guide/' || page, 'title', 'The ' || page, 'category', 'Guides/Deep',
        'metadata', jsonb_build_object('aliases', jsonb_build_array(page || ' alias'), 'framework', 'Titan'),
        'body', E'# The ' || page || E'\n\nLead of ' || page || E'.\n\n## One\n\n' || repeat('The first section talks about ' || page || '. ', 60)
                || E'\n\n## Two\n\n' || repeat('The second section talks about removing. ', 60)))
    FROM unnest(ARRAY['alpha', 'beta', 'gamma']) page));
SELECT docsearch.create_project('flat', settings => '{"vectors": "document"}') > 0 AS created;
SELECT docsearch.index_doc('flat', 'long', 'Long page', E'# One\n\n' || repeat('Words and words. ', 400) || E'\n\n# Two\n\nMore.', version => '1', summary => 'About words.');
SELECT * FROM pg_temp.problems();

CREATE FUNCTION pg_temp.document(slug text) RETURNS bigint LANGUAGE sql AS $$
    SELECT d.id FROM docsearch.document d WHERE d.slug = 'guide/' || $1
$$;
CREATE FUNCTION pg_temp.kept() RETURNS SETOF jsonb LANGUAGE sql AS $$
    SELECT to_jsonb(d)
           || jsonb_build_object('chunks', (SELECT jsonb_agg(to_jsonb(c) || jsonb_build_object('terms', c.terms::text, 'embedding', v.embedding::text) ORDER BY c.chunk_no)
                                            FROM docsearch.chunk c JOIN docsearch.vector_1 v USING (project_id, document_id, chunk_no)
                                            WHERE c.document_id = d.id))
           || jsonb_build_object('definitions', (SELECT jsonb_agg(f.key ORDER BY f.key) FROM docsearch.definition f WHERE f.document_id = d.id))
           || jsonb_build_object('names', (SELECT jsonb_agg(n ORDER BY n.kind, n.key) FROM docsearch.document_name n WHERE n.document_id = d.id))
    FROM docsearch.document d
$$;
CREATE TEMP TABLE before AS SELECT pg_temp.kept() AS document;
CREATE TEMP TABLE indexes_before AS SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'docsearch';

-- Vectors.
DELETE FROM docsearch.vector_1 WHERE document_id = pg_temp.document('alpha') AND chunk_no > 0;
DELETE FROM docsearch.vector_1 v USING docsearch.document d WHERE d.id = v.document_id AND d.slug = 'long';
SELECT * FROM pg_temp.problems();
SELECT * FROM pg_temp.problems('flat');
SELECT * FROM docsearch.repair('flat');
SELECT * FROM docsearch.repair();
SELECT * FROM pg_temp.problems();

-- Vectors of the same files from another processor or library, also if they are near the right ones.
UPDATE docsearch.vector_1 v SET embedding = (SELECT array_agg(x + CASE WHEN n = 1 THEN 0.06 ELSE 0 END ORDER BY n)
                                             FROM unnest(v.embedding::real[]) WITH ORDINALITY AS e(x, n))::real[]::halfvec
WHERE document_id = pg_temp.document('gamma') AND chunk_no = 1;
UPDATE docsearch.vector_1 v SET embedding = (SELECT o.embedding FROM docsearch.vector_1 o WHERE o.document_id = pg_temp.document('beta') AND o.chunk_no = 0)
FROM docsearch.document d WHERE d.id = v.document_id AND d.slug = 'long';
SELECT * FROM pg_temp.problems();
SELECT * FROM pg_temp.problems('flat');
SELECT * FROM docsearch.repair('flat');
SELECT * FROM docsearch.repair();
SELECT * FROM pg_temp.problems();

-- Statistics.
INSERT INTO docsearch.term_stat SELECT p.id, 'bogus', 7, 7 FROM docsearch.project p WHERE p.name = 'checked';
DELETE FROM docsearch.term_stat t WHERE t.lexeme = 'remov' OR t.lexeme = 'alpha';
UPDATE docsearch.project_stat s SET chunks = s.chunks + 5 FROM docsearch.project p WHERE p.id = s.project_id AND p.name = 'flat';
SELECT * FROM pg_temp.problems();
SELECT * FROM docsearch.repair();
SELECT * FROM pg_temp.problems();

-- Chunks of another analysis, of another text, too few, and a document without chunks.
UPDATE docsearch.chunk SET input_hash = 'of an earlier version' WHERE document_id = pg_temp.document('alpha');
UPDATE docsearch.chunk SET body = 'Something else.' WHERE document_id = pg_temp.document('beta') AND chunk_no = 1;
DELETE FROM docsearch.chunk WHERE document_id = pg_temp.document('gamma') AND chunk_no = 1;
INSERT INTO docsearch.document (project_id, slug, title, body, content_hash)
SELECT p.id, 'guide/delta', 'The delta', 'Delta by hand.', '' FROM docsearch.project p WHERE p.name = 'checked';
SELECT * FROM pg_temp.problems();
SELECT * FROM docsearch.repair();
SELECT * FROM pg_temp.problems();
SELECT slug FROM search_docs('The delta', project => 'checked', max_results => 1);
SELECT docsearch.delete_doc('checked', 'guide/delta');

-- Names and containers.
DELETE FROM docsearch.document_name WHERE document_id = pg_temp.document('alpha');
UPDATE docsearch.document_name SET key = 'misspelt' WHERE document_id = pg_temp.document('beta') AND kind = 'alias';
DELETE FROM docsearch.container WHERE key = 'titan';
DELETE FROM docsearch.definition WHERE document_id = pg_temp.document('gamma');
INSERT INTO docsearch.definition SELECT d.project_id, d.id, 'misspelt' FROM docsearch.document d WHERE d.id = pg_temp.document('beta');
SELECT * FROM pg_temp.problems();
SELECT * FROM docsearch.repair();
SELECT * FROM pg_temp.problems();

-- Orphaned rows, as after a load without triggers.
SET session_replication_role = replica;
INSERT INTO docsearch.container VALUES (-1, 'x', 'X');
INSERT INTO docsearch.term_stat VALUES (-1, 'x', 1, 1);
INSERT INTO docsearch.project_stat VALUES (-1, 1, 1, 1, 1, 1, true);
INSERT INTO docsearch.document_name VALUES (-1, -1, 'x', 'title');
INSERT INTO docsearch.definition VALUES (-1, -1, 'x');
INSERT INTO docsearch.document (project_id, slug, title, body, content_hash) VALUES (-1, 'x', 'X', '', '');
INSERT INTO docsearch.chunk VALUES (-1, -1, 0, 'summary', '{}', '', '', 1, 1, 1, '', '');
INSERT INTO docsearch.vector_1 SELECT -1, -1, -1, v.embedding FROM docsearch.vector_1 v LIMIT 1;
RESET session_replication_role;
SELECT * FROM pg_temp.problems();
SELECT * FROM pg_temp.problems('flat');
SELECT * FROM docsearch.repair();
SELECT * FROM pg_temp.problems();

-- Indexes: all that no constraint needs, one of a constraint, and an invalid one.
DO $$
DECLARE
    index_name text;
BEGIN
    FOR index_name IN SELECT format('docsearch.%I', c.relname)
                      FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
                      WHERE t.relnamespace = 'docsearch'::regnamespace AND NOT i.indisunique
    LOOP
        EXECUTE 'DROP INDEX ' || index_name;
    END LOOP;
END
$$;
ALTER TABLE docsearch.vector_1 DROP CONSTRAINT vector_1_pkey;
UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'docsearch.document_project_id_slug_key'::regclass;
SELECT problem, object, detail FROM pg_temp.problems();
SELECT * FROM docsearch.repair();
SELECT * FROM pg_temp.problems();
SELECT count(*) AS differing FROM indexes_before b
FULL JOIN (SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'docsearch') i USING (indexname)
WHERE b.indexdef IS DISTINCT FROM i.indexdef;

-- The table of vectors.
DROP TABLE docsearch.vector_1;
SELECT * FROM pg_temp.problems();
SELECT * FROM docsearch.repair();
SELECT * FROM pg_temp.problems();
-- After all that, nothing has changed.
SELECT count(*) AS kept, (SELECT count(*) FROM before) AS before FROM (SELECT pg_temp.kept() INTERSECT TABLE before) same;

-- Only a person can repair a model whose files are missing or changed.
UPDATE docsearch.model SET name = 'lost';
DELETE FROM docsearch.vector_1 WHERE document_id = pg_temp.document('alpha');
SELECT * FROM pg_temp.problems();
SELECT * FROM docsearch.repair();
SELECT problem FROM pg_temp.problems();
UPDATE docsearch.model SET name = 'all-MiniLM-L6-v2';
SELECT * FROM docsearch.repair();
CREATE TEMP TABLE model AS SELECT digest FROM docsearch.model;
UPDATE docsearch.model SET digest = 'of former files';
SELECT problem, object, regexp_replace(detail, '[0-9a-f]{64}', '(digest)') AS detail, repair FROM pg_temp.problems();
UPDATE docsearch.model SET digest = (SELECT digest FROM model), dimension = 3;
SELECT * FROM pg_temp.problems();
UPDATE docsearch.model SET dimension = 384;
SELECT * FROM pg_temp.problems();

-- Tables of an earlier version of the extension.
BEGIN;
DELETE FROM docsearch.schema_version WHERE version > 1;
SELECT problem, object, repair FROM docsearch.check();
ROLLBACK;

-- Only the owner of the schema may call these.
CREATE ROLE docsearch_helper;
SELECT docsearch.grant_usage('docsearch_helper', write => true);
SET ROLE docsearch_helper;
SELECT * FROM docsearch.check();
SELECT * FROM docsearch.repair();
RESET ROLE;
GRANT EXECUTE ON FUNCTION docsearch.check(text), docsearch.repair(text) TO docsearch_helper;
SET ROLE docsearch_helper;
SELECT * FROM docsearch.check();
SELECT * FROM docsearch.repair();
RESET ROLE;
DROP OWNED BY docsearch_helper;
DROP ROLE docsearch_helper;
SELECT * FROM docsearch.check('unknown');
BEGIN READ ONLY;
SELECT * FROM pg_temp.problems();
SELECT * FROM docsearch.repair();
ROLLBACK;

SELECT docsearch.drop_project('checked'), docsearch.drop_project('flat');
SELECT * FROM pg_temp.problems();
SELECT docsearch.drop_project('swiftui');

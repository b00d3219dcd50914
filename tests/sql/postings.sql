-- Postings: documents are pending from the transaction that writes them until a merge moves them to a segment.
\i tests/fixtures/known_faults.sql
-- The worker would merge pending documents.
DO $$
BEGIN
    WHILE EXISTS (SELECT FROM pg_stat_activity a WHERE a.backend_type = 'docsearch indexer' AND a.datname = current_database()) LOOP
        PERFORM pg_sleep(0.02), pg_stat_clear_snapshot();
    END LOOP;
END
$$;
SELECT docsearch.create_project('coast') > 0 AS created;
CREATE FUNCTION pg_temp.page(number int, word text) RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_object('slug', 'page/' || $1, 'title', 'Page ' || $1, 'body', format(E'The %s lives here.\n\n## Part\n\nNumber %s.', $2, $1))
$$;
CREATE FUNCTION pg_temp.write(first int, last int, word text) RETURNS bigint LANGUAGE sql AS $$
    SELECT count(*) FROM docsearch.index_docs('coast', (SELECT jsonb_agg(pg_temp.page(n, $3)) FROM generate_series($1, $2) n)) d
    WHERE d.action IN ('added', 'changed')
$$;
-- A search reads pending pages, segments with their pages, and the pages that do not count in them.
CREATE VIEW pg_temp.state AS
SELECT (SELECT count(*) FROM docsearch.posting_pending) AS pending, (SELECT count(DISTINCT document_id) FROM docsearch.posting_pending) AS pages,
       (SELECT coalesce(array_agg(s.documents - cardinality(s.superseded) ORDER BY s.segment), '{}') FROM docsearch.posting_segment s) AS segments,
       (SELECT count(*) FROM docsearch.check(true) c WHERE c.problem = 'postings wrong') AS wrong;
CREATE FUNCTION pg_temp.found(query text) RETURNS bigint LANGUAGE sql AS $$
    SELECT count(*) FROM search_docs($1, 'coast', max_results => 100) WHERE keyword_score > 0
$$;

-- One page at a time; unchanged pages are not written.
SELECT pg_temp.write(1, 1, 'heron'), pg_temp.write(2, 2, 'heron'), pg_temp.write(2, 2, 'heron');
TABLE pg_temp.state;
SELECT docsearch.finish_load('coast');
TABLE pg_temp.state;
SELECT pg_temp.found('heron');

-- Many at a time are merged at once.
SELECT pg_temp.write(3, 60, 'egret');
TABLE pg_temp.state;

-- A transaction finds its own changes; others, and the transaction after a rollback, find the old state.
BEGIN;
SELECT pg_temp.write(1, 1, 'stork');
SELECT pg_temp.found('stork'), pg_temp.found('heron');
TABLE pg_temp.state;
SAVEPOINT here;
SELECT docsearch.finish_load('coast');
TABLE pg_temp.state;
ROLLBACK TO here;
TABLE pg_temp.state;
SELECT docsearch.delete_doc('coast', 'page/2');
SELECT docsearch.finish_load('coast');
TABLE pg_temp.state;
SELECT pg_temp.found('stork'), pg_temp.found('heron');
ROLLBACK;
TABLE pg_temp.state;
SELECT pg_temp.found('stork'), pg_temp.found('heron');

-- An older snapshot writes, and leaves merging to others (and to the worker from 32 pages on, see tests/test_postings.py).
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT pg_temp.write(1, 20, 'stork');
SELECT docsearch.finish_load('coast');
TABLE pg_temp.state;
SELECT pg_temp.found('stork');
COMMIT;
SELECT docsearch.finish_load('coast');
TABLE pg_temp.state;
SELECT pg_temp.found('stork'), pg_temp.found('egret');

-- A segment of which rows are missing is not read: its pages are found by their chunks.
BEGIN;
DELETE FROM docsearch.posting WHERE bucket = -1;
SELECT pg_temp.found('stork'), pg_temp.found('egret');
ROLLBACK;

-- Deletion by function, by source and by hand; TRUNCATE leaves nothing.
SELECT docsearch.delete_doc('coast', 'page/1');
DELETE FROM docsearch.document WHERE slug IN ('page/2', 'page/3');
DELETE FROM docsearch.chunk WHERE document_id = (SELECT id FROM docsearch.document WHERE slug = 'page/4') AND chunk_no = 1;
TABLE pg_temp.state;
SELECT pg_temp.found('stork');
SELECT count(*) FROM docsearch.index_docs('coast', (SELECT jsonb_agg(pg_temp.page(n, 'gull') || '{"source_root": "beach"}') FROM generate_series(101, 103) n));
SELECT count(*) FROM docsearch.delete_missing('coast', 'beach', '{page/101}');
TABLE pg_temp.state;
SELECT docsearch.finish_load('coast');
TABLE pg_temp.state;
SELECT pg_temp.found('stork'), pg_temp.found('gull');
DELETE FROM docsearch.document WHERE slug > 'page/2';
TABLE pg_temp.state;

-- Vectors alone change nothing.
DELETE FROM docsearch.vector_1;
SELECT problem, object, detail FROM docsearch.repair();
TABLE pg_temp.state;

-- Errors are found: without pending pages, with a lost segment, with other words.
SELECT docsearch.finish_load('coast');
SET session_replication_role = replica;
DELETE FROM docsearch.posting_segment;
RESET session_replication_role;
SELECT * FROM pg_temp.problems();
SELECT * FROM docsearch.repair();
SELECT * FROM pg_temp.problems();
SET session_replication_role = replica;
UPDATE docsearch.chunk SET terms = 'other:1' WHERE chunk_no = 0;
RESET session_replication_role;
SELECT * FROM pg_temp.problems();
SELECT * FROM docsearch.check(true) WHERE problem = 'postings wrong';
SELECT * FROM docsearch.repair();
TABLE pg_temp.state;
-- Invalid rows are refused.
\set VERBOSITY terse
UPDATE docsearch.posting_segment SET sections = -1;
UPDATE docsearch.posting_segment SET superseded = '{1, NULL}';
UPDATE docsearch.posting SET bytes = repeat('x', 8001)::bytea;
\set VERBOSITY default

TRUNCATE docsearch.document CASCADE;
TABLE pg_temp.state;
SELECT pg_temp.write(1, 5, 'heron');
SELECT docsearch.finish_load('coast');
SELECT pg_temp.write(1, 3, 'egret');
TABLE pg_temp.state;
SELECT docsearch.drop_project('coast');
TABLE pg_temp.state;
SELECT count(*) FROM docsearch.posting;

-- The log of queries, feedback, reports of gaps, and the reports that read them.
SELECT docsearch.create_project('kiln') > 0 AS created;
SELECT docsearch.create_project('quiet', settings => '{"log_queries": "off"}') > 0 AS created;
SELECT count(*) FROM docsearch.index_docs('kiln', replace('[
  {"slug": "reference/Shelf", "title": "Shelf", "body": "# Shelf\n\nA plate that holds pots."},
  {"slug": "reference/Cone", "title": "Cone", "body": "# Cone\n\nA pyramid that bends at a known heat."},
  {"slug": "guides/firing", "title": "Firing", "category": "guides", "kind": "guide", "body": "# Firing\n\nWhat firing is.%\n\n## Cooling\n\nOpen the kiln when it is cold.%"}
]', '%', repeat(' Clay turns to stone, slowly.', 60))::jsonb);
SELECT count(*) FROM docsearch.index_docs('quiet', '[{"slug": "secret", "title": "Secret", "body": "# Secret\n\nShelf of secrets."}]');
-- What was called is in the table a moment later.
CREATE FUNCTION pg_temp.logged(calls int) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
    until timestamptz := clock_timestamp() + interval '20 seconds';
BEGIN
    WHILE (SELECT count(*) FROM docsearch.query_log) < calls AND clock_timestamp() < until LOOP
        PERFORM pg_sleep(0.1);
    END LOOP;
    RETURN (SELECT count(*) = calls FROM docsearch.query_log);
END $$;

-- s3_32: off by default; then each search with its query, results, confidence and time.
SELECT count(*) FROM search_docs('Shelf', 'kiln');
SELECT search_docs_json('Shelf', 'kiln') ? 'search_token' AS token;
SET docsearch.log_queries = 'text';
SET docsearch.log_session = 'reader 1';
SELECT count(*) FROM search_docs('Shelf', 'kiln', max_results => 1);
SELECT count(*) > 0 AS found FROM search_docs('Shelf', 'kiln', filter => '{"kind": "guide"}', category => 'guides');
SELECT count(*) FROM search_docs('Secret', 'quiet');
SELECT count(*) FROM search_docs('Secret');
SELECT load_doc('kiln/guides/firing#cooling') IS NOT NULL AS loaded;
BEGIN READ ONLY;
SELECT count(*) FROM search_docs('Cone', 'kiln', max_results => 1);
ROLLBACK;
SET docsearch.log_queries = 'hash';
SELECT count(*) FROM search_docs('  shelf', 'kiln', max_results => 1);
SET docsearch.log_queries = 'none';
SET docsearch.log_source = 'mcp';
SET docsearch.log_client = 'assistant 1.2';
SELECT count(*) FROM search_docs('Cone', 'kiln', max_results => 1);
SET docsearch.log_queries = 'text';
SET docsearch.log_sample = 0;
SELECT count(*) FROM search_docs('Cone', 'kiln', max_results => 1);
RESET docsearch.log_sample;
SELECT pg_temp.logged(6);
SELECT kind, session, source, client, query, query_hash IS NOT NULL AS hash, class, filter_keys, results, found_anchors[1] AS anchor,
       confidence, total_ms > 0 AS timed, role = current_user AS role
FROM docsearch.query_log ORDER BY logged_at;
-- Equal queries are equal, whatever capital letters and blanks they have.
SELECT count(DISTINCT query_hash) FROM docsearch.query_log WHERE query_hash IS NOT NULL;
-- s2_18: what the rules changed.
SELECT original_top IS NOT NULL AS original_top, final_top = found_documents[1] AS final_top, score_delta >= 0 AS score_delta
FROM docsearch.query_log WHERE query = 'Shelf' ORDER BY logged_at LIMIT 1;

-- Feedback needs the token of an answer.
SELECT search_docs_json('Shelf', 'kiln') ->> 'search_token' AS token \gset
SELECT docsearch.feedback(:'token', 'click', 'kiln/reference/Shelf');
SELECT docsearch.feedback(:'token', 'helped', 'kiln/reference/Shelf');
SELECT docsearch.feedback(:'token', 'did_not_help', 'kiln/reference/Shelf', 'outdated', 'Shelves are round now.');
SELECT pg_temp.logged(7);
SELECT f.kind, f.reason, f.comment, q.query FROM docsearch.feedback f JOIN docsearch.query_log q ON q.id = f.call_id ORDER BY f.id;
SELECT docsearch.feedback(repeat('0', 64), 'helped');
SELECT docsearch.feedback(:'token', 'liked');
SELECT docsearch.feedback(:'token', 'click');
SELECT docsearch.feedback(:'token', 'did_not_help', reason => 'ugly');
SELECT docsearch.feedback(:'token', 'helped', 'kiln/reference/Plate');
SELECT docsearch.feedback(:'token', 'did_not_help', comment => repeat('x', 1001));
-- Answers of other functions have one, too, and a document that was loaded.
SELECT search_token IS NOT NULL AS token FROM docsearch.search_answer('Shelf', 'kiln');
SELECT docsearch.search_refined('Shelf', 'kiln') ? 'search_token' AS token;
SELECT load_doc_json('kiln/reference/Cone') ->> 'load_token' AS load_token \gset
SELECT docsearch.feedback(:'load_token', 'helped', 'kiln/reference/Cone');
DELETE FROM docsearch.feedback WHERE document_id = (SELECT id FROM docsearch.document WHERE slug = 'reference/Cone');
-- Reports of gaps: one a day of a page.
SELECT docsearch.report_gap('kiln/reference/Cone', 'missing', 'The temperatures are not given.', 'choose a cone');
SELECT docsearch.report_gap('kiln/reference/Cone', 'missing', 'Still not.');
SELECT docsearch.report_gap('reference/Cone#cone', 'missing', 'Still not, by another reference.', project => 'kiln');
SELECT slug FROM docsearch.gap_report;
SELECT docsearch.report_gap(NULL, 'missing', 'Nothing says how to glaze.', project => 'kiln');
SELECT docsearch.report_gap('kiln/reference/Cone', 'boring', 'x');
SELECT docsearch.report_gap('kiln/reference/Cone', 'missing', ' ');
SELECT docsearch.report_gap(NULL, 'missing', 'x');
-- Limits of an answer and of a day.
INSERT INTO docsearch.feedback (call_id, role, kind, project_id, document_id)
SELECT (SELECT f.call_id FROM docsearch.feedback f LIMIT 1), current_user, 'click', 0, n
FROM generate_series(1, 100 - (SELECT count(*) FROM docsearch.feedback)) AS n;
SELECT docsearch.feedback(:'token', 'helped');
DELETE FROM docsearch.feedback WHERE project_id = 0;
SELECT docsearch.feedback(:'token', 'helped');
INSERT INTO docsearch.gap_report (role, project_id, slug, category, report)
SELECT current_user, 0, n, 'other', 'x' FROM generate_series(1, 1000 - (SELECT count(*) FROM docsearch.gap_report)) AS n;
SELECT docsearch.report_gap('kiln/reference/Shelf', 'outdated', 'Shelves are round now.');
UPDATE docsearch.gap_report SET reported_on = reported_on - 1 WHERE project_id = 0;
SELECT docsearch.report_gap('kiln/reference/Shelf', 'outdated', 'Shelves are round now.');
DELETE FROM docsearch.gap_report WHERE project_id = 0 OR category = 'outdated';

-- References that lead nowhere, also if the transaction fails with them.
SELECT load_doc('kiln/reference/Shelv');
SELECT load_doc('reference/Shelv', project => 'kiln');
SELECT load_doc('kiln/guides/firing', section => 'heating');
SELECT error IS NOT NULL AS failed FROM load_docs('{kiln/glaze, kiln/reference/Cone}');
SELECT load_doc_json('quiet/public');
SELECT load_doc('kiln/glaze', section => 'mixing');
SELECT docsearch.index_doc('kiln', 'glaze', 'Glaze', E'# Glaze\n\n## Mixing\n\nA glaze is mixed.');
SELECT pg_temp.logged(16);
SELECT reference, times, sessions, nearest[1] AS nearest FROM docsearch.dead_references();
SELECT count(*) FROM docsearch.dead_references(project => 'quiet');
SELECT docsearch.delete_doc('kiln', 'glaze');
SELECT reference, times FROM docsearch.dead_references(readers => 'assistants') ORDER BY reference;

-- Reports.
INSERT INTO docsearch.query_log (id, logged_at, kind, session, role, source, query, query_hash, project_ids, class, results, confidence,
                                 attempts, best_attempt, grade_gain, total_ms)
SELECT 'gap ' || n, now() - interval '1 hour' + n * interval '1 second', 'search', 'reader ' || n % 3, current_user, 'page', q, md5(q),
       ARRAY[(SELECT id FROM docsearch.project WHERE name = 'kiln')], 'question', 0, 'low', 1 + n % 2, 1 + n % 2, n % 2 * 0.1, 10 + n
FROM unnest(ARRAY['how do I mix a glaze?', 'mixing glazes', 'glaze recipe', 'what goes into a glaze', 'sell pots online', 'make a glaze'])
     WITH ORDINALITY AS t (q, n);
SELECT query, searches, sessions, no_results, low_confidence, first_page FROM docsearch.top_queries(project => 'kiln', max_rows => 1);
SELECT query, searches FROM docsearch.unanswered_queries() WHERE query LIKE '%glaz%' ORDER BY query;
SELECT query, next_query, times FROM docsearch.rephrased_queries() WHERE query LIKE '%glaz%' ORDER BY query;
SELECT slug, found > 0 AS found, first > 0 AS first, opened, did_not_help FROM docsearch.page_usage(project => 'kiln');
SELECT slug FROM docsearch.page_usage(project => 'kiln', rare => true, max_rows => 1);
SELECT class, source, searches, p50_ms, p95_ms FROM docsearch.search_latency() WHERE source = 'page';
SELECT searches > 0 AS searches, moved >= 0 AS moved, opened_original + opened_final <= moved AS opened FROM docsearch.rule_effects() ORDER BY class LIMIT 1;
-- s1_30, s4_31.
SELECT searches, refined, mean_iterations, improved FROM docsearch.refinement_stats();
UPDATE docsearch.query_log SET tried = CASE WHEN attempts > 1 THEN '{rules}'::text[] ELSE '{}' END WHERE id LIKE 'gap %';
SELECT kind, tried, chosen, helped, round(mean_gain::numeric, 2) AS mean_gain FROM docsearch.transformation_effects(readers => 'people');
SELECT rephrased > 0 AS rephrased, rate BETWEEN 0 AND 1 AS rate FROM docsearch.rephrase_rate();
-- Assistants apart from people: together they are all.
SELECT r.readers, (SELECT sum(searches) FROM docsearch.top_queries(readers => r.readers)) AS searches,
       (SELECT sum(searches) FROM docsearch.search_latency(readers => r.readers)) AS timed,
       (SELECT searches FROM docsearch.rephrase_rate(readers => r.readers)) AS asked
FROM (VALUES ('people'), ('assistants'), (NULL)) AS r (readers);
SELECT slug, first, first_share FROM docsearch.page_usage(project => 'kiln', readers => 'assistants', max_rows => 1);
SELECT sum(first_share) FROM docsearch.page_usage();
SELECT * FROM docsearch.client_usage();
SELECT * FROM docsearch.rephrase_rate(readers => 'robots');
-- One missing topic in several phrasings is one gap.
SELECT searches, reports, cardinality(queries) FROM docsearch.documentation_gaps(project => 'kiln', max_rows => 1);
SELECT count(*) FROM docsearch.top_queries(now() + interval '1 day');

-- A right of its own; and no call of a project, no page that the reader of the log may not see.
CREATE ROLE log_reader;
SELECT docsearch.grant_usage('log_reader');
SET ROLE log_reader;
SELECT * FROM docsearch.top_queries();
SELECT count(*) FROM docsearch.query_log;
RESET ROLE;
SELECT docsearch.grant_reports('log_reader');
ALTER TABLE docsearch.document ENABLE ROW LEVEL SECURITY;
CREATE POLICY all_but_cone ON docsearch.document FOR SELECT TO log_reader USING (slug <> 'reference/Cone');
SET ROLE log_reader;
SELECT count(*) > 5 AS calls FROM docsearch.query_log;
SELECT slug FROM docsearch.page_usage(project => 'kiln') ORDER BY slug;
SELECT count(*) FROM docsearch.gap_report;
SELECT first_page FROM docsearch.top_queries() WHERE query = 'Cone';
DELETE FROM docsearch.query_log;
RESET ROLE;
ALTER TABLE docsearch.project ENABLE ROW LEVEL SECURITY;
CREATE POLICY only_quiet ON docsearch.project FOR SELECT TO log_reader USING (name = 'quiet');
SET ROLE log_reader;
SELECT count(*) FROM docsearch.query_log;
SELECT count(*) FROM docsearch.feedback;
SELECT count(*) FROM docsearch.gap_report;
SELECT count(*) FROM docsearch.top_queries();
SELECT count(*) FROM docsearch.documentation_gaps();
RESET ROLE;
-- Roles do not change what is logged.
SET ROLE log_reader;
SET docsearch.log_queries = 'off';
RESET ROLE;
ALTER TABLE docsearch.document DISABLE ROW LEVEL SECURITY;
ALTER TABLE docsearch.project DISABLE ROW LEVEL SECURITY;
DROP OWNED BY log_reader;
DROP ROLE log_reader;
SELECT docsearch.drop_project('kiln'), docsearch.drop_project('quiet');
TRUNCATE docsearch.query_log, docsearch.feedback, docsearch.gap_report;

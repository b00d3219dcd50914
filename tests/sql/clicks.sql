-- Judgments and questions from what readers opened.
SELECT docsearch.create_project('loom') > 0 AS created;
SELECT count(*) FROM docsearch.index_docs('loom', '[
  {"slug": "warp", "title": "Warp", "body": "# Warp\n\nThreads along the loom.\n\n## Tension\n\nKeep it even."},
  {"slug": "weft", "title": "Weft", "body": "# Weft\n\nThreads across the loom."},
  {"slug": "heddle", "title": "Heddle", "body": "# Heddle\n\nIt lifts threads."}
]');
-- Twelve sessions ask the same; three of them open what is third.
CREATE FUNCTION pg_temp.page(name text) RETURNS bigint LANGUAGE sql AS $$ SELECT id FROM docsearch.document WHERE slug = name $$;
CREATE FUNCTION pg_temp.log(session int, second int, call text, query text, VARIADIC pages text[]) RETURNS void LANGUAGE sql AS $$
INSERT INTO docsearch.query_log (id, logged_at, kind, session, role, source, query, query_hash, project_ids, class, results,
                                 found_projects, found_documents, found_anchors)
SELECT format('%s %s', session, second), now() - interval '1 hour' + second * interval '1 second', call, 'reader ' || session, current_user,
       'page', query, md5(lower(query)), ARRAY[p.id], 'question', cardinality(pages), array_fill(p.id, ARRAY[cardinality(pages)]),
       ARRAY(SELECT pg_temp.page(split_part(page, '#', 1)) FROM unnest(pages) AS page),
       ARRAY(SELECT split_part(page, '#', 2) FROM unnest(pages) AS page)
FROM docsearch.project p WHERE p.name = 'loom'
$$;
DO $$
BEGIN
    FOR session IN 1..12 LOOP
        PERFORM pg_temp.log(session, 0, 'search', 'How do I keep threads even?', 'weft', 'heddle', 'warp');
        PERFORM pg_temp.log(session, 10, 'load', NULL, 'warp#tension') WHERE session <= 6;
        PERFORM pg_temp.log(session, 90, 'load', NULL, 'weft') WHERE session = 1;
        -- One reader asks the same again and again.
        PERFORM pg_temp.log(session, 100 + n, 'search', 'lift', 'heddle'), pg_temp.log(session, 200 + n, 'load', NULL, 'heddle')
        FROM generate_series(1, 20) AS n WHERE session = 7;
    END LOOP;
    -- Opened, and asked in other words at once.
    FOR session IN 13..18 LOOP
        PERFORM pg_temp.log(session, 0, 'search', 'across', 'weft', 'warp'), pg_temp.log(session, 5, 'load', NULL, 'weft'),
                pg_temp.log(session, 15, 'search', 'threads across', 'heddle');
    END LOOP;
END $$;
SELECT queries, judgments, searches > 12 AS searches, sessions, examination[1] AS first, examination[3] < 1 AS third
FROM docsearch.judge_from_clicks('clicks', 'loom');
SELECT q.query, q.query_group, j.slug, j.grade FROM docsearch.judgment_query q
JOIN docsearch.judgment j USING (set_id, query_id) JOIN docsearch.judgment_set s ON s.id = q.set_id WHERE s.name = 'clicks' ORDER BY 1, 3;
-- With one session the reader who repeats the query decides.
SELECT queries, judgments FROM docsearch.judge_from_clicks('clicks', 'loom', min_sessions => 1);
SELECT queries, judgments FROM docsearch.judge_from_clicks('clicks', 'loom', readers => 'assistants');
SELECT * FROM docsearch.judge_from_clicks('clicks', NULL);
SELECT * FROM docsearch.judge_from_clicks(NULL, 'loom');
SELECT * FROM docsearch.judge_from_clicks('clicks', 'loom', min_sessions => 0);
SELECT * FROM docsearch.judge_from_clicks('clicks', 'cloth');

-- Candidates; each can be accepted.
SELECT * FROM docsearch.question_candidates('loom');
SELECT * FROM docsearch.question_candidates('loom', min_sessions => 1) ORDER BY reference, question;
SELECT docsearch.reject_question('loom/heddle', 'Lift?');
SELECT docsearch.reject_question('loom/heddle', 'lift');
SELECT question, rejected_by = current_user AS own FROM docsearch.rejected_question;
SELECT docsearch.accept_question(reference, question) FROM docsearch.question_candidates('loom');
SELECT docsearch.accept_question('loom/warp#tension', 'how do I keep threads even');
SELECT slug, anchor, question, source, stale FROM docsearch.questions('loom');
SELECT reference, question FROM docsearch.question_candidates('loom', min_sessions => 1) ORDER BY 1, 2;
SELECT docsearch.accept_question('loom/warp#tension', ' ');
SELECT docsearch.accept_question('loom/warp#nowhere', 'where?');
SELECT docsearch.accept_question(NULL, 'where?');
SELECT docsearch.reject_question('loom/warp', NULL);
SELECT * FROM docsearch.question_candidates(NULL);

-- What changed since a run, and since it was logged.
TRUNCATE docsearch.query_log, docsearch.feedback;
SET docsearch.log_queries = 'text';
SELECT count(*) > 0 AS found FROM search_docs('Heddle', 'loom');
SELECT count(*) > 0 AS found FROM search_docs('Heddle', 'loom', filter => '{"kind": "guide"}');
SELECT count(*) > 0 AS found FROM search_docs('weft');
RESET docsearch.log_queries;
DO $$
BEGIN
    FOR n IN 1..200 LOOP
        EXIT WHEN (SELECT count(*) = 3 FROM docsearch.query_log);
        PERFORM pg_sleep(0.1);
    END LOOP;
END $$;
SELECT docsearch.judge('drift', 'Heddle', 'heddle') <> '' AS judged, docsearch.judge('drift', 'weft', 'weft') <> '' AS judged;
SELECT run FROM docsearch.evaluate('drift', 'loom', max_results => 3) \gset
SELECT count(*) FROM docsearch.drift();
SELECT count(*) FROM docsearch.drift(run => :run);
SELECT docsearch.delete_doc('loom', 'heddle');
SELECT query, project, searches, first_before, first_now, rank_now FROM docsearch.drift();
SELECT query, project, searches, first_before, first_now IS NULL OR first_now <> first_before AS differs FROM docsearch.drift(run => :run);
SELECT count(*) FROM docsearch.drift(run => :run, max_rows => 1);
SELECT docsearch.drift(run => :run, project => 'loom');
SELECT docsearch.drift(run => 0);
SELECT docsearch.drift(max_rows => 0);
SELECT count(*) FROM docsearch.query_log;

-- Only who may read the log, and pages that the reader sees. Only who may change a page accepts.
CREATE ROLE weaver;
SELECT docsearch.grant_usage('weaver');
SET ROLE weaver;
SELECT * FROM docsearch.question_candidates('loom');
SELECT * FROM docsearch.judge_from_clicks('clicks', 'loom');
SELECT * FROM docsearch.drift();
SELECT * FROM docsearch.drift(run => 1);
SELECT docsearch.accept_question('loom/warp', 'what is a warp');
SELECT docsearch.reject_question('loom/warp', 'what is a warp');
RESET ROLE;
DELETE FROM docsearch.query_log;
DO $$
BEGIN
    FOR session IN 1..3 LOOP
        PERFORM pg_temp.log(session, 0, 'search', 'even', 'weft', 'warp'), pg_temp.log(session, 10, 'load', NULL, 'warp#tension');
        PERFORM pg_temp.log(session, 100, 'search', 'over and under', 'weft'), pg_temp.log(session, 110, 'load', NULL, 'weft');
        PERFORM pg_temp.log(session, 200, 'search', 'crossing', 'weft', 'warp'), pg_temp.log(session, 205, 'load', NULL, 'weft');
        PERFORM pg_temp.log(session, 300, 'search', 'wool', 'weft', 'warp'), pg_temp.log(session, 305, 'load', NULL, 'weft');
        PERFORM pg_temp.log(session, 400, 'search', 'the vertical ones', 'weft', 'warp');
        -- Votes on an answer as a whole, and on a page that was shown.
        INSERT INTO docsearch.feedback (call_id, role, kind, project_id, document_id, anchor)
        SELECT format('%s %s', session, second), current_user, vote, d.project_id, d.id, anchor
        FROM (VALUES (200, 'helped', NULL, ''), (300, 'did_not_help', NULL, ''), (400, 'helped', 'warp', 'tension')) AS v (second, vote, page, anchor)
             LEFT JOIN docsearch.document d ON d.slug = page;
    END LOOP;
END $$;
SELECT * FROM docsearch.question_candidates('loom') ORDER BY reference, question;
SELECT docsearch.grant_reports('weaver'), docsearch.grant_evaluation('weaver');
ALTER TABLE docsearch.document ENABLE ROW LEVEL SECURITY;
CREATE POLICY no_warp ON docsearch.document FOR SELECT TO weaver USING (slug <> 'warp');
SET ROLE weaver;
SELECT reference, question FROM docsearch.question_candidates('loom', min_sessions => 1);
SELECT queries, judgments FROM docsearch.judge_from_clicks('weaver', 'loom');
RESET ROLE;
ALTER TABLE docsearch.document DISABLE ROW LEVEL SECURITY;
DROP POLICY no_warp ON docsearch.document;
DROP OWNED BY weaver;
DROP ROLE weaver;
SELECT docsearch.drop_project('loom');
SELECT count(*) FROM docsearch.rejected_question;
SELECT docsearch.drop_judgments('clicks'), docsearch.drop_judgments('weaver'), docsearch.drop_judgments('drift');
DELETE FROM docsearch.evaluation_run;
TRUNCATE docsearch.query_log, docsearch.feedback;

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
       'page', query, md5(lower(query)), array_agg(DISTINCT p.id), 'question', cardinality(pages),
       (SELECT array_agg(p.id) FROM unnest(pages)), (SELECT array_agg(pg_temp.page(split_part(page, '#', 1)) ORDER BY place)
        FROM unnest(pages) WITH ORDINALITY AS t (page, place)),
       (SELECT array_agg(split_part(page, '#', 2) ORDER BY place) FROM unnest(pages) WITH ORDINALITY AS t (page, place))
FROM docsearch.project p WHERE p.name = 'loom' GROUP BY p.id
$$;
DO $$
BEGIN
    FOR session IN 1..12 LOOP
        PERFORM pg_temp.log(session, 0, 'search', 'How do I keep threads even?', 'weft', 'heddle', 'warp');
        PERFORM pg_temp.log(session, 10, 'load', NULL, 'warp#tension') WHERE session <= 6;
        PERFORM pg_temp.log(session, 20, 'load', NULL, 'weft') WHERE session = 1;
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

-- Only who may read the log, and pages that the reader sees. Only who may change a page accepts.
CREATE ROLE weaver;
SELECT docsearch.grant_usage('weaver');
SET ROLE weaver;
SELECT * FROM docsearch.question_candidates('loom');
SELECT * FROM docsearch.judge_from_clicks('clicks', 'loom');
SELECT docsearch.accept_question('loom/warp', 'what is a warp');
SELECT docsearch.reject_question('loom/warp', 'what is a warp');
RESET ROLE;
SELECT docsearch.grant_reports('weaver'), docsearch.grant_evaluation('weaver');
SELECT docsearch.set_questions('loom', 'warp', '[]', 'reader');
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
SELECT docsearch.drop_judgments('clicks'), docsearch.drop_judgments('weaver');
TRUNCATE docsearch.query_log;

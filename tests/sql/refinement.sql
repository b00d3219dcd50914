-- S1: transformed queries, graded answers, and searches that try again.
SELECT docsearch.create_project('kit') > 0 AS created;
SELECT count(*) FROM docsearch.index_docs('kit', (
    SELECT jsonb_agg(jsonb_build_object('slug', slug, 'title', title, 'keywords', to_jsonb(keywords), 'body', body, 'published_at', published))
    FROM (VALUES
        ('cluster/kubernetes', 'Kubernetes', ARRAY['pods', 'deployment'], E'# Kubernetes\n\nRuns containers in pods of a deployment.', '2025-11-02'),
        ('cluster/roles', 'Role based access control', ARRAY['permissions', 'policy'], E'# Role based access control\n\nA policy gives permissions to roles of Kubernetes.', '2025-10-02'),
        ('memory/cache', 'Caching', ARRAY['eviction', 'buffer'], E'# Caching\n\nMemory that is full is freed by eviction of the oldest buffer.', '2025-09-02'),
        ('memory/buffers', 'Buffers', ARRAY['buffer', 'eviction', 'pages'], E'# Buffers\n\nMemory is held in pages of a buffer.', '2025-12-02'),
        ('memory/leaks', 'Leaks', ARRAY['eviction', 'profiler'], E'# Leaks\n\nA profiler finds memory that no eviction frees.', '2025-08-02'),
        ('index/partial', 'Partial indexes', ARRAY['predicate'], E'# Partial indexes\n\nCREATE INDEX with a WHERE clause makes a partial index of the rows that match its predicate.', '2024-01-02')
    ) AS page(slug, title, keywords, body, published)));

-- s1_3: abbreviations are expanded; s1_5: the words of the query stay.
SELECT t ->> 'transformed' AS transformed, t -> 'length_ratio' AS length_ratio FROM docsearch.transform_query('k8s rbac', 'kit') t;
-- s1_4: a vague query gets words that the documents about it share.
SELECT t ->> 'transformed' AS transformed, jsonb_path_query_array(t, '$.added_terms[*].source') AS sources
FROM docsearch.transform_query('memory tips', 'kit') t;
-- s1_6: a specific question is not changed, nor is a name.
SELECT query, docsearch.transform_query(query, 'kit') -> 'changed' AS changed
FROM unnest(ARRAY['How do I create a partial index?', 'Caching', 'memory/leaks']) query;
-- s1_7, s1_8: a query for what is new gets the month, never a day, and a topic.
SELECT t ->> 'transformed' AS transformed, t -> 'recency' AS recency
FROM unnest(ARRAY['latest articles', 'What''s new today?']) query, docsearch.transform_query(query, 'kit', '2025-12-15') t;
SELECT query, count(e.rule) AS boosts FROM unnest(ARRAY['latest memory tips', 'memory tips']) query,
    LATERAL docsearch.explain_search(query, 'memory/buffers', 'kit', config => '{"recency_half_life": 36500}') e WHERE e.rule = 'recency' GROUP BY query;
SELECT docsearch.transform_query(' ');
SELECT docsearch.transform_query('x', 'nowhere');

-- In a search: the query itself is searched, too, no score is lower, and the last step is the addition.
SELECT answer ->> 'executed_query' AS executed, answer #>> '{transformation,query}' AS query, answer #>> '{results,0,slug}' AS first,
       answer #> '{timings,transform_ms}' IS NOT NULL AS timed
FROM search_docs_json('k8s rbac', 'kit', config => '{"transform": "rules"}') answer;
SELECT bool_and(plain.score <= transformed.score) AS never_less
FROM search_docs('memory tips', 'kit', max_results => 10) plain
LEFT JOIN search_docs('memory tips', 'kit', max_results => 10, config => '{"transform": "rules"}') transformed USING (slug);
SELECT step, rule, matched, weight FROM docsearch.explain_search('memory tips', 'memory/leaks', 'kit', config => '{"transform": "rules"}')
WHERE step = 'transform';
SELECT (SELECT score FROM search_docs('memory tips', 'kit', config => '{"transform": "rules"}') WHERE slug = 'memory/leaks')
     - (SELECT after FROM docsearch.explain_search('memory tips', 'memory/leaks', 'kit', config => '{"transform": "rules"}')
                           WITH ORDINALITY AS s(step, rule, matched, raw, weight, before, after, contribution, n) ORDER BY n DESC LIMIT 1) AS difference;
SELECT * FROM search_docs('memory', config => '{"transform": "magic"}');

-- s1_19, s1_16: a grade; s1_17: what the documents do not have.
SELECT array_agg(key ORDER BY key) AS keys FROM jsonb_object_keys(docsearch.grade_results('partial index', 'kit')) key;
SELECT query, g -> 'grounded' AS grounded, g -> 'should_refine' AS should_refine
FROM unnest(ARRAY['Partial indexes', 'mitochondrial inheritance of zebrafish']) query, docsearch.grade_results(query, 'kit') g;
-- s1_14: the thresholds are keys of config and of a project.
SELECT docsearch.grade_results('Partial indexes', 'kit', config => '{"grade_min_score": 1}') -> 'should_refine' AS refine;
SELECT docsearch.configure_project('kit', '{"grade_min_score": 1}');
SELECT docsearch.grade_results('Partial indexes', 'kit') -> 'should_refine' AS refine;
SELECT docsearch.configure_project('kit', '{"grade_min_score": null}');
SELECT name, value, source, unit, minimum, maximum FROM docsearch.settings() WHERE name = 'grade_min_completeness';
-- s1_15: the graded contexts.
SELECT number, source, length(context) <= 500 AS short FROM docsearch.grade_input('memory', 'kit') LIMIT 3;
SELECT array_agg(key ORDER BY key) AS features FROM jsonb_object_keys(docsearch.grade_features('memory', 'kit')) key;
-- s1_27: in an answer, on request.
SELECT search_docs_json('memory', 'kit') -> 'grade' AS without, search_docs_json('memory', 'kit', config => '{"grade": true}') -> 'grade' ? 'score' AS with;
-- The grade is that of the answer, however few results are shown.
SELECT q, bool_and(a -> 'grade' = docsearch.grade_results(q, 'kit')) AS the_same, bool_and(jsonb_array_length(a -> 'results') = n) AS as_many
FROM unnest(ARRAY['memory', 'partial index', 'mitochondrial inheritance of zebrafish']) q, unnest(ARRAY[1, 3]) n,
     search_docs_json(q, 'kit', max_results => n, config => '{"grade": true}') a GROUP BY q ORDER BY q;
SELECT q, (g ->> 'relevance')::real < 0.3 AS hardly FROM unnest(ARRAY['best pizza in Naples', 'how tall is mount everest']) q, docsearch.grade_results(q, 'kit') g;

-- s1_22, s1_23, s1_26: a search that tries again. The best attempt is kept; one that is better by less than 0.05 is not.
SELECT query, r -> 'iterations' AS iterations, r ->> 'stop_reason' AS stop_reason,
       jsonb_path_query_array(r, '$.trace[*].graded_query') <@ to_jsonb(ARRAY[query]) AS graded_as_written,
       (SELECT max((t #>> '{grade,score}')::real) FROM jsonb_array_elements(r -> 'trace') t) < (r #>> '{grade,score}')::real + 0.05
           AND r #> ARRAY['trace', ((r ->> 'best_iteration')::int - 1)::text, 'grade', 'score'] = r #> '{grade,score}' AS best
FROM unnest(ARRAY['Partial indexes', 'k8s rbac', 'zzqqxx']) query, docsearch.search_refined(query, 'kit') r;
SELECT docsearch.search_refined('zzqqxx', 'kit', max_refinements => 0) -> 'iterations' AS iterations;
SELECT docsearch.search_refined('zzqqxx', 'kit', max_refinements => 3);
SELECT r ->> 'stop_reason' AS stop_reason FROM docsearch.search_refined('memory', 'kit', filter => '{"nothing": "here"}') r;

-- s1_32: a prompt for a language model; s1_31: in the language of the question.
SELECT docsearch.answer_prompt('what is a partial index?', 'kit', max_results => 1);
SELECT docsearch.answer_prompt('¿qué es un índice parcial?', 'kit') LIKE '%in Spanish.%' AS spanish,
       docsearch.answer_prompt('partial index', 'kit', language => 'ja') LIKE '%in Japanese.%' AS japanese,
       length(docsearch.answer_prompt('memory', 'kit', max_tokens => 200)) <= 840 AS short;
SELECT docsearch.answer_prompt('memory', language => 'xx');
SELECT docsearch.answer_prompt('memory', max_tokens => 10);
SELECT text, docsearch.detect_language(text) AS language
FROM unnest(ARRAY['How do I create an index?', '¿cómo crear un índice?', 'comment créer un index ?', 'wie erstelle ich einen Index?',
                  'インデックスを作成する方法', '如何创建索引', 'kubernetes', '']) text;

-- s3_29: nothing matches: the topics of the documents.
SELECT jsonb_array_length(search_docs_json('zzzz', 'kit') -> 'suggestions') > 0 AS suggests,
       jsonb_array_length(docsearch.search_refined('zzzz', 'kit') -> 'suggestions') > 0 AS suggests_once_refined;
SELECT docsearch.drop_project('kit') > 0;

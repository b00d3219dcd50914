-- The first project creates the tables, all with comments.
SELECT docsearch.create_project('guide', title => 'Guide') > 0 AS created;
SELECT c.relname, obj_description(c.oid, 'pg_class') IS NOT NULL AS commented,
       count(*) FILTER (WHERE col_description(c.oid, a.attnum) IS NULL) AS columns_without_comment
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relnamespace = 'docsearch'::regnamespace AND c.relkind = 'r'
GROUP BY c.oid, c.relname ORDER BY c.relname COLLATE "C";
SELECT docsearch.migrate();

SELECT name, title, text_config, settings FROM docsearch.project;
SELECT name, dimension, max_tokens, length(digest) AS digest, background BETWEEN 0 AND 0.2 AS plausible FROM docsearch.model;

-- s3_4: a vector of another dimension cannot be stored.
INSERT INTO docsearch.vector_1 VALUES (1, 1, 0, '[1,2,3]');

-- s3_5, s3_8: embedding.
SELECT vector_dims(docsearch.embed('a query')), docsearch.embedding_dimension();
-- s3_6: truncated text is reported.
SELECT array_length(docsearch.embed_passages(ARRAY['short', repeat('a long passage ', 1000), repeat('and another ', 1000)]), 1);
SELECT docsearch.embed('same') = (docsearch.embed_passages(ARRAY['other', 'same']))[2] AS independent_of_neighbours;
SELECT array_length(docsearch.embed_passages(ARRAY['a', NULL, 'b']), 1), docsearch.embed(NULL) IS NULL;

SELECT docsearch.create_project('guide');
SELECT docsearch.create_project('');
SELECT docsearch.create_project('two words');
SELECT docsearch.create_project(NULL);
SELECT docsearch.create_project('other', model => 'no-such-model');
SELECT docsearch.create_project('other', text_config => 'no_such_config');
SELECT docsearch.create_project('other', settings => '{"vector": "document"}');
SELECT docsearch.create_project('german', text_config => 'docsearch.german') > 0 AS created;
SELECT text_config FROM docsearch.project WHERE name = 'german';
SELECT docsearch.drop_project('german');
SELECT docsearch.drop_project('german');
SELECT docsearch.drop_project('guide');

-- s2_17: settings of a project apply to its searches, below those of a call and above those of the session.
SELECT docsearch.create_project('guide', settings => '{"boost_recency": 0.5, "hybrid_weight": 0}') > 0 AS created;
SELECT docsearch.create_project('other') > 0 AS created;
SELECT docsearch.index_doc(p, 'cats', 'Cats', 'How cats sleep.') FROM unnest(ARRAY['guide', 'other']) p;
CREATE FUNCTION pg_temp.share(project text, config jsonb DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
    SELECT round(weight::numeric, 2) FROM docsearch.explain_search('sleep of animals', 'cats', project, config => config) WHERE rule = 'dense' $$;
SELECT pg_temp.share('guide') AS own, pg_temp.share('guide', '{"hybrid_weight": 0.9}') AS of_the_call, pg_temp.share('other') = '0.00' AS elsewhere;
SET docsearch.hybrid_weight = 0.3;
SELECT pg_temp.share('guide') AS own, pg_temp.share('other') AS of_the_session;
SELECT project, keyword_score::numeric(6, 3) = score::numeric(6, 3) AS by_keywords_alone FROM search_docs('sleep of animals') ORDER BY project;
RESET docsearch.hybrid_weight;
SELECT docsearch.configure_project('guide', '{"hybrid_weight": 0.7, "boost_recency": null}');
SELECT pg_temp.share('guide');
SELECT docsearch.configure_project('guide', '{"hybrid_wait": 0.7}');
\echo :LAST_ERROR_SQLSTATE
SELECT docsearch.configure_project('guide', '{"hybrid_weight": 7}');
SELECT docsearch.configure_project('guide', '{"candidates": 7.5}');
SELECT docsearch.configure_project('guide', '{"candidates": "many"}');
SELECT docsearch.configure_project('guide', '[]');
SELECT docsearch.configure_project('guide', NULL);
SELECT docsearch.configure_project(NULL, '{}');
SELECT docsearch.configure_project('nowhere', '{}');
SELECT docsearch.configure_project('guide', '{"vectors": "document"}');
SELECT docsearch.configure_project('guide', '{"vectors": "sections"}');
SELECT settings FROM docsearch.project WHERE name = 'guide';
SELECT docsearch.drop_project('guide') + docsearch.drop_project('other') AS dropped;

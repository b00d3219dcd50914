-- Pages of results: the first of many results are the few, for every retriever.
SELECT docsearch.create_project('herbarium') > 0 AS created;
SELECT count(*) FROM docsearch.index_docs('herbarium', (SELECT jsonb_agg(jsonb_build_object(
    'slug', 'leaf/' || n, 'title', 'Leaf ' || n,
    'body', CASE WHEN n % 10 = 0
        THEN E'# Leaf\n\n' || (SELECT string_agg('## Part ' || p || E'\n\n' || repeat('The template of a leaf. ', 60), E'\n\n') FROM generate_series(1, 4) p)
        ELSE 'A leaf of the ' || (ARRAY['oak', 'elm', 'ash', 'fir', 'yew'])[n % 5 + 1] || repeat(' tree', n % 7) || ' with a template ' || n || '.' END))
    FROM generate_series(1, 200) n));
CREATE FUNCTION pg_temp.places(query text, wanted integer, skipped integer, config jsonb DEFAULT '{}') RETURNS text[] LANGUAGE sql AS $$
    SELECT array_agg(rank || ' ' || slug || ' ' || chunk_no ORDER BY rank)
    FROM search_docs(query, 'herbarium', max_results => wanted, config => config || jsonb_build_object('offset', skipped)) $$;

SELECT q AS query, config,
       bool_and(pg_temp.places(q, n, 0, config) = (pg_temp.places(q, 1000, 0, config))[:n]) AS shorter_is_first,
       pg_temp.places(q, 150, 0, config) = pg_temp.places(q, 50, 0, config) || pg_temp.places(q, 50, 50, config) || pg_temp.places(q, 50, 100, config) AS pages_join,
       cardinality(pg_temp.places(q, 1000, 0, config)) AS all
FROM unnest(ARRAY['template', 'leaf 7', 'which trees lose their leaves']) q,
     unnest('{"{}", "{\"hybrid_weight\": 0}", "{\"hybrid_weight\": 1}", "{\"candidates\": 10}"}'::jsonb[]) config,
     unnest(ARRAY[1, 10, 99]) n
GROUP BY q, config ORDER BY q, config::text;

-- The same with a minimum score, with each section as a result, and with a transformed query.
SELECT q AS query, more,
       bool_and(pg_temp.places(q, n, 0, more) = (pg_temp.places(q, 1000, 0, more))[:n]) AS shorter_is_first,
       pg_temp.places(q, 60, 0, more) = pg_temp.places(q, 20, 0, more) || pg_temp.places(q, 20, 20, more) || pg_temp.places(q, 20, 40, more) AS pages_join
FROM unnest(ARRAY['template', 'k8s template', 'We press leaves of every kind. Which trees lose their leaves in the first frost of the year?']) q,
     unnest('{"{\"min_score\": 0.2}", "{\"dedup\": \"none\"}", "{\"transform\": \"rules\"}"}'::jsonb[]) more,
     unnest(ARRAY[1, 10, 60]) n
GROUP BY q, more ORDER BY q, more::text;

-- Large limits give pages first: none twice while another is missing.
SELECT count(DISTINCT slug) FROM search_docs('template', 'herbarium', max_results => 150);
SELECT count(DISTINCT slug) FROM search_docs('template', 'herbarium', max_results => 1000);
SELECT min(rank), max(rank), count(*) FROM search_docs('template', 'herbarium', max_results => 20, config => '{"offset": 190}');
SELECT docsearch.drop_project('herbarium');

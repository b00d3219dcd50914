SELECT docsearch.create_project('filters') > 0 AS created;
SELECT count(*) FROM docsearch.index_docs('filters', (
    SELECT jsonb_agg(jsonb_build_object(
        'slug', 'page-' || n, 'title', 'Page ' || n, 'body', 'A page about alerts, number ' || n || '.',
        'category', CASE WHEN n % 10 = 0 THEN 'Rare/Deep' ELSE 'Common' END,
        'version', CASE WHEN n <= 20 THEN '1' ELSE '2' END,
        'published_at', '2025-01-01'::date + n,
        'metadata', jsonb_build_object(
            'platforms', CASE WHEN n % 2 = 0 THEN '["ios", "macos"]'::jsonb ELSE '["ios"]'::jsonb END,
            'level', n)))
    FROM generate_series(1, 40) n));

CREATE FUNCTION pg_temp.found(filter jsonb) RETURNS int LANGUAGE sql AS $$
    SELECT count(DISTINCT slug)::int FROM search_docs('alerts', project => 'filters', filter => filter, max_results => 100)
$$;
-- s0_15: a scalar matches equality or membership; platform and platforms are the same.
SELECT pg_temp.found('{"platforms": "macos"}'), pg_temp.found('{"platform": "macos"}'), pg_temp.found('{"platform": "linux"}');
-- An array matches any of, and there are negation and ranges.
SELECT pg_temp.found('{"level": [1, 2, 3, 99]}'), pg_temp.found('{"platform": {"not": "macos"}}'),
       pg_temp.found('{"level": {"from": 5, "to": 8}}'), pg_temp.found('{"level": {"from": 38}}');
-- Fields of the document are reserved words.
SELECT pg_temp.found('{"version": "1"}'), pg_temp.found('{"category": "Common"}'),
       pg_temp.found('{"after": "2025-02-01"}'), pg_temp.found('{"after": "2025-01-05", "before": "2025-01-06"}');
-- s0_16: a selective filter does not starve the answer, and categories contain those below them.
SELECT count(*), count(DISTINCT category) FROM search_docs('alerts', project => 'filters', category => 'Rare', max_results => 4);
SELECT count(*) FROM search_docs('alerts', project => 'filters', category => 'Rare/Deep', max_results => 3);
SELECT count(*) FROM search_docs('Page 1', project => 'filters', category => 'Rare') WHERE slug = 'page-1';

SELECT * FROM search_docs('x', filter => '[1]');
SELECT * FROM search_docs('x', filter => '{"level": {"over": 3}}');
SELECT * FROM search_docs('x', filter => '{"after": "someday"}');
SELECT docsearch.drop_project('filters');

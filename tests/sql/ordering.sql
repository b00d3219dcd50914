-- Results in the order of a date, a field or a key of the metadata.
SELECT docsearch.create_project('ordered') > 0 AS created;
SELECT count(*) FROM docsearch.index_docs('ordered', (
    SELECT jsonb_agg(jsonb_build_object('slug', slug, 'title', title, 'body', body, 'version', version, 'published_at', published, 'metadata', metadata))
    FROM (VALUES ('a', 'Alerts', 'Alerts of the frobnicator. The frobnicator alerts.', '4.9', '2025-03-01', '{"level": 10}'::jsonb),
                 ('b', 'Beacons', 'A page with alerts of the frobnicator.', '4.10', '2025-05-01', '{"level": 9}'),
                 ('c', 'Colours', 'Frobnicator alerts and colours.', '4.10rc1', NULL, '{"level": "high"}'),
                 ('d', 'Dials', 'A dial for the frobnicator with no other word.', '5', '2025-12-01', '{}'),
                 ('e', 'Echoes', 'Alerts. Echoes of the frobnicator.', NULL, '2025-05-01', '{"level": [1]}')) page(slug, title, body, version, published, metadata)));
CREATE FUNCTION pg_temp.slugs("order" text, more jsonb = '{}') RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(slug, ' ' ORDER BY rank) FROM search_docs('frobnicator alerts', 'ordered', max_results => coalesce((more ->> 'most')::int, 10),
                                                               config => more - 'most' || jsonb_build_object('order', "order"))
$$;
-- Of the documents with all words: the others match by meaning, and are not among the results.
SELECT string_agg(DISTINCT slug, ' ' ORDER BY slug) FROM search_docs('frobnicator alerts', 'ordered', max_results => 10);
SELECT "order", pg_temp.slugs("order") FROM unnest(ARRAY['slug', 'slug desc', 'published_at', 'published_at desc', 'version desc', 'level', 'LEVEL', 'level DESC', 'title desc']) AS "order";
-- Documents with equal values, and all without one, are in the order of their scores.
WITH ranked AS (SELECT row_number() OVER (ORDER BY rank) AS rank, slug FROM search_docs('frobnicator alerts', 'ordered', max_results => 10) WHERE slug <> 'd')
SELECT string_agg(slug, ' ' ORDER BY rank) = pg_temp.slugs('nothing') AS by_score FROM ranked;
-- A page of results is a part of the whole order.
SELECT pg_temp.slugs('slug desc', '{"most": 2}') AS first, pg_temp.slugs('slug desc', '{"most": 2, "offset": 2}') AS second;
SELECT jsonb_path_query_array(search_docs_json('frobnicator alerts', 'ordered', config => '{"order": "slug desc"}', max_results => 2), '$.results[*].slug');
SELECT rank, slug FROM search_docs('zzzz', 'ordered', config => '{"order": "slug"}');
SELECT rank, slug FROM search_docs('frobnicator', 'ordered', config => '{"order": "slug up"}');
SELECT rank, slug FROM search_docs('frobnicator', 'ordered', config => '{"order": 1}');
SELECT docsearch.drop_project('ordered');

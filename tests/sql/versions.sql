-- What a new version of a documentation breaks.
SET client_min_messages = warning;
CREATE ROLE docsearch_guest;
SELECT docsearch.create_project('kiln', root_url => 'https://kiln.test/') > 0 AS created;
CREATE FUNCTION pg_temp.words(first int, count int) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg('word' || n, ' ') FROM generate_series(first, first + count - 1) n $$;
SELECT count(*) FROM docsearch.index_docs('kiln', jsonb_build_array(
    jsonb_build_object('slug', 'v1/open', 'version', '1', 'title', 'Opening a kiln', 'body',
        E'# Opening a kiln\n\nOpen the door when the kiln is cold.\n\n## kiln.hinges\n\n' || pg_temp.words(0, 30) || E'\n\n## Gloves\n\n' || pg_temp.words(50, 30)),
    jsonb_build_object('slug', 'v1/glaze', 'version', '1', 'title', 'Glazes', 'body', E'# Glazes\n\nGlass on clay. ' || pg_temp.words(100, 40)),
    jsonb_build_object('slug', 'v1/sell', 'version', '1', 'title', 'Selling pots', 'body', 'How to sell pots at a market.'),
    jsonb_build_object('slug', 'v1/see', 'version', '1', 'title', 'See also', 'body', 'See [sell](sell.md), [hinges](open#kilnhinges) and [old](../v1/sell).'),
    jsonb_build_object('slug', 'v1/closed', 'version', '1', 'title', 'Closed', 'category', 'closed', 'body', E'## secret_name\n\nNothing.'),
    jsonb_build_object('slug', 'v2/open', 'version', '2', 'title', 'Opening a kiln', 'body',
        E'# Opening a kiln\n\nOpen the door when the kiln is cold, and wear gloves.'),
    jsonb_build_object('slug', 'v2/guides/glazing', 'version', '2', 'title', 'Glazing', 'body', E'# Glazing\n\nGlass on clay. ' || pg_temp.words(100, 40) || ' new'),
    jsonb_build_object('slug', 'v2/gloves', 'version', '2', 'title', 'Gloves', 'body', pg_temp.words(50, 30)),
    jsonb_build_object('slug', 'v2/see', 'version', '2', 'title', 'See also', 'body', 'See [sell](sell.md), [hinges](open#kilnhinges) and [old](../v1/sell).')));
SELECT change, before, after, round(similarity::numeric, 2) AS similarity, detail FROM docsearch.compare_versions('kiln', '1', '2');
-- The other way.
SELECT change, count(*) FROM docsearch.compare_versions('kiln', '2', '1') GROUP BY change ORDER BY change;
-- Judgments of either version, and queries of the log.
SELECT docsearch.judge('versions', 'selling pots at a market', 'v1/sell'), docsearch.judge('versions', 'glass on clay', 'v2/guides/glazing'),
       docsearch.judge('versions', 'opening a kiln', 'v1/open');
-- Two pages of version 2 score nearly the same, in an order that depends on the processor.
SELECT before, left(after, 3) AS after, detail FROM docsearch.compare_versions('kiln', '1', '2', 'versions') WHERE change = 'query_worse';
INSERT INTO docsearch.query_log (id, logged_at, kind, session, role, source, query, query_hash, project_ids, results)
SELECT n::text, now(), 'search', 's', 'r', 'sql', q, md5(q), ARRAY[(SELECT id FROM docsearch.project WHERE name = 'kiln')], 1
FROM generate_series(1, 4) n, LATERAL (SELECT CASE WHEN n = 4 THEN 'glass on clay' ELSE 'selling pots' END) AS l(q);
SELECT before, after, detail FROM docsearch.compare_versions('kiln', '1', '2') WHERE change = 'query_worse';
SELECT count(*) FROM docsearch.compare_versions('kiln', '1', '2', max_queries => 0) WHERE change = 'query_worse';
-- A reader gets what the reader sees.
SELECT docsearch.grant_usage('docsearch_guest');
ALTER TABLE docsearch.document ENABLE ROW LEVEL SECURITY;
CREATE POLICY visitors ON docsearch.document TO docsearch_guest USING (category IS DISTINCT FROM 'closed');
SET ROLE docsearch_guest;
SELECT count(*) FILTER (WHERE before LIKE 'v1/closed%' OR detail LIKE '%secret%') AS hidden, count(*) FILTER (WHERE change = 'query_worse') AS worse
FROM docsearch.compare_versions('kiln', '1', '2');
SELECT count(*) FROM docsearch.compare_versions('kiln', '1', '2', 'versions');
RESET ROLE;
SELECT count(*) FROM docsearch.compare_versions('kiln', '1', '3');
SELECT count(*) FROM docsearch.compare_versions('kiln', '1', '1');
SELECT count(*) FROM docsearch.compare_versions('kiln', '1', NULL);
SELECT count(*) FROM docsearch.compare_versions(NULL, '1', '2');
SELECT count(*) FROM docsearch.compare_versions('kiln', '1', '2', 'nosuch');
SELECT count(*) FROM docsearch.compare_versions('kiln', '1', '2', max_queries => -1);
DROP POLICY visitors ON docsearch.document;
ALTER TABLE docsearch.document DISABLE ROW LEVEL SECURITY;
DELETE FROM docsearch.query_log;
SELECT docsearch.drop_judgments('versions');
SELECT docsearch.drop_project('kiln');
DROP OWNED BY docsearch_guest;
DROP ROLE docsearch_guest;

-- Pages with the same text: a search shows one of them.
SET client_min_messages = warning;
CREATE ROLE docsearch_guest;
SELECT docsearch.create_project('kiln') > 0 AS created, docsearch.create_project('mirror') > 0 AS second;
-- The text with this number of further pages about the same.
CREATE FUNCTION pg_temp.pages(copies jsonb) RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_agg(jsonb_build_object('title', 'Cooling', 'body',
               '# Cooling' || E'\n\n' || 'Open the kiln when it is **cold**, and never before that, since hot shelves crack.') || c)
    FROM jsonb_array_elements(copies) c $$;
SELECT slug, action FROM docsearch.index_docs('kiln', pg_temp.pages('[
    {"slug": "v1/guides/cooling", "version": "1", "metadata": {"platform": "gas"}}, {"slug": "v2/guides/cooling", "version": "2"},
    {"slug": "v2/guides/firing/cooling", "version": "2", "title": "Cooling (firing)"},
    {"slug": "v2/hidden/cooling", "version": "2", "category": "closed"}]'));
SELECT slug, action FROM docsearch.index_docs('kiln', '[
    {"slug": "shelves", "title": "Shelves", "body": "Hot shelves crack if a kiln is opened before it is cold. Let them cool for a night."},
    {"slug": "other", "title": "Cooling slowly", "body": "Open the kiln when it is cold, and never before that, since hot shelves crack."},
    {"slug": "case", "title": "Cooling", "body": "Open the Kiln when it is cold, and never before that, since hot shelves crack."},
    {"slug": "short/a", "title": "Cool", "body": "Cool the kiln slowly."}, {"slug": "short/b", "title": "Cool", "body": "Cool the kiln slowly."}]');
SELECT slug, count(*) OVER (PARTITION BY text_digest) AS same FROM docsearch.document WHERE text_digest IS NOT NULL ORDER BY slug;
SELECT slug, duplicates FROM search_docs('when is the kiln opened', 'kiln', max_results => 20) ORDER BY slug;
-- Free places go to other pages; the first results do not depend on their number.
SELECT count(DISTINCT slug) FROM search_docs('cooling', 'kiln', max_results => 3);
-- All of them.
SELECT slug, duplicates FROM search_docs('when is the kiln opened', 'kiln', max_results => 20, dedup => 'none') WHERE slug LIKE '%cooling' ORDER BY slug;
-- What category and filter leave out counts for nothing.
SELECT slug, duplicates FROM search_docs('cooling', 'kiln', filter => '{"version": "1"}');
SELECT slug, duplicates FROM search_docs('cooling', 'kiln', filter => '{"version": "2"}');
SELECT slug, duplicates FROM search_docs('cooling', 'kiln', filter => '{"version": "latest"}') WHERE slug LIKE '%cooling';
SELECT slug, duplicates FROM search_docs('cooling', 'kiln', category => 'closed');
-- The page that the query names.
SELECT slug, duplicates FROM search_docs('v1/guides/cooling', 'kiln', max_results => 1);
SELECT r -> 'duplicates' AS duplicates, r -> 'also_at' AS also_at
FROM search_docs_json('when is the kiln opened', 'kiln', max_results => 4) AS answer, jsonb_path_query(answer, '$.results[*] ? (@.duplicates > 0)') r;
SELECT count(*) FROM search_docs_text('when is the kiln opened', 'kiln', max_results => 4) AS text, string_to_table(text, E'\n') AS line WHERE line LIKE '%same text as 3 other pages%';
SELECT line FROM search_docs_text('when is the kiln opened', 'kiln', max_results => 4, format => 'detailed') AS text, string_to_table(text, E'\n') AS line
WHERE line LIKE '%also at%';
SELECT step, rule, matched, contribution FROM docsearch.explain_search('when is the kiln opened', 'v1/guides/cooling', 'kiln') WHERE step = 'duplicate';
SELECT count(*) FROM docsearch.explain_search('when is the kiln opened', 'v2/guides/cooling', 'kiln') WHERE step = 'duplicate';

-- The author's mark decides, but not over an earlier project.
SELECT docsearch.index_doc('kiln', 'v2/guides/firing/cooling', 'Cooling', version => '2', metadata => '{"canonical": true}', body =>
    'Open the kiln when it is cold, and never before that, since hot shelves crack.');
SELECT slug, duplicates FROM search_docs('when is the kiln opened', 'kiln', max_results => 4) WHERE duplicates > 0;
SELECT count(*) FROM docsearch.index_docs('mirror', pg_temp.pages('[{"slug": "c", "metadata": {"canonical": true}}]'));
SELECT project, slug, duplicates FROM search_docs('when is the kiln opened', max_results => 4) WHERE duplicates > 0;
SELECT project, slug, duplicates FROM search_docs('when is the kiln opened', 'mirror', max_results => 1);
SELECT count(*) FROM docsearch.index_docs('kiln', pg_temp.pages('[
    {"slug": "v2/guides/firing/cooling", "version": "2", "metadata": {"canonical": "v2/guides/cooling"}},
    {"slug": "v2/guides/cooling", "version": "2", "metadata": {"canonical": "kiln/v2/guides/cooling"}}]'));
SELECT project, slug, duplicates FROM search_docs('when is the kiln opened', max_results => 4) WHERE duplicates > 0;

-- A hidden page changes nothing.
SELECT docsearch.grant_usage('docsearch_guest');
ALTER TABLE docsearch.document ENABLE ROW LEVEL SECURITY;
CREATE POLICY visitors ON docsearch.document TO docsearch_guest USING (category IS DISTINCT FROM 'closed');
CREATE TEMP TABLE answer (hidden bool, query text, answer jsonb);
GRANT ALL ON answer TO docsearch_guest;
CREATE PROCEDURE pg_temp.ask(hidden bool) LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO answer SELECT hidden, query, search_docs_json(query, max_results => 4) - 'timings' || jsonb_build_object('explained',
               (SELECT jsonb_agg(e) FROM docsearch.explain_search(query, 'v1/guides/cooling', 'kiln') e))
    FROM unnest('{cooling,when is the kiln opened,cold shelves crack,v1/guides/cooling,kiln}'::text[]) query;
END $$;
SET ROLE docsearch_guest;
CALL pg_temp.ask(true);
RESET ROLE;
SELECT docsearch.delete_doc('kiln', 'v2/hidden/cooling');
SET ROLE docsearch_guest;
CALL pg_temp.ask(false);
RESET ROLE;
SELECT query, count(DISTINCT answer) AS answers, bool_or(answer @? '$.results[*].duplicates') AS counted FROM answer GROUP BY query ORDER BY query;

-- The same for copies of several texts, in two projects, in any order, of any version, of which half are hidden.
DELETE FROM answer;
CREATE FUNCTION pg_temp.dice(what text, sides int) RETURNS int LANGUAGE sql AS $$ SELECT get_byte(decode(md5(what), 'hex'), 0) % sides $$;
SELECT p AS project, count(*) FROM unnest('{kiln,mirror}'::text[]) p, LATERAL docsearch.index_docs(p, (
    SELECT jsonb_agg(jsonb_build_object('slug', repeat('folder/', pg_temp.dice(p || n || 'slug', 3)) || 'copy' || n, 'title', 'Text ' || t,
               'version', (pg_temp.dice(p || n || 'version', 3) + 1)::text, 'category', CASE pg_temp.dice(p || n || 'hidden', 2) WHEN 0 THEN 'closed' END,
               'body', (ARRAY['Glaze', 'Clay', 'Slip', 'Ash', 'Salt', 'Wood'])[t + 1] || ' is put on the pot before it is fired in the kiln for the second time.'))
    FROM generate_series(1, 40) n, LATERAL (SELECT pg_temp.dice(p || n || 'text', 6)) AS of(t))) GROUP BY p ORDER BY p;
CREATE PROCEDURE pg_temp.ask_all(hidden bool) LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO answer SELECT hidden, query || ' ' || coalesce(project, 'all') || ' ' || filter || ' ' || most,
                              search_docs_json(query, project, filter => filter::jsonb, max_results => most) - 'timings'
    FROM unnest('{glaze on the pot,clay,slip,what is put on a pot?,fired a second time,Text 3,ash salt,copy7,wood in the kiln}'::text[]) query,
         unnest('{kiln,mirror,NULL}'::text[]) project, unnest(ARRAY['{}', '{"version": "2"}', '{"version": "latest"}']) filter, unnest('{1,4,20}'::int[]) most;
END $$;
SET ROLE docsearch_guest;
CALL pg_temp.ask_all(true);
RESET ROLE;
DELETE FROM docsearch.document WHERE category = 'closed';
SET ROLE docsearch_guest;
CALL pg_temp.ask_all(false);
RESET ROLE;
SELECT count(*) AS queries, count(*) FILTER (WHERE answers > 1) AS that_reveal FROM (SELECT query, count(DISTINCT answer) AS answers FROM answer GROUP BY query) a;
-- Each text comes once, and counts its copies.
SELECT count(*) > 100 AS texts, bool_and(places = 1) AS once, bool_or(duplicates > 3) AS several FROM (
    SELECT a.query, d.text_digest, count(DISTINCT (r ->> 'project', r ->> 'slug')) AS places, max((r ->> 'duplicates')::int) AS duplicates
    FROM answer a, jsonb_array_elements(a.answer -> 'results') r
    JOIN docsearch.document d ON d.id = (r ->> 'document_id')::bigint WHERE NOT a.hidden AND d.text_digest IS NOT NULL GROUP BY a.query, d.text_digest) r;

-- Many copies take no places: what else there is is found.
SELECT count(*) FROM docsearch.index_docs('kiln', (SELECT pg_temp.pages(jsonb_agg(jsonb_build_object('slug', 'copies/' || n))) FROM generate_series(1, 400) n));
SELECT slug, duplicates FROM search_docs('when is the kiln opened', 'kiln', max_results => 4);
SELECT jsonb_array_length(r -> 'also_at') AS listed
FROM search_docs_json('when is the kiln opened', 'kiln', max_results => 4) AS answer, jsonb_path_query(answer, '$.results[*] ? (@.duplicates > 0)') r;

-- Which to keep.
SELECT duplicate_group, count(*), bool_or(canonical) AS has_one, min(slug) FILTER (WHERE canonical) AS canonical, min(similarity) >= 0.8 AS similar
FROM docsearch.duplicates('kiln') GROUP BY duplicate_group ORDER BY duplicate_group;
SELECT count(*) AS short FROM docsearch.duplicates('kiln', 0.1) WHERE slug LIKE 'short/%';

-- The column cannot be written, and is computed for rows that are written by hand.
UPDATE docsearch.document SET text_digest = 1;
SELECT docsearch.text_digest('Kiln', repeat('word ', 11)) IS NULL AS short, docsearch.text_digest(NULL, 'x') IS NULL AS untitled,
       docsearch.text_digest('Kiln', repeat('word ', 12)) = docsearch.text_digest('Kiln', '# Kiln' || E'\n\n' || repeat('*word* ', 12)) AS same;
UPDATE docsearch.document SET body = body || ' And more.' WHERE slug = 'v1/guides/cooling';
SELECT count(*) = count(*) FILTER (WHERE text_digest IS NOT DISTINCT FROM docsearch.text_digest(title, body)) AS right FROM docsearch.document;

-- Tables without it.
BEGIN;
ALTER TABLE docsearch.document DROP COLUMN text_digest;
SELECT count(*) FROM search_docs('when is the kiln opened', 'kiln', max_results => 4);
ROLLBACK;
DROP POLICY visitors ON docsearch.document;
ALTER TABLE docsearch.document DISABLE ROW LEVEL SECURITY;
SELECT docsearch.drop_project('kiln') AS kiln, docsearch.drop_project('mirror') AS mirror;
DROP OWNED BY docsearch_guest;
DROP ROLE docsearch_guest;

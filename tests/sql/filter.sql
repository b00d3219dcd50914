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
-- Names of platforms, containers, kinds and categories are case-insensitive.
SELECT pg_temp.found('{"platform": "MacOS"}'), pg_temp.found('{"platforms": ["macOS", "Linux"]}'), pg_temp.found('{"platform": {"not": "MACOS"}}'),
       pg_temp.found('{"category": "common"}'), pg_temp.found('{"platform": "mac.s"}'), pg_temp.found('{"platform": "acos"}');
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

-- s0_26, s2_1: this number of documents is scored, however few are shown.
SELECT asked, set_to, candidates >= least(40, greatest(set_to, 2 * asked)) AS enough, candidates < 20 AS few
FROM (VALUES (1, 200), (1, 10), (15, 10)) v(asked, set_to),
     LATERAL (SELECT (search_docs_json('alerts', 'filters', max_results => asked, config => jsonb_build_object('candidates', set_to)) ->> 'candidates')::int AS candidates) answer;

-- Operators; a range of versions or dates compares versions or dates, and words match in their usual spellings.
SELECT docsearch.create_project('operators') > 0 AS created;
SELECT count(*) FROM docsearch.index_docs('operators', (
    SELECT jsonb_agg(jsonb_build_object('slug', slug, 'title', 'Page ' || slug, 'body', 'A page about alerts.', 'version', version, 'kind', kind, 'metadata', metadata))
    FROM (VALUES ('a', '4.9', 'guide', '{"tags": ["sql", "json"], "level": "low", "since": "4.9", "day": "2025-01-31T10:00:00Z"}'::jsonb),
                 ('b', '4.10rc1', 'guide', '{"tags": ["sql"], "level": "Low", "since": "4.10", "day": "2025-02-01"}'),
                 ('c', '4.10', 'class', '{"tags": "json", "level": "high", "since": "4.10.1", "day": "soon"}'),
                 ('d', 'nightly', NULL, '{"tags": [], "level": 5, "since": null, "engine": "GraphQL"}')) page(slug, version, kind, metadata)));
CREATE FUNCTION pg_temp.slugs(filter jsonb) RETURNS text LANGUAGE sql AS $$
    SELECT coalesce(string_agg(slug, ' ' ORDER BY slug), '-') FROM search_docs('alerts', project => 'operators', filter => filter, max_results => 10, dedup => 'none')
$$;
SELECT filter, pg_temp.slugs(filter) FROM unnest(ARRAY[
    '{"tags": {"any": ["json", "xml"]}}', '{"tags": {"all": ["sql", "json"]}}', '{"tags": {"all": ["sql", {"not": "json"}]}}',
    '{"tags": {"exists": true}}', '{"since": {"exists": false}}', '{"kind": {"exists": false}}',
    '{"level": {"prefix": "LO"}}', '{"level": {"prefix": "l.w"}}', '{"level": "LOW"}', '{"level": "lOW"}', '{"engine": "graphql"}', '{"engine": "GraphQL"}',
    '{"level": {"not": "low"}}', '{"level": {"not": {"from": 5}}}', '{"level": [{"from": 1, "to": 5}, "high"]}',
    '{"version": {"from": "4.9", "to": "4.10"}}', '{"version": {"from": "4.10"}}', '{"version": {"to": "4.9"}}', '{"since": {"from": "4.10"}}',
    '{"day": {"to": "2025-01"}}', '{"day": {"from": "2025-01-31", "to": "2025-01-31"}}', '{"day": {"from": "2025-02"}}', '{"day": {"from": "m"}}',
    '{"any": [{"level": 5}, {"kind": "class"}]}', '{"all": [{"tags": "sql"}, {"not": {"tags": "json"}}]}', '{"not": {"kind": "guide", "tags": "json"}}'
]::jsonb[]) AS filter;
SELECT docsearch.drop_project('operators');

SELECT * FROM search_docs('x', filter => '[1]');
SELECT * FROM search_docs('x', filter => '{"level": {"any": []}}');
SELECT * FROM search_docs('x', filter => '{"any": [{"after": "2025-01-01"}]}');
SELECT * FROM search_docs('x', filter => '{"version": {"from": "?"}}');
SELECT * FROM search_docs('x', filter => (repeat('{"not": ', 20) || '{"a": 1}' || repeat('}', 20))::jsonb);
SELECT * FROM search_docs('x', filter => '{"level": {"over": 3}}');
SELECT * FROM search_docs('x', filter => '{"after": "someday"}');
\set VERBOSITY sqlstate
SELECT * FROM search_docs('x', filter => '{"before": "2026-13-40"}');
\set VERBOSITY default

-- If a filter leaves nothing, a notice says so and lists existing values.
SELECT count(*) FROM search_docs('alerts', 'filters', filter => '{"platform": "Windows"}');
SELECT count(*) FROM search_docs('alerts', 'filters', filter => '{"version": "9.9"}');
SELECT count(*) FROM search_docs('alerts', 'filters', filter => '{"level": {"from": 100}}');
SELECT count(*) FROM search_docs('alerts', 'filters', filter => '{"colour": "red"}');
SELECT count(*) FROM search_docs('alerts', 'filters', filter => '{"kind": "guide"}');
SELECT count(*) FROM search_docs('alerts', 'filters', filter => '{"after": "2030-01-01"}');
SELECT count(*) FROM search_docs('alerts', 'filters', category => 'Rare', filter => '{"level": 1}');
SELECT search_docs_text('alerts', 'filters', filter => '{"platform": "Windows"}');
SELECT docsearch.answer_prompt('alerts', 'filters', filter => '{"version": "9.9"}') LIKE '%alerts%' AS prompt;
SELECT count(*) FROM search_docs('alerts', 'filters', filter => '{"project": "filter"}');
SELECT count(*) FROM search_docs('alerts', 'filters', filter => '{"level": "7"}');
SELECT count(*) FROM search_docs('alerts', 'filters', filter => '{"level": {"to": 0}}');
SELECT count(*) FROM search_docs('alerts', 'filters', filter => '{"platform": ["masos", "windows"]}');
SELECT count(*) FROM search_docs('alerts', 'filters', filter => '{"before": "2020-01-01"}');
SELECT count(*) FROM search_docs('alerts', 'filters', filter => '{"categroy": "Common"}');
SELECT count(*) FROM search_docs('alerts', filter => '{"platform": "Windows"}', projects => '{filters}', config => '{"offset": 3}');
-- A key that no document has is a notice, even if documents match. One that documents have is none.
SELECT filter, jsonb_array_length(answer -> 'results') AS results, jsonb_path_query_array(answer, '$.notices[*] ? (@.code == "unknown_filter_key").message') AS notices
FROM (VALUES ('{"platfrom": {"not": "ios"}}'::jsonb), ('{"level": {"not": 1}, "versoin": {"not": "1"}, "colour": {"not": "red"}}'), ('{"platform": {"not": "x"}}'),
             ('{"platforms": {"not": "x"}}'), ('{"level": [1, 2]}'), ('{"level": {"not": 1}, "kind": {"not": "guide"}}'), ('{}')) f(filter),
     search_docs_json('alerts', 'filters', filter => filter, max_results => 2) AS answer;
SELECT search_docs_json('zzyzx', 'filters', filter => '{"platfrom": {"not": "ios"}}', config => '{"hybrid_weight": 0}') -> 'notices' AS notices;
-- If there is another reason, the notice does not mention the filter.
SELECT count(*) FROM search_docs('alerts', 'filters', filter => '{"platform": "ios"}', config => '{"offset": 1000}');
SELECT count(*) FROM search_docs('alerts', 'filters', filter => '{"any": [{"level": 100}, {"platform": "Windows"}]}');
SELECT count(*) FROM search_docs('alerts', 'filters', filter => '{"version": {"from": "3"}}');
SELECT docsearch.drop_project('filters');

-- Versions of a page: "latest" keeps the newest of each.
SELECT docsearch.create_project('versions') > 0 AS created;
SELECT count(*) FROM docsearch.index_docs('versions', (
    SELECT jsonb_agg(jsonb_build_object('slug', slug, 'title', title, 'version', version,
                                        'body', 'How to install the frobnicator on a machine.'))
    FROM (VALUES ('v1.9/install', 'Installing', '1.9'), ('1.10/install', 'Installing', '1.10'), ('2.0rc1/install', 'Installing', '2.0rc1'),
                 ('2.0/install', 'Installing', '2.0'), ('v1.9/removed', 'Frobnicate', '1.9'), ('about', 'About', NULL)) page(slug, title, version)));
SELECT slug FROM search_docs('frobnicator', project => 'versions', filter => '{"version": "latest"}', max_results => 10) ORDER BY slug COLLATE "C";
SELECT slug FROM search_docs('frobnicator', project => 'versions', filter => '{"version": {"not": "2.0"}}', dedup => 'none', max_results => 10) ORDER BY slug COLLATE "C";
SELECT slug FROM search_docs('frobnicator', filter => '{"version": "latest", "kind": "guide"}');
SELECT slug FROM search_docs('frobnicator', filter => '{"version": {"not": "latest"}}');
SELECT slug FROM search_docs('frobnicator', filter => '{"version": ["latest"]}');
-- Without it the newest is first, also among pages with the name in the query, with an explanation.
SELECT slug FROM search_docs('install the frobnicator', project => 'versions', max_results => 1);
SELECT slug FROM search_docs('Installing', project => 'versions', max_results => 1);
SELECT slug FROM search_docs('Frobnicate', project => 'versions', max_results => 1);
SELECT step, rule, matched, weight FROM docsearch.explain_search('install the frobnicator', '1.10/install', 'versions') WHERE rule = 'older_version';
SELECT count(*) FROM docsearch.explain_search('install the frobnicator', '1.10/install', 'versions', config => '{"penalty_older_version": 0}') WHERE rule = 'older_version';
SELECT * FROM docsearch.explain_search('install the frobnicator', '1.10/install', 'versions', filter => '{"version": "latest"}');
-- Hidden pages supersede nothing.
CREATE ROLE docsearch_reader;
SELECT docsearch.grant_usage('docsearch_reader');
ALTER TABLE docsearch.document ENABLE ROW LEVEL SECURITY;
CREATE POLICY released ON docsearch.document FOR SELECT TO docsearch_reader USING (version NOT LIKE '2%');
SET ROLE docsearch_reader;
SELECT slug FROM search_docs('frobnicator', project => 'versions', filter => '{"version": "latest"}', max_results => 10) ORDER BY slug COLLATE "C";
-- Only versions of visible pages are listed.
SELECT slug FROM search_docs('frobnicator', project => 'versions', filter => '{"version": "9.9"}');
RESET ROLE;
DROP POLICY released ON docsearch.document;
ALTER TABLE docsearch.document DISABLE ROW LEVEL SECURITY;
DROP OWNED BY docsearch_reader;
DROP ROLE docsearch_reader;
SELECT docsearch.drop_project('versions');

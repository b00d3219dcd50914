-- Weights of pages, and pages that are pinned for a query.
CREATE ROLE docsearch_guest;
CREATE ROLE docsearch_editor;
SELECT docsearch.create_project('pins') > 0 AS created, docsearch.create_project('more_pins') > 0 AS second;
SELECT count(*) FROM docsearch.index_docs('pins', '[
    {"slug": "install", "title": "Installing the kiln", "body": "Install the kiln on a level floor. Installing takes an hour."},
    {"slug": "windows", "title": "Kilns near windows", "body": "Install the kiln away from windows."},
    {"slug": "floors", "title": "Floors", "body": "A floor under a kiln is level before you install it.", "category": "building"},
    {"slug": "glazes", "title": "Glazes", "body": "A glaze melts in the firing."},
    {"slug": "old/install", "title": "Installing an older kiln", "body": "Install the older kiln on a floor.", "category": "archive"}]');
CREATE FUNCTION pg_temp.slugs(query text, most int = 10, config jsonb = '{}', filter jsonb = '{}', also text[] = NULL) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(slug, ' ' ORDER BY rank) FROM search_docs(query, 'pins', max_results => most, config => config, filter => filter, also => also) $$;

-- s2_25: A pinned page comes first, whether words find it or not. Queries are compared without case, blanks and punctuation.
SELECT split_part(pg_temp.slugs('install the kiln'), ' ', 1) AS before;
SELECT docsearch.pin('pins', 'Install the kiln', first => '{glazes,windows}');
SELECT query, split_part(pg_temp.slugs(query), ' ', 1) AS first, split_part(pg_temp.slugs(query), ' ', 2) AS second
FROM unnest('{install the kiln,"  INSTALL the  Kiln?",install the kilns,the kiln}'::text[]) query;
SELECT rank, slug, score::numeric(7, 6), confidence FROM search_docs('install the kiln', 'pins', max_results => 2);
SELECT step, rule, matched, raw, after FROM docsearch.explain_search('install the kiln', 'glazes', 'pins') WHERE step = 'pin';
SELECT step, rule, matched, before < after AS raised, after::numeric(7, 6) FROM docsearch.explain_search('install the kiln', 'windows', 'pins') WHERE step = 'pin';
SELECT count(*) FROM docsearch.explain_search('install the kiln', 'install', 'pins') WHERE step = 'pin';
-- Filter, category, excluded words and the caller's own order stay in force.
SELECT slug FROM search_docs('install the kiln', 'pins', category => 'building');
SELECT split_part(pg_temp.slugs('install the kiln', config => '{"order": "slug"}'), ' ', 1) AS by_slug;
SELECT docsearch.pin('pins', 'kiln -glaze', first => '{glazes}');
SELECT pg_temp.slugs('kiln -glaze') LIKE '%glazes%' AS excluded;
-- A further wording counts, too.
SELECT split_part(pg_temp.slugs('how are kilns set up', also => '{install the kiln}'), ' ', 1) AS also;
-- A page of results is a part of the whole order.
SELECT pg_temp.slugs('install the kiln', 2) AS first, pg_temp.slugs('install the kiln', 2, '{"offset": 2}') <> '' AS second,
       pg_temp.slugs('install the kiln') LIKE pg_temp.slugs('install the kiln', 2) || ' ' || pg_temp.slugs('install the kiln', 2, '{"offset": 2}') || '%' AS whole;

-- Pages that are no results. Others take their places.
SELECT docsearch.pin('pins', 'install the kiln', never => '{install,old/install}');
SELECT pg_temp.slugs('install the kiln') LIKE '%install%' AS shown, array_length(string_to_array(pg_temp.slugs('install the kiln', 2), ' '), 1) AS results;
SELECT step, rule, matched, after FROM docsearch.explain_search('install the kiln', 'install', 'pins') WHERE step = 'pin';
SELECT docsearch.count_docs('install', 'pins') AS counted;

-- Pins are listed, replaced and removed. A missing page is said at once, and by check.
SELECT docsearch.pin('pins', 'install  the kiln', first => '{floors,firing}', never => '{glazes}', source => 'docs');
SELECT query, first, never, missing, source FROM docsearch.pins('pins') ORDER BY query;
SELECT problem, object, detail, repair FROM docsearch.check('pins') WHERE problem LIKE 'pinned%';
SELECT pg_temp.slugs('install the kiln', 1) AS first;
SELECT docsearch.index_doc('pins', 'firing', 'Firing', 'A firing takes a day.');
SELECT pg_temp.slugs('install the kiln', 2) AS first;
SELECT count(*) FROM docsearch.check('pins') WHERE problem LIKE 'pinned%';
SELECT docsearch.unpin('pins', 'INSTALL the kiln?') AS removed, docsearch.unpin('pins', 'install the kiln') AS again;

-- What cannot be pinned.
SELECT docsearch.pin('pins', ' ?', first => '{install}');
SELECT docsearch.pin('pins', repeat('x ', 300), first => '{install}');
SELECT docsearch.pin('pins', 'x');
SELECT docsearch.pin('pins', 'x', first => '{install}', never => '{install}');
SELECT docsearch.pin('pins', 'x', first => ARRAY(SELECT 'p' || n FROM generate_series(1, 11) n));
SELECT docsearch.pin('pins', 'x', first => '{NULL}');
SELECT docsearch.pin('nothing', 'x', first => '{install}');
SELECT docsearch.unpin('pins', NULL);
SET client_min_messages = warning;
SELECT count(docsearch.pin('more_pins', 'query ' || n, first => '{x}')) FROM generate_series(1, 1000) n;
SELECT docsearch.pin('more_pins', 'query 1000', never => '{x}');
SELECT docsearch.pin('more_pins', 'query 1001', first => '{x}');
RESET client_min_messages;

-- Several projects: the pins of the earlier one come first.
SELECT docsearch.index_doc('more_pins', 'x', 'Kiln', 'The kiln.');
SELECT docsearch.pin('more_pins', 'query 1', first => '{x}');
SELECT docsearch.pin('pins', 'query 1', first => '{glazes}');
SELECT project, slug FROM search_docs('query 1', max_results => 2);

-- Who may not change the project cannot pin. A hidden page is neither shown nor told of.
SELECT docsearch.grant_usage('docsearch_guest');
SELECT docsearch.grant_usage('docsearch_editor', write => true);
SELECT docsearch.pin('pins', 'oldest kiln', first => '{old/install,glazes}');
ALTER TABLE docsearch.document ENABLE ROW LEVEL SECURITY;
CREATE POLICY visitors ON docsearch.document USING (category IS DISTINCT FROM 'archive');
SET ROLE docsearch_guest;
SELECT docsearch.pin('pins', 'x', first => '{install}');
SELECT docsearch.unpin('pins', 'oldest kiln');
SELECT count(*) FROM docsearch.pin;
SELECT slug, confidence FROM search_docs('oldest kiln', 'pins', max_results => 1);
SELECT query, first, missing FROM docsearch.pins('pins') ORDER BY query;
SET ROLE docsearch_editor;
SELECT docsearch.pin('pins', 'archive', first => '{old/install}');
SELECT docsearch.pin('pins', 'nothing', first => '{no/such/page}');
SELECT query, first, missing FROM docsearch.pins('pins') ORDER BY query;
RESET ROLE;
DROP POLICY visitors ON docsearch.document;
ALTER TABLE docsearch.document DISABLE ROW LEVEL SECURITY;
SELECT query, first, missing FROM docsearch.pins('pins') ORDER BY query;

-- A copy of a pinned page is not shown beside it.
SELECT count(*) FROM docsearch.index_docs('pins', '[
    {"slug": "v1/cooling", "title": "Cooling", "version": "1", "body": "Open the kiln when it is cold, and never before that, since hot shelves crack."},
    {"slug": "v2/cooling", "title": "Cooling", "version": "2", "body": "Open the kiln when it is cold, and never before that, since hot shelves crack."}]');
SELECT slug, duplicates FROM search_docs('cooling', 'pins', max_results => 1);
SELECT docsearch.pin('pins', 'cooling', first => '{v1/cooling}');
SELECT slug, duplicates FROM search_docs('cooling', 'pins', max_results => 10) WHERE slug LIKE '%cooling';
SELECT matched FROM docsearch.explain_search('cooling', 'v2/cooling', 'pins') WHERE step = 'duplicate';

-- s2_24: Weights of pages.
SELECT count(*) FROM docsearch.index_docs('pins', (
    SELECT jsonb_agg(jsonb_build_object('slug', 'weight/' || n, 'title', 'Page ' || n, 'body', 'The damper of the flue is opened by hand.',
                                        'metadata', jsonb_build_object('boost', boost)))
    FROM (VALUES (1, '0.5'::jsonb), (2, '1'), (3, 'null'), (4, '2'), (5, '100'), (6, '-7'), (7, '"much"'), (8, '1.25')) w(n, boost)));
SELECT slug, boost FROM docsearch.document WHERE slug LIKE 'weight/%' ORDER BY slug;
SELECT coalesce(boost, 1) AS weight, string_agg(slug, ' ' ORDER BY slug) AS slugs
FROM (SELECT slug, max(score) AS score FROM search_docs('who opens the damper of the flue', 'pins', max_results => 8, dedup => 'none') GROUP BY slug) found
     JOIN docsearch.document USING (slug) WHERE slug LIKE 'weight/%' GROUP BY 1, round(score::numeric, 1) ORDER BY min(score) DESC;
SELECT step, rule, matched, raw, weight, round((1 - (1 - before) ^ 2)::numeric, 4) = round(after::numeric, 4) AS squared
FROM docsearch.explain_search('who opens the damper of the flue', 'weight/4', 'pins') WHERE rule = 'page_boost';
SELECT count(*) FROM docsearch.explain_search('who opens the damper of the flue', 'weight/2', 'pins') WHERE rule = 'page_boost';
-- The page with the exact name stays first.
SELECT pg_temp.slugs('Page 1', 1) AS named;
-- An attached table has them in a column.
CREATE TABLE public.weighed (id int PRIMARY KEY, title text, body text, boost numeric);
INSERT INTO public.weighed VALUES (1, 'One', 'The flue.', 1.5), (2, 'Two', 'The flue.', NULL);
SELECT docsearch.attach_table('public.weighed', metadata => 'boost', public => true);
SELECT docsearch.wait_for_index();
SELECT slug, boost FROM docsearch.document WHERE slug LIKE 'weighed/%' ORDER BY slug;
SELECT docsearch.detach_table('public.weighed') AS deleted;
DROP TABLE public.weighed;

-- They are dropped with their project.
SELECT docsearch.drop_project('more_pins') AS documents;
SELECT count(DISTINCT project_id) FROM docsearch.pin;
SELECT docsearch.drop_project('pins') > 0 AS dropped, docsearch.drop_project('weighed') >= 0 AS attached;
SELECT count(*) FROM docsearch.pin;
SELECT docsearch.revoke_usage('docsearch_guest'), docsearch.revoke_usage('docsearch_editor');
DROP ROLE docsearch_guest, docsearch_editor;

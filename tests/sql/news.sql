-- The newest pages: known dates of publication first, newest first; then versions in names of release notes. A page
-- without a date is not new because it was indexed lately. Each query shows violations of a law: none.
SET client_min_messages = error;
CREATE FUNCTION pg_temp.days(days int) RETURNS timestamptz LANGUAGE sql AS $$ SELECT pg_catalog.now() - days * interval '1 day' $$;
-- The pages of four invented products: all with dates, some with dates, with versions only, with neither.
SELECT count(docsearch.create_project(name)) FROM unnest(ARRAY['gull', 'heron', 'ibis', 'jay']) name;
SELECT count(*) FROM docsearch.index_docs('gull', (SELECT jsonb_agg(jsonb_build_object('slug', slug, 'title', title, 'body', body, 'published_at', pg_temp.days(days))) FROM (VALUES
    ('posts/tides', 'Tides of the north', 'How the gull reads tides, and what a tide table is.', 2),
    ('posts/nests', 'Nests in winter', 'Where a nest of a gull stands in winter.', 30),
    ('posts/summary', 'A new and recent post about the latest news', 'What is new today: news of the latest release, recently published, newest updates.', 400),
    ('posts/eggs', 'Counting eggs', 'An egg is counted once.', 5000),
    ('posts/beaks', 'Beaks', 'A beak has two halves.', 5001)) p(slug, title, body, days)));
SELECT count(*) FROM docsearch.index_docs('heron', (SELECT jsonb_agg(jsonb_strip_nulls(jsonb_build_object('slug', slug, 'title', title, 'body', body, 'published_at', pg_temp.days(days)))) FROM (VALUES
    ('guides/pumps', 'Pumps', 'A pump of the heron lifts water. What is new today is water.', NULL),
    ('guides/users', 'New users', 'Adds a new user. The newest user is published today, the latest version of a user.', NULL),
    ('blog/why-reeds', 'Why reeds bend', 'Reeds bend in wind.', 3),
    ('blog/heron-and-frog', 'Heron and frog', 'A heron meets a frog.', 90),
    ('releases/2.1', 'Heron 2.1', 'Pumps are quieter.', 20),
    ('releases/2.0', 'Heron 2.0', 'Pumps have two valves.', 200),
    ('releases/2.0.9', 'Heron 2.0.9', 'A valve no longer leaks.', 10)) p(slug, title, body, days)));
SELECT count(*) FROM docsearch.index_docs('ibis', (SELECT jsonb_agg(jsonb_build_object('slug', slug, 'title', title, 'body', body)) FROM (VALUES
    ('guides/bill', 'Bills', 'A bill is long. What is new today is the latest bill.'),
    ('guides/version', 'Versions of a bill', 'A bill has a version. The latest version of a bill, its release and what changed in it, are kept. New versions are newest.'),
    ('releases/v4.9.0', 'What was new in Ibis 4.9', 'Bills bend.'),
    ('releases/v4.10.0', 'What was new in Ibis 4.10', 'Bills are longer.'),
    ('releases/v4.10.0-rc1', 'What was new in Ibis 4.10rc1', 'Bills are longer, perhaps.'),
    ('releases/v3.20.0', 'What was new in Ibis 3.20', 'Bills are red.')) p(slug, title, body)));
SELECT count(*) FROM docsearch.index_docs('jay', (SELECT jsonb_agg(jsonb_build_object('slug', slug, 'title', title, 'body', body)) FROM (VALUES
    ('guides/acorns', 'Acorns', 'A jay hides acorns. What is new today: acorns, newly published.'),
    ('guides/hoard', 'New acorns', 'The latest and newest acorns, recently released.'),
    ('reference/settings', 'Settings', 'How many acorns are hidden.')) p(slug, title, body)));

CREATE TEMP TABLE new (q text);
INSERT INTO new SELECT unnest(ARRAY['What''s new today?', 'what is new', 'whats new', 'what''s new?', '''new''', 'new', 'news', 'any news?',
    'what was added lately', 'show me the newest articles', 'was gibt es Neues?', 'quoi de neuf ?', 'what did you publish this week',
    'recently updated docs', 'latest posts', 'most recent articles', 'what happened since last year', 'anything new since last month?',
    'fresh content', 'hi, what''s new?', 'what did I miss lately', 'latest', 'newest', 'recent additions', 'what has been published recently?']);
CREATE TEMP TABLE releases (q text);
INSERT INTO releases SELECT unnest(ARRAY['latest version', 'changelog', 'most recent release notes', 'release notes', 'what changed', 'latest release',
    'what changed?', 'show me the latest release', 'newest version', 'what is the current version?', 'is there a new release?', 'version history',
    'release history', 'patch notes', 'change log', 'latest release notes please', 'what is the newest release', 'last release', 'releases',
    'which is the latest version?', 'latest stable version', 'neueste Version', 'what''s the most recent version?', 'recent releases', 'new version']);
CREATE FUNCTION pg_temp.slugs(query text, project text, n int) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(slug, ' ' ORDER BY rank) FROM search_docs(query, project, max_results => n) $$;

-- s1_8: all have dates: by date, whatever their words.
SELECT q, pg_temp.slugs(q, 'gull', 5) FROM new
WHERE pg_temp.slugs(q, 'gull', 5) IS DISTINCT FROM 'posts/tides posts/nests posts/summary posts/eggs posts/beaks';
-- Mixed: pages with a date are first.
SELECT q, pg_temp.slugs(q, 'heron', 5) FROM new
WHERE pg_temp.slugs(q, 'heron', 5) IS DISTINCT FROM 'blog/why-reeds releases/2.0.9 releases/2.1 blog/heron-and-frog releases/2.0';
-- Versions only: by their numbers.
SELECT q, pg_temp.slugs(q, 'ibis', 4) FROM (TABLE new UNION TABLE releases) a
WHERE pg_temp.slugs(q, 'ibis', 4) IS DISTINCT FROM 'releases/v4.10.0 releases/v4.10.0-rc1 releases/v4.9.0 releases/v3.20.0';
-- Neither: there are results, none of high confidence.
SELECT q, slug, confidence FROM new, search_docs(q, 'jay') WHERE confidence <> 'low';
SELECT q, project, slug, confidence FROM (TABLE new UNION TABLE releases) a, unnest(ARRAY['heron', 'ibis']) p, search_docs(q, p)
WHERE slug LIKE 'guides/%' AND confidence <> 'low';
-- s2_22: requested release notes are first, newest version first, even if other pages are newer.
SELECT q, pg_temp.slugs(q, 'heron', 3) FROM releases
WHERE pg_temp.slugs(q, 'heron', 3) IS DISTINCT FROM 'releases/2.1 releases/2.0.9 releases/2.0';
SELECT q, confidence FROM releases, search_docs(q, 'ibis', max_results => 1) WHERE confidence <> 'high';
-- In all projects: dates first.
SELECT q, slug FROM new, search_docs(q, max_results => 1) WHERE slug <> 'posts/tides';
-- A project name is not a topic.
SELECT q, pg_temp.slugs(q, 'ibis', 2) FROM unnest(ARRAY['what''s new in ibis?', 'latest ibis release', 'Ibis changelog', 'ibis release notes']) q;
-- Indexing again does not make a page new.
SELECT docsearch.index_doc('heron', 'guides/pumps', 'Pumps', 'A pump of the heron lifts much water.');
SELECT pg_temp.slugs('what''s new?', 'heron', 1);
-- A query with a topic is about the topic.
SELECT q, pg_temp.slugs(q, 'heron', 1) FROM unnest(ARRAY['new users', 'add a new user', 'how do pumps work']) q;
-- Names of release notes are rows: here a word of another language, for one project.
SELECT docsearch.index_doc('jay', 'neuerungen/1.2', 'Jay 1.2', 'Eicheln.'), docsearch.index_doc('jay', 'neuerungen/1.10', 'Jay 1.10', 'Eicheln.');
INSERT INTO docsearch.news_name (project_id, place, name) SELECT id, 'folder', 'Neuerungen' FROM docsearch.project WHERE name = 'jay';
SELECT q, pg_temp.slugs(q, 'jay', 2) FROM unnest(ARRAY['latest release', 'what''s new?']) q;
UPDATE docsearch.news_name SET releases = false WHERE name = 'Neuerungen';
SELECT pg_temp.slugs('what''s new?', 'jay', 1) LIKE 'neuerungen/%' AS still_news;
DELETE FROM docsearch.news_name WHERE name = 'Neuerungen';
-- Words are rows, too.
INSERT INTO docsearch.query_word (kind, word) VALUES ('release', 'ausgabe');
SELECT pg_temp.slugs('ausgabe', 'heron', 1);
DELETE FROM docsearch.query_word WHERE word = 'ausgabe';
-- boost_recency of 0 disables it.
SELECT count(*) FROM docsearch.explain_search('what''s new?', 'posts/tides', 'gull', config => '{"boost_recency": 0}') WHERE rule = 'recency';

-- s1_36: pages of a period rank above others; if there are none, the words of the period do no harm.
SELECT count(*) FROM docsearch.index_docs('gull', (SELECT jsonb_agg(jsonb_build_object('slug', 'months/' || month, 'title', 'Storms', 'body', 'A storm came from the west.',
    'published_at', date_trunc('month', now()) - month * interval '1 month' + interval '3 days')) FROM generate_series(1, 14) month));
SELECT pg_temp.slugs('posts from last month', 'gull', 1) IN ('months/1', 'posts/nests') AS last_month,
       pg_temp.slugs('storms last month', 'gull', 1) = 'months/1' AS storms_of_last_month,
       pg_temp.slugs('storms 3 months ago', 'gull', 1) = 'months/3' AS three_months_ago,
       pg_temp.slugs('what happened in ' || trim(to_char(now() - interval '5 months', 'Month')), 'gull', 1) = 'months/5' AS month,
       (SELECT bool_and(d.published_at >= date_trunc('year', now()) - interval '1 year' AND d.published_at < date_trunc('year', now()))
        FROM search_docs('articles from last year', 'gull', max_results => 1) JOIN docsearch.document d USING (slug)) AS last_year,
       pg_temp.slugs('what happened since last week', 'gull', 1) LIKE '%' AS since;
SELECT q, pg_temp.slugs(q, 'heron', 1) FROM unnest(ARRAY['pumps in 2019', 'pumps last year', 'pumps since last week', 'how do pumps work in March']) q;
SELECT q, t ->> 'transformed' AS transformed FROM unnest(ARRAY['posts from last month', 'articles from last year', 'changes this week']) q,
    docsearch.transform_query(q, 'jay', '2025-12-15') t WHERE t ->> 'transformed' NOT LIKE '% 202_';
SELECT q, docsearch.transform_query(q, 'jay', '2026-01-05') ->> 'transformed' ~ 'December 2025$' AS december FROM unnest(ARRAY['posts from last month']) q;

-- s1_41: vectors find nothing beyond this distance.
SELECT jsonb_path_query_array(a, '$.notices[*].code') ? 'too_distant' AS told
FROM search_docs_json('zzz of rivers', 'gull', config => '{"max_distance": 0.01}') a;
SELECT search_docs_json('acorns', 'jay', config => '{"max_distance": 3}');
-- s1_40: an unknown language.
SELECT docsearch.detect_language('hello'), docsearch.detect_language('comment créer un index ?'),
       docsearch.answer_prompt('hello', 'jay') LIKE '%in the language of the question.%' AS undecided;
SET docsearch.default_language = 'de';
SELECT docsearch.detect_language('hello');
SET docsearch.default_language = '';
SELECT docsearch.detect_language('hello');
SET docsearch.default_language = 'xx';
SELECT docsearch.detect_language('hello');
RESET docsearch.default_language;
SELECT count(docsearch.drop_project(name)) FROM unnest(ARRAY['gull', 'heron', 'ibis', 'jay']) name;

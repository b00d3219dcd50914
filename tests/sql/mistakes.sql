-- Mistyped or differently written names are understood, or a hint suggests the right one.
SELECT docsearch.create_project('harbour', root_url => 'https://harbour.example/docs') > 0 AS created;
SELECT docsearch.create_project('yard') > 0 AS created;
SELECT count(*) FROM docsearch.index_docs('harbour', '[
  {"slug": "guides/moor.html", "title": "Moor a boat", "body": "# Moor a boat\n\nTie it to a bollard. The setting max_lines says how many lines hold it."},
  {"slug": "guides/cranes.html", "title": "Cranes", "body": "# Cranes\n\nA crane lifts cargo. Crane.liftCargo takes a weight, cargo.weigh tells it."},
  {"slug": "tools/hb_dump", "title": "hb_dump", "body": "# hb_dump\n\nWrites everything to a file."},
  {"slug": "reference/create-berth", "title": "CREATE BERTH", "body": "# CREATE BERTH\n\nMakes a berth for a boat."},
  {"slug": "reference/drop-berth", "title": "DROP BERTH", "body": "# DROP BERTH\n\nRemoves a berth. See CREATE BERTH."},
  {"slug": "faqs", "title": "Questions", "body": "# Questions\n\nWhat is asked often."}]');
SELECT count(*) FROM docsearch.index_docs('yard', '[
  {"slug": "guides/moor-html", "title": "Hull", "body": "Another page."},
  {"slug": "harbour", "title": "A harbour for boats", "body": "Not the project."},
  {"slug": "paint", "title": "Paint", "body": "Paint the hull."}]');

-- s3_28: if a slug is the address of a page in any spelling, the hint names only that page.
SELECT given, error FROM unnest(ARRAY['harbour/guides/moor', 'Harbour/Guides/MOOR.html', '[harbour/guides/moor.html]', 'guides/moor.md#lines',
                                      'https://harbour.example/docs/guides/moor', '/faqs/', 'FAQS']) given, load_docs(ARRAY[given]);
-- For a reference, pages of its project come before those of others.
SELECT load_doc('harbour/guide/more.html');
SELECT load_doc('yard/guide/more.html');
-- The name of a project is not that of a page, unless a page has it.
SELECT load_doc('yard/');
SELECT left(load_doc('harbour'), 21) AS page;
-- In another project.
SELECT load_doc('paint', project => 'harbour');
SELECT load_doc('harbour/faqs', project => 'yard');

-- s0_37: a reference as in answers.
SELECT q, slug, confidence FROM unnest(ARRAY['[harbour/guides/moor.html]', '[guides/moor]', '[faqs.md]', '[https://harbour.example/docs/faqs]']) q,
    search_docs(q, max_results => 1);

-- s0_21: names of several parts, and swapped letters, whatever the session's pg_trgm settings.
SELECT q, slug, confidence <> 'low' AS found FROM unnest(ARRAY['max_lnies', 'max_line', 'cargo.wiegh', 'hb_dmup', 'hbdmup', 'creaet bertth', 'Crnaes']) q,
    search_docs(q, 'harbour', max_results => 1);
SELECT q, suggestion, slug FROM unnest(ARRAY['max_lnies', 'cargo.wiegh', 'hb_dmup', 'creaet bertth', 'creaet a bertth']) q,
    docsearch.suggest(q, 'harbour', max_results => 1);
SET pg_trgm.similarity_threshold = 1;
SELECT q, suggestion, slug FROM unnest(ARRAY['hb_dmup', 'Crnaes']) q, docsearch.suggest(q, 'harbour', max_results => 1);
SHOW pg_trgm.similarity_threshold;
RESET pg_trgm.similarity_threshold;

-- s1_44: a page that the query names is complete without its words; so is the newest page if only that is requested.
SELECT count(*) FROM docsearch.index_docs('harbour', '[
  {"slug": "posts/winter", "title": "Winter", "body": "Ice on the pier.", "published_at": "2026-01-10T00:00:00Z"},
  {"slug": "posts/autumn", "title": "Autumn", "body": "Leaves on the pier.", "published_at": "2025-10-10T00:00:00Z"},
  {"slug": "releases/2.0", "title": "Harbour 2.0", "body": "Faster."},
  {"slug": "releases/1.9", "title": "Harbour 1.9", "body": "Slower."}]');
SELECT docsearch.index_doc('harbour', 'posts/pier', 'Pier', 'The pier is open again.', published_at => now() - interval '2 days');
SELECT q, a #>> '{results,0,slug}' AS first, a #>> '{grade,grounded}' AS grounded, (a #>> '{grade,completeness}')::real > 0.55 AS complete,
       a #>> '{grade,should_refine}' AS refine
FROM unnest(ARRAY['create_berth', 'reference/create-berth.html', '[harbour/faqs]', 'faqs.md', 'what is new?', 'was ist neu', 'quoi de neuf',
                  'latest version', 'neueste Version', 'in January 2026', 'October 2025']) q,
    search_docs_json(q, 'harbour', config => '{"grade": true}') a;
-- No page is of this period or has this name.
SELECT q, confidence <> 'high' AS unsure, docsearch.grade_results(q, 'harbour') ->> 'should_refine' AS refine
FROM unnest(ARRAY['what was new in March 2024?', 'March 2024', 'release notes from March 2024', 'create_pier', 'guides/pier.html']) q,
    search_docs(q, 'harbour', max_results => 1);

-- An invalid date.
SELECT docsearch.transform_query('latest posts', 'harbour', now => 'infinity');
SELECT docsearch.transform_query('latest posts', 'harbour', now => '0044-03-15 BC');
-- A filter may only compare fields of documents.
SELECT slug FROM search_docs('boat', 'yard', filter => '{"after": "2030-01-01"}');
-- An element of index_docs reports its invalid key and the required type.
SELECT slug, detail FROM docsearch.index_docs('yard', '[
  {"slug": "a", "title": 7, "body": "x"}, {"slug": "b", "title": "B", "body": ["x"]}, {"slug": "c", "title": "C", "body": "x", "keywords": "x"},
  {"slug": "d", "title": "D", "body": "x", "source_urls": ["x", 1]}, {"slug": "e", "title": "E", "body": "x", "pages": {}},
  {"slug": ["f"], "title": "F", "body": "x"}, ["g"], "h"]') ORDER BY slug, detail;
SELECT docsearch.drop_project(name) > 0 AS dropped FROM docsearch.project WHERE name IN ('harbour', 'yard') ORDER BY name;

-- Readers' questions: addresses, names within questions, excluded words, the newest pages.
SELECT docsearch.create_project('kiln', root_url => 'https://kiln.example/docs') > 0 AS created;
SELECT count(*) FROM docsearch.index_docs('kiln', replace(replace('[
  {"slug": "topics/firing/intro", "title": "Introduction", "body": "# Introduction\n\nWhat firing is.\n\n## Heat\n\n%1"},
  {"slug": "topics/glazes/intro", "title": "Introduction", "body": "# Introduction\n\nWhat glazes are.\n\n## Heat\n\n%2"},
  {"slug": "reference/Shelf", "title": "Shelf", "body": "# Shelf\n\nA plate that holds pots. It stands on posts.", "source_urls": ["https://old.kiln.example/api/shelf.html"]},
  {"slug": "reference/ShelfGroup", "title": "ShelfGroup", "body": "# ShelfGroup\n\nSeveral shelves. Use a Shelf for one."},
  {"slug": "reference/Cone", "title": "Cone", "body": "# Cone\n\nA pyramid that bends at a known heat."},
  {"slug": "reference/Timer", "title": "Timer", "body": "# Timer\n\nEnds a firing after a timeout. A timeout over a network is that of the HTTPClient."},
  {"slug": "reference/HTTPClient", "title": "HTTPClient", "body": "# HTTPClient\n\nAsks a controller by http. It has a timeout, and the timeout of http counts."},
  {"slug": "guides/shelves", "title": "Stacking", "body": "# Stacking\n\nWhat is a Shelf for? How do I use Shelf and Cone? Use Shelf instead of floor. A Shelf example: put the Shelf on posts."},
  {"slug": "reference/settings", "title": "Settings", "body": "# Settings\n\n## ramp_rate\n\nHow quickly heat rises. %1\n\n## ramp_rate_limit\n\nRamp rate, the greatest ramp rate that ramp_rate may have; the ramp rate is never above the ramp rate limit. %2\n\n## hold_time\n\nHow long heat stays. %1"},
  {"slug": "releases/2.1", "title": "Kiln 2.1 release notes", "body": "# Kiln 2.1 release notes\n\nCSRT is new. CSRT protects controllers. What CSRT does: CSRT."},
  {"slug": "security/csrt", "title": "Protection of controllers", "body": "# Protection of controllers\n\nCSRT signs what a controller is told, so that nobody else burns your pots."}
]', '%1', repeat('Clay turns to stone, slowly. ', 50)), '%2', repeat('Glass melts above it. ', 60))::jsonb);
CREATE FUNCTION pg_temp.top(query text) RETURNS text LANGUAGE sql AS $$
    SELECT concat_ws(' ', r ->> 'slug', '#' || nullif(r ->> 'anchor', ''), r ->> 'confidence')
    FROM search_docs_json(query, 'kiln', max_results => 1) a, LATERAL (SELECT a -> 'results' -> 0 AS r) f $$;

-- Slugs, references and URLs are names, with the section that an anchor names.
SELECT q, pg_temp.top(q) FROM unnest(ARRAY[
    'topics/glazes/intro', 'Topics/Firing/Intro', '/topics/firing/intro/', 'kiln/topics/glazes/intro',
    'kiln/topics/firing/intro#heat', 'topics/glazes/intro#heat', 'https://kiln.example/docs/topics/firing/intro',
    'http://www.kiln.example/docs/topics/glazes/intro/#heat', 'https://old.kiln.example/api/shelf.html?highlight=post',
    'reference/Cone.html', 'reference%2FCone', '[Cone](https://kiln.example/docs/reference/Cone)', 'see https://kiln.example/docs/reference/Timer.',
    'reference/settings#HOLD_TIME', 'reference/settings#param-ramp_rate_limit'
]) q;
-- An address of another site, or of a missing page, is searched as words.
SELECT q, pg_temp.top(q) !~ 'high' AS unsure FROM unnest(ARRAY['https://elsewhere.example/topics/firing/outro', 'topics/drying/outro']) q;
SELECT DISTINCT project FROM search_docs('kiln/topics/firing/intro', max_results => 1);
SELECT form, names, holding FROM docsearch.verify_invariants('kiln') WHERE names IS NOT NULL;

-- Questions about a name find its page, not pages with the words of the question.
SELECT q, pg_temp.top(q) FROM unnest(ARRAY[
    'what is Shelf?', 'What is a shelf?', 'how do I use Shelf?', 'Shelf example', 'an example of Cone', 'what does Cone do?',
    'how does a Timer work?', 'when should I use Shelf instead of Cone?', 'difference between Cone and Shelf',
    'where is ShelfGroup documented?', 'can you explain Timer?', 'what is a shelf in kiln?', 'what does ramp_rate mean?'
]) q;
-- With any words around the name: greetings, requests, comparisons.
SELECT q, pg_temp.top(q) FROM unnest(ARRAY[
    'hi! could you show me some Shelf docs, please?', 'so what is a Cone anyway', 'which is better, Cone or Shelf?', 'Shelf compared to Timer',
    'best practices for Timer', 'I still don''t get Shelf', 'are there any caveats with Cone?', 'ShelfGroup constructor arguments'
]) q;

-- The question in a post with context is searched separately, as explain shows.
SELECT slug FROM search_docs('Good evening. We fire porcelain in an old brick house near the river and my brother glazes. The floor is wet. What bends at a known heat? Greetings from all of us', 'kiln', max_results => 1);
SELECT rule, matched FROM docsearch.explain_search('Good evening. We fire porcelain in an old brick house near the river. What bends at a known heat? Greetings', 'reference/Cone', 'kiln') WHERE step = 'transform';
SELECT count(*) FROM docsearch.explain_search('Good evening. We fire porcelain in an old brick house near the river. What bends at a known heat? Greetings', 'reference/Cone', 'kiln', config => '{"question_share": 0}') WHERE step = 'transform';

-- The section that defines a name is shown, not the one that says it most often.
SELECT q, r -> 'slug' AS slug, r -> 'section' AS section
FROM unnest(ARRAY['ramp_rate', 'ramp_rate_limit', 'ramp_rate setting', 'hold_time']) q,
     LATERAL (SELECT search_docs_json(q, 'kiln', max_results => 1) -> 'results' -> 0) f(r);

-- A word with a dash is excluded, wherever it is; if it can be an option of a command, there is a notice.
SELECT q, array_agg(slug ORDER BY rank) FILTER (WHERE slug ~ 'HTTP|Timer') AS found
FROM unnest(ARRAY['timeout', 'timeout -http', '-http timeout', 'timeout -network', 'timeout –http', 'does it have a timeout -http?']) q, search_docs(q, 'kiln', max_results => 20)
GROUP BY q ORDER BY q;
SELECT q, jsonb_path_query_first(search_docs_json(q, 'kiln'), '$.notices[*] ? (@.code == "not_excluded")') ->> 'message' AS notice
FROM unnest(ARRAY['ls -al', 'timeout -http', '-timeout', 'git log --oneline', 'firing -"greatest ramp"']) q;
-- Where a page is filed counts, too.
SELECT slug FROM search_docs('what a kiln does when heat rises -reference -topics', 'kiln', max_results => 20) ORDER BY slug;

-- Release notes rank below a page that explains, unless they are requested; the rule can be disabled.
SELECT q, pg_temp.top(q) FROM unnest(ARRAY['what is CSRT', 'CSRT in 2.1', 'release notes of 2.1']) q;
SELECT rule, matched, round((raw * weight)::numeric, 2) FROM docsearch.explain_search('what is CSRT', 'releases/2.1', 'kiln') WHERE rule = 'news';
SELECT count(*) FROM docsearch.explain_search('what is CSRT', 'releases/2.1', 'kiln', config => '{"penalty_news": 0}') WHERE rule = 'news';

-- For what changed in a version, only its release notes are right.
SELECT count(*) FROM docsearch.index_docs('kiln', '[
  {"slug": "releases/2.10", "title": "Kiln 2.10 release notes", "body": "Bricks are new. What changed: doors."},
  {"slug": "releases/2.1.1", "title": "Kiln 2.1.1 release notes", "body": "What changed in 2.1 was mended. CSRT, changed again, as release notes of 2.1 said."}]');
SELECT q, pg_temp.top(q) FROM unnest(ARRAY['what changed in 2.1?', 'kiln 2.10 release notes', 'upgrade notes for v2.1.1']) q;

-- A query that asks only for what is new gives the newest pages, newest first.
UPDATE docsearch.document SET published_at = now() - interval '3 years';
SELECT count(*) FROM docsearch.index_docs('kiln', jsonb_build_array(
    jsonb_build_object('slug', 'a/quiet', 'title', 'Quiet page', 'body', 'Nothing special.', 'published_at', now() - interval '1 day'),
    jsonb_build_object('slug', 'a/older', 'title', 'What is new today', 'body', 'What is new today: news of today.', 'published_at', now() - interval '2 years'),
    jsonb_build_object('slug', 'a/quieter', 'title', 'Another page', 'body', 'Not much.', 'published_at', now() - interval '9 days')));
SELECT q, array_agg(slug ORDER BY rank) FROM unnest(ARRAY['What''s new today?', 'latest changes', 'recently updated docs', 'whats new', 'any news?', 'what was added lately',
    'show me the newest articles', 'what has changed since yesterday?']) q,
    search_docs(q, 'kiln', max_results => 2) GROUP BY q ORDER BY q;
SELECT slug FROM search_docs('new timers of late', 'kiln', max_results => 1);

-- Keywords and suggestions are not stop words.
SELECT docsearch.index_doc('kiln', 'a/words', 'Drying', repeat('The pot and the clay are not one: and the pot, how and where the clay dries, not the glaze. ', 5));
SELECT keywords FROM docsearch.document WHERE slug = 'a/words';
SELECT docsearch.drop_project('kiln');

-- Verbs describe what a tool does, even with guides in the same project.
SELECT docsearch.create_project('ledger') > 0 AS created;
SELECT count(*) FROM docsearch.index_docs('ledger', '[
  {"slug": "read_entry", "title": "read_entry", "body": "Gives back an entry of the ledger."},
  {"slug": "write_entry", "title": "write_entry", "body": "Puts an entry into the ledger."},
  {"slug": "list_entries", "title": "list_entries", "body": "All entries of the ledger, or those of a day."},
  {"slug": "remove_entry", "title": "remove_entry", "body": "Takes an entry out of the ledger."},
  {"slug": "guides/entries", "title": "Entries and what they hold", "body": "An entry has a day and a sum. People persist an entry each evening."},
  {"slug": "guides/days", "title": "Days without an entry", "body": "A day may have no entry. Nothing is erased on such a day."},
  {"slug": "guides/paper", "title": "Paper ledgers", "body": "An entry on paper cannot be erased, and every entry is signed."},
  {"slug": "guides/sums", "title": "Sums", "body": "The sum of every entry is shown below."},
  {"slug": "guides/audit", "title": "What auditors ask", "body": "Auditors want every entry shown, none erased, all of them persisted."},
  {"slug": "guides/backup", "title": "Copies of a ledger", "body": "A copy persists each entry in another house."},
  {"slug": "guides/ink", "title": "Ink", "body": "Ink can be erased, an entry in ink as well."},
  {"slug": "guides/history", "title": "History of accounts", "body": "Entries were carved before anybody persisted them on paper."}
]');
CREATE FUNCTION pg_temp.best(query text, project text DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
    SELECT slug || ' ' || round(score::numeric, 3) FROM search_docs(query, project, max_results => 1) $$;
SELECT q, split_part(pg_temp.best(q, 'ledger'), ' ', 1) FROM unnest(ARRAY['persist an entry', 'erase an entry', 'show every entry', 'fetch an entry']) q;

-- A category or framework of one project, named like a word of the query, does not affect another project.
CREATE TEMP TABLE alone AS
    SELECT q, pg_temp.best(q, 'ledger') AS best FROM unnest(ARRAY['save entry', 'erase entries', 'erase an entry', 'ledger entry', 'ink']) q;
SELECT docsearch.create_project('album') > 0 AS created;
SELECT count(*) FROM docsearch.index_docs('album', '[
  {"slug": "frame", "title": "Frame", "category": "Entry", "body": "Holds a picture."},
  {"slug": "page", "title": "Page", "category": "Entries", "metadata": {"framework": "Ledger"}, "body": "Holds frames."}]');
SELECT q, best = pg_temp.best(q) AS the_same FROM alone ORDER BY q;
SELECT count(*) > 0 AS suggested FROM docsearch.suggest('manage entry');
-- The scores of suggestions fall.
SELECT bool_and(score <= before) AS falling FROM
    (SELECT score, lag(score, 1, 1) OVER () AS before FROM docsearch.suggest('manage entry')) s;
SELECT docsearch.drop_project('album') + docsearch.drop_project('ledger') AS dropped;

-- Lists of names rank below the page that explains a name, and have a name of their own.
SELECT docsearch.create_project('bolts') > 0 AS created;
SELECT count(*) FROM docsearch.index_docs('bolts', (SELECT jsonb_agg(page) FROM (
    SELECT jsonb_build_object('slug', 'names', 'title', 'List of calls', 'body',
               string_agg(format('- [bolt_call_%s](calls.html#c%s)', n, n), E'\n')) FROM generate_series(1, 60) n
    UNION ALL SELECT jsonb_build_object('slug', 'crossref', 'title', 'Cross references', 'body',
               string_agg(format('- [calls.html#c%s](calls.html#c%s) → bolt\_call\_%s {call %s}', n, n, n, n), E'\n')) FROM generate_series(1, 60) n
    UNION ALL SELECT jsonb_build_object('slug', 'part-' || n, 'title', 'Part ' || n, 'body',
               format('Before a bolt is turned, bolt_call_%s looks whether it holds, and ends if it does not. Then comes the nut, which has its own rules and its own tools, as every mechanic knows.', n))
    FROM generate_series(1, 9) n) p(page)));
SELECT q, split_part(pg_temp.best(q, 'bolts'), ' ', 1) FROM unnest(ARRAY['bolt_call_7', 'bolt_call_3 call', 'what does bolt_call_5 do?', 'list of calls']) q;
SELECT slug, round(entry_share::numeric, 2) AS entries FROM docsearch.document WHERE entry_share > 0 ORDER BY slug;
SELECT rule, round((raw * weight)::numeric, 2) FROM docsearch.explain_search('bolt_call_7', 'names', 'bolts') WHERE rule = 'list';
SELECT docsearch.drop_project('bolts');

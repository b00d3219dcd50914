-- Several wordings of one question: a goal in the reader's words, and the words of the documentation.
SELECT docsearch.create_project('quay') > 0 AS created;
SELECT count(*) FROM docsearch.index_docs('quay', '[
  {"slug": "guides/aborts", "title": "When clients abort", "category": "guides", "body": "# When clients abort\n\nDetecting that a client aborts: the browser goes away before its answer is ready, and the signal of the request fires."},
  {"slug": "guides/answers", "title": "Answers", "category": "guides", "body": "# Answers\n\nAn answer is ready when all parts are. The browser shows it then."},
  {"slug": "guides/timeouts", "title": "Timeouts", "category": "guides", "body": "# Timeouts\n\nA handler ends after a timeout. The timeout of a route is set where the route is made."},
  {"slug": "guides/tls", "title": "Certificates", "category": "guides", "body": "# Certificates\n\nKeys and certificates are renewed without a restart of the server."},
  {"slug": "reference/AbortSignal", "title": "AbortSignal", "category": "reference", "body": "# AbortSignal\n\nSays that a result is not wanted any more. Pass it to what a handler calls."},
  {"slug": "reference/Router", "title": "Router", "category": "reference", "body": "# Router\n\nFinds the handler of a path."}
]'::jsonb);
\set question 'notice that the browser went away before the answer was ready'
CREATE FUNCTION pg_temp.found(query text, also text[] DEFAULT NULL, config jsonb DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(concat(slug, ' ', score, ' ', snippet), E'\n' ORDER BY rank) FROM search_docs(query, 'quay', also => also, config => config) $$;

-- The question alone finds its own words; a wording in the words of the documentation finds the page.
SELECT slug FROM search_docs(:'question', 'quay', max_results => 1);
SELECT slug FROM search_docs(:'question', 'quay', max_results => 1, also => ARRAY['detecting when clients abort']);
-- The excerpt of a page shows the words of the wording that found it.
SELECT snippet FROM search_docs(:'question', 'quay', max_results => 1, also => ARRAY['detecting when clients abort']);

-- Without wordings, or with the question itself as one, scores are those of a plain search to the last digit.
SELECT also, pg_temp.found(:'question', also) = pg_temp.found(:'question') AS same
FROM (VALUES ('{}'::text[]), ('{NULL,"", "  "}'), (ARRAY[:'question']), (ARRAY['  notice that the   browser went away before the answer was ready '])) a(also);
-- Their order makes no difference, and a repeated one counts once.
SELECT also, pg_temp.found(:'question', also) = pg_temp.found(:'question', '{client aborts,closed connection}') AS same
FROM (VALUES ('{closed connection,client aborts}'::text[]), ('{client aborts,NULL,closed connection,client  aborts}')) a(also);
-- So does one that differs only in case, spaces and final punctuation.
SELECT pg_temp.found(:'question', ARRAY['Client aborts?', 'client aborts.', 'CLOSED  connection', 'closed connection :', upper(:'question') || ' ?'])
       = pg_temp.found(:'question', ARRAY['Client aborts?', 'CLOSED  connection']) AS same;

-- A wording with another meaning hardly counts.
SELECT slug, s.score > 0.5 * alone.score AS keeps
FROM search_docs('how long may a handler take before its timeout', 'quay', max_results => 1, also => ARRAY['renew certificates and keys']) s,
     (SELECT score FROM search_docs('how long may a handler take before its timeout', 'quay', max_results => 1)) alone;

-- An exact name in any wording counts; one that is the question itself is first.
SELECT slug, confidence FROM search_docs('say that nobody waits for the result', 'quay', max_results => 1, also => ARRAY['AbortSignal']);
SELECT slug FROM search_docs('Router', 'quay', max_results => 2, also => ARRAY['AbortSignal']);

-- A name in a wording with little trust does not make an answer certain or raise its grade.
SELECT slug, confidence FROM search_docs('renew certificates and keys', 'quay', max_results => 1, also => ARRAY['Router']);
SELECT (docsearch.grade_results('renew certificates and keys', 'quay', also => ARRAY['Router']) ->> 'score')::real
       <= (docsearch.grade_results('renew certificates and keys', 'quay') ->> 'score')::real AS no_better;

-- A wording of only exclusions is added to the question.
SELECT also, pg_temp.found('end a request', also) = pg_temp.found('end a request -AbortSignal') AS same
FROM (VALUES ('{-AbortSignal}'::text[]), ('{NULL,-abortsignal}')) a(also);
SELECT count(*) FILTER (WHERE slug ~ 'Signal') AS excluded, count(*) > 0 AS others
FROM search_docs('end a request', 'quay', max_results => 20, also => ARRAY['-AbortSignal', 'a result that is not wanted']);
-- A word that may be an option of a command is searched, with a notice.
SELECT DISTINCT notice ~ 'Nothing was excluded: -tls ' AS said FROM search_docs('end a request', 'quay', max_results => 1, also => ARRAY['-tls']);
-- An excluded page has no score, and the error names the words.
SELECT FROM docsearch.explain_search('end a request -AbortSignal', 'reference/AbortSignal', 'quay');
SELECT FROM docsearch.explain_search('end a request', 'reference/AbortSignal', 'quay', also => ARRAY['a result -wanted', '-signal', '-server']);
SELECT FROM docsearch.explain_search('end a request -server', 'reference/AbortSignal', 'quay', 'guides');

-- Excluded words, filters and categories apply to all wordings.
SELECT count(*) FILTER (WHERE slug ~ 'Signal') FROM search_docs('end a request -AbortSignal', 'quay', max_results => 20, also => ARRAY['AbortSignal', 'a result that is not wanted']);
SELECT DISTINCT category FROM search_docs(:'question', 'quay', 'guides', max_results => 20, also => ARRAY['AbortSignal']);
SELECT count(*) FROM search_docs(:'question', 'quay', filter => '{"kind": "recipe"}', also => ARRAY['AbortSignal']);

-- Ranks, offsets and minimum scores are those of the answer to all wordings.
WITH whole AS (SELECT slug, rank FROM search_docs(:'question', 'quay', max_results => 6, also => ARRAY['detecting when clients abort'])),
     later AS (SELECT slug, rank FROM search_docs(:'question', 'quay', max_results => 3, also => ARRAY['detecting when clients abort'], config => '{"offset": 3}'))
SELECT count(*) = 3 AND bool_and(whole.slug = later.slug) AS same FROM whole JOIN later USING (rank);
SELECT bool_and(score >= 0.3) AS reached FROM search_docs(:'question', 'quay', min_score => 0.3, also => ARRAY['detecting when clients abort']);

-- The steps of the score: each wording with its score of the page, and the score so far.
SELECT step, rule, matched FROM docsearch.explain_search(:'question', 'guides/aborts', 'quay', also => ARRAY['detecting when clients abort', 'closed connection'])
WHERE step = 'wording';
SELECT abs((array_agg(after ORDER BY n DESC))[1] - (SELECT score FROM search_docs(:'question', 'quay', max_results => 1, also => ARRAY['detecting when clients abort', 'closed connection']))) < 1e-5 AS ends_at_score
FROM docsearch.explain_search(:'question', 'guides/aborts', 'quay', also => ARRAY['detecting when clients abort', 'closed connection']) WITH ORDINALITY e(step, rule, matched, raw, weight, before, after, contribution, n);
SELECT a -> 'understood' -> 'also' -> 0 -> 'query' AS wording, (a -> 'understood' -> 'also' -> 0 ->> 'share')::real BETWEEN 0.05 AND 0.5 AS counts,
       a -> 'understood' -> 'also' -> 0 -> 'understood' ? 'class' AS understood, a -> 'query' AS query
FROM search_docs_json(:'question', 'quay', also => ARRAY['detecting when clients abort']) a;
SELECT search_docs_json(:'question', 'quay') -> 'understood' ? 'also' AS without;

-- The same for every result of the first pass, however far each wording looks.
SELECT docsearch.create_project('yard') > 0 AS created;
SELECT count(*) FROM docsearch.index_docs('yard', (
    SELECT jsonb_agg(jsonb_build_object('slug', 'page-' || n, 'title', 'Page ' || n, 'body',
        concat('# Page ', n, E'\n\nA crate of ', n, ' parts.', repeat(' Filling.', n % 23),
               CASE WHEN n % 2 = 0 THEN E'\n\n## Loading\n\nHow to load a crate onto a ship' || repeat(' with ropes', n % 7) || '.' END,
               CASE WHEN n % 3 = 0 THEN E'\n\n## Lifting\n\nLifting cargo by a crane' || repeat(' and a hook', n % 5) || '.' END,
               CASE WHEN n % 5 = 0 THEN E'\n\n## Vessels\n\nPut freight aboard a vessel' || repeat(' at night', n % 11) || '.' END)))
    FROM generate_series(1, 300) n));
SELECT also, count(*) > 15 AS many, count(*) FILTER (WHERE abs(e.after - r.score) > 1e-5) AS differ
FROM (VALUES ('{"lifting cargo by a crane"}'::text[]), ('{"lifting cargo by a crane","put freight aboard a vessel","Page 7"}')) a(also),
     search_docs('how to load a crate onto a ship', 'yard', max_results => 20, also => also) r,
     LATERAL (SELECT after FROM docsearch.explain_search('how to load a crate onto a ship', r.slug, 'yard', also => also)
              WITH ORDINALITY e(step, rule, matched, raw, weight, before, after, contribution, n) ORDER BY n DESC LIMIT 1) e
GROUP BY also ORDER BY also;
-- The shares are those of the search, also if a page is explained that no wording found.
SELECT count(DISTINCT e.weight) = 1 AS same
FROM (VALUES ('page-1'), ('page-2'), ('page-7'), ('page-60'), ('page-299')) p(slug),
     docsearch.explain_search('how to load a crate onto a ship', p.slug, 'yard', also => '{"lifting cargo by a crane"}') e WHERE step = 'wording' AND rule = 'also';
SELECT docsearch.drop_project('yard');

-- The grade of the answer is that for its best wording.
SELECT docsearch.grade_results(:'question', 'quay', also => ARRAY['detecting when clients abort']) -> 'grounded' AS grounded;
SELECT search_docs_text(:'question', 'quay', max_results => 1, also => ARRAY['detecting when clients abort']) ~ 'quay/guides/aborts' AS text,
       content ~ 'quay/guides/aborts' AS answer,
       docsearch.search_refined(:'question', 'quay', max_results => 1, also => ARRAY['detecting when clients abort']) -> 'results' -> 0 -> 'slug' AS refined
FROM docsearch.search_answer(:'question', 'quay', max_results => 1, also => ARRAY['detecting when clients abort']);

-- Invalid wordings are refused.
SELECT search_docs('route', 'quay', also => ARRAY['a', 'b', 'c', 'd', 'e', 'f']);
SELECT search_docs('route', 'quay', also => ARRAY[ARRAY['a', 'b'], ARRAY['c', 'd']]);
SELECT search_docs('route', 'quay', also => ARRAY[repeat('a ', 3000), repeat('b ', 3000)]);

-- A hidden page is not found by any wording.
CREATE ROLE docsearch_guest;
SELECT docsearch.grant_usage('docsearch_guest');
ALTER TABLE docsearch.document ENABLE ROW LEVEL SECURITY;
CREATE POLICY open ON docsearch.document TO docsearch_guest USING (slug <> 'guides/aborts');
SET ROLE docsearch_guest;
SELECT count(*) FILTER (WHERE slug = 'guides/aborts') AS hidden, count(*) > 0 AS others
FROM search_docs(:'question', 'quay', max_results => 20, also => ARRAY['detecting when clients abort', 'AbortSignal']);
RESET ROLE;

DROP POLICY open ON docsearch.document;
ALTER TABLE docsearch.document DISABLE ROW LEVEL SECURITY;
SELECT docsearch.drop_project('quay');
DROP OWNED BY docsearch_guest;
DROP ROLE docsearch_guest;

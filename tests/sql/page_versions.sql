-- Versions of a page take one place, and names are found in titles as generators write them.
SET client_min_messages = warning;
SELECT docsearch.create_project('crane') > 0 AS created;
SELECT count(*) FROM docsearch.index_docs('crane', (
    SELECT jsonb_agg(jsonb_build_object('slug', folder || '/' || lower(title), 'title', title, 'version', version, 'body', body || version || '.'))
    FROM (VALUES ('v3.9', '3.9'), ('v3.10', '3.10'), ('v4.0', '4.0'), ('next', 'next'), ('v4.0-rc2', '4.0-rc2')) v(folder, version),
         (VALUES ('Assembly', 'Bolt the mast to its base, and hang the jib from it. Written for '),
                 ('HoistLimit', 'The greatest load that the motor lifts. Written for ')) p(title, body)));
SELECT count(*) FROM docsearch.index_docs('crane', '[
    {"slug": "guides/loads", "title": "Heavy loads", "body": "Raise HoistLimit only after the brakes were tested."},
    {"slug": "guides/wind", "title": "Wind", "body": "Lower HoistLimit in a storm, or stop the crane."}]');
-- One place, the newest first; pre-releases and words are older.
SELECT q, (SELECT string_agg(slug, ', ' ORDER BY rank) FROM search_docs(q, 'crane', max_results => 3)) AS found
FROM unnest('{HoistLimit,how high is the hoist limit,assembly,bolt the mast}'::text[]) q;
SELECT answer #> '{results,0,other_versions}' AS other_versions FROM search_docs_json('HoistLimit', 'crane') AS answer;
SELECT line FROM search_docs_text('HoistLimit', 'crane', max_results => 1) AS text, string_to_table(text, E'\n') AS line WHERE line LIKE '%also in version%';
-- The first results do not depend on their number.
SELECT bool_and(few.slug = many.slug) AS same
FROM search_docs('HoistLimit', 'crane', max_results => 2) few JOIN search_docs('HoistLimit', 'crane', max_results => 9) many USING (rank);
-- The version that the query names, beside the others.
SELECT q, (SELECT string_agg(slug, ', ' ORDER BY rank) FROM search_docs(q, 'crane', max_results => 1)) AS first,
       (SELECT count(*) FILTER (WHERE slug LIKE '%/assembly') FROM search_docs(q, 'crane', max_results => 9)) AS versions
FROM unnest('{assembly 3.9,assembly version 3.10,assembly v3.9.0,assembly next,3.9 or 4.0: assembly}'::text[]) q;
SELECT slug, confidence <> 'low' AS sure FROM search_docs('latest assembly', 'crane', max_results => 1);
-- A version that does not exist is said to be missing.
SELECT q, (SELECT string_agg(DISTINCT notice, '') FROM search_docs(q, 'crane', max_results => 1)) AS notice
FROM unnest('{assembly 5.2,assembly v7,assembly 3.9,10 ways of assembly}'::text[]) q;
-- All of them.
SELECT count(*) FROM search_docs('HoistLimit', 'crane', dedup => 'none', max_results => 20) WHERE slug LIKE '%/hoistlimit';
SELECT string_agg(slug, ', ' ORDER BY slug) FROM search_docs('HoistLimit', 'crane', filter => '{"version": ["3.9", "4.0"]}');
SELECT step, rule, matched FROM docsearch.explain_search('HoistLimit', 'v3.9/hoistlimit', 'crane') WHERE step = 'duplicate';
-- Pages named after their version are no versions of one page.
SELECT count(*) FROM docsearch.index_docs('crane', '[
    {"slug": "releases/3.9", "title": "Crane 3.9", "version": "3.9", "body": "The release notes of this version: stronger brakes for the motor."},
    {"slug": "releases/4.0", "title": "Crane 4.0", "version": "4.0", "body": "The release notes of this version: a longer jib for the motor."}]');
SELECT count(*) FROM search_docs('motor brakes jib', 'crane', max_results => 9) WHERE slug LIKE 'releases/%';

-- Names in titles.
SELECT docsearch.create_project('reference') > 0 AS created;
SELECT count(*) FROM docsearch.index_docs('reference', (
    SELECT jsonb_agg(jsonb_build_object('slug', slug, 'title', title, 'body', '# ' || title || E'\n\nHolds what it is given until it is asked for.'))
    FROM (VALUES ('classkit_1_1RingBuffer', 'kit::RingBuffer< T > Class Template Reference'),
                 ('api/kit.collections.sortedbag-1', 'SortedBag<T> Class (Kit.Collections) | Docs'),
                 ('Kit.PairList', 'Kit.PairList behaviour'),
                 ('class.heaptree', 'The HeapTree class'),
                 ('kit/io/trait.Write', 'Trait Write (io)'),
                 ('kit/fmt/trait.Write', 'Trait Write (fmt)'),
                 ('kit/macro.write', 'Macro write'),
                 ('bags', 'Kit.Bags.merge/3')) d(slug, title)));
SELECT count(*) FROM docsearch.index_docs('reference', (
    SELECT jsonb_agg(jsonb_build_object('slug', 'posts/practice-' || lower(name), 'title', name || ' in practice', 'body', 'How ' || name || ' helped us. ' || repeat(name || ' everywhere. ', 5)))
    FROM unnest('{RingBuffer,SortedBag,PairList,HeapTree}'::text[]) name));
SELECT q, (SELECT slug || ' ' || confidence FROM search_docs(q, 'reference', max_results => 1)) AS first
FROM unnest('{RingBuffer,kit::RingBuffer,what is RingBuffer,RingBuffer class,SortedBag,what is SortedBag,Kit.Collections.SortedBag,PairList,
              PairList behaviour,HeapTree,what is HeapTree,io::Write,kit::io::Write,fmt::Write,write!,Kit.Bags.merge,Kit.Bags.merge/3}'::text[]) q;
-- A kind of one's own: check tells the documents, and repair names them.
SELECT count(*) FROM docsearch.index_docs('reference', '[
    {"slug": "klasse.eimer", "title": "Die Klasse EimerKette", "body": "Reicht Eimer weiter."}]');
INSERT INTO docsearch.query_word (kind, word) VALUES ('kind', 'klasse'), ('article', 'die');
SELECT problem, detail FROM docsearch.check('reference') WHERE problem NOT IN (SELECT fault FROM docsearch.known_faults());
SELECT count(*) FROM docsearch.repair('reference') WHERE detail LIKE '%names%';
SELECT count(*) FROM docsearch.document_name WHERE key = 'eimerkette' AND kind = 'symbol';
DELETE FROM docsearch.query_word WHERE word IN ('klasse', 'die') AND kind IN ('kind', 'article');
SELECT docsearch.drop_project('crane'), docsearch.drop_project('reference');

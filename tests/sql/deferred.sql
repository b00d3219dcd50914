-- Deferred indexing: keyword search finds a document at once, vectors come in the background.
SELECT docsearch.create_project('later') > 0 AS created;
SET docsearch.index_mode = 'deferred';
BEGIN;
SELECT slug, action, chunks FROM docsearch.index_docs('later', '[
  {"slug": "ferry", "title": "Ferry", "body": "# Ferry\n\nBoats cross the strait.\n\n## Winter\n\nTwice a day."},
  {"slug": "bridge", "title": "Bridge", "body": "# Bridge\n\nCars cross the strait."}
]');
SELECT docsearch.wait_for_index();
ROLLBACK;
SELECT slug, action, chunks FROM docsearch.index_docs('later', '[
  {"slug": "ferry", "title": "Ferry", "body": "# Ferry\n\nBoats cross the strait.\n\n## Winter\n\nTwice a day."},
  {"slug": "bridge", "title": "Bridge", "body": "# Bridge\n\nCars cross the strait."}
]');
SELECT docsearch.wait_for_index();
SELECT project, done, waiting, failed, unread, rate > 0 AS rate, time_left, switching_to, last_error FROM docsearch.index_progress('later');
SELECT slug, similarity > 0 AS embedded FROM search_docs('boats', 'later') ORDER BY rank LIMIT 1;
-- Unchanged text keeps its vectors; changed text has none until it is embedded again.
SELECT docsearch.index_doc('later', 'bridge', 'Bridge', E'# Bridge\n\nCars and trams cross the strait.');
SELECT docsearch.wait_for_index('1 hour');
SELECT count(*) FROM docsearch.embedding_queue;
SELECT slug, similarity > 0 AS embedded FROM search_docs('tram', 'later') WHERE rank = 1;
SELECT docsearch.index_doc('later', 'bridge', 'Bridge', E'# Bridge\n\nCars and trams cross the strait.');
SELECT docsearch.wait_for_index('-1 second');
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT docsearch.wait_for_index();
ROLLBACK;

-- Existing tables.
CREATE TABLE public.article (id int PRIMARY KEY, title text, text text, section text, tags jsonb, "when" date);
INSERT INTO public.article VALUES
    (1, 'Tea', 'Pour boiling water over the leaves.', 'Drinks', '{"season": "winter"}', '2026-01-02'),
    (2, NULL, 'Whisk the egg whites.', 'Desserts', NULL, NULL);
SELECT docsearch.attach_table('public.article', body => 'text', category => 'section', metadata => 'tags', published_at => 'when');
SELECT docsearch.wait_for_index();
SELECT slug, title, category FROM list_docs('article');
SELECT slug, similarity > 0.3 AS near FROM search_docs('how do I make tea', 'article', filter => '{"season": "winter"}');
INSERT INTO public.article SELECT n, 'Page ' || n, 'Number ' || n, 'Numbers' FROM generate_series(3, 600) n;
UPDATE public.article SET text = 'Steep the leaves for three minutes.' WHERE id = 1;
UPDATE public.article SET id = 1000 WHERE id = 2;
DELETE FROM public.article WHERE id BETWEEN 4 AND 600;
SELECT docsearch.wait_for_index();
SELECT slug, title FROM list_docs('article');
SELECT slug FROM search_docs('steep for three minutes', 'article') WHERE rank = 1;
TRUNCATE public.article;
INSERT INTO public.article VALUES (7, 'Soup', 'Simmer the bones.');
SELECT docsearch.wait_for_index();
SELECT slug, title FROM list_docs('article');
SELECT docsearch.attach_table('public.article', body => 'text', project => 'article');
SELECT docsearch.detach_table('public.article');
SELECT count(*) FROM list_docs('article');
SELECT tgname FROM pg_trigger WHERE tgrelid = 'public.article'::regclass;
SELECT docsearch.detach_table('public.article');
SELECT docsearch.attach_table('public.article', body => 'txt');
SELECT docsearch.attach_table('public.article', key => 'title', body => 'text', project => 'nowhere');
SELECT docsearch.attach_table('pg_stat_activity');
CREATE DOMAIN public.word AS text;
CREATE TABLE public.glossary (word public.word PRIMARY KEY, body text);
SELECT docsearch.attach_table('public.glossary', key => 'word', title => NULL);
CREATE ROLE reader;
SELECT docsearch.grant_usage('reader', write => true);
SET ROLE reader;
SELECT docsearch.attach_table('public.glossary');
RESET ROLE;
DROP OWNED BY reader;
DROP ROLE reader;
DROP TABLE public.article, public.glossary;
DROP DOMAIN public.word;
SELECT docsearch.drop_project('article'), docsearch.drop_project('later');

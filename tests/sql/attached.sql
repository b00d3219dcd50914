-- Attached tables and views: their rows, who sees them, and their problems.
SELECT docsearch.create_project('shelf') > 0 AS created;
CREATE ROLE shelf_reader;
SELECT docsearch.grant_usage('shelf_reader');
CREATE SCHEMA shelf;
GRANT USAGE ON SCHEMA shelf TO shelf_reader;
CREATE FUNCTION pg_temp.found(query text) RETURNS text LANGUAGE sql AS $$ SELECT string_agg(slug, ', ' ORDER BY slug) FROM search_docs(query, 'shelf', max_results => 50) WHERE score > 0.2 $$;
CREATE FUNCTION pg_temp.slugs() RETURNS text LANGUAGE sql AS $$ SELECT string_agg(slug, ', ' ORDER BY slug) FROM list_docs('shelf') $$;

-- s3_42: a table is refused if a role that may search may not read all of its rows.
CREATE TABLE shelf.secret (id int PRIMARY KEY, title text, body text, owner text, tenant int);
INSERT INTO shelf.secret VALUES (1, 'Salary', 'The salary of the narwhal.', 'boss', 1);
SELECT docsearch.attach_table('shelf.secret', project => 'shelf');
\echo :LAST_ERROR_SQLSTATE
GRANT SELECT (id, title) ON shelf.secret TO shelf_reader;
SELECT docsearch.attach_table('shelf.secret', project => 'shelf');
GRANT SELECT (body) ON shelf.secret TO shelf_reader;
SELECT docsearch.attach_table('shelf.secret', project => 'shelf', metadata => 'owner, tenant');
GRANT SELECT ON shelf.secret TO shelf_reader;
ALTER TABLE shelf.secret ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON shelf.secret USING (owner = current_user AND tenant = current_setting('shelf.tenant', true)::int);
CREATE POLICY late ON shelf.secret AS RESTRICTIVE FOR SELECT USING (id > 0);
SELECT docsearch.attach_table('shelf.secret', project => 'shelf');
-- If the hint cannot know who may see rows, it has a placeholder.
CREATE POLICY teams ON shelf.secret USING (EXISTS (SELECT FROM pg_roles r WHERE r.rolname = owner));
SELECT docsearch.attach_table('shelf.secret', project => 'shelf');
DROP POLICY teams ON shelf.secret;
CREATE POLICY teams ON shelf.secret TO shelf_reader USING (true);
SELECT docsearch.attach_table('shelf.secret', project => 'shelf');
DROP POLICY teams ON shelf.secret;
SELECT docsearch.attach_table('shelf.secret', project => 'shelf', policy => 'written');
SELECT docsearch.attach_table('shelf.secret', project => 'shelf', policy => 'copied', public => true);
SELECT docsearch.attach_table('shelf.secret', project => 'shelf', policy => 'copied');
-- The policy of the hint.
ALTER TABLE docsearch.document ENABLE ROW LEVEL SECURITY;
CREATE POLICY documents ON docsearch.document USING (true);
CREATE POLICY secret ON docsearch.document AS RESTRICTIVE FOR SELECT USING (source_root IS DISTINCT FROM 'table:shelf.secret' OR
    (((metadata ->> 'owner') = CURRENT_USER) AND ((metadata ->> 'tenant')::integer = (current_setting('shelf.tenant'::text, true))::integer)));
SELECT docsearch.attach_table('shelf.secret', project => 'shelf', policy => 'copied', metadata => 'owner, tenant');
INSERT INTO shelf.secret VALUES (2, 'Pay', 'The salary of the reader.', 'shelf_reader', 7);
SELECT docsearch.wait_for_index('20 s');
SET ROLE shelf_reader;
SELECT pg_temp.found('salary');
SET shelf.tenant = '7';
SELECT pg_temp.found('salary');
RESET shelf.tenant;
RESET ROLE;
SELECT docsearch.detach_table('shelf.secret');
DROP POLICY secret ON docsearch.document;
DROP POLICY documents ON docsearch.document;
ALTER TABLE docsearch.document DISABLE ROW LEVEL SECURITY;
SELECT docsearch.attach_table('shelf.secret', project => 'shelf', public => true);
SELECT docsearch.wait_for_index('20 s');
SELECT pg_temp.found('salary');
SELECT docsearch.detach_table('shelf.secret');
-- Privileges that change later are reported.
CREATE TABLE shelf.open (id int PRIMARY KEY, title text, body text);
GRANT SELECT ON shelf.open TO shelf_reader;
SELECT docsearch.attach_table('shelf.open', project => 'shelf');
SELECT problem, object, detail, repair FROM docsearch.check('shelf') WHERE problem LIKE 'attached%';
SELECT docsearch.create_project('second') > 0 AS created;
SELECT docsearch.attach_table('shelf.open', project => 'second');
REVOKE SELECT ON shelf.open FROM shelf_reader;
SELECT problem, object, detail, repair FROM docsearch.check('shelf') WHERE problem LIKE 'attached%';
-- Reported once for all projects.
SELECT problem, object FROM docsearch.check() WHERE problem LIKE 'attached%';
SELECT docsearch.drop_project('second');
SELECT docsearch.detach_table('shelf.open');
-- A view hides the tables that it reads.
CREATE VIEW shelf.of_secret AS SELECT id, title, body FROM shelf.secret;
CREATE VIEW shelf.mine AS SELECT * FROM shelf.open WHERE title = current_user;
CREATE VIEW shelf.plain AS SELECT * FROM shelf.open;
GRANT SELECT ON ALL TABLES IN SCHEMA shelf TO shelf_reader;
SELECT docsearch.attach_table('shelf.of_secret', project => 'shelf');
SELECT docsearch.attach_table('shelf.mine', project => 'shelf');

-- s3_43: only rows that fulfil the condition have documents.
CREATE TABLE shelf.page (id int PRIMARY KEY, title text, body text, published bool, deleted_at timestamptz);
GRANT SELECT ON shelf.page TO shelf_reader;
CREATE FUNCTION shelf.is_short(text) RETURNS bool LANGUAGE sql IMMUTABLE RETURN length($1) < 100;
CREATE FUNCTION shelf.now_and_then() RETURNS bool LANGUAGE sql VOLATILE RETURN random() < 0.5;
SELECT docsearch.attach_table('shelf.page', project => 'shelf', rows_where => '');
DO $$
DECLARE c text;
BEGIN
    FOREACH c IN ARRAY ARRAY['published; DROP TABLE shelf.page', 'true) OR (true', 'true UNION SELECT false', 'published ORDER BY 1', 'published AS p',
        'published, true', 'published FROM shelf.secret', '*', 't.*', '(t).*', 't IS NOT NULL', 'ROW(t.*) = ROW(t.*)', 'DEFAULT', 'GROUPING(id) = 1', 'EXISTS (SELECT FROM shelf.secret)', 'count(*) > 1', 'generate_series(1, 2) = 1',
        'row_number() OVER () = 1', 'shelf.now_and_then()', '$1', 'is_short(body)', 'titel = ''x''', 'title', 'secret.id = 1', 'published -- and no more', repeat('x', 9000)] LOOP
        BEGIN
            PERFORM docsearch.attach_table('shelf.page', project => 'shelf', rows_where => c);
            RAISE NOTICE '%: attached', left(c, 40);
            PERFORM docsearch.detach_table('shelf.page');
        EXCEPTION WHEN others THEN
            RAISE NOTICE '%: % %', left(c, 40), SQLSTATE, SQLERRM;
        END;
    END LOOP;
END
$$;
SELECT docsearch.attach_table('shelf.page', project => 'shelf', rows_where => 'published and deleted_at is null and shelf.is_short(body) or title = ''always''');
SELECT pg_get_triggerdef(t.oid) ~ 'attached_changed\(''\d+'', ''.*t\.published.*''\)' AS holds_it FROM pg_trigger t WHERE tgrelid = 'shelf.page'::regclass AND tgname LIKE '%insert';
INSERT INTO shelf.page VALUES (1, 'One', 'A heron.', true, NULL), (2, 'Draft', 'A heron.', false, NULL), (3, 'Gone', 'A heron.', true, now()),
    (4, 'Long', repeat('A heron. ', 20), true, NULL), (5, 'always', 'A heron.', false, now()), (6, 'Unknown', 'A heron.', NULL, NULL);
SELECT docsearch.wait_for_index('20 s');
SELECT pg_temp.slugs();
UPDATE shelf.page SET deleted_at = now() WHERE id = 1;
UPDATE shelf.page SET published = true WHERE id = 2;
SELECT docsearch.wait_for_index('20 s');
SELECT pg_temp.slugs();
-- A forged condition of a role that may create triggers is not run.
DO $$
DECLARE number int;
BEGIN
    SELECT id INTO number FROM docsearch.attached_table WHERE source = 'shelf.page'::regclass;
    EXECUTE format('CREATE OR REPLACE TRIGGER %I AFTER INSERT ON shelf.page REFERENCING NEW TABLE AS docsearch_new FOR EACH STATEMENT
        EXECUTE FUNCTION docsearch.attached_changed(%L, %L)', format('docsearch_%s_insert', number), number, 'true');
END
$$;
SELECT detail FROM docsearch.check('shelf') WHERE problem LIKE 'attached%';
SELECT docsearch.wait_for_index('20 s');
SELECT pg_temp.slugs();
SELECT docsearch.detach_table('shelf.page');
SELECT docsearch.attach_table('shelf.page', project => 'shelf', rows_where => 'deleted_at is null or deleted_at > now()');
SELECT docsearch.detach_table('shelf.page');

-- s3_44: a key belongs to one row.
CREATE TABLE shelf.twice (id int, code text, title text, body text, UNIQUE (id, code));
GRANT SELECT ON shelf.twice TO shelf_reader;
INSERT INTO shelf.twice VALUES (1, 'a', 'A', 'An osprey.'), (1, 'b', 'B', 'An osprey.');
SELECT docsearch.attach_table('shelf.twice', project => 'shelf');
\echo :LAST_ERROR_SQLSTATE
CREATE UNIQUE INDEX ON shelf.twice (code) WHERE id = 1;
SELECT docsearch.attach_table('shelf.twice', key => 'code', project => 'shelf');
CREATE UNIQUE INDEX ON shelf.twice (code) INCLUDE (title);
SELECT docsearch.attach_table('shelf.twice', key => 'code', project => 'shelf');
SELECT docsearch.detach_table('shelf.twice');
CREATE VIEW shelf.twice_again AS SELECT * FROM shelf.twice;
GRANT SELECT ON shelf.twice_again TO shelf_reader;
SELECT docsearch.attach_table('shelf.twice_again', project => 'shelf');

-- s3_45: views are read from time to time, and on request.
CREATE VIEW shelf.shown AS SELECT p.id, p.title, p.body, s.tenant FROM shelf.page p LEFT JOIN shelf.secret s USING (id) WHERE p.deleted_at IS NULL;
GRANT SELECT ON shelf.shown TO shelf_reader;
SELECT docsearch.attach_table('shelf.shown', project => 'shelf', public => true, rows_where => 'true');
SELECT docsearch.attach_table('shelf.shown', project => 'shelf', public => true, every => '999 milliseconds');
SELECT docsearch.attach_table('shelf.page', project => 'shelf', changed_at => 'deleted_at');
SELECT docsearch.attach_table('shelf.shown', project => 'shelf', public => true, every => '1 second');
SELECT docsearch.wait_for_index('20 s');
SELECT pg_temp.slugs();
INSERT INTO shelf.page VALUES (7, 'Seven', 'A heron.', true, NULL);
DELETE FROM shelf.page WHERE id = 6;
SELECT pg_sleep(1.2);
SELECT docsearch.wait_for_index('20 s');
SELECT pg_temp.slugs();
SELECT docsearch.detach_table('shelf.shown');
SELECT docsearch.attach_table('shelf.shown', project => 'shelf', public => true, every => '1 day');
SELECT docsearch.wait_for_index('20 s');
SELECT pg_temp.slugs();
DELETE FROM shelf.page WHERE id = 2;
UPDATE shelf.page SET deleted_at = NULL, body = 'A bittern.' WHERE id = 3;
SELECT docsearch.wait_for_index('20 s');
SELECT pg_temp.slugs();
SELECT docsearch.read_table('shelf.shown');
SELECT docsearch.wait_for_index('20 s');
SELECT pg_temp.slugs();
SELECT source_key, metadata FROM search_docs('bittern', 'shelf', max_results => 1);
SELECT docsearch.detach_table('shelf.shown');
SELECT docsearch.read_table('shelf.shown');
-- Only changed rows are read, in either direction of the column.
CREATE TABLE shelf.note (id int PRIMARY KEY, title text, body text, changed int);
INSERT INTO shelf.note SELECT n, 'Note ' || n, 'An avocet.', 5 FROM generate_series(1, 300) AS n;
CREATE VIEW shelf.notes AS SELECT * FROM shelf.note;
GRANT SELECT ON shelf.notes TO shelf_reader;
SELECT docsearch.attach_table('shelf.notes', project => 'shelf', changed_at => 'changed', metadata => 'changed', every => '1 day');
SELECT docsearch.wait_for_index('20 s');
SELECT count(*) FROM list_docs('shelf');
UPDATE shelf.note SET body = 'A dunlin.' WHERE id <= 10;
UPDATE shelf.note SET changed = 4 WHERE id <= 5;
DELETE FROM shelf.note WHERE id > 290;
UPDATE docsearch.attached_table SET next_attempt = now() WHERE source = 'shelf.notes'::regclass;
SELECT docsearch.wait_for_index('20 s');
SELECT count(*), count(*) FILTER (WHERE slug IN (SELECT d.slug FROM docsearch.document d WHERE d.body = 'A dunlin.')) AS changed FROM list_docs('shelf');
SELECT docsearch.read_table('shelf.notes', 'shelf');
SELECT docsearch.wait_for_index('20 s');
SELECT count(*) FROM docsearch.document d WHERE d.body = 'A dunlin.';
SELECT source_key, metadata FROM search_docs('note 7', 'shelf', max_results => 1);
SELECT r -> 'source_key' AS key, r -> 'metadata' AS metadata FROM search_docs_json('note 7', 'shelf', max_results => 1) j, jsonb_array_elements(j -> 'results') r;
-- Tables of a view trigger reading it again.
CREATE TABLE shelf.author (id int PRIMARY KEY, name text);
CREATE TABLE shelf.book (id int PRIMARY KEY, title text, author int);
INSERT INTO shelf.author VALUES (1, 'Ada');
INSERT INTO shelf.book VALUES (1, 'Engines', 1);
CREATE VIEW shelf.books AS SELECT b.id, b.title, 'Written by ' || a.name AS body FROM shelf.book b JOIN shelf.author a ON a.id = b.author;
GRANT SELECT ON shelf.books TO shelf_reader;
SELECT docsearch.attach_table('shelf.books', project => 'shelf', every => NULL);
SELECT docsearch.attach_table('shelf.books', project => 'shelf', changes_in => '{shelf.book,shelf.notes}');
SELECT docsearch.attach_table('shelf.book', project => 'shelf', body => 'title', public => true, changes_in => '{shelf.author}');
SELECT docsearch.attach_table('shelf.books', project => 'shelf', every => NULL, changes_in => '{shelf.book,shelf.author,shelf.book}');
SELECT docsearch.wait_for_index('20 s');
CREATE FUNCTION pg_temp.books() RETURNS text LANGUAGE sql AS $$ SELECT string_agg(d.title || ': ' || d.body, ', ' ORDER BY slug) FROM docsearch.document d WHERE d.slug LIKE 'books/%' $$;
SELECT pg_temp.books();
UPDATE shelf.author SET name = 'Mary';
SELECT docsearch.wait_for_index('20 s');
SELECT pg_temp.books();
INSERT INTO shelf.book VALUES (2, 'Monsters', 1);
SELECT docsearch.wait_for_index('20 s');
SELECT pg_temp.books();
TRUNCATE shelf.book;
SELECT docsearch.wait_for_index('20 s');
SELECT pg_temp.books();
ALTER TABLE shelf.author DISABLE TRIGGER USER;
SELECT object, detail FROM docsearch.check('shelf') WHERE problem LIKE 'attached%';
ALTER TABLE shelf.author ENABLE TRIGGER USER;
-- A role without the table cannot drop its triggers, which then have no effect.
CREATE ROLE shelf_owner;
GRANT ALL ON SCHEMA shelf TO shelf_owner;
GRANT ALL ON shelf.author, shelf.book TO shelf_owner;
SELECT docsearch.grant_usage('shelf_owner', write => true);
SELECT docsearch.detach_table('shelf.books');
ALTER VIEW shelf.books OWNER TO shelf_owner;
ALTER TABLE shelf.book OWNER TO shelf_owner;
ALTER TABLE shelf.author OWNER TO shelf_owner;
SET ROLE shelf_owner;
SELECT docsearch.attach_table('shelf.books', project => 'shelf', public => true, every => NULL, changes_in => '{shelf.book,shelf.author}');
RESET ROLE;
ALTER TABLE shelf.author OWNER TO CURRENT_USER;
SET ROLE shelf_owner;
\set VERBOSITY terse
SELECT docsearch.detach_table('shelf.books');
\set VERBOSITY default
RESET ROLE;
SELECT count(*) FROM docsearch.table_change;
UPDATE shelf.author SET name = 'Jane';
SELECT count(*) FROM docsearch.table_change;
DROP TABLE shelf.author CASCADE;
SELECT count(*) FROM pg_trigger WHERE tgfoid = 'docsearch.attached_changed'::regproc AND tgrelid = 'shelf.book'::regclass;
SELECT count(*) FROM docsearch.watched_table;
SELECT docsearch.revoke_usage('shelf_owner');
DROP OWNED BY shelf_owner;
DROP ROLE shelf_owner;
CREATE MATERIALIZED VIEW shelf.stored AS SELECT * FROM shelf.note;
SELECT docsearch.attach_table('shelf.stored', project => 'shelf');
DROP SCHEMA shelf CASCADE;
SELECT docsearch.wait_for_index('20 s');
SELECT count(*) FROM list_docs('shelf');
SELECT count(*) FROM docsearch.attached_table;

-- s3_46: problems of a table are visible.
CREATE SCHEMA shelf;
GRANT USAGE ON SCHEMA shelf TO shelf_reader;
CREATE TABLE shelf.page (id int PRIMARY KEY, title text, body text);
INSERT INTO shelf.page VALUES (1, 'One', 'A heron.');
GRANT SELECT ON shelf.page TO shelf_reader;
SELECT docsearch.attach_table('shelf.page', project => 'shelf');
SELECT docsearch.wait_for_index('20 s');
ALTER TABLE shelf.page RENAME COLUMN body TO text;
SELECT docsearch.wait_for_index('20 s');
SELECT last_error FROM docsearch.index_progress('shelf');
SELECT problem, object, detail, repair FROM docsearch.check() WHERE problem LIKE 'attached%';
ALTER TABLE shelf.page RENAME COLUMN text TO body;
SELECT docsearch.wait_for_index('20 s');
-- A renamed table is the same.
ALTER TABLE shelf.page RENAME TO sheet;
INSERT INTO shelf.sheet VALUES (2, 'Two', 'A heron.');
SELECT docsearch.wait_for_index('20 s');
SELECT slug, source_key FROM search_docs('two', 'shelf', max_results => 1);
DELETE FROM shelf.sheet WHERE id = 2;
ALTER TABLE shelf.sheet RENAME TO page;
SELECT docsearch.wait_for_index('20 s');
-- Other roles do not see the name of the table.
ALTER TABLE shelf.page DROP COLUMN title;
SET ROLE shelf_reader;
SELECT last_error FROM docsearch.index_progress('shelf');
SELECT docsearch.wait_for_index('20 s');
RESET ROLE;
ALTER TABLE shelf.page ADD COLUMN title text;
ALTER TABLE shelf.page DISABLE TRIGGER USER;
SELECT docsearch.wait_for_index('20 s');
ALTER TABLE shelf.page ENABLE TRIGGER USER;
ALTER TABLE shelf.page ALTER COLUMN id TYPE numeric(8, 1)[] USING ARRAY[id];
SELECT detail FROM docsearch.check('shelf') WHERE problem LIKE 'attached%';
ALTER TABLE shelf.page ALTER COLUMN id TYPE int USING id[1];
SELECT docsearch.wait_for_index('20 s');
SELECT problem, object, detail FROM docsearch.check('shelf') WHERE problem LIKE 'attached%';
-- The documents of a dropped table are deleted.
DROP TABLE shelf.page;
SELECT docsearch.wait_for_index('20 s');
SELECT count(*) FROM list_docs('shelf');
SELECT problem, object, detail FROM docsearch.check('shelf') WHERE problem LIKE 'attached%';
SELECT docsearch.drop_project('shelf');
-- A dropped project leaves nothing in its attached tables, whether they were read or not, and nothing waits.
CREATE TABLE shelf.kept (id int PRIMARY KEY, title text, body text);
CREATE VIEW shelf.kept_view AS SELECT * FROM shelf.kept;
INSERT INTO shelf.kept SELECT n, 'Row ' || n, 'Text.' FROM generate_series(1, 3) n;
SELECT docsearch.create_project(name) > 0 AS created FROM unnest(ARRAY['gone', 'staying']) name;
SELECT docsearch.attach_table(table_name, project => project, public => true, changes_in => CASE WHEN table_name::text LIKE '%view' THEN '{shelf.kept}'::regclass[] END)
FROM unnest(ARRAY['shelf.kept', 'shelf.kept', 'shelf.kept_view']::regclass[], ARRAY['gone', 'staying', 'gone']) AS a(table_name, project);
SELECT count(*) AS triggers FROM pg_trigger WHERE tgrelid = 'shelf.kept'::regclass;
SELECT docsearch.drop_project('gone') >= 0 AS dropped;
SELECT count(*) AS triggers FROM pg_trigger WHERE tgrelid = 'shelf.kept'::regclass;
SELECT count(*) AS attached, (SELECT count(*) FROM pg_type WHERE typname ~ '^attached_\d+$') AS types FROM docsearch.attached_table;
UPDATE shelf.kept SET body = 'Other text.' WHERE id = 1;
SELECT docsearch.wait_for_index('20 s');
SELECT slug FROM search_docs('other text', 'staying', max_results => 1);
SELECT docsearch.drop_project('staying');
SELECT count(*) AS triggers FROM pg_trigger WHERE tgrelid = 'shelf.kept'::regclass;
SELECT * FROM docsearch.detach_table('shelf.kept');
DROP TABLE shelf.kept CASCADE;

-- s3_51: a column has the questions that rows answer.
SELECT docsearch.create_project('orchard') > 0 AS created;
SELECT docsearch.grant_usage('shelf_reader');
CREATE TABLE shelf.job (id int PRIMARY KEY, title text, body text, asked text[], answers jsonb, note text);
INSERT INTO shelf.job VALUES
    (1, 'Pruning', E'# Pruning\n\nRemove crossing branches.\n\n## Spurs\n\nShorten laterals to three buds.', ARRAY['my tree is a mess', '  my tree  is a mess', ''],
        '["my tree is a mess", {"anchor": "spurs", "question": "side shoots are too long"}]'),
    (2, 'Grafting', E'# Grafting\n\nJoin scion and rootstock.', NULL, 'null'),
    (3, 'Storage', E'# Storage\n\nKeep fruit at three degrees.', '{"why do they go soft in the kitchen"}', '[{"anchor": "cellar", "question": "why do they go soft in the kitchen"}]');
CREATE VIEW pg_temp.asked AS SELECT q.slug, q.anchor, q.question, q.source, q.stale FROM docsearch.questions('orchard') q;
CREATE VIEW pg_temp.reported AS SELECT c.problem, c.object, c.detail FROM docsearch.check(true, 'orchard') c WHERE c.problem LIKE 'attached%';
CREATE FUNCTION pg_temp.first(query text) RETURNS text LANGUAGE sql AS $$ SELECT slug FROM search_docs(query, 'orchard', max_results => 1) $$;
SELECT docsearch.attach_table('shelf.job', project => 'orchard', public => true, questions => 'note');
\echo :LAST_ERROR_SQLSTATE
SELECT docsearch.attach_table('shelf.job', project => 'orchard', public => true, questions => 'questions');
\echo :LAST_ERROR_SQLSTATE
-- Roles that may search must be allowed to read the column, too.
GRANT SELECT (id, title, body) ON shelf.job TO shelf_reader;
GRANT USAGE ON SCHEMA shelf TO shelf_reader;
SELECT docsearch.attach_table('shelf.job', project => 'orchard', questions => 'asked');
GRANT SELECT (asked, answers) ON shelf.job TO shelf_reader;
SELECT docsearch.attach_table('shelf.job', project => 'orchard', questions => 'asked');
SELECT docsearch.wait_for_index('20 s');
SELECT * FROM pg_temp.asked;
SELECT q, pg_temp.first(q) FROM unnest(ARRAY['tree is a mess', 'they go soft in the kitchen']) q;
-- Other questions, and none; those of other sources stay.
SELECT docsearch.set_questions('orchard', 'job/1', '["which twigs go"]', 'reader');
UPDATE shelf.job SET asked = '{can one trunk carry two kinds of fruit}' WHERE id = 2;
UPDATE shelf.job SET asked = CASE WHEN id = 1 THEN '{what do I snip,my tree is a mess}'::text[] END WHERE id <> 2;
SELECT docsearch.wait_for_index('20 s');
SELECT * FROM pg_temp.asked;
SELECT q, pg_temp.first(q) FROM unnest(ARRAY['what do I snip', 'two kinds of fruit on one trunk']) q;
UPDATE shelf.job SET asked = '{}' WHERE id = 1;
SELECT docsearch.wait_for_index('20 s');
SELECT * FROM pg_temp.asked;
SELECT * FROM pg_temp.reported;
-- The questions of the row differ from those stored since.
SELECT docsearch.set_questions('orchard', 'job/2', '["two sorts on one plant"]');
SELECT * FROM pg_temp.reported;
SELECT docsearch.read_table('shelf.job');
SELECT docsearch.wait_for_index('20 s');
SELECT * FROM pg_temp.asked;
SELECT * FROM pg_temp.reported;
-- A row with invalid questions is reported and keeps its document; others continue.
UPDATE shelf.job SET body = body || ' At once.', asked = CASE id WHEN 1 THEN '{new}' WHEN 2 THEN ARRAY['a', NULL] ELSE ARRAY[repeat('x', 301)] END;
SELECT docsearch.wait_for_index('20 s');
SELECT * FROM pg_temp.asked;
SELECT c.key, c.error FROM docsearch.table_change c ORDER BY c.key;
UPDATE shelf.job SET asked = (SELECT array_agg('question ' || n) FROM generate_series(1, 65) n) WHERE id = 2;
UPDATE shelf.job SET asked = '{{a,b},{c,d}}' WHERE id = 3;
SELECT docsearch.wait_for_index('20 s');
SELECT c.key, c.error FROM docsearch.table_change c ORDER BY c.key;
-- Together with other sources there can be too many.
SELECT docsearch.set_questions('orchard', 'job/1', (SELECT jsonb_agg('reader ' || n) FROM generate_series(1, 63) n), 'reader');
UPDATE shelf.job SET asked = '{one more,and another}' WHERE id = 1;
UPDATE shelf.job SET asked = '{two sorts on one plant}' WHERE id > 1;
SELECT docsearch.wait_for_index('20 s');
SELECT c.key, c.error FROM docsearch.table_change c ORDER BY c.key;
SELECT * FROM pg_temp.reported;
SELECT count(*), count(*) FILTER (WHERE source = 'author') AS of_author FROM pg_temp.asked WHERE slug = 'job/1';
SELECT * FROM pg_temp.asked WHERE slug > 'job/1';
SELECT docsearch.set_questions('orchard', 'job/1', '[]', 'reader');
SELECT docsearch.read_table('shelf.job');
SELECT docsearch.wait_for_index('20 s');
SELECT * FROM pg_temp.reported;
-- A table is not read if the column has another type or is missing.
ALTER TABLE shelf.job ALTER COLUMN asked TYPE text USING asked[1];
SELECT docsearch.wait_for_index('20 s');
SELECT * FROM pg_temp.reported;
ALTER TABLE shelf.job ALTER COLUMN asked TYPE varchar(80)[] USING ARRAY[asked || '?'];
SELECT docsearch.wait_for_index('20 s');
SELECT * FROM pg_temp.asked;
ALTER TABLE shelf.job DROP COLUMN asked;
SELECT docsearch.wait_for_index('20 s');
SELECT * FROM pg_temp.reported;
SELECT docsearch.detach_table('shelf.job');
-- As JSON they name sections.
SELECT docsearch.attach_table('shelf.job', project => 'orchard', questions => 'answers');
SELECT docsearch.wait_for_index('20 s');
SELECT * FROM pg_temp.asked;
SELECT r ->> 'slug' AS slug, r ->> 'anchor' AS anchor FROM search_docs_json('side shoots too long', 'orchard', max_results => 1) j, jsonb_array_elements(j -> 'results') r;
UPDATE shelf.job SET answers = CASE id WHEN 1 THEN NULL WHEN 2 THEN '{"question": "a"}'::jsonb ELSE '[{"anchor": "storage", "text": "a"}]' END;
SELECT docsearch.wait_for_index('20 s');
SELECT * FROM pg_temp.asked;
SELECT c.key, c.error FROM docsearch.table_change c ORDER BY c.key;
ALTER TABLE shelf.job ALTER COLUMN answers TYPE json USING to_json(ARRAY['row ' || id]);
SELECT docsearch.wait_for_index('20 s');
SELECT * FROM pg_temp.asked;
SELECT docsearch.detach_table('shelf.job');
-- Without such a column, the questions of a document stay when its row changes.
SELECT docsearch.attach_table('shelf.job', project => 'orchard');
SELECT docsearch.wait_for_index('20 s');
SELECT docsearch.set_questions('orchard', 'job/2', '["two sorts on one plant"]');
UPDATE shelf.job SET title = 'Grafts' WHERE id = 2;
SELECT docsearch.wait_for_index('20 s');
SELECT title FROM list_docs('orchard') WHERE slug = 'job/2';
SELECT * FROM pg_temp.asked;
SELECT * FROM pg_temp.reported;
SELECT docsearch.detach_table('shelf.job');
-- The questions of a view.
CREATE VIEW shelf.jobs AS SELECT id, title, body, ARRAY['how is ' || lower(title) || ' done'] AS asked FROM shelf.job;
GRANT SELECT ON shelf.jobs TO shelf_reader;
SELECT docsearch.attach_table('shelf.jobs', project => 'orchard', questions => 'asked', every => '1 day', changes_in => '{shelf.job}');
SELECT docsearch.wait_for_index('20 s');
UPDATE shelf.job SET title = 'Budding' WHERE id = 2;
SELECT docsearch.wait_for_index('20 s');
SELECT * FROM pg_temp.asked;
SELECT docsearch.drop_project('orchard');
DROP TABLE shelf.job CASCADE;
DROP SCHEMA shelf;
DROP OWNED BY shelf_reader;
DROP ROLE shelf_reader;

-- After drop_all, DROP EXTENSION needs no CASCADE, and both together leave nothing.
-- The contents of the catalogs; names of TOAST tables contain numbers.
CREATE FUNCTION catalogued() RETURNS TABLE (catalog text, entry text) LANGUAGE sql AS $$
    SELECT 'pg_class', oid::text || ' ' || relname FROM pg_class
    UNION ALL SELECT 'pg_proc', oid::regprocedure::text FROM pg_proc
    UNION ALL SELECT 'pg_trigger', oid::text || ' ' || tgname FROM pg_trigger
    UNION ALL SELECT 'pg_type', oid::regtype::text FROM pg_type
    UNION ALL SELECT 'pg_constraint', oid::text || ' ' || conname FROM pg_constraint
    UNION ALL SELECT 'pg_ts_config', oid::regconfig::text FROM pg_ts_config
    UNION ALL SELECT 'pg_ts_dict', oid::regdictionary::text FROM pg_ts_dict
    UNION ALL SELECT 'pg_ts_parser', prsname FROM pg_ts_parser
    UNION ALL SELECT 'pg_default_acl', oid::text FROM pg_default_acl
    UNION ALL SELECT 'pg_shdepend', d.classid::regclass || ' ' || d.objid || ' ' || d.refobjid || ' ' || d.deptype::text FROM pg_shdepend d
              WHERE d.dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
    UNION ALL SELECT 'pg_policy', polname FROM pg_policy
    UNION ALL SELECT 'pg_init_privs', classoid::regclass || ' ' || objoid FROM pg_init_privs
    UNION ALL SELECT 'pg_description', classoid::regclass || ' ' || objoid || ' ' || objsubid FROM pg_description
    UNION ALL SELECT 'pg_extension', extname FROM pg_extension
    UNION ALL SELECT 'pg_namespace', nspname FROM pg_namespace
$$;
CREATE SCHEMA app;
CREATE TABLE app.articles (id int PRIMARY KEY, title text, body text);
CREATE TABLE before (catalog text, entry text);
CREATE VIEW difference AS
    SELECT '-' AS side, * FROM (SELECT * FROM before EXCEPT ALL SELECT * FROM catalogued()) gone
    UNION ALL SELECT '+', * FROM (SELECT * FROM catalogued() EXCEPT ALL SELECT * FROM before) new;
CREATE ROLE docsearch_reader;
SELECT docsearch.drop_all(confirm => current_database());
DROP EXTENSION pg_docsearch;
INSERT INTO before SELECT * FROM catalogued();

SET client_min_messages = error;
CREATE EXTENSION pg_docsearch;
RESET client_min_messages;
-- It works without tables, too.
SELECT docsearch.drop_all(confirm => current_database());
-- With objects of projects, attached tables and users.
SELECT docsearch.create_project('shelf') > 0 AS created;
SELECT docsearch.index_doc('shelf', 'kiwi', 'Kiwi', 'A bird that cannot fly.');
SELECT docsearch.attach_table('app.articles');
SELECT docsearch.attach_table('app.articles', project => 'shelf');
SELECT docsearch.detach_table('app.articles', 'articles');
-- Triggers remain if a project is dropped before its table is detached.
SELECT docsearch.attach_table('app.articles', project => 'articles');
SELECT docsearch.drop_project('articles');
SELECT docsearch.grant_usage('docsearch_reader', write => true);
ALTER DEFAULT PRIVILEGES IN SCHEMA docsearch GRANT SELECT ON TABLES TO docsearch_reader;
CREATE INDEX ON docsearch.document (lower(title));
CREATE POLICY own ON docsearch.document TO docsearch_reader USING (true);
CREATE VIEW docsearch.titles AS SELECT title FROM docsearch.document;
CREATE TEXT SEARCH CONFIGURATION docsearch.own (COPY = docsearch.english);
CREATE FUNCTION docsearch.first() RETURNS docsearch.document LANGUAGE sql AS 'SELECT * FROM docsearch.document LIMIT 1';
SELECT count(*) FROM pg_trigger WHERE tgrelid = 'app.articles'::regclass;

-- It needs a confirmation.
SELECT docsearch.drop_all();
SELECT docsearch.drop_all('regress');
SELECT docsearch.drop_all(confirm => NULL);
BEGIN READ ONLY;
SELECT docsearch.drop_all(confirm => current_database());
ROLLBACK;
-- Only the owner of the schema, with EXECUTE, may call it, for tables that the role owns.
SET ROLE docsearch_reader;
SELECT docsearch.drop_all(confirm => current_database());
RESET ROLE;
CREATE ROLE docsearch_owner;
GRANT EXECUTE ON FUNCTION docsearch.drop_all(text) TO docsearch_reader, docsearch_owner;
SET ROLE docsearch_reader;
SELECT docsearch.drop_all(confirm => current_database());
RESET ROLE;
SELECT quote_ident(current_user) AS owner \gset
ALTER SCHEMA docsearch OWNER TO docsearch_owner;
SET ROLE docsearch_owner;
SELECT docsearch.drop_all(confirm => current_database());
RESET ROLE;
ALTER SCHEMA docsearch OWNER TO :owner;
REVOKE EXECUTE ON FUNCTION docsearch.drop_all(text) FROM docsearch_owner;
DROP ROLE docsearch_owner;

-- Dependent objects of other roles are listed, and nothing is dropped.
CREATE VIEW app.found AS SELECT slug FROM search_docs('kiwi');
CREATE VIEW app.pages AS SELECT slug FROM docsearch.document;
CREATE INDEX words ON app.articles USING gin (to_tsvector('docsearch.english', body));
CREATE TABLE app.notes (project_id bigint, document_id bigint, FOREIGN KEY (project_id, document_id) REFERENCES docsearch.document);
ALTER TABLE app.articles ADD COLUMN kind docsearch.titles;
SELECT docsearch.drop_all(confirm => current_database());
SELECT slug FROM search_docs('kiwi');
SELECT count(*) FROM pg_trigger WHERE tgrelid = 'app.articles'::regclass;
DROP VIEW app.found, app.pages;
DROP INDEX app.words;
DROP TABLE app.notes;
ALTER TABLE app.articles DROP COLUMN kind;

-- It can be rolled back.
BEGIN;
SELECT docsearch.drop_all(confirm => current_database());
SELECT count(*) FROM list_docs();
ROLLBACK;
SELECT slug FROM search_docs('kiwi');

SELECT docsearch.drop_all(confirm => current_database());
DROP EXTENSION pg_docsearch;
TABLE difference;
INSERT INTO app.articles VALUES (1, 'Kea', 'A parrot.');

-- Again in the same session.
SET client_min_messages = error;
CREATE EXTENSION pg_docsearch;
RESET client_min_messages;
SELECT docsearch.create_project('shelf') > 0 AS created;
SELECT docsearch.index_doc('shelf', 'kea', 'Kea', 'A parrot of the mountains.');
SELECT slug FROM search_docs('kea');
SELECT docsearch.drop_project('shelf');
DROP VIEW difference;
DROP TABLE before;
DROP FUNCTION catalogued();
DROP SCHEMA app CASCADE;
DROP ROLE docsearch_reader;

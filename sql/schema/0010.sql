ALTER TABLE docsearch.document ADD COLUMN entry_share real NOT NULL DEFAULT 0;
COMMENT ON COLUMN docsearch.document.entry_share IS 'share of its words in entries of lists (indexes, tables of contents, cross references), 0 to 1';
-- The bounds are those of docsearch_core::bounds; as text, jsonb has a space after every comma and colon.
ALTER TABLE docsearch.document
    ADD COLUMN anchors jsonb NOT NULL DEFAULT '{}',
    ADD CONSTRAINT document_anchors_bounded CHECK (
        jsonb_typeof(anchors) = 'object'
        AND NOT jsonb_path_exists(anchors, 'strict $.* ? (@.type() != "string")')
        AND jsonb_array_length(jsonb_path_query_array(anchors, 'strict $.*')) <= 20000
        AND octet_length(anchors::text) <= 4194304) NOT VALID;
COMMENT ON COLUMN docsearch.document.anchors IS 'further fragments of its address, with the anchor of the section of each';
-- Who may find the documents of rows; and views, whose rows are compared at intervals, since they have no triggers. Tables
-- attached earlier are taken to be for readers, and docsearch.check() reports those that are not.
ALTER TABLE docsearch.attached_table
    ADD COLUMN access text NOT NULL DEFAULT 'readers' CHECK (access IN ('readers', 'policy', 'public')),
    ADD COLUMN rows_where text,
    ADD COLUMN changed_at_column name,
    ADD COLUMN poll_every interval CHECK (poll_every > interval '0');
COMMENT ON COLUMN docsearch.attached_table.access IS 'readers: every role that may search may read all rows; policy: a policy on documents decides; public: the rows are public';
COMMENT ON COLUMN docsearch.attached_table.rows_where IS 'condition of rows that have documents, also stored in the trigger; NULL: all rows';
COMMENT ON COLUMN docsearch.attached_table.changed_at_column IS 'column of a view that changes with the row; NULL: all rows are read each time';
COMMENT ON COLUMN docsearch.attached_table.poll_every IS 'interval between reads of a view; NULL: it is a table, or a view that is read when watched tables change';
CREATE TABLE docsearch.view_row (
    attached_id int NOT NULL REFERENCES docsearch.attached_table ON DELETE CASCADE,
    key text COLLATE "C" NOT NULL CHECK (octet_length(key) <= 1024),
    changed text CHECK (octet_length(changed) <= 1024),
    PRIMARY KEY (attached_id, key)
);
COMMENT ON TABLE docsearch.view_row IS 'rows of attached views as of the last read';
COMMENT ON COLUMN docsearch.view_row.attached_id IS 'attached view';
COMMENT ON COLUMN docsearch.view_row.key IS 'key of the row';
COMMENT ON COLUMN docsearch.view_row.changed IS 'value of the column changed_at_column';
CREATE TABLE docsearch.watched_table (
    attached_id int NOT NULL REFERENCES docsearch.attached_table ON DELETE CASCADE,
    source regclass NOT NULL,
    PRIMARY KEY (attached_id, source)
);
COMMENT ON TABLE docsearch.watched_table IS 'tables with changes after which an attached view is read again';
COMMENT ON COLUMN docsearch.watched_table.attached_id IS 'attached view';
COMMENT ON COLUMN docsearch.watched_table.source IS 'the table, which has triggers for it';
COMMENT ON COLUMN docsearch.document_name.key IS 'name: lower case, without separators of words; address: lower case, with a leading slash';
COMMENT ON COLUMN docsearch.document_name.kind IS 'title, symbol, slug, path, alias, unprefixed or address';

-- Words and names are found by these indexes whatever the planner knows of a project: no other index has this expression.
DROP INDEX IF EXISTS docsearch.chunk_terms, docsearch.document_name_trigram, docsearch.document_name_document;
-- The document first, so that lookups by project do not use this index.
CREATE INDEX document_name_document ON docsearch.document_name (document_id, project_id);
CREATE INDEX chunk_terms ON docsearch.chunk USING gin ((project_id OPERATOR(pg_catalog.+) 0), terms)
    WITH (fastupdate = on, gin_pending_list_limit = 256);
DO $$
BEGIN
    EXECUTE format('CREATE INDEX document_name_trigram ON docsearch.document_name
                        USING gin ((project_id OPERATOR(pg_catalog.+) 0), key %I.gin_trgm_ops)',
                   (SELECT n.nspname FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace
                    WHERE e.extname = 'pg_trgm'));
END
$$;

-- Names of release notes, and words of queries for them.
CREATE TABLE docsearch.news_name (
    project_id bigint REFERENCES docsearch.project ON DELETE CASCADE,
    place text NOT NULL CHECK (place IN ('folder', 'page', 'numbered', 'beginning', 'ending')),
    name text NOT NULL CHECK (btrim(name) <> ''),
    enabled bool NOT NULL DEFAULT true,
    UNIQUE NULLS NOT DISTINCT (place, name, project_id)
);
COMMENT ON TABLE docsearch.news_name IS 'names of release notes, changelogs and blogs, which rank below pages that explain something';
COMMENT ON COLUMN docsearch.news_name.project_id IS 'project that the row is for; NULL: all';
COMMENT ON COLUMN docsearch.news_name.place IS
    'name of: folder: a folder in the slug; page: a page, with or without a number after it; numbered: a page, only with a number; beginning, ending: the beginning or end of the name or title of a page';
COMMENT ON COLUMN docsearch.news_name.name IS 'the name; case and separators of words do not count';
COMMENT ON COLUMN docsearch.news_name.enabled IS 'false: turns the rule off';
CREATE TRIGGER rules_changed AFTER INSERT OR UPDATE OR DELETE ON docsearch.news_name
    FOR EACH STATEMENT EXECUTE FUNCTION docsearch.rules_changed();
ALTER TABLE docsearch.query_word DROP CONSTRAINT query_word_kind_check;
ALTER TABLE docsearch.query_word ADD CONSTRAINT query_word_kind_check
    CHECK (kind IN ('change', 'kind', 'news', 'question', 'recency', 'stop'));
COMMENT ON COLUMN docsearch.query_word.kind IS
    'kind: a kind of page, as in "View protocol"; question: begins a question; recency: for the newest; news: for release notes and the like; change: for changes, beside the number of a version; stop: a stop word';

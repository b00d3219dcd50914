-- Attached tables. The trigger of a table uses no sequence: lastval() and currval() of the session that writes it do not change.
-- A row that cannot be read or indexed stays recorded, with its error, until it has been read.
ALTER TABLE docsearch.table_change ALTER COLUMN id DROP IDENTITY;
DROP INDEX docsearch.table_change_attached;
ALTER TABLE docsearch.table_change
    ALTER COLUMN id TYPE uuid USING gen_random_uuid(),
    ALTER COLUMN id SET DEFAULT gen_random_uuid(),
    ALTER COLUMN noted_at SET DEFAULT clock_timestamp(),
    ADD COLUMN attempts int NOT NULL DEFAULT 0 CONSTRAINT table_change_attempts_positive CHECK (attempts >= 0),
    ADD COLUMN next_attempt timestamptz,
    ADD COLUMN error text CONSTRAINT table_change_error_bounded CHECK (octet_length(error) <= 65536);
CREATE INDEX table_change_attached ON docsearch.table_change (attached_id, noted_at, id) WHERE attempts = 0;
CREATE INDEX table_change_failed ON docsearch.table_change (attached_id, next_attempt) WHERE attempts > 0;
CREATE INDEX table_change_last ON docsearch.table_change (attached_id, noted_at) WHERE attempts > 0;
CREATE INDEX table_change_key ON docsearch.table_change USING hash (key) WHERE attempts > 0;
COMMENT ON TABLE docsearch.table_change IS 'rows of attached tables that have to be read: changed ones, and those that failed';
COMMENT ON COLUMN docsearch.table_change.id IS 'identifies the change';
COMMENT ON COLUMN docsearch.table_change.key IS 'key of the row as text; NULL: the whole table has to be read';
COMMENT ON COLUMN docsearch.table_change.noted_at IS 'time of the change, or of the last failure';
COMMENT ON COLUMN docsearch.table_change.attempts IS 'number of consecutive attempts to read and index the row that failed';
COMMENT ON COLUMN docsearch.table_change.next_attempt IS 'earliest time of the next attempt, for a row that failed; NULL: not before it changes or the table is read again';
COMMENT ON COLUMN docsearch.table_change.error IS 'error of the last attempt';
ALTER TABLE docsearch.attached_table ADD COLUMN rests_until timestamptz;
COMMENT ON COLUMN docsearch.attached_table.rests_until IS 'for a view with an interval: changes of watched tables do not cause a read before this time';
COMMENT ON COLUMN docsearch.attached_table.shape IS 'versions of the catalog rows of its columns, triggers and policies at the last read: if they have changed, the table is read again';
ALTER TABLE docsearch.project
    ADD COLUMN kept_sources text[] NOT NULL DEFAULT '{}',
    ADD CONSTRAINT project_kept_sources_bounded
    CHECK (array_position(kept_sources, NULL) IS NULL AND octet_length(kept_sources::text) <= 1048576) NOT VALID;
COMMENT ON COLUMN docsearch.project.kept_sources IS 'source roots of detached tables whose documents were kept';
-- Pages that were grouped into one document: each is a section, with a source and an address of its own. The bounds are those of
-- docsearch_core::bounds; as text, jsonb has a space after every comma and colon, and names the keys.
ALTER TABLE docsearch.document
    ADD COLUMN pages jsonb NOT NULL DEFAULT '[]',
    ADD CONSTRAINT document_pages_bounded CHECK (
        CASE jsonb_typeof(pages) WHEN 'array' THEN jsonb_array_length(pages) <= 1000 ELSE false END
        AND NOT jsonb_path_exists(pages, 'strict $[*] ? (@.type() != "object")')
        AND octet_length(pages::text) <= 1048576) NOT VALID;
COMMENT ON COLUMN docsearch.document.pages IS 'pages that were grouped into it as sections, with their anchors, slugs, sources and addresses';
-- Statistics: rows of these tables that users write themselves are counted, too. With transition tables, each event needs a trigger.
DO $$
DECLARE
    counted text;
BEGIN
    FOREACH counted IN ARRAY '{document,chunk}'::text[]
    LOOP
        EXECUTE format('CREATE TRIGGER count_inserted AFTER INSERT ON docsearch.%I REFERENCING NEW TABLE AS docsearch_new
                            FOR EACH STATEMENT EXECUTE FUNCTION docsearch.count_changes();
                        CREATE TRIGGER count_updated AFTER UPDATE ON docsearch.%1$I
                            REFERENCING OLD TABLE AS docsearch_old NEW TABLE AS docsearch_new
                            FOR EACH STATEMENT EXECUTE FUNCTION docsearch.count_changes();
                        CREATE TRIGGER count_deleted AFTER DELETE ON docsearch.%1$I REFERENCING OLD TABLE AS docsearch_old
                            FOR EACH STATEMENT EXECUTE FUNCTION docsearch.count_changes();
                        CREATE TRIGGER count_truncated AFTER TRUNCATE ON docsearch.%1$I
                            FOR EACH STATEMENT EXECUTE FUNCTION docsearch.count_changes()', counted);
    END LOOP;
END
$$;
-- Comments confirm which roles may send texts to a model behind an endpoint (src/tables/model_grant.rs).
COMMENT ON TABLE docsearch.model_grant IS 'roles that may give a remote model to projects, whose documents are then sent to its endpoint; only rows that docsearch.grant_model() has written count';
-- Documents are split differently for another model.
ALTER TABLE docsearch.project ADD COLUMN recut_after bigint;
COMMENT ON COLUMN docsearch.project.recut_after IS 'documents with greater ids are still split for the previous model; NULL: none';
-- Release notes. Words of queries for them are rows, and release notes are distinguished from blogs.
ALTER TABLE docsearch.news_name ADD COLUMN releases bool NOT NULL DEFAULT true;
UPDATE docsearch.news_name SET releases = false WHERE lower(name) IN ('announcements', 'blog', 'news', 'oldnews');
COMMENT ON COLUMN docsearch.news_name.releases IS 'true: such pages are release notes or changelogs; false: other news, such as blogs';
-- How questions open and close are patterns of words, which are longer than other words of queries.
ALTER TABLE docsearch.query_word DROP CONSTRAINT query_word_kind_check, DROP CONSTRAINT query_word_word_check;
ALTER TABLE docsearch.query_word
    ADD CONSTRAINT query_word_kind_check
    CHECK (kind IN ('change', 'closing', 'happened', 'kind', 'made', 'new', 'news', 'opening', 'question', 'recency', 'release', 'stop',
                    'thing', 'when')),
    ADD CONSTRAINT query_word_word_check
    CHECK (btrim(word) ~ '^\S+(\s+\S+){0,2}$' OR kind IN ('opening', 'closing') AND btrim(word) <> '' AND octet_length(word) <= 1000);
COMMENT ON COLUMN docsearch.query_word.kind IS
    'kind: a kind of page, as in "View protocol"; question: begins a question; recency: for the newest pages; new: for them if the query has nothing else; happened: for them beside a word for a time or a question word; when: a time; thing: a page of any kind; made: after "new", something to create; release: for release notes and changelogs; news: for release notes and the like; change: for changes, beside the number of a version; stop: a stop word; opening, closing: a pattern of words before and after a task, as in "how do I silence an alarm, please?"';
COMMENT ON COLUMN docsearch.query_word.word IS
    'word or phrase of at most three words, lower case; for opening and closing a pattern of words: a|b is one of them, a|b? one or none';
-- Tips name pages of the answer instead of fixed ones.
UPDATE docsearch.search_tip t SET tip = new.tip
FROM (VALUES
    ('Name the thing and where it belongs: "X in Y", such as "Button in SwiftUI".', 'Name the thing and where it belongs: "X in Y"[, such as "{page} in {place}"].'),
    ('Add context to a general word: "frame modifier" instead of "frame".', 'Add context to a general word[: "{phrase}" instead of "{word}"].'),
    ('Include the framework or project: "alert uikit".', 'Include the framework or project[: "{page} {place}"].'),
    ('Include the parent of a nested name: "AsyncImagePhase.failure".', 'Include the parent of a nested name[: "{path}"].')) AS new(old, tip)
WHERE t.tip = new.old;
COMMENT ON COLUMN docsearch.search_tip.tip IS 'one sentence; names in braces are filled in from the answer, and text in brackets is omitted if they are missing';

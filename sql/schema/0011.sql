-- The licence of the bundled model was stored as the beginning of a sentence.
UPDATE docsearch.model SET licence = 'Apache-2.0'
WHERE licence = 'all-MiniLM-L6-v2, published by the sentence-transformers project as';
-- Models: these columns are names of directories of the server.
ALTER TABLE docsearch.model
    ADD CONSTRAINT model_name_plain CHECK (octet_length(name) BETWEEN 1 AND 255 AND name !~ '^\.|[/\\\u0001-\u001F\u007F-\u009F\u00AD\u0600-\u0605\u061C\u06DD\u070F\u0890\u0891\u08E2\u115F\u1160\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF9-\uFFFB\U000110BD\U000110CD\U00013430-\U0001343F\U0001BCA0-\U0001BCA3\U0001D173-\U0001D17A\U000E0001\U000E0020-\U000E007F]') NOT VALID,
    ADD CONSTRAINT model_directory_plain CHECK (octet_length(directory) BETWEEN 1 AND 255 AND directory !~ '^\.|[/\\\u0001-\u001F\u007F-\u009F\u00AD\u0600-\u0605\u061C\u06DD\u070F\u0890\u0891\u08E2\u115F\u1160\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF9-\uFFFB\U000110BD\U000110CD\U00013430-\U0001343F\U0001BCA0-\U0001BCA3\U0001D173-\U0001D17A\U000E0001\U000E0020-\U000E007F]') NOT VALID;
-- Attached tables. Roles are OIDs: a role that is created later with the same name is another. A dropped role has OID 0, which
-- no role has. Comments confirm the terms of each table (src/indexing/attached/agreement.rs).
ALTER TABLE docsearch.attached_table
    ALTER COLUMN reads_as TYPE regrole USING coalesce(to_regrole(quote_ident(reads_as)), 0::oid::regrole),
    ALTER COLUMN writes_as TYPE regrole USING coalesce(to_regrole(quote_ident(writes_as)), 0::oid::regrole),
    ADD COLUMN shape text;
COMMENT ON COLUMN docsearch.attached_table.shape IS 'versions of the catalog rows of its columns at the last read: if they have changed, the table is read again';
COMMENT ON COLUMN docsearch.attached_table.rows_where IS 'condition of rows that have documents, also stored in the trigger and its comment; NULL: all rows';
-- Logical replication. If a publication contains a table without a key, as one FOR ALL TABLES does, Postgres rejects changes
-- and deletes of its rows, so that indexing fails.
ALTER TABLE docsearch.document_name REPLICA IDENTITY FULL;
ALTER TABLE docsearch.term_stat REPLICA IDENTITY FULL;
ALTER TABLE docsearch.project_stat REPLICA IDENTITY FULL;
ALTER TABLE docsearch.container REPLICA IDENTITY FULL;
ALTER TABLE docsearch.action REPLICA IDENTITY FULL;
ALTER TABLE docsearch.action_synonym REPLICA IDENTITY FULL;
ALTER TABLE docsearch.intent_conflict REPLICA IDENTITY FULL;
ALTER TABLE docsearch.generic_term REPLICA IDENTITY FULL;
ALTER TABLE docsearch.synonym REPLICA IDENTITY FULL;
ALTER TABLE docsearch.framework_alias REPLICA IDENTITY FULL;
ALTER TABLE docsearch.platform REPLICA IDENTITY FULL;
ALTER TABLE docsearch.query_word REPLICA IDENTITY FULL;
ALTER TABLE docsearch.news_name REPLICA IDENTITY FULL;
ALTER TABLE docsearch.search_tip REPLICA IDENTITY FULL;

-- Whose code runs when a table is read, and who writes its documents, is settled when it is attached.
ALTER TABLE docsearch.attached_table
    ADD COLUMN reads_as name,
    ADD COLUMN writes_as name,
    ADD COLUMN attempts int NOT NULL DEFAULT 0,
    ADD COLUMN step_rows int NOT NULL DEFAULT 256 CHECK (step_rows > 0),
    ADD COLUMN reading bool NOT NULL DEFAULT false;
DELETE FROM docsearch.attached_table a WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.oid = a.source);
UPDATE docsearch.attached_table a
SET reads_as = pg_catalog.pg_get_userbyid(c.relowner), writes_as = pg_catalog.pg_get_userbyid(c.relowner)
FROM pg_catalog.pg_class c WHERE c.oid = a.source;
ALTER TABLE docsearch.attached_table ALTER COLUMN reads_as SET NOT NULL, ALTER COLUMN writes_as SET NOT NULL;
COMMENT ON COLUMN docsearch.attached_table.reads_as IS 'role that owned the table when it was attached: its rows are read as this role, and not while somebody else owns it';
COMMENT ON COLUMN docsearch.attached_table.writes_as IS 'role that attached it: documents are written as this role, within its policies';
COMMENT ON COLUMN docsearch.attached_table.attempts IS 'attempts to read it that failed in a row';
COMMENT ON COLUMN docsearch.attached_table.step_rows IS 'rows that are read at once; fewer when they are slow to read';
COMMENT ON COLUMN docsearch.attached_table.reading IS 'whether the worker is at it, or ended while it was';
COMMENT ON COLUMN docsearch.table_change.key IS 'key of the row as text; NULL: the table was truncated, or its keys could not be read';
-- Who changes an attached table waits for nobody who removes it or its project, and may have begun before it was
-- attached. The worker removes what is left.
ALTER TABLE docsearch.table_change DROP CONSTRAINT table_change_attached_id_fkey;

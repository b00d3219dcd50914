-- Runs with the rights of the user who changes an attached table. It is a C function, since it reads the rows that Postgres
-- passes to the trigger, and no name to which a caller could give another meaning.
CREATE FUNCTION docsearch.attached_changed() RETURNS trigger
LANGUAGE c VOLATILE PARALLEL UNSAFE
SET search_path TO pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'docsearch_attached_changed';

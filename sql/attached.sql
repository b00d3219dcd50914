-- Called with the rights of who changes an attached table. A C function, because what it reads are the rows
-- that Postgres hands to the trigger and no name that a caller could give another meaning.
CREATE FUNCTION docsearch.attached_changed() RETURNS trigger
LANGUAGE c VOLATILE PARALLEL UNSAFE
SET search_path TO pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'docsearch_attached_changed';

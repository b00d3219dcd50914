-- Runs with the rights of its owner, since those who change an attached table have none here. What it
-- evaluates of the table is the text of a key, of a type that comes with Postgres.
CREATE FUNCTION docsearch.attached_changed() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path TO pg_catalog, pg_temp
AS $$
DECLARE
    attached int := TG_ARGV[0];
    key_column text := docsearch.attached_key(attached, TG_RELID);
    keys text[];
BEGIN
    IF key_column IS NULL THEN
        RETURN NULL;
    END IF;
    IF TG_OP = 'TRUNCATE' THEN
        keys := ARRAY[NULL::text];
    ELSE
        EXECUTE (SELECT format('SELECT array_agg(DISTINCT k.key) FROM (%s) k WHERE k.key IS NOT NULL',
                               string_agg(format('SELECT t.%I::text AS key FROM %I t', key_column, seen), ' UNION ALL '))
                 FROM unnest(CASE TG_OP WHEN 'INSERT' THEN '{docsearch_new}'
                                        WHEN 'DELETE' THEN '{docsearch_old}'
                                        ELSE '{docsearch_old,docsearch_new}' END::text[]) seen)
        INTO keys;
        keys := coalesce(keys, '{}');
    END IF;
    PERFORM docsearch.note_changes(attached, keys);
    RETURN NULL;
END
$$;

DO $$
DECLARE
    vector text := (SELECT e.extversion FROM pg_catalog.pg_extension e
                    WHERE e.extname OPERATOR(pg_catalog.=) 'vector');
BEGIN
    IF pg_catalog.current_setting('server_encoding') OPERATOR(pg_catalog.<>) 'UTF8' THEN
        RAISE EXCEPTION 'pg_docsearch needs a database with encoding UTF8'
            USING ERRCODE = 'feature_not_supported',
                  DETAIL = pg_catalog.format('The encoding of this database is %s.', pg_catalog.current_setting('server_encoding')),
                  HINT = 'Create the database with ENCODING ''UTF8'' TEMPLATE template0.';
    END IF;
    -- 0.7 brought halfvec, 0.8 searches of an index that go on until enough is found.
    IF (pg_catalog.string_to_array((pg_catalog.regexp_match(vector, '^[0-9]+[.][0-9]+'))[1], '.')::int[])
            OPERATOR(pg_catalog.<) ARRAY[0, 8] THEN
        RAISE EXCEPTION 'pg_docsearch needs pgvector 0.8 or newer'
            USING ERRCODE = 'feature_not_supported',
                  DETAIL = pg_catalog.format('The extension vector of this database has version %s.', vector),
                  HINT = 'ALTER EXTENSION vector UPDATE; if it stays the same, install a newer pgvector on the server first.';
    END IF;
END
$$;

-- The functions with which docsearch.check() compares those of a database. Types are written as that function reads them. It
-- reads the lines between the first and the last one of the body, and does not call them.
DO $$
BEGIN
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    EXECUTE pg_catalog.format(
        'CREATE OR REPLACE FUNCTION docsearch.declared_functions() RETURNS text[]
         LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path TO pg_catalog, pg_temp AS %L',
        pg_catalog.format(E'SELECT pg_catalog.string_to_array(pg_catalog.btrim($list$\n%s\n$list$, E''\\n''), E''\\n'')', (
            SELECT pg_catalog.string_agg(f.signature, E'\n' ORDER BY f.signature USING OPERATOR(pg_catalog.<))
            FROM (SELECT pg_catalog.format('%I.%I(%s) %s', n.nspname, p.proname, pg_catalog.oidvectortypes(p.proargtypes),
                                           pg_catalog.format_type(p.prorettype, NULL)) AS signature
                  FROM pg_catalog.pg_extension e
                  JOIN pg_catalog.pg_depend d
                    ON d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass::pg_catalog.oid
                   AND d.refobjid OPERATOR(pg_catalog.=) e.oid AND d.deptype OPERATOR(pg_catalog.=) 'e'
                   AND d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass::pg_catalog.oid
                  JOIN pg_catalog.pg_proc p ON p.oid OPERATOR(pg_catalog.=) d.objid
                  JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) p.pronamespace
                  WHERE e.extname OPERATOR(pg_catalog.=) 'pg_docsearch'
                    AND p.proname OPERATOR(pg_catalog.<>) 'declared_functions') f)));
    REVOKE EXECUTE ON FUNCTION docsearch.declared_functions() FROM PUBLIC;
    COMMENT ON FUNCTION docsearch.declared_functions() IS
        'returns the functions that this version of the extension declares, each as schema.name(types) and its result type. check() compares them with the existing functions';
END
$$;

-- Warns of known faults of the server and of pgvector; raises an error for a pgvector without a needed feature.
DO $$
DECLARE
    known record;
BEGIN
    FOR known IN SELECT f.fault, f.object, f.detail, f.repair, f.refused FROM docsearch.known_faults() f
    LOOP
        IF known.refused THEN
            RAISE EXCEPTION 'pg_docsearch cannot be used with %', known.object
                USING ERRCODE = 'feature_not_supported', DETAIL = known.detail, HINT = known.repair;
        END IF;
        RAISE WARNING '% has a known fault: %', known.object, known.fault
            USING DETAIL = known.detail, HINT = known.repair;
    END LOOP;
END
$$;

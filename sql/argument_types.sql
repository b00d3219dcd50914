-- Types for arguments only. Postgres resolves functions by the types that drivers send, and has no implicit casts from json or
-- text to jsonb, or from text to regconfig. These types have them (decision 27), and the format of jsonb, or regconfig. They may
-- exist already: an upgrade runs this, too.
DO $$
BEGIN
    IF pg_catalog.to_regtype('docsearch.json_argument') IS NOT NULL THEN
        RETURN;
    END IF;
    CREATE TYPE docsearch.json_argument;
    CREATE FUNCTION docsearch.json_argument_in(pg_catalog.cstring) RETURNS docsearch.json_argument
        LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'jsonb_in';
    CREATE FUNCTION docsearch.json_argument_out(docsearch.json_argument) RETURNS pg_catalog.cstring
        LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'jsonb_out';
    CREATE FUNCTION docsearch.json_argument_recv(pg_catalog.internal) RETURNS docsearch.json_argument
        LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'jsonb_recv';
    CREATE FUNCTION docsearch.json_argument_send(docsearch.json_argument) RETURNS pg_catalog.bytea
        LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'jsonb_send';
    CREATE TYPE docsearch.json_argument (
        INPUT = docsearch.json_argument_in, OUTPUT = docsearch.json_argument_out,
        RECEIVE = docsearch.json_argument_recv, SEND = docsearch.json_argument_send, LIKE = pg_catalog.jsonb);
    CREATE CAST (pg_catalog.jsonb AS docsearch.json_argument) WITHOUT FUNCTION AS IMPLICIT;
    CREATE CAST (pg_catalog.json AS docsearch.json_argument) WITH INOUT AS IMPLICIT;
    CREATE CAST (pg_catalog.text AS docsearch.json_argument) WITH INOUT AS IMPLICIT;
    CREATE CAST (pg_catalog.varchar AS docsearch.json_argument) WITH INOUT AS IMPLICIT;

    CREATE TYPE docsearch.regconfig_argument;
    CREATE FUNCTION docsearch.regconfig_argument_in(pg_catalog.cstring) RETURNS docsearch.regconfig_argument
        LANGUAGE internal STABLE STRICT PARALLEL SAFE AS 'regconfigin';
    CREATE FUNCTION docsearch.regconfig_argument_out(docsearch.regconfig_argument) RETURNS pg_catalog.cstring
        LANGUAGE internal STABLE STRICT PARALLEL SAFE AS 'regconfigout';
    CREATE FUNCTION docsearch.regconfig_argument_recv(pg_catalog.internal) RETURNS docsearch.regconfig_argument
        LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'regconfigrecv';
    CREATE FUNCTION docsearch.regconfig_argument_send(docsearch.regconfig_argument) RETURNS pg_catalog.bytea
        LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'regconfigsend';
    CREATE TYPE docsearch.regconfig_argument (
        INPUT = docsearch.regconfig_argument_in, OUTPUT = docsearch.regconfig_argument_out,
        RECEIVE = docsearch.regconfig_argument_recv, SEND = docsearch.regconfig_argument_send, LIKE = pg_catalog.regconfig);
    CREATE CAST (pg_catalog.regconfig AS docsearch.regconfig_argument) WITHOUT FUNCTION AS IMPLICIT;
    CREATE CAST (pg_catalog.text AS docsearch.regconfig_argument) WITH INOUT AS IMPLICIT;
    CREATE CAST (pg_catalog.varchar AS docsearch.regconfig_argument) WITH INOUT AS IMPLICIT;

    COMMENT ON TYPE docsearch.json_argument IS
        'type of arguments that are JSON, for callers who give json, jsonb or text; stored as jsonb is';
    COMMENT ON TYPE docsearch.regconfig_argument IS
        'type of arguments that are text search configurations, for callers who give regconfig or text';
    COMMENT ON FUNCTION docsearch.json_argument_in(pg_catalog.cstring) IS 'reads docsearch.json_argument; called by Postgres';
    COMMENT ON FUNCTION docsearch.json_argument_out(docsearch.json_argument) IS 'writes docsearch.json_argument; called by Postgres';
    COMMENT ON FUNCTION docsearch.json_argument_recv(pg_catalog.internal) IS 'receives docsearch.json_argument; called by Postgres';
    COMMENT ON FUNCTION docsearch.json_argument_send(docsearch.json_argument) IS 'sends docsearch.json_argument; called by Postgres';
    COMMENT ON FUNCTION docsearch.regconfig_argument_in(pg_catalog.cstring) IS 'reads docsearch.regconfig_argument; called by Postgres';
    COMMENT ON FUNCTION docsearch.regconfig_argument_out(docsearch.regconfig_argument) IS 'writes docsearch.regconfig_argument; called by Postgres';
    COMMENT ON FUNCTION docsearch.regconfig_argument_recv(pg_catalog.internal) IS 'receives docsearch.regconfig_argument; called by Postgres';
    COMMENT ON FUNCTION docsearch.regconfig_argument_send(docsearch.regconfig_argument) IS 'sends docsearch.regconfig_argument; called by Postgres';
END
$$;

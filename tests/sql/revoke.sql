-- revoke_usage revokes what grant_usage has granted, and DROP ROLE succeeds.
SELECT docsearch.create_project('shelf') > 0 AS created;
CREATE ROLE docsearch_reader;
CREATE ROLE docsearch_writer;
SELECT docsearch.grant_usage('docsearch_reader');
SELECT docsearch.grant_usage('docsearch_writer', write => true);
-- Vector tables of a model are created later; these and columns are granted by hand.
GRANT SELECT ON docsearch.vector_1 TO docsearch_writer;
GRANT UPDATE (title) ON docsearch.project TO docsearch_writer;
ALTER DEFAULT PRIVILEGES IN SCHEMA docsearch GRANT SELECT ON TABLES TO docsearch_writer;
GRANT EXECUTE ON FUNCTION docsearch.check(text) TO docsearch_writer;
-- A model behind an endpoint, as add_remote_model creates it.
INSERT INTO docsearch.model (name, dimension, max_tokens, digest, background, remote) VALUES ('far', 3, 512, 'x', 0, true);
SELECT docsearch.grant_model('docsearch_writer', 'far');
SELECT docsearch.revoke_usage('docsearch_writer');
SELECT count(*) AS models FROM docsearch.model_grant;
SELECT has_schema_privilege('docsearch_writer', 'docsearch', 'USAGE') AS schema,
       has_table_privilege('docsearch_writer', 'docsearch.document', 'SELECT, INSERT, UPDATE, DELETE') AS documents,
       has_table_privilege('docsearch_writer', 'docsearch.vector_1', 'SELECT') AS vectors,
       has_any_column_privilege('docsearch_writer', 'docsearch.project', 'UPDATE') AS columns;
SELECT count(*) AS defaults FROM pg_default_acl WHERE defaclnamespace = 'docsearch'::regnamespace;
-- The other role keeps its privileges.
SET ROLE docsearch_reader;
SELECT count(*) FROM list_docs('shelf');
RESET ROLE;
DROP ROLE docsearch_writer;
DELETE FROM docsearch.model WHERE name = 'far';

-- A role without grants loses nothing, even in repeated calls; a missing role is an error.
CREATE ROLE docsearch_stranger;
SELECT docsearch.revoke_usage('docsearch_stranger');
SELECT docsearch.revoke_usage('docsearch_stranger');
SELECT docsearch.revoke_usage('docsearch_nobody');
SELECT docsearch.revoke_usage(repeat('x', 100));
SELECT docsearch.revoke_usage(NULL) IS NULL AS nothing;

-- Privileges from other sources remain, and a NOTICE names the source.
GRANT docsearch_reader TO docsearch_stranger;
SELECT docsearch.revoke_usage('docsearch_stranger');
REVOKE docsearch_reader FROM docsearch_stranger;
GRANT pg_read_all_data TO docsearch_stranger;
SELECT docsearch.revoke_usage('docsearch_stranger');
REVOKE pg_read_all_data FROM docsearch_stranger;
-- Grants by the role itself must be revoked first, or with REVOKE ... CASCADE.
GRANT SELECT ON docsearch.document TO docsearch_reader WITH GRANT OPTION;
SET ROLE docsearch_reader;
GRANT SELECT ON docsearch.document TO docsearch_stranger;
RESET ROLE;
SELECT docsearch.revoke_usage('docsearch_stranger');
SELECT docsearch.revoke_usage('docsearch_reader');
REVOKE GRANT OPTION FOR SELECT ON docsearch.document FROM docsearch_reader CASCADE;
SELECT docsearch.grant_usage('public');
SELECT docsearch.revoke_usage('docsearch_stranger');
SELECT docsearch.revoke_usage('public');
SELECT has_schema_privilege('docsearch_stranger', 'docsearch', 'USAGE') AS schema;
CREATE POLICY own ON docsearch.document TO docsearch_stranger USING (true);
SELECT docsearch.revoke_usage('docsearch_stranger');
DROP POLICY own ON docsearch.document;
ALTER ROLE docsearch_stranger SUPERUSER;
SELECT docsearch.revoke_usage('docsearch_stranger');
ALTER ROLE docsearch_stranger NOSUPERUSER;

-- The owner of the schema keeps its own privileges. Functions belong to the role that created the extension.
SELECT docsearch.revoke_usage(current_user);
GRANT EXECUTE ON FUNCTION docsearch.check(text) TO docsearch_reader;
CREATE ROLE docsearch_owner;
SELECT quote_ident(current_user) AS owner \gset
ALTER SCHEMA docsearch OWNER TO docsearch_owner;
DO $$
DECLARE tables regclass;
BEGIN
    FOR tables IN SELECT oid FROM pg_class WHERE relnamespace = 'docsearch'::regnamespace AND relkind = 'r' LOOP
        EXECUTE format('ALTER TABLE %s OWNER TO docsearch_owner', tables);
    END LOOP;
END $$;
SET ROLE docsearch_reader;
SELECT docsearch.revoke_usage('docsearch_reader');
SET ROLE docsearch_owner;
SELECT docsearch.revoke_usage('docsearch_owner');
SELECT docsearch.revoke_usage('docsearch_reader');
RESET ROLE;
REASSIGN OWNED BY docsearch_owner TO CURRENT_USER;
SELECT docsearch.grant_usage('docsearch_reader');
SELECT docsearch.revoke_usage('docsearch_reader');
DROP ROLE docsearch_reader, docsearch_stranger, docsearch_owner;
SELECT docsearch.drop_project('shelf');

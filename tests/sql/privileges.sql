-- All privileges: review additions here before any role gets them.
CREATE ROLE docsearch_reader;
CREATE ROLE docsearch_writer;
SELECT docsearch.grant_usage('docsearch_reader');
SELECT docsearch.grant_usage('docsearch_writer', write => true);
-- Its tables, with one for the vectors of a model.
SELECT docsearch.create_project('some') > 0 AS created;

-- Functions: all that belong to the extension, and all others in its schema.
CREATE VIEW functions AS
SELECT p.oid, p.oid::regprocedure::text AS function, p.prosecdef, p.provolatile, p.proparallel, p.prokind, p.proconfig, p.proowner,
       coalesce(p.proacl, acldefault('f', p.proowner)) AS acl, p.prorettype::regtype::text AS result
FROM pg_proc p
WHERE p.pronamespace = 'docsearch'::regnamespace
   OR EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
              AND d.refobjid = (SELECT e.oid FROM pg_extension e WHERE e.extname = 'pg_docsearch'));
SELECT function,
       CASE WHEN prosecdef THEN 'DEFINER' ELSE 'invoker' END AS security,
       CASE provolatile WHEN 'i' THEN 'immutable' WHEN 's' THEN 'stable' ELSE 'volatile' END AS volatility,
       CASE proparallel WHEN 's' THEN 'safe' WHEN 'r' THEN 'restricted' ELSE 'unsafe' END AS parallel,
       array_to_string(proconfig, '; ') AS settings,
       coalesce((SELECT string_agg(CASE a.grantee WHEN 0 THEN 'public' WHEN f.proowner THEN 'owner' ELSE a.grantee::regrole::text END, ', '
                                   ORDER BY a.grantee DESC)
                 FROM aclexplode(f.acl) a), 'nobody') AS execute
FROM functions f ORDER BY function COLLATE "C";
-- All belong to the role that created the extension, and all are functions.
SELECT r.rolsuper AS owned_by_superuser, f.prokind AS kind, count(*) > 0 AS some FROM functions f JOIN pg_roles r ON r.oid = f.proowner GROUP BY 1, 2;
-- Functions without a search path that ends with the temporary schema: they look up no names.
SELECT function FROM functions WHERE result <> 'internal' AND NOT coalesce(proconfig @> ARRAY['search_path=pg_catalog, pg_temp'], false)
ORDER BY function COLLATE "C";
DROP VIEW functions;

-- Other members of the extension. PostgreSQL has Estonian since 18; since then, array types are members, too.
SELECT o.type, replace(o.identity, '(pg_catalog.', '(') AS identity FROM pg_depend d, pg_identify_object(d.classid, d.objid, d.objsubid) o
WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND d.classid <> 'pg_proc'::regclass
  AND d.refobjid = (SELECT e.oid FROM pg_extension e WHERE e.extname = 'pg_docsearch')
  AND o.identity NOT IN ('docsearch.estonian', 'docsearch.estonian_stem') AND NOT (o.type = 'type' AND o.identity LIKE '%[]')
ORDER BY o.type, identity COLLATE "C";
-- Each language of the server has both, and no other has.
SELECT c.cfgname FROM pg_ts_config c WHERE c.cfgnamespace::regnamespace::text IN ('pg_catalog', 'docsearch')
GROUP BY c.cfgname HAVING count(*) <> 2;
SELECT t.dictname FROM pg_ts_dict t WHERE t.dictnamespace::regnamespace::text IN ('pg_catalog', 'docsearch') AND t.dictname LIKE '%\_stem'
GROUP BY t.dictname HAVING count(*) <> 2;

-- The schema, its tables, views and sequences. There is a table of vectors for each model.
SELECT coalesce((SELECT string_agg(format('%s: %s', CASE a.grantee WHEN 0 THEN 'public' WHEN n.nspowner THEN 'owner' ELSE a.grantee::regrole::text END,
                                          a.privilege_type), ', ' ORDER BY a.grantee::regrole::text COLLATE "C", a.privilege_type)
                 FROM aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) a WHERE a.grantee <> n.nspowner), 'owner') AS schema
FROM pg_namespace n WHERE n.nspname = 'docsearch';
SELECT * FROM (
SELECT DISTINCT regexp_replace(c.relname, '^vector_\d+', 'vector_N') AS relation, c.relkind AS kind, c.relrowsecurity AS policies,
       coalesce((SELECT string_agg(format('%s: %s', a.grantee, a.privileges), '; ' ORDER BY a.grantee COLLATE "C")
                 FROM (SELECT CASE a.grantee WHEN 0 THEN 'public' ELSE a.grantee::regrole::text END AS grantee,
                              string_agg(a.privilege_type, ', ' ORDER BY a.privilege_type) AS privileges
                       FROM aclexplode(coalesce(c.relacl, acldefault(CASE c.relkind WHEN 'S' THEN 's' ELSE 'r' END::"char", c.relowner))) a
                       WHERE a.grantee <> c.relowner GROUP BY 1) a), 'owner') AS others
FROM pg_class c WHERE c.relnamespace = 'docsearch'::regnamespace AND c.relkind NOT IN ('i', 't')
) relations ORDER BY relation COLLATE "C", others;
SELECT a.attrelid::regclass AS relation, a.attname AS of_its_own FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
WHERE c.relnamespace = 'docsearch'::regnamespace AND a.attacl IS NOT NULL ORDER BY 1, 2;
SELECT defaclrole::regrole, defaclobjtype, defaclacl FROM pg_default_acl
WHERE defaclnamespace = 'docsearch'::regnamespace OR defaclnamespace = 0;

-- Code that runs implicitly: triggers, rules, policies, event triggers.
SELECT t.tgrelid::regclass AS relation, t.tgname AS trigger, t.tgfoid::regprocedure AS function, t.tgenabled AS enabled
FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
WHERE NOT t.tgisinternal AND (c.relnamespace = 'docsearch'::regnamespace OR t.tgfoid::regprocedure::text LIKE 'docsearch.%')
ORDER BY t.tgrelid::regclass::text COLLATE "C", t.tgname;
SELECT tablename, rulename FROM pg_rules WHERE schemaname = 'docsearch' ORDER BY 1, 2;
SELECT tablename, policyname FROM pg_policies WHERE schemaname = 'docsearch' ORDER BY 1, 2;
SELECT e.evtname, e.evtevent, e.evtfoid::regprocedure AS function, e.evtenabled AS enabled, e.evttags AS tags
FROM pg_event_trigger e ORDER BY e.evtname;

-- Who may change which setting, and who may see it.
CREATE TEMP TABLE seen (name text);
GRANT INSERT, SELECT ON seen TO docsearch_reader;
SET ROLE docsearch_reader;
INSERT INTO seen SELECT s.name FROM pg_settings s WHERE s.name LIKE 'docsearch.%';
RESET ROLE;
SELECT s.name, s.context AS changed_by, s.name IN (SELECT name FROM seen) AS seen_by_all
FROM pg_settings s WHERE s.name LIKE 'docsearch.%' ORDER BY s.name COLLATE "C";
DROP TABLE seen;

DROP OWNED BY docsearch_reader, docsearch_writer;
DROP ROLE docsearch_reader, docsearch_writer;
SELECT docsearch.drop_project('some');

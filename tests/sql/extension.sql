-- One statement also creates pgvector, pg_trgm and btree_gin.
-- Its warnings depend on versions: see tests/test_known_faults.py.
SET client_min_messages = error;
CREATE EXTENSION pg_docsearch CASCADE;
RESET client_min_messages;
SELECT extname FROM pg_extension WHERE extname <> 'plpgsql' ORDER BY extname;

-- Tables are not members: the first create_project creates them.
SELECT count(*) AS member_tables
FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid JOIN pg_class c ON c.oid = d.objid
WHERE e.extname = 'pg_docsearch' AND d.deptype = 'e' AND d.classid = 'pg_class'::regclass;

-- Before that, nothing is found, with an error about the reason.
SELECT count(*) FROM list_docs();
SELECT * FROM search_docs('anything');
SELECT load_doc('anything');
-- Checks that need no tables.
SELECT problem, object FROM docsearch.check() WHERE problem NOT IN (SELECT fault FROM docsearch.known_faults());
SELECT problem, object FROM docsearch.check(deep => true) WHERE problem NOT IN (SELECT fault FROM docsearch.known_faults());
SELECT * FROM docsearch.check('anything');

-- Every function has a pinned search_path, unless it is in C and touches no table, and a comment.
SELECT p.proname
FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'pg_docsearch'
WHERE (p.proconfig IS NULL AND p.proname NOT LIKE 'code\_parser\_%' AND p.proname <> 'split_identifier'
       AND p.proname !~ '_argument_(in|out|recv|send)$')
   OR obj_description(p.oid, 'pg_proc') IS NULL
ORDER BY 1;

-- Settings have units, bounds and help.
SELECT name, value, minimum, maximum FROM docsearch.settings() WHERE name = 'docsearch.hybrid_weight';
SELECT count(*) AS without_help FROM docsearch.settings() WHERE coalesce(help, '') = '';
-- s0_26, s1_14, s2_4, s2_6, s2_17, s2_19, s3_5: their defaults.
SELECT name, value FROM docsearch.settings()
WHERE name ~ '^(docsearch\.)?(boost_(action|object)_|candidates$|default_model$|diminishing_|grade_min_|max_boost$|minimum_term_|synonym_)'
ORDER BY name COLLATE "C";
SET docsearch.hybrid_weight = 2;
-- A former setting is accepted and shown nowhere; the first search warns.
SET docsearch.max_boost = 'any';
SELECT count(*) AS shown FROM pg_settings WHERE name = 'docsearch.max_boost';
RESET docsearch.max_boost;

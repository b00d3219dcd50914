-- Input is bounded, in calls and in rows written by hand, and no row prevents reading.
SELECT docsearch.create_project('bounds') > 0 AS created;
SELECT docsearch.index_doc('bounds', 'kiwi', 'Kiwi', E'# Kiwi\n\nA bird that cannot fly.', category => 'animals/birds');

-- Categories.
SELECT docsearch.index_doc('bounds', 'deep', 'Deep', 'x', category => repeat('a/', 15000));
\echo :LAST_ERROR_SQLSTATE
SELECT docsearch.index_doc('bounds', 'deep', 'Deep', 'x', category => repeat('a/', 32));
SELECT docsearch.index_doc('bounds', 'deep', 'Deep', 'x', category => repeat('x', 1025));
SELECT docsearch.index_doc('bounds', 'deep', 'Deep', 'x', category => E'a\tb');
SELECT docsearch.index_doc('bounds', 'deep', 'Deep', 'A deep page.', category => repeat('a/', 31));
SELECT slug, action, detail FROM docsearch.index_docs('bounds', jsonb_build_array(
    jsonb_build_object('slug', 'emu', 'title', 'Emu', 'body', 'It runs.', 'category', repeat('b/', 100)),
    '{"slug": "rhea", "title": "Rhea", "body": "It runs, too."}'::jsonb));
SELECT jsonb_path_query_array(list_docs_json('bounds'), 'strict $.categories[*].name');

-- Invisible characters, and characters that change the direction of text.
SELECT docsearch.create_project(U&'bou\200Bnds');
\echo :LAST_ERROR_SQLSTATE
SELECT docsearch.index_doc('bounds', U&'ki\200Dwi', 'Kiwi', 'x');
SELECT docsearch.index_doc('bounds', U&'kiwi\202Efdp', 'Kiwi', 'x');
SELECT docsearch.index_doc('bounds', 'kea', 'Kea', 'x', category => U&'anim\2066als');
SELECT docsearch.index_doc('bounds', U&'\0646\0645\06CC\200C\062E\0648\0627\0647\0645', U&'Kea\202E\000Bof \0646\0645\06CC\200C\062E', 'A parrot.', category => U&'\+01F469\200D\+01F4BB');
SELECT title = U&'Kea of \0646\0645\06CC\200C\062E' AS in_one_line FROM docsearch.document WHERE title LIKE 'Kea%';

-- Lengths, lists, metadata and times.
SELECT docsearch.index_doc('bounds', 'long', repeat('x', 65537), 'x');
\echo :LAST_ERROR_SQLSTATE
SELECT docsearch.index_doc('bounds', 'long', 'Long', 'x', kind => repeat('x', 1025));
SELECT docsearch.index_doc('bounds', 'long', 'Long', 'x', version => repeat('x', 1025));
SELECT docsearch.index_doc('bounds', 'long', 'Long', 'x', summary => repeat('x', 65537));
SELECT docsearch.index_doc('bounds', 'long', 'Long', 'x', source_path => repeat('x', 4097));
SELECT docsearch.index_doc('bounds', 'long', 'Long', 'x', source_root => repeat('x', 1025));
SELECT docsearch.index_doc('bounds', 'long', 'Long', repeat('x', 32 * 1024 * 1024 + 1));
SELECT docsearch.index_doc('bounds', 'list', 'List', 'x', keywords => '{a,NULL}');
\echo :LAST_ERROR_SQLSTATE
SELECT docsearch.index_doc('bounds', 'list', 'List', 'x', keywords => array_fill('a'::text, '{1001}'));
SELECT docsearch.index_doc('bounds', 'list', 'List', 'x', source_urls => ARRAY[repeat('x', 65537)]);
SELECT docsearch.index_doc('bounds', 'meta', 'Meta', 'x', metadata => ('{"a": ' || repeat('[', 100) || repeat(']', 100) || '}')::jsonb);
\echo :LAST_ERROR_SQLSTATE
SELECT docsearch.index_doc('bounds', 'meta', 'Meta', 'x', metadata => ('{"a": ' || repeat('[', 500) || repeat(']', 500) || '}')::jsonb);
\echo :LAST_ERROR_SQLSTATE
SELECT docsearch.index_doc('bounds', 'meta', 'Meta', 'x', metadata => '{"a": 1e400}');
\echo :LAST_ERROR_SQLSTATE
SELECT docsearch.index_doc('bounds', 'meta', 'Meta', 'x', metadata => '{"a": [1.5e308]}');
SELECT docsearch.index_doc('bounds', 'meta', 'Meta', 'x', metadata => jsonb_build_object('a', repeat('x', 1048576)));
SELECT docsearch.index_doc('bounds', 'time', 'Time', 'x', published_at => '-infinity');
\echo :LAST_ERROR_SQLSTATE
SELECT docsearch.index_doc('bounds', 'time', 'Time', 'x', published_at => '10000-01-01');
SELECT docsearch.index_doc('bounds', 'time', 'Time', 'x', published_at => '0044-03-15 BC');
SELECT slug, action, detail FROM docsearch.index_docs('bounds', ('[
    {"slug": "time", "title": "Time", "body": "x", "published_at": "Infinity"},
    {"slug": "number", "title": "Number", "body": "x", "metadata": {"a": 1e400}},
    {"slug": "nested", "title": "Nested", "body": "x", "metadata": {"a": ' || repeat('[', 3000) || repeat(']', 3000) || '}},
    {"slug": "null", "title": "Null", "body": "x", "keywords": [null]},
    7,
    {"slug": "moa", "title": "Moa", "body": "It is gone.", "metadata": {"a": 1e307}}]')::jsonb);
SELECT docsearch.index_docs('bounds', '{"a": 1e400}');
SELECT search_docs('kiwi', filter => '{"a": 1e400}');
\echo :LAST_ERROR_SQLSTATE
SELECT search_docs('kiwi', config => ('{"limit": ' || repeat('[', 500) || repeat(']', 500) || '}')::jsonb);
\echo :LAST_ERROR_SQLSTATE
SELECT slug FROM search_docs('moa', filter => (SELECT jsonb_build_object('a', jsonb_agg(n) || '[1e307]') FROM generate_series(1, 20000) n));
SELECT slug FROM search_docs('moa', filter => (SELECT jsonb_object_agg('k' || n, '{"not": 1}'::jsonb) || '{"a": 1e307}' FROM generate_series(1, 5000) n));
SELECT slug FROM search_docs('moa', filter => jsonb_build_object('a', repeat('x', 1048577)));
-- A long first paragraph is truncated to a summary.
SELECT docsearch.index_doc('bounds', 'paragraph', 'Paragraph', repeat(U&'gr\00F6\00DFer ', 10000));
SELECT octet_length(summary) <= 65536 AS bounded FROM docsearch.document WHERE slug = 'paragraph';
SELECT docsearch.index_doc('bounds', 'paragraph', 'Paragraph', repeat(U&'gr\00F6\00DFer ', 10000));

-- The same bounds apply to rows that are written by hand.
CREATE TABLE tried (relation text, assignment text);
INSERT INTO tried VALUES
    ('document', $$slug = U&'ki\200Bwi'$$), ('document', $$slug = E'ki\nwi'$$),
    ('document', $$category = repeat('a/', 32)$$), ('document', $$category = repeat('x', 1025)$$),
    ('document', $$category = U&'a\202Eb'$$),
    ('document', $$title = repeat('x', 65537)$$), ('document', $$kind = repeat('x', 1025)$$),
    ('document', $$version = repeat('x', 1025)$$), ('document', $$summary = repeat('x', 65537)$$),
    ('document', $$source_path = repeat('x', 4097)$$), ('document', $$source_root = repeat('x', 1025)$$),
    ('document', $$body = repeat('x', 33554433)$$), ('document', $$content_hash = repeat('x', 1025)$$),
    ('document', $$keywords = '{a,NULL}'$$), ('document', $$keywords = '{{a},{b}}'$$),
    ('document', $$keywords = array_fill('a'::text, '{1001}')$$), ('document', $$keywords = ARRAY[repeat('x', 300000)]$$),
    ('document', $$source_urls = '{NULL}'$$), ('document', $$source_urls = '{{a,b}}'$$),
    ('document', $$metadata = '{"a": 1e309}'$$), ('document', $$metadata = '{"a": [{"b": -1e309}]}'$$),
    ('document', $$metadata = ('{"a": ' || repeat('[', 65) || repeat(']', 65) || '}')::jsonb$$),
    ('document', $$metadata = ('{"a": ' || repeat('[', 2000) || repeat(']', 2000) || '}')::jsonb$$),
    ('document', $$metadata = jsonb_build_object('a', repeat('x', 2097152))$$),
    ('document', $$updated_at = 'infinity'$$), ('document', $$created_at = '-infinity'$$),
    ('document', $$published_at = 'infinity'$$), ('document', $$updated_at = '294276-12-31 23:59:59+00'$$),
    ('document', $$published_at = '0044-03-15 BC'$$), ('document', $$title = E'Kiwi\n[2] More'$$), ('document', 'term_count = -1'), ('document', 'chunk_count = -1'),
    ('project', $$name = U&'bou\2060nds'$$), ('project', $$title = repeat('x', 65537)$$),
    ('project', $$root_url = repeat('x', 4097)$$), ('project', $$text_config = repeat('x', 1025)$$),
    ('project', $$settings = '{"a": 1e309}'$$), ('project', $$created_at = 'infinity'$$),
    ('project', $$updated_at = 'infinity'$$), ('project', $$switch_next_attempt = 'infinity'$$),
    ('project', $$title = U&'\202Ebounds'$$), ('project', $$root_url = E'https://example.org/\x1b[2J'$$),
    ('project', 'switch_attempts = -2147483648');
CREATE FUNCTION attempt(relation text, assignment text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    broken text;
BEGIN
    EXECUTE format('UPDATE docsearch.%I SET %s WHERE %I = %L', relation, assignment,
                   CASE relation WHEN 'project' THEN 'name' ELSE 'slug' END,
                   CASE relation WHEN 'project' THEN 'bounds' ELSE 'kiwi' END);
    RETURN 'written';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS broken = CONSTRAINT_NAME;
    RETURN SQLSTATE || ' ' || broken;
END $$;
SELECT relation, left(assignment, 50) AS assignment, attempt(relation, assignment) FROM tried;
SELECT attempt('document', $$metadata = ('{"a": ' || repeat('[', 64) || repeat(']', 64) || '}')::jsonb$$),
       attempt('document', $$metadata = '{"a": 1e308, "b": "1e400"}', keywords = '{}', published_at = '2020-01-01'$$),
       attempt('project', $$root_url = 'https://example.org'$$);

-- Older rows may have any values: they stop no upgrade, and are read as far as possible.
SELECT count(*) > 0 AS some, bool_or(convalidated) AS looked_at FROM pg_constraint
WHERE conrelid IN ('docsearch.document'::regclass, 'docsearch.project'::regclass) AND contype = 'c' AND conname ~ '(plain|bounded|readable|line|positive)$';
BEGIN;
DO $$
DECLARE
    bound record;
BEGIN
    FOR bound IN SELECT conrelid::regclass AS relation, conname FROM pg_constraint
                 WHERE conrelid IN ('docsearch.document'::regclass, 'docsearch.project'::regclass)
                   AND contype = 'c' AND NOT convalidated LOOP
        EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', bound.relation, bound.conname);
    END LOOP;
END $$;
SELECT count(*) FROM tried WHERE attempt(relation, assignment) = 'written'
    AND assignment !~ '^(name|slug|text_config|body|title|summary|metadata)';
UPDATE docsearch.document SET category = repeat('a/', 50000), keywords = '{{a,NULL}}', source_urls = '{NULL,u}', metadata =
    ('{"framework": "Aves", "large": -1e400, "deep": ' || repeat('[', 3000) || repeat(']', 3000) || '}')::jsonb
WHERE slug = 'kiwi';
SELECT slug FROM search_docs('kiwi in Aves', project => 'bounds', max_results => 1);
SELECT search_docs_json('bird', 'bounds', max_results => 1) #>> '{results,0,slug}' AS slug;
SELECT position('kiwi' IN search_docs_text('bird', 'bounds', max_results => 1)) > 0 AS found;
SELECT load_doc('kiwi', include_metadata => false, project => 'bounds');
SELECT content LIKE '%**Sources:** %, u%' AS loaded FROM load_docs(ARRAY['kiwi'], project => 'bounds');
SELECT slug, length(category) FROM list_docs('bounds') WHERE slug = 'kiwi';
SELECT length(list_docs_json('bounds')::text) > 100000 AS listed;
SELECT count(*) > 0 AS explained FROM docsearch.explain_search('kiwi in Aves', 'kiwi', 'bounds');
SELECT docsearch.search_refined('bird', 'bounds') #>> '{results,0,slug}' AS slug;
SELECT length(docsearch.answer_prompt('kiwi', 'bounds')) > 0 AS prompted;
SELECT count(*) > 0 AS suggested FROM docsearch.suggest('kiw', 'bounds');
SELECT docsearch.transform_query('kiwi', 'bounds') IS NOT NULL AS transformed;
SELECT form, names, holding FROM docsearch.verify_invariants('bounds');
SELECT count(*) >= 0 AS checked FROM docsearch.check('bounds');
SELECT docsearch.delete_doc('bounds', 'kiwi');
-- Names that are invalid today still work.
UPDATE docsearch.document SET slug = U&'bi\200Brds/mo\202Ea', title = E'Moa\tof\nold' WHERE slug = 'moa';
UPDATE docsearch.project SET name = U&'bou\2060nds' WHERE name = 'bounds';
SELECT load_doc(U&'bou\2060nds/bi\200Brds/mo\202Ea') LIKE '%It is gone.%' AS loaded;
SELECT slug = U&'bi\200Brds/mo\202Ea' AS found FROM search_docs('gone', U&'bou\2060nds', max_results => 1);
SELECT docsearch.delete_doc(U&'bou\2060nds', U&'bi\200Brds/mo\202Ea');
ROLLBACK;

SELECT docsearch.drop_project('bounds');
DROP FUNCTION attempt;
DROP TABLE tried;

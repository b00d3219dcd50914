-- What a caller who does not see every document can learn and change.
SET client_min_messages = notice;
CREATE ROLE docsearch_guest;
CREATE ROLE docsearch_editor;
SELECT docsearch.create_project('museum') > 0 AS created;
SELECT slug, action FROM docsearch.index_docs('museum', '[
    {"slug": "open/hours", "title": "Opening hours", "category": "open", "body": "The museum opens at nine. Lanterns are lit at dusk. The cloakroom is free."},
    {"slug": "open/tickets", "title": "Tickets", "category": "open", "body": "A ticket for the galleries costs ten. Groups pay less, and the guided tour begins at noon."},
    {"slug": "open/map", "title": "Map of the house", "category": "open", "body": "# Ground floor\n\nThe staircase leads to the paintings.\n\n# Upper floor\n\nClocks and astrolabes.", "keywords": ["floor", "clocks"]},
    {"slug": "closed/vault", "title": "The vault", "category": "closed", "body": "The xylotheque stands behind the marquetry cabinet. The code is opensesame4711. The museum opens at nine for donors only.", "keywords": ["xylotheque", "clocks"]},
    {"slug": "closed/staff", "title": "Salaries of Quillfeather", "category": "closed", "body": "# hidden_ledger\n\nLanterning pays double. Lanternist, lanternjaw, lanternfly and lanternry were bought. The museum opens at nine for donors only."},
    {"slug": "closed/plan", "title": "Plan", "category": "closed", "body": "Quillfeather sells the zymurgy collection. The cloakroom closes. Cloaka, cloakb and cloakd. The museum opens at nine for donors only."},
    {"slug": "closed/more", "title": "More", "category": "closed", "body": "The museum opens at nine for donors only. Tickets, tickets, tickets."}]') ORDER BY slug;
SELECT docsearch.grant_usage('docsearch_guest'), docsearch.grant_usage('docsearch_editor', write => true);
GRANT EXECUTE ON FUNCTION docsearch.grade_features(text, text, text, docsearch.json_argument, docsearch.json_argument, text[], text[]) TO docsearch_guest;
ALTER TABLE docsearch.document ENABLE ROW LEVEL SECURITY;
CREATE POLICY visitors ON docsearch.document TO docsearch_guest, docsearch_editor USING (category IS DISTINCT FROM 'closed');

-- A word that no visible document has expands only to visible words, wherever that shows.
SELECT typed, e.matched FROM unnest('{xylo,marq,quill,zymu,opensesam,astrol}'::text[]) typed,
    LATERAL docsearch.explain_search(typed, 'open/map', 'museum') e WHERE e.rule = 'original';
SET ROLE docsearch_guest;
SELECT typed, e.matched FROM unnest('{xylo,marq,quill,zymu,opensesam,astrol}'::text[]) typed,
    LATERAL docsearch.explain_search(typed, 'open/map', 'museum') e WHERE e.rule = 'original';
SELECT typed, s.suggestion FROM unnest('{xylo,marq,quill,zymu,opensesam,astrol}'::text[]) typed,
    LATERAL docsearch.suggest(typed, 'museum') s WHERE s.slug IS NULL;
-- Hidden words take no place in an expansion: three hidden words are nearer than the visible one.
SELECT e.matched FROM docsearch.explain_search('cloak', 'open/hours', 'museum') e WHERE e.rule = 'original';
-- A word of hidden documents is as unknown as one that does not occur.
SELECT count(DISTINCT docsearch.grade_features('museum ' || word, 'museum') -> 'unknown') AS kinds
FROM unnest('{xylotheque,opensesame4711,quillfeather,opensesame4712,nobodywrotethis}'::text[]) word;
SELECT count(DISTINCT docsearch.grade_features('museum ' || word, 'museum') -> 'unknown') AS kinds FROM unnest('{xylotheque,clocks}'::text[]) word;
SELECT count(DISTINCT s.keyword_score) AS scores, count(DISTINCT s.score) AS all_scores
FROM unnest('{opensesame4711,opensesame4712,4711,4712,xylotheque}'::text[]) word,
     LATERAL search_docs('museum ' || word, 'museum', config => '{"hybrid_weight": 0}') s WHERE s.slug = 'open/hours';
RESET ROLE;

-- Every answer is the one that would be given without the hidden documents.
CREATE TEMP TABLE asked AS SELECT * FROM unnest(ARRAY[
    'museum', 'the museum opens at nine', 'opens at nine for donors', 'lanter', 'cloak', 'xylotheque cabinet', 'zymu', 'tickets', 'clocks',
    'hidden_ledger', 'quillfeather', 'Quillfether', 'salaries', 'floor', 'what does a ticket cost?', 'guided tour', 'opensesame4711', 'vault in closed']) AS query;
CREATE TEMP TABLE answer (hidden bool, query text, of text, answer jsonb);
GRANT ALL ON asked, answer TO docsearch_guest;
CREATE PROCEDURE pg_temp.ask(hidden bool) LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO answer SELECT hidden, query, 'search', search_docs_json(query, 'museum', config => '{"grade": true, "transform": "rules"}') - 'timings' FROM asked;
    INSERT INTO answer SELECT hidden, query, 'keywords', search_docs_json(query, 'museum', config => '{"hybrid_weight": 0}') - 'timings' FROM asked;
    INSERT INTO answer SELECT hidden, query, 'features', docsearch.grade_features(query, 'museum') FROM asked;
    INSERT INTO answer SELECT hidden, query, 'transform', docsearch.transform_query(query, 'museum', '2026-01-01') FROM asked;
    INSERT INTO answer SELECT hidden, query, 'prompt', to_jsonb(docsearch.answer_prompt(query, 'museum')) FROM asked;
    INSERT INTO answer SELECT hidden, query, 'refined', docsearch.search_refined(query, 'museum') -> 'results' FROM asked;
    INSERT INTO answer SELECT hidden, query, 'suggest', coalesce((SELECT jsonb_agg(s) FROM docsearch.suggest(query, 'museum') s), '[]') FROM asked;
    INSERT INTO answer SELECT hidden, query, 'explain', (SELECT jsonb_agg(e) FROM docsearch.explain_search(query, 'open/hours', 'museum') e) FROM asked;
    INSERT INTO answer SELECT hidden, query, 'filtered', search_docs_json(query, 'museum', category => 'open') - 'timings' FROM asked;
    INSERT INTO answer SELECT hidden, NULL, 'progress', to_jsonb(p) FROM docsearch.index_progress('museum') p;
    INSERT INTO answer SELECT hidden, NULL, 'invariants', jsonb_agg(i) FROM docsearch.verify_invariants('museum') i;
    INSERT INTO answer SELECT hidden, query, 'text', to_jsonb(t) FROM asked, docsearch.search_answer(query, 'museum') t;
    INSERT INTO answer SELECT hidden, NULL, 'list', list_docs_json('museum');
    INSERT INTO answer SELECT hidden, NULL, 'part', list_docs_json('museum', max_tokens => 150, skip => 1);
    INSERT INTO answer SELECT hidden, NULL, 'load', load_doc_json('open/hours', project => 'museum');
END $$;
SET ROLE docsearch_guest;
CALL pg_temp.ask(true);
RESET ROLE;
SELECT count(*) FILTER (WHERE answer::text ~* 'xylotheque|marquetry|zymurgy|lantern(ing|ist|jaw|fly|ry)|donors' AND NOT query ~* 'xylo|donors') AS tell_hidden_words FROM answer;
SELECT docsearch.delete_doc('museum', slug) FROM docsearch.document d JOIN docsearch.project p ON p.id = d.project_id WHERE p.name = 'museum' AND category = 'closed';
SET ROLE docsearch_guest;
CALL pg_temp.ask(false);
RESET ROLE;
SELECT of, query, a.answer AS with_hidden, b.answer AS without FROM answer a JOIN answer b USING (of, query)
WHERE a.hidden AND NOT b.hidden AND a.answer IS DISTINCT FROM b.answer;
SELECT of, count(*) FILTER (WHERE hidden) AS asked, count(*) FILTER (WHERE NOT hidden) AS again FROM answer GROUP BY of ORDER BY of;

-- If there are more documents than are listed, words in few sections are counted exactly.
SELECT count(*) FROM docsearch.index_docs('museum', (
    SELECT jsonb_agg(jsonb_build_object('slug', 'open/' || n, 'title', 'Exhibit ' || n, 'category', 'open', 'body', 'Shelf ' || n)) FROM generate_series(1, 1000) n));
SELECT count(*) FROM docsearch.index_docs('museum', (
    SELECT jsonb_agg(jsonb_build_object('slug', 'closed/' || n, 'title', 'Crate ' || n, 'category', 'closed', 'body', 'Secret lanternfish opensesame4711')) FROM generate_series(1, 20) n));
SET ROLE docsearch_guest;
SELECT count(*) > 1000 AS too_many_to_list FROM list_docs('museum');
SELECT typed, e.matched FROM unnest('{crat,opensesam,astrol,lanter}'::text[]) typed,
    LATERAL docsearch.explain_search(typed, 'open/map', 'museum') e WHERE e.rule = 'original';
SELECT typed, s.suggestion FROM unnest('{crat,opensesam,astrol}'::text[]) typed, LATERAL docsearch.suggest(typed, 'museum') s WHERE s.slug IS NULL;
SELECT count(DISTINCT docsearch.grade_features('museum ' || word, 'museum') -> 'unknown') AS kinds FROM unnest('{opensesame4711,opensesame4712}'::text[]) word;
SELECT count(DISTINCT s.keyword_score) AS scores FROM unnest('{opensesame4711,opensesame4712}'::text[]) word,
    LATERAL search_docs('museum ' || word, 'museum', config => '{"hybrid_weight": 0}') s WHERE s.slug = 'open/hours';
SELECT slug FROM search_docs('astrolabes and clocks', 'museum', max_results => 1);
SELECT done, waiting, failed FROM docsearch.index_progress('museum');
RESET ROLE;
SELECT done FROM docsearch.index_progress('museum');

-- Keywords of a writer's own document do not reveal which of its words others have used.
SET ROLE docsearch_editor;
SELECT docsearch.index_doc('museum', 'open/probe', 'Probe', 'opensesame4711 aaaprobe bbbprobe cccprobe dddprobe eeeprobe fffprobe gggprobe hhhprobe iiiprobe jjjprobe kkkprobe lllprobe', category => 'open');
SELECT docsearch.index_doc('museum', 'open/probe2', 'Probe', 'opensesame4712 aaaprobe bbbprobe cccprobe dddprobe eeeprobe fffprobe gggprobe hhhprobe iiiprobe jjjprobe kkkprobe lllprobe', category => 'open');
SELECT (SELECT 'opensesame4711' = ANY (keywords) FROM docsearch.document WHERE slug = 'open/probe')
     = (SELECT 'opensesame4712' = ANY (keywords) FROM docsearch.document WHERE slug = 'open/probe2') AS the_same;
SELECT docsearch.delete_doc('museum', slug) FROM unnest('{open/probe,open/probe2}'::text[]) slug;

-- A caller cannot change anything of hidden documents.
SELECT docsearch.drop_project('museum');
SELECT docsearch.set_model('museum', 'all-MiniLM-L6-v2');
RESET ROLE;
SELECT docsearch.index_doc('museum', 'open/site', 'Site', 'Site', category => 'open', source_root => 'site'),
       docsearch.index_doc('museum', 'closed/site', 'Site', 'Site', category => 'closed', source_root => 'site');
SET ROLE docsearch_editor;
SELECT docsearch.delete_missing('museum', 'site', '{}');
RESET ROLE;
SELECT docsearch.delete_doc('museum', 'closed/site') AS was_kept;
SELECT count(*) FROM list_docs('museum') WHERE category = 'closed';
-- Nor of documents that the caller may see but not delete.
SELECT docsearch.create_project('annex') > 0 AS created;
SELECT docsearch.index_doc('annex', 'a', 'A', 'A', category => 'kept'), docsearch.index_doc('annex', 'b', 'B', 'B');
CREATE POLICY keepers ON docsearch.document AS RESTRICTIVE FOR DELETE TO docsearch_editor USING (category IS DISTINCT FROM 'kept');
SET ROLE docsearch_editor;
SELECT docsearch.drop_project('annex');
RESET ROLE;
SELECT slug FROM list_docs('annex');
DROP POLICY keepers ON docsearch.document;
SET ROLE docsearch_editor;
SELECT docsearch.set_model('annex', 'all-MiniLM-L6-v2');
SELECT docsearch.drop_project('annex');
RESET ROLE;

-- Progress of indexing: of visible documents, with errors of the caller's own.
INSERT INTO docsearch.embedding_queue (project_id, document_id, attempts, next_attempt, error)
SELECT d.project_id, d.id, 9, 'infinity', 'failed: ' || d.slug FROM docsearch.document d WHERE d.slug IN ('closed/1', 'closed/2');
CREATE TABLE ledger (id int PRIMARY KEY, title text, body text);
INSERT INTO docsearch.attached_table (project_id, source, source_root, slug_prefix, key_column, body_column, loading, error, next_attempt, reads_as, writes_as)
SELECT id, 'ledger', 'table:public.ledger', 'closed/', 'id', 'body', false, 'closed/quillfeather: cannot be indexed', 'infinity', current_user::regrole, current_user::regrole FROM docsearch.project WHERE name = 'museum';
INSERT INTO docsearch.table_change (attached_id, key) SELECT id, 'quillfeather' FROM docsearch.attached_table WHERE source = 'ledger'::regclass;
SELECT failed, unread, last_error FROM docsearch.index_progress('museum');
SET ROLE docsearch_guest;
SELECT failed, unread, last_error FROM docsearch.index_progress('museum');
RESET ROLE;
INSERT INTO docsearch.embedding_queue (project_id, document_id, attempts, next_attempt, error)
SELECT d.project_id, d.id, 9, 'infinity', 'failed: ' || d.slug FROM docsearch.document d WHERE d.slug = 'open/map';
SET ROLE docsearch_guest;
SELECT failed, unread, last_error FROM docsearch.index_progress('museum');
RESET ROLE;
DELETE FROM docsearch.embedding_queue;
-- The owner of a table sees its errors.
ALTER TABLE ledger OWNER TO docsearch_guest;
SET ROLE docsearch_guest;
SELECT failed, unread, last_error FROM docsearch.index_progress('museum');
RESET ROLE;
DELETE FROM docsearch.attached_table WHERE source = 'ledger'::regclass;
DROP TABLE ledger;

-- A remote model needs a privilege of its own: documents are sent to it, hidden ones too.
INSERT INTO docsearch.model (name, dimension, max_tokens, digest, background, remote) VALUES ('far', 384, 128, 'far', 0.1, true);
SET ROLE docsearch_editor;
SELECT docsearch.create_project('sent', model => 'far');
SET docsearch.default_model = 'far';
SELECT docsearch.create_project('sent');
RESET docsearch.default_model;
SELECT docsearch.create_project('own') > 0 AS created;
SELECT docsearch.set_model('own', 'far');
UPDATE docsearch.project SET model_id = (SELECT id FROM docsearch.model WHERE name = 'far') WHERE name = 'own';
UPDATE docsearch.project SET next_model_id = (SELECT id FROM docsearch.model WHERE name = 'far') WHERE name = 'own';
SELECT docsearch.grant_model('docsearch_editor', 'far');
RESET ROLE;
SELECT docsearch.grant_model('docsearch_editor', 'all-MiniLM-L6-v2');
SELECT docsearch.grant_model('docsearch_editor', 'nearer');
SELECT docsearch.grant_model('docsearch_nobody', 'far');
SELECT docsearch.grant_model('docsearch_editor', 'far');
SET ROLE docsearch_editor;
SELECT docsearch.create_project('sent', model => 'far') > 0 AS created;
RESET ROLE;
SELECT docsearch.revoke_model('docsearch_editor', 'far');
SET ROLE docsearch_editor;
SELECT docsearch.create_project('sent2', model => 'far');
-- A project keeps its model.
UPDATE docsearch.project SET title = 'Sent' WHERE name = 'sent';
RESET ROLE;
SELECT docsearch.drop_project('sent'), docsearch.drop_project('own');
DO $$ BEGIN EXECUTE (SELECT format('DROP TABLE docsearch.vector_%s', id) FROM docsearch.model WHERE name = 'far'); END $$;
DELETE FROM docsearch.model WHERE name = 'far';

-- A project that cannot be searched is left out, with a notice, and does not fail the search of the others.
CREATE SCHEMA attic;
CREATE TEXT SEARCH CONFIGURATION attic.old (COPY = docsearch.english);
SELECT docsearch.create_project('attic', text_config => 'attic.old');
GRANT USAGE ON SCHEMA attic TO PUBLIC;
SELECT docsearch.create_project('attic', text_config => 'attic.old') > 0 AS created;
SELECT docsearch.index_doc('attic', 'trunk', 'Trunk', 'A trunk with astrolabes.');
SET ROLE docsearch_guest;
SELECT slug, notice FROM search_docs('trunk', max_results => 1);
RESET ROLE;
REVOKE USAGE ON SCHEMA attic FROM PUBLIC;
SET ROLE docsearch_guest;
SELECT slug, notice ~ 'project_left_out: .*"attic"' AS noticed FROM search_docs('astrolabes', max_results => 1);
SELECT search_docs_json('astrolabes') -> 'notices' -> 0;
SELECT count(*) FROM docsearch.suggest('astrol');
SELECT * FROM search_docs('trunk', 'attic');
SELECT count(*) FROM docsearch.index_progress();
RESET ROLE;
BEGIN;
ALTER TABLE docsearch.project DISABLE TRIGGER USER;
DO $$ DECLARE c text; BEGIN
    FOR c IN SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) FROM pg_constraint
             WHERE conrelid IN ('docsearch.project'::regclass, 'docsearch.document'::regclass) AND contype = 'c' LOOP EXECUTE c; END LOOP;
END $$;
UPDATE docsearch.project SET text_config = 'nonsense; select 1' WHERE name = 'attic';
SELECT slug, notice ~ 'project_left_out' AS noticed FROM search_docs('astrolabes', max_results => 1);
SELECT slug FROM search_docs('trunk', 'museum', max_results => 1);
SAVEPOINT named;
SELECT * FROM search_docs('trunk', 'attic');
ROLLBACK TO named;
ROLLBACK;
SELECT docsearch.drop_project('attic');
DROP SCHEMA attic CASCADE;

-- Unexpected but valid rows do not make readers fail.
SELECT docsearch.create_project('odd', settings => '{"vectors": "document"}') > 0 AS created;
SELECT docsearch.index_doc('odd', 'kit/page', 'Page', 'A page of the kit.', category => 'kit', metadata => '{"framework": "Kit"}', published_at => '2025-01-01');
CREATE PROCEDURE pg_temp.read_all() LANGUAGE plpgsql AS $$
DECLARE
    reader text;
BEGIN
    FOREACH reader IN ARRAY ARRAY[
        'SELECT slug FROM search_docs(''page'', ''odd'')', 'SELECT slug FROM search_docs(''page in Kit'', ''odd'')',
        'SELECT slug FROM search_docs(''latest page'', ''odd'')', 'SELECT slug FROM search_docs(''page for linux'', ''odd'')',
        'SELECT search_docs_json(''page'', ''odd'', config => ''{"grade": true, "transform": "rules"}'')',
        'SELECT search_docs_text(''page'', ''odd'', format => ''detailed'')',
        'SELECT slug FROM search_docs(''page'', ''odd'', filter => ''{"framework": "Kit"}'')',
        'SELECT load_doc(''kit/page'', project => ''odd'')', 'SELECT error FROM load_docs(''{kit/page}'', project => ''odd'') WHERE error IS NOT NULL',
        'SELECT load_doc_json(''kit/page'', project => ''odd'')', 'SELECT content FROM docsearch.search_answer(''page'', ''odd'')',
        'SELECT slug FROM list_docs(''odd'', sort_by => ''date'')', 'SELECT list_docs_json(''odd'')',
        'SELECT slug FROM list_docs(''odd'', max_tokens => 50)', 'SELECT list_docs_json(''odd'', max_tokens => 50)',
        'SELECT rule FROM docsearch.explain_search(''page in Kit'', ''kit/page'', ''odd'')',
        'SELECT docsearch.search_refined(''page'', ''odd'')', 'SELECT docsearch.answer_prompt(''page'', ''odd'')',
        'SELECT docsearch.transform_query(''what is new'', ''odd'')', 'SELECT docsearch.transform_query(''page'', ''odd'')',
        'SELECT form FROM docsearch.verify_invariants(''odd'')', 'SELECT suggestion FROM docsearch.suggest(''pag'', ''odd'')',
        'SELECT context FROM docsearch.grade_input(''page'', ''odd'')', 'SELECT done FROM docsearch.index_progress(''odd'')',
        'SELECT problem FROM docsearch.check(''odd'')']
    LOOP
        BEGIN
            EXECUTE reader;
        EXCEPTION WHEN OTHERS THEN
            RAISE NOTICE '%: % %', reader, SQLSTATE, SQLERRM;
        END;
    END LOOP;
END $$;
CALL pg_temp.read_all();
BEGIN;
ALTER TABLE docsearch.document DISABLE TRIGGER USER;
DO $$ DECLARE c text; BEGIN
    FOR c IN SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) FROM pg_constraint
             WHERE conrelid = 'docsearch.document'::regclass AND contype = 'c' LOOP EXECUTE c; END LOOP;
END $$;
UPDATE docsearch.document SET updated_at = 'infinity', published_at = NULL WHERE slug = 'kit/page';
CALL pg_temp.read_all();
SELECT updated_at FROM list_docs('odd');
UPDATE docsearch.document SET updated_at = '-infinity', published_at = 'infinity' WHERE slug = 'kit/page';
CALL pg_temp.read_all();
UPDATE docsearch.document SET updated_at = now(), metadata = ('{"framework": "Kit", "deep": ' || repeat('[', 200) || repeat(']', 200) || '}')::jsonb WHERE slug = 'kit/page';
CALL pg_temp.read_all();
UPDATE docsearch.document SET metadata = '{"framework": "Kit", "large": 1e400}' WHERE slug = 'kit/page';
CALL pg_temp.read_all();
UPDATE docsearch.document SET metadata = '{"aliases": [null, "Leaf", {"a": 1}]}', keywords = '{NULL,kit,NULL}', source_urls = '{NULL,https://example.com/a}' WHERE slug = 'kit/page';
CALL pg_temp.read_all();
UPDATE docsearch.document SET keywords = '{{a,b},{c,NULL}}', source_urls = '[5:6]={x,NULL}' WHERE slug = 'kit/page';
CALL pg_temp.read_all();
UPDATE docsearch.document SET title = '', summary = '', chunk_count = -5, term_count = -7, category = '//', version = '', kind = '' WHERE slug = 'kit/page';
CALL pg_temp.read_all();
-- A model without vectors: searches continue with keywords.
UPDATE docsearch.document SET title = 'Page' WHERE slug = 'kit/page';
INSERT INTO docsearch.model (name, dimension, max_tokens, digest, background) VALUES ('bare', 384, 128, 'bare', 0.1);
UPDATE docsearch.project SET model_id = (SELECT id FROM docsearch.model WHERE name = 'bare') WHERE name = 'odd';
SELECT slug, notice ~ 'vector_unavailable' AS noticed FROM search_docs('page of the kit', 'odd', dedup => 'similar');
ROLLBACK;
SELECT docsearch.drop_project('odd');

-- Counters do not show queries of others, and callers cannot raise the cost.
SET ROLE docsearch_guest;
SELECT requests, batches, cache_hits, transform_hits, grade_hits, p50_ms, p95_ms FROM docsearch.status();
SET docsearch.llm_max_calls = 20;
SET docsearch.llm_transform_max_tokens = 32768;
SET docsearch.llm_grade_max_tokens = 1;
SELECT search_docs('page', config => '{"llm_max_calls": 20}');
RESET ROLE;
SELECT requests IS NOT NULL AS counted FROM docsearch.status();

-- Addresses with credentials are refused.
SET docsearch.llm_url = 'https://joe:pass@llm.example/v1';
SET docsearch.llm_url = 'https://llm.example/v1';
RESET docsearch.llm_url;
SELECT docsearch.add_remote_model('far', 'https://key@embed.example/v1', 'm');

-- Errors do not repeat long arguments in full.
SET client_min_messages = error;
CREATE FUNCTION pg_temp.refused(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    hint text;
BEGIN
    EXECUTE statement;
    RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
    RETURN format('%s %s', SQLSTATE, CASE WHEN length(SQLERRM) > 2000 OR length(hint) > 2000 THEN length(SQLERRM || hint)::text ELSE left(SQLERRM, 20) || ' ... ' || right(SQLERRM, 25) END);
END $$;
SELECT call, pg_temp.refused(format(call, repeat('x', 1000000))) FROM unnest(ARRAY[
    'SELECT load_doc(%L)', 'SELECT load_doc_json(%L)', 'SELECT load_doc_json(''open/map'', section => %L, project => ''museum'')',
    'SELECT search_docs(''a'', project => %L)', 'SELECT search_docs(''a'', dedup => %L)',
    'SELECT search_docs(''a'', config => jsonb_build_object(%L, 1))', 'SELECT search_docs(''a'', config => jsonb_build_object(''format'', %L))',
    'SELECT search_docs(''a'', filter => jsonb_build_object(''after'', %L))', 'SELECT search_docs_text(''a'', format => %L)',
    'SELECT list_docs(sort_by => %L)', 'SELECT docsearch.create_project(%L)', 'SELECT docsearch.create_project(''a'', model => %L)',
    'SELECT docsearch.create_project(''a'', settings => jsonb_build_object(%L, %1$L))', 'SELECT docsearch.embed(''a'', %L)',
    'SELECT docsearch.index_doc(''museum'', %L, ''a'', ''a'')', 'SELECT docsearch.answer_prompt(''a'', language => %L)',
    'SELECT load_doc(''open/map'', section => %L, project => ''museum'')', 'SELECT docsearch.drop_project(%L)',
    'SELECT docsearch.set_model(''museum'', %L)', 'SELECT docsearch.grant_model(''a'', %L)', 'SELECT docsearch.grant_usage(%L)']) call;
SELECT max(length(detail)) <= 2000 AS short FROM docsearch.index_docs('museum', jsonb_build_array(jsonb_build_object('slug', 'a', repeat('x', 1000000), 1)));
SELECT length(error) <= 4000 AS short FROM load_docs(ARRAY[repeat('x', 1000000)]);
RESET client_min_messages;

DROP POLICY visitors ON docsearch.document;
ALTER TABLE docsearch.document DISABLE ROW LEVEL SECURITY;
SELECT docsearch.drop_project('museum');
DROP OWNED BY docsearch_guest, docsearch_editor;
DROP ROLE docsearch_guest, docsearch_editor;

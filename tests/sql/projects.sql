-- Several projects in one call, by names and patterns.
-- Those of other files.
DO $$ BEGIN PERFORM docsearch.drop_project(name) FROM docsearch.project; END $$;
SELECT docsearch.create_project(name) > 0 AS created FROM unnest('{board-1,board-2,Board-X,ledger,vault}'::text[]) name;
SELECT project, count(*) FROM unnest('{board-1,board-2,Board-X,ledger,vault}'::text[]) project, generate_series(1, 3) n,
    LATERAL docsearch.index_doc(project, 'pins/' || n, 'Pin ' || n || ' of ' || project,
        'Solder the pin ' || n || ' to the rail. A multimeter shows whether current flows through ' || project || '.',
        category => CASE WHEN n = 3 THEN 'rare' ELSE 'pins' END, metadata => jsonb_build_object('level', n))
GROUP BY project ORDER BY project;
CREATE FUNCTION pg_temp.projects(project text DEFAULT NULL, projects text[] DEFAULT NULL, filter jsonb DEFAULT NULL) RETURNS text[] LANGUAGE sql AS $$
    SELECT array_agg(DISTINCT s.project ORDER BY s.project)
    FROM search_docs('solder a pin', project, projects => projects, filter => filter, max_results => 100) s $$;

-- Names in any case if none is exact, patterns in any case.
SELECT given, pg_temp.projects(projects => given) FROM (VALUES ('{ledger}'::text[]), ('{LEDGER,vault,ledger}'), ('{board-*}'), ('{*-1,*-x}'), ('{*}')) g(given);
SELECT given, pg_temp.projects(given) FROM unnest('{ledger,Ledger,board-*,*ar*2}'::text[]) given;
SELECT docsearch.create_project('Ledger') > 0 AS created;
SELECT FROM docsearch.index_doc('Ledger', 'pins/1', 'Pin 1 of Ledger', 'Solder the pin 1 to the rail.');
SELECT given, pg_temp.projects(given) FROM unnest('{ledger,Ledger,LEDGER}'::text[]) given;
SELECT docsearch.drop_project('Ledger') IS NOT NULL AS dropped;

-- Errors name what the caller sees, the nearest first.
DO $$
DECLARE call text; state text; problem text; hint text;
BEGIN
    FOREACH call IN ARRAY ARRAY[
        $c$SELECT FROM search_docs('pin', 'ledgr')$c$, $c$SELECT FROM search_docs('pin', projects => '{ledger,bord-1}')$c$,
        $c$SELECT FROM search_docs('pin', 'ledger-*')$c$, $c$SELECT search_docs_json('pin', projects => '{}')$c$,
        $c$SELECT search_docs_text('pin', projects => '{ledger,NULL}')$c$, $c$SELECT FROM docsearch.search_answer('pin', 'ledger', projects => '{vault}')$c$,
        $c$SELECT FROM search_docs('pin', projects => array_fill('ledger'::text, '{1001}'))$c$, $c$SELECT FROM search_docs('pin', repeat('*', 2000))$c$,
        $c$SELECT FROM docsearch.suggest('pin', projects => '{none}')$c$, $c$SELECT FROM list_docs(projects => '{none-*}')$c$,
        $c$SELECT FROM docsearch.explain_search('pin', 'pins/1', projects => '{board-1,board-2}')$c$,
        $c$SELECT FROM docsearch.explain_search('pin', 'pins/1', projects => '{none}')$c$,
        $c$SELECT FROM docsearch.drop_project('LEDGER')$c$]
    LOOP
        BEGIN
            EXECUTE call;
            RAISE EXCEPTION 'no error: %', call;
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, problem = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
            RAISE INFO E'%\n  % %\n  %', call, state, problem, hint;
        END;
    END LOOP;
END $$;

-- However one project is chosen, the answer is the same.
CREATE FUNCTION pg_temp.answer(query text, project text DEFAULT NULL, projects text[] DEFAULT NULL, filter jsonb DEFAULT NULL, category text DEFAULT NULL) RETURNS jsonb LANGUAGE sql AS $$
    SELECT search_docs_json(query, project, category, filter, projects => projects, config => '{"grade": true}') - 'timings' $$;
SELECT query, count(DISTINCT answer) AS answers FROM unnest('{pin,solder a pin to the rail,pin 2 of board-1,pni,multimeter -rail,nothing of this}'::text[]) query,
    LATERAL (VALUES (pg_temp.answer(query, 'board-1')), (pg_temp.answer(query, 'BOARD-1')), (pg_temp.answer(query, '*-1')), (pg_temp.answer(query, projects => '{board-1}')),
        (pg_temp.answer(query, projects => '{board-1,b*1,Board-1}')), (pg_temp.answer(query, filter => '{"project": "Board-1"}')),
        (pg_temp.answer(query, projects => '{ledger,board-1}', filter => '{"project": {"not": "ledger"}}'))) a(answer)
GROUP BY query ORDER BY query;
-- Several projects rank as a search over all without the documents of the others.
SELECT query, array_agg(DISTINCT alone = among) AS same
FROM unnest('{pin,solder a pin to the rail,Pin 2,current}'::text[]) query, unnest(ARRAY['{board-1,ledger}', '{board-*}', '{Board-X,vault,ledger}']::text[][]) given,
    LATERAL (SELECT jsonb_agg(jsonb_build_array(s.project, slug, score, section, snippet) ORDER BY rank) AS alone FROM search_docs(query, projects => given::text[], max_results => 100) s) a,
    LATERAL (SELECT jsonb_agg(jsonb_build_array(s.project, slug, score, section, snippet) ORDER BY rank) AS among FROM search_docs(query, max_results => 100) s
             WHERE s.project ILIKE ANY (SELECT replace(e, '*', '%') FROM unnest(given::text[]) e)) b
GROUP BY query ORDER BY query;

-- Filters know the project.
SELECT filter, pg_temp.projects(filter => filter) FROM (VALUES ('{"project": "LEDGER"}'::jsonb), ('{"project": ["ledger", "vault"]}'), ('{"project": {"not": ["ledger", "vault"]}}'),
    ('{"project": {"from": "l", "to": "m"}}'), ('{"project": {"not": "ledger"}, "level": 3}'), ('{"project": {"not": {"not": "vault"}}}')) f(filter);
-- A filter that leaves no project is the reason, with what exists among those of the call.
SELECT slug FROM search_docs('pin', filter => '{"project": "none"}');
SELECT slug FROM search_docs('pin', projects => '{board-*}', category => 'pins', filter => '{"project": "ledger", "level": 1}');
SELECT slug FROM search_docs('pin', filter => '{"project": {"like": "b"}}');
-- explain_search finds the document in the projects of the call.
SELECT after FROM docsearch.explain_search('Pin 3', 'pins/3', projects => '{ledger}') ORDER BY after DESC LIMIT 1;
SELECT * FROM docsearch.explain_search('Pin 3', 'ledger/pins/3', filter => '{"project": "vault"}');

-- So do the other functions that search or list.
SELECT DISTINCT project FROM list_docs(projects => '{VAULT,board-*}') ORDER BY project;
SELECT list_docs_json('LEDGER') -> 'total_documents' AS documents, list_docs_json(projects => '{ledger,vault}') -> 'total_documents' AS of_two;
SELECT suggestion FROM docsearch.suggest('Pin 1 of', projects => '{ledger,vault}') ORDER BY suggestion;
SELECT docsearch.grade_results('pin', projects => '{ledger,board-1}') ? 'relevance' AS graded,
    docsearch.search_refined('pin', projects => '{ledger}') #>> '{results,0,project}' AS refined,
    docsearch.transform_query('pin', projects => '{ledger}') ->> 'transformed' AS transformed,
    docsearch.answer_prompt('solder a pin', projects => '{ledger}') LIKE '%through ledger%' AS prompted;

-- A project that policies hide neither counts nor is named.
CREATE ROLE docsearch_visitor;
SELECT docsearch.grant_usage('docsearch_visitor');
ALTER TABLE docsearch.project ENABLE ROW LEVEL SECURITY;
CREATE POLICY open ON docsearch.project TO docsearch_visitor USING (name <> 'vault');
SET ROLE docsearch_visitor;
SELECT pg_temp.projects(projects => '{*}');
SELECT slug FROM search_docs('pin', 'vault');
SELECT slug FROM search_docs('pin', 'VAU*');
SELECT slug FROM search_docs('pin', projects => '{ledger,vault}');
SELECT slug FROM search_docs('pin', filter => '{"project": "vault"}');
RESET ROLE;
DROP POLICY open ON docsearch.project;
ALTER TABLE docsearch.project DISABLE ROW LEVEL SECURITY;
SELECT docsearch.revoke_usage('docsearch_visitor');
DROP ROLE docsearch_visitor;
SELECT count(docsearch.drop_project(name)) FROM unnest('{board-1,board-2,Board-X,ledger,vault}'::text[]) name;

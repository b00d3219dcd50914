-- The task of an assistant as a unit of evaluation.
-- Runs are numbered from 1, whatever ran before.
SET client_min_messages = warning;
TRUNCATE docsearch.evaluation_run, docsearch.judgment_set RESTART IDENTITY CASCADE;
RESET client_min_messages;
SELECT docsearch.create_project('kiln') > 0 AS created;
SELECT count(*) FROM docsearch.index_docs('kiln', replace(replace('[
  {"slug": "shelf", "title": "Shelf", "body": "# Shelf\n\nA plate that holds pots."},
  {"slug": "cone", "title": "Cone", "body": "# Cone\n\nA pyramid that bends at a known heat."},
  {"slug": "firing", "title": "Firing", "body": "# Firing\n\nWhat firing is.%\n\n## Cooling\n\nOpen the kiln when it is cold.%\n\n## Loading\n\nPut the pots on shelves.%"},
  {"slug": "slab", "title": "Slab", "body": "# Slab\n\nA flat piece of clay.&"}
]', '%', repeat(' Clay turns to stone, slowly.', 60)), '&', repeat(' It is rolled out.', 40))::jsonb);
SELECT * FROM docsearch.import_judgments('tasks', $$
{"_id": "1", "text": "Shelf", "metadata": {"group": "name"}}
{"_id": "2", "text": "when may I open the kiln?", "metadata": {"group": "question"}}
{"_id": "3", "text": "zzyzx quux", "metadata": {"group": "nothing", "unanswerable": true}}
{"_id": "4", "text": "xyzzy", "metadata": {"group": "question", "also": ["plugh", "Cone"]}}
{"_id": "5", "text": "never judged"}
$$, E'1\tshelf\t1\n2\tfiring#cooling\t1\n4\tcone\t1\n5\tslab\t0');
SELECT content FROM docsearch.export_judgments('tasks') WHERE file = 'queries.jsonl';

SELECT run, tasks, unanswerable, found, mean_tokens > 0 AS tokens, median_tokens > 0 AS median, mean_calls,
       shown_twice > 0 AS shown_twice, rightly_low, round(wrongly_low::numeric, 4) AS wrongly_low
FROM docsearch.evaluate_tasks('tasks', 'kiln', label => 'first');
SELECT query_id, query_group, answerable, found, tokens > 0 AS tokens, calls, low_confidence FROM docsearch.evaluate_tasks_detail(1);
-- Every call is there with what it cost, and nothing is left out or counted twice.
SELECT query_id, step ->> 'call' AS call, step ->> 'wording' AS wording, step ->> 'reference' AS reference, step ->> 'right' AS right
FROM docsearch.evaluate_tasks_detail(1), jsonb_array_elements(trace) WITH ORDINALITY s(step, number) ORDER BY query_id, number;
SELECT bool_and(d.calls = jsonb_array_length(d.trace)
                AND d.tokens = (SELECT sum((step ->> 'tokens')::int) FROM jsonb_array_elements(d.trace) step)
                AND d.shown = (SELECT count(*) FROM jsonb_path_query(d.trace, '$[*].results[*]'))
                AND d.shown - d.shown_twice = (SELECT count(DISTINCT r) FROM jsonb_path_query(d.trace, '$[*].results[*]') r)) AS adds_up
FROM docsearch.evaluate_tasks_detail(1) d;
-- A step costs what the call returns.
SELECT bool_and((step ->> 'tokens')::int = ceil(length(search_docs_text('Shelf', project => 'kiln', max_tokens => 2000, config => '{"syntax": "mcp"}')) / 4.0)) AS search,
       (SELECT bool_and((step ->> 'tokens')::int = ceil(length(load_doc(step ->> 'reference', max_tokens => 6000)) / 4.0))
        FROM docsearch.evaluate_tasks_detail(1), jsonb_array_elements(trace) step WHERE step ->> 'call' = 'load') AS load
FROM docsearch.evaluate_tasks_detail(1), jsonb_array_elements(trace) step WHERE query_id = '1' AND step ->> 'call' = 'search';

-- Two runs are compared; a run of queries is another thing.
SELECT run, round(found::numeric, 4) AS found FROM docsearch.evaluate_tasks('tasks', 'kiln', config => '{"format": "detailed", "max_results": 2}', max_calls => 2);
SELECT measure, queries, second - first = difference AS difference, better, worse FROM docsearch.compare(1, 2) WHERE query_group = 'overall';
SELECT run, queries FROM docsearch.evaluate('tasks', 'kiln');
SELECT * FROM docsearch.compare(1, 3);
SELECT * FROM docsearch.evaluate_detail(1);
SELECT * FROM docsearch.evaluate_tasks_detail(3);
SELECT * FROM docsearch.regressions(3);
-- Over all projects.
SELECT docsearch.judge('everywhere', 'Shelf', 'kiln/shelf') IS NOT NULL AS judged, docsearch.judge('everywhere', 'quux', NULL) IS NOT NULL AS unanswerable;
SELECT tasks, unanswerable, found FROM docsearch.evaluate_tasks('everywhere');
-- Evaluation of queries leaves out what nothing answers.
SELECT queries FROM docsearch.evaluate('everywhere');

-- Roles need the right, and see their own runs.
CREATE ROLE task_a;
CREATE ROLE task_b;
SELECT docsearch.grant_usage('task_a');
SET ROLE task_a;
SELECT * FROM docsearch.evaluate_tasks(NULL, 'kiln');
SELECT * FROM docsearch.evaluate_tasks_detail(NULL);
SELECT docsearch.judge(NULL, NULL, NULL);
RESET ROLE;
SELECT docsearch.grant_evaluation('task_a'), docsearch.grant_evaluation('task_b');
SET ROLE task_a;
SELECT run, tasks FROM docsearch.evaluate_tasks('tasks', 'kiln');
SET ROLE task_b;
SELECT count(*) FROM docsearch.evaluation_task;
SELECT * FROM docsearch.evaluate_tasks_detail(6);
RESET ROLE;

-- Mistakes.
SELECT * FROM docsearch.evaluate_tasks(NULL);
SELECT * FROM docsearch.evaluate_tasks('nones', 'kiln');
SELECT * FROM docsearch.evaluate_tasks('tasks', 'kiln', max_calls => 0);
SELECT * FROM docsearch.evaluate_tasks('tasks', 'kiln', max_calls => 21);
SELECT * FROM docsearch.evaluate_tasks('tasks', 'kiln', config => '{"hybrid": 1}');
SELECT * FROM docsearch.evaluate_tasks('tasks', 'kiln', config => '[]');
SELECT * FROM docsearch.evaluate_tasks_detail(NULL);
SELECT docsearch.judge('tasks', NULL, 'shelf');
SELECT docsearch.judge('unanswered', 'a', 'shelf', 0) IS NOT NULL AS judged;
SELECT * FROM docsearch.evaluate_tasks('unanswered', 'kiln');
BEGIN READ ONLY;
SELECT run FROM docsearch.evaluate_tasks('tasks', 'kiln');
ROLLBACK;
SELECT docsearch.drop_judgments(name) FROM docsearch.judgment_set;
TRUNCATE docsearch.evaluation_run CASCADE;
DROP OWNED BY task_a, task_b;
DROP ROLE task_a, task_b;
SELECT docsearch.drop_project('kiln');

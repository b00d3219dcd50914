-- Judgments and evaluation: sets, runs, comparisons, and who sees them.
SELECT docsearch.create_project('kiln') > 0 AS created;
SELECT count(*) FROM docsearch.index_docs('kiln', replace('[
  {"slug": "reference/Shelf", "title": "Shelf", "body": "# Shelf\n\nA plate that holds pots."},
  {"slug": "reference/ShelfGroup", "title": "ShelfGroup", "body": "# ShelfGroup\n\nSeveral shelves. Use a Shelf for one."},
  {"slug": "reference/Cone", "title": "Cone", "body": "# Cone\n\nA pyramid that bends at a known heat."},
  {"slug": "guides/firing", "title": "Firing", "body": "# Firing\n\nWhat firing is.%\n\n## Cooling\n\nOpen the kiln when it is cold.%"}
]', '%', repeat(' Clay turns to stone, slowly.', 60))::jsonb);

-- Sets come in the forms of BEIR and TREC.
SELECT * FROM docsearch.import_judgments('names', $$
{"_id": "1", "text": "Shelf", "metadata": {"group": "exact"}}
{"_id": "2", "text": "Cone", "metadata": {"group": "exact"}}
{"_id": "3", "text": "when may I open the kiln?", "metadata": {"group": "question", "also": ["cooling"]}}
{"_id": "4", "text": "who sells clay?"}
$$, E'query-id\tcorpus-id\tscore\n1\treference/Shelf\t2\n1\treference/ShelfGroup\t1\n2\treference/Cone\t1\n3\tguides/firing#cooling\t1\n9\treference/Cone\t1\n');
SELECT * FROM docsearch.export_judgments('names');
SELECT * FROM docsearch.export_judgments('names', 'trec');
SELECT i.* FROM docsearch.export_judgments('names', 'trec') t, docsearch.export_judgments('names', 'trec') q,
                LATERAL docsearch.import_judgments('copy', t.content, q.content) i
WHERE t.file = 'topics.tsv' AND q.file = 'qrels.txt';

-- s0_31, s0_33, s0_34: measures, latency, shares of confidence and a verdict in one row. Queries without a relevant document are left out.
SELECT run, queries, round(ndcg::numeric, 4) AS ndcg, round(mrr::numeric, 4) AS mrr, round(p1::numeric, 4) AS p1,
       round(p3::numeric, 4) AS p3, round(recall::numeric, 4) AS recall, mean_rank, look_alikes, mean_ms > 0 AS mean_ms, p95_ms >= p50_ms AS p95_ms,
       high + medium + low AS shares, expected_calibration_error BETWEEN 0 AND 1 AS calibration, verdict
FROM docsearch.evaluate('names', 'kiln');
-- s0_32: by group.
SELECT query_group, queries, mrr, p1 FROM docsearch.evaluate_groups(1);
SELECT query_id, query_group, failure_class, rank, ndcg, found[1], relevant, confidence FROM docsearch.evaluate_detail(1);
-- s0_35: a run as JSON, with each query and what the answers depend on.
SELECT r ->> 'set', jsonb_array_length(r -> 'queries'), r -> 'groups' -> 'exact' ->> 'queries', r #> '{state,documents,count}',
       r #>> '{state,rules}' IS NOT NULL AS rules
FROM docsearch.evaluate_report(1) r;
-- Each first result is in one bin of its score.
SELECT count(*), sum(results), min(low), max(high) FROM docsearch.reliability(1);

-- s1_34: two runs compared, with intervals.
SELECT run, label, config FROM docsearch.evaluate('names', 'kiln', config => '{"hybrid_weight": 1, "boost_api_name": 0}', label => 'vectors')
JOIN docsearch.evaluation_run r ON r.id = run;
SELECT query_group, measure, queries, second - first = difference AS difference, low <= difference AND difference <= high AS inside
FROM docsearch.compare(1, 2) WHERE measure IN ('ndcg', 'p1');
SELECT bool_and(low = 0 AND high = 0 AND better = 0 AND worse = 0) FROM docsearch.compare(1, 1);
-- A page that is gone makes a run worse, and the run says which query.
SELECT docsearch.delete_doc('kiln', 'reference/Cone');
SELECT run, ndcg < 1 AS worse FROM docsearch.evaluate('names', 'kiln');
SELECT query_id, query, ndcg_before, ndcg_after, rank_before, rank_after, first_before FROM docsearch.regressions(3, since => 1);

-- A name that begins like the right one.
SELECT docsearch.judge('look-alikes', 'several shelves', 'reference/Shelf', query_group => 'names') = docsearch.judge('look-alikes', 'several shelves', 'reference/Shelf', 3) AS same;
SELECT queries, look_alikes FROM docsearch.evaluate('look-alikes', 'kiln');
-- Over all projects judgments name project and slug.
SELECT docsearch.judge('everywhere', 'Shelf', 'kiln/reference/Shelf') IS NOT NULL AS judged;
SELECT p1 FROM docsearch.evaluate('everywhere');

-- Roles need the right, and see their own runs.
CREATE ROLE judge_a;
CREATE ROLE judge_b;
SELECT docsearch.grant_usage('judge_a');
SET ROLE judge_a;
SELECT * FROM docsearch.evaluate('names', 'kiln');
RESET ROLE;
SELECT docsearch.grant_evaluation('judge_a'), docsearch.grant_evaluation('judge_b');
SET ROLE judge_a;
SELECT run, queries FROM docsearch.evaluate('names', 'kiln');
SELECT id, run_by FROM docsearch.evaluation_run;
SET ROLE judge_b;
SELECT count(*) FROM docsearch.evaluation_run;
SELECT count(*) FROM docsearch.evaluation_result;
SELECT * FROM docsearch.evaluate_detail(6);
INSERT INTO docsearch.evaluation_run (run_by, set_name, cutoff, state) VALUES ('judge_a', 'names', 10, '{}');
RESET ROLE;

-- Mistakes.
SELECT * FROM docsearch.evaluate('nones', 'kiln');
SELECT * FROM docsearch.evaluate(NULL);
SELECT * FROM docsearch.evaluate('names', 'kiln', k => 0);
SELECT * FROM docsearch.evaluate('names', 'kiln', config => '{"hybrid": 1}');
SELECT * FROM docsearch.import_judgments('bad', '{"text": "no id"}', '');
SELECT * FROM docsearch.import_judgments('bad', E'1\tfirst\n1\tagain', '');
SELECT * FROM docsearch.import_judgments('bad', E'1\tfirst', E'1\ta\tone\n1\ta\ttwo');
SELECT docsearch.judge('names', ' ', 'reference/Shelf');
SELECT docsearch.judge('names', 'Shelf', '#anchor');
SELECT docsearch.judge('names', 'Shelf', 'reference/Shelf', 101);
SELECT * FROM docsearch.export_judgments('names', 'csv');
SELECT * FROM docsearch.compare(1, 99);
SELECT * FROM docsearch.regressions(1);
BEGIN READ ONLY;
SELECT run FROM docsearch.evaluate('names', 'kiln');
ROLLBACK;
SELECT docsearch.drop_judgments('names');
SELECT docsearch.drop_judgments('names');
DROP OWNED BY judge_a, judge_b;
DROP ROLE judge_a, judge_b;

-- Ranking as a value that is reviewed, applied and taken back.
SELECT docsearch.ranking_state('kiln');
SELECT * FROM docsearch.diff_ranking('kiln', '{"settings": {"penalty_news": 0.5}, "rules": {"synonym": [{"term": "cn", "expansion": "cone", "enabled": true}]}}');
SELECT docsearch.apply_ranking('kiln', '{"settings": {"penalty_news": 0.5}, "rules": {"synonym": [{"term": "cn", "expansion": "cone"}]}}', 'cones');
SELECT docsearch.ranking_state('kiln');
SELECT docsearch.apply_ranking('kiln', docsearch.ranking_state('kiln')) AS unchanged;
SELECT changed_by = current_user AS changed_by, comment, before, after FROM docsearch.ranking_history('kiln');
SELECT docsearch.apply_ranking('kiln', (SELECT before FROM docsearch.ranking_history('kiln') LIMIT 1)) AS taken_back;
SELECT docsearch.ranking_state('kiln');
SELECT docsearch.apply_ranking('kiln', '{"settings": {"hybrid": 1}}');
SELECT docsearch.apply_ranking('kiln', '{"settings": {"vectors": "document"}}');
SELECT docsearch.apply_ranking('kiln', '{"rules": {"words": []}}');
SELECT docsearch.apply_ranking('kiln', '[]');
SELECT docsearch.apply_ranking('kiln', NULL);
-- Pages that say the same.
SELECT count(*) FROM docsearch.index_docs('kiln', '[{"slug": "guides/firing-2", "title": "Firing again", "body": "# Firing\n\nWhat firing is, and how a kiln is fired, and why.\n\n## Other\n\nx"},
    {"slug": "guides/firing-3", "title": "Firing", "body": "# Firing\n\nWhat firing is, and how a kiln is fired, and why.\n\n## Other\n\nx"}]');
SELECT duplicate_group, slug, similarity FROM docsearch.duplicates('kiln');
SELECT duplicate_group, slug, anchor FROM docsearch.duplicates('kiln', sections => true) WHERE anchor = 'firing';
SELECT * FROM docsearch.duplicates('kiln', 0);
SELECT docsearch.drop_project('kiln');

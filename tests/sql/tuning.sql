-- Tuning: who may, what is refused, what is kept. tests/test_tuning.py has tunings that find something.
SELECT docsearch.create_project('kiln') > 0 AS created;
SELECT FROM docsearch.index_docs('kiln', '[
  {"slug": "reference/Shelf", "title": "Shelf", "body": "# Shelf\n\nA plate that holds pots."},
  {"slug": "reference/Cone", "title": "Cone", "body": "# Cone\n\nA pyramid that bends at a known heat."}
]');

-- Arguments.

SELECT docsearch.tune(NULL);
SELECT docsearch.tune('nosuch');
SELECT docsearch.tune('kiln', '-1 minute');
SELECT docsearch.tune('kiln', '0 seconds');
SELECT docsearch.tune('kiln', '2 days');
SELECT docsearch.rollback_tuning(NULL);
SELECT docsearch.rollback_tuning('kiln');

-- Too few pages.
SELECT docsearch.tune('kiln', in_background => false) > 0 AS tuned;
SELECT status, requested_by = current_user AS own, attempts, before, after, evidence -> 'reasons' AS reasons,
       finished_at IS NOT NULL AS finished
FROM docsearch.tuning;
SELECT name, settings FROM docsearch.project;
SELECT count(*) FROM docsearch.ranking_history('kiln');
SELECT docsearch.rollback_tuning('kiln');
SELECT problem, object FROM docsearch.check('kiln') WHERE object NOT LIKE 'pgvector %' AND object NOT LIKE 'PostgreSQL %';

-- The probability of the first result.
SELECT search_docs_json('Shelf', 'kiln') ? 'probability' AS has_probability;
SELECT docsearch.configure_project('kiln', '{"calibration": [[0.2, 0.1], [0.8, 0.9]]}');
SELECT search_docs_json('Shelf', 'kiln') -> 'probability' AS probability;
SELECT search_docs_json('Shelf', 'kiln', config => '{"bm25_b": 0.1}') ? 'probability' AS with_own_weights,
       search_docs_json('Shelf', 'kiln', config => '{"offset": 1}') ? 'probability' AS further,
       search_docs_json('Shelf') ? 'probability' AS in_all;
SELECT docsearch.judge('readers', 'Shelf', 'reference/Shelf');
SELECT round(expected_calibration_error::numeric, 4) AS error FROM docsearch.evaluate('readers', 'kiln');
SELECT low, results, round(mean_score::numeric, 4) AS mean_score, right_share FROM docsearch.reliability((SELECT max(id) FROM docsearch.evaluation_run)) WHERE results > 0;
-- It is not a part of how a project ranks.
SELECT docsearch.ranking_state('kiln');
SELECT docsearch.apply_ranking('kiln', '{"settings": {"calibration": [[0.2, 0.1]]}}');
SELECT docsearch.configure_project('kiln', '{"calibration": [[0.8, 0.9], [0.2, 0.1]]}');
SELECT docsearch.configure_project('kiln', '{"calibration": "0.5"}');
SELECT docsearch.configure_project('kiln', '{"calibration": null}');
SELECT docsearch.configure_project('kiln', '{"auto_tune": "yes"}');
SELECT docsearch.configure_project('kiln', '{"auto_tune": false}');

-- What a tuning changed is taken back, except what was changed since.
SELECT docsearch.configure_project('kiln', '{"bm25_b": 0.6, "bm25_k1": 1.2, "weight_title": 3}');
UPDATE docsearch.tuning SET status = 'accepted', before = '{"bm25_b": 0.5}', after = '{"bm25_b": 0.6, "bm25_k1": 1.2, "weight_title": 4}';
SELECT docsearch.rollback_tuning('kiln') > 0 AS rolled_back;
SELECT settings FROM docsearch.project;
SELECT status FROM docsearch.tuning;
SELECT regexp_replace(comment, '\d+', 'N') AS comment FROM docsearch.ranking_history('kiln');
SELECT docsearch.rollback_tuning('kiln');

-- Rights: readers of documents may not tune, and see no tunings.
CREATE ROLE tuning_reader;
CREATE ROLE tuning_writer;
SELECT docsearch.grant_usage('tuning_reader');
SELECT docsearch.grant_usage('tuning_writer', write => true);
SET ROLE tuning_reader;
SELECT docsearch.tune('kiln', '-1 minute');
SELECT docsearch.rollback_tuning('kiln');
SELECT FROM docsearch.tuning;
SET ROLE tuning_writer;
SELECT docsearch.tune('kiln', in_background => false) > 0 AS tuned;
SELECT requested_by, status FROM docsearch.tuning ORDER BY id;
UPDATE docsearch.tuning SET status = 'accepted';
RESET ROLE;
-- A policy hides the project.
ALTER TABLE docsearch.project ENABLE ROW LEVEL SECURITY;
SET ROLE tuning_writer;
SELECT docsearch.tune('kiln');
SELECT count(*) FROM docsearch.tuning;
RESET ROLE;
-- It shows the project, and forbids to change it.
CREATE POLICY visible ON docsearch.project FOR SELECT USING (true);
SET ROLE tuning_writer;
SELECT docsearch.tune('kiln');
SELECT docsearch.rollback_tuning('kiln');
RESET ROLE;
DROP POLICY visible ON docsearch.project;
ALTER TABLE docsearch.project DISABLE ROW LEVEL SECURITY;
BEGIN READ ONLY;
SELECT docsearch.tune('kiln');
ROLLBACK;

SELECT docsearch.revoke_usage('tuning_reader'), docsearch.revoke_usage('tuning_writer');
DROP ROLE tuning_reader, tuning_writer;
SELECT docsearch.drop_judgments('readers');
SELECT docsearch.drop_project('kiln');
SELECT count(*) FROM docsearch.tuning;

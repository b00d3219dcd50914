-- Ranking states that are tried, compared and applied.
SELECT docsearch.create_project('kiln') > 0 AS created;
SELECT count(*) FROM docsearch.index_docs('kiln', '[
  {"slug": "reference/Shelf", "title": "Shelf", "body": "# Shelf\n\nA plate that holds pots."},
  {"slug": "reference/Cone", "title": "Cone", "body": "# Cone\n\nA pyramid that bends at a known heat."},
  {"slug": "guides/firing", "title": "Firing", "body": "# Firing\n\nWhat firing is. Clay turns to stone.\n\n## Cooling\n\nOpen the kiln when it is cold."},
  {"slug": "changelog/v2", "title": "Changelog of version 2", "body": "# Changelog of version 2\n\nThe cone bends later. The shelf holds more pots."}
]');
SELECT queries FROM docsearch.import_judgments('kiln', E'1\tShelf\n2\tpc\n3\twhen is it cold?\n4\tpots', E'1 0 reference/Shelf 1\n2 0 reference/Cone 1\n3 0 guides/firing#cooling 1\n4 0 reference/Shelf 1');
SELECT docsearch.configure_project('kiln', '{"penalty_news": 0.1, "hybrid_weight": 0.2}') IS NOT NULL AS configured;

-- A state that is tried gives the answers that it gives when it is applied, and changes nothing.
CREATE TABLE kiln_state (name text, state jsonb, tried bigint, applied bigint);
INSERT INTO kiln_state (name, state) VALUES
    ('same', docsearch.ranking_state('kiln')),
    ('weights', '{"settings": {"penalty_news": 0.9, "hybrid_weight": 1}}'),
    ('no weights', '{}'),
    ('rules', '{"settings": {"penalty_news": 0.1, "hybrid_weight": 0.2}, "rules": {"synonym": [{"term": "pc", "expansion": "pyramid cone"}]}}'),
    ('both', '{"settings": {"hybrid_weight": 0}, "rules": {"synonym": [{"term": "pc", "expansion": "pyramid cone"}], "generic_term": [{"term": "pots"}]}}');
CREATE TEMP TABLE kiln_before AS
SELECT docsearch.ranking_state('kiln') AS state, (SELECT array_agg((slug, score)::text) FROM search_docs('pc', 'kiln')) AS answers;
UPDATE kiln_state s SET tried = (SELECT run FROM docsearch.evaluate('kiln', 'kiln', ranking => s.state, label => s.name));
SELECT docsearch.ranking_state('kiln') = state AS unchanged,
       (SELECT array_agg((slug, score)::text) FROM search_docs('pc', 'kiln')) = answers AS same_answers, (SELECT count(*) FROM docsearch.ranking_history('kiln')) AS changes FROM kiln_before;
SELECT s.name, r.label, r.config, r.state -> 'weights' AS weights, r.state -> 'proposed' AS proposed
FROM kiln_state s JOIN docsearch.evaluation_run r ON r.id = s.tried ORDER BY s.tried;
DO $$
DECLARE s record;
BEGIN
    FOR s IN SELECT * FROM kiln_state LOOP
        PERFORM docsearch.apply_ranking('kiln', s.state);
        UPDATE kiln_state k SET applied = (SELECT run FROM docsearch.evaluate('kiln', 'kiln')) WHERE k.name = s.name;
    END LOOP;
END $$;
SELECT s.name, count(*), bool_and(t.found = a.found AND t.scores = a.scores AND t.confidence = a.confidence) AS same_answers,
       (SELECT count(DISTINCT (x.state -> 'rules', x.state -> 'weights')) FROM docsearch.evaluation_run x WHERE x.id IN (s.tried, s.applied)) AS states
FROM kiln_state s JOIN docsearch.evaluation_result t ON t.run_id = s.tried
JOIN docsearch.evaluation_result a ON a.run_id = s.applied AND a.query_id = t.query_id GROUP BY s.name, s.tried, s.applied ORDER BY s.tried;
-- The states differ in what they find.
SELECT count(DISTINCT found_all) > 2 AS differ
FROM (SELECT string_agg(found::text || scores::text, ' ' ORDER BY query_id) FROM docsearch.evaluation_result r JOIN kiln_state s ON s.tried = r.run_id GROUP BY r.run_id) f(found_all);
-- What the call gives outweighs the state, as it outweighs the project.
SELECT queries FROM docsearch.evaluate('kiln', 'kiln', ranking => '{"settings": {"hybrid_weight": 0}}', label => 'state') \gset first_
SELECT queries FROM docsearch.evaluate('kiln', 'kiln', config => '{"hybrid_weight": 0}', ranking => '{"settings": {"hybrid_weight": 1}}', label => 'both given') \gset second_
SELECT r.config, bool_and(a.scores = b.scores) AS same_answers
FROM docsearch.evaluation_run r JOIN docsearch.evaluation_result a ON a.run_id = r.id
JOIN docsearch.evaluation_run s ON s.label = 'state' JOIN docsearch.evaluation_result b ON b.run_id = s.id AND b.query_id = a.query_id
WHERE r.label = 'both given' GROUP BY r.config;

-- A rule may leave out what has a default. It is the same rule.
SELECT docsearch.apply_ranking('kiln', '{"rules": {"action_synonym": [{"verb": "fire", "synonym": "bake"}], "generic_term": [{"term": "pots", "boost": 0.050}]}}') AS changes;
SELECT docsearch.ranking_state('kiln');
SELECT count(*) FROM docsearch.diff_ranking('kiln', '{"rules": {"action_synonym": [{"verb": "fire", "synonym": "bake"}], "generic_term": [{"term": "pots"}]}}');
SELECT * FROM docsearch.diff_ranking('kiln', '{"rules": {"action_synonym": [{"verb": "fire", "synonym": "bake", "closeness": 0.5}], "generic_term": [{"term": "pots"}]}}');
-- The defaults are those of the tables.
SELECT DISTINCT a.attname, pg_get_expr(d.adbin, d.adrelid) AS value
FROM pg_attrdef d JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
WHERE d.adrelid IN ('docsearch.action'::regclass, 'docsearch.action_synonym'::regclass, 'docsearch.intent_conflict'::regclass,
                    'docsearch.generic_term'::regclass, 'docsearch.synonym'::regclass, 'docsearch.framework_alias'::regclass,
                    'docsearch.platform'::regclass, 'docsearch.query_word'::regclass, 'docsearch.news_name'::regclass, 'docsearch.search_tip'::regclass)
ORDER BY 1;

-- Weights are tried with the right to evaluate. Rules need the rights to change them.
CREATE ROLE kiln_judge;
SELECT docsearch.grant_evaluation('kiln_judge');
SET ROLE kiln_judge;
SELECT queries FROM docsearch.evaluate('kiln', 'kiln', ranking => jsonb_set(docsearch.ranking_state('kiln'), '{settings,hybrid_weight}', '0.4'));
SELECT queries FROM docsearch.evaluate('kiln', 'kiln', ranking => '{"rules": {"synonym": [{"term": "pc", "expansion": "cone"}]}}');
RESET ROLE;
CREATE ROLE kiln_reader;
SELECT docsearch.grant_usage('kiln_reader');
SET ROLE kiln_reader;
SELECT queries FROM docsearch.evaluate('kiln', 'kiln', ranking => '[]');
RESET ROLE;

-- Mistakes.
SELECT queries FROM docsearch.evaluate('kiln', ranking => '{}');
SELECT queries FROM docsearch.evaluate('kiln', 'kiln', ranking => '[]');
SELECT queries FROM docsearch.evaluate('kiln', 'kiln', ranking => '{"settings": {"hybrid_weight": 7}}');
SELECT queries FROM docsearch.evaluate('kiln', 'kiln', ranking => '{"settings": {"hybrid": 1}}');
SELECT queries FROM docsearch.evaluate('kiln', 'kiln', ranking => '{"rules": {"synonym": [{"term": "pc", "expansoin": "cone"}]}}');
\set VERBOSITY terse
SELECT queries FROM docsearch.evaluate('kiln', 'kiln', ranking => '{"rules": {"synonym": [{"term": "pc"}]}}');
\set VERBOSITY default
SELECT queries FROM docsearch.evaluate('kiln', 'kiln', ranking => '{"rules": {"search_tip": [{"number": "one", "tip": "x"}]}}');
SELECT * FROM docsearch.diff_ranking('kiln', '{"rules": {"synonym": [{"term": "pc", "expansion": "cone", "project_id": 1}]}}');

SELECT docsearch.drop_judgments('kiln'), docsearch.drop_project('kiln');
DROP TABLE kiln_state;
DROP OWNED BY kiln_judge, kiln_reader;
DROP ROLE kiln_judge, kiln_reader;

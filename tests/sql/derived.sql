-- Queries that are derived from documents: each kind, the sides, and what a caller sees who does not see every document.
CREATE ROLE docsearch_reader;
SELECT docsearch.create_project('kiln', root_url => 'https://kiln.test/docs') > 0 AS created;
SELECT count(*) FROM docsearch.index_docs('kiln', '[
  {"slug": "reference/shelf", "title": "Shelf", "keywords": ["slow cooling rate", "quartz"],
   "body": "A plate that holds pots.\n\n## 2.1. Place pots of different heights\n\nTall ones stand behind."},
  {"slug": "reference/kilnctl", "title": "kilnctl", "body": "Runs a kiln.\n\n- Open the door remotely at dawn:\n  `kilnctl open`"},
  {"slug": "guides/firing", "title": "Firing",
   "questions": [{"anchor": "why-do-pots-crack", "question": "how to dry clay before the fire"}],
   "body": "What firing is.\n\n## Why do pots crack?\n\nWater boils. See [how plates are stacked](../reference/shelf.html#21-place-pots-of-different-heights).\n\n## Secret glaze recipes\n\nLead."},
  {"slug": "secret/glaze", "title": "Glaze", "category": "secret",
   "body": "A mixture.\n\n## Mix ash with feldspar\n\nSlowly. Here are secret glaze recipes, and [where dry quartz comes from](../reference/shelf)."}
]');
SELECT kind, query, reference FROM docsearch.derived_queries('kiln');
-- All queries of a page are on one side, and the same documents give the same queries.
SELECT count(DISTINCT split_part(reference, '#', 1)) = count(DISTINCT (split_part(reference, '#', 1), held_out)) AS one_side FROM docsearch.derived_queries('kiln');
SELECT array_agg(a ORDER BY a) = (SELECT array_agg(b ORDER BY b) FROM docsearch.derived_queries('kiln') b) AS same FROM docsearch.derived_queries('kiln') a;
SELECT count(*) FROM docsearch.derived_queries('kiln', 3);

-- A caller gets what the visible documents alone would give.
SELECT docsearch.grant_usage('docsearch_reader');
ALTER TABLE docsearch.document ENABLE ROW LEVEL SECURITY;
CREATE POLICY readers ON docsearch.document TO docsearch_reader USING (category IS DISTINCT FROM 'secret');
SET ROLE docsearch_reader;
CREATE TEMP TABLE seen AS SELECT * FROM docsearch.derived_queries('kiln');
RESET ROLE;
SELECT docsearch.delete_doc('kiln', 'secret/glaze');
SELECT kind, query, reference FROM seen WHERE reference LIKE 'secret%' OR query LIKE 'Secret%';
TABLE seen EXCEPT SELECT * FROM docsearch.derived_queries('kiln');
SELECT * FROM docsearch.derived_queries('kiln') EXCEPT TABLE seen;

-- What is wrong.
SELECT * FROM docsearch.derived_queries(NULL);
SELECT * FROM docsearch.derived_queries('oven');
SELECT * FROM docsearch.derived_queries('kiln', 0);
CREATE ROLE docsearch_stranger;
SET ROLE docsearch_stranger;
SELECT * FROM docsearch.derived_queries('kiln');
RESET ROLE;

DROP TABLE seen;
DROP POLICY readers ON docsearch.document;
ALTER TABLE docsearch.document DISABLE ROW LEVEL SECURITY;
SELECT docsearch.revoke_usage('docsearch_reader');
SELECT docsearch.drop_project('kiln');
DROP ROLE docsearch_reader, docsearch_stranger;

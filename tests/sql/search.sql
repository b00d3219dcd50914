-- A small API reference.
\i tests/fixtures/swiftui.sql

CREATE FUNCTION pg_temp.top(query text) RETURNS text LANGUAGE sql AS $$ SELECT slug FROM search_docs(query) WHERE rank = 1 $$;

-- s0_1, s0_2, s0_3, s0_4, s0_5, s0_7, s0_17, s0_28, s0_36: exact names come first, however they are written.
SELECT q, pg_temp.top(q) FROM unnest(ARRAY[
    'Button', 'button', 'Button in SwiftUI', 'button in swift ui', 'UIButton', 'ui button', 'UIButton in UIKit',
    'navigationview in swiftui', 'NavigationView', 'asyncimagephase failure in swiftui',
    'AsyncImagePhase.failure in SwiftUI', 'AsyncImagePhase.failure', 'view frame in swiftui', 'frame',
    'UITableView', 'table view', 'ui_table_view', 'uitableviewcontroller'
]) q;

-- s4_21: words find the pages that contain them.
SELECT pg_temp.top('control that runs code when somebody taps'), pg_temp.top('an image could not be loaded');

-- The columns, for a query that is not a name.
SELECT rank, slug, title, section, project, category, confidence, url, chunk_no, chunk_count, additional_chunk, notice,
       score BETWEEN 0 AND 1 AS score, similarity BETWEEN -1 AND 1 AS similarity, keyword_score BETWEEN 0 AND 1 AS keyword
FROM search_docs('shows rows in one column', max_results => 2);
SELECT snippet FROM search_docs('shows rows in one column', max_results => 1);

-- s0_27: the same search gives the same rows.
SELECT count(*) FROM (SELECT * FROM search_docs('navigation') EXCEPT SELECT * FROM search_docs('navigation')) d;

-- s4_1, s4_20: max_results results, best first, each document once.
SELECT count(*), count(DISTINCT slug), bool_and(score <= before) FROM
    (SELECT slug, score, lag(score, 1, 1) OVER (ORDER BY rank) AS before FROM search_docs('view', max_results => 8)) r;
SELECT rank, slug FROM search_docs('NavigationView', config => '{"limit": 1, "offset": 1}');

-- s3_30: punctuation is a query.
SELECT count(*) > 0 FROM search_docs('@>');
SELECT count(*) > 0 FROM search_docs('[[');
SELECT notice FROM search_docs(repeat('button ', 15000), max_results => 1);

-- s4_19, s4_8: a threshold excludes results with a notice, but never all.
SELECT count(*), min(notice) FROM search_docs('Button', min_score => 0.95);
SELECT count(*), min(confidence), min(notice) FROM search_docs('quantum chromodynamics', min_score => 0.99);

-- s4_30: vectors alone and keywords alone.
SELECT pg_temp.top('tap') IS NOT NULL;
SELECT slug FROM search_docs('stopped working picture', config => '{"hybrid_weight": 1}', max_results => 1);
SELECT slug FROM search_docs('invisible', config => '{"hybrid_weight": 0}', max_results => 1);

-- s3_3, s3_7: a project keeps its model; the setting is that of new ones.
SET docsearch.default_model = 'no-such-model';
SELECT count(similarity) FROM search_docs('starts an action', max_results => 3);
SELECT docsearch.create_project('other');
RESET docsearch.default_model;

-- s4_6, s4_9: the best section of each document first, then further ones, marked.
SELECT docsearch.create_project('one') > 0 AS created;
SELECT docsearch.index_doc('one', 'guide', 'Guide', E'# Guide\n\nAbout cats.\n\n## Food\n\n' || repeat('Cats eat fish. ', 40) || E'\n\n## Sleep\n\n' || repeat('Cats sleep a lot. ', 40));
SELECT docsearch.index_doc('one', 'dogs', 'Dogs', E'Dogs bark at cats.');
SELECT slug, section, additional_chunk FROM search_docs('cats eat fish', project => 'one', max_results => 4);
SELECT count(*) FILTER (WHERE additional_chunk) FROM search_docs('cats eat fish', project => 'one', dedup => 'none');

-- s3_34: projects are kept apart, and searched together.
SELECT DISTINCT project FROM search_docs('cats', project => 'one');
SELECT count(DISTINCT project) FROM search_docs('cats view', max_results => 20);
SELECT docsearch.drop_project('one');

-- s3_34: nearer pages of another project displace none of this one, by codes of vectors and by all vectors.
SELECT docsearch.create_project('cats') > 0 AND docsearch.create_project('machines') > 0 AS created;
SELECT docsearch.index_doc('cats', 'cat', 'Cat', 'A cat that sleeps.');
-- Enough near neighbours that the index alone does not reach the machines.
INSERT INTO docsearch.chunk SELECT (jsonb_populate_record(c, jsonb_build_object('chunk_no', n))).*
FROM docsearch.chunk c JOIN docsearch.project p ON p.id = c.project_id, generate_series(1, 1500) n WHERE p.name = 'cats';
SELECT setseed(0.5);
INSERT INTO docsearch.vector_1 SELECT v.project_id, v.document_id, n, array(SELECT x + random() / 50 FROM unnest(v.embedding::real[]) x)::halfvec
FROM docsearch.vector_1 v JOIN docsearch.project p ON p.id = v.project_id, generate_series(1, 1500) n WHERE p.name = 'cats';
SELECT count(*) FROM docsearch.index_docs('machines', '[
    {"slug": "lathe", "title": "Lathe", "body": "Turns steel."}, {"slug": "drill", "title": "Drill", "body": "Makes holes."},
    {"slug": "saw", "title": "Saw", "body": "Cuts planks."}]');
SELECT config, array_agg(slug ORDER BY rank) AS found, bool_and(similarity IS NOT NULL) AS compared
FROM unnest('{"{}","{\"exact_search_limit\": 0, \"candidates\": 10}"}'::jsonb[]) config,
     search_docs('a cat that sleeps', 'machines', config => config || '{"hybrid_weight": 1}')
GROUP BY config ORDER BY config::text;
SELECT docsearch.drop_project('cats') + docsearch.drop_project('machines') AS dropped;
SELECT docsearch.drop_project('swiftui');

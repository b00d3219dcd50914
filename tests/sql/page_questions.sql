-- Questions that sections of documents answer: evidence beside the text, never shown instead of it.
\i tests/fixtures/known_faults.sql
SELECT docsearch.create_project('orchard') > 0 AS created;
CREATE FUNCTION pg_temp.refused(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    hint text;
BEGIN
    EXECUTE statement;
    RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
    RETURN format('%s %s | %s', SQLSTATE, SQLERRM, hint);
END $$;
CREATE VIEW pg_temp.asked AS SELECT q.slug, q.anchor, q.question, q.source, q.stale FROM docsearch.questions('orchard') q;
CREATE FUNCTION pg_temp.first(query text, project text DEFAULT 'orchard', config jsonb DEFAULT '{}') RETURNS text LANGUAGE sql AS $$
    SELECT concat_ws('#', r ->> 'slug', nullif(r ->> 'anchor', ''))
    FROM search_docs_json(query, project, max_results => 1, config => config) a, LATERAL (SELECT a -> 'results' -> 0 AS r) f $$;

-- index_doc takes texts for the page as a whole; index_docs takes texts and objects with the anchor of a section.
SELECT docsearch.index_doc('orchard', 'pruning', 'Pruning', E'# Pruning\n\nRemove crossing branches in late winter.\n\n## Spurs\n\nShorten laterals to three buds.\n\n## Whips\n\nCut a maiden above a bud.',
    questions => ARRAY['my tree is  a mess,' || E'\n' || 'what do I snip', '', '  ', 'my tree is a mess, what do I snip']);
SELECT slug, action, chunks, detail FROM docsearch.index_docs('orchard', '[
  {"slug": "grafting", "title": "Grafting", "body": "# Grafting\n\nJoin scion and rootstock.\n\n## Bark graft\n\nSlip the scion under the bark.\n\n## Budding\n\nInsert a bud in summer.",
   "questions": ["can one trunk carry two kinds of fruit", {"anchor": "bark-graft", "question": "how do I stick a twig onto a thick stump"}, {"question": "two sorts on one plant"}]},
  {"slug": "storage", "title": "Storage", "body": "# Storage\n\nKeep fruit at three degrees."},
  {"slug": "spraying", "title": "Spraying", "body": "# Spraying\n\nApply copper before buds open.\n\n## Scab\n\nVenturia inaequalis makes dark lesions.", "questions": []}]') ORDER BY slug;
SELECT * FROM pg_temp.asked;
SELECT created_at <= now() AS dated, count(*) FROM docsearch.questions('orchard', 'grafting') GROUP BY 1;
SELECT count(*) FROM docsearch.questions('orchard', 'storage');
-- The chunks of a page are those of its text.
SELECT slug, chunk_count FROM list_docs('orchard') ORDER BY slug;

-- A question for a missing section belongs to the page until the section exists.
SELECT action, detail FROM docsearch.index_docs('orchard', '[{"slug": "spraying", "title": "Spraying", "body": "# Spraying\n\nApply copper before buds open.", "questions": [{"anchor": "scab", "question": "ugly blotches"}]}]');
SELECT anchor, stale FROM pg_temp.asked WHERE slug = 'spraying';
SELECT action, detail FROM docsearch.index_docs('orchard', '[{"slug": "spraying", "title": "Spraying", "body": "# Spraying\n\nApply copper before buds open.\n\n## Scab\n\nVenturia inaequalis makes dark lesions."}]');
SELECT anchor, stale FROM pg_temp.asked WHERE slug = 'spraying';
SELECT docsearch.set_questions('orchard', 'spraying', '[]');

-- set_questions replaces the questions of one source, and returns their number.
SELECT docsearch.set_questions('orchard', 'storage', '["where do I put them so they do not go soft", {"anchor": "storage", "question": "fridge or cellar"}]', 'reader');
SELECT docsearch.set_questions('orchard', 'storage', '[{"anchor": "storage", "question": "how long do they last"}]', 'model small-1');
SELECT docsearch.set_questions('orchard', 'storage', '["where do I put them so they do not go soft"]', 'reader');
SELECT * FROM pg_temp.asked WHERE slug = 'storage';
SELECT docsearch.set_questions('orchard', 'storage', '[]', 'reader');
SELECT * FROM pg_temp.asked WHERE slug = 'storage';
SELECT docsearch.set_questions('orchard', 'storage', '["why do they go soft in the kitchen"]');

-- A source does not remove questions of another, and a question of both is found once.
SELECT docsearch.set_questions('orchard', 'grafting', '["two sorts on one plant"]', s) FROM unnest(ARRAY['reader', 'model small-1']) s;
SELECT question, source FROM pg_temp.asked WHERE slug = 'grafting' AND question LIKE 'two%' ORDER BY source;
SELECT count(*) FROM docsearch.chunk c WHERE c.kind = 'question' AND c.body = 'two sorts on one plant';
SELECT docsearch.set_questions('orchard', 'grafting', '[]', s) FROM unnest(ARRAY['reader', 'model small-1']) s;
SELECT question, source FROM pg_temp.asked WHERE slug = 'grafting' AND question LIKE 'two%';
SELECT * FROM pg_temp.problems('orchard');

-- Invalid questions are an error with the right syntax, and nothing is stored.
SELECT call, pg_temp.refused(call) FROM unnest(ARRAY[
    $q$SELECT docsearch.set_questions('orchard', 'storage', jsonb_build_array(repeat('ä', 301)))$q$,
    $q$SELECT docsearch.set_questions('orchard', 'storage', (SELECT jsonb_agg('question ' || n) FROM generate_series(1, 65) n))$q$,
    $q$SELECT docsearch.set_questions('orchard', 'storage', (SELECT jsonb_agg(jsonb_build_object('anchor', 'storage', 'question', 'question ' || n)) FROM generate_series(1, 65) n), 'reader')$q$,
    $q$SELECT docsearch.set_questions('orchard', 'storage', '[{"anchor": "storag", "question": "a"}]')$q$,
    $q$SELECT docsearch.set_questions('orchard', 'storage', '["a"]', 'somebody')$q$,
    $q$SELECT docsearch.set_questions('orchard', 'storage', '["a"]', 'model ')$q$,
    $q$SELECT docsearch.set_questions('orchard', 'storage', '{"question": "a"}')$q$,
    $q$SELECT docsearch.set_questions('orchard', 'storage', '"a"')$q$,
    $q$SELECT docsearch.set_questions('orchard', 'storage', '["a", null]')$q$,
    $q$SELECT docsearch.set_questions('orchard', 'storage', '["a", 1]')$q$,
    $q$SELECT docsearch.set_questions('orchard', 'storage', '[["a"]]')$q$,
    $q$SELECT docsearch.set_questions('orchard', 'storage', '[{"anchor": "storage"}]')$q$,
    $q$SELECT docsearch.set_questions('orchard', 'storage', '[{"question": "a", "answer": "b"}]')$q$,
    $q$SELECT docsearch.set_questions('orchard', 'storage', NULL)$q$,
    $q$SELECT docsearch.set_questions('orchard', 'storag', '[]')$q$,
    $q$SELECT docsearch.set_questions('orchard', NULL, '[]')$q$,
    $q$SELECT docsearch.set_questions('orchid', 'storage', '[]')$q$,
    $q$SELECT docsearch.questions('orchid')$q$,
    $q$SELECT docsearch.index_doc('orchard', 'storage', 'Storage', 'x', questions => ARRAY['a', NULL])$q$,
    $q$SELECT docsearch.index_doc('orchard', 'storage', 'Storage', 'x', questions => ARRAY[repeat('x', 301)])$q$,
    $q$SELECT docsearch.index_doc('orchard', 'storage', 'Storage', 'x', questions => (SELECT array_agg('question ' || n) FROM generate_series(1, 65) n))$q$]) call;
-- The limits apply to several sources together: 64 for a section, 1,000 for a document.
SELECT docsearch.set_questions('orchard', 'storage', (SELECT jsonb_agg('reader ' || n) FROM generate_series(1, 60) n), 'reader');
SELECT pg_temp.refused($q$SELECT docsearch.set_questions('orchard', 'storage', (SELECT jsonb_agg('model ' || n) FROM generate_series(1, 60) n), 'model small-1')$q$);
SELECT docsearch.set_questions('orchard', 'storage', '[]', 'reader');
SELECT docsearch.index_doc('orchard', 'almanac', 'Almanac', (SELECT string_agg(format(E'## Week %s\n\nWork of week %s.', n, n), E'\n\n') FROM generate_series(1, 52) n));
SELECT pg_temp.refused($q$SELECT docsearch.set_questions('orchard', 'almanac', (SELECT jsonb_agg(jsonb_build_object('anchor', 'week-' || n % 52 + 1, 'question', 'job ' || n)) FROM generate_series(1, 1001) n))$q$);
SELECT slug, action, detail FROM docsearch.index_docs('orchard', jsonb_build_array(
    jsonb_build_object('slug', 'bad/long', 'title', 'Bad', 'body', 'x', 'questions', jsonb_build_array(repeat('x', 301))),
    jsonb_build_object('slug', 'bad/kind', 'title', 'Bad', 'body', 'x', 'questions', 'a'),
    jsonb_build_object('slug', 'bad/null', 'title', 'Bad', 'body', 'x', 'questions', jsonb_build_array('a', NULL)),
    jsonb_build_object('slug', 'bad/many', 'title', 'Bad', 'body', 'x', 'questions', (SELECT jsonb_agg('q ' || n) FROM generate_series(1, 65) n)),
    jsonb_build_object('slug', 'good', 'title', 'Good', 'body', 'A good page.', 'questions', NULL))) ORDER BY slug;
SELECT docsearch.delete_doc('orchard', 'good'), docsearch.delete_doc('orchard', 'almanac');
SELECT * FROM pg_temp.asked;

-- The same questions are unchanged; other questions are a change; without the key they stay.
SELECT docsearch.index_doc('orchard', 'pruning', 'Pruning', d.body, questions => ARRAY['my tree is a mess, what do I snip']) FROM docsearch.document d WHERE d.slug = 'pruning';
SELECT docsearch.index_doc('orchard', 'pruning', 'Pruning', d.body) FROM docsearch.document d WHERE d.slug = 'pruning';
SELECT docsearch.index_doc('orchard', 'pruning', 'Pruning', d.body, questions => ARRAY['my tree is a mess, what do I snip', 'which twigs go']) FROM docsearch.document d WHERE d.slug = 'pruning';
SELECT docsearch.set_questions('orchard', 'pruning', '[{"anchor": "spurs", "question": "side shoots are too long"}, {"anchor": "whips", "question": "bought a bare stick, now what"}]', 'reader');
SELECT docsearch.index_doc('orchard', 'pruning', 'Pruning', d.body, questions => ARRAY['my tree is a mess, what do I snip', 'which twigs go']) FROM docsearch.document d WHERE d.slug = 'pruning';
SELECT docsearch.index_doc('orchard', 'pruning', 'Pruning', d.body, questions => '{}') FROM docsearch.document d WHERE d.slug = 'pruning';
SELECT * FROM pg_temp.asked WHERE slug = 'pruning';

-- A question stays when the page changes elsewhere, and is stale when its section changes or is removed; stale ones are found, too.
SELECT docsearch.index_doc('orchard', 'pruning', 'Pruning', E'# Pruning\n\nRemove crossing branches in early spring.\n\n## Spurs\n\nShorten laterals to three buds.\n\n## Whips\n\nCut a maiden above a bud.');
SELECT * FROM pg_temp.asked WHERE slug = 'pruning';
SELECT docsearch.index_doc('orchard', 'pruning', 'Pruning', E'# Pruning\n\nRemove crossing branches in early spring.\n\n## Spurs\n\nShorten laterals to two buds.');
SELECT * FROM pg_temp.asked WHERE slug = 'pruning';
SELECT pg_temp.first('side shoots are too long'), pg_temp.first('bought a bare stick, now what');
-- Restoring the section makes it current again; so does sending the question again.
SELECT docsearch.index_doc('orchard', 'pruning', 'Pruning', E'# Pruning\n\nRemove crossing branches in early spring.\n\n## Whips\n\nCut a maiden above a bud.\n\n## Spurs\n\nShorten laterals to two buds.');
SELECT * FROM pg_temp.asked WHERE slug = 'pruning';
SELECT docsearch.set_questions('orchard', 'pruning', '[{"anchor": "spurs", "question": "side shoots are too long"}, {"anchor": "whips", "question": "bought a bare stick, now what"}]', 'reader');
SELECT * FROM pg_temp.asked WHERE slug = 'pruning';

-- A page is found by words that only a question has; the shown text is that of the page, never the question.
SELECT q, pg_temp.first(q) FROM unnest(ARRAY['two kinds of fruit on one trunk', 'stick a twig onto a thick stump', 'they go soft in the kitchen', 'bare stick']) q;
SELECT r ->> 'slug' AS slug, r ->> 'section' AS section, r ->> 'snippet' ~* 'twig|stump' AS shows_question
FROM search_docs_json('how do I stick a twig onto a thick stump', 'orchard', max_results => 1) a, LATERAL (SELECT a -> 'results' -> 0 AS r) f;
SELECT q, t FROM unnest(ARRAY['how do I stick onto a thick']) q,
    LATERAL (SELECT 'text ' || f, search_docs_text(q, 'orchard', format => f) FROM unnest(ARRAY['compact', 'detailed', 'raw']) f
             UNION ALL SELECT 'rows', s::text FROM search_docs(q, 'orchard') s
             UNION ALL SELECT 'answer', a::text FROM docsearch.search_answer(q, 'orchard') a
             UNION ALL SELECT 'prompt', docsearch.answer_prompt(q, 'orchard')
             UNION ALL SELECT 'refined', docsearch.search_refined(q, 'orchard')::text
             UNION ALL SELECT 'document', load_doc('grafting', project => 'orchard')) shown(t, shown) WHERE shown ~* 'twig|stump';

-- The answering section is shown.
SELECT docsearch.index_doc('orchard', 'soil', 'Soil', E'# Soil\n\n' || repeat('Loam holds water and air. ', 40) || E'\n\n## Acidity\n\n' || repeat('Lime raises the pH value. ', 40) || E'\n\n## Texture\n\n' || repeat('Sand drains and clay does not. ', 40));
SELECT docsearch.set_questions('orchard', 'soil', '[{"anchor": "acidity", "question": "my blueberries turn yellow"}, {"anchor": "texture", "question": "puddles stay for days"}]');
SELECT q, pg_temp.first(q) FROM unnest(ARRAY['blueberries turn yellow', 'puddles that stay for days', 'does lime raise the pH value', 'loam']) q;
SELECT r ->> 'section' AS section, r ->> 'snippet' ~ 'Lime raises' AS of_the_text, r ->> 'snippet' ~* 'blueberries' AS shows_question
FROM search_docs_json('blueberries turn yellow', 'orchard', max_results => 1) a, LATERAL (SELECT a -> 'results' -> 0 AS r) f;
-- Exact phrases and exclusions look only at the text.
SELECT docsearch.set_questions('orchard', 'storage', '["remove crossing branches in early spring"]', 'reader');
SELECT q, slug, e.step, e.rule FROM unnest(ARRAY['"crossing branches"', 'remove crossing branches in early spring']) q, unnest(ARRAY['pruning', 'storage']) slug,
    LATERAL docsearch.explain_search(q, slug, 'orchard') e WHERE e.rule ~ 'phrase' ORDER BY 1, 2, 3;
SELECT q, pg_temp.first(q) FROM unnest(ARRAY['"crossing branches"', 'remove crossing branches in early spring']) q ORDER BY q;
SELECT docsearch.set_questions('orchard', 'storage', '[]', 'reader');
SELECT slug FROM search_docs('scion rootstock -stump', 'orchard', max_results => 1);
SELECT slug FROM search_docs('lime loam -blueberries', 'orchard', max_results => 1);

-- load_doc_json shows them with the metadata; for a section, its own and those of the sections below.
SELECT load_doc_json('grafting', project => 'orchard') -> 'questions';
SELECT s, load_doc_json('pruning', project => 'orchard', section => s) -> 'questions' FROM unnest(ARRAY['pruning', 'spurs', 'whips']) s;
SELECT load_doc_json('grafting', project => 'orchard', include_metadata => false) ? 'questions' AS without_metadata, load_doc_json('spraying', project => 'orchard') ? 'questions' AS without_questions;

-- The number of questions does not help a page: a thousand on one page, and the answering one on another.
SELECT docsearch.index_doc('orchard', 'heap', 'Heap', (SELECT string_agg(format(E'## Part %s\n\nWord %s of a heap of words.', n, n), E'\n\n') FROM generate_series(1, 20) n));
SELECT docsearch.set_questions('orchard', 'heap', (SELECT jsonb_agg(jsonb_build_object('anchor', 'part-' || n % 20 + 1, 'question',
    format('%s %s number %s', (ARRAY['how do I keep', 'what is', 'why do they', 'where do I put'])[n % 4 + 1], (ARRAY['fruit', 'twigs', 'a trunk', 'lesions', 'buds'])[n % 5 + 1], n))) FROM generate_series(1, 1000) n));
SELECT q, pg_temp.first(q) FROM unnest(ARRAY['can one trunk carry two kinds of fruit', 'how do I stick a twig onto a thick stump', 'why do they go soft', 'dark lesions', 'copper before buds open', 'keep fruit at three degrees']) q;

-- Related rows are created, changed and deleted together.
SELECT * FROM pg_temp.problems('orchard');
SELECT docsearch.merge_statistics('orchard');
SELECT * FROM pg_temp.problems('orchard');
SELECT docsearch.delete_doc('orchard', 'heap');
SELECT count(*) FROM docsearch.question q WHERE NOT EXISTS (SELECT FROM docsearch.document d WHERE d.id = q.document_id);
SELECT count(*) FROM docsearch.chunk c WHERE c.kind = 'question' AND NOT EXISTS (SELECT FROM docsearch.document d WHERE d.id = c.document_id);
SELECT * FROM pg_temp.problems('orchard');
-- check finds a question without a chunk, a chunk without a question, and a chunk of another question.
CREATE TEMP TABLE kept AS SELECT * FROM docsearch.question;
DELETE FROM docsearch.chunk c USING docsearch.document d WHERE d.project_id = c.project_id AND d.id = c.document_id AND d.slug = 'grafting' AND c.kind = 'question';
SELECT * FROM pg_temp.problems('orchard');
SELECT * FROM docsearch.repair('orchard');
SELECT * FROM pg_temp.problems('orchard');
DELETE FROM docsearch.question q USING docsearch.document d WHERE d.project_id = q.project_id AND d.id = q.document_id AND d.slug = 'grafting' AND q.question_no = 1;
SELECT * FROM pg_temp.problems('orchard');
SELECT * FROM docsearch.repair('orchard');
SELECT * FROM pg_temp.problems('orchard');
UPDATE docsearch.question q SET question = 'side shoots again' WHERE q.question = 'side shoots are too long';
SELECT * FROM pg_temp.problems('orchard');
SELECT * FROM docsearch.repair('orchard');
SELECT * FROM pg_temp.problems('orchard');
SELECT pg_temp.first('side shoots again');
SELECT (SELECT count(*) FROM kept) - count(*) AS gone FROM docsearch.question;

-- Stale questions and those of several pages need a person's decision.
SELECT docsearch.set_questions('orchard', 'spraying', '[{"anchor": "scab", "question": "ugly blotches"}, "Two sorts on one plant"]');
SELECT docsearch.index_doc('orchard', 'spraying', 'Spraying', E'# Spraying\n\nApply copper before buds open.\n\n## Scab\n\nVenturia inaequalis makes black lesions.');
SELECT * FROM pg_temp.problems('orchard');
SELECT * FROM docsearch.repair('orchard');
SELECT count(*) FROM pg_temp.problems('orchard');
SELECT p.questions = (SELECT count(*) FROM docsearch.questions('orchard')) AS counted, p.questions_stale FROM docsearch.index_progress('orchard') p;
SELECT docsearch.set_questions('orchard', 'spraying', '[{"anchor": "scab", "question": "ugly blotches"}]');
SELECT * FROM pg_temp.problems('orchard');

-- A deep check finds a question that another page answers much better.
SELECT docsearch.set_questions('orchard', 'soil', '["remove crossing branches in early spring", "does sand drain"]', 'reader');
SELECT * FROM pg_temp.problems('orchard');
SELECT problem, object, detail FROM docsearch.check(true, 'orchard') WHERE problem ~ 'question';
SELECT docsearch.set_questions('orchard', 'soil', '[]', 'reader');

-- Headings that are questions count as such, but are not listed as given ones.
SELECT docsearch.index_doc('orchard', 'faq', 'FAQ', E'# FAQ\n\n' || repeat('People ask about many things in a year. ', 30)
    || E'\n\n## Why does my tree bear only every second year?\n\n' || repeat('Thin the fruitlets in June, or none will set. ', 20) || E'\n\n## How to thin\n\n' || repeat('Leave a hand between two. ', 30));
SELECT pg_temp.first('tree bears nothing every other year');
SELECT e.step, e.rule FROM docsearch.explain_search('tree bears nothing every other year', 'faq', 'orchard') e WHERE e.rule = 'question';
SELECT count(*) FROM docsearch.questions('orchard', 'faq');
SELECT load_doc_json('faq', project => 'orchard') ? 'questions' AS listed;
SELECT * FROM pg_temp.problems('orchard');
-- A deep check reports documents that were indexed before headings counted, or with other rules.
DELETE FROM docsearch.chunk c USING docsearch.document d WHERE d.project_id = c.project_id AND d.id = c.document_id AND d.slug = 'faq' AND c.kind = 'question';
SELECT count(*) FROM pg_temp.problems('orchard');
SELECT problem, detail FROM docsearch.check(true, 'orchard') WHERE problem ~ 'question';
SELECT problem, detail FROM docsearch.repair('orchard') WHERE problem ~ 'question';
SELECT problem, object, detail FROM docsearch.check(true, 'orchard') WHERE problem ~ 'question';
SELECT docsearch.delete_doc('orchard', 'faq');

-- Questions follow the document to another model, or to the same one with other bounds.
SELECT docsearch.add_model('again', 'all-MiniLM-L6-v2') > 0 AS added;
SELECT docsearch.set_model('orchard', 'again');
SELECT docsearch.wait_for_index();
SELECT project, waiting, failed, switching_to, last_error FROM docsearch.index_progress('orchard');
SELECT q, pg_temp.first(q) FROM unnest(ARRAY['two kinds of fruit on one trunk', 'they go soft in the kitchen', 'bare stick']) q;
SELECT * FROM pg_temp.problems('orchard');
SELECT * FROM pg_temp.asked;

-- If a document has one vector, each of its questions has its own.
SELECT docsearch.create_project('whole', settings => '{"vectors": "document"}') > 0 AS created;
SELECT docsearch.index_doc('whole', 'hives', 'Hives', E'# Hives\n\nBoxes for colonies.\n\n## Swarms\n\nA prime swarm leaves with the old queen.', questions => ARRAY['all my bees flew off, why']);
SELECT docsearch.index_doc('whole', 'wax', 'Wax', E'# Wax\n\nComb melts at sixty degrees.');
SELECT docsearch.set_questions('whole', 'hives', '[{"anchor": "swarms", "question": "a cloud of insects hangs in my pear"}]', 'reader');
SELECT count(*) FROM docsearch.vector_1 v JOIN docsearch.document d ON d.project_id = v.project_id AND d.id = v.document_id WHERE d.slug = 'hives';
SELECT q, pg_temp.first(q, 'whole'), pg_temp.first(q, 'whole', '{"hybrid_weight": 1}') FROM unnest(ARRAY['why did all my bees fly away', 'cloud of insects in a pear tree']) q;
SELECT docsearch.index_doc('whole', 'hives', 'Hives', E'# Hives\n\nBoxes for colonies of bees.\n\n## Swarms\n\nA prime swarm leaves with the old queen.');
SELECT anchor, question, source, stale FROM docsearch.questions('whole');
SELECT * FROM pg_temp.problems('whole');

-- Deferred: words are indexed at once, vectors come from the worker.
SET docsearch.index_mode = 'deferred';
SELECT docsearch.index_doc('whole', 'honey', 'Honey', 'Extract when cells are capped.', questions => ARRAY['when is it ready to eat']);
SELECT docsearch.set_questions('whole', 'wax', '["how hot may candles get"]');
SELECT pg_temp.first('how hot may candles get', 'whole', '{"hybrid_weight": 0}');
SELECT docsearch.wait_for_index();
SELECT done, waiting, failed, last_error FROM docsearch.index_progress('whole');
RESET docsearch.index_mode;
SELECT q, pg_temp.first(q, 'whole', '{"hybrid_weight": 1}') FROM unnest(ARRAY['how hot may candles get', 'when is it ready to eat']) q;
SELECT * FROM pg_temp.problems('whole');
SELECT docsearch.drop_project('whole');

-- A caller who does not see a document cannot see its questions, find it by them, or change them.
CREATE ROLE docsearch_guest;
CREATE ROLE docsearch_editor;
SELECT docsearch.grant_usage('docsearch_guest'), docsearch.grant_usage('docsearch_editor', write => true);
GRANT EXECUTE ON FUNCTION docsearch.grade_features(text, text, text, docsearch.json_argument, docsearch.json_argument, text[], text[]) TO docsearch_guest, docsearch_editor;
ALTER TABLE docsearch.document ENABLE ROW LEVEL SECURITY;
CREATE POLICY visitors ON docsearch.document TO docsearch_guest, docsearch_editor USING (slug <> 'grafting');
SET ROLE docsearch_guest;
SELECT slug, question FROM docsearch.questions('orchard');
SELECT count(*) FROM docsearch.questions('orchard', 'grafting');
SELECT p.questions = (SELECT count(*) FROM docsearch.questions('orchard')) AS counted, p.questions_stale FROM docsearch.index_progress('orchard') p;
SELECT slug FROM search_docs('two kinds of fruit on one trunk', 'orchard', max_results => 10) WHERE slug = 'grafting';
SELECT suggestion FROM docsearch.suggest('stump', 'orchard');
-- A word of hidden questions is as unknown as one that does not occur.
SELECT count(DISTINCT docsearch.grade_features('fruit ' || word, 'orchard') -> 'unknown') AS kinds, count(DISTINCT s.score) AS scores
FROM unnest('{trunk,nobodywrotethis}'::text[]) word, LATERAL search_docs('fruit ' || word, 'orchard', config => '{"hybrid_weight": 0}') s WHERE s.slug = 'storage';
SELECT count(*) FROM docsearch.question;
SELECT docsearch.set_questions('orchard', 'storage', '["mine"]', 'reader');
RESET ROLE;
SET ROLE docsearch_editor;
SELECT docsearch.set_questions('orchard', 'storage', '["mine"]', 'reader');
SELECT docsearch.set_questions('orchard', 'grafting', '["mine"]', 'reader');
INSERT INTO docsearch.question SELECT * FROM docsearch.question;
RESET ROLE;
-- Nor documents that the caller may see but not change.
CREATE POLICY kept ON docsearch.document AS RESTRICTIVE FOR UPDATE TO docsearch_editor USING (slug <> 'pruning');
SET ROLE docsearch_editor;
SELECT count(*) FROM docsearch.questions('orchard', 'pruning');
SELECT docsearch.set_questions('orchard', 'pruning', '["mine"]', 'reader');
RESET ROLE;
SELECT slug, question FROM pg_temp.asked WHERE question = 'mine';
DROP POLICY visitors ON docsearch.document;
DROP POLICY kept ON docsearch.document;
ALTER TABLE docsearch.document DISABLE ROW LEVEL SECURITY;
DROP OWNED BY docsearch_guest, docsearch_editor;
DROP ROLE docsearch_guest, docsearch_editor;
SELECT docsearch.drop_project('orchard');
SELECT count(*) FROM docsearch.question;
DO $$ BEGIN EXECUTE (SELECT format('DROP TABLE docsearch.vector_%s', id) FROM docsearch.model WHERE name = 'again'); END $$;
DELETE FROM docsearch.model WHERE name = 'again';

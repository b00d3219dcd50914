SELECT docsearch.create_project('guide') > 0 AS created;
-- New, changed and unchanged documents.
SELECT docsearch.index_doc('guide', 'install', 'Install', E'# Install\n\nRun the installer.\n\n## Linux\n\nUse the package manager.\n');
SELECT docsearch.index_doc('guide', 'install', 'Install', E'# Install\n\nRun the installer.\n\n## Linux\n\nUse the package manager.\n');
SELECT docsearch.index_doc('guide', 'install', 'Install', E'# Install\n\nRun the installer twice.\n\n## Linux\n\nUse the package manager.\n');
SELECT slug, title, summary, chunk_count, term_count FROM docsearch.document;

-- Chunks whose text stays are not embedded again: their row of the vector table stays.
SELECT docsearch.index_doc('guide', 'long', 'Long page', E'# Long page\n\nThe lead.\n\n## One\n\n' || repeat('The first section talks about installing. ', 30)
    || E'\n\n## Two\n\n' || repeat('The second section talks about removing. ', 30));
CREATE TEMP TABLE before AS
    SELECT v.chunk_no, v.xmin::text AS written FROM docsearch.vector_1 v JOIN docsearch.document d ON d.id = v.document_id WHERE d.slug = 'long';
SELECT docsearch.index_doc('guide', 'long', 'Long page', E'# Long page\n\nThe lead.\n\n## One\n\n' || repeat('The first section talks about installing. ', 30)
    || E'\n\n## Two\n\n' || repeat('The second section talks about upgrading. ', 30));
SELECT c.chunk_no, c.heading_path, v.xmin::text = b.written AS kept
FROM docsearch.chunk c JOIN docsearch.document d ON d.id = c.document_id
JOIN docsearch.vector_1 v USING (document_id, chunk_no) LEFT JOIN before b USING (chunk_no)
WHERE d.slug = 'long' ORDER BY c.chunk_no;

-- s3_10: the embedded text has its context: title and heading path come first.
SELECT split_part(docsearch.embed_input(c.project_id, c.document_id, c.chunk_no), E'\n', 1) AS context
FROM docsearch.chunk c JOIN docsearch.document d ON d.id = c.document_id WHERE d.slug = 'long' ORDER BY c.chunk_no;

-- s3_11: an identical passage is stored once.
SELECT docsearch.index_doc('guide', 'twice', 'Twice', E'# Twice\n\nLead.\n\n## A\n\n' || repeat('Exactly the same words. ', 60) || E'\n\n## B\n\n' || repeat('Exactly the same words. ', 60));
SELECT count(*) = count(DISTINCT c.body) AS distinct_bodies FROM docsearch.chunk c JOIN docsearch.document d ON d.id = c.document_id WHERE d.slug = 'twice';

SELECT action, chunks, detail FROM docsearch.index_docs('guide', jsonb_build_array(jsonb_build_object('slug', 'thrice', 'title', 'Thrice', 'body',
    E'# Thrice\n\nLead.\n\n## A\n\n' || repeat('Word for word. ', 60) || E'\n\n## B\n\n' || repeat('Word for word. ', 60) || E'\n\n## C\n\n' || repeat('Word for word. ', 60))));

-- index_docs: one row for each; a failed document does not affect the others.
SELECT * FROM docsearch.index_docs('guide', '[
    {"slug": "b", "title": "B", "body": "Beta"},
    {"slug": "a", "title": "A", "body": ""},
    {"slug": "a", "title": "A", "body": "again"},
    {"slug": "c", "title": "C"},
    {"slug": "d", "title": "D", "body": "x", "colour": "red"},
    {"slug": "e", "title": "E", "body": "x", "published_at": "yesterday-ish"},
    {"title": "F", "body": "x"},
    7
]') ORDER BY slug NULLS LAST, action;
SELECT slug FROM docsearch.document ORDER BY slug;
SELECT * FROM docsearch.index_docs('guide', '{"slug": "b"}');

-- s3_9: keywords are the names of a page.
SELECT docsearch.index_doc('guide', 'tables', 'Tables', 'The `UITableView` shows rows. A `UITableView` asks its data source. UITableView again.');
SELECT keywords[1] FROM docsearch.document WHERE slug = 'tables';

-- Statistics are the sum over all chunks.
CREATE VIEW pg_temp.drift AS
    SELECT lexeme FROM
        (SELECT lexeme, sum(chunks) AS counted FROM docsearch.term_stat GROUP BY lexeme) s
        FULL JOIN (SELECT lexeme, count(*) AS real FROM docsearch.chunk, unnest(tsvector_to_array(terms)) AS lexeme GROUP BY lexeme) r USING (lexeme)
    WHERE coalesce(counted, 0) <> coalesce(real, 0);
SELECT count(*) AS drifted FROM pg_temp.drift;
SELECT sum(documents) = (SELECT count(*) FROM docsearch.document) AS documents,
       sum(chunks) = (SELECT count(*) FROM docsearch.chunk) AS chunks,
       sum(chunk_words) = (SELECT sum(term_count) FROM docsearch.chunk) AS chunk_words,
       sum(document_words) = (SELECT sum(term_count) FROM docsearch.document) AS document_words
FROM docsearch.project_stat;

-- Deleting removes everything derived.
SELECT docsearch.delete_doc('guide', 'twice'), docsearch.delete_doc('guide', 'twice');
SELECT docsearch.index_doc('guide', 'r/one', 'One', 'one', source_root => '/r'), docsearch.index_doc('guide', 'r/two', 'Two', 'two', source_root => '/r');
SELECT docsearch.delete_missing('guide', '/r', ARRAY['r/one']);
SELECT docsearch.delete_missing('guide', '/other', ARRAY[]::text[]);
SELECT count(*) AS drifted FROM pg_temp.drift;
SELECT docsearch.merge_statistics('guide');
SELECT count(*) AS drifted, (SELECT count(*) FROM docsearch.project_stat) AS rows FROM pg_temp.drift;
SELECT count(*) AS vectors_without_chunk FROM docsearch.vector_1 v LEFT JOIN docsearch.chunk c USING (project_id, document_id, chunk_no) WHERE c.chunk_no IS NULL;
SELECT count(*) AS chunks_without_vector FROM docsearch.chunk c LEFT JOIN docsearch.vector_1 v USING (project_id, document_id, chunk_no) WHERE v.chunk_no IS NULL;

-- A rolled back transaction leaves nothing.
BEGIN;
SELECT docsearch.index_doc('guide', 'gone', 'Gone', 'gone');
ROLLBACK;
SELECT count(*) FROM docsearch.document WHERE slug = 'gone';

-- A project with one vector for each document.
SELECT docsearch.create_project('flat', settings => '{"vectors": "document"}') > 0 AS created;
SELECT docsearch.index_doc('flat', 'long', 'Long page', E'# One\n\n' || repeat('Words and words. ', 400) || E'\n\n# Two\n\nMore.');
SELECT chunk_count FROM docsearch.document d JOIN docsearch.project p ON p.id = d.project_id WHERE p.name = 'flat';
SELECT docsearch.drop_project('flat');
SELECT docsearch.drop_project('guide');
-- s3_2: dropping a project deletes everything that belongs to it.
SELECT (SELECT count(*) FROM docsearch.document) AS documents, (SELECT count(*) FROM docsearch.chunk) AS chunks,
       (SELECT count(*) FROM docsearch.vector_1) AS vectors, (SELECT count(*) FROM docsearch.document_name) AS names,
       (SELECT count(*) FROM docsearch.term_stat) AS terms;

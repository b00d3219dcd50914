-- The keys of title, slug and category for the rules are a generated column: right however the row is written.
-- Answers are the same with it, without it, and with any bytes in its place.
SET client_min_messages = error;
SELECT docsearch.create_project('keys') > 0 AS created;
SELECT count(*) FROM docsearch.index_docs('keys', '[
  {"slug": "uikit/uitableview", "title": "UITableView", "category": "Lists/Tables", "metadata": {"framework": "UIKit"}, "body": "Shows rows in one column."},
  {"slug": "view/frame.md", "title": "frame(width:height:)", "category": "Layout", "body": "Puts the view into an invisible frame."},
  {"slug": "tools/write_file/", "title": "write_file", "kind": "tool", "body": "Stores a text in a file."},
  {"slug": "tools/read_file", "title": "read_file", "kind": "tool", "body": "Reads a text from a file."},
  {"slug": "tools/list_files", "title": "list_files", "kind": "tool", "body": "Lists all files of a folder."},
  {"slug": "guides/saving", "title": "Saving files and libraries", "category": "Guides/Files", "summary": "How a file is saved, and a library.", "body": "A file is saved by writing it."},
  {"slug": "releases/3.2", "title": "Kit 3.2", "version": "3.2", "body": "Files are saved faster."},
  {"slug": "v1.9/guides/install", "title": "Install", "version": "1.9", "body": "How to install the kit."},
  {"slug": "v1.10/guides/install", "title": "Install", "version": "1.10", "body": "How to install the kit."},
  {"slug": "größe/ΑΘΗΝΑΣ", "title": "Größe der ΑΘΗΝΑΣ — ﬁnden", "category": "Städte/Ελλάδα", "body": "Eine Datei finden."},
  {"slug": "文件/保存", "title": "保存 文件 file", "category": "文件", "body": "保存一个 file。"}
]');

-- Every way to write a row.
CREATE VIEW pg_temp.wrong AS
SELECT slug FROM docsearch.document
WHERE page_keys IS DISTINCT FROM docsearch.page_keys(title, slug, category) OR get_byte(page_keys, 0) <> 2 OR octet_length(page_keys) > 1024;
SELECT docsearch.index_doc('keys', 'tools/read_file', 'read_text_file', 'Reads a text from a file.', category => 'Tools');
UPDATE docsearch.document SET title = 'read_file', category = NULL WHERE slug = 'tools/read_file';
INSERT INTO docsearch.document (project_id, slug, title, category, body, content_hash)
SELECT id, 'by/hand', 'By hand', 'Hands', 'Written by hand.', '' FROM docsearch.project WHERE name = 'keys';
UPDATE docsearch.document SET slug = 'by/another-hand' WHERE slug = 'by/hand';
SELECT * FROM pg_temp.wrong;
DROP VIEW pg_temp.wrong;
INSERT INTO docsearch.document (project_id, slug, title, body, content_hash, page_keys) SELECT id, 'forged', 'Forged', '', '', '\x01' FROM docsearch.project WHERE name = 'keys';
UPDATE docsearch.document SET page_keys = '\x01';
DELETE FROM docsearch.document WHERE slug = 'by/another-hand';
SELECT attstorage, attgenerated FROM pg_attribute WHERE attrelid = 'docsearch.document'::regclass AND attname = 'page_keys';

-- Texts that are too long have no keys, nor have missing ones.
SELECT docsearch.page_keys(repeat('a b ', 300), 'x', NULL) IS NULL AS long,
       docsearch.page_keys(NULL, 'x', 'y') IS NULL AS untitled, docsearch.page_keys('x', NULL, 'y') IS NULL AS nowhere, docsearch.page_keys('', '', NULL) IS NOT NULL AS empty;
SELECT docsearch.index_doc('keys', 'long', repeat('Saving files ', 100) || 'for ever', 'A long title.');
SELECT slug FROM docsearch.document WHERE page_keys IS NULL;
\set VERBOSITY terse
UPDATE docsearch.document SET title = repeat('x', 2000000) WHERE slug = 'long';
\set VERBOSITY default

-- The same answers, and the same steps of every score.
CREATE TABLE pg_temp.answer (keys text, query text, slug text, score real, steps text);
CREATE FUNCTION pg_temp.ask(keys text) RETURNS void LANGUAGE sql AS $$
    INSERT INTO answer
    SELECT $1, q, d.slug, s.score, (SELECT string_agg(format('%s %s %s %s', e.rule, e.matched, e.raw, e.after), E'\n' ORDER BY e.after, e.rule, e.matched)
                                    FROM docsearch.explain_search(CASE WHEN q <> 'files -tools' THEN q ELSE 'files' END, d.slug, 'keys') e)
    FROM unnest(ARRAY['UITableView', 'table view', 'frame', 'frame in Layout', 'save a text file', 'save files in Guides', 'list all files', 'libraries',
                      'what changed in 3.2?', 'install', 'how do I save a file?', 'tableview', 'read_fle', 'größe', 'αθηνας', '保存 文件', '"saved" files',
                      'files -tools', 'uikit button', 'file in 文件']) q
    CROSS JOIN (SELECT slug FROM docsearch.document JOIN docsearch.project p ON p.id = project_id WHERE p.name = 'keys') d
    LEFT JOIN search_docs(q, 'keys', max_results => 20) s USING (slug)
$$;
CREATE VIEW pg_temp.other_answer AS
SELECT a.keys, a.query, a.slug FROM answer a JOIN answer b USING (query, slug)
WHERE b.keys = 'generated' AND (a.score IS DISTINCT FROM b.score OR a.steps IS DISTINCT FROM b.steps);
SELECT pg_temp.ask('generated');
BEGIN;
ALTER TABLE docsearch.document ALTER COLUMN page_keys DROP EXPRESSION;
UPDATE docsearch.document SET page_keys = NULL;
SELECT pg_temp.ask('none');
UPDATE docsearch.document SET page_keys = '\x00' || substr(docsearch.page_keys(title, slug, category), 2);
SELECT pg_temp.ask('another version');
UPDATE docsearch.document SET page_keys = substr(docsearch.page_keys(title, slug, category), 1, octet_length(slug));
SELECT pg_temp.ask('a part');
UPDATE docsearch.document SET page_keys = '\x01ffffffffff';
SELECT pg_temp.ask('other bytes');
ALTER TABLE docsearch.document DROP COLUMN page_keys;
SELECT pg_temp.ask('no column');
SELECT keys, count(*), count(score) > 50 AS found FROM answer GROUP BY keys ORDER BY keys;
SELECT * FROM pg_temp.other_answer;
ROLLBACK;
SELECT docsearch.drop_project('keys') > 0;

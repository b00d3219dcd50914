\i tests/fixtures/swiftui.sql
SELECT docsearch.create_project('manual') > 0 AS created;
SELECT docsearch.index_doc('manual', 'guides/install', 'Install', E'# Install\n\nHow to install it.\n\n## Linux\n\nUse apt.\n\n### Debian\n\nVersion 12.\n\n## Windows\n\nUse the setup.',
    category => 'Guides', kind => 'guide', source_urls => ARRAY['https://example.org/install']);
SELECT docsearch.index_doc('manual', 'button', 'Button of the manual', 'Another button.', category => 'Reference');

-- s3_21: the page as markdown.
SELECT regexp_replace(load_doc('guides/install'), '\d{4}-\d\d-\d\d', 'DATE');
-- s3_20: without metadata, without sections.
SELECT load_doc('guides/install', false, false);
-- s3_21: the beginning of a page is its summary, and is shown once.
SELECT regexp_count(load_doc(project || '/' || slug), E'\n## Summary\n') AS summaries,
       bool_and(regexp_count(load_doc(project || '/' || slug), description, 1) <= 1) AS once
FROM list_docs(project => 'swiftui') WHERE description ~ '^[A-Za-z ,.]+$' GROUP BY 1;
-- The reference project/slug#anchor, a section by anchor or heading.
SELECT load_doc('manual/guides/install#linux', include_metadata => false);
SELECT load_doc('guides/install', include_metadata => false, section => 'Windows');
SELECT load_doc('guides/install', include_metadata => false, max_tokens => 10);
-- s3_54: following the notes gives every word once.
SELECT docsearch.index_doc('manual', 'long', 'Long', E'# Long\n\n' || (SELECT string_agg('word' || n, ' ') FROM generate_series(1, 9000) AS n) || E'\n\n## Short\n\nAfter it.');
SELECT right(load_doc('long', max_tokens => 6000), 90) AS note;
WITH RECURSIVE part(number, content) AS (
    SELECT 1, load_doc('manual/long', max_tokens => 6000)
    UNION ALL SELECT number + 1, load_doc('manual/long', max_tokens => 6000, skip => substring(content FROM 'skip (\d+) to read on')::bigint)
    FROM part WHERE content ~ 'skip \d+ to read on'),
word AS (SELECT w[1] AS word, count(*) AS times FROM part, regexp_matches(content, 'word\d+', 'g') AS w GROUP BY 1)
SELECT (SELECT count(*) FROM part) AS calls, count(*) AS words, max(times) AS times FROM word;
SELECT d ->> 'content' AS content, d -> 'truncated' AS truncated FROM load_doc_json('long', skip => 79887) AS d;
SELECT load_doc('long', skip => 1000000);
SELECT load_doc('long', skip => -1);
SELECT docsearch.delete_doc('manual', 'long');
-- A slug of two projects, and one of none (s3_28).
SELECT load_doc('button');
SELECT load_doc('button', project => 'manual', include_metadata => false);
SELECT load_doc('guides/instal');
SELECT load_doc('guides/install', section => 'Solaris');
SELECT load_doc(NULL);
SELECT load_doc('guides/install', max_tokens => 0);
-- s3_22: one wrong slug does not affect the others.
SELECT slug, left(content, 9) AS content, error FROM load_docs(ARRAY['guides/install', 'navigationview', 'bad', NULL]);
-- A length applies to all together: the short document is whole, the long ones share the rest.
SELECT docsearch.index_doc('manual', 'long/' || n, 'Long ' || n, repeat(E'Some words.\n\n', 100)) FROM generate_series(1, 2) AS n;
SELECT slug, content LIKE '%Another button.%' AS whole, content LIKE '%left out%' AS cut, length(content) > 300 AS long
FROM load_docs(ARRAY['long/1', 'button', 'long/2', 'bad'], project => 'manual', max_tokens => 200);
SELECT sum(length(content)) <= 800 AS within FROM load_docs(ARRAY['long/1', 'button', 'long/2'], project => 'manual', max_tokens => 200);
SELECT * FROM load_docs(ARRAY['button'], max_tokens => 0);
SELECT docsearch.delete_doc('manual', 'long/' || n) FROM generate_series(1, 2) AS n;
-- s3_20: the same as an object.
SELECT jsonb_pretty(load_doc_json('guides/install#linux') || '{"created_at": "", "updated_at": "", "content": ""}');
SELECT load_doc_json('guides/install#linux') ->> 'content' = load_doc('guides/install#linux') AS same,
    load_doc_json('guides/install') ->> 'updated_at' ~ '^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$' AS iso;
SELECT load_doc_json('guides/install', include_sections => false, include_metadata => false) - 'sections';
SELECT d ->> 'content' AS content, d -> 'truncated' AS truncated FROM load_doc_json('guides/install', max_tokens => 15) AS d;
SELECT load_doc_json('guides/install', section => 'Solaris');
SELECT load_doc_json('button');
SELECT load_doc_json(NULL);
-- s3_18: results can be loaded.
SELECT load_doc(project || '/' || slug) LIKE '# Install%' FROM search_docs('install on linux', project => 'manual', max_results => 1);

-- s3_23: lists, filtered and sorted.
SELECT project, category, slug, title, kind, description, chunk_count FROM list_docs(project => 'manual');
SELECT slug FROM list_docs(kind => 'guide');
SELECT count(*) FROM list_docs(category => 'Reference');
SELECT slug FROM list_docs(project => 'manual', sort_by => 'date') LIMIT 1;
SELECT * FROM list_docs(sort_by => 'size');
-- A part of the list.
SELECT slug FROM list_docs(project => 'swiftui', max_tokens => 60);
SELECT slug FROM list_docs(project => 'swiftui', max_tokens => 60, skip => 2);
SELECT count(*) FROM list_docs(project => 'swiftui', skip => 1000);
SELECT slug FROM list_docs(project => 'swiftui', max_tokens => 1, skip => 1);
SELECT slug FROM list_docs(skip => -1);
SELECT slug FROM list_docs(max_tokens => 0);
SELECT l -> 'total_documents' AS total, l -> 'next_skip' AS next, length(l::text) <= 4 * tokens AS within
FROM unnest(ARRAY[1, 400, 100000]) AS tokens, list_docs_json('swiftui', max_tokens => tokens) AS l;
SELECT list_docs_json('swiftui', skip => -1);
SELECT * FROM list_docs(project => 'manul');
SELECT docsearch.drop_project('manual');
SELECT docsearch.drop_project('swiftui');

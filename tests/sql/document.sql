\i tests/fixtures/swiftui.sql
SELECT docsearch.create_project('manual') > 0 AS created;
SELECT docsearch.index_doc('manual', 'guides/install', 'Install', E'# Install\n\nHow to install it.\n\n## Linux\n\nUse apt.\n\n### Debian\n\nVersion 12.\n\n## Windows\n\nUse the setup.',
    category => 'Guides', kind => 'guide', source_urls => ARRAY['https://example.org/install']);
SELECT docsearch.index_doc('manual', 'button', 'Button of the manual', 'Another button.', category => 'Reference');

-- s3_21: the page as markdown.
SELECT regexp_replace(load_doc('guides/install'), '\d{4}-\d\d-\d\d', 'DATE');
-- s3_20: without metadata, without sections.
SELECT load_doc('guides/install', false, false);
-- The reference project/slug#anchor, a section by anchor or heading.
SELECT load_doc('manual/guides/install#linux', include_metadata => false);
SELECT load_doc('guides/install', include_metadata => false, section => 'Windows');
SELECT load_doc('guides/install', include_metadata => false, max_tokens => 10);
-- A slug of two projects, and one of none (s3_28).
SELECT load_doc('button');
SELECT load_doc('button', project => 'manual', include_metadata => false);
SELECT load_doc('guides/instal');
SELECT load_doc('guides/install', section => 'Solaris');
SELECT load_doc(NULL);
SELECT load_doc('guides/install', max_tokens => 0);
-- s3_22: one bad slug does not lose the others.
SELECT slug, left(content, 9) AS content, error FROM load_docs(ARRAY['guides/install', 'navigationview', 'bad', NULL]);
-- s3_18: what is found can be loaded.
SELECT load_doc(project || '/' || slug) LIKE '# Install%' FROM search_docs('install on linux', project => 'manual', max_results => 1);

-- s3_23: listing, filtered and sorted.
SELECT project, category, slug, title, kind, description, chunk_count FROM list_docs(project => 'manual');
SELECT slug FROM list_docs(kind => 'guide');
SELECT count(*) FROM list_docs(category => 'Reference');
SELECT slug FROM list_docs(project => 'manual', sort_by => 'date') LIMIT 1;
SELECT * FROM list_docs(sort_by => 'size');
SELECT * FROM list_docs(project => 'manul');
SELECT docsearch.drop_project('manual');
SELECT docsearch.drop_project('swiftui');

-- A catalogue of tools.
SELECT docsearch.create_project('tools') > 0 AS created;
SELECT slug, action FROM docsearch.index_docs('tools', '[
  {"slug": "read_text_file", "title": "read_text_file", "category": "files", "body": "Read the complete contents of a text file."},
  {"slug": "write_file", "title": "write_file", "category": "files", "body": "Create a new file or overwrite an existing file with new content."},
  {"slug": "edit_file", "title": "edit_file", "category": "files", "body": "Make changes to single lines of a text file."},
  {"slug": "list_directory", "title": "list_directory", "category": "files", "body": "List what is in a directory."},
  {"slug": "delete_file", "title": "delete_file", "category": "files", "body": "Delete a file for good."}
]');

-- s2_7: the main example.
SELECT slug FROM search_docs('save a text file', 'tools', max_results => 3);
-- s2_13: verbs that no page has.
SELECT q, (SELECT slug FROM search_docs(q, 'tools') WHERE rank = 1)
FROM unnest(ARRAY['get rid of the file', 'throw the file away', 'look at a text file', 'store a text']) q;

-- s2_3, s2_5, s0_10: rules are rows, with defaults.
SELECT count(*) >= 37 FROM docsearch.action;
SELECT verb, string_agg(synonym, ' ' ORDER BY synonym) FROM docsearch.action_synonym
WHERE (verb, synonym) IN (('save', 'write'), ('load', 'read'), ('show', 'view'), ('modify', 'edit'), ('remove', 'delete'))
GROUP BY verb ORDER BY verb;
SELECT term, boost BETWEEN 0.05 AND 0.10 FROM docsearch.generic_term WHERE term IN ('init', 'frame', 'body') ORDER BY term;
SELECT number, tip FROM docsearch.search_tip ORDER BY number;

-- s2_3: a new row changes the ranking at once, and is rolled back with the transaction.
SELECT slug FROM search_docs('vaporise the file', 'tools', max_results => 1);
BEGIN;
INSERT INTO docsearch.action (verb, intent) VALUES ('vaporise', 'delete');
INSERT INTO docsearch.action_synonym (verb, synonym) VALUES ('vaporise', 'delete');
SELECT slug FROM search_docs('vaporise the file', 'tools', max_results => 1);
SELECT rule, matched, raw FROM docsearch.explain_search('vaporise the file', 'delete_file', 'tools') WHERE rule = 'intent_synonym';
ROLLBACK;
SELECT count(*) FROM docsearch.explain_search('vaporise the file', 'delete_file', 'tools') WHERE rule = 'intent_synonym';

-- s2_20: a connection reads them again only after a change. No other session may change the tables here.
BEGIN;
LOCK TABLE docsearch.action, docsearch.action_synonym, docsearch.intent_conflict, docsearch.generic_term, docsearch.synonym,
           docsearch.framework_alias, docsearch.platform, docsearch.query_word, docsearch.news_name, docsearch.search_tip IN SHARE MODE;
SELECT count(*) FROM search_docs('get rid of the file', 'tools');
SELECT seq_scan AS before FROM pg_stat_xact_user_tables WHERE relid = 'docsearch.action'::regclass \gset
SELECT count(*) FROM search_docs('get rid of the file', 'tools');
SELECT seq_scan - :before AS further FROM pg_stat_xact_user_tables WHERE relid = 'docsearch.action'::regclass;
UPDATE docsearch.action SET intent = intent WHERE verb = 'save';
SELECT seq_scan AS before FROM pg_stat_xact_user_tables WHERE relid = 'docsearch.action'::regclass \gset
SELECT count(*) FROM search_docs('get rid of the file', 'tools');
SELECT seq_scan - :before AS further FROM pg_stat_xact_user_tables WHERE relid = 'docsearch.action'::regclass;
ROLLBACK;

-- A rule of one project does not affect others; a row can disable a rule that applies to all.
SELECT docsearch.create_project('other') > 0 AS created;
SELECT docsearch.index_doc('other', 'delete_file', 'delete_file', 'Delete a file for good.');
INSERT INTO docsearch.synonym (project_id, term, expansion)
    SELECT id, 'dustbin', 'delete' FROM docsearch.project WHERE name = 'other';
SELECT project, keyword_score > 0 AS found FROM search_docs('dustbin') ORDER BY project LIMIT 2;
INSERT INTO docsearch.generic_term (project_id, term, enabled)
    SELECT id, 'file', false FROM docsearch.project WHERE name = 'other';
SELECT project, search_docs_json('file', project) #>> '{understood,class}' FROM unnest(ARRAY['tools', 'other']) project;
SELECT docsearch.drop_project('other');
SELECT count(*) FROM docsearch.synonym WHERE project_id IS NOT NULL;

-- An invalid rule is refused.
INSERT INTO docsearch.action_synonym (verb, synonym, closeness) VALUES ('a', 'b', 2);
INSERT INTO docsearch.intent_conflict (asked, found, penalty) VALUES ('sing', 'read', 0.1);
INSERT INTO docsearch.generic_term (term) VALUES ('two words');
INSERT INTO docsearch.generic_term (term) VALUES ('frame');

-- s0_40: names of release notes are rows, also for one project.
SELECT place, string_agg(name, ' ' ORDER BY name) FROM docsearch.news_name GROUP BY place ORDER BY place;
SELECT docsearch.index_doc('tools', 'blog/locks', 'Locks', 'What a lock of a table does, and how long it lasts.');
CREATE TEMP VIEW as_news AS
SELECT q, count(*) FROM unnest(ARRAY['table locks', 'news of table locks']) AS q,
     docsearch.explain_search(q, 'blog/locks', 'tools') WHERE rule = 'news' GROUP BY q ORDER BY q;
SELECT * FROM as_news;
INSERT INTO docsearch.news_name (project_id, place, name, enabled) SELECT id, 'folder', 'Blog', false FROM docsearch.project WHERE name = 'tools';
SELECT * FROM as_news;
DELETE FROM docsearch.news_name WHERE project_id IS NOT NULL;
UPDATE docsearch.news_name SET enabled = false WHERE name = 'blog';
SELECT * FROM as_news;
INSERT INTO docsearch.news_name (place, name) VALUES ('shelf', 'blog');

-- Changes can be undone.
DELETE FROM docsearch.search_tip;
SELECT docsearch.reset_rules() > 1000 AS restored;
SELECT count(*) FROM docsearch.search_tip;
SELECT * FROM as_news;
SELECT docsearch.drop_project('tools');

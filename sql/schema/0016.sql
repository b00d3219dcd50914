-- Words around names and objects.
ALTER TABLE docsearch.query_word DROP CONSTRAINT query_word_kind_check;
ALTER TABLE docsearch.query_word ADD CONSTRAINT query_word_kind_check
    CHECK (kind IN ('alone', 'article', 'asks', 'before_container', 'before_verb', 'change', 'closing', 'comparing', 'creates', 'filler',
                    'framing', 'happened', 'infinitive', 'kind', 'made', 'modifier', 'new', 'news', 'opening', 'question', 'recency',
                    'release', 'scope', 'stop', 'thing', 'when'));
COMMENT ON COLUMN docsearch.query_word.kind IS
    'kind: a kind of page, as in "View protocol"; framing: the aspect of a name, as in "Grid parameters"; comparing: compares two names; before_container: between a name and its container, as in "Button in SwiftUI"; question: begins a question; before_verb: before a verb at the beginning of a query, as in "can I delete a file"; infinitive: before a verb anywhere, as in "how to delete a file"; article: between a verb and its object; modifier: distinguishes objects of one kind, as in "large files"; scope: a number of objects; recency: for the newest pages; new: for them if the query has nothing else; alone: for them as the only word; happened: for them beside a word for a time or a question word; asks: begins such a query as question words do; when: a time; thing: a page of any kind; made: after a word of kind creates, something to create; creates: before such a word, as in "new page"; filler: without meaning beside words for the newest pages; release: for release notes and changelogs; news: for release notes and the like; change: for changes, beside the number of a version; stop: a stop word; opening, closing: a pattern of words before and after a task, as in "how do I silence an alarm, please?"';
-- Comments of earlier versions in plain words.
COMMENT ON COLUMN docsearch.action_synonym.closeness IS 'how close its meaning is, 0 to 1';
COMMENT ON TABLE docsearch.generic_term IS 'words in the names of many pages, which alone distinguish none';
COMMENT ON TABLE docsearch.embedding_queue IS 'documents whose vectors are still missing; keyword search finds them already';
COMMENT ON COLUMN docsearch.embedding_queue.attempts IS 'number of failed attempts';
COMMENT ON COLUMN docsearch.embedding_queue.next_attempt IS 'earliest time of the next attempt';
COMMENT ON COLUMN docsearch.embedding_queue.error IS 'error of the last attempt';
COMMENT ON TABLE docsearch.embedding_rate IS 'how fast documents were embedded in the last run, and the error that stops the worker';
COMMENT ON COLUMN docsearch.embedding_rate.error IS 'last error of the worker, unless it has succeeded since';
COMMENT ON TABLE docsearch.attached_table IS 'tables of users whose rows are documents; triggers on them record changes';
COMMENT ON COLUMN docsearch.attached_table.slug_prefix IS 'prefix of slugs, before the key';
COMMENT ON COLUMN docsearch.attached_table.error IS 'last error of reading or indexing';
COMMENT ON COLUMN docsearch.attached_table.next_attempt IS 'earliest time of the next attempt';
COMMENT ON COLUMN docsearch.attached_table.attempts IS 'number of consecutive failed attempts to read it';
COMMENT ON COLUMN docsearch.attached_table.step_rows IS 'number of rows that are read at once; fewer if they are slow to read';
COMMENT ON COLUMN docsearch.attached_table.reading IS 'whether the worker is reading it, or ended while it did';
COMMENT ON COLUMN docsearch.attached_table.reads_as IS
    'role that owned the table when it was attached: rows are read as this role, and only while it owns the table';
COMMENT ON COLUMN docsearch.table_change.attached_id IS 'attached table';
COMMENT ON COLUMN docsearch.model.name IS 'name by which projects choose it';
COMMENT ON COLUMN docsearch.model.directory IS 'its directory below docsearch.model_directory; NULL: the one with the name of the model';
COMMENT ON COLUMN docsearch.project.switch_attempts IS 'number of failed attempts to embed with it';
COMMENT ON COLUMN docsearch.project.switch_next_attempt IS 'earliest time of the next attempt';
COMMENT ON COLUMN docsearch.project.switch_error IS 'error that stops the switch';
COMMENT ON COLUMN docsearch.project.root_url IS 'start of the URLs of pages, before the slug';
COMMENT ON COLUMN docsearch.model.background IS 'baseline similarity: mean cosine similarity of unrelated texts, at which the dense score is 0';
COMMENT ON TABLE docsearch.document_name IS 'names of pages, in comparable form';
COMMENT ON COLUMN docsearch.document.kind IS 'kind of page: class, function, guide, ...';

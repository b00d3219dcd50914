ALTER TABLE docsearch.embedding_rate ADD COLUMN error text;
COMMENT ON TABLE docsearch.embedding_rate IS 'how fast documents were embedded in the last run, and what keeps the worker from going on';
COMMENT ON COLUMN docsearch.embedding_rate.error IS 'what the worker failed with last, unless it has gone on since';

ALTER INDEX IF EXISTS docsearch.chunk_terms SET (fastupdate = on, gin_pending_list_limit = 256);

ALTER TABLE docsearch.embedding_rate ADD COLUMN error text;
COMMENT ON TABLE docsearch.embedding_rate IS 'how fast documents were embedded in the last run, and what keeps the worker from going on';
COMMENT ON COLUMN docsearch.embedding_rate.error IS 'what the worker failed with last, unless it has gone on since';

ALTER INDEX IF EXISTS docsearch.chunk_terms SET (fastupdate = on, gin_pending_list_limit = 256);
ALTER TABLE docsearch.model ADD COLUMN remote bool NOT NULL DEFAULT false;
COMMENT ON COLUMN docsearch.model.remote IS 'whether an endpoint in docsearch.endpoint embeds for it';
COMMENT ON COLUMN docsearch.model.digest IS 'SHA-256, hexadecimal, of graph, tokenizer and configuration; of a remote model, of what it is asked for';

CREATE TABLE docsearch.endpoint (
    model_id int PRIMARY KEY REFERENCES docsearch.model ON DELETE CASCADE,
    url text NOT NULL,
    model text NOT NULL,
    names_dimension bool NOT NULL,
    api_key_file text
);
COMMENT ON TABLE docsearch.endpoint IS 'where remote models are; used only while a superuser owns this table';
COMMENT ON COLUMN docsearch.endpoint.model_id IS 'the model';
COMMENT ON COLUMN docsearch.endpoint.url IS 'base of an OpenAI-compatible interface, to which /embeddings is appended';
COMMENT ON COLUMN docsearch.endpoint.model IS 'name of the model there';
COMMENT ON COLUMN docsearch.endpoint.names_dimension IS 'whether the endpoint is asked for vectors of this dimension';
COMMENT ON COLUMN docsearch.endpoint.api_key_file IS 'file of the server that holds the API key';

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

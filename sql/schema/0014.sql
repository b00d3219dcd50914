-- Vectors in two bits for each component (docs/decisions/0034-codes-of-vectors.md). Without a key that writers share, so that they
-- wait neither for each other nor for a merge.
CREATE TABLE docsearch.vector_code (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    project_id bigint NOT NULL REFERENCES docsearch.project ON DELETE CASCADE,
    model_id int NOT NULL REFERENCES docsearch.model ON DELETE CASCADE,
    codes int NOT NULL,
    packed boolean NOT NULL,
    bytes bytea STORAGE PLAIN NOT NULL,
    -- A row fits into a page.
    CONSTRAINT vector_code_possible CHECK (codes > 0 AND octet_length(bytes) <= 8000)
);
CREATE INDEX vector_code_project ON docsearch.vector_code (project_id, model_id);
CREATE INDEX vector_code_loose ON docsearch.vector_code (project_id, model_id) WHERE NOT packed;
COMMENT ON TABLE docsearch.vector_code IS
    'vectors of chunks in two bits for each component. Searches find candidates by them, and compare their vectors. A row may still have codes of changed or deleted chunks';
COMMENT ON COLUMN docsearch.vector_code.id IS 'key';
COMMENT ON COLUMN docsearch.vector_code.project_id IS 'project';
COMMENT ON COLUMN docsearch.vector_code.model_id IS 'model of the vectors';
COMMENT ON COLUMN docsearch.vector_code.codes IS 'number of codes';
COMMENT ON COLUMN docsearch.vector_code.packed IS 'whether merges leave the row alone; other rows are as they were written, one for each document';
COMMENT ON COLUMN docsearch.vector_code.bytes IS 'documents, chunks and codes, in the format of docsearch_core::vector_code';

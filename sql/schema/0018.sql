-- Rows of codes of a large project by cluster: a search reads those whose centroids are near the query
-- (docs/decisions/0055-clusters-of-codes.md).
ALTER TABLE docsearch.vector_code
    ADD COLUMN centroid bytea STORAGE PLAIN,
    ADD CONSTRAINT vector_code_centroid CHECK (
        centroid IS NULL OR packed AND octet_length(bytes) + octet_length(centroid) <= 8000 AND octet_length(centroid) <= 2500
    );
COMMENT ON COLUMN docsearch.vector_code.centroid IS
    'code of the mean of the vectors, as a row with one code; NULL if they are of no cluster: every search reads such rows';
-- Its entries are read without the rows.
CREATE INDEX vector_code_centroid ON docsearch.vector_code (project_id, model_id) INCLUDE (id, centroid) WHERE centroid IS NOT NULL;
CREATE INDEX vector_code_unclustered ON docsearch.vector_code (project_id, model_id) WHERE centroid IS NULL;

CREATE TABLE docsearch.definition (
    project_id bigint NOT NULL,
    document_id bigint NOT NULL,
    key text COLLATE "C" NOT NULL,
    PRIMARY KEY (project_id, document_id, key),
    FOREIGN KEY (project_id, document_id) REFERENCES docsearch.document ON DELETE CASCADE
);
CREATE INDEX definition_key ON docsearch.definition (project_id, key) INCLUDE (document_id);
COMMENT ON TABLE docsearch.definition IS 'names that sections of documents define: their headings, and lines that read like signatures';
COMMENT ON COLUMN docsearch.definition.project_id IS 'project';
COMMENT ON COLUMN docsearch.definition.document_id IS 'document';
COMMENT ON COLUMN docsearch.definition.key IS 'name in comparable form: lower case, without what separates words';

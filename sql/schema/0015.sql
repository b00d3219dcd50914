-- Questions that documents answer (docs/decisions/0036-questions.md). Each is also a chunk, which is found by its words and vector.
CREATE TABLE docsearch.question (
    project_id bigint NOT NULL,
    document_id bigint NOT NULL,
    question_no int NOT NULL,
    anchor text NOT NULL,
    question text NOT NULL,
    source text NOT NULL,
    section_hash text NOT NULL,
    stale boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (project_id, document_id, question_no),
    FOREIGN KEY (project_id, document_id) REFERENCES docsearch.document ON DELETE CASCADE,
    CONSTRAINT question_possible CHECK (
        question_no BETWEEN 0 AND 999 AND char_length(question) BETWEEN 1 AND 300 AND octet_length(anchor) <= 1024
        AND source <> '' AND octet_length(source) <= 1024)
);
COMMENT ON TABLE docsearch.question IS 'questions that sections of documents answer, in the words of their readers';
COMMENT ON COLUMN docsearch.question.project_id IS 'project';
COMMENT ON COLUMN docsearch.question.document_id IS 'document';
COMMENT ON COLUMN docsearch.question.question_no IS 'number of the question within the document, from 0';
COMMENT ON COLUMN docsearch.question.anchor IS 'anchor of the section that answers it; empty: the whole page';
COMMENT ON COLUMN docsearch.question.question IS 'the question';
COMMENT ON COLUMN docsearch.question.source IS 'author, reader, or model with its name';
COMMENT ON COLUMN docsearch.question.section_hash IS 'SHA-256, hexadecimal, of the section that it was written for';
COMMENT ON COLUMN docsearch.question.stale IS 'whether the section has changed since, or does not exist any more';
COMMENT ON COLUMN docsearch.question.created_at IS 'when it was stored';
ALTER TABLE docsearch.chunk DROP CONSTRAINT chunk_kind_check;
ALTER TABLE docsearch.chunk ADD CONSTRAINT chunk_kind_check CHECK (kind IN ('summary', 'body', 'question')) NOT VALID;
COMMENT ON COLUMN docsearch.chunk.chunk_no IS
    'number within the document, from 0; of a question 1048576 + 1024 times the chunk with the section that answers it + its number among the questions of that chunk, from 1000 for headings';
COMMENT ON COLUMN docsearch.chunk.kind IS 'summary, body or question; questions include headings, which have no row in docsearch.question';

ALTER TABLE docsearch.attached_table ADD COLUMN questions_column name;
COMMENT ON COLUMN docsearch.attached_table.questions_column IS
    'column with the questions that a row answers; NULL: rows have no questions';

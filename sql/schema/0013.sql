-- Running writers know nothing of pending documents: they end first, and later ones wait.
LOCK TABLE docsearch.document, docsearch.chunk IN SHARE ROW EXCLUSIVE MODE;
-- Keys of the title, slug and category of a page for ranking rules. The column is generated, so that it is right however the row
-- is written, replicated or restored. It is inline and not compressed: 1,024 bytes at most, by docsearch_core::page_keys. Longer
-- texts are not read: Postgres checks the constraints that bound them after this.
ALTER TABLE docsearch.document ADD COLUMN page_keys bytea STORAGE PLAIN GENERATED ALWAYS AS (
    CASE WHEN octet_length(title) + octet_length(slug) + coalesce(octet_length(category), 0) <= 1024
         THEN docsearch.page_keys(title, slug, category) END) STORED;
COMMENT ON COLUMN docsearch.document.page_keys IS
    'words and names of title, slug and category in the form that ranking rules compare; NULL: they are too long, and searches compute it';

-- Postings: the words of the sections of a project, packed in segments (docs/decisions/0031-postings.md).
CREATE TABLE docsearch.posting_segment (
    project_id bigint NOT NULL REFERENCES docsearch.project ON DELETE CASCADE,
    segment int NOT NULL,
    sections int NOT NULL,
    documents int NOT NULL,
    bucket_count int NOT NULL,
    first_document bigint NOT NULL,
    last_document bigint NOT NULL,
    superseded bigint[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (project_id, segment),
    CONSTRAINT posting_segment_possible CHECK (
        documents BETWEEN 1 AND sections AND sections <= 50000 AND bucket_count >= 0 AND first_document <= last_document),
    CONSTRAINT posting_segment_superseded_bounded CHECK (
        array_position(superseded, NULL) IS NULL AND cardinality(superseded) <= documents)
);
COMMENT ON TABLE docsearch.posting_segment IS 'sections of a project whose words are packed in docsearch.posting; only superseded changes';
COMMENT ON COLUMN docsearch.posting_segment.project_id IS 'project';
COMMENT ON COLUMN docsearch.posting_segment.segment IS 'number of the segment in the project';
COMMENT ON COLUMN docsearch.posting_segment.sections IS 'number of its chunks';
COMMENT ON COLUMN docsearch.posting_segment.documents IS 'number of their documents';
COMMENT ON COLUMN docsearch.posting_segment.bucket_count IS 'number of buckets that words are spread over by their hash';
COMMENT ON COLUMN docsearch.posting_segment.first_document IS 'lowest id of its documents';
COMMENT ON COLUMN docsearch.posting_segment.last_document IS 'highest id of its documents';
COMMENT ON COLUMN docsearch.posting_segment.superseded IS 'documents that no longer count in this segment, ascending: they were deleted, or are in a later segment';

CREATE TABLE docsearch.posting (
    project_id bigint NOT NULL,
    segment int NOT NULL,
    bucket int NOT NULL,
    part int NOT NULL,
    bytes bytea STORAGE PLAIN NOT NULL,
    PRIMARY KEY (project_id, segment, bucket, part),
    FOREIGN KEY (project_id, segment) REFERENCES docsearch.posting_segment ON DELETE CASCADE,
    -- A row fits into a page.
    CONSTRAINT posting_bytes_bounded CHECK (octet_length(bytes) <= 8000)
);
COMMENT ON TABLE docsearch.posting IS 'chunks of a segment that have a word, with its positions, in the format of docsearch_core::postings';
COMMENT ON COLUMN docsearch.posting.project_id IS 'project';
COMMENT ON COLUMN docsearch.posting.segment IS 'segment';
COMMENT ON COLUMN docsearch.posting.bucket IS 'bucket of words by their hash; -1: the list of the chunks';
COMMENT ON COLUMN docsearch.posting.part IS 'number of the row within the bucket, from 0';
COMMENT ON COLUMN docsearch.posting.bytes IS 'part of the bucket';

-- Without a unique key, so that writers wait neither for each other nor for a merge.
CREATE TABLE docsearch.posting_pending (
    project_id bigint NOT NULL REFERENCES docsearch.project ON DELETE CASCADE,
    document_id bigint NOT NULL
);
ALTER TABLE docsearch.posting_pending REPLICA IDENTITY FULL;
CREATE INDEX posting_pending_project ON docsearch.posting_pending (project_id);
COMMENT ON TABLE docsearch.posting_pending IS 'documents whose chunks were written or deleted since they were packed: searches read their chunks instead of their postings';
COMMENT ON COLUMN docsearch.posting_pending.project_id IS 'project';
COMMENT ON COLUMN docsearch.posting_pending.document_id IS 'document, which may be deleted';

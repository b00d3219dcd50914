-- Counts and facets: all visible documents that match by words, exactly.
SELECT docsearch.create_project('counted') > 0 AS created, docsearch.create_project('other') > 0 AS other;
CREATE FUNCTION pg_temp.page(n int) RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_object(
        'slug', 'page-' || n, 'title', 'Page ' || n,
        'body', 'Text.' || CASE WHEN n % 2 = 0 THEN ' Alphabets.' ELSE '' END || CASE WHEN n % 3 = 0 THEN E'\n\n## Second\n\nA betatron.' ELSE '' END
                || CASE WHEN n % 5 = 0 THEN E'\n\n## Third\n\nThe useGamma() hook.' ELSE '' END,
        'category', CASE WHEN n % 10 = 0 THEN 'Rare/Deep' ELSE 'Common' END,
        'kind', CASE n % 4 WHEN 0 THEN 'guide' WHEN 1 THEN 'Guide' WHEN 2 THEN 'class' END,
        'version', CASE WHEN n <= 20 THEN '4.9' ELSE '4.10' END,
        'metadata', jsonb_build_object('platforms', CASE WHEN n % 2 = 0 THEN '["ios", "macos", "iOS"]'::jsonb ELSE '"iOS"' END,
                                       'level', n % 3, 'stage', (ARRAY['beta', 'Beta', 'BETA', 'bETA'])[1 + n % 4], 'draft', n % 7 = 0))
$$;
SELECT count(*) FROM docsearch.index_docs('counted', (SELECT jsonb_agg(pg_temp.page(n)) FROM generate_series(1, 60) n));
SELECT count(*) FROM docsearch.index_docs('other', (SELECT jsonb_agg(pg_temp.page(n)) FROM generate_series(1, 7) n));

-- All words have to be in a document, in any of its sections; or one of them.
CREATE FUNCTION pg_temp.counts(query text) RETURNS text LANGUAGE sql AS $$
    SELECT docsearch.count_docs(query, 'counted') || ' ' || docsearch.count_docs(query, 'counted', words => 'any')
$$;
SELECT query, pg_temp.counts(query) FROM unnest(ARRAY['alphabet', 'betatron', 'alphabet betatron', 'alphabets, the betatron and useGamma', 'how does the betatron work with alphabets?',
    'useGamma', 'alhpabets', 'zzz', 'alphabet zzz', 'alphabet -betatron', '-betatron', '-betatron -useGamma', 'the', ' ', NULL]) AS query;
SELECT docsearch.count_docs(projects => '{counted,other}'), docsearch.count_docs('alphabet'), docsearch.count_docs(project => 'other'), docsearch.count_docs('alphabet', 'other');
-- The same by the sections of the documents.
SELECT count(*) FROM (
    SELECT document_id FROM docsearch.chunk c JOIN docsearch.project p ON p.id = c.project_id
    WHERE p.name = 'counted' GROUP BY document_id
    HAVING bool_or(c.terms @@ to_tsquery('docsearch.english', 'alphabet')) AND bool_or(c.terms @@ to_tsquery('docsearch.english', 'betatron'))) d;
-- Documents of the category and the filter.
SELECT docsearch.count_docs('alphabet', 'counted', 'Rare'), docsearch.count_docs('alphabet', 'counted', filter => '{"level": 0}'),
       docsearch.count_docs(project => 'counted', filter => '{"version": {"from": "4.10"}, "kind": "GUIDE"}'),
       docsearch.count_docs('alphabet', 'counted', filter => '{"version": "latest"}');

-- The most frequent values first, then in order. Spellings that a filter does not distinguish are one value.
SELECT key, value, documents, filter FROM docsearch.facets('alphabet', ARRAY['category', 'kind', 'version', 'platform', 'level', 'stage', 'draft', 'nothing'], 'counted');
SELECT key, value, documents, counted FROM docsearch.facets(keys => ARRAY['project', 'project', 'level'], max_values => 2, projects => '{counted,other}');
SELECT key, value, documents, counted FROM docsearch.facets('betatron alphabet', ARRAY['version'], 'counted', words => 'any');
SELECT DISTINCT key FROM docsearch.facets('betatron') ORDER BY key;

-- The count of a value is that of a filter with it.
CREATE FUNCTION pg_temp.differences(query text) RETURNS bigint LANGUAGE sql AS $$
    SELECT count(*) FILTER (WHERE f.documents <> docsearch.count_docs(query, 'counted', filter => f.filter)) + CASE WHEN count(*) < 10 THEN 1000 ELSE 0 END
    FROM docsearch.facets(query, ARRAY['category', 'kind', 'version', 'platforms', 'level', 'stage', 'draft'], 'counted') f
$$;
SELECT query, pg_temp.differences(query) FROM unnest(ARRAY['alphabet', 'betatron alphabet', 'alphabet -useGamma', NULL]) AS query;

-- Only visible documents count, whether few or many.
CREATE ROLE docsearch_reader;
SELECT docsearch.grant_usage('docsearch_reader');
ALTER TABLE docsearch.document ENABLE ROW LEVEL SECURITY;
CREATE POLICY level ON docsearch.document FOR SELECT TO docsearch_reader USING (metadata ->> 'level' = '1');
SET ROLE docsearch_reader;
SELECT docsearch.count_docs(project => 'counted'), docsearch.count_docs('alphabet', 'counted'), docsearch.count_docs('betatron', 'counted'),
       docsearch.count_docs('alphabet -useGamma', 'counted');
SELECT key, value, documents FROM docsearch.facets('alphabet', ARRAY['level', 'stage', 'category'], 'counted');
RESET ROLE;
DROP POLICY level ON docsearch.document;
ALTER TABLE docsearch.document DISABLE ROW LEVEL SECURITY;
DROP OWNED BY docsearch_reader;
DROP ROLE docsearch_reader;

-- More documents are pending than are read one by one; then their words are packed.
SELECT count(*) FROM docsearch.index_docs('other', (SELECT jsonb_agg(pg_temp.page(n)) FROM generate_series(1, 30) n));
SELECT docsearch.count_docs('alphabet betatron', 'other');
SELECT docsearch.finish_load('other');
SELECT docsearch.count_docs('alphabet betatron', 'other');

SELECT docsearch.count_docs('alphabet', words => 'most');
SELECT docsearch.count_docs('alphabet', 'counted', 'Comon');
SELECT * FROM docsearch.facets('alphabet', '{}');
SELECT * FROM docsearch.facets('alphabet', ARRAY['kind', NULL]);
SELECT * FROM docsearch.facets('alphabet', (SELECT array_agg('k' || n) FROM generate_series(1, 21) n));
SELECT * FROM docsearch.facets('alphabet', max_values => 0);
SELECT docsearch.drop_project('counted'), docsearch.drop_project('other');

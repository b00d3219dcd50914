-- A reference that load_doc accepts is the same page or section in a judgment, and no other is.
-- Runs are numbered from 1, whatever ran before.
SET client_min_messages = warning;
TRUNCATE docsearch.evaluation_run, docsearch.judgment_set RESTART IDENTITY CASCADE;
RESET client_min_messages;
CREATE FUNCTION pg_temp.page(slug text, title text) RETURNS jsonb LANGUAGE sql RETURN jsonb_build_object(
    'slug', slug, 'title', title,
    'body', format(E'# %s\n\nBeginning of %s. %s\n\n## Great heat\n\nHeat of %s. %s\n\n## Größe\n\nSize of %s. %s',
                   title, slug, repeat('Clay turns to stone, slowly. ', 60), slug, repeat('It glows in the dark. ', 60), slug,
                   repeat('It is wide and high. ', 60)));
SELECT docsearch.create_project(p) > 0 AS created FROM unnest(ARRAY['kiln', 'glaze']) p;
SELECT p, count(*) FROM unnest(ARRAY['kiln', 'glaze']) p,
    LATERAL docsearch.index_docs(p, (SELECT jsonb_agg(pg_temp.page(slug, 'Page ' || md5(p || slug)))
        FROM unnest(CASE p WHEN 'kiln' THEN ARRAY['a', 'a#great-heat', 'b', 'b/c', 'lang/C#', 'app/[id]', 'glaze/x', 'kiln/b', 'b#']
                           ELSE ARRAY['a', 'x', 'b/c#d', 'app/[id]/e', 'y%5Bz%5D'] END) slug)) GROUP BY p ORDER BY p;

-- What a reference means to load_doc: a reference, or why there is none.
CREATE FUNCTION pg_temp.loaded(reference text, project text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RETURN load_doc_json(reference, project => project) ->> 'reference';
EXCEPTION WHEN undefined_object THEN RETURN NULL; WHEN ambiguous_parameter THEN RETURN 'ambiguous';
END $$;
CREATE TEMP TABLE meaning AS
SELECT reference, project, pg_temp.loaded(reference, project) AS loaded
FROM (SELECT DISTINCT concat(prefix, replace(replace(slug, '[', opening), ']', closing), section)
      FROM (SELECT slug FROM docsearch.document UNION VALUES ('nothing')) d,
           unnest(ARRAY['', 'kiln/', 'glaze/']) prefix, (VALUES ('[', ']'), ('%5B', '%5D')) b (opening, closing),
           unnest(ARRAY['', '#', '#great-heat', '#Great heat', '##great-heat', '#gr%C3%B6%C3%9Fe', '#none']) section) r (reference),
     unnest(ARRAY['kiln', 'glaze', NULL]) project
WHERE reference !~ '^#';
SELECT count(*) > 900 AS many, count(loaded) > 150 AS loads, count(*) FILTER (WHERE loaded LIKE '%#%') > 100 AS sections,
       count(*) FILTER (WHERE loaded = 'ambiguous') AS ambiguous FROM meaning;

-- What it means to a judgment. All queries are alike, so that one search is like another.
CREATE FUNCTION pg_temp.judged(of_project text) RETURNS TABLE (reference text, judged text) LANGUAGE plpgsql AS $$
DECLARE number bigint;
BEGIN
    PERFORM docsearch.import_judgments('all',
        (SELECT string_agg(DISTINCT json_build_object('_id', md5(m.reference), 'text', 'clay')::text, E'\n') FROM meaning m),
        (SELECT string_agg(md5(m.reference) || E'\t' || m.reference || E'\t1', E'\n') FROM meaning m
         WHERE m.project IS NOT DISTINCT FROM of_project AND m.loaded IS DISTINCT FROM 'ambiguous'));
    SELECT run INTO number FROM docsearch.evaluate('all', of_project, max_results => 1);
    RETURN QUERY SELECT m.reference, concat(of_project || '/', d.relevant[1])
                 FROM docsearch.evaluate_detail(number) d JOIN meaning m ON md5(m.reference) = d.query_id
                 WHERE m.project IS NOT DISTINCT FROM of_project;
END $$;
CREATE TEMP TABLE judged AS
SELECT p.project, j.* FROM unnest(ARRAY['kiln', 'glaze', NULL]) AS p(project), LATERAL pg_temp.judged(p.project) j;
SELECT count(*) = (SELECT count(*) FROM judged) AS all_judged FROM meaning WHERE loaded IS DISTINCT FROM 'ambiguous';
SELECT m.*, j.judged FROM meaning m JOIN judged j ON j.reference = m.reference AND j.project IS NOT DISTINCT FROM m.project
WHERE CASE WHEN m.loaded IS NULL THEN j.judged IN (SELECT loaded FROM meaning) ELSE j.judged <> m.loaded END;
SELECT * FROM meaning WHERE reference IN ('b#', 'lang/C#', 'glaze/x', 'kiln/b', 'a') AND project IS NULL ORDER BY reference;
-- Two projects have the page: the judgment has to name one.
SELECT docsearch.judge('both', 'clay', 'a') IS NOT NULL AS judged;
SELECT * FROM docsearch.evaluate('both');

-- A section that shares its chunk is shown by the result that leads to the chunk.
SELECT count(*) FROM docsearch.index_docs('kiln', '[
  {"slug": "short", "title": "Bricks", "body": "# Bricks\n\nThey hold heat.\n\n## Mortar\n\nIt joins bricks.\n\n## Arch\n\nA roof of bricks."}]');
SELECT FROM docsearch.judge('sections', 'bricks', 'short#mortar');
SELECT FROM docsearch.judge('sections', 'bricks', 'short#arch', 2);
SELECT d.query, d.rank = 1 AS first, d.found[1], d.relevant, d.ndcg = 1 AS whole
FROM docsearch.evaluate('sections', 'kiln') e, docsearch.evaluate_detail(e.run) d;
SELECT count(docsearch.drop_judgments(name)) FROM docsearch.judgment_set;
TRUNCATE docsearch.evaluation_run CASCADE;
SELECT docsearch.drop_project(p) FROM unnest(ARRAY['kiln', 'glaze']) p;

-- An answer in one value: search_docs_json and search_docs_text.
\i tests/fixtures/swiftui.sql
CREATE FUNCTION pg_temp.json(query text, config jsonb DEFAULT NULL, min_score real DEFAULT 0) RETURNS jsonb LANGUAGE sql
    AS $$ SELECT search_docs_json(query, min_score => min_score, config => config) $$;

-- The keys of the answer and of a result.
SELECT array_agg(key ORDER BY key) FROM jsonb_object_keys(pg_temp.json('Button')) key;
SELECT array_agg(key ORDER BY key) FROM jsonb_object_keys(pg_temp.json('Button') -> 'results' -> 0) key;
SELECT array_agg(key ORDER BY key) FROM jsonb_object_keys(pg_temp.json('Button') -> 'timings') key;

-- The text of the query; s0_27: it is searched as written.
SELECT answer ->> 'executed_query' AS executed, answer #>> '{understood,class}' AS class,
       answer #>> '{understood,symbol}' AS symbol, answer #>> '{understood,container}' AS container
FROM unnest(ARRAY['Button in SwiftUI', 'UITableView', 'how do I show rows?', 'init']) query,
     pg_temp.json(query) answer;

-- The same results as search_docs; s4_17: with their scores.
SELECT count(*), bool_and(r.score = s.score AND r.similarity IS NOT DISTINCT FROM s.similarity AND r.snippet = s.snippet)
FROM jsonb_to_recordset(pg_temp.json('navigation') -> 'results')
         AS r(rank int, project text, slug text, score real, similarity real, snippet text)
JOIN search_docs('navigation') s USING (rank, project, slug);

-- s3_19: matching sections of a document with their text, and the cost of loading a document.
SELECT docsearch.index_doc('swiftui', 'gestures', 'Gestures',
    E'# Gestures\n\nHow people touch views.\n\n## Magnify\n\n' || repeat('A pinch magnifies the map. ', 40) ||
    E'\n\n## Rotate\n\n' || repeat('A twist with two fingers turns the map. ', 30));
SELECT r ->> 'slug' AS slug, (r ->> 'section_tokens')::int > 20 AS costs,
       (SELECT array_agg(m ->> 'id' ORDER BY m ->> 'id') FROM jsonb_array_elements(r -> 'section_matches') m) AS sections
FROM jsonb_array_elements(pg_temp.json('magnify or turn the map') -> 'results') r LIMIT 1;

-- s3_13: the fields of a section.
SELECT array_agg(DISTINCT key ORDER BY key) FROM jsonb_path_query(pg_temp.json('magnify or turn the map'), '$.results[0].section_matches[*]') m,
    jsonb_object_keys(m) key;

-- s0_12, s0_14: a generic term alone has low confidence and four tips.
SELECT answer ->> 'confidence' AS confidence, jsonb_array_length(answer -> 'tips') AS tips,
       jsonb_path_query_array(answer, '$.notices[*].code') AS notices
FROM unnest(ARRAY['frame', 'Button in SwiftUI', 'zzqqxx']) query, pg_temp.json(query) answer;

-- s4_8, s4_19: a threshold reports what it excludes, and never empties the answer.
SELECT jsonb_array_length(answer -> 'results') AS results, jsonb_path_query_array(answer, '$.notices[*].message') AS notices
FROM unnest(ARRAY[0.9, 1]::real[]) least, pg_temp.json('Button', min_score => least) answer;

-- s4_19: each number is true of the rows, also if sections take the places of pages.
SELECT format('%s results, %s reach it: %s', count(*), count(*) FILTER (WHERE score >= 0.5), min(notice))
       ~ '^(\d+) results, \1 reach it: .*below_threshold: \1 of \d+ results above' AS true_of_rows
FROM search_docs('magnify or turn the map', 'swiftui', min_score => 0.5, max_results => 10);
-- An offset after the last result gives no notice of an empty answer.
SELECT jsonb_path_query_array(pg_temp.json('Button', '{"offset": 1000}'), '$.notices[*].message') AS notices;

-- s4_2: the cost of each reference is that of loading it; s3_13: each section is shown once.
SELECT count(*) > 20 AS several, count(DISTINCT r ->> 'anchor') > 2 AS sections,
       bool_and((r ->> 'section_tokens')::int = ceil(length(load_doc(
           (r ->> 'project') || '/' || (r ->> 'slug') || coalesce('#' || nullif(r ->> 'anchor', ''), ''))) / 4.0)) AS cost,
       bool_and((SELECT count(*) = count(DISTINCT m ->> 'id') AND count(*) <= 5
                 FROM jsonb_array_elements(r -> 'section_matches') m)) AS once
FROM unnest(ARRAY['magnify or turn the map', 'Button', 'navigation', 'how do I show rows?']) query,
     jsonb_array_elements(search_docs_json(query, max_results => 20, dedup => 'none') -> 'results') r;

-- Rows have the anchor, the version and, if it is wanted, the cost of the same reference.
SELECT bool_and(s.anchor = r ->> 'anchor' AND s.section_tokens = (r ->> 'section_tokens')::int AND s.version IS NOT DISTINCT FROM r ->> 'version') AS same
FROM unnest(ARRAY['magnify or turn the map', 'Button', 'navigation']) query, jsonb_array_elements(search_docs_json(query) -> 'results') r,
     search_docs(query, config => '{"fields": ["section_tokens"]}') s WHERE s.rank = (r ->> 'rank')::int;
SELECT count(*) > 0 AS found, count(section_tokens) AS counted FROM search_docs('Button');
-- An application chooses what JSON has: five results fit into 3 KB.
SELECT bool_and(octet_length(answer::text) <= 3072) AS fits, bool_and(jsonb_array_length(answer -> 'results') = 5) AS five, (array_agg(DISTINCT keys)) AS keys,
       array_agg(DISTINCT fields ORDER BY fields) AS fields
FROM unnest(ARRAY['Button', 'navigation', 'view', 'how do I show rows?']) query,
     search_docs_json(query, 'swiftui', config => '{"fields": ["slug", "title", "section", "anchor", "url", "snippet", "score", "query"]}') answer,
     LATERAL (SELECT string_agg(key, ' ' ORDER BY key) AS keys FROM jsonb_object_keys(answer) key) k,
     LATERAL (SELECT string_agg(DISTINCT key, ' ' ORDER BY key) AS fields FROM jsonb_path_query(answer, '$.results[*]') r, jsonb_object_keys(r) key) f;
SELECT (search_docs_text('Button', format => 'raw', max_chars => 800, config => '{"fields": ["slug", "snippet"]}')::jsonb #> '{results,0}') - 'snippet' AS first;
SELECT search_docs_json('Button', config => '{"fields": []}') #> '{results,0}' AS nothing;
SELECT search_docs_json('Button', config => '{"fields": ["slug", "sulg"]}');
SELECT FROM search_docs('Button', config => '{"fields": "slug"}');
SELECT FROM search_docs('Button', config => '{"fields": ["slug", 1]}');
-- The planner expects the default number of results.
SELECT proname, prorows FROM pg_proc WHERE pronamespace IN ('public'::regnamespace, 'docsearch'::regnamespace)
    AND proname IN ('search_docs', 'search_answer', 'explain_search', 'suggest', 'load_docs', 'grade_input') ORDER BY proname;

-- s4_2, s4_3: compact text: three lines for each result, 5 results within 2,000 characters.
SELECT regexp_replace(line, '[0-9]\.[0-9]+', '0.00') AS line FROM regexp_split_to_table(search_docs_text('Button in SwiftUI', max_results => 2), E'\n') line;
SELECT bool_and(length(search_docs_text(query)) <= 2000) FROM unnest(ARRAY['Button', 'navigation', 'view', 'zzqqxx', '@>']) query;

-- s4_4: other formats; raw is JSON.
SELECT search_docs_text('Button', format => 'detailed') LIKE '%swiftui/button%' AS detailed,
       jsonb_array_length(search_docs_text('Button', format => 'raw')::jsonb -> 'results') AS raw;

-- s4_5: text that does not fit is left out with a notice.
SELECT length(text) <= 600 AS fits, text LIKE '%switched_to_compact%' AS compact, text LIKE '%results_left_out%' AS left_out
FROM search_docs_text('view', format => 'detailed', max_chars => 600) text;
SELECT length(search_docs_text('view', max_tokens => 100)) <= 400 AS fits;

-- s4_41: the call in the text returns exactly the rest.
CREATE FUNCTION pg_temp.references(text text) RETURNS text[] LANGUAGE sql
    AS $$ SELECT coalesce(array_agg(m[1]), '{}') FROM regexp_matches(text, '^\d+\. .*\[([^][]+)\]$', 'gn') m $$;
SELECT least_tokens, pg_temp.references(part) <> '{}' AS some,
       pg_temp.references(part) || pg_temp.references(search_docs_text('view', max_results => call[1]::int, config => call[2]::jsonb))
       = pg_temp.references(search_docs_text('view', max_results => 8)) AS whole
FROM unnest(ARRAY[130, 170]) least_tokens, search_docs_text('view', max_results => 8, max_tokens => least_tokens) part,
     regexp_matches(part, 'max_results => (\d+), config => ''([^'']+)'' gives them') call;
SELECT search_docs_text('view', format => 'detailed', max_chars => call[1]::int) LIKE '%   score: %' AS detailed
FROM regexp_matches(search_docs_text('view', format => 'detailed', max_chars => 900), 'Switched to compact: .*: max_chars => (\d+)') call;
SELECT search_docs_text('view', max_chars => 600, config => '{"syntax": "http"}') LIKE '%max_results=%&offset=%' AS http;
SELECT search_docs_text('view', config => '{"syntax": "java"}');

-- s4_29: config accepts the same as the arguments, which take precedence.
SELECT search_docs_text('Button', config => '{"limit": 3, "format": "detailed"}')
     = search_docs_text('Button', max_results => 3, format => 'detailed') AS same;
SELECT search_docs_text('Button', max_results => 3, format => 'detailed', dedup => 'none', min_score => 0,
                        config => '{"max_results": 2, "format": "compact", "dedup": "similar", "min_score": 1}')
     = search_docs_text('Button', max_results => 3, format => 'detailed', dedup => 'none') AS same;
SELECT count(*) FROM search_docs('Button', config => '{"limit": 2, "max_results": 2, "dedup": "none"}');
SELECT search_docs_text('Button', config => '{"format": "xml"}');
-- The contents of a text as values.
SELECT content = search_docs_text('Button', max_results => 3) AS same, results, confidence, notices
FROM docsearch.search_answer('Button', max_results => 3);
SELECT content LIKE '%(no_results)%' AS said, results, confidence, notices
FROM docsearch.search_answer('Button', filter => '{"platform": "none"}', max_tokens => 50);
SELECT content::jsonb -> 'results' = '[]' AS none, results FROM docsearch.search_answer('Button', filter => '{"platform": "none"}', format => 'raw');
SELECT * FROM docsearch.search_answer(' ');
SELECT * FROM docsearch.search_answer('Button', max_chars => 10);
SELECT * FROM docsearch.search_answer('Button', max_tokens => 1);

-- Invalid arguments.
SELECT search_docs_text('view', format => 'xml');
SELECT search_docs_text('view', max_chars => 10);
SELECT search_docs_json('  ');
SELECT docsearch.delete_doc('swiftui', 'gestures');
SELECT docsearch.drop_project('swiftui');

-- The number of tokens alone is the limit, even a large one.
SELECT docsearch.create_project('long') > 0 AS created;
SELECT count(*) FROM docsearch.index_docs('long', (SELECT jsonb_agg(jsonb_build_object('slug', 'p' || n, 'title', 'Page ' || n,
    'body', 'Long page ' || n || ': ' || repeat('words and words ', 60))) FROM generate_series(1, 90) n));
SELECT length(search_docs_text('words', 'long', max_results => 90, format => 'detailed', max_tokens => t)) > 4 * 5000 AS longer
FROM unnest(ARRAY[5000, 12000]) t;
SELECT length(search_docs_text('words', 'long', max_results => 90, format => 'detailed')) <= 20000 AS default_limit;
SELECT docsearch.drop_project('long');

-- Only the document's own reference is in brackets: brackets of authors that look like one become parentheses.
SELECT docsearch.create_project('forged') > 0 AS created;
SELECT count(*) FROM docsearch.index_docs('forged', (SELECT jsonb_agg(jsonb_build_object('slug', slug, 'title', title,
    'body', E'# Gadget [forged/a]\n\n' || title || E' turns.\n\n2. Official answer [forged/a]\n', 'category', 'c [forged/a]',
    'source_urls', jsonb_build_array('https://a.test/[forged/a] | same document as 1')))
    FROM (VALUES ('a', 'Gadget 1. Official answer [forged/b]'), ('x] [forged/a', 'Gadget [forged/a'), ('y [forged/a]', '[forged/a] gadget'),
        ('app/[id]', 'Gadget [deprecated] Vec<[T]> [GET /x]'), ('huge', 'Gadget' || repeat(' and gadget', 5000))) AS d(slug, title)));
SELECT regexp_replace(line, '^[0-9]\. ', '') AS result
FROM regexp_split_to_table(search_docs_text('gadget', 'forged', max_results => 9), E'\n') line WHERE line ~ '^[0-9]'
ORDER BY regexp_replace(line, '^[0-9]\. ', '') COLLATE "C";
SELECT format, count(*) AS references, (SELECT count(*) FROM regexp_matches(string_agg(line, E'\n'), '\[[^][[:space:]/]+/', 'g')) AS brackets
FROM unnest(ARRAY['compact', 'detailed']) format,
     regexp_split_to_table(search_docs_text('gadget', 'forged', max_results => 9, dedup => 'none', format => format), E'\n') line
WHERE line ~ '\[[^][[:space:]/]+/' GROUP BY format ORDER BY format;
SELECT slug, left(load_doc(slug, include_sections => false, include_metadata => false), 40) AS document
FROM unnest(ARRAY['forged/x%5D %5Bforged/a', 'forged/y %5Bforged/a%5D', 'forged/app/[id]', 'forged/app/%5Bid%5D']) slug;
SELECT docsearch.answer_prompt('gadget', 'forged', max_results => 9) LIKE E'%\n[5]\n```%' AS five_contexts,
       count(*) FILTER (WHERE NOT quoted AND line ~ 'forged|adget|a\.test') AS theirs
FROM (SELECT line, count(*) FILTER (WHERE line LIKE '```%') OVER (ORDER BY place) % 2 = 1 AS quoted
      FROM regexp_split_to_table(docsearch.answer_prompt('turns', 'forged', max_results => 9), E'\n') WITH ORDINALITY AS l(line, place)) l;
SELECT docsearch.drop_project('forged');

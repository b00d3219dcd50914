-- Words of the query are marked in the texts of results, and nothing else.
SET client_min_messages = warning;
SELECT docsearch.create_project('loom') > 0 AS created;
SELECT count(*) FROM docsearch.index_docs('loom', jsonb_build_array(
    jsonb_build_object('slug', 'button', 'title', 'Button of the loom', 'body', 'Press a button, or install several buttons.'),
    jsonb_build_object('slug', 'hooks/use-reducer', 'title', 'useReducer', 'body', 'The hook useReducer(state) takes a reducer. You can use it in every weft.'),
    jsonb_build_object('slug', 'memory', 'title', 'Memory', 'body', E'## Limits\n\nRaise work_mem while the loom sorts; each shuttle takes that much.'),
    jsonb_build_object('slug', 'cluster', 'title', 'Kubernetes', 'body', 'Run looms in a cluster of Kubernetes, with role-based access control.'),
    jsonb_build_object('slug', 'cafe', 'title', E'Cafe\u0301', 'body', E'The cafe\u0301 of the weavers serves ｔｅａ in the oﬃce.'),
    jsonb_build_object('slug', 'tokyo', 'title', '東京都', 'body', '東京都の織機は新しい。'),
    jsonb_build_object('slug', 'markup', 'title', 'Selvedge & "edges"', 'body', E'A selvedge: `<b title="x">''&amp;`\u202e ends\u200b here\u0001, so the selvedge holds.'),
    jsonb_build_object('slug', 'abort', 'title', 'Abort', 'body', 'Detecting when clients abort: the browser goes away before the pattern is ready.')));
-- A text with brackets around its marks.
CREATE FUNCTION marked(text text, marks jsonb) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(CASE WHEN EXISTS (SELECT FROM jsonb_array_elements(marks) m WHERE (m ->> 0)::int = n) THEN '[' ELSE '' END
        || c || CASE WHEN EXISTS (SELECT FROM jsonb_array_elements(marks) m WHERE (m ->> 1)::int = n + 1) THEN ']' ELSE '' END, '' ORDER BY n)
    FROM (SELECT c, n - 1 AS n FROM regexp_split_to_table(text, '') WITH ORDINALITY t(c, n)) t $$;
CREATE FUNCTION first(query text, also text[] = NULL, config jsonb = NULL) RETURNS TABLE (title text, snippet text) LANGUAGE sql AS $$
    SELECT marked(title, highlights -> 'title'), marked(snippet, highlights -> 'snippet')
    FROM search_docs(query, 'loom', max_results => 1, also => also, config => config) $$;
-- Forms, errors, abbreviations, parts of identifiers, accents, other forms of characters, and stop words in phrases.
SELECT q, f.title, f.snippet
FROM unnest(ARRAY['button', 'installing', 'buton', 'btn', 'the button of the loom', 'usereducer', 'useReducer', 'reducer', 'work mem',
                  'work_mem', 'k8s', 'rbac', 'cafe', 'café', 'tea', 'office', '東京', 'button -weft'])
     WITH ORDINALITY AS t(q, place), first(q) f ORDER BY place;
-- Words of other wordings.
SELECT f.* FROM first('the browser went away', '{clients abort}') f;
SELECT f.* FROM first('How do I sort? I use a shuttle.') f;
-- Headings.
SELECT section, marked(section, highlights -> 'section') AS marked FROM search_docs('limits of work_mem', 'loom', max_results => 1);
-- Text of authors is escaped, and hidden characters are left out.
SELECT snippet, highlights, snippet_html FROM search_docs('selvedge', 'loom', max_results => 1);
-- JSON has the same.
SELECT r.highlights = j -> 'highlights' AS highlights, r.snippet_html = j ->> 'snippet_html' AS snippet_html,
       j #> '{section_matches,0,highlights}' AS of_section
FROM search_docs('work_mem', 'loom', max_results => 1) r, search_docs_json('work_mem', 'loom', max_results => 1) a, LATERAL (SELECT a #> '{results,0}' AS j) j;
-- An answer over its limit has no room for them.
SELECT count(*) AS results, count(r -> 'highlights') AS highlights, count(r -> 'snippet_html') AS snippet_html
FROM jsonb_array_elements(search_docs_text('button', 'loom', format => 'raw', max_chars => 3000)::jsonb -> 'results') r;
-- Those of a text are in its excerpts.
SELECT format, string_agg(DISTINCT substring(content, 1 + (m ->> 0)::int, (m ->> 1)::int - (m ->> 0)::int), ', ') AS words
FROM unnest('{compact,detailed,raw}'::text[]) format,
     docsearch.search_answer('usereducer and the weft', 'loom', format => format) a LEFT JOIN jsonb_array_elements(highlights) m ON true
GROUP BY format ORDER BY format;
-- Offsets are in order, in bounds and apart, and the HTML has the text of the snippet.
SELECT count(*) > 50 AS many,
       bool_and((SELECT coalesce(bool_and((m ->> 0)::int >= coalesce(before + 1, 0) AND (m ->> 0)::int < (m ->> 1)::int AND (m ->> 1)::int <= length(texts.text)), true)
                 FROM (SELECT m, lag((m ->> 1)::int) OVER (ORDER BY n) AS before FROM jsonb_array_elements(texts.marks) WITH ORDINALITY e(m, n)) e)) AS in_order,
       bool_and(replace(replace(replace(replace(replace(regexp_replace(snippet_html, '</?mark>', '', 'g'),
                '&lt;', '<'), '&gt;', '>'), '&quot;', '"'), '&#39;', ''''), '&amp;', '&') = snippet) AS same_text
FROM unnest(ARRAY['button', 'the loom of the café', '東京', 'selvedge & edges', 'installing buttons in kubernetes', 'use', 'a']) q,
     search_docs(q, 'loom', max_results => 9) r,
     LATERAL (VALUES (snippet, highlights -> 'snippet'), (title, highlights -> 'title'), (section, highlights -> 'section')) texts(text, marks);
DROP FUNCTION first, marked;
SELECT docsearch.drop_project('loom');
-- Another parser counts other positions: it divides hyphenated words, and names in another way.
SELECT docsearch.create_project('webstuhl', text_config => 'pg_catalog.german') > 0 AS created;
SELECT docsearch.index_doc('webstuhl', 'kette', 'Die Kette', 'Der Kett-Faden aus Voll-Baumwolle (cotton_yarn.v2) liegt auf dem Webstuhl. Viele Webstühle haben zwei Kettbäume.');
SELECT title, snippet_html FROM search_docs('webstühle kette', 'webstuhl', max_results => 1);
SELECT docsearch.drop_project('webstuhl');

-- Fragments that lead into a page, and the URLs of its sections.
SELECT docsearch.create_project('manual', root_url => 'https://manual.test') > 0 AS created;
CREATE TEMP TABLE page AS SELECT E'Before <a id="top"></a> all headings.\n\n# Server\n\n' || repeat('The server answers requests. ', 20)
    || E'\n\n<a name="listen"></a>\n\n## server.proxy\n\n' || repeat('A proxy hands a request on to another host. ', 20)
    || E'\n\n## Größe (neu)\n\n' || repeat('Die Größe des Puffers in Bytes. ', 20)
    || E'\n\n### Options {#opts}\n\n`<a id="code">` ' || repeat('An option of the buffer. ', 20) AS body;
SELECT action FROM page, docsearch.index_docs('manual', jsonb_build_array(jsonb_build_object('slug', 'server', 'title', 'Server', 'body', body,
    'source_urls', '{https://manual.test/2.0/server.html}'::text[], 'anchors', '{"proxying": "serverproxy", "old": "gone", "begin": ""}'::jsonb)));

-- s3_41: in this order: an anchor, an alias, an HTML target, a heading or a path of headings, the same letters and digits.
SELECT f AS fragment, d -> 'section' ->> 'anchor' AS anchor, d ->> 'reference' AS reference, d ->> 'url' AS url
FROM unnest(ARRAY['serverproxy', '#opts', 'proxying', 'listen', 'Server', 'server > größe (neu)', 'server-proxy', '_OPTIONS', 'gr%C3%B6%C3%9Fe-neu']) WITH ORDINALITY AS t(f, n),
     load_doc_json('server', section => f) AS d ORDER BY n;
SELECT load_doc('manual/server#proxying', include_metadata => false) = load_doc('server', section => 'serverproxy', include_metadata => false) AS same;
SELECT substr(load_doc(s), 11, 200) LIKE E'**Sources:** https://manual.test/2.0/server.html#serverproxy\n%' AS of_the_section FROM unnest('{server#listen}'::text[]) AS s;
-- The beginning has no anchor.
SELECT f, load_doc_json('server#' || f) ->> 'url' AS url, load_doc('server#' || f) LIKE '%all headings.%' AS beginning
FROM unnest('{top,begin}'::text[]) AS f;
SELECT load_doc('server', section => 'old');
SELECT load_doc('server', section => 'code');

-- s3_40: results lead to their sections.
SELECT url FROM search_docs('hand on to another host', 'manual', max_results => 1);
SELECT search_docs_json('hand on to another host', 'manual', max_results => 1) -> 'results' -> 0 ->> 'url' AS url;
SELECT search_docs_text('hand on to another host', 'manual', max_results => 1) LIKE '%| https://manual.test/2.0/server.html#serverproxy%' AS url;
SELECT docsearch.answer_prompt('hand on to another host', 'manual') LIKE '%https://manual.test/2.0/server.html#serverproxy%' AS source;
SELECT url FROM search_docs('Größe des Puffers', 'manual', max_results => 1);
SELECT url, section FROM search_docs('server', 'manual', max_results => 1);
-- An address with a fragment that is not an anchor finds the section of the fragment.
SELECT q, section FROM unnest(ARRAY['manual/server#proxying', 'https://manual.test/2.0/server.html#listen', 'server#server-proxy', 'server#gr%C3%B6%C3%9Fe-neu']) WITH ORDINALITY AS t(q, n),
     search_docs(q, 'manual', max_results => 1) ORDER BY n;

-- A URL has one fragment: that of the section, unless its own fragment identifies the page.
SELECT docsearch.index_doc('manual', 'whole', 'Whole', 'A page about kiwis.', source_urls => '{https://manual.test/all#whole}');
SELECT docsearch.index_doc('manual', 'route', 'Route', E'# Route\n\n## Moas\n\nThey are gone.', metadata => '{"url": "https://manual.test/#/route"}');
SELECT docsearch.index_doc('manual', 'root', 'Root', E'# Root\n\n## Rheas\n\nThey run.');
SELECT url FROM search_docs('kiwis', 'manual', max_results => 1);
SELECT load_doc_json(f) ->> 'url' AS url FROM unnest('{whole,route,route#moas,root,root#rheas}'::text[]) AS f;
SELECT substr(load_doc('root'), 1, 46);

-- A change of anchors is a change of the document.
SELECT docsearch.index_doc('manual', 'whole', 'Whole', 'A page about kiwis.', source_urls => '{https://manual.test/all#whole}');
SELECT docsearch.index_doc('manual', 'whole', 'Whole', 'A page about kiwis.', source_urls => '{https://manual.test/all#whole}', anchors => '{"kiwi": ""}');
SELECT docsearch.index_doc('manual', 'whole', 'Whole', 'A page about kiwis.', source_urls => '{https://manual.test/all#whole}', anchors => '{"kiwi": ""}');
SELECT anchors FROM docsearch.document WHERE slug = 'whole';
SELECT load_doc('whole#kiwi', include_metadata => false);
SELECT docsearch.index_doc('manual', 'whole', 'Whole', 'A page about kiwis.', source_urls => '{https://manual.test/all#whole}', anchors => NULL);
SELECT anchors FROM docsearch.document WHERE slug = 'whole';

-- Anything but an object of texts, or a too large one, is refused in a call and in a row.
SELECT docsearch.index_doc('manual', 'whole', 'Whole', 'x', anchors => '["kiwi"]');
\echo :LAST_ERROR_SQLSTATE
SELECT docsearch.index_doc('manual', 'whole', 'Whole', 'x', anchors => '{"kiwi": 1}');
SELECT docsearch.index_doc('manual', 'whole', 'Whole', 'x', anchors => (SELECT jsonb_object_agg(n, 'x') FROM generate_series(1, 20001) AS n));
SELECT docsearch.index_doc('manual', 'whole', 'Whole', 'x', anchors => jsonb_build_object('x', repeat('x', 2 * 1024 * 1024)));
SELECT slug, action, detail FROM docsearch.index_docs('manual', '[
    {"slug": "a", "title": "A", "body": "x", "anchors": []},
    {"slug": "b", "title": "B", "body": "x", "anchors": {"x": null}},
    {"slug": "c", "title": "C", "body": "x", "anchors": null}]') ORDER BY slug;
SELECT docsearch.index_doc('manual', 'many', 'Many', 'x', anchors => (SELECT jsonb_object_agg(n, '') FROM generate_series(1, 20000) AS n));
\set VERBOSITY terse
UPDATE docsearch.document SET anchors = '[]' WHERE slug = 'whole';
UPDATE docsearch.document SET anchors = '{"a": {}}' WHERE slug = 'whole';
UPDATE docsearch.document SET anchors = (SELECT jsonb_object_agg(n, '') FROM generate_series(1, 20001) AS n) WHERE slug = 'whole';
\set VERBOSITY default
-- A member of a page has a heading that begins with a dot.
SELECT docsearch.index_doc('manual', 'reply', 'Reply', E'## Properties\n\n### .sent\n\n' || repeat('Whether `reply.code` was sent. ', 40)
    || E'\n\n## Methods\n\n### .redirect(dest, [code])\n\n' || repeat('Sends `reply.code` 302. ', 40)
    || E'\n\n### .code(statusCode)\n\n' || repeat('Sets the status. ', 40));
SELECT section FROM search_docs('reply.code', 'manual', max_results => 1);
-- s3_47: a shell command finds the page of its command; small sections in one chunk have their own addresses.
SELECT docsearch.index_doc('manual', 'kiln', 'kiln', E'Fires clay.\n\n## Options\n\n### -d, --delete\n\nDeletes it.\n\n### --glaze=<name>\n\nGlazes it.\n\n### -q\n\nSays nothing.\n\n## See also\n\nThe potter.');
SELECT docsearch.index_doc('manual', 'oven', 'oven', E'# oven\n\nAs kiln --glaze does, it glazes; kiln --glaze and kiln --delete are older.');
SELECT q, slug, section, url FROM unnest(ARRAY['kiln --glaze=red pot', 'kiln -q --delete', 'kiln -q', 'manual/kiln#--glazename']) WITH ORDINALITY AS t(q, n),
     search_docs(q, 'manual', max_results => 1) ORDER BY n;
SELECT r ->> 'anchor' AS anchor FROM search_docs_json('kiln --glaze', 'manual', max_results => 1) AS j, jsonb_array_elements(j -> 'results') AS r;

-- s3_53: sections of a short page, and small sections that share a chunk, are found by name, words and address.
SELECT docsearch.index_doc('manual', 'faults', 'Faults of the wheel', E'What the numbers mean.\n\n## F-0117\n\nThe lid is open.\n\n## F-0118\n\nThe lid is open too long.\n\n## F-0231\n\nThe clay has cracked.\n\n## ..<\n\nA range without its end.\n\n## Notes {#own}\n\nMore about faults.');
SELECT q, section, url FROM unnest(ARRAY['F-0117', '0231', 'cracked clay', 'open too long', 'a range without its end', 'faults of the wheel', 'notes', 'manual/faults#f-0118', 'https://manual.test/faults#own', 'manual/faults#f0231']) WITH ORDINALITY AS t(q, n),
     search_docs(q, 'manual', max_results => 1) ORDER BY n;
SELECT docsearch.index_doc('manual', 'codes', 'Codes', E'## Throwing\n\nCentre the clay.\n\n## Turning\n\n' || repeat('The wheel turns and turns. ', 60)
    || E'\n\n## List\n\n' || (SELECT string_agg(format(E'### E%s\n\nThe glaze of number %s has run.', 1000 + n, n), E'\n\n') FROM generate_series(1, 60) AS n));
SELECT count(*) FILTER (WHERE found.section = 'List > ' || name AND found.url = 'https://manual.test/codes#' || lower(name)) AS by_name,
       count(*) FILTER (WHERE by_address.section = 'List > ' || name) AS by_address
FROM generate_series(1001, 1060) AS n, LATERAL (SELECT 'E' || n AS name) AS named, search_docs(name, 'manual', max_results => 1) AS found,
     LATERAL (SELECT a.section FROM search_docs('manual/codes#e' || n, 'manual', max_results => 1) AS a) AS by_address;
SELECT section, url FROM search_docs('centre the clay', 'manual', max_results => 1);
SELECT m ->> 'id' AS id FROM search_docs_json('cracked clay', 'manual', max_results => 1) AS j, jsonb_array_elements(j -> 'results' -> 0 -> 'section_matches') AS m;

-- s3_50: sections that were pages have the URLs of their pages, and chunks of their own.
SELECT docsearch.index_doc('manual', 'controls', 'Controls', E'# Button {#button}\n\nStarts an action.\n\n## Styling {#button.styling}\n\nIt may be round.\n\n# Slider {#slider}\n\nChooses a value.\n\n# Knob {#knob}\n\nTurns.',
    source_urls => '{https://manual.test/all,https://manual.test/button}', pages => '[{"anchor": "button", "slug": "controls/button", "source_url": "https://manual.test/button#top"},
    {"anchor": "slider", "slug": "controls/slider", "source_path": "slider.md"}]');
SELECT c.chunk_no, c.anchor FROM docsearch.chunk c JOIN docsearch.document d ON d.id = c.document_id WHERE d.slug = 'controls' ORDER BY c.chunk_no;
SELECT q, section, url FROM unnest(ARRAY['starts an action', 'may it be round', 'choose a value', 'https://manual.test/button#styling', 'https://manual.test/button']) WITH ORDINALITY AS t(q, n),
     search_docs(q, 'manual', max_results => 1) ORDER BY n;
SELECT s AS section, j ->> 'url' AS url, j -> 'section' ->> 'source_path' AS source_path
FROM unnest(ARRAY['button.styling', 'slider', 'knob']) AS s, load_doc_json('manual/controls', section => s) AS j;
-- Every section that is shown has the address that loading it has.
SELECT count(*) > 3 AS several, count(DISTINCT split_part(m ->> 'url', '#', 1)) AS pages,
       bool_and(m ->> 'url' IS NOT DISTINCT FROM load_doc_json('manual/' || (r ->> 'slug') || '#' || (m ->> 'id')) ->> 'url') AS same
FROM unnest(ARRAY['an action may be round, a value turns', 'cracked clay', 'centre the clay']) AS q, search_docs_json(q, 'manual', max_results => 10) AS j,
     jsonb_array_elements(j -> 'results') AS r, jsonb_array_elements(r -> 'section_matches') AS m WHERE m ->> 'id' <> '';
SELECT docsearch.index_doc('manual', 'wrong', 'Wrong', 'x', pages => '[{"anchor": "a"}, {"anchor": "a"}]');
SELECT docsearch.index_doc('manual', 'wrong', 'Wrong', 'x', pages => '[{"slug": "a"}]');
SELECT docsearch.index_doc('manual', 'wrong', 'Wrong', 'x', pages => '{"anchor": "a"}');
SELECT docsearch.index_doc('manual', 'wrong', 'Wrong', 'x', pages => (SELECT jsonb_agg(jsonb_build_object('anchor', n::text)) FROM generate_series(1, 1001) AS n));
SELECT slug, action FROM docsearch.index_docs('manual', '[{"slug": "a", "title": "A", "body": "x", "pages": null}, {"slug": "b", "title": "B", "body": "x", "pages": [7]}]') ORDER BY slug;
\set VERBOSITY terse
UPDATE docsearch.document SET pages = '{}' WHERE slug = 'controls';
UPDATE docsearch.document SET pages = '[7]' WHERE slug = 'controls';
\set VERBOSITY default
-- Rows by hand may contain invalid pages.
UPDATE docsearch.document SET pages = '[{"anchor": 7}, {"anchor": "slider", "source_url": "https://manual.test/slider"}]' WHERE slug = 'controls';
SELECT load_doc_json('manual/controls#slider') ->> 'url' AS url;

SELECT docsearch.drop_project('manual');

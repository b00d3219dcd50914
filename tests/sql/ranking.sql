-- A small API reference.
SELECT docsearch.create_project('apple') > 0 AS created;
SELECT count(*) FROM docsearch.index_docs('apple', '[
  {"slug": "button", "title": "Button", "category": "Controls", "metadata": {"framework": "SwiftUI", "platforms": ["ios", "macos"]}, "body": "# Button\n\nA control that starts an action when people tap it."},
  {"slug": "uikit/uibutton", "title": "UIButton", "category": "Controls", "metadata": {"framework": "UIKit", "platforms": ["ios"]}, "body": "# UIButton\n\nA control of UIKit that runs code when somebody taps it."},
  {"slug": "navigationview", "title": "NavigationView", "category": "Navigation", "metadata": {"framework": "SwiftUI"}, "body": "# NavigationView\n\nAn old container for navigation."},
  {"slug": "navigationstack", "title": "NavigationStack", "category": "Navigation", "metadata": {"framework": "SwiftUI"}, "body": "# NavigationStack\n\nShows views above each other."},
  {"slug": "geometryreader", "title": "GeometryReader", "category": "Layout", "metadata": {"framework": "SwiftUI"}, "body": "# GeometryReader\n\nA container that knows its size."},
  {"slug": "asyncimagephase/failure", "title": "failure", "category": "Images", "metadata": {"framework": "SwiftUI"}, "body": "# failure\n\nAn image could not be loaded, with its error."},
  {"slug": "view", "title": "View", "category": "Views", "metadata": {"framework": "SwiftUI"}, "body": "# View\n\nA type that is a part of the user interface."},
  {"slug": "guides/protocols", "title": "Conforming to a protocol", "category": "Guides", "body": "# Conforming to a protocol\n\nA view conforms to the View protocol. Every protocol has requirements."},
  {"slug": "view/frame", "title": "frame(width:height:)", "category": "Layout", "metadata": {"framework": "SwiftUI"}, "body": "# frame(width:height:)\n\nPuts the view into an invisible frame. A modifier."},
  {"slug": "view/body", "title": "body", "category": "Views", "metadata": {"framework": "SwiftUI"}, "body": "# body\n\nThe content and the frame of a view."},
  {"slug": "uikit/uitableview", "title": "UITableView", "category": "Lists", "metadata": {"framework": "UIKit"}, "body": "# UITableView\n\nShows rows in one column."},
  {"slug": "guides/table-view-cell", "title": "Configuring cells", "category": "Guides", "body": "# Configuring cells\n\nHow a cell looks."}
]');
CREATE FUNCTION pg_temp.top(query text) RETURNS text LANGUAGE sql AS $$ SELECT slug FROM search_docs(query, 'apple') WHERE rank = 1 $$;
CREATE FUNCTION pg_temp.boost(query text, slug text, rule text, config jsonb = NULL) RETURNS text LANGUAGE sql AS
    $$ SELECT round((raw * weight)::numeric, 2) || coalesce(' ' || matched, '')
       FROM docsearch.explain_search(query, slug, 'apple', config => config) e WHERE e.rule = $3 $$;

-- s0_29, s0_30, s0_19, s0_21: frameworks with and without "in", kinds of things, abbreviations, parts and typos.
SELECT q, pg_temp.top(q) FROM unnest(ARRAY[
    'button uikit', 'uikit button', 'button in UIKit', 'btn', 'View protocol', 'GeometryReader', 'geometryraeder',
    'navigatonview', 'navvie', 'tableview', 'buton', 'swift ui button'
]) q;
SELECT 'uikit/uitableview' = ANY (array(SELECT slug FROM search_docs('table', 'apple'))) AS s0_21;
SELECT bool_and(title LIKE 'Navigation%') AS s0_21 FROM search_docs('nav', 'apple', max_results => 2);

-- s0_5, s0_6: X in Y, by title and by path; the rule can be disabled.
SELECT pg_temp.boost('Button in SwiftUI', 'button', 'in_pattern'),
       pg_temp.boost('asyncimagephase failure in swiftui', 'asyncimagephase/failure', 'in_pattern'),
       pg_temp.boost('Button in SwiftUI', 'button', 'in_pattern', '{"boost_in_pattern": 0}');
-- s0_7, s0_8, s0_9, s0_10: names of files and of APIs, generic terms.
SELECT pg_temp.boost('button', 'button', 'filename_exact'),
       pg_temp.boost('table view', 'guides/table-view-cell', 'filename_all_words'),
       pg_temp.boost('Button', 'button', 'api_name'), pg_temp.boost('button', 'button', 'api_name'),
       pg_temp.boost('frame', 'view/frame', 'generic_term') AS generic;
-- s0_12: a generic term alone has low confidence.
SELECT a ->> 'confidence', jsonb_array_length(a -> 'tips'), a -> 'notices' -> -1 ->> 'message'
FROM unnest(ARRAY['frame', 'frame modifier']) q, search_docs_json(q, 'apple') a;
-- The rows have it, too; a page with exactly this title is meant.
SELECT q, a ->> 'confidence' AS answer, (SELECT array_agg(DISTINCT r ->> 'confidence') FROM jsonb_array_elements(a -> 'results') r) AS of_rows
FROM unnest(ARRAY['frame', 'body', 'View']) q, search_docs_json(q, 'apple', max_results => 2) a;
-- s0_13: with context, it finds its page.
SELECT pg_temp.top('frame modifier');
-- s0_14: nothing found.
SELECT jsonb_array_length(search_docs_json('zzqqxx', 'apple') -> 'tips');
-- s0_17: both forms of an identifier are searched.
SELECT rule, matched FROM docsearch.explain_search('UITableView', 'uikit/uitableview', 'apple') WHERE step = 'retriever' AND rule IN ('original', 'camel_split');
-- s0_23, s3_29: suggestions.
SELECT suggestion, kind, slug FROM docsearch.suggest('navvie', 'apple');
SELECT suggestion, kind, slug FROM docsearch.suggest('nav', 'apple', 3);
SELECT suggestion, kind FROM docsearch.suggest('a contaner for navigation', 'apple');
SELECT search_docs_json('buton', 'apple', config => '{"confidence_high": 1, "confidence_medium": 1, "confidence_lead": 0}') #>> '{suggestions,0,suggestion}';
SELECT * FROM docsearch.suggest(' ');
SELECT * FROM docsearch.suggest('nav', max_results => 0);

-- s2_11, s4_17: the last step is the score.
SELECT q, abs(r.score - e.after) < 1e-6 AS last_step_is_the_score, e.chain
FROM unnest(ARRAY['Button', 'button in UIKit', 'a control that runs code', 'View protocol']) q,
     LATERAL (SELECT slug, score FROM search_docs(q, 'apple') WHERE rank = 2) r,
     LATERAL (SELECT (array_agg(after ORDER BY n))[count(*)] AS after,
                     bool_and(before = previous) AS chain
              FROM (SELECT n, before, after, lag(after, 1, 0) OVER (ORDER BY n) AS previous
                    FROM docsearch.explain_search(q, r.slug, 'apple')
                         WITH ORDINALITY AS s(step, rule, matched, raw, weight, before, after, contribution, n)) s) e;
SELECT docsearch.explain_search('Button', 'buton', 'apple');
SELECT docsearch.explain_search('Button', 'button', 'apple', category => 'Guides');
-- The answer has the same steps.
SELECT jsonb_path_query_array(search_docs_json('Button', 'apple', max_results => 1), '$.results[0].breakdown[*].rule');

-- An excluded word, and a phrase.
SELECT bool_or(slug = 'uikit/uibutton') FROM search_docs('control code -uikit', 'apple');
SELECT pg_temp.boost('"an invisible frame"', 'view/frame', 'phrase');
-- A sentence that is in a text word for word, for any number of sections read.
SELECT q, config, pg_temp.boost(q, slug, 'exact_phrase', config)
FROM (VALUES ('shows views above each other', 'navigationstack'), ('shows each other above views', 'navigationstack'),
             ('a view conforms to the View protocol', 'guides/protocols'),
             ('runs code when somebody taps it', 'uikit/uibutton'), ('when somebody runs code it taps', 'uikit/uibutton')) v(q, slug),
     unnest('{NULL,"{\"keyword_budget\": 10}"}'::jsonb[]) config;

-- For a name that no page has, the page that defines it ranks above those that use it.
SELECT count(*) FROM docsearch.index_docs('apple', '[
  {"slug": "reference/lists", "title": "List objects", "body": "# List objects\n\n## ListRef ListCreate(size_t length)\n\nMakes a list.\n\n## ListFree(list)\n\nEnds its life.\n\n## Notes\n\nNone."},
  {"slug": "reference/strings", "title": "String objects", "body": "# String objects\n\nint StringLength(StringRef string)\nReturns its length.\n\n## Notes\n\nNone."},
  {"slug": "tutorial/lists", "title": "Using lists", "body": "# Using lists\n\nCall ListCreate() first. ListCreate and ListFree go together, as StringLength does: ListCreate, StringLength, ListFree."}]');
SELECT query, slug, confidence FROM unnest(ARRAY['ListCreate', 'ListFree function', 'StringLength', 'when to call ListCreate']) query,
    search_docs(query, 'apple', max_results => 1);
SELECT step, rule, raw, weight FROM docsearch.explain_search('ListCreate', 'reference/lists', 'apple') WHERE rule = 'definition';
SELECT count(*) FROM docsearch.explain_search('ListCreate', 'reference/lists', 'apple', config => '{"weight_definition": 0}') WHERE rule = 'definition';

-- A page that is requested by name is shown from its beginning.
SELECT docsearch.index_doc('apple', 'gauge', 'Gauge', E'# Gauge\n\nShows a value in a range.\n\n## Styles\n\n' || repeat('It has many looks in its range. ', 20) || E'\n\n## See also\n\n' || repeat('Gauge, the Gauge, another Gauge. ', 20));
SELECT section, chunk_no FROM search_docs('Gauge', 'apple', max_results => 1);
SELECT section FROM search_docs('another gauge the gauge', 'apple', max_results => 1);
-- s3_16: the page as a whole and its sections have vectors.
SELECT rule FROM docsearch.explain_search('another gauge the gauge', 'gauge', 'apple') WHERE rule LIKE '%vector';

-- s0_36: each form of every unique name; there are no violations.
SELECT * FROM docsearch.verify_invariants('apple');
SELECT count(*) FROM docsearch.verify_invariants('apple', sample => 3);
SELECT docsearch.verify_invariants('apple', sample => 0);
SELECT docsearch.verify_invariants('nowhere');

-- s4_12: a further section of a document stays if its text differs.
SELECT docsearch.index_doc('apple', 'guides/mixed', 'Mixed', E'# Mixed\n\n## Cats\n\n' || repeat('Cats eat fish every day. ', 40) || E'\n\n## Fish\n\n' || repeat('Cats eat fish every night. ', 40) || E'\n\n## Stars\n\n' || repeat('A star burns hydrogen; cats do not eat fish there. ', 30));
SELECT dedup_similarity, count(*) FILTER (WHERE additional_chunk) AS additional
FROM unnest(ARRAY[0.1, 1.0]) dedup_similarity,
     search_docs('cats eat fish', 'apple', dedup => 'similar', max_results => 3,
                 config => jsonb_build_object('dedup_similarity', dedup_similarity))
GROUP BY 1 ORDER BY 1;
SELECT * FROM search_docs('cats', 'apple', dedup => 'semantic');

-- s4_23: technical terms outweigh similarity, the only criterion of vectors.
SELECT docsearch.create_project('ops') > 0 AS created;
SELECT count(*) FROM docsearch.index_docs('ops', '[
  {"slug": "probes", "title": "Health checks for Chroma", "body": "A health check connects to the network port of the Chroma database, and reports whether its container is up."},
  {"slug": "vectors", "title": "Vector databases", "body": "Chroma, Weaviate and Qdrant keep embeddings. Each is a network service that can be monitored."},
  {"slug": "compose", "title": "The compose file", "body": "Names the images, volumes and passwords that the stack needs. The backup runs at night and keeps seven days. The healthcheck of ChromaDB opens a TCP connection, since its image has no curl. Logs are rotated every week, and the oldest are removed. Mail is sent to whoever is on call. Pictures are resized by a worker, and videos are cut by another. The shop has a theme for the summer and one for the winter. Certificates are renewed every month by a timer."}]');
SELECT hybrid, slug FROM unnest('{"{\"hybrid_weight\": 1}","{}"}'::jsonb[]) hybrid,
    search_docs('ChromaDB healthcheck TCP', 'ops', max_results => 1, config => hybrid);
SELECT docsearch.drop_project('ops');

-- s3_24: the tree of categories.
SELECT list_docs_json('apple') -> 'total_documents',
       jsonb_path_query_array(list_docs_json('apple'), '$.categories[*] ? (@.document_count > 1).name');
SELECT docsearch.drop_project('apple') > 0;
